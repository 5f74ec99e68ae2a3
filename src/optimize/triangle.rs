//! One pass over the pairs i < j, each met once: value and gradient for few coordinates.
//!
//! Place in the dataflow: the fast way of [`pairs::pass`](super::pairs::pass). Row i reads
//! its dissimilarities to the rows after it; what a pair adds to point i stays in registers,
//! what it takes from point j goes to the gradient of the task. Tasks take every m-th row,
//! m depending on the number of rows only, and are added in order: the same bits on any
//! number of threads. Cost: half of n² p, and m gradients.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::pairs::{RowRoom, Rows};
use super::term::PairTerm;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::PARTS;

/// Most tasks, and pairs that are worth one.
const MOST_TASKS: usize = 32;
const TASK_PAIRS: usize = 1 << 14;

/// The value over all pairs; half the gradient goes to `half_gradient`. The map has `P`
/// columns.
///
/// # Errors
/// Cancellation.
pub fn value_and_half_gradient<T: PairTerm, const P: usize>(
    rows: &Rows<'_>,
    term: T,
    x: &[f64],
    half_gradient: &mut [f64],
    ctx: &Ctx,
) -> Result<f64> {
    let n = rows.len();
    let tasks = (n * n.saturating_sub(1) / 2 / TASK_PAIRS).clamp(1, MOST_TASKS);
    let arch = Arch::new();
    let task = |room: &mut RowRoom, first: usize| {
        let (mut value, mut gradient) = (0.0, vec![0.0; P * n]);
        for i in (first..n).step_by(tasks) {
            ctx.check()?;
            let (delta, weights) = rows.row_from(i, i + 1, room);
            let mut columns = gradient.chunks_exact_mut(n);
            let (added, own) = arch.dispatch(Later {
                term,
                delta,
                weights,
                own: std::array::from_fn(|k| x[k * n + i]),
                places: std::array::from_fn::<_, P, _>(|k| &x[k * n + i + 1..(k + 1) * n]),
                gradient: std::array::from_fn(|_| columns.next().map_or(&mut [][..], |c| &mut c[i + 1..])),
            });
            value += added;
            (0..P).for_each(|k| gradient[k * n + i] += own[k]);
        }
        Ok((value, gradient))
    };
    let parts: Vec<(f64, Vec<f64>)> =
        (0..tasks).into_par_iter().map_init(RowRoom::default, task).collect::<Result<_>>()?;
    half_gradient.fill(0.0);
    let mut value = 0.0;
    for (added, gradient) in parts {
        value += added;
        half_gradient.iter_mut().zip(gradient).for_each(|(sum, part)| *sum += part);
    }
    Ok(value)
}

/// The pairs of one point with the points after it.
struct Later<'a, T, const P: usize> {
    term: T,
    delta: &'a [f64],
    weights: Option<&'a [f64]>,
    own: [f64; P],
    /// Coordinates of the others, and where they find their part of half the gradient.
    places: [&'a [f64]; P],
    gradient: [&'a mut [f64]; P],
}

impl<T: PairTerm, const P: usize> WithSimd for Later<'_, T, P> {
    type Output = (f64, [f64; P]);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, [f64; P]) {
        let Later { term, delta, weights, own, places, gradient } = self;
        let n = delta.len();
        let (mut values, mut firsts) = ([0.0; PARTS], [[0.0; PARTS]; P]);
        let near = delta.as_chunks::<PARTS>().0;
        let weight = weights.map(|weights| weights.as_chunks::<PARTS>().0);
        let others: [&[[f64; PARTS]]; P] = places.map(|column| column.as_chunks::<PARTS>().0);
        for chunk in 0..near.len() {
            let (near, weight) = (&near[chunk], weight.map_or(&ONES, |weight| &weight[chunk]));
            let others: [&[f64; PARTS]; P] = others.map(|column| &column[chunk]);
            let mut pulls = [[0.0; PARTS]; P];
            for lane in 0..PARTS {
                let apart: [f64; P] = std::array::from_fn(|k| own[k] - others[k][lane]);
                let mut squared = 0.0;
                for k in 0..P {
                    squared += apart[k] * apart[k];
                }
                let (value, factor) = term.term(near[lane], weight[lane], squared);
                values[lane] += value;
                for k in 0..P {
                    pulls[k][lane] = factor * apart[k];
                    firsts[k][lane] += pulls[k][lane];
                }
            }
            for k in 0..P {
                let room = &mut gradient[k].as_chunks_mut::<PARTS>().0[chunk];
                for lane in 0..PARTS {
                    room[lane] -= pulls[k][lane];
                }
            }
        }
        for j in n - n % PARTS..n {
            let apart: [f64; P] = std::array::from_fn(|k| own[k] - places[k][j]);
            let squared = apart.iter().fold(0.0, |sum, gap| sum + gap * gap);
            let (value, factor) = term.term(delta[j], weights.map_or(1.0, |weights| weights[j]), squared);
            values[j % PARTS] += value;
            for k in 0..P {
                firsts[k][j % PARTS] += factor * apart[k];
                gradient[k][j] -= factor * apart[k];
            }
        }
        (values.iter().sum(), firsts.map(|lanes| lanes.iter().sum()))
    }
}

const ONES: [f64; PARTS] = [1.0; PARTS];

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::super::pairs::pass;
    use super::super::term::{Sammon, Stress};
    use super::*;
    use crate::linalg::random::uniform;

    #[test]
    fn pairs_met_once_add_up_like_pairs_met_twice() {
        for n in [2, 9, 40, 333] {
            let ctx = Ctx::new(2, 0);
            let half: Array2<f64> = uniform(&mut ctx.stream("half"), n, n);
            let delta =
                Array2::from_shape_fn(
                    (n, n),
                    |(i, j)| if i == j { 0.0 } else { 1.0 + half[[i, j]] * half[[j, i]] },
                );
            let weights = delta.mapv(|near| near * near);
            let x: Vec<f64> = uniform(&mut ctx.stream("map"), n, 2).into_iter().collect();
            for weights in [None, Some(weights.view())] {
                let rows = Rows::Stored { delta: delta.view(), weights };
                let (mut once, mut twice, mut diagonal) =
                    (vec![7.0; 2 * n], vec![0.0; 2 * n], vec![0.0; 2 * n]);
                // The diagonal is had by meeting every pair twice.
                let expected = pass(&rows, Stress, &x, &mut twice, Some(&mut diagonal), &ctx).unwrap();
                let found = value_and_half_gradient::<_, 2>(&rows, Stress, &x, &mut once, &ctx).unwrap();
                assert!((found / expected - 1.0).abs() < 1e-12, "{n}: {found} {expected}");
                let size = twice.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                for (a, b) in once.iter().zip(&twice) {
                    assert!((a - b).abs() < 1e-12 * size, "{n}: {a} {b}");
                }
                let bits = |threads: usize| {
                    let (ctx, mut gradient) = (Ctx::new(threads, 0), vec![0.0; 2 * n]);
                    let term = Sammon { least: 1.0 };
                    let value =
                        ctx.install(|| value_and_half_gradient::<_, 2>(&rows, term, &x, &mut gradient, &ctx));
                    (value.unwrap().to_bits(), gradient)
                };
                assert_eq!(bits(1), bits(3));
            }
        }
    }
}
