//! What every geodesic method shares: the connected neighbourhood graph of the
//! training rows, its shortest paths, and the way new rows enter it.
//!
//! Place: after [`Setting::connect`], before the geodesics become a kernel or
//! the distances to landmarks. A new point reaches training rows through its own
//! neighbours only, with training rows as intermediate nodes: the survey's (41).
//!
//! Conformal lengths (de Silva and Tenenbaum 2003): an edge is divided by
//! √(M(i)·M(j)), M being the mean distance of a row to its neighbours, so that
//! regions sampled densely and thinly count alike.

use std::sync::OnceLock;

use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

use super::Isolated;
use super::locate::{Locator, check_placeable};
use super::neighborhood::{Neighborhood, Setting};
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::geodesic::{PathMethod, Plan};
use crate::graph::{Graph, shortcuts, warn_of_shortcuts};
use crate::input::Data;
use crate::input::rows::as_indices;
use crate::input::{Points, Scale};
use crate::method::Attribute;
use crate::neighbors::{Algorithm, Hood, Index, Link, Neighbors};

/// A connected neighbourhood graph that new rows can be hung onto.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifold {
    graph: Graph,
    labels: Vec<usize>,
    kept: Option<Vec<u32>>,
    bridges: Array2<i64>,
    hood: Hood,
    locator: Locator,
    isolated: Isolated,
    /// M(i) of the rows of the graph, when lengths are conformal.
    spread: Option<Vec<f64>>,
    input_scale: Scale,
    /// What edges were multiplied by, beyond the scale of the points.
    path_scale: Scale,
    /// Both: what lengths in the graph are multiplied by, against the data's own.
    length_scale: Scale,
    order: Option<Vec<u32>>,
    twins: Vec<(u32, u32)>,
    /// Training rows far from all others, and where they are if they are points.
    set_aside: Vec<u32>,
    outliers: Option<Points>,
    /// Ends of suspicious edges, as rows of the data.
    shortcuts: Vec<[u32; 2]>,
    path_method: PathMethod,
    #[serde(skip)]
    plan: OnceLock<Plan>,
}

/// What a geodesic method may say beside which rows are neighbours.
#[derive(Debug, Clone, Copy)]
pub struct Paths {
    /// How shortest paths are found.
    pub method: PathMethod,
    /// Whether edges are measured against the spacing of their ends.
    pub conformal: bool,
    /// What happens to new rows without neighbours.
    pub isolated: Isolated,
}

/// New rows on their way to coordinates.
pub struct NewRows {
    /// How many there are.
    pub count: usize,
    /// (new row, row of the training data it coincides with).
    pub twins: Vec<(usize, usize)>,
    /// The other new rows.
    pub away: Vec<usize>,
    /// Neighbours of the rows in `away` among the rows of the graph, with the
    /// lengths of the edges to them.
    pub near: Neighbors,
}

impl Manifold {
    /// Connect the rows; paths are not yet planned.
    pub fn new(setting: &Setting, paths: Paths, data: Data<'_>, ctx: &Ctx) -> Result<Manifold> {
        let Neighborhood { connected, locator, input_scale, length_scale, twins, order, spread, set_aside } =
            setting.connect(data, ctx)?;
        let spread = paths.conformal.then(|| usable_spread(spread, &connected.graph));
        let (graph, length_scale) = match &spread {
            Some(spread) => (conformal(&connected.graph, spread, ctx)?, Scale::ONE),
            None => (connected.graph, length_scale),
        };
        // Powers of two: edges of about one, so that paths fit into any precision.
        let path_scale = Scale::to_unit(graph.weights().iter().fold(0.0, |most: f64, &edge| most.max(edge)));
        let graph = graph.reweighted(ctx, |_, _, length| path_scale.into(length))?;
        let hood = match setting.hood {
            Hood::Nearest(k) => Hood::Nearest(k.min(graph.len())),
            within => within,
        };
        let bridges: Vec<[u32; 2]> = connected.bridges.iter().map(|link| [link.from, link.to]).collect();
        Ok(Manifold {
            bridges: pairs(&bridges),
            graph,
            labels: connected.labels,
            kept: connected.kept,
            hood,
            locator,
            isolated: paths.isolated,
            spread,
            input_scale,
            path_scale,
            length_scale: length_scale.then(path_scale),
            order,
            twins,
            outliers: match data {
                Data::Points(points) if !set_aside.is_empty() => Some(points.select(&as_indices(&set_aside))),
                _ => None,
            },
            set_aside,
            shortcuts: Vec::new(),
            path_method: paths.method,
            plan: OnceLock::new(),
        })
    }

    /// This manifold with some rows of its graph alone, ascending. Paths are not
    /// planned, and shortcuts are not known.
    pub fn part(self, rows: &[u32], algorithm: Algorithm, ctx: &Ctx) -> Result<Manifold> {
        let data_rows: Vec<u32> = rows.iter().map(|&row| self.data_row(row) as u32).collect();
        let place = |row: u32| rows.binary_search(&row).ok().map(|at| at as u32);
        let locator = self.locator.part(rows, algorithm, ctx)?;
        Ok(Manifold {
            graph: self.graph.subgraph(rows, ctx)?,
            hood: match self.hood {
                Hood::Nearest(k) => Hood::Nearest(k.min(rows.len())),
                within => within,
            },
            order: locator.order(),
            locator,
            spread: self.spread.map(|spread| rows.iter().map(|&row| spread[row as usize]).collect()),
            twins: self.twins.iter().filter_map(|&(row, twin)| Some((place(row)?, place(twin)?))).collect(),
            kept: Some(data_rows),
            shortcuts: Vec::new(),
            plan: OnceLock::new(),
            ..self
        })
    }

    /// The connected graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Component of each row of the data before the policy acted.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Rows of the data that are in the graph, when some were left out.
    pub fn kept(&self) -> Option<&[u32]> {
        self.kept.as_deref()
    }

    /// Links that were added to join pieces, as rows of the data.
    pub fn bridges(&self) -> &Array2<i64> {
        &self.bridges
    }

    /// What lengths in the graph are multiplied by, against the data's own.
    pub fn length_scale(&self) -> Scale {
        self.length_scale
    }

    /// The lengths, as the graph's are, from some of its rows to others; `data` is what
    /// the manifold was made of. `None` where only edges are known, or lengths are
    /// conformal.
    pub fn lengths_between(
        &self,
        some: &[u32],
        others: &[u32],
        data: Data<'_>,
        ctx: &Ctx,
    ) -> Result<Option<Array2<f64>>> {
        let mut table = match (&self.locator, data) {
            _ if self.spread.is_some() => return Ok(None),
            (Locator::Points(index), _) => {
                let points = index.points().view();
                let part = points.select(&as_indices(others));
                let part = Index::build(part.view(), index.metric(), Algorithm::Brute, ctx)?;
                part.matrix(Some(points.select(&as_indices(some)).view()), ctx)?
            }
            (Locator::Distances { .. }, Data::Distances(matrix)) => {
                let place = |row: u32| self.data_row(row);
                Array2::from_shape_fn((some.len(), others.len()), |(i, j)| {
                    self.input_scale.into(matrix[[place(some[i]), place(others[j])]])
                })
            }
            _ => return Ok(None),
        };
        table.mapv_inplace(|length| self.path_scale.into(length));
        Ok(Some(table))
    }

    /// An order of the graph's rows in which near rows are near, if one is known.
    pub fn order(&self) -> Option<&[u32]> {
        self.order.as_deref()
    }

    /// The row of the data behind a row of the graph.
    pub fn data_row(&self, row: u32) -> usize {
        self.kept.as_ref().map_or(row as usize, |kept| kept[row as usize] as usize)
    }

    /// The row of the graph that a row of the data is, if it was kept.
    pub fn graph_row(&self, row: usize) -> Option<u32> {
        match &self.kept {
            None => u32::try_from(row).ok(),
            Some(kept) => {
                let row = u32::try_from(row).ok()?;
                kept.binary_search(&row).ok().map(|place| place as u32)
            }
        }
    }

    /// Choose the way to shortest paths from `n_sources` rows; later calls of
    /// [`Manifold::plan`] use it.
    pub fn make_plan(&mut self, n_sources: usize, ctx: &Ctx) -> Result<()> {
        let plan = Plan::new(&self.graph, self.path_method, n_sources, self.order.as_deref(), ctx)?;
        self.path_method = plan.method();
        self.plan = OnceLock::from(plan);
        Ok(())
    }

    /// Look for edges that jump between parts of the manifold, and tell of them.
    pub fn look_for_shortcuts(&mut self, ctx: &Ctx) -> Result<()> {
        let bridge = |ends: ArrayView1<'_, i64>| {
            let row = |end: i64| usize::try_from(end).ok().and_then(|end| self.graph_row(end));
            Some(Link { from: row(ends[0])?, to: row(ends[1])?, distance: 0.0 })
        };
        let told: Vec<Link> = self.bridges.outer_iter().filter_map(bridge).collect();
        let found = shortcuts(&self.graph, self.plan(ctx)?, &told, ctx)?;
        warn_of_shortcuts(&found, |row| self.data_row(row), |length| self.length_scale.back(length), ctx);
        self.shortcuts = found
            .iter()
            .map(|edge| [self.data_row(edge.from) as u32, self.data_row(edge.to) as u32])
            .collect();
        Ok(())
    }

    /// The way to shortest paths; made anew in a model that was read back.
    pub fn plan(&self, ctx: &Ctx) -> Result<&Plan> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let rows = self.graph.len();
        let plan = Plan::new(&self.graph, self.path_method, rows, self.order.as_deref(), ctx)?;
        Ok(self.plan.get_or_init(|| plan))
    }

    /// Coordinates of the rows of the graph as coordinates of the rows of the
    /// data: equal rows are given equal coordinates, and rows that the policy
    /// `largest` left out are NaN.
    pub fn as_data_rows(&self, mut placed: Array2<f64>) -> Array2<f64> {
        for &(row, twin) in &self.twins {
            let same = placed.row(twin as usize).to_owned();
            placed.row_mut(row as usize).assign(&same);
        }
        let Some(kept) = &self.kept else { return placed };
        let mut all = Array2::from_elem((self.labels.len(), placed.ncols()), f64::NAN);
        for (coordinates, &row) in placed.outer_iter().zip(kept) {
            all.row_mut(row as usize).assign(&coordinates);
        }
        all
    }

    /// Coordinates for the outliers of the training data, by the way new rows go.
    pub fn place_set_aside(
        &self,
        embedding: &mut Array2<f64>,
        data: Data<'_>,
        place: impl FnOnce(NewRows) -> Result<Array2<f64>>,
        ctx: &Ctx,
    ) -> Result<()> {
        if self.set_aside.is_empty() {
            return Ok(());
        }
        let part = data.select(&self.set_aside)?;
        let found = self.locator.find(part.view(), self.hood, true, self.input_scale, ctx)?;
        let placed = place(self.sorted(&found, &vec![None; self.set_aside.len()])?)?;
        for (coordinates, &row) in placed.outer_iter().zip(&self.set_aside) {
            embedding.row_mut(row as usize).assign(&coordinates);
        }
        Ok(())
    }

    /// Where new rows hang on the graph. A row without neighbours has no place.
    pub fn find(&self, data: Data<'_>, ctx: &Ctx) -> Result<NewRows> {
        let attach = self.isolated == Isolated::Nearest;
        let found = self.locator.find(data, self.hood, attach, self.input_scale, ctx)?;
        self.sorted(&found, &self.known_outliers(data))
    }

    /// For each new row the outlier of the training data that it is, if it is one.
    fn known_outliers(&self, data: Data<'_>) -> Vec<Option<u32>> {
        let rows = data.rows();
        let find = |is: &dyn Fn(usize, usize) -> bool| -> Vec<Option<u32>> {
            let outlier = |row| (0..self.set_aside.len()).find(|&place| is(row, place));
            (0..rows).map(|row| outlier(row).map(|place| self.set_aside[place])).collect()
        };
        match (data, &self.outliers) {
            (Data::Points(new), Some(known)) => find(&|row, place| new.row_equals(row, known.view(), place)),
            (Data::Distances(matrix), _) => find(&|row, place| {
                matrix.get([row, self.set_aside[place] as usize]).is_some_and(|&distance| distance == 0.0)
            }),
            _ => vec![None; rows],
        }
    }

    /// New rows by what is to be done with them: those that coincide with a
    /// training row (an outlier that is `known`, or one of the graph) and others.
    fn sorted(&self, found: &Neighbors, known: &[Option<u32>]) -> Result<NewRows> {
        let mut rows = NewRows {
            count: known.len(),
            twins: Vec::new(),
            away: Vec::new(),
            near: Neighbors { offsets: vec![0], indices: vec![], distances: vec![] },
        };
        for (row, bounds) in found.offsets.windows(2).enumerate() {
            let range = bounds[0]..bounds[1];
            if let Some(twin) = known[row] {
                rows.twins.push((row, twin as usize));
                continue;
            }
            check_placeable(row, &found.distances[range.clone()], self.isolated)?;
            if found.distances[range.start] == 0.0 {
                rows.twins.push((row, self.data_row(found.indices[range.start])));
                continue;
            }
            rows.away.push(row);
            rows.near.indices.extend_from_slice(&found.indices[range.clone()]);
            rows.near.distances.extend_from_slice(&found.distances[range]);
            rows.near.offsets.push(rows.near.indices.len());
        }
        if let Some(spread) = &self.spread {
            make_conformal(&mut rows.near, spread);
        }
        let scale = self.path_scale;
        rows.near.distances.iter_mut().for_each(|length| *length = scale.into(*length));
        Ok(rows)
    }

    /// The graph in the data's units, with an empty row for each row left out.
    fn graph_of_data(&self) -> Result<Graph> {
        let graph = self.graph.rescaled(|length| self.length_scale.back(length).min(f64::MAX))?;
        match &self.kept {
            None => Ok(graph),
            Some(kept) => graph.spread_over(kept, self.labels.len()),
        }
    }

    /// What a user may ask of the graph.
    pub fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let pieces = self.labels.iter().max().map_or(0, |last| last + 1);
        vec![
            ("graph", Attribute::Graph(self.graph_of_data().unwrap_or_else(|_| self.graph.clone()))),
            ("component_labels", Attribute::indices(&self.labels)),
            ("n_connected_components", Attribute::Int(pieces as i64)),
            ("bridges", Attribute::IndexMatrix(self.bridges.clone())),
            ("outliers", Attribute::Indices(self.set_aside.iter().map(|&row| i64::from(row)).collect())),
            ("shortcuts", Attribute::IndexMatrix(pairs(&self.shortcuts))),
            ("path_method", Attribute::Str(self.path_method.name().to_string())),
        ]
    }
}

fn pairs(rows: &[[u32; 2]]) -> Array2<i64> {
    Array2::from_shape_fn((rows.len(), 2), |(pair, end)| i64::from(rows[pair][end]))
}

/// M(i) above zero for every row: where all neighbours coincide with the row,
/// its longer edges count, and where there are none it does not matter.
fn usable_spread(mut spread: Vec<f64>, graph: &Graph) -> Vec<f64> {
    for (row, mean) in spread.iter_mut().enumerate() {
        if *mean > 0.0 {
            continue;
        }
        let positive: Vec<f64> = graph.row(row).1.iter().copied().filter(|&weight| weight > 0.0).collect();
        *mean = if positive.is_empty() { 1.0 } else { positive.iter().sum::<f64>() / positive.len() as f64 };
    }
    spread
}

/// The graph with every edge divided by the geometric mean of its ends' spread.
fn conformal(graph: &Graph, spread: &[f64], ctx: &Ctx) -> Result<Graph> {
    graph.reweighted(ctx, |i, j, weight| weight / (spread[i] * spread[j]).sqrt())
}

/// The same for the edges of new rows, their own spread being that of the lists.
fn make_conformal(near: &mut Neighbors, spread: &[f64]) {
    for bounds in near.offsets.windows(2) {
        let range = bounds[0]..bounds[1];
        let own = near.distances[range.clone()].iter().sum::<f64>() / range.len().max(1) as f64;
        for at in range {
            near.distances[at] /= (own * spread[near.indices[at] as usize]).sqrt();
        }
    }
}
