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

use super::choices::Storage;
use super::geodesic_params::geodesic_params;
use super::scaling::{self, Constant, FittedIsomap};
use crate::context::Ctx;
use crate::error::Result;
use crate::pipeline::{Data, Recipe};

geodesic_params! {
    /// Isomap: coordinates whose straight distances are distances along the manifold.
    Isomap as "Isomap" {
        /// How the geodesic distances are held.
        storage: Storage = Storage::Auto,
    }
}

impl Recipe for Isomap {
    type Model = FittedIsomap;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedIsomap> {
        scaling::fit(self, self.storage, Constant::Zero, data, ctx)
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        scaling::memory(self, self.storage, rows, features)
    }
}
