//! Embed the rows of a CSV file and write the coordinates as CSV.
//!
//! `cargo run --release --example embed_csv -- FILE > coordinates.csv`
//!
//! Without a file a small table is made up. A row that is not numbers, or shorter than
//! the others, is named in the error.

use planish::methods::Isomap;
use planish::ndarray::Array2;
use planish::{Ctx, Error, Result};

fn main() -> Result<()> {
    let text = match std::env::args().nth(1) {
        Some(file) => {
            std::fs::read_to_string(&file).map_err(|fault| Error::Input(format!("{file}: {fault}")))?
        }
        None => spiral(),
    };
    let points = parse(&text)?;
    let ctx = Ctx::default();
    let map = Isomap::default().fit(&points, &ctx)?;
    for warning in map.warnings() {
        eprintln!("note: {}", warning.message);
    }
    let coordinates = map.embedding().expect("Isomap keeps the coordinates of its training rows");
    assert_eq!(coordinates.nrows(), points.nrows());
    for row in coordinates.outer_iter() {
        let fields: Vec<String> = row.iter().map(f64::to_string).collect();
        println!("{}", fields.join(","));
    }
    Ok(())
}

fn parse(text: &str) -> Result<Array2<f64>> {
    let mut values = Vec::new();
    let (mut rows, mut columns) = (0, 0);
    for (number, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let before = values.len();
        for field in line.split(',') {
            let value = field.trim().parse::<f64>();
            values
                .push(value.map_err(|fault| Error::Input(format!("line {}: {field}: {fault}", number + 1)))?);
        }
        if rows > 0 && values.len() - before != columns {
            return Err(Error::Input(format!("line {} has another number of fields", number + 1)));
        }
        columns = values.len() - before;
        rows += 1;
    }
    Array2::from_shape_vec((rows, columns), values).map_err(|fault| Error::Input(fault.to_string()))
}

fn spiral() -> String {
    let line = |i: usize| {
        let t = 3.0 + i as f64 / 20.0;
        format!("{},{},{}", t * t.cos(), t * t.sin(), (i as f64 * 0.618).fract())
    };
    (0..200).map(line).collect::<Vec<String>>().join("\n")
}
