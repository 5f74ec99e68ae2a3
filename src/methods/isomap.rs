//! Isomap: classical scaling of distances along the manifold.
//!
//! Tenenbaum, de Silva, Langford 2000; the survey's (30), (31), (39)–(41).
//! Symbols: D the geodesic distances, H = I − 11ᵀ/n.
//!
//! 1. neighbours, graph, one piece            n·k·log n
//! 2. D by shortest paths, all pairs          n²·(a few steps), n²/2 numbers
//! 3. top eigenpairs of K = −½ H D² H         a few passes over D
//! 4. coordinates V√Λ
//!
//! A new point reaches training rows through its own neighbours only, with
//! training rows as intermediate nodes (41), and is placed by the eigenfunction
//! formula (39). D is not kept: new rows recompute the paths they need.

use std::sync::OnceLock;

use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use super::choices::{EigenSolver, MetricName, NeighborsAlgorithm, check_components};
use super::neighborhood::{Locator, Setting, hood};
use crate::context::Ctx;
use crate::embedding::{coordinates, kept_values, scale_back};
use crate::error::{Error, Result};
use crate::extend::Eigenfunction;
use crate::graph::Graph;
use crate::graph::Policy;
use crate::graph::geodesic::{PathMethod, Plan, Sources, all_pairs, for_each_batch};
use crate::input::Scale;
use crate::kernel::packed_center::CenteredPacked;
use crate::kernel::packed::{LANES, PackedDistances};
use crate::neighbors::{Hood, Neighbors};
use crate::params::params;
use crate::pipeline::{Attribute, Data, Model, Recipe};
use crate::spectrum::top;

params! {
    /// Isomap: coordinates whose straight distances are distances along the manifold.
    Isomap as "Isomap" {
        /// Neighbours of each row in the graph; `None` when `radius` is given.
        n_neighbors: Option<usize> = Some(5),
        /// Rows within this distance are neighbours; `None` when `n_neighbors` is given.
        radius: Option<f64> = None,
        /// Number of coordinates.
        n_components: usize = 2,
        /// How the eigenproblem is solved.
        eigen_solver: EigenSolver = EigenSolver::Auto,
        /// Tolerance of the iterative solver; 0 is the tightest sensible.
        tol: f64 = 0.0,
        /// Cap on iterations; `None` is generous.
        max_iter: Option<usize> = None,
        /// How shortest paths are found; every choice is exact.
        path_method: PathMethod = PathMethod::Auto,
        /// How neighbours are searched; every choice is exact.
        neighbors_algorithm: NeighborsAlgorithm = NeighborsAlgorithm::Auto,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Minkowski,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// What to do when the graph is in pieces.
        disconnected: Policy = Policy::Bridge,
    }
}

/// A fitted [`Isomap`].
#[derive(Debug, Serialize, Deserialize)]
pub struct FittedIsomap {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    eigenvectors: Array2<f64>,
    graph: Graph,
    labels: Vec<usize>,
    kept: Option<Vec<u32>>,
    bridges: Array2<i64>,
    hood: Hood,
    locator: Locator,
    input_scale: Scale,
    length_scale: Scale,
    extension: Eigenfunction,
    order: Option<Vec<u32>>,
    path_method: PathMethod,
    #[serde(skip)]
    plan: OnceLock<Plan>,
}

impl Isomap {
    fn setting(&self) -> Result<Setting> {
        Ok(Setting {
            hood: hood(self.n_neighbors, self.radius)?,
            metric: self.metric.metric(self.p)?,
            algorithm: self.neighbors_algorithm.algorithm(),
            policy: self.disconnected,
        })
    }
}

impl Recipe for Isomap {
    type Model = FittedIsomap;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedIsomap> {
        let setting = self.setting()?;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        let rows = data.rows();
        check_components(self.n_components, rows, "the number of rows")?;
        ctx.reserve(self.memory(rows, 0), "Isomap", WAY_OUT)?;

        let near = setting.connect(data, ctx)?;
        let graph = near.connected.graph;
        check_components(self.n_components, graph.len(), "the number of rows in the largest component")?;
        let plan = Plan::new(&graph, self.path_method, graph.len(), near.order.as_deref(), ctx)?;
        let geodesics = all_pairs(&plan, ctx)?;
        let kernel = CenteredPacked::new(&geodesics)?;
        let spectrum = top(&kernel, self.n_components, &options, ctx)?;

        let kept = kept_values(&spectrum, ctx);
        let mut placed = coordinates(&spectrum, &kept);
        scale_back(placed.view_mut(), near.length_scale);
        for &(row, twin) in &near.twins {
            let same = placed.row(twin as usize).to_owned();
            placed.row_mut(row as usize).assign(&same);
        }
        let means = kernel.means(ctx)?;
        let row_means = Array1::from(means.rows).mapv(|mean| -0.5 * mean);
        let extension =
            Eigenfunction::new(spectrum.vectors.view(), &kept, row_means, -0.5 * means.grand, None);
        let bridges = near.connected.bridges.iter().flat_map(|link| [i64::from(link.from), i64::from(link.to)]);
        Ok(FittedIsomap {
            embedding: spread(placed, near.connected.kept.as_deref(), rows),
            eigenvalues: spectrum.values.iter().map(|&value| near.length_scale.back_squared(value)).collect(),
            eigenvectors: spectrum.vectors,
            bridges: Array2::from_shape_vec((near.connected.bridges.len(), 2), bridges.collect())
                .unwrap_or_else(|_| Array2::zeros((0, 2))),
            labels: near.connected.labels,
            kept: near.connected.kept,
            hood: setting.hood,
            locator: near.locator,
            input_scale: near.input_scale,
            length_scale: near.length_scale,
            extension,
            order: near.order,
            path_method: plan.method(),
            graph,
            plan: OnceLock::from(plan),
        })
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let n = rows as u64;
        let degree = self.n_neighbors.map_or(16, |k| 2 * k as u64);
        let graph = 4 * n * degree * 12;
        let krylov = 8 * n * (self.n_components as u64 + 8) * 24;
        PackedDistances::bytes(rows) + graph + krylov + 16 * n * features as u64
    }
}

const WAY_OUT: &str = "fit on a subset of the rows and place the others with `transform`";

/// Coordinates of the rows in the graph, as rows of the data; the others are
/// NaN: the policy `largest` asked for them to be left out.
fn spread(placed: Array2<f64>, kept: Option<&[u32]>, rows: usize) -> Array2<f64> {
    let Some(kept) = kept else { return placed };
    let mut all = Array2::from_elem((rows, placed.ncols()), f64::NAN);
    for (coordinates, &row) in placed.outer_iter().zip(kept) {
        all.row_mut(row as usize).assign(&coordinates);
    }
    all
}

impl FittedIsomap {
    /// The connected neighbourhood graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Eigenvalues of the kept components, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Component of each row in the graph before the policy acted.
    pub fn component_labels(&self) -> &[usize] {
        &self.labels
    }

    fn plan(&self, ctx: &Ctx) -> Result<&Plan> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let rows = self.graph.len();
        let plan = Plan::new(&self.graph, self.path_method, rows, self.order.as_deref(), ctx)?;
        Ok(self.plan.get_or_init(|| plan))
    }

    /// The row of the data behind a row of the graph.
    fn data_row(&self, row: u32) -> usize {
        self.kept.as_ref().map_or(row as usize, |kept| kept[row as usize] as usize)
    }

    /// Distances along the manifold between all rows.
    fn geodesics(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let rows = self.embedding.nrows();
        ctx.reserve((rows * rows * 12) as u64, "the full matrix of geodesic distances", WAY_OUT)?;
        let mut within = all_pairs(self.plan(ctx)?, ctx)?.to_dense();
        within.par_mapv_inplace(|length| self.length_scale.back(length));
        let Some(kept) = &self.kept else { return Ok(within) };
        let mut all = Array2::from_elem((rows, rows), f64::INFINITY);
        all.diag_mut().fill(0.0);
        for (i, from) in within.axis_iter(Axis(0)).enumerate() {
            for (j, &length) in from.iter().enumerate() {
                all[[kept[i] as usize, kept[j] as usize]] = length;
            }
        }
        Ok(all)
    }

    /// ‖K − K_p‖ / n, scikit-learn's reconstruction error: the part of the
    /// kernel that the kept components leave.
    fn reconstruction_error(&self, ctx: &Ctx) -> Result<f64> {
        let geodesics = all_pairs(self.plan(ctx)?, ctx)?;
        let total = CenteredPacked::new(&geodesics)?.norm_squared(ctx)?;
        let into_squared = |value: f64| self.length_scale.into(self.length_scale.into(value));
        let explained: f64 = self.eigenvalues.iter().map(|&value| into_squared(value).powi(2)).sum();
        let left = (total - explained).max(0.0).sqrt() / self.graph.len() as f64;
        Ok(self.length_scale.back_squared(left))
    }
}

impl Model for FittedIsomap {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let pieces = self.labels.iter().max().map_or(0, |last| last + 1);
        vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvectors", Attribute::Matrix(self.eigenvectors.clone())),
            ("graph", Attribute::Graph(self.graph.clone())),
            ("component_labels", Attribute::indices(&self.labels)),
            ("n_connected_components", Attribute::Int(pieces as i64)),
            ("bridges", Attribute::IndexMatrix(self.bridges.clone())),
            ("path_method", Attribute::Str(self.path_method.name().to_string())),
        ]
    }

    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let near = self.locator.find(data, self.hood, self.input_scale, ctx)?;
        let mut placed = Array2::zeros((data.rows(), self.extension.components()));
        let away = self.copy_training_rows(&near, &mut placed)?;
        if away.is_empty() {
            return Ok(placed);
        }
        let seeds = Sources::seeds(&rows_of(&near, &away));
        let plan = self.plan(ctx)?;
        let found = std::sync::Mutex::new(Vec::with_capacity(away.len().div_ceil(LANES)));
        for_each_batch(plan, &seeds, ctx, |batch| {
            let lanes = self.extension.project_lanes(batch.distances(), plan.order());
            found.lock().unwrap_or_else(|held| held.into_inner()).push((batch.sources().to_vec(), lanes));
            Ok(())
        })?;
        for (sources, lanes) in found.into_inner().unwrap_or_else(|held| held.into_inner()) {
            for (lane, &source) in sources.iter().enumerate() {
                for (component, values) in lanes.iter().enumerate() {
                    placed[[away[source as usize], component]] = self.length_scale.back(values[lane]);
                }
            }
        }
        Ok(placed)
    }

    fn compute(&self, what: &str, ctx: &Ctx) -> Result<Attribute> {
        match what {
            "dist_matrix" => Ok(Attribute::Matrix(self.geodesics(ctx)?)),
            "reconstruction_error" => Ok(Attribute::Float(self.reconstruction_error(ctx)?)),
            other => Err(Error::Unsupported(format!("Isomap cannot compute `{other}`"))),
        }
    }
}

impl FittedIsomap {
    /// New rows that coincide with a training row take its coordinates; the
    /// others are returned. A row without neighbours has no place.
    fn copy_training_rows(&self, near: &Neighbors, placed: &mut Array2<f64>) -> Result<Vec<usize>> {
        let mut away = Vec::new();
        for (row, range) in near.offsets.windows(2).enumerate() {
            if range[0] == range[1] {
                return Err(Error::input(format!(
                    "row {row} has no training row in its neighbourhood and cannot be placed; raise `radius` \
                     or leave the row out"
                )));
            }
            if near.distances[range[0]] == 0.0 {
                let twin = self.data_row(near.indices[range[0]]);
                placed.row_mut(row).assign(&self.embedding.row(twin));
            } else {
                away.push(row);
            }
        }
        Ok(away)
    }
}

/// The neighbour lists of some rows.
fn rows_of(near: &Neighbors, rows: &[usize]) -> Neighbors {
    let mut part = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for &row in rows {
        let range = near.offsets[row]..near.offsets[row + 1];
        part.indices.extend_from_slice(&near.indices[range.clone()]);
        part.distances.extend_from_slice(&near.distances[range]);
        part.offsets.push(part.indices.len());
    }
    part
}
