//! One connected component of the neighbourhood graph as the local fits see it.
//!
//! Place: between [`LocalNeighborhoods`] and the blocks of this folder; a component is
//! embedded on its own. Cost: its neighbour lists, renumbered.

use ndarray::Array2;

use super::assemble::{Blocks, assemble};
use super::{Source, Variant, blocks_and_spans, principal};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::LocalNeighborhoods;
use crate::input::rows::as_indices;
use crate::linalg::SparseSymmetric;
use crate::neighbors::{NeighborRule, Neighbors};

/// The rows of one component and their neighbours.
pub struct LocalComponent<'a> {
    neighborhoods: &'a LocalNeighborhoods,
    /// Rows in use, near rows near one another where an order is known.
    pub rows: Vec<u32>,
    /// Their neighbours, numbered inside the component.
    near: Neighbors,
}

impl<'a> LocalComponent<'a> {
    /// All components.
    pub fn all(neighborhoods: &'a LocalNeighborhoods) -> Vec<LocalComponent<'a>> {
        let components = &neighborhoods.components;
        let mut members: Vec<Vec<u32>> =
            components.sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
        let mut put = |row: u32| members[components.labels[row as usize]].push(row);
        match neighborhoods.graph.order() {
            Some(order) => order.iter().for_each(|&row| put(row)),
            None => (0..neighborhoods.graph.len() as u32).for_each(&mut put),
        }
        let mut inner = vec![None; neighborhoods.graph.len()];
        for rows in &members {
            rows.iter().enumerate().for_each(|(at, &row)| inner[row as usize] = Some(at as u32));
        }
        let component = |rows: Vec<u32>| {
            let near = neighborhoods.near.select(&rows).renumbered(&inner);
            LocalComponent { neighborhoods, rows, near }
        };
        members.into_iter().map(component).collect()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The block of every row, and how many rows have neighbourhoods that span 0, 1, …
    /// directions.
    pub fn local_fits(&self, variant: Variant, ctx: &Ctx) -> Result<(Blocks, Vec<usize>)> {
        self.check_neighbors(variant.least_neighbors())?;
        self.with_source(|source| blocks_and_spans(source, &self.near, variant, ctx))
    }

    /// The sum of the blocks.
    pub fn alignment(&self, blocks: &Blocks, ctx: &Ctx) -> Result<SparseSymmetric> {
        ctx.reserve(self.alignment_bytes(), "the sum of the local fits", "use fewer neighbours or rows")?;
        assemble(self.len(), blocks, ctx)
    }

    /// Coordinates along the leading directions of the component as one neighbourhood.
    pub fn principal(&self, components: usize) -> Result<Array2<f64>> {
        let rows = &self.rows;
        // Points have no need of distances.
        let matrix = self.neighborhoods.matrix.as_ref();
        let distance =
            |row: u32| matrix.map_or(0.0, |matrix| matrix[[rows[0] as usize, rows[row as usize] as usize]]);
        let mut whole = Neighbors::empty();
        whole.push_row((0..rows.len() as u32).map(|row| (row, distance(row))));
        self.with_source(|source| principal(source, &whole, components))
    }

    /// Run `work` with the rows, as points or as distances.
    fn with_source<T>(&self, work: impl FnOnce(Source<'_>) -> Result<T>) -> Result<T> {
        let LocalNeighborhoods { graph, matrix, .. } = self.neighborhoods;
        match (graph.locator().points(), matrix) {
            (Some(points), _) => {
                let part = points.select(&as_indices(&self.rows));
                work(Source::Points { centers: part.view(), rows: part.view() })
            }
            (_, Some(matrix)) => work(Source::Distances { matrix: matrix.view(), rows: Some(&self.rows) }),
            _ => Err(Error::Unsupported("a local method needs points or distances".into())),
        }
    }

    /// Refuse a row with fewer neighbours than the method needs.
    fn check_neighbors(&self, least: usize) -> Result<()> {
        let Some(row) = (0..self.len()).find(|&row| self.near.range(row).len() < least) else {
            return Ok(());
        };
        let graph = &self.neighborhoods.graph;
        let parameter = match graph.rule() {
            _ if self.neighborhoods.given => "neighbors",
            NeighborRule::Within(_) => "radius",
            NeighborRule::Nearest(_) => "n_neighbors",
        };
        let why = format!(
            "row {} has {} neighbour(s), the method needs at least {least}; raise it, or ask for fewer components",
            graph.rows().data_row(self.rows[row]),
            self.near.range(row).len()
        );
        Err(Error::param(parameter, why))
    }

    /// Bytes of the sum of the blocks while it is made, twice its entries, judged by
    /// some of the rows: a row meets all in whose lists it is, and all in their lists.
    fn alignment_bytes(&self) -> u64 {
        const SAMPLE: usize = 128;
        let LocalNeighborhoods { graph, near, .. } = self.neighborhoods;
        let step = self.len().div_ceil(SAMPLE).max(1);
        let (mut met, mut entries, mut sampled) = (Vec::new(), 0, 0);
        for &row in self.rows.iter().step_by(step) {
            met.clear();
            for &other in graph.lengths().row(row as usize).0.iter().chain([&row]) {
                met.push(other);
                met.extend_from_slice(near.row(other as usize).0);
            }
            met.sort_unstable();
            met.dedup();
            entries += met.len() as u64;
            sampled += 1;
        }
        2 * 12 * entries * self.len() as u64 / sampled.max(1)
    }
}
