//! How many dimensions the manifold has that data lies on, by several estimators that share
//! one search for neighbours.
//!
//! Place: beside the methods, after `kernel`: data in, one [`Estimate`] per estimator out.
//! `table` searches, and takes duplicates as one; `likelihood`, `ratios`, `correlation`, `axes`
//! and `angles` are the estimators, `auto` chooses a number of coordinates by two of them; each a function of how often every row counts, so that
//! `bootstrap` serves them all. Cost: the search, O(n·k) for the estimators on distances,
//! k²·D per row for principal axes, and as many passes over n numbers as there are bootstrap
//! samples.
//!
//! ```
//! use planish::{Ctx, datasets, dimension};
//!
//! let ctx = Ctx::default();
//! let roll = datasets::swiss_roll(1000, 0.0, &ctx)?;
//! let found = dimension::estimate(&roll.points, &dimension::Settings::default(), &ctx)?;
//! assert_eq!(found[0].estimator, dimension::Estimator::MaximumLikelihood);
//! assert!((found[0].value()? - 2.0).abs() < 0.2);
//! # planish::Result::Ok(())
//! ```

mod angles;
mod auto;
mod axes;
mod bootstrap;
mod correlation;
mod likelihood;
mod paths;
mod ratios;
mod table;

pub use auto::Coordinates;
pub(crate) use auto::{Ruler, coordinates};
pub use axes::AxesRule;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Data, Input};
use crate::neighbors::{Algorithm, MetricName, Neighbors};
use crate::params::choices;
use bootstrap::{Blocks, interval};
use table::Table;

choices! {
    /// How the dimension is estimated.
    Estimator {
        /// Levina and Bickel 2004, combined as MacKay and Ghahramani 2005 do.
        MaximumLikelihood = "maximum_likelihood",
        /// Facco et al. 2017: a line through the distribution of second to first distances.
        TwoNn = "two_nn",
        /// The same ratios by maximum likelihood.
        TwoNnLikelihood = "two_nn_likelihood",
        /// Denti et al. 2022: ratios at doubled ranks, over scales.
        Gride = "gride",
        /// Grassberger and Procaccia 1983, between two radii.
        Correlation = "correlation",
        /// Principal axes of each neighbourhood, counted by a rule.
        LocalPca = "local_pca",
        /// Amsaleg et al. 2018: mean distance beside the largest.
        Moments = "moments",
        /// Johnsson, Soneson and Fontes 2015: angles between the neighbours of a row.
        SimplexSkewness = "simplex_skewness",
    }
}

/// What is estimated, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Number of neighbours, at least 2.
    pub n_neighbors: usize,
    /// How neighbours are found.
    pub metric: MetricName,
    /// Power of the Minkowski metric.
    pub p: f64,
    /// Which estimators, in which order.
    pub estimators: Vec<Estimator>,
    /// How the principal axes of a neighbourhood are counted.
    pub rule: AxesRule,
    /// Share of the largest ratios that the line of [`Estimator::TwoNn`] leaves out.
    pub discard: f64,
    /// Number of bootstrap samples; 0 for no intervals.
    pub n_bootstraps: usize,
    /// Share of the bootstrap samples in the interval.
    pub confidence: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            n_neighbors: 20,
            metric: MetricName::Euclidean,
            p: 2.0,
            estimators: Estimator::ALL.to_vec(),
            rule: AxesRule::default(),
            discard: 0.1,
            n_bootstraps: 200,
            confidence: 0.95,
        }
    }
}

/// A dimension by one estimator.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Estimate {
    /// By which.
    pub estimator: Estimator,
    /// The dimension of the whole; why there is none otherwise.
    pub global: Result<f64>,
    /// Bounds of the bootstrap interval.
    pub interval: Option<[f64; 2]>,
    /// The dimension at each row of the data; infinite where all its neighbours are equally
    /// far. `None` where the estimator has no such thing.
    pub local: Option<Vec<f64>>,
    /// The dimension at each scale, of [`Estimator::Gride`].
    pub scales: Vec<AtScale>,
}

impl Estimate {
    /// The dimension of the whole.
    ///
    /// # Errors
    /// Why the data has none.
    pub fn value(&self) -> Result<f64> {
        self.global.clone()
    }
}

/// A dimension at one scale.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AtScale {
    /// Ranks of the two neighbours whose distances are compared.
    pub ranks: [usize; 2],
    /// Mean distance of the farther one, in the units of the data.
    pub distance: f64,
    /// The dimension.
    pub value: f64,
    /// Bounds of the bootstrap interval.
    pub interval: Option<[f64; 2]>,
}

/// A dimension as a function of how often each row counts.
trait Statistic: Sync {
    fn value(&self, counts: &[f64]) -> f64;
}

/// Estimate the dimension of data by the estimators of `settings`. Rows that are duplicates
/// count once, with a warning.
///
/// # Errors
/// Data or parameters that cannot be used, each named; fewer distinct rows than neighbours;
/// cancellation, memory.
pub fn estimate<'a>(data: impl Into<Input<'a>>, settings: &Settings, ctx: &Ctx) -> Result<Vec<Estimate>> {
    if settings.estimators.is_empty() {
        return Err(Error::param("methods", "name at least one estimator"));
    }
    Ok(estimate_and_lists(data.into().view(), settings, ctx)?.0)
}

/// The estimates, and the lists of neighbours of the distinct rows that they were made from.
pub(crate) fn estimate_and_lists(
    data: Data<'_>,
    settings: &Settings,
    ctx: &Ctx,
) -> Result<(Vec<Estimate>, Neighbors)> {
    settings.check()?;
    let metric = settings.metric.metric(settings.p)?;
    ctx.answer(|| {
        table::with_table(data, &|_| settings.n_neighbors, metric, Algorithm::Auto, ctx, |table| {
            let blocks = Blocks::of(&table.near, settings.n_bootstraps, ctx)?;
            let each = settings.estimators.iter().map(|&one| settings.one(one, table, &blocks, ctx));
            Ok((each.collect::<Result<_>>()?, table.lists()))
        })
    })
}

/// One value from that by the angles between neighbours and that by maximum likelihood: the
/// first where an edge explains that they differ, the second where only curvature does.
pub(crate) fn blend(angles: f64, likelihood: f64) -> f64 {
    /// How far an edge parts them, and how far at most, for each dimension.
    const BY_EDGES: [f64; 2] = [0.018, 0.03];
    if !angles.is_finite() || !likelihood.is_finite() {
        return if likelihood.is_finite() { likelihood } else { angles };
    }
    let parted = (angles / likelihood - 1.0) / angles;
    let share = ((parted - BY_EDGES[0]) / (BY_EDGES[1] - BY_EDGES[0])).clamp(0.0, 1.0);
    angles + share * (likelihood - angles)
}

impl Settings {
    fn check(&self) -> Result<()> {
        if self.n_neighbors < 2 {
            return Err(Error::param("n_neighbors", format!("must be at least 2, got {}", self.n_neighbors)));
        }
        if !(self.discard >= 0.0 && self.discard < 1.0) {
            return Err(Error::param(
                "discard",
                format!("must be at least 0 and below 1, got {}", self.discard),
            ));
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            let why = format!("must be above 0 and below 1, got {}", self.confidence);
            return Err(Error::param("confidence", why));
        }
        Ok(())
    }

    fn one(&self, estimator: Estimator, table: &Table<'_>, blocks: &Blocks, ctx: &Ctx) -> Result<Estimate> {
        let mut found =
            Estimate { estimator, global: Ok(f64::NAN), interval: None, local: None, scales: Vec::new() };
        let local = match estimator {
            Estimator::MaximumLikelihood => {
                let (statistic, local) = likelihood::maximum_likelihood(table);
                self.finish(&mut found, &statistic, blocks, ctx)?;
                Some(local)
            }
            Estimator::Moments => {
                let (statistic, local) = likelihood::moments(table);
                self.finish(&mut found, &statistic, blocks, ctx)?;
                Some(local)
            }
            Estimator::TwoNn => {
                let ratios = ratios::Ratios::of(table, [1, 2]);
                self.finish(&mut found, &ratios::Line::of(&ratios, self.discard), blocks, ctx)?;
                Some(ratios.local(table, ctx)?)
            }
            Estimator::TwoNnLikelihood => {
                let ratios = ratios::Ratios::of(table, [1, 2]);
                self.finish(&mut found, &ratios, blocks, ctx)?;
                Some(ratios.local(table, ctx)?)
            }
            Estimator::Gride => Some(self.gride(&mut found, table, blocks, ctx)?),
            Estimator::Correlation => {
                match correlation::Integral::of(table, ctx) {
                    Ok(statistic) => self.finish(&mut found, &statistic, blocks, ctx)?,
                    Err(stop @ (Error::Cancelled | Error::Memory { .. })) => return Err(stop),
                    Err(reason) => found.global = Err(reason),
                }
                None
            }
            Estimator::SimplexSkewness => match angles::simplex_skewness(table, ctx)? {
                Ok((statistic, local)) => {
                    self.finish(&mut found, &statistic, blocks, ctx)?;
                    Some(local)
                }
                Err(reason) => {
                    found.global = Err(reason);
                    None
                }
            },
            Estimator::LocalPca => match axes::LocalAxes::of(table, self.rule, ctx)? {
                Ok(statistic) => {
                    self.finish(&mut found, &statistic, blocks, ctx)?;
                    Some(statistic.dimensions)
                }
                Err(reason) => {
                    found.global = Err(reason);
                    None
                }
            },
        };
        found.local = local.map(|values| table.spread(&values));
        Ok(found)
    }

    /// All scales, the largest of which is the answer.
    fn gride(&self, found: &mut Estimate, table: &Table<'_>, blocks: &Blocks, ctx: &Ctx) -> Result<Vec<f64>> {
        let mut local = Vec::new();
        let mut rank = 1;
        while 2 * rank <= table.k {
            let ratios = ratios::Ratios::of(table, [rank, 2 * rank]);
            self.finish(found, &ratios, blocks, ctx)?;
            if let Ok(value) = found.global {
                let (distance, interval) = (table.mean_distance(2 * rank), found.interval);
                found.scales.push(AtScale { ranks: [rank, 2 * rank], distance, value, interval });
            }
            if 4 * rank > table.k {
                local = ratios.local(table, ctx)?;
            }
            rank *= 2;
        }
        Ok(local)
    }

    /// The value and its interval.
    fn finish(
        &self,
        found: &mut Estimate,
        statistic: &dyn Statistic,
        blocks: &Blocks,
        ctx: &Ctx,
    ) -> Result<()> {
        /// Beyond this the dimension is not told from infinity.
        const LARGEST: f64 = 1e6;
        let value = statistic.value(&vec![1.0; blocks.rows()]);
        if !(0.0..=LARGEST).contains(&value) {
            found.interval = None;
            found.global = Err(Error::input(
                "the distances to the neighbours of every row are equal, as on a grid, and say nothing of \
                 the dimension; add more neighbours, or a little noise",
            ));
            return Ok(());
        }
        found.global = Ok(value);
        found.interval = interval(statistic, blocks, self.n_bootstraps, self.confidence, ctx)?;
        Ok(())
    }
}
