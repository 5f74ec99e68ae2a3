//! Isomap: classical scaling of distances along the manifold.
//!
//! Tenenbaum, de Silva, Langford 2000; the survey's (30), (31), (39)–(41).
//! Symbols: D the geodesic distances, H = I − 11ᵀ/n.
//!
//! 1. neighbours, connected graph             n·k·log n
//! 2. D by shortest paths, all pairs          n²·(a few steps), n²/2 numbers
//! 3. top eigenpairs of K = −½ H D² H         a few passes over D
//! 4. coordinates V√Λ
//!
//! The conformal form (de Silva and Tenenbaum 2003) divides edges by the spacing of their
//! ends. A new row is placed by the eigenfunction formula (39) with its geodesics through
//! training rows only (41). D is not kept after the fit.

use std::sync::Mutex;

use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use crate::context::{Ctx, available_memory};
use crate::embedding::{coordinates, kept_values};
use crate::error::{Error, Result, WarningKind};
use crate::extend::Eigenfunction;
use crate::extend::landmark_geodesics::starting_vectors;
use crate::graph::NewRows;
use crate::graph::geodesic::waves;
use crate::graph::geodesic::{Geodesics, Recomputed, Sources, Storage, for_each_batch};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::CenteredPacked;
use crate::linalg::packed::{Fixed48, LANES, PackedDistances};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::quality;
use crate::scale::Scale;
use crate::spectrum::{Options, Solver, Spectrum, top};

geodesic_params! {
    /// Isomap: coordinates whose straight distances are distances along the manifold.
    Isomap as "Isomap" {
        /// How the geodesic distances are stored.
        storage: Storage = Storage::Auto,
    }
}

impl Method for Isomap {
    type Model = FittedIsomap;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedIsomap> {
        let solver = self.solver()?;
        let need = |storage| bytes(storage, self.n_neighbors, self.n_components.count(), data.rows(), data.features());
        let storage = settled(self.storage, self.n_components.count(), &solver, data.rows(), need, ctx)?;
        let graph = self.neighborhood()?.build(data, ctx)?; //                                  1
        check_components(self.n_components.count(), graph.len(), IN_USE)?;
        let paths = Geodesics::new(graph, self.path_method, data.rows(), ctx)?; //              2
        let distances = paths.all_pairs(storage, ctx)?;
        let storage = distances.storage();
        let kernel = CenteredPacked::new(distances.matrix()); //                                3
        let pairs = top(&kernel, self.n_components.count(), &started(solver, storage, &paths, ctx)?, ctx)?;
        let kept = kept_values(&pairs, ctx);
        let columns = coordinates(&pairs, &kept); //                                            4
        let extension = Eigenfunction::of_packed(&kernel, &pairs, &kept, ctx)?;
        drop(distances);
        FittedIsomap::new(paths, columns, pairs, extension, (storage, None), data, ctx)
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn rescaled(&self, lengths: Scale) -> Self {
        Isomap { radius: self.radius.map(|radius| lengths.into(radius)), ..self.clone() }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        bytes(self.storage, self.n_neighbors, self.n_components.count(), rows, features)
    }
}

/// A fitted Isomap or kernel Isomap.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedIsomap {
    paths: Geodesics,
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    eigenvectors: Array2<f64>,
    iterations: usize,
    extension: Eigenfunction,
    storage: Storage,
    /// What was added to all distances; `None` for plain Isomap.
    constant: Option<f64>,
}

impl FittedIsomap {
    /// From the coordinates of the rows in use; outliers are placed like new rows.
    pub(super) fn new(
        paths: Geodesics,
        columns: Array2<f64>,
        pairs: Spectrum,
        extension: Eigenfunction,
        (storage, constant): (Storage, Option<f64>),
        data: Data<'_>,
        ctx: &Ctx,
    ) -> Result<FittedIsomap> {
        let mut model = FittedIsomap {
            embedding: paths.graph().rows().spread(columns),
            eigenvalues: pairs.values,
            eigenvectors: pairs.vectors,
            iterations: pairs.iterations.max(1),
            extension,
            storage,
            constant,
            paths,
        };
        let mut embedding = std::mem::take(&mut model.embedding);
        model.paths.graph().place_outliers(&mut embedding, data, |new| model.project(new, ctx), ctx)?;
        model.embedding = embedding;
        Ok(model)
    }

    /// The formula for new rows: their geodesics, batch by batch, projected.
    fn project(&self, new: &NewRows, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut placed = Array2::zeros((new.others.len(), self.extension.components()));
        if new.others.is_empty() {
            return Ok(placed);
        }
        let plan = self.paths.plan(ctx)?;
        // At D + c from every training row the c² of (39) and (40) cancels.
        let linear = 2.0 * self.constant.unwrap_or(0.0);
        let found = Mutex::new(Vec::with_capacity(new.others.len().div_ceil(LANES)));
        ctx.stage("shortest paths", new.others.len());
        for_each_batch(plan, &Sources::seeds(&new.near), ctx, |batch| {
            let lanes = self.extension.project_lanes(batch.distances(), plan.order(), linear);
            found.lock().unwrap_or_else(|held| held.into_inner()).push((batch.sources().to_vec(), lanes));
            Ok(())
        })?;
        for (sources, lanes) in found.into_inner().unwrap_or_else(|held| held.into_inner()) {
            for (lane, &source) in sources.iter().enumerate() {
                for (component, values) in lanes.iter().enumerate() {
                    placed[[source as usize, component]] = values[lane];
                }
            }
        }
        Ok(placed)
    }

    /// ‖K − K_p‖ / n, scikit-learn's reconstruction error: the part of the
    /// kernel that the kept components leave.
    fn reconstruction_error(&self, ctx: &Ctx) -> Result<f64> {
        let distances = self.paths.all_pairs(self.storage, ctx)?;
        let kernel = CenteredPacked::new(distances.matrix()).with_constant(self.constant.unwrap_or(0.0));
        // Columns of eigenvalues below zero are zero and explain nothing.
        let explained: f64 = self.eigenvalues.iter().map(|value| value.max(0.0).powi(2)).sum();
        let left = (kernel.norm_squared(ctx)? - explained).max(0.0);
        Ok(left.sqrt() / self.paths.graph().len() as f64)
    }

    /// 1 − R² between geodesic and embedded distances, for 1, 2, … components.
    fn residual_variance(&self, ctx: &Ctx) -> Result<Vec<f64>> {
        let plan = self.paths.plan(ctx)?;
        let map = self.paths.graph().rows();
        let rows: Vec<usize> = (0..plan.len() as u32).map(|row| map.data_row(row)).collect();
        ctx.stage("shortest paths", plan.len());
        quality::residual_variance(&Recomputed(plan), self.embedding.select(Axis(0), &rows).view(), ctx)
    }
}

impl Model for FittedIsomap {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let rounding = match self.storage {
            // Half a unit in the last place of 24 bits; of the longest distance.
            Storage::Single => f64::from(f32::EPSILON) / 2.0,
            Storage::Fixed => FIXED_ROUNDING,
            _ => 0.0,
        };
        let eigenvectors = self.paths.graph().rows().spread(self.eigenvectors.clone());
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvectors", Attribute::Matrix(eigenvectors)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("storage", Attribute::Str(self.storage.name().to_string())),
            ("storage_error", Attribute::Float(rounding)),
        ];
        named.extend(self.constant.map(|constant| ("constant", Attribute::Float(constant))));
        named.extend(Attribute::of_geodesics(&self.paths)?);
        Ok(named)
    }

    fn units(&self) -> Units {
        Units::of_lengths(self.paths.graph().length_unit())
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let new = self.paths.graph().find(data, ctx)?;
        new.combine(self.embedding.view(), self.project(&new, ctx)?.view())
    }

    fn compute(&self, what: &str, ctx: &Ctx) -> Result<Attribute> {
        match what {
            "dist_matrix" => Ok(Attribute::Matrix(self.paths.matrix_of_data(ctx)?)),
            "reconstruction_error" => Ok(Attribute::Float(self.reconstruction_error(ctx)?)),
            "residual_variance" => Ok(Attribute::vector(&self.residual_variance(ctx)?)),
            other => Err(Error::Unsupported(format!("Isomap cannot compute `{other}`"))),
        }
    }
}

// ---- how the distances are stored ------------------------------------------------

/// Most that a distance in 48 bits is rounded by, as a part of the longest: 2⁻⁴⁷.
const FIXED_ROUNDING: f64 = 1.0 / (1u64 << 47) as f64;
/// Vectors multiplied at once when the distances are recomputed: one pass then
/// costs little more than the shortest paths themselves.
const WIDE_BLOCK: usize = 16;
/// More rows than this are only recomputed when the caller says so: beyond it a
/// fit takes hours, which is not what someone short of memory expects.
const MOST_ROWS_RECOMPUTED: usize = 400_000;

const HINT: &str = "use LandmarkIsomap, storage='recompute' (slower) or storage='float32', or fit on a \
                    subset of the rows and place the others with `transform`";
pub(super) const IN_USE: &str = "the number of rows in the largest component";

/// Bytes a fit takes beyond the input.
pub(super) fn bytes(
    storage: Storage,
    neighbors: Option<usize>,
    components: usize,
    rows: usize,
    features: usize,
) -> u64 {
    let (n, features) = (rows as f64, features as f64);
    // Symmetrising adds some edges, and a radius says nothing.
    let degree = neighbors.map_or(16.0, |k| (k.min(rows) as f64 * 1.25).floor());
    let (graph, index) = (24.0 * n * degree, 24.0 * n * features);
    let with = |storage: Storage, matrix: f64| {
        let components = components as f64;
        let block = 4.0 * ((components + 2.0) / 4.0).ceil();
        let block = if storage == Storage::Recompute { block.max(WIDE_BLOCK as f64) } else { block };
        let basis = (2.0 * components + 4.0 * block).max(112.0);
        (matrix + graph + index + 8.0 * n * (1.5 * basis + 6.0 * block)) as u64
    };
    // Accumulators of the product, panels of two threads, the graph after elimination.
    // There are half as many accumulators for few rows (`kernel::packed_centering`).
    let accumulators = if rows < 20_000 { 11 } else { 22 };
    let panels = 8.0 * n * (accumulators * WIDE_BLOCK + 2 * LANES + 64) as f64;
    // With the panels of a wave, where the shortest paths go in waves.
    let both = PackedDistances::<f64>::bytes(rows).saturating_add(waves::bytes(rows));
    let double = with(Storage::Double, both as f64);
    let fixed = with(Storage::Fixed, PackedDistances::<Fixed48>::bytes(rows) as f64);
    match storage {
        Storage::Double => double,
        Storage::Single => with(storage, PackedDistances::<f32>::bytes(rows) as f64),
        Storage::Fixed => fixed,
        // What `Auto` stores depends on the graph; in so few dimensions paths are swept.
        Storage::Auto if rows > MOST_ROWS_RECOMPUTED || double <= available_memory() => {
            if features <= 3.0 { fixed } else { double }
        }
        Storage::Auto | Storage::Recompute => with(Storage::Recompute, panels),
    }
}

/// The storage that is used: what `Auto` comes to on this machine, with a warning when it
/// means recomputing. Refused when memory does not suffice.
pub(super) fn settled(
    storage: Storage,
    components: usize,
    solver: &Options,
    rows: usize,
    need: impl Fn(Storage) -> u64,
    ctx: &Ctx,
) -> Result<Storage> {
    check_components(components, rows, "n_samples")?;
    if storage == Storage::Recompute && solver.solver == Solver::Dense {
        return Err(Error::param(
            "eigen_solver",
            "'dense' needs all distances at once; with storage='recompute' use 'arpack' or 'auto'",
        ));
    }
    let double = need(Storage::Double);
    // A dense decomposition needs the matrix whatever is free.
    let fits = || solver.solver == Solver::Dense || ctx.reserve(double, "", "").is_ok();
    let storage = match storage {
        Storage::Auto if rows > MOST_ROWS_RECOMPUTED || fits() => Storage::Auto,
        Storage::Auto => {
            ctx.warn(
                WarningKind::Slow,
                format!(
                    "the distances between {rows} rows need {:.1} GB, more than is free; they are recomputed in \
                     every pass of the eigensolver, which is exact but takes a few times as long; LandmarkIsomap \
                     takes seconds",
                    double as f64 / 1e9
                ),
            );
            Storage::Recompute
        }
        chosen => chosen,
    };
    ctx.reserve(need(storage), "Isomap", HINT)?;
    Ok(storage)
}

/// The solver for distances that are recomputed makes few passes: it starts from
/// coordinates by landmarks and multiplies a wide block.
pub(super) fn started(solver: Options, storage: Storage, paths: &Geodesics, ctx: &Ctx) -> Result<Options> {
    if storage != Storage::Recompute {
        return Ok(solver);
    }
    let start = Some(starting_vectors(paths, WIDE_BLOCK, ctx)?);
    Ok(Options { start, block: Some(WIDE_BLOCK), trust_recurrence: true, ..solver })
}
