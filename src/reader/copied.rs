//! Copies traces that are not plain files (standard input, a pipe, a gzip file), decompressed, to
//! an unnamed temporary file, because a trace is opened more than once.

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use std::{
    fs::{File, Metadata},
    io::{self, BufReader, Read, Seek, Write},
    os::{fd::AsRawFd, unix::fs::FileTypeExt},
    path::{Path, PathBuf},
    sync::Mutex,
};

/// The copies: the open file, its path, and the name of its source.
static COPIES: Mutex<Vec<(File, PathBuf, String)>> = Mutex::new(Vec::new());

/// First bytes of a zstd and of a gzip stream.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns a trace's name for messages and pages: its path, or the source of a copy.
pub fn name_of(path: &Path) -> String {
    let copies = COPIES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let copy = copies.iter().find(|(_, copy, _)| copy == path);
    copy.map_or_else(|| path.display().to_string(), |(.., name)| name.clone())
}

/// Returns true when this argument means standard input.
pub(super) fn is_standard_input(argument: &Path) -> bool {
    argument == Path::new("-")
}

/// Returns true when a file of this kind must be copied before it is read.
pub(super) fn must_be_copied(argument: &Path, kind: &Metadata) -> bool {
    let kind = kind.file_type();
    kind.is_fifo()
        || kind.is_char_device()
        || kind.is_socket()
        || argument.extension().is_some_and(|it| it == "gz")
}

/// Returns the path of a copy of standard input, or of the file.
///
/// # Errors
/// When the source cannot be read, or the copy cannot be written.
pub(super) fn copy(argument: &Path) -> Result<PathBuf> {
    let (name, input): (String, Box<dyn Read>) = match is_standard_input(argument) {
        true => ("standard input".into(), Box::new(io::stdin())),
        false => {
            let name = argument.display().to_string();
            let file = File::open(argument).with_context(|| format!("cannot open {name}"))?;
            (name, Box::new(file))
        }
    };
    let mut copy = tempfile::tempfile()
        .with_context(|| format!("cannot copy {name} to {}: set TMPDIR", std::env::temp_dir().display()))?;
    let mut lines = decompressed(input).with_context(|| format!("cannot read {name}"))?;
    let copied = io::copy(&mut lines, &mut copy).and_then(|_| copy.flush()).and_then(|()| copy.rewind());
    copied.with_context(|| format!("cannot copy {name} to {}", std::env::temp_dir().display()))?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
    COPIES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((copy, path.clone(), name));
    Ok(path)
}

/// Returns the bytes, decompressed if they begin as gzip or zstd.
fn decompressed(mut input: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut first = Vec::new();
    input.by_ref().take(4).read_to_end(&mut first)?;
    let is = |magic: &[u8]| first.starts_with(magic);
    let (is_zstd, is_gzip) = (is(&ZSTD), is(&GZIP));
    let input = BufReader::new(io::Cursor::new(first).chain(input));
    match (is_zstd, is_gzip) {
        (true, _) => rocshim_drain::lines_of(Path::new("standard-input.ndjson.zst"), input),
        (_, true) => Ok(Box::new(MultiGzDecoder::new(input))),
        _ => Ok(Box::new(input)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    #[test]
    fn a_gzip_file_is_read_as_what_it_holds_and_keeps_its_name() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("t.ndjson.gz");
        let mut gzip = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        gzip.write_all(b"one\ntwo\n").unwrap();
        gzip.finish().unwrap();
        assert!(must_be_copied(&path, &path.metadata().unwrap()));
        let copied = copy(&path).unwrap();
        for _ in 0..2 {
            assert_eq!(std::fs::read(&copied).unwrap(), b"one\ntwo\n");
        }
        assert_eq!(name_of(&copied), path.display().to_string());
        assert_eq!(name_of(Path::new("t")), "t");
    }
}
