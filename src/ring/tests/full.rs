//! A full ring: events without room are counted, wait, or overwrite the oldest.

use super::*;
use crate::event::{DISK_CAP, DISK_FULL, RING_FULL};

#[test]
fn events_without_room_are_counted_and_reported_in_place() {
    let (ring, producer, mut consumer) = ring();
    (0..CAPACITY + 10).for_each(|_| call(producer, 0, &launch(), 0));
    assert_eq!(consumer.lost(), 10);
    assert_eq!(consumer.unreported().map(|gap| gap.lost).collect::<Vec<_>>(), [10]);
    assert_eq!(drain(&mut consumer).len() as u64, CAPACITY);
    call(producer, 0, &launch(), 0);
    let events = drain(&mut consumer);
    assert_eq!(events.iter().map(|e| e.kind).collect::<Vec<_>>(), [EventKind::Gap, EventKind::Launch]);
    let gap = Gap::read(&events[0]);
    assert_eq!((gap.lost, gap.reason), (10, 0));
    assert!(gap.first <= gap.last && gap.last <= events[1].stamp);
    assert_eq!(events[1].id, CAPACITY + 11, "ids count lost calls too");
    assert_eq!((consumer.unreported().count(), consumer.lost()), (0, 10));
    assert_eq!(ring.produced(), consumer.written() + consumer.lost());
}

#[test]
fn a_waiting_thread_loses_nothing_while_the_consumer_reads() {
    let (ring, producer, mut consumer) = ring_that(WhenFull::Wait);
    let reader = std::thread::spawn(move || {
        let mut ids = Vec::new();
        while ids.len() < 20_000 {
            ids.extend(drain(&mut consumer).iter().map(|event| event.id));
        }
        (ids, consumer.lost())
    });
    (0..10_000).for_each(|_| {
        call(producer, 0, &launch(), 0);
        call(producer, 0, &Gemm::default(), 0);
    });
    assert_eq!(reader.join().unwrap(), ((1..=20_000).collect(), 0));
    let before = std::time::Instant::now();
    (0..CAPACITY + 100).for_each(|_| call(producer, 0, &launch(), 0));
    let waited = before.elapsed();
    assert!(waited.as_secs_f64() >= 0.9, "for the second that it has patience: {waited:?}");
    let lost = ring.losses().iter().map(|gap| gap.lost).sum::<u64>();
    // How much the consumer's chunk still holds depends on where it stopped.
    assert!((100..=100 + 3 * CHUNK_SLOTS).contains(&lost), "{lost}");
}

#[test]
fn an_overwriting_ring_keeps_the_newest_events() {
    for total in [0, 1, 503, 504, 505, 506, 2_016, 2_017, 12_345] {
        let (ring, producer, mut consumer) = ring_that(WhenFull::Overwrite);
        (1..=total).for_each(|i| match i % 7 {
            0 => call(producer, 0, &Gemm::default(), 0),
            _ => call(producer, 0, &launch(), 0),
        });
        let events = drain(&mut consumer);
        let kept: Vec<u64> = events.iter().filter(|e| e.kind != EventKind::Gap).map(|e| e.id).collect();
        let first = kept.first().copied().unwrap_or(1);
        assert_eq!(kept, (first..=total).collect::<Vec<_>>(), "the last of {total}, and each once");
        assert_eq!((consumer.lost(), consumer.lost() + consumer.written()), (first - 1, ring.produced()));
        let gaps: Vec<Gap> = events.iter().filter(|e| e.kind == EventKind::Gap).map(Gap::read).collect();
        assert_eq!(gaps.iter().map(|gap| gap.lost).sum::<u64>(), first - 1);
        assert!(gaps.iter().all(|gap| LOSS_REASONS[gap.reason as usize] == "overwritten"));
        assert!(total < 2_500 || kept.len() > 1_000, "most of what four chunks hold: {}", kept.len());
    }
}

#[test]
fn an_overwriting_ring_is_read_while_it_is_written() {
    let (ring, producer, mut consumer) = ring_that(WhenFull::Overwrite);
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = stop.clone();
    let reader = std::thread::spawn(move || {
        let (mut last, mut done) = (0, false);
        while !done {
            done = stopped.load(std::sync::atomic::Ordering::SeqCst);
            for event in drain(&mut consumer).iter().filter(|event| event.kind != EventKind::Gap) {
                assert!(event.id > last, "{} after {last}", event.id);
                assert!(event.kind != EventKind::Launch || Launch::read(event) == launch());
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
fn chunks_are_reused_after_they_were_read() {
    let (ring, producer, mut consumer) = ring();
    for round in 0..2_000 {
        call(producer, round, &Gemm { batch: round as i64, ..Gemm::default() }, 0);
        call(producer, round, &launch(), 0);
        let events = drain(&mut consumer);
        assert_eq!(Gemm::read(&events[0]).batch, round as i64);
        assert_eq!(Launch::read(&events[1]), launch());
    }
    let state = ring.pool().state();
    assert!(state.taken >= 12 && state.in_use <= 2, "{state:?}");
    producer.end();
    drain(&mut consumer);
    consumer.retire();
    assert_eq!(ring.pool().state().in_use, 0);
}

#[test]
fn one_thread_leaves_room_for_others_and_all_losses_are_reported() {
    let pool = Arc::new(Pool::create(None, 64 * CHUNK_BYTES as u64).unwrap());
    let [mut first, mut second] = [0, 1].map(|number| ring_of(&pool, number, WhenFull::Drop));
    let burst = 70 * CHUNK_SLOTS;
    (0..burst).for_each(|_| call(first.1, 0, &launch(), 0));
    (0..burst).for_each(|_| call(second.1, 0, &launch(), 0));
    let kept = [&mut first, &mut second].map(|(_, _, consumer)| drain(consumer).len() as u64);
    assert_eq!(kept, [59 * CHUNK_SLOTS, 4 * CHUNK_SLOTS]);
    assert_eq!([first.2.lost(), second.2.lost()], kept.map(|kept| burst - kept));
    assert_eq!((pool.state().in_use, pool.state().ready), (2, 62), "the last of each stays");
}

#[test]
fn overwriting_rings_share_the_pool() {
    let pool = Arc::new(Pool::create(None, 64 * CHUNK_BYTES as u64).unwrap());
    let rings: Vec<_> = (0..20).map(|number| ring_of(&pool, number, WhenFull::Overwrite)).collect();
    for (_, producer, _) in &rings {
        (0..20 * CHUNK_SLOTS).for_each(|_| call(*producer, 0, &launch(), 0));
    }
    let kept: Vec<u64> = rings
        .into_iter()
        .map(|(_, _, mut consumer)| {
            let events = drain(&mut consumer);
            assert_eq!(consumer.written() + consumer.lost(), 20 * CHUNK_SLOTS);
            events.iter().filter(|event| event.kind != EventKind::Gap).count() as u64 / CHUNK_SLOTS
        })
        .collect();
    assert_eq!(kept, [6, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn losses_are_reported_by_reason() {
    let (ring, producer, mut consumer) = ring();
    (0..CAPACITY + 6).for_each(|_| call(producer, 0, &launch(), 0));
    ring.set_why_full(DISK_FULL);
    (0..5).for_each(|_| call(producer, 0, &launch(), 0));
    assert_eq!(drain(&mut consumer).len() as u64, CAPACITY);
    ring.set_why_full(RING_FULL);
    call(producer, 0, &launch(), 0);
    let events = drain(&mut consumer);
    let gaps: Vec<_> = events.iter().filter(|e| e.kind == EventKind::Gap).map(Gap::read).collect();
    assert_eq!(
        gaps.iter().map(|gap| (gap.reason, gap.lost)).collect::<Vec<_>>(),
        [(RING_FULL, 6), (DISK_FULL, 5)]
    );
    assert!(gaps[0].last <= gaps[1].first, "each with its own span");
    assert_eq!((consumer.unreported().count(), consumer.written() + consumer.lost()), (0, ring.produced()));
}

#[test]
fn uncommitted_events_are_read_again_and_segment_counters_add_up() {
    let (_ring, producer, mut consumer) = ring();
    let counters = |consumer: &Consumer| (consumer.counters().written, consumer.counters().lost);
    (0..3).for_each(|_| call(producer, 0, &launch(), 0));
    drain(&mut consumer);
    consumer.prepare_commit(0);
    consumer.release();
    consumer.begin_segment();
    consumer.prepare_commit(1);
    consumer.release();
    (0..2).for_each(|_| call(producer, 0, &launch(), 0));
    for again in [true, false] {
        let (head, mut ids) = (consumer.position().head, Vec::new());
        consumer.read(head, |event| ids.push(event.id));
        assert_eq!((ids, counters(&consumer)), (vec![4, 5], (2, 0)));
        if again {
            consumer.rewind();
            assert_eq!(counters(&consumer), (0, 0));
        }
    }
    assert_eq!((counters(&consumer), consumer.produced()), ((2, 0), 2));
    consumer.adopt(3);
    assert_eq!((counters(&consumer), consumer.produced()), ((2, 3), 5), "counted by the first segment");
    (0..4).for_each(|_| call(producer, 0, &launch(), 0));
    let (head, mut gaps) = (consumer.position().head, Vec::new());
    consumer.discard(head, DISK_CAP, |gap| gaps.push((gap.lost, gap.reason)));
    assert_eq!((gaps, counters(&consumer), consumer.produced()), (vec![(4, DISK_CAP)], (2, 7), 9));
}
