//! A model as a tree of JSON and a list of arrays: everything that serde makes a sequence of
//! numbers, or an `ndarray`, is taken out of the tree and named by where it was.
//!
//! ```text
//! struct { scale: 2.0, axes: Array2, warnings: [] }
//!     ──►  {"scale": 2.0, "axes": {"$tensor": "model.axes"}, "warnings": []}  +  model.axes
//! ```

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Serializer};
use serde_json::{Map, Value};

use super::arrays::{Array, Kind, Number, Numbers, Scalar, number};
use super::structs::Object;

/// The key of an object that stands for an array.
pub(super) const TENSOR: &str = "$tensor";
/// How `ndarray` calls its arrays, and what they consist of.
pub(super) const NDARRAY: &str = "Array";
pub(super) const NDARRAY_FIELDS: [&str; 3] = ["v", "dim", "data"];

/// What cannot be written or read.
#[derive(Debug)]
pub(super) struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl ser::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault(message.to_string())
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault(message.to_string())
    }
}

/// Where in the tree something is.
pub(super) enum Step {
    Name(String),
    Place(usize),
}

/// The tree of `value`, with its arrays added to `arrays` under names that begin with `name`.
pub(super) fn write<T: Serialize + ?Sized>(
    name: &str,
    value: &T,
    arrays: &mut Vec<Array>,
) -> Result<Value, Fault> {
    let mut writer = Writer { path: vec![Step::Name(name.to_string())], arrays };
    let node = value.serialize(&mut writer)?;
    Ok(writer.settle(node))
}

/// What a part of the model has become.
pub(super) enum Node {
    /// A number: of a sequence, or of its own.
    Scalar(Scalar),
    /// Numbers of one kind: of a longer sequence, or an array.
    Numbers(Numbers),
    /// Anything else, its arrays taken out.
    Json(Value),
}

pub(super) struct Writer<'a> {
    pub(super) path: Vec<Step>,
    arrays: &'a mut Vec<Array>,
}

impl Writer<'_> {
    /// The tree of a node; an array is named by the path.
    pub(super) fn settle(&mut self, node: Node) -> Value {
        match node {
            Node::Json(value) => value,
            Node::Scalar(scalar) => json(scalar),
            Node::Numbers(Numbers { kind, shape, bytes }) => {
                let name = self.name();
                let mut object = Map::new();
                object.insert(TENSOR.to_string(), Value::String(name.clone()));
                self.arrays.push(Array { name, kind, shape, bytes });
                Value::Object(object)
            }
        }
    }

    fn name(&self) -> String {
        let steps = self.path.iter().map(|step| match step {
            Step::Name(name) => name.clone(),
            Step::Place(place) => place.to_string(),
        });
        steps.collect::<Vec<_>>().join(".")
    }

    pub(super) fn below<T: Serialize + ?Sized>(&mut self, step: Step, value: &T) -> Result<Node, Fault> {
        self.path.push(step);
        let node = value.serialize(&mut *self);
        self.path.pop();
        node
    }

    pub(super) fn settled<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<Value, Fault> {
        self.path.push(Step::Name(name.to_string()));
        let value = value.serialize(&mut *self).map(|node| self.settle(node));
        self.path.pop();
        value
    }
}

/// A number as JSON, which has no NaN and no infinity: they are texts.
fn json(scalar: Scalar) -> Value {
    match number(scalar.kind, &scalar.bits) {
        Number::Bool(flag) => Value::Bool(flag),
        Number::Unsigned(count) => Value::from(count),
        Number::Signed(count) => Value::from(count),
        Number::Single(value) => real(value.into()),
        Number::Double(value) => real(value),
    }
}

pub(super) fn real(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => Value::from("NaN"),
        None => Value::from(if value > 0.0 { "inf" } else { "-inf" }),
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty => $kind:ident),+) => {
        $(fn $method(self, value: $type) -> Result<Node, Fault> {
            let mut bits = [0; 8];
            let bytes = value.to_le_bytes();
            bits[..bytes.len()].copy_from_slice(&bytes);
            Ok(Node::Scalar(Scalar { kind: Kind::$kind, bits }))
        })+
    };
}

impl<'w, 'a> Serializer for &'w mut Writer<'a> {
    type Ok = Node;
    type Error = Fault;
    type SerializeSeq = Sequence<'w, 'a>;
    type SerializeTuple = Sequence<'w, 'a>;
    type SerializeTupleStruct = Sequence<'w, 'a>;
    type SerializeTupleVariant = Sequence<'w, 'a>;
    type SerializeMap = Object<'w, 'a>;
    type SerializeStruct = Object<'w, 'a>;
    type SerializeStructVariant = Object<'w, 'a>;

    scalars!(
        serialize_u8: u8 => U8, serialize_i8: i8 => I8, serialize_u16: u16 => U16, serialize_i16: i16 => I16,
        serialize_u32: u32 => U32, serialize_i32: i32 => I32, serialize_f32: f32 => F32,
        serialize_u64: u64 => U64, serialize_i64: i64 => I64, serialize_f64: f64 => F64
    );

    fn serialize_bool(self, value: bool) -> Result<Node, Fault> {
        let mut bits = [0; 8];
        bits[0] = u8::from(value);
        Ok(Node::Scalar(Scalar { kind: Kind::Bool, bits }))
    }
    fn serialize_char(self, value: char) -> Result<Node, Fault> {
        Ok(Node::Json(Value::from(value.to_string())))
    }
    fn serialize_str(self, value: &str) -> Result<Node, Fault> {
        Ok(Node::Json(Value::from(value)))
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<Node, Fault> {
        let (shape, bytes) = (vec![value.len()], value.to_vec());
        Ok(Node::Numbers(Numbers { kind: Kind::U8, shape, bytes }))
    }
    fn serialize_none(self) -> Result<Node, Fault> {
        Ok(Node::Json(Value::Null))
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Node, Fault> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Node, Fault> {
        Ok(Node::Json(Value::Null))
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Result<Node, Fault> {
        Ok(Node::Json(Value::Null))
    }
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Node, Fault> {
        Ok(Node::Json(Value::from(variant)))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Node, Fault> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Node, Fault> {
        let value = self.settled(variant, value)?;
        Ok(Node::Json(Value::Object(Map::from_iter([(variant.to_string(), value)]))))
    }
    fn serialize_seq(self, _length: Option<usize>) -> Result<Sequence<'w, 'a>, Fault> {
        Ok(Sequence::of(self, None))
    }
    fn serialize_tuple(self, _length: usize) -> Result<Sequence<'w, 'a>, Fault> {
        Ok(Sequence::of(self, None))
    }
    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<Sequence<'w, 'a>, Fault> {
        Ok(Sequence::of(self, None))
    }
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Sequence<'w, 'a>, Fault> {
        self.path.push(Step::Name(variant.to_string()));
        Ok(Sequence::of(self, Some(variant)))
    }
    fn serialize_map(self, _length: Option<usize>) -> Result<Object<'w, 'a>, Fault> {
        Ok(Object::of(self, "", None))
    }
    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<Object<'w, 'a>, Fault> {
        Ok(Object::of(self, name, None))
    }
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Object<'w, 'a>, Fault> {
        self.path.push(Step::Name(variant.to_string()));
        Ok(Object::of(self, "", Some(variant)))
    }
}

/// The items of a sequence: numbers as long as all of them are of one kind and shape.
enum Items {
    Numbers { kind: Kind, shape: Vec<usize>, bytes: Vec<u8> },
    Values(Vec<Value>),
}

/// A sequence that is being written.
pub(super) struct Sequence<'w, 'a> {
    writer: &'w mut Writer<'a>,
    variant: Option<&'static str>,
    items: Items,
    count: usize,
}

impl<'w, 'a> Sequence<'w, 'a> {
    fn of(writer: &'w mut Writer<'a>, variant: Option<&'static str>) -> Self {
        Sequence { writer, variant, items: Items::Values(Vec::new()), count: 0 }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let node = self.writer.below(Step::Place(self.count), value)?;
        let fits = match (&mut self.items, &node) {
            (Items::Numbers { kind, shape, bytes }, Node::Scalar(scalar))
                if *kind == scalar.kind && shape.is_empty() =>
            {
                bytes.extend_from_slice(&scalar.bits[..scalar.kind.width()]);
                true
            }
            (Items::Numbers { kind, shape, bytes }, Node::Numbers(numbers))
                if *kind == numbers.kind && *shape == numbers.shape =>
            {
                bytes.extend_from_slice(&numbers.bytes);
                true
            }
            _ => false,
        };
        if !fits {
            self.push_other(node);
        }
        self.count += 1;
        Ok(())
    }

    /// The first item, or one that is not like those before it.
    fn push_other(&mut self, node: Node) {
        if self.count == 0 {
            self.items = match node {
                Node::Scalar(Scalar { kind, bits }) => {
                    Items::Numbers { kind, shape: Vec::new(), bytes: bits[..kind.width()].to_vec() }
                }
                Node::Numbers(Numbers { kind, shape, bytes }) => Items::Numbers { kind, shape, bytes },
                Node::Json(value) => Items::Values(vec![value]),
            };
            return;
        }
        self.separate();
        self.writer.path.push(Step::Place(self.count));
        let value = self.writer.settle(node);
        self.writer.path.pop();
        if let Items::Values(values) = &mut self.items {
            values.push(value);
        }
    }

    /// Numbers so far become items of their own.
    fn separate(&mut self) {
        let Items::Numbers { kind, shape, bytes } = &self.items else { return };
        let (kind, shape) = (*kind, shape.clone());
        let each = kind.width() * shape.iter().product::<usize>();
        let mut values = Vec::with_capacity(self.count + 1);
        for (place, part) in bytes.chunks_exact(each.max(1)).enumerate() {
            if shape.is_empty() {
                let mut bits = [0; 8];
                bits[..part.len()].copy_from_slice(part);
                values.push(json(Scalar { kind, bits }));
                continue;
            }
            self.writer.path.push(Step::Place(place));
            let numbers = Numbers { kind, shape: shape.clone(), bytes: part.to_vec() };
            values.push(self.writer.settle(Node::Numbers(numbers)));
            self.writer.path.pop();
        }
        self.items = Items::Values(values);
    }

    fn finish(self) -> Result<Node, Fault> {
        let node = match self.items {
            Items::Values(values) => Node::Json(Value::Array(values)),
            Items::Numbers { kind, shape, bytes } => {
                let shape = std::iter::once(self.count).chain(shape).collect();
                Node::Numbers(Numbers { kind, shape, bytes })
            }
        };
        let Some(variant) = self.variant else { return Ok(node) };
        let value = self.writer.settle(node);
        self.writer.path.pop();
        Ok(Node::Json(Value::Object(Map::from_iter([(variant.to_string(), value)]))))
    }
}

macro_rules! sequences {
    ($($trait:ident::$method:ident),+) => {
        $(impl ser::$trait for Sequence<'_, '_> {
            type Ok = Node;
            type Error = Fault;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.push(value)
            }
            fn end(self) -> Result<Node, Fault> {
                self.finish()
            }
        })+
    };
}
sequences!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);
