//! Calls within calls: parents, jumps, exceptions, signal handlers.
#![allow(unsafe_code)] // a payload of its own

use super::*;
use crate::DEPTH;
use crate::slot::FAR_PARENT;

#[test]
fn a_short_event_with_a_distant_parent_names_it() {
    let (ring, producer, mut consumer) = ring();
    let outer = here(producer).enter(1, &Gemm::default()).unwrap();
    ring.page().calls.store(FAR_PARENT + 5, std::sync::atomic::Ordering::Relaxed);
    call(producer, 2, &Named::default(), 0);
    outer.leave(now(), 0);
    assert_eq!(drain(&mut consumer)[0].parent, 1);
}

#[test]
fn nested_calls_name_their_parent() {
    let (_ring, producer, mut consumer) = ring();
    let outer = here(producer).enter(1, &Gemm::default()).unwrap();
    call(producer, 2, &launch(), 0);
    call(producer, 3, &launch(), 5);
    outer.leave(now(), 0);
    call(producer, 4, &launch(), 0);
    let tree: Vec<_> = drain(&mut consumer).iter().map(|e| (e.hook, e.id, e.parent)).collect();
    assert_eq!(tree, [(2, 2, 1), (3, 3, 1), (1, 1, 0), (4, 4, 0)]);
}

#[test]
fn a_parent_too_far_for_the_narrow_field_is_named() {
    let (_ring, producer, mut consumer) = ring();
    let outer = here(producer).enter(1, &Gemm::default()).unwrap();
    for _ in 0..(1 << 24) + 5 {
        // Chunks are returned after every call but the last, so that the ring never fills.
        call(producer, 2, &launch(), 0);
        let head = consumer.position().head;
        consumer.read(head, |e| assert_eq!(e.parent, 1, "event {}", e.id));
        consumer.release();
    }
    outer.leave(0, 0);
}

#[inline(never)]
fn nest(producer: Producer, depth: usize) {
    let span = here(producer).enter(0, &Gemm::default());
    assert_eq!(span.is_some(), depth < DEPTH);
    if let Some(span) = span {
        nest(producer, depth + 1);
        span.leave(now(), 0);
    }
}

/// A call that returns, or whose frame a jump abandons.
#[inline(never)]
fn maybe_jump(producer: Producer, hook: u16, jumps: bool) {
    let span = here(producer).enter(hook, &launch()).unwrap();
    if jumps { std::mem::forget(span) } else { span.leave(now(), 0) }
}

#[test]
fn an_abandoned_call_is_recorded_and_is_no_parent() {
    let (ring, producer, mut consumer) = ring();
    (0..100).for_each(|_| {
        maybe_jump(producer, 1, true);
        maybe_jump(producer, 2, false);
        let tree: Vec<_> = drain(&mut consumer).iter().map(|e| (e.hook, e.unwound, e.parent)).collect();
        assert_eq!(tree, [(1, true, 0), (2, false, 0)]);
    });
    maybe_jump(producer, 3, true);
    producer.end();
    assert_eq!(drain(&mut consumer).len(), 1, "the thread's end ends the calls in flight");
    assert_eq!(ring.produced(), consumer.written());
}

#[test]
fn an_abandoned_call_inside_another_is_recorded() {
    let (ring, producer, mut consumer) = ring();
    for jumps in [[true, false], [false, true]] {
        let outer = here(producer).enter(1, &Gemm::default()).unwrap();
        jumps.iter().for_each(|jumps| maybe_jump(producer, 2, *jumps));
        outer.leave(now(), 0);
        let tree: Vec<_> = drain(&mut consumer).iter().map(|e| (e.hook, e.unwound, e.parent != 0)).collect();
        assert_eq!(tree, [(2, jumps[0], true), (2, jumps[1], true), (1, false, false)]);
        assert_eq!((ring.produced(), consumer.lost()), (consumer.written(), 0));
    }
}

#[test]
fn a_launch_is_the_parent_of_hooked_calls_inside() {
    let (ring, producer, mut consumer) = ring();
    for status in [0, 5] {
        let outer = here(producer).enter(1, &launch()).unwrap();
        assert_eq!(Launch::read(&ring.in_flight()[0]), launch());
        call(producer, 2, &Gemm::default(), 0);
        assert_eq!(ring.in_flight().len(), 1);
        outer.leave(now(), status);
        let tree: Vec<_> = drain(&mut consumer).iter().map(|e| (e.hook, e.status, e.parent)).collect();
        assert_eq!(tree, [(2, 0, consumer.written() - 1), (1, status, 0)]);
        assert!(ring.in_flight().is_empty());
    }
}

#[test]
fn internal_launches_of_the_runtime_are_not_recorded() {
    #[inline(never)]
    fn inner(producer: Producer) -> bool {
        here(producer).enter(2, &launch()).is_some()
    }
    let (_ring, producer, mut consumer) = ring();
    let wide = Launch { flags: 1, ..launch() };
    for outer in [launch(), wide] {
        let span = here(producer).enter(1, &outer).unwrap();
        assert!(!inner(producer));
        span.leave(now(), 0);
        assert_eq!(drain(&mut consumer).iter().map(|e| e.hook).collect::<Vec<_>>(), [1]);
    }
}

#[test]
fn a_handlers_call_before_an_event_is_stored_precedes_it() {
    /// A launch whose handler makes a launch, after the depth was checked.
    #[derive(Clone, Copy)]
    struct Preceded(Producer);
    impl Payload for Preceded {
        const KIND: EventKind = EventKind::Launch;
        const WORDS: usize = 5;
        const SHORT: bool = true;
        const RESERVED: bool = true;
        fn is_wide(&self) -> bool {
            call(self.0, 9, &launch(), 0);
            false
        }
        unsafe fn store_reserved(&self, to: *mut u64) {
            // SAFETY: `to` has room for five words, by this function's contract.
            unsafe { launch().store_reserved(to) };
        }
        fn store(&self, _put: impl FnMut(usize, u64)) {
            unreachable!("it is stored in its place");
        }
    }
    let (ring, producer, mut consumer) = ring();
    call(producer, 1, &Preceded(producer), 0);
    let events: Vec<_> = drain(&mut consumer).iter().map(|e| (e.hook, e.id, Launch::read(e))).collect();
    assert_eq!(events, [(9, 1, launch()), (1, 2, launch())]);
    assert_eq!((ring.produced(), consumer.lost()), (2, 0));
}

#[test]
fn a_handlers_call_while_an_event_is_stored_is_counted() {
    /// A launch whose handler makes a launch while its words are being stored.
    #[derive(Clone, Copy)]
    struct Interrupted(Producer);
    impl Payload for Interrupted {
        const KIND: EventKind = EventKind::Launch;
        const WORDS: usize = 5;
        const SHORT: bool = true;
        const RESERVED: bool = true;
        unsafe fn store_reserved(&self, to: *mut u64) {
            assert!(deeper(self.0).is_none());
            // SAFETY: `to` has room for five words, by this function's contract.
            unsafe { launch().store_reserved(to) };
        }
        fn store(&self, _put: impl FnMut(usize, u64)) {
            unreachable!("it is stored in its place");
        }
    }
    #[inline(never)]
    fn deeper(producer: Producer) -> Option<crate::CallGuard> {
        here(producer).enter(9, &launch())
    }
    let (ring, producer, mut consumer) = ring();
    call(producer, 1, &Interrupted(producer), 0);
    call(producer, 2, &launch(), 0);
    let events = drain(&mut consumer);
    assert_eq!(
        events.iter().map(|e| e.kind).collect::<Vec<_>>(),
        [EventKind::Launch, EventKind::Gap, EventKind::Launch]
    );
    assert_eq!((Launch::read(&events[0]), events[0].id, events[2].id), (launch(), 1, 2));
    assert_eq!(LOSS_REASONS[Gap::read(&events[1]).reason as usize], "interrupted");
    assert_eq!((ring.produced(), consumer.written(), consumer.lost()), (3, 2, 1));
}

#[test]
fn calls_deeper_than_the_in_flight_slots_are_counted() {
    let (ring, producer, mut consumer) = ring();
    nest(producer, 0);
    let events = drain(&mut consumer);
    assert_eq!(events[0].kind, EventKind::Gap, "the loss is reported before the next event");
    assert_eq!(LOSS_REASONS[Gap::read(&events[0]).reason as usize], "nested_too_deep");
    assert_eq!(ring.produced(), DEPTH as u64 + 1);
    assert_eq!(ring.produced(), consumer.written() + consumer.lost());
}

#[test]
fn an_exception_is_recorded_and_the_depth_restored() {
    let (_ring, producer, mut consumer) = ring();
    let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _span = here(producer).enter(1, &launch()).unwrap();
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(thrown.is_err());
    call(producer, 2, &launch(), 0);
    let events = drain(&mut consumer);
    assert!(events[0].unwound && !events[1].unwound);
    assert_eq!(events[1].parent, 0);
}
