//! The methods, one recipe file each, and the registry: one word per method.
//!
//! Each recipe reads like its paper and is made of the shared stages. What a
//! name stands for is decided here and nowhere else; the Python classes are
//! compared with [`all`] by a test.

mod affinity_graph;
mod affinity_pieces;
pub mod choices;
mod diffusion_kernel;
mod faint_rows;
mod geodesic_params;
mod known_rows;
mod landmark_geodesics;
mod local_layout;
mod local_maps;
mod local_rows;
mod local_search;
mod local_warnings;
pub mod locator;
pub mod manifold;
pub mod neighborhood;
mod new_affinities;
pub mod scaling;
mod smoothest;
mod spectral_affinities;

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::extend::{FittedKernelMap, KernelMap};
use crate::params::{Params, Value};
use crate::pipeline::{Method, Recipe, SavedModel};

macro_rules! methods {
    ($($file:ident::$ty:ident),+ $(,)?) => {
        $(pub mod $file; pub use $file::$ty;)+

        /// Every method with its default parameters.
        pub fn all() -> Vec<(&'static str, Box<dyn Method>)> {
            vec![$((<$ty as Params>::NAME, Box::new($ty::default()) as Box<dyn Method>)),+]
        }

        /// A method by name with these parameters set.
        pub fn build(name: &str, parameters: &[(String, Value)]) -> Result<Box<dyn Method>> {
            $(if name == <$ty as Params>::NAME {
                let mut method = $ty::default();
                for (parameter, value) in parameters {
                    method.set(parameter, value)?;
                }
                return Ok(Box::new(method));
            })+
            Err(unknown(name))
        }

        /// A model that [`SavedModel::save`] wrote: of a method, or a kernel map.
        pub fn restore(name: &str, state: &[u8]) -> Result<Box<dyn SavedModel>> {
            $(if name == <$ty as Params>::NAME {
                return read::<<$ty as Recipe>::Model>(state);
            })+
            if name == <KernelMap as Params>::NAME {
                return read::<FittedKernelMap>(state);
            }
            Err(unknown(name))
        }
    };
}

methods!(
    pca::Pca,
    classical_mds::ClassicalMds,
    kernel_mds::KernelMds,
    landmark_mds::LandmarkMds,
    isomap::Isomap,
    kernel_isomap::KernelIsomap,
    landmark_isomap::LandmarkIsomap,
    locally_linear_embedding::LocallyLinearEmbedding,
    spectral_embedding::SpectralEmbedding,
    diffusion_maps::DiffusionMaps,
);

fn read<M: SavedModel + DeserializeOwned + 'static>(state: &[u8]) -> Result<Box<dyn SavedModel>> {
    let model: M = postcard::from_bytes(state).map_err(|fault| Error::Restore(fault.to_string()))?;
    Ok(Box::new(model))
}

fn unknown(name: &str) -> Error {
    let known: Vec<&str> = all().iter().map(|(known, _)| *known).collect();
    Error::UnknownMethod(name.to_string(), known.join(", "))
}
