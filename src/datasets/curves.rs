//! Curves in three dimensions; their one coordinate is the arc length.
//!
//! Place: makers of [`Dataset`]. Cost: O(n).

use std::f64::consts::TAU;

use super::{Dataset, Geometry, Row, rows};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::unit;

/// A coil of radius one that rises by one with each turn.
///
/// # Errors
/// As [`super::swiss_roll`], and a number of turns that is not above 0.
pub fn helix(n_samples: usize, turns: f64, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    if !(turns > 0.0 && turns.is_finite()) {
        return Err(Error::param("turns", format!("must be a finite number above 0, got {turns}")));
    }
    let speed = (1.0 + 1.0 / (TAU * TAU)).sqrt();
    rows("helix", n_samples, noise, Geometry::Flat, ctx, |stream| {
        let angle = TAU * turns * unit(stream);
        let point = [libm::cos(angle), libm::sin(angle), angle / TAU];
        Row { point, coordinates: [speed * angle], color: angle }
    })
}

/// Windings of the closed coil.
const WINDINGS: f64 = 8.0;

/// A coil of eight windings around a circle, closed: Coifman and Lafon's example. Its
/// coordinate is the arc length, which begins anew where the curve closes.
///
/// # Errors
/// As [`super::swiss_roll`].
pub fn toroidal_helix(n_samples: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    let length = ArcLength::new();
    let geometry = Geometry::Periodic(length.at(TAU));
    rows("toroidal_helix", n_samples, noise, geometry, ctx, |stream| {
        let angle = TAU * unit(stream);
        let (sine, cosine) = (libm::sin(WINDINGS * angle), libm::cos(WINDINGS * angle));
        let radius = 2.0 + cosine;
        let point = [radius * libm::cos(angle), radius * libm::sin(angle), sine];
        Row { point, coordinates: [length.at(angle)], color: angle }
    })
}

/// Terms of the series, each about a sixteenth of the one before.
const TERMS: usize = 20;
/// Places at which the speed is evaluated for them.
const SAMPLES: usize = 64;

/// The arc length of the closed coil as a Fourier series. The speed at angle t is
/// √(w² + (2 + cos wt)²) with w windings, which has no elementary integral; its cosine
/// series, integrated term by term, is exact to rounding.
struct ArcLength {
    cosines: [f64; TERMS],
}

impl ArcLength {
    fn new() -> ArcLength {
        let mut cosines = [0.0; TERMS];
        for (order, coefficient) in cosines.iter_mut().enumerate() {
            for sample in 0..SAMPLES {
                let phase = TAU * sample as f64 / SAMPLES as f64;
                let radius = 2.0 + libm::cos(phase);
                let speed = (WINDINGS * WINDINGS + radius * radius).sqrt();
                *coefficient += speed * libm::cos(phase * order as f64);
            }
            *coefficient *= if order == 0 { 1.0 } else { 2.0 } / SAMPLES as f64;
        }
        ArcLength { cosines }
    }

    fn at(&self, angle: f64) -> f64 {
        let wave = |order: usize| libm::sin(WINDINGS * order as f64 * angle) / (WINDINGS * order as f64);
        let waves: f64 = (1..TERMS).map(|order| self.cosines[order] * wave(order)).sum();
        self.cosines[0] * angle + waves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arc_length_is_the_sum_of_short_chords() {
        let length = ArcLength::new();
        let point = |t: f64| {
            let radius = 2.0 + (WINDINGS * t).cos();
            [radius * t.cos(), radius * t.sin(), (WINDINGS * t).sin()]
        };
        let steps = 400_000;
        let (end, mut sum) = (2.3, 0.0);
        for step in 0..steps {
            let (a, b) =
                (end * f64::from(step) / f64::from(steps), end * f64::from(step + 1) / f64::from(steps));
            let (p, q) = (point(a), point(b));
            sum += (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f64>().sqrt();
        }
        // Chords are shorter than arcs by their cube times the squared curvature over 24.
        assert!((length.at(end) - sum).abs() < 1e-7, "{} {sum}", length.at(end));
    }
}
