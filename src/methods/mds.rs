//! Multidimensional scaling by stress: coordinates whose distances are the dissimilarities,
//! or a transformation of them.
//!
//! Kruskal 1964, de Leeuw 1977; the survey's (16)–(21). Symbols: δ dissimilarities, d
//! distances in the map, w weights, f the transformation.
//!
//! * `ratio`: Σ w (δ − d)² (or of squares, SSTRESS), by any solver of `optimize`.
//! * `interval`, `ordinal`, `spline`: Kruskal's Stress-1, Σ w (f(δ) − d)² / Σ w d², f the best
//!   line, ascending function or ascending spline.
//! * `strain`: classical scaling.
//!
//! Cost: n²·p an iteration. Dissimilarities of up to 10 000 points are stored; of more they
//! are sampled, and computed anew for a few iterations over all pairs.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::dimension::Coordinates;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::StressMap;
use crate::extend::descent::RowLoss;
use crate::extend::stress_map::Transformed;
use crate::input::Data;
use crate::input::check::check_components;
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::methods::classical_mds;
use crate::neighbors::MetricName;
use crate::optimize::disparities::{Disparities, Monotone, Ties, Transformation};
use crate::optimize::problem::{MOST_STORED, Problem, Totals};
use crate::optimize::ranking::Ranking;
use crate::optimize::solve::{Best, Loss, Solver, best_of, minimize};
use crate::optimize::start::{Start, check_given, random, stir_empty_columns};
use crate::optimize::term::{PairTerm, SStress, Stress};
use crate::optimize::transformed::{KruskalStress, majorize};
use crate::optimize::{Objective, Stop, Trace, center, columns_of, descent, lbfgs, majorization};
use crate::params::{choices, params};

choices! {
    /// What is minimised.
    MdsLoss {
        /// Squared differences of distances.
        Stress = "stress",
        /// Squared differences of squared distances.
        SStress = "sstress",
        /// Squared differences of inner products: classical scaling.
        Strain = "strain",
    }
}

params! {
    /// Metric and non-metric multidimensional scaling.
    Mds as "MDS" {
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
        /// Number of starts, the best of which is kept.
        n_init: usize = 1,
        /// Where they are.
        init: Start = Start::Auto,
        /// Most iterations of a start.
        max_iter: usize = 300,
        /// Decrease of an iteration, relative to the size of the stress, that ends it.
        eps: f64 = 1e-6,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Euclidean,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// Which transformation of the dissimilarities distances should equal.
        transformation: Transformation = Transformation::Ratio,
        /// Weights of the pairs, n × n.
        weights: Option<Array2<f64>> = None,
        /// What equal dissimilarities ask for in ordinal scaling.
        ties: Ties = Ties::Primary,
        /// How ordinal scaling starts.
        monotone: Monotone = Monotone::Kruskal,
        /// How the stress is minimised.
        solver: Solver = Solver::Auto,
        /// Whether steps of majorisation go twice as far.
        relax: bool = false,
        /// What is minimised.
        loss: MdsLoss = MdsLoss::Stress,
    }
}

/// A fitted [`Mds`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedMds {
    map: StressMap,
}

const HINT: &str =
    "fit on a subset of the rows, or use type='ratio' on more than 10 000 points, which stores no pairs";
/// Share of the magic factor in the survey's step (18) for stress.
const MAGIC: f64 = 1.0;

impl Method for Mds {
    type Model = FittedMds;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedMds> {
        let n = data.rows();
        self.check(n)?;
        ctx.reserve(self.memory(n, data.features()), "MDS", HINT)?;
        let problem =
            Problem::new(data, self.metric.metric(self.p)?, self.weights.as_ref(), self.needs_all(), ctx)?;
        let totals = problem.totals(ctx)?;
        let mut transformed = None;
        let best = if totals.squares == 0.0 {
            Best::in_one_place(n, self.n_components.count()) // every δ is zero
        } else if self.loss == MdsLoss::Strain {
            self.classical(data, &problem, &totals, ctx)?
        } else if self.transformation == Transformation::Ratio {
            let squares = Loss { term: SStress, scale: totals.fourths };
            match self.loss {
                MdsLoss::SStress => self.metric_map(squares, data, &problem, &totals, ctx)?,
                _ => self.metric_map(
                    Loss { term: Stress, scale: totals.squares },
                    data,
                    &problem,
                    &totals,
                    ctx,
                )?,
            }
        } else {
            let (best, found) = self.transformed_map(data, &problem, &totals, ctx)?;
            transformed = Some(found);
            best
        };
        let loss = match self.loss {
            MdsLoss::Stress => RowLoss::Stress,
            MdsLoss::SStress => RowLoss::SStress,
            MdsLoss::Strain => RowLoss::Strain,
        };
        Ok(FittedMds { map: StressMap::new(best, transformed, loss, data, problem, ctx)? })
    }

    fn takes_missing(&self) -> bool {
        true
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as f64, features as f64, self.n_components.count() as f64);
        let given = self.metric == MetricName::Precomputed;
        let stored = if given { 0.0 } else { 8.0 };
        let ranked = if self.transformation == Transformation::Ratio { 0.0 } else { 18.0 };
        let weights = if self.weights.is_some() { 8.0 } else { 0.0 };
        let small = 8.0 * n * (58.0 * p + 3.0 * d + 16.0);
        match given || rows <= MOST_STORED || ranked > 0.0 {
            true => (small + n * n * (stored + ranked + weights)) as u64,
            false => (small + 8.0 * n * 1024.0) as u64,
        }
    }
}

impl Mds {
    fn check(&self, rows: usize) -> Result<()> {
        check_components(self.n_components.count(), rows, "n_samples")?;
        let refuse = |name: &'static str, why: &str| Err(Error::param(name, why.to_string()));
        if self.n_init == 0 || self.max_iter == 0 {
            return refuse(if self.n_init == 0 { "n_init" } else { "max_iter" }, "must be at least 1, got 0");
        }
        if !(self.eps >= 0.0 && self.eps.is_finite()) {
            return Err(Error::param("eps", format!("must be finite and not negative, got {}", self.eps)));
        }
        if let Start::Given(given) = &self.init {
            check_given(given.view(), rows, self.n_components.count())?;
        }
        let plain = self.transformation == Transformation::Ratio;
        if self.loss != MdsLoss::Stress && !plain {
            return refuse("loss", "type other than 'ratio' is fitted by loss='stress' only");
        }
        if self.loss == MdsLoss::Strain && self.weights.is_some() {
            return refuse("weights", "loss='strain' has no weights");
        }
        match self.solver {
            Solver::Smacof | Solver::Sgd if self.loss == MdsLoss::SStress => {
                refuse("solver", "loss='sstress' is minimised by 'auto', 'lbfgs', 'gradient' or 'newton'")
            }
            Solver::Sgd | Solver::Newton if !plain => refuse(
                "solver",
                "type other than 'ratio' is fitted by 'auto', 'lbfgs', 'smacof' or 'gradient'",
            ),
            _ => Ok(()),
        }
    }

    /// The parameter whose value needs all pairs at once.
    fn needs_all(&self) -> Option<&'static str> {
        if self.transformation != Transformation::Ratio {
            Some("type")
        } else if self.weights.is_some() {
            Some("weights")
        } else {
            (self.solver == Solver::Sgd).then_some("solver")
        }
    }

    fn stop(&self) -> Stop {
        Stop { max_iter: self.max_iter, eps: self.eps }
    }

    /// Start number `number`: its kind and coordinates.
    fn start(
        &self,
        number: usize,
        data: Data<'_>,
        problem: &Problem<'_>,
        totals: &Totals,
        ctx: &Ctx,
    ) -> Result<(u8, Vec<f64>)> {
        let n = problem.len();
        if let Start::Given(given) = &self.init {
            return Ok((2, columns_of(given.view())));
        }
        if !self.init.is_classical(number) {
            let size = if self.transformation == Transformation::Ratio {
                (totals.squares / totals.weight).sqrt()
            } else {
                1.0
            };
            return Ok((1, random(n, self.n_components.count(), size, number, ctx)));
        }
        let mut x =
            classical_mds::start(data, problem, totals, (self.metric, self.p), self.n_components.count(), ctx)?;
        stir_empty_columns(&mut x, n, ctx);
        Ok((0, x))
    }

    /// loss='strain': the classical map is the minimum.
    fn classical(&self, data: Data<'_>, problem: &Problem<'_>, totals: &Totals, ctx: &Ctx) -> Result<Best> {
        if problem.weights().is_some() {
            return Err(Error::param("loss", "'strain' needs every dissimilarity: some are missing"));
        }
        let x = classical_mds::start(data, problem, totals, (self.metric, self.p), self.n_components.count(), ctx)?;
        Ok(Best { x, ..Best::in_one_place(0, 0) })
    }

    /// Distances that are the dissimilarities.
    fn metric_map<T: PairTerm>(
        &self,
        loss: Loss<T>,
        data: Data<'_>,
        problem: &Problem<'_>,
        totals: &Totals,
        ctx: &Ctx,
    ) -> Result<Best> {
        let rows = problem.rows();
        let solver = match (self.loss, self.solver) {
            (MdsLoss::SStress, Solver::Auto) => Solver::Lbfgs,
            (_, solver) => solver,
        };
        let solve = |x: &mut Vec<f64>| {
            let trace = match solver {
                Solver::Smacof => majorization::smacof(&rows, x, loss.scale, self.relax, self.stop(), ctx)?,
                solver => minimize(&rows, loss, solver, MAGIC, x, self.stop(), ctx)?,
            };
            Ok((*trace.history.last().unwrap_or(&f64::INFINITY), trace))
        };
        let start = |number: usize| self.start(number, data, problem, totals, ctx);
        let best = best_of(self.init.count(self.n_init), self.max_iter, ctx, start, solve)?;
        best.trace.tell(self.eps, ctx);
        Ok(best)
    }

    /// Distances that are a transformation of the dissimilarities.
    fn transformed_map(
        &self,
        data: Data<'_>,
        problem: &Problem<'_>,
        totals: &Totals,
        ctx: &Ctx,
    ) -> Result<(Best, Transformed)> {
        let ranking = Ranking::of(&problem.rows(), ctx)?;
        let mut stress = KruskalStress::new(Disparities::new(ranking, self.transformation, self.ties), ctx)?;
        let ordinal = self.transformation == Transformation::Ordinal;
        let start_of = |number: usize, stress: &KruskalStress| {
            if !ordinal || self.init != Start::Auto || number > 0 {
                return self.start(number, data, problem, totals, ctx);
            }
            // Only the order counts: the start is classical scaling of the ranks.
            let ranks = stress.disparities.ranking.mean_ranks();
            let mut x = classical_mds::start_of_matrix(ranks.view(), self.n_components.count(), ctx)?;
            stir_empty_columns(&mut x, problem.len(), ctx);
            Ok((0, x))
        };
        let mut starts = Vec::new();
        for number in 0..self.init.count(self.n_init) {
            starts.push(start_of(number, &stress)?);
        }
        let mut starts = starts.into_iter();
        let solve = |x: &mut Vec<f64>| {
            let mut begun = Trace::default();
            if ordinal && self.monotone == Monotone::Guttman {
                let half = Stop { max_iter: self.max_iter.div_ceil(2), ..self.stop() };
                begun = majorize(&mut stress, x, true, half, ctx)?;
            }
            let rest =
                Stop { max_iter: self.max_iter - begun.iterations().min(self.max_iter), ..self.stop() };
            let trace = match self.solver {
                Solver::Smacof => majorize(&mut stress, x, false, rest, ctx)?,
                Solver::Gradient => descent::gradient_descent(&mut stress, x, rest, ctx)?,
                _ => lbfgs::minimize(&mut stress, x, rest, ctx)?,
            };
            center(x, problem.len());
            let value = stress.evaluate(x, &mut vec![0.0; x.len()], ctx)?;
            Ok((value, begun.then(trace)))
        };
        let mut best = best_of(starts.len(), self.max_iter, ctx, |_| Ok(starts.next().unwrap_or_default()), solve)?;
        best.trace.tell(self.eps, ctx);
        let factor = stress.normalize(&mut best.x, ctx)?;
        let function = stress.disparities.function(&stress.fitted);
        // The steps of an ordinal function are the scaled disparities already.
        let function = if ordinal { function } else { function.times(factor) };
        Ok((best, Transformed { stress, function }))
    }
}

impl Model for FittedMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.map.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        Ok(self.map.attributes(|value| value.max(0.0).sqrt()))
    }

    fn takes_missing(&self) -> bool {
        true
    }

    fn units(&self) -> Units {
        self.map.units()
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.map.placement.place(data, ctx)
    }

    fn compute(&self, what: &str, _ctx: &Ctx) -> Result<Attribute> {
        match what {
            "disparities" => Ok(Attribute::Matrix(self.map.disparities()?)),
            _ => Err(Error::Unsupported(format!("this method cannot compute `{what}`"))),
        }
    }
}
