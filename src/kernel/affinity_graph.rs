//! From data to affinities that a Laplacian can be made of, whatever the data is:
//! points, distances, a graph of distances, or affinities themselves.
//!
//! Place: the first half of Laplacian eigenmaps. Points and distances become a
//! neighbourhood graph as for every graph method ([`Manifold`]); a graph in pieces
//! is joined by its shortest links. Where no distances between pieces are known
//! (affinities, graphs) the pieces stay, and the Laplacian's null space tells them
//! apart. New rows enter by [`Source`].
//!
//! Cost: a neighbour search, then O(edges); n²·D for the dense kernel.

use crate::input::Points;
use crate::input::rows::as_indices;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::affinity_components::{Held, UNKNOWN, in_pieces, on_manifold};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Isolated;
use crate::graph::geodesic::PathMethod;
use crate::graph::known_edges::KnownEdges;
use crate::graph::locate::Locator;
use crate::graph::neighborhood::{Setting, neighbor_lists, twins};
use crate::graph::neighborhood_graph::{Manifold, Paths};
use crate::graph::{Components, Graph, Policy};
use crate::input::Data;
use crate::input::check::check_offsets;
use crate::input::scale::scale_of_points;
use crate::input::{Csr, PointsRef, Scale};
use crate::kernel::affinity::{Affinity, Heat, reaches, votes, weigh};
use crate::kernel::functions::{Kernel, kernel_matrix};
use crate::kernel::given_affinity::{Given, given_dense, given_sparse};
use crate::neighbors::{Algorithm, Hood, Index, Metric, Neighbors};

/// Degrees below this are rounding, not affinity.
const NO_DEGREE: f64 = 1e-100;

/// Affinities of the rows that take part, and where new rows find theirs.
pub struct AffinityGraph {
    /// Between the rows that take part.
    pub affinity: Affinity,
    /// What each of these rows is to itself, in the units of the data, where that is
    /// known; it does not count.
    pub own: Option<Vec<f64>>,
    /// Pieces of these affinities that were left as they are.
    pub pieces: Components,
    /// Piece of each row of the data before the policy acted.
    pub labels: Vec<usize>,
    /// Rows of the data that take part, when some were left out.
    pub kept: Option<Vec<u32>>,
    /// Links that were added, as rows of the data.
    pub bridges: Array2<i64>,
    /// For new rows.
    pub source: Source,
    /// Width of the weights, in the data's units, where they have one.
    pub bandwidth: Option<f64>,
}

impl AffinityGraph {
    /// Of affinities without bridges, after the policy for their pieces.
    fn held(held: Held, source: Source, bandwidth: Option<f64>) -> AffinityGraph {
        let Held { affinity, pieces, labels, kept } = held;
        let bridges = Array2::zeros((0, 2));
        AffinityGraph { affinity, own: None, pieces, labels, kept, bridges, source, bandwidth }
    }

    /// With what every row of the data is to itself.
    fn with_own(self, own: Vec<f64>) -> AffinityGraph {
        let part = self.kept.as_ref().map(|kept| kept.iter().map(|&row| own[row as usize]).collect());
        AffinityGraph { own: Some(part.unwrap_or(own)), ..self }
    }
}

/// Where new rows find their affinities.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Source {
    /// Among points or by their distances to all training rows.
    Neighborhood {
        /// The training rows.
        manifold: Box<Manifold>,
        /// Distance within which each row of the graph has new rows as neighbours.
        reach: Vec<f64>,
        /// The weight of an edge; `None` counts directions.
        heat: Option<Heat>,
    },
    /// exp(−γ‖x − y‖²) to these points.
    Kernel {
        /// The rows that take part.
        points: Points,
        /// γ.
        gamma: f64,
    },
    /// New rows bring lengths of edges.
    Lengths(Edges),
    /// New rows bring affinities to all `rows` training rows, full or sparse.
    Affinities {
        /// Number of training rows the caller knows.
        rows: usize,
        /// What affinities were multiplied by.
        scale: Scale,
    },
}

/// New rows that bring edges to the training rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Edges {
    /// Reads them.
    pub locator: Locator,
    /// Which of them count.
    pub hood: Hood,
    /// What happens to rows without any.
    pub isolated: Isolated,
    /// The weight of an edge; `None` counts directions.
    pub heat: Option<Heat>,
    /// (row that takes part, an earlier one at distance zero).
    pub twins: Vec<(u32, u32)>,
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
    /// Heat at working scale, if it is heat.
    fn heat(self, scale: Scale, reach: &[(f64, u32)]) -> Option<Heat> {
        match self {
            EdgeWeight::Connectivity => None,
            EdgeWeight::Heat(Some(bandwidth)) => Some(Heat::given(scale.into(bandwidth))),
            EdgeWeight::Heat(None) => Some(Heat::automatic(reach.iter().map(|&(distance, _)| distance))),
        }
    }
}

/// Points or full distances, by way of their neighbourhood graph.
pub fn of_neighborhood(
    setting: &Setting,
    weight: EdgeWeight,
    isolated: Isolated,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<AffinityGraph> {
    let paths = Paths { method: PathMethod::Auto, conformal: false, isolated };
    let manifold = Manifold::new(setting, paths, data, ctx)?;
    let lengths = manifold.graph();
    let k = match setting.hood {
        Hood::Nearest(k) => k,
        Hood::Within(_) => usize::MAX,
    };
    let reach = reaches(lengths, k);
    let scale = manifold.length_scale();
    let heat = weight.heat(scale, &reach);
    let graph = match heat {
        None => votes(lengths, &reach, ctx)?,
        Some(heat) => weigh(lengths, &bridge_rows(&manifold), |distance| heat.weight(distance), ctx)?,
    };
    let affinity = Affinity::Sparse(graph);
    if let Some(heat) = heat {
        let suggested = || Ok(scale.back(usual_gap(reaches(lengths, 1).into_iter().map(|reach| reach.0))));
        refuse_lonely_rows(&affinity, "bandwidth", scale.back(heat.bandwidth), suggested, |row| {
            Some(manifold.data_row(row as u32))
        })?;
    }
    let (held, manifold) = on_manifold(affinity, 0.0, "bandwidth", manifold, setting, ctx)?;
    // Within a radius being neighbours is mutual, farther out than the last of them too.
    let mutual = matches!(setting.hood, Hood::Within(_));
    let reach: Vec<f64> = reach.iter().map(|reach| if mutual { f64::INFINITY } else { reach.0 }).collect();
    let reach =
        held.kept.as_ref().map(|kept| kept.iter().map(|&row| reach[row as usize]).collect()).unwrap_or(reach);
    Ok(AffinityGraph {
        affinity: held.affinity,
        own: None,
        pieces: held.pieces,
        labels: held.labels,
        kept: manifold.kept().map(<[u32]>::to_vec),
        bridges: manifold.bridges().clone(),
        bandwidth: heat.map(|heat| scale.back(heat.bandwidth)),
        source: Source::Neighborhood {
            reach,
            heat: heat.map(|heat| for_new_rows(heat, isolated)),
            manifold: Box::new(manifold),
        },
    })
}

/// The weights of new rows: one without neighbours may be hung onto its nearest.
fn for_new_rows(heat: Heat, isolated: Isolated) -> Heat {
    if isolated == Isolated::Nearest { heat.lasting() } else { heat }
}

/// The bridges as rows of the graph.
pub fn bridge_rows(manifold: &Manifold) -> Vec<(u32, u32)> {
    let row = |end: i64| usize::try_from(end).ok().and_then(|end| manifold.graph_row(end));
    manifold.bridges().outer_iter().filter_map(|ends| Some((row(ends[0])?, row(ends[1])?))).collect()
}

/// A graph of distances: its stored entries are the neighbours, of which `hood`
/// may take the nearest.
pub fn of_length_graph(
    given: &Csr,
    hood: Hood,
    weight: EdgeWeight,
    policy: Policy,
    isolated: Isolated,
    ctx: &Ctx,
) -> Result<AffinityGraph> {
    check_offsets(given)?;
    let rows = given.rows();
    let near = neighbor_lists(given, rows, hood, true)?;
    let lengths = Graph::from_neighbors(&near, ctx)?;
    let last = |bounds: &[usize]| (bounds[0] < bounds[1]).then(|| (near.distances[bounds[1] - 1], 0));
    let reach: Vec<(f64, u32)> =
        near.offsets.windows(2).map(|bounds| last(bounds).unwrap_or_default()).collect();
    let heat = weight.heat(Scale::ONE, &reach);
    let graph = match heat {
        None => votes_of_lists(&near, &lengths, ctx)?,
        Some(heat) => weigh(&lengths, &[], |distance| heat.weight(distance), ctx)?,
    };
    let affinity = Affinity::Sparse(graph);
    let held = in_pieces(affinity, 0.0, policy, UNKNOWN, ctx)?;
    if let Some(heat) = heat {
        let suggested = || Ok(usual_gap(reaches(&lengths, 1).into_iter().map(|reach| reach.0)));
        // A row without edges is a piece at any bandwidth.
        let with_edges = |row: usize| Some(held.data_row(row)).filter(|&row| !lengths.row(row).0.is_empty());
        refuse_lonely_rows(&held.affinity, "bandwidth", heat.bandwidth, suggested, with_edges)?;
    }
    let columns = held.kept.as_ref().map(|kept| places(kept, rows));
    let twins = twins(&near, held.kept.as_deref());
    let locator = Locator::Graph { rows, columns, known: KnownEdges::new(near) };
    let bandwidth = heat.map(|heat| heat.bandwidth);
    let heat = heat.map(|heat| for_new_rows(heat, isolated));
    let edges = Edges { locator, hood, isolated, heat, twins };
    Ok(AffinityGraph::held(held, Source::Lengths(edges), bandwidth))
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
    let own = vec![1.0; affinity.len()];
    refuse_lonely_rows(&affinity, "gamma", gamma, || fitting_gamma(points, ctx), Some)?;
    let apart = "the affinities between them vanish (lower `gamma` to join them)";
    let held = in_pieces(affinity, 0.0, policy, apart, ctx)?;
    let points = match &held.kept {
        None => points.to_owned(),
        Some(kept) => points.select(&as_indices(kept)),
    };
    Ok(AffinityGraph::held(held, Source::Kernel { points, gamma }, None).with_own(own))
}

/// Affinities that are given for all pairs.
pub fn of_affinities(matrix: ArrayView2<'_, f64>, policy: Policy, ctx: &Ctx) -> Result<AffinityGraph> {
    let rows = matrix.nrows();
    let Given { affinity, own, scale } = given_dense(matrix, ctx)?;
    let held = in_pieces(affinity, 0.0, policy, UNKNOWN, ctx)?;
    Ok(AffinityGraph::held(held, Source::Affinities { rows, scale }, None).with_own(own))
}

/// Affinities that are given as the edges of a graph.
pub fn of_affinity_graph(given: &Csr, policy: Policy, ctx: &Ctx) -> Result<AffinityGraph> {
    check_offsets(given)?;
    let rows = given.rows();
    let Given { affinity, own, scale } = given_sparse(given, ctx)?;
    let held = in_pieces(affinity, 0.0, policy, UNKNOWN, ctx)?;
    Ok(AffinityGraph::held(held, Source::Affinities { rows, scale }, None).with_own(own))
}

/// The γ at which rows know their nearest neighbours.
fn fitting_gamma(points: PointsRef<'_>, ctx: &Ctx) -> Result<f64> {
    // At working scale: the squares of the data's own distances may be no numbers.
    let scale = scale_of_points(points);
    let scaled = scale.points(points);
    let index = Index::build(scaled.view(), Metric::Euclidean, Algorithm::Auto, ctx)?;
    let gap = usual_gap(index.neighbors_of_all(Hood::Nearest(1), ctx)?.distances.into_iter());
    let suggested = 1.0 / scale.back_squared(gap * gap);
    if suggested.is_normal() {
        return Ok(suggested);
    }
    Err(Error::input(format!(
        "distances to nearest neighbours are about {:.1e}, and no `gamma` fits their squares; divide the data by \
         about that",
        scale.back(gap)
    )))
}

/// Rows that may be like no other before the width is refused: a few are outliers, and
/// the policy for pieces says what becomes of them.
const MOST_LONELY: f64 = 0.1;

/// Refuse a width at which many rows are like no other, judged by those that have
/// neighbours at all: row → row of the data. `suggested` is asked only then.
fn refuse_lonely_rows(
    affinity: &Affinity,
    parameter: &'static str,
    width: f64,
    suggested: impl FnOnce() -> Result<f64>,
    data_row: impl Fn(usize) -> Option<usize>,
) -> Result<()> {
    let degrees = affinity.degrees();
    let (mut judged, mut lonely) = (0, Vec::new());
    for (row, &degree) in degrees.iter().enumerate() {
        let Some(row) = data_row(row) else { continue };
        judged += 1;
        if degree < NO_DEGREE {
            lonely.push(row);
        }
    }
    let many = lonely.len() as f64 > MOST_LONELY * judged as f64 && degrees.len() > 1;
    let Some(row) = lonely.first().filter(|_| many) else { return Ok(()) };
    let suggested = suggested()?;
    Err(Error::param(
        parameter,
        format!(
            "at {parameter} = {width:e} the affinities of {} of {judged} rows to every other row vanish (row {row} is \
             the first); try {parameter} = {suggested:.3e}, which the distances to nearest neighbours suggest",
            lonely.len()
        ),
    ))
}

/// The length that all but a twentieth of these, which are not 0, stay within; 1 when
/// there are none. Where more than that vanish at some width, it is a wider one.
fn usual_gap(lengths: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = lengths.filter(|&length| length > 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() * 19 / 20).copied().unwrap_or(1.0)
}

/// Row of the data → row that takes part.
fn places(kept: &[u32], rows: usize) -> Vec<Option<u32>> {
    let mut place = vec![None; rows];
    kept.iter().enumerate().for_each(|(position, &row)| place[row as usize] = Some(position as u32));
    place
}
