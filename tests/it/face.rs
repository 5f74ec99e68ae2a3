//! The face of the crate, as a user meets it: whatever is handed in is answered by a
//! result or an error, never by a panic; what is saved comes back or is refused; a
//! context outlives a cancelled call; warnings come with the result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::choices::MetricName;
use crate::methods::{Isomap, KernelIsomap, Pca};
use crate::petgraph::graph::UnGraph;
use crate::{Csr, Ctx, Data, Error, Graph, KernelMap, Model, Points, PointsRef, Result, methods, stages};
use ndarray::{Array2, array};

fn ctx() -> Ctx {
    Ctx::new(2, 0)
}

fn helix(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 3), |(i, axis)| {
        let t = i as f64 / 20.0;
        [t.cos(), t.sin(), 0.3 * t][axis]
    })
}

fn without_panic<T>(what: &str, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| panic!("{what}: panicked"))
}

/// Data that a careless caller might bring, each in a word.
fn careless() -> Vec<(&'static str, Array2<f64>)> {
    let mut with_nan = helix(12);
    with_nan[[5, 1]] = f64::NAN;
    let mut with_infinity = helix(12);
    with_infinity[[0, 0]] = f64::INFINITY;
    let mut far = helix(12);
    far[[3, 2]] = 1e300;
    vec![
        ("no rows", Array2::zeros((0, 3))),
        ("no columns", Array2::zeros((12, 0))),
        ("nothing", Array2::zeros((0, 0))),
        ("one row", Array2::ones((1, 3))),
        ("two rows", Array2::from_shape_fn((2, 1), |(i, _)| i as f64)),
        ("equal rows", Array2::ones((12, 3))),
        ("zeros", Array2::zeros((12, 3))),
        ("NaN", with_nan),
        ("infinity", with_infinity),
        ("a row far away", far),
        ("huge", helix(12) * 1e200),
        ("largest", helix(12) * f64::MAX),
        ("tiny", helix(12) * 1e-300),
        ("subnormal", helix(12) * 5e-324),
        ("square", helix(3)),
    ]
}

fn sparse(matrix: &Array2<f64>) -> Csr {
    let (mut offsets, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in matrix.rows() {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(column as u32);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    Csr::new(matrix.ncols(), offsets, indices, values).unwrap()
}

#[test]
fn bytes_of_a_broken_sparse_matrix_are_refused() {
    let sound = Csr { cols: 2, offsets: vec![0, 1], indices: vec![1], values: vec![3.0] };
    let bytes = postcard::to_stdvec(&sound).unwrap();
    assert_eq!(postcard::from_bytes::<Csr>(&bytes).unwrap(), sound);
    let broken = Csr { indices: vec![7], ..sound };
    assert!(postcard::from_bytes::<Csr>(&postcard::to_stdvec(&broken).unwrap()).is_err());
}

#[test]
fn careless_data_is_answered_by_every_stage() {
    let ctx = ctx();
    for (name, matrix) in careless() {
        let compressed = sparse(&matrix);
        for &metric in MetricName::ALL {
            for k in [0, 1, 2, 11, 12, usize::MAX] {
                let what = format!("{name}, {}, k = {k}", metric.name());
                for data in [
                    Data::from(&matrix),
                    Data::from(&compressed),
                    Data::Distances(matrix.view()),
                    Data::Kernel(matrix.view()),
                    Data::Graph(&compressed),
                    Data::Neighborhoods { points: PointsRef::Dense(matrix.view()), lists: &compressed },
                ] {
                    let near = without_panic(&what, || stages::kneighbors(data, k, metric, &ctx));
                    if let Ok((_, distances)) = near {
                        assert!(distances.iter().all(|distance| distance.is_finite()), "{what}");
                    }
                    let _ = without_panic(&what, || stages::neighbors_graph(data, k, metric, &ctx));
                }
            }
        }
        for count in [0, 1, 2, 100] {
            let _ = without_panic(name, || stages::classical_scaling(matrix.view(), count, &ctx));
            let _ = without_panic(name, || stages::top_eigenpairs(&matrix, count, &ctx));
        }
        let _ = without_panic(name, || Data::from(&matrix).select(&[0, 99, u32::MAX]));
    }
}

#[test]
fn careless_data_is_answered_by_every_method() {
    let ctx = ctx();
    for (name, method) in methods::all() {
        // t-SNE's default perplexity of 30 needs more rows.
        let fitted = method
            .fit(Data::from(&helix(12)), &ctx)
            .or_else(|_| method.fit(Data::from(&helix(40)), &ctx))
            .unwrap();
        for (what, matrix) in careless() {
            let compressed = sparse(&matrix);
            let kinds = [
                Data::from(&matrix),
                Data::from(&compressed),
                Data::Distances(matrix.view()),
                Data::Kernel(matrix.view()),
                Data::Graph(&compressed),
                Data::Neighborhoods { points: PointsRef::Dense(matrix.view()), lists: &compressed },
            ];
            for data in kinds {
                let what = format!("{name}: {what}, {}", data.kind());
                let _ = without_panic(&what, || method.fit(data, &ctx).map(|_| ()));
                if let Ok(placed) = without_panic(&what, || fitted.transform(data, &ctx)) {
                    assert_eq!(placed.nrows(), data.rows(), "{what}");
                    assert!(placed.iter().all(|value| value.is_finite()), "{what}");
                }
            }
        }
    }
}

#[test]
fn neighbours_of_rows_at_extreme_scales_are_those_of_the_rows() {
    let ctx = ctx();
    let points = helix(40);
    let (plain, distances) = stages::kneighbors(&points, 4, MetricName::Euclidean, &ctx).unwrap();
    for exponent in [-900, 660] {
        let factor = 2.0_f64.powi(exponent);
        let (far, lengths) = stages::kneighbors(&(&points * factor), 4, MetricName::Euclidean, &ctx).unwrap();
        assert_eq!(far, plain, "2^{exponent}");
        assert_eq!(lengths / factor, distances, "2^{exponent}");
    }
}

#[test]
fn graphs_that_do_not_fit_together_are_refused() {
    let ctx = ctx();
    let graph = |n, offsets: &[usize], targets: &[u32], weights: &[f64]| {
        without_panic("graph", || Graph::from_csr(n, offsets, targets, weights, &ctx))
    };
    assert!(graph(0, &[], &[], &[]).is_err());
    assert!(graph(2, &[0, 1], &[1], &[1.0]).is_err());
    assert!(graph(2, &[0, 9, 1], &[1], &[1.0]).is_err());
    assert!(graph(2, &[0, 1, 1], &[7], &[1.0]).is_err());
    assert!(graph(2, &[0, 1, 1], &[1], &[]).is_err());
    assert!(graph(2, &[0, 1, 1], &[1], &[-1.0]).is_err());
    assert!(graph(2, &[0, 1, 1], &[1], &[f64::NAN]).is_err());
    assert!(graph(usize::MAX, &[0], &[], &[]).is_err());
    let none = graph(0, &[0], &[], &[]).unwrap();
    assert_eq!(stages::geodesic_distances(&none, &ctx).unwrap().dim(), (0, 0));
    let pair = graph(2, &[0, 1, 1], &[1], &[2.5]).unwrap();
    assert_eq!(pair.neighbors(1), Some((&[0][..], &[2.5][..])));
    assert_eq!(pair.neighbors(2), None);
    assert_eq!(stages::geodesic_distances(&pair, &ctx).unwrap(), array![[0.0, 2.5], [2.5, 0.0]]);
}

#[test]
fn every_form_of_the_same_data_gives_the_same_embedding() -> Result<()> {
    let ctx = ctx();
    let isomap = Isomap::default().n_neighbors(6).n_components(2);
    // Numbers that single precision holds exactly.
    let points = helix(60).mapv(|value| f64::from(value as f32));
    let wanted = isomap.fit_transform(&points, &ctx)?;
    let rows: Vec<[f64; 3]> = points.rows().into_iter().map(|row| [row[0], row[1], row[2]]).collect();
    let nested: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
    let flat: Vec<f64> = nested.concat();
    let columns = points.t().as_standard_layout().into_owned();
    assert_eq!(isomap.fit_transform(points.view(), &ctx)?, wanted);
    assert_eq!(isomap.fit_transform(columns.t(), &ctx)?, wanted);
    assert_eq!(isomap.fit_transform(&points.mapv(|value| value as f32), &ctx)?, wanted);
    assert_eq!(isomap.fit_transform(&rows, &ctx)?, wanted);
    assert_eq!(isomap.fit_transform(&Points::try_from(nested)?, &ctx)?, wanted);
    assert_eq!(isomap.fit_transform(&Points::from_slice((60, 3), &flat)?, &ctx)?, wanted);
    assert!(Points::from_slice((7, 3), &flat).is_err());

    let graph = stages::neighbors_graph(&points, 6, MetricName::Euclidean, &ctx)?;
    let on_graph = isomap.metric(MetricName::Precomputed).fit_transform(&graph, &ctx)?;
    let edges = (0..60_u32).flat_map(|i| {
        let (targets, lengths) = graph.neighbors(i as usize).unwrap();
        let edge = move |(&j, &length): (&u32, &f64)| (i < j).then_some((i, j, length));
        targets.iter().zip(lengths).filter_map(edge)
    });
    let theirs = UnGraph::<(), f64>::from_edges(edges);
    let precomputed = Isomap::default().n_neighbors(6).n_components(2).metric(MetricName::Precomputed);
    assert_eq!(precomputed.fit_transform(&theirs, &ctx)?, on_graph);
    Ok(())
}

/// A field or signature can name the type of a model.
struct Held {
    map: Model<Isomap>,
}

#[test]
fn a_model_is_cloned_saved_and_restored_by_its_type() -> Result<()> {
    let ctx = ctx();
    let points = helix(80);
    let held = Held { map: Isomap::default().n_neighbors(6).fit(&points, &ctx)? };
    let wanted = held.map.transform(&points, &ctx)?;
    assert_eq!(held.map.clone().transform(&points, &ctx)?, wanted);
    let bytes = held.map.save()?;
    assert_eq!(Isomap::restore(&bytes)?.transform(&points, &ctx)?, wanted);
    let other = KernelIsomap::restore(&bytes).unwrap_err().to_string();
    assert!(other.contains("a model of Isomap, not of KernelIsomap"), "{other}");
    assert!(Pca::restore(&bytes).is_err() && KernelMap::restore(&bytes).is_err());
    assert!(methods::restore("KernelIsomap", &bytes).is_err());

    let map = KernelMap::default().fit(&points, wanted.view(), &ctx)?;
    assert_eq!(KernelMap::restore(&map.save()?)?.transform(&points, &ctx)?, map.transform(&points, &ctx)?);
    Ok(())
}

#[test]
fn changed_bytes_are_noticed() {
    let ctx = ctx();
    let bytes = Isomap::default().n_neighbors(6).fit(&helix(80), &ctx).unwrap().save().unwrap();
    let mut bit = 12_345;
    for _ in 0..300 {
        bit = (bit * 1_103_515_245 + 12_345) % (8 * bytes.len());
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(matches!(Isomap::restore(&changed), Err(Error::Restore(_))), "bit {bit}");
    }
    for length in (0..bytes.len()).step_by(97).chain(0..80) {
        assert!(matches!(Isomap::restore(&bytes[..length]), Err(Error::Restore(_))), "{length} bytes");
    }
    let longer = [bytes.clone(), vec![0]].concat();
    assert!(Isomap::restore(&longer).is_err());
    let number = bytes.windows(9).position(|window| window == b"format\\\":").unwrap() + 9;
    let mut newer = bytes;
    newer[number] += 1;
    let refused = Isomap::restore(&newer).unwrap_err().to_string();
    assert!(refused.contains("its format is 3"), "{refused}");
}

#[test]
fn a_context_can_be_used_again_after_a_cancel() {
    let ctx = ctx();
    let points = helix(80);
    for (name, method) in methods::all() {
        ctx.watch().cancel();
        assert_eq!(method.fit(Data::from(&points), &ctx).err(), Some(Error::Cancelled), "{name}");
        let fitted = method.fit(Data::from(&points), &ctx).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        ctx.watch().cancel();
        assert_eq!(fitted.transform(Data::from(&points), &ctx).err(), Some(Error::Cancelled), "{name}");
        assert!(fitted.transform(Data::from(&points), &ctx).is_ok(), "{name}");
    }
    ctx.watch().cancel();
    let metric = MetricName::Euclidean;
    assert_eq!(stages::kneighbors(&points, 3, metric, &ctx).err(), Some(Error::Cancelled));
    let graph = stages::neighbors_graph(&points, 3, metric, &ctx).unwrap();
    ctx.watch().cancel();
    assert_eq!(stages::geodesic_distances(&graph, &ctx).err(), Some(Error::Cancelled));
    assert!(stages::geodesic_distances(&graph, &ctx).is_ok());
}

#[test]
fn warnings_come_with_the_result_and_stay_with_it() {
    let ctx = ctx();
    let mut points = helix(60);
    points.slice_mut(ndarray::s![30.., ..]).mapv_inplace(|value| value + 100.0);
    let fitted = Isomap::default().n_neighbors(4).fit(&points, &ctx).unwrap();
    assert_eq!(fitted.warnings().len(), 1, "{:?}", fitted.warnings());
    assert_eq!(fitted.warnings()[0].kind, crate::WarningKind::Disconnected);
    let again = Isomap::default().n_neighbors(4).fit(&helix(60), &ctx).unwrap();
    assert!(again.warnings().is_empty(), "{:?}", again.warnings());
    let restored = Isomap::restore(&fitted.save().unwrap()).unwrap();
    assert_eq!(restored.warnings(), fitted.warnings());
}
