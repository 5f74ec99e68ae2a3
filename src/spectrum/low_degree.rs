//! The value of an eigenfunction at rows of low degree.
//!
//! Place: after the eigenvectors v of a normalised Laplacian, where coordinates f =
//! D^-½ v are made of them. A solver gives v with an error of about ε, so that v over a
//! root that is nearly zero has no digits left. But the eigenvalue equation gives
//! such rows from the others:
//!
//! ```text
//! (1 − λ) f_i = Σ_j P_ij f_j        P = D^-1 W
//! ```
//!
//! Rows of low degree may be joined to each other, so these are solved for together. An
//! entry that is large in v although its row's degree is low has its digits and is kept.
//!
//! Cost: O(entries) and, of r such rows, r³/3 up to [`MOST_DIRECT`] of them; beyond, a
//! sparse factor of I − P between them and a few solves with it.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::laplacian::LaplacianPairs;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::kernel::Affinity;
use crate::linalg::cholesky::elimination::{Elimination, Pattern};
use crate::linalg::cholesky::multifrontal::{Entries, Factor, Structure};
use crate::linalg::gmres::{Limits, gmres};

/// Degrees below this share of the largest leave too few digits.
const LOW_DEGREE: f64 = 1e-8;
/// Entries of v above this share of the largest have enough of them.
const WEIGHTY: f64 = 1e-4;
/// Eigenvalues of the walk below this have no digits left, and are not divided by.
const TINY: f64 = 1e-10;
/// An affinity below this share of both its rows changes nothing.
const NO_SHARE: f64 = 1e-20;
/// So many rows are solved for by elimination.
const MOST_DIRECT: usize = 512;
/// Numbers that a sparse factor may take.
const MOST_FILL: u64 = 1 << 26;
/// When the iteration for more of them stops.
const LIMITS: Limits = Limits { tol: 1e-13, restart: 60, most: 600 };

/// Set the rows of D^-½ v that have low degree by the eigenvalue equation.
pub fn settle(
    functions: &mut Array2<f64>,
    smooth: &LaplacianPairs,
    affinity: &Affinity,
    degrees: &[f64],
    ctx: &Ctx,
) -> Result<()> {
    let most = degrees.iter().fold(0.0_f64, |most, &degree| most.max(degree));
    let tied = |i: usize| {
        let mut tied = false;
        affinity.for_each(i, |_, weight| tied |= weight > 0.0);
        tied
    };
    let mut faint: Vec<usize> =
        (0..degrees.len()).filter(|&i| degrees[i] < LOW_DEGREE * most && tied(i)).collect();
    // A row's share of one of lower degree is tiny: in this order the system is
    // nearly triangular.
    faint.sort_by(|&a, &b| degrees[b].total_cmp(&degrees[a]).then(a.cmp(&b)));
    let mut place = vec![None; degrees.len()];
    // The vectors that separate components are exact as they are.
    for (c, &value) in smooth.values.iter().enumerate().skip(smooth.known) {
        ctx.check()?;
        let vector = smooth.vectors.column(c);
        let largest = vector.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        let open = |&&i: &&usize| vector[i].abs() < WEIGHTY * largest;
        let rows: Vec<usize> = faint.iter().filter(open).copied().collect();
        if rows.is_empty() {
            continue;
        }
        rows.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at));
        let walk = if (1.0 - value).abs() < TINY { 1.0 } else { 1.0 - value };
        let roots = rows.iter().map(|&i| degrees[i].sqrt()).collect();
        let mut system = System { walk, shares: Vec::with_capacity(rows.len()), roots };
        let mut sides = Vec::with_capacity(rows.len());
        for &i in &rows {
            let (mut shares, mut side) = (Vec::new(), 0.0);
            affinity.for_each(i, |j, weight| {
                let share = weight / degrees[i];
                match place[j] {
                    None => side += share * functions[[j, c]],
                    Some(at) if weight > NO_SHARE * degrees[i].min(degrees[j]) => shares.push((at, share)),
                    Some(_) => {}
                }
            });
            shares.sort_unstable_by_key(|pair: &(usize, f64)| pair.0);
            system.shares.push(shares);
            sides.push(side);
        }
        rows.iter().for_each(|&i| place[i] = None);
        let solved = system.solve(sides, ctx)?;
        if let Some(found) = solved.filter(|found| found.iter().all(|value| value.is_finite())) {
            rows.iter().zip(found).for_each(|(&i, value)| functions[[i, c]] = value);
        }
    }
    Ok(())
}

/// (1 − λ) I − P between some rows.
struct System {
    /// 1 − λ.
    walk: f64,
    /// The entries of P in each row, ascending.
    shares: Vec<Vec<(usize, f64)>>,
    /// D^½.
    roots: Vec<f64>,
}

impl System {
    /// The solution; `None` when there is not just one.
    fn solve(&self, sides: Vec<f64>, ctx: &Ctx) -> Result<Option<Vec<f64>>> {
        if sides.len() <= MOST_DIRECT {
            return self.eliminated(sides, ctx);
        }
        match self.factor(ctx)? {
            Some(factor) => self.by_factor(&factor, sides, ctx).map(Some),
            None => self.by_triangle(sides, ctx).map(Some),
        }
    }

    /// Gauss with partial pivoting: between rows of low, similar degree the matrix may be
    /// indefinite.
    fn eliminated(&self, mut sides: Vec<f64>, ctx: &Ctx) -> Result<Option<Vec<f64>>> {
        let n = sides.len();
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        for (i, shares) in self.shares.iter().enumerate() {
            let mut row = vec![0.0; n];
            row[i] = self.walk;
            shares.iter().for_each(|&(j, share)| row[j] -= share);
            rows.push(row);
        }
        for k in 0..n {
            ctx.check()?;
            let larger =
                |best: usize, i: usize| if rows[i][k].abs() > rows[best][k].abs() { i } else { best };
            let pivot = (k..n).fold(k, larger);
            if rows[pivot][k].abs() < f64::EPSILON {
                return Ok(None);
            }
            rows.swap(k, pivot);
            sides.swap(k, pivot);
            let (above, below) = rows.split_at_mut(k + 1);
            let top = &above[k];
            for (row, i) in below.iter_mut().zip(k + 1..) {
                let factor = row[k] / top[k];
                if factor != 0.0 {
                    row[k + 1..]
                        .iter_mut()
                        .zip(&top[k + 1..])
                        .for_each(|(entry, above)| *entry -= factor * above);
                    sides[i] -= factor * sides[k];
                }
            }
        }
        for k in (0..n).rev() {
            let known: f64 =
                rows[k][k + 1..].iter().zip(&sides[k + 1..]).map(|(entry, value)| entry * value).sum();
            sides[k] = (sides[k] - known) / rows[k][k];
        }
        Ok(Some(sides))
    }

    /// The Cholesky factor of I − D^-½ W D^-½ between these rows, which is definite
    /// because of what ties them to the others; `None` where rounding hides those ties or
    /// the factor is too large.
    fn factor(&self, ctx: &Ctx) -> Result<Option<Factor>> {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (i, shares) in self.shares.iter().enumerate() {
            let before = shares.partition_point(|pair| pair.0 < i);
            let entry = |&(j, share): &(usize, f64)| (j, -share * (self.roots[i] / self.roots[j]));
            let (left, right) = (shares[..before].iter().map(entry), shares[before..].iter().map(entry));
            for (j, value) in left.chain([(i, 1.0)]).chain(right) {
                columns.push(j as u32);
                values.push(value);
            }
            offsets.push(columns.len());
        }
        let pattern = Pattern { offsets: &offsets, targets: &columns };
        let Some(elimination) = Elimination::dissected(pattern, MOST_FILL, ctx)? else { return Ok(None) };
        let structure = Structure::new(pattern, elimination, ctx)?;
        let entries = Entries { offsets: &offsets, columns: &columns, values: &values };
        Ok(Factor::new(structure, entries, 0.0, ctx)?.ok())
    }

    /// GMRES on (I − P)⁻¹ times the system, which is I − λ (I − P)⁻¹: next to I, but for
    /// the few directions in which these rows are tied to the others as loosely as λ is
    /// small.
    fn by_factor(&self, factor: &Factor, mut sides: Vec<f64>, ctx: &Ctx) -> Result<Vec<f64>> {
        let n = sides.len();
        let undo = |x: &mut [f64]| -> Result<()> {
            let scaled: Vec<f64> = x.iter().zip(&self.roots).map(|(value, root)| value * root).collect();
            let fits = |fault: ndarray::ShapeError| Error::input(fault.to_string());
            let from = ArrayView2::from_shape((n, 1), &scaled).map_err(fits)?;
            factor.solve(from, ArrayViewMut2::from_shape((n, 1), x).map_err(fits)?, ctx)?;
            x.iter_mut().zip(&self.roots).for_each(|(value, root)| *value /= root);
            Ok(())
        };
        undo(&mut sides)?;
        let apply = |x: &[f64], image: &mut [f64]| {
            image.copy_from_slice(x);
            undo(image)?;
            image.iter_mut().zip(x).for_each(|(image, x)| *image = x - (1.0 - self.walk) * *image);
            Ok(())
        };
        Ok(gmres(n, &sides, LIMITS, apply, ctx)?.x)
    }

    /// GMRES on what the lower triangle leaves.
    fn by_triangle(&self, mut sides: Vec<f64>, ctx: &Ctx) -> Result<Vec<f64>> {
        self.undo_lower(&mut sides);
        let apply = |x: &[f64], image: &mut [f64]| {
            ctx.check()?;
            for (i, shares) in self.shares.iter().enumerate() {
                let later = shares.iter().filter(|&&(j, _)| j > i);
                image[i] = -later.map(|&(j, share)| share * x[j]).sum::<f64>();
            }
            self.undo_lower(image);
            image.iter_mut().zip(x).for_each(|(image, x)| *image += x);
            Ok(())
        };
        Ok(gmres(sides.len(), &sides, LIMITS, apply, ctx)?.x)
    }

    /// Multiply by the inverse of the lower triangle.
    fn undo_lower(&self, x: &mut [f64]) {
        for (i, shares) in self.shares.iter().enumerate() {
            let before = shares.iter().filter(|&&(j, _)| j < i);
            let known: f64 = before.map(|&(j, share)| share * x[j]).sum();
            x[i] = (x[i] + known) / self.walk;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of rows with falling affinities to the next, tied to others outside.
    fn ring(n: usize, walk: f64) -> System {
        let weight = |i: usize| 0.8_f64.powi(i as i32 % (n as i32));
        let degree = |i: usize| 1.1 * (weight(i) + weight(i + n - 1));
        let shares = |i: usize| {
            let mut shares =
                vec![((i + 1) % n, weight(i) / degree(i)), ((i + n - 1) % n, weight(i + n - 1) / degree(i))];
            shares.sort_unstable_by_key(|pair| pair.0);
            shares
        };
        let roots = (0..n).map(|i| degree(i).sqrt()).collect();
        System { walk, shares: (0..n).map(shares).collect(), roots }
    }

    #[test]
    fn all_ways_to_solve_agree() {
        let ctx = Ctx::new(1, 0);
        let n = 60;
        for walk in [1.0, 0.97, 0.6, -0.5] {
            let system = ring(n, walk);
            let sides: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let direct = system.eliminated(sides.clone(), &ctx).unwrap().unwrap();
            let factor = ctx.install(|| system.factor(&ctx)).unwrap().unwrap();
            let others = [
                ctx.install(|| system.by_factor(&factor, sides.clone(), &ctx)).unwrap(),
                system.by_triangle(sides.clone(), &ctx).unwrap(),
            ];
            let size = direct.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            for i in 0..n {
                let image: f64 = system.shares[i].iter().map(|&(j, share)| -share * direct[j]).sum();
                assert!((image + walk * direct[i] - sides[i]).abs() < 1e-12 * size, "{walk}: row {i}");
                for other in &others {
                    let gap = (direct[i] - other[i]).abs();
                    assert!(gap < 1e-8 * size, "{walk}: {} for {}", other[i], direct[i]);
                }
            }
        }
    }

    #[test]
    fn no_unique_solution_is_none() {
        let shares = vec![vec![(1, 1.0)], vec![(0, 1.0)]];
        let system = System { walk: 1.0, shares, roots: vec![1.0; 2] };
        assert_eq!(system.solve(vec![1.0, 1.0], &Ctx::new(1, 0)).unwrap(), None);
    }
}
