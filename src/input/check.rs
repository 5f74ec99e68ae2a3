//! Is this input legal? Every shape, finiteness and symmetry check lives here,
//! and every refusal names the row or the pair.
//!
//! Cost: one pass over the data, parallel over rows.

use ndarray::{Array2, ArrayView2, CowArray, Ix2};
use rayon::prelude::*;

use super::{Csr, Data, PointsRef, extent::largest_if_finite};
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::linalg::dense::square_of;

/// Deviation from symmetry, from zero diagonal or from non-negativity, relative
/// to the largest entry, that counts as rounding and is corrected: a matrix that
/// went through single precision stays well below it.
pub const MATRIX_TOLERANCE: f64 = 1e-6;

/// Deviation below which mending is not worth a word.
const SILENT_TOLERANCE: f64 = 1e-12;

/// Points must be numbers, and there must be some.
pub fn check_points(points: PointsRef<'_>) -> Result<()> {
    if points.cols() == 0 {
        return Err(Error::input(format!(
            "0 feature(s) (shape=({}, 0)) while a minimum of 1 is required: X has no columns",
            points.rows()
        )));
    }
    match points {
        PointsRef::Dense(matrix) => check_finite(matrix, "X"),
        PointsRef::Sparse(matrix) => check_sparse(matrix),
    }
}

/// All entries are finite, or the first that is not is named.
pub fn check_finite(matrix: ArrayView2<'_, f64>, what: &str) -> Result<()> {
    match largest_if_finite(matrix) {
        Some(_) if matrix.nrows() > 0 => Ok(()),
        _ => check_entries(matrix, what, f64::is_finite),
    }
}

/// All entries are allowed, or the first that is not is named.
pub fn check_entries(matrix: ArrayView2<'_, f64>, what: &str, allowed: fn(f64) -> bool) -> Result<()> {
    if matrix.nrows() == 0 {
        return Err(Error::input(format!(
            "Found array with 0 sample(s): {what} has no rows; a minimum of 1 is required"
        )));
    }
    let bad = (0..matrix.nrows())
        .into_par_iter()
        .find_first(|&row| matrix.row(row).iter().any(|value| !allowed(*value)));
    let Some(row) = bad else { return Ok(()) };
    // proof: the row was chosen because it holds such a value.
    let column = matrix.row(row).iter().position(|value| !allowed(*value)).unwrap_or(0);
    Err(not_a_number(what, row, column, matrix[[row, column]]))
}

fn not_a_number(what: &str, row: usize, column: usize, value: f64) -> Error {
    let name = if value.is_nan() { "NaN" } else { "infinity (inf)" };
    let what = if what == "X" { "Input X" } else { what };
    Error::input(format!(
        "{what} contains {name} at row {row}, column {column}; remove or impute such rows first"
    ))
}

/// Compressed rows that fit together: monotone offsets, columns in range and
/// ascending, finite values.
fn check_sparse(matrix: &Csr) -> Result<()> {
    let broken = |why: String| Err(Error::input(format!("the sparse matrix is malformed: {why}")));
    if matrix.rows() == 0 {
        return Err(Error::input("Found array with 0 sample(s): X has no rows; a minimum of 1 is required"));
    }
    check_offsets(matrix)?;
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        if columns.windows(2).any(|pair| pair[0] >= pair[1]) {
            return broken(format!("columns of row {row} are not strictly ascending"));
        }
        if columns.last().is_some_and(|&last| last as usize >= matrix.cols) {
            return broken(format!("row {row} has a column beyond {}", matrix.cols));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(not_a_number("X", row, columns[at] as usize, values[at]));
        }
    }
    Ok(())
}

/// Offsets that slice the entries without gaps or overlaps.
pub fn check_offsets(matrix: &Csr) -> Result<()> {
    let whole = matrix.offsets.first() == Some(&0)
        && matrix.offsets.last() == Some(&matrix.indices.len())
        && matrix.indices.len() == matrix.values.len();
    if !whole || matrix.offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(Error::input(
            "the sparse matrix is malformed: its row offsets do not slice its entries".to_string(),
        ));
    }
    Ok(())
}

/// A square matrix that may be taken as symmetric.
fn check_square(matrix: ArrayView2<'_, f64>, what: &str) -> Result<()> {
    if matrix.nrows() == matrix.ncols() {
        return Ok(());
    }
    Err(Error::input(format!(
        "array must be 2-dimensional and square (n x n), got {} x {}: {what} holds the values between all pairs of \
         training rows",
        matrix.nrows(),
        matrix.ncols()
    )))
}

/// The largest magnitude of an entry.
pub(crate) fn largest(matrix: ArrayView2<'_, f64>) -> f64 {
    (0..matrix.nrows())
        .into_par_iter()
        .map(|row| matrix.row(row).iter().fold(0.0_f64, |most, value| most.max(value.abs())))
        .reduce(|| 0.0, f64::max)
}

/// The worst disagreement between (i, j) and (j, i), and where.
pub(crate) fn asymmetry(matrix: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<(f64, usize, usize)> {
    asymmetry_by(matrix, |gap, _, _| gap, ctx)
}

/// [`asymmetry`] with differences `judged` by the rows they are between.
pub(crate) fn asymmetry_by(
    matrix: ArrayView2<'_, f64>,
    judged: impl Fn(f64, usize, usize) -> f64 + Sync,
    ctx: &Ctx,
) -> Result<(f64, usize, usize)> {
    // Blocks keep both the row-wise and the column-wise walk in cache.
    const BLOCK: usize = 64;
    let n = matrix.nrows();
    let blocks = n.div_ceil(BLOCK);
    let worst = (0..blocks)
        .into_par_iter()
        .map(|block| {
            let mut worst = (0.0_f64, 0, 0);
            if ctx.is_cancelled() {
                return worst;
            }
            let rows = block * BLOCK..((block + 1) * BLOCK).min(n);
            for start in (0..rows.end).step_by(BLOCK) {
                for i in rows.clone() {
                    for j in start..(start + BLOCK).min(i) {
                        let gap = judged((matrix[[i, j]] - matrix[[j, i]]).abs(), i, j);
                        if gap > worst.0 {
                            worst = (gap, j, i);
                        }
                    }
                }
            }
            worst
        })
        .collect::<Vec<_>>();
    ctx.check()?;
    Ok(worst.into_iter().fold((0.0, 0, 0), |best, next| if next.0 > best.0 { next } else { best }))
}

/// A full distance matrix: square, symmetric, non-negative, zero on the
/// diagonal. What deviates only by rounding is corrected, in a copy; the caller's
/// matrix is used as it is when it is exact.
pub fn distances<'a>(matrix: ArrayView2<'a, f64>, ctx: &Ctx) -> Result<CowArray<'a, f64, Ix2>> {
    check_square(matrix, "the distance matrix")?;
    let allowed = MATRIX_TOLERANCE * largest(matrix);
    let mut off = check_signs(matrix, allowed, "rows")?;
    let mended = symmetric(matrix, allowed, &mut off, PairValue::Distance, ctx)?;
    for (i, &value) in matrix.diag().iter().enumerate() {
        if value.abs() > allowed {
            return Err(Error::input(format!(
                "the distance from row {i} to itself, entry ({i}, {i}), is {}; it must be 0",
                ctx.data_length(value)
            )));
        }
        off = off.max(value.abs());
    }
    if off == 0.0 {
        return Ok(CowArray::from(matrix));
    }
    let mut mended = mended.unwrap_or_else(|| matrix.to_owned());
    mended.par_mapv_inplace(|value| value.max(0.0));
    mended.diag_mut().fill(0.0);
    report_mending(
        off,
        allowed,
        "the distance matrix was made symmetric, non-negative and zero on the diagonal",
        ctx,
    );
    Ok(CowArray::from(mended))
}

/// A full kernel matrix: square and symmetric, corrected as [`distances`].
pub fn kernel<'a>(matrix: ArrayView2<'a, f64>, ctx: &Ctx) -> Result<CowArray<'a, f64, Ix2>> {
    check_square(matrix, "the kernel matrix")?;
    let allowed = MATRIX_TOLERANCE * largest(matrix);
    let mut off = 0.0;
    match symmetric(matrix, allowed, &mut off, PairValue::Kernel, ctx)? {
        None => Ok(CowArray::from(matrix)),
        Some(mended) => {
            report_mending(off, allowed, "the kernel matrix was made symmetric", ctx);
            Ok(CowArray::from(mended))
        }
    }
}

/// Distances of new rows to the training rows: m × n, non-negative.
pub fn new_distances<'a>(
    matrix: ArrayView2<'a, f64>,
    training_rows: usize,
) -> Result<CowArray<'a, f64, Ix2>> {
    check_width(matrix, training_rows, "distances")?;
    let allowed = MATRIX_TOLERANCE * largest(matrix);
    if check_signs(matrix, allowed, "new row and training row")? == 0.0 {
        return Ok(CowArray::from(matrix));
    }
    Ok(CowArray::from(matrix.mapv(|value| value.max(0.0))))
}

/// New rows bring one value per training row.
pub fn check_width(matrix: ArrayView2<'_, f64>, training_rows: usize, what: &str) -> Result<()> {
    if matrix.ncols() == training_rows {
        return Ok(());
    }
    Err(Error::input(format!(
        "new rows must bring their {what} to all {training_rows} training rows, got {} columns",
        matrix.ncols()
    )))
}

/// The size of the largest negative entry, refused beyond `allowed`.
fn check_signs(matrix: ArrayView2<'_, f64>, allowed: f64, rows: &str) -> Result<f64> {
    let lowest =
        (0..matrix.nrows())
            .into_par_iter()
            .map(|i| {
                let row = matrix.row(i);
                row.iter().enumerate().fold((0.0_f64, i, 0), |least, (j, &value)| {
                    if value < least.0 { (value, i, j) } else { least }
                })
            })
            .collect::<Vec<_>>();
    let (value, i, j) =
        lowest.into_iter().fold((0.0, 0, 0), |least, next| if next.0 < least.0 { next } else { least });
    if -value > allowed {
        return Err(Error::input(format!(
            "Negative values in data: the distance between {rows} {i} and {j} is negative; distances must be >= 0"
        )));
    }
    Ok(-value)
}

/// What a matrix holds for each pair of rows.
#[derive(Clone, Copy)]
enum PairValue {
    Distance,
    Kernel,
}

impl PairValue {
    fn name(self) -> &'static str {
        match self {
            PairValue::Distance => "distance",
            PairValue::Kernel => "kernel value",
        }
    }

    /// An entry as the caller wrote it; kernel values go with the square of a length.
    fn in_data_units(self, value: f64, ctx: &Ctx) -> f64 {
        match self {
            PairValue::Distance => ctx.data_length(value),
            PairValue::Kernel => ctx.data_square(value),
        }
    }
}

/// `None` when exactly symmetric, the mean of both halves when nearly, an error
/// naming the worst pair otherwise.
fn symmetric(
    matrix: ArrayView2<'_, f64>,
    allowed: f64,
    off: &mut f64,
    what: PairValue,
    ctx: &Ctx,
) -> Result<Option<Array2<f64>>> {
    let (gap, i, j) = asymmetry(matrix, ctx)?;
    if gap > allowed {
        return Err(Error::input(format!(
            "Array must be symmetric: the {} from row {i} to row {j} is {}, back it is {}; pass a symmetric \
             matrix, for example (D + D.T) / 2",
            what.name(),
            what.in_data_units(matrix[[i, j]], ctx),
            what.in_data_units(matrix[[j, i]], ctx)
        )));
    }
    *off = off.max(gap);
    if gap == 0.0 {
        return Ok(None);
    }
    ctx.reserve(
        (matrix.len() * 8) as u64,
        "a symmetric copy of the matrix",
        "pass an exactly symmetric matrix",
    )?;
    square_of(matrix.nrows(), ctx, |i, j| 0.5 * (matrix[[i, j]] + matrix[[j, i]])).map(Some)
}

fn report_mending(off: f64, allowed: f64, done: &str, ctx: &Ctx) {
    let relative = MATRIX_TOLERANCE * off / allowed;
    if relative > SILENT_TOLERANCE {
        ctx.warn(
            WarningKind::InputAdjusted,
            format!("{done} (largest deviation {relative:.1e} of its largest entry, within rounding)"),
        );
    }
}

/// The refusal of data that does not fit the metric.
pub fn unfit(data: Data<'_>, precomputed: bool, needs: &str) -> Error {
    let kind = data.kind();
    let why = if precomputed {
        format!("metric='precomputed' needs {needs}, got {kind}")
    } else {
        format!("got {kind} but metric is not 'precomputed'")
    };
    Error::param("metric", why)
}

/// At least one component, and no more than there are dimensions to find.
pub fn check_components(n_components: usize, most: usize, why_most: &str) -> Result<()> {
    if (1..=most).contains(&n_components) {
        return Ok(());
    }
    if most == 0 {
        return Err(Error::param("n_components", format!("{why_most} = 0: 1 sample has no coordinates")));
    }
    Err(Error::param(
        "n_components",
        format!("must be between 1 and {why_most} = {most}, got {n_components}"),
    ))
}
