//! What is listed once and used everywhere: a row of the hook table, the configuration variables, and the text that the
//! command reads of both from the library's file.
//!
//! Layers, lowest first: `section`; `row`; `config`.

#[macro_use]
pub(crate) mod section;

pub(crate) mod config;
pub(crate) mod row;
