//! Connected components and what to do when there are several.
//!
//! Owns: the labelling of components (petgraph's union–find), the policy, and the
//! bridges: a minimum spanning tree over the components by Borůvka's rounds (1926),
//! each round asking `neighbors` for every component's closest point outside.
//! Place: right after a [`Graph`] is assembled, before any path or kernel.
//! Cost: O((n + m) α(n)) to label; at most log2 C rounds for C components.

use petgraph::unionfind::UnionFind;

use super::Graph;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::rows::RowMap;
use crate::neighbors::{ClosestForeign, Link};
use crate::params::choices;

choices! {
    /// What to do with a graph of several connected components.
    Policy {
        /// Refuse.
        Error = "error",
        /// Keep the largest component, leave out all other rows.
        Largest = "largest",
        /// Join the components by the shortest edges between them.
        Bridge = "bridge",
        /// Keep the components as they are, each embedded on its own.
        Separate = "separate",
    }
}

/// What a [`Policy`] comes to for several components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Refuse.
    Refuse,
    /// Keep one component, leave out the rows of all others.
    Only(usize),
    /// Join them, where distances between them are known.
    Join,
    /// Keep them all, apart from one another.
    Keep,
}

impl Policy {
    /// What is to be done with these components; a new policy is a choice above and a
    /// line here.
    pub fn action(self, components: &Components) -> Action {
        match self {
            Policy::Error => Action::Refuse,
            Policy::Largest => Action::Only(components.largest()),
            Policy::Bridge => Action::Join,
            Policy::Separate => Action::Keep,
        }
    }
}

/// Which component each node belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Component of each node, numbered by first appearance.
    pub labels: Vec<usize>,
    /// Number of nodes of each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The component with the most nodes, the first of several.
    pub fn largest(&self) -> usize {
        (0..self.count()).rev().max_by_key(|&component| self.sizes[component]).unwrap_or(0)
    }

    /// The nodes of a component, ascending.
    pub fn rows_of(&self, component: usize) -> Vec<u32> {
        (0..self.labels.len() as u32).filter(|&row| self.labels[row as usize] == component).collect()
    }

    /// The components of rows in use as components of all rows of the data.
    pub fn of_data(&self, rows: &RowMap) -> Components {
        let labels: Vec<usize> =
            rows.used_rows().iter().flatten().map(|&row| self.labels[row as usize]).collect();
        let mut sizes = vec![0; self.count()];
        labels.iter().for_each(|&label| sizes[label] += 1);
        Components { labels, sizes }
    }

    /// The refusal of [`Policy::Error`].
    pub fn refusal(self, remedy: &str) -> Error {
        Error::Disconnected {
            count: self.count(),
            sizes: self.sizes_in_words(),
            labels: self.labels,
            remedy: remedy.to_string(),
        }
    }

    /// The warning of [`Action::Only`]: `subject` has these components, and `remedy`
    /// says why, and what would keep all rows.
    pub fn warn_of_rows_left_out(&self, kept: usize, subject: &str, remedy: &str, ctx: &Ctx) {
        let (rows, embedded) = (self.labels.len(), self.sizes[kept]);
        ctx.warn(
            WarningKind::Disconnected,
            format!(
                "the number of connected components of {subject} is {} (sizes {}); the one of {embedded} rows is \
                 embedded and {} of {rows} rows are left out (NaN); {remedy}",
                self.count(),
                self.sizes_in_words(),
                rows - embedded
            ),
        );
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

/// The components of `graph`.
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

/// A graph after the policy for its components.
#[derive(Debug, Clone, PartialEq)]
pub struct Connected {
    /// The graph given, its largest component, or it with bridges.
    pub graph: Graph,
    /// The rows of the data that are in it.
    pub rows: RowMap,
    /// Component of each row of the data.
    pub labels: Vec<usize>,
    /// Edges that were added, shortest first.
    pub bridges: Vec<Link>,
}

/// Act on the components of `graph`, whose nodes are the rows in use of `rows`, by
/// `policy`. Components are counted and labelled by the rows of the data.
///
/// `links` knows the distances between points; a graph that came without
/// points has none, and cannot be bridged. With [`Policy::Separate`] the components
/// stay, and the method says what it makes of them.
pub fn connect(
    graph: Graph,
    rows: RowMap,
    links: Option<&dyn ClosestForeign>,
    policy: Policy,
    ctx: &Ctx,
) -> Result<Connected> {
    let found = components(&graph);
    let of_data = found.of_data(&rows);
    let unchanged = |graph: Graph, rows: RowMap, labels: Vec<usize>| Connected {
        graph,
        rows,
        labels,
        bridges: Vec::new(),
    };
    if found.count() <= 1 {
        return Ok(unchanged(graph, rows, of_data.labels));
    }
    match (policy.action(&of_data), links) {
        (Action::Refuse, _) => Err(of_data.refusal(REMEDY)),
        (Action::Keep, _) => Ok(unchanged(graph, rows, of_data.labels)),
        (Action::Only(component), _) => {
            of_data.warn_of_rows_left_out(component, "the neighbourhood graph", REMEDY, ctx);
            let kept = found.rows_of(component);
            Ok(unchanged(graph.subgraph(&kept, ctx)?, rows.only(&kept), of_data.labels))
        }
        (Action::Join, Some(links)) => {
            let bridges = spanning_links(&found, links, ctx)?;
            warn_of_bridges(&of_data, &bridges, ctx);
            Ok(Connected { graph: graph.with_links(&bridges, ctx)?, rows, labels: of_data.labels, bridges })
        }
        (Action::Join, None) => Err(Error::Unsupported(format!(
            "the number of connected components of the sparse graph is {} (sizes {}) and the distances between them are not known, \
             so they cannot be bridged; give points or distances, a connected graph, or set \
             disconnected='largest'",
            found.count(),
            found.sizes_in_words()
        ))),
    }
}

/// What connects a neighbourhood graph.
const REMEDY: &str = "raise `n_neighbors` (or `radius` where it is used) to connect them";

fn warn_of_bridges(components: &Components, bridges: &[Link], ctx: &Ctx) {
    let longest = bridges.last().map_or(0.0, |link| link.distance);
    ctx.warn(
        WarningKind::Disconnected,
        // scikit-learn's users look for "number of connected components".
        format!(
            "the number of connected components of the neighbourhood graph is {} > 1 (sizes {}); they were \
             connected by {} added edge(s) (longest {:.3e}); raise `n_neighbors` (or `radius` where it is used) if \
             they belong together, or embed them one by one",
            components.count(),
            components.sizes_in_words(),
            bridges.len(),
            ctx.data_length(longest)
        ),
    );
}

/// The minimum spanning tree over the components, shortest link first.
fn spanning_links(components: &Components, links: &dyn ClosestForeign, ctx: &Ctx) -> Result<Vec<Link>> {
    let n = components.labels.len();
    let mut sets = UnionFind::<u32>::new(n);
    let mut first_of = vec![None; components.count()];
    for (row, &label) in components.labels.iter().enumerate() {
        sets.union(*first_of[label].get_or_insert(row as u32), row as u32);
    }
    let mut now = components.clone();
    let mut tree = Vec::with_capacity(components.count() - 1);
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
