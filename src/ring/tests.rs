//! Round trips through a ring: every field, every loss, every call in flight.
#![allow(unsafe_code)] // creates producers, whose contract each test fulfils

use crate::clock::now;
use crate::conv::{Conv, ConvResult, Operation, Operations, Tensor};
use crate::event::{Gap, Gemm, LOSS_REASONS, Launch, Load};
use crate::hip::{Copy, GraphCall, Sync};
use crate::mark::{Mark, TEXT_BYTES, store_level};
use crate::named::{Group, Named};
use crate::payload::Payload;
use crate::producer::Frame;
use crate::slot::{Event, EventKind, MAX_WORDS, SLOT_WORDS, payload_at, slots_for};
use crate::{CHUNK_BYTES, CHUNK_SLOTS, Consumer, Pool, Producer, Ring, WhenFull};
use std::sync::Arc;

mod full;
#[cfg(loom)]
mod models;
mod nesting;
mod snapshot;

/// Slots of the pool in which events may begin.
pub(crate) const CAPACITY: u64 = 8 * CHUNK_SLOTS;

pub(crate) fn ring() -> (Arc<Ring>, Producer, Consumer) {
    ring_that(WhenFull::Drop)
}

fn ring_that(when_full: WhenFull) -> (Arc<Ring>, Producer, Consumer) {
    ring_of(&Arc::new(Pool::create(None, 8 * CHUNK_BYTES as u64).unwrap()), 0, when_full)
}

fn ring_of(pool: &Arc<Pool>, number: u64, when_full: WhenFull) -> (Arc<Ring>, Producer, Consumer) {
    let ring = Arc::new(Ring::create(None, number, 7, when_full, pool).unwrap());
    let consumer = Consumer::new(ring.clone());
    // SAFETY: the consumer keeps the ring and its pool mapped as long as the test runs; only this
    // thread produces.
    let producer = unsafe { Producer::new(ring.page_ptr(), Frame::at(0)) };
    (ring, producer, consumer)
}

/// A call from the function into which this is inlined, as if a hook had been entered there.
#[inline(always)]
pub(crate) fn here(producer: Producer) -> Producer {
    let stack: u64;
    // SAFETY: copies a register.
    unsafe { core::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags)) };
    producer.at(Frame::at(stack))
}

/// In a stack frame of its own, as a hook is.
#[inline(never)]
pub(crate) fn call<P: Payload>(producer: Producer, hook: u16, payload: &P, status: i32) {
    let span = here(producer).enter(hook, payload).unwrap();
    span.leave(now(), status);
}

pub(crate) fn drain(consumer: &mut Consumer) -> Vec<Event> {
    let mut events = Vec::new();
    let head = consumer.position().head;
    assert!(
        consumer.read(head, |event| events.push(event.clone())),
        "the ring holds something that is no event"
    );
    consumer.release();
    events
}

pub(crate) fn launch() -> Launch {
    Launch {
        function: 0xf00d,
        stream: 0x5,
        grid: [1, 2, 3],
        block: [256, 4, 5],
        shared: 48,
        ..Launch::default()
    }
}

#[test]
fn a_launch_round_trips() {
    let (_ring, producer, mut consumer) = ring();
    let wide = Launch {
        block: [u32::MAX, 70_000, 1 << 31],
        grid: [u32::MAX, 0, 7],
        shared: u64::MAX,
        start: 1,
        stop: 2,
        flags: 3,
        items: true,
        cooperative: true,
        ..launch()
    };
    for (payload, status) in [(launch(), 0), (launch(), -7), (wide, 0), (wide, 719)] {
        call(producer, 3, &payload, status);
        let events = drain(&mut consumer);
        assert_eq!(events.len(), 1);
        assert_eq!(Launch::read(&events[0]), payload);
        assert_eq!((events[0].hook, events[0].status, events[0].kind), (3, status, EventKind::Launch));
    }
}

#[test]
fn a_successful_launch_takes_one_slot() {
    let (_ring, producer, mut consumer) = ring();
    call(producer, 0, &launch(), 0);
    assert_eq!(consumer.position().head, 1);
    call(producer, 0, &launch(), 1);
    assert_eq!(consumer.position().head, 3, "a failed one takes two");
}

#[test]
fn a_gemm_round_trips() {
    let (_ring, producer, mut consumer) = ring();
    let gemm = Gemm {
        form: 2,
        handle: 1 << 60,
        trans: [111, 112],
        size: [i64::MAX, 2, -3],
        batch: 4,
        matrices: [5, 6, 7, 8],
        types: [150, 151, 152, 168],
        lds: [9, 10, 11, 12],
        strides: [13, 14, -15, i64::MIN],
        scalars: [16, 17],
        compute: 151,
        algo: 1,
        solution: -18,
        flags: 19,
    };
    call(producer, 9, &gemm, 4);
    assert_eq!(Gemm::read(&drain(&mut consumer)[0]), gemm);
}

#[test]
fn a_convolution_round_trips() {
    let (_ring, producer, mut consumer) = ring();
    let tensor = |seed: i32| Tensor {
        element: seed as u32,
        rank: 5,
        dims: std::array::from_fn(|i| seed * 10 + i as i32),
        strides: std::array::from_fn(|i| -seed * 100 - i as i32),
    };
    let conv = Conv {
        action: 4,
        direction: 2,
        tensors: [tensor(1), tensor(2), tensor(3)],
        spatial: 3,
        pads: [1, 2, 3],
        strides: [4, 5, 6],
        dilations: [7, 8, 9],
        groups: 32,
        mode: 1,
        algorithm: 5,
        solution: u64::MAX,
        workspace: 1 << 40,
        exhaustive: true,
        is_convolution: true,
        operations: Operations::of(&[Operation::BatchNorm, Operation::Mha]),
        stream: 1 << 50,
        subject: 1 << 51,
    };
    let results: Vec<_> = (0..8)
        .map(|i| ConvResult {
            algorithm: i,
            time: i as f32 / 3.0,
            workspace: i as u64 * 7,
            solution: i as u64,
        })
        .collect();
    let span = here(producer).enter(1, &conv).unwrap();
    Conv::store_results(11, &results, |index, value| span.put(index, value));
    span.leave(now(), 0);
    let event = &drain(&mut consumer)[0];
    assert_eq!(Conv::read(event), conv);
    assert_eq!(Conv::read_results(event), (11, results));
}

#[test]
fn a_named_call_round_trips() {
    let (_ring, producer, mut consumer) = ring();
    let whole = Named {
        count: Some(u64::MAX),
        datatype: Some(7),
        op: Some(u32::MAX),
        peer: Some(-1),
        comm: 1 << 60,
        stream: 5,
        ..Named::default()
    };
    let group = Some(Group { members: 1024, member: 1023, hash: u64::MAX });
    let created = Named { group, comm: 1 << 60, ..Named::default() };
    let zeros = Named { count: Some(0), datatype: Some(0), op: Some(0), peer: Some(0), ..Named::default() };
    for (payload, status) in [(whole, 0), (zeros, -7), (created, 0), (Named::default(), 0)] {
        call(producer, 3, &payload, status);
        let events = drain(&mut consumer);
        assert_eq!(
            (Named::read(&events[0]), events[0].kind, events[0].status),
            (payload, EventKind::Span, status)
        );
    }
}

#[test]
fn a_mark_takes_the_slots_that_its_text_needs() {
    let (_ring, producer, mut consumer) = ring();
    let long = "a range with a name of some length, and more of it, again and again; ".repeat(9);
    let kept = TEXT_BYTES.min(long.len());
    for (text, slots) in [
        (None, 1),
        (Some(""), 1),
        (Some("sixteen bytes ok"), 1),
        (Some("seventeen bytes !"), 2),
        (Some(&*long), 8),
    ] {
        let mark = Mark { action: 1, value: 9, level: None, text: text.map(str::as_bytes), cut: slots == 8 };
        let before = consumer.position().head;
        let span = here(producer).enter(3, &mark).unwrap();
        store_level(-4, |index, value| span.put(index, value));
        span.leave(now(), 0);
        assert_eq!(consumer.position().head - before, slots, "{text:?}");
        let read = Mark::read(&drain(&mut consumer)[0]);
        assert_eq!((read.action, read.value, read.level, read.cut), (1, 9, Some(-4), slots == 8));
        let text = text.map(|text| &text.as_bytes()[..text.len().min(kept)]);
        assert_eq!(read.text.as_deref(), text);
    }
}

#[test]
fn payloads_fit_the_longest_event() {
    for words in [
        Launch::WORDS,
        Gemm::WORDS,
        Conv::WORDS,
        Load::WORDS,
        Copy::WORDS,
        Named::WORDS,
        Mark::<&[u8]>::WORDS,
    ] {
        assert!((2..=8).contains(&slots_for(words)), "{words} words");
        // The last word of an in-flight slot is the producer's own.
        assert!(payload_at(words - 1) < MAX_WORDS - 1, "{words} words");
    }
}

#[test]
fn a_call_in_flight_has_no_result_of_an_earlier_one() {
    let (ring, producer, _consumer) = ring();
    call(producer, 1, &Gemm::default(), 7);
    let open = here(producer).enter(1, &Gemm::default()).unwrap();
    let in_flight = ring.in_flight();
    assert_eq!((in_flight[0].status, in_flight[0].ticks, in_flight[0].unwound), (0, 0, false));
    open.leave(now(), 0);
}

#[test]
fn a_dead_ring_yields_uncommitted_events_and_calls_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let [path, chunks] = ["ring-0", "chunks"].map(|name| folder.path().join(name));
    let pool = Arc::new(Pool::create(Some(&chunks), 8 * CHUNK_BYTES as u64).unwrap());
    let ring = Arc::new(Ring::create(Some(&path), 0, 9, WhenFull::Drop, &pool).unwrap());
    let mut consumer = Consumer::new(ring.clone());
    // SAFETY: the consumer keeps the ring and its pool mapped as long as the test runs; only this
    // thread produces.
    let producer = unsafe { Producer::new(ring.page_ptr(), Frame::at(0)) };
    (0..3).for_each(|_| call(producer, 0, &launch(), 0));
    drain(&mut consumer);
    consumer.prepare_commit(0);
    (0..2).for_each(|_| call(producer, 1, &launch(), 0));
    drain(&mut consumer); // read, but not committed
    let open = here(producer).enter(2, &Gemm { size: [1, 2, 3], ..Gemm::default() }).unwrap();

    let left = Arc::new(Pool::read(&chunks).unwrap());
    let dead = Arc::new(Ring::read(&path, &left).unwrap().expect("a ring that was begun"));
    assert_eq!((dead.tid(), dead.produced()), (9, 5));
    let in_flight = dead.in_flight();
    assert_eq!(
        in_flight.iter().map(|e| (e.hook, e.id, Gemm::read(e).size)).collect::<Vec<_>>(),
        [(2, 6, [1, 2, 3])]
    );
    let mut recovered = Consumer::after_commit(dead.clone(), 1).unwrap();
    assert_eq!(drain(&mut recovered).iter().map(|e| e.id).collect::<Vec<_>>(), [4, 5]);
    assert_eq!(recovered.written(), 5);
    recovered.prepare_retirement(1);
    assert!(Consumer::after_commit(dead, 2).is_none(), "nothing of a retired ring is reported again");
    open.leave(0, 0);
}

#[test]
fn a_damaged_ring_yields_wrong_counters_but_no_panic() {
    let (ring, producer, mut consumer) = ring();
    // A gap that reports more than there is, and counters at their maximum.
    for _ in 0..2 {
        let gap = Gap { lost: u64::MAX, ..Gap::default() };
        call(producer, 0, &launch(), 0);
        let slot = producer.slot(ring.page().head.load(std::sync::atomic::Ordering::Relaxed) - 1);
        // SAFETY: the slot that was just filled, in this thread's own ring.
        unsafe { std::ptr::copy_nonoverlapping(gap.words().as_ptr(), slot, SLOT_WORDS) };
    }
    ring.page().calls.store(u64::MAX, std::sync::atomic::Ordering::Relaxed);
    ring.page().losses[crate::event::INTERRUPTED as usize]
        .lost
        .store(u64::MAX, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(ring.produced(), u64::MAX - 1);
    assert_eq!(drain(&mut consumer).len(), 2);
    assert_eq!(consumer.written(), 0);
}

#[test]
fn foreign_bytes_are_rejected_and_never_read_past_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring-0");
    let pool = Arc::new(Pool::from_bytes(&[]).unwrap());
    for bytes in [vec![0xff; 100], vec![0xff; 8192], vec![0xff; 8256]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(Ring::read(&path, &pool).is_err());
    }
    // A process killed while it creates the file leaves it so.
    for bytes in [vec![], vec![0; 8192]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(Ring::read(&path, &pool).unwrap().is_none());
    }
    let mut noise = [0u64; 64];
    let mut seed = 1u64;
    for _ in 0..100_000 {
        noise.iter_mut().for_each(|word| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *word = seed;
        });
        if let Some(event) = Event::from_words(&noise[..(seed as usize >> 40) % 9 * SLOT_WORDS]) {
            let _ =
                (Launch::read(&event), Gemm::read(&event), Conv::read(&event), Conv::read_results(&event));
            let _ = (GraphCall::read(&event), Copy::read(&event), Sync::read(&event));
        }
    }
}
