//! Which way to add up the repulsion is fastest now.
//!
//! Nanoseconds on one core, measured on maps of 1 797 and 10 000 digits in early and last
//! iterations; only their ratios count (`cargo bench --bench stages -- t-SNE` shows each way on
//! the machine at hand). The choice depends on the number of points and the size of the map,
//! never on a clock or the number of threads, so that a fit has the same bits everywhere.

use super::forces::{Forces, RepulsionMethod};
use super::grid::{corners, shape};

/// How to add it up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repulsion {
    /// All pairs.
    Pairs,
    /// Points nearby and cells far away.
    Tree,
    /// Nodes this far apart.
    Grid(f64),
}

/// Up to this many points all pairs are added up, in double precision.
pub const FEW: usize = 1024;
/// A pair, for each coordinate.
const PAIR: f64 = 0.1;
/// A point of a grid.
const GRID_POINT: f64 = 50.0;
/// A node of a grid, for each factor two of the number of nodes.
const NODE: f64 = 0.43;
/// A point of a tree; its walk at an angle of one, for each factor two of the number of points
/// beyond [`FEW`].
const TREE_POINT: f64 = 90.0;
const TREE_WALK: f64 = 21.0;
/// Distance of nodes, relative to the angle: errors are then alike.
const SPACING: f64 = 0.8;
/// Widest distance of nodes: beyond, a grid does not carry the kernel.
const WIDEST: f64 = 0.5;

/// Narrowest map for a grid: in a smaller one the slopes of the potential are lost in its single
/// precision.
const NARROWEST: f64 = 1.0;

/// The fastest way that the parameters allow.
pub fn choose(forces: &Forces<'_>, y: &[f64]) -> Repulsion {
    let (n, width, angle) = (forces.joint.len() as f64, forces.width, forces.angle);
    let few = forces.joint.len() <= FEW && forces.method == RepulsionMethod::Auto;
    let exact = forces.method == RepulsionMethod::Exact || angle == 0.0 || width > 3 || few;
    if exact {
        return Repulsion::Pairs;
    }
    let spacing = (SPACING * angle).min(WIDEST);
    let shape = if width <= 2 { suitable(corners(y, width), spacing) } else { None };
    let grid = shape.map(|[rows, columns]| {
        let nodes = (rows * columns) as f64;
        GRID_POINT * n + NODE * nodes * libm::log2(nodes)
    });
    let tree = n * (TREE_POINT + TREE_WALK * libm::log2((n / FEW as f64).max(1.0)) / angle);
    match forces.method {
        RepulsionMethod::BarnesHut => Repulsion::Tree,
        RepulsionMethod::Fft => shape.map_or(Repulsion::Tree, |_| Repulsion::Grid(spacing)),
        _ => {
            let pairs = (PAIR * width as f64 * n * n, Repulsion::Pairs);
            let grid = grid.map(|cost| (cost, Repulsion::Grid(spacing)));
            let ways = [Some(pairs), Some((tree, Repulsion::Tree)), grid];
            let fastest = ways.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
            fastest.map_or(Repulsion::Pairs, |(_, way)| way)
        }
    }
}

/// The shape of a grid, where a map is neither too small nor too large for one.
fn suitable(corners: [[f64; 2]; 2], spacing: f64) -> Option<[usize; 2]> {
    let [low, high] = corners;
    let wide = (0..2).any(|axis| high[axis] - low[axis] >= NARROWEST);
    shape(corners, spacing).filter(|_| wide)
}
