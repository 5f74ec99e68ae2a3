//! Write a fitted model into a file and read it back: by its type, by whatever method it is
//! of, and as bytes. Python's `planish.load` reads the same file.
//!
//! `cargo run --release --example save_and_restore`

use planish::methods::{self, Pca};
use planish::ndarray::Array2;
use planish::{Ctx, Data, Error, Result};

fn main() -> Result<()> {
    let points = Array2::from_shape_fn((200, 4), |(i, axis)| ((i + 7 * axis) as f64 * 0.1).sin());
    let ctx = Ctx::default();
    let fitted = Pca::default().fit(&points, &ctx)?;
    let path = std::env::temp_dir().join(format!("pca-{}.planish", std::process::id()));
    fitted.save_to(&path)?;
    println!("wrote {}", path.display());

    let by_type = Pca::load(&path)?;
    assert_eq!(by_type.transform(&points, &ctx)?, fitted.transform(&points, &ctx)?);
    let of_any_method = methods::load(&path)?;
    assert_eq!(of_any_method.transform(Data::from(&points), &ctx)?, fitted.transform(&points, &ctx)?);

    let mut bytes = fitted.save()?;
    assert_eq!(Pca::restore(&bytes)?.transform(&points, &ctx)?, fitted.transform(&points, &ctx)?);
    bytes[60] ^= 1;
    assert!(matches!(Pca::restore(&bytes), Err(Error::Restore(_))), "a changed bit is found");

    std::fs::remove_file(&path).expect("it was just written");
    let gone = Pca::load(&path).map(|_| ()).expect_err("it is not there any more");
    println!("{gone}");
    Ok(())
}
