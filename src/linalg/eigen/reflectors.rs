//! Householder reflections in panels, applied a panel at a time.
//!
//! H = I − s·v·vᵀ; the product of a panel's reflections, the first one leftmost,
//! is I − V·T·Vᵀ with T upper triangular (Schreiber and Van Loan 1989). Place:
//! between the reductions of this folder and the vectors they are taken back
//! from. Cost: 4·n·k per vector for k reflections.

use faer::linalg::matmul::matmul;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dot::Dot;

/// Vectors that one task turns.
const ROWS: usize = 64;
/// A vector whose square is less than this, beside others near one, is zero.
const NOTHING: f64 = 1e-280;

/// The reflection that leaves of `x` its first entry only: what that becomes, and s;
/// `x` becomes v, whose first entry is 1.
pub(super) fn reflection(x: &mut [f64]) -> (f64, f64) {
    let rest = pulp::Arch::new().dispatch(Dot(&x[1..], &x[1..]));
    let alpha = x[0];
    x[0] = 1.0;
    if rest < NOTHING {
        x[1..].fill(0.0);
        return (alpha, 0.0);
    }
    let size = (alpha * alpha + rest).sqrt();
    let beta = if alpha > 0.0 { -size } else { size };
    let factor = 1.0 / (alpha - beta);
    x[1..].iter_mut().for_each(|entry| *entry *= factor);
    (beta, (beta - alpha) / beta)
}

/// Reflections that were made together.
pub(super) struct Panel {
    /// Where their vectors begin.
    pub first: usize,
    /// How long these are.
    pub length: usize,
    /// One vector after the other, zero before its own first entry.
    pub vectors: Vec<f64>,
    /// s of each.
    pub scales: Vec<f64>,
}

impl Panel {
    pub fn new(first: usize, length: usize, width: usize) -> Self {
        Panel { first, length, vectors: vec![0.0; width * length], scales: vec![0.0; width] }
    }

    fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.vectors, self.scales.len(), self.length)
    }

    /// T, row-major.
    pub fn triangle(&self) -> Vec<f64> {
        let width = self.scales.len();
        let mut inner = vec![0.0; width * width];
        let target = MatMut::from_row_major_slice_mut(&mut inner, width, width);
        matmul(target, Accum::Replace, self.matrix(), self.matrix().transpose(), 1.0, Par::Seq);
        let mut triangle = vec![0.0; width * width];
        for j in 0..width {
            for i in 0..j {
                let sum: f64 = (i..j).map(|t| triangle[i * width + t] * inner[t * width + j]).sum();
                triangle[i * width + j] = -self.scales[j] * sum;
            }
            triangle[j * width + j] = self.scales[j];
        }
        triangle
    }

    /// The vectors in `rows` (each `stride` long) times the panel's product from the left:
    /// x ← (I − V·T·Vᵀ)·x, or with `inverse` (I − V·Tᵀ·Vᵀ)·x.
    pub fn turn(&self, triangle: &[f64], rows: &mut [f64], stride: usize, inverse: bool) {
        let (count, width) = (rows.len() / stride, self.scales.len());
        let v = self.matrix();
        let rows = MatMut::from_row_major_slice_mut(rows, count, stride);
        let mut part = rows.subcols_mut(self.first, self.length);
        let triangle = MatRef::from_row_major_slice(triangle, width, width);
        // As rows: xᵀ ← xᵀ − (xᵀV)·Tᵀ·Vᵀ.
        let triangle = if inverse { triangle } else { triangle.transpose() };
        let (mut along, mut turned) = (vec![0.0; count * width], vec![0.0; count * width]);
        let mut along = MatMut::from_row_major_slice_mut(&mut along, count, width);
        let mut turned = MatMut::from_row_major_slice_mut(&mut turned, count, width);
        matmul(along.rb_mut(), Accum::Replace, part.rb(), v.transpose(), 1.0, Par::Seq);
        matmul(turned.rb_mut(), Accum::Replace, along.rb(), triangle, 1.0, Par::Seq);
        matmul(part.rb_mut(), Accum::Add, turned.rb(), v, -1.0, Par::Seq);
    }
}

/// Reflections one panel after the other: Q = P₁·P₂·….
pub(super) struct Reflectors {
    n: usize,
    panels: Vec<Panel>,
}

impl Reflectors {
    pub fn new(n: usize) -> Self {
        Reflectors { n, panels: Vec::new() }
    }

    pub fn push(&mut self, panel: Panel) {
        self.panels.push(panel);
    }

    /// Q·x for vectors x, one per row of n numbers, in place.
    pub fn apply(&self, vectors: &mut [f64], report: bool, ctx: &Ctx) -> Result<()> {
        let triangles: Vec<Vec<f64>> = self.panels.par_iter().map(Panel::triangle).collect();
        vectors.par_chunks_mut(ROWS * self.n).try_for_each(|rows| {
            for (panel, triangle) in self.panels.iter().zip(&triangles).rev() {
                ctx.check()?;
                panel.turn(triangle, rows, self.n, false);
            }
            ctx.advance(if report { rows.len() / self.n } else { 0 });
            Ok(())
        })
    }
}
