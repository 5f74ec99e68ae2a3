//! A balanced kd-tree, built once for all rows.
//!
//! Place in the dataflow: the index of low-dimensional points; `walk` searches
//! it. Bentley, "Multidimensional binary search trees" (1975), in bulk form:
//! every node is halved at the median of its widest coordinate. Halving goes by
//! rank with ties by index, so equal points neither stop nor unbalance it. All
//! leaves lie on one level and the nodes need no pointers: the children of node
//! `i` are `2i + 1` and `2i + 2`.
//!
//! Cost: O(n D log n) time, n (8 D + 4) bytes plus 16 D bytes per node.

use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;

/// Most rows a leaf holds, and the stride of its coordinates.
pub(super) const LEAF: usize = 16;

/// Below this many rows a subtree is built by one thread.
const FORK: usize = 4096;

/// The tree: an order of the rows, and boxes around consecutive runs of it.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub dims: usize,
    /// Number of the first leaf node; also one less than the number of leaves.
    pub first_leaf: usize,
    /// Leaf `l` holds `order[starts[l]..starts[l + 1]]`.
    pub starts: Vec<u32>,
    /// Rows in leaf order.
    pub order: Vec<u32>,
    /// Lower then upper corner of each node's box.
    boxes: Vec<f64>,
    /// Smallest row of each node.
    pub least: Vec<u32>,
    /// Leaves, each as `dims` runs of [`LEAF`] coordinates; short leaves repeat
    /// their last row.
    coords: Vec<f64>,
}

impl Tree {
    /// Build over `rows` (row-major, `dims` coordinates each, at least one row).
    pub fn build(rows: &[f64], dims: usize, ctx: &Ctx) -> Result<Tree> {
        let order = partition(rows, dims, Some(ctx))?;
        Ok(Tree::from_order(rows, dims, order))
    }

    /// Lay the tree out over a known leaf order.
    pub fn from_order(rows: &[f64], dims: usize, order: Vec<u32>) -> Tree {
        let leaves = leaf_count(order.len());
        let mut starts = vec![0, order.len() as u32];
        while starts.len() <= leaves {
            let halves = starts.windows(2).flat_map(|pair| [pair[0], pair[0] + (pair[1] - pair[0]) / 2]);
            starts = halves.chain([order.len() as u32]).collect();
        }
        let mut tree = Tree {
            dims,
            first_leaf: leaves - 1,
            starts,
            order,
            boxes: vec![0.0; (2 * leaves - 1) * 2 * dims],
            least: vec![0; 2 * leaves - 1],
            coords: vec![0.0; leaves * dims * LEAF],
        };
        tree.fill_leaves(rows);
        tree.fill_boxes();
        tree
    }

    fn fill_leaves(&mut self, rows: &[f64]) {
        let (dims, starts, order) = (self.dims, &self.starts, &self.order);
        let leaf_boxes = &mut self.boxes[self.first_leaf * 2 * dims..];
        let leaf_least = &mut self.least[self.first_leaf..];
        let size = (dims * LEAF).max(1);
        let leaves = self.coords.par_chunks_mut(size).zip(leaf_boxes.par_chunks_mut(2 * dims));
        leaves.zip(leaf_least).enumerate().with_min_len(64).for_each(|(leaf, ((coords, corners), least))| {
            let members = &order[starts[leaf] as usize..starts[leaf + 1] as usize];
            *least = members.iter().copied().min().unwrap_or(u32::MAX);
            let (low, high) = corners.split_at_mut(dims);
            low.fill(f64::INFINITY);
            high.fill(f64::NEG_INFINITY);
            for slot in 0..LEAF {
                let row = members[slot.min(members.len() - 1)] as usize;
                for (d, &value) in rows[row * dims..(row + 1) * dims].iter().enumerate() {
                    coords[d * LEAF + slot] = value;
                    low[d] = low[d].min(value);
                    high[d] = high[d].max(value);
                }
            }
        });
    }

    fn fill_boxes(&mut self) {
        let dims = self.dims;
        for node in (0..self.first_leaf).rev() {
            self.least[node] = self.least[2 * node + 1].min(self.least[2 * node + 2]);
            let (head, tail) = self.boxes.split_at_mut((2 * node + 1) * 2 * dims);
            let corners = &mut head[node * 2 * dims..(node + 1) * 2 * dims];
            let (left, right) = tail[..4 * dims].split_at(2 * dims);
            for d in 0..dims {
                corners[d] = left[d].min(right[d]);
                corners[dims + d] = left[dims + d].max(right[dims + d]);
            }
        }
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.first_leaf + 1
    }

    /// Rows of a leaf.
    #[inline(always)]
    pub fn members(&self, leaf: usize) -> &[u32] {
        &self.order[self.starts[leaf] as usize..self.starts[leaf + 1] as usize]
    }

    /// Coordinates of a leaf, dimension by dimension.
    #[inline(always)]
    pub fn leaf_coords(&self, leaf: usize) -> &[f64] {
        let size = self.dims * LEAF;
        &self.coords[leaf * size..(leaf + 1) * size]
    }

    /// Lower and upper corner of a node.
    #[inline(always)]
    pub fn corners(&self, node: usize) -> (&[f64], &[f64]) {
        let dims = self.dims;
        self.boxes[node * 2 * dims..(node + 1) * 2 * dims].split_at(dims)
    }
}

/// A power of two of leaves, each of at least 1 and at most [`LEAF`] rows.
fn leaf_count(rows: usize) -> usize {
    rows.div_ceil(LEAF).next_power_of_two().max(1)
}

/// The leaf order: rows that are near each other in it are near in space.
/// Without a context it is made by the calling thread alone and cannot fail.
pub(super) fn partition(rows: &[f64], dims: usize, ctx: Option<&Ctx>) -> Result<Vec<u32>> {
    let n = rows.len() / dims.max(1);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut keys = vec![(0.0, 0); n];
    halve(rows, dims, leaf_count(n), &mut order, &mut keys, ctx)?;
    Ok(order)
}

/// Order one node's rows so that its two halves are the nodes below it.
fn halve(
    rows: &[f64],
    dims: usize,
    leaves: usize,
    order: &mut [u32],
    keys: &mut [(f64, u32)],
    ctx: Option<&Ctx>,
) -> Result<()> {
    if leaves == 1 {
        return Ok(());
    }
    let fork = ctx.filter(|_| order.len() >= FORK);
    fork.map_or(Ok(()), Ctx::check)?;
    let middle = order.len() / 2;
    if let Some(widest) = widest_dimension(rows, dims, order) {
        for (key, &row) in keys.iter_mut().zip(order.iter()) {
            *key = (rows[row as usize * dims + widest], row);
        }
        keys.select_nth_unstable_by(middle, |left, right| {
            left.0.total_cmp(&right.0).then(left.1.cmp(&right.1))
        });
        for (row, key) in order.iter_mut().zip(keys.iter()) {
            *row = key.1;
        }
    } else {
        // All rows equal: by index, so that ties by index find their node fast.
        order.select_nth_unstable(middle);
    }
    let (left, right) = order.split_at_mut(middle);
    let (left_keys, right_keys) = keys.split_at_mut(middle);
    let mut lower = || halve(rows, dims, leaves / 2, left, left_keys, ctx);
    let mut upper = || halve(rows, dims, leaves / 2, right, right_keys, ctx);
    if fork.is_some() {
        let (first, second) = rayon::join(lower, upper);
        first.and(second)
    } else {
        lower().and_then(|()| upper())
    }
}

/// The coordinate of largest extent; `None` when every extent is zero.
fn widest_dimension(rows: &[f64], dims: usize, order: &[u32]) -> Option<usize> {
    let first = order[0] as usize * dims;
    let mut low = rows[first..first + dims].to_vec();
    let mut high = low.clone();
    for &row in &order[1..] {
        let row = &rows[row as usize * dims..][..dims];
        for d in 0..dims {
            low[d] = if row[d] < low[d] { row[d] } else { low[d] };
            high[d] = if row[d] > high[d] { row[d] } else { high[d] };
        }
    }
    let mut widest = (0.0, None);
    for d in 0..dims {
        if high[d] - low[d] > widest.0 {
            widest = (high[d] - low[d], Some(d));
        }
    }
    widest.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_hold_every_row_once_and_boxes_hold_their_rows() {
        let ctx = Ctx::new(2, 0);
        for n in [1, 2, 15, 16, 17, 31, 33, 100, 1000, 9000] {
            let rows: Vec<f64> = (0..3 * n).map(|at| ((at * 7919) % 1009) as f64).collect();
            let tree = Tree::build(&rows, 3, &ctx).unwrap();
            let mut seen = tree.order.clone();
            seen.sort_unstable();
            assert_eq!(seen, (0..n as u32).collect::<Vec<_>>());
            for leaf in 0..tree.leaves() {
                assert!(!tree.members(leaf).is_empty() && tree.members(leaf).len() <= LEAF);
                let mut node = tree.first_leaf + leaf;
                loop {
                    let (low, high) = tree.corners(node);
                    for &row in tree.members(leaf) {
                        assert!(tree.least[node] <= row);
                        let row = &rows[3 * row as usize..][..3];
                        assert!((0..3).all(|d| low[d] <= row[d] && row[d] <= high[d]));
                    }
                    if node == 0 {
                        break;
                    }
                    node = (node - 1) / 2;
                }
            }
        }
    }
}
