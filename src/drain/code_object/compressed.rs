//! Compressed bundles (`CCOB`; LLVM, ClangOffloadBundler): unpacked only as far as something is read of them.

use super::source::{Source, u16_at, u32_at, u64_at};
use super::zstd;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::cell::{RefCell, RefMut};
use std::io::Read;

pub(super) const MAGIC: &[u8] = b"CCOB";
/// The most that is unpacked of a bundle; what lies behind it cannot be read.
const MAX_UNPACKED: u64 = 256 << 20;
/// The longest packed bundle that is taken where its own length is not told (version 1).
const MAX_PACKED: usize = 256 << 20;
/// How much further it is unpacked than asked for, at the least.
const AHEAD: usize = 64 << 10;

/// What the header says.
struct Header {
    /// `llvm::compression::Format`: 0 zlib, 1 zstd.
    method: u16,
    /// Bytes of the whole, from version 2 on.
    length: Option<u64>,
    unpacked: u64,
    /// Where the packed bytes begin.
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

/// The length of the compressed bundle, where its version tells.
pub(super) fn length(source: &dyn Source) -> Option<u64> {
    Header::read(source)?.length
}

/// A compressed bundle as the bundle that it was.
pub(super) struct Unpacked<'a> {
    packed: Cow<'a, [u8]>,
    unpack: Method,
    /// How long the bundle may be.
    limit: u64,
    /// Its beginning, as far as it was unpacked.
    bytes: RefCell<Vec<u8>>,
}

/// Unpacks at least so many bytes, if there are so many, and never more than the limit.
type Method = fn(packed: &[u8], wanted: usize, limit: usize) -> Vec<u8>;

impl<'a> Unpacked<'a> {
    /// `None` when `source` is no compressed bundle that can be unpacked.
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

    /// Unpacks until `end` bytes are there, if there are so many.
    fn unpack(&self, end: u64) -> RefMut<'_, Vec<u8>> {
        let mut bytes = self.bytes.borrow_mut();
        let wanted = end.min(self.limit) as usize;
        if bytes.len() < wanted {
            // Every unpacking begins at the beginning, so it goes on a little further than it must.
            let ahead = (wanted + wanted / 4 + AHEAD).min(self.limit as usize);
            *bytes = (self.unpack)(&self.packed, ahead, self.limit as usize);
        }
        bytes
    }
}

fn zlib(packed: &[u8], wanted: usize, _limit: usize) -> Vec<u8> {
    // What was unpacked when the room was full comes with the error.
    decompress_to_vec_zlib_with_limit(packed, wanted).unwrap_or_else(|cut| cut.output)
}

fn zstd(packed: &[u8], wanted: usize, limit: usize) -> Vec<u8> {
    let (mut blocks, mut bytes) = (wanted / zstd::BLOCK + 1, Vec::new());
    while let Some((frame, is_whole)) = zstd::beginning(packed, blocks) {
        bytes.clear();
        // Frames with a window of more than 100 MiB are refused.
        let Ok(decoder) = StreamingDecoder::new(frame.as_slice()) else { break };
        // Of damaged blocks there is what came before them.
        let done = decoder.take(limit as u64).read_to_end(&mut bytes);
        if bytes.len() >= wanted || is_whole || done.is_err() {
            break;
        }
        blocks *= 2;
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
