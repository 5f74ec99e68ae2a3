//! Connected components of affinities, which may vanish where distances are finite:
//! the policy for them, where there is nothing to bridge them with.
//!
//! Place: after affinities are made, before their Laplacian. Components that stay are
//! separated by the first eigenvectors.
//!
//! Cost: O(entries).

use std::collections::BTreeMap;

use crate::context::Ctx;
use crate::error::{Result, WarningKind};
use crate::graph::{Action, Components, Locator, NeighborhoodGraph, NeighborhoodParams, Policy};
use crate::input::rows::RowMap;
use crate::kernel::affinity::Affinity;

/// Affinities after the policy for their components.
pub struct ConnectedAffinity {
    /// Between the rows in use.
    pub affinity: Affinity,
    /// Components that were left as they are.
    pub components: Components,
    /// Component of each row of the data.
    pub labels: Vec<usize>,
    /// The rows of the data that are in use.
    pub rows: RowMap,
}

/// Act on the components of affinities between the rows in use of `rows`; they are apart
/// because of `why`. `diagonal` is the affinity of a row to itself.
pub fn by_policy(
    affinity: Affinity,
    rows: RowMap,
    diagonal: f64,
    policy: Policy,
    why: &str,
    ctx: &Ctx,
) -> Result<ConnectedAffinity> {
    let components = affinity.components(diagonal, ctx)?;
    let labels = components.labels.clone();
    let count = components.count();
    if count <= 1 {
        return Ok(ConnectedAffinity { affinity, components, labels, rows });
    }
    match policy.action(&components) {
        Action::Refuse => Err(components.refusal(why)),
        Action::Only(component) => {
            components.warn_of_rows_left_out(component, "the affinities", why, ctx);
            let kept = components.rows_of(component);
            let affinity = affinity.between(&kept, ctx)?;
            let components = Components { labels: vec![0; kept.len()], sizes: vec![kept.len()] };
            Ok(ConnectedAffinity { affinity, components, labels, rows: rows.only(&kept) })
        }
        Action::Join | Action::Keep => {
            ctx.warn(
                WarningKind::Disconnected,
                format!(
                    "the number of connected components of the affinities is {count} (sizes {}) and {why}; the first {} \
                     coordinate(s) only separate them, embed them one by one to see inside",
                    components.sizes_in_words(),
                    count - 1
                ),
            );
            let affinity = affinity.apart(&labels, ctx)?;
            Ok(ConnectedAffinity { affinity, components, labels, rows })
        }
    }
}

/// The same for affinities on the edges of a neighbourhood graph; `width` is the
/// parameter that makes them vanish. Labels are those of the rows of the data.
pub fn on_graph(
    affinity: Affinity,
    diagonal: f64,
    width: &str,
    graph: NeighborhoodGraph,
    params: &NeighborhoodParams,
    ctx: &Ctx,
) -> Result<(ConnectedAffinity, NeighborhoodGraph)> {
    let joined = graph.rows().used().is_some() || !graph.bridges().is_empty();
    let apart = !joined && graph.labels().iter().any(|&label| label > 0);
    let why = match graph.locator() {
        _ if !apart => vanishing(width),
        Locator::Graph(_) => UNKNOWN.to_string(),
        _ => "they are kept as they are (disconnected='bridge' joins them)".to_string(),
    };
    let in_use = RowMap::all(graph.len());
    let mut found = by_policy(affinity, in_use, diagonal, params.policy, &why, ctx)?;
    let component = |row: usize| graph.rows().used_row(row).map(|at| found.labels[at as usize]);
    // Bridges join components of the lengths, and count for nothing here.
    let mut names = BTreeMap::new();
    let labels = graph.labels().iter().enumerate().map(|(row, &label)| {
        let next = names.len();
        *names.entry((label, component(row))).or_insert(next)
    });
    found.labels = labels.collect();
    let graph = match found.rows.used() {
        Some(kept) => graph.only(kept, params.algorithm, ctx)?,
        None => graph,
    };
    found.rows = graph.rows().clone();
    Ok((found, graph))
}

/// Why components of affinities by distance are apart.
pub fn vanishing(width: &str) -> String {
    format!("the affinities between them vanish (raise `{width}` to join them)")
}

/// Why components of affinities are apart of which nothing else is known.
pub const UNKNOWN: &str = "how near they are to one another is not known (give an edge between them, or \
                           points or distances, to join them)";
