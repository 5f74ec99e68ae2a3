//! Models as files: every registered method, what Python wrote, and what older versions
//! wrote. Damage and forgery are in `src/method/saved/tests.rs`.

use std::path::PathBuf;

use ndarray::Array2;

use crate::graph::geodesic::PathMethod;
use crate::input::Data;
use crate::methods::{Isomap, LandmarkIsomap, Pca};
use crate::{AnyModel, Ctx, Error, KernelMap, Result, methods};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(name)
}

/// The points of the files in `golden`, each of them 24 × 3.
fn points(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 3), |(i, axis)| ((i + 7 * axis) as f64 * 0.1).sin())
}

fn assert_near(one: &Array2<f64>, other: &Array2<f64>) {
    assert_eq!(one.dim(), other.dim());
    let apart = (one - other).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
    assert!(apart < 1e-9, "{apart}");
}

#[test]
fn every_method_is_the_same_after_a_file() -> Result<()> {
    let (ctx, given, new) = (Ctx::new(2, 0), points(60), points(75));
    let path = std::env::temp_dir().join(format!("planish-files-{}", std::process::id()));
    for (name, method) in methods::all() {
        let model = method.fit(Data::from(&given), &ctx)?;
        model.save_to(&path)?;
        let back = methods::load(&path)?;
        assert_eq!(back.embedding(), model.embedding(), "{name}");
        assert_eq!(back.attributes(), model.attributes(), "{name}");
        assert_eq!(back.warnings(), model.warnings(), "{name}");
        let placed = |model: &dyn AnyModel| model.transform(Data::from(&new), &ctx);
        assert_eq!(placed(&*back)?, placed(&*model)?, "{name}");
        assert_eq!(back.save()?, model.save()?, "{name}: the same file again");
    }
    let map = KernelMap::default().fit(&given, points(60).view(), &ctx)?;
    map.save_to(&path)?;
    assert_eq!(KernelMap::load(&path)?.transform(&new, &ctx)?, map.transform(&new, &ctx)?);
    assert_eq!(methods::load(&path)?.transform(Data::from(&new), &ctx)?, map.transform(&new, &ctx)?);
    let refused = Pca::load(&path).unwrap_err();
    assert!(
        matches!(&refused, Error::ModelFile { why, .. } if why.contains("KernelMap, not of PCA")),
        "{refused}"
    );
    std::fs::remove_file(&path).expect("it was just written");
    Ok(())
}

#[test]
fn what_python_wrote_is_read() -> Result<()> {
    let ctx = Ctx::new(1, 0);
    let isomap = Isomap::load(golden("format-2-isomap.planish"))?;
    let expected = Isomap::default().n_neighbors(5).fit(&points(24), &ctx)?;
    let new = points(24) + 0.01;
    assert_near(&isomap.transform(&new, &ctx)?, &expected.transform(&new, &ctx)?);
    assert!(methods::load(golden("format-2-isomap.planish")).is_ok());
    Ok(())
}

#[test]
fn landmarks_without_trees_are_still_read() -> Result<()> {
    let ctx = Ctx::new(1, 0);
    let method = LandmarkIsomap::default().n_neighbors(5).n_landmarks(8).path_method(PathMethod::Heap);
    let expected = method.fit(&points(24), &ctx)?;
    let new = points(24) + 0.01;
    // Written before the trees were kept: its landmarks are searched from again.
    let older = LandmarkIsomap::load(golden("format-2-landmark-isomap.planish"))?;
    assert_near(&older.transform(&new, &ctx)?, &expected.transform(&new, &ctx)?);
    let (older, now) = (older.save()?, expected.save()?);
    let trees = |bytes: &[u8]| bytes.windows(11).any(|part| part == b"trees.steps");
    assert!(trees(&now) && !trees(&older));
    // Walks along the trees have the bits of the searches.
    let (one, other) = (LandmarkIsomap::restore(&now)?, LandmarkIsomap::restore(&older)?);
    assert_near(&one.transform(&new, &ctx)?, &other.transform(&new, &ctx)?);
    assert_eq!(one.transform(&new, &ctx)?, expected.transform(&new, &ctx)?);
    Ok(())
}

#[test]
fn format_1_is_still_read() -> Result<()> {
    let ctx = Ctx::new(1, 0);
    let new = points(24) + 0.01;
    let pca = Pca::load(golden("format-1-pca.bin"))?;
    let expected = Pca::default().n_components(2).fit(&points(24), &ctx)?;
    assert_near(&pca.transform(&new, &ctx)?, &expected.transform(&new, &ctx)?);
    let bytes = std::fs::read(golden("format-1-isomap.bin")).expect("it is kept beside this file");
    let isomap = methods::restore("Isomap", &bytes)?;
    let expected = Isomap::default().n_neighbors(5).fit(&points(24), &ctx)?;
    assert_near(&isomap.transform(Data::from(&new), &ctx)?, &expected.transform(&new, &ctx)?);
    let refused = methods::restore("PCA", &bytes).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("a model of Isomap, not of PCA"), "{refused}");
    // What it was is written in the format of today.
    assert!(Isomap::restore(&Isomap::restore(&bytes)?.save()?).is_ok());
    Ok(())
}
