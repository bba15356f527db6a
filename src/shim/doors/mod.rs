//! The doors beside the exported symbols: what a program can get a function's address from, and what passes them by.

mod bypass;
mod c_library;
mod dlsym;
mod prctl;
mod table;
