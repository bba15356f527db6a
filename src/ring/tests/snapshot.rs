//! Snapshot copies of a ring that its owner keeps writing.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A call whose words all follow from its number.
fn numbered(number: u64) -> Launch {
    Launch { function: number, stream: number, grid: [number as u32; 3], ..launch() }
}

fn is_whole(event: &Event) -> bool {
    match event.kind {
        EventKind::Launch => Launch::read(event) == numbered(event.id),
        EventKind::Gemm => Gemm::read(event) == Gemm { handle: event.id, ..Gemm::default() },
        _ => false,
    }
}

#[test]
fn a_snapshot_of_an_overwriting_ring_is_whole() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    let done = Arc::new(AtomicBool::new(false));
    let (copied, read) = (ring.clone(), done.clone());
    let reader = std::thread::spawn(move || {
        for _ in 0..300 {
            let mut consumer = copied.snapshot().unwrap().consumer();
            let events = drain(&mut consumer);
            let (gaps, calls): (Vec<_>, Vec<_>) =
                events.iter().partition(|event| event.kind == EventKind::Gap);
            assert!(calls.iter().all(|event| is_whole(event)), "none is torn");
            assert!(calls.windows(2).all(|pair| pair[0].id + 1 == pair[1].id), "one after the other");
            let lost: u64 = gaps.iter().map(|gap| Gap::read(gap).lost).sum();
            assert_eq!(lost, consumer.lost());
            if let (Some(first), Some(last)) = (calls.first(), calls.last()) {
                assert_eq!((lost, lost + consumer.written()), (first.id - 1, last.id));
            }
        }
        read.store(true, Relaxed);
    });
    let mut number = 0;
    while !done.load(Relaxed) && !reader.is_finished() {
        number += 1;
        match number % 7 {
            0 => call(producer, 0, &Gemm { handle: number, ..Gemm::default() }, 0),
            _ => call(producer, 0, &numbered(number), 0),
        }
    }
    reader.join().unwrap();
}

#[test]
fn a_snapshot_holds_the_calls_in_flight() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    (0..5000).for_each(|_| call(producer, 0, &launch(), 0));
    let span = here(producer).enter(0, &Gemm::default()).unwrap();
    let copy = ring.snapshot().unwrap();
    assert_eq!(
        copy.in_flight.iter().map(|event| (event.id, event.kind)).collect::<Vec<_>>(),
        [(5001, EventKind::Gemm)]
    );
    let mut consumer = copy.consumer();
    assert_eq!(drain(&mut consumer).last().map(|event| event.id), Some(5000));
    assert_eq!(consumer.written() + consumer.lost(), 5000);
    span.leave(now(), 0);
}

#[test]
fn a_snapshot_holds_the_parent_of_continuous_calls() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    let outer = here(producer).enter(0, &Gemm { handle: 1, ..Gemm::default() }).unwrap();
    let copied = ring.clone();
    let reader = std::thread::spawn(move || {
        let reported = (0..2_000).map(|_| copied.snapshot().unwrap().in_flight);
        reported
            .filter(|in_flight| in_flight.first().is_none_or(|first| first.id != 1 || !is_whole(first)))
            .count()
    });
    while !reader.is_finished() {
        call(producer, 0, &launch(), 0);
    }
    outer.leave(now(), 0);
    assert_eq!(reader.join().unwrap(), 0, "copies without it");
}

#[test]
fn lasting_calls_are_found_without_a_pause() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    let looked = || {
        let (moment, _, in_flight) = ring.at_rest(0);
        (moment.calls, in_flight.iter().map(|event| event.id).collect::<Vec<_>>())
    };
    assert_eq!(looked(), (0, vec![]));
    let outer = here(producer).enter(0, &Gemm::default()).unwrap();
    assert_eq!(looked(), (1, vec![1]));
    call(producer, 0, &launch(), 0);
    assert_eq!(looked(), (2, vec![1]));
    outer.leave(now(), 0);
    assert_eq!(looked(), (2, vec![]));
}
