//! Searching the kd-tree: a batch of queries walks it together.
//!
//! Place in the dataflow: between the tree and the collectors of `collect`. The
//! rows of one leaf are near each other and want nearly the same leaves, so
//! they share one traversal; a single new row is a batch of one. Nearest boxes
//! first; a box is left out when no query of the batch could keep a point of
//! it, by distance or, at equal distance, by index. Equal points therefore cost
//! O(log n) per query, not O(n).
//!
//! Cost: O(log n + k) leaves per batch for low-dimensional data, up to all of
//! them as the dimension grows (see `engine`).

use pulp::{Arch, NullaryFnOnce};

use super::collect::Keep;
use super::kdtree::{LEAF, Tree};
use super::measure::{Entry, LANES, Measure};

/// Which points and boxes a batch may meet.
pub(super) trait Guide {
    /// Whether the node holds nothing for this batch.
    fn skip(&self, node: usize) -> bool;
    /// Whether query `slot` may keep `row`.
    fn allows(&self, slot: usize, row: u32) -> bool;
}

/// All rows are welcome.
pub(super) struct Everyone;

impl Guide for Everyone {
    #[inline(always)]
    fn skip(&self, _: usize) -> bool {
        false
    }
    #[inline(always)]
    fn allows(&self, _: usize, _: u32) -> bool {
        true
    }
}

/// All rows but the query itself, recognised by its index.
pub(super) struct Others<'a>(pub &'a [u32]);

impl Guide for Others<'_> {
    #[inline(always)]
    fn skip(&self, _: usize) -> bool {
        false
    }
    #[inline(always)]
    fn allows(&self, slot: usize, row: u32) -> bool {
        self.0[slot] != row
    }
}

/// Queries that walk together: coordinates dimension by dimension with stride
/// [`LEAF`], and the box around them.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub coords: &'a [f64],
    pub low: &'a [f64],
    pub high: &'a [f64],
    /// The leaf they are, if they are one.
    pub leaf: Option<usize>,
}

/// Memory of a walk that the next one reuses, and its count of evaluations.
#[derive(Default)]
pub(super) struct Walker {
    stack: Vec<(f64, usize)>,
    query: Vec<f64>,
    /// Distances evaluated so far.
    pub evaluations: u64,
}

/// What no query of a batch can exceed.
struct Bound {
    limit: f64,
    worst: Entry,
}

impl Bound {
    #[inline(always)]
    fn of<M: Measure, K: Keep<M>>(kept: &[K]) -> Bound {
        let mut bound =
            Bound { limit: f64::NEG_INFINITY, worst: Entry { reduced: f64::NEG_INFINITY, index: 0 } };
        for query in kept {
            bound.limit = bound.limit.max(query.limit());
            bound.worst.reduced = bound.worst.reduced.max(query.worst().reduced);
            bound.worst.index = bound.worst.index.max(query.worst().index);
        }
        bound
    }

    #[inline(always)]
    fn of_one<M: Measure, K: Keep<M>>(query: &K) -> Bound {
        Bound { limit: query.limit(), worst: query.worst() }
    }

    /// Whether a box that begins at `near` and whose smallest row is `least`
    /// may hold something wanted.
    #[inline(always)]
    fn admits<M: Measure>(&self, near: f64, least: u32) -> bool {
        let beaten = near >= self.worst.reduced * (1.0 + M::SLIP) && least > self.worst.index;
        !(near > self.limit || beaten)
    }
}

/// A walk to be run by the widest instructions there are. A type and not a
/// closure: pulp calls closures through a shim that is compiled without them.
struct Walk<'a, const D: usize, M, K, G> {
    tree: &'a Tree,
    measure: M,
    batch: Batch<'a>,
    guide: &'a G,
    kept: &'a mut [K],
    walker: &'a mut Walker,
}

impl<const D: usize, M: Measure, K: Keep<M>, G: Guide> NullaryFnOnce for Walk<'_, D, M, K, G> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        wander::<D, M, K, G>(self.tree, self.measure, self.batch, self.guide, self.kept, self.walker);
    }
}

/// Offer to every query of the batch (one of `kept` each) what it may want.
///
/// `D` is the number of coordinates, or 0 when only the tree knows it.
pub(super) fn walk<const D: usize, M: Measure, K: Keep<M>, G: Guide>(
    tree: &Tree,
    measure: M,
    batch: Batch,
    guide: &G,
    kept: &mut [K],
    walker: &mut Walker,
) {
    Arch::new().dispatch(Walk::<D, M, K, G> { tree, measure, batch, guide, kept, walker });
}

#[inline(always)]
fn wander<const D: usize, M: Measure, K: Keep<M>, G: Guide>(
    tree: &Tree,
    measure: M,
    batch: Batch,
    guide: &G,
    kept: &mut [K],
    walker: &mut Walker,
) {
    walker.stack.clear();
    if let Some(leaf) = batch.leaf {
        let mut node = tree.first_leaf + leaf;
        if !guide.skip(node) {
            meet::<D, M, K, G>(tree, measure, leaf, batch, guide, kept, walker);
        }
        while node > 0 {
            let sibling = if node % 2 == 1 { node + 1 } else { node - 1 };
            walker.stack.push((box_gap::<D, M>(tree, measure, batch, sibling), sibling));
            node = (node - 1) / 2;
        }
        // The nearest relatives were pushed first and shall come first.
        walker.stack.reverse();
    } else {
        walker.stack.push((0.0, 0));
    }
    let mut bound = Bound::of::<M, K>(kept);
    while let Some((near, node)) = walker.stack.pop() {
        if !bound.admits::<M>(near, tree.least[node]) || guide.skip(node) {
            continue;
        }
        if node >= tree.first_leaf {
            meet::<D, M, K, G>(tree, measure, node - tree.first_leaf, batch, guide, kept, walker);
            bound = Bound::of::<M, K>(kept);
            continue;
        }
        let left = (box_gap::<D, M>(tree, measure, batch, 2 * node + 1), 2 * node + 1);
        let right = (box_gap::<D, M>(tree, measure, batch, 2 * node + 2), 2 * node + 2);
        let left_first = left.0 < right.0 || (left.0 == right.0 && tree.least[left.1] < tree.least[right.1]);
        let (first, second) = if left_first { (left, right) } else { (right, left) };
        walker.stack.push(second);
        walker.stack.push(first);
    }
}

/// All queries of the batch meet all rows of a leaf.
#[inline(always)]
fn meet<const D: usize, M: Measure, K: Keep<M>, G: Guide>(
    tree: &Tree,
    measure: M,
    leaf: usize,
    batch: Batch,
    guide: &G,
    kept: &mut [K],
    walker: &mut Walker,
) {
    let dims = if D == 0 { tree.dims } else { D };
    let members = tree.members(leaf);
    let coords = &tree.leaf_coords(leaf)[..dims * LEAF];
    let queries = &batch.coords[..dims * LEAF];
    let node = tree.first_leaf + leaf;
    let (low, high) = tree.corners(node);
    let (low, high) = (&low[..dims], &high[..dims]);
    let near = lanes::<D, M>(
        measure,
        queries,
        #[inline(always)]
        |d, value| outside(value, low[d], high[d]),
    );
    for (slot, query) in kept.iter_mut().enumerate() {
        if !Bound::of_one::<M, K>(query).admits::<M>(near[slot], tree.least[node]) {
            continue;
        }
        walker.evaluations += members.len() as u64;
        let mut fixed = [0.0; D];
        let at: &[f64] = if D == 0 {
            walker.query.clear();
            walker.query.extend((0..dims).map(|d| queries[d * LEAF + slot]));
            &walker.query
        } else {
            for d in 0..D {
                fixed[d] = queries[d * LEAF + slot];
            }
            &fixed
        };
        let at = &at[..dims];
        let far = lanes::<D, M>(
            measure,
            coords,
            #[inline(always)]
            |d, value| value - at[d],
        );
        let limit = query.limit();
        let mut flags = [0u8; LEAF];
        for other in 0..LEAF {
            flags[other] = u8::from(!(far[other] > limit));
        }
        // One byte per row, so that the comparison above stays in vectors.
        let absent = u32::try_from(8 * (LEAF - members.len())).unwrap_or(0);
        let mut hits = u128::from_le_bytes(flags) & (u128::MAX >> absent);
        while hits != 0 {
            let other = hits.trailing_zeros() as usize / 8;
            hits &= hits - 1;
            if guide.allows(slot, members[other]) {
                query.offer(Entry { reduced: far[other], index: members[other] });
            }
        }
    }
}

/// The canonical sums of [`LEAF`] rows side by side, from the differences that
/// `difference` makes of dimension and coordinate.
#[inline(always)]
fn lanes<const D: usize, M: Measure>(
    measure: M,
    coords: &[f64],
    difference: impl Fn(usize, f64) -> f64,
) -> [f64; LEAF] {
    let (columns, _) = coords.as_chunks::<LEAF>();
    let dims = if D == 0 { columns.len() } else { D };
    let columns = &columns[..dims];
    let mut sums = [0.0; LEAF];
    if dims <= LANES {
        for d in 0..dims {
            for slot in 0..LEAF {
                sums[slot] = measure.add(sums[slot], difference(d, columns[d][slot]));
            }
        }
        return sums;
    }
    for lane in 0..LANES {
        let mut partial = [0.0; LEAF];
        let mut d = lane;
        while d < dims {
            for slot in 0..LEAF {
                partial[slot] = measure.add(partial[slot], difference(d, columns[d][slot]));
            }
            d += LANES;
        }
        for slot in 0..LEAF {
            sums[slot] = measure.join(sums[slot], partial[slot]);
        }
    }
    sums
}

/// How far a coordinate lies outside an interval.
#[inline(always)]
fn outside(value: f64, low: f64, high: f64) -> f64 {
    let (under, over) = (low - value, value - high);
    let gap = if under > over { under } else { over };
    if gap > 0.0 { gap } else { 0.0 }
}

/// Least reduced distance between the batch and a node, by their boxes.
#[inline(always)]
fn box_gap<const D: usize, M: Measure>(tree: &Tree, measure: M, batch: Batch, node: usize) -> f64 {
    let dims = if D == 0 { tree.dims } else { D };
    let (low, high) = tree.corners(node);
    let (low, high, from, to) = (&low[..dims], &high[..dims], &batch.low[..dims], &batch.high[..dims]);
    let gap = |d: usize| {
        let (under, over) = (low[d] - to[d], from[d] - high[d]);
        let gap = if under > over { under } else { over };
        if gap > 0.0 { gap } else { 0.0 }
    };
    let mut sum = 0.0;
    if dims <= LANES {
        for d in 0..if D == 0 { dims } else { D } {
            sum = measure.add(sum, gap(d));
        }
        return sum;
    }
    let mut sums = [0.0; LANES];
    for d in 0..dims {
        sums[d % LANES] = measure.add(sums[d % LANES], gap(d));
    }
    super::measure::join_lanes(measure, &sums)
}
