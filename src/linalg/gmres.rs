//! Linear systems with a square operator that is only known by its products:
//! restarted GMRES for several right-hand sides in lockstep.
//!
//! Place in the dataflow: below `extend::kernel_map`. Saad and Schultz 1986.
//! Every side has a Krylov space of its own; going in lockstep means that the
//! operator, which is what has to be read from memory, is read once for all.
//! Vectors are made orthogonal by two rounds of classical Gram–Schmidt, whose
//! sums run in a fixed order: same bits on any number of threads.
//!
//! Cost: one product per step, O(k n) per side in step k of a cycle, memory for
//! `restart` blocks of n numbers per side.

use pulp::Arch;
use rayon::prelude::*;

use super::dot::Dot;
use crate::context::Ctx;
use crate::error::Result;

/// Rows per task when vectors are combined.
const ROWS: usize = 2048;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Residual, relative to the right-hand side, that is small enough.
    pub tol: f64,
    /// Steps between restarts.
    pub restart: usize,
    /// Steps in all.
    pub most: usize,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Solved {
    /// The solutions, one after the other.
    pub x: Vec<f64>,
    /// Steps taken.
    pub iterations: usize,
    /// The largest residual of a side, relative to that side, both in the 2-norm.
    pub residual: f64,
}

/// Solve K x = b for every side: `rhs` holds sides of `n` numbers one after the
/// other, and `apply` writes K times such a block.
///
/// What does not converge is returned as it is, with its residual.
pub fn gmres(
    n: usize,
    rhs: &[f64],
    limits: Limits,
    apply: impl Fn(&[f64], &mut [f64]) -> Result<()>,
    ctx: &Ctx,
) -> Result<Solved> {
    let norms: Vec<f64> = rhs.chunks(n).map(norm).collect();
    let mut solved = Solved { x: vec![0.0; rhs.len()], iterations: 0, residual: f64::INFINITY };
    let mut x = vec![0.0; rhs.len()];
    let mut residual = rhs.to_vec();
    loop {
        let relative = |(part, &norm): (&[f64], &f64)| if norm > 0.0 { self::norm(part) / norm } else { 0.0 };
        let worst = residual.chunks(n).zip(&norms).map(relative).fold(0.0, f64::max);
        // A cycle that does not even halve the residual has met rounding.
        let stalled = worst.is_nan() || worst >= 0.5 * solved.residual;
        if worst < solved.residual {
            solved.residual = worst;
            solved.x.copy_from_slice(&x);
        }
        if worst <= limits.tol || stalled || solved.iterations >= limits.most {
            return Ok(solved);
        }
        let steps = limits.restart.min(limits.most - solved.iterations).min(n);
        solved.iterations += cycle(n, &residual, &norms, steps, limits.tol, &apply, &mut x, ctx)?;
        apply(&x, &mut residual)?;
        residual.iter_mut().zip(rhs).for_each(|(image, side)| *image = side - *image);
    }
}

/// The least-squares problem of one side, kept triangular by rotations.
struct Side {
    /// Columns of the triangle.
    triangle: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    /// The rotated right-hand side; the last entry is the residual's norm.
    image: Vec<f64>,
    done: bool,
}

impl Side {
    fn new(length: f64) -> Side {
        Side { triangle: Vec::new(), rotations: Vec::new(), image: vec![length], done: length == 0.0 }
    }

    /// One more column: its entries in the basis and what lies outside of it.
    fn extend(&mut self, mut column: Vec<f64>, outside: f64) {
        for (at, &(cosine, sine)) in self.rotations.iter().enumerate() {
            let (upper, lower) = (column[at], column[at + 1]);
            column[at] = cosine * upper + sine * lower;
            column[at + 1] = cosine * lower - sine * upper;
        }
        let last = column.len() - 1;
        let length = libm::hypot(column[last], outside);
        if length == 0.0 {
            // The operator has lost this direction: nothing more to gain.
            self.done = true;
            return;
        }
        let (cosine, sine) = (column[last] / length, outside / length);
        column[last] = length;
        let tail = self.image[last];
        self.image[last] = cosine * tail;
        self.image.push(-sine * tail);
        self.rotations.push((cosine, sine));
        self.triangle.push(column);
        self.done |= outside == 0.0;
    }

    fn residual(&self) -> f64 {
        self.image.last().map_or(0.0, |tail| tail.abs())
    }

    /// Weights of the basis vectors, by back substitution.
    fn weights(&self) -> Vec<f64> {
        let count = self.triangle.len();
        let mut weights = self.image[..count].to_vec();
        for at in (0..count).rev() {
            weights[at] /= self.triangle[at][at];
            let weight = weights[at];
            for (above, entry) in weights[..at].iter_mut().zip(&self.triangle[at]) {
                *above -= weight * entry;
            }
        }
        weights
    }
}

/// Up to `steps` steps from `residual`; adds what they give to `x`.
fn cycle(
    n: usize,
    residual: &[f64],
    norms: &[f64],
    steps: usize,
    tol: f64,
    apply: &impl Fn(&[f64], &mut [f64]) -> Result<()>,
    x: &mut [f64],
    ctx: &Ctx,
) -> Result<usize> {
    let lengths: Vec<f64> = residual.chunks(n).map(norm).collect();
    let mut sides: Vec<Side> = lengths.iter().map(|&length| Side::new(length)).collect();
    let mut first = residual.to_vec();
    for (part, &length) in first.chunks_mut(n).zip(&lengths) {
        normalise(part, length);
    }
    let mut basis = vec![first];
    let mut next = vec![0.0; residual.len()];
    let mut taken = 0;
    while taken < steps && sides.iter().any(|side| !side.done) {
        ctx.check()?;
        apply(&basis[taken], &mut next)?;
        taken += 1;
        for (at, side) in sides.iter_mut().enumerate() {
            let part = &mut next[at * n..(at + 1) * n];
            if side.done {
                part.fill(0.0);
                continue;
            }
            let before = norm(part);
            let vectors: Vec<&[f64]> = basis.iter().map(|block| &block[at * n..(at + 1) * n]).collect();
            let mut entries = project_out(&vectors, part);
            let again = project_out(&vectors, part);
            entries.iter_mut().zip(again).for_each(|(entry, more)| *entry += more);
            let left = norm(part);
            // What is left of rounding alone is not a direction.
            let outside = if left > 1e-15 * before { left } else { 0.0 };
            normalise(part, outside);
            side.extend(entries, outside);
            side.done |= side.residual() <= 0.3 * tol * norms[at];
        }
        basis.push(next.clone());
        ctx.advance(1);
    }
    for (at, side) in sides.iter().enumerate() {
        let vectors: Vec<&[f64]> = basis.iter().map(|block| &block[at * n..(at + 1) * n]).collect();
        combine(&vectors, &side.weights(), 1.0, &mut x[at * n..(at + 1) * n]);
    }
    Ok(taken)
}

fn norm(values: &[f64]) -> f64 {
    Arch::new().dispatch(Dot(values, values)).sqrt()
}

/// Bring to length one what has length `length`; zero stays zero.
fn normalise(values: &mut [f64], length: f64) {
    let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
    values.iter_mut().for_each(|value| *value *= factor);
}

/// Take the parts along `vectors` out of `target`, and return them.
fn project_out(vectors: &[&[f64]], target: &mut [f64]) -> Vec<f64> {
    let held = &*target;
    let arch = Arch::new();
    let along = vectors.par_iter().map(|vector| arch.dispatch(Dot(vector, held)));
    let along: Vec<f64> = along.collect();
    combine(vectors, &along, -1.0, target);
    along
}

/// `target` += `sign` · Σ weight · vector, in the order of the vectors.
fn combine(vectors: &[&[f64]], weights: &[f64], sign: f64, target: &mut [f64]) {
    target.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, part)| {
        for (vector, weight) in vectors.iter().zip(weights) {
            let factor = sign * weight;
            let values = &vector[chunk * ROWS..chunk * ROWS + part.len()];
            part.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::uniform;

    const LIMITS: Limits = Limits { tol: 1e-13, restart: 60, most: 300 };

    #[test]
    fn solves_what_a_product_makes() {
        let (n, ctx) = (150, Ctx::new(2, 0));
        let mut stream = ctx.stream("test");
        let noise = uniform(&mut stream, n, n);
        let matrix = ndarray::Array2::<f64>::eye(n) + &noise * 0.05;
        let expected = uniform(&mut stream, 3, n);
        let rhs: Vec<f64> = expected.outer_iter().flat_map(|x| matrix.dot(&x).to_vec()).collect();
        let apply = |x: &[f64], out: &mut [f64]| {
            for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
                let image = matrix.dot(&ndarray::ArrayView1::from(x));
                out.iter_mut().zip(image).for_each(|(slot, value)| *slot = value);
            }
            Ok(())
        };
        let solved = ctx.install(|| gmres(n, &rhs, LIMITS, apply, &ctx)).unwrap();
        assert!(solved.residual < 1e-12, "{}", solved.residual);
        let gap = solved.x.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-10, "{gap}");
    }

    #[test]
    fn a_singular_operator_ends_with_its_residual() {
        let ctx = Ctx::new(1, 0);
        let half = |x: &[f64], out: &mut [f64]| {
            out.copy_from_slice(x);
            out[1] = 0.0;
            Ok(())
        };
        let solved = ctx.install(|| gmres(2, &[1.0, 1.0], LIMITS, half, &ctx)).unwrap();
        assert!((solved.residual - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!(solved.x.iter().all(|value| value.is_finite()));
        let nothing = ctx.install(|| gmres(2, &[0.0, 0.0], LIMITS, half, &ctx)).unwrap();
        assert_eq!((nothing.x, nothing.residual), (vec![0.0, 0.0], 0.0));
    }
}
