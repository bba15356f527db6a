//! The model's metadata: its shape, and the vocabulary of single letters.

use super::{CONTEXT, FEED_FORWARD, HEADS, LAYERS, Quantisation, VOCABULARY, WIDTH};

/// Key-value pairs as GGUF writes them.
pub(super) struct Metadata {
    pub(super) count: u64,
    pub(super) bytes: Vec<u8>,
}

// Types of values.
const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

impl Metadata {
    pub(super) fn of(quantisation: Quantisation) -> Metadata {
        let mut data = Metadata { count: 0, bytes: Vec::new() };
        data.string("general.architecture", "llama");
        data.string("general.name", "tiny");
        data.number("general.file_type", if quantisation == Quantisation::F16 { 1 } else { 2 });
        data.number("llama.context_length", CONTEXT);
        data.number("llama.embedding_length", WIDTH);
        data.number("llama.block_count", LAYERS);
        data.number("llama.feed_forward_length", FEED_FORWARD);
        data.number("llama.attention.head_count", HEADS);
        data.number("llama.attention.head_count_kv", HEADS);
        data.number("llama.rope.dimension_count", WIDTH / HEADS);
        data.number("llama.vocab_size", VOCABULARY);
        data.pair("llama.attention.layer_norm_rms_epsilon", F32, &1e-5f32.to_le_bytes());
        let tokens = tokens();
        data.string("tokenizer.ggml.model", "llama");
        data.array("tokenizer.ggml.tokens", STRING, tokens.iter().map(|token| text(&token.text)));
        data.array(
            "tokenizer.ggml.scores",
            F32,
            tokens.iter().map(|token| token.score.to_le_bytes().to_vec()),
        );
        data.array(
            "tokenizer.ggml.token_type",
            I32,
            tokens.iter().map(|token| token.kind.to_le_bytes().to_vec()),
        );
        data.number("tokenizer.ggml.unknown_token_id", 0);
        data.number("tokenizer.ggml.bos_token_id", 1);
        data.number("tokenizer.ggml.eos_token_id", 2);
        data
    }

    fn pair(&mut self, key: &str, kind: u32, value: &[u8]) {
        self.count += 1;
        self.bytes.extend(text(key));
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(value);
    }

    fn number(&mut self, key: &str, value: u32) {
        self.pair(key, U32, &value.to_le_bytes());
    }

    fn string(&mut self, key: &str, value: &str) {
        self.pair(key, STRING, &text(value));
    }

    fn array(&mut self, key: &str, kind: u32, values: impl ExactSizeIterator<Item = Vec<u8>>) {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        values.for_each(|value| bytes.extend(value));
        self.pair(key, ARRAY, &bytes);
    }
}

/// A text, preceded by its length.
pub(super) fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

struct Token {
    text: String,
    score: f32,
    kind: i32,
}

// Types of tokens.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const UNUSED: i32 = 5;
const BYTE: i32 = 6;

/// The vocabulary: no token is the concatenation of two others, so every letter stays a separate
/// token.
fn tokens() -> Vec<Token> {
    let token = |text: String, score, kind| Token { text, score, kind };
    let mut tokens = vec![
        token("<unk>".into(), 0.0, UNKNOWN),
        token("<s>".into(), 0.0, CONTROL),
        token("</s>".into(), 0.0, CONTROL),
    ];
    tokens.extend((0..=255u8).map(|byte| token(format!("<0x{byte:02X}>"), 0.0, BYTE)));
    tokens.extend(('a'..='z').chain(['\u{2581}']).map(|letter| token(letter.into(), -1.0, NORMAL)));
    tokens.extend((tokens.len()..VOCABULARY as usize).map(|id| token(format!("<unused{id}>"), -1e4, UNUSED)));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_has_its_size_and_no_token_twice() {
        let mut texts: Vec<String> = tokens().into_iter().map(|token| token.text).collect();
        assert_eq!(texts.len(), VOCABULARY as usize);
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), VOCABULARY as usize);
    }
}
