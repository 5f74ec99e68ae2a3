//! Which rows are the landmarks.
//!
//! Owns: the rules by which a few rows are chosen as landmarks. Place: between the
//! points (or the connected graph) and the methods that triangulate. Papers:
//! Gonzalez 1985 for farthest-first, Beygelzimer, Kakade and Langford 2006 for
//! the levels of a cover tree; de Silva and Tenenbaum 2004 for both as landmarks.
//! Cost: m searches among n rows at most; covers need fewer.

mod graph;
mod points;

#[cfg(any(test, feature = "python"))]
use std::collections::HashMap;

use rayon::prelude::*;

pub use graph::GraphCover;
pub use points::{MatrixCover, PointsCover};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::below;
use crate::params::{Parameter, Value};

/// How landmarks are chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LandmarkChoice {
    /// Any rows, by the seed.
    Random,
    /// Each the row farthest from those before it; the first by the seed.
    #[default]
    Maxmin,
    /// The levels of a cover tree, coarse to fine: rows farther apart than a
    /// radius that halves from level to level, taken in an order by the seed.
    Hierarchical,
    /// These rows.
    Given(Vec<usize>),
}

impl Parameter for LandmarkChoice {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Str(name) if name == "random" => Some(LandmarkChoice::Random),
            Value::Str(name) if name == "maxmin" => Some(LandmarkChoice::Maxmin),
            Value::Str(name) if name == "hierarchical" => Some(LandmarkChoice::Hierarchical),
            Value::Floats(rows) => {
                let whole =
                    |&row: &f64| (row >= 0.0 && row.fract() == 0.0 && row < 9e15).then_some(row as usize);
                rows.iter().map(whole).collect::<Option<Vec<usize>>>().map(LandmarkChoice::Given)
            }
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self {
            LandmarkChoice::Random => Value::Str("random".into()),
            LandmarkChoice::Maxmin => Value::Str("maxmin".into()),
            LandmarkChoice::Hierarchical => Value::Str("hierarchical".into()),
            LandmarkChoice::Given(rows) => Value::Floats(rows.iter().map(|&row| row as f64).collect()),
        }
    }
    fn expected() -> String {
        "'random', 'maxmin', 'hierarchical' or an array of row numbers".into()
    }
}

/// Rows and their distances to the nearest of the centres added so far. Rows
/// may be listed in an order of the cover's own: `place` and `row` translate.
pub trait Cover {
    /// One more centre.
    fn add(&mut self, centre: u32, ctx: &Ctx) -> Result<()>;
    /// Distance to the nearest centre, by place; infinite before the first.
    fn nearest(&self) -> &[f64];
    /// The row at a place.
    fn row(&self, place: usize) -> u32 {
        place as u32
    }
    /// The place of a row.
    fn place(&self, row: u32) -> usize {
        row as usize
    }
}

/// Check the number of landmarks against the number of components, and let
/// there be no more than rows.
pub fn check_count(n_landmarks: usize, n_components: usize, rows: usize) -> Result<usize> {
    if n_landmarks <= n_components {
        return Err(Error::param(
            "n_landmarks",
            format!(
                "{n_landmarks} landmarks span at most {} dimension(s); n_components = {n_components} needs at least {}",
                n_landmarks.saturating_sub(1),
                n_components + 1
            ),
        ));
    }
    Ok(n_landmarks.min(rows))
}

/// Check rows given as landmarks.
pub fn check_given(given: &[usize], n_components: usize, rows: usize) -> Result<Vec<u32>> {
    let mut seen = vec![false; rows];
    for &row in given {
        match seen.get_mut(row) {
            None => {
                return Err(Error::param(
                    "landmarks",
                    format!("row {row} does not exist, rows are 0..{rows}"),
                ));
            }
            Some(true) => return Err(Error::param("landmarks", format!("row {row} is named twice"))),
            Some(slot) => *slot = true,
        }
    }
    if given.len() <= n_components && given.len() < rows {
        return Err(Error::param(
            "landmarks",
            format!(
                "{} landmarks are too few for n_components = {n_components}: give at least {}",
                given.len(),
                n_components + 1
            ),
        ));
    }
    Ok(given.iter().map(|&row| row as u32).collect())
}

/// `count` different rows of `rows`, in the order they were drawn.
pub fn random_rows(rows: usize, count: usize, ctx: &Ctx) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    let mut stream = ctx.stream("landmarks");
    for place in 0..count.min(rows) {
        let other = place + below(&mut stream, rows - place);
        order.swap(place, other);
    }
    order.truncate(count);
    order
}

/// The same rows in memory that goes with `count` alone.
#[cfg(any(test, feature = "python"))]
pub fn few_random_rows(rows: usize, count: usize, ctx: &Ctx) -> Vec<usize> {
    let mut moved: HashMap<usize, usize> = HashMap::new();
    let mut stream = ctx.stream("landmarks");
    let drawn = (0..count.min(rows)).map(|place| {
        let other = place + below(&mut stream, rows - place);
        let here = moved.get(&place).copied().unwrap_or(place);
        moved.insert(other, here).unwrap_or(other)
    });
    drawn.collect()
}

/// The landmarks: `count` of the cover's rows.
pub fn choose(cover: &mut dyn Cover, choice: &LandmarkChoice, count: usize, ctx: &Ctx) -> Result<Vec<u32>> {
    let rows = cover.nearest().len();
    ctx.stage("landmarks", count);
    let mut chosen = match choice {
        LandmarkChoice::Random => random_rows(rows, count, ctx),
        LandmarkChoice::Maxmin => farthest_first(cover, count, ctx)?,
        LandmarkChoice::Hierarchical => coarse_to_fine(cover, count, ctx)?,
        LandmarkChoice::Given(given) => given.iter().map(|&row| row as u32).collect(),
    };
    fill_up(&mut chosen, rows, count);
    Ok(chosen)
}

fn farthest_first(cover: &mut dyn Cover, count: usize, ctx: &Ctx) -> Result<Vec<u32>> {
    let mut chosen = random_rows(cover.nearest().len(), count.min(1), ctx);
    while let Some(&last) = chosen.last() {
        if chosen.len() == count {
            break;
        }
        cover.add(last, ctx)?;
        ctx.check()?;
        ctx.advance(1);
        match farthest(cover, ctx) {
            (row, distance) if distance > 0.0 => chosen.push(row),
            // Every other row coincides with a landmark.
            _ => break,
        }
    }
    Ok(chosen)
}

/// The row farthest from all centres (the first of several) and its distance.
fn farthest(cover: &dyn Cover, ctx: &Ctx) -> (u32, f64) {
    const CHUNK: usize = 1 << 14;
    let nearest = cover.nearest();
    let best_of = |(chunk, distances): (usize, &[f64])| {
        let mut best = (0, f64::NEG_INFINITY);
        for (offset, &distance) in distances.iter().enumerate() {
            if distance > best.1 {
                best = (chunk * CHUNK + offset, distance);
            }
        }
        best
    };
    let bests: Vec<(usize, f64)> =
        ctx.install(|| nearest.par_chunks(CHUNK).enumerate().map(best_of).collect());
    let (place, distance) = bests
        .into_iter()
        .fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
    (cover.row(place), distance)
}

fn coarse_to_fine(cover: &mut dyn Cover, count: usize, ctx: &Ctx) -> Result<Vec<u32>> {
    let rows = cover.nearest().len();
    let order = random_rows(rows, rows, ctx);
    let Some(&root) = order.first() else { return Ok(order) };
    cover.add(root, ctx)?;
    let mut chosen = vec![root];
    let (_, mut radius) = farthest(cover, ctx);
    while chosen.len() < count && radius > 0.0 {
        radius *= 0.5;
        for &row in &order {
            if chosen.len() == count {
                break;
            }
            if cover.nearest()[cover.place(row)] > radius {
                cover.add(row, ctx)?;
                ctx.check()?;
                ctx.advance(1);
                chosen.push(row);
            }
        }
        radius = radius.min(farthest(cover, ctx).1);
    }
    Ok(chosen)
}

/// Rows that coincide with landmarks, when there is nothing else left to choose.
fn fill_up(chosen: &mut Vec<u32>, rows: usize, count: usize) {
    if chosen.len() >= count {
        return;
    }
    let mut free = vec![true; rows];
    chosen.iter().for_each(|&row| free[row as usize] = false);
    let missing = count - chosen.len();
    chosen.extend((0..rows as u32).filter(|&row| free[row as usize]).take(missing));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_drawn_as_from_all() {
        for (rows, count) in [(1, 1), (10, 10), (1000, 37), (5, 9)] {
            let all: Vec<usize> =
                random_rows(rows, count, &Ctx::new(1, 3)).iter().map(|&row| row as usize).collect();
            assert_eq!(few_random_rows(rows, count, &Ctx::new(1, 3)), all);
        }
    }
}
