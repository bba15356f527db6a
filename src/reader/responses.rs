//! Files of what LLM servers answered to one list: what each says of a request, with when it was asked.
//!
//! Taken are the lines of `samples/prompt_ladder.py`, Ollama's answers (`/api/generate`, `/api/chat`) and llama-server's
//! (`/completion`, `/v1/completions`, `/v1/chat/completions`), bare, in a list, or streamed. What a server's numbers mean was read in the servers'
//! sources, named at each field: Ollama's `api/types.go`, `server/routes.go` and `llm/server.go`, llama.cpp's `tools/server`.

mod collect;
mod document;
mod documents;
mod fields;
mod value;
mod when;

use anyhow::{Context, Result, bail};
use collect::Collect;
use serde::Serialize;
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// A larger file is refused: a response takes a few KiB, a streamed token 200 bytes.
const LARGEST: u64 = 256 << 20;

/// Which program answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Server {
    /// Ollama's own interface.
    Ollama,
    /// llama.cpp's server, its own interface or OpenAI's.
    LlamaServer,
}

/// What a server said about one request, with when it was asked (as far as the file tells).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Response {
    /// From 1 on, in the order of the files and in each of its lines.
    pub number: usize,
    /// `file:line`, of the line with the answer (of a stream: its last).
    pub place: String,
    /// The server that answered.
    pub server: Server,
    /// `/api/generate`, …: as the ladder says, or as the shape of the answer tells.
    pub endpoint: Option<String>,
    /// The ladder's word for it, `8 words, cold`.
    pub label: Option<String>,
    /// The model, as the server names it.
    pub model: Option<String>,
    /// When the ladder sent the request, Unix ns, by the clock of its machine.
    pub sent: Option<u64>,
    /// When the first byte of the answer arrived there: of a stream the first token, else the end.
    pub first: Option<u64>,
    /// When the last one did.
    pub received: Option<u64>,
    /// When the server wrote the answer, Unix ns by the server's clock: Ollama's `created_at`, which is taken when the last
    /// token's message is made (`server/routes.go`). `total_ns` before it the server had taken the request up.
    pub created: Option<u64>,
    /// Tokens of the prompt. Ollama's `prompt_eval_count`: with those taken from the cache (`numPromptInputs` in the runner of
    /// 0.17, `CacheN + PromptN` from 0.30); absent where it was 0. llama-server's `timings.prompt_n`: without them
    /// (`n_prompt_tokens_processed` in `server-context.cpp`).
    pub prompt_tokens: Option<u64>,
    /// Tokens of the prompt that came from the cache. llama-server's `timings.cache_n`, or `usage.prompt_tokens_details.cached_tokens`, or, before there
    /// were these, `tokens_evaluated` (the whole prompt) less `timings.prompt_n`. Not its `tokens_cached`, which counts what the slot holds
    /// after the answer, the generated tokens too (`slot.prompt.n_tokens()`). Ollama tells none.
    pub cached: Option<u64>,
    /// Time that the server counts for the prompt: `prompt_eval_duration`, `timings.prompt_ms`.
    pub prompt_ns: Option<u64>,
    /// Tokens generated: `eval_count`, `timings.predicted_n`. The first of them is sampled from the prompt's last batch.
    pub generated: Option<u64>,
    /// Time that the server counts for them: `eval_duration`, `timings.predicted_ms`.
    pub(crate) generated_ns: Option<u64>,
    /// Ollama's `load_duration`: until the model was there.
    pub(crate) load_ns: Option<u64>,
    /// Ollama's `total_duration`: from taking the request up to the end.
    pub total_ns: Option<u64>,
    /// Largest batch in which a prompt is evaluated: asked for in `options`, or what the ladder was told of the server.
    pub num_batch: Option<u64>,
    /// Length of the context: asked for, or llama-server's `generation_settings.n_ctx` (until 2025).
    pub(crate) num_ctx: Option<u64>,
    /// Tokens asked for: `num_predict`, `n_predict`, `max_tokens`; -1 for no bound.
    pub(crate) num_predict: Option<i64>,
    /// Whether the answer came token by token; `None` where one cannot tell.
    pub streamed: Option<bool>,
    /// What went wrong, in the words of the server or of the ladder; then most of the rest is absent.
    pub error: Option<String>,
}

/// What files hold.
#[derive(Debug, Default)]
pub struct Responses {
    /// The responses, in the order of the files.
    pub list: Vec<Response>,
    /// Oddities, one sentence each, with the file's name.
    pub notes: Vec<String>,
}

/// The responses in these files, in their order. Each must hold one at least.
///
/// # Errors
/// What cannot be read, is no answer of a server, or cannot be: one sentence with `file:line`.
pub fn read_responses(paths: &[PathBuf]) -> Result<Responses> {
    let mut all = Responses::default();
    for (index, path) in paths.iter().enumerate() {
        if !paths[..index].contains(path) {
            take_responses(&read_file(path)?, path, &mut all)?;
        }
    }
    Ok(all)
}

/// A file's bytes, if they are not too many.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let name = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > LARGEST {
        bail!("{name} is larger than 256 MiB: give a file that has the server's responses alone");
    }
    Ok(bytes)
}

/// Adds the responses in the bytes of a file that is called `path`.
pub fn take_responses(bytes: &[u8], path: &Path, all: &mut Responses) -> Result<()> {
    let mut collect = Collect::new(path.display().to_string(), all);
    collect.read(bytes)?;
    collect.finish()
}

#[cfg(test)]
mod tests;
