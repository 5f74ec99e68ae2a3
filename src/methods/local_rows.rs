//! The first half of every local method: from data to neighbour lists in pieces.
//!
//! Place: before the blocks of `kernel::local`. Local methods need the geometry
//! inside a neighbourhood, so that a graph alone will not do. Copies have none
//! between them, and a map may pull them apart: where there are any, the map is made
//! of the distinct rows and copies are put where the first is.
//! Cost: a neighbour search, and two more with a sort of the rows if there are
//! copies.

use ndarray::{Array2, ArrayView2, Axis};

use super::choices::{ignores_scale, unfit};
use super::locator::{Locator, without_repeats};
use super::neighborhood::{Setting, as_indices, neighbor_lists, scaled_hood};
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::extend::coincident::Places;
use crate::graph::{Components, Graph, Policy, components};
use crate::input::check::{self, check_offsets};
use crate::input::scale::{Scale, scale_of_matrix, scale_of_points};
use crate::input::{Csr, PointsRef};
use crate::neighbors::{Hood, Index, Metric, Neighbors, from_distances, mean_within};
use crate::pipeline::Data;

/// The rows that are mapped, and who is near whom among them.
pub struct LocalRows {
    /// Neighbours of the mapped rows among themselves, at working scale.
    pub near: Neighbors,
    /// Both directions of `near`.
    pub graph: Graph,
    /// Piece of each mapped row, and how many rows each has.
    pub pieces: Components,
    /// Piece of each row of the data.
    pub labels: Vec<usize>,
    /// The row of the data that a mapped row is; `None` when all are mapped.
    pub rows: Option<Vec<u32>>,
    /// The mapped row that a row of the data lies with; `None` as in `rows`. A row
    /// that was left out has none.
    pub places: Option<Vec<Option<u32>>>,
    /// Finds the neighbours of new rows among the mapped ones.
    pub locator: Locator,
    /// Distances between the mapped rows, where the data was distances.
    pub matrix: Option<Array2<f64>>,
    /// Which rows are neighbours, in the data's units.
    pub hood: Hood,
    /// Whether the lists were given, and no number or radius made them.
    pub given: bool,
    /// What the data was multiplied by.
    pub input_scale: Scale,
    /// What lengths are multiplied by, against the data's own.
    pub length_scale: Scale,
    /// An order of the mapped rows in which near rows are near, if one is known.
    pub order: Option<Vec<u32>>,
}

/// Data in the form that is searched.
enum Held<'a> {
    Points(PointsRef<'a>, Metric),
    Matrix(ArrayView2<'a, f64>),
    /// With lists that were made elsewhere, and the metric of new rows unless these
    /// bring their own.
    Listed(PointsRef<'a>, Neighbors, Option<Metric>),
}

/// Data that was searched: its index, or its matrix.
enum Searched {
    Index(Box<Index>),
    Matrix(Array2<f64>),
}

/// What the method needs of its neighbourhoods.
struct Needs<'a> {
    /// Neighbours in other places.
    least: usize,
    /// Bytes of a fit with so many neighbours of each row.
    bytes: &'a dyn Fn(usize) -> u64,
}

impl Searched {
    /// Refuse a radius that takes in more neighbours than there is memory for, judged
    /// by some of the rows before any list is made.
    fn reserve(&self, rows: usize, hood: Hood, bytes: &dyn Fn(usize) -> u64, ctx: &Ctx) -> Result<()> {
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

impl LocalRows {
    /// Search, reduce to distinct rows, and split into pieces. The user is told of
    /// copies that leave a row fewer than `least` neighbours in other places.
    /// `bytes` says what a fit needs with so many neighbours of each row.
    pub fn new(
        setting: &Setting,
        data: Data<'_>,
        least: usize,
        bytes: &dyn Fn(usize) -> u64,
        ctx: &Ctx,
    ) -> Result<LocalRows> {
        setting.check(data)?;
        let needs = Needs { least, bytes };
        match (data, setting.metric) {
            (Data::Points(points), Some(metric)) => {
                let input_scale = scale_of_points(points);
                let length_scale = if ignores_scale(metric) { Scale::ONE } else { input_scale };
                let scaled = input_scale.points(points);
                let held = Held::Points(scaled.view(), metric);
                LocalRows::of(setting, &held, (input_scale, length_scale), &needs, ctx)
            }
            (Data::Distances(matrix), None) => {
                let matrix = check::distances(matrix, ctx)?;
                let scale = scale_of_matrix(matrix.view());
                let matrix = scale.matrix(matrix.view());
                LocalRows::of(setting, &Held::Matrix(matrix.view()), (scale, scale), &needs, ctx)
            }
            (Data::Neighborhoods { points, lists }, metric) => {
                let near = given_lists(lists, points.rows())?;
                let input_scale = scale_of_points(points);
                let scaled = input_scale.points(points);
                // The lists' lengths are told and not used.
                let scales = (input_scale, Scale::ONE);
                LocalRows::of(setting, &Held::Listed(scaled.view(), near, metric), scales, &needs, ctx)
            }
            (Data::Graph(_), None) => Err(Error::param(
                "metric",
                "a sparse graph has no distances between the neighbours of a row, which this method needs; \
                 give points, or with metric='precomputed' the dense matrix of all distances",
            )),
            (data, metric) => Err(unfit(data, metric.is_none(), "a dense distance matrix")),
        }
    }

    fn of(
        setting: &Setting,
        held: &Held<'_>,
        scales: (Scale, Scale),
        needs: &Needs<'_>,
        ctx: &Ctx,
    ) -> Result<LocalRows> {
        let all = held.rows();
        let mut hood = setting.hood;
        let mut searched = held.index(setting, None, ctx)?;
        if !matches!(held, Held::Listed(..)) {
            searched.reserve(all, scaled_hood(hood, scales.1), needs.bytes, ctx)?;
        }
        let mut near = held.search(&searched, scaled_hood(hood, scales.1), None, ctx)?;
        let mut rows: Option<Vec<u32>> = None;
        let mut places: Option<Vec<Option<u32>>> = None;
        // Lists that are searched have copies in them wherever there are any.
        let suspected = matches!(held, Held::Listed(..)) || near.distances.contains(&0.0);
        if suspected && let Some((firsts, place_of)) = held.distinct(ctx)? {
            if crowded(&near, &place_of, needs.least) {
                tell_of_copies(all, firsts.len(), ctx);
            }
            hood = match hood {
                Hood::Nearest(k) => Hood::Nearest(k.min(firsts.len().saturating_sub(1)).max(1)),
                within => within,
            };
            searched = held.index(setting, Some(&firsts), ctx)?;
            near = held.search(&searched, scaled_hood(hood, scales.1), Some((&firsts, &place_of)), ctx)?;
            rows = Some(firsts);
            places = Some(place_of.into_iter().map(Some).collect());
        }
        let mut graph = Graph::from_neighbors(&near, ctx)?;
        let mut pieces = components(&graph);
        let of_data = match &places {
            None => pieces.clone(),
            Some(places) => over_data(&pieces, places),
        };
        if pieces.count() > 1 && setting.policy == Policy::Error {
            return Err(Error::Disconnected {
                count: of_data.count(),
                sizes: of_data.sizes_in_words(),
                labels: of_data.labels,
            });
        }
        if pieces.count() > 1 && setting.policy == Policy::Largest {
            let largest = of_data.largest();
            let kept: Vec<u32> =
                (0..graph.len() as u32).filter(|&row| pieces.labels[row as usize] == largest).collect();
            tell_of_largest(&of_data, ctx);
            let inner = renumbering(&kept, near.offsets.len() - 1);
            near = restricted(&near, &kept, &inner);
            graph = graph.subgraph(&kept, ctx)?;
            let kept: Vec<u32> = match &rows {
                None => kept,
                Some(rows) => kept.iter().map(|&row| rows[row as usize]).collect(),
            };
            places = Some(match places {
                None => inner,
                Some(places) => places.iter().map(|place| inner[(*place)? as usize]).collect(),
            });
            searched = held.index(setting, Some(&kept), ctx)?;
            rows = Some(kept);
            pieces = components(&graph);
        } else if pieces.count() > 1 {
            tell_of_pieces(&of_data, ctx);
        }
        let (locator, matrix, order) = match searched {
            Searched::Index(index) => {
                let order = index.order();
                let locator = match held {
                    Held::Listed(_, _, None) => Locator::Lists { index, rows: all, columns: places.clone() },
                    _ => Locator::Points(index),
                };
                (locator, None, Some(order))
            }
            Searched::Matrix(matrix) => {
                (Locator::Distances { rows: all, columns: rows.clone() }, Some(matrix), None)
            }
        };
        let (input_scale, length_scale) = scales;
        Ok(LocalRows {
            near,
            graph,
            pieces,
            labels: of_data.labels,
            rows,
            places,
            locator,
            matrix,
            hood,
            given: matches!(held, Held::Listed(_, _, Some(_))),
            input_scale,
            length_scale,
            order,
        })
    }

    /// Number of mapped rows.
    pub fn len(&self) -> usize {
        self.pieces.labels.len()
    }
}

impl Held<'_> {
    fn rows(&self) -> usize {
        match self {
            Held::Points(points, _) | Held::Listed(points, ..) => points.rows(),
            Held::Matrix(matrix) => matrix.nrows(),
        }
    }

    /// Some of the rows (or all), ready to be searched.
    fn index(&self, setting: &Setting, rows: Option<&[u32]>, ctx: &Ctx) -> Result<Searched> {
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
    fn search(
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
    fn distinct(&self, ctx: &Ctx) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
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
fn given_lists(lists: &Csr, rows: usize) -> Result<Neighbors> {
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

/// Whether copies leave some row neighbours in fewer than `least` other places.
fn crowded(near: &Neighbors, place_of: &[u32], least: usize) -> bool {
    let mut places: Vec<u32> = Vec::new();
    near.offsets.windows(2).enumerate().any(|(row, bounds)| {
        places.clear();
        places.extend(near.indices[bounds[0]..bounds[1]].iter().map(|&other| place_of[other as usize]));
        places.retain(|&place| place != place_of[row]);
        places.sort_unstable();
        places.dedup();
        places.len() < least && places.len() < bounds[1] - bounds[0]
    })
}

/// Pieces of the distinct rows as pieces of the rows of the data.
fn over_data(pieces: &Components, places: &[Option<u32>]) -> Components {
    let labels: Vec<usize> = places.iter().flatten().map(|&place| pieces.labels[place as usize]).collect();
    let mut sizes = vec![0; pieces.count()];
    labels.iter().for_each(|&label| sizes[label] += 1);
    Components { labels, sizes }
}

/// Old row → new row.
fn renumbering(kept: &[u32], rows: usize) -> Vec<Option<u32>> {
    let mut place = vec![None; rows];
    kept.iter().enumerate().for_each(|(new, &row)| place[row as usize] = Some(new as u32));
    place
}

/// The lists of the rows `kept`, which have no neighbours outside.
fn restricted(near: &Neighbors, kept: &[u32], inner: &[Option<u32>]) -> Neighbors {
    let mut part = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for &row in kept {
        let range = near.offsets[row as usize]..near.offsets[row as usize + 1];
        part.indices.extend(near.indices[range.clone()].iter().filter_map(|&other| inner[other as usize]));
        part.distances.extend_from_slice(&near.distances[range]);
        part.offsets.push(part.indices.len());
    }
    part
}

fn tell_of_copies(rows: usize, distinct: usize, ctx: &Ctx) {
    ctx.warn(
        WarningKind::InputAdjusted,
        format!(
            "copies leave some rows too few neighbours in other places; the map is made of the {distinct} distinct \
             rows of {rows}, and equal rows are put in the same place"
        ),
    );
}

fn tell_of_largest(pieces: &Components, ctx: &Ctx) {
    let rows = pieces.labels.len();
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the neighbourhood graph has {} connected components (sizes {}); the largest is kept and {} of {rows} \
             rows are dropped; raise `n_neighbors` or `radius` to keep them",
            pieces.count(),
            pieces.sizes_in_words(),
            rows - pieces.sizes[pieces.largest()]
        ),
    );
}

fn tell_of_pieces(pieces: &Components, ctx: &Ctx) {
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the neighbourhood graph has {} connected components (the largest of {} rows); they are embedded one \
             by one and laid side by side: where they lie relative to one another has no meaning; raise \
             `n_neighbors` or `radius` if they belong together",
            pieces.count(),
            pieces.sizes.iter().max().unwrap_or(&0)
        ),
    );
}
