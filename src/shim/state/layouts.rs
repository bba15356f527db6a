//! How the arguments of a function lie: asked at every launch, answered without a lock.
//!
//! An open-addressing table from function handle or host stub to layout. Whoever holds the process's names writes to it,
//! one at a time; every thread reads. A table that grows is replaced and left where it is, layouts are never freed: a
//! reader may still look at them.
#![allow(unsafe_code)] // tables and layouts are leaked, so that their addresses may be followed for ever

use rocshim_ring::arguments::Layout;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Slots of the first table.
const FIRST: usize = 256;

/// Nothing is known of the function's arguments.
pub(crate) static UNKNOWN: Layout = Layout::unknown();
/// No arguments are recorded.
pub(crate) static NONE: Layout = Layout::none();

/// What is known of a function.
#[repr(align(32))]
#[derive(Default)]
struct Slot {
    /// The handle or stub; 0 for a slot that was never used. Release: after the rest of the slot.
    function: AtomicU64,
    /// NULL: nothing any more. Release: after the layout was made.
    layout: AtomicPtr<Layout>,
    /// The module or fat binary with which it goes. Only writers look.
    owner: AtomicU64,
}

/// At most half of the slots are used, so every search ends.
struct Table {
    slots: &'static [Slot],
    /// The last slot's index: their number is a power of two.
    mask: usize,
    used: AtomicU64,
    /// The one that it took the place of, so that what looks for leaks finds that too.
    _before: Option<&'static Table>,
}

/// The table before the first launch: one slot, never used.
static NO_TABLE: Table = Table { slots: &NO_SLOTS, mask: 0, used: AtomicU64::new(1), _before: None };
static NO_SLOTS: [Slot; 1] = [Slot {
    function: AtomicU64::new(0),
    layout: AtomicPtr::new(std::ptr::null_mut()),
    owner: AtomicU64::new(0),
}];
/// Release: after the table was filled.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::from_ref(&NO_TABLE).cast_mut());

impl Table {
    fn with_room(slots: usize, before: &'static Table) -> Table {
        assert!(slots.is_power_of_two());
        let new: Vec<Slot> = (0..slots).map(|_| Slot::default()).collect();
        Table { slots: new.leak(), mask: slots - 1, used: AtomicU64::new(0), _before: Some(before) }
    }

    /// The slot of `function`, or the one that it would take.
    #[inline(always)]
    fn slot(&self, function: u64) -> &Slot {
        let mut at = (function.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        loop {
            // SAFETY: `mask` is the last index.
            let slot = unsafe { self.slots.get_unchecked(at & self.mask) };
            // Acquire: with the function come its owner and layout.
            let other = slot.function.load(Acquire);
            if other == function || other == 0 {
                return slot;
            }
            at += 1;
        }
    }
}

#[inline(always)]
fn table() -> &'static Table {
    // SAFETY: a table that is never freed; acquire: it was filled before.
    unsafe { &*TABLE.load(Acquire) }
}

/// The layout of the arguments of `function`; `None` when nobody has looked yet.
#[inline(always)]
pub(crate) fn find(function: u64) -> Option<&'static Layout> {
    // SAFETY: NULL or a layout that is never freed; acquire: it was made before.
    unsafe { table().slot(function).layout.load(Acquire).as_ref() }
}

/// From now on `function` has `layout`, until it or its `owner` is forgotten. One caller at a time.
pub(crate) fn keep(function: u64, owner: u64, layout: &'static Layout) {
    if function == 0 {
        return; // the mark of a slot that is free
    }
    let table = roomy_table();
    let slot = table.slot(function);
    // Relaxed: only callers of this and of the next two look at either.
    slot.owner.store(owner, Relaxed);
    if slot.function.load(Relaxed) == 0 {
        table.used.fetch_add(1, Relaxed);
    }
    slot.layout.store(std::ptr::from_ref(layout).cast_mut(), Release);
    slot.function.store(function, Release);
}

/// `function` may mean something else from now on. One caller at a time.
pub(crate) fn forget(function: u64) {
    let slot = table().slot(function);
    if slot.function.load(Relaxed) == function {
        slot.layout.store(std::ptr::null_mut(), Release);
    }
}

/// So may every function of `owner`. One caller at a time.
pub(crate) fn forget_all(owner: u64) {
    for slot in table().slots.iter().filter(|slot| slot.owner.load(Relaxed) == owner) {
        slot.layout.store(std::ptr::null_mut(), Release);
    }
}

/// The table, with room for one more.
fn roomy_table() -> &'static Table {
    let old = table();
    if (old.used.load(Relaxed) as usize + 1) * 2 <= old.slots.len() {
        return old;
    }
    let live = || old.slots.iter().filter(|slot| !slot.layout.load(Relaxed).is_null());
    let new = Table::with_room((live().count() * 4).next_power_of_two().max(FIRST), old);
    for from in live() {
        let to = new.slot(from.function.load(Relaxed));
        to.owner.store(from.owner.load(Relaxed), Relaxed);
        to.layout.store(from.layout.load(Relaxed), Relaxed);
        to.function.store(from.function.load(Relaxed), Relaxed);
        new.used.fetch_add(1, Relaxed);
    }
    let new: &'static Table = Box::leak(Box::new(new));
    TABLE.store(std::ptr::from_ref(new).cast_mut(), Release);
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, for there is one table.
    #[test]
    fn a_function_keeps_its_layout_until_it_or_its_owner_is_forgotten() {
        let layouts: Vec<&'static Layout> =
            (0..7).map(|i| &*Box::leak(Box::new(Layout::new([(0, i)])))).collect();
        let of = |function: u64| layouts[function as usize % layouts.len()];
        let (functions, owners) = (1..5000_u64, |function: u64| function % 10);
        functions.clone().for_each(|function| assert!(find(function << 4).is_none()));
        functions.clone().for_each(|function| keep(function << 4, owners(function), of(function)));
        let is_kept =
            |function: u64| find(function << 4).is_some_and(|layout| std::ptr::eq(layout, of(function)));
        assert!(functions.clone().all(is_kept), "though the table has grown");
        forget(7 << 4);
        forget_all(3);
        forget(1); // never kept
        assert!(functions.clone().all(|f| is_kept(f) != (f == 7 || owners(f) == 3)));
        keep(7 << 4, 1, of(7));
        assert!(is_kept(7));
        keep(0, 1, of(7));
        assert!(find(0).is_none());
        // Handles that come and go do not make it grow for ever.
        for round in 0..100_000_u64 {
            keep((1 << 40) + (round << 4), 11, of(round));
            forget_all_of_round(round);
        }
        assert!(table().slots.len() <= 1 << 16, "{}", table().slots.len());
        assert!(functions.clone().all(|f| is_kept(f) != (owners(f) == 3)));
    }

    fn forget_all_of_round(round: u64) {
        forget((1 << 40) + (round << 4));
    }
}
