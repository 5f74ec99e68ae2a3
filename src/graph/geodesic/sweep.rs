//! Shortest paths by two sweeps along an elimination order.
//!
//! Owns: the kernel for graphs of low dimension. Papers: customisable
//! contraction hierarchies (Dibbelt, Strasser and Wagner 2016) and PHAST
//! (Delling, Goldberg, Nowatzyk and Werneck 2013). Every shortest path can be
//! replaced by one of the same length in the eliminated graph that first climbs
//! (to nodes eliminated later) and then descends. So: climb from the sources to
//! the root, then one pass down over all nodes; no queue, no branches, 16
//! sources abreast. Cost: fill / n additions per (source, node).
//!
//! A lane's values depend on the order and the weights alone, never on the
//! other lanes. The pass down may stop early: positions before the stop never
//! look at those after it, which halves the work for all pairs. And for the distances to a
//! few nodes it passes through their ancestors alone, of which there are about √n in the plane.

use super::contraction::{Supernode, Supernodes};
use super::sources::Seed;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::packed::LANES;

/// Weights used between two looks at the cancel flag.
const WEIGHTS_PER_CHECK: usize = 1 << 16;

/// What the kernel reuses from one batch to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For each supernode how many of its nodes the climb passes.
    climbed: Vec<u32>,
    /// The supernodes with any, lowest last.
    path: Vec<u32>,
}

/// Distances of all seeded lanes to positions `0..lanes.len()`, which must
/// include the seeds; `lanes` come infinite.
pub(super) fn solve(
    graph: &Supernodes,
    seeds: &[Seed],
    lanes: &mut [[f64; LANES]],
    scratch: &mut Scratch,
    ctx: &Ctx,
) -> Result<()> {
    solve_to(graph, seeds, None, lanes, scratch, ctx)
}

/// The same for the positions of some supernodes only, which are `wanted` with all their
/// [`ancestors`]; what other lanes hold afterwards means nothing.
pub(super) fn solve_to(
    graph: &Supernodes,
    seeds: &[Seed],
    wanted: Option<&[u32]>,
    lanes: &mut [[f64; LANES]],
    scratch: &mut Scratch,
    ctx: &Ctx,
) -> Result<()> {
    for seed in seeds {
        let known = &mut lanes[seed.position as usize][seed.lane];
        *known = seed.distance.min(*known);
    }
    find_path(graph, seeds, scratch);
    let mut since_check = 0;
    for &index in &scratch.path {
        let node = graph.get(index as usize);
        let count = std::mem::take(&mut scratch.climbed[index as usize]) as usize;
        pulp::Arch::new().dispatch(Climb { node, count, lanes });
        since_check += node.weights.len();
        if since_check > WEIGHTS_PER_CHECK {
            // The marks must be blank for the next batch; a cancelled run has none.
            ctx.check()?;
            since_check = 0;
        }
    }
    pulp::Arch::new().dispatch(Descend { graph, wanted, lanes, ctx })
}

/// The supernodes of some positions and all that they look up to, ascending.
pub(super) fn ancestors(graph: &Supernodes, positions: impl Iterator<Item = usize>) -> Vec<u32> {
    let (mut met, mut found) = (vec![false; graph.len()], Vec::new());
    for mut position in positions {
        loop {
            let index = graph.of(position);
            if std::mem::replace(&mut met[index], true) {
                break;
            }
            found.push(index as u32);
            match graph.get(index).uppers.last() {
                Some(&upper) => position = upper as usize,
                None => break,
            }
        }
    }
    found.sort_unstable();
    found
}

impl Scratch {
    /// Make the lanes infinite that the last run to `wanted` has written.
    pub(super) fn blank(&self, graph: &Supernodes, wanted: &[u32], lanes: &mut [[f64; LANES]]) {
        for &index in self.path.iter().chain(wanted) {
            let node = graph.get(index as usize);
            lanes[node.begin..node.end].fill([f64::INFINITY; LANES]);
        }
    }
}

/// Mark the seeds and all their ancestors.
fn find_path(graph: &Supernodes, seeds: &[Seed], scratch: &mut Scratch) {
    let Scratch { climbed, path } = scratch;
    climbed.resize(graph.len(), 0);
    path.clear();
    for seed in seeds {
        let mut position = seed.position as usize;
        loop {
            let index = graph.of(position);
            let node = graph.get(index);
            let count = (position + 1 - node.begin) as u32;
            let marked = climbed[index];
            climbed[index] = marked.max(count);
            if marked > 0 {
                break;
            }
            path.push(index as u32);
            match node.uppers.last() {
                Some(&upper) => position = upper as usize,
                None => break,
            }
        }
    }
    path.sort_unstable_by(|a, b| b.cmp(a));
}

/// `to = min(to, from + weight)`, lane by lane.
#[inline(always)]
pub(super) fn lower<const WIDTH: usize>(to: &mut [f64; WIDTH], from: &[f64; WIDTH], weight: f64) {
    // Through a copy: a conditional store would become a slow masked one.
    let mut best = *to;
    for lane in 0..WIDTH {
        let way = from[lane] + weight;
        best[lane] = if way < best[lane] { way } else { best[lane] };
    }
    *to = best;
}

/// Pass the first `count` nodes of a supernode on to all they look up to.
struct Climb<'a> {
    node: Supernode<'a>,
    count: usize,
    lanes: &'a mut [[f64; LANES]],
}

impl pulp::WithSimd for Climb<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Climb { node, count, lanes } = self;
        let mut left = count;
        while left >= 2 {
            push_two(node, left - 2, lanes);
            left -= 2;
        }
        if left == 1 {
            push_one(node, 0, lanes);
        }
    }
}

#[inline(always)]
fn push_one(node: Supernode<'_>, place: usize, lanes: &mut [[f64; LANES]]) {
    let (above, here) = lanes.split_at_mut(node.begin + place);
    let (to_uppers, to_own) = node.weights_of(place);
    for (&upper, &weight) in node.uppers.iter().zip(to_uppers) {
        lower(&mut above[upper as usize], &here[0], weight);
    }
    for (to, &weight) in above[node.begin..].iter_mut().zip(to_own) {
        lower(to, &here[0], weight);
    }
}

/// Two neighbours of one supernode at once, the lower one through the upper too.
#[inline(always)]
fn push_two(node: Supernode<'_>, place: usize, lanes: &mut [[f64; LANES]]) {
    let (above, here) = lanes.split_at_mut(node.begin + place);
    let (first_uppers, first_own) = node.weights_of(place);
    let (second_uppers, second_own) = node.weights_of(place + 1);
    let second = here[1];
    if let Some(&between) = second_own.last() {
        lower(&mut here[0], &second, between);
    }
    let first = here[0];
    for ((&upper, &a), &b) in node.uppers.iter().zip(first_uppers).zip(second_uppers) {
        let to = &mut above[upper as usize];
        let mut best = *to;
        lower(&mut best, &first, a);
        lower(&mut best, &second, b);
        *to = best;
    }
    for ((to, &a), &b) in above[node.begin..].iter_mut().zip(first_own).zip(second_own) {
        let mut best = *to;
        lower(&mut best, &first, a);
        lower(&mut best, &second, b);
        *to = best;
    }
}

/// Pull every position's value down from those it looks up to.
struct Descend<'a> {
    graph: &'a Supernodes,
    /// These supernodes only, ascending.
    wanted: Option<&'a [u32]>,
    lanes: &'a mut [[f64; LANES]],
    ctx: &'a Ctx,
}

impl pulp::WithSimd for Descend<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Result<()> {
        let Descend { graph, wanted, lanes, ctx } = self;
        let mut since_check = 0;
        for at in 0..wanted.map_or(graph.len(), <[u32]>::len) {
            let node = graph.get(wanted.map_or(at, |wanted| wanted[at] as usize));
            let end = node.end.min(lanes.len());
            let mut position = node.begin;
            while position + 4 <= end {
                pull::<4, 8>(node, position, lanes);
                position += 4;
            }
            while position + 2 <= end {
                pull::<2, 16>(node, position, lanes);
                position += 2;
            }
            if position < end {
                pull::<1, 16>(node, position, lanes);
            }
            if node.end >= lanes.len() {
                break;
            }
            since_check += node.weights.len();
            if since_check > WEIGHTS_PER_CHECK {
                ctx.check()?;
                since_check = 0;
            }
        }
        Ok(())
    }
}

/// `COUNT` nodes of one supernode at once, `WIDTH` lanes at a time, as many as
/// the registers hold: what they all look up to is loaded once.
#[inline(always)]
fn pull<const COUNT: usize, const WIDTH: usize>(
    node: Supernode<'_>,
    position: usize,
    lanes: &mut [[f64; LANES]],
) {
    let (above, here) = lanes.split_at_mut(position);
    let (place, count) = (position - node.begin, node.uppers.len());
    let own = &above[node.begin..];
    let mut weights: [(&[f64], &[f64]); COUNT] = [(&[], &[]); COUNT];
    for member in 0..COUNT {
        weights[member] = node.weights_of(place + member);
    }
    let from_uppers = weights.map(|(from_uppers, _)| &from_uppers[..count]);
    let from_own = weights.map(|(_, from_own)| &from_own[..place]);
    for part in 0..LANES / WIDTH {
        let mut best = [[0.0; WIDTH]; COUNT];
        for member in 0..COUNT {
            best[member] = *part_of(&here[member], part);
        }
        for (rank, &upper) in node.uppers[..count].iter().enumerate() {
            let from = part_of(&above[upper as usize], part);
            for member in 0..COUNT {
                lower(&mut best[member], from, from_uppers[member][rank]);
            }
        }
        for (rank, from) in own[..place].iter().enumerate() {
            let from = part_of(from, part);
            for member in 0..COUNT {
                lower(&mut best[member], from, from_own[member][rank]);
            }
        }
        for member in 1..COUNT {
            for (earlier, &weight) in weights[member].1[place..].iter().enumerate() {
                let from = best[earlier];
                lower(&mut best[member], &from, weight);
            }
        }
        for member in 0..COUNT {
            here[member].as_chunks_mut::<WIDTH>().0[part] = best[member];
        }
    }
}

#[inline(always)]
fn part_of<const WIDTH: usize>(lanes: &[f64; LANES], part: usize) -> &[f64; WIDTH] {
    &lanes.as_chunks::<WIDTH>().0[part]
}
