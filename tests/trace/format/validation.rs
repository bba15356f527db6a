//! The schema describes every record type and key that the writer knows, the reader accepts what
//! the schema allows, and the validator rejects invalid lines.

use super::records;
use super::traces::recorded;
use crate::trace::schema;
use rocshim_trace::{Conv, ConvResult, Record, parse_line, write_record};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn as_value(record: &Record) -> Value {
    let mut line = Vec::new();
    write_record(&mut line, record);
    serde_json::from_slice(&line).unwrap()
}

#[test]
fn every_record_type_has_a_branch_and_every_branch_a_record_type() {
    let written: BTreeSet<String> =
        records::every().iter().map(|record| records::name(record).into()).collect();
    assert_eq!(written, schema::types());
    for record in records::every() {
        assert_eq!(as_value(&record)["type"], records::name(&record));
        assert_eq!(schema::violation(&as_value(&record)), None);
    }
}

#[test]
fn every_key_of_the_schema_is_one_that_the_writer_knows_and_is_described() {
    let mut written = BTreeSet::new();
    records::every().iter().for_each(|record| keys_of(&as_value(record), &mut written));
    for (key, of) in schema::keys() {
        let name = key.split_once('.').unwrap().1;
        assert!(written.contains(name), "no record writes {key}");
        assert!(of["description"].as_str().is_some_and(|text| text.ends_with('.')), "{key} is not described");
    }
}

fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            keys.insert(key.clone());
            keys_of(value, keys);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys_of(item, keys)),
        _ => {}
    }
}

#[test]
fn every_example_of_the_schema_is_valid_and_of_its_own_type() {
    for name in schema::types() {
        let examples = schema::schema()["$defs"][&name]["examples"]
            .as_array()
            .unwrap_or_else(|| panic!("{name} has none"));
        for example in examples {
            assert_eq!(example["type"], name);
            assert_eq!(schema::violation(example), None);
        }
    }
}

#[test]
fn every_record_that_is_written_can_be_read_back() {
    for time_ms in [f32::MAX, f32::INFINITY, f32::NAN] {
        let result = ConvResult { time_ms: Some(time_ms), ..ConvResult::default() };
        let conv = Conv { action: "find".into(), returned: 1, results: vec![result], ..Conv::default() };
        let mut line = Vec::new();
        write_record(&mut line, &Record::Conv(conv.into()));
        parse_line(&line).unwrap_or_else(|e| panic!("a result of {time_ms} ms: {e}"));
    }
}

#[test]
fn a_type_or_key_from_the_future_is_valid_for_a_reader_and_not_for_our_writer() {
    for line in [
        json!({"type": "from_the_future", "x": [1]}),
        json!({"type": "thread", "tid": 1, "produced": 0, "written": 0, "lost": 0, "new": true}),
    ] {
        assert!(schema::tolerant().is_valid(&line), "{line}");
        assert!(!schema::strict().is_valid(&line), "{line}");
        assert!(parse_line(line.to_string().as_bytes()).is_ok(), "{line}");
    }
}

#[test]
fn a_line_with_one_thing_wrong_is_not_valid() {
    #[rustfmt::skip]
    let wrong: &[(&str, &str, Value)] = &[
        // of type, at, inserted
        ("header",      "/format",         json!(2)),
        ("header",      "/epoch",          json!(1_795_257_251_469_997_351u64)),
        ("header",      "/clock",          json!("sundial")),
        ("header",      "/env/LD_PRELOAD", json!(1)),
        ("library",     "/build_id",       json!("CC32")),
        ("hook",        "/state",          json!("broken")),
        ("hook",        "/id",             json!(65_536)),
        ("code_object", "/source",         json!("air")),
        ("code_object", "/targets",        json!([])),
        ("kernel",      "/code_object",    json!("3")),
        ("stream",      "/id",             json!(0)),
        ("stream",      "/handle",         json!("0x0")),
        ("launch",      "/stream",         json!(94_055_812_609_952u64)),
        ("launch",      "/stream",         json!("0x7f00")),
        ("launch",      "/stream",         json!(0)),
        ("launch",      "/t",              json!(1.5)),
        ("launch",      "/t",              json!(9_007_199_254_740_992u64)),
        ("launch",      "/dur",            json!(-1)),
        ("launch",      "/status",         json!(0)),
        ("launch",      "/unwound",        json!(false)),
        ("launch",      "/grid",           json!([1, 1, 1, 1])),
        ("launch",      "/block",          json!([])),
        ("launch",      "/function",       json!("0x7f00")),
        ("gemm",        "/trans_a",        json!("n")),
        ("gemm",        "/a/ptr",          json!("0X7F")),
        ("gemm",        "/a/type",         json!("float")),
        ("gemm",        "/stream",         json!("0x0")),
        ("gemm",        "/atomics",        json!("perhaps")),
        ("matmul",      "/epilogue",       json!("softmax")),
        ("matmul",      "/a/order",        json!("diagonal")),
        ("matmul",      "/instance",       json!("0x1")),
        ("blas",        "/action",         json!("ask")),
        ("blas",        "/handle",         json!("0x0")),
        ("conv",        "/x/dims",         json!([])),
        ("conv",        "/action",         json!("search")),
        ("conv",        "/direction",      json!("sideways")),
        ("span",        "/datatype",       json!("float")),
        ("span",        "/comm",           json!("0x0")),
        ("mark",        "/action",         json!("scribble")),
        ("mark",        "/level",          json!(0.5)),
        ("load",        "/action",         json!("reload")),
        ("gap",         "/reason",         json!("bad luck")),
        ("gap",         "/lost",           json!(0)),
        ("in_flight",   "/event/dur",      json!(1)),
        ("in_flight",   "/event/status",   json!(9)),
        ("in_flight",   "/event/type",     json!("gap")),
        ("thread",      "/written",        json!("734")),
        ("footer",      "/end",            json!("bang")),
        ("footer",      "/calls",          json!([[15]])),
    ];
    for (kind, at, put) in wrong {
        let mut line = recorded()
            .iter()
            .flat_map(|trace| &trace.lines)
            .find(|line| line["type"] == *kind)
            .unwrap()
            .clone();
        assert!(schema::tolerant().is_valid(&line), "before: {line}");
        let (parent, key) = at.rsplit_once('/').unwrap();
        line.pointer_mut(parent).unwrap()[key] = put.clone();
        assert!(!schema::tolerant().is_valid(&line), "{put} at {at} went through: {line}");
    }
}

#[test]
fn null_is_valid_nowhere() {
    for record in records::every() {
        let line = as_value(&record);
        for at in places(&line) {
            let mut wrong = line.clone();
            *wrong.pointer_mut(&at).unwrap() = Value::Null;
            assert!(!schema::tolerant().is_valid(&wrong), "null at {at} went through: {line}");
        }
    }
}

#[test]
fn what_the_schema_lets_be_absent_the_reader_can_do_without() {
    let mut required = 0;
    for record in records::every() {
        let line = as_value(&record);
        for at in places(&line).into_iter().filter(|at| !at.ends_with(|c: char| c.is_ascii_digit())) {
            let mut without = line.clone();
            let (parent, key) = at.rsplit_once('/').unwrap();
            without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
            let read = parse_line(without.to_string().as_bytes());
            let valid = schema::tolerant().is_valid(&without);
            assert!(!valid || read.is_ok(), "valid without {at}, but the reader says {read:?}: {line}");
            required += usize::from(!valid);
        }
    }
    assert!(required > 100, "only {required} keys were missed");
}

/// A JSON pointer to every value inside `value`.
fn places(value: &Value) -> Vec<String> {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (format!("/{key}"), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, value)| (format!("/{i}"), value)).collect(),
        _ => Vec::new(),
    };
    inside
        .iter()
        .flat_map(|(at, value)| {
            let deeper = places(value).into_iter().map(move |rest| format!("{at}{rest}"));
            std::iter::once(at.clone()).chain(deeper).collect::<Vec<_>>()
        })
        .collect()
}
