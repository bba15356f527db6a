//! Copies of a ring whose owner goes on.

use super::*;
use crate::page::COUNT;

const FENCES: [(&str, Weak); 2] = [
    ("fences before words are written", Weak::Fences(Release)),
    ("fences after words were read", Weak::Fences(Acquire)),
];

/// Looks once which calls are in flight, while the owner makes the tenth and the eleventh.
fn looks(calls: [impl Payload + 'static; 2], weak: Weak) {
    let (producer, reader) = shared_in(16, WhenFull::Overwrite, 9, weak, 9..10);
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
    let mut consumer = Consumer::of_frozen(reader.consumer.ring().freeze_once(0).unwrap());
    let events = drain(&mut consumer);
    let calls: Vec<_> = events.iter().filter(|event| event.kind != Kind::Gap).collect();
    assert!(calls.iter().all(|event| is_whole(event)), "torn: {calls:?}");
    let told = consumer.written() + consumer.lost();
    let ids: Vec<_> = calls.iter().map(|event| event.id).collect();
    assert_eq!(ids, (told + 1 - ids.len() as u64..=told).collect::<Vec<_>>(), "one after the other");
}

fn overwritten(weak: Weak) {
    // The second of them takes the place of what lies from position 7 on, where a reader begins.
    let (producer, reader) = shared_in(16, WhenFull::Overwrite, 9, weak, 7..9);
    in_its_place(|| {
        let page = producer.page();
        page.marks.iter().for_each(|mark| mark.head.store(0, Release));
        page.marks[0].head.store(7, Release);
        page.marks[0].events.store(7, Release);
        page.marked.store(1, Release);
    });
    // What they tell of calls in flight is another model's.
    let page = producer.page();
    [&page.open, &page.calls, &page.ended].iter().for_each(|word| modelled::unshare(word.as_ptr()));
    let owner = spawn(move || {
        make(producer, &Long::<57>(10));
        make(producer, &Long::<57>(11));
    });
    copy(&reader);
    owner.join().unwrap();
}

#[test]
fn what_is_overwritten_while_it_is_copied_is_left_out() {
    prove(1, overwritten, &FENCES);
}
