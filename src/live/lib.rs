//! Shows processes that still record: a screen of what they do, and a line for each of their calls.
//!
//! Layers, lowest first: `tail` (a call as a line), `top` (the screen).

#![forbid(unsafe_code)]

mod tail;
mod top;

pub use tail::{change, line, object};
pub use top::{Screen, Tab, draw, length};
