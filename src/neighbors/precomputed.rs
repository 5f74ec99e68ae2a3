//! Neighbours out of distances that are already known.
//!
//! Place in the dataflow: precomputed distances in, the same `Neighbors` out as for
//! points. Cost: O(m n).

use ndarray::ArrayView2;

use super::brute::{Pairs, search};
use super::closest_pairs::{check_labels, merge_table};
use super::metric::Manhattan;
use super::table::{reserve_sampled, sample};
use super::{ClosestForeign, Link, NeighborRule, Neighbors, check_rule};
use crate::context::Ctx;
use crate::error::{Error, Result};

/// A matrix of distances, queries by rows. The measure is the identity.
struct Given<'a>(ArrayView2<'a, f64>);

impl Pairs for Given<'_> {
    type M = Manhattan;
    fn measure(&self) -> Manhattan {
        Manhattan
    }
    fn queries(&self) -> usize {
        self.0.nrows()
    }
    fn rows(&self) -> usize {
        self.0.ncols()
    }
    fn dims(&self) -> usize {
        1
    }
    #[inline(always)]
    fn reduced(&self, query: usize, row: usize) -> f64 {
        self.0[[query, row]]
    }
}

/// Neighbours of every row of a square distance matrix, itself excluded by index.
///
/// # Errors
/// A matrix that is not square, a rule that cannot be had, cancellation, memory.
pub fn from_distances(distances: ArrayView2<f64>, rule: NeighborRule, ctx: &Ctx) -> Result<Neighbors> {
    let (rows, cols) = distances.dim();
    if rows != cols {
        return Err(Error::input(format!("a distance matrix must be square, this one is {rows} by {cols}")));
    }
    check_rule(rule, rows, true)?;
    if let NeighborRule::Within(radius) = rule {
        reserve_sampled(rows, || Ok(mean_within(distances, radius)), ctx)?;
    }
    ctx.stage("neighbours", rows);
    ctx.install(|| search(&Given(distances), rule, |query, row| query != row, ctx))
}

/// Mean number of neighbours within a radius, judged by some of the rows.
pub fn mean_within(distances: ArrayView2<f64>, radius: f64) -> f64 {
    let within = |row: usize| distances.row(row).iter().filter(|&&distance| distance <= radius).count();
    let (count, sum) =
        sample(distances.nrows()).fold((0, 0), |(count, sum), row| (count + 1, sum + within(row)));
    sum as f64 / f64::from(count.max(1))
}

/// Neighbours of new rows given their distances (m by n) to the n known rows.
///
/// # Errors
/// A rule that cannot be had, cancellation, memory.
pub fn query_distances(distances: ArrayView2<f64>, rule: NeighborRule, ctx: &Ctx) -> Result<Neighbors> {
    check_rule(rule, distances.ncols(), false)?;
    ctx.stage("neighbours", distances.nrows());
    ctx.install(|| search(&Given(distances), rule, |_, _| true, ctx))
}

/// A square distance matrix that gives the closest pairs between components.
#[derive(Debug, Clone, Copy)]
pub struct MatrixLinks<'a>(pub ArrayView2<'a, f64>);

impl ClosestForeign for MatrixLinks<'_> {
    fn closest_foreign(&self, labels: &[usize], count: usize, ctx: &Ctx) -> Result<Vec<Link>> {
        check_labels(labels, count, self.0.nrows())?;
        check_labels(labels, count, self.0.ncols())?;
        ctx.stage("links between components", labels.len());
        let foreign = |query: usize, row: usize| labels[query] != labels[row];
        let table = ctx.install(|| search(&Given(self.0), NeighborRule::Nearest(1), foreign, ctx))?;
        merge_table(&table, labels, count)
    }
}
