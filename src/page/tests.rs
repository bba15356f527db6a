//! The whole page, of traces that are known by hand: what it must show, and what it must not.

use super::{Shown, page};
use rocshim_analysis::{ComparedRun, RunBuilder, compare, testing::Text};
use rocshim_reader::{End, Label, Reading, RecordVisitor};

/// A prompt of five columns and two tokens.
fn text() -> Text {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    (0..2).for_each(|_| text.pass(&[1, 1, 1]));
    text
}

fn shown(label: Option<&str>, text: &Text) -> Shown {
    Shown { label: label.map(str::to_owned), path: "t".into(), run: text.run() }
}

/// The page without its scripts.
fn markup(page: &str) -> String {
    let (head, rest) = page.split_once("<script>").expect("plotly.js");
    let (_, rest) = rest.split_once("</script>").expect("its end");
    let (before, rest) = rest.split_once("<script>").expect("the page's own");
    let (_, rest) = rest.split_once("</script>").expect("its end");
    format!("{head}{before}{rest}")
}

/// The rows of a table, each as the raw values or the texts of its cells.
fn rows(page: &str, table: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(&format!("data-table=\"{table}\"")).expect(table);
    let (body, _) = rest.split_once("<tbody>").expect("a body").1.split_once("</tbody>").expect("its end");
    let cell = |cell: &str| match cell.split_once("data-v=\"") {
        Some((_, value)) => value.split('"').next().unwrap_or_default().to_owned(),
        None => {
            let text = cell.split_once('>').expect("a cell").1.split("</td>").next().unwrap_or_default();
            text.replace("<code>", "").replace("</code>", "")
        }
    };
    body.split("<tr>").skip(1).map(|row| row.split("<td").skip(1).map(cell).collect()).collect()
}

#[test]
fn the_numbers_of_a_small_trace_stand_on_it() {
    let page = page(&[shown(None, &text())], None);
    // Call N is entered at 100 N and takes 10 (see the page of `phases`).
    let kinds = rows(&page, "kinds");
    assert_eq!(
        kinds,
        [
            ["100", "7", "0", "", "prompt", "inferred", "1", "5", "5", "4", "0.8", "50", "10", "0", "mmvq 3"],
            ["700", "7", "0", "", "decode", "inferred", "2", "1", "2", "8", "4", "100", "20", "90", "mmvq 6"],
        ]
    );
    let kernels: Vec<Vec<String>> = rows(&page, "kernels").into_iter().map(|row| row[..8].to_vec()).collect();
    // Launched 7, 3 and 2 times, 10 ns each.
    let expected = [
        ["_Z1", "7", "0", "0", "0", "0", "0", "70"],
        ["_Z9", "3", "0", "0", "0", "0", "0", "30"],
        ["_Z5", "2", "0", "0", "0", "0", "0", "20"],
    ];
    assert_eq!(kernels, expected);
    let edges: Vec<Vec<String>> = rows(&page, "edges");
    assert_eq!(
        edges,
        [
            ["Application", "prog", "HIP", "kernel launches", "12"],
            ["Application", "prog", "HIP", "copies, memory set", "3"],
            ["Application", "prog", "HIP", "waits, events", "3"],
            ["HIP", "kernel launches", "Code object", "libggml-hip.so bundle 30", "12"],
        ]
    );
    assert!(page.contains(
        "1 request drawn as 1 bar, 2 phases drawn as 2 bars, 3 steps drawn as 3 bars: each by itself."
    ));
    assert!(page.contains("data-banner=\"ok\""), "nothing was lost");
}

#[test]
fn gpu_times_have_their_tables_and_a_page_without_them_says_how_to_get_them() {
    let none = markup(&page(&[shown(None, &text())], None));
    assert!(none.contains("data-none=\"gpu\"") && none.contains("rocshim run --gpu-time"));
    let mut timed = Text::new(0);
    timed.ask_for_gpu_times();
    timed.pass(&[5, 5, 1]);
    (1..=4).for_each(|id| timed.ran(1, id, 2, 1_000_000 * id, 900_000));
    let page = markup(&page(&[shown(None, &timed)], None));
    let phases = rows(&page, "gpu_phases");
    let prompt = ["100", "1", "prompt", "confirmed", "3600000", "0.734709", "10", "1299890"];
    assert_eq!(phases[0][..8], prompt);
    assert_eq!(rows(&page, "gpu.kernels")[0][..3], ["mul_mat_vec_q()", "4", "3600000"]);
    assert_eq!(rows(&page, "gpu.queues").len(), 1);
    assert!(page.contains("Lines go from 4 launches to the kernels") && page.contains("launch to kernel"));
    assert!(page.contains("4 of 4 dispatches seen") && !page.contains("data-none=\"gpu\""));
}

#[test]
fn every_section_is_there_and_each_id_once() {
    let comparison = |shown: &[Shown]| {
        let run = |one: &Shown| ComparedRun {
            label: one.label.clone().unwrap_or_default(),
            path: one.path.clone(),
            summary: one.run.summary.clone(),
        };
        compare(&shown.iter().map(run).collect::<Vec<_>>(), &[])
    };
    let mut other = Text::new(0);
    other.pass(&[8, 8, 1]);
    let runs = [shown(Some("old"), &text()), shown(Some("new"), &other)];
    let page = markup(&page(&runs, Some(&comparison(&runs))));
    for section in
        ["glance", "timeline", "phases", "kernels", "gpu", "products", "layers", "origins", "coverage"]
    {
        assert_eq!(page.matches(&format!("data-section=\"{section}\"")).count(), 2, "{section} of two sides");
    }
    assert!(page.contains("id=\"compare\""), "and both side by side");
    assert!(page.contains(">Change</button>"), "the figure begins with what differs");
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "each id once");
    // Kernel _Z5 was launched in one run alone, _Z8 on the other.
    let kernels = rows(&page, "compared_kernels");
    let of = |name: &str| {
        let row = kernels.iter().find(|row| row[0] == name).expect(name);
        [&row[1], &row[2], &row[row.len() - 2]].map(String::as_str)
    };
    assert_eq!(of("_Z5"), ["2", "", "only old, not new"]);
    assert_eq!(of("_Z8"), ["", "2", "only new, not old"]);
    assert_eq!(of("_Z1"), ["7", "1", "both"]);
}

const EVIL: &str = "</script><img src=x onerror=alert(1)><b>&lt;";

#[test]
fn names_in_a_trace_are_no_markup_and_no_script() {
    let quoted = EVIL.replace('"', "\\\"");
    let trace = format!(
        r#"{{"type":"header","format":1,"rocshim":"{quoted}","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/{quoted}","argv":["{quoted}"],"env":{{"A":"{quoted}"}},"host":"{quoted}","clock":"{quoted}","tick_hz":1,"epoch":"0","rings":""}}
{{"type":"library","id":9,"path":"/opt/{quoted}","soname":"{quoted}","build_id":"{quoted}"}}
{{"type":"device","ordinal":0,"gfx":"{quoted}","name":"{quoted}","how":"{quoted}"}}
{{"type":"hook","id":0,"name":"{quoted}","of":"{quoted}","point":"{quoted}","state":"unbound","why":"{quoted}"}}
{{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","point":"preload","state":"bound"}}
{{"type":"code_object","id":5,"source":"fat_binary","path":"/opt/{quoted}","ordinal":3,"targets":["{quoted}"]}}
{{"type":"kernel","id":1,"name":"{quoted}","demangled":"{quoted}","code_object":5,"target":"{quoted}"}}
{{"type":"mark","tid":7,"id":1,"t":1,"dur":1,"hook":0,"action":"push","text":"{quoted}"}}
{{"type":"launch","tid":7,"id":3,"parent":2,"t":3,"dur":1,"hook":0,"kernel":1,"block":[1,1,1]}}
{{"type":"gemm","tid":7,"id":2,"t":2,"dur":5,"hook":1,"form":"plain","handle":"0x1","trans_a":"{quoted}","trans_b":"N","m":4,"n":5,"k":6,"batch":1,"a":{{"ptr":"0x1","type":"{quoted}","ld":8}},"b":{{"ptr":"0x1","type":"{quoted}","ld":8}},"c":{{"ptr":"0x1","type":"{quoted}","ld":8}},"d":{{"ptr":"0x1","type":"{quoted}","ld":8}},"alpha":"0x1","beta":"0x2","compute":"{quoted}","algo":"{quoted}","solution":1}}
{{"type":"gap","tid":7,"t":5,"dur":5,"lost":4,"reason":"{quoted}"}}
{{"type":"footer","t":9,"end":"{quoted}"}}"#
    );
    let labels = vec![Label { name: EVIL.into(), begin: 0, end: u64::MAX }];
    let mut builder = RunBuilder::new(labels);
    builder.begin_file(EVIL.into());
    for line in trace.lines() {
        builder.visit(&rocshim_trace::parse_line(line.as_bytes()).expect(line));
    }
    builder.end_file(Reading { end: End::Footer, notes: vec![EVIL.into()] });
    builder.pass_over(EVIL.into());
    let run = builder.finish(None, false);
    let page = page(&[Shown { label: Some(EVIL.into()), path: EVIL.into(), run }], None);
    let page = markup(&page);
    assert!(!page.contains("<img"), "no element of a trace's making");
    assert!(!page.contains("<b>"), "nor any other");
    // Beside the two scripts that were cut out there is only data: one piece for each figure.
    let figures = page.matches("<figure").count();
    assert_eq!(page.matches("<script").count(), figures);
    assert_eq!(page.matches("<script type=\"application/json\"").count(), figures);
    assert_eq!(page.matches("</script>").count(), figures);
    let specs = page.split("<script type=\"application/json\"").skip(1);
    let specs: Vec<&str> =
        specs.filter_map(|rest| rest.split_once('>')?.1.split("</script>").next()).collect();
    for spec in specs {
        let value: serde_json::Value = serde_json::from_str(spec).expect("JSON");
        assert!(!value.to_string().contains("<img"), "plotly.js would take it for a tag");
    }
}
