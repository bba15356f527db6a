//! The page of `rocshim proxy`.

mod answer;
mod times;

use super::{
    section::{paragraph, section},
    table::{Column, Style, Table},
};
use answer::answer;
use rocshim_analysis::units::{count, counted, range};
use rocshim_analysis::{Claim, Outcome, Proxy, ProxyRequest};
use rocshim_trace::file_name;
use std::collections::BTreeMap;

/// The whole page: the answer, then a row for each request; with `all`, each statement with its
/// reason.
pub fn proxy(proxy: &Proxy, style: &Style) -> String {
    let mut page = paragraph(&answer(proxy), style);
    let statements: [Statement; 3] =
        [("Prompt tokens", |r| &r.prompt), ("Kernels", |r| &r.path), ("Generated tokens", |r| &r.generated)];
    page.push('\n');
    page.push_str(&requests(proxy, style, &statements).unwrap_or_default());
    for (at, (_, statement)) in statements.into_iter().enumerate().filter(|_| style.all) {
        page.push('\n');
        page.push_str(&table(proxy, style, TITLES[at], at, statement).unwrap_or_default());
    }
    if let Some(times) = times::times(proxy, style) {
        page.push('\n');
        page.push_str(&times);
    }
    for note in notes(proxy) {
        page.push('\n');
        page.push_str(&paragraph(&note, style));
    }
    page
}

/// A statement about a request: what it is about, and where it is.
type Statement = (&'static str, fn(&ProxyRequest) -> &Claim);

const TITLES: [&str; 3] = [
    "Prompt tokens: reported by the server, and evaluated (columns of the GEMMs, ne11)",
    "Kernel path: expected for the reported prompt, and observed",
    "Generated tokens: reported by the server, and passes after the prompt's",
];

/// A row for each request; under it, every statement that is not confirmed, with the reason.
fn requests(proxy: &Proxy, style: &Style, statements: &[Statement; 3]) -> Option<String> {
    let mut table = Table::new(&[
        Column::Right("#"),
        Column::Left("request"),
        Column::Right("reported"),
        Column::Missable("cached"),
        Column::Left("ne11 by pass"),
        Column::Left("kernels"),
        Column::Right("BLAS"),
        Column::Missable("generated"),
        Column::Left("evidence"),
    ]);
    for request in &proxy.requests {
        let families: Vec<&str> = request.products.iter().map(|(family, _)| *family).collect();
        let verdicts = statements.map(|(_, statement)| statement(request).verdict);
        let worst =
            verdicts.into_iter().max_by_key(|verdict| DOUBT.iter().position(|word| *word == verdict.word()));
        let doubts = statements.iter().map(|(what, statement)| (what, statement(request)));
        let doubts = doubts.filter(|(_, claim)| !matches!(claim.verdict, Outcome::Confirmed(_)));
        table.row_with(
            vec![
                request.response.number.to_string(),
                name(request),
                request.prompt.reported.clone(),
                request.response.cached.map_or("-".into(), count),
                chunks(request),
                if families.is_empty() { "-".into() } else { families.join(", ") },
                count(request.tensile),
                request.generated.reported.clone(),
                worst.map_or("-".into(), |verdict| verdict.to_string()),
            ],
            doubts.map(|(what, claim)| format!("{what}: {}: {}", claim.verdict, claim.why)).collect(),
        );
    }
    let remark = "BLAS: launches of Cijk_* kernels for the prompt; --all adds launches and code objects";
    section("Requests", &table, style, &Vec::from_iter((!style.all).then(|| remark.to_string())))
}

/// From no doubt to most.
const DOUBT: [&str; 5] = ["confirmed", "inferred", "limited", "unresolved", "contradicted"];

/// `15 confirmed, 1 limited`.
pub fn proxy_tally(proxy: &Proxy, of: impl Fn(&ProxyRequest) -> &Claim) -> String {
    let parts =
        proxy.outcomes(of).into_iter().map(|(outcome, requests)| format!("{} {outcome}", count(requests)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The label of a request.
fn name(request: &ProxyRequest) -> String {
    let response = &request.response;
    response.label.clone().or_else(|| response.endpoint.clone()).unwrap_or_else(|| response.place.clone())
}

fn chunks(request: &ProxyRequest) -> String {
    let parts: Vec<String> = request.chunks.iter().map(|chunk| range(chunk.least, chunk.most)).collect();
    match parts.len() {
        0 => "-".into(),
        1..=6 => parts.join(" + "),
        more => format!("{} + … ({more} chunks)", parts[..3].join(" + ")),
    }
}

/// `libggml-hip.so bundles 36, 112`.
fn objects(request: &ProxyRequest) -> String {
    let mut files: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for object in &request.code_objects {
        let file = object.file.as_deref().or(object.path.as_deref()).unwrap_or("unknown");
        files.entry(file_name(file)).or_default().extend(object.ordinal);
    }
    let one = |(file, ordinals): (&str, Vec<u32>)| {
        let numbers = ordinals.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        match ordinals.len() {
            0 => file.to_string(),
            1 => format!("{file} bundle {numbers}"),
            _ => format!("{file} bundles {numbers}"),
        }
    };
    let parts: Vec<String> = files.into_iter().map(one).collect();
    if parts.is_empty() { "-".into() } else { parts.join(", ") }
}

/// One of the three tables.
fn table(
    proxy: &Proxy,
    style: &Style,
    title: &str,
    at: usize,
    statement: fn(&ProxyRequest) -> &Claim,
) -> Option<String> {
    let mut columns = vec![
        Column::Right("#"),
        Column::Left("request"),
        Column::Right(if at == 1 { "expected" } else { "reported" }),
    ];
    columns.extend(match at {
        0 => vec![Column::Missable("cached"), Column::Right("evaluated"), Column::Left("ne11 by pass")],
        1 => vec![Column::Left("launches"), Column::Right("Cijk_*"), Column::Left("code object")],
        _ => vec![Column::Right("passes")],
    });
    columns.extend([Column::Left("evidence"), Column::Text("why")]);
    let mut table = Table::new(&columns);
    for request in &proxy.requests {
        let Claim { reported, observed, verdict, why } = statement(request).clone();
        let mut cells = vec![request.response.number.to_string(), name(request), reported];
        cells.extend(match at {
            0 => vec![request.response.cached.map_or("-".into(), count), observed, chunks(request)],
            1 => vec![observed, count(request.tensile), objects(request)],
            _ => vec![observed],
        });
        cells.extend([verdict.to_string(), why]);
        table.row(cells);
    }
    section(title, &table, style, &[])
}

/// How to get the times, for a page of traces without them.
pub const NO_TIMES: &str = "No GPU times in this trace: with `rocshim run --gpu-time` this page says what the server's times consist of.";

fn notes(proxy: &Proxy) -> Vec<String> {
    let mut notes = Vec::new();
    if !proxy.others.is_empty() {
        let parts: Vec<String> =
            proxy.others.iter().map(|(kind, passes)| format!("{passes} {kind}")).collect();
        notes.push(format!("Passes outside of every request: {}.", parts.join(", ")));
    }
    let lost: u64 = proxy.losses.iter().map(|loss| loss.lost).sum();
    if lost > 0 {
        notes.push(format!(
            "Lost: {} in {}.",
            counted(lost, "event"),
            counted(proxy.losses.len() as u64, "gap row")
        ));
    }
    let is_timed = proxy.requests.iter().any(|request| request.times.is_some());
    if !is_timed && !proxy.requests.is_empty() {
        notes.push(NO_TIMES.to_owned());
    }
    notes.extend(proxy.notes.iter().cloned());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::{proxy as hold, testing::Text};
    use rocshim_reader::responses::{Responses, take_responses};
    use std::path::Path;

    #[test]
    fn a_page_of_requests() {
        // Call N is entered at 100 N. The first request: five columns (calls 1 to 6), a token (7 to
        // 12). The second: one column (13 to 18) where Ollama counts eleven tokens.
        const EPOCH: u64 = 1_700_000_000_000_000_000;
        let mut text = Text::new(EPOCH);
        text.pass(&[5, 5, 1]);
        (0..2).for_each(|_| text.pass(&[1, 1, 1]));
        let answer = |label: &str, [sent, received]: [u64; 2], [prompt, generated]: [u64; 2]| {
            format!(
                r#"{{"label":"{label}","sent":"{}","received":"{}","response":{{"model":"m","created_at":"2026-01-01T00:00:00Z","response":"","done":true,"prompt_eval_count":{prompt},"eval_count":{generated}}}}}
"#,
                EPOCH + sent,
                EPOCH + received
            )
        };
        let answers = answer("cold", [50, 1250], [5, 2]) + &answer("warm", [1260, 1900], [11, 1]);
        let mut responses = Responses::default();
        take_responses(answers.as_bytes(), Path::new("answers"), &mut responses).expect("answers");
        let page = proxy(&hold(text.phases(Vec::new()), responses), &Style::default());
        let expected = "\
1 of 2 prompts as reported, 1 contradicted. MMVQ for 1–5 columns, no BLAS. 5 tokens: one pass.

Requests
  #  request  reported  cached  ne11 by pass  kernels  BLAS  generated  evidence
  1  cold            5       -  5             mmvq        0          2  confirmed
  2  warm           11       -  1             mmvq        0          1  contradicted by observation
      Prompt tokens: contradicted by observation: cached prefix: prompt_eval_count counts cached tokens too, and 10 of them were not evaluated
      Kernels: contradicted by observation: cached prefix: 1 of 11 tokens were evaluated, few enough for mmvq
  BLAS: launches of Cijk_* kernels for the prompt; --all adds launches and code objects

No GPU times in this trace: with `rocshim run --gpu-time` this page says what the server's times consist of.
";
        assert_eq!(page, expected);
    }
    #[test]
    fn the_times_of_a_request_are_split_where_the_gpu_was_reported() {
        let mut text = Text::new(1_000_000);
        text.ask_for_gpu_times();
        text.pass(&[5, 5, 1]); // 1 to 6
        text.pass(&[1, 1, 1]); // 7 to 12
        (1..=4).for_each(|id| text.ran(1, id, 2, 1_000_000 * id, 1_000_000));
        (7..=9).for_each(|id| text.ran(1, id, 2, 1_000_000 * id, 100_000)); // one is missing
        let answer = r#"{"index":0,"content":"","timings":{"cache_n":0,"prompt_n":5,"prompt_ms":9.0,"predicted_n":2,"predicted_ms":7.0}}"#;
        let mut responses = Responses::default();
        take_responses(answer.as_bytes(), Path::new("answers"), &mut responses).expect("answers");
        let held = hold(text.phases(Vec::new()), responses);
        let expected = "\
The server's times: work on the GPU, and the rest
  #  request      of          stated  GPU busy  not launched     held     rest  evidence
  1  /completion  prompt     9.00 ms   4.00 ms         10 ns  1.00 ms  4.00 ms  inferred
  1  /completion  generated  7.00 ms    300 µs         10 ns  8.80 ms        -  limited
  stated: prompt_ms and predicted_ms, or prompt_eval_duration and eval_duration; rest: what is left of it (sampling, the server's own work)
  GPU busy, not launched, held: of the request's passes, as `rocshim phases` explains them
";
        assert_eq!(times::times(&held, &Style::default()).as_deref(), Some(expected));
    }
}
