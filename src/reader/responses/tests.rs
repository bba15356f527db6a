//! Responses as the servers write them, and malformed ones.

use super::*;

const OLLAMA: &str = r#"{"model":"qwen:7b","created_at":"2026-09-01T00:00:01.5Z","response":"hi","done":true,"done_reason":"stop","context":[1,2,3],"total_duration":900,"load_duration":100,"prompt_eval_count":11,"prompt_eval_duration":300,"eval_count":4,"eval_duration":400}"#;
const LLAMA: &str = r#"{"index":0,"content":"hi","id_slot":0,"stop":true,"model":"","tokens_predicted":4,"tokens_evaluated":11,"generation_settings":{"n_ctx":512,"n_predict":4},"truncated":false,"tokens_cached":14,"timings":{"prompt_n":1,"prompt_ms":0.25,"predicted_n":4,"predicted_ms":1.5}}"#;
const CHAT: &str = r#"{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"hi"}}],"created":1,"model":"m.gguf","object":"chat.completion","usage":{"prompt_tokens":11,"prompt_tokens_details":{"cached_tokens":9}},"id":"chatcmpl-1","timings":{"cache_n":10,"prompt_n":1,"prompt_ms":2,"predicted_n":4,"predicted_ms":3}}"#;
const LADDER: &str = r#"{"id":1,"label":"8 words, cold","server":"ollama","endpoint":"/api/generate","sent":"1790000000000000100","first":"1790000000000000200","received":"1790000000000000300","request":{"model":"asked","stream":true,"options":{"num_batch":512,"num_ctx":4096,"num_predict":-1}},"response":ANSWER}"#;

fn read(text: &str) -> Result<Responses> {
    let mut all = Responses::default();
    take_responses(text.as_bytes(), Path::new("r.json"), &mut all)?;
    Ok(all)
}

#[track_caller]
fn one(text: &str) -> Response {
    let all = read(text).unwrap();
    assert_eq!((all.list.len(), &all.notes[..]), (1, &[][..]), "{text}");
    all.list.into_iter().next().unwrap()
}

#[track_caller]
fn error_of(text: &str) -> String {
    crate::format_error(&read(text).map(|all| all.list).unwrap_err())
}

fn ladder(answer: &str) -> String {
    LADDER.replace("ANSWER", answer)
}

fn blank(server: Server) -> Response {
    fields::blank(server, "r.json:1")
}

#[test]
fn an_answer_of_ollama_tells_its_counts_and_durations() {
    let expected = Response {
        number: 1,
        endpoint: Some("/api/generate".into()),
        model: Some("qwen:7b".into()),
        // 2026-09-01 00:00:01.5 UTC.
        created: Some(1_788_220_801_500_000_000),
        prompt_tokens: Some(11),
        prompt_ns: Some(300),
        generated: Some(4),
        generated_ns: Some(400),
        load_ns: Some(100),
        total_ns: Some(900),
        ..blank(Server::Ollama)
    };
    assert_eq!(one(OLLAMA), expected);
    let chat = OLLAMA.replace(r#""response":"hi""#, r#""message":{"role":"assistant","content":"hi"}"#);
    assert_eq!(one(&chat), Response { endpoint: Some("/api/chat".into()), ..expected });
    // Ollama omits what is 0.
    assert_eq!(one(&OLLAMA.replace(r#""prompt_eval_count":11,"#, "")).prompt_tokens, None);
}

#[test]
fn an_answer_of_llama_server_tells_what_it_evaluated_and_what_it_had() {
    let expected = Response {
        number: 1,
        endpoint: Some("/completion".into()),
        prompt_tokens: Some(1),
        // 11 of the prompt less 1; not the 14 that the slot holds afterwards.
        cached: Some(10),
        prompt_ns: Some(250_000),
        generated: Some(4),
        generated_ns: Some(1_500_000),
        num_ctx: Some(512),
        num_predict: Some(4),
        ..blank(Server::LlamaServer)
    };
    assert_eq!(one(LLAMA), expected);
    assert_eq!(one(&LLAMA.replace(r#""truncated":false"#, r#""truncated":true"#)).cached, None);
    assert_eq!(one(&LLAMA.replace(r#""prompt_n":1"#, r#""cache_n":7,"prompt_n":1"#)).cached, Some(7));
    let chat = one(CHAT);
    assert_eq!(
        (chat.endpoint.as_deref(), chat.model.as_deref()),
        (Some("/v1/chat/completions"), Some("m.gguf"))
    );
    assert_eq!((chat.prompt_tokens, chat.cached, chat.streamed), (Some(1), Some(10), Some(false)));
    assert_eq!(one(&CHAT.replace(r#""cache_n":10,"#, "")).cached, Some(9));
}

#[test]
fn a_line_of_the_ladder_adds_the_times_and_the_request() {
    let response = one(&ladder(OLLAMA));
    assert_eq!(response.label.as_deref(), Some("8 words, cold"));
    assert_eq!(response.sent, Some(1_790_000_000_000_000_100));
    assert_eq!(response.first, Some(1_790_000_000_000_000_200));
    assert_eq!(response.received, Some(1_790_000_000_000_000_300));
    assert_eq!(
        (response.num_batch, response.num_ctx, response.num_predict),
        (Some(512), Some(4096), Some(-1))
    );
    assert_eq!((response.prompt_tokens, response.streamed), (Some(11), Some(true)));
    assert_eq!(response.model.as_deref(), Some("qwen:7b"), "the answer's own word counts");
    let failed = ladder("null").replace(r#""response""#, r#""error":"timed out after 5 s","response""#);
    let failed = one(&failed);
    assert_eq!((failed.error.as_deref(), failed.prompt_tokens), (Some("timed out after 5 s"), None));
    assert_eq!((failed.server, failed.model.as_deref()), (Server::Ollama, Some("asked")));
}

#[test]
fn of_a_stream_the_end_counts_and_what_was_before_belongs_to_it() {
    let chunk = r#"{"model":"qwen:7b","response":"a","done":false}"#;
    let all = read(&format!("{chunk}\n{chunk}\n{OLLAMA}\n{OLLAMA}\n")).unwrap();
    let listed: Vec<_> = all.list.iter().map(|r| (r.number, r.place.as_str(), r.streamed)).collect();
    assert_eq!(listed, [(1, "r.json:3", Some(true)), (2, "r.json:4", None)]);
    let events = format!("data: {{\"content\":\"a\",\"stop\":false}}\n\ndata: {LLAMA}\n\ndata: [DONE]\n");
    assert_eq!(one(&events).streamed, Some(true));
    // With `timings_per_token` each chunk has timings, and with `include_usage` the last has no
    // choices.
    let chunk = CHAT.replace(r#""chat.completion""#, r#""chat.completion.chunk""#);
    let goes_on = chunk.replace(r#""finish_reason":"stop""#, r#""finish_reason":null"#);
    assert_eq!(one(&format!("data: {goes_on}\n\ndata: {goes_on}\n\ndata: {chunk}\n")).place, "r.json:5");
    let silent = chunk.split(r#","timings""#).next().unwrap().to_owned() + "}";
    let usage = chunk.replace(r#"[{"finish_reason":"stop","index":0,"message":{"content":"hi"}}]"#, "[]");
    assert_eq!(one(&format!("data: {silent}\n\ndata: {usage}\n")).cached, Some(10));
}

#[test]
fn a_list_and_several_files_are_numbered_through() {
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (a, b) = (file("a.json", &format!("[{OLLAMA},\n{CHAT}]")), file("b.json", &ladder(LLAMA)));
    let all = read_responses(&[a.clone(), b, a]).unwrap();
    let listed: Vec<_> =
        all.list.iter().map(|r| (r.number, r.server, r.place.rsplit('/').next().unwrap())).collect();
    let expected = [
        (1, Server::Ollama, "a.json:1"),
        (2, Server::LlamaServer, "a.json:2"),
        (3, Server::LlamaServer, "b.json:1"),
    ];
    assert_eq!(listed, expected);
    let missing = read_responses(&[scratch.path().join("none")]).unwrap_err().to_string();
    assert!(missing.starts_with("cannot open ") && missing.ends_with("/none"), "{missing}");
}

#[test]
fn every_sample_is_read() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/responses"));
    let read = |name: &str| read_responses(&[folder.join(name)]).unwrap();
    let counts = |name: &str| {
        let all = read(name);
        assert!(all.notes.is_empty(), "{name}: {:?}", all.notes);
        all.list.iter().map(|r| (r.prompt_tokens, r.cached, r.generated)).collect::<Vec<_>>()
    };
    assert_eq!(counts("ollama-generate.json"), [(Some(11), None, Some(4))]);
    assert_eq!(counts("ollama-chat-stream.ndjson"), [(Some(12), None, Some(3))]);
    assert_eq!(counts("llama-completion-stream.txt"), [(Some(1), Some(16), Some(3))]);
    assert_eq!(counts("llama-chat.json"), [(Some(290), None, Some(2)), (Some(1), Some(289), Some(2))]);
    assert_eq!(counts("ladder.ndjson"), [(Some(11), None, Some(8)), (None, None, None)]);
}

#[test]
fn an_error_of_the_server_is_a_response() {
    let ollama = one(r#"{"error":"model 'x' not found"}"#);
    assert_eq!((ollama.server, ollama.error.as_deref()), (Server::Ollama, Some("model 'x' not found")));
    let llama = one(r#"error: {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#);
    assert_eq!((llama.server, llama.error.as_deref()), (Server::LlamaServer, Some("Loading model")));
}

#[test]
fn a_file_that_ends_in_the_middle_keeps_what_is_whole() {
    let all = read(&format!("{OLLAMA}\n{}", &OLLAMA[..60])).unwrap();
    assert_eq!(all.list.len(), 1);
    let cut = "r.json:2: the file ends in the middle of the document that begins here, which was passed over";
    assert_eq!(all.notes, [cut]);
    let all = read(&format!("{OLLAMA}\n{}\n", r#"{"response":"a","done":false}"#)).unwrap();
    assert_eq!(all.notes, ["r.json:2: the stream that begins here has no end, and was passed over"]);
    assert_eq!(
        error_of(&OLLAMA[..60]),
        "no whole response in r.json: r.json:1: the file ends in the middle of the document that begins here, which was passed over"
    );
}

#[test]
fn what_is_no_response_is_reported_in_one_sentence() {
    assert_eq!(error_of(" \n"), "r.json has no response: it is empty");
    let header = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":1}"#;
    assert_eq!(
        error_of(header),
        "r.json is a trace of rocshim's, not the responses of a server: give it as the trace"
    );
    assert_eq!(
        error_of(r#"{"traceEvents":[]}"#),
        "r.json:1: this JSON is no answer of Ollama's (it has no `done`), of llama-server's (no `timings`) or of the prompt ladder's (no `response`)"
    );
    let silent = CHAT.split(r#","timings""#).next().unwrap().to_owned() + "}";
    assert!(error_of(&silent).starts_with("r.json:1: a completion without `timings`: "));
    assert_eq!(
        error_of("HTTP/1.1 200 OK\n"),
        "no whole response in r.json: r.json:1: neither a JSON object nor a list of them; passed over"
    );
    assert_eq!(
        error_of(&format!("[{OLLAMA},\nHTTP/1.1 200 OK\n]")),
        "r.json:2: neither a JSON object nor a list of them; give the responses of Ollama or llama-server as they came"
    );
    assert_eq!(
        error_of(&ladder("7")),
        "r.json:1: this line has neither the end of an answer under `response` nor an `error`"
    );
}

#[test]
fn a_count_that_is_none_and_times_that_cannot_be_are_refused() {
    let with = |from: &str, to: &str, text: &str| error_of(&text.replacen(from, to, 1));
    assert_eq!(
        with(":11,", ":-1,", OLLAMA),
        "r.json:1: `prompt_eval_count` is -1, where a server writes a whole number from 0 on"
    );
    assert_eq!(
        with(r#""eval_count":4"#, r#""eval_count":4.5"#, OLLAMA),
        "r.json:1: `eval_count` is 4.5, where a server writes a whole number from 0 on"
    );
    assert_eq!(
        with("0.25", "-0.25", LLAMA),
        "r.json:1: `timings.prompt_ms` is -0.25, which is no time in milliseconds"
    );
    let line = ladder(OLLAMA);
    assert_eq!(
        with(r#""1790000000000000300""#, "1790000000000000000", &line),
        "r.json:1: `received` is before `first`: the clock was set back, or the line was changed"
    );
    assert_eq!(
        with("1790000000000000100", "1790000000", &line),
        "r.json:1: `sent` is \"1790000000\", which is no time in Unix nanoseconds"
    );
    assert_eq!(
        error_of(&format!("{line}\n{line}")),
        "r.json:2: the id 1 is also that of line 1: one request is there twice"
    );
    let earlier = line.replace(r#""id":1"#, r#""id":2"#).replace("0100", "0099");
    let all = read(&format!("{line}\n{earlier}")).unwrap();
    let order: Vec<_> = all.list.iter().map(|one| (one.number, one.place.as_str())).collect();
    assert_eq!(order, [(1, "r.json:2"), (2, "r.json:1")], "in the order in which they were sent");
}

#[test]
fn lines_that_are_no_json_are_passed_over_among_others() {
    let text = format!("HTTP/1.1 200 OK\nServer: x\n\n{OLLAMA}\n{{\"done\" true}}\n{LLAMA}\n");
    let all = read(&text).unwrap();
    let places: Vec<_> = all.list.iter().map(|response| response.place.as_str()).collect();
    assert_eq!(places, ["r.json:4", "r.json:6"]);
    let expected = [
        "r.json:1: neither a JSON object nor a list of them; passed over, as is the next line",
        "r.json:5: no JSON of a server: expected `:`; passed over",
    ];
    assert_eq!(all.notes, expected);
}

#[test]
fn a_line_that_is_no_answer_is_passed_over_among_others() {
    let all = read(&format!("{}\n{{\"ready\":true}}\n", ladder(OLLAMA))).unwrap();
    assert_eq!(all.list.len(), 1);
    assert!(all.notes[0].starts_with("r.json:2: this JSON is no answer"), "{:?}", all.notes);
}
