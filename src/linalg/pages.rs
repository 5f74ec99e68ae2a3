//! Zeroed memory for large arrays, in large pages where the system has them.
//!
//! Owns: asking the system for it. Place: under [`super::packed`]. What is written first
//! comes into memory page by page; with pages of 4 kB that is a sixth of a fit of Isomap.
//! The C library asks for large pages for no one, so the array is mapped on its own.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use memmap2::MmapMut;

/// A fixed number of `T`, all bits zero at first.
pub struct Pages<T> {
    map: MmapMut,
    bytes: usize,
    numbers: PhantomData<T>,
}

impl<T: Pod> Pages<T> {
    /// Memory for `len` of them; `None` where the system has none to give.
    pub fn zeroed(len: usize) -> Option<Pages<T>> {
        let bytes = len.checked_mul(size_of::<T>())?;
        // No mapping is empty.
        let map = MmapMut::map_anon(bytes.max(1)).ok()?;
        // A system without large pages says so, which changes nothing.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Pages { map, bytes, numbers: PhantomData })
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        cast_slice(&self.map[..self.bytes])
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.map[..self.bytes])
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pages({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_and_hold_what_is_written() {
        for len in [0, 1, 7, 300_000] {
            let mut pages = Pages::<[f64; 2]>::zeroed(len).unwrap();
            assert_eq!(pages.len(), len);
            assert!(pages.iter().all(|pair| *pair == [0.0; 2]));
            for (at, pair) in pages.iter_mut().enumerate() {
                *pair = [at as f64, 1.0];
            }
            assert!(pages.iter().enumerate().all(|(at, pair)| *pair == [at as f64, 1.0]));
        }
    }

    #[test]
    fn more_than_there_can_be_is_none() {
        assert!(Pages::<u64>::zeroed(usize::MAX / 4).is_none());
        assert!(Pages::<u64>::zeroed(usize::MAX / 16).is_none());
    }
}
