//! Affinities in pieces, where no distances between the pieces are known: what the
//! policy says is done, and the user is told.
//!
//! Place: after affinities are made, before their Laplacian. Pieces that stay are told
//! apart by the first functions on the graph.
//!
//! Cost: O(entries).

use std::collections::BTreeMap;

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::graph::neighborhood::Setting;
use crate::graph::neighborhood_graph::Manifold;
use crate::graph::{Components, Policy};
use crate::kernel::affinity::Affinity;

/// Affinities after the policy for pieces whose distances are not known.
pub struct Held {
    /// Between the rows that take part.
    pub affinity: Affinity,
    /// Pieces that were left as they are.
    pub pieces: Components,
    /// Piece of each row of the data.
    pub labels: Vec<usize>,
    /// Rows of the data that take part, when some were left out.
    pub kept: Option<Vec<u32>>,
}

impl Held {
    /// The row of the data behind a row that takes part.
    pub fn data_row(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row] as usize)
    }
}

/// Act on affinities in pieces, which are apart because of `why`; `own` is what a row
/// is to itself.
pub fn in_pieces(affinity: Affinity, own: f64, policy: Policy, why: &str, ctx: &Ctx) -> Result<Held> {
    let pieces = affinity.components(own, ctx)?;
    let labels = pieces.labels.clone();
    let count = pieces.count();
    if count <= 1 {
        return Ok(Held { affinity, pieces, labels, kept: None });
    }
    let (sizes, rows) = (pieces.sizes_in_words(), labels.len());
    match policy {
        Policy::Error => Err(Error::Disconnected { count, sizes, labels }),
        Policy::Largest => {
            let largest = pieces.largest();
            let kept: Vec<u32> = (0..rows as u32).filter(|&row| labels[row as usize] == largest).collect();
            ctx.warn(
                WarningKind::Disconnected,
                format!(
                    "the affinities fall into {count} connected components (sizes {sizes}) and {why}; the \
                     largest is kept and {} of {rows} rows are dropped",
                    rows - kept.len()
                ),
            );
            let affinity = affinity.between(&kept, ctx)?;
            let pieces = Components { labels: vec![0; kept.len()], sizes: vec![kept.len()] };
            Ok(Held { affinity, pieces, labels, kept: Some(kept) })
        }
        Policy::Bridge => {
            ctx.warn(
                WarningKind::Disconnected,
                format!(
                    "the affinities fall into {count} connected components (sizes {sizes}) and {why}; the \
                     first {} coordinate(s) only tell them apart, embed them one by one to see inside",
                    count - 1
                ),
            );
            let affinity = affinity.apart(&labels, ctx)?;
            Ok(Held { affinity, pieces, labels, kept: None })
        }
    }
}

/// Act on the weights of a manifold's graph when they fall apart where its lengths
/// do not; `own` is what a row is to itself, `width` the parameter they vanish by.
/// `kept` of the result are rows of the graph, its labels those of the data.
pub fn on_manifold(
    weights: Affinity,
    own: f64,
    width: &str,
    manifold: Manifold,
    setting: &Setting,
    ctx: &Ctx,
) -> Result<(Held, Manifold)> {
    let joined = manifold.kept().is_some() || manifold.bridges().nrows() > 0;
    let apart = !joined && manifold.labels().iter().any(|&label| label > 0);
    let why = if apart { UNKNOWN.to_string() } else { vanishing(width) };
    let mut held = in_pieces(weights, own, setting.policy, &why, ctx)?;
    let piece = |row: usize| manifold.graph_row(row).map(|at| held.labels[at as usize]);
    // Bridges join pieces of the lengths, and count for nothing here.
    let mut names = BTreeMap::new();
    let labels = manifold.labels().iter().enumerate().map(|(row, &label)| {
        let next = names.len();
        *names.entry((label, piece(row))).or_insert(next)
    });
    held.labels = labels.collect();
    let manifold = match &held.kept {
        Some(kept) => manifold.part(kept, setting.algorithm, ctx)?,
        None => manifold,
    };
    Ok((held, manifold))
}

/// Why pieces of weights by distance are apart.
pub fn vanishing(width: &str) -> String {
    format!("the affinities between them vanish (raise `{width}` to join them)")
}

/// Why pieces of affinities are apart of which nothing else is known.
pub const UNKNOWN: &str = "nothing says how near these are to one another (give an edge between them, or \
                           points or distances, to join them)";
