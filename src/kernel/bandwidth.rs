//! The width of affinities: whether it leaves rows without any, and which one would not.
//!
//! Place: after [`super::affinity_graph`] has made affinities of a given width.
//! Cost: O(entries); a neighbour search where a width is refused.

use super::affinity::Affinity;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::PointsRef;
use crate::input::scale::scale_of_points;
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule};

/// Degrees below this are rounding, not affinity.
const NO_DEGREE: f64 = 1e-100;

/// The γ at which rows have an affinity to their nearest neighbours.
pub(super) fn fitting_gamma(points: PointsRef<'_>, ctx: &Ctx) -> Result<f64> {
    // The squares of the data's own distances may be no numbers.
    let scale = scale_of_points(points);
    let scaled = scale.points(points);
    let index = Index::build(scaled.view(), Metric::Euclidean, Algorithm::Auto, ctx)?;
    let gap = usual_gap(index.neighbors_of_all(NeighborRule::Nearest(1), ctx)?.distances.into_iter());
    let suggested = 1.0 / scale.back_squared(gap * gap);
    if suggested.is_normal() {
        return Ok(suggested);
    }
    Err(Error::input(format!(
        "distances to nearest neighbours are about {:.1e}, and no `gamma` fits their squares; divide the data by \
         about that",
        scale.back(gap)
    )))
}

/// Rows without affinity to any other before the width is refused: a few are outliers, and
/// the policy for components says what becomes of them.
const MOST_LONELY: f64 = 0.1;

/// The width of affinities.
pub(super) struct Width {
    pub parameter: &'static str,
    pub value: f64,
    /// The power of the unit of distances that it goes with.
    pub power: i32,
}

impl Width {
    /// Refuse a width at which many rows have no affinity to any other, judged by those
    /// that have neighbours at all: row → row of the data. `suggested` is asked only then.
    pub fn refuse_lonely_rows(
        &self,
        affinity: &Affinity,
        suggested: impl FnOnce() -> Result<f64>,
        data_row: impl Fn(usize) -> Option<usize>,
        ctx: &Ctx,
    ) -> Result<()> {
        let degrees = affinity.degrees();
        let (mut judged, mut lonely) = (0, Vec::new());
        for (row, &degree) in degrees.iter().enumerate() {
            let Some(row) = data_row(row) else { continue };
            judged += 1;
            if degree < NO_DEGREE {
                lonely.push(row);
            }
        }
        let many = lonely.len() as f64 > MOST_LONELY * judged as f64 && degrees.len() > 1;
        let Some(row) = lonely.first().filter(|_| many) else { return Ok(()) };
        let parameter = self.parameter;
        let in_units = |width: f64| if self.power == 0 { width } else { ctx.data_length(width) };
        Err(Error::param(
            parameter,
            format!(
                "at {parameter} = {:e} the affinities of {} of {judged} rows to every other row vanish (row {row} \
                 is the first); try {parameter} = {:.3e}, which the distances to nearest neighbours suggest",
                in_units(self.value),
                lonely.len(),
                in_units(suggested()?)
            ),
        ))
    }
}

/// The length that all but a twentieth of these, which are not 0, stay within; 1 when
/// there are none. Where more than that vanish at some width, it is a wider one.
pub(super) fn usual_gap(lengths: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = lengths.filter(|&length| length > 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() * 19 / 20).copied().unwrap_or(1.0)
}
