//! The stages one by one: neighbours, shortest paths, spectrum, t-SNE's repulsions.
//!
//! `cargo bench`, or `cargo bench -- paths` for some. Data and everything before
//! the stage in question are made outside the clock; sizes are in the names.
//! Whole methods against other libraries are measured by `compare.py`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use planish::choices::{MetricName, RepulsionMethod};
use planish::methods::Tsne;
use planish::{Ctx, Graph, datasets, stages};

const K: usize = 10;

/// The `i`-th of evenly spread numbers in [0, 1): step `j` of the Kronecker
/// sequence of square roots of primes.
fn spread(i: usize, j: usize) -> f64 {
    const PRIMES: [f64; 8] = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0];
    (0.5 + (i + 1) as f64 * PRIMES[j % 8].sqrt() * (1.0 + (j / 8) as f64)).fract()
}

fn swiss_roll(n: usize) -> Array2<f64> {
    datasets::swiss_roll(n, 0.0, &Ctx::new(1, 0)).expect("there are rows").points
}

fn cube(n: usize, dim: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, dim), |(i, j)| spread(i, j))
}

fn graph_of(points: &Array2<f64>, ctx: &Ctx) -> Graph {
    stages::neighbors_graph(points, K, MetricName::Euclidean, ctx).expect("there are more than k rows")
}

fn neighbors(criterion: &mut Criterion) {
    let ctx = Ctx::default();
    let mut group = criterion.benchmark_group("neighbors");
    for (name, points) in [
        ("roll 20000 x 3", swiss_roll(20_000)),
        ("cube 10000 x 8", cube(10_000, 8)),
        ("cube 2000 x 256", cube(2_000, 256)),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(stages::kneighbors(&points, K, MetricName::Euclidean, &ctx)));
        });
    }
    group.finish();
}

fn paths(criterion: &mut Criterion) {
    let ctx = Ctx::default();
    let mut group = criterion.benchmark_group("paths");
    for (name, points) in [("roll 2000 x 3", swiss_roll(2_000)), ("cube 1000 x 8", cube(1_000, 8))] {
        let graph = graph_of(&points, &ctx);
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(stages::geodesic_distances(&graph, &ctx).expect("all paths")));
        });
    }
    group.finish();
}

fn spectrum(criterion: &mut Criterion) {
    let ctx = Ctx::default();
    let mut group = criterion.benchmark_group("spectrum");
    for (name, n) in [("krylov, roll 3000", 3_000), ("dense, roll 300", 300)] {
        let graph = graph_of(&swiss_roll(n), &ctx);
        let geodesics = stages::geodesic_distances(&graph, &ctx).expect("all paths");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(stages::classical_scaling(geodesics.view(), 2, &ctx).expect("a map")));
        });
    }
    group.finish();
}

fn t_sne(criterion: &mut Criterion) {
    let ctx = Ctx::default();
    let mut group = criterion.benchmark_group("t-SNE");
    for n in [2_000, 10_000] {
        let points = cube(n, 8);
        for method in [RepulsionMethod::Exact, RepulsionMethod::BarnesHut, RepulsionMethod::Fft] {
            // Exact affinities of all pairs would be another cost: exact repulsion is angle 0.
            let angle = if method == RepulsionMethod::Exact { 0.0 } else { 0.5 };
            let by = if method == RepulsionMethod::Exact { RepulsionMethod::Auto } else { method };
            let tsne = Tsne::default().method(by).angle(angle).perplexity(5.0).max_iter(50).tol(0.0);
            group.bench_function(format!("50 iterations, {n} points, {method:?}"), |bencher| {
                bencher.iter(|| black_box(tsne.fit(&points, &ctx).expect("a map")));
            });
        }
    }
    group.finish();
}

fn settings() -> Criterion {
    Criterion::default().sample_size(10).measurement_time(Duration::from_secs(3))
}

criterion_group! { name = stages; config = settings(); targets = neighbors, paths, spectrum, t_sne }
criterion_main!(stages);
