//! From data to a connected neighbourhood graph: the first step of every graph method.
//!
//! Place: after `neighbors`; [`NeighborhoodGraph`] is what the other stages read.
//!
//! 1. neighbours of every row             n·k·log n
//! 2. the graph, symmetric                n·k
//! 3. its components, by the policy       n·k
//! 4. outliers are left out               n·k

use super::search::Searchable;
use super::{Connected, Graph, Isolated, NeighborhoodGraph, Outliers, Policy, conformal, outliers};
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::Data;
use crate::input::rows::{RowMap, as_indices};
use crate::neighbors::{Algorithm, Metric, NeighborRule};

/// The part of a method's parameters that says which rows are neighbours.
#[derive(Debug, Clone, Copy)]
pub struct NeighborhoodParams {
    /// The nearest rows, or all within a radius.
    pub rule: NeighborRule,
    /// Between points; `None` for precomputed distances.
    pub metric: Option<Metric>,
    /// How to search.
    pub algorithm: Algorithm,
    /// What to do with several connected components.
    pub policy: Policy,
    /// What to do with rows far from all others.
    pub outliers: Outliers,
    /// What to do with new rows that have no neighbours.
    pub isolated: Isolated,
    /// Whether edges are divided by the spacing of their ends.
    pub conformal: bool,
}

impl NeighborhoodParams {
    /// Refuse more neighbours than there are rows.
    pub fn check(&self, data: Data<'_>) -> Result<()> {
        let NeighborRule::Nearest(k) = self.rule else { return Ok(()) };
        let rows = data.rows();
        if k < rows || matches!(data, Data::Graph(_)) {
            return Ok(());
        }
        let why = format!("must be less than the number of rows: got n_neighbors = {k}, n_samples = {rows}");
        Err(Error::param("n_neighbors", why))
    }

    /// Data to a connected graph.
    pub fn build(&self, data: Data<'_>, ctx: &Ctx) -> Result<NeighborhoodGraph> {
        self.check(data)?;
        let searchable = Searchable::new(data, self.metric, self.rule, ctx)?;
        let search = searchable.search(None, self.algorithm, ctx)?;
        let near = searchable.neighbors(&search, self.rule, ctx)?;
        ctx.stage("graph", 0);
        let graph = Graph::from_neighbors(&near, ctx)?;
        let rows = RowMap::all(near.rows());
        let connected = search.connect(graph, rows, self.policy, ctx)?;
        let (connected, outliers) = self.without_outliers(connected, data, ctx)?;
        let Connected { mut graph, rows, labels, bridges } = connected;
        let means = near.mean_distances(&rows);
        let duplicates = near.duplicates(&rows);
        let rows = rows.with_duplicates(duplicates);
        drop(near);
        let spacing = self.conformal.then(|| conformal::spacing(means, &graph));
        if let Some(spacing) = &spacing {
            graph = conformal::divided(&graph, spacing, ctx)?;
        }
        let mut locator = searchable.locator(search);
        if let Some(used) = rows.used() {
            locator = locator.only(used, self.algorithm, ctx)?;
        }
        Ok(NeighborhoodGraph {
            rule: self.rule.among(graph.len()),
            order: locator.order(),
            outlier_points: match data {
                Data::Points(points) if !outliers.is_empty() => Some(points.select(&as_indices(&outliers))),
                _ => None,
            },
            isolated: self.isolated,
            length_unit: i32::from(!self.conformal),
            lengths: graph,
            rows,
            labels,
            bridges: bridges.iter().map(|link| [link.from, link.to]).collect(),
            locator,
            spacing,
            outliers,
        })
    }

    /// The graph without the rows that are far from all others, where that is wanted,
    /// and the rows of the data that were left out.
    fn without_outliers(
        &self,
        connected: Connected,
        data: Data<'_>,
        ctx: &Ctx,
    ) -> Result<(Connected, Vec<u32>)> {
        // Outliers are placed by their distances to others, which a graph does not have.
        if self.outliers == Outliers::Keep || matches!(data, Data::Graph(_)) {
            return Ok((connected, Vec::new()));
        }
        let far = outliers(&connected.graph, ctx)?;
        if far.is_empty() {
            return Ok((connected, far));
        }
        let data_rows: Vec<u32> = far.iter().map(|&row| connected.rows.data_row(row) as u32).collect();
        warn_of_outliers(&connected.graph, &far, &data_rows, ctx);
        let rest: Vec<u32> =
            (0..connected.graph.len() as u32).filter(|row| far.binary_search(row).is_err()).collect();
        let graph = connected.graph.subgraph(&rest, ctx)?;
        let rows = connected.rows.only(&rest);
        Ok((Connected { graph, rows, ..connected }, data_rows))
    }
}

fn warn_of_outliers(graph: &Graph, far: &[u32], rows: &[u32], ctx: &Ctx) {
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
        .map(|(at, row)| format!("{row} ({:.3e} from its nearest)", ctx.data_length(nearest(at))))
        .collect();
    let more = if far.len() > SHOWN { ", …" } else { "" };
    ctx.warn(
        WarningKind::Outlier,
        format!(
            "{} outlier(s), rows so far from all others that they would dominate the embedding, were left out of \
             the fit and placed by transform: rows {}{more}; remove them, or set outliers='keep' to disable this",
            far.len(),
            shown.join(", ")
        ),
    );
}
