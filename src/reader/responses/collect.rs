//! Turns the documents of a file into responses: classifies each as a response, a piece of a
//! stream, or neither.

use super::document::{Choices, Document};
use super::documents::{Documents, Located, Stop};
use super::value::{Cell, Part};
use super::{Response, Responses, Server, fields};
use anyhow::{Result, bail};
use std::collections::HashMap;

/// Limit of the responses in a file.
const MOST: usize = 100_000;

/// A stream whose end has not been read yet.
struct Stream {
    line: usize,
    server: Server,
    /// Stream id in OpenAI's API.
    id: Option<String>,
}

/// State of reading a file.
pub(super) struct Collect<'a> {
    name: String,
    all: &'a mut Responses,
    found: usize,
    stream: Option<Stream>,
    /// Index of responses by their line's own number.
    ids: HashMap<String, usize>,
    /// Error of the first document that is not part of a response.
    alien: Option<String>,
    /// Lines in a row that are no JSON: the first, what is wrong with it, and how many.
    broken: Option<(usize, String, usize)>,
    /// Number of responses from earlier files.
    first: usize,
}

/// Class of a document.
enum DocumentKind {
    /// A whole response, or a stream's end.
    Answer(Box<Response>),
    /// A piece of a stream.
    Piece(Server),
    /// Neither, with the reason.
    Alien(&'static str),
}

impl<'a> Collect<'a> {
    pub(super) fn new(name: String, all: &'a mut Responses) -> Collect<'a> {
        let first = all.list.len();
        Collect { name, all, found: 0, stream: None, ids: HashMap::new(), alien: None, broken: None, first }
    }

    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<()> {
        let mut documents = Documents::new(bytes);
        loop {
            match documents.next() {
                Ok(None) => {
                    self.end_broken();
                    return Ok(());
                }
                Ok(Some(found)) => {
                    self.end_broken();
                    self.take(&found)?;
                }
                Err(Stop::Cut(line)) => {
                    self.end_broken();
                    self.note(
                        line,
                        "the file ends in the middle of the document that begins here, which was passed over",
                    );
                    return Ok(());
                }
                Err(Stop::Broken(line, what)) if documents.resume() => {
                    self.broken.get_or_insert((line, what, 0)).2 += 1;
                }
                Err(Stop::Broken(line, what)) => {
                    bail!(
                        "{}:{line}: {what}; give the responses of Ollama or llama-server as they came",
                        self.name
                    )
                }
            }
        }
    }

    /// Ends the file. If each line states when its request was sent, sorts the responses by that: a
    /// client may write each when its response is complete.
    pub(super) fn finish(mut self) -> Result<()> {
        self.end_stream();
        let own = &mut self.all.list[self.first..];
        if own.iter().all(|response| response.sent.is_some()) {
            own.sort_by_key(|response| response.sent);
            (self.first + 1..).zip(own).for_each(|(number, response)| response.number = number);
        }
        if self.found > 0 {
            return Ok(());
        }
        if let Some(alien) = self.alien {
            bail!("{alien}");
        }
        let own = format!("{}:", self.name);
        let why = self.all.notes.iter().rfind(|note| note.starts_with(&own));
        match why {
            Some(note) => bail!("no whole response in {}: {note}", self.name),
            None => bail!("{} has no response: it is empty", self.name),
        }
    }

    fn note(&mut self, line: usize, what: &str) {
        self.all.notes.push(format!("{}:{line}: {what}", self.name));
    }

    /// Notes the lines in a row that are no JSON.
    fn end_broken(&mut self) {
        if let Some((line, what, lines)) = self.broken.take() {
            let others = match lines {
                1 => String::new(),
                2 => ", as is the next line".into(),
                _ => format!(", as are the next {} lines", lines - 1),
            };
            self.note(line, &format!("{what}; passed over{others}"));
        }
    }

    fn end_stream(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.note(stream.line, "the stream that begins here has no end, and was passed over");
        }
    }

    fn take(&mut self, found: &Located) -> Result<()> {
        let place = format!("{}:{}", self.name, found.line);
        let document = &found.document;
        if !document.rocshim.is_absent() {
            bail!(
                "{} is a trace of rocshim's, not the responses of a server: give it as the trace",
                self.name
            );
        }
        let id = document.object.text().and(document.id.text()).map(str::to_owned);
        match kind(document, &place)? {
            DocumentKind::Answer(response) => {
                let mut response = *response;
                let began = self.stream.take_if(|stream| stream.server == response.server && stream.id == id);
                self.end_stream();
                if began.is_some() || found.event {
                    response.streamed = Some(true);
                }
                self.answer(response, found)
            }
            DocumentKind::Piece(server) => {
                if self.stream.as_ref().is_none_or(|stream| stream.server != server || stream.id != id) {
                    self.end_stream();
                    self.stream = Some(Stream { line: found.line, server, id });
                }
                Ok(())
            }
            DocumentKind::Alien(why) => {
                self.alien.get_or_insert_with(|| format!("{place}: {why}"));
                self.note(found.line, &format!("{why}; passed over"));
                Ok(())
            }
        }
    }

    fn answer(&mut self, mut response: Response, found: &Located) -> Result<()> {
        let line = found.line;
        if !found.document.id.is_absent() {
            let id = found.document.id.to_string();
            if let Some(before) = self.ids.insert(id.clone(), line) {
                bail!(
                    "{}:{line}: the id {id} is also that of line {before}: one request is there twice",
                    self.name
                );
            }
        }
        self.found += 1;
        if self.found > MOST {
            bail!("{}:{line}: more than {MOST} responses: give fewer at once", self.name);
        }
        response.number = self.all.list.len() + 1;
        self.all.list.push(response);
        Ok(())
    }
}

fn whole(response: Response) -> DocumentKind {
    DocumentKind::Answer(Box::new(response))
}

fn kind(document: &Document, place: &str) -> Result<DocumentKind> {
    match &document.response {
        Part::Object(answer) => of_ladder(document, answer, place),
        _ if !document.sent.is_absent() => of_ladder(document, &Document::default(), place),
        _ => of_server(document, place),
    }
}

/// Reads a line of the ladder, with the response in it.
fn of_ladder(line: &Document, answer: &Document, place: &str) -> Result<DocumentKind> {
    let server = match line.server.text() {
        Some("ollama") => Some(Server::Ollama),
        Some("llama-server") => Some(Server::LlamaServer),
        _ => None,
    };
    let answer = match (of_server(answer, place)?, server) {
        (DocumentKind::Answer(answer), _) => *answer,
        // There is no response, but the line states why.
        (_, Some(server)) if fields::failure(&line.error).is_some() => fields::blank(server, place),
        (_, Some(_)) => {
            return Ok(DocumentKind::Alien(
                "this line has neither the end of an answer under `response` nor an `error`",
            ));
        }
        (_, None) => {
            return Ok(DocumentKind::Alien(
                "under `response` there is no answer of Ollama's or llama-server's",
            ));
        }
    };
    fields::of_ladder(line, answer).map(whole)
}

/// Reads a document of a server.
fn of_server(document: &Document, place: &str) -> Result<DocumentKind> {
    if let Some(error) = fields::failure(&document.error) {
        let is_text = matches!(document.error, Part::Text(_));
        let server = if is_text { Server::Ollama } else { Server::LlamaServer };
        return Ok(whole(Response { error: Some(error), ..fields::blank(server, place) }));
    }
    if document.done.is(true) {
        return fields::of_ollama(document, place).map(whole);
    }
    if document.done.is(false) {
        return Ok(DocumentKind::Piece(Server::Ollama));
    }
    let object = document.object.text();
    // A chunk may carry preliminary timings; the last one has a finish reason, or no choices.
    let ended = match object {
        Some("chat.completion.chunk") => !matches!(document.choices, Choices::GoesOn),
        Some("text_completion") => !matches!(document.choices, Choices::GoesOn),
        _ => !document.stop.is(false),
    };
    match (&document.timings, ended) {
        (Part::Object(timings), true) => {
            return fields::of_llama_server(document, timings, place).map(whole);
        }
        (Part::Object(_), false) => return Ok(DocumentKind::Piece(Server::LlamaServer)),
        _ => {}
    }
    Ok(match (object, &document.stop) {
        (Some("chat.completion.chunk"), _) | (_, Cell::Flag(false)) => {
            DocumentKind::Piece(Server::LlamaServer)
        }
        (Some("text_completion"), _) if !ended => DocumentKind::Piece(Server::LlamaServer),
        (Some("chat.completion" | "text_completion"), _) => DocumentKind::Alien(
            "a completion without `timings`: llama-server writes them, other servers of this interface do not report what they evaluated",
        ),
        _ => DocumentKind::Alien(
            "this JSON is no answer of Ollama's (it has no `done`), of llama-server's (no `timings`) or of the prompt ladder's (no `response`)",
        ),
    })
}
