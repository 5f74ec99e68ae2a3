//! The parameters that all geodesic methods share, declared once: which rows
//! are neighbours, what an edge is long, how paths and eigenvectors are found.

use super::manifold::Paths;
use super::neighborhood::Setting;
use crate::error::Result;
use crate::spectrum::Options;

/// A method on geodesic distances, by the parameters it shares with the others.
pub trait GeodesicParams {
    /// Which rows are neighbours.
    fn setting(&self) -> Result<Setting>;
    /// How paths run.
    fn paths(&self) -> Paths;
    /// How the eigenproblem is solved.
    fn options(&self) -> Result<Options>;
    /// Number of coordinates.
    fn components(&self) -> usize;
    /// Edges per row that memory is reckoned with.
    fn degree(&self, rows: usize) -> usize;
}

/// Declares a method's parameters: the shared ones and its own.
macro_rules! geodesic_params {
    ($(#[$meta:meta])* $ty:ident as $name:literal { $($own:tt)* }) => {
        $crate::params::params! {
            $(#[$meta])*
            $ty as $name {
                /// Neighbours of each row in the graph; `None` when `radius` is given.
                n_neighbors: Option<usize> = Some(5),
                /// Rows within this distance are neighbours; `None` when `n_neighbors` is given.
                radius: Option<f64> = None,
                /// Number of coordinates.
                n_components: usize = 2,
                /// How the eigenproblem is solved.
                eigen_solver: $crate::methods::choices::EigenSolver = $crate::methods::choices::EigenSolver::Auto,
                /// Tolerance of the iterative solver; 0 is the tightest sensible.
                tol: f64 = 0.0,
                /// Cap on iterations; `None` is generous.
                max_iter: Option<usize> = None,
                /// How shortest paths are found; every choice is exact.
                path_method: $crate::graph::geodesic::PathMethod = $crate::graph::geodesic::PathMethod::Auto,
                /// How neighbours are searched; every choice is exact.
                neighbors_algorithm: $crate::methods::choices::NeighborsAlgorithm =
                    $crate::methods::choices::NeighborsAlgorithm::Auto,
                /// Distance between points, or `Precomputed`.
                metric: $crate::methods::choices::MetricName = $crate::methods::choices::MetricName::Minkowski,
                /// Power of the Minkowski metric.
                p: f64 = 2.0,
                /// What to do when the graph is in pieces.
                disconnected: $crate::graph::Policy = $crate::graph::Policy::Bridge,
                /// Whether edges are divided by the spacing of their ends.
                conformal: bool = false,
                /// What happens to new rows without neighbours.
                isolated: $crate::methods::choices::Isolated = $crate::methods::choices::Isolated::Error,
                /// What happens to rows far from all others.
                outliers: $crate::methods::choices::Outliers = $crate::methods::choices::Outliers::Place,
                $($own)*
            }
        }

        impl $crate::methods::geodesic_params::GeodesicParams for $ty {
            fn setting(&self) -> $crate::error::Result<$crate::methods::neighborhood::Setting> {
                Ok($crate::methods::neighborhood::Setting {
                    hood: $crate::methods::neighborhood::hood(self.n_neighbors, self.radius)?,
                    metric: self.metric.metric(self.p)?,
                    algorithm: self.neighbors_algorithm.algorithm(),
                    policy: self.disconnected,
                    outliers: self.outliers,
                    pieces_may_stay: false,
                })
            }
            fn paths(&self) -> $crate::methods::manifold::Paths {
                $crate::methods::manifold::Paths {
                    method: self.path_method,
                    conformal: self.conformal,
                    isolated: self.isolated,
                }
            }
            fn options(&self) -> $crate::error::Result<$crate::spectrum::Options> {
                self.eigen_solver.options(self.tol, self.max_iter)
            }
            fn components(&self) -> usize {
                self.n_components
            }
            fn degree(&self, rows: usize) -> usize {
                // Symmetrising adds some, and a radius says nothing.
                self.n_neighbors.map_or(16, |k| k.min(rows) + k.min(rows) / 4)
            }
        }
    };
}
pub(crate) use geodesic_params;
