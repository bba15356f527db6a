//! The lines of a file, one after the other, in a buffer of fixed size (that grows for a line which is larger).

use std::io::{self, Read};

/// No line of a trace is longer: what is, is none, and must not fill the memory.
pub(super) const LONGEST: usize = 1 << 28;

/// Bytes that are read at once: they stay in the processor's cache until they have been looked at.
const BUFFER: usize = 1 << 18;

/// Reads `input` line by line.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What was read and not handed out lies from here…
    start: usize,
    /// … to here.
    end: usize,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input, buffer: vec![0; BUFFER], start: 0, end: 0 }
    }

    /// The next line with its line end, which only the last one may lack; `None` after that.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut looked_at = 0;
        loop {
            let new = &self.buffer[self.start + looked_at..self.end];
            if let Some(at) = memchr::memchr(b'\n', new) {
                let line = self.start..self.start + looked_at + at + 1;
                self.start = line.end;
                return Ok(Some(&self.buffer[line]));
            }
            looked_at = self.end - self.start;
            if self.fill()? == 0 {
                let rest = self.start..self.end;
                self.start = self.end;
                return Ok((!rest.is_empty()).then(|| &self.buffer[rest]));
            }
        }
    }

    /// Reads more behind what there is, which moves to the buffer's beginning.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end >= LONGEST {
            let what = "a line of more than 256 MiB: this is no trace";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(to.len());
            (&mut self.0).read(&mut to[..length])
        }
    }

    fn lines(text: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(Drip(text, step));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.to_vec());
        }
        all
    }

    #[test]
    fn lines_come_whole_however_the_bytes_come() {
        let long = vec![b'x'; 3 * BUFFER];
        let text = [&b"one\n\ntwo\n"[..], &long, b"\nlast"].concat();
        let expected: Vec<Vec<u8>> =
            text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for step in [1, 7, BUFFER, usize::MAX] {
            assert!(lines(&text, step) == expected, "{step} bytes at a time");
        }
        assert!(lines(b"", 1).is_empty());
    }
}
