//! Iterates over the JSON documents of a file: lines, pretty-printed documents, an array,
//! server-sent events.

use super::document::Document;

/// A document and its position.
pub(super) struct Located {
    /// Number of its first line, from 1.
    pub(super) line: usize,
    pub(super) document: Document,
    /// True when it came as a server-sent event.
    pub(super) event: bool,
}

/// Why there is no further document, with the number of the line where it would begin.
#[derive(Debug, PartialEq)]
pub(super) enum Stop {
    /// The file ends within it.
    Cut(usize),
    /// It is not JSON, or not a server's; what is wrong.
    Broken(usize, String),
}

/// Iterator over the documents of a file.
pub(super) struct Documents<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position up to which lines were counted.
    counted: usize,
    line: usize,
    in_array: bool,
}

/// Fields of server-sent events that carry no document.
const FIELDS: [&[u8]; 4] = [b":", b"event:", b"id:", b"retry:"];

impl<'a> Documents<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Documents<'a> {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Documents { bytes, at, counted: 0, line: 1, in_array: false }
    }

    /// Returns the next document; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Located>, Stop> {
        let mut event = false;
        loop {
            let Some(first) = self.blank() else {
                return if self.in_array { Err(Stop::Cut(self.line())) } else { Ok(None) };
            };
            match first {
                b'[' if !self.in_array && !self.at_end_word() => self.enter(),
                b']' | b',' if self.in_array => self.leave(first),
                b'{' => return self.document(event).map(Some),
                _ if !self.in_array && !event && self.field() => event = true,
                _ if !self.in_array && self.passed_over() => event = false,
                _ => return Err(self.broken("neither a JSON object nor a list of them")),
            }
        }
    }

    fn enter(&mut self) {
        self.in_array = true;
        self.at += 1;
    }

    fn leave(&mut self, separator: u8) {
        self.in_array = separator == b',';
        self.at += 1;
    }

    fn document(&mut self, event: bool) -> Result<Located, Stop> {
        let line = self.line();
        let mut stream = serde_json::Deserializer::from_slice(&self.bytes[self.at..]).into_iter::<Document>();
        match stream.next() {
            Some(Ok(document)) => {
                self.at += stream.byte_offset();
                Ok(Located { line, document, event })
            }
            Some(Err(error)) if error.is_eof() => Err(Stop::Cut(line)),
            Some(Err(error)) => {
                let words = error.to_string();
                let what = words.split(" at line ").next().unwrap_or(&words);
                let lines = error.line().max(1) - 1;
                (0..lines).for_each(|_| self.skip_line());
                Err(Stop::Broken(line + lines, format!("no JSON of a server: {what}")))
            }
            None => Err(Stop::Cut(line)),
        }
    }

    /// Continues after the line at which the iteration stopped; returns false in a list, of which
    /// the end of what is broken is unknown.
    pub(super) fn resume(&mut self) -> bool {
        self.skip_line();
        !self.in_array
    }

    /// Moves to the beginning of the next line.
    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    /// Skips white space; returns the next byte.
    fn blank(&mut self) -> Option<u8> {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
        self.bytes.get(self.at).copied()
    }

    /// Skips the name of a field that carries a document; llama-server sends `error` besides
    /// `data`.
    fn field(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let name = [&b"data:"[..], b"error:"].into_iter().find(|name| rest.starts_with(name));
        self.at += name.map_or(0, <[u8]>::len);
        name.is_some()
    }

    /// Returns true at the word that ends an event stream.
    fn at_end_word(&self) -> bool {
        self.bytes[self.at..].starts_with(b"[DONE]")
    }

    /// Skips the rest of an event stream: other fields, and the word at its end.
    fn passed_over(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let known = self.at_end_word() || FIELDS.iter().any(|name| rest.starts_with(name));
        if known {
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
        known
    }

    fn broken(&mut self, what: &str) -> Stop {
        Stop::Broken(self.line(), what.into())
    }

    /// Returns the line number of the present position.
    fn line(&mut self) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.counted..self.at]).count();
        self.counted = self.at;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::responses::value::Cell;

    /// Returns line, id and whether it is an event for each document; and why the iteration
    /// stopped.
    fn walk(text: &str) -> (Vec<(usize, u64, bool)>, Option<Stop>) {
        let (mut documents, mut found) = (Documents::new(text.as_bytes()), Vec::new());
        loop {
            match documents.next() {
                Ok(Some(Located { line, document: Document { id: Cell::Whole(id), .. }, event })) => {
                    found.push((line, id, event));
                }
                Ok(Some(other)) => panic!("{text}: no id in line {}", other.line),
                Ok(None) => return (found, None),
                Err(stop) => return (found, Some(stop)),
            }
        }
    }

    #[test]
    fn documents_come_as_lines_as_a_list_and_pretty() {
        let whole = |text: &str, expected: &[(usize, u64, bool)]| {
            assert_eq!(walk(text), (expected.to_vec(), None), "{text}");
        };
        whole("", &[]);
        whole("\u{feff} \n {\"id\":1}", &[(2, 1, false)]);
        whole("{\"id\":1}\r\n\r\n{\"id\":2}\n", &[(1, 1, false), (3, 2, false)]);
        whole("{\n  \"id\": 1\n}\n{\n  \"id\": 2\n}\n", &[(1, 1, false), (4, 2, false)]);
        whole("[\n {\"id\":1},\n {\"id\":2}\n]\n{\"id\":3}", &[(2, 1, false), (3, 2, false), (5, 3, false)]);
        whole("[]", &[]);
    }

    #[test]
    fn events_lose_their_names() {
        let text = ": ping\n\nevent: x\ndata: {\"id\":1}\n\nerror: {\"id\":2}\n\ndata: [DONE]\n\n{\"id\":3}";
        assert_eq!(walk(text), (vec![(4, 1, true), (6, 2, true), (10, 3, false)], None));
    }

    #[test]
    fn what_is_cut_and_what_is_broken_is_reported_with_its_line() {
        assert_eq!(walk("{\"id\":1}\n{\"id\":"), (vec![(1, 1, false)], Some(Stop::Cut(2))));
        assert_eq!(walk("[{\"id\":1},").1, Some(Stop::Cut(1)));
        let broken = |text: &str| match walk(text).1 {
            Some(Stop::Broken(line, what)) => (line, what),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(broken("{\"id\":1}\nabc"), (2, "neither a JSON object nor a list of them".into()));
        assert_eq!(broken("{\n\"id\" 1}"), (2, "no JSON of a server: expected `:`".into()));
        assert_eq!(broken("data: data: {}").0, 1);
        assert_eq!(broken("{\"id\":1,\"id\":2}"), (1, "no JSON of a server: duplicate field `id`".into()));
    }
}
