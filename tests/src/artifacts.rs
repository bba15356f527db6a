//! What must be built before a program can be traced: the shim, the command, the stand-in libraries and programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the repository")
}

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| root().join("target"))
}

fn built(package: &[&str], file: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["build", "--release", "--quiet"]);
    cargo.args(package.iter().flat_map(|name| ["-p", name]));
    assert!(cargo.status().expect("cargo runs").success(), "cargo build of {package:?} failed");
    target().join("release").join(file)
}

/// `librocshim.so`, as released.
pub fn shim() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built(&["rocshim"], "librocshim.so"))
}

/// `rocshim`, the command, as released.
pub fn command() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    shim();
    BUILT.get_or_init(|| built(&["rocshim-cli"], "rocshim"))
}

/// The independent validator of the trace format.
pub(crate) fn validator() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built(&["rocshim-validator"], "rocshim-validator"))
}

/// The folder of the stand-in libraries; their programs are in `programs` in it.
pub fn vendor() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = target().join("vendor");
        let status = Command::new(root().join("tests/vendor/build")).arg(&folder).status();
        assert!(status.expect("tests/vendor/build runs").success(), "the stand-ins do not build");
        folder
    })
}

/// A program of `tests/programs`, built against the stand-ins.
pub fn program(name: &str) -> PathBuf {
    let path = vendor().join("programs").join(name);
    assert!(path.exists(), "there is no program {name} in tests/programs");
    path
}
