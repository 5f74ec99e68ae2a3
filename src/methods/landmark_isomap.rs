//! Landmark Isomap: Isomap of a few rows, and all others triangulated from
//! their geodesic distances to them.
//!
//! De Silva and Tenenbaum 2003, 2004; the survey's (59), (60), (62)–(64).
//! Symbols: m landmarks, E their m × m geodesic distances, F those to all rows.
//!
//! 1. neighbours, connected graph              n·k·log n
//! 2. landmarks                                a few searches of the graph
//! 3. E, then top eigenpairs of −½ H E² H      m searches, m²
//! 4. every row from its column of F           m searches, m·n·p
//!
//! F is never stored: its batches are found twice, once for E and once for the
//! coordinates. What is kept of it, where no elimination makes searches cheap, are the trees
//! of the paths, two bytes an entry: a new row then costs walks along them instead of m
//! searches. With every row a landmark this is Isomap.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Deserializer, Serialize};

use super::isomap::IN_USE;
use crate::context::Ctx;
use crate::embedding::kept_values;
use crate::error::{Error, Result};
use crate::extend::Triangulation;
use crate::extend::landmark_geodesics as to_landmarks;
use crate::graph::geodesic::{Geodesics, PathTrees};
use crate::graph::{NeighborhoodGraph, NewRows};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::CenteredSquares;
use crate::landmarks::{GraphCover, LandmarkChoice, check_count, check_given, choose, random_rows};
use crate::linalg::packed::LANES;
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::scale::Scale;
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

impl Method for LandmarkIsomap {
    type Model = FittedLandmarkIsomap;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedLandmarkIsomap> {
        let (neighborhood, solver) = (self.neighborhood()?, self.solver()?);
        let wanted = self.count_landmarks(data.rows())?;
        neighborhood.check(data)?;
        ctx.reserve(self.memory(data.rows(), data.features()), "LandmarkIsomap", HINT)?;
        let graph = neighborhood.build(data, ctx)?; //                                          1
        check_components(self.n_components.count(), graph.len(), IN_USE)?;
        let chosen = self.choose(&graph, wanted.min(graph.len()), ctx)?; //                     2
        // Every landmark is a source twice.
        let paths = Geodesics::new(graph, self.path_method, 2 * chosen.len(), ctx)?;
        let plan = paths.plan(ctx)?;
        let landmarks = to_landmarks::grouped(&chosen, plan);
        let table = to_landmarks::table(plan, &landmarks, ctx)?; //                             3
        let kernel = CenteredSquares::new(table.view())?;
        let pairs = top(&kernel, self.n_components.count(), &solver, ctx)?;
        let kept = kept_values(&pairs, ctx);
        let formula = Triangulation::new(pairs.vectors.view(), &kept, &kernel.means(ctx)?.rows);
        let (columns, trees) = to_landmarks::place_nodes_keeping(&paths, &landmarks, &formula, ctx)?; // 4
        let mut model = FittedLandmarkIsomap {
            embedding: Array2::zeros((0, 0)),
            eigenvalues: pairs.values,
            iterations: pairs.iterations.max(1),
            paths,
            chosen,
            landmarks,
            formula,
            trees,
        };
        let graph = model.paths.graph();
        let mut embedding = graph.rows().spread(columns);
        graph.place_outliers(&mut embedding, data, |new| model.triangulate(new, ctx), ctx)?;
        model.embedding = embedding;
        Ok(model)
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn rescaled(&self, lengths: Scale) -> Self {
        LandmarkIsomap { radius: self.radius.map(|radius| lengths.into(radius)), ..self.clone() }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let landmarks = match &self.landmarks {
            LandmarkChoice::Given(given) => given.len(),
            _ => self.n_landmarks,
        };
        let (n, m) = (rows as f64, landmarks.min(rows) as f64);
        let (k, p) = (self.n_neighbors.unwrap_or(12).min(rows) as f64, self.n_components.count() as f64);
        // Per row, fitted to graphs of 5 to 20 neighbours in two to five dimensions:
        // the index, the graph while it is assembled, and the graph after
        // elimination, whose edges grow with the square of the neighbours.
        let per_row = 320.0 + 28.0 * k + 5.0 * k * k;
        // Distances of two batches, and a wave of coordinates.
        let paths = 8.0 * (2.0 * LANES as f64 + 9.0 * p);
        (n * (per_row + paths + 16.0 * features as f64) + 16.0 * m * m) as u64
    }
}

impl LandmarkIsomap {
    fn count_landmarks(&self, rows: usize) -> Result<usize> {
        check_components(self.n_components.count(), rows, "n_samples")?;
        match &self.landmarks {
            LandmarkChoice::Given(given) => Ok(check_given(given, self.n_components.count(), rows)?.len()),
            _ => check_count(self.n_landmarks, self.n_components.count(), rows),
        }
    }

    /// Rows in use.
    fn choose(&self, graph: &NeighborhoodGraph, count: usize, ctx: &Ctx) -> Result<Vec<u32>> {
        let used_row = |&row: &usize| {
            graph.rows().used_row(row).ok_or_else(|| {
                let why = format!("row {row} cannot be a landmark: it is an outlier, or not in the largest component");
                Error::param("landmarks", why)
            })
        };
        match &self.landmarks {
            LandmarkChoice::Random => Ok(random_rows(graph.len(), count, ctx)),
            LandmarkChoice::Given(given) => given.iter().map(used_row).collect(),
            choice => choose(&mut GraphCover::new(graph.lengths(), graph.order())?, choice, count, ctx),
        }
    }
}

const HINT: &str = "use fewer neighbours or landmarks, or fit on a subset of the rows and place the others \
                    with `transform`";

/// A fitted [`LandmarkIsomap`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedLandmarkIsomap {
    paths: Geodesics,
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    iterations: usize,
    /// Rows in use, in the order they were chosen.
    chosen: Vec<u32>,
    /// The same sorted by the plan's positions.
    landmarks: Vec<u32>,
    formula: Triangulation,
    /// Shortest paths from the landmarks, where they are kept.
    #[serde(default, deserialize_with = "trees_if_any")]
    trees: Option<PathTrees>,
}

/// Formats with names may have trees; the one without is older than they are.
fn trees_if_any<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<PathTrees>, D::Error> {
    if from.is_human_readable() { Option::deserialize(from) } else { Ok(None) }
}

impl FittedLandmarkIsomap {
    /// The formula for new rows, from their distances to the landmarks.
    fn triangulate(&self, new: &NewRows, ctx: &Ctx) -> Result<Array2<f64>> {
        if new.others.is_empty() {
            return Ok(Array2::zeros((0, self.formula.components())));
        }
        if let Some(trees) = &self.trees {
            let known = (self.paths.graph().lengths(), trees);
            return to_landmarks::place_new_by_trees(known, &self.landmarks, &self.formula, &new.near, ctx);
        }
        to_landmarks::place_new(self.paths.plan(ctx)?, &self.landmarks, &self.formula, &new.near, ctx)
    }
}

impl Model for FittedLandmarkIsomap {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let rows = self.paths.graph().rows();
        let landmarks: Vec<usize> = self.chosen.iter().map(|&row| rows.data_row(row)).collect();
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("landmarks", Attribute::indices(&landmarks)),
        ];
        named.extend(Attribute::of_geodesics(&self.paths)?);
        Ok(named)
    }

    fn check_parts(&self) -> std::result::Result<(), &'static str> {
        let graph = self.paths.graph();
        let (nodes, count) = (graph.len(), self.landmarks.len());
        let in_use = |row: &u32| (*row as usize) < nodes;
        if !self.landmarks.iter().chain(&self.chosen).all(in_use) {
            return Err("a landmark is none of its rows");
        }
        if !self.formula.is_of(count) || self.formula.components() != self.embedding.ncols() {
            return Err("its formula is not one of its landmarks and components");
        }
        if self.embedding.nrows() != graph.rows().data_rows() || graph.lengths().len() != nodes {
            return Err("it does not have coordinates for its rows");
        }
        match &self.trees {
            Some(trees) if trees.dim() != (count, nodes) => Err("its shortest-path trees are of other landmarks"),
            _ => Ok(()),
        }
    }

    fn units(&self) -> Units {
        Units::of_lengths(self.paths.graph().length_unit())
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let new = self.paths.graph().find(data, ctx)?;
        new.combine(self.embedding.view(), self.triangulate(&new, ctx)?.view())
    }
}
