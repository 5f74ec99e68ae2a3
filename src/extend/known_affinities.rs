//! Which training row a new row is, by its affinities to the training rows.
//!
//! Cost: a look at every training row.

use crate::kernel::affinity::Affinity;
use crate::kernel::given_affinity::ASYMMETRY;

/// The training rows by their affinities: a new row that brings those of one of them is
/// that row. The two directions of an affinity may differ by rounding, and so may these.
pub(crate) struct KnownAffinities<'a> {
    affinity: &'a Affinity,
    /// The affinity of each row to itself; only asked for of a full matrix.
    diagonal: Vec<f64>,
    /// What may count as rounding in each row.
    rounding: Vec<f64>,
}

impl<'a> KnownAffinities<'a> {
    pub(crate) fn new(affinity: &'a Affinity, diagonal: Vec<f64>) -> Self {
        let rounding = |i: usize| {
            let mut most = 0.0_f64;
            affinity.for_each(i, |_, weight| most = most.max(weight));
            ASYMMETRY * most
        };
        KnownAffinities { affinity, diagonal, rounding: (0..affinity.len()).map(rounding).collect() }
    }

    /// Whether row `i` has these affinities (ascending).
    pub(crate) fn is(&self, i: usize, list: &[(usize, f64)]) -> bool {
        self.gap(i, list, self.rounding[i]).is_some()
    }

    /// The row that has these affinities (ascending), the nearest of several. Where
    /// several are as near and are not the `same`, nothing says which of them it is.
    pub(crate) fn find(&self, list: &[(usize, f64)], same: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        let mut unsure = false;
        for i in 0..self.affinity.len() {
            let allowed = best.map_or(self.rounding[i], |best| best.0.min(self.rounding[i]));
            let Some(gap) = self.gap(i, list, allowed) else { continue };
            match best {
                Some((least, row)) if gap == least => unsure |= !same(row, i),
                _ => (best, unsure) = (Some((gap, i)), false),
            }
        }
        best.map(|best| best.1).filter(|_| !unsure)
    }

    /// Largest difference from the affinities of row `i`, unless more than allowed. What
    /// a row is to itself is known of a full matrix alone.
    fn gap(&self, i: usize, list: &[(usize, f64)], allowed: f64) -> Option<f64> {
        let others = list.iter().copied().filter(|pair| pair.0 != i);
        match self.affinity {
            Affinity::Dense(known) => {
                let own = self.diagonal.get(i).copied().unwrap_or(0.0);
                let itself = list.binary_search_by_key(&i, |pair| pair.0).map_or(0.0, |at| list[at].1);
                if (itself - own).abs() > ASYMMETRY * own {
                    return None;
                }
                let known = known.row(i).into_iter().copied().enumerate().filter(|pair| pair.0 != i);
                difference(known, others, allowed)
            }
            Affinity::Sparse(graph) => {
                let (targets, weights) = graph.row(i);
                let known = targets.iter().zip(weights).map(|(&j, &weight)| (j as usize, weight));
                difference(known, others, allowed)
            }
        }
    }
}

/// Largest difference of two ascending lists, 0 where they have nothing.
fn difference(
    known: impl Iterator<Item = (usize, f64)>,
    new: impl Iterator<Item = (usize, f64)>,
    allowed: f64,
) -> Option<f64> {
    let (mut known, mut new, mut worst) = (known.peekable(), new.peekable(), 0.0_f64);
    let value = |pair: Option<(usize, f64)>| pair.map_or(0.0, |pair| pair.1);
    while let Some(j) = [known.peek(), new.peek()].into_iter().flatten().map(|pair| pair.0).min() {
        let one = value(known.next_if(|pair| pair.0 == j));
        worst = worst.max((one - value(new.next_if(|pair| pair.0 == j))).abs());
        if worst > allowed {
            return None;
        }
    }
    Some(worst)
}
