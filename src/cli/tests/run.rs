//! `rocshim run` as its users see it. The C library takes the place of the shim: it can be
//! preloaded and does nothing.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

/// A library that every process loads anyway.
fn harmless_shim() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with("/libc.so.6")).expect("the C library is mapped");
    PathBuf::from(&line[line.find('/').unwrap()..])
}

fn rocshim(out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rocshim"));
    command.env_remove("LD_PRELOAD").env_remove("ROCSHIM_OUT").env("ROCSHIM_LIB", harmless_shim());
    command.args(["run", "-o"]).arg(out).arg("--");
    command
}

fn shell(out: &Path, script: &str) -> Output {
    rocshim(out).args(["sh", "-c", script]).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn input_output_and_exit_code_are_the_programs() {
    let scratch = tempfile::tempdir().unwrap();
    let mut child = rocshim(scratch.path())
        .args(["sh", "-c", "cat; exit 42"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"in and out").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(42), "in and out"));
    assert!(text(&output.stderr).starts_with("rocshim: no trace in "), "{}", text(&output.stderr));
}

#[test]
fn a_program_that_dies_by_a_signal_takes_rocshim_with_it() {
    use std::os::unix::process::ExitStatusExt;
    let scratch = tempfile::tempdir().unwrap();
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("ABRT", 6), ("PIPE", 13), ("USR1", 10)] {
        let output = shell(scratch.path(), &format!("kill -{name} $$"));
        assert_eq!(output.status.signal(), Some(number), "{name}: {}", text(&output.stderr));
        assert!(!output.status.core_dumped());
    }
}

#[test]
fn the_program_gets_the_shim_and_an_absolute_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let shim = harmless_shim().canonicalize().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rocshim"))
        .current_dir(scratch.path())
        .env("LD_PRELOAD", "libm.so.6")
        .env("ROCSHIM_LIB", "/no/such/shim")
        .args(["run", "-q", "-o", "a/b", "--shim"])
        .arg(&shim)
        .args(["sh", "-c", "echo $LD_PRELOAD; echo $ROCSHIM_OUT"])
        .output()
        .unwrap();
    let folder = scratch.path().canonicalize().unwrap().join("a/b");
    let expected = format!("{}:libm.so.6\n{}\n", shim.display(), folder.display());
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn what_cannot_be_run_is_reported_as_a_shell_tells_it() {
    let scratch = tempfile::tempdir().unwrap();
    let answer = |program: &str| {
        let output = rocshim(scratch.path()).arg(program).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(
        answer("no-such-program"),
        (Some(127), "rocshim: no-such-program: command not found\n".into())
    );
    let plain = scratch.path().join("plain");
    fs::write(&plain, "no program").unwrap();
    let plain = plain.to_str().unwrap();
    assert_eq!(answer(plain), (Some(126), format!("rocshim: {plain} cannot be executed\n")));
    fs::set_permissions(plain, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        answer(plain),
        (Some(126), format!("rocshim: {plain} cannot be executed: Exec format error\n"))
    );
}

#[test]
fn a_folder_that_cannot_be_written_stops_before_the_program_starts() {
    let scratch = tempfile::tempdir().unwrap();
    let (taken, proof) = (scratch.path().join("taken"), scratch.path().join("proof"));
    fs::write(&taken, "").unwrap();
    let output = rocshim(&taken.join("traces")).arg("touch").arg(&proof).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    let sentence = text(&output.stderr);
    assert!(sentence.starts_with("rocshim: cannot create the output folder "), "{sentence}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    assert!(!proof.exists());
}

#[test]
fn a_signal_from_another_program_reaches_the_program() {
    let scratch = tempfile::tempdir().unwrap();
    let ready = scratch.path().join("ready");
    let script = r#"trap 'echo got TERM; exit 7' TERM; touch "$0"; while :; do sleep 0.05; done"#;
    let child = rocshim(scratch.path())
        .args(["sh", "-c", script])
        .arg(&ready)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !ready.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(7), "got TERM\n"));
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let scratch = tempfile::tempdir().unwrap();
    // The shell ignores SIGHUP and starts rocshim, as nohup does; the program sends itself one and
    // survives.
    let output = Command::new("sh")
        .args(["-c", r#"trap '' HUP; exec "$0" run -q -o "$1" -- sh -c 'kill -HUP $$; echo alive'"#])
        .arg(env!("CARGO_BIN_EXE_rocshim"))
        .arg(scratch.path())
        .env("ROCSHIM_LIB", harmless_shim())
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "alive\n", "{}", text(&output.stderr));
}

#[test]
fn an_ollama_client_is_warned_about() {
    let scratch = tempfile::tempdir().unwrap();
    let ollama = scratch.path().join("ollama");
    fs::copy("/bin/true", &ollama).unwrap();
    let output = rocshim(scratch.path()).arg(&ollama).args(["run", "llama3"]).output().unwrap();
    let said = text(&output.stderr);
    assert!(said.starts_with("rocshim: `ollama run` is only a client of the Ollama server"), "{said}");
    assert!(said.contains("`rocshim run -- ollama serve`"), "{said}");
    assert_eq!(output.status.code(), Some(0));
}
