//! Placing points by their distances to landmarks (de Silva and Tenenbaum 2004;
//! the survey's (60) with (63), and its (41)).
//!
//! ```text
//! y_c(x) = −½ Σ_l λ_c^(-1/2) v_lc · (d(x, l)² − μ_l),   μ_l = mean over landmarks m of d(l, m)²
//! ```
//!
//! which is the eigenfunction formula with the terms left out that vanish
//! because eigenvectors of a centred kernel are orthogonal to the constant. At a
//! landmark it is the eigenvalue equation and gives the landmark's own
//! coordinates. The survey prints the means of (64) over the other points; they
//! must be the landmarks' own, or all points that are no landmarks are shifted.
//!
//! Distances come from [`LANES`] landmarks at a time, and what each batch adds is
//! summed in the order of the batches. Cost: p·m per point.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::linalg::packed::LANES;

/// What the formula needs of the landmarks, batch by batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Triangulation {
    components: usize,
    batches: Vec<BatchWeights>,
}

/// −½ λ^(-1/2) v of up to [`LANES`] landmarks, and their means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BatchWeights {
    /// `weights[c][lane]`, zero for lanes without a landmark.
    weights: Vec<[f64; LANES]>,
    means: [f64; LANES],
    /// Lanes with a landmark; the others hold no distances.
    count: usize,
}

impl Triangulation {
    /// From the landmarks' eigenpairs that are kept (`None` for a component that
    /// is not) and the means of their squared distances.
    pub fn new(vectors: ArrayView2<'_, f64>, values: &[Option<f64>], means: &[f64]) -> Self {
        let landmarks: Vec<usize> = (0..means.len()).collect();
        let batch = |members: &[usize]| {
            let lane_of = |lane: usize| members.get(lane).copied();
            let weight = |component: usize, lane: usize| match (values[component], lane_of(lane)) {
                (Some(value), Some(landmark)) => -0.5 * vectors[[landmark, component]] / value.sqrt(),
                _ => 0.0,
            };
            BatchWeights {
                weights: (0..values.len())
                    .map(|component| std::array::from_fn(|lane| weight(component, lane)))
                    .collect(),
                means: std::array::from_fn(|lane| lane_of(lane).map_or(0.0, |landmark| means[landmark])),
                count: members.len(),
            }
        };
        Triangulation { components: values.len(), batches: landmarks.chunks(LANES).map(batch).collect() }
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.components
    }

    /// Whether it is of this many landmarks; one that was read back may be of any.
    pub fn is_of(&self, landmarks: usize) -> bool {
        let counts = (0..landmarks).step_by(LANES).map(|first| LANES.min(landmarks - first));
        let found = self.batches.iter().map(|batch| (batch.count, batch.weights.len()));
        counts.map(|count| (count, self.components)).eq(found)
    }

    /// What landmarks `batch * LANES ..` add to the coordinates of points, given
    /// their distances to those landmarks. A distance of the point's own (the
    /// same in every batch; 0 for points among the landmarks) is taken off,
    /// squared, before anything is summed: that changes nothing but the rounding
    /// of points far from all landmarks.
    pub fn part(&self, batch: usize, distances: &[[f64; LANES]], own: impl Fn(usize) -> f64) -> Array2<f64> {
        let mut part = Array2::zeros((distances.len(), self.components));
        // proof: `zeros` is row-major.
        let out = part.as_slice_mut().expect("row-major");
        pulp::Arch::new().dispatch(Part { weights: &self.batches[batch], distances, own, out });
        part
    }
}

struct Part<'a, F> {
    weights: &'a BatchWeights,
    distances: &'a [[f64; LANES]],
    own: F,
    out: &'a mut [f64],
}

impl<F: Fn(usize) -> f64> pulp::WithSimd for Part<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let BatchWeights { weights, means, count } = self.weights;
        let width = weights.len().max(1);
        let rows = self.distances.iter().zip(self.out.chunks_exact_mut(width)).enumerate();
        for (row, (lanes, coordinates)) in rows {
            let own = (self.own)(row);
            let mut excess = [0.0; LANES];
            for lane in 0..LANES {
                let difference = (lanes[lane] - own) * (lanes[lane] + own) - means[lane];
                excess[lane] = if lane < *count { difference } else { 0.0 };
            }
            for (coordinate, weights) in coordinates.iter_mut().zip(weights) {
                let mut terms = [0.0; LANES];
                for lane in 0..LANES {
                    terms[lane] = weights[lane] * excess[lane];
                }
                *coordinate = pairwise_sum(terms);
            }
        }
    }
}

/// A sum by halves: the same order of additions on every machine.
#[inline(always)]
fn pairwise_sum(terms: [f64; LANES]) -> f64 {
    let mut terms = terms;
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            terms[lane] += terms[lane + width];
        }
        width /= 2;
    }
    terms[0]
}
