//! The first half of every local method: from data to neighbour lists in pieces.
//!
//! Place: before the blocks of `kernel::local`. Local methods need the geometry
//! inside a neighbourhood, so that a graph alone will not do. Copies have none
//! between them, and a map may pull them apart: where there are any, the map is made
//! of the distinct rows and copies are put where the first is.
//! Cost: a neighbour search, and two more with a sort of the rows if there are
//! copies.

use ndarray::Array2;

use super::local_search::{Held, Searched, given_lists};
use super::locate::Locator;
use super::neighborhood::{Setting, scaled_hood};
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::graph::{Components, Graph, Policy, components};
use crate::input::Data;
use crate::input::check;
use crate::input::check::unfit;
use crate::input::scale::{Scale, scale_of_matrix, scale_of_points};
use crate::neighbors::ignores_scale;
use crate::neighbors::{Hood, Neighbors};

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

/// What the method needs of its neighbourhoods.
struct Needs<'a> {
    /// Neighbours in other places.
    least: usize,
    /// Bytes of a fit with so many neighbours of each row.
    bytes: &'a dyn Fn(usize) -> u64,
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
        let Distinct { hood, mut searched, mut near, mut rows, mut places } =
            Distinct::search(setting, held, scales.1, needs, ctx)?;
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
            warn_of_largest(&of_data, ctx);
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
            warn_of_components(&of_data, ctx);
        }
        let (locator, matrix, order) = located(searched, held, rows.as_deref(), places.as_deref());
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

/// Neighbours among the distinct rows.
struct Distinct {
    hood: Hood,
    searched: Searched,
    near: Neighbors,
    /// First row of each group of duplicates; `None` when all rows are distinct.
    rows: Option<Vec<u32>>,
    /// Distinct row of each row of the data; `None` as in `rows`.
    places: Option<Vec<Option<u32>>>,
}

impl Distinct {
    /// Search, and where there are duplicates search again among the distinct rows.
    fn search(
        setting: &Setting,
        held: &Held<'_>,
        scale: Scale,
        needs: &Needs<'_>,
        ctx: &Ctx,
    ) -> Result<Distinct> {
        let all = held.rows();
        let mut hood = setting.hood;
        let mut searched = held.index(setting, None, ctx)?;
        if !matches!(held, Held::Listed(..)) {
            searched.reserve(all, scaled_hood(hood, scale), needs.bytes, ctx)?;
        }
        let mut near = held.search(&searched, scaled_hood(hood, scale), None, ctx)?;
        let mut rows: Option<Vec<u32>> = None;
        let mut places: Option<Vec<Option<u32>>> = None;
        // Lists that are searched have copies in them wherever there are any.
        let suspected = matches!(held, Held::Listed(..)) || near.distances.contains(&0.0);
        if suspected && let Some((firsts, place_of)) = held.distinct(ctx)? {
            if crowded(&near, &place_of, needs.least) {
                warn_of_duplicates(all, firsts.len(), ctx);
            }
            hood = match hood {
                Hood::Nearest(k) => Hood::Nearest(k.min(firsts.len().saturating_sub(1)).max(1)),
                within => within,
            };
            searched = held.index(setting, Some(&firsts), ctx)?;
            near = held.search(&searched, scaled_hood(hood, scale), Some((&firsts, &place_of)), ctx)?;
            rows = Some(firsts);
            places = Some(place_of.into_iter().map(Some).collect());
        }
        Ok(Distinct { hood, searched, near, rows, places })
    }
}

type Located = (Locator, Option<Array2<f64>>, Option<Vec<u32>>);

/// How new rows find their neighbours, the distances where the data was distances, and
/// an order in which near rows are near.
fn located(
    searched: Searched,
    held: &Held<'_>,
    rows: Option<&[u32]>,
    places: Option<&[Option<u32>]>,
) -> Located {
    let all = held.rows();
    match searched {
        Searched::Index(index) => {
            let order = index.order();
            let locator = match held {
                Held::Listed(_, _, None) => {
                    Locator::Lists { index, rows: all, columns: places.map(<[Option<u32>]>::to_vec) }
                }
                _ => Locator::Points(index),
            };
            (locator, None, Some(order))
        }
        Searched::Matrix(matrix) => {
            (Locator::Distances { rows: all, columns: rows.map(<[u32]>::to_vec) }, Some(matrix), None)
        }
    }
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

/// Copies leave some rows too few neighbours.
fn warn_of_duplicates(rows: usize, distinct: usize, ctx: &Ctx) {
    ctx.warn(
        WarningKind::InputAdjusted,
        format!(
            "copies leave some rows too few neighbours in other places; the map is made of the {distinct} distinct \
             rows of {rows}, and equal rows are put in the same place"
        ),
    );
}

/// All but the largest piece are dropped.
fn warn_of_largest(pieces: &Components, ctx: &Ctx) {
    let rows = pieces.labels.len();
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the number of connected components of the neighbourhood graph is {} (sizes {}); \
             the largest is kept and {} of {rows} \
             rows are dropped; raise `n_neighbors` or `radius` to keep them",
            pieces.count(),
            pieces.sizes_in_words(),
            rows - pieces.sizes[pieces.largest()]
        ),
    );
}

/// Pieces are embedded one by one.
fn warn_of_components(pieces: &Components, ctx: &Ctx) {
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the number of connected components of the neighbourhood graph is {} (the largest of {} rows); \
             they are embedded one \
             by one and laid side by side: where they lie relative to one another has no meaning; raise \
             `n_neighbors` or `radius` if they belong together",
            pieces.count(),
            pieces.sizes.iter().max().unwrap_or(&0)
        ),
    );
}
