//! The field of many sources at one place: Σ_j w_j k_j and Σ_j w_j k_j u_j (y − y_j).
//!
//! Under every repulsion: of all points, of a tree's cells, of a fixed map on a new row.
//! Sixteen partial sums, always added in the same order and moved to double precision after
//! every few hundred sources, so that the bits depend neither on the machine nor on the
//! caller. Two sources share one division, which is what costs: 1/a = b·(1/ab). Everything is
//! `inline(always)` and entered through `pulp::Arch::dispatch` with a named type, which
//! compiles the loops for the CPU at hand; no product is fused with a sum.
//! Cost: p per source.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

use crate::linalg::exp::{ln, power};

/// Partial sums.
const LANES: usize = 16;
/// Sources that are read at once: two for each partial sum.
const PAIRED: usize = 2 * LANES;
/// Sources after which partial sums go to double precision.
const BLOCK: usize = 16 * PAIRED;

/// A floating-point number: f32 or f64.
pub trait Real:
    Copy
    + Send
    + Sync
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
{
    /// Rounded from double precision.
    fn of(value: f64) -> Self;
    /// The same number.
    fn from_f32(value: f32) -> Self;
    /// In double precision.
    fn wide(self) -> f64;
    /// Square root.
    fn root(self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn from_f32(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn root(self) -> f32 {
        self.sqrt()
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn from_f32(value: f32) -> f64 {
        f64::from(value)
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn root(self) -> f64 {
        self.sqrt()
    }
}

/// Student's t-distribution of α degrees of freedom, not normalised.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Student {
    /// α.
    pub dof: f64,
}

impl Student {
    /// (α + 1)/2.
    pub fn exponent(self) -> f64 {
        0.5 * (self.dof + 1.0)
    }

    /// 2(α + 1)/α, the factor of the gradient.
    pub fn factor(self) -> f64 {
        2.0 * (self.dof + 1.0) / self.dof
    }

    /// −ln k at a squared distance.
    pub fn negative_log(self, squared: f64) -> f64 {
        self.exponent() * ln(1.0 + squared / self.dof)
    }
}

/// From u to k.
trait Law: Copy {
    fn inverse_dof<T: Real>(self) -> T;
    fn density<T: Real>(self, u: T) -> T;
}

/// α = 1: k = u.
#[derive(Clone, Copy)]
struct One;
/// α = 2: k = u √u.
#[derive(Clone, Copy)]
struct Two;
/// Any α.
#[derive(Clone, Copy)]
struct Other(Student);

impl Law for One {
    #[inline(always)]
    fn inverse_dof<T: Real>(self) -> T {
        T::of(1.0)
    }
    #[inline(always)]
    fn density<T: Real>(self, u: T) -> T {
        u
    }
}

impl Law for Two {
    #[inline(always)]
    fn inverse_dof<T: Real>(self) -> T {
        T::of(0.5)
    }
    #[inline(always)]
    fn density<T: Real>(self, u: T) -> T {
        u * u.root()
    }
}

impl Law for Other {
    #[inline(always)]
    fn inverse_dof<T: Real>(self) -> T {
        T::of(1.0 / self.0.dof)
    }
    #[inline(always)]
    fn density<T: Real>(self, u: T) -> T {
        T::of(power(u.wide(), self.0.exponent()))
    }
}

/// Sources of the field: columns of coordinates, and weights.
#[derive(Debug, Clone, Default)]
pub struct Sources<T> {
    /// Coordinate k of all sources.
    pub columns: Vec<Vec<T>>,
    /// w.
    pub weights: Vec<T>,
}

impl<T: Real> Sources<T> {
    /// No sources yet, of `width` coordinates.
    pub fn empty(width: usize) -> Sources<T> {
        Sources { columns: vec![Vec::new(); width], weights: Vec::new() }
    }

    /// The points `y`, row by row; every weight is one without `weights`.
    pub fn of(y: &[f64], width: usize, weights: Option<&[f64]>) -> Sources<T> {
        let column = |k: usize| y[k..].iter().step_by(width).map(|&value| T::of(value)).collect();
        let columns: Vec<Vec<T>> = (0..width).map(column).collect();
        let weights = match weights {
            None => vec![T::of(1.0); y.len() / width],
            Some(weights) => weights.iter().map(|&weight| T::of(weight)).collect(),
        };
        Sources { columns, weights }
    }

    /// Remove all sources.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.weights.clear();
    }

    /// The field at some places, row by row: Σ w k into `totals`, Σ w k u (y − y_j) into
    /// `forces`.
    pub fn field(&self, law: Student, places: &[T], totals: &mut [f64], forces: &mut [f64]) {
        let at = Places { sources: self, places, totals, forces };
        if law.dof == 1.0 {
            at.by_width(One);
        } else if law.dof == 2.0 {
            at.by_width(Two);
        } else {
            at.by_width(Other(law));
        }
    }
}

struct Places<'a, T> {
    sources: &'a Sources<T>,
    places: &'a [T],
    totals: &'a mut [f64],
    forces: &'a mut [f64],
}

impl<T: Real> Places<'_, T> {
    fn by_width<L: Law>(self, law: L) {
        let arch = pulp::Arch::new();
        match self.sources.columns.len() {
            1 => arch.dispatch(Fixed::<T, L, 1> { law, at: self }),
            2 => arch.dispatch(Fixed::<T, L, 2> { law, at: self }),
            3 => arch.dispatch(Fixed::<T, L, 3> { law, at: self }),
            _ => self.any_width(law),
        }
    }

    /// For many coordinates: plain, in double precision.
    fn any_width<L: Law>(self, law: L) {
        let Places { sources, places, totals, forces } = self;
        let width = sources.columns.len();
        let inverse: f64 = law.inverse_dof();
        let mut gaps = vec![0.0; width];
        let each = places.chunks_exact(width).zip(totals).zip(forces.chunks_exact_mut(width));
        for ((own, total), force) in each {
            *total = 0.0;
            force.fill(0.0);
            for (j, weight) in sources.weights.iter().enumerate() {
                let mut squared = 0.0;
                for k in 0..width {
                    gaps[k] = own[k].wide() - sources.columns[k][j].wide();
                    squared += gaps[k] * gaps[k];
                }
                let u = 1.0 / (1.0 + squared * inverse);
                let density = weight.wide() * law.density(u);
                *total += density;
                force.iter_mut().zip(&gaps).for_each(|(sum, gap)| *sum += density * u * gap);
            }
        }
    }
}

struct Fixed<'a, T, L, const P: usize> {
    law: L,
    at: Places<'a, T>,
}

impl<T: Real, L: Law, const P: usize> pulp::WithSimd for Fixed<'_, T, L, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Places { sources, places, totals, forces } = self.at;
        let columns: [&[T]; P] = std::array::from_fn(|k| &sources.columns[k][..]);
        let each = places.as_chunks::<P>().0.iter().zip(totals).zip(forces.as_chunks_mut::<P>().0);
        for ((own, total), force) in each {
            (*total, *force) = (0.0, [0.0; P]);
            for first in (0..sources.weights.len()).step_by(BLOCK) {
                let block = first..(first + BLOCK).min(sources.weights.len());
                let part = columns.map(|column| &column[block.clone()]);
                let (more, push) = block_sums(self.law, *own, part, &sources.weights[block]);
                *total += more;
                (0..P).for_each(|k| force[k] += push[k]);
            }
        }
    }
}

/// The sums over a block of sources.
#[inline(always)]
fn block_sums<T: Real, L: Law, const P: usize>(
    law: L,
    own: [T; P],
    columns: [&[T]; P],
    weights: &[T],
) -> (f64, [f64; P]) {
    let (one, inverse) = (T::of(1.0), law.inverse_dof::<T>());
    let (heavy, heavy_rest) = weights.as_chunks::<PAIRED>();
    let split = columns.map(|column| column.as_chunks::<PAIRED>());
    let mut totals = [T::default(); LANES];
    let mut pushes = [[T::default(); LANES]; P];
    for chunk in 0..heavy.len() {
        let weights = &heavy[chunk];
        let places: [&[T; PAIRED]; P] = std::array::from_fn(|k| &split[k].0[chunk]);
        for lane in 0..LANES {
            let near: [T; P] = std::array::from_fn(|k| own[k] - places[k][lane]);
            let far: [T; P] = std::array::from_fn(|k| own[k] - places[k][lane + LANES]);
            let (mut near_square, mut far_square) = (near[0] * near[0], far[0] * far[0]);
            for k in 1..P {
                near_square += near[k] * near[k];
                far_square += far[k] * far[k];
            }
            let (a, b) = (one + near_square * inverse, one + far_square * inverse);
            let both = one / (a * b);
            let (u, v) = (both * b, both * a);
            let density = weights[lane] * law.density(u);
            let other = weights[lane + LANES] * law.density(v);
            totals[lane] += density + other;
            let (push, other_push) = (density * u, other * v);
            for k in 0..P {
                pushes[k][lane] += push * near[k] + other_push * far[k];
            }
        }
    }
    for (at, &weight) in heavy_rest.iter().enumerate() {
        let lane = at % LANES;
        let gap: [T; P] = std::array::from_fn(|k| own[k] - split[k].1[at]);
        let mut squared = gap[0] * gap[0];
        for k in 1..P {
            squared += gap[k] * gap[k];
        }
        let u = one / (one + squared * inverse);
        let density = weight * law.density(u);
        totals[lane] += density;
        for k in 0..P {
            pushes[k][lane] += density * u * gap[k];
        }
    }
    let wide = |lanes: [T; LANES]| lanes.iter().map(|value| value.wide()).sum::<f64>();
    (wide(totals), pushes.map(wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(n: usize, width: usize) -> Vec<f64> {
        (0..n * width).map(|at| ((at * at + 7 * at) as f64 * 0.618_033_988).fract() * 20.0 - 10.0).collect()
    }

    /// The field, written out.
    fn truth(law: Student, y: &[f64], weights: &[f64], width: usize, own: &[f64]) -> (f64, Vec<f64>) {
        let (mut total, mut force) = (0.0, vec![0.0; width]);
        for (other, weight) in y.chunks_exact(width).zip(weights) {
            let squared: f64 = own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
            let u = 1.0 / (1.0 + squared / law.dof);
            let density = weight * libm::pow(u, law.exponent());
            total += density;
            force
                .iter_mut()
                .zip(own.iter().zip(other))
                .for_each(|(sum, (a, b))| *sum += density * u * (a - b));
        }
        (total, force)
    }

    fn assert_field<T: Real>(tolerance: f64) {
        for n in [1, 17, 32, 700, 1500] {
            for width in [1, 2, 3, 5] {
                let y = points(n, width);
                let weights: Vec<f64> = (0..n).map(|j| (j % 3) as f64 + 1.0).collect();
                for dof in [1.0, 2.0, 0.6] {
                    let law = Student { dof };
                    let sources = Sources::<T>::of(&y, width, Some(&weights));
                    let places: Vec<T> = y.iter().map(|&value| T::of(value)).collect();
                    let (mut totals, mut forces) = (vec![0.0; n], vec![0.0; n * width]);
                    sources.field(law, &places, &mut totals, &mut forces);
                    for row in 0..n {
                        let own = row * width..(row + 1) * width;
                        let (total, force) = truth(law, &y, &weights, width, &y[own.clone()]);
                        assert!((totals[row] - total).abs() <= tolerance * total, "{n} {width} {dof}");
                        for (found, true_force) in forces[own].iter().zip(force) {
                            assert!((found - true_force).abs() <= tolerance * total, "{n} {width} {dof}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn it_is_the_sum_over_all_sources() {
        assert_field::<f64>(1e-13);
        assert_field::<f32>(3e-6);
    }

    #[test]
    fn one_place_alone_has_the_same_bits() {
        let y = points(900, 2);
        let sources = Sources::<f32>::of(&y, 2, None);
        let places: Vec<f32> = y.iter().map(|&value| value as f32).collect();
        let (mut totals, mut forces) = (vec![0.0; 900], vec![0.0; 1800]);
        sources.field(Student { dof: 1.0 }, &places, &mut totals, &mut forces);
        for row in [0, 3, 450, 899] {
            let (mut total, mut force) = ([0.0], [0.0; 2]);
            sources.field(Student { dof: 1.0 }, &places[2 * row..2 * row + 2], &mut total, &mut force);
            assert_eq!((total[0], &force[..]), (totals[row], &forces[2 * row..2 * row + 2]));
        }
    }
}
