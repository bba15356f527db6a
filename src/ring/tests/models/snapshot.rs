//! Snapshot copies of a ring that its owner keeps writing.

use super::full::FULL;
use super::*;
use crate::page::COUNT;

const FENCES: [(&str, Weak); 2] = [
    ("fences before words are written", Weak::Fences(Release)),
    ("fences after words were read", Weak::Fences(Acquire)),
];

/// Reads the calls in flight once, while the owner makes the tenth and the eleventh.
fn check_in_flight(calls: [impl Payload + 'static; 2], weak: Weak) {
    let (producer, reader) = shared_in(2, WhenFull::Overwrite, 9, weak, 1..2);
    let owner = spawn(move || calls.iter().for_each(|call| make(producer, call)));
    let (moment, _, in_flight) = reader.consumer.ring().at_rest(1);
    assert!(in_flight.iter().all(is_whole), "torn: {in_flight:?}");
    let ids: Vec<_> = in_flight.iter().map(|event| event.id).collect();
    // It may be published, but still in its in-flight slot; and an attempt in vain returns nothing.
    let calls = if moment.depth_word & COUNT == 0 || ids.is_empty() { vec![] } else { vec![moment.calls] };
    assert_eq!(ids, calls, "at {moment:?}");
    owner.join().unwrap();
}

fn at_one_in_its_place(weak: Weak) {
    check_in_flight([Short(10), Short(11)], weak);
}

fn at_one_staged(weak: Weak) {
    check_in_flight([Long::<10>(10), Long(11)], weak);
}

#[test]
fn a_call_in_flight_is_whole() {
    prove(2, at_one_in_its_place, &[]);
    prove(1, at_one_staged, &FENCES);
}

/// Copies a ring, and reads the copy.
fn copy(reader: &Reader) {
    let mut consumer = reader.consumer.ring().snapshot_after(0).unwrap().consumer();
    let events = drain(&mut consumer);
    let calls: Vec<_> = events.iter().filter(|event| event.kind != EventKind::Gap).collect();
    assert!(calls.iter().all(|event| is_whole(event)), "torn: {calls:?}");
    let reported = consumer.written() + consumer.lost();
    let ids: Vec<_> = calls.iter().map(|event| event.id).collect();
    assert_eq!(ids, (reported + 1 - ids.len() as u64..=reported).collect::<Vec<_>>(), "one after the other");
}

fn overwritten(weak: Weak) {
    // The second of them takes the first chunk.
    let (producer, reader) = shared_in(2, WhenFull::Overwrite, FULL - 1, weak, 0..1);
    // The calls in flight are checked by another model.
    let page = producer.page();
    [&page.depth, &page.calls, &page.ended].iter().for_each(|word| modelled::unshare(word.as_ptr()));
    let owner = spawn(move || {
        make(producer, &Long::<57>(FULL));
        make(producer, &Short(FULL + 1));
    });
    copy(&reader);
    owner.join().unwrap();
}

#[test]
fn chunks_overwritten_during_a_copy_are_dropped() {
    prove(1, overwritten, &FENCES);
}
