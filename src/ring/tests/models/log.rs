//! The definition log: a reader that finds a definition finds all of it, and all before it.

use super::*;
use crate::definition::{Definition, StampedDefinition as Defined};
use crate::log::{Log, LogReader, decode};

fn define(log: &Log, name: &str) {
    let definition = Definition::HostFunction { handle: 0, stub: 0, name: name.into() };
    log.define(&Defined { stamp: 0, definition }).unwrap();
}

/// The first letters of the names added since the last read.
fn read_new(log: &Log, reader: &mut LogReader, seen: &mut String) {
    reader.read(log, |number, bytes| match decode(bytes).expect("whole").definition {
        Definition::HostFunction { name, .. } => {
            assert_eq!(number as usize, seen.len());
            seen.push_str(&name[..1]);
        }
        other => panic!("{other:?}"),
    });
}

fn grows(weak: Weak) {
    modelled::act(Role::Owner);
    let log = Arc::new(Log::new(None));
    define(&log, &"a".repeat(3900));
    let (next, _) = log.words(1);
    modelled::share(next, Role::Owner);
    weak.apply(&[log.words(0).1.expect("it was begun"), next]);
    modelled::act(Role::Reader);
    let written = log.clone();
    let writer = spawn(move || {
        define(&written, "b");
        // Does not fit the first file.
        define(&written, &"c".repeat(200));
    });
    let (mut reader, mut seen) = (LogReader::default(), String::new());
    read_new(&log, &mut reader, &mut seen);
    read_new(&log, &mut reader, &mut seen);
    writer.join().unwrap();
    read_new(&log, &mut reader, &mut seen);
    assert_eq!(seen, "abc");
}

#[test]
fn a_definition_is_read_whole_and_in_order() {
    let weaknesses = [
        ("committed length, stored", Weak::Nth(0, Side::Stores)),
        ("committed length, loaded", Weak::Nth(0, Side::Loads)),
        ("next file, stored", Weak::Nth(1, Side::Stores)),
        ("next file, loaded", Weak::Nth(1, Side::Loads)),
    ];
    prove(3, grows, &weaknesses);
}

fn two_write(_: Weak) {
    let log = Arc::new(Log::new(None));
    let writers = ["a", "b"].map(|name| {
        let log = log.clone();
        spawn(move || define(&log, name))
    });
    let (mut reader, mut seen) = (LogReader::default(), String::new());
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    read_new(&log, &mut reader, &mut seen);
    assert!(["ab", "ba"].contains(&&*seen), "{seen}");
}

#[test]
fn two_threads_define_one_after_the_other() {
    prove(3, two_write, &[]);
}
