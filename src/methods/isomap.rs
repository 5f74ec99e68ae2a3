//! Isomap: classical scaling of distances along the manifold.
//!
//! Tenenbaum, de Silva, Langford 2000; the survey's (30), (31), (39)–(41).
//! Symbols: D the geodesic distances, H = I − 11ᵀ/n.
//!
//! 1. neighbours, graph, one piece            n·k·log n
//! 2. D by shortest paths, all pairs          n²·(a few steps), n²/2 numbers
//! 3. top eigenpairs of K = −½ H D² H         a few passes over D
//! 4. coordinates V√Λ
//!
//! The conformal form measures edges against the spacing of their ends
//! ([`super::manifold`]); steps 2 to 4 and new points are [`super::scaling`].

use crate::graph::geodesic::Storage;
use super::scaling;
use super::scaling::{Constant, FittedIsomap};
use crate::context::Ctx;
use crate::error::Result;
use crate::input::Data;
use crate::method::Method;

geodesic_params! {
    /// Isomap: coordinates whose straight distances are distances along the manifold.
    Isomap as "Isomap" {
        /// How the geodesic distances are held.
        storage: Storage = Storage::Auto,
    }
}

impl Method for Isomap {
    type Model = FittedIsomap;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedIsomap> {
        scaling::fit(self, self.storage, Constant::Zero, data, ctx)
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        scaling::memory(self, self.storage, rows, features)
    }
}
