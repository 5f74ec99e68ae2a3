//! What one pair of points adds to a cost: the losses of the stress family.
//!
//! Symbols: δ the dissimilarity, w the weight, s the squared distance in the map. The
//! gradient of a sum over pairs is Σ_j 2·factor·(y_i − y_j), and its own derivative along
//! one coordinate Σ_j 2·(factor + slope·(y_ik − y_jk)²). The survey prints (26) and (28)
//! with sums over both indices and without the weight in the second term; these are derived
//! afresh, and the tests compare them with differences of the values.

/// The smallest squared distance in the map that is told from none: it keeps ratios
/// finite, and they are multiplied by a difference of zero.
pub const LEAST_SQUARE: f64 = 1e-300;

/// What a pair adds.
pub trait PairTerm: Copy + Send + Sync {
    /// The value, and the factor of y_i − y_j in half the gradient.
    fn term(self, delta: f64, weight: f64, squared: f64) -> (f64, f64);

    /// Twice the derivative of the factor by the squared distance.
    fn slope(self, delta: f64, weight: f64, squared: f64) -> f64;

    /// The factor at a perfect fit of the second derivative along the pair: what a
    /// diagonal of the Hessian is made of.
    fn stiffness(self, delta: f64, weight: f64) -> f64;

    /// The share of a gap that a stochastic step closes is this times the rate, at most 1.
    fn pull(self, delta: f64, weight: f64) -> f64;

    /// Whether stiffness and pull are the weight itself, whatever the dissimilarity.
    const PLAIN: bool = false;
}

/// w (d − δ)²: raw stress, (17) squared.
#[derive(Debug, Clone, Copy)]
pub struct Stress;

impl PairTerm for Stress {
    const PLAIN: bool = true;

    #[inline(always)]
    fn term(self, delta: f64, weight: f64, squared: f64) -> (f64, f64) {
        let distance = larger(squared, LEAST_SQUARE).sqrt();
        let gap = distance - delta;
        (weight * (gap * gap), weight * (gap / distance))
    }

    #[inline(always)]
    fn slope(self, delta: f64, weight: f64, squared: f64) -> f64 {
        let squared = larger(squared, LEAST_SQUARE);
        weight * delta / squared / squared.sqrt()
    }

    #[inline(always)]
    fn stiffness(self, _: f64, weight: f64) -> f64 {
        weight
    }

    #[inline(always)]
    fn pull(self, _: f64, weight: f64) -> f64 {
        weight
    }
}

/// w (d − δ)² / δ: Sammon's stress (25) without its normalisation. A dissimilarity of
/// zero has the weight of the smallest one above zero.
#[derive(Debug, Clone, Copy)]
pub struct Sammon {
    /// The smallest dissimilarity above zero.
    pub least: f64,
}

impl Sammon {
    #[inline(always)]
    fn weight(self, delta: f64, weight: f64) -> f64 {
        weight / larger(delta, self.least)
    }
}

impl PairTerm for Sammon {
    #[inline(always)]
    fn term(self, delta: f64, weight: f64, squared: f64) -> (f64, f64) {
        Stress.term(delta, self.weight(delta, weight), squared)
    }

    #[inline(always)]
    fn slope(self, delta: f64, weight: f64, squared: f64) -> f64 {
        Stress.slope(delta, self.weight(delta, weight), squared)
    }

    #[inline(always)]
    fn stiffness(self, delta: f64, weight: f64) -> f64 {
        self.weight(delta, weight)
    }

    #[inline(always)]
    fn pull(self, delta: f64, weight: f64) -> f64 {
        self.weight(delta, weight)
    }
}

/// w (d² − δ²)²: SSTRESS (Takane, Young and de Leeuw 1977).
#[derive(Debug, Clone, Copy)]
pub struct SStress;

impl PairTerm for SStress {
    #[inline(always)]
    fn term(self, delta: f64, weight: f64, squared: f64) -> (f64, f64) {
        let gap = squared - delta * delta;
        (weight * (gap * gap), weight * (2.0 * gap))
    }

    #[inline(always)]
    fn slope(self, _: f64, weight: f64, _: f64) -> f64 {
        4.0 * weight
    }

    #[inline(always)]
    fn stiffness(self, delta: f64, weight: f64) -> f64 {
        4.0 * weight * (delta * delta)
    }

    #[inline(always)]
    fn pull(self, _: f64, weight: f64) -> f64 {
        weight
    }
}

/// Kruskal's Stress-1, squared, at its value `ratio`: the numerator's gradient less the
/// share of the denominator's. What it gives as value is the numerator.
#[derive(Debug, Clone, Copy)]
pub struct Kruskal {
    /// Stress-1 squared at this place.
    pub ratio: f64,
}

impl PairTerm for Kruskal {
    #[inline(always)]
    fn term(self, delta: f64, weight: f64, squared: f64) -> (f64, f64) {
        let (value, factor) = Stress.term(delta, weight, squared);
        (value, factor - weight * self.ratio)
    }

    #[inline(always)]
    fn slope(self, delta: f64, weight: f64, squared: f64) -> f64 {
        Stress.slope(delta, weight, squared)
    }

    #[inline(always)]
    fn stiffness(self, _: f64, weight: f64) -> f64 {
        weight
    }

    #[inline(always)]
    fn pull(self, _: f64, weight: f64) -> f64 {
        weight
    }
}

/// The larger of two numbers, one instruction on every machine.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
