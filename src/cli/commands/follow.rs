//! Opens the traces that `tail` and `top` follow while they are written.

use crate::launch;
use anyhow::Result;
use rocshim_reader::Follower;
use std::path::PathBuf;

/// Returns a follower of the named traces or, without names, of the default folder; and its
/// description.
pub(crate) fn follow(named: &[PathBuf]) -> Result<(Vec<PathBuf>, Follower)> {
    let traces = match named {
        [] => vec![launch::chosen_folder(None)?],
        traces => traces.to_vec(),
    };
    let follower = Follower::new(&traces)?;
    Ok((traces, follower))
}
