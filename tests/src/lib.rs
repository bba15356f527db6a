//! What the cross-process tests share: built artifacts, traced programs, traces and logs read back.
//!
//! Layers, lowest first: `artifacts` (what must be built), `running` (a program that goes on),
//! `traced` (a program with or without the shim), `trace` (its records), `executed` (what they say
//! was executed), `standin` (the stand-in libraries' own log of the same calls), `gguf`, `rocm`
//! (the real user space, what runs in it, and the null GPU's log), `llm` (a server that answers as
//! Ollama and llama-server do), `damage` (bytes that were changed, and who reads them), `terminal`
//! (a terminal, and what it shows).

pub mod artifacts;
pub mod damage;
pub mod executed;
pub mod gguf;
pub mod llm;
pub mod rocm;
pub mod running;
pub mod standin;
pub mod terminal;
pub mod trace;
pub mod traced;

pub use running::Running;
pub use terminal::Terminal;
pub use trace::Trace;
pub use traced::{Outcome, Traced};
