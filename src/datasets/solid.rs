//! Grey images of a solid that turns: one circle of views in as many dimensions as there
//! are pixels.
//!
//! Place: a maker of [`Dataset`]. The solid is a jug of ellipsoids and boxes, without any
//! symmetry, so that no two views are alike. Rays are parallel; each meets a convex solid
//! where a quadratic equation or six planes say; surfaces are matt (Lambert's cosine law).
//! A pixel is the mean of 16 rays, so that images change smoothly with the angle.
//! Cost: 16 rays per pixel and solid.

use std::f64::consts::TAU;

use rayon::prelude::*;

use super::{Dataset, Geometry, add_noise, at_least, blank, check_size};
use crate::context::Ctx;
use crate::error::{Error, Result};

/// Rays along each side of a pixel.
const RAYS: usize = 4;
/// Half the width of the picture.
const VIEW: f64 = 1.05;
/// How far the camera looks down, in radians.
const TILT: f64 = 0.35;
/// Grey of a surface that no light falls on, as a share of a fully lit one.
const SHADE: f64 = 0.2;

type Vector = [f64; 3];

/// A convex body around a centre.
struct Solid {
    round: bool,
    center: Vector,
    /// Half its extent along each axis.
    half: Vector,
    /// Grey when fully lit.
    grey: f64,
}

/// The jug: body, neck, handle, spout, foot.
const JUG: [Solid; 5] = [
    Solid { round: true, center: [0.0, 0.0, -0.1], half: [0.55, 0.5, 0.5], grey: 0.8 },
    Solid { round: false, center: [0.0, 0.0, 0.45], half: [0.22, 0.2, 0.25], grey: 0.9 },
    Solid { round: false, center: [0.68, 0.1, 0.05], half: [0.2, 0.08, 0.25], grey: 0.55 },
    Solid { round: true, center: [-0.55, 0.3, 0.25], half: [0.3, 0.14, 0.14], grey: 1.0 },
    Solid { round: false, center: [0.05, -0.05, -0.62], half: [0.4, 0.3, 0.12], grey: 0.65 },
];

/// Views of a jug on a turntable, equal angles apart, one image of `size` × `size` grey
/// values in 0..1 per row. The coordinate is the angle, and the distance of two views the
/// angle between them.
///
/// # Errors
/// As [`super::swiss_roll`], and an image without pixels.
pub fn rotating_object(views: usize, size: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    at_least("views", views, 1)?;
    at_least("size", size, 1)?;
    let pixels =
        size.checked_mul(size).ok_or_else(|| Error::param("size", format!("{size} is too large")))?;
    check_size(views, pixels, noise, ctx)?;
    let mut made = blank(views, pixels, 1, Geometry::Periodic(TAU));
    for (view, angle) in made.color.iter_mut().enumerate() {
        *angle = TAU * view as f64 / views as f64;
    }
    made.coordinates.column_mut(0).assign(&made.color);
    ctx.stage("images", views);
    ctx.answer(|| {
        let mut images: Vec<_> = made.points.rows_mut().into_iter().zip(&made.color).collect();
        images.par_iter_mut().try_for_each(|(image, angle)| {
            ctx.check()?;
            let camera = Camera::new(**angle);
            image.iter_mut().enumerate().for_each(|(pixel, grey)| {
                *grey = camera.pixel(pixel / size, pixel % size, size);
            });
            ctx.advance(1);
            Ok(())
        })
    })?;
    add_noise(&mut made.points, "rotating_object", noise, ctx)?;
    Ok(made)
}

/// Where rays come from, in the coordinates of the solid.
struct Camera {
    right: Vector,
    up: Vector,
    forward: Vector,
    light: Vector,
}

impl Camera {
    /// The camera of a solid that was turned by an angle: it goes round the other way, and
    /// the light with it.
    fn new(angle: f64) -> Camera {
        let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
        let turned = |v: Vector| [cosine * v[0] + sine * v[1], cosine * v[1] - sine * v[0], v[2]];
        let (down, level) = (libm::sin(TILT), libm::cos(TILT));
        Camera {
            right: turned([1.0, 0.0, 0.0]),
            up: turned([0.0, down, level]),
            forward: turned([0.0, level, -down]),
            // From above, over the viewer's left shoulder; its length is one.
            light: turned([-0.48, -0.6, 0.64]),
        }
    }

    /// Mean grey of the rays through a pixel.
    fn pixel(&self, row: usize, column: usize, size: usize) -> f64 {
        let place = |pixel: usize, ray: usize| {
            VIEW * (2.0 * (pixel as f64 + (ray as f64 + 0.5) / RAYS as f64) / size as f64 - 1.0)
        };
        let mut sum = 0.0;
        for ray in 0..RAYS * RAYS {
            sum += self.ray(place(column, ray % RAYS), -place(row, ray / RAYS));
        }
        sum / (RAYS * RAYS) as f64
    }

    /// Grey of what a ray meets first; nothing is black.
    fn ray(&self, x: f64, y: f64) -> f64 {
        let from: Vector =
            std::array::from_fn(|i| x * self.right[i] + y * self.up[i] - 4.0 * self.forward[i]);
        let mut nearest = (f64::INFINITY, 0.0);
        for solid in &JUG {
            if let Some((distance, normal)) = solid.meet(from, self.forward)
                && distance < nearest.0
            {
                let lit = dot(normal, self.light).max(0.0);
                nearest = (distance, solid.grey * (SHADE + (1.0 - SHADE) * lit));
            }
        }
        nearest.1
    }
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Solid {
    /// How far along the ray the solid begins, and its outer normal there.
    fn meet(&self, from: Vector, along: Vector) -> Option<(f64, Vector)> {
        // In units in which the solid is the unit sphere or the cube of half-width one.
        let start: Vector = std::array::from_fn(|i| (from[i] - self.center[i]) / self.half[i]);
        let step: Vector = std::array::from_fn(|i| along[i] / self.half[i]);
        if self.round { self.meet_ball(start, step) } else { meet_box(start, step) }
    }

    fn meet_ball(&self, start: Vector, step: Vector) -> Option<(f64, Vector)> {
        let (a, b, c) = (dot(step, step), dot(start, step), dot(start, start) - 1.0);
        let root = b * b - a * c;
        if root < 0.0 {
            return None;
        }
        let distance = (-b - root.sqrt()) / a;
        let outward: Vector = std::array::from_fn(|i| (start[i] + distance * step[i]) / self.half[i]);
        let length = dot(outward, outward).sqrt();
        Some((distance, outward.map(|part| part / length)))
    }
}

fn meet_box(start: Vector, step: Vector) -> Option<(f64, Vector)> {
    let (mut enter, mut leave, mut side) = (f64::NEG_INFINITY, f64::INFINITY, 0);
    for axis in 0..3 {
        if step[axis] == 0.0 {
            if start[axis].abs() > 1.0 {
                return None;
            }
            continue;
        }
        let (t, u) = ((-1.0 - start[axis]) / step[axis], (1.0 - start[axis]) / step[axis]);
        if t.min(u) > enter {
            (enter, side) = (t.min(u), axis);
        }
        leave = leave.min(t.max(u));
    }
    let normal = std::array::from_fn(|axis| if axis == side { -step[axis].signum() } else { 0.0 });
    (enter < leave).then_some((enter, normal))
}
