//! The stress family against differences, laws and simple twins.

mod gradients;
mod neighbor_embedding;
mod solvers;
