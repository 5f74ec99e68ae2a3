//! Models as bytes: a header that names the format, the method and the version of the
//! library, a checksum, and the model itself.
//!
//! ```text
//! "planish model" | format (u16) | header length (u32) | header | checksum (u64) | model
//! ```

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};

/// How the bytes begin.
const MAGIC: &[u8] = b"planish model";
/// The format that is written, and the only one that is read.
const FORMAT: u16 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    method: String,
    version: String,
}

/// A model of `method` as bytes.
pub(super) fn write<M: Serialize>(method: &str, model: &M) -> Result<Vec<u8>> {
    let fault = |fault: postcard::Error| Error::Restore(fault.to_string());
    let header = Header { method: method.to_string(), version: env!("CARGO_PKG_VERSION").to_string() };
    let header = postcard::to_stdvec(&header).map_err(fault)?;
    let payload = postcard::to_stdvec(model).map_err(fault)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(&header);
    bytes.extend(checksum(&header, &payload).to_le_bytes());
    bytes.extend(&payload);
    Ok(bytes)
}

/// A model of `method` from bytes that [`write`] made; anything else is refused.
pub(crate) fn read<M: DeserializeOwned>(method: &str, bytes: &[u8]) -> Result<M> {
    let refuse = |why: String| Err(Error::Restore(why));
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return refuse("these bytes are not a model of planish".into());
    };
    let (format, rest) = split::<2>(rest)?;
    let format = u16::from_le_bytes(format);
    if format != FORMAT {
        return refuse(format!("its format is {format}, this version of planish reads format {FORMAT}"));
    }
    let (length, rest) = split::<4>(rest)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > rest.len() {
        return refuse("it is cut short".into());
    }
    let (header, rest) = rest.split_at(length);
    let (sum, payload) = split::<8>(rest)?;
    if checksum(header, payload) != u64::from_le_bytes(sum) {
        return refuse("its checksum is wrong: it is cut short or was changed".into());
    }
    let fault = |fault: postcard::Error| Error::Restore(fault.to_string());
    let header: Header = postcard::from_bytes(header).map_err(fault)?;
    if header.method != method {
        return refuse(format!("it is a model of {}, not of {method}", header.method));
    }
    postcard::from_bytes(payload)
        .map_err(|fault| Error::Restore(format!("{fault} (written by planish {})", header.version)))
}

fn split<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8])> {
    let cut = || Error::Restore("it is cut short".into());
    let (first, rest) = bytes.split_first_chunk::<N>().ok_or_else(cut)?;
    Ok((*first, rest))
}

/// FNV-1a over eight bytes at a time: finds any change of a bit.
fn checksum(header: &[u8], payload: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in [header, payload] {
        let words = part.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        for word in words.chain([part.len() as u64]) {
            hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
            hash ^= hash >> 29;
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_found() {
        let model: Vec<f64> = (0..20).map(f64::from).collect();
        let bytes = write("PCA", &model).unwrap();
        assert_eq!(read::<Vec<f64>>("PCA", &bytes).unwrap(), model);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(read::<Vec<f64>>("PCA", &changed), Err(Error::Restore(_))), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(read::<Vec<f64>>("PCA", &bytes[..length]).is_err(), "{length} bytes");
        }
        assert!(read::<Vec<f64>>("Isomap", &bytes).is_err(), "another method's model");
    }
}
