//! The command `rocshim`: calls the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    rocshim_cli::main()
}
