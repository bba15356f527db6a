//! Formats what is wrong with a command line as one sentence with the next step.

use super::definition;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::{env, path::Path};

/// Returns the sentence for a parser error.
pub(super) fn sentence(error: &clap::Error) -> String {
    let page = error.to_string();
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "no command is given: `rocshim run -- CMD` records a program, `rocshim summary TRACE` reads what it \
             wrote; see rocshim --help"
                .into()
        }
        ErrorKind::InvalidSubcommand => unknown_command(error),
        ErrorKind::MissingRequiredArgument => missing(error, &page),
        ErrorKind::UnknownArgument => unknown_argument(error, &page),
        _ => plain(&page),
    }
}

/// Returns the parser's strings of the given kind.
fn context(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn unknown_command(error: &clap::Error) -> String {
    let name = context(error, ContextKind::InvalidSubcommand).concat();
    let next = match context(error, ContextKind::SuggestedSubcommand).first() {
        Some(similar) => format!("did you mean `{similar}`?"),
        None if is_program(&name) => format!("to record this program, use `rocshim run -- {name}`;"),
        None => return format!("there is no command `{name}`: `rocshim help` lists the commands"),
    };
    format!("there is no command `{name}`: {next} see rocshim --help")
}

/// Returns true when a shell would run something of this name.
fn is_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    match name.contains('/') {
        true => Path::new(name).is_file(),
        false => env::split_paths(&path).any(|folder| folder.join(name).is_file()),
    }
}

fn missing(error: &clap::Error, page: &str) -> String {
    let missing = context(error, ContextKind::InvalidArg);
    let first = missing.first().map_or("an argument", String::as_str);
    let (option, value) = first.split_once(' ').unwrap_or((first, first));
    let name = option.trim_start_matches('<').trim_end_matches('.').trim_end_matches('>');
    let hint = match value.trim_start_matches('<').trim_end_matches('.').trim_end_matches('>') {
        "TRACE" | "TRACES" => {
            ": name a trace, or a folder of traces that `rocshim run -o FOLDER -- CMD` wrote"
        }
        "CMD" if see(page).contains("rocshim run") => {
            ": name the program to record, as in `rocshim run -- CMD`"
        }
        "CMD" if see(page).contains("rocshim try") => {
            ": put `--` and the program after the change, as in `rocshim try CHANGE -- CMD`"
        }
        "CMD" => ": put `--` and the program last, as in `rocshim bisect A B -- CMD`",
        "RUN" => ": name two runs, as in `rocshim compare BEFORE AFTER`",
        "FILE" if name == "--responses" => ": name the file with the server's answers",
        "FORM" => ": choose perfetto, chrome, csv, parquet or dataset",
        _ => "",
    };
    format!("{name} is missing{hint}; {}", see(page))
}

fn unknown_argument(error: &clap::Error, page: &str) -> String {
    let is_of_run = see(page).contains("rocshim run");
    if see(page).contains("rocshim bisect")
        && !context(error, ContextKind::InvalidArg).concat().starts_with('-')
    {
        return format!(
            "`--` is missing: put it before the program, as in `rocshim bisect A B -- CMD`; {}",
            see(page)
        );
    }
    if !is_of_run || error.get(ContextKind::SuggestedArg).is_some() {
        return plain(page);
    }
    let name = context(error, ContextKind::InvalidArg).concat();
    format!(
        "unexpected argument '{name}' found; options of the program follow it, as in `rocshim run -- CMD {name}`; {}",
        see(page)
    )
}

/// Returns the parser's message as one sentence: its lines up to the first empty one, and its tip.
fn plain(page: &str) -> String {
    let words = |lines: &str| lines.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = page.split("\n\n").next().unwrap_or(page);
    let mut sentence = words(first.trim_start_matches("error: "));
    if let Some((_, tip)) = page.split_once("tip: ") {
        sentence = format!("{sentence}; {}", words(tip.lines().next().unwrap_or("")));
    }
    format!("{sentence}; {}", see(page))
}

/// Returns `see rocshim summary --help`, by the usage line of the message.
fn see(page: &str) -> String {
    let usage = page.lines().find_map(|line| line.strip_prefix("Usage: "));
    // A message about a value has no usage line: the command is the first word of the command line.
    let given = || env::args().nth(1).filter(|word| definition().find_subcommand(word).is_some());
    let usage = usage.map_or_else(|| format!("rocshim {}", given().unwrap_or_default()), str::to_owned);
    let command: Vec<&str> =
        usage.split(' ').take_while(|word| !word.is_empty() && !word.starts_with(['[', '<', '-'])).collect();
    format!("see {} --help", command.join(" "))
}
