//! What is asked of a process that records, and what it says of itself: a part of its control page.
//!
//! ```text
//!   command   request ──► …                        … ──► reads the answer, and the account
//!   collector         ──► looks, does it, tells its account, answers ──►
//! ```
//!
//! A request has a number, so that an answer belongs to one. Several commands may ask: each waits until the one before was
//! answered, or taken back.

use crate::clock;
use crate::event::LOSS_REASONS;
use crate::sync::{AtomicU64, fence};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Reasons of losses that the page has room for.
const REASONS: usize = 16;
const _: () = assert!(LOSS_REASONS.len() <= REASONS);
/// In a request and its answer: where the number begins.
const NUMBER_AT: u32 = 8;

/// What may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Order {
    /// Nothing: what was asked before is not wanted any more.
    Nothing = 0,
    /// To tell the account as it is now.
    Account = 1,
    /// To write all that was recorded by now.
    Flush = 2,
    /// To record nothing from now on.
    Stop = 3,
    /// To record again.
    Start = 4,
    /// To ask the HIP runtime for GPU times.
    GpuTimeOn = 5,
    /// Not to ask it any more.
    GpuTimeOff = 6,
}

impl Order {
    fn of(request: u64) -> Order {
        let switched = [Order::Stop, Order::Start, Order::GpuTimeOn, Order::GpuTimeOff];
        let mut all = [Order::Account, Order::Flush].into_iter().chain(switched);
        all.find(|order| *order as u8 == request as u8).unwrap_or(Order::Nothing)
    }
}

/// What a process says of its recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Recording is stopped.
    pub stopped: bool,
    /// The stamp at which it was stopped or begun last; 0: it is as it was when the process began.
    pub since: u64,
    /// The trace could not be written when it was tried last.
    pub failing: bool,
    /// Threads that have rings.
    pub threads: u64,
    /// Threads that had one and have ended.
    pub ended: u64,
    /// Events that were taken from the rings.
    pub written: u64,
    /// Events that are counted as lost, by reason.
    pub lost: [u64; LOSS_REASONS.len()],
    /// Calls of threads whose rings are memory of the process alone.
    pub hidden: u64,
    /// CPU time of the collector, ns.
    pub collector_ns: u64,
    /// Bytes of ring memory that are in use or ready.
    pub memory: u64,
    /// Times that a thread found no ring memory ready, and reserved some itself.
    pub reserved: u64,
}

/// The part of the page.
#[repr(C)]
pub struct Orders {
    /// Number of the request, and an [`Order`].
    request: AtomicU64,
    /// The request that was answered last. Release: after the account.
    answer: AtomicU64,
    /// Stamp of the collector's last look.
    looked: AtomicU64,
    /// Odd while the account is being written.
    version: AtomicU64,
    /// The account, word by word.
    words: [AtomicU64; WORDS + REASONS],
}

/// How often an account is read that is just being told.
const TRIES: usize = if cfg!(loom) { 2 } else { 1000 };
/// Words of an account before its losses.
const WORDS: usize = 10;

impl Orders {
    /// Asks for something; gives what the answer will be. `None` while somebody else is being answered.
    pub fn ask(&self, order: Order) -> Option<u64> {
        let last = self.request.load(Relaxed);
        let request = ((last >> NUMBER_AT) + 1) << NUMBER_AT | order as u64;
        let is_free = self.is_answered(last);
        // Release: whoever sees the request sees what was done before.
        (is_free && self.request.compare_exchange(last, request, Release, Relaxed).is_ok()).then_some(request)
    }

    /// True once `request` was answered.
    pub fn is_answered(&self, request: u64) -> bool {
        // Acquire: what the process did before it answered is there.
        let answer = self.answer.load(Acquire);
        // Another may have been answered since.
        answer == request || answer >> NUMBER_AT > request >> NUMBER_AT
    }

    /// Takes back a request that was not answered.
    pub fn withdraw(&self, request: u64) {
        let nothing = request & !((1 << NUMBER_AT) - 1);
        let _ = self.request.compare_exchange(request, nothing, Release, Relaxed);
    }

    /// The collector looks: notes when, and gives what is newly asked, with the answer to it.
    pub fn look(&self) -> Option<(u64, Order)> {
        self.looked.store(clock::now(), Relaxed);
        // Acquire: as in `ask`.
        let request = self.request.load(Acquire);
        (request != self.answer.load(Relaxed)).then(|| (request, Order::of(request)))
    }

    /// Answers `request`.
    pub fn answer(&self, request: u64) {
        // Release: after what was done.
        self.answer.store(request, Release);
    }

    /// Stamp of the collector's last look; 0 before the first.
    pub fn looked(&self) -> u64 {
        self.looked.load(Relaxed)
    }

    /// Of a model: the words that the command writes, and those that the collector writes, of whose accounts only some.
    #[cfg(all(test, loom))]
    pub(crate) fn shared_words(&self) -> (*const u64, [*const u64; 4]) {
        let told = [&self.answer, &self.version, &self.words[1], &self.words[3]];
        (self.request.as_ptr(), told.map(|word| word.as_ptr().cast_const()))
    }

    /// Tells the account.
    pub fn tell(&self, account: &Account) {
        let Account { stopped, since, failing, threads, ended, written, lost, hidden, collector_ns, .. } =
            *account;
        let Account { memory, reserved, .. } = *account;
        let flags = [stopped.into(), since, failing.into(), threads, ended];
        let numbers = [written, hidden, collector_ns, memory, reserved];
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        // What follows is written after the version is odd.
        fence(Release);
        for (word, value) in self.words.iter().zip(flags.iter().chain(&numbers).chain(&lost)) {
            word.store(*value, Relaxed);
        }
        // Release: after the words.
        self.version.store(version + 2, Release);
    }

    /// The account as it was told last; `None` when it is being told all the time, or was in the moment of a death.
    pub fn account(&self) -> Option<Account> {
        (0..TRIES).find_map(|_| {
            // Acquire: the words are read after it.
            let version = self.version.load(Acquire);
            let words: [u64; WORDS + REASONS] = std::array::from_fn(|i| self.words[i].load(Relaxed));
            // The words are read before the version is looked at again.
            fence(Acquire);
            let is_whole = version & 1 == 0 && self.version.load(Relaxed) == version;
            let [
                stopped,
                since,
                failing,
                threads,
                ended,
                written,
                hidden,
                collector_ns,
                memory,
                reserved,
                ..,
            ] = words;
            let lost = std::array::from_fn(|i| words[WORDS + i]);
            let (stopped, failing) = (stopped != 0, failing != 0);
            is_whole.then_some(Account {
                stopped,
                since,
                failing,
                threads,
                ended,
                written,
                lost,
                hidden,
                collector_ns,
                memory,
                reserved,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> Orders {
        let words = [const { AtomicU64::new(0) }; WORDS + REASONS];
        let [request, answer, looked, version] = [const { AtomicU64::new(0) }; 4];
        Orders { request, answer, looked, version, words }
    }

    #[test]
    fn a_request_is_seen_until_it_is_answered_or_withdrawn() {
        let orders = orders();
        assert_eq!(orders.look(), None);
        let stop = orders.ask(Order::Stop).unwrap();
        assert_eq!(orders.ask(Order::Start), None, "one after the other");
        assert_eq!(orders.look(), Some((stop, Order::Stop)));
        assert!(!orders.is_answered(stop));
        orders.answer(stop);
        assert!(orders.is_answered(stop) && orders.look().is_none());
        let start = orders.ask(Order::Start).unwrap();
        orders.withdraw(start);
        let (nothing, order) = orders.look().expect("the number is a new one");
        assert_eq!(order, Order::Nothing);
        orders.answer(nothing);
        assert!(orders.look().is_none() && !orders.is_answered(start));
        let again = orders.ask(Order::Stop).unwrap();
        assert!(again > stop && orders.is_answered(stop), "the same request again is another one");
    }

    #[test]
    fn an_account_is_read_as_it_was_told() {
        let orders = orders();
        assert_eq!(orders.account(), Some(Account::default()));
        let lost = std::array::from_fn(|i| i as u64 + 9);
        let account = Account {
            stopped: true,
            since: 1,
            failing: true,
            threads: 2,
            ended: 3,
            written: 4,
            lost,
            hidden: 5,
            collector_ns: 6,
            memory: 7,
            reserved: 8,
        };
        orders.tell(&account);
        assert_eq!(orders.account(), Some(account));
        orders.version.store(7, Relaxed);
        assert_eq!(orders.account(), None, "half of it");
    }
}
