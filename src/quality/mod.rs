//! How good a map is: measures of ranks, of distances and of shape.
//!
//! Place: after `embedding`, beside the data it was made from. [`Comparison`] has the data X and
//! the map Y; [`Comparison::scores`] gives any number of [`Measure`]s at once, for the whole map
//! and for each of its points, and no more passes over the pairs than they need together:
//!
//! ```text
//! neighbors ─► neighbor_ranks ─► rank_measures   ranks of the k neighbours on either side
//!          └─► pair_sums ─► distance_measures    sums over the pairs of each point
//!          └─► spearman, rank_curve              ranks of all pairs
//! procrustes, shepard                            shape; pairs of distances for a picture
//! score                                          per point, in the mean, with standard error
//! ```
//!
//! Symbols: δ distances in X, d distances in Y, n rows, k neighbours; ranks r in X and ρ in Y
//! run from 1 to n − 1 and fall, at equal distances, by index. Nothing of size n × n is held.
//! With a sample of rows each of them is compared with all rows, and the score has the standard
//! error of the sample.
//!
//! ```
//! use planish::ndarray::{Array2, s};
//! use planish::quality::{Comparison, Measure};
//! use planish::{Ctx, choices::MetricName};
//!
//! let sheet = Array2::from_shape_fn((80, 3), |(i, axis)| match axis {
//!     0 => (i % 10) as f64,
//!     1 => 1.1 * (i / 10) as f64,
//!     _ => 0.0,
//! });
//! let map = sheet.slice(s![.., ..2]).to_owned();
//! let ctx = Ctx::default();
//! let both = Comparison::new(&sheet, MetricName::Euclidean, map.view(), None, &ctx)?;
//! let scores = both.scores(&[Measure::Trustworthiness, Measure::Stress1], 5, None, &ctx)?;
//! assert_eq!((scores[0].value, scores[1].value), (1.0, 0.0));
//! # planish::Result::Ok(())
//! ```

mod comparison;
mod distance_measures;
mod neighbor_ranks;
mod pair_sums;
mod procrustes;
mod rank_curve;
mod rank_measures;
mod residual_variance;
mod score;
mod shepard;
mod spearman;

pub use comparison::{Comparison, Measure};
pub use procrustes::{Procrustes, procrustes};
pub use rank_curve::RankCurve;
pub(crate) use residual_variance::residual_variance;
pub use score::Score;
pub use shepard::Shepard;
