//! `rocshim sql`: runs a query over a dataset with DuckDB, in a Python process.

use crate::args;
use anyhow::{Result, anyhow};
use std::{
    ffi::OsString,
    io::ErrorKind,
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

/// The variable that names the Python.
const PYTHON: &str = "ROCSHIM_PYTHON";

/// Replaces this process by Python, which runs the query and prints the rows.
pub(crate) fn sql(args: &args::Sql) -> Result<ExitCode> {
    let python = std::env::var_os(PYTHON).filter(|path| !path.is_empty());
    let python = python.unwrap_or_else(|| OsString::from("python3"));
    let mut command = Command::new(&python);
    command.args(["-c", include_str!("../sql.py")]).arg(&args.dataset);
    command.arg(args.query.as_deref().unwrap_or("")).arg(if args.json { "json" } else { "text" });
    // The query must not be recorded itself.
    let error = command.env_remove("LD_PRELOAD").exec();
    let python = python.to_string_lossy();
    Err(match error.kind() {
        ErrorKind::NotFound => anyhow!("sql needs Python: there is no {python}; name one with {PYTHON}"),
        _ => anyhow!("cannot run {python}: {error}"),
    })
}
