//! The page of `rocshim proxy`.

use super::{
    section::{paragraph, section},
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, counted, range};
use rocshim_analysis::{Proxy, ProxyRequest, Said};
use rocshim_trace::file_name;
use std::collections::BTreeMap;

/// The whole page.
pub fn proxy(proxy: &Proxy, style: &Style) -> String {
    let mut page = paragraph(&sentence(proxy), style);
    let titles = [
        "What the server says of each prompt, and the columns that were launched for it (ne11)",
        "The zone that follows, and the kernels of matrix products that were launched for the prompt",
        "Tokens generated, and passes after the prompt's",
    ];
    let statements: [fn(&ProxyRequest) -> &Said; 3] = [|r| &r.prompt, |r| &r.path, |r| &r.generated];
    for (at, (title, statement)) in titles.into_iter().zip(statements).enumerate() {
        page.push('\n');
        page.push_str(&table(proxy, style, title, at, statement).unwrap_or_default());
    }
    for note in notes(proxy) {
        page.push('\n');
        page.push_str(&paragraph(&note, style));
    }
    page
}

/// `11 requests: prompt 9 confirmed, 2 contradicted by observation; …`
fn sentence(proxy: &Proxy) -> String {
    format!(
        "{}. Prompt: {}. Path: {}. Generated: {}.",
        counted(proxy.requests.len() as u64, "request"),
        proxy_tally(proxy, |r| &r.prompt),
        proxy_tally(proxy, |r| &r.path),
        proxy_tally(proxy, |r| &r.generated)
    )
}

/// `15 confirmed, 1 limited`.
pub fn proxy_tally(proxy: &Proxy, of: impl Fn(&ProxyRequest) -> &Said) -> String {
    let told =
        proxy.outcomes(of).into_iter().map(|(outcome, requests)| format!("{} {outcome}", count(requests)));
    told.collect::<Vec<_>>().join(", ")
}

/// What a request is called.
fn name(request: &ProxyRequest) -> String {
    let response = &request.response;
    response.label.clone().or_else(|| response.endpoint.clone()).unwrap_or_else(|| response.place.clone())
}

fn chunks(request: &ProxyRequest) -> String {
    let told: Vec<String> = request.chunks.iter().map(|chunk| range(chunk.least, chunk.most)).collect();
    match told.len() {
        0 => "-".into(),
        1..=6 => told.join(" + "),
        more => format!("{} + … ({more} chunks)", told[..3].join(" + ")),
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
    let told: Vec<String> = files.into_iter().map(one).collect();
    if told.is_empty() { "-".into() } else { told.join(", ") }
}

/// One of the three tables.
fn table(
    proxy: &Proxy,
    style: &Style,
    title: &str,
    at: usize,
    statement: fn(&ProxyRequest) -> &Said,
) -> Option<String> {
    let mut columns = vec![Column::Right("#"), Column::Left("request"), Column::Right("says")];
    columns.extend(match at {
        0 => vec![Column::Missable("cached"), Column::Right("launched"), Column::Left("ne11 by pass")],
        1 => vec![Column::Left("launched"), Column::Missable("Cijk_*"), Column::Left("from")],
        _ => vec![Column::Right("launched")],
    });
    columns.extend([Column::Left("verdict"), Column::Text("because")]);
    let mut table = Table::new(&columns);
    for request in &proxy.requests {
        let Said { said, observed, verdict, why } = statement(request).clone();
        let mut cells = vec![request.response.number.to_string(), name(request), said];
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

fn notes(proxy: &Proxy) -> Vec<String> {
    let mut notes = Vec::new();
    if !proxy.others.is_empty() {
        let told: Vec<String> =
            proxy.others.iter().map(|(kind, passes)| format!("{passes} {kind}")).collect();
        notes.push(format!("Passes in the time of no request: {}.", told.join(", ")));
    }
    let lost: u64 = proxy.losses.iter().map(|loss| loss.lost).sum();
    if lost > 0 {
        notes.push(format!(
            "Lost: {} in {}.",
            counted(lost, "event"),
            counted(proxy.losses.len() as u64, "gap row")
        ));
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
        // Call N is entered at 100 N. The first request: five columns (calls 1 to 6), a token (7 to 12). The second: one column
        // (13 to 18) where Ollama counts eleven tokens.
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
2 requests. Prompt: 1 confirmed, 1 contradicted by observation. Path: 1 confirmed, 1 contradicted by observation. Generated: 2 confirmed.

What the server says of each prompt, and the columns that were launched for it (ne11)
  #  request  says  cached  launched  ne11 by pass  verdict                      because
  1  cold        5       -         5  5             confirmed                    as many columns were launched
  2  warm       11       -         1  1             contradicted by observation  cached prefix: prompt_eval_count counts cached tokens too, and 10 of them were not evaluated

The zone that follows, and the kernels of matrix products that were launched for the prompt
  #  request  says  launched  Cijk_*  from                      verdict                      because
  1  cold     mmvq  mmvq 3         0  libggml-hip.so bundle 30  confirmed                    up to 8 columns, and the kernels are those
  2  warm      mmq  mmvq 3         0  libggml-hip.so bundle 30  contradicted by observation  cached prefix: 1 of 11 tokens were evaluated, which is the zone of mmvq

Tokens generated, and passes after the prompt's
  #  request  says  launched  verdict    because
  1  cold        2         1  confirmed  the first one comes from the prompt's last pass
  2  warm        1         0  confirmed  the first one comes from the prompt's last pass
";
        assert_eq!(page, expected);
    }
}
