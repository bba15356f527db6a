//! The integration tests, in one binary: `scripts/test` runs all of them, `scripts/test
//! shim::graphs` those of one module.

/// The shim in traced processes.
mod shim {
    mod accounts;
    mod alone;
    mod arguments;
    mod blas;
    mod c_api;
    mod callers;
    mod convolutions;
    mod endings;
    mod environment;
    mod fallback;
    mod faults;
    mod gemms;
    mod gpu_times;
    mod graphs;
    mod harmless;
    mod hosts;
    mod interception;
    mod recording;
    mod recovery;
    mod roctx;
    mod sanitizers;
    mod selection;
    mod situations;
    mod soak;
    mod spans;
    mod standins;
    mod training;
}

/// The trace files: format, segments, full disks, foreign bytes.
mod trace {
    mod disk;
    mod format;
    mod order;
    mod parsers;
    mod reading;
    pub(crate) mod schema;
    mod segments;
    mod validator;
}

/// The `rocshim` command.
mod cli {
    mod callers;
    mod compare;
    mod completions;
    mod ctl;
    pub(crate) mod export;
    pub(crate) mod fleet;
    mod listen;
    mod ollama;
    mod prompt_ladder;
    mod python_module;
    mod samples;
    mod tail;
    mod top;
    mod trying;
    mod verify;
}

/// Real software, fetched once: the ROCm user space on the null GPU, readers of exports, a browser.
/// `scripts/test --embedded` omits these.
mod real {
    mod blas;
    mod code_objects;
    pub(crate) mod export;
    mod gpu_times;
    mod miopen;
    mod page;
    mod phases;
    mod programs;
    mod prompt_ladder;
    mod python;
    mod replay;
    mod sql;
    mod why;
    mod why_hipblaslt;
    mod why_miopen;
}

/// The source tree and its documentation.
mod gate {
    mod readme;
}
