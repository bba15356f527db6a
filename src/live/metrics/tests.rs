//! Metrics of hand-made counters.

use super::*;

fn process(trace: usize, is_running: bool, launches: u64) -> LiveCounters {
    let counts = LiveCounts { launches: [(("ggml", "mmq"), launches)].into(), ..LiveCounts::default() };
    LiveCounters {
        trace,
        host: "node1".into(),
        program: "train".into(),
        pid: 100 + trace as u32,
        rank: Some(trace as u32),
        model: None,
        begin_ns: 5,
        state: if is_running { LiveState::Running } else { LiveState::Ended },
        counts,
        fullest_ring: None,
    }
}

/// The lines of the text that have this name.
fn lines(metrics: &Metrics, name: &str) -> Vec<String> {
    metrics.text().lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
}

#[test]
fn a_process_has_its_counters_with_its_labels() {
    let mut metrics = Metrics::new(10, 0);
    let mut one = process(3, true, 7);
    one.model = Some("a\"b\\c".into());
    one.fullest_ring = Some(0.25);
    one.counts.launches.insert(("", ""), 2);
    one.counts.gpu_busy_ns = Some(1_500_000_000);
    one.counts.delays = Some((9, 18_000));
    assert_eq!(metrics.update(vec![one], 1, 0), Vec::<usize>::new());
    let of = r#"host="node1",program="train",pid="103",rank="3",model="a\"b\\c""#;
    let expected = format!(
        "# HELP rocshim_launches_total Kernel launches by family, which is inferred from the kernel's name\n\
         # TYPE rocshim_launches_total counter\n\
         rocshim_launches_total{{{of},family=\"unknown\"}} 2\n\
         rocshim_launches_total{{{of},family=\"mmq\",family_of=\"ggml\"}} 7\n"
    );
    assert!(metrics.text().starts_with(&expected), "{}", metrics.text());
    assert_eq!(
        lines(&metrics, "rocshim_gpu_busy_seconds_total{"),
        [format!("rocshim_gpu_busy_seconds_total{{{of}}} 1.5")]
    );
    assert_eq!(
        lines(&metrics, "rocshim_gpu_delay_seconds_total{"),
        [format!("rocshim_gpu_delay_seconds_total{{{of}}} 0.000018")]
    );
    assert_eq!(lines(&metrics, "rocshim_ring_ratio{"), [format!("rocshim_ring_ratio{{{of}}} 0.25")]);
    assert_eq!(lines(&metrics, "rocshim_running"), [format!("rocshim_running{{{of}}} 1")]);
    assert_eq!(lines(&metrics, "rocshim_unread_files"), ["rocshim_unread_files 1"]);
    assert!(lines(&metrics, "rocshim_collector").is_empty(), "what is not known has no value");
}

#[test]
fn processes_beyond_the_limit_are_counted_together_and_no_counter_falls() {
    let mut metrics = Metrics::new(2, 0);
    let all = |ended: usize| (0..4).map(|trace| process(trace, trace >= ended, 10)).collect::<Vec<_>>();
    metrics.update(all(0), 0, 0);
    let launches = |metrics: &Metrics| lines(metrics, "rocshim_launches_total{");
    assert_eq!(launches(&metrics).len(), 3);
    let others = r#"rocshim_launches_total{program="others",family="mmq",family_of="ggml"} 20"#;
    assert_eq!(launches(&metrics)[2], others);
    // All end: they are shown for a while, then those with series go, and the sum of the others
    // stays.
    assert_eq!(metrics.update(all(4), 0, 1), Vec::<usize>::new());
    assert_eq!(lines(&metrics, "rocshim_running{")[0].split(' ').next_back(), Some("0"));
    assert_eq!(metrics.update(all(4), 0, 1 + KEPT_NS), [0, 1, 2, 3]);
    assert_eq!(launches(&metrics)[2], others);
    metrics.update(vec![process(4, true, 1)], 0, 2 + KEPT_NS);
    let now = launches(&metrics);
    assert!(now.len() == 2 && now[0].contains("pid=\"104\"") && now[1] == others, "{now:?}");
    assert_eq!(lines(&metrics, "rocshim_seen_processes_total"), ["rocshim_seen_processes_total 5"]);
}

#[test]
fn opentelemetry_takes_the_same_numbers() {
    let mut metrics = Metrics::new(10, 77);
    metrics.update(vec![process(3, true, 7)], 0, 0);
    let sent: Value = serde_json::from_str(&metrics.otlp(99)).unwrap();
    let sent = &sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let launches = &sent[0];
    assert_eq!((&launches["name"], &launches["unit"]), (&json!("rocshim.launches"), &json!("{launch}")));
    let sum = &launches["sum"];
    assert_eq!((&sum["isMonotonic"], &sum["aggregationTemporality"]), (&json!(true), &json!(2)));
    let point = &sum["dataPoints"][0];
    assert_eq!((&point["asDouble"], &point["startTimeUnixNano"]), (&json!(7.0), &json!("5")));
    assert_eq!(point["timeUnixNano"], json!("99"));
    let family = json!({"key": "family", "value": {"stringValue": "mmq"}});
    assert!(point["attributes"].as_array().unwrap().contains(&family), "{point}");
    let gauge = sent.as_array().unwrap().iter().find(|of| of["name"] == "rocshim.processes").unwrap();
    assert_eq!(gauge["gauge"]["dataPoints"][0]["asDouble"], json!(1.0));
}
