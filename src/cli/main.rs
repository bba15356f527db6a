//! `rocshim`: runs a program under librocshim.so and reads the traces that it writes.
//!
//! Floors, lowest first: `reader` (a trace to records), `analysis` (records to numbers), `report` (numbers to text),
//! `commands` (opens, asks, prints). `launch` (the shim, the program, the child process) and
//! `doctor` (what will be seen of a program) stand beside them.

#![forbid(unsafe_code)]

mod analysis;
mod args;
mod commands;
mod doctor;
mod launch;
mod reader;
mod report;

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

/// The chain of an error as one sentence: what, where, why.
fn sentence(error: &anyhow::Error) -> String {
    let links: Vec<String> = error.chain().map(|link| plain(&link.to_string())).collect();
    links.join(": ")
}

/// Without the error number, which says nothing that the words do not.
fn plain(text: &str) -> String {
    match text.rfind(" (os error ") {
        Some(at) if text.ends_with(')') => text[..at].to_string(),
        _ => text.to_string(),
    }
}

/// The reader of our output has left (`| head`): that is its right, not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|link| {
        link.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_is_one_sentence_without_numbers() {
        let missing = std::fs::read("/no/such/file").context("cannot read /no/such/file").unwrap_err();
        assert_eq!(sentence(&missing), "cannot read /no/such/file: No such file or directory");
    }
}
