//! The top eigenpairs by block Lanczos with full reorthogonalisation and thick
//! restart.
//!
//! The basis V grows by one orthonormal block per product with the matrix; the
//! eigenpairs of the small projected matrix H = VᵀAV approximate those at both
//! ends of the spectrum, the largest first. With more than `m` vectors the best
//! ones are kept and the rest forgotten (Wu & Simon, "Thick-restart Lanczos",
//! SIMAX 2000). The block is wider than k, so that an eigenvalue repeated up to
//! k times is found as often as it occurs (Musco & Musco, NeurIPS 2015, for why
//! blocks beat single vectors). Residuals come free from the recurrence and are
//! measured once more at the end by a product of their own.
//!
//! Symbols: n dimension, b block width, m most basis vectors. Cost per step: one
//! product with b vectors, O(n·m·b) for orthogonality, O(m³) for H.

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::orthonormal::{norms, orthonormal_columns, orthonormalise, project, tall};
use super::{Options, Solver, Spectrum, joined};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::SymmetricOperator;
use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::random::uniform;
use crate::linalg::{TallRef, gram, multiply, power_of_two_scale, standard};

/// The tolerance when the caller leaves it open.
const TIGHTEST: f64 = 1e-12;
/// Products with the matrix when the caller leaves the cap open.
const MOST_STEPS: usize = 1000;
/// Blocks the basis has room for at first.
const FIRST_BLOCKS: usize = 8;
/// Directions smaller than this, relative to ‖A‖, are rounding noise.
const NOISE: f64 = 1e-15;

/// Block width for k wanted pairs: a few more than k, in whole SIMD vectors.
pub(super) fn block_width(k: usize) -> usize {
    (k + 2).next_multiple_of(4)
}

/// Basis size at which the iteration restarts.
pub(super) fn basis_limit(k: usize, b: usize) -> usize {
    // Measured: below about 100 slowly decaying spectra restart too often, above
    // it the projected problem starts to cost more than the products saved.
    (2 * k + 4 * b).max(112)
}

pub(super) fn top(op: &dyn SymmetricOperator, k: usize, options: &Options, ctx: &Ctx) -> Result<Spectrum> {
    let mut search = Search::start(op, k, options, ctx)?;
    ctx.stage("eigenvectors", 0);
    let steps_of_product = op.steps();
    loop {
        ctx.check()?;
        search.expand()?;
        ctx.advance(usize::from(steps_of_product == 0));
        if !search.due() {
            continue;
        }
        let pairs = search.rayleigh_ritz()?;
        if let Some(products) = search.schedule.expected(search.steps) {
            ctx.expect(products.min(search.most_steps) * steps_of_product.max(1));
        }
        if pairs.converged || search.steps >= search.most_steps {
            return search.finish(&pairs);
        }
        if search.next.ncols() == 0 {
            // The random start had fewer than k independent directions outside
            // the known vectors: practically impossible, but never a hang.
            return Err(Error::NotConverged("the Krylov space is smaller than asked for".into()));
        }
        search.make_room(&pairs);
    }
}

/// Eigenpairs of the projected matrix, largest first.
struct RitzPairs {
    values: Vec<f64>,
    /// One column per value, in coordinates of the basis.
    vectors: Array2<f64>,
    /// ‖Av − λv‖ of the first k, by the recurrence.
    residuals: Vec<f64>,
    /// Whether they are below the tolerance.
    converged: bool,
}

/// When to look at the projected matrix again: decomposing it costs O(m³), which
/// for small n is more than a product.
struct Schedule {
    next_look: usize,
    /// Step of the last look and how many decades were missing then.
    last: Option<(usize, f64)>,
    /// Steps for one decade, once that can be seen.
    per_decade: Option<f64>,
}

impl Schedule {
    /// Projected matrices up to here are decomposed at every step.
    const CHEAP: usize = 32;

    /// Note a look at `step` with the worst residual `excess` times too large.
    fn looked(&mut self, step: usize, excess: f64, size: usize) {
        let missing = libm::log10(excess);
        self.next_look = step + 1;
        if let Some((before, then)) = self.last
            && missing < then
        {
            let pace = (then - missing) / (step - before) as f64;
            self.per_decade = Some(1.0 / pace);
            if size > Self::CHEAP {
                // Convergence speeds up as it goes, so look well before the estimate.
                self.next_look = step + ((0.6 * missing / pace) as usize).clamp(1, 8);
            }
        }
        self.last = Some((step, missing));
    }

    /// Steps in all, at the pace seen so far; at least one more than there were.
    fn expected(&self, steps: usize) -> Option<usize> {
        let ((_, missing), per_decade) = (self.last?, self.per_decade?);
        Some(steps + ((missing * per_decade).clamp(1.0, 1e6) as usize))
    }
}

/// The state of the iteration.
struct Search<'a> {
    op: &'a dyn SymmetricOperator,
    ctx: &'a Ctx,
    k: usize,
    spare: usize,
    trust: bool,
    tol: f64,
    most_steps: usize,
    steps: usize,
    /// Power of two that the products are multiplied by.
    scale: f64,
    /// Largest |Ritz value| and lowest Ritz value so far, of the scaled matrix.
    norm: f64,
    lowest: f64,
    /// Row-major n × capacity: known vectors, then the basis.
    store: Vec<f64>,
    capacity: usize,
    /// Most columns the store may have.
    limit: usize,
    known: usize,
    size: usize,
    /// The projected matrix; its leading size × size part is in use.
    h: Array2<f64>,
    /// The block to append next: orthonormal, orthogonal to all of the store.
    next: Array2<f64>,
    schedule: Schedule,
    /// Columns of the last block, and the Gram matrix of what its product has
    /// outside the basis.
    last: std::ops::Range<usize>,
    outside: Array2<f64>,
}

impl<'a> Search<'a> {
    fn start(op: &'a dyn SymmetricOperator, k: usize, options: &Options, ctx: &'a Ctx) -> Result<Self> {
        let n = op.dim();
        let known = match &options.deflate {
            Some(vectors) => orthonormal_columns(vectors)?,
            None => Array2::zeros((n, 0)),
        };
        let room = n - known.ncols();
        let b = options.block.unwrap_or(0).max(block_width(k)).min(room);
        let m = basis_limit(k, b).min(room);
        let limit = known.ncols() + m;
        // Most searches end after a few blocks: the rest of the room is taken when needed.
        let capacity = (known.ncols() + FIRST_BLOCKS * b).min(limit);
        let need = (n * (limit + m / 2 + 6 * b) * 8) as u64;
        ctx.reserve(need, "the Krylov basis", "ask for fewer components")?;
        let mut store = vec![0.0; n * capacity];
        append(&mut store, capacity, 0, &known);
        let first = starting_block(options.start.as_ref(), n, b, ctx)?;
        let mut next = orthonormalise(TallRef::new(&store, n, known.ncols(), capacity), first, 0.0)?;
        if next.ncols() < k {
            // Guesses that are zero or dependent leave too few directions: random ones join them.
            append(&mut store, capacity, known.ncols(), &next);
            let held = TallRef::new(&store, n, known.ncols() + next.ncols(), capacity);
            let more = starting_block(None, n, b - next.ncols(), ctx)?;
            next = joined(next.view(), orthonormalise(held, more, 0.0)?.view())?;
        }
        Ok(Search {
            op,
            ctx,
            k,
            spare: options.spare,
            trust: options.trust_recurrence,
            tol: if options.tol > 0.0 { options.tol } else { TIGHTEST },
            most_steps: options.max_iter.unwrap_or(MOST_STEPS).max(1),
            steps: 0,
            scale: 0.0,
            norm: 0.0,
            lowest: f64::INFINITY,
            store,
            capacity,
            limit,
            known: known.ncols(),
            size: 0,
            h: Array2::zeros((m, m)),
            next,
            schedule: Schedule { next_look: 0, last: None, per_decade: None },
            last: 0..0,
            outside: Array2::zeros((0, 0)),
        })
    }

    /// The known vectors and the basis as one tall matrix.
    fn basis(&self) -> TallRef<'_> {
        TallRef::new(&self.store, self.op.dim(), self.known + self.size, self.capacity)
    }

    /// A·x, scaled; refuses what is not finite.
    fn product(&mut self, x: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut y = Array2::zeros(x.dim());
        self.op.apply(x, y.view_mut(), self.ctx)?;
        let refuse = || Error::input("the matrix has NaN or infinite entries, or its entries overflow");
        if self.scale == 0.0 {
            self.scale = power_of_two_scale(y.iter().copied()).ok_or_else(refuse)?;
        }
        let scale = self.scale;
        // proof: `zeros` is row-major.
        let finite = y.as_slice_mut().expect("row-major").par_chunks_mut(1 << 14).map(|chunk| {
            chunk.iter_mut().fold(true, |finite, value| {
                *value *= scale;
                finite & value.is_finite()
            })
        });
        // Collected in full: a short-circuit could leave chunks unscaled.
        if finite.collect::<Vec<_>>().into_iter().all(|chunk| chunk) { Ok(y) } else { Err(refuse()) }
    }

    /// Append the next block, multiply it, and split the product into what lies
    /// in the basis (a column block of H) and the block after it.
    fn expand(&mut self) -> Result<()> {
        let block = std::mem::take(&mut self.next);
        if self.known + self.size + block.ncols() > self.capacity {
            self.widen();
        }
        append(&mut self.store, self.capacity, self.known + self.size, &block);
        self.last = self.size..self.size + block.ncols();
        self.size += block.ncols();
        let mut w = self.product(block.view())?;
        self.steps += 1;
        self.norm = norms(&w).into_iter().fold(self.norm, f64::max);
        // Once is enough for H; `orthonormalise` projects again, as often as it takes.
        let inside = project(self.basis(), &mut w);
        for (column, j) in self.last.clone().enumerate() {
            for i in 0..self.size {
                let value = inside[[self.known + i, column]];
                self.h[[i, j]] = value;
                self.h[[j, i]] = value;
            }
        }
        self.outside = gram(tall(&w), tall(&w));
        self.next = orthonormalise(self.basis(), w, NOISE * self.norm)?;
        Ok(())
    }

    /// Eigenpairs of H and their residuals ‖W·y_last‖.
    fn rayleigh_ritz(&mut self) -> Result<RitzPairs> {
        let projected = self.h.slice(s![..self.size, ..self.size]);
        let (values, vectors) = symmetric_eigen(projected, self.size, false, self.ctx)?;
        self.lowest = self.lowest.min(values[0]);
        self.norm = self.norm.max(values[0].abs()).max(values[self.size - 1].abs());
        let values: Vec<f64> = values.into_iter().rev().collect();
        let vectors = vectors.slice(s![.., ..;-1]).as_standard_layout().into_owned();
        let tails = vectors.slice(s![self.last.clone(), ..self.k.min(self.size)]);
        let squares = (self.outside.dot(&tails) * tails).sum_axis(ndarray::Axis(0));
        let residuals: Vec<f64> = squares.iter().map(|square| square.max(0.0).sqrt()).collect();
        let worst = residuals.iter().fold(0.0, |worst: f64, residual| worst.max(*residual));
        let small = worst <= self.tol * self.norm;
        self.schedule.looked(self.steps, worst / (self.tol * self.norm), self.size);
        // Nothing left to append: the basis is invariant and the pairs exact.
        let converged = self.size >= self.k && (small || self.next.ncols() == 0);
        Ok(RitzPairs { values, vectors, residuals, converged })
    }

    /// All the room the basis may take.
    fn widen(&mut self) {
        let used = self.known + self.size;
        let mut wider = vec![0.0; self.op.dim() * self.limit];
        let rows = wider.chunks_exact_mut(self.limit).zip(self.store.chunks_exact(self.capacity));
        rows.for_each(|(new, old)| new[..used].copy_from_slice(&old[..used]));
        self.store = wider;
        self.capacity = self.limit;
    }

    /// Whether the projected matrix must be looked at after this step.
    fn due(&self) -> bool {
        let full = self.known + self.size + self.next.ncols() > self.limit;
        let last = self.next.ncols() == 0 || self.steps >= self.most_steps;
        full || last || self.steps >= self.schedule.next_look
    }

    /// Thick restart when the next block does not fit: keep the best vectors.
    fn make_room(&mut self, pairs: &RitzPairs) {
        let wanted = self.known + self.size + self.next.ncols();
        if wanted <= self.limit {
            return;
        }
        let most = self.limit - self.known - self.next.ncols();
        let keep = (self.size / 2).max(self.k + 2).min(most).min(self.size);
        let kept = self.lift(pairs.vectors.slice(s![.., ..keep]));
        append(&mut self.store, self.capacity, self.known, &kept);
        self.h.fill(0.0);
        for i in 0..keep {
            self.h[[i, i]] = pairs.values[i];
        }
        self.size = keep;
    }

    /// Vectors given in coordinates of the basis, as vectors of length n.
    fn lift(&self, coordinates: ArrayView2<f64>) -> Array2<f64> {
        let width = coordinates.ncols();
        let mut padded = Array2::zeros((self.known + self.size, width));
        padded.slice_mut(s![self.known.., ..]).assign(&coordinates);
        let mut lifted = Array2::zeros((self.op.dim(), width));
        // proof: `zeros` is row-major.
        let target = lifted.as_slice_mut().expect("row-major");
        multiply(self.basis(), padded.view(), 1.0, false, target, width);
        lifted
    }

    /// ‖Av − λv‖ by a product of their own.
    fn measured_residuals(&mut self, vectors: &Array2<f64>, values: &[f64]) -> Result<Vec<f64>> {
        let mut rest = self.product(vectors.view())?;
        if self.known > 0 {
            project(TallRef::new(&self.store, self.op.dim(), self.known, self.capacity), &mut rest);
        }
        for (j, value) in values.iter().take(vectors.ncols()).enumerate() {
            rest.column_mut(j).scaled_add(-value, &vectors.column(j));
        }
        Ok(norms(&rest))
    }

    /// The largest eigenvalue of the known vectors: products round relative to it, even
    /// where all else is far smaller.
    fn known_size(&mut self) -> Result<f64> {
        if self.known == 0 {
            return Ok(0.0);
        }
        let (n, stride) = (self.op.dim(), self.capacity);
        let known = Array2::from_shape_fn((n, self.known), |(i, j)| self.store[i * stride + j]);
        Ok(norms(&self.product(known.view())?).into_iter().fold(0.0, f64::max))
    }

    /// The first k pairs and their residuals.
    fn finish(&mut self, pairs: &RitzPairs) -> Result<Spectrum> {
        let k = self.k.min(self.size);
        let more = (self.k + self.spare).min(self.size);
        let vectors = self.lift(pairs.vectors.slice(s![.., ..k]));
        let residuals = if self.trust {
            pairs.residuals[..k].to_vec()
        } else {
            self.measured_residuals(&vectors, &pairs.values)?
        };
        let residuals_wanted = residuals.len();
        // The product itself rounds, so a tolerance near that level gets slack.
        let mut bound = (10.0 * self.tol).max(1e-11) * self.norm;
        if residuals.iter().any(|&residual| residual > bound) {
            bound = bound.max(10.0 * f64::EPSILON * self.known_size()?);
        }
        let good = residuals.iter().take_while(|&&residual| residual <= bound).count();
        Ok(Spectrum {
            values: pairs.values[..k].iter().map(|value| value / self.scale).collect(),
            vectors,
            residuals: residuals.into_iter().map(|residual| residual / self.scale).collect(),
            iterations: self.steps,
            converged: pairs.converged && good == residuals_wanted,
            converged_pairs: good,
            lowest: self.lowest / self.scale,
            next: pairs.values.get(k).map(|value| value / self.scale),
            spare: (more > k).then(|| self.lift(pairs.vectors.slice(s![.., k..more]))),
            ran: Solver::Krylov,
        })
    }
}

/// `b` columns to start from: the guesses there are, and random ones.
fn starting_block(guesses: Option<&Array2<f64>>, n: usize, b: usize, ctx: &Ctx) -> Result<Array2<f64>> {
    let mut block = uniform(&mut ctx.stream("krylov"), n, b);
    let Some(guesses) = guesses else { return Ok(block) };
    if guesses.nrows() != n {
        let rows = guesses.nrows();
        return Err(Error::input(format!("starting vectors have {rows} rows, the matrix {n}")));
    }
    for (mut column, guess) in block.columns_mut().into_iter().zip(guesses.columns()) {
        column.assign(&guess);
    }
    Ok(block)
}

/// Write `block` into the columns of a row-major store, beginning at `first`.
fn append(store: &mut [f64], stride: usize, first: usize, block: &Array2<f64>) {
    let width = block.ncols();
    if width == 0 {
        return;
    }
    let block = standard(block.view());
    // proof: `standard` returns a row-major matrix without gaps.
    let rows = block.as_slice().expect("standard layout").chunks_exact(width);
    for (row, values) in store.chunks_exact_mut(stride).zip(rows) {
        row[first..first + width].copy_from_slice(values);
    }
}
