//! `rocshim doctor`: what will and will not be seen, before running.

use crate::args;
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn doctor(_args: &args::Doctor) -> Result<ExitCode> {
    anyhow::bail!("doctor is not written yet")
}
