//! The matrix-free operators, the kernel functions and the principal axes held
//! against explicitly formed matrices, naive formulas and each other.

use crate::input::{Csr, PointsRef};
use crate::kernel::centering::{CenteredKernel, CenteredSquares, Centering};
use crate::kernel::functions::{Kernel, kernel_matrix};
use crate::kernel::gram::{CenteredPoints, Side};
use crate::kernel::packed_centering::CenteredPacked;
use crate::linalg::SymmetricOperator;
use crate::linalg::packed::{LANES, PackedDistances};
use crate::linalg::random::{draw, uniform};
use crate::spectrum::principal_axes::{Pca, PcaRoute, pca};
use crate::spectrum::{Options, Solver, top};
use crate::{Ctx, Error};
use ndarray::{Array1, Array2, ArrayView1};
use proptest::prelude::*;

fn random(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    uniform(&mut Ctx::new(1, seed).stream("test"), rows, cols)
}

fn distances(points: &Array2<f64>) -> Array2<f64> {
    let n = points.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| {
        let apart = &points.row(i) - &points.row(j);
        apart.dot(&apart).sqrt()
    })
}

fn packed(matrix: &Array2<f64>, order: Vec<u32>) -> PackedDistances {
    let mut packed = PackedDistances::zeros(matrix.nrows(), 1.0).unwrap();
    for (p, panel) in packed.panels_mut().into_iter().enumerate() {
        for (column, lanes) in panel.iter_mut().enumerate() {
            *lanes = std::array::from_fn(|lane| {
                let row = order.get(p * LANES + lane);
                row.map_or(0.0, |&row| matrix[[row as usize, order[column] as usize]])
            });
        }
    }
    packed.in_order(order)
}

fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut stream = Ctx::new(1, seed).stream("order");
    let mut keyed: Vec<(u64, u32)> = (0..n as u32).map(|i| (draw(&mut stream).to_bits(), i)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

fn sparse(matrix: &Array2<f64>) -> Csr {
    let mut csr = Csr { cols: matrix.ncols(), offsets: vec![0], indices: vec![], values: vec![] };
    for row in matrix.rows() {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            csr.indices.push(j as u32);
            csr.values.push(value);
        }
        csr.offsets.push(csr.indices.len());
    }
    csr
}

/// H(a)·M·H(a)ᵀ formed step by step.
fn centred(matrix: &Array2<f64>, a: &[f64]) -> Array2<f64> {
    let n = matrix.nrows();
    let h = Array2::from_shape_fn((n, n), |(i, j)| f64::from(u8::from(i == j)) - a[j]);
    h.dot(matrix).dot(&h.t())
}

fn assert_close(got: &Array2<f64>, expected: &Array2<f64>, tolerance: f64) {
    assert_eq!(got.dim(), expected.dim());
    assert!(got.iter().all(|value| value.is_finite()));
    let size = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs())).max(1e-300);
    let worst = (got - expected).iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    assert!(worst <= tolerance * size, "off by {worst} of {size}");
}

fn applied(op: &dyn SymmetricOperator, x: &Array2<f64>, ctx: &Ctx) -> Array2<f64> {
    let mut y = Array2::from_elem((op.dim(), x.ncols()), f64::NAN);
    op.apply(x.view(), y.view_mut(), ctx).unwrap();
    y
}

fn centerings(n: usize) -> Vec<Centering> {
    let raw: Vec<f64> = random(n, 1, 77).iter().map(|value| value + 1.5).collect();
    let sum: f64 = raw.iter().sum();
    vec![
        Centering::mean(n),
        Centering::point(n, n / 2).unwrap(),
        Centering::weights(raw.iter().map(|value| value / sum).collect()).unwrap(),
    ]
}

#[test]
fn centred_operators_equal_the_formed_matrices() {
    let ctx = Ctx::new(2, 0);
    for (n, b) in [(1, 1), (2, 1), (15, 3), (16, 4), (17, 5), (100, 8), (301, 12), (530, 16), (290, 37)] {
        let d = distances(&random(n, 3, n as u64));
        let squares = &d * &d;
        let halves = packed(&d, shuffled(n, 5));
        let x = random(n, b, 9);
        for centering in centerings(n) {
            let formed = centred(&squares, centering.as_slice()) * -0.5;
            let dense = CenteredSquares::new(d.view()).unwrap().with_centering(centering.clone()).unwrap();
            let half = CenteredPacked::new(&halves).with_centering(centering.clone()).unwrap();
            let kernel =
                CenteredKernel::new(squares.view()).unwrap().with_centering(centering.clone()).unwrap();
            let size = formed.iter().fold(0.0_f64, |most, value| most.max(value.abs())).max(1e-300);
            for (op, factor) in [(&dense as &dyn SymmetricOperator, 1.0), (&half, 1.0), (&kernel, -0.5)] {
                let expected = formed.dot(&x);
                let off = applied(op, &x, &ctx) * factor - expected;
                assert!(off.iter().all(|e| e.abs() <= 1e-13 * size * n as f64), "n = {n}, b = {b}");
                assert!(
                    (op.to_dense(&ctx).unwrap() * factor - &formed)
                        .iter()
                        .all(|e| e.abs() <= 1e-13 * size.max(1.0)),
                    "to_dense, n = {n}"
                );
            }
            let means = dense.means(&ctx).unwrap();
            let rows = squares.dot(&ArrayView1::from(centering.as_slice()));
            assert!(
                means
                    .rows
                    .iter()
                    .zip(&rows)
                    .all(|(got, mean)| (got - mean).abs() < 1e-13 * (1.0 + mean.abs()))
            );
            assert!((means.grand - rows.dot(&ArrayView1::from(centering.as_slice()))).abs() < 1e-12);
            let other = half.means(&ctx).unwrap();
            assert!(means.rows.iter().zip(&other.rows).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}

#[test]
fn operators_have_the_same_bits_on_any_number_of_threads() {
    let d = distances(&random(700, 3, 1));
    let halves = packed(&d, shuffled(700, 2));
    let points = random(700, 40, 3);
    let x = random(700, 6, 4);
    let run = |threads| {
        let ctx = Ctx::new(threads, 0);
        let samples = CenteredPoints::new(PointsRef::Dense(points.view()), Side::Samples, &ctx).unwrap();
        [
            applied(&CenteredSquares::new(d.view()).unwrap(), &x, &ctx),
            applied(&CenteredPacked::new(&halves), &x, &ctx),
            applied(&samples, &x, &ctx),
        ]
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(4));
}

#[test]
fn operators_refuse_what_does_not_fit_and_hear_cancel() {
    assert!(CenteredSquares::new(Array2::zeros((2, 3)).view()).is_err());
    let d = distances(&random(40, 2, 1));
    assert!(CenteredSquares::new(d.view()).unwrap().with_centering(Centering::mean(3)).is_err());
    assert!(Centering::weights(vec![0.5, 0.4]).is_err() && Centering::weights(vec![f64::NAN]).is_err());
    assert!(Centering::point(3, 3).is_err());
    let halves = packed(&d, shuffled(40, 1));
    let ctx = Ctx::new(1, 0);
    ctx.watch().cancel();
    let mut y = Array2::zeros((40, 2));
    for op in
        [&CenteredSquares::new(d.view()).unwrap() as &dyn SymmetricOperator, &CenteredPacked::new(&halves)]
    {
        assert_eq!(op.apply(Array2::zeros((40, 2)).view(), y.view_mut(), &ctx), Err(Error::Cancelled));
    }
}

#[test]
fn classical_scaling_recovers_the_points() {
    let points = random(600, 2, 11);
    let d = distances(&points);
    let halves = packed(&d, shuffled(600, 3));
    let ctx = Ctx::new(2, 0);
    let dense = CenteredSquares::new(d.view()).unwrap();
    let half = CenteredPacked::new(&halves);
    for op in [&dense as &dyn SymmetricOperator, &half] {
        for solver in [Solver::Dense, Solver::Krylov] {
            let found = top(op, 2, &Options { solver, ..Options::default() }, &ctx).unwrap();
            let scale = Array1::from_iter(found.values.iter().map(|value| value.sqrt()));
            assert!(found.converged);
            assert_close(&distances(&(&found.vectors * &scale)), &d, 1e-11);
        }
    }
}

#[test]
fn point_operators_equal_the_formed_matrices() {
    let ctx = Ctx::new(2, 0);
    for (n, d) in [(30, 7), (7, 30), (900, 90), (1, 3)] {
        let mut x = random(n, d, 5).mapv(|value| if value.abs() < 0.6 { 0.0 } else { value });
        x.column_mut(0).fill(3.0);
        let csr = sparse(&x);
        let centred = &x - &x.mean_axis(ndarray::Axis(0)).unwrap();
        for points in [PointsRef::Dense(x.view()), PointsRef::Sparse(&csr)] {
            for (side, formed) in
                [(Side::Features, centred.t().dot(&centred)), (Side::Samples, centred.dot(&centred.t()))]
            {
                let op = CenteredPoints::new(points, side, &ctx).unwrap();
                let block = random(op.dim(), 5, 6);
                assert_close(&applied(&op, &block, &ctx), &formed.dot(&block), 1e-11);
                assert_close(&op.to_dense(&ctx).unwrap(), &formed, 1e-11);
            }
        }
    }
}

const KERNELS: [Kernel; 8] = [
    Kernel::Linear,
    Kernel::Poly { gamma: None, coef0: 1.0, degree: 3.0 },
    Kernel::Poly { gamma: Some(0.1), coef0: 20.0, degree: 2.5 },
    Kernel::Sigmoid { gamma: None, coef0: 1.0 },
    Kernel::Rbf { gamma: None },
    Kernel::Rbf { gamma: Some(2.0) },
    Kernel::Laplacian { gamma: None },
    Kernel::Cosine,
];

fn naive(x: ArrayView1<f64>, y: ArrayView1<f64>, kernel: Kernel) -> f64 {
    let default = 1.0 / x.len() as f64;
    let apart = &x - &y;
    match kernel {
        Kernel::Linear => x.dot(&y),
        Kernel::Poly { gamma, coef0, degree } => (gamma.unwrap_or(default) * x.dot(&y) + coef0).powf(degree),
        Kernel::Sigmoid { gamma, coef0 } => (gamma.unwrap_or(default) * x.dot(&y) + coef0).tanh(),
        Kernel::Rbf { gamma } => (-gamma.unwrap_or(default) * apart.dot(&apart)).exp(),
        Kernel::Laplacian { gamma } => (-gamma.unwrap_or(default) * apart.mapv(f64::abs).sum()).exp(),
        Kernel::Cosine => x.dot(&y) / (x.dot(&x).sqrt() * y.dot(&y).sqrt()),
    }
}

#[test]
fn kernels_equal_their_formulas_whatever_the_storage() {
    let ctx = Ctx::new(2, 0);
    for (n, m, d) in [(1, 1, 1), (5, 9, 3), (70, 41, 33), (130, 64, 100)] {
        let keep = |value: f64| if value.abs() < 0.4 { 0.0 } else { value };
        let (mut x, mut y) = (random(n, d, 1).mapv(keep), random(m, d, 2).mapv(keep));
        // No zero rows: the naive cosine divides by their norm.
        x.column_mut(0).mapv_inplace(|value| value.abs() + 0.5);
        y.column_mut(0).mapv_inplace(|value| value.abs() + 0.5);
        let (xs, ys) = (sparse(&x), sparse(&y));
        for kernel in KERNELS {
            let expected = Array2::from_shape_fn((n, m), |(i, j)| naive(x.row(i), y.row(j), kernel));
            let dense =
                kernel_matrix(PointsRef::Dense(x.view()), PointsRef::Dense(y.view()), kernel, &ctx).unwrap();
            assert_close(&dense, &expected, 1e-13);
            for (a, b) in [
                (PointsRef::Sparse(&xs), PointsRef::Sparse(&ys)),
                (PointsRef::Sparse(&xs), PointsRef::Dense(y.view())),
                (PointsRef::Dense(x.view()), PointsRef::Sparse(&ys)),
            ] {
                assert_eq!(kernel_matrix(a, b, kernel, &ctx).unwrap(), dense, "{kernel:?}");
            }
            let last = x.slice(ndarray::s![n - 1.., ..]);
            let row =
                kernel_matrix(PointsRef::Dense(last), PointsRef::Dense(y.view()), kernel, &Ctx::new(1, 0))
                    .unwrap();
            assert_eq!(row.row(0), dense.row(n - 1), "{kernel:?}");
        }
    }
}

#[test]
fn kernels_of_equal_rows_are_exact() {
    let ctx = Ctx::new(1, 0);
    let mut x = random(50, 17, 3) * 1e4;
    x.row_mut(7).fill(0.0);
    for kernel in [Kernel::Rbf { gamma: Some(3.0) }, Kernel::Laplacian { gamma: None }, Kernel::Cosine] {
        let k = kernel_matrix(PointsRef::Dense(x.view()), PointsRef::Dense(x.view()), kernel, &ctx).unwrap();
        assert_eq!(k, k.t());
        for i in 0..50 {
            let expected = if i == 7 && kernel == Kernel::Cosine { 0.0 } else { 1.0 };
            assert_eq!(k[[i, i]], expected, "{kernel:?} {i}");
        }
    }
    let gamma = Some(f64::NAN);
    let points = PointsRef::Dense(x.view());
    assert!(kernel_matrix(points, points, Kernel::Rbf { gamma }, &ctx).is_err());
    // A fractional power of a negative number is no number.
    let negative = Kernel::Poly { gamma: None, coef0: -1e9, degree: 0.5 };
    assert!(matches!(kernel_matrix(points, points, negative, &ctx), Err(Error::Input(_))));
    let narrow = random(3, 2, 1);
    assert!(kernel_matrix(points, PointsRef::Dense(narrow.view()), Kernel::Linear, &ctx).is_err());
}

fn same_axes(a: &Pca, b: &Pca, tolerance: f64) {
    let size = a.variances[0];
    for (x, y) in a.variances.iter().zip(&b.variances) {
        assert!((x - y).abs() <= tolerance * size, "{:?} {:?}", a.variances, b.variances);
    }
    assert!((a.total_variance - b.total_variance).abs() <= tolerance * a.total_variance);
    // Distinct variances and a common sign rule: the projectors agree.
    assert_close(&a.axes.t().dot(&a.axes), &b.axes.t().dot(&b.axes), 1e3 * tolerance);
    assert_close(&b.axes.dot(&b.axes.t()), &Array2::eye(b.axes.nrows()), 1e-12);
    for axis in b.axes.rows() {
        let largest =
            axis.iter().fold(0.0_f64, |most, &value| if value.abs() > most.abs() { value } else { most });
        assert!(largest > 0.0);
    }
    let roots: Vec<f64> = b.variances.iter().map(|value| value.sqrt()).collect();
    let ratio = b.singular_values[0] / roots[0];
    assert!(b.singular_values.iter().zip(&roots).all(|(s, root)| (s - ratio * root).abs() <= 1e-12 * s));
}

#[test]
fn all_routes_find_the_same_principal_axes() {
    let ctx = Ctx::new(2, 0);
    for (n, d, k) in [(300, 12, 4), (12, 300, 4), (260, 250, 6), (40, 40, 40), (2, 5, 1), (1500, 30, 30)] {
        let spread = Array1::from_iter((0..d).map(|j| 0.9f64.powi(j as i32)));
        let mut x = random(n, d, 3).mapv(|value| if value.abs() < 0.2 { 0.0 } else { value }) * &spread;
        x += 5.0;
        let csr = sparse(&x);
        let reference = pca(PointsRef::Dense(x.view()), k, PcaRoute::Svd, &ctx).unwrap();
        same_axes(&reference, &reference, 0.0);
        for points in
            [PointsRef::Dense(x.view()), PointsRef::Dense(x.t().to_owned().t()), PointsRef::Sparse(&csr)]
        {
            for route in
                [PcaRoute::Auto, PcaRoute::Covariance, PcaRoute::Gram, PcaRoute::Krylov, PcaRoute::Svd]
            {
                same_axes(&reference, &pca(points, k, route, &ctx).unwrap(), 1e-11);
            }
        }
    }
}

#[test]
fn principal_axes_of_degenerate_points() {
    let ctx = Ctx::new(1, 0);
    let same = Array2::from_elem((20, 4), 7.0);
    let line = Array2::from_shape_fn((30, 5), |(i, j)| i as f64 * (j + 1) as f64);
    for route in [PcaRoute::Auto, PcaRoute::Covariance, PcaRoute::Gram, PcaRoute::Krylov, PcaRoute::Svd] {
        let flat = pca(PointsRef::Dense(same.view()), 3, route, &ctx).unwrap();
        assert!(flat.variances.iter().all(|&value| value == 0.0) && flat.total_variance == 0.0);
        let found = pca(PointsRef::Dense(line.view()), 3, route, &ctx).unwrap();
        assert_close(&found.axes.dot(&found.axes.t()), &Array2::eye(3), 1e-12);
        assert!(found.variances[1] < 1e-10 * found.variances[0]);
        assert!((found.variances[0] / found.total_variance - 1.0).abs() < 1e-12);
    }
    assert!(pca(PointsRef::Dense(line.view()), 6, PcaRoute::Auto, &ctx).is_err());
    assert!(pca(PointsRef::Dense(Array2::zeros((0, 3)).view()), 1, PcaRoute::Auto, &ctx).is_err());
}

#[test]
fn wide_sparse_points_stay_sparse() {
    // A dense copy would take 80 MB, more than the limit allows.
    let (n, d) = (50, 200_000);
    let mut csr = Csr { cols: d, offsets: vec![0], indices: vec![], values: vec![] };
    let mut stream = Ctx::new(1, 1).stream("sparse");
    for i in 0..n {
        for j in 0..20 {
            csr.indices.push((j * 10_000 + (i * 7 + j * 13) % 11) as u32);
            csr.values.push(draw(&mut stream) * (20 - j) as f64);
        }
        csr.offsets.push(csr.indices.len());
    }
    let ctx = Ctx::new(2, 0).with_memory_limit(60 << 20);
    let gram = pca(PointsRef::Sparse(&csr), 3, PcaRoute::Auto, &ctx).unwrap();
    let krylov = pca(PointsRef::Sparse(&csr), 3, PcaRoute::Krylov, &ctx).unwrap();
    for (a, b) in gram.variances.iter().zip(&krylov.variances) {
        assert!((a - b).abs() < 1e-10 * gram.variances[0]);
    }
    assert_close(&gram.axes.dot(&krylov.axes.t()).mapv(f64::abs), &Array2::eye(3), 1e-6);
    assert!(matches!(pca(PointsRef::Sparse(&csr), 3, PcaRoute::Covariance, &ctx), Err(Error::Memory { .. })));
    assert!(matches!(pca(PointsRef::Sparse(&csr), 3, PcaRoute::Svd, &ctx), Err(Error::Memory { .. })));
}

#[test]
fn principal_axes_ignore_threads_and_an_offset() {
    let x = random(3000, 20, 8);
    let run = |threads, x: &Array2<f64>| {
        pca(PointsRef::Dense(x.view()), 3, PcaRoute::Auto, &Ctx::new(threads, 0)).unwrap()
    };
    assert_eq!(run(1, &x), run(2, &x));
    assert_eq!(run(1, &x), run(4, &x));
    let far = run(1, &(&x + 1e8));
    let near = run(1, &x);
    assert!(near.variances.iter().zip(&far.variances).all(|(a, b)| (a - b).abs() < 1e-6 * a));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn packed_equals_dense(n in 1usize..220, b in 1usize..20, seed in 0u64..100) {
        let d = distances(&random(n, 2, seed));
        let halves = packed(&d, shuffled(n, seed));
        let x = random(n, b, seed + 1);
        let ctx = Ctx::new(2, 0);
        let dense = applied(&CenteredSquares::new(d.view()).unwrap(), &x, &ctx);
        let half = applied(&CenteredPacked::new(&halves), &x, &ctx);
        prop_assert!((dense - half).iter().all(|e| e.abs() < 1e-12 * n as f64));
    }
}
