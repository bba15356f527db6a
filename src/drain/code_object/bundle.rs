//! Reads the table of an offload bundle, an image with code for several targets (LLVM,
//! ClangOffloadBundler).

use super::elf::Header;
use super::source::{Slice, Source, u64_at};

pub(super) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// More entries than any bundle has; a higher count is invalid.
const MAX_ENTRIES: u64 = 256;
const MAX_ID: u64 = 4096;

/// The code of a GPU target in an image.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) target: String,
    pub(super) at: u64,
    pub(super) size: u64,
}

impl Entry {
    pub(super) fn of<'a>(&self, source: &'a dyn Source) -> Slice<'a> {
        Slice { of: source, at: self.at, size: self.size }
    }
}

/// The GPU targets of a bundle, and the end of the bundle; `None` if its table is truncated.
pub(super) fn table(source: &dyn Source) -> Option<(Vec<Entry>, u64)> {
    let count = u64_at(source, MAGIC.len() as u64)?;
    let mut at = MAGIC.len() as u64 + 8;
    let (mut entries, mut end) = (Vec::new(), at);
    for _ in 0..count.min(MAX_ENTRIES) {
        let (offset, size, id_length) =
            (u64_at(source, at)?, u64_at(source, at + 8)?, u64_at(source, at + 16)?);
        let id = source.read(at + 24, id_length.min(MAX_ID) as usize)?;
        at = at.checked_add(24)?.checked_add(id_length)?;
        end = end.max(at).max(offset.checked_add(size)?);
        if let Some(target) = gpu_target(&String::from_utf8_lossy(&id)) {
            entries.push(Entry { target, at: offset, size });
        }
    }
    Some((entries, end))
}

/// `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-` → `gfx90a:xnack-`; `None` for the host's entry.
fn gpu_target(id: &str) -> Option<String> {
    id.find("gfx").map(|at| id[at..].to_owned())
}

/// The targets of a bundle, or of a plain ELF, which counts as its only entry.
pub(super) fn entries(source: &dyn Source) -> Vec<Entry> {
    if source.read_up_to(0, MAGIC.len()).as_ref() == MAGIC {
        return table(source).map(|(entries, _)| entries).unwrap_or_default();
    }
    let target = Header::read(source).and_then(|header| header.target());
    target.into_iter().map(|target| Entry { target, at: 0, size: u64::MAX }).collect()
}
