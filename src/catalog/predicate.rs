//! Tensile's conditions on a problem (`ContractionProblemPredicates.hpp`, Tensile 4.33 to 4.43):
//! evaluates them as far as the trace has what they test.

use crate::{Product, msgpack::Value};

/// A condition, or several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Predicate {
    True,
    False,
    And(Vec<Predicate>),
    Or(Vec<Predicate>),
    Not(Box<Predicate>),
    /// A hardware condition: the target's name.
    Target(String),
    Leaf(Leaf),
}

/// A single condition, by Tensile's name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) name: String,
    index: i64,
    value: Datum,
}

/// The operand of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    Absent,
    Bool(bool),
    Number(i64),
    Word(String),
    Words(Vec<String>),
    /// `DUorMT0`, `DUorMT1`, `ShiftPtrElemA`, `ShiftPtrElemB`.
    Fields([i64; 4]),
}

/// The product and target that conditions are evaluated for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) product: &'a Product,
    /// `gfx1100`.
    pub(crate) target: &'a str,
}

/// Largest offset in bytes that a buffer instruction reaches.
const OFFSETS: i128 = 1 << 32;

impl Predicate {
    pub(crate) fn read(value: &Value) -> Option<Predicate> {
        let name = value.get("type")?.text()?;
        let inner = value.get("value");
        let all = || inner?.array()?.iter().map(Predicate::read).collect::<Option<Vec<_>>>();
        Some(match name {
            "TruePred" => Predicate::True,
            "FalsePred" => Predicate::False,
            "And" => Predicate::And(all()?),
            "Or" => Predicate::Or(all()?),
            "Not" => Predicate::Not(Box::new(Predicate::read(inner?)?)),
            "AMDGPU" => Predicate::read(inner?)?,
            "Processor" | "TargetProcessor" => Predicate::Target(inner?.text()?.to_owned()),
            _ => Predicate::Leaf(Leaf {
                name: name.to_owned(),
                index: value.get("index").and_then(Value::integer).unwrap_or(0),
                value: Datum::read(inner)?,
            }),
        })
    }

    /// Evaluates the condition; `None`: unknown.
    pub(crate) fn holds(&self, asked: Asked) -> Option<bool> {
        match self {
            Predicate::True => Some(true),
            Predicate::False => Some(false),
            Predicate::And(all) => fold(all, asked, false),
            Predicate::Or(all) => fold(all, asked, true),
            Predicate::Not(inner) => inner.holds(asked).map(|holds| !holds),
            Predicate::Target(target) => Some(target == asked.target),
            Predicate::Leaf(leaf) => leaf.holds(asked.product),
        }
    }

    /// Returns the first condition that does not hold, in words.
    pub(crate) fn first_unmet(&self, asked: Asked) -> Option<String> {
        match self {
            Predicate::And(all) => all.iter().find_map(|one| one.first_unmet(asked)),
            Predicate::Leaf(leaf) if leaf.holds(asked.product) == Some(false) => Some(leaf.in_words()),
            Predicate::Leaf(_) => None,
            other => (other.holds(asked) == Some(false)).then(|| "a combined condition".to_owned()),
        }
    }

    /// Returns the conditions that all must hold.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        match self {
            Predicate::And(all) => all.iter().flat_map(Predicate::leaves).collect(),
            Predicate::Leaf(leaf) => vec![leaf],
            _ => Vec::new(),
        }
    }
}

/// Evaluates all (`any`: one of them) in three-valued logic.
fn fold(all: &[Predicate], asked: Asked, any: bool) -> Option<bool> {
    let mut result = Some(!any);
    for one in all {
        match one.holds(asked) {
            Some(holds) if holds == any => return Some(any),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

impl Datum {
    fn read(value: Option<&Value>) -> Option<Datum> {
        Some(match value {
            None | Some(Value::Nothing) => Datum::Absent,
            Some(Value::Bool(value)) => Datum::Bool(*value),
            Some(Value::Integer(value)) => Datum::Number(*value),
            Some(Value::Text(text)) => Datum::Word((*text).to_owned()),
            Some(Value::Array(values)) => {
                let words = values.iter().map(|value| value.text().map(str::to_owned));
                words.collect::<Option<_>>().map_or(Datum::Absent, Datum::Words)
            }
            Some(map @ Value::Map(_)) => {
                let names = ["DUorMT0", "DUorMT1", "ShiftPtrElemA", "ShiftPtrElemB"];
                let fields = names.map(|name| map.get(name).and_then(Value::integer));
                match fields {
                    [Some(a), Some(b), Some(c), Some(d)] => Datum::Fields([a, b, c, d]),
                    _ => Datum::Absent,
                }
            }
            Some(Value::Float(_)) => Datum::Absent,
        })
    }
}

impl Leaf {
    /// The words of a condition with several operands.
    pub(crate) fn words(&self) -> Option<&[String]> {
        if let Datum::Words(words) = &self.value { Some(words) } else { None }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        if let Datum::Bool(flag) = self.value { Some(flag) } else { None }
    }

    fn holds(&self, product: &Product) -> Option<bool> {
        let [m, n, k, batch] = product.sizes;
        let [lda, ldb, ldc, ldd] = product.leading;
        let at = usize::try_from(self.index).ok()?;
        // The strides of a column-major matrix; the batch stride is not tested.
        let stride = |ld: i64| [1, ld].get(at).copied();
        let first = |size: i64| (at == 0).then_some(size);
        Some(match (self.name.as_str(), &self.value) {
            ("OperationIdentifierEqual", Datum::Word(word)) => *word == product.operation,
            ("TypesEqual", Datum::Words(types)) => *types == product.types,
            ("HighPrecisionAccumulate", Datum::Bool(value)) => *value == product.high_precision,
            ("StridedBatched", Datum::Bool(value)) => *value == product.strided,
            ("DeterministicMode", Datum::Bool(value)) => *value == product.deterministic?,
            ("F32XdlMathOp", Datum::Word(word)) => (word == "XFloat32") == product.xf32?,
            // Set for 8-bit floats only, which are not in our types.
            ("StochasticRounding", Datum::Bool(value)) => !*value,
            // rocBLAS leaves both at `Any` unless a variable overrides them.
            ("KernelLanguageCompatible" | "ArithmeticUnitCompatible", _) => true,
            ("StrideAEqual", Datum::Number(value)) => stride(lda)? == *value,
            ("StrideBEqual", Datum::Number(value)) => stride(ldb)? == *value,
            ("StrideCEqual", Datum::Number(value)) => stride(ldc)? == *value,
            ("StrideDEqual", Datum::Number(value)) => stride(ldd)? == *value,
            ("LDCEqualsLDD", _) => ldc == ldd,
            ("LeadingFree0SizesGreaterOrEqual", Datum::Number(value)) => m >= *value,
            ("LeadingFree1SizesGreaterOrEqual", Datum::Number(value)) => n >= *value,
            ("Free0SizeMultiple", Datum::Number(value)) => is_multiple(first(m)?, *value)?,
            ("Free1SizeMultiple", Datum::Number(value)) => is_multiple(first(n)?, *value)?,
            ("BoundSizeMultiple", Datum::Number(value)) => is_multiple(k, *value)?,
            ("BatchSizeMultiple", Datum::Number(value)) => is_multiple(first(batch)?, *value)?,
            ("BatchSizeEqual", Datum::Number(value)) => first(batch)? == *value,
            ("GlobalSplitUCheckMinK", Datum::Number(value)) => k >= *value,
            ("SizeEqual" | "ProblemSizeEqual", Datum::Number(value)) => *product.size(at)? == *value,
            ("SizeGreaterThan", Datum::Number(value)) => *product.size(at)? > *value,
            ("SizeLessThan", Datum::Number(value)) => *product.size(at)? < *value,
            ("SizeMultiple", Datum::Number(value)) => is_multiple(*product.size(at)?, *value)?,
            ("MaxProblemSizeGreaterThan", Datum::Number(value)) => m.max(n).max(k).max(batch) > *value,
            ("BufferLoadOffsetLimitCheck", Datum::Fields([du0, du1, shift_a, shift_b])) => {
                reach(lda, *du0, *shift_a, product.bytes[0]) < OFFSETS
                    && reach(ldb, *du1, *shift_b, product.bytes[1]) < OFFSETS
            }
            ("BufferStoreOffsetLimitCheck", Datum::Number(tile)) => {
                reach(ldd, *tile, 0, product.bytes[2]) < OFFSETS
            }
            _ => return None,
        })
    }

    fn in_words(&self) -> String {
        let index = self.index;
        match (self.name.as_str(), &self.value) {
            ("LeadingFree0SizesGreaterOrEqual", Datum::Number(least)) => format!("m of {least} or more"),
            ("LeadingFree1SizesGreaterOrEqual", Datum::Number(least)) => format!("n of {least} or more"),
            ("GlobalSplitUCheckMinK", Datum::Number(least)) => format!("k of {least} or more"),
            ("Free0SizeMultiple", Datum::Number(unit)) => format!("m a multiple of {unit}"),
            ("Free1SizeMultiple", Datum::Number(unit)) => format!("n a multiple of {unit}"),
            ("BoundSizeMultiple", Datum::Number(unit)) => format!("k a multiple of {unit}"),
            ("StridedBatched", Datum::Bool(true)) => "matrices given by strides".to_owned(),
            ("StridedBatched", Datum::Bool(false)) => "matrices given as an array of pointers".to_owned(),
            ("DeterministicMode", Datum::Bool(false)) => "atomics allowed".to_owned(),
            ("DeterministicMode", Datum::Bool(true)) => "atomics not allowed".to_owned(),
            ("BufferLoadOffsetLimitCheck", _) => "A and B within 4 GiB of offsets".to_owned(),
            ("BufferStoreOffsetLimitCheck", _) => "D within 4 GiB of offsets".to_owned(),
            (name, Datum::Number(value)) => format!("{name}[{index}] {value}"),
            (name, Datum::Bool(value)) => format!("{name} {value}"),
            (name, Datum::Word(word)) => format!("{name} {word}"),
            (name, Datum::Words(words)) => format!("{name} {}", words.join(" ")),
            (name, _) => name.to_owned(),
        }
    }
}

impl Product {
    /// By index: i, j, k (batch), l (bound).
    fn size(&self, at: usize) -> Option<&i64> {
        [0, 1, 3, 2].get(at).map(|at: &usize| &self.sizes[*at])
    }
}

fn is_multiple(size: i64, unit: i64) -> Option<bool> {
    size.checked_rem(unit).map(|rest| rest == 0)
}

/// Returns the bytes from a matrix's beginning that a tile reaches.
fn reach(leading: i64, tile: i64, shift: i64, bytes: i64) -> i128 {
    (i128::from(leading) * i128::from(tile) + i128::from(shift)) * i128::from(bytes)
}
