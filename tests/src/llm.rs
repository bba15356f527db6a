//! A fake LLM server that answers like Ollama, like llama-server, or as a test specifies.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A received request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path.
    pub path: String,
    /// The body; null if there is none.
    pub body: Value,
}

/// A response.
pub struct Reply {
    /// HTTP status: 200, 404, …
    pub status: u16,
    /// Content type.
    pub kind: &'static str,
    /// Chunks of the body, sent one after the other.
    pub pieces: Vec<String>,
    /// Delay before each chunk.
    pub wait: Duration,
    /// The connection is closed before the end.
    pub cut: bool,
}

impl Reply {
    /// One JSON document.
    pub fn json(status: u16, value: &Value) -> Reply {
        Reply {
            status,
            kind: "application/json",
            pieces: vec![value.to_string()],
            wait: Duration::ZERO,
            cut: false,
        }
    }

    /// JSON lines, as Ollama streams them.
    pub fn lines(values: &[Value]) -> Reply {
        let pieces = values.iter().map(|value| format!("{value}\n")).collect();
        Reply { kind: "application/x-ndjson", pieces, ..Reply::json(200, &Value::Null) }
    }

    /// Server-sent events, as llama-server streams them.
    pub fn events(values: &[Value]) -> Reply {
        let pieces = values.iter().map(|value| format!("data: {value}\n\n")).collect();
        Reply { kind: "text/event-stream", pieces, ..Reply::json(200, &Value::Null) }
    }
}

/// The server; it runs until the test ends.
pub struct Fake {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    /// Starts a server that answers each request by `answer`, each connection in its own thread.
    pub fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (known, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (known, answer) = (Arc::clone(&known), Arc::clone(&answer));
                // Some tests close the client's end early.
                thread::spawn(move || serve(stream, &known, &*answer).ok());
            }
        });
        Fake { port, asked }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The bodies of the requests to this path, in order.
    pub fn asked(&self, path: &str) -> Vec<Value> {
        let all = self.asked.lock().expect("no thread panics with it");
        all.iter().filter(|asked| asked.path == path).map(|asked| asked.body.clone()).collect()
    }
}

fn serve(stream: TcpStream, known: &Mutex<Vec<Asked>>, answer: &dyn Fn(&Asked) -> Reply) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim().to_ascii_lowercase().strip_prefix("content-length:") {
            Some(bytes) => length = bytes.trim().parse().unwrap_or(0),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked = Asked { path, body: serde_json::from_slice(&body).unwrap_or_default() };
    known.lock().expect("no thread panics with it").push(asked.clone());
    write(stream, &answer(&asked))
}

/// Uses chunked encoding, as both servers do for streams.
fn write(mut to: TcpStream, reply: &Reply) -> io::Result<()> {
    let head = format!("HTTP/1.1 {} X\r\nContent-Type: {}\r\n", reply.status, reply.kind);
    write!(to, "{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
    for piece in &reply.pieces {
        thread::sleep(reply.wait);
        write!(to, "{:x}\r\n{piece}\r\n", piece.len())?;
    }
    if reply.cut { Ok(()) } else { write!(to, "0\r\n\r\n") }
}

/// Like Ollama: it has the model `tiny`, counts three tokens for the template and one per word, and
/// caches nothing.
pub fn ollama(asked: &Asked) -> Reply {
    let body = &asked.body;
    let is_chat = match asked.path.as_str() {
        "/api/version" => return Reply::json(200, &json!({"version": "0.17.4"})),
        "/api/show" if body["model"] == "tiny" => return Reply::json(200, &json!({"details": {}})),
        "/api/show" => return Reply::json(404, &json!({"error": "model 'other' not found"})),
        "/api/generate" => false,
        "/api/chat" => true,
        _ => return Reply::json(404, &json!({"error": "not found"})),
    };
    let prompt = if is_chat { &body["messages"][0]["content"] } else { &body["prompt"] };
    let words = prompt.as_str().map_or(0, |prompt| prompt.split(' ').count());
    let piece = |text: &str, done: bool| {
        let mut piece = json!({"model": body["model"], "created_at": "2026-09-01T10:20:30.5Z", "done": done});
        let said = if is_chat { json!({"role": "assistant", "content": text}) } else { json!(text) };
        piece[if is_chat { "message" } else { "response" }] = said;
        piece
    };
    let mut end = piece("", true);
    let numbers = json!({"total_duration": 9_000_000, "load_duration": 1_000_000, "prompt_eval_count": words + 3,
        "prompt_eval_duration": 2_000_000, "eval_count": 2, "eval_duration": 4_000_000});
    end.as_object_mut().expect("an object").extend(numbers.as_object().expect("an object").clone());
    if body["stream"] == true {
        Reply::lines(&[piece("a", false), piece("b", false), end])
    } else {
        Reply::json(200, &end)
    }
}

/// Like llama-server: a token per word and one before them; a prompt that may be cached is, except
/// for its last token.
pub fn llama_server(asked: &Asked) -> Reply {
    let body = &asked.body;
    match asked.path.as_str() {
        "/health" => return Reply::json(200, &json!({"status": "ok"})),
        "/tokenize" => {
            let words = body["content"].as_str().map_or(0, |text| text.split(' ').count());
            return Reply::json(200, &json!({"tokens": (0..=words).collect::<Vec<_>>()}));
        }
        "/completion" => {}
        _ => {
            return Reply::json(
                404,
                &json!({"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
            );
        }
    }
    let whole = match &body["prompt"] {
        Value::Array(tokens) => tokens.len(),
        text => 1 + text.as_str().map_or(0, |text| text.split(' ').count()),
    };
    let evaluated = if body["cache_prompt"] == true { 1 } else { whole };
    let timings = json!({"cache_n": whole - evaluated, "prompt_n": evaluated, "prompt_ms": 1.5, "predicted_n": 2, "predicted_ms": 4.25});
    let end = json!({"content": "", "stop": true, "model": "m", "tokens_evaluated": whole, "tokens_cached": whole + 1, "truncated": false, "timings": timings});
    let piece = json!({"content": "a", "stop": false});
    if body["stream"] == true { Reply::events(&[piece, end]) } else { Reply::json(200, &end) }
}
