//! Parameters as data: one declaration per method gives the struct, its
//! defaults, a builder, and setting by name for callers that have a dictionary.
//!
//! Owned here: what a parameter value may be ([`Value`]), how it becomes a
//! typed field ([`Parameter`]), what a builder takes for it ([`IntoParam`]), and
//! the two macros `params!` and `choices!`. Whether a value is *legal* for a method
//! is the method's own check.

use ndarray::Array2;

use crate::error::{Error, Result};

/// A value as it crosses a border: a parameter coming in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing given.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A name.
    Str(String),
    /// Several numbers.
    Floats(Vec<f64>),
    /// A matrix of numbers.
    Matrix(Array2<f64>),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::None => write!(f, "None"),
            Value::Bool(flag) => write!(f, "{}", if *flag { "True" } else { "False" }),
            Value::Int(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number}"),
            Value::Str(name) => write!(f, "'{name}'"),
            Value::Floats(numbers) => write!(f, "an array of {} numbers", numbers.len()),
            Value::Matrix(matrix) => write!(f, "an array of shape {} x {}", matrix.nrows(), matrix.ncols()),
        }
    }
}

/// A type a parameter may have.
pub trait Parameter: Sized {
    /// The typed value, or nothing when `value` is not of this type.
    fn from_value(value: &Value) -> Option<Self>;
    /// The way back, for showing defaults.
    fn to_value(&self) -> Value;
    /// The type in words, for error messages.
    fn expected() -> String;
}

impl Parameter for usize {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => usize::try_from(*number).ok(),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        Value::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }
    fn expected() -> String {
        "a whole number >= 0".into()
    }
}

impl Parameter for i64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        Value::Int(*self)
    }
    fn expected() -> String {
        "a whole number".into()
    }
}

impl Parameter for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Float(number) => Some(*number),
            Value::Int(number) => Some(*number as f64),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        Value::Float(*self)
    }
    fn expected() -> String {
        "a number".into()
    }
}

impl Parameter for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
    fn expected() -> String {
        "True or False".into()
    }
}

impl Parameter for Array2<f64> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Matrix(matrix) => Some(matrix.clone()),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        Value::Matrix(self.clone())
    }
    fn expected() -> String {
        "a 2-dimensional array of numbers".into()
    }
}

impl<T: Parameter> Parameter for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::None, Parameter::to_value)
    }
    fn expected() -> String {
        format!("{} or None", T::expected())
    }
}

/// What a builder takes for a parameter of type `T`: a `T`, and for an optional
/// parameter also the value itself.
///
/// ```
/// use planish::methods::{Isomap, Pca};
///
/// let isomap = Isomap::default().n_components(3).n_neighbors(8);
/// assert_eq!((isomap.n_components.count(), isomap.n_neighbors), (3, Some(8)));
/// let isomap = isomap.n_neighbors(None).radius(0.5);
/// assert_eq!((isomap.n_neighbors, isomap.radius), (None, Some(0.5)));
/// assert_eq!(Pca::default().n_components(2), Pca::default().n_components(2_usize));
/// ```
pub trait IntoParam<T> {
    /// The parameter's value.
    fn into_param(self) -> T;
}

impl<T> IntoParam<T> for T {
    fn into_param(self) -> T {
        self
    }
}

impl<T> IntoParam<Option<T>> for T {
    fn into_param(self) -> Option<T> {
        Some(self)
    }
}

/// What every method's parameter struct can do; written by `params!`.
pub trait Params: Default {
    /// The method's name, the same in Rust and Python.
    const NAME: &'static str;
    /// Parameter names in order.
    const FIELDS: &'static [&'static str];

    /// Set one parameter by name.
    fn set(&mut self, name: &str, value: &Value) -> Result<()>;

    /// The current value of one parameter; nothing where there is none of that name.
    fn value(&self, name: &str) -> Option<Value>;

    /// Names and current values.
    fn values(&self) -> Vec<(&'static str, Value)>;
}

/// Set one field from a value, or say what was expected.
pub(crate) fn assign<T: Parameter>(field: &mut T, name: &str, value: &Value) -> Result<()> {
    *field = T::from_value(value).ok_or_else(|| Error::ParamType {
        name: name.to_string(),
        expected: T::expected(),
        got: value.to_string(),
    })?;
    Ok(())
}

/// Declares a method's parameters: struct, defaults, builder, set-by-name.
macro_rules! params {
    ($(#[$meta:meta])* $ty:ident as $name:literal {
        $( $(#[$field_meta:meta])* $field:ident : $t:ty = $default:expr, )+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $ty { $( $(#[$field_meta])* pub $field: $t, )+ }

        impl Default for $ty {
            fn default() -> Self { Self { $($field: $default,)+ } }
        }

        impl $ty {
            $( $(#[$field_meta])* pub fn $field(mut self, value: impl $crate::params::IntoParam<$t>) -> Self {
                self.$field = $crate::params::IntoParam::into_param(value);
                self
            } )+
        }

        impl $crate::params::Params for $ty {
            const NAME: &'static str = $name;
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),+];

            fn set(&mut self, name: &str, value: &$crate::params::Value) -> $crate::error::Result<()> {
                match name {
                    $( stringify!($field) => $crate::params::assign(&mut self.$field, name, value), )+
                    _ => Err($crate::error::Error::UnknownParam {
                        method: $name,
                        name: name.to_string(),
                        known: Self::FIELDS.join(", "),
                    }),
                }
            }

            fn value(&self, name: &str) -> Option<$crate::params::Value> {
                match name {
                    $( stringify!($field) => Some($crate::params::Parameter::to_value(&self.$field)), )+
                    _ => None,
                }
            }

            fn values(&self) -> Vec<(&'static str, $crate::params::Value)> {
                vec![$((stringify!($field), $crate::params::Parameter::to_value(&self.$field))),+]
            }
        }
    };
}
pub(crate) use params;

/// Declares an enum whose variants are parameter values by name; the first
/// name of a variant is the one it is shown by.
macro_rules! choices {
    ($(#[$meta:meta])* $ty:ident {
        $( $(#[$variant_meta:meta])* $variant:ident = $first:literal $(| $other:literal)*, )+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub enum $ty { $( $(#[$variant_meta])* $variant, )+ }

        impl $ty {
            /// Every choice.
            pub const ALL: &'static [$ty] = &[$( $ty::$variant ),+];

            /// The name a user writes.
            pub fn name(self) -> &'static str {
                match self { $( $ty::$variant => $first, )+ }
            }

            /// The choice of that name.
            pub fn from_name(name: &str) -> Option<$ty> {
                match name {
                    $( $first $(| $other)* => Some($ty::$variant), )+
                    _ => None,
                }
            }
        }

        impl $crate::params::Parameter for $ty {
            fn from_value(value: &$crate::params::Value) -> Option<Self> {
                match value {
                    $crate::params::Value::Str(name) => $ty::from_name(name),
                    _ => None,
                }
            }
            fn to_value(&self) -> $crate::params::Value {
                $crate::params::Value::Str(self.name().to_string())
            }
            fn expected() -> String {
                format!("one of {}", [$( concat!("'", $first, "'") ),+].join(", "))
            }
        }
    };
}
pub(crate) use choices;

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// Where the start comes from.
        Start {
            /// From the spectrum.
            Spectral = "spectral" | "pca",
            /// From the seed.
            Random = "random",
        }
    }

    params! {
        /// A method that takes a matrix.
        WithMatrix as "WithMatrix" {
            /// Where to start.
            init: Option<Array2<f64>> = None,
            /// Weights of the pairs.
            weights: Array2<f64> = Array2::eye(1),
            /// How to start without `init`.
            start: Start = Start::Spectral,
        }
    }

    #[test]
    fn a_matrix_is_a_parameter() {
        let given = Array2::from_shape_fn((3, 2), |(i, j)| (i + j) as f64);
        let mut method = WithMatrix::default();
        method.set("init", &Value::Matrix(given.clone())).unwrap();
        assert_eq!(method.init, Some(given.clone()));
        assert_eq!(
            method,
            WithMatrix::default().weights(Array2::eye(1)).start(Start::Spectral).init(given.clone())
        );
        assert_eq!(method.values()[0], ("init", Value::Matrix(given)));
        assert_eq!(method.values()[0].1.to_string(), "an array of shape 3 x 2");
        method.set("init", &Value::None).unwrap();
        assert_eq!(method, WithMatrix::default().init(None));
        let refused = method.set("weights", &Value::Floats(vec![1.0])).unwrap_err().to_string();
        assert!(refused.contains("weights") && refused.contains("2-dimensional"), "{refused}");
    }

    #[test]
    fn a_choice_goes_by_each_of_its_names_and_shows_the_first() {
        assert_eq!(Start::ALL, [Start::Spectral, Start::Random]);
        assert_eq!(Start::from_name("pca"), Some(Start::Spectral));
        assert_eq!(Start::from_name("pca").unwrap().to_value(), Value::Str("spectral".into()));
        let refused = WithMatrix::default().set("start", &Value::Str("x".into())).unwrap_err().to_string();
        assert!(refused.contains("one of 'spectral', 'random'"), "{refused}");
    }
}
