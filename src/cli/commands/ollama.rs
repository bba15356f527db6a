//! `rocshim ollama`: makes Ollama's service record, reports its state, and undoes it.

use crate::{
    args::{self, OllamaStep},
    launch,
    ollama::{self, DropIn, SERVICE, TRACES, Unit, below},
};
use anyhow::{Context, Result, bail};
use rocshim_analysis::units;
use rocshim_reader as reader;
use rocshim_report::{self as report, Finding, Level};
use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

/// Commands that make systemd use a changed drop-in; a stopped server is not started.
const TAKE_EFFECT: [&[&str]; 2] = [&["daemon-reload"], &["try-restart", SERVICE]];

pub(crate) fn ollama(args: &args::Ollama) -> Result<ExitCode> {
    match &args.step {
        OllamaStep::Install(install) => self::install(install),
        OllamaStep::Status { system, json } => status(&system.root, *json),
        OllamaStep::Uninstall(uninstall) => self::uninstall(uninstall),
        OllamaStep::Container { shim } => {
            report::print(&ollama::container(&launch::find_shim(shim.as_deref())?))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn install(args: &args::OllamaInstall) -> Result<ExitCode> {
    let root = &args.system.root;
    let drop_in = DropIn::of(root);
    let unit = Unit::read(root, DropIn::NAME)?;
    let shim = shim_in(root, args.shim.as_deref())?;
    let found = ollama::obstacles(&unit, root, &shim);
    let text = drop_in.text(&unit, &shim, &args.only, args.disk_mib)?;
    for finding in &found {
        report::print_error(&format!("{}: {}", finding.what, finding.advice.as_deref().unwrap_or_default()));
    }
    if args.dry_run {
        report::print(&format!("would write {}:\n{text}would run:\n{}", drop_in.path.display(), commands()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.iter().any(|finding| finding.level == Level::Fail) {
        bail!("nothing was changed, because the service could not be recorded: see above");
    }
    drop_in.write(&text)?;
    report::print(&format!("wrote {}\n", drop_in.path.display()))?;
    take_effect(args.yes)?;
    report::print(&format!("then, after a prompt: sudo rocshim summary {TRACES}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall(args: &args::OllamaUninstall) -> Result<ExitCode> {
    let root = &args.system.root;
    let drop_in = DropIn::of(root);
    let installed = drop_in.installed()?;
    let traces = below(root, TRACES);
    let would = if args.dry_run { "would remove" } else { "removed" };
    match &installed {
        None => report::print(&format!("nothing is installed: there is no {}\n", drop_in.path.display()))?,
        Some(text) => {
            if !args.dry_run {
                drop_in.remove(text)?;
            }
            report::print(&format!("{would} {}\n", drop_in.path.display()))?;
        }
    }
    match (installed.is_some(), args.dry_run) {
        (true, true) => report::print(&format!("would run:\n{}", commands()))?,
        (true, false) => take_effect(args.yes)?,
        _ => {}
    }
    if !traces.exists() {
        return Ok(ExitCode::SUCCESS);
    }
    if !args.remove_traces {
        let left = format!("its traces are left in {}; --remove-traces removes them too\n", traces.display());
        report::print(&left)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.dry_run {
        // Recovery removes the ring files of runners that were killed.
        for trace in reader::traces_below(&traces).unwrap_or_default() {
            if let Err(error) = rocshim_drain::recover(&trace) {
                report::print(&format!(
                    "the ring files of {} are left: {error}; `rocshim recover --discard` removes them\n",
                    trace.display()
                ))?;
            }
        }
        remove_folder(&traces)?;
    }
    report::print(&format!("{would} {}\n", traces.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Removes the folder of the traces. For a service with DynamicUser= it is a link to the real one.
fn remove_folder(traces: &Path) -> Result<()> {
    let removed = match fs::read_link(traces) {
        Ok(_) => {
            let real = traces.with_file_name("private").join(traces.file_name().unwrap_or_default());
            fs::remove_dir_all(real).and_then(|()| fs::remove_file(traces))
        }
        Err(_) => fs::remove_dir_all(traces),
    };
    removed.with_context(|| format!("cannot remove {}", traces.display()))
}

fn status(root: &Path, as_json: bool) -> Result<ExitCode> {
    let drop_in = DropIn::of(root);
    let unit = Unit::read(root, DropIn::NAME)?;
    let mut findings = vec![Finding::ok("service", unit.file.display().to_string())];
    match drop_in.installed()? {
        None => findings.push(Finding::fail(
            "drop-in",
            "the service is not recorded",
            "`sudo rocshim ollama install`",
        )),
        Some(text) => {
            findings.push(Finding::ok("drop-in", drop_in.path.display().to_string()));
            let line = text.lines().find_map(|line| line.strip_prefix("Environment=\"LD_PRELOAD="));
            let shim = line.and_then(|line| line.split([':', '"']).next()).unwrap_or_default();
            let shim = PathBuf::from(shim.replace("%%", "%"));
            if !below(root, &shim).exists() {
                let what = format!("{} does not exist", shim.display());
                findings.push(Finding::fail(
                    "library",
                    what,
                    "install rocshim again, then `sudo rocshim ollama install`",
                ));
            }
            findings.extend(ollama::obstacles(&unit, root, &shim));
            findings.extend(server(root));
            findings.push(traces(&below(root, TRACES)));
        }
    }
    super::doctor::print(&findings, as_json)
}

/// Returns whether the running server has the library, as far as this user may see.
fn server(root: &Path) -> Option<Finding> {
    let shown =
        Command::new("systemctl").args(["show", "--property=MainPID", "--value", SERVICE]).output().ok()?;
    let pid: u32 = String::from_utf8_lossy(&shown.stdout).trim().parse().ok()?;
    if pid == 0 {
        return Some(Finding::warn("server", "it does not run", format!("`sudo systemctl start {SERVICE}`")));
    }
    let maps = fs::read_to_string(below(root, format!("/proc/{pid}/maps")));
    Some(match maps {
        Err(_) => Finding::warn("server", format!("process {pid} belongs to another user"), "ask as root"),
        Ok(maps) if maps.contains("/librocshim.so") => {
            Finding::ok("server", format!("process {pid} has the library"))
        }
        Ok(_) => Finding::fail(
            "server",
            format!("process {pid} was started without the library"),
            format!("`sudo systemctl daemon-reload && sudo systemctl restart {SERVICE}`"),
        ),
    })
}

fn traces(folder: &Path) -> Finding {
    let subject = "traces";
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Finding::warn(subject, format!("{} cannot be read by this user", folder.display()), "ask as root")
        }
        _ => match reader::traces_in(folder).unwrap_or_default() {
            none if none.is_empty() => Finding::warn(
                subject,
                format!("none in {} yet", folder.display()),
                "send a prompt to the server",
            ),
            files => {
                let bytes = files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
                let what = format!("{} in {}, {}", files.len(), folder.display(), units::bytes(bytes));
                Finding::ok(subject, what)
            }
        },
    }
}

/// Returns the library's path as the service sees it.
fn shim_in(root: &Path, asked: Option<&Path>) -> Result<PathBuf> {
    let shim = launch::find_shim(asked)?;
    let root =
        root.canonicalize().with_context(|| format!("cannot use the root folder {}", root.display()))?;
    Ok(shim.strip_prefix(&root).map_or(shim.clone(), |inner| Path::new("/").join(inner)))
}

fn commands() -> String {
    TAKE_EFFECT.iter().map(|words| format!("  systemctl {}\n", words.join(" "))).collect()
}

/// Runs the commands if the user agrees; otherwise prints them.
fn take_effect(agreed: bool) -> Result<()> {
    if !agreed && !agrees()? {
        return report::print(&format!("this takes effect after:\n{}", commands()));
    }
    for words in TAKE_EFFECT {
        let done = Command::new("systemctl").args(words).status();
        let line = words.join(" ");
        if !done.with_context(|| format!("cannot run `systemctl {line}`"))?.success() {
            bail!("`systemctl {line}` failed; `journalctl -u {SERVICE}` says why");
        }
        report::print(&format!("ran systemctl {line}\n"))?;
    }
    Ok(())
}

/// Returns the reply on the terminal; no without a terminal.
fn agrees() -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    eprint!("reload systemd, and restart a running Ollama now? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
