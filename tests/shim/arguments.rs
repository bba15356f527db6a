//! Kernel arguments are in the trace with the values that the program passed, and kernel metadata
//! are those of the device's code.

use rocshim_tests::{Outcome, Trace, Traced};
use rocshim_trace::{Arg, Kernel, Launch, Record};
use serde_json::Value;

/// A launch as the program printed it: kernel, status, arguments that do not fit, values.
#[derive(Debug, PartialEq)]
struct Said {
    kernel: String,
    status: i32,
    cut: u64,
    values: Vec<Value>,
}

fn said(stdout: &str) -> Vec<Said> {
    let launch = |line: &str| {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().unwrap_or_else(|| panic!("a word is missing: {line}"));
        Said {
            kernel: word().into(),
            status: word().parse().expect("a status"),
            cut: word().parse().expect("a number"),
            values: serde_json::from_str(word()).unwrap_or_else(|e| panic!("{e}: {line}")),
        }
    };
    stdout.lines().map(launch).collect()
}

fn traced(trace: &Trace, launch: &Launch) -> Said {
    // A single-precision number has fewer digits than the program prints.
    let value = |arg: &Arg| match arg {
        Arg::Float(value) => Value::from(f64::from(*value as f32)),
        arg => serde_json::to_value(arg).unwrap(),
    };
    let values = launch.args.iter().map(value).collect();
    Said { kernel: trace.kernel_of(launch), status: launch.call.status, cut: launch.args_cut, values }
}

/// The same with numbers in single precision.
fn rounded(mut said: Said) -> Said {
    for value in &mut said.values {
        if let Some(number) = value.as_f64().filter(|_| value.is_f64()) {
            *value = Value::from(f64::from(number as f32));
        }
    }
    said
}

#[track_caller]
fn assert_as_said(outcome: &Outcome) {
    let trace = outcome.trace();
    let said: Vec<Said> = said(&outcome.stdout).into_iter().map(rounded).collect();
    let traced: Vec<Said> = trace.launches().map(|launch| traced(&trace, launch)).collect();
    assert!(said.len() > 10);
    for (ours, theirs) in traced.iter().zip(&said) {
        assert_eq!(ours, theirs, "in the trace, and as the program passed it");
    }
    assert_eq!(traced.len(), said.len());
}

fn mixed(trace: &Trace) -> &Kernel {
    // The last one: of the fat binary, which has code for several targets.
    trace
        .kernels()
        .filter(|kernel| kernel.name.starts_with("_Z5mixed"))
        .last()
        .expect("the kernel was launched")
}

#[test]
fn arguments_are_recorded_as_they_were_passed_in_every_form() {
    let outcome = Traced::program("arguments").with_shim().ok();
    assert_eq!(outcome.stderr, "handle reused\n", "else the last launch shows nothing");
    assert_as_said(&outcome);
    let trace = outcome.trace();
    let types: Vec<_> =
        mixed(&trace).args.as_ref().unwrap().iter().map(|arg| arg.type_name.as_deref()).collect();
    assert_eq!(types, ["float*", "int", "float", "long", "Triple", "Pair", "Struct"].map(Some));
}

#[test]
fn a_kernel_has_what_its_code_object_says_for_the_device_that_was_asked_about() {
    for (gfx, wavefront) in [("gfx1100", 32), ("gfx900", 64)] {
        let outcome = Traced::program("arguments").arg("ask").env("STANDIN_GFX", gfx).with_shim().ok();
        assert_as_said(&outcome);
        let trace = outcome.trace();
        let devices: Vec<_> = trace.devices().map(|d| (d.ordinal, d.gfx.as_str(), d.how.as_str())).collect();
        assert_eq!(devices, [(0, gfx, "hipGetDevicePropertiesR0600")], "once");
        let kernel = mixed(&trace);
        assert_eq!((kernel.target.as_deref(), kernel.wavefront), (Some(gfx), Some(wavefront)));
        assert_eq!((kernel.vgprs, kernel.sgprs, kernel.lds), (Some(40), Some(18), Some(512)));
        assert_eq!((kernel.kernarg, kernel.max_block, kernel.scratch), (Some(88), Some(1024), Some(0)));
    }
}

#[test]
fn of_several_targets_only_equal_metadata_are_recorded() {
    let outcome = Traced::program("arguments").with_shim().ok();
    let trace = outcome.trace();
    assert_eq!(trace.devices().count(), 0);
    let kernel = mixed(&trace);
    assert_eq!((kernel.target.as_deref(), kernel.wavefront), (None, None), "gfx900 has 64, the others 32");
    assert_eq!((kernel.vgprs, kernel.lds, kernel.kernarg), (Some(40), Some(512), Some(88)));
    // The module has code for one target, which is then the one in use.
    let of_module = trace.kernels().find(|kernel| kernel.name == "large").unwrap();
    assert_eq!((of_module.target.as_deref(), of_module.wavefront), (Some("gfx1100"), Some(32)));
    let objects: Vec<_> =
        trace.code_objects().map(|object| (object.source.as_str(), object.kernels)).collect();
    assert_eq!(objects, [("fat_binary", Some(2)), ("memory", Some(3)), ("memory", Some(1))]);
}

#[test]
fn arguments_can_be_switched_off() {
    let outcome = Traced::program("arguments").env("ROCSHIM_ARGS", "off").with_shim().ok();
    let trace = outcome.trace();
    assert_eq!(trace.launches().count(), said(&outcome.stdout).len());
    assert!(trace.launches().all(|l| l.args.is_empty() && l.args_cut == 0 && l.args_raw.is_empty()));
    assert_eq!(mixed(&trace).vgprs, Some(40), "kernels are recorded nevertheless");
}

#[test]
fn a_launch_in_flight_at_the_kill_has_its_arguments() {
    let whole = Traced::program("arguments").with_shim().ok();
    let (whole_trace, last) = (whole.trace(), 4);
    let outcome = Traced::program("arguments").env("STANDIN_DIE_AT", last.to_string()).with_shim();
    assert_eq!(outcome.signal, Some(9));
    let trace = &outcome.trace_files()[0];
    Traced::rocshim(["recover".as_ref(), trace.as_os_str()]).run().ok();
    let trace = Trace::read(trace);
    let open = trace.records.iter().find_map(|record| match record {
        Record::InFlight(in_flight) => Some(&*in_flight.event),
        _ => None,
    });
    let Some(Record::Launch(open)) = open else { panic!("{open:?} was in flight") };
    let args = |launch: &Launch| launch.args.clone();
    let expected: Vec<_> = whole_trace.launches().take(last).map(args).collect();
    let found: Vec<_> = trace.launches().chain([open]).map(args).collect();
    assert_eq!(found, expected);
    assert_eq!(open.args.len(), 7);
}
