//! Reads the dynamic section of a loaded object from memory: the functions that it defines, and the
//! files that it needs. (System V ABI; the GNU hash table as binutils write it and glibc reads it.)
#![allow(unsafe_code)] // walks the tables that the loader itself relies on

use std::ffi::{CStr, c_void};

const DT_NEEDED: u64 = 1;
const DT_SONAME: u64 = 14;
/// Tags of the tables that are read, in the order of `Dynamic::tables`.
const TABLES: [u64; 5] = [5, 6, 0x6fff_fff0, 0x6fff_fef5, 4];
const STRINGS: usize = 0;
const SYMBOLS: usize = 1;
const VERSIONS: usize = 2;
const GNU_HASH: usize = 3;
const HASH: usize = 4;

/// Flag of a symbol's version: another version of the name is the default.
const HIDDEN: u16 = 0x8000;
const STT_NOTYPE: u8 = 0;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;

/// The tables of a loaded object.
pub(crate) struct Dynamic {
    base: u64,
    section: u64,
    /// Addresses in the order of [`TABLES`]; 0 where the object has none.
    tables: [u64; 5],
}

impl Dynamic {
    /// Reads the addresses of the tables.
    ///
    /// # Safety
    /// `section` is the address of the dynamic section of an object loaded at `base`, and the
    /// object stays loaded as long as the result is used.
    pub(crate) unsafe fn new(base: u64, section: u64) -> Dynamic {
        let new = Dynamic { base, section, tables: [0; 5] };
        let tables = TABLES.map(|tag| {
            let value = new.entries().find(|(known, _)| *known == tag).map_or(0, |(_, value)| value);
            // glibc has relocated these addresses, except in a read-only section (the kernel's
            // vDSO).
            if value != 0 && value < base { value + base } else { value }
        });
        Dynamic { tables, ..new }
    }

    fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        let word = |at: u64| read::<u64>(self.section + at);
        (0..).map(move |i| (word(16 * i), word(16 * i + 8))).take_while(|(tag, _)| *tag != 0)
    }

    /// Returns the sonames of the files that the object is linked with, in order.
    pub(crate) fn needed(&self) -> Vec<String> {
        let names =
            self.entries().filter(|(tag, _)| *tag == DT_NEEDED).map(|(_, offset)| self.string(offset));
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// Returns the object's soname.
    pub(crate) fn soname(&self) -> Option<String> {
        let (_, offset) = self.entries().find(|(tag, _)| *tag == DT_SONAME)?;
        Some(self.string(offset).to_string_lossy().into_owned())
    }

    /// Returns the address of function `name` in its default version.
    pub(crate) fn function(&self, name: &str) -> Option<*mut c_void> {
        self.find(name, &[STT_FUNC, STT_NOTYPE]).map(|address| address as *mut c_void)
    }

    /// Returns the address of function or variable `name` in its default version.
    pub(crate) fn symbol_named(&self, name: &str) -> Option<u64> {
        self.find(name, &[STT_FUNC, STT_OBJECT])
    }

    fn find(&self, name: &str, types: &[u8]) -> Option<u64> {
        let has_hash = self.tables[GNU_HASH] != 0;
        let index = if has_hash { self.by_gnu_hash(name, types) } else { self.by_list(name, types) }?;
        Some(self.base + self.symbol(index).st_value)
    }

    /// Finds a symbol by the chain of its bucket in the GNU hash table.
    fn by_gnu_hash(&self, name: &str, types: &[u8]) -> Option<u32> {
        let table = self.tables[GNU_HASH];
        let [buckets, first, bloom_words]: [u32; 3] = std::array::from_fn(|i| read(table + 4 * i as u64));
        let bucket_table = table + 16 + 8 * bloom_words as u64;
        let chains = bucket_table + 4 * buckets as u64;
        let hash = name.bytes().fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
        let mut index: u32 = read(bucket_table + 4 * hash.checked_rem(buckets)? as u64);
        if index < first {
            return None;
        }
        loop {
            let chain: u32 = read(chains + 4 * (index - first) as u64);
            if chain | 1 == hash | 1 && self.is(index, name, types) {
                return Some(index);
            }
            if chain & 1 != 0 {
                return None;
            }
            index += 1;
        }
    }

    /// Searches all symbols, for objects linked without a GNU hash table.
    fn by_list(&self, name: &str, types: &[u8]) -> Option<u32> {
        let table = self.tables[HASH];
        let count = if table == 0 { 0 } else { read(table + 4) };
        (1..count).find(|index| self.is(*index, name, types))
    }

    fn is(&self, index: u32, name: &str, types: &[u8]) -> bool {
        let symbol = self.symbol(index);
        let is_wanted = types.contains(&(symbol.st_info & 15));
        let is_default = || {
            self.tables[VERSIONS] == 0 || read::<u16>(self.tables[VERSIONS] + 2 * index as u64) & HIDDEN == 0
        };
        symbol.st_shndx != 0
            && is_wanted
            && self.string(symbol.st_name.into()).to_bytes() == name.as_bytes()
            && is_default()
    }

    fn symbol(&self, index: u32) -> libc::Elf64_Sym {
        read(self.tables[SYMBOLS] + size_of::<libc::Elf64_Sym>() as u64 * index as u64)
    }

    fn string(&self, offset: u64) -> &CStr {
        // SAFETY: by the contract of `new` the string table is mapped and stays mapped; each of its
        // strings is NUL-terminated.
        unsafe { CStr::from_ptr((self.tables[STRINGS] + offset) as *const _) }
    }
}

/// Reads a value from the tables of a loaded object.
fn read<T: Copy>(at: u64) -> T {
    // SAFETY: `Dynamic` reads only at addresses that the object's own headers give, which the
    // loader has read before, in an object that stays loaded. `T` is an integer or a C structure of
    // integers, valid for every bit pattern.
    unsafe { (at as *const T).read_unaligned() }
}
