//! `rocshim`, the command: runs a program under librocshim.so and reads the traces that it writes.
//!
//! Layers, lowest first: `args` (the command line), `launch` (the shim, the program, the child
//! process), `experiment` (programs that are run many times), `ollama` (its service and
//! containers), `doctor` (what will be seen of a program), `commands` (opens, analyses, prints).
//! Reading, analysis and rendering are crates of their own.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod doctor;
mod experiment;
mod launch;
mod ollama;

use rocshim_analysis as analysis;
use rocshim_reader::{self as reader, format_error};
use rocshim_report as report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Executes the command line.
pub fn main() -> ExitCode {
    let (colour, command) = match args::parse(launch::version) {
        Ok(line) => line,
        Err(exit) => return exit,
    };
    let own_failure = command.own_failure();
    match commands::execute(command, colour) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report::print_error(&format_error(&error));
            ExitCode::from(own_failure)
        }
    }
}

/// Returns true when the reader of our output has closed it (`| head`), which is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|link| {
        link.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Reads the bytes of a trace as `summary` and `verify` do, and returns the text of both: for tests
/// with damaged bytes.
///
/// # Errors
/// The message for a user, when the bytes are not a trace.
pub fn read_bytes(bytes: &[u8]) -> Result<String, String> {
    let name = Path::new("bytes");
    let in_words = |error: anyhow::Error| format_error(&error);
    let mut summary = analysis::SummaryBuilder::default();
    let mut verifier = analysis::Verifier::default();
    let analyses: Vec<&mut dyn analysis::Analysis> = vec![&mut summary, &mut verifier];
    let mut spine = analysis::Spine::new(analysis::Session::default(), analyses);
    spine.begin_file(name.display().to_string());
    let reading = reader::read_bytes(bytes, name, &mut spine).map_err(in_words)?;
    spine.end_file(&reading);
    let session = spine.finish();
    let (summary, verified) = (summary.finish(&session), verifier.finish());
    Ok(report::summary(&summary, &report::Style::default()) + &report::verified(&verified))
}

/// Reads responses of LLM servers and returns the list as JSON: for tests of programs that write
/// such files.
///
/// # Errors
/// The message for a user, when the files are not responses.
pub fn read_response_files(paths: &[PathBuf]) -> Result<String, String> {
    reader::responses::read_responses(paths).map(in_json).map_err(|error| format_error(&error))
}

/// Same as [`read_response_files`] for the bytes of one file: for tests with damaged bytes.
///
/// # Errors
/// The message for a user, when the files are not responses.
pub fn read_response_bytes(bytes: &[u8]) -> Result<String, String> {
    let mut responses = reader::responses::Responses::default();
    let reading = reader::responses::take_responses(bytes, Path::new("bytes"), &mut responses);
    reading.map(|()| in_json(responses)).map_err(|error| format_error(&error))
}

fn in_json(responses: reader::responses::Responses) -> String {
    serde_json::json!({ "responses": responses.list, "notes": responses.notes }).to_string()
}
