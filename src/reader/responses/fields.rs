//! Converts the members of a document to a [`Response`], and validates counts and times.

use super::document::{Document, Message, Request, Timings};
use super::value::{Cell, Part};
use super::{Response, Server, when};
use anyhow::{Result, bail};

/// Unix ns of 2001-09-09: a smaller number has another unit.
const FIRST_TIME: u64 = 1_000_000_000_000_000_000;

/// Returns the number in `cell`, a count or ns; `what` is its name in the file.
pub(super) fn count(cell: &Cell, what: &str, place: &str) -> Result<Option<u64>> {
    match cell {
        Cell::Absent => Ok(None),
        Cell::Whole(count) => Ok(Some(*count)),
        other => bail!("{place}: `{what}` is {other}, where a server writes a whole number from 0 on"),
    }
}

/// Returns a requested number of tokens, of which -1 and -2 have a meaning.
fn signed(cell: &Cell, what: &str, place: &str) -> Result<Option<i64>> {
    match cell {
        Cell::Absent => Ok(None),
        Cell::Whole(count) => Ok(i64::try_from(*count).ok()),
        Cell::Number(number) if number.fract() == 0.0 && *number < 0.0 => Ok(Some(*number as i64)),
        other => bail!("{place}: `{what}` is {other}, where a server takes a whole number"),
    }
}

/// Converts milliseconds, as llama-server writes them, to nanoseconds.
fn milliseconds(cell: &Cell, what: &str, place: &str) -> Result<Option<u64>> {
    let ms = match cell {
        Cell::Absent => return Ok(None),
        Cell::Whole(ms) => *ms as f64,
        Cell::Number(ms) => *ms,
        _ => f64::NAN,
    };
    if !(0.0..1e12).contains(&ms) {
        bail!("{place}: `{what}` is {cell}, which is no time in milliseconds");
    }
    Ok(Some((ms * 1e6).round() as u64))
}

/// Returns a time of the ladder: Unix ns, quoted or not.
fn moment(cell: &Cell, what: &str, place: &str) -> Result<Option<u64>> {
    let time = match cell {
        Cell::Absent => return Ok(None),
        Cell::Whole(time) => Some(*time),
        Cell::Text(time) => time.parse().ok(),
        _ => None,
    };
    match time {
        Some(time) if time >= FIRST_TIME => Ok(Some(time)),
        _ => bail!("{place}: `{what}` is {cell}, which is no time in Unix nanoseconds"),
    }
}

/// Returns a response of which only the server is known.
pub(super) fn blank(server: Server, place: &str) -> Response {
    Response {
        number: 0,
        place: place.to_owned(),
        server,
        endpoint: None,
        label: None,
        model: None,
        sent: None,
        first: None,
        received: None,
        created: None,
        prompt_tokens: None,
        cached: None,
        prompt_ns: None,
        generated: None,
        generated_ns: None,
        load_ns: None,
        total_ns: None,
        num_batch: None,
        num_ctx: None,
        num_predict: None,
        streamed: None,
        error: None,
    }
}

fn text(cell: &Cell) -> Option<String> {
    cell.text().map(str::to_owned)
}

/// Converts Ollama's response, the last of a stream or the only one.
pub(super) fn of_ollama(document: &Document, place: &str) -> Result<Response> {
    let endpoint = match (&document.message, &document.response) {
        (Part::Object(_), _) => Some("/api/chat"),
        (_, Part::Text(_)) => Some("/api/generate"),
        _ => None,
    };
    let count = |cell, what| count(cell, what, place);
    Ok(Response {
        endpoint: endpoint.map(str::to_owned),
        model: text(&document.model),
        created: document.created_at.text().and_then(when::unix_ns),
        prompt_tokens: count(&document.prompt_eval_count, "prompt_eval_count")?,
        prompt_ns: count(&document.prompt_eval_duration, "prompt_eval_duration")?,
        generated: count(&document.eval_count, "eval_count")?,
        generated_ns: count(&document.eval_duration, "eval_duration")?,
        load_ns: count(&document.load_duration, "load_duration")?,
        total_ns: count(&document.total_duration, "total_duration")?,
        ..blank(Server::Ollama, place)
    })
}

/// Converts llama-server's response, with its timings.
pub(super) fn of_llama_server(document: &Document, timings: &Timings, place: &str) -> Result<Response> {
    let (endpoint, streamed) = match document.object.text() {
        Some("chat.completion") => ("/v1/chat/completions", Some(false)),
        Some("chat.completion.chunk") => ("/v1/chat/completions", Some(true)),
        Some("text_completion") => ("/v1/completions", None),
        _ => ("/completion", None),
    };
    let prompt_tokens = count(&timings.prompt_n, "timings.prompt_n", place)?;
    let mut response = Response {
        endpoint: Some(endpoint.to_owned()),
        model: text(&document.model).filter(|model| !model.is_empty()),
        prompt_tokens,
        cached: cached(document, timings, prompt_tokens, place)?,
        prompt_ns: milliseconds(&timings.prompt_ms, "timings.prompt_ms", place)?,
        generated: count(&timings.predicted_n, "timings.predicted_n", place)?,
        generated_ns: milliseconds(&timings.predicted_ms, "timings.predicted_ms", place)?,
        streamed,
        ..blank(Server::LlamaServer, place)
    };
    if let Some(settings) = document.generation_settings.object() {
        of_request(&mut response, settings)?;
    }
    Ok(response)
}

/// Returns the prompt's tokens from the cache.
fn cached(document: &Document, timings: &Timings, prompt_n: Option<u64>, place: &str) -> Result<Option<u64>> {
    if let Some(cached) = count(&timings.cache_n, "timings.cache_n", place)? {
        return Ok(Some(cached));
    }
    let details = document.usage.object().and_then(|usage| usage.prompt_tokens_details.object());
    if let Some(details) = details
        && let Some(cached) =
            count(&details.cached_tokens, "usage.prompt_tokens_details.cached_tokens", place)?
    {
        return Ok(Some(cached));
    }
    // The two count differently for a truncated prompt.
    let whole = count(&document.tokens_evaluated, "tokens_evaluated", place)?;
    let comparable = !document.truncated.is(true);
    Ok(whole.zip(prompt_n).filter(|_| comparable).and_then(|(whole, evaluated)| whole.checked_sub(evaluated)))
}

/// Adds the requested options; known values are kept.
fn of_request(response: &mut Response, request: &Request) -> Result<()> {
    let place = response.place.clone();
    let count = |cell, what| count(cell, what, &place);
    let asked = signed(&request.n_predict, "n_predict", &place)?;
    let asked = asked.or(signed(&request.max_tokens, "max_tokens", &place)?);
    let mut context = count(&request.n_ctx, "n_ctx")?;
    if let Some(options) = request.options.object() {
        response.num_batch = response.num_batch.or(count(&options.num_batch, "num_batch")?);
        context = context.or(count(&options.num_ctx, "num_ctx")?);
        response.num_predict = response.num_predict.or(signed(&options.num_predict, "num_predict", &place)?);
    }
    response.num_predict = response.num_predict.or(asked);
    response.num_ctx = response.num_ctx.or(context);
    response.model = response.model.take().or_else(|| text(&request.model));
    response.streamed = response.streamed.or(request.stream.flag());
    Ok(())
}

/// Adds what the ladder's line states about the request.
pub(super) fn of_ladder(line: &Document, answer: Response) -> Result<Response> {
    let place = answer.place.clone();
    let mut response = Response {
        label: text(&line.label),
        endpoint: text(&line.endpoint).or(answer.endpoint),
        sent: moment(&line.sent, "sent", &place)?,
        first: moment(&line.first, "first", &place)?,
        received: moment(&line.received, "received", &place)?,
        num_batch: count(&line.num_batch, "num_batch", &place)?,
        error: answer.error.or_else(|| failure(&line.error)),
        ..answer
    };
    if let Some(request) = line.request.object() {
        // The request is a better source than the shape of its response.
        response.streamed = request.stream.flag().or(response.streamed);
        of_request(&mut response, request)?;
    }
    response.num_ctx = response.num_ctx.or(count(&line.num_ctx, "num_ctx", &place)?);
    let times = [("sent", response.sent), ("first", response.first), ("received", response.received)];
    let known: Vec<_> = times.iter().filter_map(|(name, time)| Some((name, (*time)?))).collect();
    if let Some(pair) = known.windows(2).find(|pair| pair[0].1 > pair[1].1) {
        bail!(
            "{place}: `{}` is before `{}`: the clock was set back, or the line was changed",
            pair[1].0,
            pair[0].0
        );
    }
    Ok(response)
}

/// Returns the sentence of an error, of Ollama or llama-server.
pub(super) fn failure(error: &Part<Message>) -> Option<String> {
    match error {
        Part::Absent => None,
        Part::Text(text) => Some(text.clone()),
        Part::Object(object) => {
            Some(object.message.text().unwrap_or("an error without a message").to_owned())
        }
        Part::Other => Some("an error without a message".to_owned()),
    }
}
