//! One JSON document of a server, or one line of the prompt ladder: keeps the members that matter
//! and skips all others.
//!
//! Deserialised by type, so that memory is bounded by what is kept, not by the document's length.

use super::value::{Cell, Part};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// A JSON document of Ollama, llama-server, the prompt ladder, or another origin.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Document {
    // A trace's first line, given by mistake.
    pub(super) rocshim: Cell,
    // The ladder's members.
    pub(super) id: Cell,
    pub(super) label: Cell,
    pub(super) server: Cell,
    pub(super) endpoint: Cell,
    pub(super) sent: Cell,
    pub(super) first: Cell,
    pub(super) received: Cell,
    pub(super) request: Part<Request>,
    pub(super) num_batch: Cell,
    pub(super) num_ctx: Cell,
    /// The response in the ladder's line; the text in Ollama's response.
    pub(super) response: Part<Box<Document>>,
    // Ollama's members.
    pub(super) model: Cell,
    pub(super) created_at: Cell,
    pub(super) done: Cell,
    pub(super) message: Part<Message>,
    pub(super) prompt_eval_count: Cell,
    pub(super) prompt_eval_duration: Cell,
    pub(super) eval_count: Cell,
    pub(super) eval_duration: Cell,
    pub(super) load_duration: Cell,
    pub(super) total_duration: Cell,
    // llama-server's members.
    pub(super) object: Cell,
    pub(super) stop: Cell,
    pub(super) choices: Choices,
    pub(super) timings: Part<Timings>,
    pub(super) usage: Part<Usage>,
    pub(super) tokens_evaluated: Cell,
    pub(super) truncated: Cell,
    pub(super) generation_settings: Part<Request>,
    /// A sentence in Ollama's case, an object in llama-server's.
    pub(super) error: Part<Message>,
}

/// Options of a request, or those that a server states for it.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Request {
    pub(super) model: Cell,
    pub(super) stream: Cell,
    pub(super) n_predict: Cell,
    pub(super) max_tokens: Cell,
    pub(super) n_ctx: Cell,
    pub(super) options: Part<Options>,
}

/// Ollama's `options`.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Options {
    pub(super) num_batch: Cell,
    pub(super) num_ctx: Cell,
    pub(super) num_predict: Cell,
}

/// llama-server's `timings`.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Timings {
    pub(super) cache_n: Cell,
    pub(super) prompt_n: Cell,
    pub(super) prompt_ms: Cell,
    pub(super) predicted_n: Cell,
    pub(super) predicted_ms: Cell,
}

/// The `usage` of OpenAI's interface.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) prompt_tokens_details: Part<PromptTokens>,
}

/// The part of `usage` about the prompt.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct PromptTokens {
    pub(super) cached_tokens: Cell,
}

/// An object with a sentence.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) message: Cell,
}

/// Summary of `choices` in OpenAI's API: whether one has a finish reason, and whether there is any.
#[derive(Default)]
pub(super) enum Choices {
    #[default]
    Absent,
    Empty,
    GoesOn,
    Ended,
}

/// One of the `choices`.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Choice {
    finish_reason: Cell,
}

struct ChoicesVisitor;

impl<'de> Visitor<'de> for ChoicesVisitor {
    type Value = Choices;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_unit<E>(self) -> Result<Choices, E> {
        Ok(Choices::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choices, A::Error> {
        let mut found = Choices::Empty;
        while let Some(choice) = list.next_element::<Part<Choice>>()? {
            let ended = choice.object().is_some_and(|choice| !choice.finish_reason.is_absent());
            found = if ended || matches!(found, Choices::Ended) { Choices::Ended } else { Choices::GoesOn };
        }
        Ok(found)
    }
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Choices, D::Error> {
        from.deserialize_any(ChoicesVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Document {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_member_of_another_kind_does_not_stop_the_reading() {
        let document = read(
            r#"{"response":"text","timings":[1,2],"usage":3,"error":{"message":"no"},"unknown":{"a":[]}}"#,
        );
        assert!(matches!(document.response, Part::Text(text) if text == "text"));
        assert!(matches!((document.timings, document.usage), (Part::Other, Part::Other)));
        assert_eq!(document.error.object().and_then(|error| error.message.text()), Some("no"));
    }

    #[test]
    fn a_choice_that_says_why_ends_the_stream() {
        let of = |choices: &str| read(&format!(r#"{{"choices":{choices}}}"#)).choices;
        assert!(matches!(of("[]"), Choices::Empty));
        assert!(matches!(of(r#"[{"finish_reason":null}]"#), Choices::GoesOn));
        assert!(matches!(of(r#"[{"finish_reason":"stop"},{}]"#), Choices::Ended));
    }
}
