//! Shortest paths through one part of a graph, continued from what is known already.
//!
//! Owns: the local step of paths over a graph in parts. Every part improves its own
//! distances from seeds (a source inside it, or what neighbouring parts found for the
//! nodes on the border) and keeps all that is not improved; parts take turns until
//! nothing changes. Place: beside the kernels of whole graphs. Cost: O(m log n) per
//! source at most, and nothing where no seed improves anything.
//!
//! A length is the smallest sum, over all paths, of weights added from the source
//! onwards, and rounded addition is monotone: what the parts end with has the bits of
//! Dijkstra's algorithm on the whole graph.

use ndarray::{ArrayViewMut1, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::dijkstra::NODES_PER_CHECK;
use super::queue::{Entry, Queue};
use super::sources::Sources;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;

/// Shorten `distances`, one row for each source and infinite where nothing is known yet,
/// by all paths that begin at a seed of that source.
pub fn relax(graph: &Graph, seeds: &Sources, mut distances: ArrayViewMut2<'_, f64>, ctx: &Ctx) -> Result<()> {
    if distances.dim() != (seeds.len(), graph.len()) {
        let ((rows, columns), (sources, nodes)) = (distances.dim(), (seeds.len(), graph.len()));
        return Err(Error::input(format!(
            "{rows} × {columns} distances given, but there are {sources} sources and {nodes} nodes"
        )));
    }
    seeds.check(graph.len())?;
    ctx.stage("shortest paths", seeds.len());
    let rows: Vec<_> = distances.axis_iter_mut(Axis(0)).enumerate().collect();
    ctx.install(|| {
        rows.into_par_iter().try_for_each_init(Queue::default, |queue, (source, known)| {
            shorten(graph, seeds.of(source), known, queue, ctx)?;
            ctx.advance(1);
            Ok(())
        })
    })
}

fn shorten(
    graph: &Graph,
    seeds: impl Iterator<Item = (u32, f64)>,
    mut known: ArrayViewMut1<'_, f64>,
    queue: &mut Queue,
    ctx: &Ctx,
) -> Result<()> {
    queue.clear();
    for (node, distance) in seeds {
        if distance < known[node as usize] {
            known[node as usize] = distance;
            queue.push(Entry { key: distance, node });
        }
    }
    let mut until_check = NODES_PER_CHECK;
    while let Some(Entry { key, node }) = queue.pop() {
        if key > known[node as usize] {
            continue;
        }
        until_check -= 1;
        if until_check == 0 {
            ctx.check()?;
            until_check = NODES_PER_CHECK;
        }
        let (targets, weights) = graph.row(node as usize);
        for (&target, &weight) in targets.iter().zip(weights) {
            let through = key + weight;
            if through < known[target as usize] {
                known[target as usize] = through;
                queue.push(Entry { key: through, node: target });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::super::{PathMethod, Plan, rows};
    use super::*;

    /// A ring of `n` nodes with chords, all lengths different.
    fn ring(n: usize) -> Graph {
        let (mut offsets, mut targets, mut weights) = (vec![0], vec![], vec![]);
        for node in 0..n {
            for step in [1, 7] {
                targets.push(((node + step) % n) as u32);
                weights.push(0.3 + ((node * 37 + step) % 11) as f64 * 0.1);
            }
            offsets.push(targets.len());
        }
        Graph::from_csr(n, &offsets, &targets, &weights, &Ctx::new(1, 0)).unwrap()
    }

    #[test]
    fn from_the_sources_alone_it_is_dijkstra() {
        let (graph, ctx) = (ring(60), Ctx::new(2, 0));
        let sources = Sources::nodes(&[3, 40, 41]);
        let plan = Plan::new(&graph, PathMethod::Heap, 3, None, &ctx).unwrap();
        let mut found = Array2::from_elem((3, 60), f64::INFINITY);
        relax(&graph, &sources, found.view_mut(), &ctx).unwrap();
        assert_eq!(found, rows(&plan, &sources, &ctx).unwrap());
        // Nothing is improved by what is known.
        let before = found.clone();
        relax(&graph, &sources, found.view_mut(), &ctx).unwrap();
        assert_eq!(found, before);
    }

    #[test]
    fn two_parts_that_take_turns_end_with_the_bits_of_the_whole() {
        let (graph, ctx) = (ring(60), Ctx::new(1, 0));
        let source = Sources::nodes(&[3]);
        let plan = Plan::new(&graph, PathMethod::Heap, 1, None, &ctx).unwrap();
        let whole = rows(&plan, &source, &ctx).unwrap();
        // Each part has the edges of its own nodes; the other ends are the border.
        let part = |mine: fn(usize) -> bool| graph.only(&ctx, |i, j, _| mine(i) || mine(j)).unwrap();
        let parts = [part(|node| node % 3 == 0), part(|node| node % 3 != 0)];
        let mut found =
            [Array2::from_elem((1, 60), f64::INFINITY), Array2::from_elem((1, 60), f64::INFINITY)];
        relax(&parts[0], &source, found[0].view_mut(), &ctx).unwrap();
        for turn in 0..200 {
            let (one, other) = (turn % 2, 1 - turn % 2);
            let reached: Vec<(u32, f64)> = (0..60u32)
                .map(|node| (node, found[one][[0, node as usize]]))
                .filter(|(_, distance)| distance.is_finite())
                .collect();
            let (indices, distances) = reached.into_iter().unzip();
            let seeds =
                crate::neighbors::Neighbors { offsets: vec![0, Vec::len(&indices)], indices, distances };
            relax(&parts[other], &Sources::seeds(&seeds), found[other].view_mut(), &ctx).unwrap();
        }
        assert_eq!(found[0], whole);
        assert_eq!(found[1], whole);
    }

    #[test]
    fn room_of_another_shape_is_refused() {
        let mut room = Array2::zeros((2, 60));
        let refused = relax(&ring(60), &Sources::nodes(&[0]), room.view_mut(), &Ctx::new(1, 0));
        assert!(refused.unwrap_err().to_string().contains("2 × 60 distances given"));
    }
}
