//! A lock-free table from a function to the layout of its arguments, read at every launch.
//!
//! It is an open-addressing hash table keyed by function handle or host stub. The holder of the
//! kernel registry's lock writes, one thread at a time; every thread reads. A table that is full is
//! replaced and leaked, and layouts are never freed, because a reader may still use them.
#![allow(unsafe_code)] // tables and layouts are leaked, so that their addresses stay valid

use rocshim_ring::arguments::Layout;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Slots of the first table.
const FIRST_SLOTS: usize = 256;

/// The layout of a function whose arguments are unknown.
pub(crate) static UNKNOWN: Layout = Layout::unknown();
/// The layout of a function whose arguments are not recorded.
pub(crate) static NONE: Layout = Layout::none();

/// An entry of the table.
#[repr(align(32))]
#[derive(Default)]
struct Slot {
    /// The handle or stub; 0: never used. Stored with release, after the rest of the slot.
    function: AtomicU64,
    /// NULL: removed. Stored with release, after the layout is initialised.
    layout: AtomicPtr<Layout>,
    /// The module or fat binary of the function. Only writers read it.
    owner: AtomicU64,
}

/// A hash table of which at most half is used, so every search ends.
struct Table {
    slots: &'static [Slot],
    /// Number of slots, a power of two, minus one.
    mask: usize,
    used: AtomicU64,
    /// The table that this one replaced, reachable for leak checkers.
    _before: Option<&'static Table>,
}

/// The table before the first launch: one slot, never used.
static NO_TABLE: Table = Table { slots: &NO_SLOTS, mask: 0, used: AtomicU64::new(1), _before: None };
static NO_SLOTS: [Slot; 1] = [Slot {
    function: AtomicU64::new(0),
    layout: AtomicPtr::new(std::ptr::null_mut()),
    owner: AtomicU64::new(0),
}];
/// The current table. Stored with release, after it is filled.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::from_ref(&NO_TABLE).cast_mut());

impl Table {
    fn with_room(slots: usize, before: &'static Table) -> Table {
        assert!(slots.is_power_of_two());
        let new: Vec<Slot> = (0..slots).map(|_| Slot::default()).collect();
        Table { slots: new.leak(), mask: slots - 1, used: AtomicU64::new(0), _before: Some(before) }
    }

    /// Returns the slot of `function`, or the free slot that it would get.
    #[inline(always)]
    fn slot(&self, function: u64) -> &Slot {
        let mut at = (function.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        loop {
            // SAFETY: the length is `mask + 1`, so `at & self.mask` is a valid index.
            let slot = unsafe { self.slots.get_unchecked(at & self.mask) };
            // Acquire: pairs with the release store of the key, after owner and layout.
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
    // SAFETY: `TABLE` holds `NO_TABLE` or a leaked table, never NULL, never freed, and written only
    // through atomics. Acquire: pairs with the release store after the table was filled.
    unsafe { &*TABLE.load(Acquire) }
}

/// Returns the argument layout of `function`; `None` before the first lookup.
#[inline(always)]
pub(crate) fn find(function: u64) -> Option<&'static Layout> {
    // SAFETY: the pointer is NULL or a leaked layout, never freed and never written again. Acquire:
    // pairs with the release store after the layout was initialised.
    unsafe { table().slot(function).layout.load(Acquire).as_ref() }
}

/// Sets the layout of `function`, until it or its `owner` is removed. One caller at a time.
pub(crate) fn insert(function: u64, owner: u64, layout: &'static Layout) {
    if function == 0 {
        return; // 0 is the key of a free slot
    }
    let table = table_with_room();
    let slot = table.slot(function);
    // Relaxed: only `insert`, `remove` and `remove_owner` read owners, and callers exclude each
    // other.
    slot.owner.store(owner, Relaxed);
    if slot.function.load(Relaxed) == 0 {
        table.used.fetch_add(1, Relaxed);
    }
    slot.layout.store(std::ptr::from_ref(layout).cast_mut(), Release);
    slot.function.store(function, Release);
}

/// Removes `function`, which may be redefined. One caller at a time.
pub(crate) fn remove(function: u64) {
    let slot = table().slot(function);
    if slot.function.load(Relaxed) == function {
        slot.layout.store(std::ptr::null_mut(), Release);
    }
}

/// Removes every function of `owner`. One caller at a time.
pub(crate) fn remove_owner(owner: u64) {
    for slot in table().slots.iter().filter(|slot| slot.owner.load(Relaxed) == owner) {
        slot.layout.store(std::ptr::null_mut(), Release);
    }
}

/// Returns the table, grown if there is no room for one more.
fn table_with_room() -> &'static Table {
    let old = table();
    if (old.used.load(Relaxed) as usize + 1) * 2 <= old.slots.len() {
        return old;
    }
    let live = || old.slots.iter().filter(|slot| !slot.layout.load(Relaxed).is_null());
    let new = Table::with_room((live().count() * 4).next_power_of_two().max(FIRST_SLOTS), old);
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

    /// A single test, because there is a single table.
    #[test]
    fn a_layout_is_found_until_its_function_or_owner_is_removed() {
        let layouts: Vec<&'static Layout> =
            (0..7).map(|i| &*Box::leak(Box::new(Layout::new([(0, i)])))).collect();
        let of = |function: u64| layouts[function as usize % layouts.len()];
        let (functions, owners) = (1..5000_u64, |function: u64| function % 10);
        functions.clone().for_each(|function| assert!(find(function << 4).is_none()));
        functions.clone().for_each(|function| insert(function << 4, owners(function), of(function)));
        let is_found =
            |function: u64| find(function << 4).is_some_and(|layout| std::ptr::eq(layout, of(function)));
        assert!(functions.clone().all(is_found), "though the table has grown");
        remove(7 << 4);
        remove_owner(3);
        remove(1); // never kept
        assert!(functions.clone().all(|f| is_found(f) != (f == 7 || owners(f) == 3)));
        insert(7 << 4, 1, of(7));
        assert!(is_found(7));
        insert(0, 1, of(7));
        assert!(find(0).is_none());
        // Handles that come and go do not grow the table for ever.
        for round in 0..100_000_u64 {
            insert((1 << 40) + (round << 4), 11, of(round));
            remove_round(round);
        }
        assert!(table().slots.len() <= 1 << 16, "{}", table().slots.len());
        assert!(functions.clone().all(|f| is_found(f) != (owners(f) == 3)));
    }

    fn remove_round(round: u64) {
        remove((1 << 40) + (round << 4));
    }
}
