//! New rows in a map of the stress family: each minimises its own stress against the fixed
//! map of the training rows.
//!
//! ```text
//! y(x) = argmin_y Σ_j loss(f(δ(x, x_j)), |y − y_j|)
//! ```
//!
//! from two starts, the better one kept: Gower's formula for adding a point (the linear
//! equations that squared distances to known places give), and the place of the training
//! row with the smallest dissimilarity. f is the transformation that the fit found. A
//! training row, told by its values, has its fitted coordinates. Rows do not see each other.
//! Cost: n·p an iteration and row.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Data, PointsRef};
use crate::linalg::small::cholesky;
use crate::neighbors::ReferenceRows;
use crate::neighbors::duplicates::are_equal;
use crate::optimize::disparities::Function;
use crate::optimize::pairs::columns;
use crate::optimize::point::{PointPass, Sums};
use crate::optimize::term::{PairTerm, SStress, Sammon, Stress};
use crate::optimize::{Objective, Stop, lbfgs};

/// What a new row minimises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum RowLoss {
    /// Σ (d − δ)².
    Stress,
    /// Σ (d² − δ²)².
    SStress,
    /// Σ (d − δ)² / δ.
    Sammon {
        /// The smallest dissimilarity above zero.
        least: f64,
    },
    /// Σ (k − y·y_j)² of the centred inner products k: classical scaling, by a formula.
    Strain,
}

/// The fixed map, and how rows are compared with its training rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StressPlacement {
    reference: ReferenceRows,
    /// One number for each row of given dissimilarities, by which it is told.
    digests: Vec<u64>,
    /// Coordinates, column by column.
    map: Vec<f64>,
    rows: usize,
    loss: RowLoss,
    function: Function,
    /// Mean squared dissimilarity of each training row, for [`RowLoss::Strain`].
    square_means: Option<Vec<f64>>,
    /// Training rows that count, those with the smallest dissimilarities; all without.
    nearest: Option<usize>,
}

/// Dissimilarities in memory at once.
const BLOCK: usize = 1 << 22;
/// As far as rounding goes: a row costs little.
const STOP: Stop = Stop { max_iter: 1000, eps: 1e-15 };

impl StressPlacement {
    /// The map of these training rows.
    pub fn new(reference: ReferenceRows, digests: Vec<u64>, map: Vec<f64>, loss: RowLoss) -> StressPlacement {
        let rows = match &reference {
            ReferenceRows::Points(index) => index.len(),
            ReferenceRows::Given { training, .. } => *training,
        };
        StressPlacement {
            reference,
            digests,
            map,
            rows,
            loss,
            function: Function::Same,
            square_means: None,
            nearest: None,
        }
    }

    /// With dissimilarities transformed.
    pub fn with_function(self, function: Function) -> StressPlacement {
        StressPlacement { function, ..self }
    }

    /// With the mean squared dissimilarities of the training rows.
    pub fn with_square_means(self, means: Vec<f64>) -> StressPlacement {
        StressPlacement { square_means: Some(means), ..self }
    }

    /// With only the nearest training rows counted.
    pub fn with_nearest(self, nearest: Option<usize>) -> StressPlacement {
        StressPlacement { nearest, ..self }
    }

    /// Coordinates of rows.
    ///
    /// # Errors
    /// Rows of another kind or width; a row without any known dissimilarity; cancellation.
    pub fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let width = self.map.len() / self.rows.max(1);
        let mut placed = Array2::zeros((data.rows(), width));
        let mut known: HashMap<u64, usize> = HashMap::new();
        for (row, &digest) in self.digests.iter().enumerate() {
            known.entry(digest).or_insert(row);
        }
        let height = (BLOCK / self.rows.max(1)).max(1);
        ctx.stage("new rows", data.rows());
        for first in (0..data.rows()).step_by(height) {
            let last = (first + height).min(data.rows());
            let dissimilarities = self.reference.dissimilarities(data, first, last, ctx)?;
            let parts: Vec<Vec<f64>> = (first..last)
                .into_par_iter()
                .map(|row| {
                    ctx.check()?;
                    let delta = dissimilarities.row(row - first).to_vec();
                    let place = match self.training_row(data, row, &delta, &known) {
                        Some(own) => (0..width).map(|k| self.map[k * self.rows + own]).collect(),
                        None => self.place_row(delta, ctx).ok_or_else(|| {
                            Error::input(format!("row {row} has no known dissimilarity to any training row"))
                        })??,
                    };
                    ctx.advance(1);
                    Ok(place)
                })
                .collect::<Result<_>>()?;
            for (row, place) in (first..last).zip(parts) {
                placed.slice_mut(s![row, ..]).iter_mut().zip(place).for_each(|(slot, value)| *slot = value);
            }
        }
        Ok(placed)
    }

    /// The training row that this row is.
    fn training_row(
        &self,
        data: Data<'_>,
        row: usize,
        delta: &[f64],
        known: &HashMap<u64, usize>,
    ) -> Option<usize> {
        match (&self.reference, data) {
            (ReferenceRows::Points(index), Data::Points(points)) => {
                let zeros = (0..delta.len()).filter(|&j| delta[j] == 0.0);
                zeros.into_iter().find(|&j| are_equal((index.points().view(), j), (points, row)))
            }
            (_, Data::Distances(matrix)) => {
                let told = known.get(&digest(matrix, row)).copied();
                told.or_else(|| delta.iter().position(|&near| near == 0.0))
            }
            _ => None,
        }
    }

    /// The place of one row by its dissimilarities; `None` when none is known.
    fn place_row(&self, mut delta: Vec<f64>, ctx: &Ctx) -> Option<Result<Vec<f64>>> {
        let mut weights: Option<Vec<f64>> = None;
        if delta.iter().any(|near| near.is_nan()) {
            weights = Some(delta.iter().map(|near| if near.is_nan() { 0.0 } else { 1.0 }).collect());
        }
        for near in &mut delta {
            *near = if near.is_nan() { 0.0 } else { self.function.at(*near) };
        }
        let counts =
            |weights: &Option<Vec<f64>>, j: usize| weights.as_ref().is_none_or(|weights| weights[j] > 0.0);
        if let Some(k) = self.nearest.filter(|&k| k < delta.len()) {
            let mut order: Vec<usize> = (0..delta.len()).filter(|&j| counts(&weights, j)).collect();
            order.sort_by(|&a, &b| delta[a].total_cmp(&delta[b]).then(a.cmp(&b)));
            let mut some = vec![0.0; delta.len()];
            order.iter().take(k).for_each(|&j| some[j] = 1.0);
            weights = Some(some);
        }
        let columns = columns(&self.map, self.rows);
        let counted: Vec<usize> = (0..delta.len()).filter(|&j| counts(&weights, j)).collect();
        let nearest = *counted.iter().min_by(|&&a, &&b| delta[a].total_cmp(&delta[b]).then(a.cmp(&b)))?;
        let gower = gower(&columns, &delta, &counted, self.square_means.as_deref());
        let nearest: Vec<f64> = columns.iter().map(|column| column[nearest]).collect();
        let row = Row { delta: &delta, weights: weights.as_deref(), columns: &columns };
        Some(match self.loss {
            RowLoss::Strain => Ok(gower.unwrap_or(nearest)),
            RowLoss::Stress => row.best(Stress, gower, nearest, ctx),
            RowLoss::SStress => row.best(SStress, gower, nearest, ctx),
            RowLoss::Sammon { least } => row.best(Sammon { least }, gower, nearest, ctx),
        })
    }
}

/// A number by which a row of given dissimilarities is told (FNV-1a of its bits).
pub fn digest(matrix: ArrayView2<'_, f64>, row: usize) -> u64 {
    matrix.row(row).iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &value| {
        // One zero and one NaN, however they are written.
        let bits = if value.is_nan() { u64::MAX } else { (value + 0.0).to_bits() };
        (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    })
}

/// Digests of all rows where dissimilarities are given.
///
/// # Errors
/// Cancellation.
pub fn digests(data: Data<'_>, ctx: &Ctx) -> Result<Vec<u64>> {
    match data {
        Data::Distances(matrix) => {
            let rows = (0..matrix.nrows()).into_par_iter();
            rows.map(|row| ctx.check().map(|()| digest(matrix, row))).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// The first training row that is the same as each row: of equal values, or told by the
/// same digest.
///
/// # Errors
/// Cancellation.
pub fn first_equal_rows(data: Data<'_>, digests: &[u64]) -> Vec<Option<usize>> {
    let mut first: HashMap<u64, usize> = HashMap::new();
    match data {
        Data::Points(points) => equal_points(points),
        _ => digests
            .iter()
            .enumerate()
            .map(|(row, &digest)| Some(*first.entry(digest).or_insert(row)).filter(|&other| other != row))
            .collect(),
    }
}

fn equal_points(points: PointsRef<'_>) -> Vec<Option<usize>> {
    let lookup = crate::neighbors::duplicates::Lookup::of(points);
    let found = |row: usize| lookup.find(points, points, row).map(|other| other as usize);
    (0..points.rows()).into_par_iter().map(|row| found(row).filter(|&other| other != row)).collect()
}

/// Gower's formula: ½ G⁻¹ Σ_j x_j (|x_j|² − δ_j²) for centred x_j and G = Σ_j x_j x_jᵀ; `None`
/// where the counted rows do not span the map. With the training rows' mean squared
/// dissimilarities in the place of |x_j|² it is the formula of classical scaling.
fn gower(columns: &[&[f64]], delta: &[f64], counted: &[usize], means: Option<&[f64]>) -> Option<Vec<f64>> {
    let p = columns.len();
    let mean: Vec<f64> = columns
        .iter()
        .map(|column| counted.iter().map(|&j| column[j]).sum::<f64>() / counted.len() as f64)
        .collect();
    let (mut gram, mut right, mut x) = (vec![0.0; p * p], vec![0.0; p], vec![0.0; p]);
    for &j in counted {
        for k in 0..p {
            x[k] = columns[k][j] - mean[k];
        }
        let own = means.map_or_else(|| x.iter().map(|value| value * value).sum::<f64>(), |means| means[j]);
        let excess = own - delta[j] * delta[j];
        for a in 0..p {
            right[a] += 0.5 * x[a] * excess;
            for b in 0..p {
                gram[a * p + b] += x[a] * x[b];
            }
        }
    }
    if !cholesky::factor(&mut gram, p) {
        return None;
    }
    cholesky::solve(&gram, p, &mut right);
    Some(right.iter().zip(mean).map(|(value, mean)| value + mean).collect())
}

/// One row against the map.
struct Row<'a> {
    delta: &'a [f64],
    weights: Option<&'a [f64]>,
    columns: &'a [&'a [f64]],
}

impl Row<'_> {
    /// The better of the minima from both starts.
    fn best<T: PairTerm>(
        &self,
        term: T,
        gower: Option<Vec<f64>>,
        nearest: Vec<f64>,
        ctx: &Ctx,
    ) -> Result<Vec<f64>> {
        let mut best: Option<(f64, Vec<f64>)> = None;
        for mut y in gower.into_iter().chain([nearest]) {
            let mut objective = RowObjective::new(self, term);
            lbfgs::minimize(&mut objective, &mut y, STOP, ctx)?;
            let value = objective.evaluate(&y, &mut vec![0.0; y.len()], ctx)?;
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, y));
            }
        }
        // proof: the chain has at least one start.
        Ok(best.map(|(_, y)| y).unwrap_or_default())
    }
}

struct RowObjective<'a, T> {
    row: &'a Row<'a>,
    term: T,
    stiffness: f64,
    scale: f64,
    sums: Sums,
}

impl<'a, T: PairTerm> RowObjective<'a, T> {
    fn new(row: &'a Row<'a>, term: T) -> Self {
        let weight = |j: usize| row.weights.map_or(1.0, |weights| weights[j]);
        let each = row.delta.iter().enumerate();
        let stiffness: f64 = each.clone().map(|(j, &near)| term.stiffness(near, weight(j))).sum();
        // The loss with all points in one place.
        let scale: f64 = each.map(|(j, &near)| term.term(near, weight(j), 0.0).0).sum();
        RowObjective { row, term, stiffness, scale, sums: Sums::new(row.columns.len(), false) }
    }
}

impl<T: PairTerm> Objective for RowObjective<'_, T> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64], ctx: &Ctx) -> Result<f64> {
        ctx.check()?;
        let Row { delta, weights, columns } = *self.row;
        let pass = PointPass { term: self.term, delta, weights, columns, own: x, sums: &mut self.sums };
        let value = pulp::Arch::new().dispatch(pass);
        gradient.iter_mut().zip(&self.sums.first).for_each(|(slot, half)| *slot = 2.0 * half);
        Ok(value)
    }

    fn precondition(&self, gradient: &[f64], step: &mut [f64]) {
        let bend = 2.0 * self.stiffness;
        step.iter_mut().zip(gradient).for_each(|(step, g)| *step = if bend > 0.0 { g / bend } else { 0.0 });
    }

    fn scale(&self) -> f64 {
        self.scale
    }
}
