//! Screens of hand-made statistics.

use super::*;
use ratatui::{Terminal, backend::TestBackend};
use rocshim_analysis::Evidence;

fn growth(all: u64, per_second: f64) -> Growth {
    Growth { all, per_second }
}

fn row(name: &str, of: &str, (all, per_second): (u64, f64), host_ns: u64) -> LiveRow {
    LiveRow { name: name.into(), of: of.into(), calls: growth(all, per_second), host_ns }
}

fn stats() -> LiveStats {
    LiveStats {
        events: growth(5_000, 40.0),
        launches: growth(4_000, 21_956.4),
        products: growth(7, 0.25),
        failed: growth(2, 0.0),
        lost: growth(1_234, 0.0),
        losses: [("ring_full".into(), 1_200), ("no_memory".into(), 34)].into(),
        history: vec![0, 8],
        running: 1,
        gpu_busy: Some(0.5),
        collectors: Some(0.042),
        phases: vec![LivePhase {
            pid: 4711,
            stream_group: 0,
            name: "decode".into(),
            evidence: Evidence::Inferred,
            columns: Some(1),
            passes: growth(9, 499.0),
            tokens: growth(9, 499.0),
            launches: 44,
            pass_ns: 551_000,
            idle_ns: 5_440_000_000,
        }],
        processes: vec![
            LiveProcess {
                pid: 4711,
                program: "llama-server -m x.gguf".into(),
                end: "running".into(),
                events: growth(5_000, 40.0),
                launches: growth(4_000, 21_956.4),
                lost: 1_234,
                collector: Some(0.042),
                fullest_ring: Some(0.5),
            },
            LiveProcess {
                pid: 4712,
                program: "sh".into(),
                end: "exit".into(),
                events: growth(0, 0.0),
                launches: growth(0, 0.0),
                lost: 0,
                collector: None,
                fullest_ring: None,
            },
        ],
        kernels: vec![
            row("void mul_mat_q<(ggml_type)2, 32>(char const*)", "ggml: mmq", (1_000, 0.0), 5_000_000),
            row("quantize_q8_1(float const*)", "ggml: quantize", (3_000, 21_956.4), 2_000_000),
        ],
        ..LiveStats::default()
    }
}

/// Returns the lines of a screen of this size, without trailing blanks.
fn lines(screen: &Screen, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &stats(), screen)).unwrap();
    let cells = terminal.backend().buffer().content().chunks(width.into());
    cells.map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().into()).collect()
}

fn screen() -> Screen {
    Screen { what: "traces".into(), every: Duration::from_secs(1), ..Screen::default() }
}

#[test]
fn a_screen_of_eighty_columns_says_what_is_now_and_what_was_lost() {
    assert_eq!(
        lines(&screen(), 80, 14),
        [
            "rocshim top traces  1 running, 1 ended  every 1 s",
            "launches 21 956/s  lost 1 234  GPU busy 50.0%  collector 4.2% of a core",
            "LOST events: 34 no_memory, 1 200 ring_full",
            " █",
            "    PID group phase     ne11     /s tokens/s launches    pass    ago evidence",
            "   4711     0 decode       1    499      499       44  551 µs 5.44 s inferred",
            "1 kernels 2 families 3 products 4 convolutions 5 phases 6 processes",
            "     /s*      total  share    host kernel",
            "  21 956      3 000  75.0% 2.00 ms quantize_q8_1                  ggml: quantize",
            "       0      1 000  25.0% 5.00 ms mul_mat_q<q4_0, 32>            ggml: mmq",
            "",
            "",
            "",
            "q quit  p pause  Tab/1-6 table  s sort  / filter  arrows move  +/- pace  ? help",
        ]
    );
}

#[test]
fn rows_are_sorted_filtered_and_scrolled() {
    let named = |screen: &Screen| lines(screen, 80, 14)[8..10].join("\n");
    let by_host = Screen { sort: Sort::Host, ..screen() };
    assert!(named(&by_host).find("mul_mat_q") < named(&by_host).find("quantize_q8_1"));
    let some = Screen { filter: "MMQ".into(), ..screen() };
    assert_eq!((length(&stats(), &some), named(&some).contains("quantize")), (1, false));
    assert!(lines(&some, 80, 14)[13].starts_with("rows with: MMQ   / changes it"));
    let scrolled = Screen { first: 1, ..screen() };
    assert!(lines(&scrolled, 80, 14)[8].contains("mul_mat_q"));
    let sorts = [Sort::PerSecond.next(), Sort::All.next(), Sort::Host.next(), Sort::Name.next()];
    assert_eq!(sorts, [Sort::All, Sort::Host, Sort::Name, Sort::PerSecond]);
}

#[test]
fn processes_and_help_have_their_screens() {
    let processes = Screen { shown: Tab::Processes, ..screen() };
    assert_eq!(
        lines(&processes, 80, 14)[7..10],
        [
            "    PID state           /s   launches     lost collector   ring program",
            "   4711 running     21 956      4 000    1 234      4.2%  50.0% llama-server -m",
            "   4712 exit             0          0        0         ?      ? sh",
        ]
    );
    let help = lines(&Screen { is_help: true, ..screen() }, 80, 14);
    assert_eq!(help[..HELP.len()], HELP);
}

#[test]
fn a_tiny_terminal_is_no_trouble() {
    for (width, height) in [(1, 1), (10, 3), (40, 8)] {
        assert_eq!(lines(&screen(), width, height).len(), usize::from(height));
    }
}
