//! From data to affinities that a Laplacian can be made of, whatever the data is:
//! points, distances, a graph of distances, or affinities themselves.
//!
//! Place: the first half of Laplacian eigenmaps. Points and distances become a
//! [`NeighborhoodGraph`] as for every graph method. Where no distances between components
//! are known (affinities, graphs) the components stay, and the Laplacian's null space
//! separates them. New rows enter by [`AffinitySource`] (`extend::affinities`).
//!
//! Cost: a neighbour search, then O(edges); n²·D for the dense kernel.

use ndarray::ArrayView2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::affinity_components::{ConnectedAffinity, UNKNOWN, by_policy, on_graph};
use super::bandwidth::{Width, fitting_gamma, usual_gap};
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::{
    Components, Graph, Isolated, KnownEdges, Locator, NeighborhoodGraph, NeighborhoodParams, Policy,
};
use crate::input::check::check_offsets;
use crate::input::rows::{RowMap, as_indices};
use crate::input::{Csr, Data, Points, PointsRef};
use crate::kernel::affinity::{Affinity, Heat, reaches, votes, weigh};
use crate::kernel::functions::{Kernel, kernel_matrix};
use crate::kernel::given_affinity::{Given, given_dense, given_sparse};
use crate::neighbors::{NeighborRule, Neighbors};

/// Affinities of the rows in use, and where new rows find theirs.
pub struct AffinityGraph {
    /// Between the rows in use.
    pub affinity: Affinity,
    /// The affinity of each row in use to itself, where that is known; it does not
    /// count.
    pub diagonal: Option<Vec<f64>>,
    /// Components of these affinities that were left as they are.
    pub components: Components,
    /// Component of each row of the data before the policy acted.
    pub labels: Vec<usize>,
    /// The rows of the data that are in use.
    pub rows: RowMap,
    /// Edges that were added, as rows of the data.
    pub bridges: Vec<[u32; 2]>,
    /// For new rows.
    pub source: AffinitySource,
    /// Width of the weights where they have one.
    pub bandwidth: Option<f64>,
}

impl AffinityGraph {
    /// Of affinities without bridges, after the policy for their components.
    fn without_bridges(found: ConnectedAffinity, source: AffinitySource, bandwidth: Option<f64>) -> Self {
        let ConnectedAffinity { affinity, components, labels, rows } = found;
        let bridges = Vec::new();
        AffinityGraph { affinity, diagonal: None, components, labels, rows, bridges, source, bandwidth }
    }

    /// With the affinity of every row of the data to itself.
    fn with_diagonal(self, diagonal: &[f64]) -> AffinityGraph {
        let rows = 0..self.rows.len() as u32;
        let diagonal = rows.map(|row| diagonal[self.rows.data_row(row)]).collect();
        AffinityGraph { diagonal: Some(diagonal), ..self }
    }
}

/// Where new rows find their affinities.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AffinitySource {
    /// Among points or by their distances to all training rows.
    Neighborhood {
        /// The training rows.
        graph: Box<NeighborhoodGraph>,
        /// Distance within which each row in use has new rows as neighbours.
        reach: Vec<f64>,
        /// The weight of an edge; `None` counts directions.
        heat: Option<Heat>,
    },
    /// exp(−γ‖x − y‖²) to these points.
    Kernel {
        /// The rows in use.
        points: Points,
        /// γ.
        gamma: f64,
    },
    /// New rows bring lengths of edges.
    Lengths(Edges),
    /// New rows bring affinities to all training rows, full or sparse.
    Affinities,
}

/// New rows that bring edges to the training rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Edges {
    /// Reads them.
    pub locator: Locator,
    /// Which of them count.
    pub rule: NeighborRule,
    /// What happens to rows without any.
    pub isolated: Isolated,
    /// The weight of an edge; `None` counts directions.
    pub heat: Option<Heat>,
}

/// What the weight of an edge is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EdgeWeight {
    /// ½ for each direction.
    Connectivity,
    /// exp(−d²/b²); `None` chooses b.
    Heat(Option<f64>),
}

impl EdgeWeight {
    /// Heat, if it is heat.
    fn heat(self, reach: &[(f64, u32)]) -> Option<Heat> {
        match self {
            EdgeWeight::Connectivity => None,
            EdgeWeight::Heat(Some(bandwidth)) => Some(Heat::given(bandwidth)),
            EdgeWeight::Heat(None) => Some(Heat::automatic(reach.iter().map(|&(distance, _)| distance))),
        }
    }
}

/// Points or full distances, by way of their neighbourhood graph.
pub fn of_neighborhood(
    params: &NeighborhoodParams,
    weight: EdgeWeight,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<AffinityGraph> {
    let graph = params.build(data, ctx)?;
    let lengths = graph.lengths();
    let k = match params.rule {
        NeighborRule::Nearest(k) => k,
        NeighborRule::Within(_) => usize::MAX,
    };
    let reach = reaches(lengths, k);
    let heat = weight.heat(&reach);
    let weights = match heat {
        None => votes(lengths, &reach, ctx)?,
        Some(heat) => weigh(lengths, &graph.bridges_in_use(), |distance| heat.weight(distance), ctx)?,
    };
    let affinity = Affinity::Sparse(weights);
    if let Some(heat) = heat {
        let suggested = || Ok(usual_gap(reaches(lengths, 1).into_iter().map(|reach| reach.0)));
        let width = Width { parameter: "bandwidth", value: heat.bandwidth, power: 1 };
        let data_row = |row: usize| Some(graph.rows().data_row(row as u32));
        width.refuse_lonely_rows(&affinity, suggested, data_row, ctx)?;
    }
    // Within a radius being neighbours is mutual, farther out than the last of them too.
    let mutual = matches!(params.rule, NeighborRule::Within(_));
    let reach = |row: u32| if mutual { f64::INFINITY } else { reach[row as usize].0 };
    let before = graph.rows().clone();
    let (found, graph) = on_graph(affinity, 0.0, "bandwidth", graph, params, ctx)?;
    let in_use = (0..before.len() as u32).filter(|&row| found.rows.used_row(before.data_row(row)).is_some());
    Ok(AffinityGraph {
        affinity: found.affinity,
        diagonal: None,
        components: found.components,
        labels: found.labels,
        rows: found.rows.clone(),
        bridges: graph.bridges().to_vec(),
        bandwidth: heat.map(|heat| heat.bandwidth),
        source: AffinitySource::Neighborhood {
            reach: in_use.map(reach).collect(),
            heat: heat.map(|heat| for_new_rows(heat, params.isolated)),
            graph: Box::new(graph),
        },
    })
}

/// The weights of new rows: one without neighbours may be joined to its nearest.
fn for_new_rows(heat: Heat, isolated: Isolated) -> Heat {
    if isolated == Isolated::Nearest { heat.lasting() } else { heat }
}

/// A graph of distances: its stored entries are the neighbours, of which `params.rule`
/// may take the nearest.
pub fn of_length_graph(
    given: &Csr,
    params: &NeighborhoodParams,
    weight: EdgeWeight,
    ctx: &Ctx,
) -> Result<AffinityGraph> {
    check_offsets(given)?;
    let NeighborhoodParams { rule, policy, isolated, .. } = *params;
    let near = Neighbors::from_entries(given, given.rows(), rule, true)?;
    let lengths = Graph::from_neighbors(&near, ctx)?;
    let last = |row: usize| near.row(row).1.last().map(|&distance| (distance, 0)).unwrap_or_default();
    let reach: Vec<(f64, u32)> = (0..near.rows()).map(last).collect();
    let heat = weight.heat(&reach);
    let graph = match heat {
        None => votes_of_lists(&near, &lengths, ctx)?,
        Some(heat) => weigh(&lengths, &[], |distance| heat.weight(distance), ctx)?,
    };
    let rows = RowMap::all(given.rows());
    let mut found = by_policy(Affinity::Sparse(graph), rows, 0.0, policy, UNKNOWN, ctx)?;
    if let Some(heat) = heat {
        let suggested = || Ok(usual_gap(reaches(&lengths, 1).into_iter().map(|reach| reach.0)));
        // A row without edges is a component at any bandwidth.
        let with_edges =
            |row: usize| Some(found.rows.data_row(row as u32)).filter(|&row| !lengths.row(row).0.is_empty());
        let width = Width { parameter: "bandwidth", value: heat.bandwidth, power: 1 };
        width.refuse_lonely_rows(&found.affinity, suggested, with_edges, ctx)?;
    }
    let duplicates = near.duplicates(&found.rows);
    found.rows = found.rows.with_duplicates(duplicates);
    let bandwidth = heat.map(|heat| heat.bandwidth);
    let heat = heat.map(|heat| for_new_rows(heat, isolated));
    let edges = Edges { locator: Locator::Graph(KnownEdges::new(near)), rule, isolated, heat };
    Ok(AffinityGraph::without_bridges(found, AffinitySource::Lengths(edges), bandwidth))
}

/// ½ for each list that names the other row.
fn votes_of_lists(near: &Neighbors, lengths: &Graph, ctx: &Ctx) -> Result<Graph> {
    let mut listed = near.indices.clone();
    for bounds in near.offsets.windows(2) {
        listed[bounds[0]..bounds[1]].sort_unstable();
    }
    let names =
        |i: usize, j: usize| listed[near.offsets[i]..near.offsets[i + 1]].binary_search(&(j as u32)).is_ok();
    lengths.reweighted(ctx, |i, j, _| if names(i, j) && names(j, i) { 1.0 } else { 0.5 })
}

/// exp(−γ‖x − y‖²) between all pairs of points.
pub fn of_kernel(points: PointsRef<'_>, gamma: f64, policy: Policy, ctx: &Ctx) -> Result<AffinityGraph> {
    let matrix = kernel_matrix(points, points, Kernel::Rbf { gamma: Some(gamma) }, ctx)?;
    let mut affinity = Affinity::Dense(matrix);
    affinity.take_diagonal();
    let rows = RowMap::all(affinity.len());
    let diagonal = vec![1.0; affinity.len()];
    let width = Width { parameter: "gamma", value: gamma, power: 0 };
    width.refuse_lonely_rows(&affinity, || fitting_gamma(points, ctx), Some, ctx)?;
    let why = "the affinities between them vanish (lower `gamma` to join them)";
    let mut found = by_policy(affinity, rows, 0.0, policy, why, ctx)?;
    let used = match found.rows.used() {
        None => points.to_owned(),
        Some(used) => points.select(&as_indices(used)),
    };
    found.rows = found.rows.with_duplicates(equal_rows(used.view(), ctx)?);
    let source = AffinitySource::Kernel { points: used, gamma };
    Ok(AffinityGraph::without_bridges(found, source, None).with_diagonal(&diagonal))
}

/// Pairs (row, the first row before it that is equal to it).
fn equal_rows(points: PointsRef<'_>, ctx: &Ctx) -> Result<Vec<(u32, u32)>> {
    let first = |row: usize| {
        ctx.check()?;
        Ok((0..row).find(|&before| points.row_equals(row, points, before)).map(|before| (row, before)))
    };
    let pairs: Vec<Option<(usize, usize)>> =
        (0..points.rows()).into_par_iter().map(first).collect::<Result<_>>()?;
    Ok(pairs.into_iter().flatten().map(|(row, first)| (row as u32, first as u32)).collect())
}

/// Affinities that are given for all pairs.
pub fn of_affinities(matrix: ArrayView2<'_, f64>, policy: Policy, ctx: &Ctx) -> Result<AffinityGraph> {
    of_given(given_dense(matrix, ctx)?, policy, ctx)
}

/// Affinities that are given as the edges of a graph.
pub fn of_affinity_graph(given: &Csr, policy: Policy, ctx: &Ctx) -> Result<AffinityGraph> {
    check_offsets(given)?;
    of_given(given_sparse(given, ctx)?, policy, ctx)
}

fn of_given(given: Given, policy: Policy, ctx: &Ctx) -> Result<AffinityGraph> {
    let Given { affinity, diagonal } = given;
    let rows = RowMap::all(affinity.len());
    let found = by_policy(affinity, rows, 0.0, policy, UNKNOWN, ctx)?;
    Ok(AffinityGraph::without_bridges(found, AffinitySource::Affinities, None).with_diagonal(&diagonal))
}
