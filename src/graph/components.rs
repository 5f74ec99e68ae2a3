//! Connected components and what to do when there are several.
//!
//! Owns: the labelling of pieces (petgraph's union–find), the policy, and the
//! bridges: a minimum spanning tree over the pieces by Borůvka's rounds (1926),
//! each round asking `neighbors` for every piece's closest foreign point.
//! Place: right after a [`Graph`] is assembled, before any path or kernel.
//! Cost: O((n + m) α(n)) to label; at most log2 C rounds for C pieces.

use petgraph::unionfind::UnionFind;

use super::Graph;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::neighbors::{ClosestForeign, Link};
use crate::params::choices;

choices! {
    /// What to do with a graph in several pieces.
    Policy {
        /// Refuse.
        Error = "error",
        /// Keep the largest piece, drop the other rows.
        Largest = "largest",
        /// Join the pieces by the shortest links between them.
        Bridge = "bridge",
    }
}

/// Which piece each node belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Piece of each node, numbered by first appearance.
    pub labels: Vec<usize>,
    /// Number of nodes of each piece.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Number of pieces.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The piece with the most nodes, the first of several.
    pub fn largest(&self) -> usize {
        (0..self.count()).rev().max_by_key(|&piece| self.sizes[piece]).unwrap_or(0)
    }

    /// The largest few sizes, written out.
    pub fn sizes_in_words(&self) -> String {
        const SHOWN: usize = 5;
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let shown: Vec<String> = sizes.iter().take(SHOWN).map(usize::to_string).collect();
        shown.join(", ") + if sizes.len() > SHOWN { ", …" } else { "" }
    }

    fn of_sets(sets: &UnionFind<u32>, n: usize) -> Components {
        const UNSEEN: usize = usize::MAX;
        let mut label_of_root = vec![UNSEEN; n];
        let mut sizes = Vec::new();
        let mut labels = Vec::with_capacity(n);
        for node in 0..n {
            let label = &mut label_of_root[sets.find(node as u32) as usize];
            if *label == UNSEEN {
                *label = sizes.len();
                sizes.push(0);
            }
            sizes[*label] += 1;
            labels.push(*label);
        }
        Components { labels, sizes }
    }
}

/// The pieces of `graph`.
pub fn components(graph: &Graph) -> Components {
    let n = graph.len();
    let mut sets = UnionFind::<u32>::new(n);
    for node in 0..n {
        for &target in graph.row(node).0 {
            if (target as usize) < node {
                sets.union(node as u32, target);
            }
        }
    }
    Components::of_sets(&sets, n)
}

/// A graph in one piece, and how it came to be so.
#[derive(Debug, Clone, PartialEq)]
pub struct Connected {
    /// The connected graph: the one given, its largest piece, or it with bridges.
    pub graph: Graph,
    /// Piece of each row of the graph that was given.
    pub labels: Vec<usize>,
    /// Rows of the given graph that were kept, when some were dropped.
    pub kept: Option<Vec<u32>>,
    /// Links that were added, shortest first.
    pub bridges: Vec<Link>,
}

/// Make `graph` connected by `policy`.
///
/// `links` knows the distances between points; a graph that came without
/// points has none, and cannot be bridged.
pub fn connect(
    graph: Graph,
    links: Option<&dyn ClosestForeign>,
    policy: Policy,
    ctx: &Ctx,
) -> Result<Connected> {
    let pieces = components(&graph);
    if pieces.count() <= 1 {
        return Ok(Connected { graph, labels: pieces.labels, kept: None, bridges: Vec::new() });
    }
    match (policy, links) {
        (Policy::Error, _) => Err(Error::Disconnected {
            count: pieces.count(),
            sizes: pieces.sizes_in_words(),
            labels: pieces.labels,
        }),
        (Policy::Largest, _) => keep_largest(&graph, pieces, ctx),
        (Policy::Bridge, Some(links)) => bridge(&graph, pieces, links, ctx),
        (Policy::Bridge, None) => Err(Error::Unsupported(format!(
            "the number of connected components of the sparse graph is {} (sizes {}) and the distances \
             between them are not known, \
             so they cannot be bridged; give points or distances, a connected graph, or set \
             disconnected='largest'",
            pieces.count(),
            pieces.sizes_in_words()
        ))),
    }
}

fn keep_largest(graph: &Graph, pieces: Components, ctx: &Ctx) -> Result<Connected> {
    let largest = pieces.largest();
    let kept: Vec<u32> =
        (0..graph.len() as u32).filter(|&row| pieces.labels[row as usize] == largest).collect();
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the number of connected components of the neighbourhood graph is {} (sizes {}); \
             the largest is kept and {} of {} \
             rows are dropped; raise `n_neighbors` or `radius` to keep them",
            pieces.count(),
            pieces.sizes_in_words(),
            graph.len() - kept.len(),
            graph.len()
        ),
    );
    let part = graph.subgraph(&kept, ctx)?;
    Ok(Connected { graph: part, labels: pieces.labels, kept: Some(kept), bridges: Vec::new() })
}

fn bridge(graph: &Graph, pieces: Components, links: &dyn ClosestForeign, ctx: &Ctx) -> Result<Connected> {
    let bridges = spanning_links(&pieces, links, ctx)?;
    let longest = ctx.data_length(bridges.last().map_or(0.0, |link| link.distance));
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the number of connected components of the neighbourhood graph is {} (sizes {}); \
             they are joined by their {} \
             shortest links, the longest {longest:?}; raise `n_neighbors` or `radius` if the pieces belong \
             together, or embed them one by one",
            pieces.count(),
            pieces.sizes_in_words(),
            bridges.len()
        ),
    );
    let graph = graph.with_links(&bridges, ctx)?;
    Ok(Connected { graph, labels: pieces.labels, kept: None, bridges })
}

/// The minimum spanning tree over the pieces, shortest link first.
fn spanning_links(pieces: &Components, links: &dyn ClosestForeign, ctx: &Ctx) -> Result<Vec<Link>> {
    let n = pieces.labels.len();
    let mut sets = UnionFind::<u32>::new(n);
    let mut first_of_piece = vec![None; pieces.count()];
    for (row, &label) in pieces.labels.iter().enumerate() {
        sets.union(*first_of_piece[label].get_or_insert(row as u32), row as u32);
    }
    let mut now = pieces.clone();
    let mut tree = Vec::with_capacity(pieces.count() - 1);
    while now.count() > 1 {
        ctx.check()?;
        let mut round = links.closest_foreign(&now.labels, now.count(), ctx)?;
        for link in &round {
            check_link(link, n)?;
        }
        sort_links(&mut round);
        let before = tree.len();
        tree.extend(round.into_iter().filter(|link| sets.union(link.from, link.to)));
        if tree.len() == before {
            return Err(Error::Unsupported(format!(
                "{} components of the graph have no link to one another",
                now.count()
            )));
        }
        now = Components::of_sets(&sets, n);
    }
    sort_links(&mut tree);
    Ok(tree)
}

/// The order in which Borůvka's rounds never close a circle, however many
/// distances are equal.
fn sort_links(links: &mut [Link]) {
    links.sort_by(|a, b| {
        let ends = |link: &Link| (link.from.min(link.to), link.from.max(link.to));
        a.distance.total_cmp(&b.distance).then_with(|| ends(a).cmp(&ends(b)))
    });
}

fn check_link(link: &Link, n: usize) -> Result<()> {
    if link.from as usize >= n || link.to as usize >= n {
        return Err(Error::input(format!("link ({}, {}): the graph has {n} rows", link.from, link.to)));
    }
    super::assemble::check_weight(link.from as usize, link.to as usize, link.distance)
}
