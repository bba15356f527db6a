//! Copies of a ring whose owner goes on.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A call whose every word can be told from its number.
fn numbered(number: u64) -> Launch {
    Launch { function: number, stream: number, grid: [number as u32; 3], ..launch() }
}

fn is_whole(event: &Event) -> bool {
    match event.kind {
        Kind::Launch => Launch::read(event) == numbered(event.id),
        Kind::Gemm => Gemm::read(event) == Gemm { handle: event.id, ..Gemm::default() },
        _ => false,
    }
}

#[test]
fn a_copy_of_a_ring_that_is_being_overwritten_is_whole() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    let done = Arc::new(AtomicBool::new(false));
    let (copied, read) = (ring.clone(), done.clone());
    let reader = std::thread::spawn(move || {
        for _ in 0..300 {
            let mut consumer = copied.freeze().unwrap().consumer();
            let events = drain(&mut consumer);
            let (gaps, calls): (Vec<_>, Vec<_>) = events.iter().partition(|event| event.kind == Kind::Gap);
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
fn a_copy_holds_the_calls_that_are_being_made() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    (0..5000).for_each(|_| call(producer, 0, &launch(), 0));
    let span = here(producer).enter(0, &Gemm::default()).unwrap();
    let frozen = ring.freeze().unwrap();
    assert_eq!(
        frozen.in_flight.iter().map(|event| (event.id, event.kind)).collect::<Vec<_>>(),
        [(5001, Kind::Gemm)]
    );
    let mut consumer = frozen.consumer();
    assert_eq!(drain(&mut consumer).last().map(|event| event.id), Some(5000));
    assert_eq!(consumer.written() + consumer.lost(), 5000);
    span.leave(now(), 0);
}

#[test]
fn a_copy_holds_the_call_in_which_others_are_made_without_a_pause() {
    let (ring, producer, _) = ring_that(WhenFull::Overwrite);
    let outer = here(producer).enter(0, &Gemm { handle: 1, ..Gemm::default() }).unwrap();
    let copied = ring.clone();
    let reader = std::thread::spawn(move || {
        let told = (0..2_000).map(|_| copied.freeze().unwrap().in_flight);
        told.filter(|in_flight| in_flight.first().is_none_or(|first| first.id != 1 || !is_whole(first)))
            .count()
    });
    while !reader.is_finished() {
        call(producer, 0, &launch(), 0);
    }
    outer.leave(now(), 0);
    assert_eq!(reader.join().unwrap(), 0, "copies without it");
}

#[test]
fn what_lasts_is_seen_where_no_pause_is_found() {
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
