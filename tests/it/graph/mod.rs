//! The graph stage.

mod components;
mod geodesic;
mod shortcuts;
