//! Watch a fit from another thread, stop it, and use the same context again.
//!
//! `cargo run --release --example cancel_and_progress`

use std::time::Duration;

use planish::methods::Isomap;
use planish::ndarray::Array2;
use planish::{Ctx, Error, Result};

fn main() -> Result<()> {
    let cloud = |rows: usize| {
        Array2::from_shape_fn((rows, 3), |(i, axis)| ((i * 3 + axis + 1) as f64 * 0.754_877_666).fract())
    };
    let ctx = Ctx::default();
    let watch = ctx.watch();
    let watcher = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        let now = watch.progress();
        println!("stopped at {} of {} in \"{}\"", now.done, now.total, now.stage);
        watch.cancel();
    });
    let stopped = Isomap::default().n_neighbors(10).fit(&cloud(20_000), &ctx);
    watcher.join().expect("the watcher only sleeps and prints");
    assert!(matches!(stopped, Err(Error::Cancelled)), "20 000 rows take longer than 50 ms");

    // A request that was answered is forgotten: the context is ready for the next fit.
    let map = Isomap::default().n_neighbors(10).fit(&cloud(500), &ctx)?;
    println!("500 rows embedded: {:?}", map.embedding().map(|placed| placed.dim()));
    Ok(())
}
