//! Reads files of LLM servers' responses into one list: what each states about a request, and when.
//!
//! Accepted are the lines of `samples/prompt_ladder.py`, Ollama's responses (`/api/generate`,
//! `/api/chat`) and llama-server's (`/completion`, `/v1/completions`, `/v1/chat/completions`):
//! single, in a list, or streamed. The meaning of a server's numbers was read in its source, named
//! at each field: Ollama's `api/types.go`, `server/routes.go` and `llm/server.go`, llama.cpp's
//! `tools/server`.

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

/// Limit of a file's size in bytes: a response takes a few KiB, a streamed token 200 bytes.
const LARGEST: u64 = 256 << 20;

/// The program that responded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Server {
    /// Ollama, by its own API.
    Ollama,
    /// llama.cpp's server, by its own API or OpenAI's.
    LlamaServer,
}

/// A server's response to one request, with its times as far as the file states them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Response {
    /// Number from 1, in the order of the files and of the lines in each.
    pub number: usize,
    /// `file:line` of the line with the response (of a stream: its last).
    pub place: String,
    /// The server that responded.
    pub server: Server,
    /// Endpoint, such as `/api/generate`: as the ladder states, or by the shape of the response.
    pub endpoint: Option<String>,
    /// The ladder's name for it, such as `8 words, cold`.
    pub label: Option<String>,
    /// The model, as the server names it.
    pub model: Option<String>,
    /// When the ladder sent the request, in Unix ns by the clock of its machine.
    pub sent: Option<u64>,
    /// When the first byte of the response arrived there, in Unix ns: of a stream the first token,
    /// else the end.
    pub first: Option<u64>,
    /// When the last byte arrived, in Unix ns.
    pub received: Option<u64>,
    /// When the server wrote the response, in Unix ns by the server's clock: Ollama's `created_at`,
    /// which is taken when the last token's message is created (`server/routes.go`). The server
    /// accepted the request `total_ns` before.
    pub created: Option<u64>,
    /// Tokens of the prompt. Ollama's `prompt_eval_count` includes those from the cache
    /// (`numPromptInputs` in the runner of 0.17, `CacheN + PromptN` from 0.30), and is absent when
    /// 0. llama-server's `timings.prompt_n` excludes them (`n_prompt_tokens_processed` in
    /// `server-context.cpp`).
    pub prompt_tokens: Option<u64>,
    /// Tokens of the prompt from the cache. llama-server's `timings.cache_n`, or
    /// `usage.prompt_tokens_details.cached_tokens`, or in older versions `tokens_evaluated` (the
    /// whole prompt) less `timings.prompt_n`. Not its `tokens_cached`, which counts what the slot
    /// holds after the response, including the generated tokens (`slot.prompt.n_tokens()`). Ollama
    /// reports none.
    pub cached: Option<u64>,
    /// Duration of prompt processing by the server in ns: `prompt_eval_duration`,
    /// `timings.prompt_ms`.
    pub prompt_ns: Option<u64>,
    /// Tokens generated: `eval_count`, `timings.predicted_n`. The first is sampled from the
    /// prompt's last batch.
    pub generated: Option<u64>,
    /// Duration of generation by the server in ns: `eval_duration`, `timings.predicted_ms`.
    pub generated_ns: Option<u64>,
    /// Ollama's `load_duration` in ns: until the model was loaded.
    pub(crate) load_ns: Option<u64>,
    /// Ollama's `total_duration` in ns: from accepting the request to the end.
    pub total_ns: Option<u64>,
    /// Largest batch in which a prompt is evaluated: requested in `options`, or stated by the
    /// ladder.
    pub num_batch: Option<u64>,
    /// Context length in tokens: requested, or llama-server's `generation_settings.n_ctx` (until
    /// 2025).
    pub(crate) num_ctx: Option<u64>,
    /// Requested tokens: `num_predict`, `n_predict`, `max_tokens`; -1: unlimited.
    pub(crate) num_predict: Option<i64>,
    /// True when the response was streamed; `None` when unknown.
    pub streamed: Option<bool>,
    /// The error, in the words of the server or of the ladder; then most other fields are absent.
    pub error: Option<String>,
}

/// Responses of one or more files.
#[derive(Debug, Default)]
pub struct Responses {
    /// The responses, in the order of the files.
    pub list: Vec<Response>,
    /// Oddities, one sentence each, with the file's name.
    pub notes: Vec<String>,
}

/// Reads the responses in these files, in their order. Each file must hold at least one.
///
/// # Errors
/// When a file cannot be read, or is not a server's response or not a valid one: one sentence with
/// `file:line`.
pub fn read_responses(paths: &[PathBuf]) -> Result<Responses> {
    let mut all = Responses::default();
    for (index, path) in paths.iter().enumerate() {
        if !paths[..index].contains(path) {
            take_responses(&read_file(path)?, path, &mut all)?;
        }
    }
    Ok(all)
}

/// Returns a file's bytes, if it is not too large.
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

/// Adds the responses in the bytes of a file named `path`.
pub fn take_responses(bytes: &[u8], path: &Path, all: &mut Responses) -> Result<()> {
    let mut collect = Collect::new(path.display().to_string(), all);
    collect.read(bytes)?;
    collect.finish()
}

#[cfg(test)]
mod tests;
