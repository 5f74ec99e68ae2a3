//! Disparities: what the distances in a map should be, judged by the dissimilarities.
//!
//! Place in the dataflow: between `ranking` and the objective `transformed`. Each fit is a
//! projection of the distances on the transformations of the dissimilarities that are
//! allowed (the f of the survey's (20) and (21)):
//!
//! * ratio b·δ, interval a + b·δ, spline: smooth and ascending (`spline`);
//! * ordinal: any ascending function (`isotonic`). Ties: *primary* leaves pairs of one
//!   dissimilarity in the order of their distances, *secondary* gives them one value,
//!   *tertiary* makes the means of the groups ascend and keeps deviations from them.
//!
//! Guttman's rank images put the sorted distances in the order of the dissimilarities: no
//! projection, a first phase. Cost: O(m) for m pairs; primary ties sort their groups.

use rayon::prelude::*;

use super::isotonic::{Warm, fill_means, pool};
use super::ranking::Ranking;
use super::spline::{Basis, Polynomials};
use crate::params::choices;

choices! {
    /// Which transformation of the dissimilarities the distances should equal.
    Transformation {
        /// A multiple: metric scaling.
        Ratio = "ratio",
        /// A line.
        Interval = "interval",
        /// Any ascending function: non-metric scaling.
        Ordinal = "ordinal",
        /// A smooth ascending function.
        Spline = "spline",
    }
}

choices! {
    /// What equal dissimilarities ask of their distances, in ordinal scaling.
    Ties {
        /// Nothing.
        Primary = "primary",
        /// To be equal.
        Secondary = "secondary",
        /// To be right on average.
        Tertiary = "tertiary",
    }
}

choices! {
    /// How ordinal scaling starts.
    Monotone {
        /// With isotonic regression from the first step on.
        Kruskal = "kruskal",
        /// With rank images; isotonic regression afterwards.
        Guttman = "guttman",
    }
}

/// Disparities of ranked pairs.
#[derive(Debug, Clone)]
pub struct Disparities {
    /// The pairs by rank.
    pub ranking: Ranking,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Smooth { basis: Basis, gram: Vec<[f64; 5]>, fitted: Option<Polynomials> },
    Primary { warm: Warm, order: Vec<u32>, sorted: Vec<f64>, heavy: Vec<f64>, fitted: Vec<f64> },
    Grouped { weights: Vec<f64>, means: Vec<f64>, ascending: Vec<f64>, keep_deviations: bool },
}

impl Disparities {
    /// Disparities of this kind.
    pub fn new(ranking: Ranking, transformation: Transformation, ties: Ties) -> Disparities {
        let rule = match (transformation, ties) {
            (Transformation::Ordinal, Ties::Primary) => {
                let order = (0..ranking.len() as u32).collect();
                Rule::Primary { warm: Warm::default(), order, sorted: vec![], heavy: vec![], fitted: vec![] }
            }
            (Transformation::Ordinal, ties) => {
                let weight = |range: std::ops::Range<usize>| match &ranking.weights {
                    None => range.len() as f64,
                    Some(weights) => weights[range].iter().sum(),
                };
                let groups = ranking.group_ends.len();
                Rule::Grouped {
                    weights: ranking.groups().map(weight).collect(),
                    means: vec![0.0; groups],
                    ascending: vec![0.0; groups],
                    keep_deviations: ties == Ties::Tertiary,
                }
            }
            (smooth, _) => {
                let delta = &ranking.group_delta;
                let least = delta.first().copied().unwrap_or(0.0);
                let last = delta.len().saturating_sub(1);
                let basis = match smooth {
                    Transformation::Ratio => Basis::ratio(least),
                    Transformation::Interval => Basis::interval(least),
                    _ => {
                        let group_of =
                            |rank: u32| ranking.group_ends.partition_point(|&end| end <= rank).min(last);
                        let most = ranking.len().saturating_sub(1) as f64;
                        Basis::spline(|share| delta[group_of((share * most).round() as u32)])
                    }
                };
                let gram = basis.weigh(ranking.groups().zip(delta).map(|(range, &delta)| {
                    let weight = match &ranking.weights {
                        None => range.len() as f64,
                        Some(weights) => weights[range].iter().sum(),
                    };
                    (delta, weight)
                }));
                Rule::Smooth { basis, gram, fitted: None }
            }
        };
        Disparities { ranking, rule }
    }

    /// The disparities of these distances, both by rank.
    pub fn fit(&mut self, distances: &[f64], disparities: &mut [f64]) {
        let Disparities { ranking, rule } = self;
        let weights = ranking.weights.as_deref();
        match rule {
            Rule::Primary { warm, .. } if !ranking.has_ties() => warm.fit(distances, weights, disparities),
            Rule::Primary { warm, order, sorted, heavy, fitted } => {
                sort_groups(&ranking.group_ends, distances, order);
                let gather = |from: &[f64], to: &mut Vec<f64>| {
                    to.clear();
                    to.extend(order.iter().map(|&rank| from[rank as usize]));
                };
                gather(distances, sorted);
                if let Some(weights) = weights {
                    gather(weights, heavy);
                }
                fitted.resize(sorted.len(), 0.0);
                warm.fit(sorted, weights.map(|_| &heavy[..]), fitted);
                order.iter().zip(&*fitted).for_each(|(&rank, &value)| disparities[rank as usize] = value);
            }
            Rule::Grouped { weights: heavy, means, ascending, keep_deviations } => {
                for (mean, (range, all)) in means.iter_mut().zip(ranking.groups().zip(&*heavy)) {
                    *mean = weighted_sum(distances, weights, range) / all;
                }
                fill_means(means, Some(heavy), &pool(means, Some(heavy)), ascending);
                for (group, range) in ranking.groups().enumerate() {
                    let shift = ascending[group] - means[group];
                    for rank in range {
                        disparities[rank] =
                            if *keep_deviations { distances[rank] + shift } else { ascending[group] };
                    }
                }
            }
            Rule::Smooth { basis, gram, fitted } => {
                let sums = ranking.groups().zip(&ranking.group_delta);
                let moments =
                    basis.weigh(sums.map(|(range, &d)| (d, weighted_sum(distances, weights, range))));
                let moments: Vec<[f64; 3]> = moments.iter().map(|m| [m[0], m[1], m[2]]).collect();
                let found = basis.combined(&basis.fit(gram, &moments));
                for (range, &delta) in ranking.groups().zip(&ranking.group_delta) {
                    disparities[range].fill(found.at(delta));
                }
                *fitted = Some(found);
            }
        }
    }

    /// Guttman's rank images of these distances: sorted, in the order of the ranks.
    pub fn rank_images(&self, distances: &[f64], images: &mut [f64]) {
        images.copy_from_slice(distances);
        images.par_sort_unstable_by(f64::total_cmp);
        // Equal dissimilarities have equal images.
        for range in self.ranking.groups().filter(|range| range.len() > 1) {
            let mean = images[range.clone()].iter().sum::<f64>() / range.len() as f64;
            images[range].fill(mean);
        }
    }

    /// The transformation behind fitted disparities, for dissimilarities of new pairs.
    pub fn function(&self, disparities: &[f64]) -> Function {
        if let Rule::Smooth { fitted: Some(fitted), .. } = &self.rule {
            return Function::Smooth(fitted.clone());
        }
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for (range, &delta) in self.ranking.groups().zip(&self.ranking.group_delta) {
            let value = disparities[range.clone()].iter().sum::<f64>() / range.len() as f64;
            // The first and the last dissimilarity of a flat part say it all.
            if let [.., before, last] = &mut steps[..]
                && before.1 == value
                && last.1 == value
            {
                last.0 = delta;
            } else {
                steps.push((delta, value));
            }
        }
        Function::Steps(steps)
    }
}

fn weighted_sum(values: &[f64], weights: Option<&[f64]>, range: std::ops::Range<usize>) -> f64 {
    match weights {
        None => values[range].iter().sum(),
        Some(weights) => {
            values[range.clone()].iter().zip(&weights[range]).map(|(value, weight)| value * weight).sum()
        }
    }
}

/// Sort the members of each group by distance, then rank. The order of the last call is
/// the start, because it is nearly right.
fn sort_groups(group_ends: &[u32], distances: &[f64], order: &mut [u32]) {
    const GROUPS: usize = 256;
    // Fixed batches of whole groups, cut off the order one after the other.
    let mut batches: Vec<(&mut [u32], &[u32], usize)> = Vec::new();
    let (mut rest, mut start) = (order, 0);
    for ends in group_ends.chunks(GROUPS) {
        let last = ends[ends.len() - 1] as usize;
        let (batch, more) = rest.split_at_mut(last - start);
        batches.push((batch, ends, start));
        (rest, start) = (more, last);
    }
    batches.into_par_iter().for_each(|(batch, ends, start)| {
        let mut keyed: Vec<u128> = Vec::new();
        let mut first = 0;
        for &end in ends {
            let group = &mut batch[first..end as usize - start];
            first = end as usize - start;
            if group.len() < 2 {
                continue;
            }
            keyed.clear();
            // Bits of numbers that are not negative are in the order of the numbers.
            let key = |rank: u32| u128::from(distances[rank as usize].to_bits()) << 32 | u128::from(rank);
            keyed.extend(group.iter().map(|&rank| key(rank)));
            sort_nearly_sorted(&mut keyed);
            group.iter_mut().zip(&keyed).for_each(|(slot, &key)| *slot = key as u32);
        }
    });
}

/// Insertion while little has to move, else an ordinary sort.
fn sort_nearly_sorted(keys: &mut [u128]) {
    let mut moves = keys.len();
    for at in 1..keys.len() {
        let key = keys[at];
        let mut hole = at;
        while hole > 0 && key < keys[hole - 1] {
            keys[hole] = keys[hole - 1];
            hole -= 1;
        }
        keys[hole] = key;
        if at - hole > moves {
            keys.sort_unstable();
            return;
        }
        moves -= at - hole;
    }
}

/// A fitted transformation of dissimilarities.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Function {
    /// The dissimilarity itself.
    Same,
    /// Through points, lines between them, constant beyond.
    Steps(Vec<(f64, f64)>),
    /// Polynomials between knots.
    Smooth(Polynomials),
}

impl Function {
    /// The disparity of a dissimilarity.
    pub fn at(&self, delta: f64) -> f64 {
        match self {
            Function::Same => delta,
            Function::Smooth(polynomials) => polynomials.at(delta),
            Function::Steps(steps) => match steps.partition_point(|step| step.0 <= delta) {
                0 => steps.first().map_or(0.0, |step| step.1),
                at if at == steps.len() => steps[at - 1].1,
                at => {
                    let ((x, y), (x_next, y_next)) = (steps[at - 1], steps[at]);
                    y + (y_next - y) * ((delta - x) / (x_next - x))
                }
            },
        }
    }

    /// The same, multiplied by a number.
    pub fn times(self, factor: f64) -> Function {
        match self {
            Function::Same => Function::Same,
            Function::Smooth(polynomials) => Function::Smooth(polynomials.times(factor)),
            Function::Steps(steps) => {
                Function::Steps(steps.into_iter().map(|(delta, value)| (delta, value * factor)).collect())
            }
        }
    }
}
