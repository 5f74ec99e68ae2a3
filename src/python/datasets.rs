//! Data sets by name, as arrays; what their distances are crosses over as a name and numbers.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use super::run::{Job, run};
use crate::context::Ctx;
use crate::datasets::{self, Dataset, Geometry};
use crate::error::{Error, Result};

type Described = (String, Vec<f64>);
type Arrays<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Described);

/// Make a data set: (points, coordinates, color, geometry). `counts` and `lengths` are the
/// whole numbers and the numbers it takes besides its size.
#[pyfunction]
#[pyo3(signature = (name, n_samples, counts, lengths, noise, seed, n_jobs))]
pub fn dataset<'py>(
    py: Python<'py>,
    name: &str,
    n_samples: usize,
    counts: Vec<usize>,
    lengths: Vec<f64>,
    noise: f64,
    seed: u64,
    n_jobs: usize,
) -> PyResult<Arrays<'py>> {
    let made = run(py, Job::new(n_jobs, None).seed(seed), |ctx| {
        make(name, n_samples, &counts, &lengths, noise, ctx)
    })?;
    Ok((
        made.points.into_pyarray(py),
        made.coordinates.into_pyarray(py),
        made.color.into_pyarray(py),
        described(&made.geometry),
    ))
}

/// Geodesic distances from some rows of a data set, or all, to all its rows.
#[pyfunction]
#[pyo3(signature = (geometry, coordinates, rows, n_jobs))]
pub fn dataset_geodesics<'py>(
    py: Python<'py>,
    geometry: Described,
    coordinates: PyReadonlyArray2<'py, f64>,
    rows: Option<Vec<usize>>,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let coordinates = coordinates.as_array();
    let found = run(py, Job::new(n_jobs, None), |ctx| {
        datasets::geodesics_between(coordinates, &geometry_of(&geometry)?, rows.as_deref(), ctx)
    })?;
    Ok(found.into_pyarray(py))
}

fn make(name: &str, n: usize, counts: &[usize], lengths: &[f64], noise: f64, ctx: &Ctx) -> Result<Dataset> {
    match (name, counts, lengths) {
        ("swiss_roll", [], []) => datasets::swiss_roll(n, noise, ctx),
        ("swiss_roll_with_hole", [], []) => datasets::swiss_roll_with_hole(n, noise, ctx),
        ("s_curve", [], []) => datasets::s_curve(n, noise, ctx),
        ("punctured_sphere", [], [opening]) => datasets::punctured_sphere(n, *opening, noise, ctx),
        ("torus", [], []) => datasets::torus(n, noise, ctx),
        ("twin_peaks", [], []) => datasets::twin_peaks(n, noise, ctx),
        ("helix", [], [turns]) => datasets::helix(n, *turns, noise, ctx),
        ("toroidal_helix", [], []) => datasets::toroidal_helix(n, noise, ctx),
        ("cube", [dimension], []) => datasets::cube(n, *dimension, None, noise, ctx),
        ("cube", [dimension, features], []) => datasets::cube(n, *dimension, Some(*features), noise, ctx),
        ("flat_torus", [dimension], []) => datasets::flat_torus(n, *dimension, noise, ctx),
        ("gaussian_clusters", [clusters, features], [separation]) => {
            datasets::gaussian_clusters(n, *clusters, *features, *separation, noise, ctx)
        }
        ("rotating_object", [size], []) => datasets::rotating_object(n, *size, noise, ctx),
        _ => Err(Error::input(format!("there is no data set `{name}` with these parameters"))),
    }
}

fn described(geometry: &Geometry) -> Described {
    let (name, numbers) = match geometry {
        Geometry::Flat => ("flat", vec![]),
        Geometry::Periodic(length) => ("periodic", vec![*length]),
        Geometry::Holed(hole) => ("holed", hole.to_vec()),
        Geometry::Punctured(opening) => ("punctured", vec![*opening]),
        Geometry::Unknown => ("unknown", vec![]),
    };
    (name.to_string(), numbers)
}

fn geometry_of((name, numbers): &Described) -> Result<Geometry> {
    match (name.as_str(), numbers.as_slice()) {
        ("flat", []) => Ok(Geometry::Flat),
        ("periodic", [length]) => Ok(Geometry::Periodic(*length)),
        ("holed", [x0, x1, y0, y1]) => Ok(Geometry::Holed([*x0, *x1, *y0, *y1])),
        ("punctured", [opening]) => Ok(Geometry::Punctured(*opening)),
        ("unknown", []) => Ok(Geometry::Unknown),
        _ => Err(Error::input(format!("there is no geometry `{name}` with {} numbers", numbers.len()))),
    }
}
