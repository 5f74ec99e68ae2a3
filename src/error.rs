//! The only error type of the crate, and the only list of warnings.
//!
//! Every error names what is wrong (the parameter, the row or the pair) and
//! what to do about it. The Python module maps each variant to an exception in
//! one table (`src/python/errors.rs`); a test compares the two lists.

use thiserror::Error;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, each variant with what a user needs to act.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter has a value the method cannot use.
    #[error("parameter `{name}`: {why}")]
    Param {
        /// The parameter's name, as the user wrote it.
        name: &'static str,
        /// What is wrong with it and what would be right.
        why: String,
    },
    /// A parameter has a value of the wrong type.
    #[error("parameter `{name}`: expected {expected}, got {got}")]
    ParamType {
        /// The parameter's name.
        name: String,
        /// The type the method takes.
        expected: String,
        /// What was given.
        got: String,
    },
    /// No method of that name is registered.
    #[error("unknown method `{0}`; known methods: {1}")]
    UnknownMethod(String, String),
    /// The method has no parameter of that name.
    #[error("method `{method}` has no parameter `{name}`; it has: {known}")]
    UnknownParam {
        /// The method.
        method: &'static str,
        /// The unknown name.
        name: String,
        /// The names it does have.
        known: String,
    },
    /// The input data cannot be used; the message names the row or the pair.
    #[error("{0}")]
    Input(String),
    /// The fitted object cannot do that.
    #[error("{0}")]
    Unsupported(String),
    /// The neighbourhood graph is not connected and the policy is `error`.
    #[error(
        "the number of connected components of the graph is {count} (sizes {sizes}); {remedy}, or choose another \
         value of `disconnected`"
    )]
    Disconnected {
        /// Number of components.
        count: usize,
        /// The largest sizes, written out.
        sizes: String,
        /// Component of each row.
        labels: Vec<usize>,
        /// What would connect them.
        remedy: String,
    },
    /// The job needs more memory than the machine has free.
    #[error("{what} needs {} but only {} is available; {hint}", bytes(*.need), bytes(*.available))]
    Memory {
        /// What the memory would be for.
        what: String,
        /// Bytes needed.
        need: u64,
        /// Bytes available.
        available: u64,
        /// What to do instead.
        hint: String,
    },
    /// An iteration did not reach its tolerance and the result is of no use.
    #[error("{0}")]
    NotConverged(String),
    /// A saved model cannot be read back.
    #[error("cannot restore the saved model: {0}")]
    Restore(String),
    /// A model file cannot be read or written.
    #[error("the model file '{path}' {why}")]
    ModelFile {
        /// The path, as it was given.
        path: String,
        /// What is wrong with it and what would be right.
        why: String,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// A refusal of parameter `name`.
    pub(crate) fn param(name: &'static str, why: impl Into<String>) -> Self {
        Error::Param { name, why: why.into() }
    }

    /// A refusal of the data.
    pub(crate) fn input(why: impl Into<String>) -> Self {
        Error::Input(why.into())
    }
}

/// Something the user should know although the result stands.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// Which kind, for filtering.
    pub kind: WarningKind,
    /// The full sentence, with what to do.
    pub message: String,
}

/// The kinds of [`Warning`]; each is a Python warning class of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum WarningKind {
    /// The distances are not Euclidean: eigenvalues below zero matter.
    NegativeEigenvalue,
    /// The graph had several connected components and the policy acted on them.
    Disconnected,
    /// An iteration stopped before its tolerance.
    Convergence,
    /// The input was changed within tolerance (symmetrised, rescaled).
    InputAdjusted,
    /// Some components carry no information (rank below `n_components`).
    RankDeficient,
    /// Memory is short and a slower algorithm is used.
    Slow,
    /// Rows far from all others were left out of the fit.
    Outlier,
    /// Edges of the graph join what is far apart on the manifold.
    Shortcut,
    /// The dimension that was chosen from the data is uncertain.
    Dimension,
    /// An approximate search missed more of the nearest neighbours than it should.
    LowRecall,
}

impl WarningKind {
    /// All kinds, for the test that compares them with Python's classes.
    pub const ALL: &'static [WarningKind] = &[
        WarningKind::NegativeEigenvalue,
        WarningKind::Disconnected,
        WarningKind::Convergence,
        WarningKind::InputAdjusted,
        WarningKind::RankDeficient,
        WarningKind::Slow,
        WarningKind::Outlier,
        WarningKind::Shortcut,
        WarningKind::Dimension,
        WarningKind::LowRecall,
    ];

    /// The Python class name of this kind.
    pub fn class_name(self) -> &'static str {
        match self {
            WarningKind::NegativeEigenvalue => "NegativeEigenvalueWarning",
            WarningKind::Disconnected => "DisconnectedGraphWarning",
            WarningKind::Convergence => "ConvergenceWarning",
            WarningKind::InputAdjusted => "InputAdjustedWarning",
            WarningKind::RankDeficient => "RankDeficientWarning",
            WarningKind::Slow => "SlowWarning",
            WarningKind::Outlier => "OutlierWarning",
            WarningKind::Shortcut => "ShortcutWarning",
            WarningKind::Dimension => "DimensionWarning",
            WarningKind::LowRecall => "LowRecallWarning",
        }
    }
}

/// Bytes in the unit a person reads.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let size = count as f64;
    for (unit, scale) in UNITS {
        if size >= scale {
            return format!("{:.1} {unit}", size / scale);
        }
    }
    format!("{count} bytes")
}
