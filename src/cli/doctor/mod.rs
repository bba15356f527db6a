//! What will and what will not be seen, as a list of findings; nothing is started or changed.

mod libraries;
mod machine;
mod ollama;
mod process;
mod program;
mod shim;

pub(crate) use machine::machine;
pub(crate) use process::{process, why};
pub(crate) use program::program;
pub(crate) use shim::shim;

use std::path::PathBuf;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Something may be missed.
    Warn,
    /// Nothing will be recorded.
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    /// What was looked at.
    pub(crate) subject: &'static str,
    /// What is so.
    pub(crate) what: String,
    /// What to do.
    pub(crate) advice: Option<String>,
}

impl Finding {
    fn ok(subject: &'static str, what: impl Into<String>) -> Self {
        Finding { level: Level::Ok, subject, what: what.into(), advice: None }
    }

    fn warn(subject: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { level: Level::Warn, subject, what: what.into(), advice: Some(advice.into()) }
    }

    fn fail(subject: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { level: Level::Fail, subject, what: what.into(), advice: Some(advice.into()) }
    }
}

/// What is known about the shim once it was found.
pub(crate) struct Shim {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The libraries that it hooks functions of, without versions, in the order of its table.
    pub(crate) libraries: Vec<String>,
    /// The newest glibc that it needs.
    pub(crate) glibc: Option<crate::launch::Glibc>,
}
