//! Phases and marks set through `include/rocshim.h` are in the trace; without the shim the calls do
//! nothing, however the program was compiled.

use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rocshim_trace::{Mark, Record, SHIM_LIBRARY, parse_line};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `ACTION [LEVEL] [TEXT]` of each mark, in order, of the thread that made the first, or of the
/// others.
fn printed(trace: &Trace, by_first: bool) -> Vec<String> {
    let mut marks: Vec<&Mark> = trace.marks().collect();
    marks.sort_by_key(|mark| mark.call.t);
    let first = marks[0].call.tid;
    let word = |mark: &&Mark| {
        let level = mark.level.map(|level| format!(" {level}")).unwrap_or_default();
        let text = mark.text.as_ref().map(|text| format!(" {text:?}")).unwrap_or_default();
        format!("{}{level}{text}{}", mark.action, if mark.cut { " cut" } else { "" })
    };
    marks.iter().filter(|mark| (mark.call.tid == first) == by_first).map(word).collect()
}

fn phases() -> Vec<String> {
    let wide = format!("mark {:?} cut", "y".repeat(432));
    [
        "pop -1",
        "push 0 \"step\"",
        "push 1 \"forward\"",
        "pop 1",
        "mark \"half-way\"",
        "mark",
        &wide,
        "pop 0",
        "pop -1",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn phases_and_marks_have_their_place_among_the_launches_and_their_functions_are_not_hooks() {
    let bare = Traced::program("rocshim_api").run().ok();
    let outcome = Traced::program("rocshim_api").with_shim().ok();
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), (bare.stdout.as_str(), ""));
    let trace = outcome.trace();
    assert_eq!(printed(&trace, true), phases());
    assert_eq!(printed(&trace, false), ["push 0 \"backward\"", "pop 0"]);
    let at = |action: &str, level| trace.marks().find(|m| m.action == action && m.level == level).unwrap();
    let launch = trace.launches().next().unwrap();
    assert!(at("push", Some(1)).call.t < launch.call.t && launch.call.t < at("pop", Some(1)).call.t);

    // Neither the hook list nor the coverage counts them.
    let file = outcome.trace_files().remove(0);
    let shown = |words: &[&str]| Traced::rocshim(words).run().ok().stdout;
    let functions = shown(&["hooks", "--json"]);
    let listed = shown(&["hooks", "--json", file.to_str().unwrap()]);
    let summary = shown(&["summary", file.to_str().unwrap()]);
    for text in [&functions, &listed, &summary] {
        assert!(!text.contains("rocshim_mark") && !text.contains(SHIM_LIBRARY), "{text}");
    }
    shown(&["verify", file.to_str().unwrap()]);
}

#[test]
fn a_mark_before_any_call_of_rocm_begins_the_trace() {
    let program =
        compile(&["cc"], "c", "int main(void) { rocshim_mark(\"alone\"); return rocshim_recording() - 1; }");
    let outcome = Traced::command(&program.1).with_shim().ok();
    assert_eq!(printed(&outcome.trace(), true), ["mark \"alone\""]);
}

#[test]
fn asking_whether_it_records_starts_nothing() {
    let program =
        compile(&["cc"], "c", "int main(void) { return 10 * rocshim_recording() + rocshim_flush(); }");
    let code = |set: &dyn Fn(Traced) -> Traced| {
        let outcome = set(Traced::command(&program.1)).with_shim();
        assert!(outcome.trace_files().is_empty() && !outcome.folder().join("out").exists());
        outcome.code
    };
    assert_eq!(code(&|traced| traced), Some(10));
    assert_eq!(code(&|traced| traced.env("ROCSHIM_OFF", "1")), Some(0));
    assert_eq!(code(&|traced| traced.env("ROCSHIM_START", "off")), Some(0));
    assert_eq!(code(&|traced| traced.env("ROCSHIM_SKIP", "*")), Some(0));
}

#[test]
fn phases_are_counted_when_nothing_is_recorded_too() {
    let say = |name: &str, value: &str| {
        let outcome = Traced::program("rocshim_api").arg("say").env(name, value).with_shim().ok();
        outcome.stdout.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(say("ROCSHIM_ARGS", "on"), "recording 1, levels -1 0 1 1 0 -1");
    assert_eq!(say("ROCSHIM_OFF", "1"), "recording 0, levels -1 0 1 1 0 -1");
    assert_eq!(say("ROCSHIM_START", "off"), "recording 0, levels -1 0 1 1 0 -1");
    let bare = Traced::program("rocshim_api").arg("say").run().ok();
    assert_eq!(bare.stdout.lines().last(), Some("recording 0, levels -1 -1 -1 -1 -1 -1"));
}

#[test]
fn after_a_flush_everything_is_in_the_file() {
    for variables in [&[][..], &[("ROCSHIM_COMPRESS", "zstd")], &[("ROCSHIM_ROTATE_MIB", "0.01")]] {
        let program =
            variables.iter().fold(Traced::program("rocshim_api").arg("wait"), |p, (k, v)| p.env(k, v));
        let mut running = program.start();
        let said: Vec<String> = (0..5).map(|_| running.answer()).collect();
        assert_eq!(said[3..], ["flush 0", "recording 1, levels -1 0 1 1 0 -1"]);
        let mut marks = 0;
        for file in running.trace_files() {
            // The file itself, without the contents of the rings.
            let bytes = std::fs::File::open(&file).unwrap();
            let mut text = String::new();
            let mut lines = rocshim_drain::lines_of(&file, bytes).unwrap();
            // A compressed file that is still written has no end.
            let _ = std::io::Read::read_to_string(&mut lines, &mut text);
            marks += text
                .lines()
                .filter(|line| matches!(parse_line(line.as_bytes()), Ok(Record::Mark(_))))
                .count();
        }
        assert_eq!(marks, phases().len() + 2, "{variables:?}");
        running.finish().ok();
    }
}

#[test]
fn a_flush_that_cannot_be_is_an_errno() {
    let flush = |traced: Traced| {
        let stdout = traced.env_remove("STANDIN_LOG").with_shim().ok().stdout;
        stdout.lines().last().unwrap_or_default().to_owned()
    };
    let recorder = Traced::program("rocshim_api").env("ROCSHIM_FULL", "overwrite");
    assert_eq!(flush(recorder), "flush 95", "ENOTSUP");
    let limited = ["-c".into(), "ulimit -f 0; exec \"$0\"".into(), artifacts::program("rocshim_api")];
    let unwritable = Traced::command(Path::new("/bin/sh")).args(limited);
    assert_eq!(flush(unwritable), "flush 5", "EIO");
    let forked = compile(
        &["cc", "-std=gnu11"],
        "c",
        "#include <sys/wait.h>\n#include <unistd.h>\n#include <stdio.h>\nint main(void)\n{\n    int status;\n    rocshim_mark(\"parent\");\n    if (!fork()) {\n        int before = rocshim_flush();\n        rocshim_mark(\"child\");\n        _exit(before + rocshim_flush());\n    }\n    wait(&status);\n    printf(\"flush %d\\n\", status);\n    return 0;\n}",
    );
    assert_eq!(
        flush(Traced::command(&forked.1)),
        "flush 0",
        "a child has a trace and a collector of its own"
    );
}

#[test]
fn a_flush_gives_up_after_a_second() {
    // The collector's output buffer is written in the program's time.
    let slow = compile(
        &["cc", "-std=gnu11", "-rdynamic", "-D_GNU_SOURCE"],
        "c",
        "#include <dlfcn.h>\n#include <stdio.h>\n#include <time.h>\n#include <sys/types.h>\n#include <unistd.h>\n\
         static volatile int slow;\n\
         ssize_t pwrite64(int file, const void *from, size_t bytes, off_t at)\n\
         {\n    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, \"pwrite64\");\n    \
         if (slow)\n        usleep(2500000);\n    return real(file, from, bytes, at);\n}\n\
         static long long now(void)\n{\n    struct timespec at;\n    clock_gettime(CLOCK_MONOTONIC, &at);\n    return at.tv_sec * 1000000000LL + at.tv_nsec;\n}\n\
         int main(void)\n{\n    rocshim_mark(\"begins\");\n    int first = rocshim_flush();\n    slow = 1;\n    \
         rocshim_mark(\"waits\");\n    long long begin = now();\n    int second = rocshim_flush();\n    long long end = now();\n    slow = 0;\n    \
         printf(\"flush %d %d after %d s\\n\", first, second, (int)((end - begin) / 1000000000));\n    return 0;\n}",
    );
    let outcome = Traced::command(&slow.1).with_shim().ok();
    assert_eq!(outcome.stdout, "flush 0 110 after 1 s\n", "ETIMEDOUT");
    assert_eq!(
        printed(&outcome.trace(), true),
        ["mark \"begins\"", "mark \"waits\""],
        "nothing is lost by it"
    );
}

/// Compiles `main` after the header; returns the folder and the program in it.
fn compile(compiler: &[&str], extension: &str, main: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("source").with_extension(extension);
    std::fs::write(&source, format!("#include \"rocshim.h\"\n{main}\n")).expect("a source");
    let program = folder.path().join("program");
    let mut command = Command::new(compiler[0]);
    command
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(artifacts::root().join("include"));
    let output = command.arg(&source).arg("-o").arg(&program).output().expect("a compiler");
    assert!(output.status.success(), "{compiler:?}: {}", String::from_utf8_lossy(&output.stderr));
    (folder, program)
}

#[test]
fn the_header_compiles_and_finds_the_shim_however_a_program_is_built() {
    let main = "int main(void)\n{\n    int level = rocshim_phase_begin(\"x\");\n    rocshim_mark(\"y\");\n    rocshim_phase_end();\n    return 2 * rocshim_recording() + level + rocshim_flush();\n}";
    let c = ["-std=c89 -pedantic", "-std=c11 -pedantic -O2"];
    let cpp = ["-std=c++98 -pedantic", "-std=c++20 -pedantic -O2"];
    let kinds = [
        "",
        "-fno-pie -no-pie",
        "-fno-pie -no-pie -Wl,-z,now",
        "-fPIE -pie -Wl,-z,now",
        "-fno-plt",
        "-masm=intel",
        "-flto",
    ];
    for (compiler, extension, standards) in [("cc", "c", c), ("c++", "cpp", cpp)] {
        for (standard, kind) in standards.iter().flat_map(|standard| kinds.map(|kind| (standard, kind))) {
            let line = format!("{compiler} {standard} {kind}");
            let (_folder, program) = compile(&line.split_whitespace().collect::<Vec<_>>(), extension, main);
            assert_eq!(Traced::command(&program).run().code, Some(255), "-1 without the shim: {line}");
            let outcome: Outcome = Traced::command(&program).with_shim();
            assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
            assert_eq!(printed(&outcome.trace(), true), ["push 0 \"x\"", "mark \"y\"", "pop 0"], "{line}");
        }
    }
}

#[test]
fn a_plug_in_that_is_opened_locally_finds_the_shim_too() {
    let plugin = compile(
        &["cc", "-shared", "-fPIC", "-Wl,-z,now"],
        "c",
        "int run(void) { return rocshim_phase_begin(\"in a plug-in\"); }",
    );
    let main = format!(
        "#include <dlfcn.h>\nint main(void)\n{{\n    void *plugin = dlopen(\"{}\", RTLD_NOW | RTLD_LOCAL);\n    return ((int (*)(void))dlsym(plugin, \"run\"))();\n}}",
        plugin.1.display()
    );
    let program = compile(&["cc", "-std=gnu11"], "c", &main);
    let outcome = Traced::command(&program.1).with_shim().ok();
    assert_eq!(printed(&outcome.trace(), true), ["push 0 \"in a plug-in\""]);
}

/// The example in `samples/README.md`.
fn python_example() -> String {
    let readme = std::fs::read_to_string(artifacts::root().join("samples/README.md")).expect("a README");
    let (_, phases) = readme.split_once("## Phases and marks of a program").expect("a section");
    let (_, rest) = phases.split_once("```python\n").expect("an example in Python");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn the_example_in_python_works_with_the_shim_and_without() {
    let python = || Traced::command(Path::new("/usr/bin/env")).args(["python3", "-c", &python_example()]);
    assert_eq!(python().run().ok().stderr, "");
    let trace = python().with_shim().ok().trace();
    assert_eq!(printed(&trace, true), ["push 0 \"forward\"", "pop 0", "mark \"epoch 1\""]);
}
