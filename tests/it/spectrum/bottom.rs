//! The bottom of a sparse spectrum: every way against the dense reference and against
//! closed forms.

use crate::Ctx;
use crate::linalg::SparseSymmetric;
use crate::linalg::SymmetricOperator;
use crate::spectrum::{Options, Solver, Spectrum, bottom};
use ndarray::Array2;

/// The Laplacian of a grid of `a × b` nodes, squared on demand (Δ² has the
/// eigenvalues of an alignment matrix: tiny at the bottom).
fn grid(a: usize, b: usize) -> SparseSymmetric {
    let node = |i: usize, j: usize| (i * b + j) as u32;
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
    for i in 0..a {
        for j in 0..b {
            let mut row = Vec::new();
            if i > 0 {
                row.push((node(i - 1, j), -1.0));
            }
            if j > 0 {
                row.push((node(i, j - 1), -1.0));
            }
            row.push((node(i, j), 0.0));
            if j + 1 < b {
                row.push((node(i, j + 1), -1.0));
            }
            if i + 1 < a {
                row.push((node(i + 1, j), -1.0));
            }
            let degree = (row.len() - 1) as f64;
            row.iter_mut().filter(|entry| entry.0 == node(i, j)).for_each(|entry| entry.1 = degree);
            rows.push(row);
        }
    }
    from_rows(rows)
}

fn from_rows(rows: Vec<Vec<(u32, f64)>>) -> SparseSymmetric {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (vec![], vec![]);
    for mut row in rows {
        row.sort_by_key(|entry| entry.0);
        columns.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets.push(columns.len());
    }
    SparseSymmetric::new(offsets, columns, values).unwrap()
}

fn squared(matrix: &SparseSymmetric) -> SparseSymmetric {
    let rows = (0..matrix.len())
        .map(|i| {
            let mut sums = std::collections::BTreeMap::<u32, f64>::new();
            let (columns, values) = matrix.row(i);
            for (&j, &left) in columns.iter().zip(values) {
                let (columns, values) = matrix.row(j as usize);
                for (&l, &right) in columns.iter().zip(values) {
                    *sums.entry(l).or_insert(0.0) += left * right;
                }
            }
            sums.into_iter().collect()
        })
        .collect();
    from_rows(rows)
}

fn ones(n: usize) -> Array2<f64> {
    Array2::ones((n, 1))
}

fn solve(matrix: &SparseSymmetric, k: usize, solver: Solver, threads: usize) -> Spectrum {
    let ctx = Ctx::new(threads, 0);
    let options = Options { solver, ..Options::default() };
    let found = bottom(matrix, &ones(matrix.len()), k, &options, &ctx).unwrap();
    assert!(found.converged, "{solver:?} did not converge");
    found
}

/// Eigenvalues of the path of n nodes: 2 − 2cos(πk/n).
fn path(n: usize) -> Vec<f64> {
    (0..n).map(|k| 4.0 * (std::f64::consts::PI * k as f64 / (2 * n) as f64).sin().powi(2)).collect()
}

fn grid_values(a: usize, b: usize, k: usize) -> Vec<f64> {
    let (rows, columns) = (path(a), path(b));
    let mut all: Vec<f64> = rows.iter().flat_map(|x| columns.iter().map(move |y| x + y)).collect();
    all.sort_by(f64::total_cmp);
    all[1..=k].to_vec()
}

#[test]
fn grids_have_the_eigenvalues_of_the_closed_form() {
    for (a, b) in [(40, 31), (90, 61)] {
        let expected = grid_values(a, b, 6);
        for solver in [Solver::Direct, Solver::Iterative, Solver::Auto] {
            let found = solve(&grid(a, b), 6, solver, 2);
            for (value, truth) in found.values.iter().zip(&expected) {
                assert!((value / truth - 1.0).abs() < 1e-8, "{solver:?}: {value} for {truth}");
            }
        }
    }
}

#[test]
fn repeated_eigenvalues_come_with_all_their_copies() {
    let found = solve(&grid(50, 50), 5, Solver::Direct, 1);
    let expected = grid_values(50, 50, 5);
    assert!((expected[0] - expected[1]).abs() < 1e-12, "a square has double eigenvalues");
    for (value, truth) in found.values.iter().zip(&expected) {
        assert!((value / truth - 1.0).abs() < 1e-8);
    }
    let inner = found.vectors.t().dot(&found.vectors);
    assert!((inner - Array2::<f64>::eye(5)).iter().all(|gap| gap.abs() < 1e-10));
}

#[test]
fn the_eigenvalue_after_the_last_is_never_told_too_near() {
    let (matrix, square) = (grid(40, 31), grid(30, 30));
    let expected = grid_values(40, 31, 5);
    for solver in [Solver::Dense, Solver::Direct, Solver::Iterative] {
        let found = solve(&matrix, 4, solver, 2);
        assert_eq!(found.ran, solver);
        let next = found.next.unwrap_or(f64::INFINITY);
        assert!(next > expected[4] - 1e-12, "{solver:?}: {next} for {}", expected[4]);
        // Half of a pair, where the other half must be seen.
        let half = solve(&square, 1, solver, 1);
        let gap = half.next.unwrap() - half.values[0];
        assert!(gap.abs() < 1e-13, "{solver:?}: {gap}");
    }
    let all = solve(&grid(4, 3), 11, Solver::Dense, 1);
    assert_eq!(all.next, None);
}

#[test]
fn eigenvalues_of_1e_12_next_to_a_null_vector_are_resolved() {
    // A strip of 4000 × 3: squared, its smallest eigenvalue is (π/4000)⁴ = 4e-13.
    let strip = grid(4000, 3);
    let matrix = squared(&strip);
    let expected: Vec<f64> = grid_values(4000, 3, 3).iter().map(|value| value * value).collect();
    assert!(expected[0] < 1e-12);
    let found = solve(&matrix, 3, Solver::Direct, 2);
    let truth = solve(&strip, 3, Solver::Direct, 2);
    for (column, (value, expected)) in found.values.iter().zip(&expected).enumerate() {
        assert!((value / expected - 1.0).abs() < 1e-2, "{value} for {expected}");
        let cosine = found.vectors.column(column).dot(&truth.vectors.column(column)).abs();
        assert!(1.0 - cosine < 1e-6, "column {column}: {cosine}");
    }
    assert!(found.vectors.sum_axis(ndarray::Axis(0)).iter().all(|sum| sum.abs() < 1e-8));
}

#[test]
fn all_ways_find_the_same_space_as_the_dense_twin() {
    // An irregular graph in many dimensions: random links on a ring.
    let n = 700;
    let mut rows: Vec<std::collections::BTreeMap<u32, f64>> = vec![Default::default(); n];
    let mut state = 12345u64;
    for i in 0..n {
        for step in 0..4 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let j = if step == 0 { (i + 1) % n } else { (state >> 33) as usize % n };
            if i != j {
                rows[i].insert(j as u32, -1.0);
                rows[j].insert(i as u32, -1.0);
            }
        }
    }
    for (i, row) in rows.iter_mut().enumerate() {
        let degree = row.len() as f64;
        row.insert(i as u32, degree);
    }
    let matrix = from_rows(rows.into_iter().map(|row| row.into_iter().collect()).collect());
    for matrix in [matrix, grid(35, 20), squared(&grid(25, 14))] {
        let dense = solve(&matrix, 4, Solver::Dense, 1);
        for solver in [Solver::Direct, Solver::Iterative, Solver::Auto] {
            let found = solve(&matrix, 4, solver, 2);
            for column in 0..4 {
                let gap = (found.values[column] - dense.values[column]).abs();
                assert!(gap < 1e-9 * matrix.norm_bound(), "{solver:?}");
            }
            let inner = dense.vectors.t().dot(&found.vectors);
            let caught = inner.dot(&inner.t());
            assert!((caught - Array2::<f64>::eye(4)).iter().all(|gap| gap.abs() < 1e-6), "{solver:?}");
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let matrix = squared(&grid(80, 50));
    for solver in [Solver::Direct, Solver::Iterative] {
        let matrix = if solver == Solver::Iterative { grid(30, 20) } else { matrix.clone() };
        let one = solve(&matrix, 3, solver, 1);
        for threads in [2, 3] {
            let many = solve(&matrix, 3, solver, threads);
            assert_eq!(one.vectors, many.vectors);
            assert_eq!(one.values, many.values);
        }
    }
}

#[test]
fn several_null_vectors_are_left_out_when_they_are_told() {
    // Two grids side by side: both indicators are null vectors.
    let (one, two) = (grid(30, 20), grid(25, 24));
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
    for (matrix, shift) in [(&one, 0u32), (&two, one.len() as u32)] {
        for i in 0..matrix.len() {
            let (columns, values) = matrix.row(i);
            rows.push(columns.iter().map(|c| c + shift).zip(values.iter().copied()).collect());
        }
    }
    let matrix = from_rows(rows);
    let mut null = Array2::zeros((matrix.len(), 2));
    for i in 0..matrix.len() {
        null[[i, usize::from(i >= one.len())]] = 1.0;
    }
    let mut expected = grid_values(30, 20, 4);
    expected.extend(grid_values(25, 24, 4));
    expected.sort_by(f64::total_cmp);
    let ctx = Ctx::new(1, 0);
    for solver in [Solver::Direct, Solver::Iterative, Solver::Dense] {
        let options = Options { solver, ..Options::default() };
        let found = bottom(&matrix, &null, 3, &options, &ctx).unwrap();
        for (value, truth) in found.values.iter().zip(&expected) {
            assert!((value / truth - 1.0).abs() < 1e-7, "{solver:?}: {value} for {truth}");
        }
    }
}

#[test]
fn a_matrix_of_zeros_gives_zeros() {
    let n = 300;
    let matrix = from_rows((0..n as u32).map(|i| vec![(i, 0.0)]).collect());
    for solver in [Solver::Direct, Solver::Iterative, Solver::Dense] {
        let found = solve(&matrix, 2, solver, 1);
        assert!(found.values.iter().all(|value| value.abs() < 1e-12), "{solver:?} {:?}", found.values);
        let mut product = Array2::zeros(found.vectors.dim());
        matrix.apply(found.vectors.view(), product.view_mut(), &Ctx::new(1, 0)).unwrap();
        assert!(found.vectors.iter().all(|value| value.is_finite()));
    }
}

#[test]
fn eigenvalues_of_very_different_size_are_all_found() {
    // Four grids, joined in a row by links of 1e-9: three eigenvalues of about
    // 1e-12 and then those of the grids, ten billion times as large.
    let (side, weight) = (14, 1e-9);
    let size = side * side;
    let part = grid(side, side);
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
    for block in 0..4 {
        for i in 0..size {
            let (columns, values) = part.row(i);
            rows.push(
                columns.iter().map(|c| c + (block * size) as u32).zip(values.iter().copied()).collect(),
            );
        }
    }
    for block in 0..3 {
        let (here, there) = (block * size + size - 1, (block + 1) * size);
        rows[here].push((there as u32, -weight));
        rows[there].push((here as u32, -weight));
        for end in [here, there] {
            rows[end].iter_mut().filter(|entry| entry.0 as usize == end).for_each(|entry| entry.1 += weight);
        }
    }
    let matrix = from_rows(rows);
    let grid_value = grid_values(side, side, 1)[0];
    for solver in [Solver::Direct, Solver::Auto] {
        let found = solve(&matrix, 5, solver, 2);
        assert!(found.values[..3].iter().all(|&value| value > 1e-13 && value < 1e-10), "{:?}", found.values);
        for &value in &found.values[3..] {
            assert!((value / grid_value - 1.0).abs() < 1e-6, "{solver:?}: {value} for {grid_value}");
        }
        let mut products = Array2::zeros(found.vectors.dim());
        matrix.apply(found.vectors.view(), products.view_mut(), &Ctx::new(1, 0)).unwrap();
        for column in 0..5 {
            let rest = &products.column(column) - &(&found.vectors.column(column) * found.values[column]);
            assert!(rest.dot(&rest).sqrt() < 1e-7, "column {column}");
        }
    }
}

#[test]
fn the_order_of_the_rows_changes_nothing_but_their_places() {
    let matrix = grid(40, 31);
    let n = matrix.len();
    let order: Vec<u32> = (0..n as u32).map(|i| (i * 487) % n as u32).collect();
    let moved = matrix.renumbered(&order, &Ctx::new(2, 0)).unwrap();
    for (i, &row) in order.iter().enumerate() {
        let (columns, values) = moved.row(i);
        let mut back: Vec<(u32, f64)> =
            columns.iter().map(|&c| order[c as usize]).zip(values.iter().copied()).collect();
        back.sort_by_key(|entry| entry.0);
        let (columns, values) = matrix.row(row as usize);
        assert!(back.into_iter().eq(columns.iter().copied().zip(values.iter().copied())));
    }
    let (here, there) = (solve(&matrix, 4, Solver::Direct, 2), solve(&moved, 4, Solver::Direct, 2));
    for column in 0..4 {
        assert!((here.values[column] / there.values[column] - 1.0).abs() < 1e-9);
        let same: f64 =
            (0..n).map(|i| there.vectors[[i, column]] * here.vectors[[order[i] as usize, column]]).sum();
        assert!((same.abs() - 1.0).abs() < 1e-9, "column {column}: {same}");
    }
    assert!(matrix.renumbered(&order[1..], &Ctx::new(1, 0)).is_err());
    assert!(matrix.renumbered(&vec![0; n], &Ctx::new(1, 0)).is_err());
}
