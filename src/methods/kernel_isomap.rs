//! Kernel Isomap: Isomap whose kernel is made positive semi-definite by a
//! constant added to all geodesic distances.
//!
//! Choi and Choi 2004, Cailliez 1983; the survey's (32)–(34).
//! Symbols: D the geodesic distances, c ≥ c* the constant,
//! K' = K(D²) + 2cK(D) + ½c²H.
//!
//! 1. neighbours, graph, shortest paths        as Isomap
//! 2. c*, the smallest constant                a few dozen passes over D
//! 3. top eigenpairs of K'                     a few passes over D
//! 4. coordinates V√Λ
//!
//! A new point is at D + c from every training row; with (39) and (40) the c²
//! cancels. The model is Isomap's.

use super::isomap::{FittedIsomap, IN_USE, bytes, settled, started};
use crate::context::Ctx;
use crate::embedding::{coordinates, kept_values};
use crate::error::{Error, Result};
use crate::extend::Eigenfunction;
use crate::graph::geodesic::{Geodesics, Storage};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::CenteredPacked;
use crate::method::{Method, Scaling};
use crate::scale::Scale;
use crate::spectrum::{smallest_constant, top};

geodesic_params! {
    /// Kernel Isomap: Isomap with a kernel that is positive semi-definite.
    KernelIsomap as "KernelIsomap" {
        /// The constant added to all distances; `None` is the smallest that leaves no
        /// negative eigenvalue.
        constant: Option<f64> = None,
        /// How the geodesic distances are stored.
        storage: Storage = Storage::Auto,
    }
}

impl Method for KernelIsomap {
    type Model = FittedIsomap;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedIsomap> {
        self.check_constant()?;
        let solver = self.solver()?;
        let need = |storage| bytes(storage, self.n_neighbors, self.n_components.count(), data.rows(), data.features());
        let storage = settled(self.storage, self.n_components.count(), &solver, data.rows(), need, ctx)?;
        let graph = self.neighborhood()?.build(data, ctx)?; //                                  1
        check_components(self.n_components.count(), graph.len(), IN_USE)?;
        let paths = Geodesics::new(graph, self.path_method, data.rows(), ctx)?;
        let distances = paths.all_pairs(storage, ctx)?;
        let storage = distances.storage();
        let constant = match self.constant {
            None => smallest_constant(distances.matrix(), ctx)?, //                             2
            Some(given) => given,
        };
        check_size(constant, &paths)?;
        let kernel = CenteredPacked::new(distances.matrix()).with_constant(constant); //        3
        let pairs = top(&kernel, self.n_components.count(), &started(solver, storage, &paths, ctx)?, ctx)?;
        let kept = kept_values(&pairs, ctx);
        let columns = coordinates(&pairs, &kept); //                                            4
        let extension = Eigenfunction::of_packed(&kernel, &pairs, &kept, ctx)?;
        drop(distances);
        FittedIsomap::new(paths, columns, pairs, extension, (storage, Some(constant)), data, ctx)
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn rescaled(&self, lengths: Scale) -> Self {
        // Conformal lengths have no unit.
        let constant =
            self.constant.map(|constant| if self.conformal { constant } else { lengths.into(constant) });
        KernelIsomap { constant, radius: self.radius.map(|radius| lengths.into(radius)), ..self.clone() }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        bytes(self.storage, self.n_neighbors, self.n_components.count(), rows, features)
    }
}

impl KernelIsomap {
    fn check_constant(&self) -> Result<()> {
        match self.constant {
            Some(given) if !(given.is_finite() && given >= 0.0) => {
                Err(Error::param("constant", format!("must be a finite number >= 0 or None, got {given}")))
            }
            _ => Ok(()),
        }
    }
}

/// Refuse a constant beside which the distances are rounding.
fn check_size(constant: f64, paths: &Geodesics) -> Result<()> {
    const MOST_EDGES: f64 = 1e12;
    let longest = paths.graph().lengths().weights().iter().fold(0.0_f64, |most, &edge| most.max(edge));
    if constant.is_finite() && (constant < MOST_EDGES * longest || longest == 0.0) {
        return Ok(());
    }
    Err(Error::param("constant", "is so large that the distances are lost in its rounding; use a smaller one"))
}
