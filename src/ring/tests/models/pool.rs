//! The pool: no chunk has two owners, and none is lost.

use super::*;
use crate::WhenFull::Drop;

fn takes(_: Weak) {
    let pool = Arc::new(Pool::create(None, 3 * CHUNK_BYTES as u64).unwrap());
    let mine = pool.take(0, Drop).unwrap().number;
    let others = pool.clone();
    let other = loom::thread::spawn(move || {
        let taken = others.take(0, Drop).unwrap().number;
        others.give(taken);
        others.take(0, Drop).unwrap().number
    });
    let second = pool.take(0, Drop).map(|chunk| chunk.number);
    pool.give(mine);
    let third = pool.take(0, Drop).map(|chunk| chunk.number);
    let taken: Vec<u64> = [second, third, other.join().ok()].into_iter().flatten().collect();
    assert!(taken.iter().enumerate().all(|(i, chunk)| !taken[..i].contains(chunk)), "{taken:?}");
    assert_eq!((taken.len(), pool.state().ready), (3, 0));
}

#[test]
fn no_chunk_has_two_owners() {
    prove(3, takes, &[]);
}

fn warms(_: Weak) {
    let pool = Arc::new(Pool::create(None, 3 * CHUNK_BYTES as u64).unwrap());
    pool.cool(3);
    let others = pool.clone();
    let collector = loom::thread::spawn(move || {
        others.warm(2);
        others.cool(1);
    });
    let taken = pool.take(0, Drop).expect("one is left, ready or not").number;
    collector.join().unwrap();
    let rest: Vec<u64> = std::iter::from_fn(|| pool.take(0, Drop)).map(|chunk| chunk.number).collect();
    assert!(rest.len() == 2 && !rest.contains(&taken) && rest[0] != rest[1], "{taken} {rest:?}");
}

#[test]
fn a_chunk_made_ready_or_returned_has_no_other_owner() {
    prove(3, warms, &[]);
}
