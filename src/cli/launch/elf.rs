//! Reads from an ELF file what the loader will do with it: its machine, interpreter and
//! dependencies.

use object::{
    Endianness, Object, ObjectSymbol, elf,
    read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader},
};
use std::{collections::HashSet, path::Path};

/// The facts about an ELF file that decide whether a library can be preloaded into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elf {
    /// It is for x86-64.
    pub(crate) x86_64: bool,
    /// The interpreter (loader) that it names; without one the file is statically linked, or a
    /// library.
    pub(crate) interpreter: Option<String>,
    /// The libraries that it needs (DT_NEEDED).
    pub(crate) needed: Vec<String>,
}

impl Elf {
    /// Reads the file; `None` if it is not an ELF file.
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
    let value = |tag: elf::DynamicTag| entries.iter().find(|e| e.tag(endian) == tag).map(|e| e.d_val(endian));
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

/// A version of glibc, `2.34` as (2, 34).
pub(crate) type Glibc = (u32, u32);

/// A shared library's exports, and the glibc versions that it needs and provides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exports {
    /// The symbols that it defines.
    pub(crate) symbols: HashSet<String>,
    /// The newest glibc of which it needs a symbol.
    pub(crate) glibc_needed: Option<Glibc>,
    /// The newest glibc whose symbols it defines, for the C library itself.
    pub(crate) glibc_offered: Option<Glibc>,
}

impl Exports {
    /// Reads a shared library.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Exports> {
        let bytes = std::fs::read(path)?;
        let file = ElfFile64::<Endianness>::parse(&*bytes)?;
        let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        let mut exports = Exports {
            symbols: symbols.filter_map(|symbol| Some(symbol.name().ok()?.to_string())).collect(),
            ..Exports::default()
        };
        let Some(versions) = file.elf_section_table().versions(file.endian(), &*bytes)? else {
            return Ok(exports);
        };
        // Numbers 0 and 1 mean unversioned symbols; a removed version leaves a gap.
        for index in 2..1000 {
            let Ok(Some(version)) = versions.version(elf::VersionIndex(index)) else { continue };
            let known = glibc(version.name());
            let newest =
                if version.file().is_some() { &mut exports.glibc_needed } else { &mut exports.glibc_offered };
            *newest = known.max(*newest);
        }
        Ok(exports)
    }
}

/// Parses the version in `GLIBC_2.34`.
fn glibc(version: &[u8]) -> Option<Glibc> {
    let numbers = std::str::from_utf8(version).ok()?.strip_prefix("GLIBC_")?;
    let mut numbers = numbers.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
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
    #[test]
    fn glibc_versions_are_numbers() {
        assert_eq!(glibc(b"GLIBC_2.34"), Some((2, 34)));
        assert_eq!(glibc(b"GLIBC_2.2.5"), Some((2, 2)));
        assert_eq!(glibc(b"GLIBC_PRIVATE"), None);
        assert_eq!(glibc(b"hip_4.2"), None);
        let own = Exports::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.glibc_needed >= Some((2, 2)) && own.glibc_offered.is_none(), "{own:?}");
    }
}
