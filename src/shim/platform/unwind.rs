//! The callers of the calling thread's current function, found by the loaded objects' call frame
//! information (`.eh_frame`), with or without frame pointers.
//!
//! The C++ runtime's unwinder trusts the stack, and faults on a damaged one. Here nothing on the
//! stack is trusted: a word is read once the kernel has confirmed that its page is readable, frames
//! only ascend, and a return address must follow a call instruction in a loaded object's code. A
//! chain ends at the first word or frame that fails one of these checks, so callers are right or
//! absent.
#![allow(unsafe_code)] // reads the stack and the objects' tables, and the registers by assembly

use crate::platform::objects::{self, UnwindTables};
use crate::platform::probe::is_readable;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, Pointer,
    Register, RegisterRule, UnwindContext, UnwindContextStorage, UnwindSection, UnwindTableRow, X86_64,
};
use rocshim_ring::definition::ChainEnd;
use rocshim_ring::sandbox;

/// Registers by DWARF number: the general ones and the return address.
const REGISTERS: usize = 17;
/// The most bytes that a frame may take.
const MAX_FRAME: u64 = 64 << 20;
/// The most frames of this library, which the chain omits.
const OWN_FRAMES: usize = 64;
const PAGE: u64 = 4096;

type Bytes = EndianSlice<'static, LittleEndian>;

/// Memory for the interpretation of call frame information: what compilers use, on the heap,
/// because a coroutine's stack may be small.
struct Rows;

impl UnwindContextStorage<usize> for Rows {
    type Rules = [(Register, RegisterRule<usize>); 24];
    type Stack = Box<[UnwindTableRow<usize, Self>; 4]>;
}

/// A caller: the object's index in [`Unwinder::path`], and the return address as linked.
pub(crate) type Caller = (usize, u64);

/// Finds callers. Remembers which objects are loaded.
#[derive(Default)]
pub(crate) struct Unwinder {
    objects: Vec<UnwindTables>,
    /// The loader's generation when they were listed.
    generation: u64,
    context: Option<UnwindContext<usize, Rows>>,
}

/// Values of the registers in a frame; `None`: not known.
type Values = [Option<u64>; REGISTERS];

impl Unwinder {
    /// Returns the callers of the calling function, innermost first, without those in this library,
    /// at most `limit`, and why the chain ends. `None` in a sandbox, where no system call may be
    /// made.
    pub(crate) fn callers(&mut self, limit: usize) -> Option<(Vec<Caller>, ChainEnd)> {
        if sandbox::is_new() {
            return None;
        }
        let generation = objects::generation();
        if self.generation != generation {
            self.objects = objects::unwind_tables();
            self.generation = generation;
        }
        // The registers of this function, whose frame exists until the walk is over.
        let values = registers();
        let mut context = self.context.take().unwrap_or_else(UnwindContext::new_in);
        let mut found = None;
        // The loader's lock keeps the tables that are read mapped.
        objects::while_loaded(generation, || {
            let mut walk = Walk { objects: &self.objects, context: &mut context, readable: 0..0 };
            found = Some(walk.callers(values, limit));
        });
        self.context = Some(context);
        found
    }

    /// The file of a caller's object.
    pub(crate) fn path(&self, object: usize) -> &str {
        &self.objects[object].path
    }
}

/// One walk over a stack.
struct Walk<'a> {
    objects: &'a [UnwindTables],
    context: &'a mut UnwindContext<usize, Rows>,
    /// Addresses of the stack that are known to be readable.
    readable: std::ops::Range<u64>,
}

impl Walk<'_> {
    /// Returns the callers of the function with these registers.
    fn callers(&mut self, mut values: Values, limit: usize) -> (Vec<Caller>, ChainEnd) {
        let own = values[pc()].and_then(|pc| self.object(pc));
        let (mut found, mut is_first) = (Vec::with_capacity(limit), true);
        for _ in 0..limit + OWN_FRAMES {
            values = match self.step(&values, is_first) {
                Ok(values) => values,
                Err(end) => return (found, end),
            };
            is_first = false;
            let Some(caller) = values[pc()] else { break };
            let Some(object) = self.object(caller) else { break };
            if !self.is_after_call(object, caller) {
                let is_signal = self.described(caller).is_some_and(|(_, of, _)| of.is_signal_trampoline());
                return (found, if is_signal { ChainEnd::Signal } else { ChainEnd::Unknown });
            }
            if Some(object) == own {
                continue;
            }
            if found.len() == limit {
                return (found, ChainEnd::Limit);
            }
            found.push((object, caller.wrapping_sub(self.objects[object].base)));
        }
        (found, ChainEnd::Unknown)
    }

    /// Returns the registers of the caller of the frame with these, or why there is none.
    fn step(&mut self, values: &Values, is_first: bool) -> Result<Values, ChainEnd> {
        let unknown = || ChainEnd::Unknown;
        let at = values[pc()].ok_or_else(unknown)?;
        // A return address may be the first of the next function.
        let at = if is_first { at } else { at.wrapping_sub(1) };
        let (frames, described, bases) = self.described(at).ok_or_else(unknown)?;
        if described.is_signal_trampoline() {
            return Err(ChainEnd::Signal);
        }
        let row = described
            .unwind_info_for_address(&frames, &bases, self.context, at)
            .map_err(|_| ChainEnd::Unknown)?;
        let stack = values[sp()].ok_or_else(unknown)?;
        let &CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
            return Err(ChainEnd::Unknown);
        };
        let base = values.get(usize::from(register.0)).copied().flatten();
        let frame = base.and_then(|base| base.checked_add_signed(offset)).ok_or_else(unknown)?;
        if !frame.is_multiple_of(8) || frame <= stack || frame - stack > MAX_FRAME {
            return Err(ChainEnd::Unknown);
        }
        let rules: [Option<RegisterRule<usize>>; REGISTERS] =
            std::array::from_fn(|number| row.register(Register(number as u16)));
        if rules[pc()] == Some(RegisterRule::Undefined) {
            return Err(ChainEnd::Whole);
        }
        let mut caller: Values = std::array::from_fn(|number| match rules[number] {
            None | Some(RegisterRule::SameValue) => values[number],
            Some(RegisterRule::Offset(offset)) => self.word(frame.checked_add_signed(offset)?),
            Some(RegisterRule::ValOffset(offset)) => frame.checked_add_signed(offset),
            Some(RegisterRule::Register(other)) => values.get(usize::from(other.0)).copied().flatten(),
            _ => None,
        });
        let is_saved = matches!(rules[pc()], Some(RegisterRule::Offset(_)));
        caller[sp()] = Some(frame);
        match caller[pc()].filter(|_| is_saved) {
            Some(0) => Err(ChainEnd::Whole),
            Some(_) => Ok(caller),
            None => Err(ChainEnd::Unknown),
        }
    }

    /// Returns the call frame information of the function at `address`, with its section.
    fn described(
        &self,
        address: u64,
    ) -> Option<(EhFrame<Bytes>, FrameDescriptionEntry<Bytes>, BaseAddresses)> {
        let object = &self.objects[self.object(address)?];
        let bases = BaseAddresses::default().set_eh_frame_hdr(object.header.start);
        let header = EhFrameHdr::from(slice(&object.header)).parse(&bases, 8).ok()?;
        let Pointer::Direct(frames_at) = header.eh_frame_ptr() else { return None };
        let segment = object.segments.iter().find(|segment| segment.range.contains(&frames_at))?;
        let frames = EhFrame::from(slice(&(frames_at..segment.range.end)));
        let bases = bases.set_eh_frame(frames_at);
        let table = header.table()?;
        let described = table.fde_for_address(&frames, &bases, address, EhFrame::cie_from_offset).ok()?;
        Some((frames, described, bases))
    }

    fn object(&self, address: u64) -> Option<usize> {
        self.objects.iter().position(|object| object.range.contains(&address))
    }

    /// True when the code before `address` is a call instruction.
    fn is_after_call(&self, object: usize, address: u64) -> bool {
        let code =
            |at: &u64| self.objects[object].segments.iter().any(|of| of.is_code && of.range.contains(at));
        let Some(start) = address.checked_sub(CALL as u64).filter(|start| code(start) && code(&address))
        else {
            return false;
        };
        // SAFETY: the bytes are in a segment of code that the loader has mapped readable, and keeps
        // mapped while its lock is held.
        let bytes = unsafe { (start as *const [u8; CALL]).read() };
        match call_before(&bytes) {
            Some(Some(distance)) => code(&address.wrapping_add_signed(distance)),
            Some(None) => true,
            None => false,
        }
    }

    /// Reads a word of the stack; `None` when it is not readable.
    fn word(&mut self, address: u64) -> Option<u64> {
        let end = address.checked_add(8)?;
        if !address.is_multiple_of(8) {
            return None;
        }
        if !(self.readable.start <= address && end <= self.readable.end) {
            let page = address & !(PAGE - 1);
            if !is_readable(address) {
                return None;
            }
            self.readable = match self.readable.end == page {
                true => self.readable.start..page + PAGE,
                false => page..page + PAGE,
            };
        }
        // SAFETY: the kernel has just read a word of this page, which is this thread's stack unless
        // the stack is damaged; the address is a multiple of 8.
        Some(unsafe { (address as *const u64).read_volatile() })
    }
}

/// The longest call instruction without prefixes, bytes.
const CALL: usize = 7;

/// Returns the call instruction that `code` ends with: the distance to its target, or `None` where
/// the target is in a register or in memory.
fn call_before(code: &[u8; CALL]) -> Option<Option<i64>> {
    // call rel32
    if code[2] == 0xe8 {
        let distance = i32::from_le_bytes([code[3], code[4], code[5], code[6]]);
        return Some(Some(distance.into()));
    }
    // call r/m64: ff /2, and by its addressing mode an index byte and a displacement.
    let is_indirect = |start: usize| {
        let (mode, operation, register) =
            (code[start + 1] >> 6, code[start + 1] >> 3 & 7, code[start + 1] & 7);
        let index = (mode != 3 && register == 4).then(|| code.get(start + 2).copied()).flatten();
        let displacement = match mode {
            1 => 1,
            2 => 4,
            0 if register == 5 || index.is_some_and(|index| index & 7 == 5) => 4,
            _ => 0,
        };
        let length = 2 + usize::from(mode != 3 && register == 4) + displacement;
        code[start] == 0xff && operation == 2 && start + length == CALL
    };
    (0..CALL - 1).any(is_indirect).then_some(None)
}

/// The number of the return address among the registers.
fn pc() -> usize {
    X86_64::RA.0.into()
}

/// The number of the stack pointer.
fn sp() -> usize {
    X86_64::RSP.0.into()
}

/// Returns the registers that functions preserve, in the calling function, and its address.
#[inline(always)]
fn registers() -> Values {
    let mut saved = [0_u64; 8];
    // SAFETY: stores eight words to `saved`, which has room for them; reads registers only.
    unsafe {
        core::arch::asm!(
            "lea {at}, [rip]",
            "mov [{to}], {at}",
            "mov [{to} + 8], rsp",
            "mov [{to} + 16], rbp",
            "mov [{to} + 24], rbx",
            "mov [{to} + 32], r12",
            "mov [{to} + 40], r13",
            "mov [{to} + 48], r14",
            "mov [{to} + 56], r15",
            to = in(reg) saved.as_mut_ptr(),
            at = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    let names = [
        X86_64::RA,
        X86_64::RSP,
        X86_64::RBP,
        X86_64::RBX,
        X86_64::R12,
        X86_64::R13,
        X86_64::R14,
        X86_64::R15,
    ];
    let mut values = [None; REGISTERS];
    for (name, value) in names.into_iter().zip(saved) {
        values[usize::from(name.0)] = Some(value);
    }
    values
}

fn slice(range: &std::ops::Range<u64>) -> Bytes {
    let length = range.end.saturating_sub(range.start) as usize;
    // SAFETY: the range is part of a segment that the loader has mapped readable and does not
    // write to; it stays mapped while the loader's lock is held, and no slice outlives the walk.
    EndianSlice::new(unsafe { std::slice::from_raw_parts(range.start as *const u8, length) }, LittleEndian)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code that ends with these bytes, after a byte of no meaning.
    fn ends_with(bytes: &[u8]) -> [u8; CALL] {
        let mut code = [0x90; CALL];
        code[CALL - bytes.len()..].copy_from_slice(bytes);
        code
    }

    #[test]
    fn a_call_is_recognised_by_its_last_bytes() {
        assert_eq!(call_before(&ends_with(&[0xe8, 0xfe, 0xff, 0xff, 0xff])), Some(Some(-2)));
        let indirect: [&[u8]; 8] = [
            &[0xff, 0xd0],                   // rax
            &[0xff, 0x10],                   // [rax]
            &[0xff, 0x50, 8],                // [rax + 8]
            &[0xff, 0x14, 0x24],             // [rsp]
            &[0xff, 0x54, 0x24, 8],          // [rsp + 8]
            &[0xff, 0x15, 1, 2, 3, 4],       // [rip + …]
            &[0xff, 0x90, 1, 2, 3, 4],       // [rax + …]
            &[0xff, 0x14, 0xc5, 1, 2, 3, 4], // [rax * 8 + …]
        ];
        for bytes in indirect {
            assert_eq!(call_before(&ends_with(bytes)), Some(None), "{bytes:x?}");
        }
        // A jump, a longer or shorter addressing mode, another operation, no instruction.
        let none: [&[u8]; 6] = [
            &[0xff, 0x25, 1, 2, 3, 4],
            &[0xff, 0x50, 8, 0x90],
            &[0xff, 0x15, 1, 2],
            &[0xff, 0xf0],
            &[0xc3],
            &[0xe9, 1, 2, 3, 4],
        ];
        for bytes in none {
            assert_eq!(call_before(&ends_with(bytes)), None, "{bytes:x?}");
        }
    }

    #[inline(never)]
    fn deep(more: u32, limit: usize) -> usize {
        if more > 0 {
            return std::hint::black_box(deep(more - 1, limit));
        }
        let mut unwinder = Unwinder::default();
        let (callers, end) = unwinder.callers(limit).expect("the test is in no sandbox");
        assert_eq!(end, if callers.len() == limit { ChainEnd::Limit } else { ChainEnd::Whole });
        callers.len()
    }

    /// The test is in one object with the unwinder, so only what called the test's thread is found.
    #[test]
    fn the_own_object_is_left_out() {
        rocshim_ring::sandbox::begin_thread();
        assert!(deep(20, 32) < 10);
    }
}
