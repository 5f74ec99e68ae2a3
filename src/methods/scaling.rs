//! Classical scaling of geodesic distances: the common part of Isomap and
//! kernel Isomap, and the model both fit.
//!
//! Symbols: D the geodesic distances, H = I − 11ᵀ/n, c the additive constant
//! (0 for Isomap), K = −½ H (D + c)² H off the diagonal of D. Coordinates are
//! V√Λ (the survey's (10)); a new point is placed by the eigenfunction formula
//! (39) with its geodesics through training rows only (41).
//!
//! D is held as the caller says: n²/2 numbers of 8 or 4 bytes, or not at all,
//! its rows being found anew in every pass of the eigensolver. Then passes are
//! few: the iteration starts from coordinates by landmarks and multiplies a wide
//! block. After the fit D is not kept.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use super::GeodesicParams;
use crate::context::{Ctx, available_memory};
use crate::embedding::{coordinates, kept_values, scale_back};
use crate::error::{Error, Result, WarningKind};
use crate::extend::landmark_geodesics as to_landmarks;
use crate::extend::{Eigenfunction, Triangulation};
use crate::graph::geodesic::Storage;
use crate::graph::geodesic::{Plan, Recomputed, Sources, all_pairs, for_each_batch};
use crate::graph::neighborhood_graph::{Manifold, NewRows};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::{CenteredPacked, CenteredSquares};
use crate::landmarks::GraphCover;
use crate::landmarks::{LandmarkChoice, choose};
use crate::linalg::packed::{HalfMatrix, LANES, PackedDistances};
use crate::method::{Attribute, Model};
use crate::quality;
use crate::spectrum::smallest_constant;
use crate::spectrum::{Options, Solver, top};

/// Vectors multiplied at once when the distances are recomputed: one pass then
/// costs little more than the shortest paths themselves.
const WIDE_BLOCK: usize = 16;
/// More rows than this are only recomputed when the caller says so: beyond it a
/// fit takes hours, which is not what someone short of memory expects.
const MOST_ROWS_ANEW: usize = 400_000;
/// Edges are about one: a larger constant leaves nothing of them.
const MOST_CONSTANT: f64 = 1e12;
/// Landmarks the starting guess is made from.
const GUESS_LANDMARKS: usize = 256;

const WAY_OUT: &str = "use LandmarkIsomap, storage='recompute' (slower) or storage='float32', or fit on a \
                           subset of the rows and place the others with `transform`";

/// A fitted Isomap or kernel Isomap.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedIsomap {
    manifold: Manifold,
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    eigenvectors: Array2<f64>,
    iterations: usize,
    extension: Eigenfunction,
    storage: Storage,
    /// c in working units; `None` for plain Isomap.
    constant: Option<f64>,
}

/// The constant a method asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant {
    /// None: plain Isomap.
    Zero,
    /// The smallest that makes the kernel positive semi-definite.
    Smallest,
    /// This one, in the data's units.
    Given(f64),
}

/// The distances in the form asked for.
enum Held<'a> {
    Double(PackedDistances<f64>),
    Single(PackedDistances<f32>),
    Anew(Recomputed<'a>),
}

impl<'a> Held<'a> {
    fn new(storage: Storage, plan: &'a Plan, ctx: &Ctx) -> Result<Held<'a>> {
        Ok(match storage {
            Storage::Single => Held::Single(all_pairs(plan, ctx)?),
            Storage::Recompute => Held::Anew(Recomputed(plan)),
            Storage::Auto | Storage::Double => Held::Double(all_pairs(plan, ctx)?),
        })
    }

    fn matrix(&self) -> &dyn HalfMatrix {
        match self {
            Held::Double(packed) => packed,
            Held::Single(packed) => packed,
            Held::Anew(recomputed) => recomputed,
        }
    }
}

/// Bytes a fit takes beyond the input.
pub fn memory(method: &impl GeodesicParams, storage: Storage, rows: usize, features: usize) -> u64 {
    let (n, features) = (rows as u64, features as u64);
    let graph = n * method.degree(rows) as u64 * 24;
    let index = 24 * n * features;
    let with = |storage: Storage, matrix: u64| {
        let (block, basis) = krylov_size(storage, method.components());
        let krylov = 8 * n * (basis + basis / 2 + 6 * block);
        matrix.saturating_add(graph + index + krylov)
    };
    // Accumulators of the product, panels of two threads, the graph after elimination.
    // There are half as many accumulators for few rows (`kernel::packed_center`).
    let accumulators = if rows < 20_000 { 11 } else { 22 };
    let anew =
        || with(Storage::Recompute, 8 * n * (accumulators * WIDE_BLOCK as u64 + 2 * LANES as u64 + 64));
    let double = with(Storage::Double, PackedDistances::<f64>::bytes(rows));
    match storage {
        Storage::Double => double,
        Storage::Single => with(storage, PackedDistances::<f32>::bytes(rows)),
        Storage::Auto if rows > MOST_ROWS_ANEW || double <= available_memory() => double,
        Storage::Auto | Storage::Recompute => anew(),
    }
}

/// Block width and basis size of the eigensolver.
fn krylov_size(storage: Storage, components: usize) -> (u64, u64) {
    let block = (components + 2).next_multiple_of(4);
    let block = if storage == Storage::Recompute { block.max(WIDE_BLOCK) } else { block };
    (block as u64, (2 * components + 4 * block).max(112) as u64)
}

/// What `Auto` comes to on this machine, told when it means recomputing.
fn settled(storage: Storage, need: u64, rows: usize, ctx: &Ctx) -> Storage {
    match storage {
        Storage::Auto if rows > MOST_ROWS_ANEW || ctx.reserve(need, "", "").is_ok() => Storage::Double,
        Storage::Auto => {
            ctx.warn(
                WarningKind::Slow,
                format!(
                    "the distances between {rows} rows need {:.1} GB, more than is free; they are recomputed in \
                     every pass of the eigensolver, which is exact but takes a few times as long; LandmarkIsomap \
                     takes seconds",
                    need as f64 / 1e9
                ),
            );
            Storage::Recompute
        }
        chosen => chosen,
    }
}

/// The recipe of Isomap and kernel Isomap.
pub fn fit(
    method: &impl GeodesicParams,
    storage: Storage,
    constant: Constant,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<FittedIsomap> {
    let (setting, options) = (method.setting()?, method.options()?);
    let rows = data.rows();
    check_components(method.components(), rows, "n_samples")?;
    setting.check(data)?;
    if storage == Storage::Recompute && options.solver == Solver::Dense {
        return Err(Error::param(
            "eigen_solver",
            "'dense' needs all distances at once; with storage='recompute' use 'arpack' or 'auto'",
        ));
    }
    // A dense decomposition needs the matrix whatever is free.
    let storage = match storage {
        Storage::Auto if options.solver == Solver::Dense => Storage::Double,
        asked => settled(asked, memory(method, Storage::Double, rows, 0), rows, ctx),
    };
    ctx.reserve(memory(method, storage, rows, 0), "Isomap", WAY_OUT)?;
    let manifold = Manifold::new(&setting, method.paths(), data, ctx)?;
    let most = manifold.graph().len();
    check_components(method.components(), most, "the number of rows in the largest component")?;
    let mut model = FittedIsomap::new(manifold, method.components(), storage, constant, &options, ctx)?;
    let mut embedding = std::mem::take(&mut model.embedding);
    model.manifold.place_set_aside(&mut embedding, data, |rows| model.place_rows(&rows, ctx), ctx)?;
    model.embedding = embedding;
    Ok(model)
}

impl FittedIsomap {
    /// Scale the geodesics of a connected manifold.
    fn new(
        mut manifold: Manifold,
        components: usize,
        storage: Storage,
        constant: Constant,
        options: &Options,
        ctx: &Ctx,
    ) -> Result<FittedIsomap> {
        let rows = manifold.graph().len();
        manifold.make_plan(rows, ctx)?;
        manifold.look_for_shortcuts(ctx)?;
        let plan = manifold.plan(ctx)?;
        let held = Held::new(storage, plan, ctx)?;
        let shift = match constant {
            Constant::Zero => 0.0,
            Constant::Smallest => smallest_constant(held.matrix(), ctx)?,
            Constant::Given(length) => manifold.length_scale().into(length),
        };
        if !shift.is_finite() || shift >= MOST_CONSTANT {
            return Err(Error::param("constant", "is so large that the distances drown in it"));
        }
        let kernel = CenteredPacked::new(held.matrix()).with_constant(shift);
        let options = match storage {
            Storage::Recompute => Options {
                start: Some(guess(&manifold, plan, WIDE_BLOCK, ctx)?),
                block: Some(WIDE_BLOCK),
                trust_recurrence: true,
                ..options.clone()
            },
            _ => options.clone(),
        };
        let spectrum = top(&kernel, components, &options, ctx)?;
        let kept = kept_values(&spectrum, ctx);
        let mut placed = coordinates(&spectrum, &kept);
        scale_back(placed.view_mut(), manifold.length_scale());
        let means = kernel.means(ctx)?;
        let row_means = Array1::from_iter(means.rows.iter().map(|mean| -0.5 * mean));
        let extension =
            Eigenfunction::new(spectrum.vectors.view(), &kept, row_means, -0.5 * means.grand, None);
        drop(held);
        let scale = manifold.length_scale();
        Ok(FittedIsomap {
            embedding: manifold.as_data_rows(placed),
            eigenvalues: spectrum.values.iter().map(|&value| scale.back_squared(value)).collect(),
            iterations: spectrum.iterations.max(1),
            eigenvectors: spectrum.vectors,
            extension,
            storage,
            constant: (constant != Constant::Zero).then_some(shift),
            manifold,
        })
    }

    /// The connected neighbourhood graph and its shortest paths.
    pub fn manifold(&self) -> &Manifold {
        &self.manifold
    }

    /// Eigenvalues of the kept components, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The additive constant in the data's units; 0 for plain Isomap.
    pub fn constant(&self) -> f64 {
        self.manifold.length_scale().back(self.constant.unwrap_or(0.0))
    }

    /// Distances along the manifold between all rows.
    fn geodesics(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let rows = self.embedding.nrows();
        let copies = if self.manifold.graph().len() == rows { 12 } else { 20 };
        ctx.reserve((rows * rows * copies) as u64, "the full matrix of geodesic distances", WAY_OUT)?;
        let packed: PackedDistances = all_pairs(self.manifold.plan(ctx)?, ctx)?;
        let mut within = packed.to_dense();
        let scale = self.manifold.length_scale();
        within.par_mapv_inplace(|length| scale.back(length));
        if self.manifold.graph().len() == rows {
            return Ok(within);
        }
        let mut all = Array2::from_elem((rows, rows), f64::INFINITY);
        all.diag_mut().fill(0.0);
        for (i, from) in within.axis_iter(Axis(0)).enumerate() {
            for (j, &length) in from.iter().enumerate() {
                all[[self.manifold.data_row(i as u32), self.manifold.data_row(j as u32)]] = length;
            }
        }
        Ok(all)
    }

    /// ‖K − K_p‖ / n, scikit-learn's reconstruction error: the part of the
    /// kernel that the kept components leave.
    fn reconstruction_error(&self, ctx: &Ctx) -> Result<f64> {
        let held = Held::new(self.storage, self.manifold.plan(ctx)?, ctx)?;
        let kernel = CenteredPacked::new(held.matrix()).with_constant(self.constant.unwrap_or(0.0));
        let total = kernel.norm_squared(ctx)?;
        let scale = self.manifold.length_scale();
        let into_squared = |value: f64| scale.into(scale.into(value));
        // Columns of eigenvalues below zero are zero and explain nothing.
        let kept = self.eigenvalues.iter().filter(|&&value| value > 0.0);
        let explained: f64 = kept.map(|&value| into_squared(value).powi(2)).sum();
        let left = (total - explained).max(0.0).sqrt() / self.manifold.graph().len() as f64;
        Ok(scale.back_squared(left))
    }

    /// 1 − R² between geodesic and embedded distances, for 1, 2, … components.
    fn residual_variance(&self, ctx: &Ctx) -> Result<Vec<f64>> {
        let plan = self.manifold.plan(ctx)?;
        let rows: Vec<usize> = (0..plan.len() as u32).map(|row| self.manifold.data_row(row)).collect();
        let mut placed = self.embedding.select(Axis(0), &rows);
        let scale = self.manifold.length_scale();
        placed.mapv_inplace(|length| scale.into(length));
        ctx.stage("shortest paths", plan.len());
        quality::residual_variance(&Recomputed(plan), placed.view(), ctx)
    }
}

/// Vectors near the leading eigenvectors: coordinates by landmarks.
fn guess(manifold: &Manifold, plan: &Plan, width: usize, ctx: &Ctx) -> Result<Array2<f64>> {
    let mut cover = GraphCover::new(manifold.graph(), manifold.order())?;
    let count = GUESS_LANDMARKS.min(plan.len());
    let landmarks = to_landmarks::grouped(&choose(&mut cover, &LandmarkChoice::Maxmin, count, ctx)?, plan);
    let table = to_landmarks::table(plan, &landmarks, ctx)?;
    let kernel = CenteredSquares::new(table.view())?;
    let spectrum = top(&kernel, width.min(count), &Options::default(), ctx)?;
    let floor = spectrum.values[0].max(0.0) * 1e-9;
    let values: Vec<Option<f64>> =
        spectrum.values.iter().map(|&value| (value > floor).then_some(value)).collect();
    let formula = Triangulation::new(spectrum.vectors.view(), &values, &kernel.means(ctx)?.rows);
    to_landmarks::place_nodes(plan, &landmarks, &formula, ctx)
}

impl Model for FittedIsomap {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        // Half a unit in the last place of 24 bits.
        let rounding = if self.storage == Storage::Single { f64::from(f32::EPSILON) / 2.0 } else { 0.0 };
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvectors", Attribute::Matrix(self.manifold.as_data_rows(self.eigenvectors.clone()))),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("storage", Attribute::Str(self.storage.name().to_string())),
            ("storage_error", Attribute::Float(rounding)),
        ];
        named.extend(self.constant.map(|_| ("constant", Attribute::Float(self.constant()))));
        named.extend(self.manifold.attributes());
        Ok(named)
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.place_rows(&self.manifold.find(data, ctx)?, ctx)
    }

    fn compute(&self, what: &str, ctx: &Ctx) -> Result<Attribute> {
        match what {
            "dist_matrix" => Ok(Attribute::Matrix(self.geodesics(ctx)?)),
            "reconstruction_error" => Ok(Attribute::Float(self.reconstruction_error(ctx)?)),
            "residual_variance" => Ok(Attribute::vector(&self.residual_variance(ctx)?)),
            other => Err(Error::Unsupported(format!("Isomap cannot compute `{other}`"))),
        }
    }
}

impl FittedIsomap {
    fn place_rows(&self, rows: &NewRows, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut placed = Array2::zeros((rows.count, self.extension.components()));
        for &(row, twin) in &rows.twins {
            placed.row_mut(row).assign(&self.embedding.row(twin));
        }
        if rows.away.is_empty() {
            return Ok(placed);
        }
        let plan = self.manifold.plan(ctx)?;
        let linear = 2.0 * self.constant.unwrap_or(0.0);
        let found = std::sync::Mutex::new(Vec::with_capacity(rows.away.len().div_ceil(LANES)));
        for_each_batch(plan, &Sources::seeds(&rows.near), ctx, |batch| {
            let lanes = self.extension.project_lanes(batch.distances(), plan.order(), linear);
            found.lock().unwrap_or_else(|held| held.into_inner()).push((batch.sources().to_vec(), lanes));
            Ok(())
        })?;
        let scale = self.manifold.length_scale();
        for (sources, lanes) in found.into_inner().unwrap_or_else(|held| held.into_inner()) {
            for (lane, &source) in sources.iter().enumerate() {
                for (component, values) in lanes.iter().enumerate() {
                    placed[[rows.away[source as usize], component]] = scale.back(values[lane]);
                }
            }
        }
        Ok(placed)
    }
}
