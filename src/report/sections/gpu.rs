//! The section on GPU times, as the HIP runtime reported them, and on dispatches without an
//! intercepted launch.

use super::{clock_error, label};
use crate::{section::Part, table::Style};
use rocshim_analysis::units::{bytes, count, counted, percent, time};
use rocshim_analysis::{Evidence, GPU_KERNELS, GpuTimes, PastRow, Summary};

/// Each kernel's time on the GPU.
pub(crate) fn gpu(summary: &Summary, style: &Style) -> Option<String> {
    let gpu = summary.gpu.as_ref()?;
    Some(Part::new(&GPU_KERNELS, &gpu.kernels).remarks(remarks(gpu, style)).even_empty(style))
}

/// Returns remarks on a run's GPU times: whether every dispatch was seen, how busy the GPU was.
pub fn gpu_remarks(gpu: &GpuTimes) -> Vec<String> {
    let mut remarks = remarks(gpu, &Style::default());
    remarks.push(clock_error(gpu.clock_error_ns));
    remarks
}

fn remarks(gpu: &GpuTimes, style: &Style) -> Vec<String> {
    let mut remarks = vec![seen(gpu)];
    remarks.extend(past(gpu, style));
    if gpu.copies > 0 {
        remarks.push(format!(
            "{} of {} took {} in addition to the kernels",
            match gpu.copies {
                1 => "1 copy or fill".to_owned(),
                many => format!("{} copies and fills", count(many)),
            },
            bytes(gpu.copied_bytes),
            time(gpu.copies_ns)
        ));
    }
    if gpu.span_ns > 0 {
        remarks.push(format!(
            "the GPU was busy for {} of {} ({})",
            time(gpu.busy_ns),
            time(gpu.span_ns),
            percent(gpu.busy_ns as f64 / gpu.span_ns as f64)
        ));
    }
    remarks
}

/// Returns a line for each kernel with dispatches that no hook intercepted.
pub(crate) fn past(gpu: &GpuTimes, style: &Style) -> Vec<String> {
    let line = |row: &PastRow| {
        let function = row.function.as_ref().map_or(String::new(), |function| format!(", by {function}"));
        let kernel = label(&row.kernel, None, style);
        format!("seen by no hook: {} of {kernel}{function}", counted(row.dispatches, "dispatch"))
    };
    gpu.past.iter().map(line).collect()
}

/// Returns how many of the dispatches were intercepted, in words.
pub(crate) fn seen(gpu: &GpuTimes) -> String {
    let of_program = gpu.dispatches - gpu.of_runtime;
    let own = match gpu.of_runtime {
        0 => String::new(),
        own => format!(", and {} of the runtime's own", count(own)),
    };
    let what = format!("{} of {} seen{own}", count(of_program - gpu.unseen), counted(of_program, "dispatch"));
    match (gpu.evidence, &gpu.why) {
        (Evidence::Confirmed(_), _) => format!("confirmed: {what}"),
        (evidence, Some(why)) => format!("{evidence}: {what}; {why}"),
        (evidence, None) => format!("{evidence}: {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::CONFIRMED;

    #[test]
    fn the_sentence_says_how_many_were_seen_and_which_were_not() {
        let all = GpuTimes { dispatches: 410, of_runtime: 4, evidence: CONFIRMED, ..GpuTimes::default() };
        assert_eq!(seen(&all), "confirmed: 406 of 406 dispatches seen, and 4 of the runtime's own");
        let row = PastRow { kernel: "k".into(), function: Some("hipLaunchKernel".into()), dispatches: 2 };
        let why = Some("why".to_owned());
        let some = GpuTimes { unseen: 2, past: vec![row], evidence: Evidence::Limited, why, ..all };
        assert_eq!(seen(&some), "limited: 404 of 406 dispatches seen, and 4 of the runtime's own; why");
        assert_eq!(
            past(&some, &Style::default()),
            ["seen by no hook: 2 dispatches of k, by hipLaunchKernel"]
        );
    }
}
