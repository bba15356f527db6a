//! The lines of `rocshim summary --replay` equal those that the libraries print when logging is on.

use rocshim_tests::artifacts;
use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::{self, Bench, HIP6, HIP7};
use std::collections::BTreeMap;
use std::process::Command;

/// A program's name and its options; `-m 64` is `m` → `64`, one without a value has none.
type Options = (String, BTreeMap<String, String>);

/// `./rocblas-bench -f gemm -m 64 --any_stride` as its options.
fn options(line: &str) -> Options {
    let mut words = line.split_whitespace().peekable();
    let program = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_string();
    let is_option =
        |word: &str| word.starts_with('-') && !word[1..].starts_with(|c: char| c.is_ascii_digit());
    let (mut options, mut plain) = (BTreeMap::new(), Vec::new());
    while let Some(word) = words.next() {
        match is_option(word) {
            true => {
                let value = words.next_if(|next| !is_option(next)).unwrap_or_default();
                options.insert(word.trim_start_matches('-').to_string(), value.to_string());
            }
            false => plain.push(word),
        }
    }
    (format!("{program} {}", plain.join(" ")), options)
}

/// The lines that the program's libraries print, and those of `summary --replay` for its trace.
fn lines(bench: &Bench, program: &std::path::Path, name: &str) -> (Vec<Options>, Vec<Options>) {
    let (out, err, code) = run(bench.traced().arg(program));
    assert_eq!(code, Some(0), "{out}{err}");
    let of = |text: &str| {
        let found = text.lines().filter_map(|line| Some(&line[line.find(name)?..]));
        found.map(options).collect::<Vec<_>>()
    };
    let printed = of(&(out + &err));
    let mut command = Command::new(artifacts::command());
    let (page, errors, code) = run(command.args(["summary", "--replay"]).arg(bench.folder().join("out")));
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{page}");
    (printed, of(&page))
}

/// Every line of ours is one of theirs, in all our options except `but_for`; returns how many of
/// theirs are not in ours.
#[track_caller]
fn assert_printed(printed: &[Options], ours: &[Options], but_for: &[&str]) -> usize {
    let says = |theirs: &Options, ours: &Options| {
        let mut own = ours.1.iter().filter(|(option, _)| !but_for.contains(&option.as_str()));
        theirs.0 == ours.0 && own.all(|(option, value)| theirs.1.get(option) == Some(value))
    };
    for line in ours {
        assert!(printed.iter().any(|theirs| says(theirs, line)), "{line:#?} is none of {printed:#?}");
    }
    printed.iter().filter(|theirs| !ours.iter().any(|ours| says(theirs, ours))).count()
}

/// Not recorded.
const SCALARS: [&str; 2] = ["alpha", "beta"];

#[test]
fn products_of_rocblas() {
    let bench = Bench::new(&HIP6, "gfx1100").env("ROCBLAS_LAYER", "2");
    let (printed, ours) = lines(&bench, &HIP6.program("rocblas_gemm"), "rocblas-bench");
    // Four succeed; the fifth has a negative size.
    assert_eq!((printed.len(), ours.len()), (5, 4));
    assert_eq!(assert_printed(&printed, &ours, &SCALARS), 1);
}

#[test]
fn products_of_hipblaslt() {
    let bench = Bench::new(&HIP7, "gfx1201").env("HIPBLASLT_LOG_MASK", "32");
    let (printed, ours) = lines(&bench, &HIP7.program("hipblaslt_matmul"), "hipblaslt-bench");
    // Each of six with a given algorithm, and with the library's choice.
    assert_eq!(ours.len(), 12, "{ours:#?}");
    let given: Vec<Options> =
        ours.iter().filter(|(_, options)| options["algo_method"] == "index").cloned().collect();
    assert_eq!(given.len(), 6);
    // With one matrix, its stride does not matter.
    let strides = ["stride_a", "stride_b", "stride_c", "stride_d"];
    let but_for: Vec<&str> = SCALARS.into_iter().chain(strides).collect();
    assert_printed(&printed, &given, &but_for);
    let batched: Vec<Options> =
        given.into_iter().filter(|(_, options)| options["batch_count"] != "1").collect();
    assert_eq!(batched.len(), 1);
    assert_printed(&printed, &batched, &SCALARS);
}

#[test]
fn convolutions_of_miopen() {
    let bench = Bench::new(&HIP6, "gfx1100");
    let found = bench.folder().join("found");
    let bench = bench
        .env("MIOPEN_ENABLE_LOGGING_CMD", "1")
        .env("MIOPEN_USER_DB_PATH", found)
        .env("MIOPEN_CUSTOM_CACHE_DIR", rocm::made_here("miopen"))
        .env("NULL_GPU_KERNEL_NS", "20000")
        .env("CCC_OVERRIDE_OPTIONS", "#X-isystem");
    let (printed, ours) = lines(&bench, &HIP6.program("miopen_conv"), "MIOpenDriver");
    assert!(ours.len() >= 3, "one a direction at least: {ours:#?}");
    // In immediate mode MIOpen prints the requested solver; our line of a run by algorithm has
    // none.
    assert_printed(&printed, &ours, &["S"]);
}
