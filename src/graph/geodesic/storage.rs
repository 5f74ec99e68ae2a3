//! How the distances between all pairs of rows are stored.

use crate::params::choices;

choices! {
    /// How the distances between all pairs of rows are stored.
    Storage {
        /// In double precision if they fit into memory, else recomputed.
        Auto = "auto",
        /// In double precision: n²/2 numbers of 8 bytes.
        Double = "float64",
        /// In single precision: half of that, each distance rounded to 24 bits.
        Single = "float32",
        /// Not at all: computed again in every pass of the eigensolver.
        Recompute = "recompute",
    }
}
