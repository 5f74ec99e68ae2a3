//! New rows in a map of neighbours (t-SNE): each minimises its own divergence against the
//! fixed map of the training rows.
//!
//! ```text
//! y(x) = argmin_y  e Σ_j p_j (−ln k(y, y_j)) + ln Σ_j k(y, y_j)
//! ```
//!
//! p are the conditional probabilities of the row's nearest training rows at a small
//! perplexity, e a slight exaggeration (Poličar, Stražar & Zupan 2023). It starts at the
//! weighted median of those neighbours. A training row, recognised by its values, has its
//! fitted coordinates. New rows exert no force on each other.
//! Cost: a neighbour search, and n·p for each of some twenty steps of a row.

use std::collections::HashMap;
use std::sync::OnceLock;

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::descent::{digest, digests};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Csr, Data, PointsRef, check};
use crate::kernel::perplexity::{AffinityShape, Perplexity, probabilities};
use crate::neighbors::duplicates::{Lookup, are_equal};
use crate::neighbors::{Index, NeighborRule, Neighbors, query_distances};
use crate::optimize::neighbor_embedding::Student;
use crate::optimize::neighbor_embedding::field::Sources;
use crate::optimize::{Objective, Stop, lbfgs};

/// Largest perplexity of a new row: it belongs where its nearest rows are.
const PERPLEXITY: f64 = 5.0;
/// Attraction of a new row, relative to its repulsion.
const EXAGGERATION: f64 = 1.5;
/// Each row is a small problem of its own.
const STOP: Stop = Stop { max_iter: 100, eps: 1e-12 };

/// What new rows are compared with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Training {
    /// Points.
    Points(Box<Index>),
    /// So many rows whose distances were given.
    Distances(usize),
    /// So many rows of a sparse graph.
    Graph(usize),
    /// So many rows whose affinities were given.
    Affinities(usize),
}

/// The fixed map.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeighborMap {
    training: Training,
    /// One number for each row of given distances, by which it is recognised.
    digests: Vec<u64>,
    /// Coordinates of the training rows.
    pub embedding: Array2<f64>,
    shape: AffinityShape,
    perplexity: Perplexity,
    law: Student,
}

impl NeighborMap {
    /// The map of these training rows.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(
        training: Training,
        data: Data<'_>,
        embedding: Array2<f64>,
        shape: AffinityShape,
        perplexity: &Perplexity,
        law: Student,
        ctx: &Ctx,
    ) -> Result<NeighborMap> {
        let perplexity = Perplexity(vec![perplexity.largest().min(PERPLEXITY)]);
        let digests = match (&training, data) {
            (Training::Affinities(rows), Data::Graph(given)) => {
                (0..*rows).map(|row| graph_digest(given, row)).collect()
            }
            _ => digests(data, ctx)?,
        };
        Ok(NeighborMap { training, digests, embedding, shape, perplexity, law })
    }

    /// Coordinates of rows.
    ///
    /// # Errors
    /// Rows of another kind or width; a row of a graph without edges; cancellation.
    pub fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let width = self.embedding.ncols();
        let near = self.neighbors(data, ctx)?;
        let known = self.known_digests();
        let lookup = OnceLock::new();
        let flat: Vec<f64> = self.embedding.iter().copied().collect();
        let sources = Sources::<f64>::of(&flat, width, None);
        ctx.stage("new rows", data.rows());
        let rows: Vec<Vec<f64>> = (0..data.rows())
            .into_par_iter()
            .map(|row| {
                ctx.check()?;
                let place = match self.training_row(data, row, &near, &known, &lookup) {
                    Some(own) => self.embedding.row(own).to_vec(),
                    None => self.place_row(row, &near, &sources, ctx)?,
                };
                ctx.advance(1);
                Ok(place)
            })
            .collect::<Result<_>>()?;
        let mut placed = Array2::zeros((data.rows(), width));
        for (mut slots, place) in placed.outer_iter_mut().zip(rows) {
            slots.iter_mut().zip(place).for_each(|(slot, value)| *slot = value);
        }
        Ok(placed)
    }

    /// Distances of rows to the nearest training row: how far they are from anything known.
    ///
    /// # Errors
    /// As [`Self::place`]; given affinities, which are no distances.
    pub fn nearest_distances(&self, data: Data<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
        if matches!(self.training, Training::Affinities(_)) {
            return Err(Error::Unsupported("affinities say nothing of distances".into()));
        }
        let near = self.neighbors(data, ctx)?;
        Ok((0..near.rows()).map(|row| near.row(row).1.first().copied().unwrap_or(0.0)).collect())
    }

    fn neighbors(&self, data: Data<'_>, ctx: &Ctx) -> Result<Neighbors> {
        let most = ((3.0 * self.perplexity.largest() + 1.0) as usize).min(self.embedding.nrows());
        let rule = NeighborRule::Nearest(most);
        match (&self.training, data) {
            (Training::Points(index), Data::Points(points)) => {
                let (width, own) = (points.cols(), index.points().view().cols());
                if width != own {
                    let why = format!("X has {width} features, but the model was fitted with {own}");
                    return Err(Error::input(why));
                }
                index.query(points, rule, ctx)
            }
            (Training::Distances(rows), Data::Distances(matrix)) => {
                query_distances(check::new_distances(matrix, *rows)?.view(), rule, ctx)
            }
            (Training::Graph(rows), Data::Graph(given)) => {
                let near = Neighbors::from_entries(given, *rows, rule, false)?;
                match (0..near.rows()).find(|&row| near.range(row).is_empty()) {
                    None => Ok(near),
                    Some(row) => Err(Error::input(format!(
                        "row {row} of the graph has no edge to a training row; give it the distances to its \
                         nearest ones"
                    ))),
                }
            }
            (Training::Affinities(rows), Data::Graph(given)) => affinities(given, *rows),
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }

    fn known_digests(&self) -> HashMap<u64, usize> {
        let mut known = HashMap::new();
        for (row, &digest) in self.digests.iter().enumerate() {
            known.entry(digest).or_insert(row);
        }
        known
    }

    /// The training row that this row is.
    fn training_row(
        &self,
        data: Data<'_>,
        row: usize,
        near: &Neighbors,
        known: &HashMap<u64, usize>,
        lookup: &OnceLock<Lookup>,
    ) -> Option<usize> {
        let (indices, distances) = near.row(row);
        let zeros = distances.iter().take_while(|&&distance| distance == 0.0).count();
        match (&self.training, data) {
            (Training::Points(index), Data::Points(points)) => {
                let training: PointsRef<'_> = index.points().view();
                let equal = |&&other: &&u32| are_equal((training, other as usize), (points, row));
                let found = indices[..zeros].iter().find(equal).map(|&other| other as usize);
                // More rows than were asked for may be at distance zero without being equal.
                let all_zero = found.is_none() && zeros == indices.len() && zeros < index.len();
                let sorted = || lookup.get_or_init(|| Lookup::of(training));
                found.or_else(|| {
                    if all_zero { sorted().find(training, points, row).map(|at| at as usize) } else { None }
                })
            }
            (Training::Distances(_), Data::Distances(matrix)) => {
                known.get(&digest(matrix, row)).copied().or((zeros > 0).then(|| indices[0] as usize))
            }
            (Training::Affinities(_), Data::Graph(given)) => known.get(&graph_digest(given, row)).copied(),
            _ => (zeros > 0).then(|| indices[0] as usize),
        }
    }

    /// The place of one row by its neighbours.
    fn place_row(&self, row: usize, near: &Neighbors, sources: &Sources<f64>, ctx: &Ctx) -> Result<Vec<f64>> {
        let (indices, distances) = near.row(row);
        let probabilities = probabilities(distances, self.shape, &self.perplexity);
        let neighbors: Vec<(f64, Vec<f64>)> = indices
            .iter()
            .zip(probabilities)
            .filter(|(_, probability)| *probability > 0.0)
            .map(|(&other, probability)| (probability, self.embedding.row(other as usize).to_vec()))
            .collect();
        let mut y: Vec<f64> = (0..self.embedding.ncols()).map(|k| weighted_median(&neighbors, k)).collect();
        let mut objective = RowObjective { neighbors: &neighbors, sources, law: self.law };
        lbfgs::minimize(&mut objective, &mut y, STOP, ctx)?;
        Ok(y)
    }
}

/// A number by which a row of given affinities is recognised.
fn graph_digest(given: &Csr, row: usize) -> u64 {
    let (columns, values) = given.row(row);
    let mut entries: Vec<(u32, u64)> = columns
        .iter()
        .zip(values)
        .filter(|(_, value)| **value != 0.0)
        .map(|(c, v)| (*c, v.to_bits()))
        .collect();
    entries.sort_unstable();
    entries
        .iter()
        .flat_map(|&(column, value)| [u64::from(column), value])
        .fold(0xcbf2_9ce4_8422_2325, |hash, bits| {
            (hash ^ bits).wrapping_mul(0x0100_0000_01b3_u64).rotate_left(29)
        })
}

/// The affinities of new rows to training rows, as they are.
fn affinities(given: &Csr, rows: usize) -> Result<Neighbors> {
    let mut lists = Neighbors::empty();
    for row in 0..given.rows() {
        let entries = || given.row(row).0.iter().zip(given.row(row).1).filter(|(_, value)| **value != 0.0);
        for (&column, &value) in entries() {
            if column as usize >= rows || value.is_nan() || value < 0.0 {
                return Err(Error::input(format!(
                    "row {row} has the affinity {value} to row {column}; affinities must be >= 0, and there are \
                     {rows} training rows"
                )));
            }
        }
        if entries().next().is_none() {
            return Err(Error::input(format!("row {row} has no affinity to any training row")));
        }
        lists.push_row(entries().map(|(&column, &value)| (column, value)));
    }
    Ok(lists)
}

/// The coordinate at which half of the probability is reached.
fn weighted_median(neighbors: &[(f64, Vec<f64>)], k: usize) -> f64 {
    let mut sorted: Vec<(f64, f64)> = neighbors.iter().map(|(share, place)| (place[k], *share)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut sum = 0.0;
    for &(value, share) in &sorted {
        sum += share;
        if sum >= 0.5 {
            return value;
        }
    }
    sorted.last().map_or(0.0, |&(value, _)| value)
}

struct RowObjective<'a> {
    neighbors: &'a [(f64, Vec<f64>)],
    sources: &'a Sources<f64>,
    law: Student,
}

impl Objective for RowObjective<'_> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64], ctx: &Ctx) -> Result<f64> {
        ctx.check()?;
        let half_factor = 0.5 * self.law.factor();
        let mut total = [0.0];
        self.sources.field(self.law, x, &mut total, gradient);
        gradient.iter_mut().for_each(|push| *push *= -half_factor / total[0]);
        let mut value = crate::linalg::exp::ln(total[0]);
        for (share, place) in self.neighbors {
            let gaps = x.iter().zip(place).map(|(own, other)| own - other);
            let squared = gaps.clone().fold(0.0, |sum, gap| sum + gap * gap);
            value += EXAGGERATION * share * self.law.negative_log(squared);
            let pull = EXAGGERATION * share * half_factor / (1.0 + squared / self.law.dof);
            gradient.iter_mut().zip(gaps).for_each(|(sum, gap)| *sum += pull * gap);
        }
        Ok(value)
    }

    fn precondition(&self, gradient: &[f64], step: &mut [f64]) {
        let bend = EXAGGERATION * 0.5 * self.law.factor();
        step.iter_mut().zip(gradient).for_each(|(step, slope)| *step = slope / bend);
    }

    fn scale(&self) -> f64 {
        1.0
    }
}
