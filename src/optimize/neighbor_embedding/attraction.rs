//! Attraction: Σ_j p_ij u_ij (y_i − y_j) over the pairs that have a probability, and their
//! part of the cost, Σ p_ij (−ln k_ij).
//!
//! Both directions of a pair are stored, so that every point adds up its own pairs and none
//! waits for another. Eight partial sums in a fixed order. Cost: p per pair.

use rayon::prelude::*;

use super::field::{Real, Student};
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::joint_probabilities::JointProbabilities;
use crate::linalg::PARTS;
use crate::linalg::exp::ln_in_place;

/// Points of one task.
const ROWS: usize = 128;

/// The attraction of every point, row by row, into `forces`, in the precision of `places`.
///
/// # Errors
/// Cancellation.
pub fn attraction<T: Real>(
    joint: &JointProbabilities,
    law: Student,
    places: &[T],
    width: usize,
    forces: &mut [f64],
    ctx: &Ctx,
) -> Result<()> {
    forces.par_chunks_mut(ROWS * width).enumerate().try_for_each(|(task, forces)| {
        ctx.check()?;
        let inverse = T::of(1.0 / law.dof);
        pulp::Arch::new().dispatch(RowsPass { joint, inverse, places, first: task * ROWS, width, forces });
        Ok(())
    })
}

/// Σ p (−ln k) over all pairs.
///
/// # Errors
/// Cancellation.
pub fn attraction_cost(
    joint: &JointProbabilities,
    law: Student,
    y: &[f64],
    width: usize,
    ctx: &Ctx,
) -> Result<f64> {
    let parts: Vec<f64> = (0..joint.len().div_ceil(ROWS))
        .into_par_iter()
        .map(|task| {
            ctx.check()?;
            let (mut sum, mut logs) = (0.0, Vec::new());
            for row in task * ROWS..((task + 1) * ROWS).min(joint.len()) {
                let own = &y[row * width..(row + 1) * width];
                let range = joint.offsets[row]..joint.offsets[row + 1];
                logs.clear();
                logs.extend(joint.indices[range.clone()].iter().map(|&other| {
                    let gaps = own.iter().zip(&y[other as usize * width..(other as usize + 1) * width]);
                    1.0 + gaps.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b)) / law.dof
                }));
                ln_in_place(&mut logs);
                let each = joint.values[range].iter().zip(&logs);
                sum += each.map(|(&value, log)| f64::from(value) * log).sum::<f64>();
            }
            Ok(sum)
        })
        .collect::<Result<_>>()?;
    Ok(law.exponent() * parts.iter().sum::<f64>())
}

struct RowsPass<'a, T> {
    joint: &'a JointProbabilities,
    inverse: T,
    places: &'a [T],
    first: usize,
    width: usize,
    forces: &'a mut [f64],
}

impl<T: Real> pulp::WithSimd for RowsPass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        match self.width {
            1 => self.fixed::<1>(),
            2 => self.fixed::<2>(),
            3 => self.fixed::<3>(),
            _ => self.any_width(),
        }
    }
}

impl<T: Real> RowsPass<'_, T> {
    #[inline(always)]
    fn fixed<const P: usize>(self) {
        let one = T::of(1.0);
        let places = self.places.as_chunks::<P>().0;
        for (row, force) in (self.first..).zip(self.forces.as_chunks_mut::<P>().0) {
            let own = places[row];
            let range = self.joint.offsets[row]..self.joint.offsets[row + 1];
            let (others, other_rest) = self.joint.indices[range.clone()].as_chunks::<PARTS>();
            let (values, value_rest) = self.joint.values[range].as_chunks::<PARTS>();
            let mut sums = [[T::default(); PARTS]; P];
            for (others, values) in others.iter().zip(values) {
                let mut gaps = [[T::default(); PARTS]; P];
                for lane in 0..PARTS {
                    let place = &places[others[lane] as usize];
                    (0..P).for_each(|k| gaps[k][lane] = own[k] - place[k]);
                }
                for lane in 0..PARTS {
                    let mut squared = gaps[0][lane] * gaps[0][lane];
                    for k in 1..P {
                        squared += gaps[k][lane] * gaps[k][lane];
                    }
                    let pull = T::from_f32(values[lane]) / (one + squared * self.inverse);
                    (0..P).for_each(|k| sums[k][lane] += pull * gaps[k][lane]);
                }
            }
            for (lane, (&other, &value)) in other_rest.iter().zip(value_rest).enumerate() {
                let place = &places[other as usize];
                let gaps: [T; P] = std::array::from_fn(|k| own[k] - place[k]);
                let squared = gaps.iter().fold(T::default(), |sum, &gap| sum + gap * gap);
                let pull = T::from_f32(value) / (one + squared * self.inverse);
                (0..P).for_each(|k| sums[k][lane] += pull * gaps[k]);
            }
            *force = sums.map(|lanes| lanes.iter().map(|sum| sum.wide()).sum());
        }
    }

    fn any_width(self) {
        let width = self.width;
        let inverse = self.inverse.wide();
        let mut gaps = vec![0.0; width];
        for (row, force) in (self.first..).zip(self.forces.chunks_exact_mut(width)) {
            force.fill(0.0);
            let own = &self.places[row * width..(row + 1) * width];
            for at in self.joint.offsets[row]..self.joint.offsets[row + 1] {
                let other = self.joint.indices[at] as usize * width;
                let mut squared = 0.0;
                for k in 0..width {
                    gaps[k] = own[k].wide() - self.places[other + k].wide();
                    squared += gaps[k] * gaps[k];
                }
                let pull = f64::from(self.joint.values[at]) / (1.0 + squared * inverse);
                force.iter_mut().zip(&gaps).for_each(|(sum, gap)| *sum += pull * gap);
            }
        }
    }
}
