//! Two validators of the published schema: as published, for any reader, and strict, for what our
//! writer may emit.

use super::validator::Validator;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The schema, parsed.
pub(crate) fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::from_str(rocshim_trace::SCHEMA).expect("the schema is JSON"))
}

/// Valid for any line of the format, with types and keys of later versions.
pub(crate) fn tolerant() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| Validator::new(schema()))
}

/// Valid for our own writer: no type and no key that the schema does not describe.
pub(crate) fn strict() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let mut closed = schema().clone();
        closed["properties"]["type"]["enum"] = types().into_iter().collect();
        // Parts of the events, which have keys of their own.
        let whole = |name: &str| !["call", "problem"].contains(&name);
        for (_, definition) in object_mut(&mut closed["$defs"]).iter_mut().filter(|(name, _)| whole(name)) {
            if definition.get("properties").is_some() {
                definition["unevaluatedProperties"] = json!(false);
            }
        }
        Validator::new(&closed)
    })
}

fn object_mut(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("an object")
}

/// Why `line` is not one that our writer may emit.
pub(crate) fn violation(line: &Value) -> Option<String> {
    strict().violation(line).map(|why| format!("{why}: {line}"))
}

/// The record types with a branch.
pub(crate) fn types() -> BTreeSet<String> {
    let branches = schema()["allOf"].as_array().expect("branches");
    let name = |branch: &Value| branch["if"]["properties"]["type"]["const"].as_str().map(str::to_owned);
    branches.iter().map(|branch| name(branch).expect("a branch is chosen by its type")).collect()
}

/// Every key that the schema describes, as `definition.key`, with its schema.
pub(crate) fn keys() -> Vec<(String, &'static Value)> {
    let definitions = schema()["$defs"].as_object().expect("definitions").iter();
    let of = |(name, definition): (&'static String, &'static Value)| {
        let properties = definition["properties"].as_object().into_iter().flatten();
        properties.map(move |(key, schema)| (format!("{name}.{key}"), schema))
    };
    definitions.flat_map(of).collect()
}
