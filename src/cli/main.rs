//! The command `rocshim`; what it does is the library's.

use std::process::ExitCode;

fn main() -> ExitCode {
    rocshim_cli::main()
}
