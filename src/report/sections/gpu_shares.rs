//! The sections on shares of the GPU time (GEMMs, convolutions, copies, families) and on GPU
//! queues.

use crate::section::Part;
use crate::table::Style;
use rocshim_analysis::units::{count, time};
use rocshim_analysis::{GPU_PRODUCTS, GPU_QUEUES, GPU_SHARES, GPU_TRANSFERS, GpuQueueRow, GpuTimes, Summary};

/// GEMMs and convolutions with their rates.
pub(crate) fn products(summary: &Summary, style: &Style) -> Option<String> {
    let products = &summary.gpu.as_ref()?.products;
    let rate =
        "TFLOP/s: additions and multiplications by the sizes of the shape (2 m n k) in the time on the GPU";
    let missing = "limited: not every kernel of that shape was reported";
    let missing = products.iter().any(|row| row.reported != row.kernels).then(|| missing.to_owned());
    let in_graphs =
        "inferred: the kernels of a graph launch have the names of the captured launches, in their order";
    let in_graphs = products.iter().any(|row| row.in_graphs > 0).then(|| in_graphs.to_owned());
    let unknown = "unknown: calls of graph launches of which that does not hold";
    let unknown = products.iter().any(|row| row.unknown > 0).then(|| unknown.to_owned());
    let remarks = [missing, in_graphs, unknown].into_iter().flatten();
    Part::new(&GPU_PRODUCTS, products).remark(rate).remarks(remarks).section(style)
}

/// Copies and fills with their rates.
pub(crate) fn transfers(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&GPU_TRANSFERS, &summary.gpu.as_ref()?.transfers).section(style)
}

/// The queues of each device, and the host in their pauses.
pub(crate) fn queues(summary: &Summary, style: &Style) -> Option<String> {
    let gpu = summary.gpu.as_ref()?;
    let host = |row: &GpuQueueRow| {
        let host = (!row.host.is_empty()).then(|| format!("the host meanwhile: {}", row.host_in_words()));
        host.into_iter().collect()
    };
    Part::new(&GPU_QUEUES, &gpu.queues).under(host).remarks(queue_remarks(gpu)).section(style)
}

fn queue_remarks(gpu: &GpuTimes) -> Vec<String> {
    let mut remarks = vec![
        "pauses: from the end of a command to the begin of the next one of the queue; not launched: the call that asks for the next had not returned; held: it had, and the command waited on the GPU".to_owned(),
    ];
    if let Some(delay) = gpu.delay {
        remarks.push(format!(
            "from the entry of a launch to the begin of its kernel: median {}, p99 {}, longest {} ({} kernels)",
            time(delay.median_ns),
            time(delay.p99_ns),
            time(delay.max_ns),
            count(delay.kernels)
        ));
    }
    remarks.push(clock_error(gpu.clock_error_ns));
    remarks.extend(gpu.overlaps.iter().map(|row| {
        let [first, second] = row.queues;
        format!(
            "device {}: queues {first} and {second} were both busy for {}",
            row.device,
            time(row.total_ns)
        )
    }));
    let mut why: Vec<&str> = gpu.queues.iter().filter_map(|row| row.why).collect();
    why.dedup();
    remarks.extend(why.iter().map(|why| format!("limited: it does not hold, or is not known, that {why}")));
    remarks
}

/// Returns the uncertainty of a begin on the GPU relative to host times, in words.
pub(crate) fn clock_error(ns: u64) -> String {
    let how = "which `rocshim help gpu-time` explains";
    format!("a begin on the GPU is uncertain by {} against host times, {how}", time(ns))
}

/// The kernels' time by family, code object and graph.
pub(crate) fn shares(summary: &Summary, style: &Style) -> Option<String> {
    let gpu = summary.gpu.as_ref()?;
    let rows = gpu.families.iter().chain(&gpu.code_objects).chain(&gpu.graphs);
    let remark = "code object: kernels that were launched directly; those of graphs are under their graph";
    Part::new(&GPU_SHARES, rows).remark(remark).section(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::Text;

    #[test]
    fn the_sections_say_what_the_time_was_spent_for() {
        let mut text = Text::new(0);
        text.ask_for_gpu_times();
        text.nested_gemm(64, 0x10); // launch 1, entered at 100, within call 2
        text.wait(7); // 3
        text.graph_launch(4); // 4, entered at 400
        text.ran(1, 1, 2, 1_000, 500);
        text.ran(1, 4, 2, 3_500_000, 300);
        let summary = text.run().summary;
        let style = Style::default();
        let expected = "\
GEMMs and convolutions on the GPU
  calls  kernels   total  TFLOP/s  evidence   shape            function
      1        1  500 ns     0.01  confirmed  TN 4x64x6 f16_r  hipblasGemmEx
  TFLOP/s: additions and multiplications by the sizes of the shape (2 m n k) in the time on the GPU
";
        assert_eq!(products(&summary, &style).as_deref(), Some(expected));
        let expected = "\
Queues of the GPU
  device  queue  commands    busy  share   pauses   median  longest  not launched     held  evidence
       1      2         2  800 ns   0.0%  3.50 ms  3.49 ms  3.50 ms          0 ns  3.50 ms  inferred
  pauses: from the end of a command to the begin of the next one of the queue; not launched: the call that asks for the next had not returned; held: it had, and the command waited on the GPU
  from the entry of a launch to the begin of its kernel: median 899 ns, p99 3.49 ms, longest 3.50 ms (2 kernels)
  a begin on the GPU is uncertain by 5.00 µs against host times, which `rocshim help gpu-time` explains
";
        assert_eq!(queues(&summary, &style).as_deref(), Some(expected));
        let expected = "\
Shares of the kernels' time on the GPU
  kernels   total   share  median     p99  of a         name
        2  800 ns  100.0%  301 ns  501 ns  family       mmvq
        1  500 ns   62.5%  501 ns  501 ns  code object  libggml-hip.so bundle 30
        1  300 ns   37.5%  301 ns  301 ns  graph        graph 4 of 7
  code object: kernels that were launched directly; those of graphs are under their graph
";
        assert_eq!(shares(&summary, &style).as_deref(), Some(expected));
    }
}
