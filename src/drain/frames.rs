//! The zstd frames of a compressed trace: one is written per batch, and all are read in sequence.

use std::io::{self, Read, Write};
use std::path::Path;

/// Base-2 logarithm of the window size in bytes, which bounds a reader's memory.
const WINDOW_LOG: u32 = 25;

/// Creates independent zstd frames.
pub struct Frames {
    compressor: zstd::bulk::Compressor<'static>,
}

impl Frames {
    /// A compressor with zstd's `level`.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(level: i32) -> io::Result<Frames> {
        let mut compressor = zstd::bulk::Compressor::new(level)?;
        compressor.include_checksum(true)?;
        Ok(Frames { compressor })
    }

    /// Compresses `lines` into `frame` as one frame.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn make(&mut self, lines: &[u8], frame: &mut Vec<u8>) -> io::Result<()> {
        frame.clear();
        frame.reserve(zstd::zstd_safe::compress_bound(lines.len()));
        self.compressor.compress_to_buffer(lines, frame).map(drop)
    }
}

/// True for the name of a compressed trace file.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

/// The lines of the trace file `path`, from its bytes. A truncated last frame is read as far as
/// possible.
///
/// # Errors
/// If there is no memory.
pub fn lines_of(path: &Path, bytes: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    if !is_compressed(path) {
        return Ok(Box::new(bytes));
    }
    let mut decoder = zstd::Decoder::new(bytes)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(Box::new(Whole(decoder)))
}

/// Decodes a trace file incrementally while it is being written.
pub struct Growing(Option<zstd::stream::write::Decoder<'static, Vec<u8>>>);

impl Growing {
    /// A decoder for the trace file `path`.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn of(path: &Path) -> io::Result<Growing> {
        if !is_compressed(path) {
            return Ok(Growing(None));
        }
        let mut decoder = zstd::stream::write::Decoder::new(Vec::new())?;
        decoder.window_log_max(WINDOW_LOG)?;
        Ok(Growing(Some(decoder)))
    }

    /// Appends to `lines` the contents of the file's next `bytes`; for a compressed file, as far as
    /// they can be decoded now.
    ///
    /// # Errors
    /// If they are not frames.
    pub fn take(&mut self, bytes: &[u8], lines: &mut Vec<u8>) -> io::Result<()> {
        match &mut self.0 {
            None => lines.extend_from_slice(bytes),
            Some(decoder) => {
                decoder.write_all(bytes)?;
                decoder.flush()?;
                lines.append(decoder.get_mut());
            }
        }
        Ok(())
    }
}

/// Compressed lines, whose last frame may be truncated.
struct Whole<R>(R);

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn read(bytes: &[u8]) -> Vec<u8> {
        let mut lines = Vec::new();
        let bytes = Cursor::new(bytes.to_vec());
        lines_of("t.ndjson.zst".as_ref(), bytes).unwrap().read_to_end(&mut lines).unwrap();
        lines
    }

    #[test]
    fn frames_are_read_in_sequence_and_a_truncated_one_as_far_as_possible() {
        let mut frames = Frames::new(3).unwrap();
        let batches: Vec<String> =
            (0..20).map(|i| (0..5000).map(|j| format!("line {i} {j}\n")).collect()).collect();
        let (mut file, mut frame) = (Vec::new(), Vec::new());
        for batch in &batches {
            frames.make(batch.as_bytes(), &mut frame).unwrap();
            file.extend_from_slice(&frame);
        }
        let all = batches.concat();
        assert_eq!(read(&file), all.as_bytes());
        for cut in [1, frame.len() / 2, frame.len() - 1, frame.len()] {
            let lines = read(&file[..file.len() - cut]);
            assert!(all.as_bytes().starts_with(&lines));
            assert!(lines.len() >= batches[..19].concat().len(), "what comes before it is whole");
        }
        assert_eq!(read(b""), b"");
    }

    #[test]
    fn foreign_bytes_are_an_error() {
        let bytes = Cursor::new(b"{\"type\":\"header\"}\n".to_vec());
        assert!(lines_of("t.ndjson.zst".as_ref(), bytes).unwrap().read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_file_that_grows_is_read_as_it_grows() {
        let mut frames = Frames::new(3).unwrap();
        let (mut file, mut frame, mut expected) = (Vec::new(), Vec::new(), String::new());
        for batch in 0..5 {
            let lines: String = (0..3000).map(|line| format!("line {batch} {line}\n")).collect();
            frames.make(lines.as_bytes(), &mut frame).unwrap();
            file.extend_from_slice(&frame);
            expected.push_str(&lines);
        }
        for (name, bytes) in [("t.ndjson.zst", &file[..]), ("t.ndjson", expected.as_bytes())] {
            for step in [1, 100, 4096, bytes.len()] {
                let (mut growing, mut lines) = (Growing::of(name.as_ref()).unwrap(), Vec::new());
                bytes.chunks(step).for_each(|bytes| growing.take(bytes, &mut lines).unwrap());
                assert!(lines == expected.as_bytes(), "{name} by {step}");
            }
        }
        assert!(
            Growing::of("t.ndjson.zst".as_ref()).unwrap().take(b"{\"type\":1}\n", &mut Vec::new()).is_err()
        );
    }
}
