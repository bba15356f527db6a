//! A full ring: losses are counted, waiting threads find room, overwritten events are not read.

use super::*;

/// Calls that fill two chunks.
pub(super) const FULL: u64 = 2 * CHUNK_SLOTS;

fn drops(weak: Weak) {
    let (producer, mut reader) = shared(2, WhenFull::Drop, FULL, weak);
    let owner = spawn(move || {
        make(producer, &Short(FULL + 1));
        make(producer, &Short(FULL + 2));
    });
    reader.poll();
    owner.join().unwrap();
    reader.poll();
    // Reports the lost ones.
    in_its_place(|| make(producer, &Short(FULL + 3)));
    let consumer = reader.finish(FULL + 3);
    assert!(consumer.written() > FULL && consumer.unreported().next().is_none());
}

#[test]
fn events_without_room_are_counted_and_reported() {
    let weaknesses: [(&str, Weak); 2] =
        [("chunks, given back", Weak::Bits(Side::Stores)), ("chunks, taken", Weak::Bits(Side::Loads))];
    prove(3, drops, &weaknesses);
}

fn waits(weak: Weak) {
    let (producer, mut reader) = shared(2, WhenFull::Wait, FULL, weak);
    let owner = spawn(move || make(producer, &Short(FULL + 1)));
    reader.poll();
    owner.join().unwrap();
    in_its_place(|| make(producer, &Short(FULL + 2)));
    let consumer = reader.finish(FULL + 2);
    assert!(consumer.unreported().next().is_none());
}

#[test]
fn a_waiting_event_finds_room_or_is_counted() {
    prove(3, waits, &[("chunks, given back", Weak::Bits(Side::Stores))]);
}
