//! Describes a table once, beside the type of its rows, for every form that shows it (text,
//! Markdown, the HTML page, `rocshim help tables`).
//!
//! A column's key is the name of the value in the row's JSON, and so in CSV. A column that JSON
//! lacks, because it follows from others, is marked as [`derived`](Column::derived).

mod cell;
mod head;

pub use cell::{Cell, Statement};
pub use head::{CellKind, Head};

/// A table: what its rows are, and their columns.
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

/// A column: what it is called and holds, when it is shown, and its cell of each row.
pub struct Column<Row> {
    head: Head,
    cells: Cells<Row>,
    shown: Shown,
    /// The title that it has instead if a row has something in the column of that key.
    other_title: Option<(&'static str, &'static str)>,
}

/// The cells of a column.
enum Cells<Row> {
    One(fn(&Row) -> Cell),
    /// A column for each run, or only for those that are compared with the first one.
    Each {
        from: usize,
        cell: fn(&Row, usize) -> Cell,
    },
}

/// Where and when a column is shown.
#[derive(Clone, Copy)]
enum Shown {
    Always,
    /// On the page; in text if a row has something there: not zero, not empty.
    IfAny,
    /// On the page; in text if its rows differ.
    IfDiffers,
    /// On the page, which has the room.
    OnPage,
    /// In text, where the page has it in other columns.
    InText,
}

/// Who shows a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text and Markdown.
    Text,
    /// The HTML page.
    Page,
}

/// A table with its rows, and the columns that are shown of it.
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

/// A column that is shown.
#[derive(Clone, Debug)]
pub struct FilledHead {
    /// What it is.
    pub head: Head,
    /// Its title, with the run's name where there is a column for each run.
    pub title: String,
    /// Its key, with the run's name where there is a column for each run.
    pub key: String,
}

/// The description of every table, for `rocshim help tables`.
pub struct Description {
    /// As in [`Table`].
    pub key: &'static str,
    /// As in [`Table`].
    pub doc: &'static str,
    /// As in [`Table`].
    pub heads: Vec<Head>,
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

    /// Text shows it if a row has something there.
    pub const fn if_any(mut self) -> Self {
        self.shown = Shown::IfAny;
        self
    }

    /// Called `title` if a row has something in the column of this key.
    pub const fn called(mut self, title: &'static str, key: &'static str) -> Self {
        self.other_title = Some((key, title));
        self
    }

    /// Text shows it if the rows differ.
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

    /// Omitted on a narrow terminal.
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

    /// The page has every column, whatever the rows hold: scripts find the same ones in each.
    fn is_shown(&self, rows: &[&Row], form: Form) -> bool {
        let is_text = form == Form::Text;
        match self.shown {
            Shown::Always => true,
            Shown::IfAny => !is_text || rows.iter().any(|row| self.has(row)),
            Shown::IfDiffers => {
                !is_text || rows.windows(2).any(|pair| self.texts(pair[0]) != self.texts(pair[1]))
            }
            Shown::OnPage => !is_text,
            Shown::InText => is_text,
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

    /// Its description.
    pub fn description(&self) -> Description {
        let heads = self.columns.iter().map(|column| column.head).collect();
        Description { key: self.key, doc: self.doc, heads }
    }
}
