//! The container of model files: safetensors, with one entry `planish` in its metadata.
//!
//! ```text
//! length of the header (u64) | {"__metadata__": {"planish": "{\"format\":2,\"checksum\":\"…\",…}"},
//!                               "model.axes": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}, …}
//! bytes of the arrays, wide numbers first
//! ```
//!
//! The checksum is two numbers of 16 hexadecimal digits: of the length and the header, with the
//! first 16 digits zero, and of the arrays. So the header can be trusted before the arrays are
//! read, and every size in it is compared with the file before memory is taken.

use std::ops::Range;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::arrays::{Array, Kind};
use super::checksum::{Checksum, checksum};
use super::header::{FORMAT, Header};
use super::writer::Fault;

/// How the header of every model file begins; the number of the format follows.
const BEGINNING: &[u8] = br#"{"__metadata__":{"planish":"{\"format\":"#;
/// What stands between that number and the checksum.
const BETWEEN: &[u8] = br#",\"checksum\":\""#;
/// Digits of one half of the checksum.
const DIGITS: usize = 16;
/// Bytes of the header's length.
pub(super) const LENGTH: usize = 8;
/// A longer header is not written and not read.
pub(super) const LONGEST_HEADER: usize = 32 << 20;

const ENTRY: &str = "planish";

/// An array as the header describes it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub name: String,
    pub kind: Kind,
    pub shape: Vec<usize>,
    /// Where its bytes are, after the header.
    pub range: Range<usize>,
}

/// The beginning of a file, and the order of the arrays after it.
pub(super) fn lay_out(header: &Header, arrays: &[Array]) -> Result<(Vec<u8>, Vec<usize>), Fault> {
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(arrays[at].kind.width()));
    let (mut infos, mut at, mut data) = (Vec::with_capacity(arrays.len()), 0, Checksum::new());
    for Array { name, kind, shape, bytes } in order.iter().map(|&place| &arrays[place]) {
        data.add(bytes);
        let data_offsets = (at, at + bytes.len());
        at = data_offsets.1;
        infos.push((name.clone(), TensorInfo { dtype: dtype(*kind), shape: shape.clone(), data_offsets }));
    }
    let text = header.text(&"0".repeat(DIGITS), &format!("{:016x}", data.value()))?;
    let texts = [(ENTRY.to_string(), text)].into_iter().collect();
    let fault = |fault: &dyn std::fmt::Display| Fault(format!("it cannot be written as safetensors: {fault}"));
    let metadata = Metadata::new(Some(texts), infos).map_err(|why| fault(&why))?;
    let mut json = serde_json::to_vec(&metadata).map_err(|why| fault(&why))?;
    json.resize(json.len().next_multiple_of(LENGTH), b' ');
    if json.len() > LONGEST_HEADER {
        let (length, most) = (json.len(), LONGEST_HEADER);
        return Err(Fault(format!(
            "its parameters, names and texts take {length} bytes, more than the {most} a model file has room for"
        )));
    }
    let mut head = (json.len() as u64).to_le_bytes().to_vec();
    head.append(&mut json);
    let (_, digits) = place_of_checksum(&head[LENGTH..])?;
    let sum = checksum(&head);
    head[LENGTH + digits.start..][..DIGITS].copy_from_slice(format!("{sum:016x}").as_bytes());
    Ok((head, order))
}

/// The number of the format, and where the first half of the checksum is.
fn place_of_checksum(json: &[u8]) -> Result<(u32, Range<usize>), Fault> {
    let rest = json.strip_prefix(BEGINNING).ok_or_else(|| Fault("it is not a model file of planish".into()))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let format = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse::<u32>().ok());
    let format = format.ok_or_else(|| Fault("it has no number of its format".into()))?;
    if format > FORMAT {
        let version = env!("CARGO_PKG_VERSION");
        return Err(Fault(format!(
            "its format is {format}, and this version of planish ({version}) reads formats up to {FORMAT}; \
             install a newer planish"
        )));
    }
    let start = BEGINNING.len() + digits + BETWEEN.len();
    if !rest[digits..].starts_with(BETWEEN) || json.len() < start + 2 * DIGITS {
        return Err(Fault("it has no checksum".into()));
    }
    Ok((format, start..start + DIGITS))
}

/// What a header says, with its own checksum and all sizes checked; `length` is that of the
/// file.
pub(super) fn parse(head: &[u8], length: u64) -> Result<(Header, Vec<Entry>), Fault> {
    let json = head.get(LENGTH..).unwrap_or_default();
    let (_, digits) = place_of_checksum(json)?;
    let wrong = || Fault("its checksum is wrong: it was changed, or not written to its end".into());
    let mut plain = head.to_vec();
    plain[LENGTH + digits.start..][..DIGITS].fill(b'0');
    if json[digits.clone()] != *format!("{:016x}", checksum(&plain)).as_bytes() {
        return Err(wrong());
    }
    let fault = |why: &dyn std::fmt::Display| Fault(format!("its header is not one of safetensors: {why}"));
    let metadata: Metadata = serde_json::from_slice(json).map_err(|why| fault(&why))?;
    // The crate adds these numbers without looking whether the sum is one; we look.
    let declared = metadata.data_len() as u64;
    if declared.checked_add(head.len() as u64) != Some(length) {
        let there = length.saturating_sub(head.len() as u64);
        return Err(Fault(format!(
            "its arrays take {declared} bytes by its header, but {there} are there: it was cut short or changed"
        )));
    }
    let text = metadata.metadata().as_ref().and_then(|texts| texts.get(ENTRY));
    let header = Header::parse(text.ok_or_else(wrong)?)?;
    let entries = metadata.offset_keys().into_iter().filter_map(|name| {
        let info = metadata.info(&name)?;
        let kind = kind(info.dtype);
        let range = info.data_offsets.0..info.data_offsets.1;
        Some(kind.map(|kind| Entry { kind, shape: info.shape.clone(), range, name }))
    });
    Ok((header, entries.collect::<Result<_, Fault>>()?))
}

/// Whether these are the bytes of the arrays that were written.
pub(super) fn check_data(header: &Header, data: &[u8]) -> Result<(), Fault> {
    if header.data_checksum() == format!("{:016x}", checksum(data)) {
        return Ok(());
    }
    Err(Fault("the checksum of its arrays is wrong: they were changed".into()))
}

/// The length of the header, from the first bytes of a file that is `length` long.
pub(super) fn header_length(first: &[u8], length: u64) -> Result<usize, Fault> {
    if length == 0 {
        return Err(Fault("it is empty".into()));
    }
    let declared = first.first_chunk::<LENGTH>().map(|bytes| u64::from_le_bytes(*bytes));
    let after = first.get(LENGTH..).unwrap_or_default();
    let ours = after.len() >= BEGINNING.len() && after.starts_with(BEGINNING);
    let room = length.saturating_sub(LENGTH as u64);
    match declared {
        Some(declared) if ours && declared > room => Err(Fault(format!(
            "its header should take {declared} bytes, but {room} are there: it was cut short or changed"
        ))),
        Some(declared) if ours && declared > LONGEST_HEADER as u64 => {
            Err(Fault(format!("its header takes {declared} bytes, more than {LONGEST_HEADER}")))
        }
        Some(declared) if ours => Ok(declared as usize),
        _ => Err(Fault(foreign(first, after).into())),
    }
}

/// Bytes from the beginning of a file that tell what it is.
pub(super) const TELLING: usize = LENGTH + BEGINNING.len();

/// What a file is that is not ours.
fn foreign(first: &[u8], after: &[u8]) -> &'static str {
    match first {
        [0x80, 2..=5, ..] => {
            "it is a Python pickle and not a model file: read it with pickle, if you trust who wrote it"
        }
        [b'P', b'K', 3, 4, ..] => "it is a zip archive and not a model file",
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "it is an array of NumPy and not a model file",
        _ if after.starts_with(b"{\"") => "it is a safetensors file, but not a model of planish",
        _ => "it is not a model file of planish",
    }
}

fn dtype(kind: Kind) -> Dtype {
    match kind {
        Kind::Bool => Dtype::BOOL,
        Kind::U8 => Dtype::U8,
        Kind::I8 => Dtype::I8,
        Kind::U16 => Dtype::U16,
        Kind::I16 => Dtype::I16,
        Kind::U32 => Dtype::U32,
        Kind::I32 => Dtype::I32,
        Kind::F32 => Dtype::F32,
        Kind::U64 => Dtype::U64,
        Kind::I64 => Dtype::I64,
        Kind::F64 => Dtype::F64,
    }
}

fn kind(dtype: Dtype) -> Result<Kind, Fault> {
    Ok(match dtype {
        Dtype::BOOL => Kind::Bool,
        Dtype::U8 => Kind::U8,
        Dtype::I8 => Kind::I8,
        Dtype::U16 => Kind::U16,
        Dtype::I16 => Kind::I16,
        Dtype::U32 => Kind::U32,
        Dtype::I32 => Kind::I32,
        Dtype::F32 => Kind::F32,
        Dtype::U64 => Kind::U64,
        Dtype::I64 => Kind::I64,
        Dtype::F64 => Kind::F64,
        other => return Err(Fault(format!("it has an array of {other}, which no model has"))),
    })
}
