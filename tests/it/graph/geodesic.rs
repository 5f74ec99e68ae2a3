//! The shortest-path engine against petgraph's Dijkstra, and its own laws.

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::geodesic::{
    PathMethod, Plan, Recomputed, Sources, all_pairs, fixed_pairs, for_each_batch, rows,
};
use crate::linalg::packed::{Band, HalfMatrix, LANES, PackedDistances};
use crate::neighbors::{Link, Neighbors};
use proptest::prelude::*;

const KERNELS: [PathMethod; 5] =
    [PathMethod::Heap, PathMethod::Batch, PathMethod::Sweep, PathMethod::FloydWarshall, PathMethod::Auto];

/// For work too small to be shared.
fn alone() -> Ctx {
    Ctx::new(1, 0)
}

fn graph_of(n: usize, edges: &[(usize, usize, f64)]) -> Graph {
    let links: Vec<Link> = edges
        .iter()
        .map(|&(from, to, distance)| Link { from: from as u32, to: to as u32, distance })
        .collect();
    Graph::from_csr(n, &vec![0; n + 1], &[], &[], &alone()).unwrap().with_links(&links, &alone()).unwrap()
}

/// A grid of `side`² points with weights that vary, and diagonals.
fn grid(side: usize) -> Graph {
    let at = |x: usize, y: usize| y * side + x;
    let mut edges = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let weight = |k: usize| 1.0 + ((at(x, y) * 7 + k * 13) % 11) as f64 / 10.0;
            if x + 1 < side {
                edges.push((at(x, y), at(x + 1, y), weight(1)));
            }
            if y + 1 < side {
                edges.push((at(x, y), at(x, y + 1), weight(2)));
            }
            if x + 1 < side && y + 1 < side {
                edges.push((at(x, y), at(x + 1, y + 1), weight(3) * 1.3));
            }
        }
    }
    graph_of(side * side, &edges)
}

/// The reference: petgraph's Dijkstra, infinite where there is no path.
fn petgraph_rows(graph: &Graph) -> Vec<Vec<f64>> {
    let mut twin = petgraph::graph::UnGraph::<(), f64>::new_undirected();
    let nodes: Vec<_> = (0..graph.len()).map(|_| twin.add_node(())).collect();
    for i in 0..graph.len() {
        let (targets, weights) = graph.row(i);
        for (&j, &weight) in targets.iter().zip(weights).filter(|(j, _)| (**j as usize) < i) {
            twin.add_edge(nodes[i], nodes[j as usize], weight);
        }
    }
    nodes
        .iter()
        .map(|&source| {
            let found = petgraph::algo::dijkstra(&twin, source, None, |edge| *edge.weight());
            nodes.iter().map(|node| found.get(node).copied().unwrap_or(f64::INFINITY)).collect()
        })
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

fn all(n: usize) -> Sources {
    Sources::nodes(&(0..n as u32).collect::<Vec<_>>())
}

fn check_against_twin(graph: &Graph) {
    let n = graph.len();
    let ctx = Ctx::new(1, 0);
    let expected = petgraph_rows(graph);
    for method in KERNELS {
        let plan = Plan::new(graph, method, n, None, &ctx).unwrap();
        if method != PathMethod::Auto {
            assert_eq!(plan.method(), method);
        }
        let found = rows(&plan, &all(n), &ctx).unwrap();
        let packed = all_pairs::<f64>(&plan, &ctx).unwrap();
        assert_eq!(found.dim(), (n, n));
        for i in 0..n {
            for j in 0..n {
                let twin = expected[i][j];
                assert!(close(found[[i, j]], twin), "{method:?} rows ({i}, {j}): {} {twin}", found[[i, j]]);
                assert!(close(packed.get(i, j), twin), "{method:?} pairs ({i}, {j}): {}", packed.get(i, j));
                assert_eq!(packed.get(i, j), packed.get(j, i));
            }
            assert_eq!(found[[i, i]], 0.0);
        }
        check_layout(&packed);
    }
}

fn check_layout(packed: &PackedDistances) {
    let n = packed.n();
    let dense = packed.to_dense(&Ctx::default()).unwrap();
    for p in 0..packed.panel_count() {
        let panel = packed.panel(p);
        assert_eq!(panel.len(), ((p + 1) * LANES).min(n));
        for (column, lanes) in panel.iter().enumerate() {
            for (lane, &value) in lanes.iter().enumerate() {
                match packed.order().get(p * LANES + lane) {
                    Some(&row) => assert_eq!(value, dense[[row as usize, packed.order()[column] as usize]]),
                    None => assert_eq!(value, 0.0),
                }
            }
        }
    }
    let stored: usize = (0..packed.panel_count()).map(|p| packed.panel(p).len() * LANES * 8).sum();
    assert_eq!(PackedDistances::<f64>::bytes(n), (stored + n * 8) as u64);
}

#[test]
fn named_graphs() {
    check_against_twin(&graph_of(0, &[]));
    check_against_twin(&graph_of(1, &[]));
    check_against_twin(&graph_of(2, &[]));
    check_against_twin(&graph_of(2, &[(0, 1, 0.0)]));
    check_against_twin(&graph_of(2, &[(0, 1, 2.5)]));
    let path: Vec<_> = (0..40).map(|i| (i, i + 1, 0.1 * i as f64)).collect();
    check_against_twin(&graph_of(41, &path));
    let star: Vec<_> = (1..50).map(|i| (0, i, i as f64)).collect();
    check_against_twin(&graph_of(50, &star));
    let cycle: Vec<_> = (0..33).map(|i| (i, (i + 1) % 33, 1.0 / (1 + i) as f64)).collect();
    check_against_twin(&graph_of(33, &cycle));
    let complete: Vec<_> =
        (0..30).flat_map(|i| (0..i).map(move |j| (i, j, ((i * j) % 17) as f64 + 0.25))).collect();
    check_against_twin(&graph_of(30, &complete));
    let duplicates: Vec<_> = (0..60).map(|i| (i, (i * 7 + 1) % 61, 0.0)).collect();
    check_against_twin(&graph_of(61, &duplicates));
    check_against_twin(&grid(4));
    check_against_twin(&grid(17));
}

#[test]
fn batch_and_heap_give_the_same_bits() {
    let graph = grid(15);
    let ctx = Ctx::new(2, 0);
    let by = |method| {
        let plan = Plan::new(&graph, method, graph.len(), None, &ctx).unwrap();
        rows(&plan, &all(graph.len()), &ctx).unwrap()
    };
    assert_eq!(by(PathMethod::Heap), by(PathMethod::Batch));
}

#[test]
fn a_source_does_not_feel_the_others() {
    let graph = grid(13);
    let n = graph.len();
    let ctx = Ctx::new(2, 0);
    let scattered: Vec<u32> = (0..n as u32).map(|i| (i * 101) % n as u32).collect();
    for method in KERNELS {
        let plan = Plan::new(&graph, method, n, None, &ctx).unwrap();
        let together = rows(&plan, &all(n), &ctx).unwrap();
        for chunk in [1, 3, 17, 50] {
            for part in scattered.chunks(chunk).take(20) {
                let alone = rows(&plan, &Sources::nodes(part), &ctx).unwrap();
                for (row, &source) in part.iter().enumerate() {
                    assert_eq!(alone.row(row), together.row(source as usize), "{method:?}");
                }
            }
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let graph = grid(20);
    for method in KERNELS {
        let run = |threads| -> Result<_> {
            let ctx = Ctx::new(threads, 0);
            let plan = Plan::new(&graph, method, graph.len(), None, &ctx)?;
            Ok((rows(&plan, &all(graph.len()), &ctx)?, all_pairs::<f64>(&plan, &ctx)?))
        };
        let one = run(1).unwrap();
        assert!(one == run(2).unwrap(), "{method:?}");
        assert!(one == run(4).unwrap(), "{method:?}");
    }
}

#[test]
fn seeds_reach_every_node_by_their_best_entry() {
    let graph = grid(9);
    let n = graph.len();
    let ctx = Ctx::new(1, 0);
    let seeds = Neighbors {
        offsets: vec![0, 2, 2, 5],
        indices: vec![3, 80, 40, 41, 40],
        distances: vec![0.5, 0.25, 1.0, 0.0, 0.125],
    };
    for method in KERNELS {
        let plan = Plan::new(&graph, method, 3, None, &ctx).unwrap();
        let nodes = rows(&plan, &all(n), &ctx).unwrap();
        let found = rows(&plan, &Sources::seeds(&seeds), &ctx).unwrap();
        for j in 0..n {
            let through = |entries: &[usize]| {
                let ways =
                    entries.iter().map(|&e| seeds.distances[e] + nodes[[seeds.indices[e] as usize, j]]);
                ways.fold(f64::INFINITY, f64::min)
            };
            assert!(close(found[[0, j]], through(&[0, 1])), "{method:?}");
            assert_eq!(found[[1, j]], f64::INFINITY);
            assert!(close(found[[2, j]], through(&[2, 3, 4])), "{method:?}");
        }
    }
}

#[test]
fn streaming_visits_every_source_once() {
    let graph = grid(12);
    let n = graph.len();
    let ctx = Ctx::new(2, 0);
    for method in KERNELS {
        let plan = Plan::new(&graph, method, n, None, &ctx).unwrap();
        let expected = rows(&plan, &all(n), &ctx).unwrap();
        let seen = std::sync::Mutex::new(vec![0; n]);
        for_each_batch(&plan, &all(n), &ctx, |batch| {
            assert_eq!(batch.distances().len(), n);
            for (lane, &source) in batch.sources().iter().enumerate() {
                seen.lock().unwrap()[source as usize] += 1;
                for node in 0..n {
                    assert_eq!(batch.node(node)[lane], expected[[source as usize, node]]);
                    let position = plan.positions()[node] as usize;
                    assert_eq!(batch.distances()[position][lane], expected[[source as usize, node]]);
                }
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(seen.into_inner().unwrap(), vec![1; n]);
        let refusal = for_each_batch(&plan, &all(n), &ctx, |_| Err(Error::input("no")));
        assert_eq!(refusal, Err(Error::input("no")));
    }
}

#[test]
fn cancelled_work_stops() {
    let graph = grid(20);
    for method in KERNELS {
        let ctx = Ctx::new(2, 0);
        let plan = Plan::new(&graph, method, graph.len(), None, &ctx).unwrap();
        ctx.watch().cancel();
        assert_eq!(rows(&plan, &all(graph.len()), &ctx), Err(Error::Cancelled), "{method:?}");
        assert_eq!(all_pairs::<f64>(&plan, &ctx), Err(Error::Cancelled), "{method:?}");
        assert!(Plan::new(&graph, method, 9, None, &ctx).is_err_and(|e| e == Error::Cancelled));
    }
}

#[test]
fn too_much_memory_is_refused_with_a_way_out() {
    let graph = grid(20);
    let ctx = Ctx::new(1, 0).with_memory_limit(100_000);
    let plan = Plan::new(&graph, PathMethod::Batch, graph.len(), None, &ctx).unwrap();
    let refusal = all_pairs::<f64>(&plan, &ctx).unwrap_err().to_string();
    assert!(refusal.contains("LandmarkIsomap"), "{refusal}");
    assert!(matches!(rows(&plan, &all(400), &ctx), Err(Error::Memory { .. })));
    assert!(rows(&plan, &all(10), &ctx).is_ok());
}

#[test]
fn bad_sources_and_orders_are_refused() {
    let graph = grid(3);
    let ctx = Ctx::new(1, 0);
    let plan = Plan::new(&graph, PathMethod::Auto, 9, None, &ctx).unwrap();
    assert!(rows(&plan, &Sources::nodes(&[9]), &ctx).is_err());
    let bad = |offsets: &[usize], indices: &[u32], distances: &[f64]| {
        let seeds =
            Neighbors { offsets: offsets.to_vec(), indices: indices.to_vec(), distances: distances.to_vec() };
        assert!(rows(&plan, &Sources::seeds(&seeds), &ctx).is_err());
    };
    bad(&[0, 1], &[0], &[-1.0]);
    bad(&[0, 1], &[0], &[f64::NAN]);
    bad(&[0, 3], &[0], &[1.0]);
    bad(&[0, 1, 0], &[0], &[1.0]);
    for order in [&[0u32, 1][..], &[0, 1, 2, 3, 4, 5, 6, 7, 7], &[0, 1, 2, 3, 4, 5, 6, 7, 9]] {
        assert!(Plan::new(&graph, PathMethod::Batch, 9, Some(order), &ctx).is_err());
    }
    let empty = rows(&plan, &Sources::nodes(&[]), &ctx).unwrap();
    assert_eq!(empty.dim(), (0, 9));
}

/// Every node joined to `degree / 2` others far away: no direction to cut it.
fn expander(n: usize, degree: usize) -> Graph {
    let far = |i: usize, k: usize| (i * i * (2 * k + 1) + 7919 * (k + 1) * i + k + 1) % n;
    let edges: Vec<_> = (0..n)
        .flat_map(|i| (0..degree / 2).map(move |k| (i, far(i, k), 1.0 + ((i + k) % 7) as f64)))
        .collect();
    graph_of(n, &edges)
}

#[test]
fn auto_follows_the_shape_of_the_graph_and_the_number_of_sources() {
    let ctx = Ctx::new(1, 0);
    let chosen =
        |graph: &Graph, sources| Plan::new(graph, PathMethod::Auto, sources, None, &ctx).unwrap().method();
    let flat = grid(60);
    assert_eq!(chosen(&flat, flat.len()), PathMethod::Sweep);
    assert_eq!(chosen(&flat, 200), PathMethod::Sweep);
    assert_eq!(chosen(&flat, 3), PathMethod::Heap);
    let tangled = expander(4001, 12);
    assert_eq!(chosen(&tangled, tangled.len()), PathMethod::Batch);
    assert_eq!(chosen(&tangled, 3), PathMethod::Heap);
    let tight = Ctx::new(1, 0).with_memory_limit(1000);
    let plan = Plan::new(&flat, PathMethod::Auto, flat.len(), None, &tight).unwrap();
    assert_eq!(plan.method(), PathMethod::Batch);
    assert!(Plan::new(&flat, PathMethod::Sweep, 9, None, &tight).is_err());
}

#[test]
fn long_supernodes_are_split_and_stay_exact() {
    check_against_twin(&expander(301, 16));
}

#[test]
fn distances_found_in_waves_are_those_of_separate_searches() {
    // Three waves and a last panel that is not full; hubs, a part of its own, and a loner.
    let (n, ctx) = (790, Ctx::new(2, 0));
    let mut edges: Vec<_> = (0..700usize)
        .flat_map(|i| (1..4).map(move |k| (i, (i * (2 * k + 1) + 97 * k) % 700, 0.3 + ((i * k) % 13) as f64)))
        .collect();
    edges.extend((0..700usize).step_by(9).map(|i| (i, 5, 2.5)));
    edges.extend((700..788usize).map(|i| (i, i + 1, 0.1 + (i % 4) as f64)));
    let graph = graph_of(n, &edges);
    let plan = |method| Plan::new(&graph, method, n, None, &ctx).unwrap();
    let apart = rows(&plan(PathMethod::Heap), &all(n), &ctx).unwrap();
    let waves = all_pairs::<f64>(&plan(PathMethod::Batch), &ctx).unwrap();
    for i in 0..n {
        for j in 0..n {
            assert!(
                close(waves.get(i, j), apart[[i, j]]),
                "({i}, {j}): {} {}",
                waves.get(i, j),
                apart[[i, j]]
            );
        }
    }
    let one = Ctx::new(1, 0);
    assert!(
        waves
            == all_pairs::<f64>(&Plan::new(&graph, PathMethod::Batch, n, None, &one).unwrap(), &one).unwrap()
    );
    assert!(fixed_pairs(&plan(PathMethod::Batch), &ctx).unwrap().is_none(), "nothing is the longest way");
}

#[test]
fn names_go_both_ways() {
    for &method in PathMethod::ALL {
        assert_eq!(PathMethod::from_name(method.name()), Some(method));
    }
    assert_eq!(PathMethod::from_name("dijkstra"), None);
}

#[test]
fn narrow_and_recomputed_distances_are_the_stored_ones() {
    let graph = grid(9);
    for method in [PathMethod::Heap, PathMethod::Batch, PathMethod::Sweep, PathMethod::FloydWarshall] {
        let ctx = Ctx::new(2, 0);
        let plan = Plan::new(&graph, method, graph.len(), None, &ctx).unwrap();
        let wide = all_pairs::<f64>(&plan, &ctx).unwrap();
        let narrow = all_pairs::<f32>(&plan, &ctx).unwrap();
        let fixed = fixed_pairs(&plan, &ctx).unwrap().unwrap();
        let longest = wide.to_dense(&ctx).unwrap().into_iter().fold(0.0, f64::max);
        // In waves distances are built on one another, see `waves`.
        let in_waves = method == PathMethod::Batch;
        for i in 0..graph.len() {
            for j in 0..graph.len() {
                let exact = wide.get(i, j);
                let rounded = f64::from(exact as f32);
                let same = if in_waves {
                    (narrow.get(i, j) - rounded).abs() <= 1e-7 * rounded
                } else {
                    narrow.get(i, j) == rounded
                };
                assert!(same, "{method:?} ({i}, {j})");
                assert!((fixed.get(i, j) - exact).abs() <= 7.2e-15 * longest, "{method:?} ({i}, {j})");
            }
        }
        if in_waves {
            continue;
        }
        let recomputed = Recomputed(&plan);
        let count = recomputed.panel_count();
        let mut read = 0;
        recomputed
            .visit(0..count, &ctx, &mut |first, band| {
                let Band::Wide(panels) = band else { panic!("recomputed distances are wide") };
                for (p, panel) in panels.iter().enumerate() {
                    assert_eq!(*panel, wide.panel(first + p), "{method:?} panel {}", first + p);
                    read += 1;
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(read, count);
    }
}

fn random_graph() -> impl Strategy<Value = Graph> {
    (1usize..90, prop::collection::vec((0usize..90, 0usize..90, 0u16..50), 0..260)).prop_map(
        |(n, entries)| {
            let edges: Vec<_> =
                entries.iter().map(|&(a, b, w)| (a % n, b % n, f64::from(w) * 0.37)).collect();
            graph_of(n, &edges)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn all_kernels_agree_with_petgraph(graph in random_graph()) {
        check_against_twin(&graph);
    }

    #[test]
    fn distances_are_a_metric(graph in random_graph()) {
        let (n, ctx) = (graph.len(), Ctx::new(1, 0));
        for method in KERNELS {
            let plan = Plan::new(&graph, method, n, None, &ctx).unwrap();
            let d = rows(&plan, &all(n), &ctx).unwrap();
            for i in 0..n {
                for j in 0..n {
                    prop_assert!(close(d[[i, j]], d[[j, i]]));
                    let (k, slack) = ((i * 31 + j * 17) % n, 1.0 + 1e-12);
                    prop_assert!(d[[i, j]] <= (d[[i, k]] + d[[k, j]]) * slack);
                }
            }
        }
    }
}
