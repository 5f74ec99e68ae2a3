//! Coordinates of connected components, each embedded on its own, put together.
//!
//! Place: after the eigenproblem of every component, before the rows of the data.
//! Components are laid side by side; what the neighbourhoods do not determine is warned
//! of. Cost: n·p.

use ndarray::{Array2, s};

use super::layout::side_by_side;
use super::warnings::more_neighbors;
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::LocalNeighborhoods;
use crate::kernel::Blocks;
use crate::kernel::local::component::LocalComponent;
use crate::linalg::{SparseSymmetric, SymmetricOperator};
use crate::spectrum::{Solver, Spectrum, warn_of_freedom};

/// Units of rounding that the image of a free column under the root may have. Measured:
/// up to 3e3 where neighbourhoods are nearly flat, 3e7 on an even curve of 100 000 rows.
const ROOT_ROUNDING: f64 = 1e5;

/// One component on its own.
pub struct ComponentMap {
    /// One row per row of the component; columns that it does not have are zero.
    pub placed: Array2<f64>,
    /// Smallest eigenvalues after the constant's, ascending.
    pub eigenvalues: Vec<f64>,
    /// ‖Mv − λv‖ of each.
    pub residuals: Vec<f64>,
    /// Iterations of the eigensolver.
    pub iterations: usize,
    /// How many rows have neighbourhoods that span 0, 1, … directions; empty where that
    /// is not known.
    pub spans: Vec<usize>,
    /// Whether each row has more than one weight vector.
    pub several: Vec<bool>,
}

impl ComponentMap {
    /// Coordinates that need no eigenproblem.
    pub fn of_coordinates(placed: Array2<f64>) -> ComponentMap {
        let (spans, several) = (Vec::new(), Vec::new());
        ComponentMap { placed, eigenvalues: vec![], residuals: vec![], iterations: 0, spans, several }
    }
}

/// Coordinates of all rows in use.
pub struct JoinedMap {
    /// One row per row in use; columns that no component has are zero.
    pub placed: Array2<f64>,
    /// Smallest eigenvalues, ascending, added up over the components.
    pub eigenvalues: Vec<f64>,
    /// ‖Mv − λv‖ of each column, the largest over the components.
    pub residuals: Vec<f64>,
    /// Most iterations of the eigensolver in a component.
    pub iterations: usize,
    /// Most columns that a component has.
    pub rank: usize,
    /// How many rows have neighbourhoods that span 0, 1, … directions.
    pub spans: Vec<usize>,
    /// Whether each row in use has more than one weight vector.
    pub several: Vec<bool>,
}

impl JoinedMap {
    /// Lay the components side by side.
    pub fn new(components: &[LocalComponent<'_>], maps: Vec<ComponentMap>, columns: usize) -> JoinedMap {
        let rows: usize = components.iter().map(LocalComponent::len).sum();
        let mut joined = JoinedMap {
            placed: Array2::zeros((rows, columns)),
            eigenvalues: vec![0.0; columns],
            residuals: vec![0.0; columns],
            iterations: 0,
            rank: 0,
            spans: Vec::new(),
            several: vec![false; rows],
        };
        for (component, map) in components.iter().zip(&maps) {
            joined.eigenvalues.iter_mut().zip(&map.eigenvalues).for_each(|(sum, value)| *sum += value);
            joined
                .residuals
                .iter_mut()
                .zip(&map.residuals)
                .for_each(|(most, value)| *most = most.max(*value));
            joined.iterations = joined.iterations.max(map.iterations);
            joined.rank = joined.rank.max(columns_of(&map.placed));
            joined.spans.resize(joined.spans.len().max(map.spans.len()), 0);
            joined.spans.iter_mut().zip(&map.spans).for_each(|(sum, count)| *sum += count);
            let several = component.rows.iter().zip(&map.several);
            several.for_each(|(&row, &own)| joined.several[row as usize] = own);
        }
        let mut maps: Vec<Array2<f64>> = maps.into_iter().map(|map| map.placed).collect();
        if maps.len() > 1 {
            side_by_side(&mut maps);
        }
        for (component, map) in components.iter().zip(&maps) {
            for (&row, coordinates) in component.rows.iter().zip(map.outer_iter()) {
                joined.placed.row_mut(row as usize).assign(&coordinates);
            }
        }
        joined
    }
}

/// Columns that are not zero.
fn columns_of(placed: &Array2<f64>) -> usize {
    placed.columns().into_iter().filter(|column| column.iter().any(|&value| value != 0.0)).count()
}

/// Warn where the eigenvalue after those of the `found` columns is like theirs, so that
/// the neighbourhoods do not determine the columns.
pub fn warn_of_undetermined(
    neighborhoods: &LocalNeighborhoods,
    matrix: &SparseSymmetric,
    blocks: Option<&Blocks>,
    spectrum: &Spectrum,
    found: usize,
    ctx: &Ctx,
) -> Result<()> {
    let mut rounding = 4.0 * f64::EPSILON * matrix.norm_bound();
    let mut free = energy(matrix, &spectrum.vectors, found, ctx)? <= rounding;
    // Only a factor gives vectors that are as good as the root is.
    if let Some(blocks) = blocks.filter(|_| free && spectrum.ran == Solver::Direct) {
        rounding = (ROOT_ROUNDING * f64::EPSILON).powi(2) * matrix.norm_bound();
        free = root_energy(blocks, &spectrum.vectors, found) <= rounding;
    }
    let like = match () {
        () if free => format!("as close to zero as those of the {found} columns shown"),
        () if tied(spectrum, found, rounding) => format!("that of column {found} up to rounding"),
        () => return Ok(()),
    };
    let hint = format!("{} or ask for more components", more_neighbors(neighborhoods));
    warn_of_freedom("the neighbourhoods", found, &like, &hint, ctx);
    Ok(())
}

/// Whether the last of the `found` pairs that are shown has the eigenvalue of the one
/// after it, as far as the matrix and the solver resolve them.
fn tied(spectrum: &Spectrum, found: usize, rounding: f64) -> bool {
    /// Relative difference of two eigenvalues that are one but for the solver.
    const SAME: f64 = 1e-8;
    let (last, next) = (spectrum.values[found - 1], spectrum.values[found]);
    // A dense decomposition rounds at the size of the largest eigenvalues, and its
    // residuals say how much.
    let rounding = match spectrum.ran {
        Solver::Dense => spectrum.residuals[found - 1] + spectrum.residuals[found],
        _ => rounding / 4.0,
    };
    spectrum.converged && (next - last).abs() <= (SAME * next).max(rounding)
}

/// vᵀMv of a column: its error is the square of the vector's, where an eigenvalue
/// from a shifted matrix has the rounding of the shift.
fn energy(matrix: &SparseSymmetric, vectors: &Array2<f64>, column: usize, ctx: &Ctx) -> Result<f64> {
    let vector = vectors.slice(s![.., column..=column]);
    let mut product = Array2::zeros(vector.dim());
    matrix.apply(vector, product.view_mut(), ctx)?;
    Ok(vector.iter().zip(&product).map(|(entry, image)| entry * image).sum())
}

/// The same as ‖Rv‖² by the root of the blocks, whose rounding is squared too.
fn root_energy(blocks: &Blocks, vectors: &Array2<f64>, column: usize) -> f64 {
    let vector = vectors.column(column);
    let of_block = |index: usize| {
        let (members, factor) = blocks.block(index);
        let width = factor.len() / members.len().max(1);
        let mut image = vec![0.0; width];
        for (&member, weights) in members.iter().zip(factor.chunks_exact(width.max(1))) {
            image.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight * vector[member as usize]);
        }
        image.iter().map(|entry| entry * entry).sum::<f64>()
    };
    (0..blocks.len()).map(of_block).sum()
}
