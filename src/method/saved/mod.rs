//! Models as files and as bytes, the same in Rust and Python.
//!
//! ```text
//! Fitted ──writer──► tree + arrays ──container──► bytes ──atomic──► file
//! Fitted ◄──reader── tree + arrays ◄──container── bytes, each size and the checksum checked
//! ```
//!
//! Format 2 is a safetensors file (`container`) with one JSON header (`header`). Format 1 was
//! bytes of postcard (`first`) and is still read. Nothing that is read is executed.

pub(crate) mod arrays;
mod atomic;
mod checksum;
mod container;
mod first;
pub(crate) mod header;
mod reader;
mod sequence;
mod source;
mod structs;
mod writer;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};

use super::{Fitted, Model};
use crate::error::{Error, Result};
use crate::input::Data;
use crate::params::Value;
use arrays::{Array, View};
pub(crate) use container::Entry;
use header::Header;
use writer::Fault;

/// Bytes that are written between two questions whether to go on.
const PART: usize = 1 << 22;

/// What a model knows about its fit besides what it computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// Names and values of the parameters.
    pub parameters: Vec<(String, Value)>,
    /// Rows and columns of the data.
    pub rows: Option<usize>,
    pub features: Option<usize>,
    /// The kind of data.
    pub data: Option<String>,
}

impl About {
    /// What was given to a fit.
    pub(crate) fn data(data: Data<'_>) -> About {
        let (kind, features) = match data {
            Data::Points(points) => ("points", points.cols()),
            Data::Neighborhoods { points, .. } => ("neighborhoods", points.cols()),
            Data::Distances(matrix) => ("distances", matrix.ncols()),
            Data::Kernel(matrix) => ("kernel", matrix.ncols()),
            Data::Graph(graph) => ("graph", graph.rows()),
        };
        let (rows, features, data) = (Some(data.rows()), Some(features), Some(kind.to_string()));
        About { parameters: Vec::new(), rows, features, data }
    }
}

/// A model taken apart, ready to be written.
pub struct Package {
    pub(crate) header: Header,
    pub(crate) arrays: Vec<Array>,
}

impl Package {
    /// Everything in one piece.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let (mut bytes, order) = container::lay_out(&self.header, &self.arrays).map_err(Fault::restoring)?;
        bytes.reserve_exact(self.arrays.iter().map(|array| array.bytes.len()).sum());
        order.iter().for_each(|&place| bytes.extend_from_slice(&self.arrays[place].bytes));
        Ok(bytes)
    }

    /// Into a file, all of it or nothing; `check` is asked every few milliseconds whether to
    /// go on.
    pub(crate) fn write(&self, path: &Path, check: impl Fn() -> Result<()>) -> Result<()> {
        let (head, order) =
            container::lay_out(&self.header, &self.arrays).map_err(|why| why.writing(path))?;
        let mut stopped = None;
        let written = atomic::write(path, |file: &mut dyn Write| {
            file.write_all(&head)?;
            let arrays = order.iter().map(|&place| &self.arrays[place].bytes);
            for part in arrays.flat_map(|bytes| bytes.chunks(PART)) {
                if let Err(error) = check() {
                    stopped = Some(error);
                    return Err(ErrorKind::Interrupted.into());
                }
                file.write_all(part)?;
            }
            Ok(())
        });
        match stopped {
            Some(error) => Err(error),
            None => written.map_err(|why| why.writing(path)),
        }
    }
}

impl Fault {
    fn reading(self, path: &Path) -> Error {
        Error::ModelFile { path: path.display().to_string(), why: format!("cannot be read: {}", self.0) }
    }

    fn writing(self, path: &Path) -> Error {
        Error::ModelFile { path: path.display().to_string(), why: format!("cannot be written: {}", self.0) }
    }

    fn restoring(self) -> Error {
        Error::Restore(self.0)
    }
}

impl<M: Model + Serialize> Fitted<M> {
    /// The model taken apart.
    pub(crate) fn package(&self) -> Result<Package> {
        let mut arrays = Vec::new();
        let model = writer::write("", self, &mut arrays).map_err(Fault::restoring)?;
        let header = Header::of(&self.method, &self.about, model, &mut arrays).map_err(Fault::restoring)?;
        Ok(Package { header, arrays })
    }

    /// The model as bytes: those of its file. Read by the method's `restore` or
    /// [`crate::methods::restore`].
    ///
    /// # Errors
    /// A model that cannot be written.
    pub fn save(&self) -> Result<Vec<u8>> {
        self.package()?.to_bytes()
    }

    /// Write the model into a file, which the method's `load`, [`crate::methods::load`] and
    /// Python's `planish.load` read.
    ///
    /// A safetensors file with the name of the method, its parameters, the version of the
    /// library and a checksum. It is written beside `path` first and then takes its name, so
    /// that a file that was there is the old or the new one, whatever happens.
    ///
    /// # Errors
    /// A folder that is not there or not writable, a full disk: nothing is left behind.
    pub fn save_to(&self, path: impl AsRef<Path>) -> Result<()> {
        self.package()?.write(path.as_ref(), || Ok(()))
    }
}

/// A file that was read and is what it says, or bytes of format 1.
pub(crate) enum Saved<'a> {
    First(first::Header, Cow<'a, [u8]>),
    Now(Box<Contents<'a>>),
}

/// The parts of a file.
pub(crate) struct Contents<'a> {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Entry>,
    bytes: Cow<'a, [u8]>,
    /// Where the arrays begin.
    start: usize,
}

impl Contents<'_> {
    pub(crate) fn view<'b>(&'b self, entry: &'b Entry) -> View<'b> {
        let bytes = self.bytes[self.start..].get(entry.range.clone()).unwrap_or_default();
        View { kind: entry.kind, shape: &entry.shape, bytes }
    }

    fn array(&self, name: &str) -> Option<View<'_>> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| self.view(entry))
    }

    fn model<M: Model + DeserializeOwned>(&self) -> std::result::Result<Fitted<M>, Fault> {
        let named = self.entries.iter().map(|entry| (entry.name.as_str(), self.view(entry)));
        let arrays = reader::Arrays::new(named, self.bytes.len());
        let version = &self.header.version;
        let fitted =
            <Fitted<M> as serde::Deserialize>::deserialize(reader::Part::Json(&self.header.model, &arrays));
        let mut fitted = fitted.map_err(|why| {
            Fault(format!("its model does not fit together: {why} (written by planish {version})"))
        })?;
        if fitted.method != self.header.method {
            return Err(Fault(format!("it is called {} and holds {}", self.header.method, fitted.method)));
        }
        fitted.about = self.header.about(|name| self.array(name));
        Ok(fitted)
    }
}

impl<'a> Saved<'a> {
    /// From bytes that are all there.
    fn from_bytes(bytes: Cow<'a, [u8]>) -> std::result::Result<Saved<'a>, Fault> {
        if first::is_first(&bytes) {
            return first::header(&bytes).map(|header| Saved::First(header, bytes));
        }
        let length = bytes.len() as u64;
        let start = container::LENGTH
            + container::header_length(&bytes[..bytes.len().min(container::TELLING)], length)?;
        let (header, entries) = container::parse(&bytes[..start], length)?;
        container::check_data(&header, &bytes[start..])?;
        Ok(Saved::Now(Box::new(Contents { header, entries, bytes, start })))
    }

    /// The name of the method.
    pub(crate) fn method(&self) -> &str {
        match self {
            Saved::First(header, _) => &header.method,
            Saved::Now(contents) => &contents.header.method,
        }
    }

    /// The model, if it is one of `method`.
    fn model<M: Model + DeserializeOwned>(&self, method: &str) -> std::result::Result<Fitted<M>, Fault> {
        if self.method() != method {
            return Err(Fault(format!("it is a model of {}, not of {method}", self.method())));
        }
        let fitted: Fitted<M> = match self {
            Saved::First(_, bytes) => first::read(bytes)?,
            Saved::Now(contents) => contents.model()?,
        };
        let parts = fitted.model.check_parts();
        parts.map_err(|why| Fault(format!("its model does not fit together: {why}")))?;
        Ok(fitted)
    }

    /// From a file.
    pub(crate) fn open(path: &Path) -> Result<Saved<'static>> {
        let contents = source::open(path).and_then(|(file, length)| {
            let (file, head) = source::head(file, length)?;
            if !first::is_first(&head) {
                // Whatever the header alone can tell, before memory is taken for the rest.
                container::parse(&head, length)?;
            }
            source::rest(file, head, length)
        });
        contents.and_then(|bytes| Saved::from_bytes(Cow::Owned(bytes))).map_err(|why| why.reading(path))
    }

    /// The model of a file, if it is one of `method`.
    pub(crate) fn model_of_file<M: Model + DeserializeOwned>(
        &self,
        method: &str,
        path: &Path,
    ) -> Result<Fitted<M>> {
        self.model(method).map_err(|why| why.reading(path))
    }
}

/// The model of `method` in a file.
pub(crate) fn load<M: Model + DeserializeOwned>(method: &str, path: &Path) -> Result<Fitted<M>> {
    Saved::open(path)?.model_of_file(method, path)
}

/// The model of `method` that [`Fitted::save`] wrote; anything else is refused.
pub(crate) fn read<M: Model + DeserializeOwned>(method: &str, bytes: &[u8]) -> Result<Fitted<M>> {
    Saved::from_bytes(Cow::Borrowed(bytes)).and_then(|saved| saved.model(method)).map_err(Fault::restoring)
}

/// What a file says about itself: its header, its arrays, and how long it is. The arrays are
/// not read.
#[cfg_attr(not(feature = "python"), allow(dead_code))]
pub(crate) fn inspect(path: &Path) -> Result<(Header, Vec<Entry>, u64)> {
    let found = source::open(path).and_then(|(file, length)| {
        let (_, head) = source::head(file, length)?;
        if first::is_first(&head) {
            return Err(Fault(
                "its format is 1, which has no header to look at; it can be loaded in Rust".into(),
            ));
        }
        let (header, entries) = container::parse(&head, length)?;
        Ok((header, entries, length))
    });
    found.map_err(|why| why.reading(path))
}
