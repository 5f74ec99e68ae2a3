//! The first half of every graph method: from data to a connected
//! neighbourhood graph. New rows find their neighbours by [`Locator`].

use ndarray::ArrayView2;

use super::Outliers;
use super::known_edges::KnownEdges;
use super::locate::Locator;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::graph::Graph;
use crate::graph::{Connected, Policy, components, connect, outliers};
use crate::input::Data;
use crate::input::check;
use crate::input::check::check_offsets;
use crate::input::check::unfit;
use crate::input::rows::as_indices;
use crate::input::scale::{Scale, largest_of, scale_of_matrix, scale_of_points};
use crate::input::{Csr, PointsRef};
use crate::neighbors::ignores_scale;
use crate::neighbors::{Algorithm, Hood, Index, MatrixLinks, Metric, Neighbors, from_distances};

/// A connected neighbourhood graph and how to find one's place in it.
pub struct Neighborhood {
    /// The graph in one piece, with labels of what it was before.
    pub connected: Connected,
    /// Finds the neighbours of new rows.
    pub locator: Locator,
    /// What the data was multiplied by.
    pub input_scale: Scale,
    /// What lengths in the graph are multiplied by, against the data's own.
    pub length_scale: Scale,
    /// For each graph row the first row at distance zero, if that comes before it.
    pub twins: Vec<(u32, u32)>,
    /// An order of the graph's rows in which near rows are near.
    pub order: Option<Vec<u32>>,
    /// Mean distance of each row of the graph to its neighbours.
    pub spread: Vec<f64>,
    /// Rows of the data that were set aside, to be placed like new ones.
    pub set_aside: Vec<u32>,
}

/// The part of a method's parameters that says which rows are neighbours.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Nearest or within.
    pub hood: Hood,
    /// Between points; `None` for precomputed distances.
    pub metric: Option<Metric>,
    /// How to search.
    pub algorithm: Algorithm,
    /// What to do with a graph in pieces.
    pub policy: Policy,
    /// What to do with rows far from all others.
    pub outliers: Outliers,
    /// Whether pieces that cannot be joined, because only edges are known, may stay
    /// apart where the policy is to join them.
    pub pieces_may_stay: bool,
}

/// Exactly one of `n_neighbors` and `radius`.
pub fn hood(n_neighbors: Option<usize>, radius: Option<f64>) -> Result<Hood> {
    match (n_neighbors, radius) {
        (Some(_), Some(_)) => {
            Err(Error::param("radius", "Both n_neighbors and radius are provided; set one of them to None"))
        }
        (None, None) => Err(Error::param("n_neighbors", "give n_neighbors or radius, both are None")),
        (Some(0), None) => Err(Error::param("n_neighbors", "must be at least 1, got 0")),
        (Some(k), None) => Ok(Hood::Nearest(k)),
        (None, Some(radius)) if radius > 0.0 => Ok(Hood::Within(radius)),
        (None, Some(radius)) => Err(Error::param("radius", format!("must be above 0, got {radius}"))),
    }
}

impl Setting {
    /// Refuse more neighbours than there are rows.
    pub fn check(&self, data: Data<'_>) -> Result<()> {
        if let Hood::Nearest(k) = self.hood {
            let rows = data.rows();
            if k >= rows && !matches!(data, Data::Graph(_)) {
                return Err(Error::param(
                    "n_neighbors",
                    format!(
                        "must be less than the number of rows: got n_neighbors = {k}, n_samples = {rows}"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Data to a connected graph.
    pub fn connect(&self, data: Data<'_>, ctx: &Ctx) -> Result<Neighborhood> {
        self.check(data)?;
        match (data, self.metric) {
            (Data::Points(points), Some(metric)) => self.connect_points(points, metric, ctx),
            (Data::Distances(matrix), None) => self.connect_distances(matrix, ctx),
            (Data::Graph(graph), None) => self.connect_graph(graph, ctx),
            (data, metric) => Err(unfit(data, metric.is_none(), "distances or a graph")),
        }
    }

    fn connect_points(&self, points: PointsRef<'_>, metric: Metric, ctx: &Ctx) -> Result<Neighborhood> {
        let input_scale = scale_of_points(points);
        let length_scale = if ignores_scale(metric) { Scale::ONE } else { input_scale };
        let scaled = input_scale.points(points);
        let points = scaled.view();
        let index = Index::build(points, metric, self.algorithm, ctx)?;
        let near = index.neighbors_of_all(scaled_hood(self.hood, length_scale), ctx)?;
        let connected = connect(Graph::from_neighbors(&near, ctx)?, Some(&index), self.policy, ctx)?;
        let (connected, set_aside) = self.set_outliers_aside(connected, length_scale, ctx)?;
        let twins = twins(&near, connected.kept.as_deref());
        let spread = mean_distances(&near, connected.kept.as_deref());
        let index = match &connected.kept {
            Some(kept) => Index::build(points.select(&as_indices(kept)).view(), metric, self.algorithm, ctx)?,
            None => index,
        };
        let order = Some(index.order());
        Ok(Neighborhood {
            connected,
            locator: Locator::Points(Box::new(index)),
            input_scale,
            length_scale,
            twins,
            order,
            spread,
            set_aside,
        })
    }

    fn connect_distances(&self, matrix: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Neighborhood> {
        let matrix = check::distances(matrix, ctx)?;
        let scale = scale_of_matrix(matrix.view());
        let matrix = scale.matrix(matrix.view());
        let near = from_distances(matrix.view(), scaled_hood(self.hood, scale), ctx)?;
        let links = MatrixLinks(matrix.view());
        let connected = connect(Graph::from_neighbors(&near, ctx)?, Some(&links), self.policy, ctx)?;
        let (connected, set_aside) = self.set_outliers_aside(connected, scale, ctx)?;
        let twins = twins(&near, connected.kept.as_deref());
        let spread = mean_distances(&near, connected.kept.as_deref());
        let locator = Locator::Distances { rows: matrix.nrows(), columns: connected.kept.clone() };
        let (input_scale, length_scale, order) = (scale, scale, None);
        Ok(Neighborhood { connected, locator, input_scale, length_scale, twins, order, spread, set_aside })
    }

    fn connect_graph(&self, given: &Csr, ctx: &Ctx) -> Result<Neighborhood> {
        check_offsets(given)?;
        let rows = given.rows();
        // Checks weights and pairs of what was given; its symmetry is not required
        // of neighbour lists, so the lists themselves are what the graph is made of.
        let near = neighbor_lists(given, rows, self.hood, true)?;
        let known = KnownEdges::new(near.clone());
        let scale = Scale::for_largest(largest_of(&near.distances));
        let near = scaled_neighbors(near, scale);
        let graph = Graph::from_neighbors(&near, ctx)?;
        let connected = if self.pieces_may_stay && self.policy == Policy::Bridge {
            let labels = components(&graph).labels;
            Connected { graph, labels, kept: None, bridges: Vec::new() }
        } else {
            connect(graph, None, self.policy, ctx)?
        };
        // A row set aside is placed by its distances to others, which a graph does not have.
        let set_aside = Vec::new();
        let twins = twins(&near, connected.kept.as_deref());
        let spread = mean_distances(&near, connected.kept.as_deref());
        let columns = connected.kept.as_ref().map(|kept| graph_rows(kept, rows));
        let locator = Locator::Graph { rows, columns, known };
        let (input_scale, length_scale, order) = (scale, scale, None);
        Ok(Neighborhood { connected, locator, input_scale, length_scale, twins, order, spread, set_aside })
    }
}

impl Setting {
    /// Without the rows that are far from all others, where that is wanted; the
    /// rows of the data that were taken out.
    fn set_outliers_aside(
        &self,
        connected: Connected,
        scale: Scale,
        ctx: &Ctx,
    ) -> Result<(Connected, Vec<u32>)> {
        if self.outliers == Outliers::Keep {
            return Ok((connected, Vec::new()));
        }
        let far = outliers(&connected.graph, ctx)?;
        if far.is_empty() {
            return Ok((connected, far));
        }
        let data_row = |row: u32| connected.kept.as_ref().map_or(row, |kept| kept[row as usize]);
        let set_aside: Vec<u32> = far.iter().map(|&row| data_row(row)).collect();
        tell_of_outliers(&connected.graph, &far, &set_aside, scale, ctx);
        let rest: Vec<u32> =
            (0..connected.graph.len() as u32).filter(|row| far.binary_search(row).is_err()).collect();
        let graph = connected.graph.subgraph(&rest, ctx)?;
        let kept = Some(rest.iter().map(|&row| data_row(row)).collect());
        Ok((Connected { graph, kept, ..connected }, set_aside))
    }
}

fn tell_of_outliers(graph: &Graph, far: &[u32], rows: &[u32], scale: Scale, ctx: &Ctx) {
    const SHOWN: usize = 5;
    let nearest = |&row: &u32| {
        let (targets, weights) = graph.row(row as usize);
        let kept = targets.iter().zip(weights).filter(|(target, _)| far.binary_search(target).is_err());
        kept.fold(f64::INFINITY, |least, (_, &weight)| least.min(weight))
    };
    let shown: Vec<String> = far
        .iter()
        .zip(rows)
        .take(SHOWN)
        .map(|(at, row)| format!("{row} ({:.3e} from its nearest)", scale.back(nearest(at))))
        .collect();
    let more = if far.len() > SHOWN { ", …" } else { "" };
    ctx.warn(
        WarningKind::Outlier,
        format!(
            "{} row(s) lie so far from all others that they would decide the map: {}{more}; the map is made \
             without them and they are placed in it like new rows; remove them, or set outliers='keep'",
            far.len(),
            shown.join(", ")
        ),
    );
}

/// A radius at working scale.
pub(crate) fn scaled_hood(hood: Hood, scale: Scale) -> Hood {
    match hood {
        Hood::Within(radius) => Hood::Within(scale.into(radius)),
        nearest => nearest,
    }
}

pub(crate) fn scaled_neighbors(mut near: Neighbors, scale: Scale) -> Neighbors {
    if !scale.is_one() {
        near.distances.iter_mut().for_each(|distance| *distance = scale.into(*distance));
    }
    near
}

/// Pairs (row, earlier row at distance zero), numbered as rows of the graph.
pub(crate) fn twins(near: &Neighbors, kept: Option<&[u32]>) -> Vec<(u32, u32)> {
    let rows = near.offsets.len() - 1;
    let place = kept.map(|kept| graph_rows(kept, rows));
    let in_graph = |row: u32| place.as_ref().map_or(Some(row), |place| place[row as usize]);
    (0..rows as u32)
        .filter_map(|row| {
            let first = near.offsets[row as usize];
            let any = first < near.offsets[row as usize + 1];
            (any && near.distances[first] == 0.0 && near.indices[first] < row)
                .then(|| Some((in_graph(row)?, in_graph(near.indices[first])?)))
                .flatten()
        })
        .collect()
}

/// Mean distance of each row to its neighbours, numbered as rows of the graph.
fn mean_distances(near: &Neighbors, kept: Option<&[u32]>) -> Vec<f64> {
    let place = kept.map(|kept| graph_rows(kept, near.offsets.len() - 1));
    let counts = |row: u32| place.as_ref().is_none_or(|place| place[row as usize].is_some());
    let mean = |row: usize| {
        let range = near.offsets[row]..near.offsets[row + 1];
        let of_graph = range.filter(|&at| counts(near.indices[at]));
        let (count, sum) = of_graph.fold((0, 0.0), |(count, sum), at| (count + 1, sum + near.distances[at]));
        sum / f64::from(count.max(1))
    };
    match kept {
        None => (0..near.offsets.len() - 1).map(mean).collect(),
        Some(kept) => kept.iter().map(|&row| mean(row as usize)).collect(),
    }
}

/// Row of the data → row of the graph, for the rows that were kept.
fn graph_rows(kept: &[u32], rows: usize) -> Vec<Option<u32>> {
    let mut place = vec![None; rows];
    for (position, &row) in kept.iter().enumerate() {
        place[row as usize] = Some(position as u32);
    }
    place
}

/// The stored entries of a sparse matrix as neighbour lists: sorted by
/// (distance, index), limited to the neighbourhood asked for.
pub(crate) fn neighbor_lists(
    given: &Csr,
    training_rows: usize,
    hood: Hood,
    training: bool,
) -> Result<Neighbors> {
    let mut lists = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for row in 0..given.rows() {
        let (columns, weights) = given.row(row);
        let mut near = Vec::with_capacity(columns.len());
        for (&column, &weight) in columns.iter().zip(weights) {
            if column as usize >= training_rows {
                return Err(Error::input(format!(
                    "row {row} of the graph has an edge to row {column}, but there are only {training_rows} \
                     training rows"
                )));
            }
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::input(format!(
                    "the edge between rows {row} and {column} has length {weight}; lengths must be finite and >= 0"
                )));
            }
            if !(training && column as usize == row) {
                near.push((weight, column));
            }
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match hood {
            Hood::Nearest(k) => near.truncate(k),
            Hood::Within(radius) => near.retain(|(weight, _)| *weight <= radius),
        }
        lists.indices.extend(near.iter().map(|(_, column)| *column));
        lists.distances.extend(near.iter().map(|(weight, _)| *weight));
        lists.offsets.push(lists.indices.len());
    }
    Ok(lists)
}
