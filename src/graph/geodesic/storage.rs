//! How the distances between all pairs of rows are stored.

use crate::params::choices;

choices! {
    /// How the distances between all pairs of rows are stored.
    Storage {
        /// If they fit into memory in 48 bits or double precision, whichever costs less
        /// with these shortest paths; else recomputed.
        Auto = "auto",
        /// In double precision: n²/2 numbers of 8 bytes.
        Double = "float64",
        /// As whole numbers of 48 bits: three quarters of that, each distance rounded to at
        /// most 2⁻⁴⁷ of the longest, as much as the sums it is made of.
        Fixed = "fixed48",
        /// In single precision: half of that, each distance rounded to 24 bits.
        Single = "float32",
        /// Not at all: computed again in every pass of the eigensolver.
        Recompute = "recompute",
    }
}
