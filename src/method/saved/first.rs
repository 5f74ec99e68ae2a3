//! Format 1, which planish wrote into pickles and returned as bytes before there were model
//! files: a header that names method and version, a checksum, and the model as postcard has
//! it. It is read and no longer written.
//!
//! ```text
//! "planish model" | format (u16) | header length (u32) | header | checksum (u64) | model
//! ```

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::writer::Fault;

/// How the bytes begin.
const MAGIC: &[u8] = b"planish model";
/// The only format of this kind.
const FORMAT: u16 = 1;

/// What the bytes say about themselves.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    pub method: String,
    version: String,
}

/// Whether bytes begin as these do.
pub(super) fn is_first(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// What the bytes say about themselves, their checksum compared.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Fault> {
    parts(bytes).map(|(header, _)| header)
}

/// The model.
pub(super) fn read<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, Fault> {
    let (header, payload) = parts(bytes)?;
    postcard::from_bytes(payload).map_err(|why| Fault(format!("{why} (written by planish {})", header.version)))
}

fn parts(bytes: &[u8]) -> Result<(Header, &[u8]), Fault> {
    let refuse = |why: &str| Err(Fault(why.into()));
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return refuse("these bytes are not a model of planish");
    };
    let (format, rest) = split::<2>(rest)?;
    let format = u16::from_le_bytes(format);
    if format != FORMAT {
        return Err(Fault(format!("its format is {format}, and files of this kind are of format {FORMAT}")));
    }
    let (length, rest) = split::<4>(rest)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > rest.len() {
        return refuse("it is cut short");
    }
    let (header, rest) = rest.split_at(length);
    let (sum, payload) = split::<8>(rest)?;
    if checksum(header, payload) != u64::from_le_bytes(sum) {
        return refuse("its checksum is wrong: it is cut short or was changed");
    }
    let header = postcard::from_bytes(header).map_err(|why| Fault(why.to_string()))?;
    Ok((header, payload))
}

fn split<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), Fault> {
    let cut = || Fault("it is cut short".into());
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

    /// What planish wrote as long as this was its format.
    fn write<M: Serialize>(method: &str, model: &M) -> Vec<u8> {
        let header = Header { method: method.to_string(), version: "0.0.1".to_string() };
        let (header, payload) = (postcard::to_stdvec(&header).unwrap(), postcard::to_stdvec(model).unwrap());
        let parts: [&[u8]; 6] = [
            MAGIC,
            &FORMAT.to_le_bytes(),
            &(header.len() as u32).to_le_bytes(),
            &header,
            &checksum(&header, &payload).to_le_bytes(),
            &payload,
        ];
        parts.concat()
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let model: Vec<f64> = (0..20).map(f64::from).collect();
        let bytes = write("PCA", &model);
        assert_eq!(read::<Vec<f64>>(&bytes).unwrap(), model);
        assert_eq!(header(&bytes).unwrap().method, "PCA");
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(read::<Vec<f64>>(&changed).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(read::<Vec<f64>>(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}
