//! Small traces and responses, with each verdict known by hand.

use super::{Proxy, proxy};
use crate::Outcome;
use crate::testing::Text;
use rocshim_reader::responses::{Responses, take_responses};
use std::path::Path;

/// The trace's epoch.
const EPOCH: u64 = 1_700_000_000_000_000_000;

fn held(text: &Text, answers: &str) -> Proxy {
    let mut responses = Responses::default();
    take_responses(answers.as_bytes(), Path::new("answers"), &mut responses).expect("answers");
    proxy(text.phases(Vec::new()), responses)
}

/// The answer of a server to a request between two times after the epoch.
fn answer(begin: u64, end: u64, response: &str) -> String {
    format!(
        r#"{{"label":"a","sent":"{}","first":"{1}","received":"{1}","request":{{"options":{{"num_batch":8}}}},"response":{{{response}}}}}
"#,
        EPOCH + begin,
        EPOCH + end
    )
}

fn ollama(prompt: u64, generated: u64) -> String {
    format!(
        r#""model":"m","created_at":"2026-01-01T00:00:00Z","response":"","done":true,"total_duration":9,"load_duration":1,"prompt_eval_count":{prompt},"prompt_eval_duration":3,"eval_count":{generated},"eval_duration":4"#
    )
}

fn llama(prompt: u64, cached: u64, generated: u64) -> String {
    format!(
        r#""content":"","timings":{{"cache_n":{cached},"prompt_n":{prompt},"prompt_ms":1.0,"predicted_n":{generated},"predicted_ms":1.0}}"#
    )
}

/// Verdicts of prompt, path and generated tokens.
fn verdicts(proxy: &Proxy) -> Vec<[Outcome; 3]> {
    let request =
        |request: &super::Request| [request.prompt.verdict, request.path.verdict, request.generated.verdict];
    proxy.requests.iter().map(request).collect()
}

use crate::evidence::made::{AS_SAID as Confirmed, CONTRADICTED as Contradicted};
use Outcome::{Inferred, Limited, Unresolved};

/// Two requests: seven columns and two tokens (calls 1 to 18), then, from a warm cache, one column
/// and one token (19 to 30).
fn cold_and_warm() -> Text {
    let mut text = Text::new(EPOCH);
    text.pass(&[7, 7, 1]); // 1 to 6
    (0..2).for_each(|_| text.pass(&[1, 1, 1])); // 7 to 18
    text.pass(&[1, 1, 1]); // 19 to 24
    text.pass(&[1, 1, 1]); // 25 to 30
    text
}

#[test]
fn a_warm_cache_makes_prompt_eval_count_a_mere_proxy() {
    let answers = answer(50, 1850, &ollama(7, 3)) + &answer(1860, 3100, &ollama(11, 2));
    let proxy = held(&cold_and_warm(), &answers);
    assert_eq!(
        verdicts(&proxy),
        [[Confirmed, Confirmed, Confirmed], [Contradicted, Contradicted, Confirmed]]
    );
    let [cold, warm] = &proxy.requests[..] else { panic!("{proxy:?}") };
    assert_eq!((cold.prompt.reported.as_str(), cold.prompt.observed.as_str()), ("7", "7"));
    // Eleven tokens would be the zone of mmq; one column was launched, by three products.
    assert_eq!((warm.path.reported.as_str(), warm.path.observed.as_str()), ("mmq", "mmvq 3"));
    assert_eq!(
        warm.prompt.why,
        "cached prefix: prompt_eval_count counts cached tokens too, and 10 of them were not evaluated"
    );
    assert_eq!((warm.generated.reported.as_str(), warm.generated.observed.as_str()), ("2", "1"));
    assert_eq!((cold.code_objects[0].ordinal, cold.code_objects[0].launches), (Some(30), 3));
    assert!(proxy.others.is_empty());
}

#[test]
fn llama_server_counts_what_was_evaluated() {
    let answers = answer(50, 1850, &llama(7, 0, 3)) + &answer(1860, 3100, &llama(1, 10, 2));
    let proxy = held(&cold_and_warm(), &answers);
    assert_eq!(verdicts(&proxy), [[Confirmed; 3]; 2]);
    assert_eq!(proxy.requests[1].prompt.why, "1 evaluated, 10 cached");
    // Its report is compared with what was launched, not believed.
    let proxy = held(&cold_and_warm(), &answer(50, 1850, &llama(9, 0, 5)));
    assert_eq!(verdicts(&proxy), [[Contradicted, Contradicted, Contradicted]]);
    assert_eq!(proxy.others, [("decode", 2)]);
}

#[test]
fn a_chunked_prompt_is_the_sum_of_its_chunks() {
    let mut text = Text::new(EPOCH);
    text.copy(7, "h2d"); // 1
    text.launch(7, 8, 0x10); // 2
    text.launch(7, 8, 0x20); // 3
    text.copy(7, "h2d"); // 4
    text.launch(7, 5, 0x10); // 5
    text.launch(7, 1, 0x20); // 6
    text.copy(7, "d2h"); // 7
    text.wait(7); // 8
    let proxy = held(&text, &answer(50, 900, &ollama(13, 1)));
    let request = &proxy.requests[0];
    // Of the second chunk one product has five columns, one has one: a tie, the more count.
    assert_eq!(request.chunks.iter().map(|chunk| chunk.most).collect::<Vec<_>>(), [8, 5]);
    assert_eq!((request.prompt.observed.as_str(), request.prompt.verdict), ("13", Confirmed));
    assert_eq!(request.prompt.why, "13 evaluated, in 2 chunks of num_batch (8)");
    // 13 tokens are the zone of mmq; the chunks were small enough for mmvq.
    assert_eq!(
        (request.path.verdict, request.path.why.as_str()),
        (Contradicted, "8 columns at once went to mmvq")
    );
    assert_eq!((request.generated.observed.as_str(), request.generated.verdict), ("0", Confirmed));
    assert_eq!(request.prompt_ns, Some(810 - 200));
}

#[test]
fn what_cannot_be_reported_apart_is_limited_and_what_is_not_there_unresolved() {
    let (first, second) = (answer(50, 2500, &llama(7, 0, 3)), answer(1860, 3100, &llama(1, 10, 2)));
    let proxy = held(&cold_and_warm(), &(first + &second));
    assert_eq!(verdicts(&proxy), [[Limited; 3]; 2]);
    // 7 and 1 tokens of prompts, two and one generated ones after the first; 7 + 1 + 1 + 1 + 1
    // columns.
    assert_eq!(
        proxy.requests[0].prompt.why,
        "another request was under way at that time; together they report 11 columns, and 11 were launched"
    );

    let proxy = held(&cold_and_warm(), &answer(50_000, 60_000, &llama(7, 0, 3)));
    assert_eq!(verdicts(&proxy), [[Unresolved; 3]]);
    assert_eq!(proxy.requests[0].prompt.why, "nothing was launched between sending and answer");
    assert_eq!(proxy.others, [("decode", 4), ("prompt", 1)]);
    // Sent at 50 000; the first launch was at 100.
    let mismatch = proxy.mismatch.expect("nothing fits");
    assert!(mismatch.contains("sent 49.9 µs after the trace's first launch"), "{mismatch}");
}

#[test]
fn without_times_requests_are_matched_in_order_or_not_at_all() {
    let mut text = Text::new(EPOCH);
    for _ in 0..2 {
        text.pass(&[7, 7, 1]);
        text.pass(&[1, 1, 1]);
    }
    let bare = |answers: &[String]| answers.iter().map(|one| format!("{{{one}}}\n")).collect::<String>();
    let proxy = held(&text, &bare(&[llama(7, 0, 2), llama(7, 0, 2)]));
    assert_eq!(verdicts(&proxy), [[Inferred; 3]; 2]);
    let proxy = held(&text, &bare(&[llama(7, 0, 2)]));
    assert_eq!(verdicts(&proxy), [[Unresolved; 3]]);
    assert!(proxy.requests[0].prompt.why.starts_with("the response has no times"));
}

#[test]
fn the_zone_of_a_prompt_is_that_of_its_large_chunks_and_of_quantised_weights_alone() {
    let asked = |pass: &dyn Fn(&mut Text)| {
        let mut text = Text::new(EPOCH);
        pass(&mut text);
        text.copy(7, "d2h");
        let proxy = held(&text, &answer(50, 5000, &llama(9, 0, 1)));
        let path = &proxy.requests[0].path;
        (path.verdict, path.why.clone())
    };
    // Eight columns by two products, then one by three.
    let chunks = asked(&|text| {
        text.products(&[8, 8]);
        text.copy(7, "h2d");
        text.products(&[1, 1, 1]);
    });
    assert_eq!(chunks, (Contradicted, "8 columns at once went to mmvq".into()));
    let float = asked(&|text| {
        text.launch(7, 9, 1);
        text.launch(7, 13, 0);
        text.gemm(7, 9, 0x10);
    });
    assert_eq!(float.0, Limited, "nothing around that launch shows its shape");
    let float = asked(&|text| {
        text.launch(7, 14, 0);
        text.gemm(7, 9, 0x10);
    });
    assert_eq!(float.0, Unresolved);
    assert!(float.1.starts_with("the rule holds for quantised weights"), "{}", float.1);
    // The router of a mixture of experts: the rule holds for the experts, of the router it says
    // nothing.
    let mut text = Text::new(EPOCH);
    text.products(&[7, 7]);
    text.nested_gemm(7, 0x30);
    text.copy(7, "d2h");
    let proxy = held(&text, &answer(50, 5000, &llama(7, 0, 1)));
    let path = &proxy.requests[0].path;
    assert_eq!((path.verdict, path.observed.as_str()), (Unresolved, "mmvq 2, Tensile product 1"));
    assert!(path.why.contains("but 1 of the GEMMs went to a BLAS library"), "{}", path.why);
}
