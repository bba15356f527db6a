//! Programs that are run many times: one run and its decisions, the change between runs, and the
//! state after each.

mod change;
mod environment;
mod mix;
mod runner;
mod state;

pub(crate) use change::Setup;
pub(crate) use environment::{Environments, seed};
pub(crate) use runner::Runner;
pub(crate) use state::{KnownRun, State};
