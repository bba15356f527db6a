//! A row of the hook table: a function's name, its library, and the ways in to it.
//!
//! ```text
//!   way 0    the exported symbol: whoever calls through its own linkage
//!   way 1…4  functions without a name, given out by the interception points: each leads to one address
//! ```
//!
//! A program may hold two copies of a library, each with the address that it exports and the one in its dispatch table:
//! that makes four addresses behind one name.
#![allow(unsafe_code)] // a raw address in a static

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering::Relaxed};

/// Every row, in the order of their ids.
pub(crate) type Table = Vec<&'static Hook>;

/// Ways in to a function.
pub(crate) const WAYS: usize = 5;
/// Where in a row its way 0 has [`Way::past`]: the entry of the exported function looks there.
pub(crate) const PAST_AT: usize = std::mem::offset_of!(Hook, ways) + std::mem::offset_of!(Way, past);
/// Rows there may be: the id of a way is its row's, plus this many times its number.
const MAX_ROWS: u16 = rocshim_ring::definition::ROWS;

/// How the program came to a way; a way may have been given out by several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum InterceptionPoint {
    /// The exported symbol.
    Preload = 1,
    /// `dlsym`, `dlvsym`.
    Dlsym = 2,
    /// `hipGetProcAddress` and its kin.
    ProcAddress = 4,
    /// The dispatch table that the library handed over.
    Table = 8,
}

/// A row of the hook table.
pub(crate) struct Hook {
    /// Its place in the whole table, from 0.
    pub(crate) id: u16,
    /// The symbol, exported under this name.
    pub(crate) name: &'static str,
    /// The library that has the real function: `libamdhip64.so`.
    pub(crate) of: &'static str,
    /// The whole table, for whoever has but this row.
    pub(crate) table: fn() -> Table,
    /// The ways in.
    pub(crate) ways: [Way; WAYS],
    /// Its calls are recorded now: recording is on, and the function is not left out.
    records: AtomicBool,
    /// Nothing is learned from a call of it that is not recorded: calls may pass the hook. Known once way 0 is bound.
    may_pass: AtomicBool,
    /// It was told that no library has the real function.
    told_missing: AtomicBool,
}

/// A way in to a function.
pub(crate) struct Way {
    /// The shim's own function; NULL for way 0, which the linker gives out by its name.
    own: OwnAddress,
    /// Where the entry of way 0 jumps to at once, past the hook: the real function, while nothing is recorded; else NULL.
    past: AtomicPtr<c_void>,
    /// The real function; NULL until it was found. Way 0: NULL again when libraries have come or gone, and always while
    /// it depends on the caller. The others: changed only when the library behind the old address is gone.
    real: AtomicPtr<c_void>,
    /// Interception points that gave it out, added together.
    points: AtomicU8,
    /// The address that it was last told to lead to.
    told: AtomicPtr<c_void>,
    /// Calls of a hook that makes no event.
    calls: AtomicU64,
}

/// An address of this library's code, compared or given out and never followed.
struct OwnAddress(*const c_void);

// SAFETY: the address is never followed here.
unsafe impl Sync for OwnAddress {}

impl Hook {
    pub(crate) const fn new(
        id: u16,
        name: &'static str,
        of: &'static str,
        own: [*const c_void; WAYS - 1],
        table: fn() -> Table,
    ) -> Hook {
        assert!(id < MAX_ROWS);
        let [a, b, c, d] = own;
        // Not the exported function's address: the loader would have to look up each name at every program's start.
        let exported = Way::new(std::ptr::null());
        let ways = [exported, Way::new(a), Way::new(b), Way::new(c), Way::new(d)];
        let [records, may_pass, told_missing] = [const { AtomicBool::new(false) }; 3];
        Hook { id, name, of, table, ways, records, may_pass, told_missing }
    }

    /// True while its calls are recorded.
    #[inline(always)]
    pub(crate) fn records(&self) -> bool {
        // Relaxed: whoever turns it puts a fence between this and the moment that is told.
        self.records.load(Relaxed)
    }

    /// Its calls are recorded from now on, or not.
    pub(crate) fn set_records(&self, records: bool) {
        self.records.store(records, Relaxed);
    }

    /// Way 0 leads to `real` from now on, at once where nothing is recorded or learned of its calls.
    pub(crate) fn bind(&self, real: *mut c_void, may_pass: bool) {
        self.may_pass.store(may_pass, Relaxed);
        self.ways[0].lead_to(real);
        self.pass_or_not();
    }

    /// Calls by way 0 go to the real function at once exactly when they are not recorded.
    pub(crate) fn pass_or_not(&self) {
        let way = &self.ways[0];
        let passes = self.may_pass.load(Relaxed) && !self.records();
        way.past.store(if passes { way.real() } else { std::ptr::null_mut() }, Relaxed);
    }

    /// The id of a way in this row.
    #[inline(always)]
    pub(crate) fn id_of(&self, way: usize) -> u16 {
        id_of(self.id, way)
    }

    /// True the first time: the real function is missing, and that is worth telling.
    pub(crate) fn is_newly_missing(&self) -> bool {
        !self.told_missing.swap(true, Relaxed)
    }

    /// Begins to count anew, in the child of a fork too.
    pub(crate) fn reset(&self) {
        self.ways.iter().for_each(|way| way.calls.store(0, Relaxed));
        self.told_missing.store(false, Relaxed);
    }
}

/// The id of a way in row `row`.
#[inline(always)]
pub(crate) const fn id_of(row: u16, way: usize) -> u16 {
    row + way as u16 * MAX_ROWS
}

/// True for the library whose functions are the HIP runtime's.
#[inline(always)]
pub(crate) const fn is_runtime(of: &str) -> bool {
    matches!(of.as_bytes(), b"libamdhip64.so")
}

impl Way {
    const fn new(own: *const c_void) -> Way {
        let (real, calls) = (AtomicPtr::new(std::ptr::null_mut()), AtomicU64::new(0));
        let (past, told) = (AtomicPtr::new(std::ptr::null_mut()), AtomicPtr::new(std::ptr::null_mut()));
        Way { own: OwnAddress(own), past, real, points: AtomicU8::new(0), told, calls }
    }

    /// The shim's own function; NULL for way 0.
    pub(crate) fn own(&self) -> *mut c_void {
        self.own.0.cast_mut()
    }

    /// The real function, or NULL.
    #[inline(always)]
    pub(crate) fn real(&self) -> *mut c_void {
        // Relaxed: the address is the same whoever stores it, and code needs no publishing.
        self.real.load(Relaxed)
    }

    /// From now on calls go to `real`; NULL: they are looked up.
    pub(crate) fn lead_to(&self, real: *mut c_void) {
        self.past.store(std::ptr::null_mut(), Relaxed);
        self.real.store(real, Relaxed);
    }

    /// True when it was not told yet that it leads to `real`.
    pub(crate) fn is_news(&self, real: *mut c_void) -> bool {
        self.told.swap(real, Relaxed) != real
    }

    /// It was given out by `point`; true for the first time.
    pub(crate) fn open(&self, point: InterceptionPoint) -> bool {
        self.points.fetch_or(point as u8, Relaxed) & point as u8 == 0
    }

    /// It leads elsewhere now, and no interception point has given it out.
    pub(crate) fn close(&self) {
        self.points.store(0, Relaxed);
    }

    /// The interception points that gave it out, added together.
    pub(crate) fn points(&self) -> u8 {
        self.points.load(Relaxed)
    }

    /// Counts a call that makes no event.
    pub(crate) fn count(&self) {
        // Relaxed: a count, ordered with nothing.
        self.calls.fetch_add(1, Relaxed);
    }

    /// Calls seen, for a hook that makes no event.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }
}
