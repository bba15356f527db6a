//! Tables that are declared once: the type of a hook's row and the configuration variables, with
//! the text of both that the command reads from the library's file.
//!
//! Layers, lowest first: `section`; `row`; `config`.

#[macro_use]
pub(crate) mod section;

pub(crate) mod config;
pub(crate) mod row;
