//! Kernel classical MDS, which is kernel PCA: classical scaling of any positive
//! semi-definite kernel.
//!
//! Schölkopf, Smola, Müller 1998; the survey's (14), (39), (40).
//! Symbols: K the kernel matrix, H = I − 11ᵀ/n; coordinates V√Λ of H K H.
//!
//! Cost: n²·D for K, a few passes over it for the eigenpairs, n² numbers.

use ndarray::{Array2, ArrayView2, CowArray};
use serde::{Deserialize, Serialize};

use crate::dimension::{Coordinates, Ruler};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::Eigenfunction;
use crate::input::check::check_components;
use crate::input::{Data, Points, check};
use crate::kernel::centering::CenteredKernel;
use crate::kernel::functions::{Kernel, kernel_matrix};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::neighbors::Metric;
use crate::params::{choices, params};
use crate::spectrum::{EigenSolver, top};

choices! {
    /// A kernel by name, as scikit-learn defines it.
    KernelName {
        /// ⟨x, y⟩.
        Linear = "linear",
        /// (γ⟨x, y⟩ + c₀)^degree.
        Poly = "poly" | "polynomial",
        /// exp(−γ‖x − y‖²).
        Rbf = "rbf",
        /// tanh(γ⟨x, y⟩ + c₀); not positive semi-definite in general.
        Sigmoid = "sigmoid",
        /// ⟨x, y⟩ / (‖x‖‖y‖).
        Cosine = "cosine",
        /// exp(−γ‖x − y‖₁).
        Laplacian = "laplacian",
        /// Kernel values are given.
        Precomputed = "precomputed",
    }
}

params! {
    /// Kernel classical MDS (kernel PCA).
    KernelMds as "KernelMDS" {
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
        /// The kernel.
        kernel: KernelName = KernelName::Linear,
        /// γ; `None` is 1 / number of features.
        gamma: Option<f64> = None,
        /// Degree of the polynomial kernel.
        degree: f64 = 3.0,
        /// c₀ of the polynomial and sigmoid kernels.
        coef0: f64 = 1.0,
        /// How the eigenproblem is solved.
        eigen_solver: EigenSolver = EigenSolver::Auto,
        /// Tolerance of the iterative solver; 0 is the tightest sensible.
        tol: f64 = 0.0,
        /// Cap on iterations; `None` is generous.
        max_iter: Option<usize> = None,
    }
}

/// A fitted [`KernelMds`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedKernelMds {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    eigenvectors: Array2<f64>,
    iterations: usize,
    formula: Eigenfunction,
    /// Points with their kernel and its γ; `None` where kernel values were given.
    training: Option<Training>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Training {
    points: Points,
    kernel: Kernel,
    gamma: f64,
}

impl KernelMds {
    /// The kernel of points with this many features, and its γ.
    fn function(&self, features: usize) -> Result<(Kernel, f64)> {
        let gamma = self.gamma.unwrap_or(1.0 / features as f64);
        if !(gamma.is_finite() && gamma >= 0.0) {
            return Err(Error::param("gamma", format!("must be a finite number >= 0 or None, got {gamma}")));
        }
        for (name, value) in [("degree", self.degree), ("coef0", self.coef0)] {
            if !value.is_finite() {
                return Err(Error::param(name, format!("must be finite, got {value}")));
            }
        }
        let (degree, coef0, width) = (self.degree, self.coef0, Some(gamma));
        let kernel = match self.kernel {
            KernelName::Linear => Kernel::Linear,
            KernelName::Poly => Kernel::Poly { gamma: width, degree, coef0 },
            KernelName::Rbf => Kernel::Rbf { gamma: width },
            KernelName::Sigmoid => Kernel::Sigmoid { gamma: width, coef0 },
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Laplacian => Kernel::Laplacian { gamma: width },
            KernelName::Precomputed => {
                return Err(Error::param("kernel", "kernel='precomputed' needs a kernel matrix, got points"));
            }
        };
        Ok((kernel, gamma))
    }

    /// K: of points, kept for new rows, or as it was given.
    fn kernel_values<'a>(
        &self,
        data: Data<'a>,
        ctx: &Ctx,
    ) -> Result<(CowArray<'a, f64, ndarray::Ix2>, Option<Training>)> {
        match (data, self.kernel) {
            (Data::Points(points), _) => {
                let hint = "fit on a subset of the rows and place the others with `transform`";
                ctx.reserve(self.memory(points.rows(), points.cols()), "KernelMDS", hint)?;
                let (kernel, gamma) = self.function(points.cols())?;
                let points = points.to_owned();
                // Values that are not finite are refused there, with their rows.
                let matrix = kernel_matrix(points.view(), points.view(), kernel, ctx)?;
                Ok((CowArray::from(matrix), Some(Training { points, kernel, gamma })))
            }
            (Data::Kernel(matrix), KernelName::Precomputed) => Ok((check::kernel(matrix, ctx)?, None)),
            (data, _) => Err(Error::param(
                "kernel",
                format!("got {}; pass points, or a kernel matrix with kernel='precomputed'", data.kind()),
            )),
        }
    }
}

impl Method for KernelMds {
    type Model = FittedKernelMds;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedKernelMds> {
        check_components(self.n_components.count(), data.rows(), "n_samples")?;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;

        let (matrix, training) = self.kernel_values(data, ctx)?; //              K
        let kernel = CenteredKernel::new(matrix.view())?; //                     H K H
        let pairs = top(&kernel, self.n_components.count(), &options, ctx)?; //          V, Λ
        let formula = Eigenfunction::of_kernel(&kernel, &pairs, ctx)?;
        let embedding = formula.project_rows(matrix.view(), |value| value, ctx)?; // V√Λ
        Ok(FittedKernelMds {
            embedding,
            eigenvalues: pairs.values,
            eigenvectors: pairs.vectors,
            iterations: pairs.iterations.max(1),
            formula,
            training,
        })
    }

    fn ruler(&self) -> Result<Ruler> {
        Ok(match self.kernel {
            KernelName::Precomputed => Ruler::Kernel,
            KernelName::Cosine => Ruler::Metric(Some(Metric::Cosine)),
            KernelName::Laplacian => Ruler::Metric(Some(Metric::Manhattan)),
            _ => Ruler::Metric(Some(Metric::Euclidean)),
        })
    }

    /// A linear kernel and given kernel values go with the square of the data, a
    /// cosine ignores scale, the others have a width of their own.
    fn scaling(&self) -> Scaling {
        match self.kernel {
            KernelName::Linear | KernelName::Precomputed => Scaling::Distances,
            KernelName::Cosine => Scaling::Angles,
            KernelName::Poly | KernelName::Rbf | KernelName::Sigmoid | KernelName::Laplacian => Scaling::Absolute,
        }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as f64, features as f64, self.n_components.count() as f64);
        let matrix = if self.kernel == KernelName::Precomputed { 0.0 } else { 8.0 * n * n };
        (matrix + 8.0 * n * (p + 8.0) * 24.0 + 16.0 * n * d) as u64
    }
}

impl Model for FittedKernelMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvectors", Attribute::Matrix(self.eigenvectors.clone())),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(self.training.as_ref().map(|training| ("gamma", Attribute::Float(training.gamma))));
        Ok(named)
    }

    fn units(&self) -> Units {
        Units { coordinates: 1, attributes: &[("eigenvalues", 2)] }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        match (&self.training, data) {
            (Some(Training { points: training, kernel, .. }), Data::Points(points)) => {
                let (rows, expected) = (training.view().rows(), training.view().cols());
                if points.cols() != expected {
                    return Err(Error::input(format!(
                        "X has {} features, but the model was fitted with {expected}",
                        points.cols()
                    )));
                }
                let need = 8 * points.rows() as u64 * rows as u64;
                ctx.reserve(need, "the kernel values of the new rows", "transform fewer rows at a time")?;
                let matrix = kernel_matrix(points.reborrow(), training.view(), *kernel, ctx)?;
                self.formula.project_rows(matrix.view(), |value| value, ctx)
            }
            (None, Data::Kernel(matrix)) => {
                check::check_width(matrix, self.formula.training_rows(), "kernel values")?;
                self.formula.project_rows(matrix, |value| value, ctx)
            }
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }
}
