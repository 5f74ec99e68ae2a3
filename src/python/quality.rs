//! Measures of quality by the names that Python gives: one function for all of them.

use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

use super::convert::PyData;
use super::run::{Job, run};
use super::stages::named;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Data, PointsRef};
use crate::neighbors::MetricName;
use crate::quality::{Comparison, Measure, Procrustes, RankCurve, Score, Shepard, procrustes};

/// What is wanted, as Python gave it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Wanted {
    what: String,
    measures: Vec<String>,
    metric: String,
    p: f64,
    n_neighbors: usize,
    labels: Option<Vec<i64>>,
    sample: Option<usize>,
    n_pairs: Option<usize>,
    scaling: bool,
    reflection: bool,
}

/// What was found.
enum Found {
    Scores(Vec<(String, Score)>, Option<Vec<u32>>),
    Curve(RankCurve, Option<Vec<u32>>),
    Pairs(Shepard),
    Shape(Procrustes),
}

/// Scores, a curve, pairs or a shape, as `wanted["what"]` says, in a dictionary.
#[pyfunction]
#[pyo3(signature = (data, embedding, wanted, n_jobs, seed, progress))]
pub(super) fn quality<'py>(
    py: Python<'py>,
    data: PyData<'py>,
    embedding: PyReadonlyArray2<'py, f64>,
    wanted: Wanted,
    n_jobs: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (data, map) = (data.view()?, embedding.as_array());
    let found = run(py, Job::new(n_jobs, progress).seed(seed), |ctx| find(data, map, &wanted, ctx))?;
    as_dictionary(py, found)
}

fn find(data: Data<'_>, map: ndarray::ArrayView2<'_, f64>, wanted: &Wanted, ctx: &Ctx) -> Result<Found> {
    if wanted.what == "procrustes" {
        let Data::Points(PointsRef::Dense(reference)) = data else {
            return Err(Error::input("the Procrustes distance compares two dense maps"));
        };
        return Ok(Found::Shape(procrustes(reference, map, wanted.scaling, wanted.reflection)?));
    }
    let metric: MetricName = named("metric", &wanted.metric)?;
    let both = Comparison::of(data.reborrow(), metric.metric(wanted.p)?, map.reborrow(), wanted.sample, ctx)?;
    let rows = both.sample().map(<[u32]>::to_vec);
    match wanted.what.as_str() {
        "rank_curve" => Ok(Found::Curve(both.rank_curve(ctx)?, rows)),
        "shepard" => Ok(Found::Pairs(both.shepard(wanted.n_pairs, ctx)?)),
        _ => {
            let measures = wanted
                .measures
                .iter()
                .map(|name| named("measure", name))
                .collect::<Result<Vec<Measure>>>()?;
            let scores = both.scores(&measures, wanted.n_neighbors, wanted.labels.as_deref(), ctx)?;
            Ok(Found::Scores(wanted.measures.iter().cloned().zip(scores).collect(), rows))
        }
    }
}

fn as_dictionary(py: Python<'_>, found: Found) -> PyResult<Bound<'_, PyDict>> {
    let named = PyDict::new(py);
    let set_rows = |rows: Option<Vec<u32>>| {
        let rows: Option<Vec<i64>> = rows.map(|rows| rows.into_iter().map(i64::from).collect());
        named.set_item("rows", rows.map(|rows| rows.into_pyarray(py)))
    };
    let set_score = |name: &str, score: Score| {
        let per_point = score.per_point.map(|values| values.into_pyarray(py));
        named.set_item(name, (score.value, score.standard_error, per_point))
    };
    match found {
        Found::Scores(scores, rows) => {
            scores.into_iter().try_for_each(|(name, score)| set_score(&name, score))?;
            set_rows(rows)?;
        }
        Found::Curve(curve, rows) => {
            named.set_item("q", curve.q.into_pyarray(py))?;
            named.set_item("r", curve.r.into_pyarray(py))?;
            set_score("area", curve.area)?;
            set_rows(rows)?;
        }
        Found::Pairs(pairs) => {
            let count = pairs.pairs.len();
            let rows =
                ndarray::Array2::from_shape_fn((count, 2), |(at, end)| i64::from(pairs.pairs[at][end]));
            named.set_item("pairs", rows.into_pyarray(py))?;
            named.set_item("distances", pairs.distances.into_pyarray(py))?;
            named.set_item("embedded", pairs.embedded.into_pyarray(py))?;
        }
        Found::Shape(shape) => {
            named.set_item("distance", shape.distance)?;
            named.set_item("aligned", shape.aligned.into_pyarray(py))?;
            named.set_item("rotation", shape.rotation.into_pyarray(py))?;
            named.set_item("scale", shape.scale)?;
            named.set_item("shift", shape.shift.into_pyarray(py))?;
            named.set_item("per_point", shape.per_point.into_pyarray(py))?;
        }
    }
    Ok(named)
}
