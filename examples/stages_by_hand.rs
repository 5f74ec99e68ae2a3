//! Isomap by hand: neighbours, geodesic distances, classical scaling.
//!
//! `cargo run --release --example stages_by_hand`

use planish::choices::MetricName;
use planish::methods::Isomap;
use planish::ndarray::Array2;
use planish::{Ctx, Result, stages};

fn main() -> Result<()> {
    let helix = Array2::from_shape_fn((300, 3), |(i, axis)| {
        let t = i as f64 / 30.0;
        [t.cos(), t.sin(), 0.3 * t][axis]
    });
    let ctx = Ctx::default();
    let graph = stages::neighbors_graph(&helix, 5, MetricName::Euclidean, &ctx)?;
    println!("{} rows, {} edges", graph.len(), graph.edge_count());
    let geodesics = stages::geodesic_distances(&graph, &ctx)?;
    let (by_hand, eigenvalues) = stages::classical_scaling(geodesics.view(), 1, &ctx)?;
    println!("largest eigenvalue {:.3}", eigenvalues[0]);

    let whole = Isomap::default().n_neighbors(5).n_components(1).fit_transform(&helix, &ctx)?;
    let apart = by_hand.iter().zip(&whole).map(|(a, b)| (a.abs() - b.abs()).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-8, "the stages are the method: {apart}");
    Ok(())
}
