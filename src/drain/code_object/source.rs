//! Random access to an image's bytes: in memory, in a file from an offset on, or in a slice of
//! either.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that can be read at any offset.
pub trait Source {
    /// `length` bytes from `at` on; `None` if not all of them exist.
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>>;

    /// At most `most` bytes from `at` on.
    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]>;
}

/// Two bytes at `at`, little-endian.
pub(super) fn u16_at(source: &dyn Source, at: u64) -> Option<u16> {
    Some(u16::from_le_bytes(source.read(at, 2)?.as_ref().try_into().ok()?))
}

/// Four bytes.
pub(super) fn u32_at(source: &dyn Source, at: u64) -> Option<u32> {
    Some(u32::from_le_bytes(source.read(at, 4)?.as_ref().try_into().ok()?))
}

/// Eight bytes.
pub(super) fn u64_at(source: &dyn Source, at: u64) -> Option<u64> {
    Some(u64::from_le_bytes(source.read(at, 8)?.as_ref().try_into().ok()?))
}

/// Bytes in memory.
impl Source for &[u8] {
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        let at = usize::try_from(at).ok()?;
        self.get(at..at.checked_add(length)?).map(Cow::Borrowed)
    }

    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        Cow::Borrowed(&rest[..most.min(rest.len())])
    }
}

/// A file, from an offset on.
pub struct FileSource {
    file: File,
    start: u64,
    end: u64,
}

impl FileSource {
    /// Opens `path`; offset 0 is `start` of the file.
    ///
    /// # Errors
    /// If it cannot be opened or is not a regular file.
    pub fn open(path: &Path, start: u64) -> io::Result<FileSource> {
        // Checked first: opening a pipe could block for ever.
        let kind = std::fs::metadata(path)?;
        if !kind.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = File::open(path)?;
        Ok(FileSource { file, start, end: kind.len() })
    }
}

impl Source for FileSource {
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        let from = self.start.checked_add(at)?;
        // Checked before allocation: the length may be nonsense.
        if from.checked_add(length as u64)? > self.end {
            return None;
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, from).ok()?;
        Some(Cow::Owned(bytes))
    }

    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]> {
        let left = self.end.saturating_sub(self.start.saturating_add(at));
        self.read(at, (most as u64).min(left) as usize).unwrap_or_default()
    }
}

/// A slice of another source.
pub(super) struct Slice<'a> {
    pub(super) of: &'a dyn Source,
    pub(super) at: u64,
    pub(super) size: u64,
}

impl Source for Slice<'_> {
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        if at.checked_add(length as u64)? > self.size {
            return None;
        }
        self.of.read(self.at.checked_add(at)?, length)
    }

    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]> {
        let left = self.size.saturating_sub(at);
        self.of.read_up_to(self.at.saturating_add(at), (most as u64).min(left) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_read_like_memory() {
        let bytes: Vec<u8> = (0..200).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let (on_disk, in_memory) = (FileSource::open(file.path(), 50).unwrap(), &bytes[50..]);
        for (at, length) in [(0, 150), (0, 151), (149, 1), (150, 0), (150, 1), (u64::MAX, 1), (1, usize::MAX)]
        {
            assert_eq!(on_disk.read(at, length), in_memory.read(at, length), "{length} from {at} on");
            assert_eq!(on_disk.read_up_to(at, length), in_memory.read_up_to(at, length));
        }
        assert!(FileSource::open(Path::new("/dev"), 0).is_err());
    }

    #[test]
    fn a_slice_is_bounded() {
        let bytes: Vec<u8> = (0..20).collect();
        let bytes = &bytes[..];
        let slice = Slice { of: &bytes, at: 5, size: 10 };
        assert_eq!(slice.read(9, 1).unwrap().as_ref(), [14]);
        assert_eq!(slice.read(9, 2), None);
        assert_eq!(slice.read_up_to(8, 9).as_ref(), [13, 14]);
        let beyond = Slice { of: &bytes, at: 15, size: u64::MAX };
        assert_eq!(beyond.read(0, 6), None);
        assert_eq!(beyond.read_up_to(3, 6).as_ref(), [18, 19]);
    }
}
