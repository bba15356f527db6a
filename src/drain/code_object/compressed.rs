//! Unpacks compressed bundles (`CCOB`; LLVM, ClangOffloadBundler) only as far as they are read.

use super::source::{Source, u16_at, u32_at, u64_at};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::borrow::Cow;
use std::cell::{RefCell, RefMut};
use std::io::Read;
use zstd::Decoder;

pub(super) const MAGIC: &[u8] = b"CCOB";
/// The most bytes that are unpacked of a bundle; the rest cannot be read.
const MAX_UNPACKED: u64 = 256 << 20;
/// The longest packed bundle that is accepted if its length is not stated (version 1), bytes.
const MAX_PACKED: usize = 256 << 20;
/// The least that is unpacked beyond the requested bytes.
const AHEAD: usize = 64 << 10;

/// The header's fields.
struct Header {
    /// `llvm::compression::Format`: 0 zlib, 1 zstd.
    method: u16,
    /// Total bytes, from version 2 on.
    length: Option<u64>,
    unpacked: u64,
    /// Offset of the packed bytes.
    payload: u64,
}

impl Header {
    fn read(source: &dyn Source) -> Option<Header> {
        let (version, method) = (u16_at(source, 4)?, u16_at(source, 6)?);
        let small = |at| u32_at(source, at).map(u64::from);
        let (length, unpacked, payload) = match version {
            1 => (None, small(8)?, 20),
            2 => (Some(small(8)?), small(12)?, 24),
            3 => (Some(u64_at(source, 8)?), u64_at(source, 16)?, 32),
            _ => return None,
        };
        Some(Header { method, length, unpacked, payload })
    }
}

/// The length of the compressed bundle, if its version states it.
pub(super) fn length(source: &dyn Source) -> Option<u64> {
    Header::read(source)?.length
}

/// A compressed bundle, read as the bundle inside.
pub(super) struct Unpacked<'a> {
    packed: Cow<'a, [u8]>,
    unpack: Method,
    /// The maximum length of the bundle, bytes.
    limit: u64,
    /// Its beginning, as far as it is unpacked.
    bytes: RefCell<Vec<u8>>,
}

/// Unpacks `wanted` bytes, if there are that many.
type Method = fn(packed: &[u8], wanted: usize) -> Vec<u8>;

impl<'a> Unpacked<'a> {
    /// `None` if `source` is not a compressed bundle that can be unpacked.
    pub(super) fn open(source: &'a dyn Source) -> Option<Unpacked<'a>> {
        let header = Header::read(source).filter(|_| source.read_up_to(0, 4).as_ref() == MAGIC)?;
        let packed = match header.length {
            Some(length) => {
                source.read(header.payload, length.checked_sub(header.payload)?.try_into().ok()?)?
            }
            None => source.read_up_to(header.payload, MAX_PACKED),
        };
        let unpack = match header.method {
            0 => zlib as Method,
            1 => zstd as Method,
            _ => return None,
        };
        Some(Unpacked { packed, unpack, limit: header.unpacked.min(MAX_UNPACKED), bytes: RefCell::default() })
    }

    /// Unpacks until `end` bytes exist, if there are that many.
    fn unpack(&self, end: u64) -> RefMut<'_, Vec<u8>> {
        let mut bytes = self.bytes.borrow_mut();
        let wanted = end.min(self.limit) as usize;
        if bytes.len() < wanted {
            // Unpacking always restarts at the beginning, so it goes further than needed.
            let ahead = (wanted + wanted / 4 + AHEAD).min(self.limit as usize);
            *bytes = (self.unpack)(&self.packed, ahead);
        }
        bytes
    }
}

fn zlib(packed: &[u8], wanted: usize) -> Vec<u8> {
    // The error contains what was unpacked until the limit.
    decompress_to_vec_zlib_with_limit(packed, wanted).unwrap_or_else(|cut| cut.output)
}

fn zstd(packed: &[u8], wanted: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Frames with a window of more than 128 MiB are rejected (zstd's default).
    if let Ok(decoder) = Decoder::with_buffer(packed) {
        // An error ends a truncated or damaged frame: the blocks before it are kept.
        let _ = decoder.single_frame().take(wanted as u64).read_to_end(&mut bytes);
    }
    bytes
}

impl Source for Unpacked<'_> {
    fn read(&self, at: u64, length: usize) -> Option<Cow<'_, [u8]>> {
        let end = at.checked_add(length as u64).filter(|end| *end <= self.limit)?;
        let bytes = self.unpack(end);
        bytes.get(at as usize..end as usize).map(|bytes| Cow::Owned(bytes.to_vec()))
    }

    fn read_up_to(&self, at: u64, most: usize) -> Cow<'_, [u8]> {
        let bytes = self.unpack(at.saturating_add(most as u64));
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        Cow::Owned(rest[..most.min(rest.len())].to_vec())
    }
}
