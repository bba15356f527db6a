//! Cuts the beginning of a zstd frame into a frame of its own (RFC 8878). A decoder returns nothing
//! of a frame whose window is its whole contents, as an offload bundle's is, before it has reached
//! the end.

/// The maximum size of a block, bytes.
pub(super) const BLOCK: usize = 128 << 10;

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
const LAST: u8 = 1;
const RUN: u8 = 1;

/// A frame of at most the first `blocks` blocks of the frame at the beginning of `packed`, and
/// whether that is all of it: it ends where `packed` ends, and before an incomplete block. `None`
/// if there is no frame.
pub(super) fn beginning(packed: &[u8], blocks: usize) -> Option<(Vec<u8>, bool)> {
    let (mut end, has_checksum) = header(packed)?;
    let (mut last, mut is_all) = (None, false);
    for _ in 0..blocks {
        let Some(head) = packed.get(end..end + 3) else {
            is_all = true;
            break;
        };
        let size = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize >> 3;
        let size = if head[0] >> 1 & 3 == RUN { 1 } else { size };
        if packed.len() < end + 3 + size {
            is_all = true;
            break;
        }
        (last, is_all) = (Some(end), head[0] & LAST != 0);
        end += 3 + size;
        if is_all {
            break;
        }
    }
    let mut frame = packed[..end].to_vec();
    frame[last?] |= LAST;
    if has_checksum {
        frame.extend([0; 4]); // not checked
    }
    Some((frame, is_all || packed.len() < end + 3))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_frame_is_read_to_its_end() {
        // One segment with a one-byte content size; a block of 4 bytes; the header of one of 1000,
        // and 3 bytes of it.
        let head = |size: u32| (size << 3).to_le_bytes();
        let packed = [&MAGIC[..], &[0x20, 9], &head(4)[..3], &[1; 4], &head(1000)[..3], &[2; 3]].concat();
        let whole = packed.len() - 6;
        for (blocks, is_all) in [(1, false), (2, true), (1 << 40, true)] {
            let (frame, all) = beginning(&packed, blocks).expect("a frame");
            assert_eq!((frame.len(), all), (whole, is_all), "{blocks} blocks");
        }
        // Without even the header of another block.
        assert_eq!(beginning(&packed[..whole], 2).map(|(_, all)| all), Some(true));
    }
}
