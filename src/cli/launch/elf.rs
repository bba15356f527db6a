//! What the loader will make of an ELF file: its machine, its interpreter, its needs.

use object::{
    Endianness, elf,
    read::elf::{Dyn, FileHeader, ProgramHeader},
};
use std::path::Path;

/// The facts about an ELF file that decide whether a library can be preloaded into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elf {
    /// It is for x86-64.
    pub(crate) x86_64: bool,
    /// The loader that it names; without one the file is statically linked (or a library).
    pub(crate) interpreter: Option<String>,
    /// The libraries that it names (DT_NEEDED).
    pub(crate) needed: Vec<String>,
}

impl Elf {
    /// Reads the file; `None` where it is no ELF file.
    pub(crate) fn read(path: &Path) -> std::io::Result<Option<Elf>> {
        Ok(Elf::parse(&std::fs::read(path)?))
    }

    fn parse(bytes: &[u8]) -> Option<Elf> {
        if !bytes.starts_with(b"\x7fELF") {
            return None;
        }
        let Ok(header) = elf::FileHeader64::<Endianness>::parse(bytes) else { return Some(Elf::default()) };
        Some(facts(header, bytes).unwrap_or_default())
    }
}

fn facts(header: &elf::FileHeader64<Endianness>, bytes: &[u8]) -> object::Result<Elf> {
    let endian = header.endian()?;
    let x86_64 = header.e_machine(endian) == elf::EM_X86_64;
    let mut facts = Elf { x86_64, ..Elf::default() };
    let segments = header.program_headers(endian, bytes)?;
    for segment in segments {
        if let Some(interpreter) = segment.interpreter(endian, bytes)? {
            facts.interpreter = Some(String::from_utf8_lossy(interpreter).into_owned());
        }
        if let Some(entries) = segment.dynamic(endian, bytes)? {
            facts.needed = needed(endian, segments, entries, bytes);
        }
    }
    Ok(facts)
}

fn needed(
    endian: Endianness,
    segments: &[elf::ProgramHeader64<Endianness>],
    entries: &[elf::Dyn64<Endianness>],
    bytes: &[u8],
) -> Vec<String> {
    let value = |tag: i64| entries.iter().find(|e| e.tag(endian) == tag).map(|e| e.d_val(endian));
    let (Some(table), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else { return Vec::new() };
    let strings = segments.iter().find_map(|s| s.data_range(endian, bytes, table, size).ok().flatten());
    let Some(strings) = strings else { return Vec::new() };
    entries
        .iter()
        .filter(|entry| entry.tag(endian) == elf::DT_NEEDED)
        .filter_map(|entry| {
            let name = strings.get(usize::try_from(entry.d_val(endian)).ok()?..)?;
            Some(String::from_utf8_lossy(name.split(|byte| *byte == 0).next()?).into_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_executable_names_its_loader_and_the_c_library() {
        let own = Elf::read(&std::env::current_exe().unwrap()).unwrap().unwrap();
        assert!(own.interpreter.unwrap().contains("ld-linux"));
        assert!(own.needed.iter().any(|name| name.starts_with("libc.so")), "{:?}", own.needed);
    }

    #[test]
    fn other_files_are_no_elf_and_a_cut_one_has_no_facts() {
        assert_eq!(Elf::parse(b"#!/bin/sh\n"), None);
        assert_eq!(Elf::parse(b"\x7fELF\x02"), Some(Elf::default()));
    }
}
