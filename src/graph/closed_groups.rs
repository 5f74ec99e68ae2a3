//! Groups of rows that have no neighbours outside the group.
//!
//! Being a neighbour is not mutual: a group can be everybody's neighbour and have all of
//! its own neighbours inside. The weights of LLE tie a row to its neighbours only,
//! so every such group may be moved without changing the others. They are the strongly connected
//! components without an edge to another (petgraph's, by Kosaraju's two passes).
//! Cost: n·k.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::neighbors::Neighbors;

/// The rows of each closed group, ascending; a connected graph has at least one.
pub fn closed_groups(near: &Neighbors) -> Vec<Vec<u32>> {
    let mut graph = DiGraph::<(), ()>::with_capacity(near.rows(), near.indices.len());
    for _ in 0..near.rows() {
        graph.add_node(());
    }
    for row in 0..near.rows() {
        for &other in near.row(row).0 {
            graph.add_edge((row as u32).into(), other.into(), ());
        }
    }
    let mut group_of = vec![0_usize; near.rows()];
    let groups: Vec<Vec<u32>> = kosaraju_scc(&graph)
        .into_iter()
        .map(|group| group.into_iter().map(|node| node.index() as u32).collect())
        .collect();
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&row| group_of[row as usize] = number);
    }
    let leads_out = |row: u32| {
        let own = group_of[row as usize];
        near.row(row as usize).0.iter().any(|&other| group_of[other as usize] != own)
    };
    let mut closed: Vec<Vec<u32>> =
        groups.into_iter().filter(|group| !group.iter().any(|&row| leads_out(row))).collect();
    closed.iter_mut().for_each(|group| group.sort_unstable());
    closed.sort_unstable();
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Ctx;
    use crate::linalg::random::below;
    use petgraph::algo::tarjan_scc;
    use petgraph::graph::DiGraph;

    fn lists(of: &[Vec<u32>]) -> Neighbors {
        let mut near = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
        for list in of {
            near.indices.extend(list);
            near.distances.extend(list.iter().map(|_| 1.0));
            near.offsets.push(near.indices.len());
        }
        near
    }

    /// By petgraph's components.
    fn plain(near: &Neighbors) -> Vec<Vec<u32>> {
        let rows = near.offsets.len() - 1;
        let list = |row: usize| &near.indices[near.offsets[row]..near.offsets[row + 1]];
        let edges =
            (0..rows as u32).flat_map(|row| list(row as usize).iter().map(move |&other| (row, other)));
        let mut graph = DiGraph::<(), ()>::from_edges(edges);
        while graph.node_count() < rows {
            graph.add_node(());
        }
        let mut closed: Vec<Vec<u32>> = tarjan_scc(&graph)
            .into_iter()
            .map(|part| part.into_iter().map(|node| node.index() as u32).collect::<Vec<_>>())
            .filter(|part| {
                part.iter().all(|&row| list(row as usize).iter().all(|other| part.contains(other)))
            })
            .collect();
        closed.iter_mut().for_each(|part| part.sort_unstable());
        closed.sort();
        closed
    }

    #[test]
    fn a_row_that_looks_at_two_groups_joins_neither() {
        let near = lists(&[vec![1], vec![0], vec![3], vec![2], vec![0, 2]]);
        let mut found = closed_groups(&near);
        found.sort();
        assert_eq!(found, [vec![0, 1], vec![2, 3]]);
    }

    #[test]
    fn random_lists_as_petgraph_sees_them() {
        let ctx = Ctx::new(1, 0);
        let mut random = ctx.stream("lists");
        for rows in 1..80_usize {
            let of: Vec<Vec<u32>> = (0..rows)
                .map(|_| (0..below(&mut random, 3)).map(|_| below(&mut random, rows) as u32).collect())
                .collect();
            let near = lists(&of);
            let mut found = closed_groups(&near);
            found.sort();
            assert_eq!(found, plain(&near), "{of:?}");
        }
    }
}
