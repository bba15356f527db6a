//! The control page: commits, requests and answers.
#![allow(unsafe_code)] // a plain word that two threads share

use super::*;
use crate::Control;
use crate::requests::{CollectorStats, Request};
use crate::sync::read;

fn commits(weak: Weak) {
    let control = Arc::new(Control::create(None).unwrap());
    let words = control.words();
    words.iter().for_each(|word| modelled::share(*word, Role::Owner));
    weak.apply(&words);
    let committing = control.clone();
    let collector = spawn(move || (1..=3).for_each(|part| committing.commit(part, part as u64 * 100)));
    let committed = control.committed();
    let [epoch, part] = [committed.epoch, committed.segment.into()];
    assert_eq!((epoch.max(1), epoch * 100), (part, committed.offset), "all of one commit");
    collector.join().unwrap();
}

#[test]
fn a_commit_is_read_as_a_whole() {
    let weaknesses = [
        ("epoch, stored", Weak::Nth(0, Side::Stores)),
        ("epoch, loaded", Weak::Nth(0, Side::Loads)),
        ("fences before a side is written", Weak::Fences(Release)),
        ("fences after a side was read", Weak::Fences(Acquire)),
    ];
    prove(3, commits, &weaknesses);
}

fn asks(weak: Weak) {
    let control = Arc::new(Control::create(None).unwrap());
    let (asked, reported) = control.requests().shared_words();
    modelled::share(asked, Role::Reader);
    reported.iter().for_each(|word| modelled::share(*word, Role::Owner));
    weak.apply(&reported);
    // What the collector does on a request.
    let done = Arc::new(AtomicU64::new(0));
    modelled::share_plain(done.as_ptr(), Role::Owner);
    let (page, does) = (control.clone(), done.clone());
    let collector = spawn(move || {
        let tell = |since| {
            page.requests().publish(&CollectorStats { since, threads: since, ..CollectorStats::default() })
        };
        tell(1);
        if let Some((request, what)) = page.requests().poll() {
            assert_eq!(what, Request::Stats);
            tell(2);
            // SAFETY: the word is owned by `does`, which is alive.
            unsafe { write(does.as_ptr(), 1) };
            page.requests().answer(request);
        }
    });
    let requests = control.requests();
    let request = requests.send(Request::Stats).expect("no other request is pending");
    let is_answered = requests.is_answered(request);
    if is_answered {
        // SAFETY: the word is owned by `done`, which is alive.
        assert_eq!(unsafe { read(done.as_ptr()) }, 1);
    }
    let stats = requests.stats();
    assert!(stats.is_none_or(|stats| stats.since == stats.threads), "half of it: {stats:?}");
    let is_newest = stats.is_none_or(|stats| stats.since == 2);
    assert!(!is_answered || is_newest, "what was reported before the answer: {stats:?}");
    collector.join().unwrap();
}

#[test]
fn an_answer_follows_the_statistics() {
    let weaknesses = [
        ("answer, stored", Weak::Nth(0, Side::Stores)),
        ("answer, loaded", Weak::Nth(0, Side::Loads)),
        ("version, stored", Weak::Nth(1, Side::Stores)),
        ("version, loaded", Weak::Nth(1, Side::Loads)),
        ("fences before the words are reported", Weak::Fences(Release)),
        ("fences after the words were read", Weak::Fences(Acquire)),
    ];
    prove(2, asks, &weaknesses);
}
