//! State of the program's objects: kernels and their argument layouts, graphs and captures, BLAS
//! handles, hipBLASLt descriptors, MIOpen problems.
//!
//! Layers, lowest first: `address_map`, `layouts`, `shapes`, `graph_nodes`,
//! `miopen_problems`; `blas_settings`, `lt_descriptors`, `kernels`, `graphs`.

pub(crate) mod address_map;
pub(crate) mod blas_settings;
pub(crate) mod graph_nodes;
pub(crate) mod graphs;
pub(crate) mod kernels;
pub(crate) mod layouts;
pub(crate) mod lt_descriptors;
pub(crate) mod miopen_problems;
pub(crate) mod shapes;
