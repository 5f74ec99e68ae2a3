//! The second half of every local method: each piece of the neighbourhood graph
//! to coordinates of its own, and the pieces side by side.
//!
//! Place: after [`super::local_rows`]. The coordinates of a piece are the bottom
//! eigenvectors of its alignment matrix after the constant. A piece too small for
//! the method's blocks is one neighbourhood: its coordinates are those along its
//! leading directions. Cost: the blocks, their sum and an eigenproblem per piece.

use ndarray::{Array2, Axis, s};

use super::layout::side_by_side;
use super::local_warnings::{more_neighbors, tell_of_closed_groups};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::local_neighborhoods::LocalRows;
use crate::input::rows::as_indices;
use crate::kernel::local::{Source, Variant, blocks_and_spans, principal};
use crate::kernel::{Blocks, Form, assemble};
use crate::linalg::SparseSymmetric;
use crate::linalg::SymmetricOperator;
use crate::neighbors::{Hood, Neighbors};
use crate::spectrum::{Knobs, tell_of_freedom, tell_unconverged};
use crate::spectrum::{Options, Solver, Spectrum, bottom, bottom_of_blocks};

/// Units of rounding that the image of a free column under the root may have. Measured:
/// up to 3e3 where neighbourhoods are nearly flat, 3e7 on an even curve of 100 000 rows.
const ROOT_ROUNDING: f64 = 1e5;

/// Coordinates of all mapped rows.
pub struct LocalMap {
    /// One row per mapped row; columns that no piece has are zero.
    pub placed: Array2<f64>,
    /// Smallest eigenvalues, ascending, added up over the pieces.
    pub eigenvalues: Vec<f64>,
    /// ‖Mv − λv‖ of each column, the largest over the pieces.
    pub residuals: Vec<f64>,
    /// Most iterations of the eigensolver in a piece.
    pub iterations: usize,
    /// Most columns that a piece has.
    pub rank: usize,
    /// How many rows have neighbourhoods that span 0, 1, .. directions; empty where
    /// that was not asked.
    pub spans: Vec<usize>,
}

/// One piece on its own.
struct Piece {
    placed: Array2<f64>,
    eigenvalues: Vec<f64>,
    residuals: Vec<f64>,
    iterations: usize,
    spans: Vec<usize>,
    /// Whether each row has more than one weight vector.
    several: Vec<bool>,
}

impl LocalMap {
    /// Map every piece.
    pub fn new(
        ground: &LocalRows,
        variant: Variant,
        components: usize,
        options: &Options,
        ctx: &Ctx,
    ) -> Result<LocalMap> {
        let members = in_pieces(ground);
        let mut inner = vec![0u32; ground.len()];
        for rows in &members {
            rows.iter().enumerate().for_each(|(place, &row)| inner[row as usize] = place as u32);
        }
        let (mut eigenvalues, mut iterations) = (vec![0.0; components], 0);
        let mut residuals = vec![0.0_f64; components];
        let (mut rank, mut spans, mut several) = (0, Vec::new(), vec![false; ground.len()]);
        let mut maps = Vec::with_capacity(members.len());
        for rows in &members {
            ctx.check()?;
            let piece = Piece::new(ground, rows, &inner, variant, (components, options), ctx)?;
            eigenvalues.iter_mut().zip(&piece.eigenvalues).for_each(|(sum, value)| *sum += value);
            residuals.iter_mut().zip(&piece.residuals).for_each(|(most, value)| *most = most.max(*value));
            iterations = iterations.max(piece.iterations);
            rank = rank.max(columns_of(&piece.placed));
            spans.resize(spans.len().max(piece.spans.len()), 0);
            spans.iter_mut().zip(&piece.spans).for_each(|(sum, count)| *sum += count);
            rows.iter().zip(&piece.several).for_each(|(&row, &own)| several[row as usize] = own);
            maps.push(piece.placed);
        }
        if matches!(variant, Variant::Standard { .. } | Variant::Modified { .. }) {
            tell_of_closed_groups(ground, &several, components, ctx);
        }
        if maps.len() > 1 {
            side_by_side(&mut maps);
        }
        let mut placed = Array2::zeros((ground.len(), components));
        for (rows, map) in members.iter().zip(&maps) {
            for (&row, coordinates) in rows.iter().zip(map.outer_iter()) {
                placed.row_mut(row as usize).assign(&coordinates);
            }
        }
        Ok(LocalMap { placed, eigenvalues, residuals, iterations, rank, spans })
    }
}

/// Columns that are not zero.
fn columns_of(placed: &Array2<f64>) -> usize {
    placed.columns().into_iter().filter(|column| column.iter().any(|&value| value != 0.0)).count()
}

/// Rows of each piece, near rows near one another where their order is known.
fn in_pieces(ground: &LocalRows) -> Vec<Vec<u32>> {
    let mut members: Vec<Vec<u32>> =
        ground.pieces.sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
    let mut put = |row: u32| members[ground.pieces.labels[row as usize]].push(row);
    match &ground.order {
        Some(order) => order.iter().for_each(|&row| put(row)),
        None => (0..ground.len() as u32).for_each(&mut put),
    }
    members
}

impl Piece {
    fn new(
        ground: &LocalRows,
        rows: &[u32],
        inner: &[u32],
        variant: Variant,
        (components, options): (usize, &Options),
        ctx: &Ctx,
    ) -> Result<Piece> {
        let count = rows.len();
        let least = variant.least_neighbors();
        if count <= least {
            return Piece::whole(ground, rows, components);
        }
        let mut placed = Array2::zeros((count, components));
        let near = within(ground, rows, inner, least)?;
        let (blocks, spans) =
            with_source(ground, rows, |source| blocks_and_spans(source, &near, variant, ctx))?;
        let several = (0..count).map(|row| blocks.width(row) > 1).collect();
        ctx.reserve(sum_bytes(ground, rows), "the sum of the local fits", "use fewer neighbours or rows")?;
        let matrix = assemble(count, &blocks, ctx)?;
        let found = components.min(count - 1);
        // One more tells whether those before it are the only ones.
        let asked = (found + 1).min(count - 1);
        let constant = Array2::from_elem((count, 1), 1.0 / (count as f64).sqrt());
        let (spectrum, blocks) = match blocks.form {
            Form::Product => {
                (bottom_of_blocks(&matrix, &blocks, &constant, asked, options, ctx)?, Some(blocks))
            }
            Form::Complement => {
                drop(blocks); // they have no root, and a large fit needs the room
                (bottom(&matrix, &constant, asked, options, ctx)?, None)
            }
        };
        // The one more need not have converged.
        tell_unconverged(&spectrum, found, Knobs::USUAL, ctx);
        if asked > found {
            warn_of_undetermined(ground, &matrix, blocks.as_ref(), &spectrum, found, ctx)?;
        }
        for (column, vector) in spectrum.vectors.axis_iter(Axis(1)).enumerate().take(found) {
            placed.column_mut(column).assign(&vector);
        }
        // What lies below zero is rounding: the matrix is a sum of squares.
        let eigenvalues = spectrum.values.iter().take(found).map(|value| value.max(0.0)).collect();
        let residuals = spectrum.residuals[..found].to_vec();
        Ok(Piece { placed, eigenvalues, residuals, iterations: spectrum.iterations, spans, several })
    }
}

impl Piece {
    /// A component too small for the method's blocks: one neighbourhood, along its leading
    /// directions.
    fn whole(ground: &LocalRows, rows: &[u32], components: usize) -> Result<Piece> {
        let whole = Neighbors {
            offsets: vec![0, rows.len()],
            indices: (0..rows.len() as u32).collect(),
            distances: rows.iter().map(|&row| distance(ground, rows[0], row)).collect(),
        };
        let placed = with_source(ground, rows, |source| principal(source, &whole, components))?;
        Ok(Piece {
            placed,
            eigenvalues: vec![],
            residuals: vec![],
            iterations: 0,
            spans: vec![],
            several: vec![],
        })
    }
}

/// Run `work` with the rows of a component, as points or as distances.
fn with_source<T>(ground: &LocalRows, rows: &[u32], work: impl FnOnce(Source<'_>) -> Result<T>) -> Result<T> {
    match (ground.locator.points(), &ground.matrix) {
        (Some(points), _) => {
            let part = points.select(&as_indices(rows));
            work(Source::Points { centers: part.view(), rows: part.view() })
        }
        (_, Some(matrix)) => work(Source::Distances { matrix: matrix.view(), rows: Some(rows) }),
        _ => Err(Error::Unsupported("a local method needs points or distances".into())),
    }
}

/// Warn where the eigenvalue after those of the `found` columns is like theirs, so that
/// the neighbourhoods do not determine the columns.
fn warn_of_undetermined(
    ground: &LocalRows,
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
    let hint = format!("{} or ask for more components", more_neighbors(ground));
    tell_of_freedom("the neighbourhoods", found, &like, &hint, ctx);
    Ok(())
}

/// Bytes of the sum of the blocks while it is made, twice its entries, judged by
/// some of the rows: a row meets all in whose lists it is, and all in their lists.
fn sum_bytes(ground: &LocalRows, rows: &[u32]) -> u64 {
    const SAMPLE: usize = 128;
    let near = &ground.near;
    let step = rows.len().div_ceil(SAMPLE).max(1);
    let (mut met, mut entries, mut sampled) = (Vec::new(), 0, 0);
    for &row in rows.iter().step_by(step) {
        met.clear();
        for &other in ground.graph.row(row as usize).0.iter().chain([&row]) {
            met.push(other);
            met.extend_from_slice(
                &near.indices[near.offsets[other as usize]..near.offsets[other as usize + 1]],
            );
        }
        met.sort_unstable();
        met.dedup();
        entries += met.len() as u64;
        sampled += 1;
    }
    2 * 12 * entries * rows.len() as u64 / sampled.max(1)
}

/// Whether the last of the `found` pairs that are shown has the eigenvalue of the one
/// after it, as far as the matrix and the solver tell them apart.
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

/// Distance between mapped rows; points have no need of it.
fn distance(ground: &LocalRows, from: u32, to: u32) -> f64 {
    ground.matrix.as_ref().map_or(0.0, |matrix| matrix[[from as usize, to as usize]])
}

/// The neighbour lists of one piece, numbered inside it.
fn within(ground: &LocalRows, rows: &[u32], inner: &[u32], least: usize) -> Result<Neighbors> {
    let near = &ground.near;
    let mut part = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for &row in rows {
        let range = near.offsets[row as usize]..near.offsets[row as usize + 1];
        if range.len() < least {
            let name = ground.rows.as_ref().map_or(row, |rows| rows[row as usize]);
            let parameter = match ground.hood {
                _ if ground.given => "neighbors",
                Hood::Within(_) => "radius",
                Hood::Nearest(_) => "n_neighbors",
            };
            return Err(Error::param(
                parameter,
                format!(
                    "row {name} has {} neighbour(s), the method needs at least {least}; raise it, or ask for \
                     fewer components",
                    range.len()
                ),
            ));
        }
        part.indices.extend(near.indices[range.clone()].iter().map(|&other| inner[other as usize]));
        part.distances.extend_from_slice(&near.distances[range]);
        part.offsets.push(part.indices.len());
    }
    Ok(part)
}
