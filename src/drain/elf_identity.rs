//! Reads a library's identity from its ELF file: soname, build id, and the number of functions of
//! its API.

use foldhash::HashSet;
use object::elf::{DT_SONAME, SHN_UNDEF, SHT_DYNSYM, STT_FUNC};
use object::read::elf::{Dyn, ElfFile64, FileHeader, SectionHeader, Sym};
use object::{Endianness, Object, ReadCache, ReadRef};
use rocshim_trace::{Library, file_name};
use std::fs::File;

type Elf<'data> = ElfFile64<'data, Endianness, &'data ReadCache<File>>;

/// The record of the library with this path; what cannot be read is absent. `hooked` are the
/// hooked functions of all libraries, each once.
pub(crate) fn library<'a>(id: u32, path: &str, hooked: impl Iterator<Item = &'a str>) -> Library {
    let library = Library { id, path: path.to_owned(), ..Library::default() };
    let Ok(file) = File::open(path) else { return library };
    let cache = ReadCache::new(file);
    let Ok(elf) = Elf::parse(&cache) else { return library };
    let build_id = elf.build_id().ok().flatten().map(hex);
    let (functions, hooked) = functions(&elf, &cache, path, hooked).unzip();
    Library { soname: soname(&elf, &cache), build_id, functions, hooked, ..library }
}

/// The build id of the file with this path, hex.
pub(crate) fn build_id(path: &str) -> Option<String> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let elf = Elf::parse(&cache).ok()?;
    elf.build_id().ok().flatten().map(hex)
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn soname(elf: &Elf, cache: &ReadCache<File>) -> Option<String> {
    let (e, header) = (elf.endian(), elf.elf_header());
    let sections = header.sections(e, cache).ok()?;
    let (dynamic, link) = sections.dynamic(e, cache).ok()??;
    let strings = sections.strings(e, cache, link).ok()?;
    let entry = dynamic.iter().find(|entry| entry.tag(e) == DT_SONAME)?;
    let name = strings.get(entry.d_val(e) as u32).ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// The number of exported C functions with the API's name prefix, and how many of them are hooked.
/// The names are read in one piece, because there are thousands.
fn functions<'a>(
    elf: &Elf,
    cache: &ReadCache<File>,
    path: &str,
    hooked: impl Iterator<Item = &'a str>,
) -> Option<(u64, u64)> {
    let prefix = prefix(file_name(path))?.as_bytes();
    let (e, header) = (elf.endian(), elf.elf_header());
    let sections = header.sections(e, cache).ok()?;
    let symbols = sections.symbols(e, cache, SHT_DYNSYM).ok()?;
    let strings = sections.section(symbols.string_section()).ok()?;
    let strings = cache.read_bytes_at(strings.sh_offset(e), strings.sh_size(e)).ok()?;
    let mut names: HashSet<&[u8]> = HashSet::default();
    for symbol in symbols.symbols() {
        let name = strings.get(symbol.st_name(e) as usize..).unwrap_or_default();
        let begins = name.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
        if begins && symbol.st_type() == STT_FUNC && symbol.st_shndx(e) != SHN_UNDEF {
            // A function is listed once per version of its symbol.
            names.insert(name.split(|byte| *byte == 0).next()?);
        }
    }
    let hooked = hooked.filter(|name| names.contains(name.as_bytes())).count();
    Some((names.len() as u64, hooked as u64))
}

/// The name prefix of a library's functions, in lower case.
fn prefix(file: &str) -> Option<&str> {
    let stem = file.strip_prefix("lib")?.split(['.', '-']).next()?;
    Some(match stem {
        "amdhip64" => "hip",
        "rccl" => "nccl",
        "roctx64" => "roctx",
        stem => stem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_names_begin_with_their_library_prefix() {
        let prefixes =
            ["librocblas.so.4.2", "libMIOpen.so.1", "libamdhip64-abc.so.7", "libhipblaslt.so"].map(prefix);
        assert_eq!(prefixes, [Some("rocblas"), Some("MIOpen"), Some("hip"), Some("hipblaslt")]);
        assert_eq!(prefix("program"), None);
    }

    #[test]
    fn an_existing_library_is_read_and_a_missing_one_keeps_its_path() {
        let gone = library(3, "/nowhere/libhipblas.so", std::iter::empty());
        assert_eq!((gone.id, gone.functions, gone.soname), (3, None, None));
        // Functions of the C library that begin with `c`: their number depends on its version.
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let libc =
            maps.lines().find_map(|line| line.split(' ').next_back().filter(|p| p.contains("/libc.so")));
        let read = library(3, libc.expect("the C library"), ["calloc", "hipInit"].into_iter());
        assert_eq!(read.soname.as_deref(), Some("libc.so.6"));
        assert_eq!(read.hooked, Some(1));
        assert!(read.functions.is_some_and(|functions| functions > 0), "{read:?}");
    }
}
