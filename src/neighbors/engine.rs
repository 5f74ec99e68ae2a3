//! Tree or brute force: decided by counting, not by clocks.
//!
//! Place in the dataflow: called once by `Index::build`. What a tree saves
//! depends on the intrinsic dimension, which is not known: so a fixed sample
//! of rows is searched for and the distances evaluated are counted. The same
//! data always get the same engine. Cost: the tree, and 200 searches of it.

use super::Metric;
use super::kdtree::Tree;
use super::metric::with_measure;
use super::tree_search::probe;
use crate::context::Ctx;
use crate::error::Result;
use crate::input::Points;
use crate::params::choices;

choices! {
    /// How neighbours are searched for; every choice but one gives the same neighbours.
    #[derive(Default)]
    Algorithm {
        /// Whatever a count of distance evaluations says is faster.
        #[default]
        Auto = "auto",
        /// All pairs.
        Brute = "brute",
        /// A kd-tree where one can be built (dense rows).
        Tree = "kd_tree" | "ball_tree",
        /// Nearly all of the k nearest of many dense rows, faster; all of them where that
        /// is soon done, and for anything else.
        Approximate = "approximate",
    }
}

/// Rows that a search of a tree evaluates at the least: those of a leaf or two, in many
/// columns of a few, whose boxes cost as much again.
const LEAST: f64 = 24.0;
const LEAST_IF_WIDE: f64 = 96.0;

/// Fewer rows than this are not worth a tree.
const FEW: usize = 64;

/// From this many columns a sample is probed before all rows are.
const WIDE: usize = 24;

/// Rows of that sample.
const SAMPLE: usize = 1024;

/// The tree, if `algorithm` or the data ask for it.
pub(super) fn wants_tree(
    rows: &[f64],
    dims: usize,
    metric: Metric,
    algorithm: Algorithm,
    ctx: &Ctx,
) -> Result<Option<Tree>> {
    let n = rows.len() / dims;
    match algorithm {
        Algorithm::Brute => return Ok(None),
        Algorithm::Tree => return Tree::build(rows, dims, ctx).map(Some),
        Algorithm::Auto if n < FEW => return Ok(None),
        Algorithm::Auto | Algorithm::Approximate => {}
    }
    // What a tree has to beat, for each pair of rows.
    let rival = match algorithm {
        Algorithm::Approximate => metric.brute_cost(dims).min(approximate_cost(dims) / n as f64),
        _ => metric.brute_cost(dims),
    };
    let pays = |share: f64| share * tree_cost(dims) < rival;
    if !pays(if dims > WIDE { LEAST_IF_WIDE } else { LEAST } / n as f64) {
        return Ok(None);
    }
    if dims > WIDE && n <= 2 * SAMPLE {
        let tree = Tree::build(rows, dims, ctx)?;
        return Ok(pays(evaluated(&tree, rows, metric, 25)).then_some(tree));
    }
    if dims > WIDE {
        let picked = (0..n).step_by(n.div_ceil(SAMPLE));
        let sample: Vec<f64> = picked.flat_map(|row| &rows[row * dims..(row + 1) * dims]).copied().collect();
        let tree = Tree::build(&sample, dims, ctx)?;
        // A tree helps the more the more rows there are; one that must look at
        // most of a sample will not pay on the whole.
        if evaluated(&tree, &sample, metric, 25) > 0.5 {
            return Ok(None);
        }
    }
    let tree = Tree::build(rows, dims, ctx)?;
    Ok(pays(evaluated(&tree, rows, metric, 200)).then_some(tree))
}

/// The share of all rows that a search evaluates.
fn evaluated(tree: &Tree, rows: &[f64], metric: Metric, queries: usize) -> f64 {
    let n = tree.order.len();
    let k = 10.min(n - 1).max(1);
    with_measure!(metric, measure => probe(tree, measure, rows, k, queries)) / n as f64
}

/// Nanoseconds per evaluation in a tree, its boxes included (measured).
fn tree_cost(dims: usize) -> f64 {
    2.0 + 0.4 * dims as f64
}

/// Nanoseconds of an approximate search per row (measured).
fn approximate_cost(dims: usize) -> f64 {
    30_000.0 + 300.0 * dims as f64
}

/// A few coordinates that carry most of the position of the points: the eight
/// columns of largest variance, or for sparse points sums of columns in eight
/// groups. Row-major.
pub(super) fn shadow(points: &Points) -> (Vec<f64>, usize) {
    const DIMS: usize = 8;
    match points {
        Points::Dense(matrix) => {
            let n = matrix.nrows() as f64;
            let mut spread: Vec<(f64, usize)> = Vec::with_capacity(matrix.ncols());
            let mut mean = vec![0.0; matrix.ncols()];
            let mut square = vec![0.0; matrix.ncols()];
            for row in matrix.rows() {
                for (d, &value) in row.iter().enumerate() {
                    // Against the first row, so that an offset costs no digits.
                    let value = value - matrix[[0, d]];
                    mean[d] += value / n;
                    square[d] += value * value / n;
                }
            }
            spread.extend((0..matrix.ncols()).map(|d| (square[d] - mean[d] * mean[d], d)));
            spread.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
            spread.truncate(DIMS);
            let picked = matrix
                .rows()
                .into_iter()
                .flat_map(|row| spread.iter().map(|&(_, d)| row[d]).collect::<Vec<_>>());
            let shadow: Vec<f64> = picked.collect();
            if spread.is_empty() { (vec![0.0; matrix.nrows()], 1) } else { (shadow, spread.len()) }
        }
        Points::Sparse(csr) => {
            let mut shadow = vec![0.0; csr.rows() * DIMS];
            for (row, sums) in shadow.chunks_exact_mut(DIMS).enumerate() {
                let (columns, values) = csr.row(row);
                for (&column, &value) in columns.iter().zip(values) {
                    sums[column as usize % DIMS] += value;
                }
            }
            (shadow, DIMS)
        }
    }
}
