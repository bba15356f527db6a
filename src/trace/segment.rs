//! The file names of a trace: the first segment of a process's trace, and the segments after it.
//!
//! ```text
//!   prog-4711.ndjson   prog-4711.part-0002.ndjson   prog-4711.part-0003.ndjson …
//! ```
//! A directory listing shows them in this order. Compressed segments end in `.ndjson.zst`.

use std::path::{Path, PathBuf};

/// The suffixes of a trace file, plain and compressed.
const ENDS: [&str; 2] = [".ndjson", ".ndjson.zst"];
/// Separates the first file's stem from the number of a segment.
const PART: &str = ".part-";

/// A trace file's name, split into trace and segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TracePath {
    /// The first file of the trace.
    pub first: PathBuf,
    /// The segment number of this file, from 1.
    pub part: u32,
}

impl TracePath {
    /// Parses a file name; `None` if it is not that of a trace file.
    pub fn of(path: &Path) -> Option<TracePath> {
        let (stem, end) = split(path.file_name()?.to_str()?)?;
        let part = stem.rsplit_once(PART).and_then(|(first, number)| Some((first, number.parse().ok()?)));
        Some(match part.filter(|(_, number)| *number > 1) {
            Some((first, part)) => TracePath { first: path.with_file_name(format!("{first}{end}")), part },
            None => TracePath { first: path.to_path_buf(), part: 1 },
        })
    }
}

/// The path of segment `part` (from 1) of the trace with this first file.
pub fn segment_path(first: &Path, part: u32) -> PathBuf {
    let name = first.file_name().unwrap_or_default().to_string_lossy();
    match split(&name) {
        Some((stem, end)) if part > 1 => first.with_file_name(format!("{stem}{PART}{part:04}{end}")),
        _ => first.to_path_buf(),
    }
}

/// A trace file's name without its suffix, and the suffix; `None` for another file.
fn split(name: &str) -> Option<(&str, &'static str)> {
    ENDS.into_iter().find_map(|end| Some((name.strip_suffix(end)?, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_sort_in_order_and_name_their_first() {
        let first = Path::new("/t/prog-7.ndjson");
        let paths: Vec<PathBuf> = [1, 2, 10, 9999].map(|part| segment_path(first, part)).into();
        assert_eq!(paths[1], Path::new("/t/prog-7.part-0002.ndjson"));
        assert!(paths.is_sorted());
        for (path, part) in paths.iter().zip([1, 2, 10, 9999]) {
            assert_eq!(TracePath::of(path), Some(TracePath { first: first.into(), part }));
        }
        assert_eq!(TracePath::of(Path::new("/t/notes.txt")), None);
        let first = PathBuf::from("/t/prog-7.ndjson.zst");
        let second = segment_path(&first, 2);
        assert_eq!(second, Path::new("/t/prog-7.part-0002.ndjson.zst"));
        assert_eq!(TracePath::of(&second), Some(TracePath { first, part: 2 }));
        let odd = Path::new("/t/x.part-one-7.ndjson");
        assert_eq!(TracePath::of(odd), Some(TracePath { first: odd.into(), part: 1 }));
    }
}
