//! A Tensile solution file: which of its solutions can solve a problem, and which one its table of
//! benchmarked sizes selects (`MatchingLibrary.hpp` and `PropertyMatching.hpp` of Tensile).

use crate::{Product, msgpack::Value, predicate::Asked, predicate::Predicate};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The solutions of a file, and how one is selected.
#[derive(Clone, Debug)]
pub struct Solutions {
    solutions: HashMap<i64, Solution>,
    choice: Choice,
}

#[derive(Clone, Debug)]
struct Solution {
    name: String,
    hardware: Predicate,
    problem: Predicate,
    /// True when it checks the workspace before it is selected.
    checks_workspace: bool,
    /// Bytes of workspace per element of D.
    workspace: i64,
}

/// How a solution is selected.
#[derive(Clone, Debug)]
enum Choice {
    /// Selects the first row whose condition holds and that has a solution.
    Rows(Vec<(Predicate, Choice)>),
    Table(Table),
    One(i64),
    /// A kind of library that is not evaluated here, by its name.
    Other(String),
}

/// Benchmarked sizes (m, n, k) in ascending order, each with its fastest solution.
#[derive(Clone, Debug)]
struct Table {
    rows: Vec<Row>,
    /// `Euclidean`, or another distance, which is not evaluated here.
    distance: String,
    /// The key is (m, n, k).
    is_plain: bool,
}

#[derive(Clone, Debug)]
struct Row {
    key: Vec<i64>,
    solution: i64,
    speed: f64,
}

/// Counts of a file's solutions by whether they can solve a problem.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counted {
    /// Distinct solutions in the table.
    pub solutions: usize,
    /// Those whose conditions all hold.
    pub fit: usize,
    /// Those with a condition that the trace cannot decide.
    pub undecided: usize,
    /// Those that a condition excludes, by the first one that does not hold.
    pub excluded: BTreeMap<String, usize>,
}

/// The solution that the table selects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// Tensile's number.
    pub index: i64,
    /// The kernel's name.
    pub kernel: String,
    /// The benchmarked size (m, n, k) for which it was selected; empty without a table.
    pub size: Vec<i64>,
    /// True when the benchmarked size is the problem's own.
    pub exact: bool,
    /// The file's other solutions that fit.
    pub others: usize,
}

impl Solutions {
    pub(crate) fn read(file: &Value) -> Option<Solutions> {
        let mut solutions = HashMap::new();
        for value in file.get("solutions")?.array()? {
            let (index, solution) = Solution::read(value)?;
            solutions.insert(index, solution);
        }
        Some(Solutions { solutions, choice: Choice::read(file.get("library")?)? })
    }

    /// Returns the number of solutions in the file.
    pub fn len(&self) -> usize {
        self.solutions.len()
    }

    /// Returns true for a file without solutions.
    pub fn is_empty(&self) -> bool {
        self.solutions.is_empty()
    }

    /// Returns true when a solution of the file has this kernel name.
    pub fn has_kernel(&self, name: &str) -> bool {
        self.solutions.values().any(|solution| solution.name == name)
    }

    /// Counts the solutions that can solve `product` on `target`.
    pub fn count(&self, product: &Product, target: &str) -> Counted {
        let mut named = BTreeSet::new();
        let asked = Asked { product, target };
        self.choice.named(asked, &mut named);
        let mut counted = Counted { solutions: named.len(), ..Counted::default() };
        for index in named {
            let Some(solution) = self.solutions.get(&index) else {
                counted.undecided += 1;
                continue;
            };
            match solution.fits(asked) {
                Some(true) => counted.fit += 1,
                None => counted.undecided += 1,
                Some(false) => {
                    let why = solution.excluded_by(asked).unwrap_or_else(|| "the GPU".into());
                    *counted.excluded.entry(why).or_default() += 1;
                }
            }
        }
        counted
    }

    /// Returns the solution that the library would select for `product` on `target`; `Ok(None)` for
    /// none.
    ///
    /// # Errors
    /// Why it cannot be known.
    pub fn choose(&self, product: &Product, target: &str) -> Result<Option<Chosen>, String> {
        let found = self.choice.find(self, Asked { product, target })?;
        let others = self.count(product, target).fit;
        Ok(found.map(|(index, size)| Chosen {
            index,
            kernel: self.solutions.get(&index).map(|solution| solution.name.clone()).unwrap_or_default(),
            exact: size == product.sizes[..3],
            size,
            others: others.saturating_sub(1),
        }))
    }
}

impl Solution {
    fn read(value: &Value) -> Option<(i64, Solution)> {
        let index = value.get("index")?.integer()?;
        let task = value.get("taskPredicate").and_then(|task| task.get("type")).and_then(Value::text);
        let mapping = value.get("sizeMapping");
        let workspace = mapping.and_then(|map| map.get("workspaceSizePerElemC")).and_then(Value::integer);
        let stream_k = mapping.and_then(|map| map.get("streamK")).and_then(Value::integer).unwrap_or(0);
        let solution = Solution {
            name: value.get("name")?.text()?.to_owned(),
            hardware: Predicate::read(value.get("hardwarePredicate")?)?,
            problem: Predicate::read(value.get("problemPredicate")?)?,
            checks_workspace: task.is_some_and(|task| task != "TruePred"),
            // Stream-K's need depends on the number of compute units.
            workspace: if stream_k > 0 { i64::MAX } else { workspace.unwrap_or(0) },
        };
        Some((index, solution))
    }

    fn fits(&self, asked: Asked) -> Option<bool> {
        let workspace = (!self.checks_workspace || self.workspace == 0).then_some(true);
        let all = [self.hardware.holds(asked), self.problem.holds(asked), workspace];
        if all.contains(&Some(false)) {
            return Some(false);
        }
        all.iter().all(Option::is_some).then_some(true)
    }

    fn excluded_by(&self, asked: Asked) -> Option<String> {
        self.problem.first_unmet(asked)
    }
}

/// A solution's number and the size for which it was selected.
type Found = Option<(i64, Vec<i64>)>;

impl Choice {
    fn read(value: &Value) -> Option<Choice> {
        let kind = value.get("type")?.text()?;
        Some(match kind {
            "Problem" | "Hardware" => {
                let rows = value.get("rows")?.array()?.iter().map(|row| {
                    Some((Predicate::read(row.get("predicate")?)?, Choice::read(row.get("library")?)?))
                });
                Choice::Rows(rows.collect::<Option<_>>()?)
            }
            "Single" => Choice::One(value.get("index")?.integer()?),
            "Matching" => Choice::Table(Table::read(value)?),
            other => Choice::Other(other.to_owned()),
        })
    }

    fn find(&self, file: &Solutions, asked: Asked) -> Result<Found, String> {
        match self {
            Choice::Rows(rows) => {
                for (predicate, choice) in rows {
                    match predicate.holds(asked) {
                        Some(false) => {}
                        None => return Err("a row's condition tests what the trace does not have".into()),
                        Some(true) => {
                            if let Some(found) = choice.find(file, asked)? {
                                return Ok(Some(found));
                            }
                        }
                    }
                }
                Ok(None)
            }
            Choice::One(index) => Ok(file.fits(*index, asked)?.then(|| (*index, Vec::new()))),
            Choice::Table(table) => table.find(file, asked),
            Choice::Other(kind) => Err(format!("it chooses by `{kind}`, which is not read")),
        }
    }

    /// Returns the solutions that it can select for a problem.
    fn named(&self, asked: Asked, into: &mut BTreeSet<i64>) {
        match self {
            Choice::Rows(rows) => {
                let open = rows.iter().filter(|(predicate, _)| predicate.holds(asked) != Some(false));
                open.for_each(|(_, choice)| choice.named(asked, into));
            }
            Choice::One(index) => drop(into.insert(*index)),
            Choice::Table(table) => into.extend(table.rows.iter().map(|row| row.solution)),
            Choice::Other(_) => {}
        }
    }
}

impl Solutions {
    fn fits(&self, index: i64, asked: Asked) -> Result<bool, String> {
        let solution = self.solutions.get(&index).ok_or("the table names a solution that is not there")?;
        let unknown = "a solution's condition tests what the trace does not have";
        solution.fits(asked).ok_or_else(|| unknown.into())
    }
}

impl Table {
    fn read(value: &Value) -> Option<Table> {
        let properties = value.get("properties")?.array()?;
        let named = |property: &Value| {
            let name = property.get("type").and_then(Value::text)?;
            Some((name.to_owned(), property.get("index").and_then(Value::integer).unwrap_or(0)))
        };
        let names: Vec<_> = properties.iter().map(named).collect::<Option<_>>()?;
        let plain = ["FreeSizeA", "FreeSizeB", "BoundSize"].map(|name| (name.to_owned(), 0));
        let rows = value.get("table")?.array()?.iter().map(Row::read).collect::<Option<Vec<_>>>()?;
        let distance = match value.get("distance")? {
            Value::Text(name) => (*name).to_owned(),
            map => map.get("type")?.text()?.to_owned(),
        };
        let is_sorted = rows.is_sorted_by(|a, b| a.key <= b.key);
        let has_all = rows.iter().all(|row| row.key.len() == 3);
        Some(Table { rows, distance, is_plain: names == plain && is_sorted && has_all })
    }

    /// Searches from the position of the problem's size to the right, then to the left, until no
    /// row can be nearer by its first number; of equally near rows the faster one wins.
    fn find(&self, file: &Solutions, asked: Asked) -> Result<Found, String> {
        if self.distance != "Euclidean" || !self.is_plain {
            return Err(format!("its table is searched by `{}`, which is not computed", self.distance));
        }
        let key = &asked.product.sizes[..3];
        let start = self.rows.partition_point(|row| row.key.as_slice() < key);
        let mut best: Option<(&Row, f64)> = None;
        let mut fits: HashMap<i64, bool> = HashMap::new();
        let (left, right) = self.rows.split_at(start);
        for side in [&mut right.iter() as &mut dyn Iterator<Item = &Row>, &mut left.iter().rev()] {
            for row in side {
                let first = (key[0] - row.key[0]) as f64;
                if best.is_some_and(|(_, distance)| first * first >= distance && row.key != key) {
                    break;
                }
                let distance = row.distance(key);
                let nearer = best.is_none_or(|(other, least)| {
                    distance < least || (distance == least && row.speed > other.speed)
                });
                if nearer {
                    let fit = match fits.get(&row.solution) {
                        Some(fit) => *fit,
                        None => file.fits(row.solution, asked)?,
                    };
                    fits.insert(row.solution, fit);
                    if fit {
                        best = Some((row, distance));
                    }
                }
            }
        }
        Ok(best.map(|(row, _)| (row.solution, row.key.clone())))
    }
}

impl Row {
    fn read(value: &Value) -> Option<Row> {
        let key = value.get("key")?.array()?.iter().map(Value::integer).collect::<Option<Vec<_>>>()?;
        let speed = match value.get("speed")? {
            Value::Float(speed) => *speed,
            number => number.integer()? as f64,
        };
        let solution = match value.get("index") {
            Some(index) => index.integer()?,
            None => value.get("value")?.get("index")?.integer()?,
        };
        Some(Row { key, solution, speed })
    }

    fn distance(&self, key: &[i64]) -> f64 {
        self.key.iter().zip(key).map(|(a, b)| ((b - a) as f64).powi(2)).sum()
    }
}
