//! Reads one AMDGPU ELF: length, target, metadata notes. Offsets are those of Elf64_Ehdr, _Phdr,
//! _Shdr, _Nhdr.

use super::source::{Source, u16_at, u32_at, u64_at};
use super::target;
use object::elf::{ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_AMDGPU, PT_LOAD, PT_NOTE, SHT_NOTE};
use std::cell::Cell;

/// NT_AMDGPU_METADATA (LLVM, AMDGPUUsage): the descriptor is a MessagePack map.
const METADATA: u32 = 32;
/// The most bytes of notes that are read of an image. The most seen, in a Tensile library of 600
/// kernels, is 1.6 MB.
const MAX_NOTES: u64 = 64 << 20;
/// The cost of inspecting one note, in bytes of the allowance.
const NOTE_COST: u64 = 1024;
/// The most headers that are inspected; a linker makes about ten.
const MAX_HEADERS: u16 = 1024;

const EHDR: u64 = 64;
const PHDR: u64 = 56;
const SHDR: u64 = 64;

/// How many bytes may still be read of an image, which may claim any number of overlapping notes.
pub(super) struct Allowance(Cell<u64>);

impl Allowance {
    pub(super) fn new() -> Allowance {
        Allowance(Cell::new(MAX_NOTES))
    }

    fn take(&self, bytes: u64) -> Option<()> {
        self.0.set(self.0.get().checked_sub(bytes)?);
        Some(())
    }
}

/// The header of an AMDGPU ELF.
pub(super) struct Header {
    segments_at: u64,
    segments: u16,
    sections_at: u64,
    sections: u16,
    flags: u32,
    abi: u8,
}

impl Header {
    /// Reads it; `None` if `source` is not an AMDGPU ELF.
    pub(super) fn read(source: &dyn Source) -> Option<Header> {
        let ident = source.read(0, 16)?;
        let is_ours = ident.starts_with(&ELFMAG) && ident[4] == ELFCLASS64.0 && ident[5] == ELFDATA2LSB.0;
        if !is_ours || u16_at(source, 18)? != EM_AMDGPU.0 {
            return None;
        }
        Some(Header {
            segments_at: u64_at(source, 32)?,
            sections_at: u64_at(source, 40)?,
            flags: u32_at(source, 48)?,
            segments: u16_at(source, 56)?.min(MAX_HEADERS),
            sections: u16_at(source, 60)?.min(MAX_HEADERS),
            abi: ident[8],
        })
    }

    /// The GPU target; `None` for an unknown machine number.
    pub(super) fn target(&self) -> Option<String> {
        target::of_flags(self.flags, self.abi)
    }

    /// The image's length in bytes, by its headers.
    pub(super) fn length(&self, source: &dyn Source) -> Option<u64> {
        let sections = SHDR * u64::from(self.sections);
        let mut end = self.sections_at.checked_add(sections)?.max(EHDR);
        for i in 0..self.segments.into() {
            let at = self.segments_at.checked_add(i * PHDR)?;
            if u32_at(source, at)? == PT_LOAD.0 {
                let (offset, size) = (u64_at(source, at + 8)?, u64_at(source, at + 32)?);
                end = end.max(offset.checked_add(size)?);
            }
        }
        Some(end)
    }

    /// The metadata notes, one MessagePack map each: one for a linked object; Tensile's libraries
    /// have one per kernel.
    pub(super) fn notes(&self, source: &dyn Source, allowance: &Allowance) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for (at, size) in self.note_ranges(source) {
            let bytes = allowance.take(size).and_then(|()| source.read(at, size as usize));
            each_note(&bytes.unwrap_or_default(), |note| found.push(note.to_vec()));
        }
        found
    }

    /// The first `most` bytes of each metadata note, for a file of which little else is needed.
    pub(super) fn note_heads(&self, source: &dyn Source, most: usize, allowance: &Allowance) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for (start, size) in self.note_ranges(source) {
            let (mut at, end) = (start, start.saturating_add(size));
            while let Some((desc, length, next)) = note_at(source, at).filter(|(_, _, next)| *next <= end) {
                if allowance.take(NOTE_COST).is_none() {
                    return found;
                }
                if source.read(at + 8, 12).is_some_and(|head| is_metadata(&head)) {
                    found.push(source.read_up_to(desc, most.min(length as usize)).into_owned());
                }
                at = next;
            }
        }
        found
    }

    /// The ranges that hold notes: segments, or, in an unlinked object, sections.
    fn note_ranges(&self, source: &dyn Source) -> Vec<(u64, u64)> {
        let of = |table: u64, count: u16, size: u64, kind_at: u64, kind: u32, offset_at: u64| {
            let range = move |i: u64| {
                let at = table.checked_add(i * size)?;
                let is_note = u32_at(source, at.checked_add(kind_at)?)? == kind;
                is_note.then_some((u64_at(source, at + offset_at)?, u64_at(source, at + 32)?))
            };
            (0..u64::from(count)).filter_map(range).collect::<Vec<_>>()
        };
        let segments = of(self.segments_at, self.segments, PHDR, 0, PT_NOTE.0, 8);
        if segments.is_empty() {
            of(self.sections_at, self.sections, SHDR, 4, SHT_NOTE.0, 24)
        } else {
            segments
        }
    }
}

/// For the note at `at`: offset and length of its descriptor, and offset of the next note.
fn note_at(source: &dyn Source, at: u64) -> Option<(u64, u64, u64)> {
    let (name, length) = (u64::from(u32_at(source, at)?), u64::from(u32_at(source, at.checked_add(4)?)?));
    let desc = at.checked_add(12 + name.next_multiple_of(4))?;
    Some((desc, length, desc.checked_add(length.next_multiple_of(4))?))
}

/// True if a note is metadata, by its type and the name after it.
fn is_metadata(type_and_name: &[u8]) -> bool {
    type_and_name.starts_with(&METADATA.to_le_bytes()) && type_and_name[4..].starts_with(b"AMDGPU\0")
}

/// Passes the descriptor of each metadata note in `bytes` to `each`.
fn each_note(bytes: &[u8], mut each: impl FnMut(&[u8])) {
    let mut at = 0;
    while let Some((desc, length, next)) = note_at(&bytes, at) {
        let range = desc as usize..(desc + length) as usize;
        let (Some(head), Some(desc)) = (bytes.get(at as usize + 8..), bytes.get(range)) else { return };
        if is_metadata(head) {
            each(desc);
        }
        at = next;
    }
}
