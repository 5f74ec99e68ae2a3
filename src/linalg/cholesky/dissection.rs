//! An elimination order by halves, for graphs too large to be ordered at once.
//!
//! Nodes are numbered so that near ones are near (the order of a k-d tree), so
//! the middle of the numbers is a cut in space: nodes before it that are joined
//! to nodes after it are eliminated last, and the two halves are independent
//! (nested dissection, George 1973). Parts small enough are ordered by minimum
//! degree, side by side; the user can stop between them, which one call for all
//! nodes would not allow. Where a cut takes too many nodes (the numbers say
//! nothing, or there are many dimensions) the part is ordered as it is.
//! Cost: O(m) for each halving.

use rayon::prelude::*;

use super::elimination::{Pattern, minimum_degree};
use crate::context::Ctx;
use crate::error::Result;

/// Parts up to this many nodes are not cut.
const SMALL: usize = 25_000;
/// A cut takes at most this part of the nodes.
const WIDEST_CUT: f64 = 0.06;

/// Nodes that are eliminated one part after the other.
enum Part {
    Free(Vec<u32>),
    Cut(Vec<u32>),
}

/// Step → node.
pub(super) fn dissect(graph: Pattern<'_>, ctx: &Ctx) -> Result<Vec<u32>> {
    let n = graph.len();
    if n <= SMALL {
        let sequence = minimum_degree(graph)?;
        ctx.advance(n);
        return Ok(sequence);
    }
    let mut parts = Vec::new();
    // Cut nodes are out of the way of all later cuts.
    let mut taken = vec![false; n];
    halve(graph, (0..n as u32).collect(), &mut taken, &mut parts, ctx)?;
    let ordered: Vec<Vec<u32>> = parts
        .into_par_iter()
        .map_init(
            || vec![u32::MAX; n],
            |place, part| {
                ctx.check()?;
                let ordered = match part {
                    Part::Cut(nodes) => nodes,
                    Part::Free(nodes) => order(graph, &nodes, place)?,
                };
                ctx.advance(ordered.len());
                Ok(ordered)
            },
        )
        .collect::<Result<_>>()?;
    Ok(ordered.concat())
}

/// Cut `nodes`, ascending, into parts in the order of their elimination.
fn halve(
    graph: Pattern<'_>,
    nodes: Vec<u32>,
    taken: &mut [bool],
    parts: &mut Vec<Part>,
    ctx: &Ctx,
) -> Result<()> {
    ctx.check()?;
    if nodes.len() <= SMALL {
        parts.push(Part::Free(nodes));
        return Ok(());
    }
    let (middle, last) = (nodes[nodes.len() / 2], nodes[nodes.len() - 1]);
    let beyond = |node: u32| node >= middle && node <= last && !taken[node as usize];
    let joined = |node: &u32| graph.row(*node as usize).iter().any(|&other| beyond(other));
    let (cut, before): (Vec<u32>, Vec<u32>) =
        nodes.iter().take_while(|&&node| node < middle).partition(|node| joined(node));
    if cut.len() as f64 > WIDEST_CUT * nodes.len() as f64 {
        parts.push(Part::Free(nodes));
        return Ok(());
    }
    cut.iter().for_each(|&node| taken[node as usize] = true);
    let after = nodes[nodes.len() / 2..].to_vec();
    drop(nodes);
    halve(graph, before, taken, parts, ctx)?;
    halve(graph, after, taken, parts, ctx)?;
    parts.push(Part::Cut(cut));
    Ok(())
}

/// Minimum degree among `nodes` alone; `place` is blank before and after.
fn order(graph: Pattern<'_>, nodes: &[u32], place: &mut [u32]) -> Result<Vec<u32>> {
    for (index, &node) in nodes.iter().enumerate() {
        place[node as usize] = index as u32;
    }
    let (mut offsets, mut targets) = (vec![0], Vec::new());
    for &node in nodes {
        let inside = graph.row(node as usize).iter().map(|&other| place[other as usize]);
        targets.extend(inside.filter(|&index| index != u32::MAX));
        offsets.push(targets.len());
    }
    nodes.iter().for_each(|&node| place[node as usize] = u32::MAX);
    let sequence = minimum_degree(Pattern { offsets: &offsets, targets: &targets })?;
    Ok(sequence.into_iter().map(|index| nodes[index as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::cholesky::elimination::Elimination;

    /// A grid numbered along a k-d tree of its nodes.
    fn grid(side: usize) -> (Vec<usize>, Vec<u32>) {
        let mut order: Vec<(usize, usize)> = (0..side * side).map(|at| (at / side, at % side)).collect();
        fn sort(nodes: &mut [(usize, usize)], by_row: bool) {
            if nodes.len() > 8 {
                nodes.sort_by_key(|&(row, column)| if by_row { (row, column) } else { (column, row) });
                let (left, right) = nodes.split_at_mut(nodes.len() / 2);
                sort(left, !by_row);
                sort(right, !by_row);
            }
        }
        sort(&mut order, true);
        let mut number = vec![0u32; side * side];
        order.iter().enumerate().for_each(|(at, &(row, column))| number[row * side + column] = at as u32);
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for &(row, column) in &order {
            for (down, right) in (-1i64..=1).flat_map(|down| (-1i64..=1).map(move |right| (down, right))) {
                let (row, column) = (row as i64 + down, column as i64 + right);
                if (0..side as i64).contains(&row) && (0..side as i64).contains(&column) {
                    targets.push(number[(row * side as i64 + column) as usize]);
                }
            }
            let begin = offsets[offsets.len() - 1];
            targets[begin..].sort_unstable();
            offsets.push(targets.len());
        }
        (offsets, targets)
    }

    #[test]
    fn halves_cost_no_more_than_the_whole() {
        let (offsets, targets) = grid(260);
        let graph = Pattern { offsets: &offsets, targets: &targets };
        let ctx = Ctx::new(2, 0);
        let halves = ctx.install(|| Elimination::dissected(graph, u64::MAX, &ctx)).unwrap().unwrap();
        let whole = Elimination::new(graph, u64::MAX, &ctx).unwrap().unwrap();
        let mut seen = halves.sequence.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(at, &node)| at == node as usize));
        assert!(halves.fill as f64 <= 1.1 * whole.fill as f64, "{} {}", halves.fill, whole.fill);
        assert!(halves.work <= 1.3 * whole.work, "{} {}", halves.work, whole.work);
    }

    #[test]
    fn numbers_that_say_nothing_are_not_cut() {
        // Every node is joined to one far away: any cut would take half of them.
        let n = 2 * SMALL;
        let offsets: Vec<usize> = (0..=n).collect();
        let targets: Vec<u32> = (0..n).map(|node| ((node + n / 2) % n) as u32).collect();
        let graph = Pattern { offsets: &offsets, targets: &targets };
        let ctx = Ctx::new(1, 0);
        let (mut parts, mut taken) = (Vec::new(), vec![false; n]);
        halve(graph, (0..n as u32).collect(), &mut taken, &mut parts, &ctx).unwrap();
        assert!(matches!(&parts[..], [Part::Free(nodes)] if nodes.len() == n));
    }
}
