//! The methods, one recipe file each, and the registry: one word per method.
//!
//! Each recipe reads like its paper and is made of the shared stages. What a
//! name stands for is decided here and nowhere else; the Python classes are
//! compared with [`all`] by a test.

use std::path::Path;

use ndarray::Array2;
use serde::{Serialize, de::DeserializeOwned};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::{FittedKernelMap, KernelMap};
use crate::input::Input;
use crate::method;
use crate::method::{AnyMethod, AnyModel, Fitted, Method, Model, ModelOf, Saved};
use crate::params::{Params, Value};

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
                n_components: $crate::dimension::Coordinates = $crate::dimension::Coordinates::Count(2),
                /// How the eigenproblem is solved.
                eigen_solver: $crate::spectrum::EigenSolver = $crate::spectrum::EigenSolver::Auto,
                /// Tolerance of the iterative solver; 0 is the tightest sensible.
                tol: f64 = 0.0,
                /// Cap on iterations; `None` is generous.
                max_iter: Option<usize> = None,
                /// How shortest paths are found; every choice is exact.
                path_method: $crate::graph::geodesic::PathMethod = $crate::graph::geodesic::PathMethod::Auto,
                /// How neighbours are searched; every choice is exact.
                neighbors_algorithm: $crate::neighbors::NeighborsAlgorithm =
                    $crate::neighbors::NeighborsAlgorithm::Auto,
                /// Distance between points, or `Precomputed`.
                metric: $crate::neighbors::MetricName = $crate::neighbors::MetricName::Minkowski,
                /// Power of the Minkowski metric.
                p: f64 = 2.0,
                /// What to do when the graph has several connected components.
                disconnected: $crate::graph::Policy = $crate::graph::Policy::Bridge,
                /// Whether edges are divided by the spacing of their ends.
                conformal: bool = false,
                /// What happens to new rows without neighbours.
                isolated: $crate::graph::Isolated = $crate::graph::Isolated::Error,
                /// What happens to rows far from all others.
                outliers: $crate::graph::Outliers = $crate::graph::Outliers::Place,
                $($own)*
            }
        }

        impl $ty {
            /// Which rows are neighbours.
            fn neighborhood(&self) -> $crate::error::Result<$crate::graph::NeighborhoodParams> {
                if self.disconnected == $crate::graph::Policy::Separate {
                    let why = "'separate' leaves no geodesic distances between the components; use 'bridge', \
                               'largest' or 'error'";
                    return Err($crate::error::Error::param("disconnected", why));
                }
                Ok($crate::graph::NeighborhoodParams {
                    rule: $crate::neighbors::NeighborRule::from_params(self.n_neighbors, self.radius)?,
                    metric: self.metric.metric(self.p)?,
                    algorithm: self.neighbors_algorithm,
                    policy: self.disconnected,
                    outliers: self.outliers,
                    isolated: self.isolated,
                    conformal: self.conformal,
                })
            }

            /// How the eigenproblem is solved.
            fn solver(&self) -> $crate::error::Result<$crate::spectrum::Options> {
                self.eigen_solver.options(self.tol, self.max_iter)
            }
        }
    };
}

macro_rules! methods {
    ($($file:ident::$ty:ident),+ $(,)?) => {
        $(pub(crate) mod $file; pub use $file::$ty;)+

        $(impl $ty {
            /// Fit to data of any kind the method takes.
            ///
            /// # Errors
            /// Parameters or data the method cannot use, each named; cancellation; memory.
            pub fn fit<'a>(
                &self,
                data: impl Into<Input<'a>>,
                ctx: &Ctx,
            ) -> Result<ModelOf<$ty>> {
                method::fit(self, data.into().view(), ctx)
            }

            /// Fit, and the coordinates of the training rows.
            ///
            /// # Errors
            /// As [`Self::fit`].
            pub fn fit_transform<'a>(&self, data: impl Into<Input<'a>>, ctx: &Ctx) -> Result<Array2<f64>> {
                let data = data.into();
                let fitted = self.fit(data.view(), ctx)?;
                match fitted.embedding() {
                    Some(placed) => Ok(placed.to_owned()),
                    None => fitted.transform(data.view(), ctx),
                }
            }

            /// Bytes a fit takes at its largest moment beyond the input.
            pub fn memory(&self, rows: usize, features: usize) -> u64 {
                Method::memory(self, rows, features)
            }

            /// The model that [`Fitted::save`] wrote.
            ///
            /// # Errors
            /// Bytes that are no model of this method, or damaged.
            pub fn restore(bytes: &[u8]) -> Result<ModelOf<$ty>> {
                method::read(<$ty as Params>::NAME, bytes)
            }

            /// The model in a file that [`Fitted::save_to`] or Python's `save` wrote.
            ///
            /// # Errors
            /// A file that cannot be read, is no model of this method, or damaged.
            pub fn load(path: impl AsRef<Path>) -> Result<ModelOf<$ty>> {
                method::load(<$ty as Params>::NAME, path.as_ref())
            }
        })+

        /// Every method with its default parameters.
        pub fn all() -> Vec<(&'static str, Box<dyn AnyMethod>)> {
            vec![$((<$ty as Params>::NAME, Box::new($ty::default()) as Box<dyn AnyMethod>)),+]
        }

        /// A method by name with these parameters set.
        pub fn build(name: &str, parameters: &[(String, Value)]) -> Result<Box<dyn AnyMethod>> {
            $(if name == <$ty as Params>::NAME {
                let mut method = $ty::default();
                for (parameter, value) in parameters {
                    method.set(parameter, value)?;
                }
                return Ok(Box::new(method));
            })+
            Err(unknown(name))
        }

        /// A model that [`Fitted::save`] wrote: of a method, or a kernel map.
        pub fn restore(name: &str, state: &[u8]) -> Result<Box<dyn AnyModel>> {
            $(if name == <$ty as Params>::NAME {
                return boxed::<<$ty as Method>::Model>(name, state);
            })+
            if name == <KernelMap as Params>::NAME {
                return boxed::<FittedKernelMap>(name, state);
            }
            Err(unknown(name))
        }

        /// The model of an opened file, of whichever method.
        pub(crate) fn model_of_file(saved: &Saved<'_>, path: &Path) -> Result<Box<dyn AnyModel>> {
            let name = saved.method();
            $(if name == <$ty as Params>::NAME {
                return Ok(Box::new(saved.model_of_file::<<$ty as Method>::Model>(name, path)?));
            })+
            if name == <KernelMap as Params>::NAME {
                return Ok(Box::new(saved.model_of_file::<FittedKernelMap>(name, path)?));
            }
            let (path, known) = (path.display().to_string(), unknown(name));
            Err(Error::ModelFile { path, why: format!("cannot be read: {known}") })
        }
    };
}

methods!(
    pca::Pca,
    classical_mds::ClassicalMds,
    kernel_mds::KernelMds,
    landmark_mds::LandmarkMds,
    mds::Mds,
    sammon_mapping::SammonMapping,
    tsne::Tsne,
    isomap::Isomap,
    kernel_isomap::KernelIsomap,
    landmark_isomap::LandmarkIsomap,
    locally_linear_embedding::LocallyLinearEmbedding,
    spectral_embedding::SpectralEmbedding,
    diffusion_maps::DiffusionMaps,
);

/// The model in a file that [`Fitted::save_to`] or Python's `save` wrote: of any method, or
/// a kernel map.
///
/// # Errors
/// A file that cannot be read, is no model, or damaged.
pub fn load(path: impl AsRef<Path>) -> Result<Box<dyn AnyModel>> {
    let path = path.as_ref();
    model_of_file(&Saved::open(path)?, path)
}

impl KernelMap {
    /// The map in a file that [`Fitted::save_to`] or Python's `save` wrote.
    ///
    /// # Errors
    /// A file that cannot be read, is no kernel map, or damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Fitted<FittedKernelMap>> {
        method::load(<KernelMap as Params>::NAME, path.as_ref())
    }

    /// The map that [`Fitted::save`] wrote.
    ///
    /// # Errors
    /// Bytes that are no kernel map, or damaged.
    pub fn restore(bytes: &[u8]) -> Result<Fitted<FittedKernelMap>> {
        method::read(<KernelMap as Params>::NAME, bytes)
    }
}

fn boxed<M: Model + Serialize + DeserializeOwned + 'static>(
    name: &str,
    state: &[u8],
) -> Result<Box<dyn AnyModel>> {
    Ok(Box::new(method::read::<M>(name, state)?))
}

fn unknown(name: &str) -> Error {
    let known: Vec<&str> = all().iter().map(|(known, _)| *known).collect();
    Error::UnknownMethod(name.to_string(), known.join(", "))
}
