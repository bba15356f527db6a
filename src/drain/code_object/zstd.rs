//! The beginning of a zstd frame as a frame of its own (RFC 8878): a decoder gives out nothing of a frame whose window is
//! the whole of it, as an offload bundle's is, before it has come to its end.

/// The most that a block holds.
pub(super) const BLOCK: usize = 128 << 10;

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
const LAST: u8 = 1;
const RUN: u8 = 1;

/// A frame of at most the first `blocks` blocks of the one that `packed` begins with, and whether that is all of it;
/// `None` when it is none. It is cut where `packed` is.
pub(super) fn beginning(packed: &[u8], blocks: usize) -> Option<(Vec<u8>, bool)> {
    let (mut end, has_checksum) = header(packed)?;
    let (mut last, mut is_whole) = (None, false);
    for _ in 0..blocks {
        let Some(head) = packed.get(end..end + 3) else { break };
        let size = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize >> 3;
        let size = if head[0] >> 1 & 3 == RUN { 1 } else { size };
        if packed.len() < end + 3 + size {
            break;
        }
        (last, is_whole) = (Some(end), head[0] & LAST != 0);
        end += 3 + size;
        if is_whole {
            break;
        }
    }
    let mut frame = packed[..end].to_vec();
    frame[last?] |= LAST;
    if has_checksum {
        frame.extend([0; 4]); // nobody checks it
    }
    Some((frame, is_whole || packed.len() < end + 3))
}

/// The length of a frame's header, and whether a checksum follows its blocks.
fn header(packed: &[u8]) -> Option<(usize, bool)> {
    let descriptor = *packed.get(4).filter(|_| packed.starts_with(&MAGIC))?;
    let is_single_segment = descriptor & 0x20 != 0;
    let window = usize::from(!is_single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = [usize::from(is_single_segment), 2, 4, 8][usize::from(descriptor >> 6)];
    let length = 5 + window + dictionary + content;
    (packed.len() >= length).then_some((length, descriptor & 4 != 0))
}
