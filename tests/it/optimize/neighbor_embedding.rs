//! t-SNE's gradient against differences of its cost, and its repulsions against each other.

use crate::Ctx;
use crate::input::PointsRef;
use crate::kernel::joint_probabilities::JointProbabilities;
use crate::kernel::perplexity::{AffinityShape, Perplexity, conditional_probabilities};
use crate::linalg::random::uniform;
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule};
use crate::optimize::neighbor_embedding::field::Sources;
use crate::optimize::neighbor_embedding::grid::{Grid, corners, shape};
use crate::optimize::neighbor_embedding::tree::Tree;
use crate::optimize::neighbor_embedding::{Forces, RepulsionMethod, Schedule, Student, minimize};

fn joint(n: usize, k: usize, point_of: Option<&[u32]>, ctx: &Ctx) -> JointProbabilities {
    let points = uniform(&mut ctx.stream("points"), n, 4);
    let index =
        Index::build(PointsRef::Dense(points.view()), Metric::Euclidean, Algorithm::Auto, ctx).unwrap();
    let near = index.neighbors_of_all(NeighborRule::Nearest(k), ctx).unwrap();
    let perplexity = Perplexity(vec![k as f64 / 3.0]);
    let conditional = conditional_probabilities(&near, AffinityShape::Gaussian, &perplexity, ctx).unwrap();
    JointProbabilities::new(near.offsets, near.indices, conditional, point_of, ctx).unwrap()
}

fn place(n: usize, width: usize, size: f64, ctx: &Ctx) -> Vec<f64> {
    uniform(&mut ctx.stream("place"), n, width).iter().map(|value| size * value).collect()
}

#[test]
fn the_gradient_is_that_of_the_divergence() {
    let ctx = Ctx::new(2, 0);
    let point_of: Vec<u32> = (0..37).map(|row: u32| row.min(30)).collect();
    for point_of in [None, Some(&point_of[..])] {
        let joint = ctx.install(|| joint(37, 12, point_of, &ctx));
        for width in [1, 2, 3, 5] {
            for dof in [1.0, 2.0, 0.5] {
                let law = Student { dof };
                let method = RepulsionMethod::Exact;
                let forces = Forces { joint: &joint, law, width, method, angle: 0.0 };
                let y = place(joint.len(), width, 2.0, &ctx);
                let gradient = ctx.install(|| forces.gradient(&y, &ctx)).unwrap();
                let size = gradient.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                for at in 0..y.len() {
                    let value = |step: f64| {
                        let mut moved = y.clone();
                        moved[at] += step;
                        ctx.install(|| forces.divergence(&moved, &ctx)).unwrap()
                    };
                    let weight = joint.weights.as_ref().map_or(1.0, |weights| weights[at / width]);
                    let difference = (value(1e-5) - value(-1e-5)) / 2e-5 / weight;
                    let error = (difference - gradient[at]).abs();
                    assert!(error < 1e-6 * size, "{width} {dof}: {difference} and {}", gradient[at]);
                }
            }
        }
    }
}

/// The largest error of a field, relative to the mean force, and of its sum.
fn errors(
    y: &[f64],
    width: usize,
    dof: f64,
    field: impl FnOnce(Student, &mut [f64], &mut [f64]),
) -> (f64, f64) {
    let (n, law) = (y.len() / width, Student { dof });
    let (mut totals, mut forces) = (vec![0.0; n], vec![0.0; n * width]);
    Sources::<f64>::of(y, width, None).field(law, y, &mut totals, &mut forces);
    let (mut near_totals, mut near) = (vec![0.0; n], vec![0.0; n * width]);
    field(law, &mut near_totals, &mut near);
    let mean = (forces.iter().map(|force| force * force).sum::<f64>() / n as f64).sqrt();
    let most = forces.iter().zip(&near).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    let sum = |totals: &[f64]| totals.iter().sum::<f64>();
    (most / mean, (sum(&near_totals) / sum(&totals) - 1.0).abs())
}

fn tree_errors<const P: usize>(y: &[f64], angle: f64, dof: f64, ctx: &Ctx) -> (f64, f64) {
    errors(y, P, dof, |law, totals, forces| {
        ctx.install(|| Tree::<P>::new(y, None).field(law, angle, totals, forces, ctx)).unwrap();
    })
}

fn grid_errors(y: &[f64], width: usize, spacing: f64, dof: f64, ctx: &Ctx) -> (f64, f64) {
    errors(y, width, dof, |law, totals, forces| {
        let mut grid = Grid::default();
        // Twice: the second time with what the first one kept.
        for _ in 0..2 {
            ctx.install(|| grid.field(law, spacing, y, width, None, totals, forces, ctx)).unwrap();
        }
    })
}

#[test]
fn the_tree_becomes_exact_as_the_angle_narrows() {
    let ctx = Ctx::new(2, 0);
    for dof in [1.0, 2.0] {
        for size in [1e-4, 3.0, 40.0] {
            let y = place(3000, 3, size, &ctx);
            for angle in [0.8, 0.5, 0.2, 0.0] {
                // Errors fall with the square of the angle, down to single precision.
                let (force, sum) = (0.6 * angle * angle + 1e-4, 0.06 * angle * angle + 2e-6);
                for errors in [
                    tree_errors::<1>(&y[..3000], angle, dof, &ctx),
                    tree_errors::<2>(&y[..6000], angle, dof, &ctx),
                    tree_errors::<3>(&y, angle, dof, &ctx),
                ] {
                    assert!(errors.0 <= force && errors.1 <= sum, "{dof} {size} {angle}: {errors:?}");
                }
            }
        }
    }
}

#[test]
fn the_grid_becomes_exact_as_its_nodes_come_closer() {
    let ctx = Ctx::new(2, 0);
    for dof in [1.0, 2.0, 0.7] {
        for size in [1.0, 3.0, 40.0] {
            let y = place(3000, 2, size, &ctx);
            for (spacing, force, sum) in [(0.5, 0.2, 2e-3), (0.25, 5e-3, 3e-5), (0.125, 1e-3, 1e-5)] {
                for (y, width) in [(&y[..3000], 1), (&y[..], 2)] {
                    let errors = grid_errors(y, width, spacing, dof, &ctx);
                    assert!(
                        errors.0 <= force && errors.1 <= sum,
                        "{width} {dof} {size} {spacing}: {errors:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn weights_count_on_a_grid() {
    let ctx = Ctx::new(2, 0);
    let (y, law) = (place(500, 2, 6.0, &ctx), Student { dof: 1.0 });
    let weights: Vec<f64> = (0..500).map(|row| (row % 4) as f64 + 1.0).collect();
    let sources = Sources::<f64>::of(&y, 2, Some(&weights));
    let (mut totals, mut forces) = (vec![0.0; 500], vec![0.0; 1000]);
    sources.field(law, &y, &mut totals, &mut forces);
    let (mut near_totals, mut near) = (vec![0.0; 500], vec![0.0; 1000]);
    let mut grid = Grid::default();
    ctx.install(|| grid.field(law, 0.2, &y, 2, Some(&weights), &mut near_totals, &mut near, &ctx)).unwrap();
    let size = forces.iter().fold(0.0_f64, |most, force| most.max(force.abs()));
    assert!(totals.iter().zip(&near_totals).all(|(a, b)| (a - b).abs() < 1e-4 * a));
    assert!(forces.iter().zip(&near).all(|(a, b)| (a - b).abs() < 1e-3 * size));
}

#[test]
fn maps_beyond_the_largest_grid_have_none() {
    assert!(shape([[0.0, 0.0], [1500.0, 1500.0]], 0.4).is_some());
    assert!(shape([[0.0, 0.0], [1e6, 1.0]], 0.4).is_none());
    assert!(shape([[0.0, 0.0], [f64::INFINITY, 1.0]], 0.4).is_none());
    assert_eq!(corners(&[1.0, 5.0, -2.0, 3.0], 2), [[-2.0, 3.0], [1.0, 5.0]]);
}

#[test]
fn every_way_has_the_same_bits_on_any_number_of_threads() {
    let law = Student { dof: 1.0 };
    let found = |threads: usize, method: RepulsionMethod| {
        let ctx = Ctx::new(threads, 0);
        let joint = ctx.install(|| joint(3000, 20, None, &ctx));
        let forces = Forces { joint: &joint, law, width: 2, method, angle: 0.5 };
        let y = place(3000, 2, 20.0, &ctx);
        ctx.install(|| forces.gradient(&y, &ctx)).unwrap()
    };
    for method in [RepulsionMethod::Fft, RepulsionMethod::BarnesHut, RepulsionMethod::Exact] {
        let one = found(1, method);
        assert_eq!(one, found(2, method));
        assert_eq!(one, found(4, method));
    }
}

#[test]
fn points_in_one_place_are_one_source() {
    let ctx = Ctx::new(2, 0);
    let mut y = place(4000, 2, 5.0, &ctx);
    y[..6000].fill(1.25);
    let errors = tree_errors::<2>(&y, 0.3, 1.0, &ctx);
    assert!(errors.0 < 0.02 && errors.1 < 0.001, "{errors:?}");
    let everywhere = vec![0.5; 8000];
    assert_eq!(tree_errors::<2>(&everywhere, 0.5, 1.0, &ctx).1, 0.0);
}

#[test]
fn the_descent_lowers_the_divergence() {
    let ctx = Ctx::new(2, 0);
    let joint = ctx.install(|| joint(200, 30, None, &ctx));
    let law = Student { dof: 1.0 };
    let forces = Forces { joint: &joint, law, width: 2, method: RepulsionMethod::Auto, angle: 0.5 };
    let schedule = Schedule {
        max_iter: 600,
        early_exaggeration: 12.0,
        exaggeration: 1.0,
        learning_rate: None,
        min_grad_norm: 0.0,
        patience: 600,
        tolerance: 0.0,
        observe_every: 0,
    };
    let start = place(200, 2, 1e-4, &ctx);
    let before = ctx.install(|| forces.divergence(&start, &ctx)).unwrap();
    let found = ctx.install(|| minimize(&forces, start, &schedule, None, &ctx)).unwrap();
    let values: Vec<f64> = found.history.iter().map(|look| look[1]).collect();
    assert!(values[values.len() - 1] < 0.6 * before, "{values:?}");
    assert!(values[6..].windows(2).all(|pair| pair[1] < pair[0]), "{values:?}");
}
