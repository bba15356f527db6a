//! Writes a record as a line. Launches, the bulk of every trace, have a hand-written encoder; all
//! others go through serde.

use crate::{Arg, Call, Launch, OF_KERNEL, Record, StreamRef, digits, dims};

/// Appends `record` and a line end to `out`.
pub fn write_record(out: &mut Vec<u8>, record: &Record) {
    if let Record::Launch(launch) = record {
        return write_launch(out, launch);
    }
    // Writing into memory cannot fail, and all keys are strings.
    let _ = serde_json::to_writer(&mut *out, record);
    out.push(b'\n');
}

/// Appends a launch and a line end to `out`: the line that serde would write, several times faster.
pub fn write_launch(out: &mut Vec<u8>, launch: &Launch) {
    out.reserve(512);
    out.extend_from_slice(br#"{"type":"launch","#);
    call(out, &launch.call);
    if let Some(kernel) = launch.kernel {
        number(out, br#","kernel":"#, kernel.into());
    }
    if let Some(function) = launch.function {
        hex(out, br#","function":""#, function.0);
    }
    if !dims::is_one(&launch.grid) {
        list(out, br#","grid":["#, dims::shown(&launch.grid));
    }
    list(out, br#","block":["#, dims::shown(&launch.block));
    if let Some(items) = &launch.items {
        list(out, br#","items":["#, dims::shown(items));
    }
    if launch.lds != 0 {
        number(out, br#","lds":"#, launch.lds);
    }
    match launch.stream {
        StreamRef::Default => {}
        StreamRef::Id(id) => number(out, br#","stream":"#, id.into()),
    }
    if let Some([start, stop]) = launch.events {
        hex(out, br#","events":[""#, start.0);
        hex(out, br#",""#, stop.0);
        out.push(b']');
    }
    if launch.flags != 0 {
        number(out, br#","flags":"#, launch.flags);
    }
    if launch.cooperative {
        out.extend_from_slice(br#","cooperative":true"#);
    }
    if let Some(capture) = launch.capture {
        number(out, br#","capture":"#, capture.into());
    }
    if !launch.args.is_empty() {
        args(out, &launch.args);
    }
    if launch.args_cut != 0 {
        number(out, br#","args_cut":"#, launch.args_cut);
    }
    if !launch.args_raw.is_empty() {
        out.extend_from_slice(br#","args_raw":""#);
        out.extend_from_slice(launch.args_raw.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"}\n");
}

fn call(out: &mut Vec<u8>, call: &Call) {
    number(out, br#""tid":"#, call.tid.into());
    number(out, br#","id":"#, call.id);
    if let Some(parent) = call.parent {
        number(out, br#","parent":"#, parent);
    }
    number(out, br#","t":"#, call.t);
    number(out, br#","dur":"#, call.dur);
    if call.hook != OF_KERNEL {
        number(out, br#","hook":"#, call.hook.into());
    }
    if call.status != 0 {
        out.extend_from_slice(br#","status":"#);
        integer(out, call.status.into());
    }
    if call.unwound {
        out.extend_from_slice(br#","unwound":true"#);
    }
}

fn args(out: &mut Vec<u8>, args: &[Arg]) {
    let mut before: &[u8] = br#","args":["#;
    for arg in args {
        out.extend_from_slice(before);
        write_arg(out, arg);
        before = b",";
    }
    out.push(b']');
}

/// Appends one argument.
pub fn write_arg(out: &mut Vec<u8>, arg: &Arg) {
    match arg {
        Arg::Integer(value) => integer(out, *value),
        Arg::Hex(value) => hex(out, b"\"", value.0),
        Arg::Bytes(bytes) => {
            out.push(b'"');
            bytes.iter().for_each(|byte| digits::byte(out, *byte));
            out.push(b'"');
        }
        // Writing into memory cannot fail.
        Arg::Float(_) => drop(serde_json::to_writer(&mut *out, arg)),
    }
}

// Inlined, so that the key's length is a constant where it is copied.
#[inline(always)]
fn number(out: &mut Vec<u8>, key: &[u8], value: u64) {
    out.extend_from_slice(key);
    digits::decimal(out, value);
}

#[inline]
fn integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    digits::decimal(out, value.unsigned_abs());
}

/// `key` ends with the opening bracket; the closing one is added.
#[inline(always)]
fn list(out: &mut Vec<u8>, key: &[u8], values: &[u32]) {
    out.extend_from_slice(key);
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        digits::decimal(out, (*value).into());
    }
    out.push(b']');
}

/// `key` ends with the opening quote; the closing one is added.
#[inline(always)]
fn hex(out: &mut Vec<u8>, key: &[u8], value: u64) {
    out.extend_from_slice(key);
    out.extend_from_slice(b"0x");
    digits::hex(out, value);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hex;

    fn values() -> Vec<Arg> {
        let numbers = [0.0, -0.5, 1e-30, f64::MAX, f64::INFINITY].map(Arg::Float);
        let others = [
            Arg::Integer(-3),
            Arg::Integer(0),
            Arg::Hex(Hex(0)),
            Arg::Hex(Hex(u64::MAX)),
            Arg::Bytes([0, 0xf1].into()),
        ];
        numbers.into_iter().chain(others).collect()
    }

    fn launches() -> Vec<Launch> {
        let call =
            Call { tid: 4711, id: 12, parent: None, t: 99, dur: 5, hook: 3, status: 0, unwound: false };
        let plain =
            Launch { call, kernel: Some(8), grid: [4, 1, 1], block: [256, 1, 1], ..Launch::default() };
        let mut full = plain.clone();
        full.call.parent = Some(11);
        full.call.status = -9;
        full.call.unwound = true;
        full.kernel = None;
        full.function = Some(Hex(0));
        full.items = Some([1024, 2, u32::MAX]);
        full.lds = u64::MAX;
        full.stream = StreamRef::Id(u32::MAX);
        full.events = Some([Hex(0x10), Hex(0xffff_ffff_ffff_ffff)]);
        full.flags = 1;
        full.cooperative = true;
        full.capture = Some(u32::MAX);
        full.args_cut = 2;
        full.args = values();
        let mut raw = plain.clone();
        raw.args_raw = "00ff".into();
        raw.call.hook = OF_KERNEL;
        (raw.grid, raw.block) = ([1; 3], [32, 4, 1]);
        vec![plain, full, raw]
    }

    #[test]
    fn the_hand_written_line_is_the_line_that_serde_writes() {
        for launch in launches() {
            let mut by_hand = Vec::new();
            write_launch(&mut by_hand, &launch);
            let mut by_serde = serde_json::to_string(&Record::Launch(launch)).unwrap();
            by_serde.push('\n');
            assert_eq!(String::from_utf8(by_hand).unwrap(), by_serde);
        }
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        for launch in launches() {
            let record = Record::Launch(launch);
            let mut line = Vec::new();
            write_record(&mut line, &record);
            assert_eq!(crate::parse_line(&line).unwrap(), record);
        }
    }
}
