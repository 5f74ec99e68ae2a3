//! The eigensolvers.

mod bottom;
mod top;
