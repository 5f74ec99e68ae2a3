//! The stress family against differences, laws and simple references.

mod gradients;
mod neighbor_embedding;
mod solvers;
