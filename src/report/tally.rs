//! The tally that `rocshim run` prints after the program has ended.

use super::{names::fit, sections::label, summary::sentence, table::Style};
use rocshim_analysis::Summary;
use rocshim_analysis::units::{count, counted, percent};
use rocshim_drain::failure::Lack;
use std::{collections::BTreeMap, path::Path};

/// Kernels listed in the tally.
const TOP: usize = 5;

/// Returns the tally of a run: its numbers, its most launched kernels, its problems, and the folder
/// of its traces.
pub fn tally(summary: &Summary, folder: &Path, recovered: u64, style: &Style) -> String {
    let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(20));
    let mut page = format!("rocshim: {}\n", sentence(&summary.totals));
    let mut kernels: Vec<_> = summary.kernels.iter().collect();
    kernels.sort_by(|a, b| b.launches.cmp(&a.launches).then_with(|| a.name.cmp(&b.name)));
    for row in kernels.iter().take(TOP) {
        let part = row.launches as f64 / summary.totals.launches.max(1) as f64;
        let name = fit(&label(&row.name, row.demangled.as_deref(), style), room);
        page.push_str(&format!("{:>10} {:>6}  {name}\n", count(row.launches), percent(part)));
    }
    if kernels.len() > TOP {
        page.push_str(&format!("{:>17}  and {} more\n", "", kernels.len() - TOP));
    }
    for row in summary.failures.iter().take(3) {
        let name = row.name.map_or_else(|| row.status.unwrap_or_default().to_string(), str::to_string);
        page.push_str(&format!("  failed: {} x {} with {name}\n", count(row.calls), row.function));
    }
    if summary.failures.len() > 3 {
        page.push_str(&format!("  failed: {} more kinds\n", summary.failures.len() - 3));
    }
    page.push_str(&losses(summary));
    for row in &summary.in_flight {
        page.push_str(&format!("  in flight when process {} died: {} {}\n", row.pid, row.function, row.what));
    }
    if recovered > 0 {
        page.push_str(&format!("  recovered after a kill: {}\n", counted(recovered, "event")));
    }
    for note in &summary.notes {
        page.push_str(&format!("  not read: {note}\n"));
    }
    if summary.totals.running > 0 {
        let who = match summary.totals.running {
            1 => "1 process still runs".to_string(),
            many => format!("{many} processes still run"),
        };
        page.push_str(&format!("  {who}: its trace grows\n"));
    }
    page.push_str(&format!("  traces: {}\n", places(summary, folder)));
    page
}

/// Returns lost events by reason, each with what prevents the loss next time.
fn losses(summary: &Summary) -> String {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &summary.losses {
        *reasons.entry(&row.reason).or_default() += row.lost;
    }
    let line = |(reason, lost): (&str, u64)| {
        let advice = match reason {
            "ring_full" => "; a larger ROCSHIM_MEMORY_MIB or ROCSHIM_FULL=wait keeps them",
            "no_memory" => "; more room where ROCSHIM_RINGS is keeps them",
            "disk_full" => "; the disk of the traces was full",
            "disk_error" => "; the trace file could not be written",
            "disk_cap" => "; a larger ROCSHIM_DISK_MIB keeps them",
            "part_removed" => "; a larger ROCSHIM_DISK_MIB keeps more parts",
            "file_limit" => "; the limit on the size of files (ulimit -f) kept the trace from growing",
            _ => "",
        };
        format!("  lost: {} ({reason}){advice}\n", counted(lost, "event"))
    };
    reasons.into_iter().map(line).collect()
}

fn places(summary: &Summary, folder: &Path) -> String {
    match summary.processes.as_slice() {
        [one] => one.trace.clone(),
        many => format!("{} in {}", count(many.len() as u64), folder.display()),
    }
}

/// Returns the message about processes that could not be recorded: how many, what they lacked, and
/// what to do.
pub fn unrecorded(processes: u64, lack: Lack, folder: &Path) -> String {
    let who = counted(processes, "process");
    let folder = folder.display();
    let system = |errno| std::io::Error::from_raw_os_error(errno);
    let (what, advice) = match lack {
        Lack::File(errno @ 24) => {
            (format!("no trace could be made in {folder}: {}", system(errno)), "raise `ulimit -n`")
        }
        Lack::File(errno @ (27 | 28)) => (
            format!("no trace could be made in {folder}: {}", system(errno)),
            "raise `ulimit -f`, or name a folder with room by --out",
        ),
        Lack::File(0) => (format!("no trace could be made in {folder}"), "name another folder by --out"),
        Lack::File(errno) => {
            (format!("no trace could be made in {folder}: {}", system(errno)), "name another folder by --out")
        }
        Lack::Memory => ("there was no memory for a trace".to_owned(), "raise `ulimit -v`"),
        Lack::Room => (
            format!("nothing could be written to the trace in {folder}"),
            "raise `ulimit -f`, or name a folder with room by --out",
        ),
    };
    format!("{who} called a hooked function and could not be recorded: {what}; {advice}")
}

/// Returns the message about a run without a trace, with possible reasons. `known`: reasons found
/// in the program's file.
pub fn nothing_seen(known: &[String], folder: &Path) -> String {
    let mut page =
        format!("rocshim: no trace in {}: no process of this run called a hooked function", folder.display());
    if known.is_empty() {
        page.push_str(", unresolved why:\n");
        page.push_str("  - it used no GPU, or only functions that are not hooked (`rocshim hooks` lists those that are)\n");
        page.push_str("  - or the work was done by a server that was running before, or by a statically linked program\n");
        page.push_str(
            "  - or the environment was cleared in between (sudo, ssh, a container, a service manager)\n",
        );
        page.push_str("  `rocshim doctor CMD` checks what can be seen.\n");
    } else {
        page.push_str(". Known reasons:\n");
        known.iter().for_each(|reason| page.push_str(&format!("  - {reason}\n")));
    }
    page
}
