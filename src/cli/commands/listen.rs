//! `rocshim top --listen` and `--push`: counters of the processes as metrics.

mod http;
mod push;

use super::follow::{Collectors, follow};
use crate::args;
use anyhow::{Context, Result};
use http::Page;
use push::Receiver;
use rocshim_analysis::Live;
use rocshim_live::Metrics;
use rocshim_reader::Poll;
use rocshim_report as report;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::sleep,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Traces of processes that ended before this, and were not written to since, are not read.
const OLD: Duration = Duration::from_secs(300);
/// Pause between two looks for what was written.
const PAUSE: Duration = Duration::from_millis(200);

/// Follows the traces until a signal ends it.
pub(crate) fn listen(args: &args::Top) -> Result<ExitCode> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, ended.clone()).context("cannot wait for signals")?;
    }
    let (_, follower) = follow(&args.traces)?;
    let mut follower = follower.without_ended(OLD);
    let receiver = args.push.as_deref().map(Receiver::new).transpose()?;
    let page = args.listen.map(Page::serve).transpose()?;
    if let Some(page) = &page {
        report::print_status(&format!("rocshim: metrics at http://{}/metrics\n", page.address()));
    }
    let (mut live, mut collectors) = (Live::default(), Collectors::default());
    let mut metrics = Metrics::new(args.processes, unix_ns());
    let (begin, every) = (Instant::now(), Duration::from_secs_f64(args.every));
    let (mut next, mut is_behind, mut reported) = (begin, true, 0);
    while !ended.load(Relaxed) {
        let Poll { more, .. } = follower.poll(&mut live)?;
        for note in follower.notes().iter().skip(reported) {
            report::print_error(note);
        }
        reported = follower.notes().len();
        is_behind &= more;
        // Until all was read that was written before, the counters are no process's.
        if !is_behind && Instant::now() >= next {
            next = Instant::now() + every;
            let processes = live.counters(&collectors.ask(&live));
            let at = begin.elapsed().as_nanos() as u64;
            for trace in metrics.update(processes, reported, at) {
                live.forget(trace);
            }
            if let Some(page) = &page {
                page.show(metrics.text());
            }
            if let Some(receiver) = &receiver {
                receiver.send(metrics.otlp(unix_ns()));
            }
        }
        if !more {
            sleep(PAUSE.min(every));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}
