//! A launch's arguments on their way into its event: each at its own offset, as the kernel will find them.
#![allow(unsafe_code)] // reads what the program passes to the launch, and writes into the stage

use crate::event::Launch;
use crate::payload::Payload;
use crate::slot::Kind;

/// The most bytes of arguments that an event holds; what lies behind is cut. (A stage has this room after the wide form
/// of a launch and before the word that it keeps for itself.)
pub const ARGUMENT_BYTES: usize = 376;

/// `HIP_LAUNCH_PARAM_BUFFER_POINTER`, `…_BUFFER_SIZE`, `…_END` (hip_runtime_api.h).
const BUFFER: [usize; 3] = [1, 2, 3];

/// Where a kernel's explicit arguments lie, as far as an event has room for them.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    runs: Vec<Run>,
    /// Where the last of them ends.
    end: usize,
    /// How much is taken of a buffer that holds all arguments.
    of_buffer: usize,
}

/// Arguments of one size, in bytes, that lie one after the other. They lie within [`ARGUMENT_BYTES`].
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
    /// The layout of a kernel with arguments at these (offset, size), up to the first that does not fit. A kernel of whose
    /// arguments not one fits has a byte that tells of them.
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

    /// The layout of a kernel whose arguments are not known: a buffer with them is taken as it is.
    pub const fn unknown() -> Layout {
        Layout { runs: Vec::new(), end: 0, of_buffer: ARGUMENT_BYTES }
    }

    /// The layout of a kernel whose arguments are not to be recorded.
    pub const fn none() -> Layout {
        Layout { runs: Vec::new(), end: 0, of_buffer: 0 }
    }
}

/// Who knows how the arguments of a function lie.
pub trait Layouts: Copy {
    /// The layout of `function`, which is about to be launched.
    fn layout(&self, function: u64) -> &Layout;
}

impl Layouts for &Layout {
    fn layout(&self, _function: u64) -> &Layout {
        self
    }
}

/// A launch with what it passes to its kernel.
#[derive(Clone, Copy)]
pub struct LaunchWith<L> {
    launch: Launch,
    layouts: L,
    /// `kernelParams`: a pointer to each explicit argument.
    params: *const *const u8,
    /// `extra`: a buffer with all of them.
    extra: *const usize,
}

impl<L: Layouts> LaunchWith<L> {
    /// # Safety
    /// Until this is stored: `params` is NULL or has a pointer to the bytes of each argument of the function's layout (or a
    /// NULL among them); `extra` is NULL or a list as HIP takes it, which names a buffer and its size.
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

/// Copies what a launch passes to `to`; gives how many bytes.
///
/// # Safety
/// As [`LaunchWith::new`] and [`Payload::store_bytes`].
#[inline(never)]
unsafe fn take(layout: &Layout, params: *const *const u8, extra: *const usize, to: *mut u8) -> usize {
    match (params.is_null(), extra.is_null()) {
        // SAFETY: by this function's contract.
        (false, true) => unsafe { copy_params(layout, params, to) },
        // SAFETY: by this function's contract.
        (true, false) => unsafe { copy_buffer(layout, extra, to) },
        // Both, which the runtime refuses.
        _ => 0,
    }
}

/// Copies each argument from where `params` says. One that is NULL makes the launch fail: nothing is taken then.
///
/// # Safety
/// As [`take`].
#[inline(always)]
unsafe fn copy_params(layout: &Layout, params: *const *const u8, to: *mut u8) -> usize {
    let mut at = params;
    for run in &layout.runs {
        let (to, size, count) = (to.wrapping_add(run.offset.into()), usize::from(run.size), run.count);
        // There is a pointer for each argument of the layout, of which each run has its own, and the places of a run lie within
        // the room at `to`. The usual sizes are copied with one move each.
        let is_whole = match size {
            // SAFETY: as said.
            8 => unsafe { copy_run::<8>(at, to, count) },
            // SAFETY: as said.
            4 => unsafe { copy_run::<4>(at, to, count) },
            // SAFETY: as said.
            _ => unsafe { copy_run_of(at, to, size, count) },
        };
        if !is_whole {
            return 0;
        }
        at = at.wrapping_add(count.into());
    }
    layout.end
}

/// Copies `count` arguments of `SIZE` bytes to where they lie one after the other; false when one is NULL.
///
/// # Safety
/// `params` has a pointer to each, or NULL; `to` is valid for them all.
#[inline(always)]
unsafe fn copy_run<const SIZE: usize>(params: *const *const u8, to: *mut u8, count: u16) -> bool {
    for i in 0..usize::from(count) {
        // SAFETY: by the contract.
        let from = unsafe { params.wrapping_add(i).read() };
        if from.is_null() {
            return false;
        }
        // SAFETY: by the contract; as bytes, for nobody promised an alignment.
        let value = unsafe { from.cast::<[u8; SIZE]>().read() };
        // SAFETY: by the contract.
        unsafe { to.cast::<[u8; SIZE]>().wrapping_add(i).write(value) };
    }
    true
}

/// As [`copy_run`], for any size. Not inlined: `take` would have to save registers for it on the usual way.
///
/// # Safety
/// As [`copy_run`].
#[inline(never)]
unsafe fn copy_run_of(params: *const *const u8, to: *mut u8, size: usize, count: u16) -> bool {
    for i in 0..usize::from(count) {
        // SAFETY: by the contract.
        let from = unsafe { params.wrapping_add(i).read() };
        if from.is_null() {
            return false;
        }
        // SAFETY: by the contract.
        unsafe { std::ptr::copy_nonoverlapping(from, to.wrapping_add(i * size), size) };
    }
    true
}

/// Copies the buffer that `extra` names, if it is the list that the runtime takes: in this order, and no other.
///
/// # Safety
/// As [`take`].
#[inline(never)]
unsafe fn copy_buffer(layout: &Layout, extra: *const usize, to: *mut u8) -> usize {
    // SAFETY: the list goes on as long as its words are the right ones.
    let word = |i: usize| unsafe { extra.wrapping_add(i).read() };
    let is_list = word(0) == BUFFER[0] && word(2) == BUFFER[1] && word(4) == BUFFER[2];
    if !is_list || word(1) == 0 || word(3) == 0 {
        return 0;
    }
    let (from, size) = (word(1) as *const u8, word(3) as *const usize);
    // SAFETY: the list names its buffer's size.
    let size = unsafe { size.read_unaligned() }.min(layout.of_buffer);
    // SAFETY: the buffer is at least so long, and the room at `to` is.
    unsafe { std::ptr::copy_nonoverlapping(from, to, size) };
    size
}

impl<L: Layouts> Payload for LaunchWith<L> {
    const KIND: Kind = Kind::Launch;
    const WORDS: usize = Launch::WORDS;
    const SHORT: bool = true;
    const BYTES: bool = true;
    const IN_PLACE: bool = true;

    #[inline(always)]
    fn is_wide(&self) -> bool {
        self.launch.is_wide()
    }

    #[inline(always)]
    unsafe fn store_in_place(&self, to: *mut u64) {
        // SAFETY: by this function's contract.
        unsafe { self.launch.store_in_place(to) };
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
        // SAFETY: by the contracts of `new` and this function.
        unsafe { take(layout, self.params, self.extra, to) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;
    use crate::slot::Event;
    use crate::tests::{call, drain, here, launch, ring};

    /// A launch that passes what `params` or `extra` say.
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
        // SAFETY: each test passes what its layout needs, and lists as HIP takes them or refuses them.
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
    fn arguments_lie_at_their_offsets_in_an_event_that_is_as_short_as_can_be() {
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
        assert_eq!((event.slots(), bytes.len()), (1, 0), "nobody knows how many there are");
    }

    #[test]
    fn arguments_that_do_not_fit_are_left_out() {
        let large = [5_u8; 4096];
        let layout = Layout::new([(0, 360), (360, 8), (368, 8), (376, 8), (384, 8)]);
        let params = [bytes_of(&large), bytes_of(&large), bytes_of(&large)]; // no more are looked at
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
    fn a_buffer_is_taken_in_its_own_length() {
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
    fn nothing_is_taken_of_what_the_runtime_refuses() {
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
    fn arguments_stay_with_a_call_that_fails_and_with_one_in_flight() {
        let (ring, producer, mut consumer) = ring();
        let (layout, value) = (Layout::new([(0, 4)]), 0x0403_0201_u32);
        let params = [bytes_of(&value)];
        // SAFETY: one pointer for the one argument.
        let payload = unsafe { LaunchWith::new(launch(), &layout, params.as_ptr(), std::ptr::null()) };
        let span = here(producer).enter(5, &payload).unwrap();
        let open = ring.in_flight().remove(0);
        assert_eq!((Launch::read_arguments(&open), open.status), (vec![1, 2, 3, 4], 0));
        span.leave(now(), -9);
        call(producer, 5, &launch(), -9); // the same stage
        let events = drain(&mut consumer);
        assert_eq!((Launch::read_arguments(&events[0]), events[0].status), (vec![1, 2, 3, 4], -9));
        assert_eq!((Launch::read_arguments(&events[1]), events[1].status), (vec![], -9));
        drop(here(producer).enter(5, &payload));
        let unwound = drain(&mut consumer).remove(0);
        assert_eq!((Launch::read_arguments(&unwound), unwound.unwound), (vec![1, 2, 3, 4], true));
    }
}
