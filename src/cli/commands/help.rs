//! `rocshim help`: topics, and what is generated from the command line's definition: man pages and
//! completion scripts.

use crate::{args, launch};
use anyhow::{Context, Result, bail};
use rocshim_analysis::{evidence_rules, quantities};
use rocshim_report as report;
use std::{fs::File, io, path::Path, process::ExitCode};

/// A help topic: its name, what it is about, and its text.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: fn() -> Result<String>,
}

const TOPICS: &[Topic] = &[
    Topic { name: "variables", about: "the ROCSHIM_* variables with their defaults", text: variables },
    Topic { name: "tables", about: "the tables and columns of every command", text: tables },
    Topic { name: "conditions", about: "the quantities of compare --fail-if", text: conditions },
    Topic { name: "format", about: "the records of a trace", text: format },
    Topic {
        name: "fleet",
        about: "many ranks: steps, stragglers, clocks, the end of a job; metrics",
        text: fleet,
    },
    Topic {
        name: "gpu-time",
        about: "GPU times: how they are recorded, and how exact they are",
        text: gpu_time,
    },
    #[cfg(feature = "views")]
    Topic { name: "dataset", about: "the tables of export --to dataset, and SQL over them", text: dataset },
    Topic { name: "evidence", about: "the rules behind each class of evidence", text: evidence },
];

pub(crate) fn help(args: &args::Help) -> Result<ExitCode> {
    if let Some(folder) = &args.man {
        man(folder)?;
    } else if let Some(shell) = args.completions {
        clap_complete::generate(shell, &mut args::definition(), "rocshim", &mut io::stdout());
    } else {
        report::print(&page(args.topic.as_deref())?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The widest line of a topic, in columns, as of the commands' help.
const WIDEST: usize = 100;

/// Returns the text of a topic, or the help of a command; without a name, the help of all and the
/// topics.
fn page(topic: Option<&str>) -> Result<String> {
    let mut definition = args::definition();
    let Some(name) = topic else {
        let topics = TOPICS.iter().map(|topic| format!("  {:11}{}\n", topic.name, topic.about));
        return Ok(format!(
            "{}\nTopics of `rocshim help TOPIC`:\n{}",
            definition.render_help(),
            topics.collect::<String>()
        ));
    };
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        let text = (topic.text)()?;
        return Ok(report::wrapped(
            &text,
            report::width_of(io::stdout()).map_or(WIDEST, |width| width.min(WIDEST)),
        ));
    }
    match definition.find_subcommand_mut(name) {
        Some(command) => Ok(command.render_long_help().to_string()),
        None => {
            let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
            bail!("there is no topic or command `{name}`; the topics are {}", names.join(", "))
        }
    }
}

fn variables() -> Result<String> {
    let variables = launch::variables_of(&launch::find_shim(None)?)?;
    Ok(report::variables(&variables, &super::output_style(false, true)))
}

fn tables() -> Result<String> {
    #[cfg(feature = "views")]
    let exported = format!(
        "\nTables of `export --to csv` and `--to parquet`, and of `tail --json`:\n\n{}",
        rocshim_export::columns()
    );
    #[cfg(not(feature = "views"))]
    let exported = "";
    Ok(format!("{}{exported}", report::tables()))
}

const CONDITIONS: &str = "\
compare --fail-if CONDITION exits with 1 if the condition holds for any run but the baseline.

A CONDITION is QUANTITY OPERATOR NUMBER; NUMBERx is a multiple of the baseline's. Operators: > >= < <= == !=.
A quantity that cannot be decided holds for no condition, and the page says why.

";

fn conditions() -> Result<String> {
    let rows = quantities().map(|(name, meaning)| format!("  {name:18} {meaning}\n"));
    let patterns = [
        ("kernel('P').launches", "launches of kernels that match P; also .total_ns, .median_ns"),
        ("family('P').launches", "launches of families that match P, as `ggml: mmq`; also .total_ns"),
        ("library('P').calls", "calls of functions of libraries that match P"),
    ];
    let patterns = patterns.map(|(name, meaning)| format!("  {name:21} {meaning}\n"));
    Ok(format!("{CONDITIONS}{}\n{}", rows.collect::<String>(), patterns.concat()))
}

fn format() -> Result<String> {
    Ok(include_str!("../../trace/README.md").into())
}

#[cfg(feature = "views")]
const DATASET: &str = "\
`rocshim export --to dataset -o DIR TRACE…` adds processes to a folder of Parquet files:
DIR/TABLE/run=RUN/host=HOST/rank=RANK/PID-EPOCH.parquet. A process has a file in every table,
sorted by time; the columns run, host and rank are in the files too, so an engine needs no partition
discovery. Adding a process again replaces its files; nothing else is touched, and a file has its
name only when it is whole. Times are Unix ns of each host's clock. The files' metadata has each
column's meaning and unit (rocshim.columns, rocshim.units).

samples/sql has queries that give the same rows on DuckDB and on Spark.

";

#[cfg(feature = "views")]
fn dataset() -> Result<String> {
    Ok(format!("{DATASET}{}", rocshim_export::dataset_columns()))
}

const FLEET: &str = "\
Many ranks: what `rocshim ranks` says, and how it finds that.

Recording: start each rank with `rocshim run -o 'DIR/%h/rank%r-%p' -- CMD`; DIR may be \
shared by all hosts. Each process fills in its host, rank and process (`rocshim variables`). --gpu-time adds \
the GPU's times, without which a rank whose GPU is slow is found only where its host waits for its \
kernels before the collective.

Ranks: processes that call RCCL or have a number of a launcher: RANK, OMPI_COMM_WORLD_RANK, \
PMIX_RANK, PMI_RANK or SLURM_PROCID. Of a rank with several traces \
one counts: the last, or, where they ran at the same time, the one of most collectives and kernels \
(the others are workers). A rank whose \
trace lost events, or was paused, is not aligned (limited).

Communicators: those of several ranks are one where they were created with the same unique id \
(ncclCommInitRank, ncclCommInitRankConfig; confirmed), else by the order of their use (inferred): \
those of ncclCommSplit and ncclCommInitAll are. Their collectives are aligned by their order. \
Collectives that a graph executes are not aligned; their number is stated.

Steps: the shortest period in the order of the collectives that three repetitions and half of \
them follow (inferred). A rank's own time of a step is what is outside of collectives. The first \
step has no begin and is left aside.

";

fn fleet() -> Result<String> {
    let (straggler, clock) = (rocshim_analysis::STRAGGLER_RULE, rocshim_analysis::CLOCK_RULE);
    Ok(format!(
        "{FLEET}Stragglers (inferred): {straggler}.\n\nClocks (inferred): {clock}. \
         The true difference is within the stated error; where no constant one fits, clocks drift (unresolved).\n\n\
         Differences: kernels, GEMMs with the kernels inside, fallback files, libraries and devices that the \
         trace of a rank has and those of most ranks have not, or the reverse. Where no class of equal ranks has \
         most of them, none is said to differ.\n\nThe end of a job: the ranks that waited in the last \
         collective, and those that did not enter it, with the call that they were in. It is confirmed where \
         traces are whole up to the end (`recovered`, `killed`, `exit`), and limited where one is cut. How long they \
         had waited is stated: a healthy job that is killed ends inside a collective too.\n{}",
        metrics()
    ))
}

#[cfg(feature = "views")]
fn metrics() -> String {
    let rows = rocshim_live::metric_names().map(|(name, what)| format!("  {name:38} {what}\n"));
    format!(
        "\nMetrics of `rocshim top --listen ADDRESS` (Prometheus) and `--push URL` (OpenTelemetry, OTLP over HTTP \
         in JSON), each by host, program, pid, rank and model (of the command line's -m or --model). At most \
         --processes N (100) at a time have series of their own, 71 families and one for the rest among them; \
         those beyond are summed up as program=\"others\". A process that ended keeps its series for five minutes.\n\n{}",
        rows.collect::<String>()
    )
}

#[cfg(not(feature = "views"))]
fn metrics() -> String {
    String::new()
}

const GPU_TIME: &str = "\
GPU times: when each kernel, copy and fill began and ended on the GPU, as the HIP runtime reports it. \
No profiler library and no privilege is needed.

Recording: with `rocshim run --gpu-time CMD`, with ROCSHIM_GPU_TIME=on, or of a process that runs with \
`rocshim ctl PID gpu-time on` (and `off`). From HIP 7.2 on the program must be started with \
DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING=0, which `rocshim run --gpu-time` sets: without it that runtime ends \
programs whose graphs were destroyed before they are reported, so rocshim does not ask it.

Cost: every kernel gets a signal to complete, which carries its times, and a thread of the runtime \
reports it. `scripts/bench gpu-time` measures what that adds to a launch, and counts the device's packets, \
barriers, fences and signals with and without it.

The launch of a report: a report names the call that caused it by a number that rocshim gives the call as it begins. \
The layout of that data depends on the release: it is known for HIP 5.6 to 7.2. With another release \
reports have no calls, and what needs them is limited. A profiler that registers beside rocshim numbers \
calls itself; the trace then has a link from each of its numbers to the call, and a number that it gave to \
two calls ties nothing.

Completeness: every dispatch is counted by the runtime, so `summary` and `verify` compare it with the launches that the \
hooks saw: what was launched past every hook is listed by name.

Phases: with `--phase` a report counts where its launch does. One without a recorded launch counts where \
it began.

Clock: ROCr converts the GPU's counter to the kernel's CLOCK_BOOTTIME, in all these releases by the same \
rule: a straight line through two pairs of both clocks that the driver reads, one from the start of ROCr and \
the latest one, which is read again when a time lies further ahead than a quarter of their distance or \
1/16 s. ROCr's authors state below 4 us for the reading of a pair, and 0.5 us each for the line's \
extrapolation and for drift between readings. An interrupt while the driver reads a pair may shift times by \
tens of us until the next reading; nothing in a report shows that. So a duration is exact to the \
counter's tick (10 ns), and a begin is taken as uncertain by 5 us: rules that compare it with host times \
use that number. rocshim then reads CLOCK_BOOTTIME between two stamps of the trace's clock for each report; \
where that took 1 us or more, the record has it as `error`, which adds to the 5 us. The record has the \
runtime's own time too (`raw`), so the offset is known for each. Copies and barriers without a time from the GPU have \
CLOCK_MONOTONIC times; the two clocks differ by the time for which the machine was suspended, \
which is taken into account.
";

fn gpu_time() -> Result<String> {
    Ok(GPU_TIME.into())
}

fn evidence() -> Result<String> {
    Ok(report::evidence_rules(&evidence_rules()))
}

/// Writes `rocshim.1`, and a man page for each command.
fn man(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let definition = args::definition();
    let write = |command: clap::Command| -> Result<()> {
        let path = folder.join(format!("{}.1", command.get_name()));
        let mut file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        clap_mangen::Man::new(command)
            .render(&mut file)
            .with_context(|| format!("cannot write {}", path.display()))
    };
    for command in definition.get_subcommands() {
        // Names the page as `man` looks it up.
        let name: &'static str = format!("rocshim-{}", command.get_name()).leak();
        write(command.clone().name(name))?;
    }
    write(definition)
}
