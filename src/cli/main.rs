//! `rocshim`: runs a program under librocshim.so and reads the traces that it writes.
//!
//! Floors, lowest first: `sentence` and `units` (errors and numbers in words), `reader` (a trace to records),
//! `analysis` (records to numbers), `report` (numbers to text), `commands` (opens, asks, prints). `launch` (the shim,
//! the program, the child process) and `doctor` (what will be seen of a program) stand beside them.

#![forbid(unsafe_code)]

mod analysis;
mod args;
mod commands;
mod doctor;
mod launch;
mod reader;
mod report;
mod sentence;
mod units;

use sentence::sentence;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match args::parse() {
        Ok(command) => command,
        Err(exit) => return exit,
    };
    let own_failure = command.own_failure();
    match commands::execute(command) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report::complain(&sentence(&error));
            ExitCode::from(own_failure)
        }
    }
}

/// The reader of our output has left (`| head`): that is its right, not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|link| {
        link.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
