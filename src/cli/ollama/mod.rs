//! Ollama as a service or in a container: makes it record, finds what prevents it, and undoes it.
//!
//! Layers, lowest first: `unit` (the service's settings, as systemd reads them), `obstacles` (what
//! prevents recording), `drop_in` (the file that is written and removed), `container` (the same as
//! a compose file).

mod container;
mod drop_in;
mod obstacles;
mod unit;

pub(crate) use container::container;
pub(crate) use drop_in::DropIn;
pub(crate) use obstacles::obstacles;
pub(crate) use unit::{SERVICE, TRACES, Unit, below};
