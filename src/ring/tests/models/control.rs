//! The control page: what was committed, and what is asked and answered.
#![allow(unsafe_code)] // a plain word that two threads share

use super::*;
use crate::Control;
use crate::orders::{Account, Order};
use crate::sync::read;

fn commits(weak: Weak) {
    let control = Arc::new(Control::create(None).unwrap());
    let words = control.words();
    words.iter().for_each(|word| modelled::share(*word, Role::Owner));
    weak.apply(&words);
    let committing = control.clone();
    let collector = spawn(move || (1..=3).for_each(|part| committing.commit(part, part as u64 * 100)));
    let committed = control.committed();
    let [epoch, part] = [committed.epoch, committed.part.into()];
    assert_eq!((epoch.max(1), epoch * 100), (part, committed.offset), "all of one commit");
    collector.join().unwrap();
}

#[test]
fn what_was_committed_is_read_as_one() {
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
    let (asked, told) = control.orders().shared_words();
    modelled::share(asked, Role::Reader);
    told.iter().for_each(|word| modelled::share(*word, Role::Owner));
    weak.apply(&told);
    // What the collector does for whoever asks.
    let done = Arc::new(AtomicU64::new(0));
    modelled::share_plain(done.as_ptr(), Role::Owner);
    let (page, does) = (control.clone(), done.clone());
    let collector = spawn(move || {
        let tell = |since| page.orders().tell(&Account { since, threads: since, ..Account::default() });
        tell(1);
        if let Some((request, order)) = page.orders().look() {
            assert_eq!(order, Order::Account);
            tell(2);
            // SAFETY: the word is `does`'s.
            unsafe { write(does.as_ptr(), 1) };
            page.orders().answer(request);
        }
    });
    let orders = control.orders();
    let request = orders.ask(Order::Account).expect("nobody else asks");
    let is_answered = orders.is_answered(request);
    if is_answered {
        // SAFETY: as above.
        assert_eq!(unsafe { read(done.as_ptr()) }, 1);
    }
    let account = orders.account();
    assert!(account.is_none_or(|account| account.since == account.threads), "half of it: {account:?}");
    let is_newest = account.is_none_or(|account| account.since == 2);
    assert!(!is_answered || is_newest, "what was told before the answer: {account:?}");
    collector.join().unwrap();
}

#[test]
fn an_answer_comes_after_the_account() {
    let weaknesses = [
        ("answer, stored", Weak::Nth(0, Side::Stores)),
        ("answer, loaded", Weak::Nth(0, Side::Loads)),
        ("version, stored", Weak::Nth(1, Side::Stores)),
        ("version, loaded", Weak::Nth(1, Side::Loads)),
        ("fences before the words are told", Weak::Fences(Release)),
        ("fences after the words were read", Weak::Fences(Acquire)),
    ];
    prove(2, asks, &weaknesses);
}
