//! The graph stage: assembling, refusals, components and bridges.

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::graph::{Graph, Policy, components, connect};
use crate::input::rows::RowMap;
use crate::neighbors::{ClosestForeign, Link, Neighbors};
use proptest::prelude::*;

/// For work too small to be shared.
fn alone() -> Ctx {
    Ctx::new(1, 0)
}

fn neighbors(rows: &[&[(u32, f64)]]) -> Neighbors {
    let mut found = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for row in rows {
        for &(index, distance) in *row {
            found.indices.push(index);
            found.distances.push(distance);
        }
        found.offsets.push(found.indices.len());
    }
    found
}

/// Points on a line; closest foreign pairs by looking at all pairs.
struct Line(Vec<f64>);

impl ClosestForeign for Line {
    fn closest_foreign(&self, labels: &[usize], count: usize, _: &Ctx) -> Result<Vec<Link>> {
        let key = |link: &Link| (link.distance, link.from.min(link.to), link.from.max(link.to));
        let mut best: Vec<Option<Link>> = vec![None; count];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in self.0.iter().enumerate().filter(|&(j, _)| labels[j] != labels[i]) {
                let link = Link { from: i as u32, to: j as u32, distance: (a - b).abs() };
                let known = &mut best[labels[i]];
                if known.is_none_or(|known| key(&link) < key(&known)) {
                    *known = Some(link);
                }
            }
        }
        Ok(best.into_iter().flatten().collect())
    }
}

#[test]
fn union_of_directions_keeps_the_smaller_weight_and_drops_loops() {
    let found = neighbors(&[&[(1, 2.0), (0, 0.0), (2, 0.0)], &[(0, 1.5), (0, 1.75)], &[]]);
    let graph = Graph::from_neighbors(&found, &alone()).unwrap();
    assert_eq!(graph.len(), 3);
    assert_eq!(graph.edge_count(), 2);
    assert_eq!(graph.row(0), (&[1u32, 2][..], &[1.5, 0.0][..]));
    assert_eq!(graph.row(1), (&[0u32][..], &[1.5][..]));
    assert_eq!(graph.row(2), (&[0u32][..], &[0.0][..]));
}

#[test]
fn users_graph_may_be_ragged_one_way_and_unsorted() {
    let graph = Graph::from_csr(4, &[0, 3, 3, 4, 4], &[2, 1, 0, 0], &[3.0, 1.0, 9.0, 3.0], &alone()).unwrap();
    assert_eq!(graph.row(0), (&[1u32, 2][..], &[1.0, 3.0][..]));
    assert_eq!(graph.row(1).0, &[0]);
    assert_eq!(graph.row(3).0.len(), 0);
    assert!(Graph::from_csr(0, &[0], &[], &[], &alone()).unwrap().is_empty());
}

#[test]
fn rounding_between_directions_is_symmetrised_and_more_is_refused() {
    let near = Graph::from_csr(2, &[0, 1, 2], &[1, 0], &[1.0, 1.0 + 1e-10], &alone()).unwrap();
    assert_eq!(near.weights(), &[1.0, 1.0]);
    let refusal = Graph::from_csr(2, &[0, 1, 2], &[1, 0], &[1.0, 1.5], &alone()).unwrap_err().to_string();
    assert!(refusal.contains("(0, 1)") && refusal.contains("1.5"), "{refusal}");
}

#[test]
fn bad_users_graphs_are_refused_by_name() {
    let says = |got: Result<Graph>, words: &str| {
        let refusal = got.unwrap_err().to_string();
        assert!(refusal.contains(words), "{refusal}");
    };
    says(Graph::from_csr(2, &[0, 1, 1], &[1], &[-0.5], &alone()), "(0, 1) has weight -0.5");
    says(Graph::from_csr(2, &[0, 0, 1], &[0], &[f64::NAN], &alone()), "(1, 0) has weight NaN");
    says(Graph::from_csr(2, &[0, 0, 1], &[0], &[f64::INFINITY], &alone()), "inf");
    says(Graph::from_csr(2, &[0, 0, 1], &[7], &[1.0], &alone()), "node 7");
    says(Graph::from_csr(2, &[0, 1], &[1], &[1.0], &alone()), "indptr");
    says(Graph::from_csr(2, &[0, 2, 1], &[1], &[1.0], &alone()), "indptr");
    says(Graph::from_csr(1, &[0, 1], &[0], &[], &alone()), "weights");
    says(Graph::from_csr(usize::MAX, &[], &[], &[], &alone()), "too large");
}

#[test]
fn subgraph_renumbers_and_links_add_edges() {
    let path = Graph::from_csr(4, &[0, 1, 2, 3, 3], &[1, 2, 3], &[1.0, 2.0, 3.0], &alone()).unwrap();
    let part = path.subgraph(&[3, 2, 0], &alone()).unwrap();
    assert_eq!(part.row(0), (&[1u32][..], &[3.0][..]));
    assert_eq!(part.row(2).0.len(), 0);
    assert!(path.subgraph(&[4], &alone()).is_err());
    assert!(path.subgraph(&[1, 1], &alone()).is_err());
    let ring = path.with_links(&[Link { from: 3, to: 0, distance: 0.5 }], &alone()).unwrap();
    assert_eq!(ring.row(0), (&[1u32, 3][..], &[1.0, 0.5][..]));
    assert!(path.with_links(&[Link { from: 9, to: 0, distance: 0.5 }], &alone()).is_err());
    assert!(path.with_links(&[Link { from: 1, to: 0, distance: f64::NAN }], &alone()).is_err());
}

#[test]
fn saved_graph_comes_back_and_a_broken_one_is_refused() {
    let graph = Graph::from_csr(3, &[0, 1, 2, 2], &[1, 2], &[1.0, 2.0], &alone()).unwrap();
    let saved = postcard::to_stdvec(&graph).unwrap();
    assert_eq!(postcard::from_bytes::<Graph>(&saved).unwrap(), graph);
    let broken = postcard::to_stdvec(&(vec![0usize, 1, 1], vec![1u32], vec![1.0f64])).unwrap();
    assert!(postcard::from_bytes::<Graph>(&broken).is_err());
    let empty = postcard::to_stdvec(&(Vec::<usize>::new(), vec![1u32], vec![1.0f64])).unwrap();
    assert!(postcard::from_bytes::<Graph>(&empty).is_err());
}

fn two_pairs_and_a_point() -> Graph {
    Graph::from_csr(5, &[0, 0, 1, 1, 2, 2], &[4, 2], &[1.0, 1.0], &alone()).unwrap()
}

#[test]
fn labels_are_numbered_by_first_appearance() {
    let apart = components(&two_pairs_and_a_point());
    assert_eq!(apart.labels, [0, 1, 2, 2, 1]);
    assert_eq!(apart.sizes, [1, 2, 2]);
    assert_eq!(components(&Graph::from_csr(0, &[0], &[], &[], &alone()).unwrap()).count(), 0);
}

#[test]
fn policies_do_what_they_say() {
    let ctx = Ctx::new(1, 0);
    let line = Line(vec![0.0, 10.0, 30.0, 31.0, 11.0]);
    match connect(two_pairs_and_a_point(), RowMap::all(5), Some(&line), Policy::Error, &ctx) {
        Err(Error::Disconnected { count: 3, sizes, labels, .. }) => {
            assert_eq!((sizes.as_str(), labels), ("2, 2, 1", vec![0, 1, 2, 2, 1]));
        }
        other => panic!("{other:?}"),
    }
    let largest = connect(two_pairs_and_a_point(), RowMap::all(5), None, Policy::Largest, &ctx).unwrap();
    assert_eq!(largest.rows.used(), Some(&[1, 4][..]));
    assert_eq!((largest.graph.len(), largest.graph.edge_count()), (2, 1));
    assert_eq!(ctx.take_warnings()[0].kind, WarningKind::Disconnected);

    let bridged =
        connect(two_pairs_and_a_point(), RowMap::all(5), Some(&line), Policy::Bridge, &ctx).unwrap();
    assert_eq!(components(&bridged.graph).count(), 1);
    assert_eq!(bridged.bridges.iter().map(|link| link.distance).sum::<f64>(), 10.0 + 19.0);
    assert!(ctx.take_warnings()[0].message.contains("longest 1.900e1"));

    let unknown = connect(two_pairs_and_a_point(), RowMap::all(5), None, Policy::Bridge, &ctx).unwrap_err();
    assert!(unknown.to_string().contains("not known"), "{unknown}");
    for &policy in Policy::ALL {
        assert_eq!(Policy::from_name(policy.name()), Some(policy));
    }
}

#[test]
fn connected_graph_is_left_alone() {
    let ctx = Ctx::new(1, 0);
    let path = Graph::from_csr(3, &[0, 1, 2, 2], &[1, 2], &[1.0, 2.0], &alone()).unwrap();
    let same = connect(path.clone(), RowMap::all(3), None, Policy::Bridge, &ctx).unwrap();
    assert_eq!((same.graph, same.rows, same.bridges), (path, RowMap::all(3), vec![]));
    assert!(ctx.take_warnings().is_empty());
}

/// Total weight of a spanning tree over all pairs of components, by Kruskal.
fn kruskal(line: &Line, labels: &[usize], count: usize) -> f64 {
    let n = labels.len();
    let mut pairs: Vec<(f64, usize, usize)> = (0..n)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| ((line.0[i] - line.0[j]).abs(), labels[i], labels[j]))
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut group: Vec<usize> = (0..count).collect();
    let mut total = 0.0;
    for (distance, a, b) in pairs {
        let (a, b) = (group[a], group[b]);
        if a != b {
            group.iter_mut().filter(|label| **label == b).for_each(|label| *label = a);
            total += distance;
        }
    }
    total
}

proptest! {
    #[test]
    fn bridges_are_a_minimum_spanning_tree(
        points in prop::collection::vec(0u32..60, 1..40),
        edges in prop::collection::vec((0usize..40, 0usize..40), 0..30),
    ) {
        let n = points.len();
        let line = Line(points.iter().map(|&x| f64::from(x) / 4.0).collect());
        let links: Vec<Link> = edges.iter()
            .map(|&(a, b)| (a % n, b % n))
            .map(|(a, b)| Link { from: a as u32, to: b as u32, distance: (line.0[a] - line.0[b]).abs() })
            .collect();
        let graph = Graph::from_csr(n, &vec![0; n + 1], &[], &[], &alone()).unwrap().with_links(&links, &alone()).unwrap();
        let apart = components(&graph);
        let ctx = Ctx::new(1, 0);
        let connected = connect(graph, RowMap::all(n), Some(&line), Policy::Bridge, &ctx).unwrap();
        prop_assert_eq!(components(&connected.graph).count(), 1);
        prop_assert_eq!(connected.bridges.len(), apart.count() - 1);
        let total: f64 = connected.bridges.iter().map(|link| link.distance).sum();
        let least = kruskal(&line, &apart.labels, apart.count());
        prop_assert!((total - least).abs() < 1e-9, "{} instead of {}", total, least);
    }

    #[test]
    fn every_graph_is_symmetric_sorted_and_loop_free(
        n in 1usize..20,
        entries in prop::collection::vec((0u32..20, 0u32..20, 0u8..4), 0..80),
    ) {
        let mut rows = vec![Vec::new(); n];
        for (i, j, weight) in entries {
            rows[i as usize % n].push((j % n as u32, f64::from(weight)));
        }
        let slices: Vec<&[(u32, f64)]> = rows.iter().map(Vec::as_slice).collect();
        let graph = Graph::from_neighbors(&neighbors(&slices), &alone()).unwrap();
        for i in 0..n {
            let (targets, weights) = graph.row(i);
            prop_assert!(targets.windows(2).all(|pair| pair[0] < pair[1]));
            for (&j, &weight) in targets.iter().zip(weights) {
                prop_assert!(j as usize != i);
                let (back, other) = graph.row(j as usize);
                prop_assert_eq!(other[back.binary_search(&(i as u32)).unwrap()], weight);
                let given = rows[i].iter().filter(|entry| entry.0 == j)
                    .chain(rows[j as usize].iter().filter(|entry| entry.0 == i as u32))
                    .map(|entry| entry.1);
                prop_assert_eq!(given.fold(f64::INFINITY, f64::min), weight);
            }
        }
        let (parts, back) = (postcard::to_stdvec(&graph).unwrap(), graph);
        prop_assert_eq!(postcard::from_bytes::<Graph>(&parts).unwrap(), back);
    }
}

#[test]
fn a_graph_of_many_parts_is_the_union_of_its_lists_on_any_number_of_threads() {
    // Lists that are unsorted, repeat themselves, name their own row and strangers.
    let n = 5000_usize;
    let lists: Vec<Vec<(u32, f64)>> = (0..n)
        .map(|i| {
            let other = |step: usize| ((i * 7919 + step * step * 104_729) % (n + 3)) as u32;
            (0..i % 9).map(|step| (other(step % 5), ((i * 31 + step * 17) % 97) as f64)).collect()
        })
        .collect();
    let mut truth = vec![std::collections::BTreeMap::<u32, f64>::new(); n];
    for (i, list) in lists.iter().enumerate() {
        for &(j, weight) in list.iter().filter(|&&(j, _)| j as usize != i && (j as usize) < n) {
            for (from, to) in [(i, j), (j as usize, i as u32)] {
                truth[from].entry(to).and_modify(|held| *held = held.min(weight)).or_insert(weight);
            }
        }
    }
    let slices: Vec<&[(u32, f64)]> = lists.iter().map(Vec::as_slice).collect();
    for threads in 1..=3 {
        let graph = Graph::from_neighbors(&neighbors(&slices), &Ctx::new(threads, 0)).unwrap();
        for (i, row) in truth.iter().enumerate() {
            let (targets, weights) = graph.row(i);
            assert!(
                row.iter().map(|(j, w)| (*j, *w)).eq(targets.iter().copied().zip(weights.iter().copied()))
            );
        }
    }
}

#[test]
fn assembling_stops_when_asked_to() {
    let ctx = alone();
    ctx.watch().cancel();
    let refused = Graph::from_csr(2, &[0, 1, 2], &[1, 0], &[1.0, 1.0], &ctx).unwrap_err();
    assert!(matches!(refused, crate::Error::Cancelled), "{refused}");
}

#[test]
fn of_several_refusals_the_first_is_told() {
    let n = 3000;
    let indptr: Vec<usize> = (0..=n).collect();
    let indices: Vec<u32> = (0..n as u32).map(|i| (i + 1) % n as u32).collect();
    let mut weights = vec![1.0; n];
    weights[700] = -1.0;
    weights[2900] = f64::NAN;
    for _ in 0..5 {
        let refused = Graph::from_csr(n, &indptr, &indices, &weights, &Ctx::new(3, 0)).unwrap_err();
        assert!(refused.to_string().contains("(700, 701) has weight -1"), "{refused}");
    }
}
