//! The meta-algorithm's frame: what a method is, what a fitted model is, and
//! the one driver that takes data through a method.
//!
//! ```text
//! Data ──check──► Recipe::recipe ──► Model ──► embedding, attributes, transform
//! ```
//!
//! A method is a struct of parameters that implements [`Recipe`]; the driver
//! gives it checked data inside the context's thread pool and holds it to the
//! contract (n rows in, n rows out, finite or an error). [`Method`] is the same
//! thing behind a pointer, for the registry and the Python door.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::{Serialize, de::DeserializeOwned};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::input::{Csr, Points, PointsRef, check_points};
use crate::params::Params;

/// What a caller hands to a method: any stage of the dataflow is a door.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Points, one per row.
    Points(PointsRef<'a>),
    /// Distances: n × n to fit, new rows × n to transform.
    Distances(ArrayView2<'a, f64>),
    /// Kernel values: n × n to fit, new rows × n to transform.
    Kernel(ArrayView2<'a, f64>),
    /// A neighbourhood graph as compressed rows of distances.
    Graph(&'a Csr),
    /// Points with the neighbours of each, for methods that look at the points of
    /// given neighbourhoods.
    Neighborhoods {
        /// One per row.
        points: PointsRef<'a>,
        /// Distances to neighbours among the training rows.
        lists: &'a Csr,
    },
}

impl Data<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Data::Points(points) | Data::Neighborhoods { points, .. } => points.rows(),
            Data::Distances(matrix) | Data::Kernel(matrix) => matrix.nrows(),
            Data::Graph(graph) => graph.rows(),
        }
    }

    /// A copy of some of the rows.
    pub fn select(&self, rows: &[u32]) -> OwnedData {
        let indices: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        match self {
            Data::Points(points) => OwnedData::Points(points.select(&indices)),
            Data::Distances(matrix) => OwnedData::Distances(matrix.select(Axis(0), &indices)),
            Data::Kernel(matrix) => OwnedData::Kernel(matrix.select(Axis(0), &indices)),
            Data::Graph(graph) => OwnedData::Graph(graph.select(&indices)),
            Data::Neighborhoods { points, lists } => {
                OwnedData::Neighborhoods { points: points.select(&indices), lists: lists.select(&indices) }
            }
        }
    }

    /// The kind in words, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Points(_) => "points",
            Data::Distances(_) => "precomputed distances",
            Data::Kernel(_) => "a precomputed kernel",
            Data::Graph(_) => "a sparse neighbourhood graph",
            Data::Neighborhoods { .. } => "points with their neighbours",
        }
    }
}

/// Rows of [`Data`] that are held here.
#[derive(Debug, Clone)]
pub enum OwnedData {
    /// Points, one per row.
    Points(Points),
    /// Distances.
    Distances(Array2<f64>),
    /// Kernel values.
    Kernel(Array2<f64>),
    /// Edges.
    Graph(Csr),
    /// Points and their neighbours.
    Neighborhoods {
        /// One per row.
        points: Points,
        /// Distances to neighbours.
        lists: Csr,
    },
}

impl OwnedData {
    /// Lend them.
    pub fn view(&self) -> Data<'_> {
        match self {
            OwnedData::Points(points) => Data::Points(points.view()),
            OwnedData::Distances(matrix) => Data::Distances(matrix.view()),
            OwnedData::Kernel(matrix) => Data::Kernel(matrix.view()),
            OwnedData::Graph(graph) => Data::Graph(graph),
            OwnedData::Neighborhoods { points, lists } => {
                Data::Neighborhoods { points: points.view(), lists }
            }
        }
    }
}

impl<'a> From<ArrayView2<'a, f64>> for Data<'a> {
    fn from(points: ArrayView2<'a, f64>) -> Self {
        Data::Points(PointsRef::Dense(points))
    }
}

impl<'a> From<&'a Array2<f64>> for Data<'a> {
    fn from(points: &'a Array2<f64>) -> Self {
        Data::Points(PointsRef::Dense(points.view()))
    }
}

/// A fitted attribute on its way to a caller who asks by name.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A name.
    Str(String),
    /// A vector.
    Vector(Array1<f64>),
    /// A vector of indices or labels.
    Indices(Array1<i64>),
    /// A matrix.
    Matrix(Array2<f64>),
    /// A matrix of indices.
    IndexMatrix(Array2<i64>),
    /// A weighted graph.
    Graph(Graph),
}

impl Attribute {
    /// A vector from a slice.
    pub fn vector(values: &[f64]) -> Self {
        Attribute::Vector(Array1::from(values.to_vec()))
    }

    /// Labels or indices from a slice.
    pub fn indices(values: &[usize]) -> Self {
        Attribute::Indices(values.iter().map(|&value| value as i64).collect())
    }
}

/// A fitted method: the embedding and what is needed to place new points.
pub trait Model: Send + Sync {
    /// Coordinates of the training rows, n × p; `None` when they are not kept
    /// because placing the rows anew gives them at the same cost.
    fn embedding(&self) -> Option<ArrayView2<'_, f64>>;

    /// Everything else worth knowing, by name.
    fn attributes(&self) -> Vec<(&'static str, Attribute)>;

    /// Coordinates of new rows. Called through [`transform`], which checks.
    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>>;

    /// Points for given coordinates, where the method has a way back. Called
    /// through [`inverse_transform`].
    fn invert(&self, _coordinates: ArrayView2<'_, f64>, _ctx: &Ctx) -> Result<Array2<f64>> {
        Err(Error::Unsupported("this method has no inverse_transform".into()))
    }

    /// Something that is only computed when asked for. Called through [`compute`].
    fn compute(&self, what: &str, _ctx: &Ctx) -> Result<Attribute> {
        Err(Error::Unsupported(format!("this method cannot compute `{what}`")))
    }
}

/// A method as its author writes it: parameters, a recipe, its memory.
pub trait Recipe: Params + Send + Sync {
    /// What fitting gives.
    type Model: Model + Serialize + DeserializeOwned + 'static;

    /// The method itself, from checked data to a model.
    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<Self::Model>;

    /// Bytes a fit takes at its largest moment beyond the input.
    fn memory(&self, rows: usize, features: usize) -> u64;

    /// Fit: check the data, run the recipe in the context's pool, check the result.
    fn fit<'a>(&self, data: impl Into<Data<'a>>, ctx: &Ctx) -> Result<Self::Model>
    where
        Self: Sized,
    {
        let data = data.into();
        let model = ctx.install(|| {
            check_data(data)?;
            self.recipe(data, ctx)
        })?;
        ctx.check()?;
        check_fitted(&model)?;
        debug_assert!(
            model.embedding().is_none_or(|placed| placed.nrows() == data.rows()),
            "n rows in, n rows out"
        );
        Ok(model)
    }
}

/// A method behind a pointer.
pub trait Method: Send + Sync {
    /// See [`Recipe::fit`].
    fn fit_boxed(&self, data: Data<'_>, ctx: &Ctx) -> Result<Box<dyn SavedModel>>;
    /// See [`Recipe::memory`].
    fn memory_needed(&self, rows: usize, features: usize) -> u64;
    /// Names and values of the parameters.
    fn parameters(&self) -> Vec<(&'static str, crate::params::Value)>;
}

impl<R: Recipe> Method for R {
    fn fit_boxed(&self, data: Data<'_>, ctx: &Ctx) -> Result<Box<dyn SavedModel>> {
        Ok(Box::new(self.fit(data, ctx)?))
    }
    fn memory_needed(&self, rows: usize, features: usize) -> u64 {
        self.memory(rows, features)
    }
    fn parameters(&self) -> Vec<(&'static str, crate::params::Value)> {
        self.values()
    }
}

/// A model that can be written down; every serialisable [`Model`] is one.
pub trait SavedModel: Model {
    /// The model as bytes, to be read by [`crate::methods::restore`].
    fn save(&self) -> Result<Vec<u8>>;
}

impl<M: Model + Serialize> SavedModel for M {
    fn save(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(|fault| Error::Restore(fault.to_string()))
    }
}

/// Coordinates of new rows: checked data in, finite coordinates out, rows that
/// cannot be placed named.
pub fn transform<'a>(model: &dyn Model, data: impl Into<Data<'a>>, ctx: &Ctx) -> Result<Array2<f64>> {
    let data = data.into();
    let placed = ctx.install(|| {
        check_data(data)?;
        model.place(data, ctx)
    })?;
    ctx.check()?;
    let lost = placed.outer_iter().position(|row| row.iter().any(|value| !value.is_finite()));
    match lost {
        Some(row) => Err(Error::input(format!(
            "row {row} cannot be placed: it is too far from the training data for its distances to be \
             finite numbers"
        ))),
        None => Ok(placed),
    }
}

/// Points for given coordinates, where the method has a way back.
pub fn inverse_transform(
    model: &dyn Model,
    coordinates: ArrayView2<'_, f64>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    ctx.install(|| model.invert(coordinates, ctx))
}

/// Something a model computes only when asked for, by name.
pub fn compute(model: &dyn Model, what: &str, ctx: &Ctx) -> Result<Attribute> {
    ctx.install(|| model.compute(what, ctx))
}

/// Rows are finite, or NaN throughout where a policy left them out.
fn check_fitted(model: &dyn Model) -> Result<()> {
    let Some(placed) = model.embedding() else { return Ok(()) };
    let lost = placed.outer_iter().position(|row| {
        row.iter().any(|value| !value.is_finite()) && !row.iter().all(|value| value.is_nan())
    });
    match lost {
        Some(row) => Err(Error::input(format!(
            "row {row} is too far from the others for its coordinates to be finite numbers; leave it out"
        ))),
        None => Ok(()),
    }
}

/// What every method needs of its data, whatever the method.
fn check_data(data: Data<'_>) -> Result<()> {
    match data {
        Data::Points(points) | Data::Neighborhoods { points, .. } => check_points(points),
        Data::Distances(matrix) => crate::input::check_finite(matrix, "the distance matrix"),
        Data::Kernel(matrix) => {
            crate::input::check_finite(matrix, "the matrix of kernel values or affinities")
        }
        // A graph is checked where it is assembled: it alone knows its pairs.
        Data::Graph(_) => Ok(()),
    }
}
