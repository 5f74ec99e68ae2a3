//! Warnings about a spectrum: solvers that stopped early, columns that the eigenvalues do
//! not determine.

use super::{Solver, Spectrum};
use crate::context::Ctx;
use crate::error::WarningKind;

/// What a method lets its users say to the eigensolver.
#[derive(Debug, Clone, Copy)]
pub struct Knobs {
    /// Whether there is a `max_iter`.
    pub max_iter: bool,
    /// The name of the tolerance.
    pub tol: &'static str,
}

impl Knobs {
    /// Those of most methods.
    pub const USUAL: Knobs = Knobs { max_iter: true, tol: "tol" };

    /// What helps a solver that did not get where it should.
    fn hint(self, ran: Solver) -> String {
        let longer = if self.max_iter { "raise max_iter where it is set, " } else { "" };
        match ran {
            // These go on to a tolerance of their own, whatever is asked for.
            Solver::Iterative => {
                format!("{longer}use eigen_solver='arpack', which factors the matrix, or 'dense'")
            }
            Solver::Direct => format!("{longer}use eigen_solver='iterative' or 'dense'"),
            _ => format!("{longer}raise {}, or use eigen_solver='dense'", self.tol),
        }
    }
}

/// Warn of a solver that stopped before the first `wanted` pairs had converged.
pub fn warn_unconverged(spectrum: &Spectrum, wanted: usize, knobs: Knobs, ctx: &Ctx) {
    if spectrum.converged || spectrum.converged_pairs >= wanted {
        return;
    }
    let worst = spectrum.residuals.iter().take(wanted).fold(0.0_f64, |most, &residual| most.max(residual));
    ctx.warn(
        WarningKind::Convergence,
        format!(
            "the eigensolver stopped after {} iterations with residual {worst:.1e}; {}",
            spectrum.iterations,
            knobs.hint(spectrum.ran)
        ),
    );
}

/// Warn of columns that are not determined: the eigenvalue after those of the `shown`
/// columns is `like` theirs, because of what the embedding is made of.
pub fn warn_of_freedom(made_of: &str, shown: usize, like: &str, hint: &str, ctx: &Ctx) {
    ctx.warn(
        WarningKind::RankDeficient,
        format!(
            "{made_of} do not determine the columns: eigenvalue {} is {like}, so these columns are an arbitrary \
             basis of their eigenspace; {hint}",
            shown + 1
        ),
    );
}

/// How many of the last pairs have the eigenvalue of the one after them, up to rounding
/// and to what the solver left: their vectors are any of those that belong to it.
/// `size` bounds the eigenvalues of the matrix.
pub fn tied_with_next(spectrum: &Spectrum, size: f64) -> usize {
    /// Where the residual is larger, the user wanted less than the columns could be.
    const MOST_REST: f64 = 1e-11;
    let Some(next) = spectrum.next else { return 0 };
    let root = (spectrum.vectors.nrows() as f64).sqrt();
    // A dense decomposition rounds relative to the Frobenius norm of the matrix, with
    // what known vectors were moved out of the way by.
    let units = if spectrum.ran == Solver::Dense { (8.0 * root).max(10.0) } else { root.clamp(10.0, 100.0) };
    let rounding = units * f64::EPSILON * size;
    let tied = |value: f64, rest: f64| (value - next).abs() <= rounding.max(rest.min(MOST_REST * size));
    let pairs = spectrum.values.iter().zip(&spectrum.residuals).rev();
    pairs.take_while(|(value, rest)| tied(**value, **rest)).count()
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    fn spectrum(ran: Solver, next: Option<f64>) -> Spectrum {
        Spectrum {
            values: vec![0.5, 1.0, 1.0],
            vectors: Array2::zeros((50, 3)),
            residuals: vec![1e-13, 1e-3, 2e-3],
            iterations: 7,
            converged: false,
            converged_pairs: 1,
            lowest: 0.5,
            next,
            spare: None,
            ran,
        }
    }

    #[test]
    fn advice_names_what_helps_the_solver_that_ran() {
        let tell = |ran: Solver, wanted: usize, knobs: Knobs| {
            let ctx = Ctx::new(1, 0);
            warn_unconverged(&spectrum(ran, None), wanted, knobs, &ctx);
            ctx.take_warnings().pop().map(|told| told.message)
        };
        assert_eq!(tell(Solver::Krylov, 1, Knobs::USUAL), None, "the first has converged");
        let told = tell(Solver::Krylov, 2, Knobs::USUAL).unwrap();
        assert!(told.contains("residual 1.0e-3; raise max_iter where it is set, raise tol"), "{told}");
        let few = Knobs { max_iter: false, tol: "eigen_tol" };
        let told = tell(Solver::Krylov, 3, few).unwrap();
        assert!(told.contains("2.0e-3; raise eigen_tol, or use eigen_solver='dense'"), "{told}");
        let told = tell(Solver::Iterative, 3, few).unwrap();
        assert!(told.contains("use eigen_solver='arpack'") && !told.contains("tol"), "{told}");
        let told = tell(Solver::Direct, 3, Knobs::USUAL).unwrap();
        assert!(told.contains("use eigen_solver='iterative'"), "{told}");
    }

    #[test]
    fn ties_are_counted_from_the_last() {
        let tied = |next: Option<f64>| tied_with_next(&spectrum(Solver::Dense, next), 2.0);
        assert_eq!((tied(None), tied(Some(1.0)), tied(Some(1.0 + 1e-15))), (0, 2, 2));
        // However large a residual the user allowed.
        assert_eq!(tied(Some(1.0 + 1e-9)), 0);
    }
}
