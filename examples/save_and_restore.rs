//! Write a fitted model down and read it back: by its type, and by its name.
//!
//! `cargo run --release --example save_and_restore`

use planish::methods::{self, Pca};
use planish::ndarray::Array2;
use planish::{Ctx, Data, Error, Result};

fn main() -> Result<()> {
    let points = Array2::from_shape_fn((200, 4), |(i, axis)| ((i + 7 * axis) as f64 * 0.1).sin());
    let ctx = Ctx::default();
    let fitted = Pca::default().fit(&points, &ctx)?;
    let bytes = fitted.save()?;
    println!("{} bytes", bytes.len());

    let by_type = Pca::restore(&bytes)?;
    assert_eq!(by_type.transform(&points, &ctx)?, fitted.transform(&points, &ctx)?);
    let by_name = methods::restore("PCA", &bytes)?;
    assert_eq!(by_name.transform(Data::from(&points), &ctx)?, fitted.transform(&points, &ctx)?);

    let mut damaged = bytes;
    damaged[60] ^= 1;
    assert!(matches!(Pca::restore(&damaged), Err(Error::Restore(_))), "a changed bit is found");
    Ok(())
}
