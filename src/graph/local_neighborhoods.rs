//! The neighbourhoods of local methods: the lists of neighbours themselves, among
//! distinct rows.
//!
//! Place: before the local fits of `kernel::local`. Local methods need the geometry
//! inside a neighbourhood, so that a graph alone will not do. Duplicates have none
//! between them: where there are any, the distinct rows are embedded, and duplicates get
//! the coordinates of the first. Connected components stay, by the policy
//! [`Policy::Separate`](super::Policy::Separate).
//! Cost: a neighbour search, and two more with a sort of the rows if there are duplicates.

use ndarray::Array2;

use super::search::{Distinct, Search, Searchable};
use super::{Components, Graph, NeighborhoodGraph, NeighborhoodParams, components, connect};
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::Data;
use crate::input::rows::RowMap;
use crate::neighbors::{NeighborRule, Neighbors};

/// The rows that are embedded, and their neighbours.
pub struct LocalNeighborhoods {
    /// The graph of the rows in use, with their components.
    pub graph: NeighborhoodGraph,
    /// Neighbours of the rows in use among themselves.
    pub near: Neighbors,
    /// Components of the rows in use.
    pub components: Components,
    /// Distances between the rows in use, where the data was distances.
    pub matrix: Option<Array2<f64>>,
    /// Whether the lists were given, and no number or radius made them.
    pub given: bool,
}

/// What a local method needs of its neighbourhoods.
pub struct LocalNeeds<'a> {
    /// Distinct neighbours of each row.
    pub least: usize,
    /// Bytes of a fit with so many neighbours of each row.
    pub bytes: &'a dyn Fn(usize) -> u64,
}

/// Neighbours among the distinct rows.
struct DistinctNeighbors<'a> {
    rule: NeighborRule,
    search: Search<'a>,
    near: Neighbors,
    rows: RowMap,
}

impl NeighborhoodParams {
    /// Data to the neighbourhoods of a local method. Warns of duplicates that leave a row
    /// fewer neighbours than it `needs`.
    pub fn build_local(
        &self,
        data: Data<'_>,
        needs: &LocalNeeds<'_>,
        ctx: &Ctx,
    ) -> Result<LocalNeighborhoods> {
        self.check(data)?;
        if let (Data::Graph(_), None) = (data, self.metric) {
            return Err(Error::param(
                "metric",
                "a sparse graph has no distances between the neighbours of a row, which this method needs; \
                 give points, or with metric='precomputed' the dense matrix of all distances",
            ));
        }
        let searchable = Searchable::new(data, self.metric, self.rule, ctx)?;
        let DistinctNeighbors { rule, mut search, mut near, rows: distinct } =
            self.distinct_neighbors(&searchable, needs, ctx)?;
        let graph = Graph::from_neighbors(&near, ctx)?;
        let connected = connect(graph, distinct.clone(), None, self.policy, ctx)?;
        if connected.rows.len() < distinct.len() {
            let number: Vec<Option<u32>> = (0..distinct.len() as u32)
                .map(|row| connected.rows.used_row(distinct.data_row(row)))
                .collect();
            let part: Vec<u32> =
                (0..distinct.len() as u32).filter(|&row| number[row as usize].is_some()).collect();
            near = near.select(&part).renumbered(&number);
            search = searchable.search(connected.rows.used(), self.algorithm, ctx)?;
        }
        let matrix = search.matrix(ctx)?;
        // Listed points have an order too, though new rows bring their own lists.
        let order = if let Search::Index(index) = &search { Some(index.order()) } else { None };
        let locator = searchable.locator(search);
        Ok(LocalNeighborhoods {
            components: components(&connected.graph),
            graph: NeighborhoodGraph {
                rule: rule.among(connected.graph.len()),
                order,
                lengths: connected.graph,
                rows: connected.rows,
                labels: connected.labels,
                bridges: Vec::new(),
                locator,
                isolated: self.isolated,
                // Lists that were found elsewhere have a unit of their own.
                length_unit: i32::from(!matches!(searchable, Searchable::Lists(..))),
                spacing: None,
                outliers: Vec::new(),
                outlier_points: None,
            },
            near,
            matrix,
            given: matches!(searchable, Searchable::Lists(_, _, Some(_))),
        })
    }

    /// Search, and where there are duplicates search again among the distinct rows.
    fn distinct_neighbors<'a>(
        &self,
        searchable: &'a Searchable<'_>,
        needs: &LocalNeeds<'_>,
        ctx: &Ctx,
    ) -> Result<DistinctNeighbors<'a>> {
        let rows = searchable.rows();
        let search = searchable.search(None, self.algorithm, ctx)?;
        let listed = matches!(searchable, Searchable::Lists(..));
        if !listed {
            reserve(&search, rows, self.rule, needs.bytes, ctx)?;
        }
        let near = searchable.neighbors(&search, self.rule, ctx)?;
        if !listed {
            check_finite(&near, self.rule)?;
        }
        // Lists that were searched contain duplicates wherever there are any.
        let suspected = listed || near.distances.contains(&0.0);
        let distinct = if suspected { searchable.distinct(ctx)? } else { None };
        let Some(distinct) = distinct else {
            return Ok(DistinctNeighbors { rule: self.rule, search, near, rows: RowMap::all(rows) });
        };
        let Distinct { firsts, distinct_of } = &distinct;
        if crowded(&near, distinct_of, needs.least) {
            warn_of_duplicates(rows, firsts.len(), ctx);
        }
        let rule = match self.rule {
            NeighborRule::Nearest(k) => NeighborRule::Nearest(k.min(firsts.len().saturating_sub(1)).max(1)),
            within => within,
        };
        let search = searchable.search(Some(firsts), self.algorithm, ctx)?;
        let near = searchable.neighbors_of_distinct(&search, &distinct, rule, ctx)?;
        Ok(DistinctNeighbors { rule, search, near, rows: RowMap::distinct(firsts, distinct_of) })
    }
}

/// Refuse a radius that takes in more neighbours than there is memory for, judged by some
/// of the rows before any list is made.
fn reserve(
    search: &Search<'_>,
    rows: usize,
    rule: NeighborRule,
    bytes: &dyn Fn(usize) -> u64,
    ctx: &Ctx,
) -> Result<()> {
    let ask = |neighbors: usize| {
        let what = "the lists of neighbours and the sum of the local fits";
        ctx.reserve(bytes(neighbors), what, "lower `radius`, or fit on a subset of the rows")
    };
    match rule {
        NeighborRule::Within(radius) if ask(rows).is_err() => ask(search.mean_within(radius, ctx)?),
        _ => Ok(()),
    }
}

/// Refuse lists of a search that met distances beyond the largest number: such rows are
/// listed with an infinite distance, or left out.
fn check_finite(near: &Neighbors, rule: NeighborRule) -> Result<()> {
    let rows = near.rows();
    let expected = if let NeighborRule::Nearest(k) = rule { k.min(rows - 1) } else { 0 };
    for row in 0..rows {
        let (indices, distances) = near.row(row);
        let infinite =
            distances.iter().position(|distance| !distance.is_finite()).map(|at| indices[at] as usize);
        let absent = || (0..rows).find(|&other| other != row && !indices.contains(&(other as u32)));
        let other = if indices.len() < expected { infinite.or_else(absent) } else { infinite };
        if let Some(other) = other {
            return Err(Error::input(format!(
                "the distance between rows {row} and {other} is not a finite number; scale the data down"
            )));
        }
    }
    Ok(())
}

/// Whether duplicates leave some row fewer than `least` distinct neighbours.
fn crowded(near: &Neighbors, distinct_of: &[u32], least: usize) -> bool {
    let mut distinct: Vec<u32> = Vec::new();
    (0..near.rows()).any(|row| {
        let (indices, _) = near.row(row);
        distinct.clear();
        distinct.extend(indices.iter().map(|&other| distinct_of[other as usize]));
        distinct.retain(|&other| other != distinct_of[row]);
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len() < least && distinct.len() < indices.len()
    })
}

fn warn_of_duplicates(rows: usize, distinct: usize, ctx: &Ctx) {
    ctx.warn(
        WarningKind::InputAdjusted,
        format!(
            "duplicates leave some rows too few distinct neighbours; the {distinct} distinct rows of {rows} were \
             embedded, and duplicates have the same coordinates; remove duplicates to silence this"
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Isolated, Outliers, Policy};
    use crate::neighbors::{Algorithm, Metric};
    use ndarray::array;

    #[test]
    fn a_distance_that_is_no_number_is_refused_with_its_pair() {
        let points = array![[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [1e200, 0.0]];
        for metric in [Metric::Euclidean, Metric::Minkowski(3.0)] {
            let params = NeighborhoodParams {
                rule: NeighborRule::Nearest(3),
                metric: Some(metric),
                algorithm: Algorithm::Brute,
                policy: Policy::Separate,
                outliers: Outliers::Keep,
                isolated: Isolated::Error,
                conformal: false,
            };
            let needs = LocalNeeds { least: 1, bytes: &|_| 0 };
            let refused = params.build_local(Data::from(&points), &needs, &Ctx::new(1, 0)).map(|_| ());
            let text = refused.unwrap_err().to_string();
            assert!(text.contains("rows 0 and 3 is not a finite number"), "{text}");
        }
    }
}
