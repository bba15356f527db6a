//! What a column is, whatever its table and rows.

/// What a column is, whatever its table.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// The name of the value in JSON and CSV.
    pub key: &'static str,
    /// The title of the column.
    pub title: &'static str,
    /// What it holds, for `rocshim help tables`.
    pub doc: &'static str,
    /// Its unit or kind.
    pub kind: CellKind,
    /// Aligned to the right edge of its column.
    pub is_right: bool,
    /// Omitted on a narrow terminal.
    pub is_optional: bool,
    /// The values of several rows can be added.
    pub is_sum: bool,
    /// It names the row: the page begins with it.
    pub is_name: bool,
    /// JSON does not have it: it follows from what JSON has.
    pub is_derived: bool,
    /// What text shows where it is absent.
    pub absent: &'static str,
}

/// The unit of a number, or what kind of words a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// How many: digits in groups of three.
    Count,
    /// A number that counts nothing: an id, a dimension.
    Number,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// A part of 1.
    Share,
    /// A number that is a multiple of another.
    Ratio,
    /// Some words.
    Words,
    /// A sentence, which text breaks into lines.
    Sentence,
    /// A name as a program has it.
    Code,
    /// A path, whose end is kept.
    Path,
    /// A kernel's name.
    Kernel,
    /// A class of evidence.
    Evidence,
}

impl CellKind {
    /// Its name in `rocshim help tables`.
    pub const fn name(self) -> &'static str {
        match self {
            CellKind::Count => "count",
            CellKind::Number => "number",
            CellKind::Time => "ns",
            CellKind::Bytes => "bytes",
            CellKind::Share => "0 to 1",
            CellKind::Ratio => "ratio",
            CellKind::Words | CellKind::Sentence | CellKind::Code => "text",
            CellKind::Path => "path",
            CellKind::Kernel => "kernel",
            CellKind::Evidence => "evidence",
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => {
        impl Head { $(
            $(#[$doc])*
            pub const fn $name(key: &'static str, title: &'static str, doc: &'static str) -> Head {
                Head::new(CellKind::$kind, key, title, doc)
            }
        )* }
    };
}

kinds! {
    /// A column of counts.
    count Count;
    /// A column of numbers that count nothing.
    number Number;
    /// A column of nanoseconds.
    time Time;
    /// A column of bytes.
    bytes Bytes;
    /// A column of parts of 1.
    share Share;
    /// A column of ratios, with two decimals.
    ratio Ratio;
    /// A column of words.
    words Words;
    /// A column of sentences: the last one of text.
    sentence Sentence;
    /// A column of names as a program has them.
    code Code;
    /// A column of paths: the last one of text.
    path Path;
    /// A column of kernels.
    kernel Kernel;
    /// A column of evidence classes.
    evidence Evidence;
}

impl Head {
    /// A column's head, as columns of this kind usually are.
    const fn new(kind: CellKind, key: &'static str, title: &'static str, doc: &'static str) -> Head {
        let is_right = matches!(
            kind,
            CellKind::Count
                | CellKind::Number
                | CellKind::Time
                | CellKind::Bytes
                | CellKind::Share
                | CellKind::Ratio
        );
        let is_sum = matches!(kind, CellKind::Count | CellKind::Time);
        Head {
            key,
            title,
            doc,
            kind,
            is_right,
            is_optional: false,
            is_sum,
            is_name: false,
            is_derived: false,
            absent: "-",
        }
    }
}
