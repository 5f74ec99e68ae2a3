//! How many coordinates a map has where that is left to the data: `n_components="auto"`.
//!
//! Place: asked by the driver of every fit (`method`), before the method. Owns the meaning of
//! "auto", the same for every method: the intrinsic dimension of the data under the method's
//! own distances, rounded, at least 1.
//!
//! 1. At most 3 000 rows, drawn by the seed, stand for all: a dimension needs no more, and the
//!    cost does not grow with n. Rows that are equal count once.
//! 2. k neighbours of each: one for every 25 rows, from 5 to 20.
//! 3. Maximum likelihood m from the distances, and e from the angles between neighbours
//!    (`angles`). Edges make m fall short (8 of 10 dimensions with 2 000 rows of a cube) and e
//!    hardly; curvature makes e too large and m hardly. On flat pieces e/m is at most
//!    1 + 0.018 e, and at 1 + 0.03 e what parts them is curvature: the value is e up to the
//!    first, m from the second on, and between them in proportion.
//!
//! Measured on 2 000 rows of cubes, balls, Gaussians, spheres and Swiss rolls of 1 to 10
//! dimensions: within 10 % (tests/it/dimension.rs). A flat torus bends so much within 20
//! neighbours that no estimator is right beyond 5 dimensions.
//!
//! Kernel values are distances d² = k(x, x) + k(y, y) − 2 k(x, y). Of a graph only m is known,
//! from the lists of neighbours, and where some are shorter than four from shortest paths
//! (`paths`). Cost: a search among 3 000 rows, k²·D for each.

use ndarray::{Array2, ArrayView2, Axis, CowArray};

use super::angles::simplex_skewness;
use super::likelihood::maximum_likelihood;
use super::paths::with_paths;
use super::table::{Table, with_table};
use super::{Statistic, blend};
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::rows::as_indices;
use crate::input::{Csr, Data, check_finite};
use crate::linalg::random::below;
use crate::neighbors::{Algorithm, Metric};
use crate::params::{IntoParam, Parameter, Value};
use crate::scale::Scale;

/// How many coordinates a map has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// This many.
    Count(usize),
    /// As many as the data has dimensions, estimated when the method is fitted.
    Auto,
}

impl Coordinates {
    /// The number. While it is left to the data, what is usual: a fit never sees that,
    /// because the driver settles the number first.
    pub fn count(self) -> usize {
        match self {
            Coordinates::Count(count) => count,
            Coordinates::Auto => 2,
        }
    }
}

impl IntoParam<Coordinates> for usize {
    fn into_param(self) -> Coordinates {
        Coordinates::Count(self)
    }
}

impl Parameter for Coordinates {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(count) => usize::try_from(*count).ok().map(Coordinates::Count),
            Value::Str(name) if name == "auto" => Some(Coordinates::Auto),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self {
            Coordinates::Count(count) => count.to_value(),
            Coordinates::Auto => Value::Str("auto".into()),
        }
    }
    fn expected() -> String {
        "a whole number >= 0 or 'auto'".into()
    }
}

/// How far rows are apart, as the method that is fitted sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ruler {
    /// By this metric; `None` where the data itself is distances or lengths of edges.
    Metric(Option<Metric>),
    /// As the data, kernel values, says.
    Kernel,
    /// Not at all: why the number must be given.
    Unknown(&'static str),
}

/// Rows that are looked at.
const MOST_ROWS: usize = 3_000;
/// Fewer distinct rows say nothing.
const FEWEST_ROWS: usize = 6;
/// Neighbours of each row: one for so many rows, within bounds.
const ROWS_PER_NEIGHBOR: usize = 25;
const NEIGHBORS: [usize; 2] = [5, 20];
/// Shorter lists of a graph are not enough.
const SHORTEST_LIST: usize = 4;
/// Estimates within this factor of each other agree.
const AGREE: f64 = 1.25;

/// The number of coordinates for `data`.
///
/// # Errors
/// Data that has no dimension, or does not say, each with the reason; cancellation, memory.
pub(crate) fn coordinates(data: Data<'_>, ruler: Ruler, ctx: &Ctx) -> Result<usize> {
    let quiet = ctx.for_run(Scale::ONE);
    let found = estimated(data, ruler, &quiet).map_err(|error| match error {
        Error::Input(why) | Error::Unsupported(why) | Error::Param { why, .. } => {
            Error::param("n_components", format!("'auto' finds no dimension: {why}; give a number"))
        }
        stop => stop,
    })?;
    let most = match data {
        Data::Points(points) | Data::Neighborhoods { points, .. } => points.cols().min(data.rows() - 1),
        _ => data.rows() - 1,
    };
    let count = (found.value().round() as usize).clamp(1, most.max(1));
    found.warn_of_disagreement(count, ctx);
    Ok(count)
}

/// The two estimates.
struct Found {
    /// By maximum likelihood.
    likelihood: f64,
    /// By the angles between neighbours, where those are known.
    angles: Option<f64>,
    neighbors: usize,
}

impl Found {
    fn of(table: &Table<'_>, ctx: &Ctx) -> Result<Found> {
        let counts = vec![1.0; table.len()];
        let likelihood = maximum_likelihood(table).0.value(&counts);
        let angles = match simplex_skewness(table, ctx)? {
            Ok((statistic, _)) => Some(statistic.value(&counts)),
            Err(_) => None,
        };
        if !likelihood.is_finite() {
            return Err(Error::input("the distances to the neighbours of every row are equal, as on a grid"));
        }
        Ok(Found { likelihood, angles, neighbors: table.k })
    }

    fn value(&self) -> f64 {
        self.angles.map_or(self.likelihood, |angles| blend(angles, self.likelihood))
    }

    fn warn_of_disagreement(&self, count: usize, ctx: &Ctx) {
        let Some(angles) = self.angles else { return };
        let (low, high) = (angles.min(self.likelihood), angles.max(self.likelihood));
        if high <= AGREE * low || high.round() == low.round() {
            return;
        }
        ctx.warn(
            WarningKind::Dimension,
            format!(
                "n_components='auto' took {count}, but the estimates of the dimension disagree: {:.1} by the \
                 distances to {k} neighbours and {:.1} by the angles between them; the data is curved or noisy at \
                 that scale, or has few rows for so many dimensions; look at `planish.dimension.estimate` and give \
                 a number",
                self.likelihood,
                angles,
                k = self.neighbors
            ),
        );
    }
}

/// Neighbours of each of so many distinct rows.
fn neighbors(rows: usize) -> usize {
    (rows / ROWS_PER_NEIGHBOR).clamp(NEIGHBORS[0], NEIGHBORS[1])
}

fn estimated(data: Data<'_>, ruler: Ruler, ctx: &Ctx) -> Result<Found> {
    let rows = data.rows();
    if rows < FEWEST_ROWS {
        return Err(Error::input(format!("{rows} rows are too few, at least {FEWEST_ROWS} are needed")));
    }
    let metric = match ruler {
        Ruler::Metric(metric) => metric,
        Ruler::Kernel => None,
        Ruler::Unknown(why) => return Err(Error::Unsupported(why.into())),
    };
    let measure = |data: Data<'_>, metric: Option<Metric>| {
        with_table(data, &neighbors, metric, Algorithm::Auto, ctx, |table| Found::of(table, ctx))
    };
    let drawn = drawn(rows, ctx);
    match data {
        Data::Graph(lists) => of_graph(lists, ctx),
        Data::Neighborhoods { .. } => measure(data, metric),
        Data::Points(points) => match drawn {
            Some(drawn) => measure(Data::Points(points.select(&drawn).view()), metric),
            None => measure(data, metric),
        },
        Data::Distances(matrix) => measure(Data::Distances(among(matrix, &drawn).view()), None),
        Data::Kernel(matrix) => {
            let kernel = among(matrix, &drawn);
            check_finite(kernel.view(), "the kernel matrix")?;
            measure(Data::Distances(of_kernel(kernel.view()).view()), None)
        }
    }
}

/// The rows that stand for all, ascending; `None` when all do.
fn drawn(rows: usize, ctx: &Ctx) -> Option<Vec<usize>> {
    (rows > MOST_ROWS).then(|| {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        let mut stream = ctx.stream("rows for the dimension");
        (0..MOST_ROWS).for_each(|place| order.swap(place, place + below(&mut stream, rows - place)));
        order.truncate(MOST_ROWS);
        order.sort_unstable();
        as_indices(&order)
    })
}

/// A square matrix among some of its rows.
fn among<'a>(matrix: ArrayView2<'a, f64>, drawn: &Option<Vec<usize>>) -> CowArray<'a, f64, ndarray::Ix2> {
    match drawn {
        Some(drawn) if matrix.is_square() => {
            CowArray::from(matrix.select(Axis(0), drawn).select(Axis(1), drawn))
        }
        _ => CowArray::from(matrix),
    }
}

/// The distances that kernel values say.
fn of_kernel(kernel: ArrayView2<'_, f64>) -> Array2<f64> {
    let diagonal = kernel.diag().to_owned();
    Array2::from_shape_fn(kernel.dim(), |(i, j)| {
        if i == j || i >= diagonal.len() || j >= diagonal.len() {
            return 0.0;
        }
        // Both directions: a kernel that went through single precision is not symmetric.
        let both = kernel[[i, j]] + kernel.get([j, i]).copied().unwrap_or(0.0);
        (diagonal[i] + diagonal[j] - both).max(0.0).sqrt()
    })
}

/// From the lists of a graph, or from paths where those are short.
fn of_graph(lists: &Csr, ctx: &Ctx) -> Result<Found> {
    let longer = |row: usize| {
        let (columns, lengths) = lists.row(row);
        let others =
            columns.iter().zip(lengths).filter(|(column, length)| **column as usize != row && **length > 0.0);
        others.count() >= SHORTEST_LIST
    };
    if (0..lists.rows()).all(longer) {
        let most = |rows: usize| neighbors(rows);
        return with_table(Data::Graph(lists), &most, None, Algorithm::Auto, ctx, |table| {
            Found::of(table, ctx)
        });
    }
    with_paths(lists, NEIGHBORS[0], ctx, |table| Found::of(table, ctx))
}
