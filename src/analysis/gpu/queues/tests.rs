//! Queues, pauses and overlap of small traces.

use super::*;
use crate::evidence::rules::check;
use crate::testing::Text;

#[test]
fn pauses_are_split_by_the_call_that_asks_for_the_next_command() {
    let mut text = Text::new(0);
    text.ask_for_gpu_times();
    text.launch(7, 1, 1); // 1: 100 to 110
    text.wait(7); // 2: 200 to 210
    text.launch(7, 1, 1); // 3: 300 to 310
    text.launch(7, 1, 1); // 4: 400 to 410
    text.ran(1, 1, 2, 130, 20); // ends at 150
    text.ran(1, 4, 3, 420, 100); // another queue
    text.ran(1, 3, 2, 450, 50); // its pause: 150 to 450, launched at 310
    let gpu = text.run().summary.gpu.expect("reports");
    let [first, second] = &gpu.queues[..] else { panic!("{:?}", gpu.queues) };
    assert_eq!((first.device, first.queue, first.commands, first.busy_ns, first.span_ns), (1, 2, 2, 70, 370));
    assert_eq!((first.pauses, first.pauses_ns, first.longest_pause_ns), (1, 300, 300));
    assert_eq!((first.not_launched_ns, first.held_ns, first.unknown_ns), (160, 140, 0));
    let host: Vec<_> = first.host.iter().map(|share| (share.function.as_deref(), share.total_ns)).collect();
    // The wait, and the launch itself.
    assert_eq!(host, [(None, 140), (Some("hipLaunchKernel"), 10), (Some("hipMemcpyAsync"), 10)]);
    // The clock's error, 1 µs, is larger than the pause.
    assert_eq!(first.evidence, Evidence::Limited);
    assert_eq!((second.queue, second.pauses, second.span_ns), (3, 0, 100));
    let delay = gpu.delay.expect("launches");
    assert_eq!((delay.kernels, delay.median_ns, delay.max_ns), (3, 30, 150));
    // 450 to 500.
    assert_eq!(gpu.overlaps, [OverlapRow { pid: 7, device: 1, queues: [2, 3], total_ns: 50 }]);
}

#[test]
fn a_pause_is_explained_only_where_nothing_is_missing() {
    let met = Facts { unknown_ns: 0, is_whole: true, error: Some(1), pause: 10 };
    let not_met =
        [Facts { unknown_ns: 1, ..met }, Facts { is_whole: false, ..met }, Facts { error: Some(11), ..met }];
    check(&PAUSES, &met, &not_met, &[Facts { error: None, ..met }]);
}

#[test]
fn common_time_is_that_of_both() {
    assert_eq!(common(&[(0, 10), (20, 30)], &[(5, 22), (25, 27), (29, 40)]), 5 + 2 + 2 + 1);
    assert_eq!(common(&[(0, 10)], &[]), 0);
}
