//! A finished map of the stress family: coordinates, every form of stress recomputed from
//! them, how they were found, and the way for new rows.
//!
//! Place in the dataflow: between an optimisation and the models of MDS and Sammon mapping,
//! which share it.

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use super::descent::{RowLoss, StressPlacement, digests, first_equal_rows};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::Data;
use crate::input::rows::RowMap;
use crate::method::{Attribute, Units};
use crate::optimize::disparities::Function;
use crate::optimize::problem::Problem;
use crate::optimize::solve::{Attempt, Best};
use crate::optimize::stress::{NAMES, StressForms, stress_forms};
use crate::optimize::transformed::KruskalStress;
use crate::optimize::{center, columns_of, matrix_of};

/// The map.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StressMap {
    /// Coordinates of the training rows.
    pub embedding: Array2<f64>,
    /// Every form of stress.
    pub forms: StressForms,
    /// The value after each iteration, relative to the size of the loss.
    pub history: Vec<f64>,
    attempts: Vec<Attempt>,
    /// The way for new rows.
    pub placement: StressPlacement,
    /// Whether coordinates have the unit of the dissimilarities.
    has_unit: bool,
    /// Pairs and their disparities, where those are not the dissimilarities; not saved.
    #[serde(skip)]
    disparities: Option<(Vec<u32>, Vec<f64>)>,
}

/// Disparities instead of dissimilarities, and the function that makes them.
pub struct Transformed {
    /// Where they come from, at the last place of the map.
    pub stress: KruskalStress,
    /// For dissimilarities of new rows.
    pub function: Function,
}

impl StressMap {
    /// From what was found: centred, equal rows in one place.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(
        best: Best,
        transformed: Option<Transformed>,
        loss: RowLoss,
        data: Data<'_>,
        problem: Problem<'_>,
        ctx: &Ctx,
    ) -> Result<StressMap> {
        let mut x = best.x;
        center(&mut x, problem.len());
        let digests = digests(data, ctx)?;
        let equal = first_equal_rows(data, &digests);
        let pairs = equal.iter().enumerate();
        let duplicates = pairs.filter_map(|(row, first)| Some((row as u32, (*first)? as u32)));
        let rows = RowMap::all(problem.len()).with_duplicates(duplicates);
        let embedding = rows.spread(matrix_of(&x, problem.len()));
        let x = columns_of(embedding.view());
        let forms = match &transformed {
            None => stress_forms(&problem.rows(), &x, ctx)?,
            Some(Transformed { stress, .. }) => {
                stress_forms(&stress.disparities.ranking.rows(&stress.fitted), &x, ctx)?
            }
        };
        let has_unit = transformed.is_none();
        let means = if loss == RowLoss::Strain { Some(square_means(&problem, ctx)?) } else { None };
        let mut placement = StressPlacement::new(problem.training.into_reference(), digests, x, loss);
        if let Some(means) = means {
            placement = placement.with_square_means(means);
        }
        let mut disparities = None;
        if let Some(Transformed { stress, function }) = transformed {
            placement = placement.with_function(function);
            disparities = Some((stress.disparities.ranking.pairs, stress.fitted));
        }
        let (history, attempts) = (best.trace.history, best.attempts);
        Ok(StressMap { embedding, forms, history, attempts, placement, has_unit, disparities })
    }

    /// What it is measured in.
    pub fn units(&self) -> Units {
        const LENGTHS: Units =
            Units { coordinates: 1, attributes: &[("raw", 2), ("strain", 4), ("per_distance", 1)] };
        if self.has_unit { LENGTHS } else { Units::NONE }
    }

    /// What is worth knowing, by name; values of the history and of the starts as `reported`.
    pub fn attributes(&self, reported: fn(f64) -> f64) -> Vec<(&'static str, Attribute)> {
        let row =
            |attempt: &Attempt| [f64::from(attempt.kind), reported(attempt.value), attempt.iterations as f64];
        let table = Array1::from_iter(self.attempts.iter().flat_map(row));
        // proof: three numbers a start.
        let table = table.into_shape_with_order((self.attempts.len(), 3)).expect("rows of three");
        let history: Vec<f64> = self.history.iter().map(|&value| reported(value)).collect();
        let mut named = vec![
            ("stress_per_point", Attribute::vector(&self.forms.per_point)),
            ("n_iter", Attribute::Int(history.len() as i64)),
            ("history", Attribute::vector(&history)),
            ("inits", Attribute::Matrix(table)),
        ];
        let forms = NAMES.into_iter().zip(self.forms.values());
        named.extend(forms.map(|(name, value)| (name, Attribute::Float(value))));
        named
    }

    /// The disparities of all pairs, n × n, NaN for missing ones.
    ///
    /// # Errors
    /// Maps that have none of their own, or were restored without them.
    pub fn disparities(&self) -> Result<Array2<f64>> {
        let Some((pairs, values)) = &self.disparities else {
            return Err(Error::Unsupported(
                "this model does not hold its disparities: they are not saved with it".into(),
            ));
        };
        let n = self.embedding.nrows();
        let mut matrix = Array2::from_elem((n, n), f64::NAN);
        matrix.diag_mut().fill(0.0);
        for (&pair, &value) in pairs.iter().zip(values) {
            let (i, j) = (pair as usize / n, pair as usize % n);
            (matrix[[i, j]], matrix[[j, i]]) = (value, value);
        }
        Ok(matrix)
    }
}

/// Mean squared dissimilarity of each row, itself included.
fn square_means(problem: &Problem<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
    let rows = problem.rows();
    let mean = |delta: &[f64]| delta.iter().map(|near| near * near).sum::<f64>() / delta.len() as f64;
    let parts =
        rows.blocks(ctx, |range, room| range.map(|i| mean(rows.row(i, room).0)).collect::<Vec<f64>>())?;
    Ok(parts.concat())
}
