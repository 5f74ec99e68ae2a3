//! Where paths start: nodes of the graph, or new points joined to it.
//!
//! Owns: the ragged list of seeds and its grouping into batches of nearby
//! sources. Place: input of every geodesic run. Cost: O(S log S) to group.

use crate::error::{Error, Result};
use crate::linalg::packed::LANES;
use crate::neighbors::Neighbors;

/// The sources of a run; each is a list of (node, distance to it).
#[derive(Debug, Clone, PartialEq)]
pub struct Sources {
    offsets: Vec<usize>,
    nodes: Vec<u32>,
    distances: Vec<f64>,
}

/// One start of one lane, in the plan's positions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed {
    pub lane: usize,
    pub position: u32,
    pub distance: f64,
}

impl Sources {
    /// Nodes of the graph themselves.
    pub fn nodes(nodes: &[u32]) -> Sources {
        Sources {
            offsets: (0..=nodes.len()).collect(),
            nodes: nodes.to_vec(),
            distances: vec![0.0; nodes.len()],
        }
    }

    /// New points, each by its neighbours among the nodes and their distances.
    ///
    /// A point without neighbours is infinitely far from every node.
    pub fn seeds(neighbors: &Neighbors) -> Sources {
        Sources {
            offsets: neighbors.offsets.clone(),
            nodes: neighbors.indices.clone(),
            distances: neighbors.distances.clone(),
        }
    }

    /// Number of sources.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Refuse seeds that a graph of `n` nodes cannot start from.
    pub(super) fn check(&self, n: usize) -> Result<()> {
        let sound = self.offsets.windows(2).all(|bounds| bounds[0] <= bounds[1])
            && self.offsets.last().is_none_or(|&end| end <= self.nodes.len())
            && self.nodes.len() == self.distances.len();
        if !sound {
            return Err(Error::input("the list of sources is malformed: offsets and entries disagree"));
        }
        for source in 0..self.len() {
            for (node, distance) in self.of(source) {
                if node as usize >= n {
                    return Err(Error::input(format!(
                        "source {source} starts at node {node}; the graph has {n} nodes"
                    )));
                }
                if !(distance.is_finite() && distance >= 0.0) {
                    return Err(Error::input(format!(
                        "source {source} is at distance {distance} from node {node}; \
                         it must be finite and not negative"
                    )));
                }
            }
        }
        Ok(())
    }

    pub(super) fn of(&self, source: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[source]..self.offsets[source + 1];
        self.nodes[range.clone()].iter().copied().zip(self.distances[range].iter().copied())
    }

    /// All sources sorted by the position of their first node, so that a run
    /// of [`LANES`] of them lies close together.
    pub(super) fn grouped(&self, position: &[u32]) -> Vec<u32> {
        let place = |&source: &u32| {
            self.of(source as usize).next().map_or(u32::MAX, |(node, _)| position[node as usize])
        };
        let mut ids: Vec<u32> = (0..self.len() as u32).collect();
        ids.sort_by_cached_key(place);
        ids
    }

    /// The seeds of one batch of at most [`LANES`] sources.
    pub(super) fn seeds_of(&self, batch: &[u32], position: &[u32], seeds: &mut Vec<Seed>) {
        debug_assert!(batch.len() <= LANES);
        seeds.clear();
        for (lane, &source) in batch.iter().enumerate() {
            seeds.extend(self.of(source as usize).map(|(node, distance)| Seed {
                lane,
                position: position[node as usize],
                distance,
            }));
        }
    }
}
