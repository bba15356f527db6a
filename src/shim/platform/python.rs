//! The Python functions on the calling thread's stack, of CPython 3.11 to 3.14.
//!
//! They are read from the interpreter's own structures, without its lock and without a reference:
//! what is read belongs to the calling thread, whose Python code waits for the call that is being
//! recorded. Where the structures are comes from the interpreter (`_Py_DebugOffsets`, from 3.13 on
//! at the beginning of `_PyRuntime`) or from the headers of the release, and is trusted only where
//! the thread's state has this thread's ids and each object has the type that it must have. So
//! functions are right or absent: absent for other releases, for builds without the interpreter's
//! lock, and in a process with several interpreters.
#![allow(unsafe_code)] // calls three functions of the interpreter

use crate::platform::ids::gettid;
use crate::platform::objects;
use crate::platform::probe::Probe;

/// The most bytes of a table of lines that are read.
const MOST_LINES: u64 = 1 << 20;
/// The most characters of a file's or function's name.
const MOST_CHARACTERS: u64 = 1024;
/// A frame of the interpreter itself: `FRAME_OWNED_BY_CSTACK` of 3.12 and 3.13,
/// `FRAME_OWNED_BY_INTERPRETER` of 3.14.
const OF_INTERPRETER: u8 = 3;

/// A Python function on the stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PythonFrame {
    /// Its source file, as the interpreter names it.
    pub(crate) file: String,
    /// Its qualified name.
    pub(crate) function: String,
    /// The line that runs; 0: not known.
    pub(crate) line: u32,
}

/// Where the fields are, bytes from the beginning of their structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offsets {
    /// Of a thread's state: the innermost frame, or (3.11, 3.12) the pointer to what has it at
    /// `in_cframe`.
    frame: u64,
    in_cframe: Option<u64>,
    thread_id: u64,
    native_thread_id: u64,
    /// Of a frame.
    previous: u64,
    code: u64,
    instruction: u64,
    owner: u64,
    /// Of a code object.
    file: u64,
    name: u64,
    lines: u64,
    first_line: u64,
    bytecode: u64,
    /// Of every object, of bytes and of text.
    kind: u64,
    bytes_length: u64,
    bytes: u64,
    text_state: u64,
    text_length: u64,
    ascii: u64,
    /// Of text with other characters.
    characters: u64,
}

/// From the headers of 3.11: `pycore_frame.h`, `cpython/pystate.h`, `cpython/code.h`.
const OF_3_11: Offsets = Offsets {
    frame: 56,
    in_cframe: Some(8),
    thread_id: 152,
    native_thread_id: 160,
    previous: 48,
    code: 32,
    instruction: 56,
    owner: 69,
    file: 112,
    name: 128,
    lines: 136,
    first_line: 72,
    bytecode: 184,
    kind: 8,
    bytes_length: 16,
    bytes: 32,
    text_state: 32,
    text_length: 16,
    ascii: 48,
    characters: 72,
};

/// From the headers of 3.12.
const OF_3_12: Offsets = Offsets {
    in_cframe: Some(0),
    thread_id: 136,
    native_thread_id: 144,
    previous: 8,
    code: 0,
    owner: 70,
    first_line: 68,
    bytecode: 192,
    ascii: 40,
    characters: 56,
    ..OF_3_11
};

/// The first words of `_Py_DebugOffsets`: cookie, version, whether there is no interpreter lock.
const COOKIE: u64 = u64::from_le_bytes(*b"xdebugpy");
/// Words of `_Py_DebugOffsets` that are read, with those before.
const DEBUG_WORDS: usize = 81;

impl Offsets {
    /// From the words of `_Py_DebugOffsets` of this release: its structures are groups of words,
    /// and 3.14 has some more before each.
    fn of_debug(words: &[u64; DEBUG_WORDS], minor: u32) -> Option<Offsets> {
        let (thread, frame, code, object, bytes, text) = match minor {
            13 => (19, 28, 34, 44, 64, 67),
            14 => (22, 31, 39, 50, 74, 77),
            _ => return None,
        };
        let offsets = Offsets {
            frame: words[thread + 4],
            in_cframe: None,
            thread_id: words[thread + 5],
            native_thread_id: words[thread + 6],
            previous: words[frame + 1],
            code: words[frame + 2],
            instruction: words[frame + 3],
            owner: words[frame + 5],
            file: words[code + 1],
            name: words[code + 3],
            lines: words[code + 4],
            first_line: words[code + 5],
            bytecode: words[code + 9],
            kind: words[object + 1],
            bytes_length: words[bytes + 1],
            bytes: words[bytes + 2],
            text_state: words[text + 1],
            text_length: words[text + 2],
            ascii: words[text + 3],
            characters: words[text + 3] + 16,
        };
        // A group begins with the size of its structure, which holds its fields.
        let holds = |group: usize, fields: &[u64]| {
            (16..4096).contains(&words[group]) && fields.iter().all(|field| *field < words[group])
        };
        let is_plausible = holds(thread, &[offsets.frame, offsets.thread_id, offsets.native_thread_id])
            && holds(frame, &[offsets.previous, offsets.code, offsets.instruction, offsets.owner])
            && holds(code, &[offsets.file, offsets.name, offsets.lines, offsets.first_line])
            && holds(object, &[offsets.kind])
            && holds(text, &[offsets.text_state, offsets.text_length, offsets.ascii]);
        is_plausible.then_some(offsets)
    }
}

/// The interpreter of the process.
struct Interpreter {
    offsets: Offsets,
    minor: u32,
    /// The types of code objects, bytes and text.
    code: u64,
    bytes: u64,
    text: u64,
    /// `PyGILState_GetThisThreadState`, `PyInterpreterState_Head`, `PyInterpreterState_Main`: they
    /// read a word each, and need no lock.
    this_thread: extern "C" fn() -> u64,
    head: extern "C" fn() -> u64,
    main: extern "C" fn() -> u64,
}

/// Finds Python functions. Remembers the interpreter.
#[derive(Default)]
pub(crate) struct Python {
    interpreter: Option<Interpreter>,
    /// The loader's generation when it was looked for.
    generation: Option<u64>,
}

impl Python {
    /// Returns the Python functions on the calling thread's stack, innermost first, at most
    /// `limit`.
    pub(crate) fn frames(&mut self, limit: usize) -> Vec<PythonFrame> {
        let generation = objects::generation();
        if self.interpreter.is_none() && self.generation != Some(generation) {
            self.generation = Some(generation);
            self.interpreter = Interpreter::find();
        }
        let Some(interpreter) = &self.interpreter else { return Vec::new() };
        // With several, the thread's state may be that of another one than the one that runs.
        let main = (interpreter.main)();
        if main == 0 || (interpreter.head)() != main {
            return Vec::new();
        }
        let state = (interpreter.this_thread)();
        let mut stack = Stack { interpreter, probe: Probe::default() };
        stack.frames(state, limit).unwrap_or_default()
    }
}

impl Interpreter {
    fn find() -> Option<Interpreter> {
        let [runtime, version, code, bytes, text, this_thread, head, main] = objects::symbols([
            "_PyRuntime",
            "Py_Version",
            "PyCode_Type",
            "PyBytes_Type",
            "PyUnicode_Type",
            "PyGILState_GetThisThreadState",
            "PyInterpreterState_Head",
            "PyInterpreterState_Main",
        ])?;
        let mut probe = Probe::default();
        let version = probe.word(version)?;
        let (major, minor) = (version >> 24, (version >> 16 & 0xff) as u32);
        let offsets = match (major, minor) {
            (3, 11) => OF_3_11,
            (3, 12) => OF_3_12,
            (3, 13 | 14) => {
                let mut words = [0; DEBUG_WORDS];
                for (at, word) in words.iter_mut().enumerate() {
                    *word = probe.word(runtime + 8 * at as u64)?;
                }
                let has_lock = words[..3] == [COOKIE, version, 0];
                Offsets::of_debug(&words, minor).filter(|_| has_lock)?
            }
            _ => return None,
        };
        // SAFETY: these functions of CPython take nothing and return a pointer, in every release
        // that has them.
        let function = |address: u64| unsafe {
            std::mem::transmute::<*const (), extern "C" fn() -> u64>(address as *const ())
        };
        let [this_thread, head, main] = [this_thread, head, main].map(function);
        Some(Interpreter { offsets, minor, code, bytes, text, this_thread, head, main })
    }
}

/// The stack of a thread.
struct Stack<'a> {
    interpreter: &'a Interpreter,
    probe: Probe,
}

impl Stack<'_> {
    fn frames(&mut self, state: u64, limit: usize) -> Option<Vec<PythonFrame>> {
        let of = &self.interpreter.offsets;
        // SAFETY: `pthread_self` has no preconditions.
        let this = unsafe { libc::pthread_self() };
        let ids = [self.at(state, of.thread_id)?, self.at(state, of.native_thread_id)?];
        if ids != [this, gettid().into()] {
            return None;
        }
        let mut at = self.at(state, of.frame)?;
        if let Some(offset) = of.in_cframe {
            at = self.at(at, offset)?;
        }
        let mut found = Vec::new();
        // Beside each function there may be a frame of the interpreter.
        for _ in 0..2 * limit + 2 {
            if at == 0 || found.len() == limit {
                break;
            }
            match self.frame(at) {
                Some(frame) => found.extend(frame),
                None => break,
            }
            let Some(previous) = self.at(at, of.previous) else { break };
            at = previous;
        }
        Some(found)
    }

    /// The function of a frame, unless it is one of the interpreter or has not begun; `None` for
    /// what is no frame.
    fn frame(&mut self, at: u64) -> Option<Option<PythonFrame>> {
        let of = &self.interpreter.offsets;
        let owner = self.probe.bytes(at + of.owner, 1)?[0];
        if self.interpreter.minor > 11 && owner >= OF_INTERPRETER {
            return Some(None);
        }
        // From 3.14 on the low bits say how the reference is counted.
        let code = self.at(at, of.code)? & !7;
        if self.at(code, of.kind)? != self.interpreter.code {
            return None;
        }
        let instruction = self.at(at, of.instruction)?;
        let unit = instruction.wrapping_sub(code + of.bytecode) as i64 / 2;
        if instruction < code + of.bytecode {
            return Some(None);
        }
        let (file, function) = (self.text(code, of.file)?, self.text(code, of.name)?);
        let first = u32::from_le_bytes(self.probe.bytes(code + of.first_line, 4)?.try_into().ok()?);
        let lines = self.lines(code).unwrap_or_default();
        let line = line_of(&lines, unit as u64, first.into());
        Some(Some(PythonFrame { file, function, line: line.unwrap_or(0) }))
    }

    fn at(&mut self, structure: u64, offset: u64) -> Option<u64> {
        self.probe.word(structure.checked_add(offset).filter(|_| structure != 0)?)
    }

    /// The table of lines of a code object.
    fn lines(&mut self, code: u64) -> Option<Vec<u8>> {
        let of = &self.interpreter.offsets;
        let table = self.at(code, of.lines)?;
        if self.at(table, of.kind)? != self.interpreter.bytes {
            return None;
        }
        let length = self.at(table, of.bytes_length).filter(|length| *length <= MOST_LINES)?;
        self.probe.bytes(table + of.bytes, length as usize)
    }

    /// The text at `offset` of `structure`.
    fn text(&mut self, structure: u64, offset: u64) -> Option<String> {
        let of = &self.interpreter.offsets;
        let text = self.at(structure, offset)?;
        if self.at(text, of.kind)? != self.interpreter.text {
            return None;
        }
        // Bits: 2 interned, 3 bytes per character, compact, ASCII.
        let state = self.at(text, of.text_state)?;
        let (width, is_compact, is_ascii) = (state >> 2 & 7, state >> 5 & 1 == 1, state >> 6 & 1 == 1);
        let length = self.at(text, of.text_length)?.min(MOST_CHARACTERS);
        if !is_compact || !matches!(width, 1 | 2 | 4) {
            return None;
        }
        let from = text + if is_ascii { of.ascii } else { of.characters };
        let bytes = self.probe.bytes(from, (length * width) as usize)?;
        let character = |bytes: &[u8]| {
            let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
            char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        Some(bytes.chunks_exact(width as usize).map(character).collect())
    }
}

/// Returns the line of instruction `unit` by a table of lines (PEP 626, in the form of 3.11), which
/// begins at line `first`; `None`: the instruction has none.
fn line_of(table: &[u8], unit: u64, first: i64) -> Option<u32> {
    let (mut rest, mut line, mut end) = (table.iter().copied(), first, 0_u64);
    let mut head = rest.next();
    while let Some(byte) = head {
        let (form, units) = (byte >> 3 & 15, u64::from(byte & 7) + 1);
        // What belongs to an entry has no high bit.
        let mut entry = Vec::new();
        head = None;
        for byte in rest.by_ref() {
            if byte & 0x80 != 0 {
                head = Some(byte);
                break;
            }
            entry.push(byte);
        }
        line += match form {
            13 | 14 => signed(&entry)?,
            10..=12 => i64::from(form) - 10,
            _ => 0,
        };
        end += units;
        if unit < end {
            return if form == 15 { None } else { u32::try_from(line).ok() };
        }
    }
    None
}

/// Reads a number of groups of six bits, the lowest first; its lowest bit is the sign.
fn signed(bytes: &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 63) << (6 * at);
        if byte & 64 == 0 {
            let size = (value >> 1) as i64;
            return Some(if value & 1 == 1 { -size } else { size });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `def f():\n  g(\n    1)\n`, compiled by 3.11: RESUME, LOAD_GLOBAL, LOAD_CONST, …
    #[test]
    fn a_line_is_found_in_a_table_of_each_form() {
        // No column: line + 1; short form: same line; one line form: + 1; long: − 1; none.
        let table = [
            0x80 | 13 << 3,
            2,
            0x80 | 2,
            0x11,
            0x80 | 11 << 3 | 1,
            4,
            9,
            0x80 | 14 << 3,
            3,
            0,
            1,
            2,
            0x80 | 15 << 3,
        ];
        let lines: Vec<Option<u32>> = (0..9).map(|unit| line_of(&table, unit, 10)).collect();
        let expected = [Some(11), Some(11), Some(11), Some(11), Some(12), Some(12), Some(11), None, None];
        assert_eq!(lines, expected);
        assert_eq!(line_of(&[], 0, 10), None);
        assert_eq!(line_of(&[0x80 | 13 << 3, 0x7f, 0x7f], 0, 10), None, "a number without an end");
    }

    #[test]
    fn offsets_that_no_structure_has_are_refused() {
        let mut words = [8; DEBUG_WORDS];
        for size in [22, 31, 39, 50, 74, 77] {
            words[size] = 200;
        }
        assert!(Offsets::of_debug(&words, 14).is_some());
        assert_eq!(Offsets::of_debug(&words, 13), None);
        assert_eq!(Offsets::of_debug(&words, 15), None);
        words[40] = 300;
        assert_eq!(Offsets::of_debug(&words, 14), None);
    }
}
