//! Every matrix whose spectrum is an embedding.

pub mod packed;
