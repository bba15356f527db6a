//! Compute queues: AQL packets, taken in order, each done before the next.

use crate::builtin;
use crate::clock;
use crate::kernel_name::KernelNames;
use crate::log;
use crate::queue::{self, Ring};
use crate::signal;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

const PACKET_BYTES: u64 = 64;

// Packet types, in the first byte of a packet.
const VENDOR: u16 = 0;
const INVALID: u16 = 1;
const DISPATCH: u16 = 2;
const BARRIER_AND: u16 = 3;
const BARRIER_OR: u16 = 5;

// Kinds of vendor packets, in the third byte.
const PM4: u16 = 1;
const BARRIER_VALUE: u16 = 2;

/// Works off the queue until it is stopped.
pub(crate) fn work(ring: Ring) {
    let packets = ring.place.bytes / PACKET_BYTES;
    let mut names = KernelNames::default();
    let mut read = 0;
    while ring.wait_until(|| read < ring.written()) {
        let at = ring.place.ring + read % packets * PACKET_BYTES;
        // The runtime moves its index first and writes the header last.
        if !ring.wait_until(|| header(&ring, at) & 0xff != INVALID) {
            return;
        }
        let packet = Packet(ring.memory.read(at));
        let start = clock::now();
        let Some(end) = execute(&ring, &packet, &mut names, start) else { return };
        ring.memory.write(at, INVALID);
        read += 1;
        ring.retire(read);
        if let Some(event) = signal::complete(ring.memory, packet.long(56), start, end) {
            (ring.set_event)(event);
        }
    }
}

fn header(ring: &Ring, at: u64) -> u16 {
    // Acquire: the rest of the packet was written before its header. The first word holds header
    // and setup.
    ring.memory.shared(at).load(Ordering::Acquire) as u16
}

/// A packet, by byte offsets as the HSA specification gives them.
struct Packet([u32; 16]);

impl Packet {
    fn half(&self, offset: usize) -> u16 {
        (self.word(offset & !3) >> (8 * (offset & 2))) as u16
    }

    fn word(&self, offset: usize) -> u32 {
        self.0[offset / 4]
    }

    /// What orders it: the fences of its header, and whether it has a signal to complete.
    fn order(&self) -> String {
        format!("header={:#x} signal={}", self.half(0), u8::from(self.long(56) != 0))
    }

    fn long(&self, offset: usize) -> u64 {
        u64::from(self.word(offset)) | u64::from(self.word(offset + 4)) << 32
    }
}

/// Does what the packet says; gives when it had ended, or nothing when the queue was stopped
/// meanwhile.
fn execute(ring: &Ring, packet: &Packet, names: &mut KernelNames, start: u64) -> Option<u64> {
    let (kind, format) = (packet.half(0) & 0xff, packet.half(2) & 0xff);
    if matches!(kind, BARRIER_AND | BARRIER_OR) || (kind, format) == (VENDOR, BARRIER_VALUE) {
        log::line("barrier", format_args!("queue={} {}", ring.id, packet.order()));
    }
    let is_done = match (kind, format) {
        // As the log has it.
        (DISPATCH, _) => return Some(dispatch(ring, packet, names, start)),
        (BARRIER_AND, _) => wait_for_signals(ring, packet, |fired, of| fired == of),
        (BARRIER_OR, _) => wait_for_signals(ring, packet, |fired, _| fired > 0),
        (VENDOR, BARRIER_VALUE) => wait_for_value(ring, packet),
        (VENDOR, PM4) => true, // sets caches and registers, of which there are none
        _ => {
            log::line("refused", format_args!("queue={} what=aql-{kind}.{format}", ring.id));
            true
        }
    };
    is_done.then(clock::now)
}

fn dispatch(ring: &Ring, packet: &Packet, names: &mut KernelNames, start: u64) -> u64 {
    let arguments = packet.long(40);
    let name = builtin::run(ring.memory, names.of(ring.memory, packet.long(32)), arguments);
    occupy();
    let [bx, by, bz] = [4, 6, 8].map(|offset| packet.half(offset));
    let [gx, gy, gz] = [12, 16, 20].map(|offset| packet.word(offset));
    let (id, lds, end) = (ring.id, packet.word(28), clock::now());
    log::line(
        "kernel",
        format_args!(
            "queue={id} name={name} grid={gx},{gy},{gz} block={bx},{by},{bz} lds={lds} kernarg={arguments:#x} \
             start={start} end={end} {}",
            packet.order()
        ),
    );
    end
}

/// Takes the time that a kernel is to take.
fn occupy() {
    const LONG: Duration = Duration::from_micros(200);
    static TIME: OnceLock<Duration> = OnceLock::new();
    let time = *TIME.get_or_init(|| Duration::from_nanos(queue::number("NULL_GPU_KERNEL_NS").unwrap_or(0)));
    if time >= LONG {
        thread::sleep(time);
    } else if !time.is_zero() {
        let start = Instant::now();
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
    }
}

/// Waits until enough of the packet's up to five signals have fired, that is, are 0.
fn wait_for_signals(ring: &Ring, packet: &Packet, enough: fn(fired: usize, of: usize) -> bool) -> bool {
    let signals: Vec<u64> =
        (0..5).map(|index| packet.long(8 + 8 * index)).filter(|&signal| signal != 0).collect();
    let fired = || signals.iter().filter(|&&signal| signal::value(ring.memory, signal) == 0).count();
    signals.is_empty() || ring.wait_until(|| enough(fired(), signals.len()))
}

/// Waits until a signal compares with a value as the packet says.
fn wait_for_value(ring: &Ring, packet: &Packet) -> bool {
    let (signal, value, mask) = (packet.long(8), packet.long(16) as i64, packet.long(24) as i64);
    ring.wait_until(|| {
        let now = signal::value(ring.memory, signal) & mask;
        match packet.word(32) {
            0 => now == value,
            1 => now != value,
            2 => now < value,
            _ => now >= value,
        }
    })
}
