//! Chunks are taken once, and memory is returned.

use super::*;
use std::collections::HashSet;

#[test]
fn runs_are_consecutive_bits() {
    assert_eq!([first_run(0b1110_1100, 9), first_run(0b1110_1100, 1)], [0b1100, 0b100]);
    assert_eq!([last_run(0b1110_1100, 9), last_run(0b1110_1100, 2)], [0b1110_0000, 0b1100_0000]);
    assert_eq!([first_run(u64::MAX, 64), last_run(u64::MAX, 99)], [u64::MAX; 2]);
}

#[test]
fn a_chunk_is_taken_again_only_after_it_was_returned() {
    let pool = Pool::create(None, 100 * CHUNK_BYTES as u64).unwrap();
    let take = |own| pool.take(own, WhenFull::Drop).map(|chunk| chunk.number);
    let first: Vec<u64> = (0..).map_while(take).collect();
    assert_eq!(first, (1..=94).collect::<Vec<_>>(), "some are left for others");
    let rest: Vec<u64> = std::iter::from_fn(|| take(0)).collect();
    assert_eq!(rest, (95..=100).collect::<Vec<_>>());
    assert_eq!(pool.state(), PoolState { in_use: 100, ready: 0, chunks: 100, taken: 100, reserved: 3 });
    [7, 3].into_iter().for_each(|number| pool.give(number));
    assert_eq!([take(0), take(0), take(0)], [Some(3), Some(7), None]);
}

#[test]
fn returned_memory_is_reserved_again() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("chunks");
    let pool = Pool::create(Some(&path), 8 << 20).unwrap();
    let resident = || {
        use std::os::unix::fs::MetadataExt;
        path.metadata().unwrap().blocks() * 512
    };
    assert_eq!((path.metadata().unwrap().len(), resident()), (8 << 20, 1 << 20));
    pool.warm(68);
    assert_eq!((pool.state().ready, resident()), (100, 100 * CHUNK_BYTES as u64));
    let chunk = pool.take(0, WhenFull::Drop).unwrap();
    chunk.begin(9, 0, 0);
    pool.cool(1000);
    assert_eq!((pool.state().ready, resident()), (0, CHUNK_BYTES as u64));
    assert!(chunk.is_of(9, 0), "what is in use stays");
    pool.give(chunk.number);
    let taken: HashSet<u64> = (0..256).map(|_| pool.take(0, WhenFull::Drop).unwrap().number).collect();
    assert_eq!((taken.len(), pool.take(0, WhenFull::Drop).is_none()), (256, true));
    assert_eq!(pool.state().reserved, 8);
}

#[test]
fn threads_reserve_nothing_if_the_file_must_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chunks");
    let memory = Mapping::create_sparse(&path, 128 * CHUNK_BYTES).unwrap();
    let (_, inode) = about(&path).unwrap();
    let pool = Pool { reserve: Reserve::Allocate(inode), ..Pool::of(memory, Some(&path), 128) };
    assert!(pool.take(0, WhenFull::Drop).is_none());
    pool.warm(10);
    assert_eq!(pool.state().ready, 10);
    assert!(pool.take(0, WhenFull::Drop).is_some());
    std::fs::remove_file(&path).unwrap();
    pool.warm(10);
    assert_eq!(pool.state().ready, 9, "the file is not there to be opened");
}

#[test]
fn concurrent_threads_never_share_a_chunk() {
    let pool = Pool::create(None, 64 * CHUNK_BYTES as u64).unwrap();
    std::thread::scope(|scope| {
        for owner in 1..=4 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..20_000 {
                    let Some(chunk) = pool.take(0, WhenFull::Drop) else { continue };
                    chunk.begin(owner, round, 0);
                    assert!(chunk.is_of(owner, round));
                    pool.give(chunk.number);
                }
            });
        }
    });
    assert_eq!(pool.state().in_use, 0);
}
