//! The checksum of model files: FNV-1a over words of eight bytes, little-endian, each step
//! followed by a shift, the last word filled up with zeros, and the number of bytes at the
//! end. Every step can be undone, so a change within one word is always found.

/// A checksum of what it was given so far.
pub(super) struct Checksum {
    hash: u64,
    word: [u8; 8],
    filled: usize,
    length: u64,
}

impl Checksum {
    pub(super) fn new() -> Self {
        Checksum { hash: 0xcbf2_9ce4_8422_2325, word: [0; 8], filled: 0, length: 0 }
    }

    fn step(hash: u64, word: u64) -> u64 {
        let hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^ (hash >> 29)
    }

    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        while self.filled > 0 && !bytes.is_empty() {
            self.push(bytes[0]);
            bytes = &bytes[1..];
        }
        let (words, rest) = bytes.as_chunks::<8>();
        self.hash = words.iter().fold(self.hash, |hash, word| Self::step(hash, u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.push(*byte));
    }

    fn push(&mut self, byte: u8) {
        self.word[self.filled] = byte;
        self.filled += 1;
        if self.filled == self.word.len() {
            self.hash = Self::step(self.hash, u64::from_le_bytes(self.word));
            (self.word, self.filled) = ([0; 8], 0);
        }
    }

    pub(super) fn value(&self) -> u64 {
        let last = if self.filled > 0 { Self::step(self.hash, u64::from_le_bytes(self.word)) } else { self.hash };
        Self::step(last, self.length)
    }
}

/// The checksum of bytes that are there at once.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.add(bytes);
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_matter_in_how_many_parts_the_bytes_come() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1003).collect();
        for cut in 0..40 {
            let mut sum = Checksum::new();
            bytes.chunks(cut + 1).for_each(|part| sum.add(part));
            assert_eq!(sum.value(), checksum(&bytes), "parts of {} bytes", cut + 1);
        }
        assert_ne!(checksum(&bytes[..1000]), checksum(&[&bytes[..1000], &[0][..]].concat()));
    }
}
