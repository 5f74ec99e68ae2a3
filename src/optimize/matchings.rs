//! Stochastic descent by pairs, the same for any number of threads: round-robin matchings.
//!
//! Zheng, Pawar and Goodman 2019 move one random pair after the other. Here the pairs come
//! in rounds of a tournament (the circle method): in round r of m = n or n − 1 (odd), seat
//! r + k meets seat r − k, so that no point is in two pairs of a round and every pair is
//! met once in an epoch. Rounds come in random order, points sit in random seats. The
//! dissimilarities of several rounds are gathered in parallel, then the rounds are played in
//! order. Cost of an epoch: n²/2 pairs. It makes the result independent of the start: few
//! epochs are enough, a solver goes on from there.

use rayon::prelude::*;

use super::pairs::Rows;
use super::term::PairTerm;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::exp::power;
use crate::linalg::random::below;

/// Epochs before another solver goes on.
pub const EPOCHS: usize = 10;
/// Rate of the last epoch, relative to the one at which the stiffest pair closes its gap.
const LAST_RATE: f64 = 0.02;
/// Rounds whose dissimilarities are gathered together.
const ROUNDS: usize = 64;

/// The pairs of one round: seats `r + k` and `r − k` (mod m), and for an even number of
/// points also seat r and the last one.
#[inline(always)]
fn opponents(n: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    let m = if n.is_multiple_of(2) { n - 1 } else { n };
    let (mut ahead, mut behind) = (round, round);
    let circle = (0..(m - 1) / 2).map(move |_| {
        ahead = if ahead + 1 == m { 0 } else { ahead + 1 };
        behind = if behind == 0 { m - 1 } else { behind - 1 };
        (ahead, behind)
    });
    circle.chain(n.is_multiple_of(2).then_some((round, n - 1)))
}

/// A random order of `0..count`.
pub fn shuffled(count: usize, purpose: &str, ctx: &Ctx) -> Vec<u32> {
    let mut stream = ctx.stream(purpose);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        order.swap(last, below(&mut stream, last + 1));
    }
    order
}

/// The pairs of `count` random rounds, each a perfect matching.
pub fn random_matchings(n: usize, count: usize, ctx: &Ctx) -> Vec<(u32, u32)> {
    let seats = shuffled(n, "matchings: seats", ctx);
    let rounds = shuffled(n - 1 + n % 2, "matchings: rounds", ctx);
    let some = rounds.iter().take(count);
    some.flat_map(|&round| opponents(n, round as usize)).map(|(a, b)| (seats[a], seats[b])).collect()
}

/// The largest and the smallest pull above zero of a pair.
fn pulls<T: PairTerm>(rows: &Rows<'_>, term: T, ctx: &Ctx) -> Result<(f64, f64)> {
    if T::PLAIN && !rows.has_weights() {
        return Ok((1.0, 1.0));
    }
    let parts = rows.blocks(ctx, |range, room| {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for i in range {
            let (delta, weights) = rows.row(i, room);
            for j in (0..delta.len()).filter(|&j| j != i) {
                let pull = term.pull(delta[j], weights.map_or(1.0, |weights| weights[j]));
                if pull > 0.0 {
                    (least, most) = (least.min(pull), most.max(pull));
                }
            }
        }
        (least, most)
    })?;
    Ok(parts.into_iter().fold((f64::INFINITY, 0.0), |sum, part| (sum.0.min(part.0), sum.1.max(part.1))))
}

/// Play `epochs` epochs of matchings from `x`, which becomes the last place; `after` sees
/// the place after each. `rows` must be stored.
///
/// # Errors
/// Cancellation.
pub fn epochs<T: PairTerm>(
    rows: &Rows<'_>,
    term: T,
    x: &mut [f64],
    epochs: usize,
    ctx: &Ctx,
    after: &mut dyn FnMut(&[f64]) -> Result<()>,
) -> Result<()> {
    let Rows::Stored { delta, weights } = rows else { return Ok(()) };
    let n = rows.len();
    if n < 2 || epochs == 0 {
        return Ok(());
    }
    let (least, most) = pulls(rows, term, ctx)?;
    if most == 0.0 {
        return Ok(());
    }
    let (first, last) = (1.0 / least, LAST_RATE / most);
    let flat = delta.as_slice();
    let seats = shuffled(n, "matchings: seats", ctx);
    let width = x.len() / n;
    // Seat by seat, the coordinates of a point side by side.
    let seat_by_seat = seats.iter().flat_map(|&i| (0..width).map(move |k| k * n + i as usize));
    let mut places: Vec<f64> = seat_by_seat.map(|at| x[at]).collect();
    for epoch in 0..epochs {
        let share = if epochs > 1 { epoch as f64 / (epochs - 1) as f64 } else { 0.0 };
        let rate = first * power(last / first, share);
        let rounds = shuffled(n - 1 + n % 2, &format!("matchings: epoch {epoch}"), ctx);
        for some in rounds.chunks(ROUNDS) {
            let gathered: Vec<Vec<(f64, f64)>> = some
                .par_iter()
                .map(|&round| {
                    ctx.check()?;
                    let mut known = Vec::with_capacity(n / 2);
                    opponents(n, round as usize).for_each(|(a, b)| {
                        let at = [seats[a] as usize, seats[b] as usize];
                        let near = flat.map_or_else(|| delta[at], |flat| flat[at[0] * n + at[1]]);
                        let weight = weights.as_ref().map_or(1.0, |weights| weights[at]);
                        known.push((near, term.pull(near, weight)));
                    });
                    Ok(known)
                })
                .collect::<Result<_>>()?;
            for (&round, known) in some.iter().zip(&gathered) {
                match width {
                    2 => play::<2>(&mut places, opponents(n, round as usize), known, rate),
                    _ => play_any(&mut places, width, opponents(n, round as usize), known, rate),
                }
            }
        }
        for (seat, &i) in seats.iter().enumerate() {
            (0..width).for_each(|k| x[k * n + i as usize] = places[seat * width + k]);
        }
        ctx.advance(1);
        after(x)?;
    }
    Ok(())
}

/// Move each pair of a round towards its dissimilarity.
fn play<const P: usize>(
    places: &mut [f64],
    pairs: impl Iterator<Item = (usize, usize)>,
    known: &[(f64, f64)],
    rate: f64,
) {
    let (places, _) = places.as_chunks_mut::<P>();
    let mut known = known.iter();
    pairs.for_each(|(a, b)| {
        let Some(&(delta, pull)) = known.next() else { return };
        let (one, two) = (places[a], places[b]);
        let apart: [f64; P] = std::array::from_fn(|k| one[k] - two[k]);
        let squared = apart.iter().fold(0.0, |sum, gap| sum + gap * gap);
        let factor = pair_factor(delta, pull, squared, rate);
        places[a] = std::array::from_fn(|k| one[k] - factor * apart[k]);
        places[b] = std::array::from_fn(|k| two[k] + factor * apart[k]);
    });
}

fn play_any(
    places: &mut [f64],
    width: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
    known: &[(f64, f64)],
    rate: f64,
) {
    for ((a, b), &(delta, pull)) in pairs.zip(known) {
        let (a, b) = (a * width, b * width);
        let squared = (0..width).fold(0.0, |sum, k| {
            let gap = places[a + k] - places[b + k];
            sum + gap * gap
        });
        let factor = pair_factor(delta, pull, squared, rate);
        for k in 0..width {
            let gap = factor * (places[a + k] - places[b + k]);
            places[a + k] -= gap;
            places[b + k] += gap;
        }
    }
}

/// Share of the difference that both ends move by; points in one place stay.
#[inline(always)]
fn pair_factor(delta: f64, pull: f64, squared: f64, rate: f64) -> f64 {
    let distance = squared.sqrt();
    if distance > 0.0 { 0.5 * (pull * rate).min(1.0) * (1.0 - delta / distance) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_meets_once_and_no_point_twice_a_round() {
        for n in [2, 3, 4, 5, 12, 17] {
            let mut met = std::collections::HashSet::new();
            for round in 0..(n - 1 + n % 2) {
                let mut busy = std::collections::HashSet::new();
                for (a, b) in opponents(n, round) {
                    assert!(a != b && busy.insert(a) && busy.insert(b), "n = {n}, round {round}");
                    assert!(met.insert((a.min(b), a.max(b))), "n = {n}: {a} and {b} again");
                }
            }
            assert_eq!(met.len(), n * (n - 1) / 2);
        }
    }

    #[test]
    fn random_matchings_are_regular() {
        let pairs = random_matchings(100, 7, &Ctx::new(1, 3));
        let mut degree = [0; 100];
        for (a, b) in pairs {
            degree[a as usize] += 1;
            degree[b as usize] += 1;
        }
        assert_eq!(degree, [7; 100]);
    }
}
