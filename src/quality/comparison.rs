//! The data and a map of it, and every measure by its name.
//!
//! Place: the front of `quality`. Checks that data and map fit together, draws the sample of
//! rows, and runs each pass over the pairs at most once for all measures that are asked for.

use ndarray::ArrayView2;

use super::distance_measures::DistanceSums;
use super::neighbor_ranks::NeighborRanks;
use super::rank_measures::hit;
use super::score::Score;
use super::spearman;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Data, PointsRef, check};
use crate::landmarks::random_rows;
use crate::neighbors::{DistanceRows, Metric, MetricName, RowChoice};
use crate::params::choices;
use crate::scale::Scale;

choices! {
    /// What can be measured of a map.
    Measure {
        /// Whether neighbours in the map are neighbours in the data; 1 is best.
        Trustworthiness = "trustworthiness",
        /// Whether neighbours in the data are neighbours in the map; 1 is best.
        Continuity = "continuity",
        /// Mean relative rank error of neighbours in the map; 0 is best.
        MrreFalse = "mrre_false",
        /// Mean relative rank error of neighbours in the data; 0 is best.
        MrreMissing = "mrre_missing",
        /// Share of common neighbours less that of chance.
        Lcmc = "lcmc",
        /// Share of neighbours in the map with the label of the row.
        NeighborhoodHit = "neighborhood_hit",
        /// Information imbalance from the data to the map; 0 is best.
        ImbalanceXToY = "imbalance_x_to_y",
        /// Information imbalance from the map to the data; 0 is best.
        ImbalanceYToX = "imbalance_y_to_x",
        /// Distortion of the distances to the neighbours in the data; 0 is best.
        LocalDistortion = "local_distortion",
        /// Length of the distances to the neighbours in the data, in the map over the data.
        LocalScale = "local_scale",
        /// Correlation of distances; 1 is best.
        Pearson = "pearson",
        /// Correlation of the ranks of distances; 1 is best.
        Spearman = "spearman",
        /// 1 − R² of distances; 0 is best.
        ResidualVariance = "residual_variance",
        /// Σ (d − δ)² over pairs.
        RawStress = "raw",
        /// √(Σ (d − δ)² / Σ δ²), the survey's (16).
        NormalizedStress = "normalized",
        /// √(Σ (d − δ)² / Σ d²), Kruskal's Stress-1.
        Stress1 = "stress1",
        /// √(Σ (d − δ)² / Σ (d − mean d)²), Kruskal's Stress-2.
        Stress2 = "stress2",
        /// Σ ((d − δ)² / δ) / Σ δ over pairs with δ > 0, the survey's (25).
        SammonStress = "sammon",
        /// ‖−½ H δ² H − Y Yᵀ‖², the survey's (1), Y centred.
        Strain = "strain",
        /// Σ (d − δ)² / Σ d.
        StressPerDistance = "per_distance",
        /// The normalised stress at the scale of the map where it is least.
        ScaledStress = "scaled",
        /// Area under the curve R_NX over ln k; 1 is best.
        RankCurveArea = "rank_curve_area",
    }
}

impl Measure {
    fn needs_ranks(self) -> bool {
        use Measure::*;
        let local = matches!(self, LocalDistortion | LocalScale);
        local
            || matches!(self, Trustworthiness | Continuity | MrreFalse | MrreMissing | Lcmc)
            || matches!(self, ImbalanceXToY | ImbalanceYToX)
    }

    fn needs_sums(self) -> bool {
        !self.needs_ranks()
            && !matches!(self, Measure::Spearman | Measure::RankCurveArea | Measure::NeighborhoodHit)
    }

    /// Whether the measure is normalised by its worst value, which wants k below n / 2.
    fn wants_half(self) -> bool {
        use Measure::*;
        matches!(self, Trustworthiness | Continuity | MrreFalse | MrreMissing)
    }
}

/// Data and a map of it.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub(super) x: DistanceRows<'a>,
    pub(super) y: DistanceRows<'a>,
    pub(super) map: ArrayView2<'a, f64>,
    sample: Option<Vec<u32>>,
}

impl<'a> Comparison<'a> {
    /// Compare data under a metric with a map, whose distances are Euclidean; with `sample`
    /// that many rows, drawn by the context's seed, each with all rows.
    ///
    /// # Errors
    /// Data or a map that is not finite, of other numbers of rows, or of fewer than two; a sample
    /// of fewer than two; memory.
    pub fn new(
        data: impl Into<Data<'a>>,
        metric: MetricName,
        map: ArrayView2<'a, f64>,
        sample: Option<usize>,
        ctx: &Ctx,
    ) -> Result<Comparison<'a>> {
        Comparison::of(data.into(), metric.metric(2.0)?, map, sample, ctx)
    }

    /// The same with a metric that has its power; `None` for given distances.
    pub(crate) fn of(
        data: Data<'a>,
        metric: Option<Metric>,
        map: ArrayView2<'a, f64>,
        sample: Option<usize>,
        ctx: &Ctx,
    ) -> Result<Comparison<'a>> {
        let (rows, placed) = (data.rows(), map.nrows());
        if rows != placed {
            return Err(Error::input(format!(
                "the data has {rows} rows and the map {placed}; they must be the same"
            )));
        }
        if map.ncols() == 0 {
            return Err(Error::input("the map has no columns"));
        }
        check::check_finite(map, "the map")?;
        if rows < 2 {
            return Err(Error::input(format!(
                "a map is judged by pairs of rows: give at least 2, got {rows}"
            )));
        }
        if let Some(count) = sample.filter(|&count| count < 2) {
            return Err(Error::param("sample", format!("must be at least 2 rows, got {count}")));
        }
        let sample = sample.filter(|&count| count < rows).map(|count| {
            let mut chosen = random_rows(rows, count, ctx);
            chosen.sort_unstable();
            chosen
        });
        let x = DistanceRows::new(data, metric, ctx)?;
        let y = DistanceRows::new(Data::Points(PointsRef::Dense(map)), Some(Metric::Euclidean), ctx)?;
        Ok(Comparison { x, y, map, sample })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.map.nrows()
    }

    /// The rows that are looked at.
    pub(super) fn rows(&self) -> RowChoice<'_> {
        self.sample.as_deref().map_or(RowChoice::All(self.len()), RowChoice::Some)
    }

    /// The rows of the sample, ascending; `None` when all rows are looked at.
    pub fn sample(&self) -> Option<&[u32]> {
        self.sample.as_deref()
    }

    /// The scale at which distances in X and in Y can be compared and squared: that of the
    /// larger ones. And what distances in X and in Y are multiplied by to have it.
    pub(super) fn units(&self) -> (Scale, f64, f64) {
        let factor = |of: &DistanceRows<'_>, unit: Scale| unit.into(of.scale().back(1.0)).min(1.0);
        let (x, y) = (self.x.scale(), self.y.scale());
        let unit = if x.back(1.0) >= y.back(1.0) { x } else { y };
        (unit, factor(&self.x, unit), factor(&self.y, unit))
    }

    /// The distances of a pair, in X and in Y, at that scale.
    pub(super) fn pair(&self, i: usize, j: usize) -> (f64, f64) {
        let (_, x, y) = self.units();
        (x * self.x.pair(i, j), y * self.y.pair(i, j))
    }

    /// The scores of several measures, in their order. `k` neighbours count where neighbours
    /// do; labels, one a row, only for the neighbourhood hit.
    ///
    /// # Errors
    /// A number of neighbours that the measure does not allow; labels that are missing or all
    /// the same; a ratio of which the denominator is zero; cancellation; memory.
    pub fn scores(
        &self,
        measures: &[Measure],
        k: usize,
        labels: Option<&[i64]>,
        ctx: &Ctx,
    ) -> Result<Vec<Score>> {
        ctx.answer(|| self.scores_here(measures, k, labels, ctx))
    }

    fn scores_here(
        &self,
        measures: &[Measure],
        k: usize,
        labels: Option<&[i64]>,
        ctx: &Ctx,
    ) -> Result<Vec<Score>> {
        let any = |of: fn(Measure) -> bool| measures.iter().any(|&measure| of(measure));
        let near = any(Measure::needs_ranks) || measures.contains(&Measure::NeighborhoodHit);
        if near {
            self.check_neighbors(k, any(Measure::wants_half))?;
        }
        let ranks = any(Measure::needs_ranks).then(|| NeighborRanks::of(self, k, ctx)).transpose()?;
        let sums = any(Measure::needs_sums).then(|| DistanceSums::of(self, ctx)).transpose()?;
        let local = ranks.as_ref().map(|ranks| ranks.local(self));
        measures
            .iter()
            .map(|&measure| match (measure, &ranks, &sums, &local) {
                (Measure::Spearman, ..) => spearman::spearman(self, ctx),
                (Measure::RankCurveArea, ..) => Ok(self.rank_curve(ctx)?.area),
                (Measure::NeighborhoodHit, Some(ranks), ..) => hit(self, &ranks.in_y, k, labels),
                (Measure::NeighborhoodHit, None, ..) => {
                    hit(self, &self.y.neighbors(self.rows(), k, ctx)?.indices, k, labels)
                }
                (Measure::LocalDistortion, _, _, Some((distortion, _))) => Ok(distortion.clone()),
                (Measure::LocalScale, _, _, Some((_, scale))) => Ok(scale.clone()),
                (measure, Some(ranks), ..) if measure.needs_ranks() => Ok(self.of_ranks(measure, ranks)),
                (measure, _, Some(sums), _) => sums.score(measure, self),
                (measure, ..) => Err(Error::Unsupported(format!("{} was not prepared", measure.name()))),
            })
            .collect()
    }

    fn of_ranks(&self, measure: Measure, ranks: &NeighborRanks) -> Score {
        let n = self.len();
        match measure {
            Measure::Trustworthiness => ranks.intrusion(&ranks.x_ranks, n),
            Measure::Continuity => ranks.intrusion(&ranks.y_ranks, n),
            Measure::MrreFalse => ranks.relative_error(&ranks.x_ranks, n),
            Measure::MrreMissing => ranks.relative_error(&ranks.y_ranks, n),
            Measure::ImbalanceXToY => ranks.imbalance(&ranks.y_ranks, n),
            Measure::ImbalanceYToX => ranks.imbalance(&ranks.x_ranks, n),
            _ => ranks.common(n),
        }
    }

    fn check_neighbors(&self, k: usize, half: bool) -> Result<()> {
        let n = self.len();
        if k == 0 || (!half && k >= n) {
            let why = format!("must be at least 1 and less than n_samples = {n}, got {k}");
            return Err(Error::param("n_neighbors", why));
        }
        if half && 2 * k >= n {
            // In the words scikit-learn uses.
            let most = n as f64 / 2.0;
            let why = format!("n_neighbors ({k}) should be less than n_samples / 2 ({most:?})");
            return Err(Error::param("n_neighbors", why));
        }
        Ok(())
    }
}
