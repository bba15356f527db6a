//! Renders the page of `rocshim proxy`.

mod answer;

use super::{
    section::{Part, paragraph},
    table::Style,
};
use answer::answer;
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{
    Claim, GENERATED_CLAIMS, Outcome, PATH_CLAIMS, PROMPT_CLAIMS, Proxy, ProxyRequest, REQUESTS, STATED_TIMES,
};

/// The whole page: the answer, then a row for each request; with `all`, each statement with its
/// reason.
pub fn proxy(proxy: &Proxy, style: &Style) -> String {
    let mut page = paragraph(&answer(proxy), style);
    let claims = [&PROMPT_CLAIMS, &PATH_CLAIMS, &GENERATED_CLAIMS];
    let claims = claims.into_iter().filter(|_| style.all);
    let claims = claims.map(|table| Part::new(table, &proxy.requests).even_empty(style));
    let notes = notes(proxy).into_iter().map(|note| paragraph(&note, style));
    for part in std::iter::once(requests(proxy, style)).chain(claims).chain(times(proxy, style)).chain(notes)
    {
        page.push('\n');
        page.push_str(&part);
    }
    page
}

/// A row for each request; under it, every statement that is not confirmed, with the reason.
fn requests(proxy: &Proxy, style: &Style) -> String {
    let remark = "BLAS: launches of Cijk_* kernels for the prompt; --all adds launches and code objects";
    let doubts = |request: &ProxyRequest| {
        let doubts = request.claims();
        let doubts = doubts.iter().filter(|(_, claim)| !matches!(claim.verdict, Outcome::Confirmed(_)));
        doubts.map(|(what, claim)| format!("{what}: {}: {}", claim.verdict, claim.why)).collect()
    };
    Part::new(&REQUESTS, &proxy.requests)
        .under(doubts)
        .remarks((!style.all).then(|| remark.into()))
        .even_empty(style)
}

/// What the times that the server states consist of; nothing without GPU times.
fn times(proxy: &Proxy, style: &Style) -> Option<String> {
    Part::new(&STATED_TIMES, &proxy.stated_times())
        .remark("stated: prompt_ms and predicted_ms, or prompt_eval_duration and eval_duration; rest: what is left of it (sampling, the server's own work)")
        .remark("GPU busy, not launched, held: of the request's passes, as `rocshim phases` explains them")
        .section(style)
}

/// `15 confirmed, 1 limited`.
pub fn proxy_tally(proxy: &Proxy, of: impl Fn(&ProxyRequest) -> &Claim) -> String {
    let parts =
        proxy.outcomes(of).into_iter().map(|(outcome, requests)| format!("{} {outcome}", count(requests)));
    parts.collect::<Vec<_>>().join(", ")
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
        assert_eq!(times(&held, &Style::default()).as_deref(), Some(expected));
    }
}
