//! Describes an image of device code: format, length, GPU targets, and the metadata of its kernels.
//!
//! Formats: AMDGPU ELF, clang offload bundle, compressed bundle (`CCOB`). Everything else is
//! opaque. Images are untrusted: all reads are bounded by the source, and all work by the amount
//! read. Layouts are those of LLVM's AMDGPU usage guide and ClangOffloadBundler documentation.

mod bundle;
mod compressed;
mod elf;
mod metadata;
mod msgpack;
mod source;
mod target;
#[cfg(test)]
mod tests;

pub use metadata::Metadata;
pub use source::{FileSource, Source};
pub use target::fits;

use bundle::Entry;
use compressed::Unpacked;
use elf::Allowance;
use object::elf::ELFMAG;

/// The description of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// `elf`, `bundle`, `compressed_bundle` or `opaque`.
    pub format: &'static str,
    /// GPU targets, in the image's order.
    pub targets: Vec<String>,
    /// Kernels per target, if equal for all targets. `None` for a compressed bundle, most of which
    /// would have to be unpacked.
    pub kernels: Option<u32>,
}

/// The length of an image in bytes; `None` if its format does not state it (opaque, or a compressed
/// bundle of version 1).
pub fn length(source: &dyn Source) -> Option<u64> {
    match format(source) {
        "elf" => elf::Header::read(source)?.length(source),
        "bundle" => bundle::table(source).map(|(_, end)| end),
        "compressed_bundle" => compressed::length(source),
        _ => None,
    }
}

/// Describes the image in `source`.
pub fn describe(source: &dyn Source) -> Image {
    let format = format(source);
    let targets = |entries: Vec<Entry>| entries.into_iter().map(|entry| entry.target).collect();
    if format == "compressed_bundle" {
        let unpacked = Unpacked::open(source);
        let entries = unpacked.map(|unpacked| bundle::entries(&unpacked)).unwrap_or_default();
        return Image { format, targets: targets(entries), kernels: None };
    }
    let entries = bundle::entries(source);
    let allowance = Allowance::new();
    let count = |entry: &Entry| metadata::count(&entry.of(source), &allowance);
    let counts: Vec<Option<u32>> = entries.iter().map(count).collect();
    let agreed = counts.first().copied().flatten().filter(|first| counts.iter().all(|n| n == &Some(*first)));
    // An unknown machine number makes an ELF opaque.
    let format = if format == "elf" && entries.is_empty() { "opaque" } else { format };
    Image { format, kernels: agreed, targets: targets(entries) }
}

/// The metadata of the code that the loader picks for `devices` (targets); of all code if no device
/// is known, or none matches: then the code runs on a device that was never queried.
pub fn metadata<D: AsRef<str>>(source: &dyn Source, devices: &[D]) -> Vec<Metadata> {
    if format(source) != "compressed_bundle" {
        return chosen(source, devices);
    }
    Unpacked::open(source).map(|unpacked| chosen(&unpacked, devices)).unwrap_or_default()
}

fn chosen<D: AsRef<str>>(source: &dyn Source, devices: &[D]) -> Vec<Metadata> {
    let entries = bundle::entries(source);
    // Among equals the first, as the loader does.
    let best = |device: &D| {
        let fit = |i: usize| Some((fits(&entries[i].target, device.as_ref())?, i));
        (0..entries.len()).rev().filter_map(fit).max_by_key(|(fit, _)| *fit).map(|(_, i)| i)
    };
    let mut taken: Vec<usize> = devices.iter().filter_map(best).collect();
    if taken.is_empty() {
        taken = (0..entries.len()).collect();
    }
    taken.sort_unstable();
    taken.dedup();
    let allowance = Allowance::new();
    let of = |i: usize| Metadata::of_elf(&entries[i].of(source), &entries[i].target, &allowance);
    taken.into_iter().filter_map(of).collect()
}

fn format(source: &dyn Source) -> &'static str {
    let head = source.read_up_to(0, bundle::MAGIC.len());
    if head.starts_with(&ELFMAG) {
        "elf"
    } else if *head == *bundle::MAGIC {
        "bundle"
    } else if head.starts_with(compressed::MAGIC) {
        "compressed_bundle"
    } else {
        "opaque"
    }
}
