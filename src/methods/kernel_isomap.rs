//! Kernel Isomap: Isomap whose kernel is made positive semi-definite by a
//! constant added to all geodesic distances.
//!
//! Choi and Choi 2004, Cailliez 1983; the survey's (32)–(34).
//! Symbols: D the geodesic distances, c ≥ c* the constant,
//! K' = K(D²) + 2cK(D) + ½c²H.
//!
//! 1. neighbours, graph, shortest paths        as Isomap
//! 2. c*, the smallest constant                a few dozen passes over D
//! 3. top eigenpairs of K', V√Λ                a few passes over D
//!
//! A new point is at D + c from every training row; with (39) and (40) the c²
//! cancels.

use crate::graph::geodesic::Storage;
use super::scaling;
use super::scaling::{Constant, FittedIsomap};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::Data;
use crate::method::Method;

geodesic_params! {
    /// Kernel Isomap: Isomap with a kernel that is positive semi-definite.
    KernelIsomap as "KernelIsomap" {
        /// The constant added to all distances; `None` is the smallest that serves.
        constant: Option<f64> = None,
        /// How the geodesic distances are held.
        storage: Storage = Storage::Auto,
    }
}

impl Method for KernelIsomap {
    type Model = FittedIsomap;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedIsomap> {
        let constant = match self.constant {
            None => Constant::Smallest,
            Some(length) if length.is_finite() && length >= 0.0 => Constant::Given(length),
            Some(length) => {
                let why = format!("must be a finite number >= 0 or None, got {length}");
                return Err(Error::param("constant", why));
            }
        };
        scaling::fit(self, self.storage, constant, data, ctx)
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        scaling::memory(self, self.storage, rows, features)
    }
}
