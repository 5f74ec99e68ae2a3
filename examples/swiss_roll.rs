//! Unroll a Swiss roll with Isomap and place new points in the same map.
//!
//! `cargo run --release --example swiss_roll`
//!
//! A consumer of the crate's public face: fit, read the result, place new
//! points, save and restore. It fails when the map is not the flat sheet the
//! roll was made from.

use std::time::Instant;

use planish::methods::Isomap;
use planish::ndarray::{self, ArrayView2, s};
use planish::{Ctx, Result, datasets};

fn main() -> Result<()> {
    // All cores, seed 0. Another thread could follow or stop the work through `ctx.watch()`.
    let ctx = Ctx::default();
    let roll = datasets::swiss_roll(2000, 0.0, &ctx)?;
    let (points, sheet) = (&roll.points, &roll.coordinates);
    let (train, new) = (points.slice(s![..1900, ..]), points.slice(s![1900.., ..]));

    let method = Isomap::default().n_neighbors(10).n_components(2);
    println!("Isomap on {} points will take {}", train.nrows(), bytes(method.memory(train.nrows(), 3)));

    let start = Instant::now();
    let model = method.fit(train, &ctx)?;
    println!("fitted in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("eigenvalues {:.0?}", model.eigenvalues()?);
    for warning in model.warnings() {
        println!("note: {}", warning.message);
    }

    let map = model.embedding().expect("Isomap keeps the coordinates it was fitted with");
    let residual = affine_residual(map, sheet.slice(s![..1900, ..]));
    println!("residual of the best affine map to the flat sheet: {residual:.4}");
    assert!(residual < 0.05, "the roll was not unrolled");

    // New points go into the same map; a restored model puts them in the same place.
    let placed = model.transform(new, &ctx)?;
    let residual = affine_residual(placed.view(), sheet.slice(s![1900.., ..]));
    println!("the same for {} new points: {residual:.4}", new.nrows());
    assert!(residual < 0.05, "the new points were not placed on the sheet");

    let restored = Isomap::restore(&model.save()?)?;
    assert_eq!(placed, restored.transform(new, &ctx)?, "a restored model is the same model");
    Ok(())
}

/// ‖T − [Y 1]B‖ / ‖T − mean‖ for the best B: how far the map is from the truth
/// once shifted, turned and stretched onto it.
fn affine_residual(map: ArrayView2<'_, f64>, truth: ArrayView2<'_, f64>) -> f64 {
    let centred = |matrix: ArrayView2<'_, f64>| {
        let means = matrix.sum_axis(ndarray::Axis(0)) / matrix.nrows() as f64;
        &matrix - &means
    };
    let (y, t) = (centred(map), centred(truth));
    // Two columns: the normal equations are a 2 × 2 system.
    let (gram, right) = (y.t().dot(&y), y.t().dot(&t));
    let determinant = gram[[0, 0]] * gram[[1, 1]] - gram[[0, 1]] * gram[[1, 0]];
    let inverse =
        ndarray::arr2(&[[gram[[1, 1]], -gram[[0, 1]]], [-gram[[1, 0]], gram[[0, 0]]]]) / determinant;
    let left = &t - &y.dot(&inverse.dot(&right));
    (left.mapv(|x| x * x).sum() / t.mapv(|x| x * x).sum()).sqrt()
}

fn bytes(count: u64) -> String {
    format!("{:.1} MB", count as f64 / 1e6)
}
