//! Shepard data: the distances of pairs in X and in Y, for a diagram.
//!
//! Place: `neighbors` in, pairs out. All pairs, or some of them drawn without replacement (Floyd's
//! algorithm) by the context's seed. Cost: O(D) per pair.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::comparison::Comparison;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::below;

/// Distances of pairs, in ascending order of (first row, second row).
#[derive(Debug, Clone, PartialEq)]
pub struct Shepard {
    /// The two rows of each pair, the smaller index first.
    pub pairs: Vec<[u32; 2]>,
    /// Their distance in X.
    pub distances: Vec<f64>,
    /// Their distance in Y.
    pub embedded: Vec<f64>,
}

impl Comparison<'_> {
    /// The distances of `count` pairs, or with `None` of all.
    ///
    /// # Errors
    /// No pairs; memory; cancellation.
    pub fn shepard(&self, count: Option<usize>, ctx: &Ctx) -> Result<Shepard> {
        const PAIRS: usize = 1 << 10;
        let n = self.len();
        let all = n * (n - 1) / 2;
        let count = count.unwrap_or(all).min(all);
        if count == 0 {
            return Err(Error::param("n_pairs", "must be at least 1, got 0"));
        }
        ctx.reserve(48 * count as u64, "the distances of pairs", "ask for fewer with `n_pairs`")?;
        ctx.answer(|| {
            let pairs = if count == all { all_pairs(n) } else { some_pairs(n, all, count, ctx) };
            ctx.stage("distances", count);
            let (x, y) = (self.x.scale(), self.y.scale());
            let parts: Vec<Vec<(f64, f64)>> = pairs
                .par_chunks(PAIRS)
                .map(|pairs| {
                    ctx.check()?;
                    ctx.advance(pairs.len());
                    let both = |&[i, j]: &[u32; 2]| {
                        let (i, j) = (i as usize, j as usize);
                        (x.back(self.x.pair(i, j)), y.back(self.y.pair(i, j)))
                    };
                    Ok(pairs.iter().map(both).collect())
                })
                .collect::<Result<_>>()?;
            let (distances, embedded) = parts.into_iter().flatten().unzip();
            Ok(Shepard { pairs, distances, embedded })
        })
    }
}

fn all_pairs(n: usize) -> Vec<[u32; 2]> {
    (0..n as u32).flat_map(|i| (i + 1..n as u32).map(move |j| [i, j])).collect()
}

/// `count` different pairs of `all`, each set of them equally likely.
fn some_pairs(n: usize, all: usize, count: usize, ctx: &Ctx) -> Vec<[u32; 2]> {
    let mut stream = ctx.stream("pairs");
    let mut chosen = BTreeSet::new();
    for last in all - count..all {
        let drawn = below(&mut stream, last + 1);
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    let (mut row, mut first) = (0, 0);
    let pair = |number: usize| {
        while number >= first + (n - 1 - row) {
            first += n - 1 - row;
            row += 1;
        }
        [row as u32, (row + 1 + number - first) as u32]
    };
    chosen.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_pairs_are_different_and_ascending_pairs_of_rows() {
        let ctx = Ctx::new(1, 7);
        let all = all_pairs(12);
        for count in [1, 5, 40, 65] {
            let some = some_pairs(12, 66, count, &ctx);
            assert_eq!(some.len(), count);
            assert!(some.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(some.iter().all(|pair| all.contains(pair)));
        }
        assert_eq!(some_pairs(12, 66, 66, &ctx), all);
    }
}
