//! Copies of a ring whose owner goes on.

use super::full::FULL;
use super::*;
use crate::page::COUNT;

const FENCES: [(&str, Weak); 2] = [
    ("fences before words are written", Weak::Fences(Release)),
    ("fences after words were read", Weak::Fences(Acquire)),
];

/// Looks once which calls are in flight, while the owner makes the tenth and the eleventh.
fn looks(calls: [impl Payload + 'static; 2], weak: Weak) {
    let (producer, reader) = shared_in(2, WhenFull::Overwrite, 9, weak, 1..2);
    let owner = spawn(move || calls.iter().for_each(|call| make(producer, call)));
    let (moment, _, in_flight) = reader.consumer.ring().at_rest(1);
    assert!(in_flight.iter().all(is_whole), "torn: {in_flight:?}");
    let ids: Vec<_> = in_flight.iter().map(|event| event.id).collect();
    // It may have been published, and not have left the stage yet; and no answer comes when it was looked in vain.
    let open = if moment.open & COUNT == 0 || ids.is_empty() { vec![] } else { vec![moment.calls] };
    assert_eq!(ids, open, "at {moment:?}");
    owner.join().unwrap();
}

fn at_one_in_its_place(weak: Weak) {
    looks([Short(10), Short(11)], weak);
}

fn at_one_staged(weak: Weak) {
    looks([Long::<10>(10), Long(11)], weak);
}

#[test]
fn a_call_in_flight_is_whole() {
    prove(2, at_one_in_its_place, &[]);
    prove(1, at_one_staged, &FENCES);
}

/// Copies a ring, and reads the copy.
fn copy(reader: &Reader) {
    let mut consumer = reader.consumer.ring().freeze_after(0).unwrap().consumer();
    let events = drain(&mut consumer);
    let calls: Vec<_> = events.iter().filter(|event| event.kind != Kind::Gap).collect();
    assert!(calls.iter().all(|event| is_whole(event)), "torn: {calls:?}");
    let told = consumer.written() + consumer.lost();
    let ids: Vec<_> = calls.iter().map(|event| event.id).collect();
    assert_eq!(ids, (told + 1 - ids.len() as u64..=told).collect::<Vec<_>>(), "one after the other");
}

fn overwritten(weak: Weak) {
    // The second of them takes the first chunk.
    let (producer, reader) = shared_in(2, WhenFull::Overwrite, FULL - 1, weak, 0..1);
    // What they tell of calls in flight is another model's.
    let page = producer.page();
    [&page.open, &page.calls, &page.ended].iter().for_each(|word| modelled::unshare(word.as_ptr()));
    let owner = spawn(move || {
        make(producer, &Long::<57>(FULL));
        make(producer, &Short(FULL + 1));
    });
    copy(&reader);
    owner.join().unwrap();
}

#[test]
fn what_is_overwritten_while_it_is_copied_is_left_out() {
    prove(1, overwritten, &FENCES);
}
