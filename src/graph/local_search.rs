//! The data of a local method as it is searched: points under a metric, a matrix of
//! distances, or points with lists that were made elsewhere; and which of its rows are
//! copies of others.
//!
//! Place: under [`super::local_rows`]. Cost: an index and a neighbour search; a sort of the
//! rows where there are copies.

use ndarray::{Array2, ArrayView2, Axis};

use super::locate::without_repeats;
use super::neighborhood::{Setting, neighbor_lists};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::check::check_offsets;
use crate::input::rows::as_indices;
use crate::input::{Csr, PointsRef};
use crate::neighbors::duplicates::Places;
use crate::neighbors::{Hood, Index, Metric, Neighbors, from_distances, mean_within};

/// Data in the form that is searched.
pub enum Held<'a> {
    /// Rows and how they are compared.
    Points(PointsRef<'a>, Metric),
    /// Distances between all rows.
    Matrix(ArrayView2<'a, f64>),
    /// With lists that were made elsewhere, and the metric of new rows unless these
    /// bring their own.
    Listed(PointsRef<'a>, Neighbors, Option<Metric>),
}

/// Data that was searched: its index, or its matrix.
pub enum Searched {
    /// Points.
    Index(Box<Index>),
    /// Distances.
    Matrix(Array2<f64>),
}

impl Searched {
    /// Refuse a radius that takes in more neighbours than there is memory for, judged
    /// by some of the rows before any list is made.
    pub fn reserve(&self, rows: usize, hood: Hood, bytes: &dyn Fn(usize) -> u64, ctx: &Ctx) -> Result<()> {
        let ask = |neighbors: usize| {
            let what = "the lists of neighbours and the sum of the local fits";
            ctx.reserve(bytes(neighbors), what, "lower `radius`, or fit on a subset of the rows")
        };
        match hood {
            Hood::Within(radius) if ask(rows).is_err() => ask(match self {
                Searched::Index(index) => index.mean_within(radius, ctx)?,
                Searched::Matrix(matrix) => mean_within(matrix.view(), radius),
            } as usize),
            _ => Ok(()),
        }
    }
}

impl Held<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Held::Points(points, _) | Held::Listed(points, ..) => points.rows(),
            Held::Matrix(matrix) => matrix.nrows(),
        }
    }

    /// Some of the rows (or all), ready to be searched.
    pub fn index(&self, setting: &Setting, rows: Option<&[u32]>, ctx: &Ctx) -> Result<Searched> {
        let of_points = |points: &PointsRef<'_>, metric: Metric| {
            let index = match rows {
                None => Index::build(*points, metric, setting.algorithm, ctx)?,
                Some(rows) => {
                    let part = points.select(&as_indices(rows));
                    Index::build(part.view(), metric, setting.algorithm, ctx)?
                }
            };
            Ok::<Searched, Error>(Searched::Index(Box::new(index)))
        };
        Ok(match self {
            Held::Points(points, metric) => of_points(points, *metric)?,
            Held::Listed(points, _, metric) => of_points(points, metric.unwrap_or(Metric::Euclidean))?,
            Held::Matrix(matrix) => {
                let side = rows.map_or(matrix.nrows(), <[u32]>::len) as u64;
                ctx.reserve(8 * side * side, "a copy of the distances for new rows", "fit on fewer rows")?;
                Searched::Matrix(match rows {
                    None => matrix.to_owned(),
                    Some(rows) => {
                        let rows = as_indices(rows);
                        matrix.select(Axis(0), &rows).select(Axis(1), &rows)
                    }
                })
            }
        })
    }

    /// Who is near whom among the rows of `searched`.
    pub fn search(
        &self,
        searched: &Searched,
        hood: Hood,
        distinct: Option<(&[u32], &[u32])>,
        ctx: &Ctx,
    ) -> Result<Neighbors> {
        if let Held::Listed(_, near, _) = self {
            return Ok(match distinct {
                None => near.clone(),
                Some((firsts, place_of)) => joined(near, firsts.len(), place_of),
            });
        }
        if distinct.is_some_and(|(firsts, _)| firsts.len() == 1) {
            return Ok(Neighbors { offsets: vec![0, 0], indices: vec![], distances: vec![] });
        }
        match searched {
            Searched::Index(index) => index.neighbors_of_all(hood, ctx),
            Searched::Matrix(matrix) => from_distances(matrix.view(), hood, ctx),
        }
    }

    /// The first row at each place and the place of each row; `None` when all
    /// rows are distinct.
    pub fn distinct(&self, ctx: &Ctx) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        let (firsts, place_of) = match self {
            Held::Points(points, _) | Held::Listed(points, ..) => {
                let places = Places::of(*points, ctx)?;
                (places.firsts.iter().map(|&row| row as u32).collect(), places.place_of)
            }
            Held::Matrix(matrix) => {
                let mut firsts: Vec<u32> = Vec::new();
                let mut place_of = Vec::with_capacity(matrix.nrows());
                for (row, distances) in matrix.outer_iter().enumerate() {
                    let place = firsts.iter().position(|&first| distances[first as usize] == 0.0);
                    place_of.push(place.unwrap_or(firsts.len()) as u32);
                    if place.is_none() {
                        firsts.push(row as u32);
                    }
                }
                (firsts, place_of)
            }
        };
        Ok((firsts.len() < self.rows()).then_some((firsts, place_of)))
    }
}

/// Lists that were given, nearest first: no row its own neighbour, none named twice.
pub fn given_lists(lists: &Csr, rows: usize) -> Result<Neighbors> {
    check_offsets(lists)?;
    if lists.rows() != rows {
        return Err(Error::param(
            "neighbors",
            format!("must have a list for each of the {rows} rows, got {}", lists.rows()),
        ));
    }
    let near = neighbor_lists(lists, rows, Hood::Nearest(usize::MAX), true)?;
    Ok(without_repeats(&near))
}

/// The lists of all rows at a place as one, in places.
fn joined(near: &Neighbors, places: usize, place_of: &[u32]) -> Neighbors {
    let mut of_place = vec![Vec::new(); places];
    for (row, bounds) in near.offsets.windows(2).enumerate() {
        let others =
            (bounds[0]..bounds[1]).map(|at| (near.distances[at], place_of[near.indices[at] as usize]));
        of_place[place_of[row] as usize].extend(others.filter(|(_, place)| *place != place_of[row]));
    }
    let mut all = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for mut list in of_place {
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.distances.extend(list.iter().map(|(distance, _)| *distance));
        all.indices.extend(list.iter().map(|(_, place)| *place));
        all.offsets.push(all.indices.len());
    }
    without_repeats(&all)
}
