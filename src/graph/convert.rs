//! Graphs as data, also those of `petgraph`: nodes become rows, edge weights lengths.
//!
//! Place: before the first stage, for callers whose neighbourhoods are a graph
//! already. Cost: O(n + m), and a sort of each row.

use petgraph::Undirected;
use petgraph::graph::{Graph as PetGraph, IndexType};
use petgraph::visit::EdgeRef;

use super::Graph;
use crate::input::{Csr, Input, OwnedData};

impl From<&Graph> for OwnedData {
    /// A neighbourhood graph whose weights are distances.
    fn from(graph: &Graph) -> OwnedData {
        OwnedData::Graph(Csr {
            cols: graph.len(),
            offsets: graph.offsets().to_vec(),
            indices: graph.targets().to_vec(),
            values: graph.weights().to_vec(),
        })
    }
}

impl From<&Graph> for Input<'_> {
    fn from(graph: &Graph) -> Self {
        OwnedData::from(graph).into()
    }
}

impl<N, Ix: IndexType> From<&PetGraph<N, f64, Undirected, Ix>> for OwnedData {
    /// A neighbourhood graph: row i is the node of index i. Of several edges between
    /// two nodes the shortest counts, an edge of a node to itself does not. Lengths are
    /// checked when a method is fitted.
    ///
    /// ```
    /// use planish::choices::MetricName;
    /// use planish::petgraph::graph::UnGraph;
    /// use planish::{Ctx, methods::Isomap};
    ///
    /// // A path of six nodes.
    /// let path = UnGraph::<(), f64>::from_edges((0..5).map(|i| (i, i + 1, 1.0)));
    /// let isomap = Isomap::default().metric(MetricName::Precomputed).n_neighbors(2).n_components(1);
    /// let line = isomap.fit_transform(&path, &Ctx::new(1, 0))?;
    /// assert!(((line[[0, 0]] - line[[5, 0]]).abs() - 5.0).abs() < 1e-9);
    /// # Ok::<(), planish::Error>(())
    /// ```
    fn from(graph: &PetGraph<N, f64, Undirected, Ix>) -> OwnedData {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); graph.node_count()];
        for edge in graph.edge_references() {
            let (from, to) = (edge.source().index(), edge.target().index());
            if from != to {
                rows[from].push((to as u32, *edge.weight()));
                rows[to].push((from as u32, *edge.weight()));
            }
        }
        let mut lengths = Csr { cols: rows.len(), offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        for mut row in rows {
            row.sort_by(|left, right| left.0.cmp(&right.0).then(left.1.total_cmp(&right.1)));
            row.dedup_by_key(|(to, _)| *to);
            lengths.indices.extend(row.iter().map(|(to, _)| to));
            lengths.values.extend(row.iter().map(|(_, length)| length));
            lengths.offsets.push(lengths.indices.len());
        }
        OwnedData::Graph(lengths)
    }
}

impl<N, Ix: IndexType> From<&PetGraph<N, f64, Undirected, Ix>> for Input<'_> {
    fn from(graph: &PetGraph<N, f64, Undirected, Ix>) -> Self {
        OwnedData::from(graph).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::graph::UnGraph;

    #[test]
    fn parallel_edges_leave_the_shortest_and_loops_nothing() {
        let graph = UnGraph::<(), f64>::from_edges([(2, 0, 3.0), (0, 2, 1.5), (1, 1, 9.0), (0, 1, 2.0)]);
        let OwnedData::Graph(lengths) = OwnedData::from(&graph) else { panic!("a graph") };
        assert_eq!(lengths.offsets, [0, 2, 3, 4]);
        assert_eq!(lengths.indices, [1, 2, 0, 0]);
        assert_eq!(lengths.values, [2.0, 1.5, 2.0, 1.5]);
    }
}
