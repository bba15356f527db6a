//! Reads of memory that may not be mapped: the kernel is asked before a page is read.
#![allow(unsafe_code)] // reads memory by address

const PAGE: u64 = 4096;

/// Reads memory, and remembers which pages are readable. Short-lived: what another thread unmaps
/// meanwhile is not noticed, so only what belongs to the calling thread is read.
#[derive(Default)]
pub(crate) struct Probe {
    readable: Vec<u64>,
}

impl Probe {
    /// Reads a word; `None` unless it is aligned and readable.
    pub(crate) fn word(&mut self, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) || !self.is_page_readable(address) {
            return None;
        }
        // SAFETY: the kernel has just read a word of this page; the address is a multiple of 8, so
        // the word ends on the same page.
        Some(unsafe { (address as *const u64).read_volatile() })
    }

    /// Reads `length` bytes; `None` unless all are readable.
    pub(crate) fn bytes(&mut self, address: u64, length: usize) -> Option<Vec<u8>> {
        let end = address.checked_add(length as u64)?;
        let first = address & !7;
        let mut bytes = Vec::with_capacity(length + 16);
        let mut at = first;
        while at < end {
            bytes.extend_from_slice(&self.word(at)?.to_le_bytes());
            at = at.checked_add(8)?;
        }
        bytes.drain(..(address - first) as usize);
        bytes.truncate(length);
        Some(bytes)
    }

    fn is_page_readable(&mut self, address: u64) -> bool {
        let page = address & !(PAGE - 1);
        // The page that was read last comes again most often.
        if self.readable.iter().rev().any(|known| *known == page) {
            return true;
        }
        let is_readable = is_readable(address);
        if is_readable {
            self.readable.push(page);
        }
        is_readable
    }
}

/// Asks the kernel whether the word at `address`, a multiple of 8, is readable: by a change of the
/// signal mask with an invalid operation, which copies the set before it is refused. Every program
/// makes this system call, so no filter of a service manager or container forbids it.
pub(crate) fn is_readable(address: u64) -> bool {
    const NO_OPERATION: libc::c_int = -1;
    // The kernel takes NULL for no set, and neither reads nor refuses.
    if address == 0 {
        return false;
    }
    let old = std::ptr::null_mut::<libc::sigset_t>();
    // SAFETY: the kernel checks `address`, and refuses the operation without changing the mask.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, NO_OPERATION, address, old, 8) };
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_mapped_is_not_read() {
        let words = [0x0102_0304_0506_0708_u64, 9, 10];
        let address = words.as_ptr() as u64;
        let mut probe = Probe::default();
        assert_eq!(probe.word(address), Some(words[0]));
        assert_eq!(probe.bytes(address + 6, 4).as_deref(), Some(&[2, 1, 9, 0][..]));
        for wrong in [0, 8, address + 1, 0x4141_4141_4141_4140, u64::MAX - 7] {
            assert_eq!(probe.word(wrong), None, "{wrong:#x}");
        }
        assert_eq!((probe.bytes(16, 8), probe.bytes(u64::MAX - 3, 8)), (None, None));
    }
}
