//! Sammon's mapping: stress in which every pair counts by the inverse of its dissimilarity.
//!
//! Sammon 1969; the survey's (22)–(29). Symbols: δ dissimilarities, d distances in the map,
//! a = Σ δ. The cost is (1/a) Σ (δ − d)² / δ over all pairs, or over the pairs of each row
//! with its nearest neighbours (29). The survey prints (26) and (28) with sums over both
//! indices and without δ in the last term; see `optimize::term`. A dissimilarity of zero has
//! the weight of the smallest one above zero.
//!
//! Cost: n²·p an iteration, k·n·p with neighbours. Storage as for MDS.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::dimension::Coordinates;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::extend::StressMap;
use crate::extend::descent::RowLoss;
use crate::input::Data;
use crate::input::check::check_components;
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::methods::classical_mds;
use crate::neighbors::{Dissimilarities, NeighborRule, MetricName, Neighbors, from_distances};
use crate::optimize::problem::{MOST_STORED, Problem, Totals};
use crate::optimize::sampled::{SampledObjective, SomePairs};
use crate::optimize::solve::{Best, Loss, Solver, best_of, minimize};
use crate::optimize::start::{Start, check_given, random, stir_empty_columns};
use crate::optimize::term::Sammon;
use crate::optimize::{Stop, Trace, columns_of, descent, lbfgs};
use crate::params::params;

params! {
    /// Sammon's nonlinear mapping.
    SammonMapping as "SammonMapping" {
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
        /// Nearest neighbours of each row whose distances count; `None` for all rows.
        n_neighbors: Option<usize> = None,
        /// Number of starts, the best of which is kept.
        n_init: usize = 1,
        /// Where they are.
        init: Start = Start::Auto,
        /// Most iterations of a start.
        max_iter: usize = 300,
        /// Decrease of an iteration, relative to the sum of dissimilarities, that ends it.
        eps: f64 = 1e-6,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Euclidean,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// How the stress is minimised.
        solver: Solver = Solver::Auto,
        /// The magic factor of Sammon's step, for `Solver::Newton`.
        magic: f64 = 0.35,
    }
}

/// A fitted [`SammonMapping`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedSammonMapping {
    map: StressMap,
    stress: f64,
}

const HINT: &str = "set n_neighbors, or fit on a subset of the rows";

impl Method for SammonMapping {
    type Model = FittedSammonMapping;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedSammonMapping> {
        let n = data.rows();
        self.check(n)?;
        ctx.reserve(self.memory(n, data.features()), "SammonMapping", HINT)?;
        let needs_all = (self.solver == Solver::Sgd).then_some("solver");
        let problem = Problem::new(data, self.metric.metric(self.p)?, None, needs_all, ctx)?;
        let totals = problem.totals(ctx)?; //                                        a (24)
        let best = if totals.squares == 0.0 {
            Best::in_one_place(n, self.n_components.count())
        } else {
            let start = |number: usize| self.start(number, data, &problem, &totals, ctx);
            let count = self.init.count(self.n_init);
            match self.n_neighbors {
                None => best_of(count, self.max_iter, ctx, start, |x| self.all_pairs(x, &problem, &totals, ctx))?, //  (25)
                Some(k) => {
                    let (pairs, scale) = self.neighbor_pairs(k, &problem, ctx)?;
                    best_of(count, self.max_iter, ctx, start, |x| self.some_pairs(x, &pairs, &totals, scale, ctx))? // (29)
                }
            }
        };
        best.trace.tell(self.eps, ctx);
        let of_neighbors = best.trace.history.last().copied().filter(|_| self.n_neighbors.is_some());
        let loss = RowLoss::Sammon { least: totals.least };
        let mut map = StressMap::new(best, None, loss, data, problem, ctx)?;
        map.placement = map.placement.with_nearest(self.n_neighbors);
        Ok(FittedSammonMapping { stress: of_neighbors.unwrap_or(map.forms.sammon), map })
    }

    fn takes_missing(&self) -> bool {
        true
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as f64, features as f64, self.n_components.count() as f64);
        let small = 8.0 * n * (58.0 * p + 3.0 * d + 16.0);
        let near = 64.0 * n * self.n_neighbors.unwrap_or(0).min(rows) as f64;
        let pairs = match self.metric {
            MetricName::Precomputed => 0.0,
            _ if rows <= MOST_STORED => 8.0 * n * n,
            _ => 8.0 * n * 1024.0,
        };
        (small + near + pairs) as u64
    }
}

impl SammonMapping {
    fn check(&self, rows: usize) -> Result<()> {
        check_components(self.n_components.count(), rows, "n_samples")?;
        let refuse = |name: &'static str, why: String| Err(Error::param(name, why));
        if self.n_init == 0 || self.max_iter == 0 {
            let name = if self.n_init == 0 { "n_init" } else { "max_iter" };
            return refuse(name, "must be at least 1, got 0".into());
        }
        if !(self.eps >= 0.0 && self.eps.is_finite()) {
            return refuse("eps", format!("must be finite and not negative, got {}", self.eps));
        }
        if !(self.magic > 0.0 && self.magic <= 1.0) {
            return refuse("magic", format!("must be above 0 and at most 1, got {}", self.magic));
        }
        if let Start::Given(given) = &self.init {
            check_given(given.view(), rows, self.n_components.count())?;
        }
        match (self.solver, self.n_neighbors) {
            (Solver::Smacof, _) => refuse(
                "solver",
                "'smacof' is not for Sammon's stress; use 'auto', 'newton', 'lbfgs', 'sgd' or 'gradient'".into(),
            ),
            (Solver::Sgd | Solver::Newton, Some(_)) => {
                refuse("solver", "with n_neighbors it is 'auto', 'lbfgs' or 'gradient'".into())
            }
            _ => Ok(()),
        }
    }

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
            let size = (totals.squares / totals.weight).sqrt();
            return Ok((1, random(n, self.n_components.count(), size, number, ctx)));
        }
        let mut x =
            classical_mds::start(data, problem, totals, (self.metric, self.p), self.n_components.count(), ctx)?;
        stir_empty_columns(&mut x, n, ctx);
        Ok((0, x))
    }

    fn stop(&self) -> Stop {
        Stop { max_iter: self.max_iter, eps: self.eps }
    }

    fn all_pairs(
        &self,
        x: &mut [f64],
        problem: &Problem<'_>,
        totals: &Totals,
        ctx: &Ctx,
    ) -> Result<(f64, Trace)> {
        let loss = Loss { term: Sammon { least: totals.least }, scale: totals.delta };
        let trace = minimize(&problem.rows(), loss, self.solver, self.magic, x, self.stop(), ctx)?;
        Ok((*trace.history.last().unwrap_or(&f64::INFINITY), trace))
    }

    fn some_pairs(
        &self,
        x: &mut [f64],
        pairs: &SomePairs,
        totals: &Totals,
        scale: f64,
        ctx: &Ctx,
    ) -> Result<(f64, Trace)> {
        let mut objective = SampledObjective::new(pairs, Sammon { least: totals.least }, scale);
        let trace = match self.solver {
            Solver::Gradient => descent::gradient_descent(&mut objective, x, self.stop(), ctx)?,
            _ => lbfgs::minimize(&mut objective, x, self.stop(), ctx)?,
        };
        Ok((*trace.history.last().unwrap_or(&f64::INFINITY), trace))
    }

    /// The pairs of each row with its nearest neighbours, and the sum of their
    /// dissimilarities. A pair that is one of both rows' counts twice, as in (29).
    fn neighbor_pairs(&self, k: usize, problem: &Problem<'_>, ctx: &Ctx) -> Result<(SomePairs, f64)> {
        let n = problem.len();
        if problem.weights().is_some() {
            return Err(Error::param(
                "n_neighbors",
                "nearest rows need every dissimilarity: some are missing",
            ));
        }
        let near: Neighbors = match &problem.training {
            Dissimilarities::Points(index) => index.neighbors_of_all(NeighborRule::Nearest(k), ctx)?,
            Dissimilarities::Given(matrix) => from_distances(matrix.view(), NeighborRule::Nearest(k), ctx)?,
        };
        let mut directed: Vec<(u32, u32, f64)> = Vec::with_capacity(n * k);
        for row in 0..n {
            for at in near.offsets[row]..near.offsets[row + 1] {
                let (i, j) = (row as u32, near.indices[at]);
                directed.push((i.min(j), i.max(j), near.distances[at]));
            }
        }
        directed.sort_unstable_by_key(|&(i, j, _)| (i, j));
        let scale = directed.iter().map(|&(_, _, delta)| delta).sum::<f64>();
        let mut pairs: Vec<(u32, u32, f64, f64)> = Vec::with_capacity(directed.len());
        for (i, j, delta) in directed {
            match pairs.last_mut() {
                Some(last) if (last.0, last.1) == (i, j) => last.3 += 1.0,
                _ => pairs.push((i, j, delta, 1.0)),
            }
        }
        warn_of_parts(n, &pairs, ctx);
        Ok((SomePairs::new(n, &pairs), if scale > 0.0 { scale } else { 1.0 }))
    }
}

/// Pairs that leave rows in several groups say nothing of how the groups lie.
fn warn_of_parts(n: usize, pairs: &[(u32, u32, f64, f64)], ctx: &Ctx) {
    let mut group: Vec<usize> = (0..n).collect();
    let find = |group: &mut Vec<usize>, mut row: usize| {
        while group[row] != row {
            group[row] = group[group[row]];
            row = group[row];
        }
        row
    };
    for &(i, j, ..) in pairs {
        let (a, b) = (find(&mut group, i as usize), find(&mut group, j as usize));
        group[a.max(b)] = a.min(b);
    }
    let count = (0..n).filter(|&row| group[row] == row).count();
    if count > 1 {
        ctx.warn(
            WarningKind::Disconnected,
            format!(
                "the nearest neighbours leave the rows in {count} groups without a pair between them: where the \
                 groups lie comes from the start alone; raise n_neighbors"
            ),
        );
    }
}

impl Model for FittedSammonMapping {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.map.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let mut named = self.map.attributes(|value| value);
        named.push(("stress", Attribute::Float(self.stress)));
        Ok(named)
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
}
