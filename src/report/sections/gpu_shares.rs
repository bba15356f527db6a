//! What the time on the GPU was spent for, and how its queues were used.

use crate::section::section;
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::{bytes, count, percent, time};
use rocshim_analysis::{GpuQueueRow, GpuShareRow, GpuTimes, Summary};

fn optional(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

/// GEMMs, convolutions, copies and fills with their rates.
pub(crate) fn products(summary: &Summary, style: &Style) -> Option<String> {
    let gpu = summary.gpu.as_ref()?;
    let mut table = Table::new(&[
        Column::Right("calls"),
        Column::Right("total"),
        Column::Right("rate"),
        Column::Left("evidence"),
        Column::Left("shape"),
        Column::Missable("kernels"),
        Column::Text("function"),
    ]);
    for row in &gpu.products {
        table.row(vec![
            count(row.calls),
            time(row.total_ns),
            optional(row.tflops.map(|rate| format!("{rate:.2} TFLOP/s"))),
            row.evidence.to_string(),
            row.shape.clone(),
            count(row.kernels),
            row.function.clone(),
        ]);
    }
    for row in &gpu.transfers {
        table.row(vec![
            count(row.commands),
            time(row.total_ns),
            optional(row.gb_per_s.map(|rate| format!("{rate:.2} GB/s"))),
            "confirmed".into(),
            bytes(row.bytes),
            "-".into(),
            row.command.clone(),
        ]);
    }
    if table.rows().is_empty() {
        return None;
    }
    let mut remarks = vec![
        "rate: additions and multiplications by the sizes of the shape (2 m n k), or bytes, in the time on the GPU"
            .to_owned(),
    ];
    let missing = gpu.products.iter().any(|row| row.reported != row.kernels);
    remarks.extend(missing.then(|| "limited: not every kernel of that shape was reported".into()));
    section("GEMMs, convolutions and copies on the GPU", &table, style, &remarks)
}

/// The queues of each device, and the host in their pauses.
pub(crate) fn queues(summary: &Summary, style: &Style) -> Option<String> {
    let gpu = summary.gpu.as_ref().filter(|gpu| !gpu.queues.is_empty())?;
    let processes = summary.processes.len() > 1;
    let mut columns: Vec<Column> = processes.then_some(Column::Right("process")).into_iter().collect();
    columns.extend([
        Column::Right("device"),
        Column::Right("queue"),
        Column::Right("commands"),
        Column::Right("busy"),
        Column::Right("share"),
        Column::Right("pauses"),
        Column::Missable("median"),
        Column::Missable("longest"),
        Column::Right("not launched"),
        Column::Right("held"),
        Column::Left("evidence"),
    ]);
    let mut table = Table::new(&columns);
    for row in &gpu.queues {
        let mut cells: Vec<String> = processes.then(|| row.pid.to_string()).into_iter().collect();
        cells.extend([
            row.device.to_string(),
            row.queue.to_string(),
            count(row.commands),
            time(row.busy_ns),
            percent(row.busy_ns as f64 / row.span_ns.max(1) as f64),
            time(row.pauses_ns),
            optional(row.median_pause_ns.map(time)),
            time(row.longest_pause_ns),
            time(row.not_launched_ns),
            time(row.held_ns),
            row.evidence.to_string(),
        ]);
        table.row_with(cells, host(row).into_iter().collect());
    }
    section("Queues of the GPU", &table, style, &queue_remarks(gpu))
}

/// `the host meanwhile: hipStreamSynchronize 1.20 ms, outside hooked calls 300 µs`.
fn host(row: &GpuQueueRow) -> Option<String> {
    let parts = row.host.iter().map(|share| {
        let function = share.function.as_deref().unwrap_or("outside hooked calls");
        format!("{function} {}", time(share.total_ns))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("the host meanwhile: {}", parts.join(", ")))
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

/// How exactly a begin on the GPU compares with host times.
pub(crate) fn clock_error(ns: u64) -> String {
    let how = "which `rocshim help gpu-time` explains";
    format!("a begin on the GPU is uncertain by {} against host times, {how}", time(ns))
}

/// The kernels' time by family, code object and graph.
pub(crate) fn shares(summary: &Summary, style: &Style) -> Option<String> {
    let gpu = summary.gpu.as_ref()?;
    let mut table = Table::new(&[
        Column::Right("kernels"),
        Column::Right("total"),
        Column::Right("share"),
        Column::Left("of a"),
        Column::Text("name"),
    ]);
    let kinds: [(&str, &[GpuShareRow]); 3] =
        [("family", &gpu.families), ("code object", &gpu.code_objects), ("graph", &gpu.graphs)];
    for (kind, rows) in kinds {
        for row in rows {
            let name = row.name.clone().unwrap_or_else(|| "unresolved: not known".into());
            table.row(vec![count(row.kernels), time(row.total_ns), percent(row.share), kind.into(), name]);
        }
    }
    if table.rows().is_empty() {
        return None;
    }
    let remark = "code object: kernels that were launched directly; those of graphs are under their graph";
    section("Shares of the kernels' time on the GPU", &table, style, &[remark.into()])
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
GEMMs, convolutions and copies on the GPU
  calls   total          rate  evidence   shape            kernels  function
      1  500 ns  0.01 TFLOP/s  confirmed  TN 4x64x6 f16_r        1  hipblasGemmEx
  rate: additions and multiplications by the sizes of the shape (2 m n k), or bytes, in the time on the GPU
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
  kernels   total   share  of a         name
        2  800 ns  100.0%  family       mmvq
        1  500 ns   62.5%  code object  libggml-hip.so bundle 30
        1  300 ns   37.5%  graph        graph 4 of 7
  code object: kernels that were launched directly; those of graphs are under their graph
";
        assert_eq!(shares(&summary, &style).as_deref(), Some(expected));
    }
}
