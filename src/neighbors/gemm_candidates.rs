//! Which of sixteen estimates are candidates: the innermost loop of `gemm`.
//!
//! Place in the dataflow: every estimate of a tile passes here once, in both
//! directions, and nearly all of them end here. The flags are bytes because
//! that is what vector comparisons pack into. Cost: about half a nanosecond
//! per estimate.

use super::gemm_bounds::Real;

/// Estimates looked at together.
pub(super) const RUN: usize = 16;

/// Some estimates and what the two sides ask of them.
pub(super) struct Run<'a, T> {
    pub dots: &'a [T],
    pub base: T,
    pub bases: &'a [T],
}

impl<T: Real> Run<'_, T> {
    /// Candidates for the row: a byte of 1 for each column whose lower bound
    /// does not exceed `room`.
    #[inline(always)]
    pub fn for_row(&self, room: T) -> u128 {
        let (Some(dots), Some(bases)) = (self.dots.first_chunk(), self.bases.first_chunk()) else {
            return flags_of_rest(self.dots.len());
        };
        let (dots, bases): (&[T; RUN], &[T; RUN]) = (dots, bases);
        let mut flags = [0u8; RUN];
        for lane in 0..RUN {
            flags[lane] = u8::from(!(bases[lane] - (dots[lane] + dots[lane]) > room));
        }
        u128::from_le_bytes(flags)
    }

    /// Columns for which the row is a candidate.
    #[inline(always)]
    pub fn for_columns(&self, rooms: &[T]) -> u128 {
        let (Some(dots), Some(rooms)) = (self.dots.first_chunk(), rooms.first_chunk()) else {
            return flags_of_rest(self.dots.len());
        };
        let (dots, rooms): (&[T; RUN], &[T; RUN]) = (dots, rooms);
        let mut flags = [0u8; RUN];
        for lane in 0..RUN {
            flags[lane] = u8::from(!(self.base - (dots[lane] + dots[lane]) > rooms[lane]));
        }
        u128::from_le_bytes(flags)
    }
}

/// All of a run that is not whole: `offer` looks again.
fn flags_of_rest(count: usize) -> u128 {
    (1u128 << (8 * count)) - 1
}

/// Call `visit` with the lane of every byte that is not 0.
#[inline(always)]
pub(super) fn each_flag(mut flags: u128, mut visit: impl FnMut(usize)) {
    while flags != 0 {
        let lane = flags.trailing_zeros() as usize / 8;
        flags &= !(0xffu128 << (8 * lane));
        visit(lane);
    }
}
