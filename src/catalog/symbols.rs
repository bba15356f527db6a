//! The functions and source lines at addresses of an executable or shared library.

use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache, SymbolKind};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A function, and a line of its source where there is debug information.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// The symbol; `None` if no symbol's range holds the address.
    pub symbol: Option<String>,
    /// `file:line`.
    pub line: Option<String>,
}

type Elf<'data> = ElfFile<'data, FileHeader64<Endianness>, &'data ReadCache<File>>;

/// Returns the function at each of `addresses`, as linked, in the file at `path`, whose debug
/// information may be in a file of its own below `debug` (`/usr/lib/debug`).
///
/// # Errors
/// Why no function can be named: the file cannot be read, or is not the one with `build_id`.
pub fn functions(
    path: &Path,
    build_id: Option<&str>,
    addresses: impl IntoIterator<Item = u64>,
    debug: &Path,
) -> Result<BTreeMap<u64, Function>, String> {
    let build_id = build_id.ok_or("it has no build id, so it may be another build than the one that ran")?;
    let mut found: BTreeMap<u64, Function> =
        addresses.into_iter().map(|address| (address, Function::default())).collect();
    name(path, build_id, &mut found)?;
    if let Some(file) = debug_file(debug, build_id) {
        // Without it, what the file itself has remains.
        let _ = name(&file, build_id, &mut found);
    }
    Ok(found)
}

/// True if the constants (`.rodata`) of the file at `path` have `text`, such as the name of a
/// variable that it reads; `None` if it cannot be read, or is not the one with `build_id`.
pub fn has_text(path: &Path, build_id: &str, text: &str) -> Option<bool> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let elf = Elf::parse(&cache).ok()?;
    if build_id_of(&elf).as_deref() != Some(build_id) {
        return None;
    }
    let constants = elf.section_by_name(".rodata")?.data().ok()?;
    Some(constants.windows(text.len()).any(|window| window == text.as_bytes()))
}

fn build_id_of(elf: &Elf) -> Option<String> {
    Some(elf.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the path of separate debug information for a build id.
fn debug_file(debug: &Path, build_id: &str) -> Option<PathBuf> {
    let (folder, rest) = build_id.split_at_checked(2)?;
    let file = debug.join(".build-id").join(folder).join(format!("{rest}.debug"));
    file.exists().then_some(file)
}

/// Completes `found` by what the file at `path` has.
fn name(path: &Path, build_id: &str, found: &mut BTreeMap<u64, Function>) -> Result<(), String> {
    let file = File::open(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let cache = ReadCache::new(file);
    let elf = Elf::parse(&cache).map_err(|error| format!("it is not an ELF file: {error}"))?;
    if build_id_of(&elf).as_deref() != Some(build_id) {
        return Err("its build id differs: the file was replaced since the program ran".into());
    }
    // The full table, or what a stripped file exports.
    match elf.symbol_table() {
        Some(_) => symbols(elf.symbols(), found),
        None => symbols(elf.dynamic_symbols(), found),
    }
    lines(&elf, found);
    Ok(())
}

fn symbols<'data>(
    symbols: impl Iterator<Item = impl ObjectSymbol<'data>>,
    found: &mut BTreeMap<u64, Function>,
) {
    for symbol in symbols.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
        let (start, size) = (symbol.address(), symbol.size());
        for (_, function) in found.range_mut(start..start.saturating_add(size)) {
            if function.symbol.is_none() {
                function.symbol = symbol.name().ok().map(str::to_owned);
            }
        }
    }
}

/// Source lines, where the file has debug information that is not compressed.
fn lines(elf: &Elf, found: &mut BTreeMap<u64, Function>) {
    let section = |id: SectionId| -> Result<EndianSlice<LittleEndian>, addr2line::gimli::Error> {
        let section = elf.section_by_name(id.name()).filter(|section| {
            section
                .compressed_file_range()
                .is_ok_and(|range| range.compressed_size == range.uncompressed_size)
        });
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let Ok(dwarf) = Dwarf::load(section) else { return };
    let Ok(context) = addr2line::Context::from_dwarf(dwarf) else { return };
    for (address, function) in found.iter_mut().filter(|(_, function)| function.line.is_none()) {
        if let Ok(Some(at)) = context.find_location(*address) {
            function.line = at.file.zip(at.line).map(|(file, line)| format!("{file}:{line}"));
        }
    }
}
