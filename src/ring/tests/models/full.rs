//! A ring that has no room: what is lost is counted, what waits finds room, what is overwritten is not read.

use super::*;

fn drops(weak: Weak) {
    let (producer, mut reader) = shared(8, WhenFull::Drop, 8, weak);
    let owner = spawn(move || {
        make(producer, &Short(9));
        make(producer, &Short(10));
    });
    reader.look();
    owner.join().unwrap();
    reader.look();
    // Tells of those that were lost.
    in_its_place(|| make(producer, &Short(11)));
    let consumer = reader.finish(11);
    assert!(consumer.written() >= 9 && consumer.untold().next().is_none());
}

#[test]
fn what_finds_no_room_is_counted_and_told() {
    let weaknesses: [(&str, Weak); 2] = [
        ("tail, stored", Weak::Word(|page| &page.tail, Side::Stores)),
        ("tail, loaded", Weak::Word(|page| &page.tail, Side::Loads)),
    ];
    prove(3, drops, &weaknesses);
}

fn waits(weak: Weak) {
    let (producer, mut reader) = shared(8, WhenFull::Block, 8, weak);
    let owner = spawn(move || make(producer, &Short(9)));
    reader.look();
    owner.join().unwrap();
    in_its_place(|| make(producer, &Short(10)));
    let consumer = reader.finish(10);
    assert!(consumer.untold().next().is_none());
}

#[test]
fn who_waits_finds_room_or_is_counted() {
    prove(3, waits, &[("tail, stored", Weak::Word(|page| &page.tail, Side::Stores))]);
}

fn overwrites(weak: Weak) {
    let (producer, mut reader) = shared(16, WhenFull::Overwrite, 9, weak);
    // From the position on where the next but one is going to be.
    reader.pass(7);
    let owner = spawn(move || {
        make(producer, &Long::<57>(10));
        make(producer, &Long::<57>(11));
    });
    reader.look();
    owner.join().unwrap();
    reader.finish(11);
}

#[test]
fn what_is_overwritten_is_not_read() {
    let weaknesses: [(&str, Weak); 2] = [
        ("fences before slots are written", Weak::Fences(Release)),
        ("fences after slots were read", Weak::Fences(Acquire)),
    ];
    prove(2, overwrites, &weaknesses);
}
