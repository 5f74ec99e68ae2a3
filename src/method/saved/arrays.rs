//! Arrays of numbers on their way between a model and a file: a kind of number, a shape, and
//! little-endian bytes.

/// A kind of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

impl Kind {
    const NAMES: [(Kind, &'static str, usize); 11] = [
        (Kind::Bool, "bool", 1),
        (Kind::U8, "uint8", 1),
        (Kind::I8, "int8", 1),
        (Kind::U16, "uint16", 2),
        (Kind::I16, "int16", 2),
        (Kind::U32, "uint32", 4),
        (Kind::I32, "int32", 4),
        (Kind::F32, "float32", 4),
        (Kind::U64, "uint64", 8),
        (Kind::I64, "int64", 8),
        (Kind::F64, "float64", 8),
    ];

    /// NumPy's name for it.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Bytes of one number.
    pub(crate) fn width(self) -> usize {
        Self::NAMES[self as usize].2
    }

    /// The kind of that name.
    #[cfg_attr(not(feature = "python"), allow(dead_code))]
    pub(crate) fn from_name(name: &str) -> Option<Kind> {
        Self::NAMES.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }
}

/// Numbers of one kind that have no name yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    pub kind: Kind,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

/// An array of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub name: String,
    pub kind: Kind,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

/// An array of a file that is lent, or a part of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub kind: Kind,
    pub shape: &'a [usize],
    pub bytes: &'a [u8],
}

/// One number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scalar {
    pub kind: Kind,
    pub bits: [u8; 8],
}

/// A number as Rust has it.
pub(super) enum Number {
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Single(f32),
    Double(f64),
}

/// The first `N` bytes; a caller gives at least as many.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk::<N>().copied().unwrap_or([0; N])
}

/// The number in these bytes, of which there are at least as many as the kind is wide.
pub(super) fn number(kind: Kind, bytes: &[u8]) -> Number {
    match kind {
        Kind::Bool => Number::Bool(bytes.first() != Some(&0)),
        Kind::U8 => Number::Unsigned(u8::from_le_bytes(first(bytes)).into()),
        Kind::I8 => Number::Signed(i8::from_le_bytes(first(bytes)).into()),
        Kind::U16 => Number::Unsigned(u16::from_le_bytes(first(bytes)).into()),
        Kind::I16 => Number::Signed(i16::from_le_bytes(first(bytes)).into()),
        Kind::U32 => Number::Unsigned(u32::from_le_bytes(first(bytes)).into()),
        Kind::I32 => Number::Signed(i32::from_le_bytes(first(bytes)).into()),
        Kind::F32 => Number::Single(f32::from_le_bytes(first(bytes))),
        Kind::U64 => Number::Unsigned(u64::from_le_bytes(first(bytes))),
        Kind::I64 => Number::Signed(i64::from_le_bytes(first(bytes))),
        Kind::F64 => Number::Double(f64::from_le_bytes(first(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_kinds_is_in_their_order() {
        for (place, (kind, name, width)) in Kind::NAMES.into_iter().enumerate() {
            assert_eq!((kind as usize, kind.name(), kind.width()), (place, name, width));
            assert_eq!(Kind::from_name(name), Some(kind));
        }
    }
}
