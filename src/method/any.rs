//! Methods and fitted models behind a pointer: what the registry returns and the
//! Python module keeps.

use std::path::Path;

use ndarray::{Array2, ArrayView2};
use serde::Serialize;

use super::{Attribute, Fitted, Method, Model, Package, fit};
use crate::context::Ctx;
use crate::error::{Result, Warning};
use crate::input::{Data, Input};
use crate::params::Value;

/// What keeps other crates from implementing the traits here, so that they can grow.
pub trait Sealed {}

impl<T: Method> Sealed for T {}
impl<M> Sealed for Fitted<M> {}

/// A method behind a pointer.
pub trait AnyMethod: Sealed + Send + Sync {
    /// Fit data of any kind.
    ///
    /// # Errors
    /// Parameters or data the method cannot use, each named; cancellation; memory.
    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<Box<dyn AnyModel>>;
    /// Bytes a fit takes at its largest moment beyond the input.
    fn memory(&self, rows: usize, features: usize) -> u64;
    /// Names and values of the parameters.
    fn parameters(&self) -> Vec<(&'static str, Value)>;
}

impl<T: Method> AnyMethod for T {
    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<Box<dyn AnyModel>> {
        Ok(Box::new(fit(self, data, ctx)?))
    }
    fn memory(&self, rows: usize, features: usize) -> u64 {
        Method::memory(self, rows, features)
    }
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        self.values()
    }
}

/// A fitted method behind a pointer; see [`Fitted`] for each of these.
pub trait AnyModel: Sealed + Send + Sync {
    /// See [`Fitted::embedding`].
    fn embedding(&self) -> Option<ArrayView2<'_, f64>>;
    /// See [`Fitted::attributes`].
    ///
    /// # Errors
    /// See [`Fitted::attributes`].
    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>>;
    /// See [`Fitted::transform`].
    ///
    /// # Errors
    /// See [`Fitted::transform`].
    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>>;
    /// See [`Fitted::nearest_distances`].
    ///
    /// # Errors
    /// See [`Fitted::nearest_distances`].
    fn nearest_distances(&self, data: Data<'_>, ctx: &Ctx) -> Result<Vec<f64>>;
    /// See [`Fitted::inverse_transform`].
    ///
    /// # Errors
    /// See [`Fitted::inverse_transform`].
    fn inverse_transform(&self, coordinates: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>>;
    /// See [`Fitted::compute`].
    ///
    /// # Errors
    /// See [`Fitted::compute`].
    fn compute(&self, what: &str, ctx: &Ctx) -> Result<Attribute>;
    /// See [`Fitted::warnings`].
    fn warnings(&self) -> &[Warning];
    /// See [`Fitted::save`].
    ///
    /// # Errors
    /// See [`Fitted::save`].
    fn save(&self) -> Result<Vec<u8>>;
    /// See [`Fitted::save_to`].
    ///
    /// # Errors
    /// See [`Fitted::save_to`].
    fn save_to(&self, path: &Path) -> Result<()>;
    /// The model taken apart, for callers that add to its file.
    #[doc(hidden)]
    fn package(&self) -> Result<Package>;
}

impl<M: Model + Serialize> AnyModel for Fitted<M> {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        self.embedding()
    }
    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        self.attributes()
    }
    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.transform(data, ctx)
    }
    fn nearest_distances(&self, data: Data<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
        self.nearest_distances(Input::from(data), ctx)
    }
    fn inverse_transform(&self, coordinates: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.inverse_transform(coordinates, ctx)
    }
    fn compute(&self, what: &str, ctx: &Ctx) -> Result<Attribute> {
        self.compute(what, ctx)
    }
    fn warnings(&self) -> &[Warning] {
        self.warnings()
    }
    fn save(&self) -> Result<Vec<u8>> {
        self.save()
    }
    fn save_to(&self, path: &Path) -> Result<()> {
        self.save_to(path)
    }
    fn package(&self) -> Result<Package> {
        self.package()
    }
}

/// Coordinates of new rows; see [`Fitted::transform`].
///
/// # Errors
/// See [`Fitted::transform`].
pub fn transform<'a>(model: &dyn AnyModel, data: impl Into<Input<'a>>, ctx: &Ctx) -> Result<Array2<f64>> {
    model.transform(data.into().view(), ctx)
}
