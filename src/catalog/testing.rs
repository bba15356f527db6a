//! Small catalogs for tests: converts JSON to MessagePack, and writes a folder of Tensile files.

use serde_json::{Value, json};
use std::path::Path;

/// Converts a JSON value to MessagePack.
pub fn pack(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    add(value, &mut bytes);
    bytes
}

fn add(value: &Value, into: &mut Vec<u8>) {
    let length = |length: usize| u32::try_from(length).expect("a small catalog").to_be_bytes();
    match value {
        Value::Null => into.push(0xc0),
        Value::Bool(value) => into.push(0xc2 + u8::from(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => {
                into.push(0xd3);
                into.extend(number.to_be_bytes());
            }
            None => {
                into.push(0xcb);
                into.extend(number.as_f64().expect("a number").to_be_bytes());
            }
        },
        Value::String(text) => {
            into.push(0xdb);
            into.extend(length(text.len()));
            into.extend(text.as_bytes());
        }
        Value::Array(values) => {
            into.push(0xdd);
            into.extend(length(values.len()));
            values.iter().for_each(|value| add(value, into));
        }
        Value::Object(map) => {
            into.push(0xdf);
            into.extend(length(map.len()));
            for (key, value) in map {
                add(&Value::String(key.clone()), into);
                add(value, into);
            }
        }
    }
}

/// A row of a catalog: element types in Tensile's names, whether computed in a wider type, the
/// file.
pub type Served<'a> = (&'a str, bool, &'a str);

/// Writes `TensileLibrary_lazy_<target>.dat` that serves `operation`: natively, then by fallback.
pub fn write_catalog(folder: &Path, target: &str, operation: &str, native: &[Served], fallback: &[Served]) {
    let hardware = json!({"type": "AMDGPU", "value": {"type": "Processor", "value": target}});
    let rows = [(hardware, native), (json!({"type": "TruePred"}), fallback)].map(|(predicate, served)| {
        let rows: Vec<Value> = served.iter().map(row).collect();
        json!({"predicate": predicate, "library": {
            "type": "ProblemMap", "property": {"type": "OperationIdentifier"},
            "map": {operation: {"type": "Problem", "rows": rows}},
        }})
    });
    let catalog = json!({"solutions": [], "library": {"type": "Hardware", "rows": rows}});
    let file = folder.join(format!("TensileLibrary_lazy_{target}.dat"));
    std::fs::write(file, pack(&catalog)).expect("a catalog is written");
}

fn row((element, wider, file): &Served) -> Value {
    let predicate = json!({"type": "And", "value": [
        {"type": "TypesEqual", "value": [element, element, element, element]},
        {"type": "HighPrecisionAccumulate", "value": wider},
    ]});
    json!({"predicate": predicate, "library": {"type": "Placeholder", "value": file}})
}

/// A solution: its number, the smallest m that it accepts, its benchmarked size, its speed.
pub type Made = (i64, i64, [i64; 3], f64);

/// Writes a file of solutions whose kernels are `Cijk_<number>`.
pub fn write_solutions(folder: &Path, file: &str, made: &[Made]) {
    let solutions: Vec<Value> = made
        .iter()
        .map(|(index, least, ..)| {
            json!({
                "index": index, "name": format!("Cijk_{index}"), "hardwarePredicate": {"type": "TruePred"},
                "problemPredicate": {"type": "And", "value": [
                    {"type": "StrideAEqual", "index": 0, "value": 1},
                    {"type": "LeadingFree0SizesGreaterOrEqual", "value": least},
                ]},
                "taskPredicate": {"type": "TruePred"}, "sizeMapping": {"workspaceSizePerElemC": 0},
            })
        })
        .collect();
    let table: Vec<Value> = made
        .iter()
        .map(|(index, _, key, speed)| json!({"key": key, "index": index, "speed": speed}))
        .collect();
    let properties = json!([
        {"type": "FreeSizeA", "index": 0}, {"type": "FreeSizeB", "index": 0}, {"type": "BoundSize", "index": 0}
    ]);
    let library = json!({"type": "Problem", "rows": [{"predicate": {"type": "TruePred"}, "library": {
        "type": "Matching", "properties": properties, "table": table, "distance": "Euclidean",
    }}]});
    let bytes = pack(&json!({"solutions": solutions, "library": library}));
    std::fs::write(folder.join(format!("{file}.dat")), bytes).expect("solutions are written");
}
