//! Intervals by drawing rows again, in blocks of neighbours.
//!
//! Rows that are near share neighbours, so their statistics are not independent and drawing
//! them one by one would give intervals that are too short. Blocks of a row and those of its
//! neighbours that are in no earlier block are drawn with replacement, as in the bootstrap
//! of spatial data (P. Hall, Stochastic Processes and their Applications 20, 1985). The
//! interval has the quantiles of the values. Cost: one value of the statistic a sample.

use rayon::prelude::*;

use super::Statistic;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::random::below;
use crate::neighbors::Neighbors;

/// Rows in blocks, and how often each block is in every sample.
pub(super) struct Blocks {
    block_of: Vec<u32>,
    samples: Vec<Vec<u32>>,
}

impl Blocks {
    /// The blocks of lists of neighbours, and `samples` samples of as many blocks.
    pub fn of(near: &Neighbors, samples: usize, ctx: &Ctx) -> Result<Blocks> {
        const NONE: u32 = u32::MAX;
        let mut block_of = vec![NONE; near.rows()];
        let mut count = 0;
        for row in 0..near.rows() {
            if block_of[row] != NONE {
                continue;
            }
            block_of[row] = count as u32;
            for &other in near.row(row).0 {
                let own = &mut block_of[other as usize];
                *own = if *own == NONE { count as u32 } else { *own };
            }
            count += 1;
        }
        let need = 4 * (samples as u64).saturating_mul(count as u64);
        ctx.reserve(need, "the bootstrap samples", "use fewer of them")?;
        let mut stream = ctx.stream("bootstrap of dimension");
        let mut draw = || {
            ctx.check()?;
            let mut drawn = vec![0; count];
            (0..count).for_each(|_| drawn[below(&mut stream, count)] += 1);
            Ok(drawn)
        };
        let samples = (0..samples).map(|_| draw()).collect::<Result<_>>()?;
        Ok(Blocks { block_of, samples })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.block_of.len()
    }
}

/// The quantiles of a statistic that leave `confidence` between them; `None` without
/// samples, or where too few have a value.
pub(super) fn interval(
    statistic: &dyn Statistic,
    blocks: &Blocks,
    samples: usize,
    confidence: f64,
    ctx: &Ctx,
) -> Result<Option<[f64; 2]>> {
    ctx.stage("bootstrap", samples);
    let values: Vec<f64> = blocks
        .samples
        .par_iter()
        .map(|drawn| {
            ctx.check()?;
            let counts: Vec<f64> =
                blocks.block_of.iter().map(|&block| f64::from(drawn[block as usize])).collect();
            ctx.advance(1);
            Ok(statistic.value(&counts))
        })
        .collect::<Result<_>>()?;
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    if values.is_empty() || 2 * values.len() < samples {
        return Ok(None);
    }
    values.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Ok(Some([tail, 1.0 - tail].map(|share| quantile(&values, share))))
}

/// A quantile of sorted values, between the two it falls between.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + part * (sorted[high] - sorted[low])
}
