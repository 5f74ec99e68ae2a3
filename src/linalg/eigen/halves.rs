//! Two halves of a tridiagonal matrix, decomposed, as one diagonal matrix plus ρ·z·zᵀ, and
//! the pairs that this leaves as they are.
//!
//! An entry of z that is as good as zero leaves its pair alone; of two poles that are as good
//! as equal a rotation makes one so (deflation as in LAPACK's `laed2`). Place: before the
//! equation of [`super::secular`], under [`super::divide`]. Cost: n numbers for a rotation.

/// Eigenpairs in no order.
pub(super) struct Pairs {
    pub values: Vec<f64>,
    /// One vector per row of as many numbers as there are values.
    pub vectors: Vec<f64>,
}

/// Where the eigenvectors of a half have entries that are not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    First,
    Both,
    Second,
}

pub(super) fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

/// Eigenpairs of both halves as they are in the whole, and z.
pub(super) struct Joined {
    pub one: Pairs,
    two: Pairs,
    /// Poles of both, those of the first half first.
    pub poles: Vec<f64>,
    pub z: Vec<f64>,
    pub parts: Vec<Part>,
    /// Rows that a rotation has filled: their whole length.
    filled: Vec<Option<Vec<f64>>>,
}

impl Joined {
    pub fn new(one: Pairs, two: Pairs, coupling: f64) -> Self {
        let (n, m) = (one.values.len(), two.values.len());
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let sign = if coupling < 0.0 { -half } else { half };
        let last = (0..n).map(|row| half * one.vectors[row * n + n - 1]);
        let z = last.chain((0..m).map(|row| sign * two.vectors[row * m])).collect();
        let poles = one.values.iter().chain(&two.values).copied().collect();
        let parts = (0..n + m).map(|row| if row < n { Part::First } else { Part::Second }).collect();
        Joined { one, two, poles, z, parts, filled: vec![None; n + m] }
    }

    pub fn len(&self) -> usize {
        self.poles.len()
    }

    /// The whole vector of a row.
    pub fn whole(&self, row: usize) -> Vec<f64> {
        if let Some(vector) = &self.filled[row] {
            return vector.clone();
        }
        let mut vector = vec![0.0; self.len()];
        let (n, m) = (self.one.values.len(), self.two.values.len());
        if row < n {
            vector[..n].copy_from_slice(&self.one.vectors[row * n..(row + 1) * n]);
        } else {
            vector[n..].copy_from_slice(&self.two.vectors[(row - n) * m..(row - n + 1) * m]);
        }
        vector
    }

    /// What a row has in the first half, and in the second.
    pub fn halves(&self, row: usize) -> (&[f64], &[f64]) {
        let (n, m) = (self.one.values.len(), self.two.values.len());
        match &self.filled[row] {
            Some(vector) => vector.split_at(n),
            None if row < n => (&self.one.vectors[row * n..(row + 1) * n], &[]),
            None => (&[], &self.two.vectors[(row - n) * m..(row - n + 1) * m]),
        }
    }

    /// Turn rows p and q so that z_p becomes zero; their poles are as good as equal.
    fn rotate(&mut self, p: usize, q: usize, cosine: f64, sine: f64) {
        if self.parts[p] == self.parts[q] && self.parts[p] != Part::Both {
            let n = self.one.values.len();
            let (vectors, length, p, q) = match self.parts[p] {
                Part::First => (&mut self.one.vectors, n, p, q),
                _ => (&mut self.two.vectors, self.two.values.len(), p - n, q - n),
            };
            for at in 0..length {
                let (a, b) = (vectors[p * length + at], vectors[q * length + at]);
                vectors[p * length + at] = cosine * a + sine * b;
                vectors[q * length + at] = cosine * b - sine * a;
            }
            return;
        }
        let (mut one, mut two) = (self.whole(p), self.whole(q));
        for (a, b) in one.iter_mut().zip(&mut two) {
            (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
        }
        (self.filled[p], self.filled[q]) = (Some(one), Some(two));
        (self.parts[p], self.parts[q]) = (Part::Both, Part::Both);
    }

    /// Rows whose pairs change, poles ascending, and those that stay.
    pub fn deflate(&mut self, weight: f64) -> (Vec<usize>, Vec<usize>) {
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let small = 8.0 * f64::EPSILON * largest(&self.poles).max(largest(&self.z));
        let (mut changing, mut staying) = (Vec::new(), Vec::new());
        let mut before: Option<usize> = None;
        for row in ascending(&self.poles) {
            if weight * self.z[row].abs() <= small {
                staying.push(row);
                continue;
            }
            let Some(held) = before.replace(row) else { continue };
            let (sine, cosine) = (self.z[held], self.z[row]);
            let size = (sine * sine + cosine * cosine).sqrt();
            let (sine, cosine) = (-sine / size, cosine / size);
            let gap = self.poles[row] - self.poles[held];
            if (gap * cosine * sine).abs() > small {
                changing.push(held);
                continue;
            }
            (self.z[row], self.z[held]) = (size, 0.0);
            self.rotate(held, row, cosine, sine);
            let (a, b) = (self.poles[held], self.poles[row]);
            self.poles[held] = a * cosine * cosine + b * sine * sine;
            self.poles[row] = a * sine * sine + b * cosine * cosine;
            staying.push(held);
        }
        changing.extend(before);
        (changing, staying)
    }
}
