//! The real ROCm user space on the null GPU: programs that run in it, and what they run on.
//!
//! ```no_run
//! use rocshim_tests::real::{self, device};
//!
//! real::prepare();
//! let log = std::path::Path::new("/tmp/device.log");
//! let status = real::command("gfx1100", log).arg(real::program("hip_module")).arg(real::code_object()).status();
//! assert!(status.unwrap().success());
//! assert_eq!(device::kernels(log)["vector_add"], 1);
//! ```

pub mod device;
pub mod server;

use crate::artifacts;
use crate::gguf::{self, Quantisation};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn script() -> PathBuf {
    artifacts::root().join("scripts/real-rocm")
}

/// Fetches and unpacks the user space, if that has not been done before. Everything else here needs it.
///
/// # Panics
/// When it cannot be had; the script's own sentence says why.
#[track_caller]
pub fn prepare() {
    tree();
}

/// The folder of the user space, which is fetched if need be.
pub fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        said(Command::new(script()).arg("prepare"));
        said(Command::new(script()).arg("path")).trim().into()
    })
}

/// A command in the user space: add the program and its arguments. The null GPU is a `gfx` and appends to `log`.
///
/// Variables are set for the script too, which is harmless; but `LD_PRELOAD` is not: let the program be `env LD_PRELOAD=…`.
pub fn command(gfx: &str, log: &Path) -> Command {
    let mut command = Command::new(script());
    command.args(["exec", "--gfx", gfx, "--log"]).arg(log).arg("--");
    command
}

/// A program of `tests/programs/real`, linked against the real libraries that its `// link:` line names.
pub fn program(name: &str) -> PathBuf {
    let source = artifacts::root().join("tests/programs/real").join(name).with_extension("c");
    let text = fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    let libraries = text.lines().find_map(|line| line.strip_prefix("// link: ")).unwrap_or_default();
    let program = fs::canonicalize(made_here()).expect("the folder was made").join(name);
    let unfinished = program.with_extension(std::process::id().to_string());
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-Wall", "-Wextra", "-Wl,--allow-shlib-undefined", "-o"])
        .arg(&unfinished)
        .arg(&source);
    compiler.args(libraries.split(' ').map(library));
    said(&mut compiler);
    fs::rename(&unfinished, &program).expect("a program is renamed in its folder");
    program
}

fn library(name: &str) -> PathBuf {
    let file = match name {
        "amdhip64" => "libamdhip64.so.6",
        "rocblas" => "librocblas.so.4",
        other => panic!("no library is known as {other}"),
    };
    tree().join("usr/lib/x86_64-linux-gnu").join(file)
}

/// The code object of the kernels in `vectors.hip`: `vector_add` and `_Z12vector_scaleILi2EEvPfi`, for gfx1100.
pub fn code_object() -> PathBuf {
    artifacts::root().join("tests/programs/real/vectors-gfx1100.co")
}

/// The tiny model, written on the first call.
pub fn model(quantisation: Quantisation) -> PathBuf {
    static WRITTEN: OnceLock<[PathBuf; 2]> = OnceLock::new();
    let write = |name: &str, quantisation| {
        let path = fs::canonicalize(made_here()).expect("the folder was made").join(name);
        let unfinished = path.with_extension(std::process::id().to_string());
        gguf::write_model(&unfinished, quantisation).expect("a model is written");
        fs::rename(&unfinished, &path).expect("a model is renamed in its folder");
        path
    };
    let models = WRITTEN
        .get_or_init(|| [write("q4_0.gguf", Quantisation::Q4_0), write("f16.gguf", Quantisation::F16)]);
    models[usize::from(quantisation == Quantisation::F16)].clone()
}

/// Where programs and models go.
fn made_here() -> PathBuf {
    let folder = artifacts::target().join("real");
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    folder
}

/// What a command prints; it must succeed.
#[track_caller]
fn said(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
