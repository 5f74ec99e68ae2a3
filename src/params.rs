//! Parameters as data: one declaration per method gives the struct, its
//! defaults, a builder, and setting by name for callers that hold a dictionary.
//!
//! Owned here: what a parameter value may be ([`Value`]), how it becomes a
//! typed field ([`Parameter`]), and the two macros `params!` and `choices!`.
//! Whether a value is *legal* for a method is the method's own check.

use crate::error::{Error, Result};

/// A value as it crosses a border: a parameter coming in.
#[derive(Debug, Clone, PartialEq)]
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

/// What every method's parameter struct can do; written by `params!`.
pub trait Params: Default {
    /// The method's name, the same in Rust and Python.
    const NAME: &'static str;
    /// Parameter names in order.
    const FIELDS: &'static [&'static str];

    /// Set one parameter by name.
    fn set(&mut self, name: &str, value: &Value) -> Result<()>;

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
        pub struct $ty { $( $(#[$field_meta])* pub $field: $t, )+ }

        impl Default for $ty {
            fn default() -> Self { Self { $($field: $default,)+ } }
        }

        impl $ty {
            $( $(#[$field_meta])* pub fn $field(mut self, value: impl Into<$t>) -> Self {
                self.$field = value.into();
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
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $ty { $( $(#[$variant_meta])* $variant, )+ }

        impl $ty {
            /// The name a user writes.
            pub fn name(self) -> &'static str {
                match self { $( $ty::$variant => $first, )+ }
            }
        }

        impl $crate::params::Parameter for $ty {
            fn from_value(value: &$crate::params::Value) -> Option<Self> {
                let $crate::params::Value::Str(name) = value else { return None };
                match name.as_str() {
                    $( $first $(| $other)* => Some($ty::$variant), )+
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
