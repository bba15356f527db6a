//! Kernel names: from a kernel descriptor's address to the name in the code object that the runtime
//! loaded around it.
//!
//! The runtime loads a code object whole, ELF header first, at a page. Going back page by page from
//! the descriptor, the first ELF header is its own; the dynamic symbol whose value is the
//! descriptor's offset ends in `.kd`.

use crate::memory::Memory;
use std::collections::HashMap;

const PAGE: u64 = 4096;
const ELF_MAGIC: u32 = u32::from_le_bytes(*b"\x7fELF");
const PROGRAM_HEADER_BYTES: u64 = 56;
const PT_DYNAMIC: u32 = 2;
const SYMBOL_BYTES: u64 = 24;
const LONGEST_NAME: usize = 1 << 16;

// Tags of dynamic entries.
const DT_NULL: u64 = 0;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

/// What a kernel descriptor belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// A kernel of a code object, by its mangled name.
    Named(String),
    /// Code of the runtime itself: there is no ELF image around it.
    Bare,
    /// An ELF image without a symbol for it, or no memory that we know of.
    Unknown,
}

/// The names found so far.
#[derive(Default)]
pub(crate) struct KernelNames {
    found: HashMap<u64, Found>,
}

struct Found {
    kernel: Kernel,
    /// Where the symbol and its name are, for a named kernel.
    symbol: u64,
    text: u64,
}

impl KernelNames {
    /// The kernel whose descriptor is at `descriptor`.
    pub(crate) fn of(&mut self, memory: &Memory, descriptor: u64) -> &Kernel {
        // Code can be unloaded and other code loaded in its place: what was found is looked at
        // again before it is used.
        if !self.found.get(&descriptor).is_some_and(|found| found.holds(memory, descriptor)) {
            self.found.insert(descriptor, find(memory, descriptor));
        }
        &self.found[&descriptor].kernel
    }
}

impl Found {
    fn holds(&self, memory: &Memory, descriptor: u64) -> bool {
        let Kernel::Named(name) = &self.kernel else { return false };
        let Some(home) = memory.allocation(descriptor) else { return false };
        home.contains(&self.symbol)
            && home.contains(&self.text)
            && image_of(memory, descriptor, home.start)
                .is_some_and(|image| image + memory.read::<u64>(self.symbol + 8) == descriptor)
            && text_at(memory, self.text, home.end).strip_suffix(".kd") == Some(name)
    }
}

fn find(memory: &Memory, descriptor: u64) -> Found {
    let nameless = |kernel| Found { kernel, symbol: 0, text: 0 };
    let Some(home) = memory.allocation(descriptor) else { return nameless(Kernel::Unknown) };
    let Some(image) = image_of(memory, descriptor, home.start) else { return nameless(Kernel::Bare) };
    let Some(tables) = Tables::of(memory, image) else { return nameless(Kernel::Unknown) };
    for symbol in (tables.symbols..tables.symbols_end).step_by(SYMBOL_BYTES as usize) {
        if image + memory.read::<u64>(symbol + 8) == descriptor {
            let text = tables.strings + u64::from(memory.read::<u32>(symbol));
            if let Some(name) = text_at(memory, text, home.end).strip_suffix(".kd") {
                return Found { kernel: Kernel::Named(name.to_owned()), symbol, text };
            }
        }
    }
    nameless(Kernel::Unknown)
}

/// The nearest page at or before `address`, not before `first`, that begins with an ELF header.
fn image_of(memory: &Memory, address: u64, first: u64) -> Option<u64> {
    let mut page = address & !(PAGE - 1);
    while page >= first {
        if memory.read::<u32>(page) == ELF_MAGIC {
            return Some(page);
        }
        page = page.checked_sub(PAGE)?;
    }
    None
}

/// Where an image's dynamic symbols and their names are.
struct Tables {
    symbols: u64,
    symbols_end: u64,
    strings: u64,
}

impl Tables {
    fn of(memory: &Memory, image: u64) -> Option<Tables> {
        let headers = image + memory.read::<u64>(image + 32);
        let count = u64::from(memory.read::<u16>(image + 56));
        let header = (0..count)
            .map(|index| headers + index * PROGRAM_HEADER_BYTES)
            .find(|&header| memory.read::<u32>(header) == PT_DYNAMIC)?;
        let (mut symbols, mut strings, mut neighbours) = (None, None, Vec::new());
        let mut entry = image + memory.read::<u64>(header + 16);
        loop {
            let (tag, value) = (memory.read::<u64>(entry), memory.read::<u64>(entry + 8));
            // Loaders may or may not have made the entries absolute.
            let value = if value >= image { value } else { image + value };
            match tag {
                DT_NULL => break,
                DT_SYMTAB => symbols = Some(value),
                DT_STRTAB => strings = Some(value),
                DT_HASH | DT_GNU_HASH | DT_RELA => neighbours.push(value),
                _ => {}
            }
            entry += 16;
        }
        let (symbols, strings) = (symbols?, strings?);
        // The symbol table has no length of its own: it ends where the next table begins.
        neighbours.push(strings);
        let end = neighbours.into_iter().filter(|&start| start > symbols).min()?;
        Some(Tables {
            symbols,
            symbols_end: symbols + (end - symbols) / SYMBOL_BYTES * SYMBOL_BYTES,
            strings,
        })
    }
}

/// The text at `address`, up to its 0 byte or to `end`.
fn text_at(memory: &Memory, address: u64, end: u64) -> String {
    let bytes: Vec<u8> = (address..end)
        .map(|byte| memory.read::<u8>(byte))
        .take_while(|&byte| byte != 0)
        .take(LONGEST_NAME)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `vector_add` and `vector_scale<2>`, as the compiler made them; the values of their `.kd`
    /// symbols.
    const OBJECT: &[u8] = include_bytes!("../../programs/real/vectors-gfx1100.co");
    const ADD: u64 = 0xd40;
    const SCALE: u64 = 0xd80;

    const PAGES: usize = 8;
    #[repr(align(4096))]
    struct Page([u8; PAGE as usize]);

    /// The object as the runtime loads it, a page into an allocation.
    fn loaded() -> (Memory, Vec<Page>, u64) {
        let memory = Memory::of_this_process();
        let pages: Vec<Page> = (0..PAGES).map(|_| Page([0; PAGE as usize])).collect();
        let start = pages[0].0.as_ptr().expose_provenance() as u64;
        let object = OBJECT.as_ptr().expose_provenance() as u64;
        memory.allocated(start, PAGE * PAGES as u64);
        let image = start + PAGE;
        for header in (0..memory.read::<u16>(object + 56)).map(|index| object + 64 + 56 * u64::from(index)) {
            let [offset, address, bytes] = [8, 16, 32].map(|field| memory.read::<u64>(header + field));
            if memory.read::<u32>(header) == 1 {
                memory.copy(object + offset, image + address, bytes);
            }
        }
        (memory, pages, image)
    }

    fn named(name: &str) -> Kernel {
        Kernel::Named(name.to_owned())
    }

    #[test]
    fn a_descriptor_has_the_name_of_its_symbol_without_the_suffix() {
        let (memory, _pages, image) = loaded();
        let mut names = KernelNames::default();
        assert_eq!(*names.of(&memory, image + ADD), named("vector_add"));
        assert_eq!(*names.of(&memory, image + SCALE), named("_Z12vector_scaleILi2EEvPfi"));
        assert_eq!(*names.of(&memory, image + ADD), named("vector_add"));
    }

    #[test]
    fn other_code_in_the_same_place_has_its_own_name() {
        let (memory, _pages, image) = loaded();
        let mut names = KernelNames::default();
        assert_eq!(*names.of(&memory, image + ADD), named("vector_add"));
        let tables = Tables::of(&memory, image).expect("the image has symbols");
        let text = (tables.strings..).find(|&at| text_at(&memory, at, at + 13) == "vector_add.kd");
        memory.write(text.expect("the name is among the strings"), b'V');
        assert_eq!(*names.of(&memory, image + ADD), named("Vector_add"));
    }

    #[test]
    fn code_without_an_image_is_bare_and_an_address_without_a_symbol_unknown() {
        let (memory, _pages, image) = loaded();
        let mut names = KernelNames::default();
        assert_eq!(*names.of(&memory, image - 64), Kernel::Bare);
        assert_eq!(*names.of(&memory, image + ADD + 8), Kernel::Unknown);
        assert_eq!(*names.of(&memory, 64), Kernel::Unknown);
    }
}
