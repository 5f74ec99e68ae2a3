//! How far every node is from the nearest of a growing set of nodes.
//!
//! Owns: Dijkstra's algorithm cut short where an earlier centre is nearer. A
//! node that the new centre does not improve need not be passed on: whatever
//! lies behind it is at least as near to an earlier centre. Choosing
//! landmarks farthest first thus costs about log m searches of the whole graph
//! instead of m (as in Dyer, Zhang and Möller 2008 for meshes).

use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;
use crate::graph::geodesic::dijkstra::{NODES_PER_CHECK, PathGraph};
use crate::graph::geodesic::order;
use crate::graph::geodesic::queue::{Entry, Queue};
use crate::landmarks::Cover;

/// A graph and the distances of its nodes to the nearest centre so far.
pub struct GraphCover {
    graph: PathGraph,
    order: Vec<u32>,
    position: Vec<u32>,
    nearest: Vec<f64>,
    queue: Queue,
}

impl GraphCover {
    /// No centres yet. `order` lists the nodes so that near ones are near in it;
    /// without it one is made from the graph.
    pub fn new(graph: &Graph, order: Option<&[u32]>) -> Result<GraphCover> {
        let order = order.map_or_else(|| order::clumps(graph), <[u32]>::to_vec);
        let position = order::positions(&order, graph.len())?;
        Ok(GraphCover {
            graph: PathGraph::new(graph, &order, &position),
            order,
            position,
            nearest: vec![f64::INFINITY; graph.len()],
            queue: Queue::default(),
        })
    }
}

impl Cover for GraphCover {
    fn add(&mut self, centre: u32, ctx: &Ctx) -> Result<()> {
        let start = self.position[centre as usize];
        self.nearest[start as usize] = 0.0;
        self.queue.clear();
        self.queue.push(Entry { key: 0.0, node: start });
        let mut until_check = NODES_PER_CHECK;
        while let Some(Entry { key, node }) = self.queue.pop() {
            if key > self.nearest[node as usize] {
                continue;
            }
            until_check -= 1;
            if until_check == 0 {
                ctx.check()?;
                until_check = NODES_PER_CHECK;
            }
            for &(target, weight) in self.graph.row(node as usize) {
                let through = key + weight;
                let known = &mut self.nearest[target as usize];
                if through < *known {
                    *known = through;
                    self.queue.push(Entry { key: through, node: target });
                }
            }
        }
        Ok(())
    }

    fn nearest(&self) -> &[f64] {
        &self.nearest
    }

    fn row(&self, place: usize) -> u32 {
        self.order[place]
    }

    fn place(&self, row: u32) -> usize {
        self.position[row as usize] as usize
    }
}
