//! Real code objects, of rocBLAS and ggml as Debian ships them: every kernel is found, and no
//! other.

use object::{Object, ObjectSymbol};
use rocshim_drain::{FileSource, Metadata, Source, describe, length, metadata};
use rocshim_tests::rocm::HIP6;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const GFX: &str = "gfx1100";

/// The kernels of an ELF by its symbol table.
fn descriptors(elf: &[u8]) -> BTreeSet<String> {
    let elf = object::File::parse(elf).expect("an ELF");
    let name = |symbol: object::Symbol| symbol.name().ok()?.strip_suffix(".kd").map(str::to_owned);
    elf.dynamic_symbols().filter_map(name).collect()
}

#[track_caller]
fn assert_all_found(found: &Metadata, elf: &[u8], what: &str) -> usize {
    let kernels: BTreeSet<String> = found.kernels().map(|(symbol, _)| symbol.to_owned()).collect();
    assert_eq!(kernels, descriptors(elf), "{what}");
    for (symbol, listed) in found.kernels() {
        assert_eq!(found.find(symbol).as_ref(), Some(&listed), "{what}: {symbol}");
        assert!(
            listed.vgprs.is_some() && listed.kernarg.is_some() && listed.lds.is_some(),
            "{what}: {symbol}"
        );
        let args = listed.args.unwrap_or_else(|| panic!("{what}: no arguments of {symbol}"));
        let end = args.iter().map(|arg| arg.offset + arg.size).max().unwrap_or(0);
        assert!(end <= listed.kernarg.unwrap(), "{what}: {symbol} has arguments up to {end}");
    }
    kernels.len()
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let has = |path: &PathBuf| path.extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted));
    entries.flatten().map(|entry| entry.path()).filter(has).collect()
}

#[test]
fn every_kernel_of_rocblas_tensile_files_is_found() {
    let library = HIP6.folder().join("usr/lib/x86_64-linux-gnu/rocblas/4.4.1/library");
    let mut kernels = 0;
    for path in files(&library, &["co", "hsaco"]) {
        let (bytes, name) = (std::fs::read(&path).unwrap(), path.display().to_string());
        let source = FileSource::open(&path, 0).unwrap();
        assert_eq!(length(&source), Some(bytes.len() as u64), "{name}");
        let found = metadata(&source, &[GFX]);
        assert_eq!(found.len(), 1, "{name}");
        let count = assert_all_found(&found[0], &bytes, &name);
        let image = describe(&source);
        assert_eq!((image.kernels, image.targets), (Some(count as u32), vec![GFX.to_owned()]), "{name}");
        kernels += count;
    }
    assert!(kernels > 5000, "{kernels}");
}

/// Offsets of the bundles in a library: multiples of 4096, as the linker aligns them.
fn bundles(path: &Path) -> Vec<u64> {
    let library = FileSource::open(path, 0).unwrap();
    let end = std::fs::metadata(path).unwrap().len();
    let is_bundle = |at: &u64| *library.read_up_to(*at, 24) == *b"__CLANG_OFFLOAD_BUNDLE__";
    (0..end).step_by(4096).filter(is_bundle).collect()
}

#[test]
fn every_kernel_of_ggml_is_found_in_its_fat_binaries() {
    let path = HIP6.folder().join("usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so");
    let mut kernels = 0;
    let all = bundles(&path);
    assert_eq!(all.len(), 140);
    for at in all {
        let (source, name) = (FileSource::open(&path, at).unwrap(), format!("the bundle at {at:#x}"));
        let image = describe(&source);
        assert_eq!((image.format, image.targets.len()), ("bundle", 10), "{name}");
        let found = metadata(&source, &[GFX]);
        assert_eq!(found.len(), 1, "{name}");
        // The entry's offset, read from the table by the test itself: 24 bytes of numbers before
        // each id.
        let table = source.read_up_to(0, 4096).into_owned();
        let id = table.windows(GFX.len()).position(|window| window == GFX.as_bytes()).unwrap();
        let number = |at: usize| u64::from_le_bytes(table[at..at + 8].try_into().unwrap());
        let numbers = id - "hipv4-amdgcn-amd-amdhsa--".len() - 24;
        let elf = source.read(number(numbers), number(numbers + 8) as usize).unwrap();
        let count = assert_all_found(&found[0], &elf, &name);
        assert_eq!(image.kernels, Some(count as u32), "{name}");
        kernels += count;
    }
    assert!(kernels > 5000, "{kernels}");
}
