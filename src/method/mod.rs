//! What a method is, what a fitted model is, and the one driver that takes data
//! through a method.
//!
//! ```text
//! Data ──check, scale──► Method::fit ──► Model ──unscale──► Fitted: embedding, attributes, transform
//! ```
//!
//! A method is a struct of parameters that implements [`Method`]. The driver checks
//! the data, brings it to a safe scale by a power of two, runs the method in the
//! context's threads, and checks the result: n rows in, n rows out,
//! finite or an error, in the units of the data. [`AnyMethod`] and [`AnyModel`] are
//! the same behind a pointer, for the registry and the Python module.

mod any;
mod attribute;
pub(crate) mod saved;

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::context::Ctx;
use crate::dimension::{Ruler, coordinates};
use crate::error::{Error, Result, Warning};
use crate::input::check::check_entries;
use crate::input::scale::{ScaledData, scale_of_affinities, scale_of_data};
use crate::input::{Data, Input, check_finite, check_points};
use crate::neighbors::MetricName;
use crate::params::{Parameter, Params, Value};
use crate::scale::Scale;

pub use any::{AnyMethod, AnyModel, transform};
pub use attribute::{Attribute, Units};
pub use saved::Package;
pub(crate) use saved::{About, Saved, load, read};

/// What multiplying all data by a number does to the distances a method works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scaling {
    /// They are multiplied by it.
    Distances,
    /// They do not change: the metric compares angles.
    Angles,
    /// The data is affinities, which go with the square of a length.
    Affinities,
    /// The method has a width of its own: the data is taken as it is.
    Absolute,
}

impl Scaling {
    /// What the data is multiplied by, and what that does to lengths.
    fn scales(self, data: Data<'_>) -> (Scale, Scale) {
        let twice = |scale| (scale, scale);
        match self {
            Scaling::Distances => twice(scale_of_data(data)),
            Scaling::Angles => (scale_of_data(data), Scale::ONE),
            Scaling::Affinities => twice(scale_of_affinities(data)),
            Scaling::Absolute => (Scale::ONE, Scale::ONE),
        }
    }

    fn apply(self, scale: Scale, data: Data<'_>) -> ScaledData<'_> {
        if self == Scaling::Affinities { scale.affinities(data) } else { scale.data(data) }
    }
}

/// A method as its author writes it: parameters, the computation, its memory.
pub trait Method: Params + Clone + Send + Sync {
    /// What fitting gives.
    type Model: Model + Clone + Serialize + DeserializeOwned + 'static;

    /// The method itself, from checked data at a safe scale to a model.
    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<Self::Model>;

    /// Bytes a fit takes at its largest moment beyond the input.
    fn memory(&self, rows: usize, features: usize) -> u64;

    /// Whether NaN among given distances is a pair that is missing.
    fn takes_missing(&self) -> bool {
        false
    }

    /// How far rows are apart, where the number of coordinates is left to the data.
    ///
    /// # Errors
    /// A metric that does not exist.
    fn ruler(&self) -> Result<Ruler> {
        let metric = self.value("metric").as_ref().and_then(MetricName::from_value);
        let p = self.value("p").as_ref().and_then(f64::from_value);
        Ok(Ruler::Metric(metric.unwrap_or(MetricName::Euclidean).metric(p.unwrap_or(2.0))?))
    }

    /// How distances follow the scale of the data.
    fn scaling(&self) -> Scaling {
        Scaling::Absolute
    }

    /// These parameters where all distances are multiplied by `lengths`: those that
    /// are lengths are multiplied too.
    fn rescaled(&self, _lengths: Scale) -> Self {
        self.clone()
    }
}

/// What a method computes: the coordinates of the training rows and what is needed
/// to place new ones, at the scale the method worked at.
pub trait Model: Send + Sync {
    /// Coordinates of the training rows, n × p; `None` when they are not kept
    /// because [`Model::transform`] gives them at the same cost.
    fn embedding(&self) -> Option<ArrayView2<'_, f64>>;

    /// Everything else worth knowing, by name.
    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>>;

    /// Whether the parts of a model that was read back fit together, as far as they have
    /// not said so themselves; why not.
    fn check_parts(&self) -> std::result::Result<(), &'static str> {
        Ok(())
    }

    /// Whether NaN among the distances of new rows is a pair that is missing.
    fn takes_missing(&self) -> bool {
        false
    }

    /// What coordinates and attributes are measured in.
    fn units(&self) -> Units {
        Units::NONE
    }

    /// Coordinates of new rows.
    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>>;

    /// Points for given coordinates, where the method has an inverse.
    fn inverse_transform(&self, _coordinates: ArrayView2<'_, f64>, _ctx: &Ctx) -> Result<Array2<f64>> {
        Err(Error::Unsupported("this method has no inverse_transform".into()))
    }

    /// Distances of rows to the nearest training row, where the method can tell.
    fn nearest_distances(&self, _data: Data<'_>, _ctx: &Ctx) -> Result<Vec<f64>> {
        Err(Error::Unsupported("this method does not tell distances of new rows".into()))
    }

    /// Something that is only computed when asked for.
    fn compute(&self, what: &str, _ctx: &Ctx) -> Result<Attribute> {
        Err(Error::Unsupported(format!("this method cannot compute `{what}`")))
    }
}

/// A fitted method, in the units of the data it was fitted on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fitted<M> {
    /// The method's name.
    method: String,
    model: M,
    /// How data is multiplied.
    scaling: Scaling,
    /// What the data was multiplied by.
    scale: Scale,
    /// What distances were multiplied by.
    lengths: Scale,
    /// The coordinates in the units of the data, where the model's are not.
    embedding: Option<Array2<f64>>,
    warnings: Vec<Warning>,
    /// In the header of a file, not in its tree.
    #[serde(skip)]
    about: About,
}

/// What fitting the method `T` gives, for signatures and fields: `planish::Model<Isomap>`.
pub type ModelOf<T> = Fitted<<T as Method>::Model>;

/// Fit: check the data, scale it, compute, check the result.
pub(crate) fn fit<T: Method>(method: &T, data: Data<'_>, ctx: &Ctx) -> Result<Fitted<T::Model>> {
    let compute = |data: Data<'_>, lengths: Scale, ctx: &Ctx| {
        let rescaled = (!lengths.is_one()).then(|| method.rescaled(lengths));
        let method = rescaled.as_ref().unwrap_or(method);
        let settled = settled(method, data, ctx)?;
        settled.as_ref().unwrap_or(method).fit(data, ctx)
    };
    let fitted = drive_checked(T::NAME, data, method.takes_missing(), method.scaling(), ctx, compute)?;
    Ok(fitted.with_parameters(method.values()))
}

/// The method with its number of coordinates, where that is left to the data.
fn settled<T: Method>(method: &T, data: Data<'_>, ctx: &Ctx) -> Result<Option<T>> {
    const NAME: &str = "n_components";
    if method.value(NAME) != Some(Value::Str("auto".into())) {
        return Ok(None);
    }
    let count = coordinates(data, method.ruler()?, ctx)?;
    let mut settled = method.clone();
    settled.set(NAME, &Value::Int(count as i64))?;
    Ok(Some(settled))
}

/// The driver of every fit: `compute` gets data at a safe scale, what distances were
/// multiplied by, and a context of its own.
pub(crate) fn drive<M: Model>(
    method: &str,
    data: Data<'_>,
    scaling: Scaling,
    ctx: &Ctx,
    compute: impl FnOnce(Data<'_>, Scale, &Ctx) -> Result<M> + Send,
) -> Result<Fitted<M>> {
    drive_checked(method, data, false, scaling, ctx, compute)
}

fn drive_checked<M: Model>(
    method: &str,
    data: Data<'_>,
    takes_missing: bool,
    scaling: Scaling,
    ctx: &Ctx,
    compute: impl FnOnce(Data<'_>, Scale, &Ctx) -> Result<M> + Send,
) -> Result<Fitted<M>> {
    ctx.answer(|| {
        check_data(data, takes_missing)?;
        let (scale, lengths) = scaling.scales(data);
        let run = ctx.for_run(lengths);
        let model = compute(scaling.apply(scale, data).view(), lengths, &run)?;
        run.check()?;
        let warnings = run.take_warnings();
        ctx.extend_warnings(&warnings);
        let power = lengths.power(model.units().coordinates);
        let embedding = (!power.is_one())
            .then(|| model.embedding().map(|placed| placed.mapv(|value| power.back(value))))
            .flatten();
        let method = method.to_string();
        let about = About::data(data);
        let fitted = Fitted { method, model, scaling, scale, lengths, embedding, warnings, about };
        fitted.check(data.rows())?;
        Ok(fitted)
    })
}

impl<M: Model> Fitted<M> {
    /// Coordinates of the training rows, n × p; `None` for methods that do not keep
    /// them because [`Fitted::transform`] gives them at the same cost (PCA).
    pub fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        self.embedding.as_ref().map(|placed| placed.view()).or_else(|| self.model.embedding())
    }

    /// Everything else worth knowing, by name.
    ///
    /// # Errors
    /// An attribute that cannot be put together.
    pub fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let units = self.model.units();
        let mut named = self.model.attributes()?;
        const WIDTH: &str = "n_components";
        if let Some(placed) = self.embedding().filter(|_| named.iter().all(|(name, _)| *name != WIDTH)) {
            named.push((WIDTH, Attribute::Int(placed.ncols() as i64)));
        }
        let in_units = |(name, value): (&'static str, Attribute)| {
            Ok((name, value.unscaled(self.lengths.power(units.of(name)))?))
        };
        named.into_iter().map(in_units).collect()
    }

    /// One attribute by its name, such as `"eigenvalues"`; `None` when the method has
    /// no such attribute.
    ///
    /// # Errors
    /// An attribute that cannot be put together.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        Ok(self.attributes()?.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value))
    }

    /// The attribute `"eigenvalues"`: those of the kernel or matrix that was decomposed.
    ///
    /// # Errors
    /// Methods without eigenvalues.
    pub fn eigenvalues(&self) -> Result<Vec<f64>> {
        let values = self.attribute("eigenvalues")?.and_then(|values| values.as_vector());
        values.ok_or_else(|| Error::Unsupported("this method has no eigenvalues".into()))
    }

    /// What the user should know although the fit stands.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// With the parameters it was fitted with, for its file.
    pub(crate) fn with_parameters(mut self, parameters: Vec<(&'static str, Value)>) -> Self {
        self.about.parameters =
            parameters.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        self
    }

    /// What the method computed, at the scale it worked at.
    #[cfg(test)]
    pub(crate) fn model(&self) -> &M {
        &self.model
    }

    /// Coordinates of new rows, of the kind of data the method was fitted on.
    ///
    /// # Errors
    /// Rows that are not numbers, of another kind or width, or too far away to be
    /// placed, each named; cancellation; memory.
    pub fn transform<'a>(&self, data: impl Into<Input<'a>>, ctx: &Ctx) -> Result<Array2<f64>> {
        let data = data.into();
        let data = data.view();
        let mut placed = self.run(ctx, |run| {
            check_data(data, self.model.takes_missing())?;
            self.model.transform(self.scaling.apply(self.scale, data).view(), run)
        })?;
        let power = self.lengths.power(self.model.units().coordinates);
        if !power.is_one() {
            placed.mapv_inplace(|value| power.back(value));
        }
        let lost = placed.outer_iter().position(|row| row.iter().any(|value| !value.is_finite()));
        match lost {
            Some(row) => Err(Error::input(format!(
                "row {row} cannot be placed: it is too far from the training data for its distances to be \
                 finite numbers"
            ))),
            None => Ok(placed),
        }
    }

    /// Distances of rows to the nearest training row: how far they are from anything known.
    ///
    /// # Errors
    /// Methods that cannot tell; rows of another kind or width; cancellation.
    pub fn nearest_distances<'a>(&self, data: impl Into<Input<'a>>, ctx: &Ctx) -> Result<Vec<f64>> {
        let data = data.into();
        let data = data.view();
        let mut found = self.run(ctx, |run| {
            check_data(data, self.model.takes_missing())?;
            self.model.nearest_distances(self.scaling.apply(self.scale, data).view(), run)
        })?;
        found.iter_mut().for_each(|distance| *distance = self.lengths.back(*distance));
        Ok(found)
    }

    /// Points for given coordinates.
    ///
    /// # Errors
    /// Methods without an inverse; coordinates of another width; cancellation.
    pub fn inverse_transform(&self, coordinates: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        let power = self.lengths.power(self.model.units().coordinates);
        let mut points =
            self.run(ctx, |run| self.model.inverse_transform(power.matrix(coordinates).view(), run))?;
        if !self.scale.is_one() {
            points.mapv_inplace(|value| self.scale.back(value));
        }
        Ok(points)
    }

    /// Something that is computed only when asked for, by name.
    ///
    /// # Errors
    /// Names the method does not know; cancellation; memory.
    pub fn compute(&self, what: &str, ctx: &Ctx) -> Result<Attribute> {
        let found = self.run(ctx, |run| self.model.compute(what, run))?;
        found.unscaled(self.lengths.power(self.model.units().of(what)))
    }

    /// Work on new rows, with warnings passed on to the caller's context.
    fn run<T: Send>(&self, ctx: &Ctx, work: impl FnOnce(&Ctx) -> Result<T> + Send) -> Result<T> {
        ctx.answer(|| {
            let run = ctx.for_run(self.lengths);
            let result = work(&run)?;
            run.check()?;
            ctx.extend_warnings(&run.take_warnings());
            Ok(result)
        })
    }

    /// As many rows as the data has; finite, or NaN throughout where a policy left
    /// them out.
    fn check(&self, rows: usize) -> Result<()> {
        let Some(placed) = self.embedding() else { return Ok(()) };
        debug_assert_eq!(placed.nrows(), rows, "n rows in, n rows out");
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
}

/// What every method needs of its data, whatever the method.
fn check_data(data: Data<'_>, takes_missing: bool) -> Result<()> {
    match data {
        Data::Points(points) | Data::Neighborhoods { points, .. } => check_points(points),
        Data::Distances(matrix) if takes_missing => {
            check_entries(matrix, "the distance matrix", |value| !value.is_infinite())
        }
        Data::Distances(matrix) => check_finite(matrix, "the distance matrix"),
        Data::Kernel(matrix) => check_finite(matrix, "the matrix of kernel values or affinities"),
        // A graph is checked where it is assembled: it alone knows its pairs.
        Data::Graph(_) => Ok(()),
    }
}
