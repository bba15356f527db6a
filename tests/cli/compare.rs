//! `rocshim compare` on traces of real processes: the same program twice, and with launches left out of the second.

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
    let told = compare([&a, &b], &options).ok();
    assert!(
        told.stdout.starts_with(
            "B against A: 0 kernels new, 0 gone; of the products and convolutions 0 took another way\n"
        ),
        "{}",
        told.stdout
    );
    assert!(told.stderr.is_empty() && told.stdout.contains("passed  launches != 1x"), "{}", told.stderr);
    // Another solution is another kernel: one row asks for both.
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
fn launches_that_were_left_out_are_never_gone_for_certain() {
    let (a, b) = (traced("*"), traced("*,-hip*Launch*"));
    let told = compare([&a, &b], &["--names", "old,new", "--fail-if", "gone_kernels > 0"]);
    assert_eq!(told.code, Some(1), "{}", told.stderr);
    assert!(told.stdout.contains("ONLY IN old; not in new, limited ("), "{}", told.stdout);
    assert!(!told.stdout.contains("confirmed absent (no launch"), "{}", told.stdout);
    assert!(told.stderr.starts_with("rocshim: failed: gone_kernels > 0: new has "), "{}", told.stderr);
    assert!(told.stderr.contains("were left out by ROCSHIM_RECORD"), "{}", told.stderr);
}

#[test]
fn what_cannot_be_compared_is_told_in_one_sentence_with_a_code_of_its_own() {
    let a = traced("*");
    for (options, sentence) in [
        (&["--fail-if", "launchs > 1"][..], "there is no quantity `launchs`"),
        (&["--names", "a"], "--names has 1 name"),
        (&["/no/such/trace"], "cannot open /no/such/trace"),
        (&["--observer"], "no results that are known"),
    ] {
        let told = compare([&a, &a], options);
        assert_eq!(told.code, Some(2), "{options:?}: {}", told.stderr);
        assert!(
            told.stderr.contains(sentence) && told.stderr.lines().count() == 1,
            "{options:?}: {}",
            told.stderr
        );
    }
}
