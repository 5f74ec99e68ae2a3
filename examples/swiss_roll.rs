//! Unroll a Swiss roll with Isomap and place new points in the same map.
//!
//! `cargo run --release --example swiss_roll`
//!
//! A consumer of the crate's public face: fit, read the result, place new
//! points, save and restore. It fails when the map is not the flat sheet the
//! roll was made from.

use std::time::Instant;

use planish::methods::Isomap;
use planish::ndarray::{self, Array1, Array2, ArrayView2, s};
use planish::{Ctx, Result};

fn main() -> Result<()> {
    let (points, sheet) = swiss_roll(2000);
    let (train, new) = (points.slice(s![..1900, ..]), points.slice(s![1900.., ..]));

    // All cores, seed 0. Another thread could follow or stop the work through `ctx.watch()`.
    let ctx = Ctx::default();
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

/// Points of a Swiss roll, and where they lie on the sheet: arc length and height.
fn swiss_roll(n: usize) -> (Array2<f64>, Array2<f64>) {
    // The R2 sequence: evenly spread points without a random generator.
    let spread = |i: usize, step: f64| (0.5 + step * i as f64).fract();
    let angle = Array1::from_shape_fn(n, |i| {
        1.5 * std::f64::consts::PI * (1.0 + 2.0 * spread(i, 0.754_877_666_246_692_8))
    });
    let height = Array1::from_shape_fn(n, |i| 21.0 * spread(i, 0.569_840_290_998_053_2));
    let points = Array2::from_shape_fn((n, 3), |(i, axis)| match axis {
        0 => angle[i] * angle[i].cos(),
        1 => height[i],
        _ => angle[i] * angle[i].sin(),
    });
    let arc = angle.mapv(|a: f64| 0.5 * (a * (1.0 + a * a).sqrt() + a.asinh()));
    let sheet = Array2::from_shape_fn((n, 2), |(i, axis)| if axis == 0 { arc[i] } else { height[i] });
    (points, sheet)
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
