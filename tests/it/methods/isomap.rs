//! Isomap in all its forms from Rust: each against the exact one, and the
//! constant of kernel Isomap against what defines it.

use super::family::{apart, embedding, roll};
use super::number;
use crate::graph::Graph;
use crate::graph::Outliers;
use crate::graph::geodesic::Storage;
use crate::graph::geodesic::{PathMethod, Plan, Recomputed, all_pairs};
use crate::kernel::CenteredPacked;
use crate::landmarks::LandmarkChoice;
use crate::linalg::SymmetricOperator;
use crate::methods::{ClassicalMds, Isomap, KernelIsomap, LandmarkIsomap, LandmarkMds};
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule};
use crate::spectrum::EigenSolver;
use crate::spectrum::smallest_constant;
use crate::spectrum::{Options, Solver, top};
use crate::{Ctx, Error, transform};
use ndarray::{Array2, s};

#[test]
fn every_storage_gives_the_same_map() {
    let (points, ctx) = (roll(500), Ctx::new(2, 0));
    let fit = |storage| {
        embedding(&Isomap::default().n_neighbors(8_usize).storage(storage).fit(&points, &ctx).unwrap())
    };
    let exact = fit(Storage::Double);
    assert!(apart(&exact, &fit(Storage::Recompute)) < 1e-10);
    assert!(apart(&exact, &fit(Storage::Single)) < 1e-5);
    assert!(apart(&exact, &fit(Storage::Fixed)) < 1e-10);
    assert_eq!(fit(Storage::Fixed), fit(Storage::Auto));
}

#[test]
fn equal_rows_lie_in_one_place_whatever_is_stored() {
    let ctx = Ctx::new(2, 0);
    for rows in [2, 3, 40, 300] {
        let points = Array2::<f64>::ones((rows, 3));
        for storage in [Storage::Double, Storage::Fixed, Storage::Single, Storage::Recompute] {
            for eigen_solver in [EigenSolver::Krylov, EigenSolver::Auto] {
                let k = 5.min(rows - 1);
                let plain = Isomap::default().n_neighbors(k).storage(storage).eigen_solver(eigen_solver);
                let kernel =
                    KernelIsomap::default().n_neighbors(k).storage(storage).eigen_solver(eigen_solver);
                let zeros = Array2::<f64>::zeros((rows, 1));
                assert_eq!(embedding(&plain.n_components(1_usize).fit(&points, &ctx).unwrap()), zeros);
                assert_eq!(embedding(&kernel.n_components(1_usize).fit(&points, &ctx).unwrap()), zeros);
            }
        }
    }
}

#[test]
fn memory_decides_what_auto_means() {
    let points = roll(3000);
    let ctx = Ctx::new(2, 0).with_memory_limit(25_000_000);
    let model = Isomap::default().n_neighbors(8_usize).fit(&points, &ctx).unwrap();
    assert_eq!(ctx.take_warnings()[0].kind, crate::error::WarningKind::Slow);
    let exact = Isomap::default().n_neighbors(8_usize).fit(&points, &Ctx::new(2, 0)).unwrap();
    assert!(apart(&embedding(&exact), &embedding(&model)) < 1e-10);
    let refused = Isomap::default().storage(Storage::Double).fit(&points, &ctx);
    assert!(matches!(refused.err(), Some(Error::Memory { .. })));
    // A dense decomposition needs the matrix: nothing to recompute.
    let dense = Isomap::default().eigen_solver(EigenSolver::Dense).fit(&points, &ctx);
    assert!(matches!(dense.err(), Some(Error::Memory { .. })));
}

#[test]
fn with_every_row_a_landmark_the_landmark_methods_are_exact() {
    let (points, ctx) = (roll(300), Ctx::new(2, 0));
    let new = roll(340).slice(s![300.., ..]).to_owned();
    let exact = Isomap::default().n_neighbors(8_usize).fit(&points, &ctx).unwrap();
    let mds = ClassicalMds::default().fit(&points, &ctx).unwrap();
    for choice in [LandmarkChoice::Maxmin, LandmarkChoice::Random, LandmarkChoice::Hierarchical] {
        let landmarks = LandmarkIsomap::default().n_neighbors(8_usize).n_landmarks(300_usize);
        let model = landmarks.landmarks(choice.clone()).fit(&points, &ctx).unwrap();
        assert!(apart(&embedding(&exact), &embedding(&model)) < 1e-9, "{choice:?}");
        let placed = transform(&model, &new, &ctx).unwrap();
        assert!(apart(&transform(&exact, &new, &ctx).unwrap(), &placed) < 1e-8, "{choice:?}");

        let landmarks = LandmarkMds::default().n_landmarks(300_usize).landmarks(choice.clone());
        let model = landmarks.fit(&points, &ctx).unwrap();
        assert!(apart(&embedding(&mds), &embedding(&model)) < 1e-9, "{choice:?}");
    }
}

fn graph(points: &Array2<f64>, ctx: &Ctx) -> Graph {
    let data = crate::input::PointsRef::Dense(points.view());
    let index = Index::build(data, Metric::Euclidean, Algorithm::Auto, ctx).unwrap();
    Graph::from_neighbors(&index.neighbors_of_all(NeighborRule::Nearest(8), ctx).unwrap(), ctx).unwrap()
}

#[test]
fn the_constant_is_where_the_lowest_eigenvalue_reaches_zero() {
    let ctx = Ctx::new(2, 0);
    let plan = Plan::new(&graph(&roll(160), &ctx), PathMethod::Auto, 160, None, &ctx).unwrap();
    let stored = all_pairs::<f64>(&plan, &ctx).unwrap();
    let constant = smallest_constant(&stored, &ctx).unwrap();
    assert!((smallest_constant(&Recomputed(&plan), &ctx).unwrap() / constant - 1.0).abs() < 1e-10);
    let ends = |constant: f64| {
        let kernel = CenteredPacked::new(&stored).with_constant(constant).to_dense(&ctx).unwrap();
        let options =
            Options { solver: Solver::Dense, deflate: Some(Array2::ones((160, 1))), ..Options::default() };
        let found = top(&kernel, 159, &options, &ctx).unwrap();
        (found.values[158], found.values[0])
    };
    let (lowest, largest) = ends(constant);
    assert!(lowest.abs() < 1e-10 * largest, "{lowest} at the constant");
    assert!(ends(0.999 * constant).0 < -1e-7 * largest, "a smaller constant would do");
    assert!(ends(1.001 * constant).0 > 1e-7 * largest, "and a larger one is safe");
}

#[test]
fn a_given_constant_of_zero_is_isomap() {
    let (points, ctx) = (roll(200), Ctx::new(1, 0));
    let isomap = Isomap::default().n_neighbors(8_usize).fit(&points, &ctx).unwrap();
    let kernel = KernelIsomap::default().n_neighbors(8_usize).constant(0.0).fit(&points, &ctx).unwrap();
    assert!(apart(&embedding(&isomap), &embedding(&kernel)) < 1e-12);
    let own = KernelIsomap::default().n_neighbors(8_usize).fit(&points, &ctx).unwrap();
    assert!(
        number(&own, "constant") > 0.0 && own.eigenvalues().unwrap()[0] > isomap.eigenvalues().unwrap()[0]
    );
}

#[test]
fn an_outlier_is_placed_and_changes_nothing() {
    let ctx = Ctx::new(2, 0);
    let points = roll(300);
    let mut with_outlier = roll(301);
    with_outlier.row_mut(300).fill(5e4);
    let isomap = Isomap::default().n_neighbors(8_usize);
    let alone = embedding(&isomap.fit(&points, &ctx).unwrap());
    let model = isomap.fit(&with_outlier, &ctx).unwrap();
    let both = embedding(&model);
    assert!(apart(&alone, &both.slice(s![..300, ..]).to_owned()) < 1e-10);
    assert_eq!(transform(&model, &with_outlier, &ctx).unwrap(), both);
    let kept = isomap.outliers(Outliers::Keep).fit(&with_outlier, &ctx).unwrap();
    assert!(apart(&alone, &embedding(&kept).slice(s![..300, ..]).to_owned()) > 0.1);
}
