//! The battery every registered method passes without being named here:
//! rows, bits, threads, cancellation, parameters, saving.

use crate::input::Data;
use crate::method::{AnyMethod, AnyModel};
use crate::params::Value;
use crate::{Ctx, Error, methods, transform};
use ndarray::{Array2, s};

/// A bent sheet: two parameters in four dimensions, no two rows equal.
fn sheet(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 4), |(i, axis)| {
        let (u, v) = ((i as f64 * 0.618_033_988_749_895).fract(), (i as f64 * 0.754_877_666_246_693).fract());
        [u.sin(), u.cos(), v, u * v][axis]
    })
}

fn fit(method: &dyn AnyMethod, points: &Array2<f64>, threads: usize) -> Box<dyn AnyModel> {
    method.fit(Data::from(points), &Ctx::new(threads, 0)).expect("every method fits a clean sheet")
}

fn place(model: &dyn AnyModel, points: &Array2<f64>, threads: usize) -> Array2<f64> {
    transform(model, points, &Ctx::new(threads, 0)).expect("points near the sheet can be placed")
}

#[test]
fn n_rows_in_n_rows_out_and_all_finite() {
    let points = sheet(90);
    for (name, method) in methods::all() {
        let model = fit(&*method, &points, 2);
        let placed = place(&*model, &points, 2);
        assert_eq!(placed.nrows(), 90, "{name}");
        assert!(placed.ncols() >= 1 && placed.iter().all(|value| value.is_finite()), "{name}");
        assert!(placed.iter().any(|value| value.abs() > 1e-3), "{name}: all rows in one place");
    }
}

#[test]
fn the_same_bits_for_every_number_of_threads() {
    // Large enough for every parallel path and for the iterative eigensolver.
    let points = sheet(700);
    for (name, method) in methods::all() {
        let one = place(&*fit(&*method, &points, 1), &points, 1);
        for threads in [2, 4] {
            let many = place(&*fit(&*method, &points, threads), &points, threads);
            assert_eq!(one, many, "{name} on {threads} threads");
        }
    }
}

#[test]
fn a_training_row_gets_its_coordinates_back() {
    let points = sheet(300);
    for (name, method) in methods::all() {
        let model = fit(&*method, &points, 2);
        if let Some(embedding) = model.embedding() {
            assert_eq!(place(&*model, &points, 2), embedding, "{name}");
        }
    }
}

#[test]
fn rows_one_by_one_are_placed_as_all_together() {
    let points = sheet(300);
    let new = sheet(340).slice(s![300.., ..]).to_owned();
    for (name, method) in methods::all() {
        let model = fit(&*method, &points, 2);
        let together = place(&*model, &new, 2);
        for row in 0..new.nrows() {
            let alone = place(&*model, &new.slice(s![row..=row, ..]).to_owned(), 1);
            assert_eq!(alone.row(0), together.row(row), "{name}, row {row}");
        }
    }
}

#[test]
fn a_cancelled_fit_says_so() {
    let points = sheet(400);
    for (name, method) in methods::all() {
        let ctx = Ctx::new(2, 0);
        ctx.watch().cancel();
        assert_eq!(method.fit(Data::from(&points), &ctx).err(), Some(Error::Cancelled), "{name}");
    }
}

#[test]
fn a_saved_model_is_the_model() {
    let points = sheet(200);
    let new = sheet(220);
    for (name, method) in methods::all() {
        let model = fit(&*method, &points, 2);
        let back = methods::restore(name, &model.save().expect("models can be written")).expect("and read");
        assert_eq!(back.embedding(), model.embedding(), "{name}");
        assert_eq!(back.attributes(), model.attributes(), "{name}");
        assert_eq!(place(&*back, &new, 2), place(&*model, &new, 2), "{name}");
    }
}

#[test]
fn a_broken_save_is_refused() {
    for (name, method) in methods::all() {
        let state = fit(&*method, &sheet(60), 1).save().expect("models can be written");
        let cut = methods::restore(name, &state[..state.len() / 2]);
        assert!(matches!(cut.err(), Some(Error::Restore(_))), "{name}");
    }
}

#[test]
fn parameters_are_known_by_name_and_refused_by_name() {
    for (name, method) in methods::all() {
        let defaults: Vec<(String, Value)> = method
            .parameters()
            .into_iter()
            .map(|(parameter, value)| (parameter.to_string(), value))
            .collect();
        let rebuilt = methods::build(name, &defaults).expect("its own defaults are accepted");
        assert_eq!(rebuilt.parameters(), method.parameters(), "{name}");

        let unknown = methods::build(name, &[("no_such_parameter".into(), Value::None)]);
        assert!(matches!(unknown.err(), Some(Error::UnknownParam { .. })), "{name}");
        for (parameter, _) in &defaults {
            // A lone text that names no choice, and a negative count: never legal.
            let refused = methods::build(name, &[(parameter.clone(), Value::Str("no such choice".into()))]);
            match refused.err() {
                Some(Error::ParamType { name: named, .. }) => assert_eq!(&named, parameter),
                other => panic!("{name}.{parameter}: {other:?}"),
            }
        }
    }
    assert!(matches!(methods::build("NoSuchMethod", &[]).err(), Some(Error::UnknownMethod(..))));
}

#[test]
fn bad_points_are_refused_with_their_row() {
    let mut points = sheet(50);
    points[[17, 2]] = f64::NAN;
    for (name, method) in methods::all() {
        match method.fit(Data::from(&points), &Ctx::new(1, 0)).err() {
            Some(Error::Input(message)) => {
                assert!(message.contains("NaN") && message.contains("row 17"), "{name}: {message}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn scale_is_a_matter_of_units() {
    // A power of two times the data is the same picture, times that power (or
    // just the same, where coordinates have no unit), to the bit; even where
    // squares would overflow or vanish. Methods that read an absolute length from
    // a parameter keep their default, which has none.
    let points = sheet(120);
    for (name, method) in methods::all() {
        let plain = place(&*fit(&*method, &points, 1), &points, 1);
        for exponent in [-520, -300, 300, 500] {
            let factor = 2.0_f64.powi(exponent);
            let far = &points * factor;
            let scaled = place(&*fit(&*method, &far, 1), &far, 1);
            let apart = |a: &Array2<f64>| (a - &plain).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
            let relative = apart(&(&scaled / factor)).min(apart(&scaled));
            assert!(relative < 1e-9, "{name} at 2^{exponent}: {relative}");
        }
    }
}

#[test]
fn memory_of_any_number_of_rows_stops_at_the_largest_number_of_bytes() {
    let most = usize::MAX / 2;
    let sizes = [0, 1, 2, 1_000, 3_000_000_000, 1_000_000_000_000_000_000, most, usize::MAX];
    let wide: Vec<Box<dyn AnyMethod>> = methods::all()
        .iter()
        .map(|(name, method)| {
            // Every count that can be asked for is as large as it gets.
            let counts = method.parameters().into_iter().filter(|(parameter, _)| parameter.starts_with("n_"));
            let counts = counts.map(|(parameter, _)| (parameter.to_string(), Value::Int(i64::MAX)));
            methods::build(name, &counts.collect::<Vec<_>>()).expect("a count is a whole number")
        })
        .collect();
    for method in methods::all().into_iter().map(|(_, method)| method).chain(wide) {
        for features in sizes {
            let needs: Vec<u64> = sizes.iter().map(|&rows| method.memory(rows, features)).collect();
            assert!(needs.is_sorted(), "more rows never need less: {needs:?}");
        }
        for rows in sizes {
            let needs: Vec<u64> = sizes.iter().map(|&features| method.memory(rows, features)).collect();
            assert!(needs.is_sorted(), "more features never need less: {needs:?}");
        }
        assert!(method.memory(most, 10) >= most as u64);
        assert_eq!(method.memory(most, most), u64::MAX);
    }
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    for (name, method) in methods::all() {
        let need = method.memory(1_000_000, 10);
        assert!(need > 0, "{name}");
        assert!(method.memory(2_000_000, 10) > need, "{name}: more rows need more memory");
        let ctx = Ctx::new(1, 0).with_memory_limit(1);
        let refused = method.fit(Data::from(&sheet(300)), &ctx).err();
        assert!(matches!(refused, Some(Error::Memory { .. })), "{name}: {refused:?}");
    }
}
