//! Writes the tiny model that `scripts/bench real` gives to llama-bench: `model FILE`.

use rocshim_tests::gguf::{Quantisation, write_model};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("model: the file to write is missing");
        return ExitCode::from(2);
    };
    match write_model(file.as_ref(), Quantisation::Q4_0) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("model: {}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}
