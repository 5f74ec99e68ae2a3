//! An order in which to eliminate the nodes of a graph, and what it costs.
//!
//! Owns: the fill-reducing order (approximate minimum degree, Amestoy, Davis
//! and Duff 1996, by faer), the elimination tree (Liu 1990) and the count of
//! edges after elimination, known before any of them is stored: the gate of
//! the shortest-path sweep and of the sparse Cholesky factor. Cost: near O(m)
//! for the tree, O(fill) steps without memory for the count.
//!
//! Steps are numbered 0..n in order of elimination. Eliminating a node joins
//! all its later neighbours with one another; `parent` of a step is the first
//! of its later neighbours.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use super::dissection::dissect;
use crate::context::Ctx;
use crate::error::{Error, Result};

/// Marks a step without a parent.
pub(crate) const ROOT: u32 = u32::MAX;

/// Which nodes are joined, as compressed rows; a node may name itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern<'a> {
    pub offsets: &'a [usize],
    pub targets: &'a [u32],
}

impl<'a> Pattern<'a> {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn row(&self, node: usize) -> &'a [u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }
}

/// Steps of counting between two looks at the cancel flag.
const STEPS_PER_CHECK: u64 = 1 << 20;

/// An elimination order in postorder of its tree.
#[derive(Debug)]
pub(crate) struct Elimination {
    /// Step → node.
    pub sequence: Vec<u32>,
    /// Node → step.
    pub step: Vec<u32>,
    /// Step → the step of its first later neighbour, [`ROOT`] if none.
    pub parent: Vec<u32>,
    /// Step → number of later neighbours, fill included.
    pub later: Vec<u32>,
    /// Sum of `later`: edges after elimination.
    pub fill: u64,
    /// Half the sum of squares of `later`: additions of the elimination.
    pub work: f64,
}

impl Elimination {
    /// The order of `graph`, or nothing when its fill exceeds `most_fill`.
    pub fn new(graph: Pattern<'_>, most_fill: u64, ctx: &Ctx) -> Result<Option<Elimination>> {
        ctx.stage("elimination order", 2 * graph.len());
        let sequence = minimum_degree(graph)?;
        ctx.advance(graph.len());
        ctx.check()?;
        Elimination::of(graph, sequence, most_fill, ctx)
    }

    /// The same for a graph whose nodes are numbered so that near ones are near:
    /// large ones are cut in halves first ([`super::dissection`]).
    pub fn dissected(graph: Pattern<'_>, most_fill: u64, ctx: &Ctx) -> Result<Option<Elimination>> {
        ctx.stage("elimination order", 2 * graph.len());
        let sequence = dissect(graph, ctx)?;
        Elimination::of(graph, sequence, most_fill, ctx)
    }

    fn of(graph: Pattern<'_>, sequence: Vec<u32>, most_fill: u64, ctx: &Ctx) -> Result<Option<Elimination>> {
        let step = inverse(&sequence);
        let parent = tree(graph, &sequence, &step);
        let sequence: Vec<u32> = postorder(&parent).into_iter().map(|step| sequence[step as usize]).collect();
        let step = inverse(&sequence);
        let parent = tree(graph, &sequence, &step);
        let Some(later) = count_later(graph, &sequence, &step, &parent, most_fill, ctx)? else {
            return Ok(None);
        };
        let fill = later.iter().map(|&count| u64::from(count)).sum();
        let work = later.iter().map(|&count| f64::from(count).powi(2) / 2.0).sum();
        Ok(Some(Elimination { sequence, step, parent, later, fill, work }))
    }

    /// Bytes the eliminated graph takes, with the largest moment of its making.
    pub fn bytes(&self) -> u64 {
        let widest = self.later.iter().copied().max().map_or(0, u64::from);
        (self.fill + 4 * widest * widest) * size_of::<f64>() as u64
    }
}

/// Approximate minimum degree: step → node.
pub(super) fn minimum_degree(graph: Pattern<'_>) -> Result<Vec<u32>> {
    if graph.len() == 0 {
        return Ok(Vec::new());
    }
    // Narrow numbers where they suffice: half the memory, and faster.
    if graph.targets.len() < i32::MAX as usize {
        let offsets: Vec<u32> = graph.offsets.iter().map(|&offset| offset as u32).collect();
        return order_by_degree(&offsets, graph.targets);
    }
    let targets: Vec<usize> = graph.targets.iter().map(|&target| target as usize).collect();
    order_by_degree(graph.offsets, &targets)
}

fn order_by_degree<I: faer::Index>(offsets: &[I], targets: &[I]) -> Result<Vec<u32>> {
    let n = offsets.len() - 1;
    let refuse = |why: &str| Error::NotConverged(format!("no elimination order of the graph: {why}"));
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, offsets, None, targets);
    let (mut forward, mut backward) = (vec![I::truncate(0); n], vec![I::truncate(0); n]);
    let scratch = amd::order_scratch::<I>(n, targets.len());
    let mut memory = MemBuffer::try_new(scratch).map_err(|_| refuse("out of memory"))?;
    let stack = MemStack::new(&mut memory);
    amd::order(&mut forward, &mut backward, pattern, amd::Control::default(), stack)
        .map_err(|failure| refuse(&format!("{failure:?}")))?;
    Ok(forward.into_iter().map(|node| node.zx() as u32).collect())
}

/// Where each entry of a permutation stands.
fn inverse(sequence: &[u32]) -> Vec<u32> {
    let mut place = vec![0; sequence.len()];
    for (step, &node) in sequence.iter().enumerate() {
        place[node as usize] = step as u32;
    }
    place
}

/// The elimination tree: parent of each step.
fn tree(graph: Pattern<'_>, sequence: &[u32], step: &[u32]) -> Vec<u32> {
    let mut parent = vec![ROOT; sequence.len()];
    // A shortcut past steps already climbed.
    let mut ancestor = vec![ROOT; sequence.len()];
    for (now, &node) in sequence.iter().enumerate() {
        for &target in graph.row(node as usize) {
            let mut climber = step[target as usize] as usize;
            while climber < now {
                let next = ancestor[climber];
                ancestor[climber] = now as u32;
                if next == ROOT {
                    parent[climber] = now as u32;
                    break;
                }
                climber = next as usize;
            }
        }
    }
    parent
}

/// Steps with every subtree in one run, children before parents.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let (mut first_child, mut next_sibling) = (vec![ROOT; n], vec![ROOT; n]);
    let mut roots = Vec::new();
    for step in (0..n).rev() {
        match parent[step] {
            ROOT => roots.push(step as u32),
            above => {
                next_sibling[step] = first_child[above as usize];
                first_child[above as usize] = step as u32;
            }
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut path: Vec<u32> = Vec::new();
    for &root in roots.iter().rev() {
        path.push(root);
        while let Some(&top) = path.last() {
            let child = first_child[top as usize];
            if child == ROOT {
                order.push(top);
                path.pop();
            } else {
                first_child[top as usize] = next_sibling[child as usize];
                path.push(child);
            }
        }
    }
    order
}

/// Number of later neighbours of each step after elimination; nothing once the
/// sum exceeds `most_fill`. Row by row: the earlier neighbours of a step are
/// the paths of the tree from its graph neighbours up to it.
fn count_later(
    graph: Pattern<'_>,
    sequence: &[u32],
    step: &[u32],
    parent: &[u32],
    most_fill: u64,
    ctx: &Ctx,
) -> Result<Option<Vec<u32>>> {
    let mut later = vec![0u32; sequence.len()];
    let mut reached_from = vec![ROOT; sequence.len()];
    let (mut fill, mut checked) = (0u64, 0u64);
    for (now, &node) in sequence.iter().enumerate() {
        for &target in graph.row(node as usize) {
            let mut climber = step[target as usize] as usize;
            while climber < now && reached_from[climber] != now as u32 {
                reached_from[climber] = now as u32;
                later[climber] += 1;
                fill += 1;
                climber = parent[climber] as usize;
            }
        }
        if fill > most_fill {
            return Ok(None);
        }
        ctx.advance(1);
        if fill - checked > STEPS_PER_CHECK {
            ctx.check()?;
            checked = fill;
        }
    }
    Ok(Some(later))
}
