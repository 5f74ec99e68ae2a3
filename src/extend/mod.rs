//! Where do new points go? Each way of extending an embedding beyond its
//! training rows is a file here.

pub mod eigenfunction;
pub mod linear;

pub use eigenfunction::Eigenfunction;
pub use linear::LinearMap;
