//! Landmark Isomap: Isomap of a few rows, and all others triangulated from
//! their geodesic distances to them.
//!
//! De Silva and Tenenbaum 2003, 2004; the survey's (59), (60), (62)–(64).
//! Symbols: m landmarks, E their m × m geodesic distances, F those to all rows.
//!
//! 1. neighbours, graph, one piece             n·k·log n
//! 2. landmarks                                a few searches of the graph
//! 3. E, then top eigenpairs of −½ H E² H      m searches, m²
//! 4. every row from its column of F           m searches, m·n·p
//!
//! F is never held: its batches are found twice, once for E and once for the
//! coordinates. With every row a landmark this is Isomap.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::input::check::check_components;
use super::GeodesicParams;
use crate::extend::landmark_geodesics as to_landmarks;
use crate::graph::neighborhood_graph::{Manifold, NewRows};
use crate::context::Ctx;
use crate::embedding::{kept_values, scale_back};
use crate::error::{Error, Result};
use crate::extend::Triangulation;
use crate::landmarks::GraphCover;
use crate::kernel::CenteredSquares;
use crate::linalg::packed::LANES;
use crate::landmarks::{LandmarkChoice, check_count, check_given, choose, random_rows};
use crate::method::{Attribute, Method, Model};
use crate::input::Data;
use crate::spectrum::top;

geodesic_params! {
    /// Landmark Isomap: Isomap for very many rows.
    LandmarkIsomap as "LandmarkIsomap" {
        /// Number of landmarks; all rows when there are fewer.
        n_landmarks: usize = 200,
        /// How they are chosen.
        landmarks: LandmarkChoice = LandmarkChoice::Maxmin,
    }
}

/// A fitted [`LandmarkIsomap`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedLandmarkIsomap {
    manifold: Manifold,
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    iterations: usize,
    /// Rows of the graph in the order they were chosen.
    chosen: Vec<u32>,
    /// The same sorted by the plan's positions.
    landmarks: Vec<u32>,
    formula: Triangulation,
}

const WAY_OUT: &str = "use fewer neighbours or landmarks, or fit on a subset of the rows and place the others \
                       with `transform`";

impl LandmarkIsomap {
    /// Rows of the graph.
    fn choose(&self, manifold: &Manifold, count: usize, ctx: &Ctx) -> Result<Vec<u32>> {
        let rows = manifold.graph().len();
        match &self.landmarks {
            LandmarkChoice::Random => Ok(random_rows(rows, count, ctx)),
            LandmarkChoice::Given(given) => given
                .iter()
                .map(|&row| {
                    manifold.graph_row(row).ok_or_else(|| {
                        Error::param("landmarks", format!("row {row} is not in the map: it is an outlier, or not in the largest component"))
                    })
                })
                .collect(),
            choice => choose(&mut GraphCover::new(manifold.graph(), manifold.order())?, choice, count, ctx),
        }
    }
}

impl Method for LandmarkIsomap {
    type Model = FittedLandmarkIsomap;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedLandmarkIsomap> {
        let (setting, options) = (self.setting()?, self.options()?);
        let rows = data.rows();
        check_components(self.n_components, rows, "n_samples")?;
        setting.check(data)?;
        let wanted = match &self.landmarks {
            LandmarkChoice::Given(given) => check_given(given, self.n_components, rows)?.len(),
            _ => check_count(self.n_landmarks, self.n_components, rows)?,
        };
        ctx.reserve(self.memory(rows, 0), "LandmarkIsomap", WAY_OUT)?;

        let mut manifold = Manifold::new(&setting, self.paths(), data, ctx)?;
        let most = manifold.graph().len();
        check_components(self.n_components, most, "the number of rows in the largest component")?;
        let chosen = self.choose(&manifold, wanted.min(most), ctx)?;
        // Every landmark is a source twice.
        manifold.make_plan((2 * chosen.len()).min(most), ctx)?;
        manifold.look_for_shortcuts(ctx)?;
        let plan = manifold.plan(ctx)?;
        let landmarks = to_landmarks::grouped(&chosen, plan);
        let table = to_landmarks::table(plan, &landmarks, ctx)?;
        let kernel = CenteredSquares::new(table.view())?;
        let spectrum = top(&kernel, self.n_components, &options, ctx)?;
        let kept = kept_values(&spectrum, ctx);
        let formula = Triangulation::new(spectrum.vectors.view(), &kept, &kernel.means(ctx)?.rows);
        let mut placed = to_landmarks::place_nodes(plan, &landmarks, &formula, ctx)?;
        let scale = manifold.length_scale();
        scale_back(placed.view_mut(), scale);
        let mut embedding = manifold.as_data_rows(placed);
        let mut model = FittedLandmarkIsomap {
            embedding: Array2::zeros((0, 0)),
            eigenvalues: spectrum.values.iter().map(|&value| scale.back_squared(value)).collect(),
            iterations: spectrum.iterations.max(1),
            manifold,
            chosen,
            landmarks,
            formula,
        };
        model.manifold.place_set_aside(&mut embedding, data, |rows| model.place_rows(&rows, ctx), ctx)?;
        model.embedding = embedding;
        Ok(model)
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let landmarks = match &self.landmarks {
            LandmarkChoice::Given(given) => given.len(),
            _ => self.n_landmarks,
        };
        let (n, m) = (rows as u64, landmarks.min(rows) as u64);
        let (k, p) = (self.n_neighbors.unwrap_or(12).min(rows) as u64, self.n_components as u64);
        // Per row, fitted to graphs of 5 to 20 neighbours in two to five dimensions:
        // the index, the graph while it is assembled, and the graph after
        // elimination, whose edges grow with the square of the neighbours.
        let per_row = 320 + 28 * k + 5 * k * k;
        // Distances of two batches, and a wave of coordinates.
        let paths = 8 * (2 * LANES as u64 + 9 * p);
        n * (per_row + paths + 16 * features as u64) + 16 * m * m
    }
}

impl FittedLandmarkIsomap {
    /// The connected neighbourhood graph and its shortest paths.
    pub fn manifold(&self) -> &Manifold {
        &self.manifold
    }

    /// Eigenvalues of the landmarks' kernel, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }
}

impl Model for FittedLandmarkIsomap {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let landmarks: Vec<usize> = self.chosen.iter().map(|&row| self.manifold.data_row(row)).collect();
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("landmarks", Attribute::indices(&landmarks)),
        ];
        named.extend(self.manifold.attributes());
        Ok(named)
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.place_rows(&self.manifold.find(data, ctx)?, ctx)
    }
}

impl FittedLandmarkIsomap {
    fn place_rows(&self, rows: &NewRows, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut placed = Array2::zeros((rows.count, self.formula.components()));
        for &(row, twin) in &rows.twins {
            placed.row_mut(row).assign(&self.embedding.row(twin));
        }
        if rows.away.is_empty() {
            return Ok(placed);
        }
        let plan = self.manifold.plan(ctx)?;
        let mut found = to_landmarks::place_new(plan, &self.landmarks, &self.formula, &rows.near, ctx)?;
        scale_back(found.view_mut(), self.manifold.length_scale());
        for (coordinates, &row) in found.outer_iter().zip(&rows.away) {
            placed.row_mut(row).assign(&coordinates);
        }
        Ok(placed)
    }
}
