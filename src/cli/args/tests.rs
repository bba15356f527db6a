//! The definition is consistent, and a wrong line gives one sentence with the next step.

use super::*;
use std::collections::BTreeMap;

fn parsed(line: &[&str]) -> Result<Command, clap::Error> {
    CommandLine::try_parse_from(line).map(|line| line.command)
}

#[test]
fn the_definition_is_consistent() {
    definition().debug_assert();
}

/// Every command, and those below it.
fn commands(definition: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    definition.get_subcommands().flat_map(|command| [command].into_iter().chain(command.get_subcommands()))
}

#[test]
fn an_option_has_one_meaning_in_all_commands() {
    let mut meanings: BTreeMap<String, (String, String)> = BTreeMap::new();
    for command in commands(&definition()) {
        let options = command.get_arguments().filter(|option| option.get_id() != "help");
        for option in options {
            let name = match (option.get_long(), option.get_value_names()) {
                (Some(long), _) => format!("--{long}"),
                (None, Some([name, ..])) => name.to_string(),
                (None, _) => option.get_id().to_string(),
            };
            // A positional argument's name, syntax and help state its meaning.
            let value = option.get_value_names().map(|names| format!("{names:?}")).unwrap_or_default();
            let takes = if option.get_action().takes_values() { value } else { String::new() };
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            let meaning = format!("{:?} {takes} {help}", option.get_short());
            assert!(!help.is_empty(), "{name} of {} has no help", command.get_name());
            let here = command.get_name().to_string();
            let (known, at) = meanings.entry(name.clone()).or_insert_with(|| (meaning.clone(), here.clone()));
            assert_eq!(*known, meaning, "{name} in {at} and in {here}");
        }
    }
    assert!(meanings.len() > 40 && meanings.contains_key("--color"), "{:?}", meanings.keys());
    // Nor are there two names for one thing.
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, (meaning, _)) in meanings.iter().filter(|(name, _)| name.starts_with("--")) {
        assert_eq!(names.insert(meaning, name), None, "{name}");
    }
}

#[test]
fn every_command_that_prints_results_prints_them_as_json_too() {
    // They write files, run programs, draw on the terminal, or print text for people.
    let others = ["run", "report", "export", "top", "help", "ollama", "install", "uninstall", "container"];
    let has_json = |command: &clap::Command| command.get_arguments().any(|a| a.get_long() == Some("json"));
    let definition = definition();
    let without = commands(&definition).filter(|command| !has_json(command)).map(clap::Command::get_name);
    let mut without: Vec<&str> = without.collect();
    without.sort_unstable();
    let mut others = others.to_vec();
    others.sort_unstable();
    assert_eq!(without, others);
}

#[test]
fn options_after_the_program_are_the_programs() {
    for line in
        [&["rocshim", "run", "-q", "--", "prog", "-o", "x"][..], &["rocshim", "run", "-q", "prog", "-o", "x"]]
    {
        let Ok(Command::Run(run)) = parsed(line) else { panic!("not a run") };
        assert_eq!(run.program, ["prog", "-o", "x"]);
        assert!(run.quiet && run.out.is_none());
    }
}

#[test]
fn a_wrong_line_is_one_sentence_with_the_next_step() {
    for (line, expected) in [
        (
            &["rocshim"][..],
            "no command is given: `rocshim run -- CMD` records a program, `rocshim summary TRACE` reads \
             what it wrote; see rocshim --help",
        ),
        (&["rocshim", "sumary"], "there is no command `sumary`: did you mean `summary`? see rocshim --help"),
        (
            &["rocshim", "/bin/sh", "-c", "true"],
            "there is no command `/bin/sh`: to record this program, use `rocshim run -- /bin/sh`; see \
             rocshim --help",
        ),
        (
            &["rocshim", "run"],
            "CMD is missing: name the program to record, as in `rocshim run -- CMD`; see rocshim run --help",
        ),
        (&["rocshim", "unheard-of"], "there is no command `unheard-of`: `rocshim help` lists the commands"),
        (
            &["rocshim", "try", "A=1", "prog"],
            "CMD is missing: put `--` and the program after the change, as in `rocshim try CHANGE -- CMD`; see \
             rocshim try --help",
        ),
        (
            &["rocshim", "bisect", "a", "b", "prog"],
            "`--` is missing: put it before the program, as in `rocshim bisect A B -- CMD`; see rocshim bisect \
             --help",
        ),
        (
            &["rocshim", "run", "-x", "prog"],
            "unexpected argument '-x' found; options of the program follow it, as in `rocshim run -- CMD -x`; \
             see rocshim run --help",
        ),
        (
            &["rocshim", "run", "--quit", "--", "prog"],
            "unexpected argument '--quit' found; a similar argument exists: '--quiet'; see rocshim run --help",
        ),
        (
            &["rocshim", "summary", "--jsn", "x"],
            "unexpected argument '--jsn' found; a similar argument exists: '--json'; see rocshim summary --help",
        ),
        (
            &["rocshim", "summary"],
            "TRACE is missing: name a trace, or a folder of traces that `rocshim run -o FOLDER -- CMD` wrote; \
             see rocshim summary --help",
        ),
        (
            &["rocshim", "proxy", "traces"],
            "--responses is missing: name the file with the server's answers; see rocshim proxy --help",
        ),
    ] {
        let error = parsed(line).err().expect("an error");
        assert_eq!(wrong::sentence(&error), expected, "{line:?}");
    }
}
