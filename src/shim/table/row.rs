//! A row of the hook table: a function's name, its library, and its entry points.
//!
//! ```text
//!   entry point 0      the exported symbol, reached through the dynamic linker
//!   entry points 1…4   trampolines that interception points hand out, each bound to one address
//! ```
//!
//! A program may load two copies of a library, and each copy has its exported address and the one
//! in its dispatch table. That makes four addresses behind one name.
#![allow(unsafe_code)] // a raw address in a static

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering::Relaxed};

/// Every row, in the order of ids.
pub(crate) type Table = Vec<&'static Hook>;

/// Entry points of a function.
pub(crate) const ENTRY_POINTS: usize = 5;
/// Offset in a row of entry point 0's [`EntryPoint::bypass`], which the exported function's first
/// instruction loads.
pub(crate) const BYPASS_OFFSET: usize =
    std::mem::offset_of!(Hook, entry_points) + std::mem::offset_of!(EntryPoint, bypass);
/// Limit of the number of rows. The id of an entry point is its row's id plus this many times its
/// number.
const MAX_ROWS: u16 = rocshim_ring::definition::ROWS;

/// Where a program obtained an entry point's address. One entry point may come from several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum InterceptionPoint {
    /// The exported symbol.
    Preload = 1,
    /// `dlsym`, `dlvsym`.
    Dlsym = 2,
    /// `hipGetProcAddress` and its variants.
    ProcAddress = 4,
    /// The dispatch table that the library handed over.
    Table = 8,
}

/// A row of the hook table.
pub(crate) struct Hook {
    /// Index in the whole table, from 0.
    pub(crate) id: u16,
    /// The symbol, exported under this name.
    pub(crate) name: &'static str,
    /// Library of the real function: `libamdhip64.so`.
    pub(crate) of: &'static str,
    /// Returns the whole table, for code that only has this row.
    pub(crate) table: fn() -> Table,
    /// The function's entry points.
    pub(crate) entry_points: [EntryPoint; ENTRY_POINTS],
    /// Calls are recorded now: recording is on, and `ROCSHIM_RECORD` includes the function.
    records: AtomicBool,
    /// Unrecorded calls carry no state, so they may bypass the hook. Known once entry point 0 is
    /// bound.
    can_bypass: AtomicBool,
    /// The trace says already that no library has the real function.
    reported_missing: AtomicBool,
}

/// An entry point of a function.
pub(crate) struct EntryPoint {
    /// Trampoline in this library; NULL for entry point 0, whose address the dynamic linker hands
    /// out.
    trampoline: CodeAddress,
    /// Bypass target of entry point 0: the real function while nothing is recorded, else NULL.
    bypass: AtomicPtr<c_void>,
    /// The real function; NULL until it is found. Entry point 0 is reset to NULL when libraries
    /// come or go, and stays NULL while the target depends on the caller. The others change only
    /// after the library behind the old address is unloaded.
    real: AtomicPtr<c_void>,
    /// Bit set of the interception points that handed it out.
    points: AtomicU8,
    /// The target that was last emitted in a definition.
    emitted: AtomicPtr<c_void>,
    /// Calls of a hook that makes no event.
    calls: AtomicU64,
}

/// Address of code in this library, compared and handed out but never dereferenced here.
struct CodeAddress(*const c_void);

// SAFETY: the pointer is never written and never dereferenced, so sharing it between threads cannot
// race.
unsafe impl Sync for CodeAddress {}

impl Hook {
    pub(crate) const fn new(
        id: u16,
        name: &'static str,
        of: &'static str,
        trampoline: [*const c_void; ENTRY_POINTS - 1],
        table: fn() -> Table,
    ) -> Hook {
        assert!(id < MAX_ROWS);
        let [a, b, c, d] = trampoline;
        // Not the exported function's address: that would make the loader look up each name at
        // every program's start.
        let exported = EntryPoint::new(std::ptr::null());
        let entry_points =
            [exported, EntryPoint::new(a), EntryPoint::new(b), EntryPoint::new(c), EntryPoint::new(d)];
        let [records, can_bypass, reported_missing] = [const { AtomicBool::new(false) }; 3];
        Hook { id, name, of, table, entry_points, records, can_bypass, reported_missing }
    }

    /// Returns true while calls are recorded.
    #[inline(always)]
    pub(crate) fn records(&self) -> bool {
        // Relaxed: `binding` puts a fence between a change of this and the moment that it reports.
        self.records.load(Relaxed)
    }

    /// Sets whether calls are recorded.
    pub(crate) fn set_records(&self, records: bool) {
        self.records.store(records, Relaxed);
    }

    /// Binds entry point 0 to `real`. With `can_bypass`, unrecorded calls jump to it directly.
    pub(crate) fn bind(&self, real: *mut c_void, can_bypass: bool) {
        self.can_bypass.store(can_bypass, Relaxed);
        self.entry_points[0].set_target(real);
        self.update_bypass();
    }

    /// Makes entry point 0 jump directly to the real function exactly while its calls need no hook.
    pub(crate) fn update_bypass(&self) {
        let entry = &self.entry_points[0];
        let passes = self.can_bypass.load(Relaxed) && !self.records();
        entry.bypass.store(if passes { entry.real() } else { std::ptr::null_mut() }, Relaxed);
    }

    /// Returns the id of one of this row's entry points.
    #[inline(always)]
    pub(crate) fn id_of(&self, entry: usize) -> u16 {
        id_of(self.id, entry)
    }

    /// Marks the real function as missing; returns true if it was not marked before.
    pub(crate) fn mark_missing(&self) -> bool {
        !self.reported_missing.swap(true, Relaxed)
    }

    /// Resets the counters, for a new recording and in the child of a fork.
    pub(crate) fn reset(&self) {
        self.entry_points.iter().for_each(|entry| entry.calls.store(0, Relaxed));
        self.reported_missing.store(false, Relaxed);
    }
}

/// Returns the id of entry point number `entry` of row `row`.
#[inline(always)]
pub(crate) const fn id_of(row: u16, entry: usize) -> u16 {
    row + entry as u16 * MAX_ROWS
}

/// Returns true for the library that holds the HIP runtime.
#[inline(always)]
pub(crate) const fn is_runtime(of: &str) -> bool {
    matches!(of.as_bytes(), b"libamdhip64.so")
}

impl EntryPoint {
    const fn new(trampoline: *const c_void) -> EntryPoint {
        let (real, calls) = (AtomicPtr::new(std::ptr::null_mut()), AtomicU64::new(0));
        let (bypass, emitted) = (AtomicPtr::new(std::ptr::null_mut()), AtomicPtr::new(std::ptr::null_mut()));
        EntryPoint {
            trampoline: CodeAddress(trampoline),
            bypass,
            real,
            points: AtomicU8::new(0),
            emitted,
            calls,
        }
    }

    /// Returns the trampoline's address; NULL for entry point 0.
    pub(crate) fn trampoline(&self) -> *mut c_void {
        self.trampoline.0.cast_mut()
    }

    /// Returns the real function, or NULL.
    #[inline(always)]
    pub(crate) fn real(&self) -> *mut c_void {
        // Relaxed: every thread stores the same address, and code needs no publishing.
        self.real.load(Relaxed)
    }

    /// Binds the entry point to `real`; NULL: the next call looks it up.
    pub(crate) fn set_target(&self, real: *mut c_void) {
        self.bypass.store(std::ptr::null_mut(), Relaxed);
        self.real.store(real, Relaxed);
    }

    /// Notes that a definition emits `real`; returns true if the last one emitted another.
    pub(crate) fn mark_emitted(&self, real: *mut c_void) -> bool {
        self.emitted.swap(real, Relaxed) != real
    }

    /// Notes that `point` hands it out; returns true if `point` had not before.
    pub(crate) fn add_point(&self, point: InterceptionPoint) -> bool {
        self.points.fetch_or(point as u8, Relaxed) & point as u8 == 0
    }

    /// Notes that no interception point has handed it out since it was bound again.
    pub(crate) fn clear_points(&self) {
        self.points.store(0, Relaxed);
    }

    /// Returns the bit set of the interception points that handed it out.
    pub(crate) fn points(&self) -> u8 {
        self.points.load(Relaxed)
    }

    /// Counts a call that makes no event.
    pub(crate) fn count(&self) {
        // Relaxed: a counter, ordered with nothing.
        self.calls.fetch_add(1, Relaxed);
    }

    /// Returns the number of calls, for a hook that makes no event.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }
}
