//! A file that is read: what kind of thing it is, its header first, and the rest only when
//! the header allows it and there is memory for it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::container::{LENGTH, TELLING, header_length};
use super::first;
use super::writer::Fault;
use crate::context::available_memory;
use crate::error;

/// The open file and its length.
pub(super) fn open(path: &Path) -> Result<(File, u64), Fault> {
    // Asked for before it is opened: to open a pipe may take for ever.
    let about = fs::metadata(path).map_err(|fault| said(&fault))?;
    if about.is_dir() {
        return Err(Fault("it is a folder and not a model file".into()));
    }
    if !about.is_file() {
        return Err(Fault("it is a device or the like and not a model file".into()));
    }
    let file = File::open(path).map_err(|fault| said(&fault))?;
    let length = file.metadata().map_err(|fault| said(&fault))?.len();
    Ok((file, length))
}

/// The length and the header; of a file of format 1, or of another kind, as much as tells
/// what it is.
pub(super) fn head(mut file: File, length: u64) -> Result<(File, Vec<u8>), Fault> {
    let mut head = Vec::new();
    more(&mut file, &mut head, length.min(TELLING as u64))?;
    if !first::is_first(&head) {
        let end = LENGTH + header_length(&head, length)?;
        let missing = end.saturating_sub(head.len());
        more(&mut file, &mut head, missing as u64)?;
        head.truncate(end);
    }
    Ok((file, head))
}

/// The whole file, of which `head` was read.
pub(super) fn rest(mut file: File, mut head: Vec<u8>, length: u64) -> Result<Vec<u8>, Fault> {
    let left = length.saturating_sub(head.len() as u64);
    let free = available_memory();
    if left > free {
        let (need, free) = (error::bytes(left), error::bytes(free));
        return Err(Fault(format!("reading it takes {need} of memory, but only {free} are available")));
    }
    more(&mut file, &mut head, left)?;
    Ok(head)
}

/// This many bytes more; `count` is no more than the file has.
fn more(file: &mut File, bytes: &mut Vec<u8>, count: u64) -> Result<(), Fault> {
    let room = usize::try_from(count).ok().filter(|&room| bytes.try_reserve_exact(room).is_ok());
    let room = room.ok_or_else(|| Fault("there is not enough memory to read it".into()))?;
    let found = file.take(count).read_to_end(bytes).map_err(|fault| said(&fault))?;
    if found == room { Ok(()) } else { Err(Fault("it became shorter while it was read".into())) }
}

/// Why a file could not be read, for a person.
fn said(fault: &io::Error) -> Fault {
    Fault(match fault.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "there is no such file".into(),
        ErrorKind::PermissionDenied => "it may not be read by this user".into(),
        _ => fault.to_string(),
    })
}
