//! How a table is described: once, beside the type of its rows, for every form that shows it (text,
//!
//! lacks, because it follows from others, is marked as [`derived`](Column::derived).

use super::{evidence::Evidence, names, units};

pub struct Table<Row: 'static> {
    /// Its name in JSON, for `--csv`, and on the page.
    pub key: &'static str,
    /// The title above it.
    pub title: &'static str,
    /// What a row is, for `rocshim help tables`.
    pub doc: &'static str,
    /// In the order of text: the last one names the row, or explains it.
    pub columns: &'static [Column<Row>],
}

pub struct Column<Row> {
    head: Head,
    cells: Cells<Row>,
    shown: Shown,
    /// The title that it has instead if a row has something in the column of that key.
    other_title: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// The name of the value in JSON and CSV.
    pub key: &'static str,
    /// The title of the column.
    pub title: &'static str,
    /// What it holds, for `rocshim help tables`.
    pub doc: &'static str,
    /// Its unit or kind.
    pub kind: Kind,
    /// It stands at the right edge of its column.
    pub is_right: bool,
    /// A narrow terminal goes without it.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// Some words.
    Words,
    /// A sentence, which text breaks into lines.
    Sentence,
    /// A name as a program has it.
    Code,
    /// A path, whose end says most.
    Path,
    /// A kernel's name.
    Kernel,
    /// A class of evidence.
    Evidence,
}

impl Kind {
    /// Its name in `rocshim help tables`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Count => "count",
            Kind::Number => "number",
            Kind::Time => "ns",
            Kind::Bytes => "bytes",
            Kind::Share => "0 to 1",
            Kind::Words | Kind::Sentence | Kind::Code => "text",
            Kind::Path => "path",
            Kind::Kernel => "kernel",
            Kind::Evidence => "evidence",
        }
    }
}

enum Cells<Row> {
    One(fn(&Row) -> Cell),
    /// A column for each run, or only for those that are compared with the first one.
    Each {
        from: usize,
        cell: fn(&Row, usize) -> Cell,
    },
}

#[derive(Clone, Copy)]
enum Shown {
    Always,
    /// If a row has something there: not zero, not empty.
    IfAny,
    /// If its rows differ.
    IfDiffers,
    /// On the page, which has the room.
    OnPage,
    /// In text, where the page has it in other columns.
    InText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text and Markdown.
    Text,
    /// The HTML page.
    Page,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Absent,
    /// A number in the column's unit.
    Number(u64),
    /// A part of 1, or a ratio.
    Real(f64),
    /// A number that is shown in words, as `9..512`, and sorted by its value.
    Shown(String, u64),
    /// Words.
    Text(String),
    /// How sure something is, and why, where that needs words.
    Evidence(Evidence, Option<String>),
    /// A kernel by its symbol, and its name as people write it, where that differs.
    Kernel(String, Option<String>),
    /// Kernels with the number of their launches.
    Kernels(Vec<(u64, String, Option<String>)>),
    /// Statements, each with how sure it is where that is not plain.
    Statements(Vec<(String, Option<(Evidence, Option<String>)>)>),
}

#[derive(Debug)]
pub struct Filled {
    /// As in [`Table`].
    pub key: &'static str,
    /// As in [`Table`].
    pub title: &'static str,
    /// The columns.
    pub heads: Vec<FilledHead>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
pub struct FilledHead {
    /// What it is.
    pub head: Head,
    /// Its title, with the run's name where there is a column for each run.
    pub title: String,
    /// Its key, with the run's name where there is a column for each run.
    pub key: String,
}

pub struct Description {
    /// As in [`Table`].
    pub key: &'static str,
    /// As in [`Table`].
    pub doc: &'static str,
    /// As in [`Table`].
    pub heads: Vec<Head>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => {
        impl Head { $(
            $(#[$doc])*
            pub const fn $name(key: &'static str, title: &'static str, doc: &'static str) -> Head {
                Head::new(Kind::$kind, key, title, doc)
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
    const fn new(kind: Kind, key: &'static str, title: &'static str, doc: &'static str) -> Head {
        let is_right = matches!(kind, Kind::Count | Kind::Number | Kind::Time | Kind::Bytes | Kind::Share);
        let is_sum = matches!(kind, Kind::Count | Kind::Time);
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

/// Describes a table: a static [`Table`] of rows of one type.
///
/// A column is `kind("key", "title", "doc") => cell;`, where `cell` is an expression of the row's
/// name that becomes a [`Cell`]; methods of [`Column`] follow the parenthesis. `kind[each run]` and
/// `kind[each_other run]` make a column for each run.
#[macro_export]
macro_rules! table {
    (
        $(#[$meta:meta])*
        $name:ident: $row:ty = $key:literal, $title:literal, $doc:literal;
        |$it:ident|
        $(
            $kind:ident $([$of:ident $run:ident])? ($column:literal, $head:literal, $what:literal)
            $(. $set:ident ($($value:expr),*))* => $cell:expr;
        )*
    ) => {
        $(#[$meta])*
        pub static $name: $crate::table::Table<$row> = $crate::table::Table {
            key: $key,
            title: $title,
            doc: $doc,
            columns: &[$(
                $crate::table!(@column $row, $it, $kind, $column, $head, $what, $cell $(, $of, $run)?)
                    $(.$set($($value),*))*
            ),*],
        };
    };
    (@column $row:ty, $it:ident, $kind:ident, $key:literal, $title:literal, $doc:literal, $cell:expr) => {
        $crate::table::Column::new(
            $crate::table::Head::$kind($key, $title, $doc),
            |$it: &$row| $crate::table::Cell::from($cell),
        )
    };
    (
        @column $row:ty, $it:ident, $kind:ident, $key:literal, $title:literal, $doc:literal, $cell:expr,
        $of:ident, $run:ident
    ) => {
        $crate::table::Column::$of(
            $crate::table::Head::$kind($key, $title, $doc),
            |$it: &$row, $run: usize| $crate::table::Cell::from($cell),
        )
    };
}

impl<Row> Column<Row> {
    /// A column that is always shown.
    pub const fn new(head: Head, cell: fn(&Row) -> Cell) -> Column<Row> {
        Column { head, cells: Cells::One(cell), shown: Shown::Always, other_title: None }
    }

    /// A column for each run.
    pub const fn each(head: Head, cell: fn(&Row, usize) -> Cell) -> Column<Row> {
        Column { head, cells: Cells::Each { from: 0, cell }, shown: Shown::Always, other_title: None }
    }

    /// A column for each run but the first, which the others are compared with.
    pub const fn each_other(head: Head, cell: fn(&Row, usize) -> Cell) -> Column<Row> {
        Column { head, cells: Cells::Each { from: 1, cell }, shown: Shown::Always, other_title: None }
    }

    /// Shown if a row has something there.
    pub const fn if_any(mut self) -> Self {
        self.shown = Shown::IfAny;
        self
    }

    /// Called `title` if a row has something in the column of this key.
    pub const fn called(mut self, title: &'static str, key: &'static str) -> Self {
        self.other_title = Some((key, title));
        self
    }

    /// Shown if the rows differ.
    pub const fn if_differs(mut self) -> Self {
        self.shown = Shown::IfDiffers;
        self
    }

    /// Shown on the page alone.
    pub const fn on_page(mut self) -> Self {
        self.shown = Shown::OnPage;
        self
    }

    /// Shown in text alone.
    pub const fn in_text(mut self) -> Self {
        self.shown = Shown::InText;
        self
    }

    /// A narrow terminal goes without it.
    pub const fn optional(mut self) -> Self {
        self.head.is_optional = true;
        self
    }

    /// Its values cannot be added.
    pub const fn no_sum(mut self) -> Self {
        self.head.is_sum = false;
        self
    }

    /// It names the row.
    pub const fn name(mut self) -> Self {
        self.head.is_name = true;
        self
    }

    /// JSON does not have it.
    pub const fn derived(mut self) -> Self {
        self.head.is_derived = true;
        self
    }

    /// At the right edge, though words.
    pub const fn right(mut self) -> Self {
        self.head.is_right = true;
        self
    }

    /// At the left edge, though a number.
    pub const fn left(mut self) -> Self {
        self.head.is_right = false;
        self
    }

    /// What text shows where it is absent.
    pub const fn absent(mut self, text: &'static str) -> Self {
        self.head.absent = text;
        self
    }

    fn is_shown(&self, rows: &[&Row], form: Form) -> bool {
        match self.shown {
            Shown::Always => true,
            Shown::IfAny => rows.iter().any(|row| self.has(row)),
            Shown::IfDiffers => rows.windows(2).any(|pair| self.texts(pair[0]) != self.texts(pair[1])),
            Shown::OnPage => form == Form::Page,
            Shown::InText => form == Form::Text,
        }
    }

    fn has(&self, row: &Row) -> bool {
        let Cells::One(cell) = self.cells else { return true };
        !matches!(cell(row), Cell::Absent | Cell::Number(0)) && !self.texts(row).is_empty()
    }

    fn texts(&self, row: &Row) -> String {
        match self.cells {
            Cells::One(cell) => cell(row).text(&self.head),
            Cells::Each { .. } => String::new(),
        }
    }
}

impl<Row> Table<Row> {
    /// The columns that `form` shows of these rows, and their cells; `runs` names the runs where
    /// rows have a column for each.
    pub fn fill(&self, rows: &[&Row], runs: &[&str], form: Form) -> Filled {
        let has = |key: &&str| {
            let of = self.columns.iter().filter(|column| column.head.key == *key);
            of.flat_map(|column| rows.iter().map(move |row| column.has(row))).any(|has| has)
        };
        let shown = self.columns.iter().filter(|column| column.is_shown(rows, form));
        let mut heads = Vec::new();
        let mut cells: Vec<Vec<Cell>> = rows.iter().map(|_| Vec::new()).collect();
        for Column { head, cells: of, other_title, .. } in shown {
            match of {
                Cells::One(of) => {
                    let other = other_title.filter(|(key, _)| has(key)).map(|(_, title)| title);
                    let title = other.unwrap_or(head.title).into();
                    heads.push(FilledHead { head: *head, title, key: head.key.into() });
                    cells.iter_mut().zip(rows).for_each(|(cells, row)| cells.push(of(row)));
                }
                Cells::Each { from, cell } => {
                    for (run, name) in runs.iter().enumerate().skip(*from) {
                        let title = format!("{name} {}", head.title).trim_end().to_owned();
                        heads.push(FilledHead { head: *head, title, key: head.key.replace("RUN", name) });
                        cells.iter_mut().zip(rows).for_each(|(cells, row)| cells.push(cell(row, run)));
                    }
                }
            }
        }
        Filled { key: self.key, title: self.title, heads, rows: cells }
    }

    /// What it says of itself.
    pub fn description(&self) -> Description {
        let heads = self.columns.iter().map(|column| column.head).collect();
        Description { key: self.key, doc: self.doc, heads }
    }
}

impl Cell {
    /// How it reads in text, without colour and in full width.
    pub fn text(&self, head: &Head) -> String {
        match self {
            Cell::Absent => head.absent.into(),
            Cell::Number(number) => match head.kind {
                Kind::Number => number.to_string(),
                Kind::Time => units::time(*number),
                Kind::Bytes => units::bytes(*number),
                _ => units::count(*number),
            },
            Cell::Real(value) => match head.kind {
                Kind::Share => units::percent(*value),
                _ => format!("{value:.1}"),
            },
            Cell::Shown(text, _) | Cell::Text(text) => text.clone(),
            Cell::Evidence(evidence, _) => evidence.to_string(),
            Cell::Kernel(symbol, demangled) => {
                names::tidy(demangled.as_deref().unwrap_or(symbol)).into_owned()
            }
            Cell::Kernels(kernels) => {
                let one = |(launches, symbol, _): &(u64, String, Option<String>)| {
                    format!("{} x {symbol}", units::count(*launches))
                };
                kernels.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Cell::Statements(all) => all.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("; "),
        }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Number(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Cell {
        Cell::Number(number.into())
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        u64::try_from(number).map_or_else(|_| Cell::Text(number.to_string()), Cell::Number)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::Real(value)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Cell {
        Cell::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&rocshim_trace::Word> for Cell {
    fn from(word: &rocshim_trace::Word) -> Cell {
        Cell::Text(word.as_str().into())
    }
}

impl From<Evidence> for Cell {
    fn from(evidence: Evidence) -> Cell {
        Cell::Evidence(evidence, None)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Absent, Into::into)
    }
}
