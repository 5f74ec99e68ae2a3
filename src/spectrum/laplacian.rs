//! The lowest eigenpairs of a graph's Laplacian after the trivial one, whether the graph is
//! connected or not.
//!
//! What Laplacian eigenmaps and diffusion maps share. In a connected graph the null vector
//! (D^½1, of a plain Laplacian 1) is known and left out; with m components the null space
//! is known too, and gives the first m − 1 eigenvectors exactly: each separates a component
//! from those before it. Where the last eigenvalue is also that of the vector after it,
//! the columns are not determined, which is warned of.
//!
//! Cost: that of the eigensolver.

use ndarray::{Array2, Axis, concatenate};

use super::low_degree::settle;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Components;
use crate::input::rows::as_indices;
use crate::kernel::Affinity;
use crate::kernel::laplacian::{FlippedLaplacian, NormalizedAffinity, null_contrasts, null_vectors};
use crate::linalg::SparseSymmetric;
use crate::linalg::SymmetricOperator;
use crate::spectrum::{Knobs, tied_with_next, warn_of_freedom, warn_unconverged};
use crate::spectrum::{Options, Solver, Spectrum, bottom, top};

/// Rows up to which a full matrix is decomposed where products with it do not suffice:
/// seconds.
const MOST_DENSE: usize = 2000;

/// A Laplacian in the form its affinities have.
pub enum Laplacian<'a> {
    /// L itself.
    Sparse(SparseSymmetric),
    /// c·I − L, and c.
    Dense(Box<dyn SymmetricOperator + 'a>, f64),
}

impl<'a> Laplacian<'a> {
    /// The normalised Laplacian of a full matrix.
    pub fn normalized(affinity: NormalizedAffinity<'a>) -> Self {
        Laplacian::Dense(Box::new(affinity), 1.0)
    }

    /// The plain one.
    pub fn plain(flipped: FlippedLaplacian<'a>) -> Self {
        let bound = flipped.bound;
        Laplacian::Dense(Box::new(flipped), bound)
    }

    /// What no eigenvalue of L exceeds by more than a factor.
    fn size(&self) -> f64 {
        match self {
            Laplacian::Sparse(laplacian) => laplacian.norm_bound(),
            Laplacian::Dense(_, bound) => *bound,
        }
    }
}

/// Whose functions are wanted.
pub struct LaplacianProblem<'a> {
    /// L.
    pub laplacian: Laplacian<'a>,
    /// An order of the rows in which near rows are near, if one is known.
    pub order: Option<&'a [u32]>,
    /// The square of the null vector: degrees, of a plain Laplacian ones.
    pub measure: &'a [f64],
    /// Connected components of the graph.
    pub components: &'a Components,
}

/// What warnings advise.
#[derive(Debug, Clone, Copy)]
pub struct LaplacianAdvice {
    /// Parameters of the solver.
    pub knobs: Knobs,
    /// What makes affinities differ more.
    pub contrast: &'static str,
}

/// Eigenpairs of L.
pub struct LaplacianPairs {
    /// Eigenvalues, ascending, without the trivial 0.
    pub values: Vec<f64>,
    /// Orthonormal eigenvectors, one per column.
    pub vectors: Array2<f64>,
    /// ‖Lv − λv‖ of each.
    pub residuals: Vec<f64>,
    /// Products with a block of vectors; 0 when there were none.
    pub iterations: usize,
    /// So many of them separate components and are known without a solver.
    pub known: usize,
}

/// The `k` lowest eigenpairs of L after the trivial one.
pub fn laplacian_eigenpairs(
    problem: LaplacianProblem<'_>,
    k: usize,
    options: &Options,
    advice: LaplacianAdvice,
    ctx: &Ctx,
) -> Result<LaplacianPairs> {
    let LaplacianProblem { laplacian: walk, order, measure, components } = problem;
    ctx.stage("eigenvectors", 0);
    let contrasts = null_contrasts(measure, components, k);
    let (known, wanted) = (contrasts.ncols(), k - contrasts.ncols());
    let (mut values, mut residuals) = (vec![0.0; known], vec![0.0; known]);
    if wanted == 0 {
        return Ok(LaplacianPairs { values, vectors: contrasts, residuals, iterations: 0, known });
    }
    let null = null_vectors(measure, components);
    let found = match &walk {
        Laplacian::Sparse(laplacian) => match order {
            None => bottom(laplacian, &null, wanted, options, ctx)?,
            Some(order) => in_order(laplacian, order, &null, wanted, options, ctx)?,
        },
        Laplacian::Dense(flipped, bound) => {
            let options = Options { deflate: Some(null), ..options.clone() };
            let mut found = top(flipped.as_ref(), wanted, &options, ctx)?;
            if !found.converged && options.solver == Solver::Auto && measure.len() <= MOST_DENSE {
                let options = Options { solver: Solver::Dense, ..options };
                found = top(flipped.as_ref(), wanted, &options, ctx)?;
            }
            found.values.iter_mut().chain(&mut found.next).for_each(|value| *value = bound - *value);
            found
        }
    };
    warn_unconverged(&found, wanted, advice.knobs, ctx);
    if found.converged {
        warn_of_ties(tied_with_next(&found, walk.size()), k, advice.contrast, ctx);
    }
    values.extend(found.values.iter().map(|value| value.max(0.0)));
    let vectors = concatenate(Axis(1), &[contrasts.view(), found.vectors.view()])
        .map_err(|fault| Error::input(fault.to_string()))?;
    residuals.extend(&found.residuals);
    Ok(LaplacianPairs { values, vectors, residuals, iterations: found.iterations, known })
}

/// Warn of `tied` columns, the last of `k`, that share their eigenvalue with one that
/// is not shown.
fn warn_of_ties(tied: usize, k: usize, contrast: &str, ctx: &Ctx) {
    if tied == 0 {
        return;
    }
    let like = match tied {
        1 => format!("that of column {k} up to rounding"),
        _ => format!("that of columns {} to {k} up to rounding", k - tied + 1),
    };
    let fewer = if tied < k { format!("n_components={}, or ", k - tied) } else { String::new() };
    let hint = format!(
        "use {fewer}more components until all of that eigenvalue are there, or, if all affinities are about the \
         same, {contrast}"
    );
    warn_of_freedom("the affinities", k, &like, &hint, ctx);
}

/// [`bottom`] with the rows in another order: near rows near in memory, and large
/// graphs cut into parts.
fn in_order(
    laplacian: &SparseSymmetric,
    order: &[u32],
    null: &Array2<f64>,
    wanted: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Spectrum> {
    let null = null.select(Axis(0), &as_indices(order));
    let mut found = bottom(&laplacian.renumbered(order, ctx)?, &null, wanted, options, ctx)?;
    let ordered = std::mem::replace(&mut found.vectors, Array2::zeros((laplacian.len(), wanted)));
    for (entries, &row) in ordered.outer_iter().zip(order) {
        found.vectors.row_mut(row as usize).assign(&entries);
    }
    Ok(found)
}

/// D^-½ v, with rows of low degree as the eigenvalue equation has them.
pub fn eigenfunctions(
    pairs: &LaplacianPairs,
    affinity: &Affinity,
    degrees: &[f64],
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let mut functions = pairs.vectors.clone();
    for (mut row, degree) in functions.outer_iter_mut().zip(degrees) {
        let root = degree.sqrt();
        row.mapv_inplace(|value| value / root);
    }
    settle(&mut functions, pairs, affinity, degrees, ctx)?;
    Ok(functions)
}
