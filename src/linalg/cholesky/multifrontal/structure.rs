//! Supernodes and their rows: everything about a factor that does not depend on
//! numbers. Cost: O(entries of the matrix + rows of all supernodes).

use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::cholesky::elimination::{Elimination, Pattern, ROOT};

/// Branches of the tree with less than this part of the work are one task.
const TASKS: f64 = 32.0;
/// Branches of a group, to keep all threads busy.
const LEAST_GROUP: usize = 256;

/// The supernodes of an elimination order, ascending: children before parents.
#[derive(Debug)]
pub(crate) struct Structure {
    /// Step → row of the matrix, and back.
    pub sequence: Vec<u32>,
    pub step: Vec<u32>,
    /// Supernode s has the steps `begins[s]..begins[s + 1]`.
    pub begins: Vec<usize>,
    /// Steps below those, ascending: `rows[row_begins[s]..row_begins[s + 1]]`.
    pub row_begins: Vec<usize>,
    pub rows: Vec<u32>,
    /// Supernode of the first of those rows; [`ROOT`] if there are none.
    pub parent: Vec<u32>,
    /// Where the panel of a supernode begins: (c + r) rows of c numbers.
    pub value_begins: Vec<usize>,
    /// Supernodes `first..=root` that one task factors or solves, ascending.
    pub branches: Vec<(usize, usize)>,
    /// Supernodes above all branches, by height: those of a level are independent.
    pub levels: Vec<Vec<usize>>,
}

impl Structure {
    /// The supernodes of `elimination`, an order of the rows of `pattern`.
    pub fn new(pattern: Pattern<'_>, elimination: Elimination, ctx: &Ctx) -> Result<Structure> {
        let begins = relaxed(&elimination);
        let count = begins.len() - 1;
        let Elimination { sequence, step, .. } = elimination;
        let mut of_step = vec![0u32; sequence.len()];
        for index in 0..count {
            of_step[begins[index]..begins[index + 1]].fill(index as u32);
        }
        let mut first_child = vec![ROOT; count];
        let mut next_sibling = vec![ROOT; count];
        let mut seen = vec![ROOT; sequence.len()];
        let (mut row_begins, mut rows) = (vec![0], Vec::<u32>::new());
        let mut parent = vec![ROOT; count];
        let mut value_begins = vec![0];
        for index in 0..count {
            if index % 1024 == 0 {
                ctx.check()?;
            }
            let (first, end) = (begins[index], begins[index + 1]);
            let start = rows.len();
            let mut note = |row: u32, rows: &mut Vec<u32>| {
                if row as usize >= end && seen[row as usize] != index as u32 {
                    seen[row as usize] = index as u32;
                    rows.push(row);
                }
            };
            for &node in &sequence[first..end] {
                pattern.row(node as usize).iter().for_each(|&target| note(step[target as usize], &mut rows));
            }
            let mut child = first_child[index];
            while child != ROOT {
                for at in row_begins[child as usize]..row_begins[child as usize + 1] {
                    note(rows[at], &mut rows);
                }
                child = next_sibling[child as usize];
            }
            rows[start..].sort_unstable();
            if let Some(&above) = rows[start..].first() {
                let above = of_step[above as usize];
                parent[index] = above;
                next_sibling[index] = first_child[above as usize];
                first_child[above as usize] = index as u32;
            }
            row_begins.push(rows.len());
            let (c, r) = (end - first, rows.len() - start);
            value_begins.push(value_begins[index] + (c + r) * c);
        }
        let mut structure = Structure {
            sequence,
            step,
            begins,
            row_begins,
            rows,
            parent,
            value_begins,
            branches: Vec::new(),
            levels: Vec::new(),
        };
        structure.share_out();
        Ok(structure)
    }

    /// Number of supernodes.
    pub fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Steps of a supernode.
    pub fn steps(&self, index: usize) -> std::ops::Range<usize> {
        self.begins[index]..self.begins[index + 1]
    }

    /// Rows below a supernode.
    pub fn rows_of(&self, index: usize) -> &[u32] {
        &self.rows[self.row_begins[index]..self.row_begins[index + 1]]
    }

    /// Numbers in the factor.
    pub fn fill(&self) -> usize {
        self.value_begins[self.len()]
    }

    /// The branches, in groups that are done one after the other where what all of them
    /// leave over would take more room than the factor; mostly one group.
    pub fn groups(&self) -> Vec<&[(usize, usize)]> {
        let (mut groups, mut begin, mut numbers) = (Vec::new(), 0, 0);
        for (at, &(_, root)) in self.branches.iter().enumerate() {
            numbers += self.rows_of(root).len().pow(2);
            if numbers > self.fill() && at - begin >= LEAST_GROUP {
                groups.push(&self.branches[begin..at]);
                (begin, numbers) = (at, self.rows_of(root).len().pow(2));
            }
        }
        groups.push(&self.branches[begin..]);
        groups
    }

    /// Cut the tree into branches of limited work and the levels above them. The
    /// cut does not depend on the number of threads.
    fn share_out(&mut self) {
        let count = self.len();
        let mut work: Vec<f64> = (0..count)
            .map(|index| {
                let (c, r) = (self.steps(index).len() as f64, self.rows_of(index).len() as f64);
                c * (c + r) * (c + r)
            })
            .collect();
        let limit = work.iter().sum::<f64>() / TASKS;
        let mut first: Vec<usize> = (0..count).collect();
        for index in 0..count {
            if self.parent[index] != ROOT {
                let above = self.parent[index] as usize;
                work[above] += work[index];
                first[above] = first[above].min(first[index]);
            }
        }
        let mut height = vec![0usize; count];
        for index in 0..count {
            let above = self.parent[index];
            let small = work[index] <= limit;
            if small && (above == ROOT || work[above as usize] > limit) {
                self.branches.push((first[index], index));
            }
            if !small {
                if self.levels.len() <= height[index] {
                    self.levels.push(Vec::new());
                }
                self.levels[height[index]].push(index);
                if above != ROOT {
                    height[above as usize] = height[above as usize].max(height[index] + 1);
                }
            }
        }
    }
}

/// A supernode while neighbours may still be joined to it.
struct Joining {
    begin: usize,
    end: usize,
    rows: usize,
    /// Entries of its panel that are zero.
    zeros: usize,
}

/// First steps of the supernodes, and n. Steps with equal rows belong together;
/// a supernode is also joined to the one after it, its parent, when that adds
/// few zeros (Ashcraft and Grimes 1989).
fn relaxed(elimination: &Elimination) -> Vec<usize> {
    let Elimination { parent, later, .. } = elimination;
    let n = parent.len();
    let mut done: Vec<Joining> = Vec::new();
    let mut step = 0;
    while step < n {
        let begin = step;
        step += 1;
        while step < n && parent[step - 1] as usize == step && later[step - 1] == later[step] + 1 {
            step += 1;
        }
        let mut now = Joining { begin, end: step, rows: later[step - 1] as usize, zeros: 0 };
        while let Some(before) = done.pop() {
            let child = (parent[before.end - 1] as usize) < now.end && parent[before.end - 1] != ROOT;
            let (width, depth) = (before.end - before.begin, now.end - now.begin + now.rows);
            let zeros = before.zeros + now.zeros + width * (depth - before.rows.min(depth));
            let columns = now.end - before.begin;
            let size = columns * (columns + now.rows);
            let allowed = match columns {
                0..=8 => 0.5,
                9..=24 => 0.2,
                25..=64 => 0.1,
                _ => 0.05,
            };
            if !child || zeros as f64 > allowed * size as f64 {
                done.push(before);
                break;
            }
            now = Joining { begin: before.begin, end: now.end, rows: now.rows, zeros };
        }
        done.push(now);
    }
    done.iter().map(|joined| joined.begin).chain([n]).collect()
}
