//! The tables of requests: how each is described.

use super::{Claim, Request};
use crate::{Outcome, table::Cell, units::range};
use rocshim_reader::responses::Response;
use rocshim_trace::file_name;
use std::collections::BTreeMap;

crate::table! {
    /// The requests, with what each statement came to.
    REQUESTS: Request = "requests", "Requests", "a request to a server";
    |row|
    number("response.number", "#", "its number, in the order of the responses") => row.response.number;
    words("response.label", "request", "its label, endpoint, or place in the file") => row.name();
    number("prompt.said", "reported", "tokens of the prompt, as the server reports") => figure(&row.prompt.reported);
    count("response.cached", "cached", "tokens of it from the cache, as reported").optional()
        => row.response.cached;
    number("prompt.observed", "launched", "columns that were launched for the prompt").on_page()
        => figure(&row.prompt.observed);
    evidence("prompt.verdict", "prompt", "what the statement on them came to").on_page() => row.prompt.verdict;
    words("prompt.why", "why", "the rule, or the reason").on_page() => &row.prompt.why;
    words("chunks", "ne11 by pass", "columns of the passes that evaluated the prompt") => row.chunks_in_words();
    words("products", "kernels", "families of the GEMM kernels in these passes").in_text() => row.families();
    evidence("path.verdict", "path", "what the statement on these kernels came to").on_page() => row.path.verdict;
    words("path.observed", "by", "the kernels that evaluated the prompt").on_page() => &row.path.observed;
    count("tensile", "BLAS", "launches of Cijk_* kernels for the prompt") => row.tensile;
    number("generated.said", "generated", "generated tokens, as the server reports").optional()
        => figure(&row.generated.reported);
    evidence("generated.verdict", "generated", "what the statement on them came to").on_page()
        => row.generated.verdict;
    time("prompt_ns", "prompt's host time", "from the first launch for the prompt to the last pass's end")
        .on_page() => row.prompt_ns;
    words("matched", "found by", "the rule by which passes were matched, or why none was").on_page()
        => row.matched;
    evidence("evidence", "evidence", "the least certain of the statements").in_text().derived()
        => row.least_certain();
}

crate::table! {
    /// The statements on the tokens of prompts.
    PROMPT_CLAIMS: Request = "requests, prompt",
        "Prompt tokens: reported by the server, and evaluated (columns of the GEMMs, ne11)", "a request";
    |row|
    number("response.number", "#", "its number, in the order of the responses") => row.response.number;
    words("response.label", "request", "its label, endpoint, or place in the file") => row.name();
    words("prompt.said", "reported", "tokens, as the server reports").right() => &row.prompt.reported;
    count("response.cached", "cached", "tokens from the cache, as reported").optional() => row.response.cached;
    words("prompt.observed", "evaluated", "columns that were launched").right() => &row.prompt.observed;
    words("chunks", "ne11 by pass", "columns of the passes that evaluated it") => row.chunks_in_words();
    evidence("prompt.verdict", "evidence", "what the statement came to") => row.prompt.verdict;
    sentence("prompt.why", "why", "the rule, or the reason") => &row.prompt.why;
}

crate::table! {
    /// The statements on the kernels of prompts.
    PATH_CLAIMS: Request = "requests, path", "Kernel path: expected for the reported prompt, and observed",
        "a request";
    |row|
    number("response.number", "#", "its number, in the order of the responses") => row.response.number;
    words("response.label", "request", "its label, endpoint, or place in the file") => row.name();
    words("path.said", "expected", "kernels that follow from the reported tokens").right() => &row.path.reported;
    words("path.observed", "launches", "kernels that were launched") => &row.path.observed;
    count("tensile", "Cijk_*", "launches of kernels of BLAS libraries") => row.tensile;
    words("code_objects", "code object", "the code objects of these kernels") => row.objects();
    evidence("path.verdict", "evidence", "what the statement came to") => row.path.verdict;
    sentence("path.why", "why", "the rule, or the reason") => &row.path.why;
}

crate::table! {
    /// The statements on generated tokens.
    GENERATED_CLAIMS: Request = "requests, generated",
        "Generated tokens: reported by the server, and passes after the prompt's", "a request";
    |row|
    number("response.number", "#", "its number, in the order of the responses") => row.response.number;
    words("response.label", "request", "its label, endpoint, or place in the file") => row.name();
    words("generated.said", "reported", "tokens, as the server reports").right() => &row.generated.reported;
    words("generated.observed", "passes", "passes after the prompt's").right() => &row.generated.observed;
    evidence("generated.verdict", "evidence", "what the statement came to") => row.generated.verdict;
    sentence("generated.why", "why", "the rule, or the reason") => &row.generated.why;
}

/// The number that a statement is, or its words.
fn figure(words: &str) -> Cell {
    words.parse().map_or_else(|_| words.into(), Cell::Number)
}

impl Request {
    /// What the statements are about, and the statements.
    pub fn claims(&self) -> [(&'static str, &Claim); 3] {
        [("Prompt tokens", &self.prompt), ("Kernels", &self.path), ("Generated tokens", &self.generated)]
    }

    /// The verdict of most doubt.
    fn least_certain(&self) -> Option<Outcome> {
        /// From no doubt to most.
        const DOUBT: [&str; 5] = ["confirmed", "inferred", "limited", "unresolved", "contradicted"];
        let verdicts = self.claims().map(|(_, claim)| claim.verdict);
        verdicts.into_iter().max_by_key(|verdict| DOUBT.iter().position(|word| *word == verdict.word()))
    }

    /// Its label, else its endpoint, else its place in the file.
    pub fn name(&self) -> &str {
        let Response { label, endpoint, place, .. } = &self.response;
        label.as_ref().or(endpoint.as_ref()).unwrap_or(place)
    }

    /// `512 + 512 + 276`: columns by pass; `None` where none was launched.
    pub fn chunks_in_words(&self) -> Option<String> {
        let parts: Vec<String> = self.chunks.iter().map(|chunk| range(chunk.least, chunk.most)).collect();
        match parts.len() {
            0 => None,
            1..=6 => Some(parts.join(" + ")),
            more => Some(format!("{} + … ({more} chunks)", parts[..3].join(" + "))),
        }
    }

    /// The families of the GEMM kernels of its prompt.
    fn families(&self) -> Option<String> {
        let families: Vec<&str> = self.products.iter().map(|(family, _)| *family).collect();
        (!families.is_empty()).then(|| families.join(", "))
    }

    /// `libggml-hip.so bundles 36, 112`.
    fn objects(&self) -> Option<String> {
        let mut files: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for object in &self.code_objects {
            let file = object.file.as_deref().or(object.path.as_deref()).unwrap_or("unknown");
            files.entry(file_name(file)).or_default().extend(object.ordinal);
        }
        let one = |(file, ordinals): (&str, Vec<u32>)| {
            let numbers = ordinals.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            match ordinals.len() {
                0 => file.to_string(),
                1 => format!("{file} bundle {numbers}"),
                _ => format!("{file} bundles {numbers}"),
            }
        };
        let parts: Vec<String> = files.into_iter().map(one).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
