//! The copy engine: SDMA packets as ROCr writes them for gfx10 and gfx11.

use crate::clock;
use crate::log;
use crate::queue::Ring;
use std::sync::atomic::Ordering;

// Operations, in the first byte of a packet.
const NOP: u32 = 0;
const COPY: u32 = 1;
const FENCE: u32 = 5;
const TRAP: u32 = 6;
const POLL: u32 = 8;
const ATOMIC: u32 = 10;
const FILL: u32 = 11;
const TIMESTAMP: u32 = 13;
const CACHES: u32 = 17;

/// The kinds of [`COPY`] that ROCr uses, in the second byte.
const LINEAR: u32 = 0;
const RECT: u32 = 4;

/// Works off the queue until it is stopped.
pub(crate) fn work(ring: Ring) {
    let mut read = 0;
    while ring.wait_until(|| read < ring.written()) {
        let Some(words) = execute(&ring, &Packet { ring: &ring, start: read }) else { return };
        read += 4 * words;
        ring.retire(read);
    }
}

/// A packet in the ring.
struct Packet<'a> {
    ring: &'a Ring,
    /// Bytes from the queue's beginning, counted since it was made.
    start: u64,
}

impl Packet<'_> {
    fn word(&self, index: u64) -> u32 {
        let place = &self.ring.place;
        self.ring.memory.read(place.ring + (self.start + 4 * index) % place.bytes)
    }

    fn long(&self, index: u64) -> u64 {
        u64::from(self.word(index)) | u64::from(self.word(index + 1)) << 32
    }

    /// `count` bits of a word, from bit `first`.
    fn bits(&self, index: u64, first: u32, count: u32) -> u64 {
        u64::from(self.word(index) >> first & ((1 << count) - 1))
    }
}

/// Does what the packet says; returns its length in words, or nothing when the queue was stopped
/// meanwhile.
fn execute(ring: &Ring, packet: &Packet<'_>) -> Option<u64> {
    let (operation, kind) = (packet.word(0) & 0xff, packet.word(0) >> 8 & 0xff);
    Some(match (operation, kind) {
        (NOP, _) => 1 + packet.bits(0, 16, 14),
        (COPY, LINEAR) => copy(ring, packet),
        (COPY, RECT) => copy_rect(ring, packet),
        (FENCE, _) => {
            ring.memory.write(packet.long(1), packet.word(3));
            4
        }
        (TRAP, _) => {
            (ring.set_event)(packet.bits(1, 0, 28) as u32);
            2
        }
        (POLL, _) => poll(ring, packet)?,
        (ATOMIC, _) => {
            // AcqRel: it orders the copies around it. The only atomic that ROCr uses is the 64-bit
            // add.
            ring.memory.shared(packet.long(1)).fetch_add(packet.long(3), Ordering::AcqRel);
            8
        }
        (FILL, _) => fill(ring, packet),
        (TIMESTAMP, _) => {
            ring.memory.write(packet.long(1), clock::now());
            3
        }
        (CACHES, _) => 5,
        _ => {
            log::line("refused", format_args!("queue={} what=sdma-{operation}.{kind}", ring.id));
            1
        }
    })
}

fn copy(ring: &Ring, packet: &Packet<'_>) -> u64 {
    let bytes = packet.bits(1, 0, 30) + 1;
    let (from, to) = (packet.long(3), packet.long(5));
    ring.memory.copy(from, to, bytes);
    log::line("copy", format_args!("queue={} bytes={bytes} from={from:#x} to={to:#x}", ring.id));
    7
}

/// One side of a rectangle: where it begins and how many elements lie between rows and between
/// slices.
struct Side {
    base: u64,
    origin: [u64; 3],
    pitch: u64,
    slice: u64,
}

impl Side {
    /// From the five words that begin at `first`.
    fn at(packet: &Packet<'_>, first: u64) -> Side {
        Side {
            base: packet.long(first),
            origin: [
                packet.bits(first + 2, 0, 14),
                packet.bits(first + 2, 16, 14),
                packet.bits(first + 3, 0, 11),
            ],
            pitch: packet.bits(first + 3, 13, 19) + 1,
            slice: packet.bits(first + 4, 0, 28) + 1,
        }
    }

    fn row(&self, y: u64, z: u64, element: u64) -> u64 {
        let [x0, y0, z0] = self.origin;
        self.base + ((z0 + z) * self.slice + (y0 + y) * self.pitch + x0) * element
    }
}

fn copy_rect(ring: &Ring, packet: &Packet<'_>) -> u64 {
    let element = 1 << packet.bits(0, 29, 3);
    let (from, to) = (Side::at(packet, 1), Side::at(packet, 6));
    let [width, height] = [0, 16].map(|first| packet.bits(11, first, 14) + 1);
    let depth = packet.bits(12, 0, 11) + 1;
    for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
        ring.memory.copy(from.row(y, z, element), to.row(y, z, element), width * element);
    }
    let id = ring.id;
    log::line("rect", format_args!("queue={id} size={width},{height},{depth} element={element}"));
    13
}

fn fill(ring: &Ring, packet: &Packet<'_>) -> u64 {
    let (at, value) = (packet.long(1), packet.word(3));
    let words = packet.bits(4, 0, 30) / 4 + 1; // the packet gives bytes less 1
    for index in 0..words {
        ring.memory.write(at + 4 * index, value);
    }
    log::line("fill", format_args!("queue={} bytes={} at={at:#x}", ring.id, 4 * words));
    5
}

/// Waits for a word of memory to compare with a value as the packet says.
fn poll(ring: &Ring, packet: &Packet<'_>) -> Option<u64> {
    const WORDS: u64 = 6;
    if packet.bits(0, 31, 1) == 0 {
        return Some(WORDS); // a register, not memory: there are none
    }
    let (address, value, mask) = (packet.long(1), packet.word(3), packet.word(4));
    let condition = packet.bits(0, 28, 3);
    let met = || {
        let now = ring.memory.read::<u32>(address) & mask;
        match condition {
            0 => true,
            1 => now < value,
            2 => now <= value,
            3 => now == value,
            4 => now != value,
            5 => now >= value,
            _ => now > value,
        }
    };
    ring.wait_until(met).then_some(WORDS)
}
