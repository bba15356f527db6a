//! The collector's time to convert a launch to its line, beside serde writing the same record: a
//! ratio in one run.

use rocshim_drain::Decoder;
use rocshim_ring::definition::{Definition, StampedDefinition};
use rocshim_ring::kernel::{Argument, KernelCode};
use rocshim_ring::slot::Event;
use rocshim_ring::{Log, LogReader};
use rocshim_trace::{Record, parse_line};
use std::hint::black_box;
use std::time::Instant;

const WAYS: [&str; 4] = ["same", "plain", "varied", "serde"];
const KERNELS: u64 = 10;
const TID: u32 = 4711;
const EVENTS: usize = 1_000_000;

/// Three pointers, an int, a long and a float: offset, size and type of each.
const ARGUMENTS: [(u32, u32, &str); 6] = [
    (0, 8, "float*"),
    (8, 8, "float*"),
    (16, 8, "float*"),
    (24, 4, "int"),
    (32, 8, "long"),
    (40, 4, "float"),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let ways = words.first().map_or(WAYS.to_vec(), |way| vec![way.as_str()]);
    let events = words.get(1).map_or(EVENTS, |count| count.parse().expect("EVENTS is a number"));
    let mut base = None;
    for way in ways {
        let begun = Instant::now();
        let bytes = if way == "serde" { by_serde(events) } else { by_decoder(way, events) };
        let ns = begun.elapsed().as_nanos() as f64 / events as f64;
        let ratio = ns / *base.get_or_insert(ns);
        println!("{way:8} {ns:7.1} ns/event  {:6.1} B/event  {ratio:5.2} x", bytes as f64 / events as f64);
    }
}

fn decoder() -> (Decoder, Vec<u8>) {
    let (mut decoder, mut out) = (Decoder::new(false), Vec::new());
    let argument = |(offset, size, of): (u32, u32, &'static str)| Argument {
        offset,
        size,
        kind: if of.ends_with('*') { "global_buffer" } else { "by_value" }.into(),
        type_name: Some(of.into()),
        ..Argument::default()
    };
    let mut definitions = vec![Definition::Clock { tick_hz: 2_100_000_000 }];
    for kernel in 0..KERNELS {
        let name = format!("kernel_{kernel}").into();
        definitions.push(Definition::Function { function: function(kernel), module: 1, name });
        let code = KernelCode { args: Some(ARGUMENTS.map(argument).into()), ..KernelCode::default() };
        definitions.push(Definition::Code { function: function(kernel), code });
    }
    let log = Log::new(None);
    for definition in definitions {
        log.define(&StampedDefinition { stamp: 0, definition }).expect("memory for a definition");
    }
    LogReader::default().read(&log, |number, bytes| decoder.define(number, bytes, &mut out));
    (decoder, out)
}

fn function(kernel: u64) -> u64 {
    0x55d0_1234_0000 + 64 * kernel
}

/// Launch `number` of a thread, as stored in a ring.
fn words(way: &str, number: u64) -> Vec<u64> {
    let varied = if way == "varied" { number } else { 0 };
    let (kernel, slots) = (number % KERNELS, if way == "plain" { 1 } else { 3 });
    let mut words = vec![0; 8 * slots as usize];
    // A launch; its arguments, hook and ticks.
    words[0] = 0x11 | slots << 8 | 7 << 16 | 5200 << 32;
    words[1] = 1_000_000_000 + 1000 * number;
    words[2] = (number + 1) << 24;
    words[3] = function(kernel);
    words[4] = 0x7f00_dead_0000;
    words[5] = ((128 + varied) % 65_521) | (4 << 32);
    words[6] = 1 | 256 << 32;
    words[7] = 1 | 1 << 16 | 4096 << 32;
    if slots > 1 {
        words[10] = 44 << 48;
        let pointer = |i: u64| 0x7f12_3456_7000 + 4096 * (16 * kernel + i + 8 * varied);
        let passed =
            [pointer(0), pointer(1), pointer(2), 4096, 11_008 * 4096, 0.088_388_35_f32.to_bits().into()];
        words[11..17].copy_from_slice(&passed);
    }
    words
}

fn events(way: &str) -> Vec<Event> {
    (0..10_000).map(|number| Event::from_words(&words(way, number)).expect("a launch")).collect()
}

fn by_decoder(way: &str, count: usize) -> usize {
    let (mut decoder, mut out) = decoder();
    let mut bytes = 0;
    for event in events(way).iter().cycle().take(count) {
        decoder.event(TID, black_box(event), &mut out);
        if out.len() > 1 << 18 {
            bytes += out.len();
            out.clear();
        }
    }
    bytes + out.len()
}

/// The same lines, each parsed into a record before.
fn by_serde(count: usize) -> usize {
    let (mut decoder, mut lines) = decoder();
    lines.clear();
    events("same").iter().for_each(|event| decoder.event(TID, event, &mut lines));
    let records = lines.split(|byte| *byte == b'\n').filter_map(|line| parse_line(line).ok());
    let launches: Vec<Record> = records.filter(|record| matches!(record, Record::Launch(_))).collect();
    let (mut out, mut bytes) = (Vec::new(), 0);
    for record in launches.iter().cycle().take(count) {
        serde_json::to_writer(&mut out, black_box(record)).expect("memory can be written to");
        out.push(b'\n');
        if out.len() > 1 << 18 {
            bytes += out.len();
            out.clear();
        }
    }
    bytes + out.len()
}
