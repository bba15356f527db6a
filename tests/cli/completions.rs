//! Shell completions: a real bash completes commands, options and values with the generated script.

use rocshim_tests::Traced;
use std::io::Write;
use std::process::{Command, Stdio};

/// Completes the last of these words as an interactive bash does.
const COMPLETE: &str = r#"
source /dev/stdin
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_rocshim "$1" "${@: -1}" "${@: -2:1}"
echo "${COMPREPLY[*]}""#;

#[test]
fn bash_completes_commands_options_and_values() {
    let script = Traced::rocshim(["help", "--completions", "bash"]).run().ok().stdout;
    let complete = |words: &[&str]| {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", COMPLETE, "bash"]).args(words);
        let mut child = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("bash starts");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("bash reads the script");
        let output = child.wait_with_output().expect("bash ends");
        String::from_utf8(output.stdout).expect("text").trim_end().to_string()
    };
    assert_eq!(complete(&["rocshim", "sum"]), "summary");
    assert_eq!(complete(&["rocshim", "summary", "--f"]), "--full-names --family");
    assert_eq!(complete(&["rocshim", "summary", "--sort", ""]), "total launches mean name");
}
