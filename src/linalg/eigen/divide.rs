//! Eigenpairs of a symmetric tridiagonal matrix by divide and conquer.
//!
//! Cuppen 1981; Gu and Eisenstat 1995: the matrix is two halves and a change of
//! rank one. Eigenpairs of the halves make that change a diagonal matrix plus
//! ρ·z·zᵀ, whose eigenvalues are roots of an equation ([`super::secular`]). Entries
//! of z that are as good as zero, and poles as good as equal, leave their eigenpairs
//! as they are (LAPACK's deflation). The last step computes only the vectors that
//! are wanted.
//!
//! Eigenvectors are rows here. Products are cut into fixed tiles: the same bits for
//! any number of threads. Cost: at most 4/3·n³ multiplications and additions each,
//! n²·k less where only k vectors are wanted.

use faer::linalg::matmul::matmul;
use faer::reborrow::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::Array2;
use rayon::prelude::*;

use super::halves::{Joined, Pairs, Part, ascending};
use super::secular::{Equation, Root};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dense::symmetric_eigen as small_eigen;
use crate::linalg::dot::Dot;

/// Matrices up to this size are decomposed whole.
const LEAF: usize = 48;
/// Eigenvectors that one task computes.
const ROWS: usize = 96;

/// All eigenvalues, ascending, and the vectors of the last `wanted` of them, one per row,
/// of the matrix with this diagonal and these numbers beside it.
pub(super) fn divide_and_conquer(
    diagonal: &[f64],
    beside: &[f64],
    wanted: usize,
    ctx: &Ctx,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = diagonal.len();
    let pairs = solve(diagonal.to_vec(), beside, Some(wanted), ctx)?;
    let order = ascending(&pairs.values);
    let values: Vec<f64> = order.iter().map(|&at| pairs.values[at]).collect();
    let mut vectors = Vec::with_capacity(wanted * n);
    for &at in &order[n - wanted..] {
        vectors.extend_from_slice(&pairs.vectors[at * n..(at + 1) * n]);
    }
    Ok((values, vectors))
}

/// `wanted`: of how many of the largest eigenvalues the vectors are needed; `None` for all.
fn solve(mut diagonal: Vec<f64>, beside: &[f64], wanted: Option<usize>, ctx: &Ctx) -> Result<Pairs> {
    ctx.check()?;
    let n = diagonal.len();
    if n <= LEAF {
        return leaf(&diagonal, beside);
    }
    let middle = n / 2;
    let coupling = beside[middle - 1];
    diagonal[middle - 1] -= coupling.abs();
    diagonal[middle] -= coupling.abs();
    let second = diagonal.split_off(middle);
    let (one, two) = rayon::join(
        || solve(diagonal, &beside[..middle - 1], None, ctx),
        || solve(second, &beside[middle..], None, ctx),
    );
    merge(one?, two?, coupling, wanted, ctx)
}

fn leaf(diagonal: &[f64], beside: &[f64]) -> Result<Pairs> {
    let n = diagonal.len();
    let mut matrix = Array2::from_diag(&ndarray::aview1(diagonal));
    for (i, &entry) in beside.iter().enumerate() {
        matrix[[i + 1, i]] = entry;
        matrix[[i, i + 1]] = entry;
    }
    let (values, vectors) = small_eigen(matrix.view())?;
    let rows = (0..n * n).map(|at| vectors[[at % n, at / n]]).collect();
    Ok(Pairs { values, vectors: rows })
}

fn merge(one: Pairs, two: Pairs, coupling: f64, wanted: Option<usize>, ctx: &Ctx) -> Result<Pairs> {
    let mut joined = Joined::new(one, two, coupling);
    let weight = 2.0 * coupling.abs();
    let (changing, staying) = joined.deflate(weight);
    let roots = Changed::new(&joined, &changing, weight, ctx)?;
    let n = joined.len();
    let mut values = roots.values();
    values.extend(staying.iter().map(|&row| joined.poles[row]));
    // Which of them are needed, by their place in `values`.
    let mut needed = vec![wanted.is_none(); n];
    if let Some(wanted) = wanted {
        ascending(&values)[n - wanted..].iter().for_each(|&at| needed[at] = true);
    }
    let vectors = roots.vectors(&joined, &changing, &staying, &needed, ctx)?;
    Ok(Pairs { values, vectors })
}

/// The pairs that a merge changes.
struct Changed {
    poles: Vec<f64>,
    roots: Vec<Root>,
    /// ŵ, for which the roots are exact (Gu and Eisenstat).
    w: Vec<f64>,
}

impl Changed {
    fn new(joined: &Joined, changing: &[usize], weight: f64, ctx: &Ctx) -> Result<Self> {
        let poles: Vec<f64> = changing.iter().map(|&row| joined.poles[row]).collect();
        let z: Vec<f64> = changing.iter().map(|&row| joined.z[row]).collect();
        let weights: Vec<f64> = z.iter().map(|z| weight * z * z).collect();
        let count = poles.len();
        let mut roots = vec![Root::default(); count];
        roots.par_chunks_mut(ROWS).enumerate().try_for_each(|(chunk, roots)| {
            ctx.check()?;
            let first = chunk * ROWS;
            let equation = Equation { poles: &poles, weights: &weights };
            pulp::Arch::new().dispatch(SolveChunk { equation, first, roots });
            Result::Ok(())
        })?;
        let mut w = vec![0.0; count];
        w.par_chunks_mut(ROWS).enumerate().try_for_each(|(chunk, w)| {
            ctx.check()?;
            pulp::Arch::new().dispatch(ExactWeights {
                poles: &poles,
                roots: &roots,
                z: &z,
                first: chunk * ROWS,
                w,
            });
            Result::Ok(())
        })?;
        Ok(Changed { poles, roots, w })
    }

    fn values(&self) -> Vec<f64> {
        self.roots.iter().map(|root| self.poles[root.origin] + root.offset).collect()
    }

    /// The vectors of all pairs, changed ones first; those not needed are left zero.
    fn vectors(
        &self,
        joined: &Joined,
        changing: &[usize],
        staying: &[usize],
        needed: &[bool],
        ctx: &Ctx,
    ) -> Result<Vec<f64>> {
        let (n, middle, count) = (joined.len(), joined.one.values.len(), changing.len());
        // Rows with a first half, then those with both, then those with a second.
        let of = |part| (0..count).filter(move |&at| joined.parts[changing[at]] == part);
        let order: Vec<usize> = of(Part::First).chain(of(Part::Both)).chain(of(Part::Second)).collect();
        let (first, both) = (of(Part::First).count(), of(Part::Both).count());
        let with_first: Vec<f64> =
            order[..first + both].iter().flat_map(|&at| joined.halves(changing[at]).0).copied().collect();
        let with_second: Vec<f64> =
            order[first..].iter().flat_map(|&at| joined.halves(changing[at]).1).copied().collect();
        let upper = MatRef::from_row_major_slice(&with_first, first + both, middle);
        let lower = MatRef::from_row_major_slice(&with_second, count - first, n - middle);
        let mut vectors = vec![0.0; n * n];
        let (changed, stayed) = vectors.split_at_mut(count * n);
        changed.par_chunks_mut(ROWS * n).enumerate().try_for_each(|(chunk, out)| {
            ctx.check()?;
            let base = chunk * ROWS;
            let chosen: Vec<usize> = (base..base + out.len() / n).filter(|&at| needed[at]).collect();
            if chosen.is_empty() {
                return Ok(());
            }
            let mut inner = vec![0.0; chosen.len() * count];
            for (row, &at) in inner.chunks_exact_mut(count).zip(&chosen) {
                self.inner_vector(at, &order, row);
            }
            let mut made = vec![0.0; chosen.len() * n];
            let inner = MatRef::from_row_major_slice(&inner, chosen.len(), count);
            let mut target = MatMut::from_row_major_slice_mut(&mut made, chosen.len(), n);
            let left = target.rb_mut().subcols_mut(0, middle);
            matmul(left, Accum::Replace, inner.subcols(0, first + both), upper, 1.0, Par::Seq);
            let right = target.rb_mut().subcols_mut(middle, n - middle);
            matmul(right, Accum::Replace, inner.subcols(first, count - first), lower, 1.0, Par::Seq);
            for (row, &at) in made.chunks_exact(n).zip(&chosen) {
                out[(at - base) * n..(at - base + 1) * n].copy_from_slice(row);
            }
            Result::Ok(())
        })?;
        for ((row, out), _) in staying
            .iter()
            .zip(stayed.chunks_exact_mut(n))
            .zip(&needed[count..])
            .filter(|(_, needed)| **needed)
        {
            out.copy_from_slice(&joined.whole(*row));
        }
        Ok(vectors)
    }

    /// An eigenvector of the inner matrix, its entries in this order, of length one.
    fn inner_vector(&self, at: usize, order: &[usize], out: &mut [f64]) {
        let root = self.roots[at];
        for (slot, &row) in out.iter_mut().zip(order) {
            *slot = self.w[row] / root.gap(self.poles[row], &self.poles);
        }
        let scale = 1.0 / pulp::Arch::new().dispatch(Dot(out, out)).sqrt();
        out.iter_mut().for_each(|entry| *entry *= scale);
    }
}

struct SolveChunk<'a> {
    equation: Equation<'a>,
    first: usize,
    roots: &'a mut [Root],
}

impl pulp::WithSimd for SolveChunk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for (index, root) in (self.first..).zip(self.roots) {
            *root = self.equation.root(index);
        }
    }
}

struct ExactWeights<'a> {
    poles: &'a [f64],
    roots: &'a [Root],
    z: &'a [f64],
    first: usize,
    w: &'a mut [f64],
}

impl pulp::WithSimd for ExactWeights<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { poles, roots, z, first, w } = self;
        for (i, w) in (first..).zip(w) {
            let pole = poles[i];
            // Roots before and after the pole each have a pole of their own to be compared with.
            let mut product = -roots[i].gap(pole, poles);
            for j in 0..i {
                product *= roots[j].gap(pole, poles) / (pole - poles[j]);
            }
            for j in i + 1..poles.len() {
                product *= roots[j].gap(pole, poles) / (pole - poles[j]);
            }
            *w = product.abs().sqrt().copysign(z[i]);
        }
    }
}
