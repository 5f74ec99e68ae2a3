//! Maps whose pairs of points attract each other by probabilities and all repel: t-SNE.
//!
//! Place in the dataflow: joint probabilities of `kernel` in, coordinates out.
//!
//! ```text
//! forces ─┬─ attraction   along the pairs that have a probability
//!         └─ repulsion ─┬─ all points, or
//!            by cost    ├─ tree: points near, cells far (Barnes–Hut), or
//!                       │      └─ field: the sums over sources, in fixed lanes
//!                       └─ grid: the slope of a potential, by Fourier transforms
//! descent   momentum, gains, early exaggeration
//! ```
//!
//! Symbols: y places in the map, p_ij probabilities, α degrees of freedom,
//! u = 1 / (1 + |y_i − y_j|²/α), k = u^((α+1)/2), Z = Σ k, q_ij = k_ij / Z.
//! The cost is KL = Σ p ln(p / q), its gradient 2(α+1)/α Σ_j (p_ij − q_ij) u_ij (y_i − y_j).
//!
//! Coordinates are stored row by row in this folder: a pair reads both points whole.

pub mod attraction;
pub mod cost;
pub mod descent;
pub mod field;
pub mod forces;
pub mod grid;
pub mod start;
pub mod tree;

pub use descent::{Descent, Schedule, minimize};
pub use field::Student;
pub use forces::{Forces, RepulsionMethod};
