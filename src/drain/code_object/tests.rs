//! Hand-made images, and images made by clang: `tests/programs/real`.

use super::*;
use std::time::{Duration, Instant};

const VECTORS: &[u8] = include_bytes!("../../../tests/programs/real/vectors-gfx1100.co");
/// Compressed by clang 19: version 2, zstd; for gfx1100, gfx90a with and without xnack, gfx942.
const ARGUMENTS: &[u8] = include_bytes!("../../../tests/programs/real/arguments.hipfb");

// ---- hand-made images ----

fn text(text: &str) -> Vec<u8> {
    [&[0xd9, text.len() as u8], text.as_bytes()].concat()
}

fn number(number: u32) -> Vec<u8> {
    [&[0xce][..], &number.to_be_bytes()].concat()
}

fn map(pairs: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let inside = pairs.iter().map(|(key, value)| [text(key), value.clone()].concat());
    [vec![0xde, 0, pairs.len() as u8], inside.flatten().collect()].concat()
}

fn array(elements: &[Vec<u8>]) -> Vec<u8> {
    [vec![0xdc, 0, elements.len() as u8], elements.concat()].concat()
}

fn argument(offset: u32, size: u32, kind: &str) -> Vec<u8> {
    map(&[(".offset", number(offset)), (".size", number(size)), (".value_kind", text(kind))])
}

fn kernel(name: &str, vgprs: u32) -> Vec<u8> {
    let args = array(&[argument(0, 8, "global_buffer"), argument(8, 4, "hidden_block_count_x")]);
    let (symbol, vgprs) = (text(&format!("{name}.kd")), number(vgprs));
    map(&[(".args", args), (".name", text(name)), (".symbol", symbol), (".vgpr_count", vgprs)])
}

fn note(kernels: &[Vec<u8>]) -> Vec<u8> {
    map(&[("amdhsa.version", array(&[vec![1], vec![2]])), ("amdhsa.kernels", array(kernels))])
}

/// An ELF with these flags, a note segment of `notes` (another note before them), and one section
/// header at its end.
fn elf(flags: u32, notes: &[Vec<u8>]) -> Vec<u8> {
    let mut segment = Vec::new();
    let mut add = |kind: u32, name: &[u8], desc: &[u8]| {
        for word in [name.len() as u32, desc.len() as u32, kind] {
            segment.extend(word.to_le_bytes());
        }
        for part in [name, desc] {
            segment.extend(part);
            segment.resize(segment.len().next_multiple_of(4), 0);
        }
    };
    add(3, b"GNU\0", &[7; 5]);
    notes.iter().for_each(|note| add(32, b"AMDGPU\0", note));
    let mut bytes = vec![0; 120];
    bytes[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64, 2]);
    bytes[18..20].copy_from_slice(&224u16.to_le_bytes());
    bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
    bytes[40..48].copy_from_slice(&(120 + segment.len() as u64).to_le_bytes());
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    bytes[56] = 1; // e_phnum
    bytes[60] = 1; // e_shnum
    bytes[64] = 4; // PT_NOTE
    bytes[72..80].copy_from_slice(&120u64.to_le_bytes());
    bytes[96..104].copy_from_slice(&(segment.len() as u64).to_le_bytes());
    bytes.extend(segment);
    bytes.resize(bytes.len() + 64, 0);
    bytes
}

fn bundle(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = bundle::MAGIC.to_vec();
    let mut code = Vec::new();
    bytes.extend((entries.len() as u64 + 1).to_le_bytes());
    let host = ("host-x86_64-unknown-linux--".to_owned(), Vec::new());
    let gpus = entries.iter().map(|(gpu, elf)| (format!("hipv4-amdgcn-amd-amdhsa--{gpu}"), elf.clone()));
    for (id, elf) in std::iter::once(host).chain(gpus) {
        for word in [4096 + code.len() as u64, elf.len() as u64, id.len() as u64] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(id.bytes());
        code.extend(elf);
    }
    bytes.resize(4096, 0);
    bytes.extend(code);
    bytes
}

fn compressed(version: u16, method: u16, bytes: &[u8], packed: &[u8]) -> Vec<u8> {
    let mut head = compressed::MAGIC.to_vec();
    head.extend([version, method].iter().flat_map(|word| word.to_le_bytes()));
    let total = packed.len() + [0, 20, 24, 32][version as usize];
    match version {
        1 => head.extend((bytes.len() as u32).to_le_bytes()),
        2 => head.extend([total, bytes.len()].iter().flat_map(|word| (*word as u32).to_le_bytes())),
        _ => head.extend([total, bytes.len()].iter().flat_map(|word| (*word as u64).to_le_bytes())),
    }
    head.extend([0; 8]); // the hash, which is not checked
    [&head, packed].concat()
}

fn targets(bytes: &[u8]) -> Vec<String> {
    describe(&bytes).targets
}

fn vgprs(bytes: &[u8], devices: &[&str], symbol: &str) -> Vec<(String, Option<u32>)> {
    let found = metadata(&bytes, devices);
    let kernels = found.iter().filter_map(|metadata| metadata.find(symbol));
    kernels.map(|kernel| (kernel.target.unwrap().into_owned(), kernel.vgprs)).collect()
}

// ---- descriptions ----

#[test]
fn an_elf_has_length_target_and_kernels() {
    let image = elf(0x41, &[note(&[kernel("a", 1), kernel("b", 2)])]);
    assert_eq!(length(&image.as_slice()), Some(image.len() as u64));
    let described = describe(&image.as_slice());
    assert_eq!(described, Image { format: "elf", targets: vec!["gfx1100".into()], kernels: Some(2) });
    assert_eq!(targets(&elf(0x3f | 0xc00 | 0x200, &[])), ["gfx90a:sramecc+:xnack-"]);
    let unknown = describe(&elf(0xff, &[]).as_slice());
    assert_eq!((unknown.format, unknown.targets.len()), ("opaque", 0), "an unknown machine is not guessed");
}

#[test]
fn a_bundle_has_length_targets_and_kernels() {
    let one = |vgprs| elf(0x41, &[note(&[kernel("a", vgprs)])]);
    let image = bundle(&[("gfx1100", one(1)), ("gfx90a:xnack-", one(2))]);
    assert_eq!(length(&image.as_slice()), Some(image.len() as u64));
    let described = describe(&image.as_slice());
    assert_eq!((described.format, described.kernels), ("bundle", Some(1)));
    assert_eq!(described.targets, ["gfx1100", "gfx90a:xnack-"]);
    let uneven = bundle(&[("gfx1100", one(1)), ("gfx1101", elf(0x46, &[note(&[])]))]);
    assert_eq!(describe(&uneven.as_slice()).kernels, None, "the targets do not agree");
}

#[test]
fn a_compressed_bundle_has_a_length_from_version_2_on_and_targets() {
    let described = describe(&ARGUMENTS);
    assert_eq!((described.format, described.kernels), ("compressed_bundle", None));
    assert_eq!(described.targets, ["gfx1100", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942"]);
    assert_eq!(length(&ARGUMENTS), Some(ARGUMENTS.len() as u64));
    let plain = bundle(&[("gfx1100", VECTORS.to_vec())]);
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6);
    for version in 1..=3 {
        let image = compressed(version, 0, &plain, &zlib);
        assert_eq!(targets(&image), ["gfx1100"], "version {version}");
        assert_eq!(length(&image.as_slice()), (version > 1).then_some(image.len() as u64));
        assert_eq!(vgprs(&image, &[], "vector_add"), vgprs(VECTORS, &[], "vector_add"));
        // The same frame with the headers of the other versions.
        let zstd = compressed(version, 1, &[0; 51_072], &ARGUMENTS[24..]);
        assert_eq!(targets(&zstd), described.targets);
    }
}

#[test]
fn no_more_is_unpacked_than_the_header_states() {
    let plain = bundle(&[("gfx1100", VECTORS.to_vec())]);
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6);
    let short = compressed(3, 0, &plain[..5000], &zlib);
    assert_eq!(targets(&short), ["gfx1100"]);
    assert_eq!(vgprs(&short, &[], "vector_add"), []);
    let none = compressed(3, 0, &[], &zlib);
    assert_eq!(targets(&none), [""; 0]);
}

// ---- kernels ----

#[test]
fn a_kernel_is_found_by_its_symbol_with_clangs_metadata() {
    let found = metadata(&ARGUMENTS, &["gfx1100"]);
    let kernel = found[0].find("_Z7scalarsfdijlmshbDF16_4ModePf").unwrap();
    assert_eq!(kernel.target.as_deref(), Some("gfx1100"));
    assert_eq!((kernel.vgprs, kernel.wavefront, kernel.max_block), (Some(12), Some(32), Some(1024)));
    assert_eq!((kernel.lds, kernel.scratch, kernel.vgpr_spills), (Some(0), Some(0), Some(0)));
    let args = kernel.args.unwrap();
    let places: Vec<_> = args.iter().map(|arg| (arg.offset, arg.size)).collect();
    #[rustfmt::skip]
    assert_eq!(places, [(0, 4), (8, 8), (16, 4), (20, 4), (24, 8), (32, 8), (40, 2), (42, 1), (43, 1), (44, 2), (48, 4), (56, 8)]);
    assert!(args[..11].iter().all(|arg| arg.kind == "by_value") && args[11].kind == "global_buffer");
    assert_eq!(found[0].find("nothing").unwrap().args, Some(vec![]));
    assert_eq!(found[0].find("nothing.kd"), None);
    let all: Vec<_> = found[0].kernels().map(|(symbol, _)| symbol).collect();
    let (short, float) = ("_Z6filledItLi64EEvPT_S0_i", "_Z6filledIfLi4EEvPT_S0_i");
    assert_eq!(
        all,
        [
            "nothing",
            "_Z7scalarsfdijlmshbDF16_4ModePf",
            "_Z7structs4Pair6TriplePKS_Pf",
            "_Z5largei5LargeiPf",
            float,
            short
        ]
    );
}

#[test]
fn each_device_gets_the_code_that_the_loader_picks() {
    let image = bundle(&[
        ("gfx90a", elf(0x13f, &[note(&[kernel("k", 1)])])),
        ("gfx90a:xnack-", elf(0x23f, &[note(&[kernel("k", 2)])])),
        ("gfx1100", elf(0x41, &[note(&[kernel("k", 3)])])),
        ("gfx1100", elf(0x41, &[note(&[kernel("k", 4)])])),
    ]);
    let of = |target: &str, vgprs| vec![(target.to_owned(), Some(vgprs))];
    assert_eq!(vgprs(&image, &["gfx90a:sramecc+:xnack-"], "k"), of("gfx90a:xnack-", 2));
    assert_eq!(vgprs(&image, &["gfx90a:sramecc+:xnack+"], "k"), of("gfx90a", 1));
    assert_eq!(vgprs(&image, &["gfx1100"], "k"), of("gfx1100", 3), "the first of two");
    assert_eq!(vgprs(&image, &["gfx1100", "gfx1100", "gfx90a:xnack+"], "k").len(), 2);
    assert_eq!(vgprs(&image, &[], "k").len(), 4, "no device is known");
    assert_eq!(
        vgprs(&image, &["gfx1201"], "k").len(),
        4,
        "the device in use is not the one that was asked about"
    );
}

#[test]
fn a_library_may_have_a_note_per_kernel() {
    // As Tensile's are.
    let notes: Vec<_> = (0..300).map(|i| note(&[kernel(&format!("Cijk_{i}"), i)])).collect();
    let image = elf(0x41, &notes);
    assert_eq!(describe(&image.as_slice()).kernels, Some(300));
    assert_eq!(vgprs(&image, &[], "Cijk_299"), [("gfx1100".into(), Some(299))]);
    let found = metadata::<&str>(&image.as_slice(), &[]);
    assert_eq!(found[0].kernels().count(), 300);
}

// ---- arbitrary bytes ----

#[test]
fn truncated_and_foreign_images_are_opaque_or_without_length() {
    let image = bundle(&[("gfx1100", VECTORS.to_vec())]);
    for cut in [0, 3, 20, 40] {
        assert_eq!(length(&&image[..cut]), None);
    }
    let foreign = b"something else entirely".as_slice();
    assert_eq!(describe(&foreign), Image { format: "opaque", ..Image::default() });
    for image in [image.as_slice(), VECTORS, ARGUMENTS] {
        (0..image.len()).step_by(7).for_each(|cut| query_all(&image[..cut]));
    }
}

#[test]
fn damaged_images_are_read_in_bounds_and_bounded_time() {
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&bundle(&[("gfx1100", VECTORS.to_vec())]), 6);
    let by_hand = elf(0x41, &[note(&[kernel("a", 1)]), note(&[kernel("b", 2)])]);
    let images = [
        VECTORS.to_vec(),
        ARGUMENTS.to_vec(),
        bundle(&[("gfx1100", by_hand.clone())]),
        by_hand,
        compressed(2, 0, &[0; 9000], &zlib),
    ];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below
    };
    let begun = Instant::now();
    for _ in 0..600 {
        for image in &images {
            let mut image = image.clone();
            for _ in 0..1 + next(6) {
                let at = if next(2) == 0 { next(image.len().min(700)) } else { next(image.len()) };
                image[at] = [0, 0xff, 0x7f, 0xdf, next(256) as u8][next(5)];
            }
            query_all(&image);
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn overlapping_notes_are_read_in_bounds() {
    let mut image = elf(0x41, &[note(&[kernel(&"k".repeat(200), 1)])]);
    // A gigabyte of notes: a megabyte of them, in a thousand headers, all but 56 bytes apart.
    let headers = image.len() as u64;
    let header: Vec<u8> =
        [4_u64, headers + 65_536, 0, 0, 1 << 20, 0, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    image.extend(header.repeat(1024));
    image[32..40].copy_from_slice(&headers.to_le_bytes());
    image[56..58].copy_from_slice(&1024_u16.to_le_bytes());
    image.resize(headers as usize + 65_536, 0);
    image.extend(vec![0; 1 << 20]);
    let begun = Instant::now();
    query_all(&image);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Runs every query on an image.
fn query_all(image: &[u8]) {
    let _ = (length(&image), describe(&image));
    for found in metadata::<&str>(&image, &[]) {
        let symbols: Vec<String> = found.kernels().map(|(symbol, _)| symbol.to_owned()).collect();
        symbols.iter().for_each(|symbol| drop(found.find(symbol)));
    }
}
