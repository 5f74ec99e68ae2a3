//! Parameters that several methods share: their names and their meaning.

use crate::error::{Error, Result};
use crate::graph::Policy;
use crate::graph::geodesic::PathMethod;
use crate::neighbors::{Algorithm, Metric};
use crate::params::{Parameter, Value, choices};
use crate::pipeline::Data;
use crate::spectrum::{Options, Solver};

choices! {
    /// How the eigenproblem is solved.
    EigenSolver {
        /// By size and number of components.
        Auto = "auto",
        /// All eigenpairs of the dense matrix.
        Dense = "dense",
        /// The wanted eigenpairs by block Krylov iteration (named as scikit-learn names it).
        Krylov = "arpack" | "krylov",
    }
}

choices! {
    /// How the smallest eigenpairs of a sparse matrix are found.
    SparseSolver {
        /// By size, fill and number of components.
        Auto = "auto",
        /// All eigenpairs of the dense matrix.
        Dense = "dense",
        /// By factoring the matrix (named as scikit-learn names it).
        Direct = "arpack" | "direct",
        /// By products with the matrix alone (named as scikit-learn names them).
        Iterative = "iterative" | "lobpcg" | "amg",
    }
}

choices! {
    /// What a neighbourhood says about coordinates.
    LocalMethod {
        /// One weight vector for each row: LLE.
        Standard = "standard",
        /// Several: modified LLE.
        Modified = "modified",
        /// Second derivatives: Hessian LLE.
        Hessian = "hessian",
        /// Tangent coordinates: LTSA.
        Ltsa = "ltsa",
    }
}

choices! {
    /// How neighbours are searched; every choice gives the same neighbours.
    NeighborsAlgorithm {
        /// By probing the data.
        Auto = "auto",
        /// By comparing all pairs.
        Brute = "brute",
        /// By a tree.
        Tree = "kd_tree" | "ball_tree",
    }
}

choices! {
    /// A distance by name.
    MetricName {
        /// `Minkowski` with the parameter `p`.
        Minkowski = "minkowski",
        /// Straight line.
        Euclidean = "euclidean" | "l2",
        /// Sum of absolute differences.
        Manhattan = "manhattan" | "cityblock" | "l1",
        /// Largest absolute difference.
        Chebyshev = "chebyshev" | "infinity",
        /// One minus the cosine of the angle.
        Cosine = "cosine",
        /// One minus the correlation.
        Correlation = "correlation",
        /// The caller brings distances (or a graph of them).
        Precomputed = "precomputed",
    }
}

choices! {
    /// What happens to a new row that has no training row in its neighbourhood.
    Isolated {
        /// It is refused by name.
        Error = "error",
        /// It is hung onto its nearest training row, however far.
        Nearest = "nearest",
    }
}

choices! {
    /// What happens to training rows that are far from all others.
    Outliers {
        /// They are placed like new rows in the map of the others.
        Place = "place",
        /// They take part like all others.
        Keep = "keep",
    }
}

choices! {
    /// How the distances between all pairs of rows are held.
    Storage {
        /// In double precision if they fit into memory, else recomputed.
        Auto = "auto",
        /// In double precision: n²/2 numbers of 8 bytes.
        Double = "float64",
        /// In single precision: half of that, each distance rounded to 24 bits.
        Single = "float32",
        /// Not at all: found anew in every pass of the eigensolver.
        Recompute = "recompute",
    }
}

impl EigenSolver {
    /// The solver's options.
    pub fn options(self, tol: f64, max_iter: Option<usize>) -> Result<Options> {
        let solver = match self {
            EigenSolver::Auto => Solver::Auto,
            EigenSolver::Dense => Solver::Dense,
            EigenSolver::Krylov => Solver::Krylov,
        };
        solver_options(solver, tol, max_iter)
    }
}

impl SparseSolver {
    /// The solver's options.
    pub fn options(self, tol: f64, max_iter: Option<usize>) -> Result<Options> {
        let solver = match self {
            SparseSolver::Auto => Solver::Auto,
            SparseSolver::Dense => Solver::Dense,
            SparseSolver::Direct => Solver::Direct,
            SparseSolver::Iterative => Solver::Iterative,
        };
        solver_options(solver, tol, max_iter)
    }
}

fn solver_options(solver: Solver, tol: f64, max_iter: Option<usize>) -> Result<Options> {
    if !(tol.is_finite() && tol >= 0.0) {
        return Err(Error::param("tol", format!("must be a number >= 0, got {tol}")));
    }
    if max_iter == Some(0) {
        return Err(Error::param("max_iter", "must be at least 1, or None for the default"));
    }
    Ok(Options { solver, tol, max_iter, ..Options::default() })
}

impl NeighborsAlgorithm {
    /// The search engine's own choice.
    pub fn algorithm(self) -> Algorithm {
        match self {
            NeighborsAlgorithm::Auto => Algorithm::Auto,
            NeighborsAlgorithm::Brute => Algorithm::Brute,
            NeighborsAlgorithm::Tree => Algorithm::Tree,
        }
    }
}

impl MetricName {
    /// The metric between points; `None` for precomputed distances.
    pub fn metric(self, p: f64) -> Result<Option<Metric>> {
        Ok(Some(match self {
            MetricName::Precomputed => return Ok(None),
            MetricName::Minkowski => minkowski(p)?,
            MetricName::Euclidean => Metric::Euclidean,
            MetricName::Manhattan => Metric::Manhattan,
            MetricName::Chebyshev => Metric::Chebyshev,
            MetricName::Cosine => Metric::Cosine,
            MetricName::Correlation => Metric::Correlation,
        }))
    }
}

fn minkowski(p: f64) -> Result<Metric> {
    match p {
        2.0 => Ok(Metric::Euclidean),
        1.0 => Ok(Metric::Manhattan),
        f64::INFINITY => Ok(Metric::Chebyshev),
        p if p > 1.0 => Ok(Metric::Minkowski(p)),
        p => Err(Error::param("p", format!("the Minkowski power must be >= 1, got {p}"))),
    }
}

/// Whether the metric is unchanged when all points are multiplied by a number.
pub fn ignores_scale(metric: Metric) -> bool {
    matches!(metric, Metric::Cosine | Metric::Correlation)
}

/// The refusal of data that does not fit the metric.
pub fn unfit(data: Data<'_>, precomputed: bool, needs: &str) -> Error {
    let kind = data.kind();
    let why = if precomputed {
        format!("metric='precomputed' needs {needs}, got {kind}")
    } else {
        format!("got {kind} but metric is not 'precomputed'")
    };
    Error::param("metric", why)
}

/// At least one component, and no more than there are dimensions to find.
pub fn check_components(n_components: usize, most: usize, why_most: &str) -> Result<()> {
    if (1..=most).contains(&n_components) {
        return Ok(());
    }
    if most == 0 {
        return Err(Error::param("n_components", format!("{why_most} = 0: 1 sample has no coordinates")));
    }
    Err(Error::param(
        "n_components",
        format!("must be between 1 and {why_most} = {most}, got {n_components}"),
    ))
}

/// A type that names itself is a parameter by that name.
macro_rules! by_name {
    ($ty:ty) => {
        impl Parameter for $ty {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Str(name) => <$ty>::from_name(name),
                    _ => None,
                }
            }
            fn to_value(&self) -> Value {
                Value::Str(self.name().to_string())
            }
            fn expected() -> String {
                let names: Vec<String> =
                    <$ty>::ALL.iter().map(|choice| format!("'{}'", choice.name())).collect();
                format!("one of {}", names.join(", "))
            }
        }
    };
}

by_name!(Policy);
by_name!(PathMethod);
