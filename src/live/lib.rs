//! Shows processes that still record: a screen of what they do, a line for each of their calls,
//! and their counters as metrics.
//!
//! Layers, lowest first: `metrics`, `tail` (a call as a line), `top` (the screen).

#![forbid(unsafe_code)]

mod metrics;
mod tail;
mod top;

pub use metrics::{Metrics, metric_names};
pub use tail::{change, line, object};
pub use top::{Screen, Tab, draw, length};
