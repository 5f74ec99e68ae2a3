//! From the tree and its arrays to a model: a deserializer that finds an array where the tree names one.
//! No size is believed: arrays lie within the file, each is used once, no dimension is longer than it.

use std::cell::RefCell;
use std::collections::HashMap;

use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde_json::{Map, Value};

use super::arrays::{Number, View, number};
use super::writer::{Fault, NDARRAY, NDARRAY_FIELDS, TENSOR};

/// The arrays of a file by name; each is given out once.
pub(super) struct Arrays<'a> {
    left: RefCell<HashMap<&'a str, View<'a>>>,
    /// No dimension is longer.
    longest: usize,
}

impl<'a> Arrays<'a> {
    pub(super) fn new(arrays: impl Iterator<Item = (&'a str, View<'a>)>, longest: usize) -> Self {
        Arrays { left: RefCell::new(arrays.collect()), longest }
    }

    fn take(&self, name: &str) -> Result<View<'a>, Fault> {
        let found = self.left.borrow_mut().remove(name);
        let view = found.ok_or_else(|| Fault(format!("its array `{name}` is not there, or used twice")))?;
        if view.shape.contains(&0) {
            return Err(Fault(format!("its array `{name}` is empty")));
        }
        Ok(view)
    }
}

/// A part of the tree, or of an array.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Json(&'a Value, &'a Arrays<'a>),
    Array(View<'a>),
}

impl<'a> Part<'a> {
    /// The array that stands here, if one does.
    fn resolved(self) -> Result<Part<'a>, Fault> {
        if let Part::Json(Value::Object(fields), arrays) = self
            && let (1, Some(Value::String(name))) = (fields.len(), fields.get(TENSOR))
        {
            return arrays.take(name).map(Part::Array);
        }
        Ok(self)
    }
}

/// A number, and what else a visitor may be given at once.
fn visit_number<'de, V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, Fault> {
    match number {
        Number::Bool(flag) => visitor.visit_bool(flag),
        Number::Unsigned(count) => visitor.visit_u64(count),
        Number::Signed(count) => visitor.visit_i64(count),
        Number::Single(value) => visitor.visit_f32(value),
        Number::Double(value) => visitor.visit_f64(value),
    }
}

/// What a text stands for where a number is wanted.
pub(super) fn real(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

impl<'a> Deserializer<'a> for Part<'a> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.resolved()? {
            Part::Array(view) if view.shape.is_empty() => {
                visit_number(number(view.kind, view.bytes), visitor)
            }
            Part::Array(view) => visitor.visit_seq(Rows::of(view)),
            Part::Json(value, arrays) => match value {
                Value::Null => visitor.visit_unit(),
                Value::Bool(flag) => visitor.visit_bool(*flag),
                Value::String(text) => visitor.visit_borrowed_str(text),
                Value::Array(values) => visitor.visit_seq(Items { values: values.iter(), arrays }),
                Value::Object(fields) => {
                    visitor.visit_map(Fields { left: fields.iter(), value: None, arrays })
                }
                Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(count), ..) => visitor.visit_u64(count),
                    (_, Some(count), _) => visitor.visit_i64(count),
                    (_, _, Some(value)) => visitor.visit_f64(value),
                    _ => Err(Fault::custom("it has a number that is none")),
                },
            },
        }
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Part::Json(Value::String(text), _) => match real(text) {
                Some(value) => visitor.visit_f64(value),
                None => visitor.visit_str(text),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Part::Json(Value::Null, _) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name != NDARRAY {
            return self.deserialize_any(visitor);
        }
        match self.resolved()? {
            Part::Array(view) => visitor.visit_map(NdArray { view, at: 0 }),
            Part::Json(Value::Object(fields), arrays) => {
                check_shape(fields, arrays.longest)?;
                Part::Json(&Value::Null, arrays).visit_fields(fields, visitor)
            }
            Part::Json(..) => Err(Fault::custom("an array is expected")),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self {
            Part::Json(Value::String(variant), _) => visitor.visit_enum(variant.as_str().into_deserializer()),
            Part::Json(Value::Object(fields), arrays) if fields.len() == 1 => match fields.iter().next() {
                Some((name, value)) => visitor.visit_enum(Variant { name, value: Part::Json(value, arrays) }),
                None => Err(Fault::custom("a choice is expected")),
            },
            _ => Err(Fault::custom("a choice is expected")),
        }
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'a> Part<'a> {
    fn visit_fields<V: Visitor<'a>>(
        self,
        fields: &'a Map<String, Value>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self {
            Part::Json(_, arrays) => visitor.visit_map(Fields { left: fields.iter(), value: None, arrays }),
            Part::Array(_) => Err(Fault::custom("fields are expected")),
        }
    }
}

/// An array without numbers has a shape that only its tree tells: no dimension of it is
/// longer than the file.
fn check_shape(fields: &Map<String, Value>, longest: usize) -> Result<(), Fault> {
    let Some(Value::Array(dim)) = fields.get(NDARRAY_FIELDS[1]) else { return Ok(()) };
    let short = |size: &Value| size.as_u64().is_some_and(|size| size <= longest as u64);
    if dim.iter().all(short) { Ok(()) } else { Err(Fault::custom("an array is longer than the file")) }
}

/// The rows of an array, or its numbers.
struct Rows<'a> {
    view: View<'a>,
    each: usize,
    left: usize,
}

impl<'a> Rows<'a> {
    fn of(view: View<'a>) -> Self {
        let (left, inner) = view.shape.split_first().map_or((0, view.shape), |(left, inner)| (*left, inner));
        let each = view.kind.width() * inner.iter().product::<usize>();
        Rows { view: View { shape: inner, ..view }, each, left }
    }
}

impl<'a> SeqAccess<'a> for Rows<'a> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        if self.left == 0 {
            return Ok(None);
        }
        let (row, rest) =
            self.view.bytes.split_at_checked(self.each).ok_or_else(|| Fault::custom("cut short"))?;
        self.left -= 1;
        self.view.bytes = rest;
        seed.deserialize(Part::Array(View { bytes: row, ..self.view })).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// An array as the struct that `ndarray` reads: version, shape, numbers.
struct NdArray<'a> {
    view: View<'a>,
    at: usize,
}

impl<'a> MapAccess<'a> for NdArray<'a> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(name) = NDARRAY_FIELDS.get(self.at) else { return Ok(None) };
        self.at += 1;
        seed.deserialize(StrDeserializer::<Fault>::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        match self.at {
            1 => seed.deserialize(1_u8.into_deserializer()),
            2 => {
                let sizes = self.view.shape.iter().map(|&size| size as u64);
                seed.deserialize(SeqDeserializer::<_, Fault>::new(sizes))
            }
            _ => seed.deserialize(Flat(self.view)),
        }
    }
}

/// The numbers of an array in one sequence, whatever its shape.
struct Flat<'a>(View<'a>);

impl<'a> Deserializer<'a> for Flat<'a> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        let each = self.0.kind.width();
        visitor.visit_seq(Rows { view: View { shape: &[], ..self.0 }, each, left: self.0.bytes.len() / each })
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Items<'a> {
    values: std::slice::Iter<'a, Value>,
    arrays: &'a Arrays<'a>,
}

impl<'a> SeqAccess<'a> for Items<'a> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.values.next().map(|value| seed.deserialize(Part::Json(value, self.arrays))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

struct Fields<'a> {
    left: serde_json::map::Iter<'a>,
    value: Option<&'a Value>,
    arrays: &'a Arrays<'a>,
}

impl<'a> MapAccess<'a> for Fields<'a> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((name, value)) = self.left.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(StrDeserializer::<Fault>::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let value = self.value.take().ok_or_else(|| Fault::custom("a name without a value"))?;
        seed.deserialize(Part::Json(value, self.arrays))
    }
}

struct Variant<'a> {
    name: &'a str,
    value: Part<'a>,
}

impl<'a> EnumAccess<'a> for Variant<'a> {
    type Error = Fault;
    type Variant = Part<'a>;

    fn variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<(T::Value, Part<'a>), Fault> {
        let name = seed.deserialize(StrDeserializer::<Fault>::new(self.name))?;
        Ok((name, self.value))
    }
}

impl<'a> VariantAccess<'a> for Part<'a> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Err(Fault::custom("a choice has more in it than it should"))
    }
    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'a>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'a>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }
}
