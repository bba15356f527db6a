//! A ring that is full: what finds no room is counted, waits, or takes the place of the oldest.

use super::*;
use crate::event::{DISK_CAP, DISK_FULL, RING_FULL};

#[test]
fn what_finds_no_room_is_counted_and_told_in_its_place() {
    let (ring, producer, mut consumer) = ring(64);
    (0..64 + 10).for_each(|_| call(producer, 0, &launch(), 0));
    assert_eq!(consumer.lost(), 10);
    assert_eq!(consumer.untold().map(|gap| gap.lost).collect::<Vec<_>>(), [10]);
    assert_eq!(drain(&mut consumer).len(), 64);
    call(producer, 0, &launch(), 0);
    let events = drain(&mut consumer);
    assert_eq!(events.iter().map(|e| e.kind).collect::<Vec<_>>(), [Kind::Gap, Kind::Launch]);
    let gap = Gap::read(&events[0]);
    assert_eq!((gap.lost, gap.reason), (10, 0));
    assert!(gap.first <= gap.last && gap.last <= events[1].stamp);
    assert_eq!(events[1].id, 75, "ids count lost calls too");
    assert_eq!((consumer.untold().count(), consumer.lost()), (0, 10));
    assert_eq!(ring.produced(), consumer.written() + consumer.lost());
}

#[test]
fn a_thread_that_waits_for_room_loses_nothing_while_somebody_reads() {
    let (ring, producer, mut consumer) = ring_that(64, WhenFull::Block);
    let reader = std::thread::spawn(move || {
        let mut ids = Vec::new();
        while ids.len() < 5000 {
            ids.extend(drain(&mut consumer).iter().map(|event| event.id));
        }
        (ids, consumer.lost())
    });
    (0..2500).for_each(|_| {
        call(producer, 0, &launch(), 0);
        call(producer, 0, &Gemm::default(), 0);
    });
    assert_eq!(reader.join().unwrap(), ((1..=5000).collect(), 0));
    let before = std::time::Instant::now();
    (0..100).for_each(|_| call(producer, 0, &launch(), 0));
    let waited = before.elapsed().as_secs_f64();
    assert!((0.9..5.0).contains(&waited), "once, for the second that it has patience: {waited} s");
    assert_eq!(ring.losses().iter().map(|gap| gap.lost).sum::<u64>(), 36);
}

#[test]
fn a_ring_that_is_overwritten_keeps_what_came_last() {
    for total in [0, 1, 50, 64, 65, 1000, 12_345] {
        let (ring, producer, mut consumer) = ring_that(256, WhenFull::Overwrite);
        (1..=total).for_each(|i| match i % 7 {
            0 => call(producer, 0, &Gemm::default(), 0),
            _ => call(producer, 0, &launch(), 0),
        });
        let events = drain(&mut consumer);
        let kept: Vec<u64> = events.iter().filter(|e| e.kind != Kind::Gap).map(|e| e.id).collect();
        let first = kept.first().copied().unwrap_or(1);
        assert_eq!(kept, (first..=total).collect::<Vec<_>>(), "the last of {total}, and each once");
        assert_eq!((consumer.lost(), consumer.lost() + consumer.written()), (first - 1, ring.produced()));
        let gaps: Vec<Gap> = events.iter().filter(|e| e.kind == Kind::Gap).map(Gap::read).collect();
        assert_eq!(gaps.iter().map(|gap| gap.lost).sum::<u64>(), first - 1);
        assert!(gaps.iter().all(|gap| LOSS_REASONS[gap.reason as usize] == "overwritten"));
        assert!(total < 1000 || kept.len() > 100, "most of what 256 slots hold: {}", kept.len());
    }
}

#[test]
fn a_ring_that_is_overwritten_is_read_while_it_is_written() {
    let (ring, producer, mut consumer) = ring_that(1024, WhenFull::Overwrite);
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = stop.clone();
    let reader = std::thread::spawn(move || {
        let (mut last, mut done) = (0, false);
        while !done {
            done = stopped.load(std::sync::atomic::Ordering::SeqCst);
            for event in drain(&mut consumer).iter().filter(|event| event.kind != Kind::Gap) {
                assert!(event.id > last, "{} after {last}", event.id);
                assert!(event.kind != Kind::Launch || Launch::read(event) == launch());
                last = event.id;
            }
        }
        (last, consumer.written(), consumer.lost())
    });
    (1..=300_000).for_each(|i| match i % 5 {
        0 => call(producer, 0, &Gemm::default(), 0),
        _ => call(producer, 0, &launch(), 0),
    });
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    let (last, written, lost) = reader.join().unwrap();
    assert_eq!((last, written + lost), (300_000, ring.produced()));
}

#[test]
fn events_wrap_around_the_end_of_the_ring() {
    let (_ring, producer, mut consumer) = ring(64);
    for round in 0..100 {
        call(producer, round, &Gemm { batch: round as i64, ..Gemm::default() }, 0);
        call(producer, round, &launch(), 0);
        let events = drain(&mut consumer);
        assert_eq!(Gemm::read(&events[0]).batch, round as i64);
        assert_eq!(Launch::read(&events[1]), launch());
    }
}

#[test]
fn losses_for_several_reasons_are_told_each_with_its_own() {
    let (ring, producer, mut consumer) = ring(64);
    (0..64 + 6).for_each(|_| call(producer, 0, &launch(), 0));
    ring.set_why_full(DISK_FULL);
    (0..5).for_each(|_| call(producer, 0, &launch(), 0));
    assert_eq!(drain(&mut consumer).len(), 64);
    ring.set_why_full(RING_FULL);
    call(producer, 0, &launch(), 0);
    let events = drain(&mut consumer);
    let gaps: Vec<_> = events.iter().filter(|e| e.kind == Kind::Gap).map(Gap::read).collect();
    assert_eq!(
        gaps.iter().map(|gap| (gap.reason, gap.lost)).collect::<Vec<_>>(),
        [(RING_FULL, 6), (DISK_FULL, 5)]
    );
    assert!(gaps[0].last <= gaps[1].first, "each with its own span");
    assert_eq!((consumer.untold().count(), consumer.written() + consumer.lost()), (0, ring.produced()));
}

#[test]
fn what_is_not_committed_is_read_again_and_parts_have_accounts_that_add_up() {
    let (_ring, producer, mut consumer) = ring(64);
    let account = |consumer: &Consumer| (consumer.account().written, consumer.account().lost);
    (0..3).for_each(|_| call(producer, 0, &launch(), 0));
    drain(&mut consumer);
    consumer.prepare_commit(0);
    consumer.release();
    consumer.begin_part();
    consumer.prepare_commit(1);
    consumer.release();
    (0..2).for_each(|_| call(producer, 0, &launch(), 0));
    for again in [true, false] {
        let (head, mut ids) = (consumer.position().head, Vec::new());
        consumer.read(head, |event| ids.push(event.id));
        assert_eq!((ids, account(&consumer)), (vec![4, 5], (2, 0)));
        if again {
            consumer.rewind();
            assert_eq!(account(&consumer), (0, 0));
        }
    }
    assert_eq!((account(&consumer), consumer.produced()), ((2, 0), 2));
    consumer.adopt(3);
    assert_eq!((account(&consumer), consumer.produced()), ((2, 3), 5), "what the first part told of");
    (0..4).for_each(|_| call(producer, 0, &launch(), 0));
    let (head, mut gaps) = (consumer.position().head, Vec::new());
    consumer.discard(head, DISK_CAP, |gap| gaps.push((gap.lost, gap.reason)));
    assert_eq!((gaps, account(&consumer), consumer.produced()), (vec![(4, DISK_CAP)], (2, 7), 9));
}
