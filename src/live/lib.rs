//! Processes that still record: what a screen shows of them, and a line for each of their calls.
//!
//! Layers, lowest first: `tail` (a call as a line), `top` (the screen).

#![forbid(unsafe_code)]

mod tail;
mod top;

pub use tail::{line, news, object};
pub use top::{Screen, Tab, draw, length};
