//! Kernel classical MDS, which is kernel PCA: classical scaling of any positive
//! semi-definite kernel.
//!
//! Schölkopf, Smola, Müller 1998; the survey's (14), (39), (40).
//! Symbols: K the kernel matrix, H = I − 11ᵀ/n; coordinates V√Λ of H K H.
//!
//! Cost: n²·D for K, a few passes over it for the eigenpairs, n² numbers.

use ndarray::{Array1, Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::choices::{EigenSolver, check_components};
use crate::context::Ctx;
use crate::embedding::{kept_values, scale_back};
use crate::error::{Error, Result};
use crate::extend::Eigenfunction;
use crate::input::check;
use crate::input::scale::{Scale, scale_of_points};
use crate::input::{Points, PointsRef, check_finite};
use crate::kernel::center::CenteredKernel;
use crate::kernel::functions::{Kernel, kernel_matrix};
use crate::params::{choices, params};
use crate::pipeline::{Attribute, Data, Model, Recipe};
use crate::spectrum::top;

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
        /// The caller brings kernel values.
        Precomputed = "precomputed",
    }
}

params! {
    /// Kernel classical MDS (kernel PCA).
    KernelMds as "KernelMDS" {
        /// Number of coordinates.
        n_components: usize = 2,
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
#[derive(Debug, Serialize, Deserialize)]
pub struct FittedKernelMds {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    eigenvectors: Array2<f64>,
    formula: Eigenfunction,
    training: Option<(Points, Kernel)>,
    gamma: Option<f64>,
    input_scale: Scale,
    length_scale: Scale,
}

impl KernelMds {
    fn function(&self, features: usize) -> Result<Kernel> {
        let gamma = self.gamma.unwrap_or(1.0 / features as f64);
        if !(gamma.is_finite() && gamma >= 0.0) {
            return Err(Error::param("gamma", format!("must be a finite number >= 0 or None, got {gamma}")));
        }
        let gamma = Some(gamma);
        for (name, value) in [("degree", self.degree), ("coef0", self.coef0)] {
            if !value.is_finite() {
                return Err(Error::param(name, format!("must be finite, got {value}")));
            }
        }
        let (degree, coef0) = (self.degree, self.coef0);
        Ok(match self.kernel {
            KernelName::Linear => Kernel::Linear,
            KernelName::Poly => Kernel::Poly { gamma, degree, coef0 },
            KernelName::Rbf => Kernel::Rbf { gamma },
            KernelName::Sigmoid => Kernel::Sigmoid { gamma, coef0 },
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Laplacian => Kernel::Laplacian { gamma },
            KernelName::Precomputed => {
                return Err(Error::param("kernel", "kernel='precomputed' needs a kernel matrix, got points"));
            }
        })
    }

    fn fit_points(&self, points: PointsRef<'_>, ctx: &Ctx) -> Result<FittedKernelMds> {
        let kernel = self.function(points.cols())?;
        // A linear kernel scales with its points and a cosine ignores scale; the
        // others are what they are at the scale given.
        let homogeneous = matches!(kernel, Kernel::Linear | Kernel::Cosine);
        let input_scale = if homogeneous { scale_of_points(points) } else { Scale::ONE };
        let length_scale = if matches!(kernel, Kernel::Linear) { input_scale } else { Scale::ONE };
        let points = input_scale.points(points).into_points();
        let matrix = kernel_matrix(points.view(), points.view(), kernel, ctx)?;
        check_finite(matrix.view(), "kernel matrix (values overflow: scale the data or change gamma, degree)")?;
        let mut model = self.fit_kernel(matrix.view(), length_scale, ctx)?;
        model.gamma = Some(self.gamma.unwrap_or(1.0 / points.view().cols() as f64));
        model.training = Some((points, kernel));
        model.input_scale = input_scale;
        Ok(model)
    }

    fn fit_kernel(&self, matrix: ArrayView2<'_, f64>, scale: Scale, ctx: &Ctx) -> Result<FittedKernelMds> {
        let kernel = CenteredKernel::new(matrix)?;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        let spectrum = top(&kernel, self.n_components, &options, ctx)?;
        let kept = kept_values(&spectrum, ctx);
        let means = kernel.means(ctx)?;
        let formula = Eigenfunction::new(
            spectrum.vectors.view(),
            &kept,
            Array1::from(means.rows),
            means.grand,
            None,
        );
        let mut embedding = formula.project_rows(matrix, |value| value, ctx)?;
        scale_back(embedding.view_mut(), scale);
        Ok(FittedKernelMds {
            embedding,
            eigenvalues: spectrum.values.iter().map(|&value| scale.back_squared(value)).collect(),
            eigenvectors: spectrum.vectors,
            formula,
            training: None,
            gamma: None,
            input_scale: scale,
            length_scale: scale,
        })
    }
}

/// The scale of lengths behind a matrix of squared ones.
fn scale_of_kernel(matrix: ArrayView2<'_, f64>) -> Scale {
    let largest = matrix.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    Scale::for_largest(largest.sqrt())
}

fn scaled_kernel(matrix: ArrayView2<'_, f64>, scale: Scale) -> ndarray::CowArray<'_, f64, ndarray::Ix2> {
    if scale.is_one() {
        return ndarray::CowArray::from(matrix);
    }
    ndarray::CowArray::from(matrix.mapv(|value| scale.into(scale.into(value))))
}

impl Recipe for KernelMds {
    type Model = FittedKernelMds;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedKernelMds> {
        let rows = data.rows();
        check_components(self.n_components, rows, "the number of rows")?;
        self.eigen_solver.options(self.tol, self.max_iter)?;
        match (data, self.kernel) {
            (Data::Points(points), _) => {
                let way_out = "fit on a subset of the rows and place the others with `transform`";
                ctx.reserve(self.memory(rows, points.cols()), "KernelMDS", way_out)?;
                self.fit_points(points, ctx)
            }
            (Data::Kernel(matrix), KernelName::Precomputed) => {
                let matrix = check::kernel(matrix, ctx)?;
                let scale = scale_of_kernel(matrix.view());
                self.fit_kernel(scaled_kernel(matrix.view(), scale).view(), scale, ctx)
            }
            (data, _) => Err(Error::param(
                "kernel",
                format!("got {}; pass points, or a kernel matrix with kernel='precomputed'", data.kind()),
            )),
        }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as u64, features as u64, self.n_components as u64);
        let matrix = if self.kernel == KernelName::Precomputed { 0 } else { 8 * n * n };
        matrix + 8 * n * (p + 8) * 24 + 16 * n * d
    }
}

impl Model for FittedKernelMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvectors", Attribute::Matrix(self.eigenvectors.clone())),
        ];
        if let Some(gamma) = self.gamma {
            named.push(("gamma", Attribute::Float(gamma)));
        }
        named
    }

    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut placed = match (&self.training, data) {
            (Some((training, kernel)), Data::Points(points)) => {
                let expected = training.view().cols();
                if points.cols() != expected {
                    return Err(Error::input(format!(
                        "X has {} features, but the model was fitted with {expected}",
                        points.cols()
                    )));
                }
                let scaled = self.input_scale.points(points);
                let points = scaled.view();
                let need = 8 * points.rows() as u64 * training.view().rows() as u64;
                ctx.reserve(need, "the kernel values of the new rows", "transform fewer rows at a time")?;
                let matrix = kernel_matrix(points, training.view(), *kernel, ctx)?;
                self.formula.project_rows(matrix.view(), |value| value, ctx)?
            }
            (None, Data::Kernel(matrix)) => {
                check::check_width(matrix, self.formula.training_rows(), "kernel values")?;
                self.formula.project_rows(scaled_kernel(matrix, self.input_scale).view(), |value| value, ctx)?
            }
            (_, data) => {
                return Err(Error::input(format!(
                    "the model was fitted on another kind of data; new rows cannot come as {}",
                    data.kind()
                )));
            }
        };
        scale_back(placed.view_mut(), self.length_scale);
        Ok(placed)
    }
}
