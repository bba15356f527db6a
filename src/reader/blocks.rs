//! Splits a file into blocks of whole lines.

use std::io::{self, Read};

/// Limit of a line in bytes. A longer one is not a trace's, and must not fill the memory.
pub(super) const LONGEST: usize = 1 << 28;

/// Size of a block in bytes, unless a line is longer: small enough to stay in the processor's cache
/// until it is parsed.
const BLOCK: usize = 1 << 18;

/// Reads `input` block by block.
pub(super) struct Blocks<'a> {
    input: Box<dyn Read + 'a>,
    size: usize,
    /// Beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    is_at_end: bool,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(input: Box<dyn Read + 'a>) -> Blocks<'a> {
        Blocks { input, size: BLOCK, rest: Vec::new(), is_at_end: false }
    }

    /// True once the last block was returned.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end && self.rest.is_empty()
    }

    /// Returns the next block: whole lines with their newlines, which only the file's last line may
    /// lack; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = std::mem::take(&mut self.rest);
        while !self.is_at_end {
            if bytes.len() >= LONGEST {
                let what = "a line of more than 256 MiB: this is no trace";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            let wanted = self.size.max(bytes.len());
            bytes.reserve(wanted);
            let read = (&mut self.input).take(wanted as u64).read_to_end(&mut bytes)?;
            self.is_at_end = read < wanted;
            let new = bytes.len() - read;
            if let Some(last) = memchr::memrchr(b'\n', &bytes[new..]).filter(|_| !self.is_at_end) {
                self.rest = bytes.split_off(new + last + 1);
                break;
            }
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

/// Returns the lines of a block, with their newlines.
pub(super) fn lines(mut block: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', block).map_or(block.len(), |at| at + 1);
        let (line, rest) = block.split_at(end);
        block = rest;
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(to.len());
            (&mut self.0).read(&mut to[..length])
        }
    }

    #[test]
    fn blocks_end_with_lines_however_the_bytes_come() {
        let long = vec![b'x'; 300];
        let text = [&b"one\n\ntwo\n"[..], &long, b"\nlast"].concat();
        let expected: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        for (size, step) in [(1, 1), (7, 7), (100, 3), (1000, 1000)] {
            let mut blocks = Blocks { size, ..Blocks::new(Box::new(Drip(&text, step))) };
            let mut read: Vec<Vec<u8>> = Vec::new();
            while let Some(block) = blocks.next().unwrap() {
                read.extend(lines(&block).map(<[u8]>::to_vec));
            }
            assert!(read == expected, "{size} bytes, {step} at a time");
            assert!(blocks.is_at_end());
        }
        assert!(Blocks::new(Box::new(&b""[..])).next().unwrap().is_none());
    }
}
