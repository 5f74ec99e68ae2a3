//! Which way to add up the repulsion is fastest now.
//!
//! Nanoseconds on one core, measured on maps of 1 800 to 60 000 points between their first and
//! their last iteration (`cargo bench --bench stages -- repulsion`); only their ratios count.
//! The choice depends on the number of points and the size of the map, never on a clock or the
//! number of threads, so that a fit has the same bits everywhere.

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

/// A pair, for each coordinate.
const PAIR: f64 = 0.07;
/// A point of a grid.
const GRID_POINT: f64 = 50.0;
/// A node of a grid, for each factor two of the number of nodes.
const NODE: f64 = 0.42;
/// A point of a tree; its walk at an angle of one, in the plane, for each factor two of the
/// number of points.
const TREE_POINT: f64 = 70.0;
const TREE_WALK: f64 = 3.6;
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
    let exact = forces.method == RepulsionMethod::Exact || angle == 0.0 || width > 3;
    if exact {
        return Repulsion::Pairs;
    }
    let spacing = (SPACING * angle).min(WIDEST);
    let shape = if width <= 2 { suitable(corners(y, width), spacing) } else { None };
    let grid = shape.map(|[rows, columns]| {
        let nodes = (rows * columns) as f64;
        GRID_POINT * n + NODE * nodes * libm::log2(nodes)
    });
    let tree = n * (TREE_POINT + TREE_WALK * libm::log2(n) / libm::pow(angle, width as f64 * 0.5));
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
