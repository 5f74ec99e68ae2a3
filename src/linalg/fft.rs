//! Discrete Fourier transforms of eight sequences at once.
//!
//! Every lane has a sequence of its own, and all lanes do the same: the loops over lanes become
//! vector instructions of the CPU at hand, and the bits depend on no CPU, because no operation
//! crosses lanes and no product is fused with a sum. (Libraries of single transforms choose
//! other algorithms for other CPUs.) Place: under [`super::convolution`].
//!
//! Stockham's self-sorting algorithm with radices 4, 2, 3 and 5: Van Loan, *Computational
//! Frameworks for the Fast Fourier Transform*, 1992. Cost: n log n. Everything is
//! `inline(always)`, for callers that are entered through `pulp::Arch::dispatch`.

/// Sequences side by side.
pub const LANES: usize = 8;
/// One number of each sequence.
pub type Lanes = [f32; LANES];

/// A complex number of each sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub struct Complex {
    /// Real parts.
    pub re: Lanes,
    /// Imaginary parts.
    pub im: Lanes,
}

impl Complex {
    /// Zero in every lane.
    pub const ZERO: Complex = Complex { re: [0.0; LANES], im: [0.0; LANES] };

    /// The sum.
    #[inline(always)]
    pub fn plus(self, other: Complex) -> Complex {
        Complex { re: each(|l| self.re[l] + other.re[l]), im: each(|l| self.im[l] + other.im[l]) }
    }

    /// The difference.
    #[inline(always)]
    pub fn minus(self, other: Complex) -> Complex {
        Complex { re: each(|l| self.re[l] - other.re[l]), im: each(|l| self.im[l] - other.im[l]) }
    }

    /// The product with one complex number.
    #[inline(always)]
    pub fn times(self, [re, im]: [f32; 2]) -> Complex {
        Complex {
            re: each(|l| self.re[l] * re - self.im[l] * im),
            im: each(|l| self.re[l] * im + self.im[l] * re),
        }
    }

    /// The product with a real number of each lane.
    #[inline(always)]
    pub fn scaled(self, factor: &Lanes) -> Complex {
        Complex { re: each(|l| self.re[l] * factor[l]), im: each(|l| self.im[l] * factor[l]) }
    }

    /// The product with one real number.
    #[inline(always)]
    pub fn by(self, factor: f32) -> Complex {
        self.scaled(&[factor; LANES])
    }

    /// The conjugate.
    #[inline(always)]
    pub fn conjugate(self) -> Complex {
        Complex { re: self.re, im: each(|l| -self.im[l]) }
    }

    /// A quarter turn: −i times it, forward; i times it, backward.
    #[inline(always)]
    fn turned<const BACK: bool>(self) -> Complex {
        if BACK {
            Complex { re: each(|l| -self.im[l]), im: self.re }
        } else {
            Complex { re: self.im, im: each(|l| -self.re[l]) }
        }
    }
}

#[inline(always)]
fn each(value: impl FnMut(usize) -> f32) -> Lanes {
    std::array::from_fn(value)
}

/// exp(−2πi k / n), rounded once.
pub fn root(k: usize, n: usize) -> [f32; 2] {
    let angle = -std::f64::consts::TAU * (k % n) as f64 / n as f64;
    [libm::cos(angle) as f32, libm::sin(angle) as f32]
}

/// The smallest even length ≥ `least` that a transform can have.
pub fn good_length(least: usize) -> usize {
    let rest = |length: usize| [2, 3, 5].iter().fold(length, |rest, &prime| without(rest, prime));
    // proof: there is a power of two among them.
    (least.max(2)..).find(|&length| length % 2 == 0 && rest(length) == 1).unwrap_or(2)
}

fn without(mut number: usize, prime: usize) -> usize {
    while number.is_multiple_of(prime) {
        number /= prime;
    }
    number
}

/// Transforms of one length.
#[derive(Debug, Clone)]
pub struct Fft {
    radices: Vec<usize>,
    roots: Vec<[f32; 2]>,
}

impl Fft {
    /// Of a [`good_length`].
    pub fn new(length: usize) -> Fft {
        let (mut radices, mut rest) = (Vec::new(), length);
        for radix in [4, 2, 3, 5] {
            while rest.is_multiple_of(radix) {
                radices.push(radix);
                rest /= radix;
            }
        }
        debug_assert_eq!(rest, 1, "a length of other factors");
        Fft { radices, roots: (0..length).map(|k| root(k, length)).collect() }
    }

    /// Σ_j x_j exp(−2πi jk/n) in the place of x; `room` is as long as x.
    #[inline(always)]
    pub fn forward(&self, x: &mut [Complex], room: &mut [Complex]) {
        self.transform::<false>(x, room);
    }

    /// Σ_k x_k exp(+2πi jk/n) in the place of x: n times the inverse.
    #[inline(always)]
    pub fn backward(&self, x: &mut [Complex], room: &mut [Complex]) {
        self.transform::<true>(x, room);
    }

    #[inline(always)]
    fn transform<const BACK: bool>(&self, x: &mut [Complex], room: &mut [Complex]) {
        let mut stride = 1;
        for (stage, &radix) in self.radices.iter().enumerate() {
            let (from, to) = if stage % 2 == 0 { (&*x, &mut *room) } else { (&*room, &mut *x) };
            match radix {
                4 => self.stage::<4, BACK>(from, to, stride),
                2 => self.stage::<2, BACK>(from, to, stride),
                3 => self.stage::<3, BACK>(from, to, stride),
                _ => self.stage::<5, BACK>(from, to, stride),
            }
            stride *= radix;
        }
        if self.radices.len() % 2 == 1 {
            x.copy_from_slice(room);
        }
    }

    /// One stage: butterflies of R numbers, n/R apart, times their roots.
    #[inline(always)]
    fn stage<const R: usize, const BACK: bool>(&self, from: &[Complex], to: &mut [Complex], stride: usize) {
        let part = from.len() / R;
        for first in (0..part).step_by(stride) {
            let turns: [[f32; 2]; R] = std::array::from_fn(|j| {
                let [re, im] = self.roots[j * first];
                if BACK { [re, -im] } else { [re, im] }
            });
            let to = &mut to[first * R..(first + stride) * R];
            for q in 0..stride {
                let found = butterfly::<R, BACK>(std::array::from_fn(|j| from[first + q + j * part]));
                to[q] = found[0];
                for j in 1..R {
                    to[q + j * stride] = found[j].times(turns[j]);
                }
            }
        }
    }
}

/// The transform of R numbers.
#[inline(always)]
fn butterfly<const R: usize, const BACK: bool>(a: [Complex; R]) -> [Complex; R] {
    let mut found = a;
    match R {
        2 => (found[0], found[1]) = (a[0].plus(a[1]), a[0].minus(a[1])),
        3 => {
            let sum = a[1].plus(a[2]);
            let middle = a[0].minus(sum.by(0.5));
            let side = a[1].minus(a[2]).by(0.866_025_4).turned::<BACK>();
            (found[0], found[1], found[2]) = (a[0].plus(sum), middle.plus(side), middle.minus(side));
        }
        4 => {
            let (even, odd) = (a[0].plus(a[2]), a[1].plus(a[3]));
            let (middle, side) = (a[0].minus(a[2]), a[1].minus(a[3]).turned::<BACK>());
            (found[0], found[2]) = (even.plus(odd), even.minus(odd));
            (found[1], found[3]) = (middle.plus(side), middle.minus(side));
        }
        _ => {
            const COS: [f32; 2] = [0.309_017, -0.809_017];
            const SIN: [f32; 2] = [0.951_056_5, 0.587_785_25];
            let (near, far) = (a[1].plus(a[4]), a[2].plus(a[3]));
            let (near_gap, far_gap) = (a[1].minus(a[4]), a[2].minus(a[3]));
            let first = a[0].plus(near.by(COS[0])).plus(far.by(COS[1]));
            let second = a[0].plus(near.by(COS[1])).plus(far.by(COS[0]));
            let first_side = near_gap.by(SIN[0]).plus(far_gap.by(SIN[1])).turned::<BACK>();
            let second_side = near_gap.by(SIN[1]).minus(far_gap.by(SIN[0])).turned::<BACK>();
            found[0] = a[0].plus(near).plus(far);
            (found[1], found[4]) = (first.plus(first_side), first.minus(first_side));
            (found[2], found[3]) = (second.plus(second_side), second.minus(second_side));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(length: usize) -> Vec<Complex> {
        let value = |at: usize| ((at * at + 3 * at) as f32 * 0.618_034).fract() - 0.5;
        let number = |j: usize| Complex {
            re: each(|lane| value(j * LANES + lane)),
            im: each(|lane| value(j * LANES + lane + 77)),
        };
        (0..length).map(number).collect()
    }

    #[test]
    fn it_is_the_sum_over_roots_of_unity() {
        for length in [2, 4, 6, 10, 12, 30, 64, 90, 100, 120, 250] {
            assert_eq!(good_length(length), length);
            let x = sequences(length);
            let (mut found, mut room) = (x.clone(), vec![Complex::ZERO; length]);
            Fft::new(length).forward(&mut found, &mut room);
            for lane in [0, 5] {
                for k in 0..length {
                    let (mut re, mut im) = (0.0_f64, 0.0_f64);
                    for (j, number) in x.iter().enumerate() {
                        let angle = -std::f64::consts::TAU * (j * k % length) as f64 / length as f64;
                        let (a, b) = (f64::from(number.re[lane]), f64::from(number.im[lane]));
                        re += a * angle.cos() - b * angle.sin();
                        im += a * angle.sin() + b * angle.cos();
                    }
                    let off =
                        libm::hypot(f64::from(found[k].re[lane]) - re, f64::from(found[k].im[lane]) - im);
                    assert!(off < 1e-5 * (length as f64).sqrt(), "length {length}, k {k}: {off}");
                }
            }
        }
    }

    #[test]
    fn backward_undoes_forward() {
        for length in [8, 60, 450, 486] {
            let x = sequences(length);
            let (mut found, mut room) = (x.clone(), vec![Complex::ZERO; length]);
            let fft = Fft::new(length);
            fft.forward(&mut found, &mut room);
            fft.backward(&mut found, &mut room);
            for (found, x) in found.iter().zip(&x) {
                let off = found.by(1.0 / length as f32).minus(*x);
                assert!(off.re.iter().chain(&off.im).all(|gap| gap.abs() < 1e-6), "length {length}");
            }
        }
    }

    #[test]
    fn lengths_are_even_products_of_small_primes() {
        assert_eq!([1, 3, 7, 11, 13, 33, 401, 651].map(good_length), [2, 4, 8, 12, 16, 36, 432, 720]);
    }
}
