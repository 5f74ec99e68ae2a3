//! Neighbours of points: an index over rows, the only way to search them.
//!
//! Place in the dataflow: `input` points in, `Neighbors` out, for the training
//! rows themselves and, kept in the fitted model, for new rows. Whatever the
//! engine (`tree_search`, `gemm`, `sparse`, `brute`), the answer is the same,
//! bit for bit. Cost: see the engines; `engine` decides between them.

use ndarray::Array2;

use super::angular::{Filled, Units, in_layout, is_nowhere, units};
use super::brute;
use super::brute::{Allow, Dense};
use super::closest_pairs::{check_labels, merge_table};
use super::engine::{Algorithm, wants_tree};
use super::kdtree::{Tree, partition};
use super::measure::Measure;
use super::metric::{Euclid, settled, with_measure};
use super::sparse::{SparsePairs, search_by_dots};
use super::table::{reserve_sampled, sample};
use super::{ClosestForeign, Link, Metric, NeighborRule, Neighbors, check_rule, gemm, tree_search};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Points, PointsRef};

/// Fewer queries than this do not repay preparing the rows for matrix products.
const FEW_QUERIES: usize = 32;

/// Fewer rows than this are compared directly.
const FEW_ROWS: usize = 256;

/// Rows whose neighbours can be searched.
#[derive(Debug, Clone)]
pub struct Index {
    pub(super) points: Points,
    pub(super) metric: Metric,
    /// What the engines compare, when that is not the points themselves.
    units: Option<Units>,
    pub(super) tree: Option<Tree>,
    /// Whether nearly all neighbours will do, of all rows.
    pub(super) approximate: bool,
}

/// Run a tree function with its measure and, where it pays, its dimension known.
macro_rules! with_tree {
    ($metric:expr, $tree:expr, $function:path, $measure:ident, ($($argument:expr),*)) => {{
        use $function as run;
        match (settled($metric), $tree.dims) {
            (Metric::Euclidean, 1) => run::<1, _>($tree, Euclid, $($argument),*),
            (Metric::Euclidean, 2) => run::<2, _>($tree, Euclid, $($argument),*),
            (Metric::Euclidean, 3) => run::<3, _>($tree, Euclid, $($argument),*),
            (Metric::Euclidean, 4) => run::<4, _>($tree, Euclid, $($argument),*),
            (Metric::Euclidean, 8) => run::<8, _>($tree, Euclid, $($argument),*),
            _ => with_measure!($metric, $measure => run::<0, _>($tree, $measure, $($argument),*)),
        }
    }};
}

fn is_angular(metric: Metric) -> bool {
    metric.ignores_scale()
}

impl Index {
    /// Index `points` (copied) under `metric`.
    ///
    /// `algorithm` only decides how fast answers come, not what they are: a
    /// tree is not built for sparse rows, and brute force serves instead. The one
    /// exception is `Approximate`, by which [`Index::neighbors_of_all`] may miss some
    /// of the k nearest of dense rows; new rows are always searched for exactly.
    ///
    /// # Errors
    /// A power below 1, no or too many rows, cancellation, memory.
    pub fn build(points: PointsRef, metric: Metric, algorithm: Algorithm, ctx: &Ctx) -> Result<Index> {
        if let Metric::Minkowski(p) = metric
            && !(p >= 1.0)
        {
            return Err(Error::param("p", format!("must be at least 1 for a Minkowski distance, got {p}")));
        }
        if points.rows() == 0 || points.rows() >= u32::MAX as usize {
            let rows = points.rows();
            return Err(Error::input(format!(
                "neighbours need between 1 and 4 294 967 294 rows, got {rows}"
            )));
        }
        if let PointsRef::Dense(matrix) = points {
            let bytes = matrix.len() as u64 * 8 * 3;
            ctx.reserve(bytes, "the index of neighbours", "use fewer rows or reduce their dimension")?;
        }
        ctx.stage("index", 0);
        let mut index = Index::plain(points.to_owned(), metric);
        index.approximate = algorithm == Algorithm::Approximate;
        if let Some((rows, dims)) = index.tree_rows() {
            index.tree = ctx.install(|| wants_tree(rows, dims, metric, algorithm, ctx))?;
        }
        Ok(index)
    }

    /// The index without a tree.
    pub(super) fn plain(points: Points, metric: Metric) -> Index {
        let units = is_angular(metric).then(|| units(&points.view(), metric));
        let units = match (&points, units) {
            // One kind of sparse rows for the engine, whatever the metric.
            (Points::Sparse(csr), None) => Some(Units::Sparse(Filled { csr: csr.clone(), fill: Vec::new() })),
            (_, units) => units,
        };
        Index { points, metric, units, tree: None, approximate: false }
    }

    /// The dense rows a tree could be built of: they have coordinates, and each
    /// a direction where that counts.
    pub(super) fn tree_rows(&self) -> Option<(&[f64], usize)> {
        let rows = self.dense()?;
        let (flat, dims) = (rows.as_slice()?, rows.ncols());
        let directed = !is_angular(self.metric) || !flat.chunks_exact(dims).any(is_nowhere);
        (dims > 0 && directed).then_some((flat, dims))
    }

    /// What the engines compare, when dense.
    pub(super) fn dense(&self) -> Option<&Array2<f64>> {
        match (&self.units, &self.points) {
            (Some(Units::Dense(rows)), _) | (None, Points::Dense(rows)) => Some(rows),
            _ => None,
        }
    }

    /// The rows, as they were given.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.points.view().rows()
    }

    /// Whether a tree answers (else brute force).
    #[cfg(test)]
    pub fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// The neighbours of every row, itself excluded by index, nearest first,
    /// ties by index.
    ///
    /// # Errors
    /// A rule that cannot be had, cancellation, memory.
    pub fn neighbors_of_all(&self, rule: NeighborRule, ctx: &Ctx) -> Result<Neighbors> {
        check_rule(rule, self.len(), true)?;
        if let NeighborRule::Within(radius) = rule {
            reserve_sampled(self.len(), || self.mean_within(radius, ctx), ctx)?;
        }
        if let Some(found) = self.approximately(rule, ctx) {
            return found;
        }
        ctx.stage("neighbours", self.len());
        ctx.install(|| match &self.tree {
            Some(tree) => with_tree!(self.metric, tree, tree_search::all, measure, (rule, ctx)),
            None => self.brute(None, rule, |query, row| query != row, ctx),
        })
    }

    /// The neighbours of new rows among the indexed ones. A row equal to an
    /// indexed one is at distance exactly 0 from it; rows one by one or in a
    /// batch give the same bits.
    ///
    /// # Errors
    /// Rows of another width, a rule that cannot be had, cancellation, memory.
    pub fn query(&self, points: PointsRef, rule: NeighborRule, ctx: &Ctx) -> Result<Neighbors> {
        let (width, own) = (points.cols(), self.points.view().cols());
        if width != own {
            return Err(Error::input(format!("the new rows have {width} columns, the known ones {own}")));
        }
        check_rule(rule, self.len(), false)?;
        ctx.stage("neighbours", points.rows());
        self.search_for(points, rule, ctx)
    }

    /// Mean number of neighbours within a radius, judged by some of the rows.
    ///
    /// # Errors
    /// Cancellation, memory.
    pub fn mean_within(&self, radius: f64, ctx: &Ctx) -> Result<f64> {
        let rows: Vec<usize> = sample(self.len()).collect();
        ctx.stage("numbers of neighbours", rows.len());
        let mut sum = 0;
        // One by one: all of them may have all rows as neighbours.
        for &row in &rows {
            let one = self.points.view().select(&[row]);
            sum += self.search_for(one.view(), NeighborRule::Within(radius), ctx)?.indices.len();
        }
        Ok(sum as f64 / rows.len().max(1) as f64)
    }

    fn search_for(&self, points: PointsRef, rule: NeighborRule, ctx: &Ctx) -> Result<Neighbors> {
        let sparse = matches!(self.points, Points::Sparse(_));
        let queries = Index::plain(in_layout(&points, sparse), self.metric);
        ctx.install(|| match (&self.tree, queries.dense().and_then(|rows| rows.as_slice())) {
            (Some(tree), Some(rows)) if !self.has_nowhere(rows, tree.dims) => {
                with_tree!(self.metric, tree, tree_search::query, measure, (rows, rule, ctx))
            }
            _ => self.brute(Some(&queries), rule, |_, _| true, ctx),
        })
    }

    fn has_nowhere(&self, rows: &[f64], dims: usize) -> bool {
        is_angular(self.metric) && rows.chunks_exact(dims).any(is_nowhere)
    }

    /// Brute force, of new rows or (`None`) of the rows themselves.
    fn brute(
        &self,
        queries: Option<&Index>,
        rule: NeighborRule,
        allow: impl Allow,
        ctx: &Ctx,
    ) -> Result<Neighbors> {
        let asked = queries.unwrap_or(self);
        if let (Some(Units::Sparse(rows)), Some(Units::Sparse(queries))) = (&self.units, &asked.units) {
            let marked = is_angular(self.metric);
            return with_measure!(self.metric, measure => {
                let pairs = SparsePairs { measure, queries, rows, marked };
                if matches!(settled(self.metric), Metric::Euclidean | Metric::Cosine) {
                    search_by_dots(&pairs, rule, allow, ctx)
                } else {
                    brute::search(&pairs, rule, allow, ctx)
                }
            });
        }
        let (Some(rows), Some(queries_matrix)) = (self.dense(), asked.dense()) else {
            return Err(Error::input("sparse and dense rows cannot be compared"));
        };
        with_measure!(self.metric, measure => {
            let pairs = dense_pairs(measure, queries_matrix, rows);
            self.dense_brute(&pairs, queries.is_none(), rule, allow, ctx)
        })
    }

    fn dense_brute<M: Measure>(
        &self,
        pairs: &Dense<M>,
        mirror: bool,
        rule: NeighborRule,
        allow: impl Allow,
        ctx: &Ctx,
    ) -> Result<Neighbors> {
        let (queries, rows) = pairs.counts;
        let squares = matches!(settled(self.metric), Metric::Euclidean) || is_angular(self.metric);
        let few = queries < FEW_QUERIES || rows < FEW_ROWS || pairs.dims == 0;
        let most = matches!(rule, NeighborRule::Nearest(k) if k > rows / 4);
        if squares
            && !few
            && !most
            && let Some(table) = gemm::search(pairs, rule, mirror, &allow, ctx)?
        {
            return Ok(table);
        }
        brute::search(pairs, rule, allow, ctx)
    }

    /// An order of the rows in which neighbours in space are mostly neighbours
    /// in the list: for sweeps that want their data in cache.
    pub fn order(&self) -> Vec<u32> {
        if let Some(tree) = &self.tree {
            return tree.order.clone();
        }
        let (shadow, dims) = super::engine::shadow(&self.points);
        partition(&shadow, dims, None).unwrap_or_else(|_| (0..self.len() as u32).collect())
    }

    /// The distances of new rows (or, with `None`, of the rows themselves) to
    /// all rows: the full matrix. Symmetric, with a zero diagonal, for `None`.
    ///
    /// # Errors
    /// Rows of another width, cancellation, memory.
    pub fn matrix(&self, points: Option<PointsRef>, ctx: &Ctx) -> Result<Array2<f64>> {
        let queries = match points {
            None => None,
            Some(points) => {
                let (width, own) = (points.cols(), self.points.view().cols());
                if width != own {
                    return Err(Error::input(format!(
                        "X has {width} features, but the model was fitted with {own}"
                    )));
                }
                let sparse = matches!(self.points, Points::Sparse(_));
                Some(Index::plain(in_layout(&points, sparse), self.metric))
            }
        };
        let asked = queries.as_ref().unwrap_or(self);
        let need = (asked.len() as u64).saturating_mul(8 * self.len() as u64);
        ctx.reserve(need, "the matrix of distances", "use fewer rows at a time")?;
        ctx.stage("distances", asked.len());
        ctx.install(|| {
            with_measure!(self.metric, measure => match (self.dense(), asked.dense()) {
                (Some(rows), Some(queries)) => brute::table(&dense_pairs(measure, queries, rows), ctx),
                _ => match (&self.units, &asked.units) {
                    (Some(Units::Sparse(rows)), Some(Units::Sparse(queries))) => {
                        let marked = is_angular(self.metric);
                        brute::table(&SparsePairs { measure, queries, rows, marked }, ctx)
                    }
                    _ => Err(Error::input("sparse and dense rows cannot be compared")),
                },
            })
        })
    }

    /// The distances of row `i` to the rows from `first` on, on the caller's thread.
    pub fn distances_from(&self, i: usize, first: usize, distances: &mut [f64]) {
        with_measure!(self.metric, measure => match (self.dense(), &self.units) {
            (Some(rows), _) => brute::row(&dense_pairs(measure, rows, rows), i, first, distances),
            (None, Some(Units::Sparse(rows))) => {
                let marked = is_angular(self.metric);
                brute::row(&SparsePairs { measure, queries: rows, rows, marked }, i, first, distances);
            }
            // Sparse points always have sparse rows beside them (`Index::plain`).
            (None, _) => distances.fill(f64::NAN),
        })
    }

    /// The distance of rows `i` and `j`.
    pub fn pair_distance(&self, i: usize, j: usize) -> f64 {
        use super::brute::Pairs;
        with_measure!(self.metric, measure => match (self.dense(), &self.units) {
            (Some(rows), _) => measure.finish(dense_pairs(measure, rows, rows).reduced(i, j)),
            (None, Some(Units::Sparse(rows))) => {
                let marked = is_angular(self.metric);
                measure.finish(SparsePairs { measure, queries: rows, rows, marked }.reduced(i, j))
            }
            // Sparse points always have sparse rows beside them (`Index::plain`).
            (None, _) => f64::NAN,
        })
    }
}

pub(super) fn dense_pairs<'a, M: Measure>(
    measure: M,
    queries: &'a Array2<f64>,
    rows: &'a Array2<f64>,
) -> Dense<'a, M> {
    // Both are row-major: `PointsRef::to_owned` and `units` make them so.
    let flat = |matrix: &'a Array2<f64>| matrix.as_slice().unwrap_or(&[]);
    let counts = (queries.nrows(), rows.nrows());
    Dense { measure, queries: flat(queries), rows: flat(rows), dims: rows.ncols(), counts }
}

impl ClosestForeign for Index {
    fn closest_foreign(&self, labels: &[usize], count: usize, ctx: &Ctx) -> Result<Vec<Link>> {
        check_labels(labels, count, self.len())?;
        ctx.stage("links between components", self.len());
        ctx.install(|| match &self.tree {
            Some(tree) => {
                with_tree!(self.metric, tree, tree_search::foreign, measure, (labels, count, ctx))
            }
            None => {
                let foreign = |query: usize, row: usize| labels[query] != labels[row];
                let table = self.brute(None, NeighborRule::Nearest(1), foreign, ctx)?;
                merge_table(&table, labels, count)
            }
        })
    }
}
