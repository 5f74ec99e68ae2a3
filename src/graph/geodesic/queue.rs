//! A 4-ary heap of (key, node) without decrease-key: stale entries stay until
//! they surface and their reader recognises them.
//!
//! Owns: the priority queue of the two label-correcting kernels. Four children
//! per entry halve the depth of a binary heap and share a cache line.

/// A node waiting to be settled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Distance at which it was queued.
    pub key: f64,
    /// Its position.
    pub node: u32,
}

/// The heap; reused from one run to the next.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
}

const ARITY: usize = 4;

impl Queue {
    /// Forget everything, keep the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Add an entry.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) {
        let mut hole = self.entries.len();
        self.entries.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.entries[parent].key <= entry.key {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    /// Remove an entry of the smallest key.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Entry> {
        let last = self.entries.pop()?;
        let Some(&top) = self.entries.first() else { return Some(last) };
        let count = self.entries.len();
        let mut hole = 0;
        loop {
            let first = ARITY * hole + 1;
            if first >= count {
                break;
            }
            let children = &self.entries[first..(first + ARITY).min(count)];
            let (mut smallest, mut key) = (0, children[0].key);
            for (child, entry) in children.iter().enumerate().skip(1) {
                if entry.key < key {
                    (smallest, key) = (child, entry.key);
                }
            }
            if key >= last.key {
                break;
            }
            self.entries[hole] = self.entries[first + smallest];
            hole = first + smallest;
        }
        self.entries[hole] = last;
        Some(top)
    }
}
