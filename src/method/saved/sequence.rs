//! Sequences on their way into the tree: numbers of one kind and shape are one array, and
//! anything else is a list of what its items became.

use serde::Serialize;
use serde::ser;
use serde_json::{Map, Value};

use super::arrays::{Kind, Numbers, Scalar};
use super::writer::{Fault, Node, Step, Writer, json};

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
    pub(super) fn of(writer: &'w mut Writer<'a>, variant: Option<&'static str>) -> Self {
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
        for place in 0..self.count {
            let part = &bytes[place * each..(place + 1) * each];
            if shape.is_empty() {
                let mut bits = [0; 8];
                bits[..each].copy_from_slice(part);
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
