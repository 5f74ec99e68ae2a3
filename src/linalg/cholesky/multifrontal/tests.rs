//! The factor against dense ones, where its fronts are large.

use std::time::{Duration, Instant};

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::Array2;

use super::{Entries, Factor, Structure};
use crate::context::Ctx;
use crate::error::Error;
use crate::linalg::cholesky::elimination::{Elimination, Pattern};
use crate::linalg::random::uniform;

/// A symmetric matrix in compressed rows.
struct Matrix {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// An arrow: `arms` paths of `length` nodes, each tied to all of a dense block of
    /// `head` nodes; diagonally dominant.
    fn arrow(arms: usize, length: usize, head: usize) -> Matrix {
        let n = arms * length + head;
        let entry = |i: usize, j: usize| -1.0 / (1.0 + ((i * 31 + j * 31 + i * j) % 17) as f64);
        let joined = |i: usize, j: usize| {
            let first = n - head;
            match (i >= first, j >= first) {
                (true, true) => true,
                (false, false) => i / length == j / length && i.abs_diff(j) <= 1,
                _ => i.min(j) % 3 == i.max(j) % 3,
            }
        };
        let mut matrix = Matrix { offsets: vec![0], columns: vec![], values: vec![] };
        for i in 0..n {
            let start = matrix.values.len();
            for j in (0..n).filter(|&j| i == j || joined(i, j)) {
                matrix.columns.push(j as u32);
                matrix.values.push(if i == j { 0.0 } else { entry(i, j) });
            }
            let sum: f64 = matrix.values[start..].iter().map(|value| value.abs()).sum();
            let own = matrix.columns[start..].iter().position(|&j| j as usize == i).unwrap();
            matrix.values[start + own] = sum + 0.1;
            matrix.offsets.push(matrix.values.len());
        }
        matrix
    }

    fn structure(&self, ctx: &Ctx) -> Structure {
        let pattern = Pattern { offsets: &self.offsets, targets: &self.columns };
        let elimination = Elimination::new(pattern, u64::MAX, ctx).unwrap().unwrap();
        Structure::new(pattern, elimination, ctx).unwrap()
    }

    fn entries(&self) -> Entries<'_> {
        Entries { offsets: &self.offsets, columns: &self.columns, values: &self.values }
    }

    fn solved(&self, x: &Array2<f64>, threads: usize) -> (Vec<f64>, Array2<f64>) {
        let ctx = Ctx::new(threads, 0);
        ctx.install(|| {
            let factor = Factor::new(self.structure(&ctx), self.entries(), 0.25, &ctx).unwrap().unwrap();
            let mut y = Array2::zeros(x.dim());
            factor.solve(x.view(), y.view_mut(), &ctx).unwrap();
            (factor.values, y)
        })
    }
}

#[test]
fn a_large_front_solves_like_the_dense_factor_on_any_number_of_threads() {
    assert_solves_like_dense(&Matrix::arrow(5, 40, 700));
}

#[test]
fn children_added_up_early_count_like_those_that_wait() {
    // Several hundred leaves below one front, each with a third of its rows.
    let matrix = Matrix::arrow(600, 1, 60);
    let structure = matrix.structure(&Ctx::new(1, 0));
    let waiting: usize = (0..structure.len()).map(|index| structure.rows_of(index).len().pow(2)).sum();
    assert!(waiting > 8 * structure.fill(), "they would take little room: {waiting}");
    assert_solves_like_dense(&matrix);
}

/// Against faer's dense factor, and with the same bits on any number of threads.
fn assert_solves_like_dense(matrix: &Matrix) {
    let n = matrix.offsets.len() - 1;
    let x = uniform(&mut Ctx::new(1, 0).stream("test"), n, 11);
    let mut dense = Mat::<f64>::zeros(n, n);
    for i in 0..n {
        for at in matrix.offsets[i]..matrix.offsets[i + 1] {
            dense[(i, matrix.columns[at] as usize)] = matrix.values[at];
        }
        dense[(i, i)] += 0.25;
    }
    let right = Mat::from_fn(n, 11, |i, j| x[[i, j]]);
    let expected = dense.llt(Side::Lower).unwrap().solve(&right);
    let (values, y) = matrix.solved(&x, 1);
    for ((i, j), value) in y.indexed_iter() {
        assert!(
            (value - expected[(i, j)]).abs() < 1e-12 * (1.0 + value.abs()),
            "{value} for {}",
            expected[(i, j)]
        );
    }
    for threads in [2, 3] {
        let (others, z) = matrix.solved(&x, threads);
        assert!(values == others, "another factor on {threads} threads");
        assert_eq!(y, z, "another solution on {threads} threads");
    }
}

#[test]
fn a_large_front_with_a_negative_pivot_is_refused() {
    for place in [3, 150, 699] {
        let ctx = Ctx::new(2, 0);
        let mut matrix = Matrix::arrow(0, 1, 700);
        let own = (matrix.offsets[place]..).find(|&at| matrix.columns[at] as usize == place).unwrap();
        matrix.values[own] = -1.0;
        assert!(Factor::new(matrix.structure(&ctx), matrix.entries(), 0.25, &ctx).unwrap().is_err());
    }
}

#[test]
fn a_large_front_can_be_stopped() {
    let ctx = Ctx::new(2, 0);
    let matrix = Matrix::arrow(0, 1, 4000);
    let structure = matrix.structure(&ctx);
    let watch = ctx.watch();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        watch.cancel();
        Instant::now()
    });
    let result = ctx.install(|| Factor::new(structure, matrix.entries(), 0.25, &ctx));
    let stopped = Instant::now();
    let cancelled = canceller.join().unwrap();
    // A machine that is done before the cancellation shows nothing.
    if stopped > cancelled {
        assert!(matches!(result, Err(Error::Cancelled)) || stopped - cancelled < Duration::from_millis(20));
        assert!(stopped - cancelled < Duration::from_millis(500), "{:?}", stopped - cancelled);
    }
}
