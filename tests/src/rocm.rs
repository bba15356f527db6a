//! The real ROCm user space on the null GPU, and the programs that run in it.
//!
//! ```no_run
//! use rocshim_tests::rocm::{Bench, HIP6, counted};
//!
//! let bench = Bench::new(&HIP6, "gfx1100");
//! bench.run_both([bench.tree.program("hip_module"), rocshim_tests::rocm::code_object()]);
//! counted::assert_equal(&bench.trace(), &bench.log());
//! ```
//!
//! Layers, lowest first: `device` (its log), `counted` (compares the trace with that log),
//! `bench` (a program run with and without the shim), `server`, `why` (what
//! `rocshim why` says).

pub mod bench;
pub mod counted;
pub mod device;
pub mod server;
pub mod why;

pub use bench::Bench;

use crate::artifacts;
use crate::gguf::{self, Quantisation};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// HIP 6.4 with rocBLAS 4, MIOpen and llama.cpp; code for gfx1100.
pub static HIP6: Tree = Tree::new(
    "hip6",
    &[("amdhip64", "libamdhip64.so.6"), ("rocblas", "librocblas.so.4"), ("MIOpen", "libMIOpen.so.1")],
);
/// HIP 7.2 with rocBLAS 5 and hipBLASLt; code for gfx1100 and gfx1201.
pub static HIP7: Tree = Tree::new(
    "hip7",
    &[("amdhip64", "libamdhip64.so.7"), ("rocblas", "librocblas.so.5"), ("hipblaslt", "libhipblaslt.so.1")],
);
/// Triton, for a Python in one of the other trees.
pub static TRITON: Tree = Tree::new("triton", &[]);

/// A tree of `scripts/real-rocm`, fetched and unpacked on first use.
pub struct Tree {
    name: &'static str,
    /// Library names for the linker, and their files.
    libraries: &'static [(&'static str, &'static str)],
    folder: OnceLock<PathBuf>,
}

fn script() -> PathBuf {
    artifacts::root().join("scripts/real-rocm")
}

impl Tree {
    const fn new(name: &'static str, libraries: &'static [(&'static str, &'static str)]) -> Tree {
        Tree { name, libraries, folder: OnceLock::new() }
    }

    /// Path of the tree.
    ///
    /// # Panics
    /// If it cannot be fetched; the message is the script's own.
    #[track_caller]
    pub fn folder(&self) -> &Path {
        self.folder.get_or_init(|| {
            said(Command::new(script()).args(["--tree", self.name, "prepare"]));
            said(Command::new(script()).args(["--tree", self.name, "path"])).trim().into()
        })
    }

    /// A command in the user space: add the program and its arguments. The null GPU is a `gfx` and
    /// appends to `log`.
    ///
    /// Environment variables also reach the script, which is harmless except for `LD_PRELOAD`: for
    /// that, run `env LD_PRELOAD=…` as the program.
    #[track_caller]
    pub fn command(&self, gfx: &str, log: &Path) -> Command {
        self.folder();
        let mut command = Command::new(script());
        command.args(["--tree", self.name, "exec", "--gfx", gfx, "--log"]).arg(log).arg("--");
        command
    }

    /// A program of `tests/programs/real`, linked against the libraries of this tree in its `//
    /// link:` line.
    #[track_caller]
    pub fn program(&self, name: &str) -> PathBuf {
        let source = artifacts::root().join("tests/programs/real").join(name).with_extension("c");
        let text = fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
        let libraries = text.lines().find_map(|line| line.strip_prefix("// link: ")).unwrap_or_default();
        let folder = made_here(self.name);
        let program = folder.join(name);
        // Several tests may compile the same program at the same time.
        let own = tempfile::tempdir_in(&folder).expect("a folder for one compilation");
        let unfinished = own.path().join(name);
        let mut compiler = Command::new("cc");
        compiler
            .args(["-O2", "-Wall", "-Wextra", "-Wl,--allow-shlib-undefined", "-o"])
            .arg(&unfinished)
            .arg(&source);
        compiler.args(libraries.split_whitespace().map(|name| self.library(name)));
        said(&mut compiler);
        fs::rename(&unfinished, &program).expect("a program is renamed in its folder");
        program
    }

    /// Path of a library outside the user space, for linking.
    fn library(&self, name: &str) -> PathBuf {
        self.folder().join("usr/lib/x86_64-linux-gnu").join(self.file_of(name))
    }

    /// Path of a library inside the user space, for dlopen.
    #[track_caller]
    pub fn inside(&self, name: &str) -> PathBuf {
        Path::new("/usr/lib/x86_64-linux-gnu").join(self.file_of(name))
    }

    #[track_caller]
    fn file_of(&self, name: &str) -> &str {
        let known = self.libraries.iter().find(|(known, _)| *known == name);
        known.unwrap_or_else(|| panic!("no library of {} is known as {name}", self.name)).1
    }
}

/// The code object of the kernels in `vectors.hip`: `vector_add` and `_Z12vector_scaleILi2EEvPfi`,
/// for gfx1100.
pub fn code_object() -> PathBuf {
    artifacts::root().join("tests/programs/real/vectors-gfx1100.co")
}

/// The tiny model; the first call writes all variants.
pub fn model(quantisation: Quantisation) -> PathBuf {
    static WRITTEN: OnceLock<[PathBuf; 3]> = OnceLock::new();
    let write = |quantisation: Quantisation| {
        let path = made_here("models").join(quantisation.file());
        let unfinished = path.with_extension(std::process::id().to_string());
        gguf::write_model(&unfinished, quantisation).expect("a model is written");
        fs::rename(&unfinished, &path).expect("a model is renamed in its folder");
        path
    };
    let models = WRITTEN.get_or_init(|| Quantisation::ALL.map(write));
    models.iter().find(|path| path.ends_with(quantisation.file())).expect("all were written").clone()
}

/// A folder for generated files that are kept: programs, models, compiled kernels.
pub fn made_here(name: &str) -> PathBuf {
    let folder = artifacts::target().join("real").join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    fs::canonicalize(folder).expect("the folder was made")
}

/// The output of a command, which must succeed.
#[track_caller]
fn said(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
