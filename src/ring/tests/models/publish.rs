//! A ring with room, and the end of its thread.

use super::*;

fn read_while_written(weak: Weak) {
    // The second continues in the next chunk.
    let (producer, mut reader) = shared(2, WhenFull::Drop, CHUNK_SLOTS - 1, weak);
    let owner = spawn(move || {
        make(producer, &Short(CHUNK_SLOTS));
        make(producer, &Long::<10>(CHUNK_SLOTS + 1));
    });
    reader.poll();
    reader.poll();
    owner.join().unwrap();
    let consumer = reader.finish(CHUNK_SLOTS + 1);
    assert_eq!(consumer.written(), CHUNK_SLOTS + 1, "none is lost");
}

#[test]
fn what_is_published_is_read_whole_and_in_order() {
    let weaknesses: [(&str, Weak); 3] = [
        ("head, stored", Weak::Word(|page| &page.head, Side::Stores)),
        ("head, loaded", Weak::Word(|page| &page.head, Side::Loads)),
        ("depth, stored", Weak::Word(|page| &page.depth, Side::Stores)),
    ];
    prove(3, read_while_written, &weaknesses);
}

fn ends(weak: Weak) {
    let (producer, mut reader) = shared(2, WhenFull::Drop, 0, weak);
    let owner = spawn(move || {
        make(producer, &Short(1));
        producer.end();
    });
    if reader.poll() {
        assert_eq!(reader.consumer.written(), 1, "all of a thread that has ended is before the head");
    }
    owner.join().unwrap();
    reader.finish(1);
}

#[test]
fn nothing_comes_after_the_end_of_a_thread() {
    let weaknesses: [(&str, Weak); 2] = [
        ("ended, stored", Weak::Word(|page| &page.ended, Side::Stores)),
        ("ended, loaded", Weak::Word(|page| &page.ended, Side::Loads)),
    ];
    prove(3, ends, &weaknesses);
}
