//! The runtime's own copy and fill kernels, done by hand so that a program finds its data where it
//! put it.

use crate::kernel_name::Kernel;
use crate::memory::Memory;
use std::borrow::Cow;

/// Larger fills are not believed to be fills.
const LARGEST_FILL: u64 = 1 << 40;

/// Does what `kernel` does with the arguments at `arguments`, if it is one of the runtime's;
/// returns its name in the log.
pub(crate) fn run<'a>(memory: &Memory, kernel: &'a Kernel, arguments: u64) -> Cow<'a, str> {
    match kernel {
        Kernel::Named(name) => {
            match name.as_str() {
                "__amd_rocclr_copyBuffer" => copy_buffer(memory, arguments),
                "__amd_rocclr_fillBufferAligned" => fill_buffer(memory, arguments),
                _ => {}
            }
            Cow::Borrowed(name)
        }
        Kernel::Bare => Cow::Borrowed(bare(memory, arguments)),
        Kernel::Unknown => Cow::Borrowed("#unknown"),
    }
}

/// HIP's `copyBuffer(src, dst, size, …)`.
fn copy_buffer(memory: &Memory, arguments: u64) {
    let [from, to, bytes] = [0, 8, 16].map(|offset| memory.read::<u64>(arguments + offset));
    memory.copy(from, to, bytes);
}

/// HIP's `fillBufferAligned(buf, pattern, pattern_size, alignment, end, …)`: the pattern again and
/// again up to `end`.
fn fill_buffer(memory: &Memory, arguments: u64) {
    let [start, pattern, end] = [0, 8, 24].map(|offset| memory.read::<u64>(arguments + offset));
    let [elements, alignment] = [16, 20].map(|offset| u64::from(memory.read::<u32>(arguments + offset)));
    let bytes = elements * alignment;
    if bytes == 0 {
        return;
    }
    let mut at = start;
    while at + bytes <= end {
        memory.copy(pattern, at, bytes);
        at += bytes;
    }
}

/// ROCr's three hand-assembled kernels have no name; their arguments tell them apart. Each copy
/// gives the bounds of its phases: as far from the source's start as from the destination's, and in
/// order.
fn bare(memory: &Memory, arguments: u64) -> &'static str {
    let word = |index: u64| memory.read::<u64>(arguments + 8 * index);
    let [source, destination] = [word(0), word(1)];
    // Four phases: (source, destination) at words 0, 2, 4, 6 and the end at 8.
    let aligned = (0..4).all(|phase| phase_is_sound(&word, phase));
    if aligned {
        memory.copy(source, destination, word(8) - source);
        return "#copy_aligned";
    }
    // Two phases: at words 0, 2 and the end at 4.
    let misaligned = (0..2).all(|phase| phase_is_sound(&word, phase));
    if misaligned {
        memory.copy(source, destination, word(4) - source);
        return "#copy_misaligned";
    }
    fill_words(memory, source, word(2), memory.read::<u32>(arguments + 24))
}

/// Whether the phase that begins at word `2 * phase` moves as far in its source as in its
/// destination, forwards.
fn phase_is_sound(word: &impl Fn(u64) -> u64, phase: u64) -> bool {
    let [from, to, from_end, to_end] = [0, 1, 2, 3].map(|index| word(2 * phase + index));
    from_end >= from && from_end - from == to_end.wrapping_sub(to)
}

/// ROCr's fill: `(start, phase 1 end, end, value)`.
fn fill_words(memory: &Memory, start: u64, end: u64, value: u32) -> &'static str {
    if end < start || end - start >= LARGEST_FILL {
        return "#unknown";
    }
    for at in (start..end).step_by(4) {
        memory.write(at, value);
    }
    "#fill"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a kernel with arguments that are words; the addresses are those of `data`.
    fn run_on(kernel: &Kernel, data: &mut [u32; 8], arguments: impl Fn(u64) -> Vec<u64>) -> String {
        let memory = Memory::of_this_process();
        let mut arguments = arguments(data.as_mut_ptr().expose_provenance() as u64);
        arguments.resize(12, 0);
        run(&memory, kernel, arguments.as_ptr().expose_provenance() as u64).into_owned()
    }

    #[test]
    fn copies_and_fills_of_hip_are_done() {
        let mut data = [1, 2, 3, 4, 0, 0, 0, 0];
        let copy = Kernel::Named("__amd_rocclr_copyBuffer".into());
        assert_eq!(run_on(&copy, &mut data, |at| vec![at, at + 16, 16]), "__amd_rocclr_copyBuffer");
        assert_eq!(data, [1, 2, 3, 4, 1, 2, 3, 4]);
        let fill = Kernel::Named("__amd_rocclr_fillBufferAligned".into());
        // One element of four bytes, the first word, from the fifth word on.
        run_on(&fill, &mut data, |at| vec![at + 16, at, 1 | 4 << 32, at + 28]);
        assert_eq!(data, [1, 2, 3, 4, 1, 1, 1, 4]);
    }

    #[test]
    fn unnamed_kernels_are_distinguished_by_their_arguments() {
        let mut data = [1, 2, 3, 4, 0, 0, 0, 0];
        let aligned = |at| vec![at, at + 16, at, at + 16, at + 4, at + 20, at + 8, at + 24, at + 8, at + 24];
        assert_eq!(run_on(&Kernel::Bare, &mut data, aligned), "#copy_aligned");
        assert_eq!(data, [1, 2, 3, 4, 1, 2, 0, 0]);
        let misaligned = |at| vec![at, at + 16, at + 4, at + 20, at + 12, at + 28, 64];
        assert_eq!(run_on(&Kernel::Bare, &mut data, misaligned), "#copy_misaligned");
        assert_eq!(data, [1, 2, 3, 4, 1, 2, 3, 0]);
        assert_eq!(run_on(&Kernel::Bare, &mut data, |at| vec![at, at + 8, at + 8, 7 | 2 << 32]), "#fill");
        assert_eq!(data, [7, 7, 3, 4, 1, 2, 3, 0]);
    }

    #[test]
    fn any_other_kernel_does_nothing() {
        let mut data = [1; 8];
        assert_eq!(run_on(&Kernel::Named("scale".into()), &mut data, |at| vec![at, at, 9]), "scale");
        assert_eq!(data, [1; 8]);
    }
}
