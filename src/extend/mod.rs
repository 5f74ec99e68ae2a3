//! Where do new points go? Each way of extending an embedding beyond its
//! training rows is a file here.

pub mod eigenfunction;
pub mod fastmap;
pub mod linear;
pub mod triangulation;

pub use eigenfunction::Eigenfunction;
pub use fastmap::FastMap;
pub use linear::LinearMap;
pub use triangulation::Triangulation;
