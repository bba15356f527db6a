//! `rocshim compare` on traces of real processes: the same program twice, and with launches removed
//! from the second.

use rocshim_tests::{Outcome, Traced};

fn traced(record: &str) -> Outcome {
    Traced::program("gemm").env("ROCSHIM_RECORD", record).with_shim().ok()
}

fn compare(sides: [&Outcome; 2], options: &[&str]) -> Outcome {
    let files = sides.map(|side| side.trace_files()[0].to_str().unwrap().to_owned());
    Traced::rocshim(["compare"]).args(files).args(options).run()
}

#[test]
fn the_same_program_twice_differs_in_nothing_but_times() {
    let (a, b) = (traced("*"), traced("*"));
    let gate = ["new_kernels > 0", "gone_kernels > 0", "launches != 1x", "solution_changes > 0", "lost > 0"];
    let options: Vec<&str> = gate.iter().flat_map(|condition| ["--fail-if", condition]).collect();
    let printed = compare([&a, &b], &options).ok();
    assert!(
        printed.stdout.starts_with(
            "No GEMM or convolution changed kernel or solver from A to B. 0 kernels new, 0 gone, "
        ),
        "{}",
        printed.stdout
    );
    assert!(
        printed.stderr.is_empty() && printed.stdout.contains("passed  launches != 1x"),
        "{}",
        printed.stderr
    );
    // Another solution is another kernel: one row queries both.
    let json = compare([&a, &b], &["--json"]).ok().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let launches = |side: &str| {
        json["sides"].as_array().unwrap().iter().find(|row| row["side"] == side).unwrap()["launches"].clone()
    };
    assert_eq!(
        (launches("A"), launches("B")),
        (a.trace().launches().count().into(), b.trace().launches().count().into())
    );
}

#[test]
fn excluded_launches_are_never_confirmed_as_gone() {
    let (a, b) = (traced("*"), traced("*,-hip*Launch*"));
    let printed = compare([&a, &b], &["--names", "old,new", "--fail-if", "gone_kernels > 0"]);
    assert_eq!(printed.code, Some(1), "{}", printed.stderr);
    assert!(printed.stdout.contains("ONLY IN old; not in new, limited ("), "{}", printed.stdout);
    assert!(!printed.stdout.contains("confirmed absent (no launch"), "{}", printed.stdout);
    assert!(printed.stderr.starts_with("rocshim: failed: gone_kernels > 0: new has "), "{}", printed.stderr);
    assert!(printed.stderr.contains("were left out by ROCSHIM_RECORD"), "{}", printed.stderr);
}

#[test]
fn traces_that_cannot_be_compared_are_an_error_of_one_sentence() {
    let a = traced("*");
    for (options, sentence) in [
        (&["--fail-if", "launchs > 1"][..], "there is no quantity `launchs`"),
        (&["--names", "a"], "--names has 1 name"),
        (&["/no/such/trace"], "there is no file or folder /no/such/trace"),
        (&["--observer"], "no results that are known"),
    ] {
        let printed = compare([&a, &a], options);
        assert_eq!(printed.code, Some(2), "{options:?}: {}", printed.stderr);
        assert!(
            printed.stderr.contains(sentence) && printed.stderr.lines().count() == 1,
            "{options:?}: {}",
            printed.stderr
        );
    }
}
