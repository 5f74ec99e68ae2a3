//! Methods by family, and what their tests share.

mod affinities;
mod diffusion_maps;
mod family;
mod isomap;
mod locally_linear_embedding;
mod spectral_embedding;

use ndarray::Array2;

use crate::AnyModel;
use crate::method::Attribute;

/// An attribute by its name.
fn attribute(model: &impl AnyModel, name: &str) -> Attribute {
    model.attributes().unwrap().into_iter().find(|(known, _)| *known == name).expect(name).1
}

/// The same where it is a number.
fn number(model: &impl AnyModel, name: &str) -> f64 {
    attribute(model, name).as_vector().expect(name)[0]
}

/// The same where it is a matrix.
fn matrix(model: &impl AnyModel, name: &str) -> Array2<f64> {
    match attribute(model, name) {
        Attribute::Matrix(values) => values,
        other => panic!("{name} is {other:?}"),
    }
}

/// The connected component of each row.
fn component_labels(model: &impl AnyModel) -> Vec<i64> {
    match attribute(model, "component_labels") {
        Attribute::Indices(labels) => labels.to_vec(),
        other => panic!("labels are {other:?}"),
    }
}
