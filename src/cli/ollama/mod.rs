//! Ollama as a service or in a container: what makes it record, what is in the way, and how it is
//! undone.
//!
//! Layers, lowest first: `unit` (the service's settings, as systemd reads them), `obstacles` (what
//! keeps it from being recorded), `drop_in` (the file that is written and removed), `container`
//! (the same as a compose file).

mod container;
mod drop_in;
mod obstacles;
mod unit;

pub(crate) use container::container;
pub(crate) use drop_in::DropIn;
pub(crate) use obstacles::obstacles;
pub(crate) use unit::{SERVICE, TRACES, Unit, below};
