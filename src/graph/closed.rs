//! Groups of rows that the neighbour lists never lead out of.
//!
//! Neighbours are not mutual: a group can be everybody's neighbour and have all of
//! its own neighbours inside. The weights of LLE tie a row to its neighbours only,
//! so every such group may lie anywhere by itself. They are the strongly connected
//! components without an edge to another (Tarjan, SIAM J. Comput. 1972).
//! Cost: n·k.

use crate::neighbors::Neighbors;

/// Marks a row that was not reached, or has no component yet.
const NONE: u32 = u32::MAX;

/// The rows of each closed group, ascending; a connected graph has at least one.
pub fn closed_groups(near: &Neighbors) -> Vec<Vec<u32>> {
    let rows = near.offsets.len() - 1;
    let mut search = Search {
        near,
        number: vec![NONE; rows],
        lowest: vec![NONE; rows],
        component: vec![NONE; rows],
        reached: 0,
        components: 0,
        open: Vec::new(),
        path: Vec::new(),
    };
    let mut closed = Vec::new();
    for row in 0..rows {
        if search.number[row] == NONE {
            search.explore(row, &mut closed);
        }
    }
    closed
}

struct Search<'a> {
    near: &'a Neighbors,
    /// When each row was reached.
    number: Vec<u32>,
    /// The earliest open row that can be reached from it, as far as is known.
    lowest: Vec<u32>,
    component: Vec<u32>,
    reached: u32,
    components: u32,
    /// Rows that were reached and have no component yet.
    open: Vec<u32>,
    /// The way to the row that is looked at: rows, and which entry comes next.
    path: Vec<(usize, usize)>,
}

impl Search<'_> {
    fn explore(&mut self, start: usize, closed: &mut Vec<Vec<u32>>) {
        self.reach(start);
        while let Some((row, at)) = self.path.last_mut() {
            let row = *row;
            if *at < self.near.offsets[row + 1] {
                let next = self.near.indices[*at] as usize;
                *at += 1;
                if self.number[next] == NONE {
                    self.reach(next);
                } else if self.component[next] == NONE {
                    self.lowest[row] = self.lowest[row].min(self.number[next]);
                }
                continue;
            }
            self.path.pop();
            if let Some(&(before, _)) = self.path.last() {
                self.lowest[before] = self.lowest[before].min(self.lowest[row]);
            }
            if self.lowest[row] == self.number[row] {
                closed.extend(self.close(row));
            }
        }
    }

    fn reach(&mut self, row: usize) {
        self.number[row] = self.reached;
        self.lowest[row] = self.reached;
        self.reached += 1;
        self.open.push(row as u32);
        self.path.push((row, self.near.offsets[row]));
    }

    /// The component that began with `first`, if no edge leaves it.
    fn close(&mut self, first: usize) -> Option<Vec<u32>> {
        // proof: a row stays open until its component is closed.
        let from = self.open.iter().rposition(|&row| row as usize == first).expect("open");
        let mut members = self.open.split_off(from);
        members.iter().for_each(|&row| self.component[row as usize] = self.components);
        self.components += 1;
        let leads_out = |row: u32| {
            let list = self.near.offsets[row as usize]..self.near.offsets[row as usize + 1];
            let own = self.component[first];
            self.near.indices[list].iter().any(|&other| self.component[other as usize] != own)
        };
        if members.iter().any(|&row| leads_out(row)) {
            return None;
        }
        members.sort_unstable();
        Some(members)
    }
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
