//! Copies a launch's kernel arguments into its event, each at its offset in the kernel's argument
//! buffer.
#![allow(unsafe_code)] // reads what the program passes to the launch, and writes into the event

use crate::event::Launch;
use crate::payload::Payload;
use crate::slot::EventKind;

/// The most argument bytes that an event holds; the rest is cut. (An in-flight slot has this room
/// after the wide form of a launch and before its own last word.)
pub const ARGUMENT_BYTES: usize = 376;

/// `HIP_LAUNCH_PARAM_BUFFER_POINTER`, `…_BUFFER_SIZE`, `…_END` (hip_runtime_api.h).
const BUFFER: [usize; 3] = [1, 2, 3];

/// The offsets and sizes of a kernel's explicit arguments, as far as an event has room for them.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    runs: Vec<Run>,
    /// End of the last argument, bytes.
    end: usize,
    /// How many bytes are copied from a buffer that holds all arguments.
    of_buffer: usize,
}

/// Consecutive arguments of equal size, in bytes, within [`ARGUMENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    offset: u16,
    size: u16,
    count: u16,
}

impl Run {
    fn end(self) -> usize {
        usize::from(self.offset) + usize::from(self.size) * usize::from(self.count)
    }
}

impl Layout {
    /// The layout of a kernel with arguments at these (offset, size), up to the first that does not
    /// fit. If not even the first fits, one byte is recorded to show that there are arguments.
    pub fn new(arguments: impl IntoIterator<Item = (u32, u32)>) -> Layout {
        let mut arguments = arguments.into_iter().peekable();
        let least = usize::from(arguments.peek().is_some());
        let fits = |(offset, size): &(u32, u32)| {
            offset.checked_add(*size).is_some_and(|end| end as usize <= ARGUMENT_BYTES)
        };
        let mut runs: Vec<Run> = Vec::new();
        for (offset, size) in arguments.take_while(fits) {
            let one = Run { offset: offset as u16, size: size as u16, count: 1 };
            match runs.last_mut().filter(|run| run.size == one.size && run.end() == offset as usize) {
                Some(run) => run.count += 1,
                None => runs.push(one),
            }
        }
        let end = runs.iter().map(|run| run.end()).max().unwrap_or(0).max(least);
        Layout { runs, end, of_buffer: end }
    }

    /// The layout of an unknown kernel: an argument buffer is copied unchanged.
    pub const fn unknown() -> Layout {
        Layout { runs: Vec::new(), end: 0, of_buffer: ARGUMENT_BYTES }
    }

    /// The layout of a kernel whose arguments are not recorded.
    pub const fn none() -> Layout {
        Layout { runs: Vec::new(), end: 0, of_buffer: 0 }
    }
}

/// Looks up the argument layout of a function.
pub trait Layouts: Copy {
    /// The layout of `function`, which is about to be launched.
    fn layout(&self, function: u64) -> &Layout;
}

impl Layouts for &Layout {
    fn layout(&self, _function: u64) -> &Layout {
        self
    }
}

/// A launch with its kernel arguments.
#[derive(Clone, Copy)]
pub struct LaunchWith<L> {
    launch: Launch,
    layouts: L,
    /// `kernelParams`: a pointer to each explicit argument.
    params: *const *const u8,
    /// `extra`: a buffer with all arguments.
    extra: *const usize,
}

impl<L: Layouts> LaunchWith<L> {
    /// The launch with the arguments that the program passes.
    ///
    /// # Safety
    /// Until this is stored: `params` is NULL, or has a pointer (possibly NULL) to the bytes of
    /// each argument of the function's layout; `extra` is NULL, or a list in HIP's format that
    /// names a buffer and its size.
    #[inline(always)]
    pub unsafe fn new(
        launch: Launch,
        layouts: L,
        params: *const *const u8,
        extra: *const usize,
    ) -> LaunchWith<L> {
        LaunchWith { launch, layouts, params, extra }
    }
}

/// Copies the arguments of a launch to `to`; returns the number of bytes.
///
/// # Safety
/// As [`LaunchWith::new`] and [`Payload::store_bytes`].
#[inline(never)]
unsafe fn take(layout: &Layout, params: *const *const u8, extra: *const usize, to: *mut u8) -> usize {
    match (params.is_null(), extra.is_null()) {
        // SAFETY: `params` is not NULL and points to this layout's arguments, and `to` has room, by
        // this function's contract.
        (false, true) => unsafe { copy_params(layout, params, to) },
        // SAFETY: `extra` is not NULL and is a list in HIP's format, and `to` has room, by this
        // function's contract.
        (true, false) => unsafe { copy_buffer(layout, extra, to) },
        // Both are given, which the runtime rejects.
        _ => 0,
    }
}

/// Copies each argument from its pointer in `params`. A NULL pointer makes the launch fail: then
/// nothing is recorded.
///
/// # Safety
/// As [`take`].
#[inline(always)]
unsafe fn copy_params(layout: &Layout, params: *const *const u8, to: *mut u8) -> usize {
    let mut at = params;
    for run in &layout.runs {
        let (to, size, count) = (to.wrapping_add(run.offset.into()), usize::from(run.size), run.count);
        // `params` has a pointer for each argument of the layout, and all offsets are within
        // `ARGUMENT_BYTES`. The usual sizes are copied with one move each.
        let is_whole = match size {
            // SAFETY: `at` has `count` pointers to 8-byte arguments or NULL; `to` has room for them
            // within `ARGUMENT_BYTES`.
            8 => unsafe { copy_run::<8>(at, to, count) },
            // SAFETY: `at` has `count` pointers to 4-byte arguments or NULL; `to` has room for them
            // within `ARGUMENT_BYTES`.
            4 => unsafe { copy_run::<4>(at, to, count) },
            // SAFETY: `at` has `count` pointers to arguments of `size` bytes or NULL; `to` has room
            // for them within `ARGUMENT_BYTES`.
            _ => unsafe { copy_run_of(at, to, size, count) },
        };
        if !is_whole {
            return 0;
        }
        at = at.wrapping_add(count.into());
    }
    layout.end
}

/// Copies `count` arguments of `SIZE` bytes to consecutive places; false if a pointer is NULL.
///
/// # Safety
/// `params` has `count` pointers, each NULL or to `SIZE` readable bytes; `to` is valid for writes
/// of all of them.
#[inline(always)]
unsafe fn copy_run<const SIZE: usize>(params: *const *const u8, to: *mut u8, count: u16) -> bool {
    for i in 0..usize::from(count) {
        // SAFETY: `i` is below `count`, and `params` has that many pointers.
        let from = unsafe { params.wrapping_add(i).read() };
        if from.is_null() {
            return false;
        }
        // SAFETY: `from` is not NULL and points to `SIZE` bytes; read as bytes, because their
        // alignment is unknown.
        let value = unsafe { from.cast::<[u8; SIZE]>().read() };
        // SAFETY: `to` is valid for `count` values of `SIZE` bytes, and `i` is below `count`.
        unsafe { to.cast::<[u8; SIZE]>().wrapping_add(i).write(value) };
    }
    true
}

/// As [`copy_run`], for any size. Not inlined: `take` would have to save registers for it on the
/// fast path.
///
/// # Safety
/// As [`copy_run`], with `size` in place of `SIZE`.
#[inline(never)]
unsafe fn copy_run_of(params: *const *const u8, to: *mut u8, size: usize, count: u16) -> bool {
    for i in 0..usize::from(count) {
        // SAFETY: `i` is below `count`, and `params` has that many pointers.
        let from = unsafe { params.wrapping_add(i).read() };
        if from.is_null() {
            return false;
        }
        // SAFETY: `from` is not NULL and points to `size` bytes; `to` is valid for `count` of them
        // and belongs to the event.
        unsafe { std::ptr::copy_nonoverlapping(from, to.wrapping_add(i * size), size) };
    }
    true
}

/// Copies the buffer that `extra` names, if the list has the order that the runtime accepts.
///
/// # Safety
/// As [`take`].
#[inline(never)]
unsafe fn copy_buffer(layout: &Layout, extra: *const usize, to: *mut u8) -> usize {
    // SAFETY: HIP's list continues as long as its words are the expected ones, and the reads stop
    // at the first other one.
    let word = |i: usize| unsafe { extra.wrapping_add(i).read() };
    let is_list = word(0) == BUFFER[0] && word(2) == BUFFER[1] && word(4) == BUFFER[2];
    if !is_list || word(1) == 0 || word(3) == 0 {
        return 0;
    }
    let (from, size) = (word(1) as *const u8, word(3) as *const usize);
    // SAFETY: the list's size entry points to the buffer's size.
    let size = unsafe { size.read_unaligned() }.min(layout.of_buffer);
    // SAFETY: the buffer has at least `size` bytes, and so has `to`, because `of_buffer` is at most
    // `ARGUMENT_BYTES`.
    unsafe { std::ptr::copy_nonoverlapping(from, to, size) };
    size
}

impl<L: Layouts> Payload for LaunchWith<L> {
    const KIND: EventKind = EventKind::Launch;
    const WORDS: usize = Launch::WORDS;
    const SHORT: bool = true;
    const BYTES: bool = true;
    const RESERVED: bool = true;

    #[inline(always)]
    fn is_wide(&self) -> bool {
        self.launch.is_wide()
    }

    #[inline(always)]
    unsafe fn store_reserved(&self, to: *mut u64) {
        // SAFETY: `to` has room for five words, by this function's contract.
        unsafe { self.launch.store_reserved(to) };
    }

    #[inline(always)]
    fn store(&self, put: impl FnMut(usize, u64)) {
        self.launch.store(put);
    }

    #[inline(always)]
    unsafe fn store_bytes(&self, to: *mut u8) -> usize {
        if self.params.is_null() && self.extra.is_null() {
            return 0;
        }
        let layout = self.layouts.layout(self.launch.function);
        // SAFETY: `params` and `extra` satisfy the contract of `new`, and `to` that of this
        // function.
        unsafe { take(layout, self.params, self.extra, to) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;
    use crate::slot::Event;
    use crate::tests::{call, drain, here, launch, ring};

    /// A launch with these arguments.
    fn launch_with(
        wide: bool,
        layout: &Layout,
        params: Option<&[*const u8]>,
        extra: Option<&[usize]>,
    ) -> (Event, Vec<u8>) {
        let (_ring, producer, mut consumer) = ring();
        let launch = Launch { flags: wide.into(), ..launch() };
        let params = params.map_or(std::ptr::null(), <[_]>::as_ptr);
        let extra = extra.map_or(std::ptr::null(), <[_]>::as_ptr);
        // SAFETY: each test passes the pointers that its layout needs, and lists in HIP's format or
        // ones that are rejected.
        call(producer, 5, &unsafe { LaunchWith::new(launch, layout, params, extra) }, 0);
        let event = drain(&mut consumer).remove(0);
        assert_eq!(Launch::read(&event), launch, "whatever it passes");
        let bytes = Launch::read_arguments(&event);
        (event, bytes)
    }

    fn bytes_of<T>(value: &T) -> *const u8 {
        std::ptr::from_ref(value).cast()
    }

    #[test]
    fn arguments_keep_their_offsets_in_the_shortest_event() {
        let (pointer, count, byte, triple) = (0x7f00_dead_beef_u64, 7_u32, 9_u8, [1_u32, 2, 3]);
        let layout = Layout::new([(0, 8), (8, 4), (12, 1), (16, 12)]);
        let params = [bytes_of(&pointer), bytes_of(&count), bytes_of(&byte), bytes_of(&triple)];
        for (wide, slots) in [(false, 2), (true, 3)] {
            let (event, bytes) = launch_with(wide, &layout, Some(&params), None);
            assert_eq!((event.slots(), bytes.len()), (slots, 28));
            assert_eq!(
                (&bytes[..8], &bytes[8..12], bytes[12]),
                (&pointer.to_le_bytes()[..], &[7, 0, 0, 0][..], 9)
            );
            assert_eq!(bytes[16..], [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        }
        let (event, bytes) = launch_with(false, &Layout::none(), Some(&params), None);
        assert_eq!((event.slots(), bytes.len()), (1, 0));
        let (event, bytes) = launch_with(false, &Layout::unknown(), Some(&params), None);
        assert_eq!((event.slots(), bytes.len()), (1, 0), "their number is unknown");
    }

    #[test]
    fn arguments_that_do_not_fit_are_cut() {
        let large = [5_u8; 4096];
        let layout = Layout::new([(0, 360), (360, 8), (368, 8), (376, 8), (384, 8)]);
        let params = [bytes_of(&large), bytes_of(&large), bytes_of(&large)]; // the first two fill the room
        for (wide, slots) in [(false, 8), (true, 8)] {
            let (event, bytes) = launch_with(wide, &layout, Some(&params), None);
            assert_eq!((event.slots(), bytes), (slots, vec![5; ARGUMENT_BYTES]));
        }
        let size = large.len();
        let extra = [1, bytes_of(&large) as usize, 2, bytes_of(&size) as usize, 3];
        for layout in [layout, Layout::unknown()] {
            assert_eq!(launch_with(true, &layout, None, Some(&extra)).1, [5; ARGUMENT_BYTES]);
        }
        let (event, bytes) = launch_with(false, &Layout::new([(0, 500), (504, 8)]), Some(&params), None);
        assert_eq!((event.slots(), bytes.len()), (2, 1), "it has arguments, and none is there");
        let overflowing = Layout::new([(0, 4), (u32::MAX, u32::MAX)]);
        assert_eq!(launch_with(false, &overflowing, Some(&params), None).1, [5; 4]);
    }

    #[test]
    fn an_argument_buffer_is_copied_in_its_own_length() {
        let (buffer, size) = ([1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 10_usize);
        let extra = [1, bytes_of(&buffer) as usize, 2, bytes_of(&size) as usize, 3];
        let taken = |layout: &Layout| launch_with(false, layout, None, Some(&extra)).1;
        assert_eq!(taken(&Layout::unknown()), buffer[..10], "its kernel is not known");
        assert_eq!(
            taken(&Layout::new([(0, 8), (8, 4)])),
            buffer[..10],
            "shorter than the kernel's arguments"
        );
        assert_eq!(taken(&Layout::new([(0, 8)])), buffer[..8], "hidden arguments behind them");
        assert_eq!(taken(&Layout::none()), []);
    }

    #[test]
    fn arguments_that_the_runtime_rejects_are_not_copied() {
        let (value, size) = (7_u64, 8_usize);
        let layout = Layout::new([(0, 8), (8, 8)]);
        let good = [1, bytes_of(&value) as usize, 2, bytes_of(&size) as usize, 3];
        let params = [bytes_of(&value), bytes_of(&value)];
        assert_eq!(launch_with(false, &layout, Some(&params), Some(&good)).1, [], "both forms");
        assert_eq!(launch_with(false, &layout, Some(&[bytes_of(&value), std::ptr::null()]), None).1, []);
        assert_eq!(launch_with(false, &layout, None, None).1, []);
        let (end, other_order) = ([3_usize], [2, good[3], 1, good[1], 3]);
        let (no_end, no_size) = ([1, good[1], 2, good[3], 4], [1, good[1], 3]);
        let (null, null_size) = ([1, 0, 2, good[3], 3], [1, good[1], 2, 0, 3]);
        for list in [&end[..], &other_order, &no_end, &no_size, &null, &null_size] {
            let (event, bytes) = launch_with(false, &layout, None, Some(list));
            assert_eq!((event.slots(), bytes.len()), (1, 0), "{list:?}");
        }
    }

    #[test]
    fn failed_calls_and_calls_in_flight_keep_their_arguments() {
        let (ring, producer, mut consumer) = ring();
        let (layout, value) = (Layout::new([(0, 4)]), 0x0403_0201_u32);
        let params = [bytes_of(&value)];
        // SAFETY: one pointer for the layout's one argument; `extra` is NULL.
        let payload = unsafe { LaunchWith::new(launch(), &layout, params.as_ptr(), std::ptr::null()) };
        let span = here(producer).enter(5, &payload).unwrap();
        let open = ring.in_flight().remove(0);
        assert_eq!((Launch::read_arguments(&open), open.status), (vec![1, 2, 3, 4], 0));
        span.leave(now(), -9);
        call(producer, 5, &launch(), -9); // the same in-flight slot
        let events = drain(&mut consumer);
        assert_eq!((Launch::read_arguments(&events[0]), events[0].status), (vec![1, 2, 3, 4], -9));
        assert_eq!((Launch::read_arguments(&events[1]), events[1].status), (vec![], -9));
        drop(here(producer).enter(5, &payload));
        let unwound = drain(&mut consumer).remove(0);
        assert_eq!((Launch::read_arguments(&unwound), unwound.unwound), (vec![1, 2, 3, 4], true));
    }
}
