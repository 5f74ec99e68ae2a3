//! From a spectrum to coordinates: which eigenpairs become columns, and what
//! warnings there are about the others.
//!
//! Between `spectrum` and the model in the dataflow. The coordinates of
//! classical scaling are V√Λ (the survey's (10)): an eigenvalue below zero has
//! no square root and one at zero no direction, so both give a column of zeros
//! and a warning, never a NaN.

pub mod component_maps;
pub mod layout;
pub mod warnings;

use ndarray::Array2;

use crate::context::Ctx;
use crate::error::WarningKind;
use crate::spectrum::{Knobs, Spectrum, warn_unconverged};

/// The eigenvalues that carry a column; `None` where there is nothing to show.
pub fn kept_values(spectrum: &Spectrum, ctx: &Ctx) -> Vec<Option<f64>> {
    let n = spectrum.vectors.nrows();
    let top = spectrum.values.first().copied().unwrap_or(0.0).max(0.0);
    let size = top.max(spectrum.lowest.abs());
    // Rounding of an n × n eigenproblem: what lies below is not information.
    let noise = size * f64::EPSILON * (n as f64).max(10.0);
    let kept: Vec<Option<f64>> =
        spectrum.values.iter().map(|&value| (value > noise).then_some(value)).collect();
    warn_of_lost_columns(spectrum, &kept, noise, ctx);
    kept
}

fn warn_of_lost_columns(spectrum: &Spectrum, kept: &[Option<f64>], noise: f64, ctx: &Ctx) {
    let positive = kept.iter().filter(|value| value.is_some()).count();
    let negative = spectrum.values.iter().filter(|&&value| value < -noise).count();
    let smallest_kept = kept.iter().rev().find_map(|value| *value);
    if negative > 0 {
        ctx.warn(
            WarningKind::NegativeEigenvalue,
            format!(
                "{negative} of the {} requested components have a negative eigenvalue (down to {:.3e}): the \
                 distances are not Euclidean; these columns are zero, use n_components <= {positive}",
                kept.len(),
                ctx.data_square(spectrum.values.iter().fold(0.0_f64, |least, &value| least.min(value))),
            ),
        );
    } else if let Some(last) =
        smallest_kept.filter(|&last| spectrum.lowest < -noise && -spectrum.lowest > last)
    {
        ctx.warn(
            WarningKind::NegativeEigenvalue,
            format!(
                "the most negative eigenvalue ({:.3e}) outweighs the last one kept ({:.3e}): the distances \
                 are far from Euclidean there; use fewer components or check the distances (and, for a graph, \
                 its shortcut edges)",
                ctx.data_square(spectrum.lowest),
                ctx.data_square(last)
            ),
        );
    }
    // Where there are negative eigenvalues, the warning above says the same.
    if negative == 0 && positive < kept.len() {
        ctx.warn(
            WarningKind::RankDeficient,
            format!(
                "the data spans only {positive} dimension(s), fewer than the {} components asked for; the other \
                 columns are zero, use n_components <= {}",
                kept.len(),
                positive.max(1)
            ),
        );
    }
    warn_unconverged(spectrum, spectrum.values.len(), Knobs::USUAL, ctx);
}

/// V√Λ.
pub fn coordinates(spectrum: &Spectrum, kept: &[Option<f64>]) -> Array2<f64> {
    let mut coordinates = spectrum.vectors.clone();
    for (mut column, value) in coordinates.columns_mut().into_iter().zip(kept) {
        let length = value.map_or(0.0, f64::sqrt);
        column.mapv_inplace(|entry| if length > 0.0 { entry * length } else { 0.0 });
    }
    coordinates
}
