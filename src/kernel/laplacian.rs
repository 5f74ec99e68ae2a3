//! The graph Laplacian, normalised (L = I − D^-½ W D^-½) or plain (D − W), and what is
//! known of its spectrum without solving anything: one null vector per component, D^½1 or 1.
//!
//! Place: affinities in, an operator for `spectrum` out. W the affinities without
//! their diagonal, D their row sums; a row without affinities is a component of its
//! own, with degree 1 where it is divided by. Chung 1997; scipy's `csgraph.laplacian`.
//!
//! Cost: O(entries); the dense form is multiplied where it lies, never copied.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use crate::context::Ctx;
use crate::error::Result;
use crate::graph::{Components, Graph};
use crate::linalg::SparseSymmetric;
use crate::linalg::SymmetricOperator;
use crate::linalg::csr::CompressedRows;
use crate::linalg::dense::square_of;

/// Degrees with 1 in the place of 0: rows without affinities stand alone.
pub fn usable_degrees(mut degrees: Vec<f64>) -> Vec<f64> {
    degrees.iter_mut().filter(|degree| **degree == 0.0).for_each(|degree| *degree = 1.0);
    degrees
}

/// I − D^-½ W D^-½ of a graph of affinities; `own` is the diagonal of W where it
/// counts (and is part of the degrees).
pub fn normalized_laplacian(
    affinity: &Graph,
    own: Option<&[f64]>,
    degrees: &[f64],
    ctx: &Ctx,
) -> Result<SparseSymmetric> {
    let roots = inverse_roots(degrees);
    let off = |i: usize, j: usize, weight: f64| -share(weight, roots[i], roots[j]);
    let diagonal = |i: usize| {
        // A row alone is in the null space.
        let alone = affinity.row(i).1.iter().all(|&weight| weight == 0.0);
        if alone { 0.0 } else { 1.0 - own.map_or(0.0, |own| own[i] / degrees[i]) }
    };
    on_pattern(affinity, ctx, diagonal, off)
}

/// D − W of a graph of affinities whose row sums are `degrees`.
pub fn plain_laplacian(affinity: &Graph, degrees: &[f64], ctx: &Ctx) -> Result<SparseSymmetric> {
    on_pattern(affinity, ctx, |i| degrees[i], |_, _, weight| -weight)
}

/// The matrix with a diagonal, and an entry for each edge.
fn on_pattern(
    affinity: &Graph,
    ctx: &Ctx,
    diagonal: impl Fn(usize) -> f64 + Sync,
    off: impl Fn(usize, usize, f64) -> f64 + Sync,
) -> Result<SparseSymmetric> {
    let usual = affinity.targets().len() / affinity.len().max(1) + 2;
    let rows = CompressedRows::written(affinity.len(), usual, ctx, |i, rows| {
        let (targets, weights) = affinity.row(i);
        let before = targets.partition_point(|&j| (j as usize) < i);
        let entry = |at: usize| (targets[at], off(i, targets[at] as usize, weights[at]));
        let (left, right) = ((0..before).map(entry), (before..targets.len()).map(entry));
        left.chain([(i as u32, diagonal(i))]).chain(right).for_each(|(j, value)| rows.push(j, value));
        Ok(())
    })?;
    SparseSymmetric::of_rows(rows)
}

/// An affinity over the roots of both degrees, which are given inverted: a number even
/// where the degrees are so small that their product is none.
fn share(weight: f64, one: f64, other: f64) -> f64 {
    let both = one * other;
    if both.is_finite() { weight * both } else { (weight * one.min(other)) * one.max(other) }
}

/// D^-½.
pub fn inverse_roots(degrees: &[f64]) -> Vec<f64> {
    degrees.iter().map(|degree| 1.0 / degree.sqrt()).collect()
}

/// D^-½ W D^-½ of a full matrix, which stays where it is. Its diagonal counts: where it
/// must not, it has to be 0. Taking it out of the product afterwards would leave ε·W_ii
/// in rows whose other affinities may be far smaller than that.
pub struct NormalizedAffinity<'a> {
    matrix: ArrayView2<'a, f64>,
    roots: Vec<f64>,
}

impl<'a> NormalizedAffinity<'a> {
    /// The operator for these row sums.
    pub fn new(matrix: ArrayView2<'a, f64>, degrees: &[f64]) -> Self {
        NormalizedAffinity { matrix, roots: inverse_roots(degrees) }
    }
}

impl SymmetricOperator for NormalizedAffinity<'_> {
    fn dim(&self) -> usize {
        self.matrix.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let mut scaled = x.to_owned();
        for (mut row, root) in scaled.outer_iter_mut().zip(&self.roots) {
            row.mapv_inplace(|value| value * root);
        }
        let product = crate::linalg::matmul(self.matrix, scaled.view(), ctx)?;
        for (i, mut row) in y.axis_iter_mut(Axis(0)).enumerate() {
            for (c, slot) in row.iter_mut().enumerate() {
                *slot = self.roots[i] * product[[i, c]];
            }
        }
        Ok(())
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let value = |i, j| share(self.matrix[[i, j]], self.roots[i], self.roots[j]);
        square_of(self.dim(), ctx, value)
    }
}

/// c·I − (D − W) of a full matrix, which stays where it is and whose diagonal is 0 (as
/// in [`NormalizedAffinity`]); c bounds the eigenvalues of D − W.
pub struct FlippedLaplacian<'a> {
    matrix: ArrayView2<'a, f64>,
    /// What the identity is multiplied by here, c − d of each row.
    rest: Vec<f64>,
    /// c.
    pub bound: f64,
}

impl<'a> FlippedLaplacian<'a> {
    /// The operator for these row sums.
    pub fn new(matrix: ArrayView2<'a, f64>, degrees: &[f64]) -> Self {
        let bound = 2.0 * degrees.iter().fold(0.0_f64, |most, &degree| most.max(degree));
        FlippedLaplacian { matrix, rest: degrees.iter().map(|degree| bound - degree).collect(), bound }
    }
}

impl SymmetricOperator for FlippedLaplacian<'_> {
    fn dim(&self) -> usize {
        self.matrix.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let product = crate::linalg::matmul(self.matrix, x, ctx)?;
        for (i, mut row) in y.axis_iter_mut(Axis(0)).enumerate() {
            for (c, slot) in row.iter_mut().enumerate() {
                *slot = product[[i, c]] + self.rest[i] * x[[i, c]];
            }
        }
        Ok(())
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let value = |i, j| if i == j { self.rest[i] } else { self.matrix[[i, j]] };
        square_of(self.dim(), ctx, value)
    }
}

/// The null vectors of the Laplacian: D^½ times the indicator of each component, of
/// unit length. Those of the plain one are the same for degrees of 1.
pub fn null_vectors(degrees: &[f64], components: &Components) -> Array2<f64> {
    let volumes = volumes(degrees, components);
    let mut null = Array2::zeros((degrees.len(), components.count()));
    for (i, (&degree, &component)) in degrees.iter().zip(&components.labels).enumerate() {
        null[[i, component]] = (degree / volumes[component]).sqrt();
    }
    null
}

/// The null space without D^½1, as orthonormal columns: the c-th separates component
/// c + 1 from all components before it. At most `most` of them.
pub fn null_contrasts(degrees: &[f64], components: &Components, most: usize) -> Array2<f64> {
    let volumes = volumes(degrees, components);
    let count = most.min(components.count().saturating_sub(1));
    let mut contrasts = Array2::zeros((degrees.len(), count));
    for c in 0..count {
        let (before, own) = (volumes[..=c].iter().sum::<f64>(), volumes[c + 1]);
        let ahead = (before / (before + own)).sqrt();
        let behind = (own / before / (before + own)).sqrt();
        for (i, (&degree, &component)) in degrees.iter().zip(&components.labels).enumerate() {
            contrasts[[i, c]] = match component.cmp(&(c + 1)) {
                std::cmp::Ordering::Less => -behind * degree.sqrt(),
                // Degrees beside their own sum: a component may weigh next to nothing.
                std::cmp::Ordering::Equal => ahead * (degree / own).sqrt(),
                std::cmp::Ordering::Greater => 0.0,
            };
        }
    }
    contrasts
}

/// Sum of the degrees of each component.
fn volumes(degrees: &[f64], components: &Components) -> Vec<f64> {
    let mut volumes = vec![0.0; components.count()];
    for (degree, &component) in degrees.iter().zip(&components.labels) {
        volumes[component] += degree;
    }
    volumes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::affinity::Affinity;

    /// Two components (a path of three, a pair) and a row alone.
    fn components() -> (Graph, Vec<f64>, Components) {
        let (offsets, targets) = ([0, 1, 3, 4, 5, 6, 6], [1, 0, 2, 1, 4, 3]);
        let graph =
            Graph::from_csr(6, &offsets, &targets, &[2.0, 2.0, 3.0, 3.0, 0.5, 0.5], &Ctx::new(1, 0)).unwrap();
        let affinity = Affinity::Sparse(graph.clone());
        (graph, usable_degrees(affinity.degrees()), affinity.components(0.0, &Ctx::new(1, 0)).unwrap())
    }

    fn largest(matrix: &Array2<f64>) -> f64 {
        matrix.iter().fold(0.0, |most, value| most.max(value.abs()))
    }

    #[test]
    fn null_vectors_are_null_and_orthonormal() {
        let (graph, degrees, components) = components();
        let laplacian = normalized_laplacian(&graph, None, &degrees, &Ctx::new(1, 0))
            .unwrap()
            .to_dense(&Ctx::new(1, 0))
            .unwrap();
        let null = null_vectors(&degrees, &components);
        let contrasts = null_contrasts(&degrees, &components, 9);
        assert_eq!((null.ncols(), contrasts.ncols()), (3, 2));
        assert!(largest(&laplacian.dot(&null)) < 1e-15);
        assert!(largest(&laplacian.dot(&contrasts)) < 1e-15);
        assert!(largest(&(null.t().dot(&null) - Array2::<f64>::eye(3))) < 1e-15);
        assert!(largest(&(contrasts.t().dot(&contrasts) - Array2::<f64>::eye(2))) < 1e-15);
        let trivial = Array2::from_shape_fn((6, 1), |(i, _)| degrees[i].sqrt());
        assert!(largest(&trivial.t().dot(&contrasts)) < 1e-14);
    }

    #[test]
    fn plain_forms_agree_and_have_constants_as_null_vectors() {
        let (graph, _, components) = components();
        let ctx = Ctx::new(1, 0);
        let degrees = Affinity::Sparse(graph.clone()).degrees();
        let sparse = plain_laplacian(&graph, &degrees, &ctx).unwrap().to_dense(&ctx).unwrap();
        let rows = [[2.0, -2.0, 0.0], [-2.0, 5.0, -3.0], [0.0, -3.0, 3.0]];
        assert_eq!(sparse.slice(ndarray::s![..3, ..3]), ndarray::arr2(&rows));
        assert_eq!(sparse[[5, 5]], 0.0);
        let null = null_vectors(&[1.0; 6], &components);
        assert!(largest(&sparse.dot(&null)) < 1e-15);
        let contrasts = null_contrasts(&[1.0; 6], &components, 9);
        assert!(largest(&sparse.dot(&contrasts)) < 1e-15);
        let full = Array2::from_shape_fn((6, 6), |(i, j)| if i == j { 0.0 } else { -sparse[[i, j]] });
        let flipped = FlippedLaplacian::new(full.view(), &degrees);
        assert_eq!(flipped.bound, 10.0);
        let expected = Array2::<f64>::eye(6) * 10.0 - &sparse;
        assert!(largest(&(flipped.to_dense(&ctx).unwrap() - &expected)) < 1e-15);
        let x = Array2::from_shape_fn((6, 2), |(i, c)| (i * i + c) as f64);
        let mut y = Array2::zeros((6, 2));
        ctx.install(|| flipped.apply(x.view(), y.view_mut(), &ctx)).unwrap();
        assert!(largest(&(expected.dot(&x) - y)) < 1e-12);
    }

    #[test]
    fn dense_and_sparse_forms_agree() {
        let (graph, degrees, _) = components();
        let ctx = Ctx::new(1, 0);
        let mut full = Array2::zeros((6, 6));
        for i in 0..6 {
            let (targets, weights) = graph.row(i);
            targets.iter().zip(weights).for_each(|(&j, &weight)| full[[i, j as usize]] = weight);
        }
        let dense = NormalizedAffinity::new(full.view(), &degrees);
        let sparse = normalized_laplacian(&graph, None, &degrees, &ctx).unwrap().to_dense(&ctx).unwrap();
        let own = Array2::from_diag(&ndarray::arr1(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0]));
        assert!(largest(&(own - dense.to_dense(&ctx).unwrap() - &sparse)) < 1e-15);
        let x = Array2::from_shape_fn((6, 2), |(i, c)| (i * i + c) as f64);
        let mut y = Array2::zeros((6, 2));
        ctx.install(|| dense.apply(x.view(), y.view_mut(), &ctx)).unwrap();
        assert!(largest(&(dense.to_dense(&ctx).unwrap().dot(&x) - y)) < 1e-13);
    }
}
