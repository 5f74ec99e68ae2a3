//! Covers of points and of given distances.
//!
//! Under a true metric a row need not be measured against a new centre that is
//! at least twice as far from the row's own centre as the row is: the triangle
//! inequality says it cannot be nearer. Most rows are skipped that way.

use ndarray::ArrayView2;
use rayon::prelude::*;

use super::Cover;
use crate::context::Ctx;
use crate::error::Result;
use crate::neighbors::{Index, Metric};

/// Rows per parallel task.
const ROWS: usize = 1 << 12;
/// Room for rounding in the triangle inequality.
const SLACK: f64 = 1.0 + 1e-9;

/// Points under a metric.
pub struct PointsCover<'a> {
    index: &'a Index,
    nearest: Vec<f64>,
    /// Which centre each row is nearest to.
    owner: Vec<u32>,
    centres: Vec<u32>,
}

impl<'a> PointsCover<'a> {
    /// No centres yet.
    pub fn new(index: &'a Index) -> Self {
        let n = index.len();
        PointsCover { index, nearest: vec![f64::INFINITY; n], owner: vec![0; n], centres: Vec::new() }
    }

    /// How far `centre` is from every centre so far; zero where the metric does
    /// not allow to conclude anything from that.
    fn reach(&self, centre: u32) -> Vec<f64> {
        let is_metric = !matches!(self.index.metric(), Metric::Cosine | Metric::Correlation);
        let distance = |&other: &u32| self.index.pair_distance(centre as usize, other as usize);
        self.centres.iter().map(|other| if is_metric { distance(other) } else { 0.0 }).collect()
    }
}

impl Cover for PointsCover<'_> {
    fn add(&mut self, centre: u32, ctx: &Ctx) -> Result<()> {
        let reach = self.reach(centre);
        let own = self.centres.len() as u32;
        self.centres.push(centre);
        let index = self.index;
        let rows = self.nearest.par_chunks_mut(ROWS).zip(self.owner.par_chunks_mut(ROWS)).enumerate();
        ctx.install(|| {
            rows.try_for_each(|(chunk, (nearest, owner))| {
                ctx.check()?;
                for (offset, (known, owner)) in nearest.iter_mut().zip(owner).enumerate() {
                    let far = reach.get(*owner as usize).is_some_and(|&apart| apart >= 2.0 * SLACK * *known);
                    if far {
                        continue;
                    }
                    let distance = index.pair_distance(chunk * ROWS + offset, centre as usize);
                    if distance < *known {
                        *known = distance;
                        *owner = own;
                    }
                }
                Ok(())
            })
        })
    }

    fn nearest(&self) -> &[f64] {
        &self.nearest
    }
}

/// Distances as they were given.
pub struct MatrixCover<'a> {
    matrix: ArrayView2<'a, f64>,
    nearest: Vec<f64>,
}

impl<'a> MatrixCover<'a> {
    /// No centres yet.
    pub fn new(matrix: ArrayView2<'a, f64>) -> Self {
        MatrixCover { matrix, nearest: vec![f64::INFINITY; matrix.nrows()] }
    }
}

impl Cover for MatrixCover<'_> {
    fn add(&mut self, centre: u32, _: &Ctx) -> Result<()> {
        for (known, &distance) in self.nearest.iter_mut().zip(self.matrix.row(centre as usize)) {
            *known = known.min(distance);
        }
        Ok(())
    }

    fn nearest(&self) -> &[f64] {
        &self.nearest
    }
}
