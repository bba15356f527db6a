//! Loom models of a ring's producer and consumer: every interleaving that the memory model allows
//! (`scripts/loom`). Each model also proves that it can fail: with one memory order weakened, it
//! does.
#![allow(unsafe_code)] // creates producers, whose contract each model fulfils; words of payloads

use super::*;
use crate::chunk::ALL_SLOTS;
use crate::event::{INTERRUPTED, RING_FULL};
use crate::page::Page;
use crate::sync::modelled::{self, AtomicU64, Role, Side};
use crate::sync::write;
use std::ops::Range;
use std::sync::atomic::Ordering::{self, Acquire, Release};

mod control;
mod full;
mod log;
mod pool;
mod publish;
mod snapshot;

/// What is weakened to check that the model notices.
#[derive(Clone, Copy)]
enum Weak {
    Nothing,
    Word(fn(&Page) -> &AtomicU64, Side),
    /// One of the words that a model without a ring names.
    Nth(usize, Side),
    Fences(Ordering),
    /// The words that mark the ready chunks.
    Bits(Side),
}

/// Runs `model` in every interleaving with at most `preemptions` switches away from a runnable
/// thread.
fn explore(preemptions: usize, weak: Weak, model: fn(Weak)) {
    let mut loom = loom::model::Builder::new();
    loom.preemption_bound = Some(preemptions);
    loom.max_branches = 100_000;
    let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let (start, counter) = (std::time::Instant::now(), count.clone());
    loom.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        modelled::begin(
            if let Weak::Fences(order) = weak { Some(order) } else { None },
            if let Weak::Bits(side) = weak { Some(side) } else { None },
        );
        model(weak);
    });
    println!("{} interleavings in {:.1?}", count.load(Ordering::Relaxed), start.elapsed());
}

/// Runs `model` unweakened, which holds (with more switches, if `LOOM_MAX_PREEMPTIONS` says so),
/// and with each of `weaknesses`, each of which must fail.
fn prove(preemptions: usize, model: fn(Weak), weaknesses: &[(&str, Weak)]) {
    let asked_for = loom::model::Builder::new().preemption_bound.unwrap_or(0);
    explore(preemptions.max(asked_for), Weak::Nothing, model);
    let unnoticed: Vec<&str> = weaknesses
        .iter()
        .filter(|(_, weak)| {
            let weak = *weak;
            std::panic::catch_unwind(move || explore(preemptions, weak, model)).is_ok()
        })
        .map(|(name, _)| *name)
        .collect();
    assert!(unnoticed.is_empty(), "weaknesses that no model notices: {unnoticed:?}");
}

impl Weak {
    fn apply(self, words: &[*const u64]) {
        if let Weak::Nth(index, side) = self {
            modelled::weaken(words[index], side);
        }
    }
}

/// A call that is reserved in the ring, and whose words all hold its number.
#[derive(Clone, Copy)]
struct Short(u64);

impl Payload for Short {
    const KIND: EventKind = EventKind::Launch;
    const WORDS: usize = 5;
    const SHORT: bool = true;
    const RESERVED: bool = true;
    unsafe fn store_reserved(&self, to: *mut u64) {
        for i in 0..Self::WORDS {
            // SAFETY: by this function's contract, there is room for five words, and `i` is below
            // five.
            unsafe { write(to.wrapping_add(i), self.0) };
        }
    }
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        (0..Self::WORDS).for_each(|i| put(i, self.0));
    }
}

/// The same in an in-flight slot: two slots with 10 words, eight with 57.
#[derive(Clone, Copy)]
struct Long<const WORDS: usize>(u64);

impl<const WORDS: usize> Payload for Long<WORDS> {
    const KIND: EventKind = EventKind::Gemm;
    const WORDS: usize = WORDS;
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        (0..Self::WORDS).for_each(|i| put(i, self.0));
    }
}

/// True if all words of an event are of the same call.
fn is_whole(event: &Event) -> bool {
    // The last words of the slots.
    let last = [4, 9, 17, 25, 33, 41, 49];
    last.iter().take(event.slots()).all(|word| event.payload(*word) == event.id)
}

/// A call of a function that makes no hooked calls.
fn make(producer: Producer, payload: &impl Payload) {
    if let Some(span) = producer.at(Frame::at(100)).enter(0, payload) {
        span.leave(1, 0);
    }
}

/// A ring on a pool of `chunks` chunks, after `filled` calls, whose words are shared from now on.
fn shared(chunks: u64, when_full: WhenFull, filled: u64, weak: Weak) -> (Producer, Reader) {
    shared_in(chunks, when_full, filled, weak, 0..ALL_SLOTS as usize)
}

/// The same, with only these slots of each chunk shared.
fn shared_in(
    chunks: u64,
    when_full: WhenFull,
    filled: u64,
    weak: Weak,
    seen: Range<usize>,
) -> (Producer, Reader) {
    let pool = Arc::new(Pool::create(None, chunks * CHUNK_BYTES as u64).unwrap());
    let (ring, producer, consumer) = ring_of(&pool, 0, when_full);
    modelled::act(Role::Owner);
    (1..=filled).for_each(|number| make(producer, &Short(number)));
    modelled::act(Role::Reader);
    share(&ring, seen);
    if let Weak::Word(word, side) = weak {
        modelled::weaken(word(ring.page()).as_ptr(), side);
    }
    (producer, Reader { consumer, last: 0 })
}

/// The words to share of a cache line that may be read while it is written: event kind and length,
/// number, and last payload word. The words between are stored and read by the same loops.
const OF_A_LINE: [usize; 3] = [0, 2, 7];

fn share(ring: &Ring, seen: Range<usize>) {
    let page = ring.page();
    let positions = [&page.head, &page.calls, &page.depth, &page.ended, &page.chunk, &page.first];
    let losses = [RING_FULL, INTERRUPTED].map(|reason| &page.losses[reason as usize].lost);
    let staged = [0, 2, 7, 15].map(|word: usize| page.in_flight[0].words[word].as_ptr().cast_const());
    // A copy sets its own positions, and its in-flight slots are not read.
    for word in positions.into_iter().chain(losses).map(|word| word.as_ptr().cast_const()).chain(staged) {
        modelled::share(word, Role::Owner);
        modelled::leave_out(word);
    }
    modelled::share(page.tail.as_ptr(), Role::Reader);
    for chunk in (1..).map_while(|number| ring.pool().chunk(number)) {
        let head = chunk.head;
        // The others are stored before the start, and once each.
        for word in [&head.start, &head.end, &head.events] {
            modelled::share(word.as_ptr(), Role::Owner);
        }
        for slot in seen.clone().map(|slot| chunk.slots().wrapping_add(slot * SLOT_WORDS)) {
            match WhenFull::of(page) {
                WhenFull::Overwrite => {
                    OF_A_LINE.iter().for_each(|word| modelled::share(slot.wrapping_add(*word), Role::Owner))
                }
                _ => (0..SLOT_WORDS)
                    .for_each(|word| modelled::share_plain(slot.wrapping_add(word), Role::Owner)),
            }
        }
    }
}

/// Starts the thread that owns a ring.
fn spawn(owner: impl FnOnce() + 'static) -> loom::thread::JoinHandle<()> {
    loom::thread::spawn(move || {
        modelled::act(Role::Owner);
        owner();
    })
}

/// The owner has ended: the calling thread acts in its role.
fn in_its_place(owner: impl FnOnce()) {
    modelled::act(Role::Owner);
    owner();
    modelled::act(Role::Reader);
}

/// A consumer that checks what it reads.
struct Reader {
    consumer: Consumer,
    /// The number of the last event.
    last: u64,
}

impl Reader {
    /// Reads all that is published, and returns its chunks. True if the owner had ended.
    fn poll(&mut self) -> bool {
        let position = self.consumer.position();
        let last = &mut self.last;
        let understood = self.consumer.read(position.head, |event| {
            if event.kind != EventKind::Gap {
                assert!(is_whole(event), "torn: {event:?}");
                assert!(event.id > *last, "{} after {last}", event.id);
                *last = event.id;
            }
        });
        assert!(understood, "no event begins where one ended");
        let (produced, reported) = (self.consumer.produced(), self.consumer.written() + self.consumer.lost());
        assert!(produced <= reported, "{produced} were produced by then, {reported} are known of");
        self.consumer.release();
        position.ended
    }

    /// The owner has made `calls` calls and makes no more: each was read or is counted.
    fn finish(mut self, calls: u64) -> Consumer {
        self.poll();
        let consumer = self.consumer;
        assert_eq!((consumer.written() + consumer.lost(), consumer.ring().produced()), (calls, calls));
        consumer
    }
}
