//! The eigenfunction formula: an eigenvector of a centred kernel, evaluated at
//! a new point (Bengio et al. 2003; the survey's (39) with the centring (40)).
//!
//! ```text
//! y_c(x) = λ_c^(-1/2) Σ_i v_ic · k̃(x, x_i)
//! k̃(x, x_i) = k(x, x_i) − Σ_j a_j k(x, x_j) − Σ_j a_j k(x_i, x_j) + Σ_jl a_j a_l k(x_j, x_l)
//! ```
//!
//! At a training row this is the eigenvalue equation itself and gives back the
//! row's coordinates; methods that hold their kernel rows compute their own
//! embedding by it, so that `transform` of a training row is equal to the bit.
//! The arithmetic of one row never depends on other rows of the same call.
//!
//! Cost: p·n per row.

use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::embedding::kept_values;
use crate::error::Result;
use crate::kernel::CenteredPacked;
use crate::kernel::centering::{CenteredKernel, CenteredSquares};
use crate::linalg::packed::LANES;
use crate::linalg::{PARTS, dot};
use crate::spectrum::Spectrum;

/// What the formula needs of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Eigenfunction {
    /// λ^(-1/2) v, one row per component; zero for components without an eigenvalue above zero.
    weights: Array2<f64>,
    /// Σ_j a_j k(x_i, x_j) for each training row.
    means: Array1<f64>,
    /// Σ a_j a_l k(x_j, x_l).
    grand_mean: f64,
    /// The origin's weights a; `None` is 1/n each.
    origin: Option<Array1<f64>>,
}

/// One row to be placed. A type and not a closure: pulp calls closures through a shim that
/// is compiled without its instructions.
struct Projection<'a> {
    formula: &'a Eigenfunction,
    values: &'a mut [f64],
    coordinates: &'a mut [f64],
}

impl pulp::WithSimd for Projection<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.formula.project_in_place(self.values, self.coordinates);
    }
}

impl Eigenfunction {
    /// From the eigenpairs that are kept (`None` for a component that is not)
    /// and the means of the kernel's rows.
    pub fn new(
        vectors: ArrayView2<'_, f64>,
        values: &[Option<f64>],
        means: Array1<f64>,
        grand_mean: f64,
        origin: Option<Array1<f64>>,
    ) -> Self {
        let mut weights = Array2::zeros((values.len(), vectors.nrows()));
        for (component, value) in values.iter().enumerate() {
            if let Some(value) = value {
                let scale = 1.0 / value.sqrt();
                weights.row_mut(component).assign(&vectors.column(component).mapv(|entry| entry * scale));
            }
        }
        Eigenfunction { weights, means, grand_mean, origin }
    }

    /// From eigenpairs of −½ H D² Hᵀ; warns of those that carry no column.
    ///
    /// # Errors
    /// Cancellation.
    pub fn of_distances(kernel: &CenteredSquares<'_>, pairs: &Spectrum, ctx: &Ctx) -> Result<Self> {
        let kept = kept_values(pairs, ctx);
        let means = kernel.means(ctx)?;
        let row_means = Array1::from(means.rows).mapv(|mean| -0.5 * mean);
        let origin = kernel.centering().other_than_mean();
        Ok(Eigenfunction::new(pairs.vectors.view(), &kept, row_means, -0.5 * means.grand, origin))
    }

    /// From eigenpairs of H K H; warns of those that carry no column.
    ///
    /// # Errors
    /// Cancellation.
    pub fn of_kernel(kernel: &CenteredKernel<'_>, pairs: &Spectrum, ctx: &Ctx) -> Result<Self> {
        let kept = kept_values(pairs, ctx);
        let means = kernel.means(ctx)?;
        Ok(Eigenfunction::new(pairs.vectors.view(), &kept, Array1::from(means.rows), means.grand, None))
    }

    /// From the kept eigenpairs of −½ H D² H of a packed D.
    ///
    /// # Errors
    /// Cancellation.
    pub fn of_packed(
        kernel: &CenteredPacked<'_>,
        pairs: &Spectrum,
        kept: &[Option<f64>],
        ctx: &Ctx,
    ) -> Result<Self> {
        let means = kernel.means(ctx)?;
        let row_means = means.rows.iter().map(|mean| -0.5 * mean).collect();
        Ok(Eigenfunction::new(pairs.vectors.view(), kept, row_means, -0.5 * means.grand, None))
    }

    /// Number of training rows.
    pub fn training_rows(&self) -> usize {
        self.means.len()
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.weights.nrows()
    }

    /// Coordinates of rows by their distances to the training rows.
    ///
    /// # Errors
    /// Cancellation.
    pub fn project_distances(&self, distances: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.project_rows(distances, |distance| -0.5 * (distance * distance), ctx)
    }

    /// Coordinates of every row of `values`, each first turned into kernel
    /// values by `kernel` (for squared distances: −½ d²).
    pub fn project_rows(
        &self,
        values: ArrayView2<'_, f64>,
        kernel: impl Fn(f64) -> f64 + Sync,
        ctx: &Ctx,
    ) -> Result<Array2<f64>> {
        const ROWS: usize = 16;
        let mut placed = Array2::zeros((values.nrows(), self.components()));
        let width = self.components().max(1);
        // proof: `zeros` is row-major.
        let out = placed.as_slice_mut().expect("row-major");
        out.par_chunks_mut(ROWS * width).enumerate().try_for_each_init(
            || vec![0.0; values.ncols()],
            |row_of_kernel, (chunk, coordinates)| {
                ctx.check()?;
                for (offset, y) in coordinates.chunks_mut(width).enumerate() {
                    for (slot, value) in row_of_kernel.iter_mut().zip(values.row(chunk * ROWS + offset)) {
                        *slot = kernel(*value);
                    }
                    self.project(row_of_kernel, y);
                }
                Ok(())
            },
        )?;
        Ok(placed)
    }

    /// Coordinates of one new row from its kernel values; `values` is used as scratch.
    pub fn project(&self, values: &mut [f64], coordinates: &mut [f64]) {
        pulp::Arch::new().dispatch(Projection { formula: self, values, coordinates });
    }

    #[inline(always)]
    fn project_in_place(&self, values: &mut [f64], coordinates: &mut [f64]) {
        let mean = match &self.origin {
            None => sum(values) / values.len() as f64,
            Some(origin) => dot(contiguous(origin.as_slice()), values),
        };
        let shift = self.grand_mean - mean;
        for (value, own_mean) in values.iter_mut().zip(&self.means) {
            *value += shift - own_mean;
        }
        for (coordinate, weights) in coordinates.iter_mut().zip(self.weights.outer_iter()) {
            *coordinate = dot(contiguous(weights.as_slice()), values);
        }
    }

    /// Coordinates of up to [`LANES`] new rows at once, from geodesic distances
    /// to node after node: the kernel is −½(d² + linear·d). `distances` and
    /// `node_of` are by position; the origin must be the mean. Lane by lane the
    /// arithmetic is the same whatever the other lanes hold.
    pub fn project_lanes(
        &self,
        distances: &[[f64; LANES]],
        node_of: &[u32],
        linear: f64,
    ) -> Vec<[f64; LANES]> {
        let mut coordinates = vec![[0.0; LANES]; self.components()];
        pulp::Arch::new().dispatch(ProjectLanes {
            formula: self,
            distances,
            node_of,
            linear,
            out: &mut coordinates,
        });
        coordinates
    }
}

/// See [`Eigenfunction::project_lanes`].
struct ProjectLanes<'a> {
    formula: &'a Eigenfunction,
    distances: &'a [[f64; LANES]],
    node_of: &'a [u32],
    linear: f64,
    out: &'a mut [[f64; LANES]],
}

impl pulp::WithSimd for ProjectLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let ProjectLanes { formula, distances, node_of, linear, out } = self;
        let mut sums = [0.0; LANES];
        for lanes in distances {
            for lane in 0..LANES {
                sums[lane] += lanes[lane] * (lanes[lane] + linear);
            }
        }
        let mut shift = [0.0; LANES];
        for lane in 0..LANES {
            shift[lane] = formula.grand_mean + 0.5 * sums[lane] / distances.len() as f64;
        }
        for (lanes, &node) in distances.iter().zip(node_of) {
            let mean = formula.means[node as usize];
            let mut centred = [0.0; LANES];
            for lane in 0..LANES {
                centred[lane] = shift[lane] - mean - 0.5 * (lanes[lane] * (lanes[lane] + linear));
            }
            for (component, sums) in out.iter_mut().enumerate() {
                let weight = formula.weights[[component, node as usize]];
                for lane in 0..LANES {
                    sums[lane] += weight * centred[lane];
                }
            }
        }
    }
}

/// Rows of the formula's arrays.
#[inline(always)]
fn contiguous(row: Option<&[f64]>) -> &[f64] {
    // proof: `new` makes them row-major, and serde reads them so.
    row.expect("row-major")
}

#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let mut parts = [0.0; PARTS];
    let chunks = values.chunks_exact(PARTS);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for part in 0..PARTS {
            parts[part] += chunk[part];
        }
    }
    parts.iter().sum::<f64>() + rest
}
