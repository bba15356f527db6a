//! What an image of device code is: its format, its length, the GPU targets it carries.
//!
//! Formats: AMDGPU ELF, clang offload bundle, compressed bundle (`CCOB`). Everything else is opaque. All reads are
//! bounded by the bytes given; layouts are those of LLVM's AMDGPU usage guide and ClangOffloadBundler documentation.

use object::elf::{ELFCLASS64, ELFMAG, EM_AMDGPU, FileHeader64, PT_LOAD, ProgramHeader64, SectionHeader64};
use object::read::elf::FileHeader;
use object::{Endianness, U32, U64};

const BUNDLE_MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED_MAGIC: &[u8] = b"CCOB";
/// More entries than any bundle has; a count above it is noise.
const MAX_ENTRIES: u64 = 256;

/// What an image says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// `elf`, `bundle`, `compressed_bundle` or `opaque`.
    pub format: &'static str,
    /// GPU targets, in the image's order.
    pub targets: Vec<String>,
}

/// How long an image is, reading it through `read(offset, length)`, which gives `None` where it ends.
///
/// `None`: the format does not tell (opaque, or a compressed bundle of version 1).
pub fn length<'a>(read: impl Fn(u64, usize) -> Option<&'a [u8]>) -> Option<u64> {
    let head = read(0, 24)?;
    if head.starts_with(&ELFMAG) {
        elf_length(&read)
    } else if head.starts_with(BUNDLE_MAGIC) {
        let (entries, table_end) = bundle_entries(&read)?;
        entries
            .iter()
            .map(|entry| entry.offset.checked_add(entry.size))
            .try_fold(table_end, |a, b| Some(a.max(b?)))
    } else if head.starts_with(COMPRESSED_MAGIC) {
        match u16::from_le_bytes([head[4], head[5]]) {
            2 => Some(u32::from_le_bytes(head[8..12].try_into().ok()?).into()),
            3 => Some(u64::from_le_bytes(head[8..16].try_into().ok()?)),
            _ => None,
        }
    } else {
        None
    }
}

/// What the image that begins with `bytes` is.
pub fn describe(bytes: &[u8]) -> Image {
    let read = |at: u64, length: usize| bytes.get(at as usize..(at as usize).checked_add(length)?);
    if bytes.starts_with(&ELFMAG) {
        let target = elf_target(bytes);
        Image {
            format: if target.is_some() { "elf" } else { "opaque" },
            targets: target.into_iter().collect(),
        }
    } else if bytes.starts_with(BUNDLE_MAGIC) {
        let entries = bundle_entries(&read).map(|(entries, _)| entries).unwrap_or_default();
        Image {
            format: "bundle",
            targets: entries.iter().filter_map(|entry| gpu_target(&entry.id)).collect(),
        }
    } else if bytes.starts_with(COMPRESSED_MAGIC) {
        Image { format: "compressed_bundle", targets: Vec::new() }
    } else {
        Image { format: "opaque", targets: Vec::new() }
    }
}

fn elf_length<'a>(read: impl Fn(u64, usize) -> Option<&'a [u8]>) -> Option<u64> {
    type Header = FileHeader64<Endianness>;
    let header: &Header = object::pod::from_bytes(read(0, size_of::<Header>())?).ok()?.0;
    let e = Endianness::Little;
    if header.e_ident.class != ELFCLASS64 || header.e_machine(e) != EM_AMDGPU {
        return None;
    }
    let sections = size_of::<SectionHeader64<Endianness>>() as u64 * u64::from(header.e_shnum(e));
    let mut end = header.e_shoff(e).checked_add(sections)?.max(size_of::<Header>() as u64);
    for i in 0..u64::from(header.e_phnum(e)) {
        type Segment = ProgramHeader64<Endianness>;
        let at = header.e_phoff(e).checked_add(i * size_of::<Segment>() as u64)?;
        let segment: &Segment = object::pod::from_bytes(read(at, size_of::<Segment>())?).ok()?.0;
        if segment.p_type.get(e) == PT_LOAD {
            end = end.max(segment.p_offset.get(e).checked_add(segment.p_filesz.get(e))?);
        }
    }
    Some(end)
}

struct Entry {
    offset: u64,
    size: u64,
    id: String,
}

/// The entries of an uncompressed bundle and where their table ends.
fn bundle_entries<'a>(read: &impl Fn(u64, usize) -> Option<&'a [u8]>) -> Option<(Vec<Entry>, u64)> {
    let number = |at: u64| {
        Some(object::pod::from_bytes::<U64<Endianness>>(read(at, 8)?).ok()?.0.get(Endianness::Little))
    };
    let count = number(BUNDLE_MAGIC.len() as u64)?;
    let mut at = BUNDLE_MAGIC.len() as u64 + 8;
    let mut entries = Vec::new();
    for _ in 0..count.min(MAX_ENTRIES) {
        let (offset, size, id_length) = (number(at)?, number(at + 8)?, number(at + 16)?);
        let id = read(at + 24, usize::try_from(id_length).ok().filter(|n| *n < 4096)?)?;
        entries.push(Entry { offset, size, id: String::from_utf8_lossy(id).into_owned() });
        at += 24 + id_length;
    }
    Some((entries, at))
}

/// `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-` → `gfx90a:xnack-`; `None` for the host's entry.
fn gpu_target(id: &str) -> Option<String> {
    id.find("gfx").map(|at| id[at..].to_owned())
}

fn elf_target(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..64)?;
    let e = Endianness::Little;
    let flags = object::pod::from_bytes::<U32<Endianness>>(&head[48..52]).ok()?.0.get(e);
    let machine = u16::from_le_bytes([head[18], head[19]]);
    if machine != EM_AMDGPU {
        return None;
    }
    let (_, name) = MACHINES.iter().find(|(mach, _)| *mach == flags as u8)?;
    // From code object version 4 on (ABI version 2), the flags also say xnack and sramecc.
    let abi = head[8];
    let feature = |mask: u32, off: u32, on: u32, word: &str| match flags & mask {
        bits if abi >= 2 && bits == off => format!(":{word}-"),
        bits if abi >= 2 && bits == on => format!(":{word}+"),
        _ => String::new(),
    };
    Some(format!(
        "{name}{}{}",
        feature(0xc00, 0x800, 0xc00, "sramecc"),
        feature(0x300, 0x200, 0x300, "xnack")
    ))
}

/// EF_AMDGPU_MACH values of GPUs that ROCm runs on.
#[rustfmt::skip]
const MACHINES: &[(u8, &str)] = &[
    (0x20, "gfx600"), (0x21, "gfx601"), (0x3a, "gfx602"), (0x22, "gfx700"), (0x23, "gfx701"), (0x24, "gfx702"),
    (0x25, "gfx703"), (0x26, "gfx704"), (0x3b, "gfx705"), (0x28, "gfx801"), (0x29, "gfx802"), (0x2a, "gfx803"),
    (0x3c, "gfx805"), (0x2b, "gfx810"), (0x2c, "gfx900"), (0x2d, "gfx902"), (0x2e, "gfx904"), (0x2f, "gfx906"),
    (0x30, "gfx908"), (0x31, "gfx909"), (0x32, "gfx90c"), (0x3f, "gfx90a"), (0x40, "gfx940"), (0x4b, "gfx941"),
    (0x4c, "gfx942"), (0x4f, "gfx950"), (0x33, "gfx1010"), (0x34, "gfx1011"), (0x35, "gfx1012"), (0x42, "gfx1013"),
    (0x36, "gfx1030"), (0x37, "gfx1031"), (0x38, "gfx1032"), (0x39, "gfx1033"), (0x3e, "gfx1034"), (0x3d, "gfx1035"),
    (0x45, "gfx1036"), (0x41, "gfx1100"), (0x46, "gfx1101"), (0x47, "gfx1102"), (0x44, "gfx1103"), (0x43, "gfx1150"),
    (0x4a, "gfx1151"), (0x55, "gfx1152"), (0x58, "gfx1153"), (0x48, "gfx1200"), (0x4e, "gfx1201"), (0x49, "gfx1250"),
    (0x5a, "gfx1251"), (0x51, "gfx9-generic"), (0x52, "gfx10-1-generic"), (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"), (0x59, "gfx12-generic"), (0x5f, "gfx9-4-generic"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(flags: u32) -> Vec<u8> {
        let mut bytes = vec![0; 200];
        bytes[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64, 2]);
        bytes[18..20].copy_from_slice(&224u16.to_le_bytes());
        bytes[40..48].copy_from_slice(&136u64.to_le_bytes()); // e_shoff
        bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        bytes[60..62].copy_from_slice(&1u16.to_le_bytes()); // e_shnum
        bytes
    }

    fn bundle() -> Vec<u8> {
        let mut bytes = BUNDLE_MAGIC.to_vec();
        bytes.extend(2u64.to_le_bytes());
        for (offset, size, id) in
            [(4096u64, 0u64, "host-x86_64-unknown-linux--"), (4096, 200, "hipv4-amdgcn-amd-amdhsa--gfx1100")]
        {
            bytes.extend(offset.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend((id.len() as u64).to_le_bytes());
            bytes.extend(id.bytes());
        }
        bytes.resize(4096, 0);
        bytes.extend(elf(0x41));
        bytes
    }

    fn length_of(bytes: &[u8]) -> Option<u64> {
        length(|at, n| bytes.get(at as usize..at as usize + n))
    }

    #[test]
    fn an_elf_tells_its_length_and_target() {
        assert_eq!(length_of(&elf(0x41)), Some(136 + 64));
        assert_eq!(describe(&elf(0x41)).targets, ["gfx1100"]);
        assert_eq!(describe(&elf(0x3f | 0xc00 | 0x200)).targets, ["gfx90a:sramecc+:xnack-"]);
        assert_eq!(
            describe(&elf(0xff)),
            Image { format: "opaque", targets: vec![] },
            "an unknown machine is not guessed"
        );
    }

    #[test]
    fn a_bundle_tells_its_length_and_targets() {
        assert_eq!(length_of(&bundle()), Some(4096 + 200));
        assert_eq!(describe(&bundle()), Image { format: "bundle", targets: vec!["gfx1100".into()] });
    }

    #[test]
    fn a_compressed_bundle_tells_its_length_from_version_2_on() {
        let mut head = b"CCOB\x02\x00\x01\x00".to_vec();
        head.extend(77u32.to_le_bytes());
        head.resize(32, 0);
        assert_eq!(length_of(&head), Some(77));
        head[4] = 1;
        assert_eq!(length_of(&head), None);
    }

    #[test]
    fn cut_and_alien_images_are_opaque_or_without_length() {
        for cut in [0, 3, 20, 40] {
            assert_eq!(length_of(&bundle()[..cut]), None);
            let _ = describe(&bundle()[..cut]);
            let _ = describe(&elf(0x41)[..cut]);
        }
        assert_eq!(describe(b"something else entirely").format, "opaque");
    }
}
