//! The half of the writer that is about names: structs and maps, and the struct that is an
//! array of `ndarray`.

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, SerializeStruct, SerializeStructVariant};
use serde_json::{Map, Value};

use super::arrays::{Number, Numbers, number};
use super::writer::{Fault, NDARRAY, NDARRAY_FIELDS, Node, Step, Writer};

/// A struct or a map that is being written.
pub(super) struct Object<'w, 'a> {
    writer: &'w mut Writer<'a>,
    variant: Option<&'static str>,
    fields: Map<String, Value>,
    key: String,
    /// The parts of an array, as long as this looks like one.
    parts: Option<Vec<Node>>,
}

impl<'w, 'a> Object<'w, 'a> {
    pub(super) fn of(writer: &'w mut Writer<'a>, name: &'static str, variant: Option<&'static str>) -> Self {
        let parts = (name == NDARRAY).then(Vec::new);
        Object { writer, variant, fields: Map::new(), key: String::new(), parts }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Fault> {
        match &mut self.parts {
            Some(parts) if NDARRAY_FIELDS.get(parts.len()) == Some(&name) => {
                let node = self.writer.below(Step::Name(name.to_string()), value)?;
                parts.push(node);
            }
            Some(_) => return Err(Fault::custom("an array that is not made as ndarray makes them")),
            None => {
                let value = self.writer.settled(name, value)?;
                self.fields.insert(name.to_string(), value);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Node, Fault> {
        if let Some(parts) = self.parts.take() {
            match whole(parts) {
                Ok(array) => return Ok(Node::Numbers(array)),
                Err(parts) => {
                    for (name, part) in NDARRAY_FIELDS.iter().zip(parts) {
                        self.writer.path.push(Step::Name((*name).to_string()));
                        let value = self.writer.settle(part);
                        self.writer.path.pop();
                        self.fields.insert((*name).to_string(), value);
                    }
                }
            }
        }
        let value = Value::Object(self.fields);
        let Some(variant) = self.variant else { return Ok(Node::Json(value)) };
        self.writer.path.pop();
        Ok(Node::Json(Value::Object(Map::from_iter([(variant.to_string(), value)]))))
    }
}

/// The array that a version, a shape and numbers are; the parts again where there are no
/// numbers, or things that are none.
fn whole(mut parts: Vec<Node>) -> Result<Numbers, Vec<Node>> {
    let shape = match parts.as_slice() {
        [Node::Scalar(_), Node::Numbers(dim), Node::Numbers(data)] if data.shape.len() == 1 => shape_of(dim),
        _ => None,
    };
    let Some(shape) = shape else { return Err(parts) };
    match parts.pop() {
        Some(Node::Numbers(data)) => Ok(Numbers { shape, ..data }),
        _ => Err(parts),
    }
}

fn shape_of(dim: &Numbers) -> Option<Vec<usize>> {
    let sizes = dim.bytes.chunks_exact(dim.kind.width()).map(|bytes| match number(dim.kind, bytes) {
        Number::Unsigned(size) => usize::try_from(size).ok(),
        _ => None,
    });
    sizes.collect()
}

impl SerializeStruct for Object<'_, '_> {
    type Ok = Node;
    type Error = Fault;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.field(name, value)
    }
    fn end(self) -> Result<Node, Fault> {
        self.finish()
    }
}

impl SerializeStructVariant for Object<'_, '_> {
    type Ok = Node;
    type Error = Fault;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.field(name, value)
    }
    fn end(self) -> Result<Node, Fault> {
        self.finish()
    }
}

impl SerializeMap for Object<'_, '_> {
    type Ok = Node;
    type Error = Fault;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        match self.writer.below(Step::Place(self.fields.len()), key)? {
            Node::Json(Value::String(key)) => self.key = key,
            _ => return Err(Fault::custom("a map whose keys are not texts")),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let key = std::mem::take(&mut self.key);
        self.field(&key, value)
    }
    fn end(self) -> Result<Node, Fault> {
        self.finish()
    }
}
