//! A ring that has no room: what is lost is counted, what waits finds room, what is overwritten is not read.

use super::*;

/// Calls that fill two chunks.
pub(super) const FULL: u64 = 2 * CHUNK_SLOTS;

fn drops(weak: Weak) {
    let (producer, mut reader) = shared(2, WhenFull::Drop, FULL, weak);
    let owner = spawn(move || {
        make(producer, &Short(FULL + 1));
        make(producer, &Short(FULL + 2));
    });
    reader.look();
    owner.join().unwrap();
    reader.look();
    // Tells of those that were lost.
    in_its_place(|| make(producer, &Short(FULL + 3)));
    let consumer = reader.finish(FULL + 3);
    assert!(consumer.written() > FULL && consumer.untold().next().is_none());
}

#[test]
fn what_finds_no_room_is_counted_and_told() {
    let weaknesses: [(&str, Weak); 2] =
        [("chunks, given back", Weak::Bits(Side::Stores)), ("chunks, taken", Weak::Bits(Side::Loads))];
    prove(3, drops, &weaknesses);
}

fn waits(weak: Weak) {
    let (producer, mut reader) = shared(2, WhenFull::Wait, FULL, weak);
    let owner = spawn(move || make(producer, &Short(FULL + 1)));
    reader.look();
    owner.join().unwrap();
    in_its_place(|| make(producer, &Short(FULL + 2)));
    let consumer = reader.finish(FULL + 2);
    assert!(consumer.untold().next().is_none());
}

#[test]
fn who_waits_finds_room_or_is_counted() {
    prove(3, waits, &[("chunks, given back", Weak::Bits(Side::Stores))]);
}
