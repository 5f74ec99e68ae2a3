//! Eigenvectors of small symmetric matrices by reflections to tridiagonal form
//! and implicit QL steps.
//!
//! Bowdler, Martin, Reinsch, Wilkinson 1968 (`tred2` and `tql2` of EISPACK),
//! with the vectors in rows, so that every inner loop runs along memory. Place:
//! under [`super::eigen`], which takes it for more than a few dimensions. Cost:
//! 4/3·n³ for the values, about 9·n³ with vectors.

/// Steps for one eigenvalue after which it stops in any case; two or three suffice.
const MOST_STEPS: usize = 60;

/// Diagonalise `matrix` (row-major, symmetric): `values` are its eigenvalues in
/// no order and the rows of `matrix` the eigenvectors, if they are wanted.
/// `beside` is scratch, as long as `values`.
pub(crate) fn decompose(matrix: &mut [f64], values: &mut [f64], beside: &mut [f64], want_vectors: bool) {
    let n = values.len();
    if n == 0 {
        return;
    }
    reduce(matrix, values, beside);
    if want_vectors {
        accumulate(matrix, values);
    } else {
        (0..n).for_each(|i| values[i] = matrix[i * n + i]);
    }
    beside.copy_within(1.., 0);
    beside[n - 1] = 0.0;
    let mut shifted = 0.0;
    let mut size = 0.0_f64;
    for low in 0..n {
        size = size.max(values[low].abs() + beside[low].abs());
        let small = f64::EPSILON * size;
        for _ in 0..MOST_STEPS {
            // proof: the last entry beside the diagonal is zero.
            let high = (low..n).find(|&i| beside[i].abs() <= small).unwrap_or(n - 1);
            if high == low {
                break;
            }
            let vectors = if want_vectors { &mut *matrix } else { &mut [][..] };
            shifted += step(vectors, values, beside, (low, high));
        }
        values[low] += shifted;
        beside[low] = 0.0;
    }
}

/// To tridiagonal form: `values` ends with what [`accumulate`] needs, `beside`
/// with the entries beside the diagonal (from 1 on), the diagonal in `matrix`.
fn reduce(matrix: &mut [f64], values: &mut [f64], beside: &mut [f64]) {
    let n = values.len();
    (0..n).for_each(|j| values[j] = matrix[j * n + n - 1]);
    for i in (1..n).rev() {
        let scale: f64 = values[..i].iter().map(|value| value.abs()).sum();
        let mut norm = 0.0;
        if scale == 0.0 {
            beside[i] = values[i - 1];
            for j in 0..i {
                values[j] = matrix[j * n + i - 1];
                matrix[j * n + i] = 0.0;
                matrix[i * n + j] = 0.0;
            }
        } else {
            values[..i].iter_mut().for_each(|value| *value /= scale);
            norm = values[..i].iter().map(|value| value * value).sum();
            let last = values[i - 1];
            let root = if last > 0.0 { -f64::sqrt(norm) } else { f64::sqrt(norm) };
            beside[i] = scale * root;
            norm -= last * root;
            values[i - 1] = last - root;
            reflect(matrix, values, beside, i, norm);
        }
        values[i] = norm;
    }
    beside[0] = 0.0;
}

/// The reflection along `values[..i]` from both sides, on the leading i × i part.
fn reflect(matrix: &mut [f64], values: &mut [f64], beside: &mut [f64], i: usize, norm: f64) {
    let n = values.len();
    beside[..i].fill(0.0);
    for j in 0..i {
        let along = values[j];
        matrix[i * n + j] = along;
        let mut sum = beside[j] + matrix[j * n + j] * along;
        let row = &matrix[j * n + j + 1..j * n + i];
        for ((entry, value), product) in row.iter().zip(&values[j + 1..i]).zip(&mut beside[j + 1..i]) {
            sum += entry * value;
            *product += entry * along;
        }
        beside[j] = sum;
    }
    let mut total = 0.0;
    for j in 0..i {
        beside[j] /= norm;
        total += beside[j] * values[j];
    }
    let half = total / (norm + norm);
    for j in 0..i {
        beside[j] -= half * values[j];
    }
    for j in 0..i {
        let (along, product) = (values[j], beside[j]);
        let row = &mut matrix[j * n + j..j * n + i];
        for ((entry, other), value) in row.iter_mut().zip(&beside[j..i]).zip(&values[j..i]) {
            *entry -= along * other + product * value;
        }
        values[j] = matrix[j * n + i - 1];
        matrix[j * n + i] = 0.0;
    }
}

/// The product of the reflections, in the rows of `matrix`.
fn accumulate(matrix: &mut [f64], values: &mut [f64]) {
    let n = values.len();
    for i in 0..n - 1 {
        matrix[i * n + n - 1] = matrix[i * n + i];
        matrix[i * n + i] = 1.0;
        let norm = values[i + 1];
        let (head, tail) = matrix.split_at_mut((i + 1) * n);
        let reflector = &mut tail[..=i];
        if norm != 0.0 {
            values[..=i].iter_mut().zip(&*reflector).for_each(|(value, entry)| *value = entry / norm);
            for row in head.chunks_exact_mut(n) {
                let sum: f64 = row[..=i].iter().zip(&*reflector).map(|(a, b)| a * b).sum();
                row[..=i].iter_mut().zip(&values[..=i]).for_each(|(entry, value)| *entry -= sum * value);
            }
        }
        reflector.fill(0.0);
    }
    for j in 0..n {
        values[j] = matrix[j * n + n - 1];
        matrix[j * n + n - 1] = 0.0;
    }
    matrix[n * n - 1] = 1.0;
}

/// One implicit QL step on rows `low..=high`; the shift that was taken off the
/// values from `low` on.
fn step(vectors: &mut [f64], values: &mut [f64], beside: &mut [f64], (low, high): (usize, usize)) -> f64 {
    let n = values.len();
    let first = values[low];
    let p = (values[low + 1] - first) / (2.0 * beside[low]);
    let r = libm::hypot(p, 1.0).copysign(p);
    values[low] = beside[low] / (p + r);
    values[low + 1] = beside[low] * (p + r);
    let next = values[low + 1];
    let shift = first - values[low];
    values[low + 2..].iter_mut().for_each(|value| *value -= shift);
    let mut p = values[high];
    let (mut cosine, mut cosine_before, mut cosine_third) = (1.0, 1.0, 1.0);
    let (mut sine, mut sine_before) = (0.0, 0.0);
    let second = beside[low + 1];
    for i in (low..high).rev() {
        (cosine_third, cosine_before, sine_before) = (cosine_before, cosine, sine);
        let (g, h) = (cosine * beside[i], cosine * p);
        let r = libm::hypot(p, beside[i]);
        beside[i + 1] = sine * r;
        sine = beside[i] / r;
        cosine = p / r;
        p = cosine * values[i] - sine * g;
        values[i + 1] = h + sine * (cosine * g + sine * values[i]);
        if !vectors.is_empty() {
            let (head, tail) = vectors.split_at_mut((i + 1) * n);
            for (one, two) in head[i * n..].iter_mut().zip(&mut tail[..n]) {
                (*one, *two) = (cosine * *one - sine * *two, sine * *one + cosine * *two);
            }
        }
    }
    let p = -sine * sine_before * cosine_third * second * beside[low] / next;
    beside[low] = sine * p;
    values[low] = cosine * p;
    shift
}
