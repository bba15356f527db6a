//! The catalog of a target, `TensileLibrary_lazy_<target>.dat`: the solution file for each
//! operation and types.

use crate::{Product, msgpack::Value, predicate::Asked, predicate::Predicate};
use serde::Serialize;

/// What the library supports on a target.
#[derive(Clone, Debug)]
pub struct Catalog {
    target: String,
    root: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Rows(Vec<(Predicate, Node)>),
    /// A choice by operation.
    Map(Vec<(String, Node)>),
    /// The name of a file, without its extension.
    File(String),
    Other(String),
}

/// A solution file that the catalog names, with its purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// `Contraction_l_Alik_Bljk_Cijk_Dijk`.
    pub operation: String,
    /// Element types of A, B, C and D in Tensile's names.
    pub types: Vec<String>,
    /// True when computed in a wider type.
    pub high_precision: Option<bool>,
    /// The file's name without extension.
    pub file: String,
}

/// A file in which the library searches for a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The file's name without extension.
    pub file: String,
    /// True when all conditions on the path to it are known to hold.
    pub certain: bool,
}

impl Entry {
    /// Returns true for solutions that serve any target.
    pub fn is_fallback(&self) -> bool {
        is_fallback(&self.file)
    }
}

impl Reached {
    /// Returns true for solutions that serve any target.
    pub fn is_fallback(&self) -> bool {
        is_fallback(&self.file)
    }
}

fn is_fallback(file: &str) -> bool {
    file.ends_with("_fallback") || file.contains("_fallback_")
}

impl Catalog {
    pub(crate) fn read(file: &Value, target: &str) -> Option<Catalog> {
        Some(Catalog { target: target.to_owned(), root: Node::read(file.get("library")?)? })
    }

    /// Returns every file that the catalog names for its target.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let way =
            Entry { operation: String::new(), types: Vec::new(), high_precision: None, file: String::new() };
        self.root.entries(&way, &mut entries);
        entries
    }

    /// Returns the files in which the library searches for `product`, in its order.
    pub fn reached(&self, product: &Product) -> Vec<Reached> {
        let mut reached = Vec::new();
        self.root.reached(Asked { product, target: &self.target }, true, &mut reached);
        reached
    }

    /// A kind of node that is not evaluated, by its name; what is below it is unknown.
    pub fn unread(&self) -> Option<&str> {
        self.root.unread()
    }
}

impl Node {
    fn read(value: &Value) -> Option<Node> {
        let kind = value.get("type")?.text()?;
        Some(match kind {
            "Hardware" | "Problem" => {
                let rows = value.get("rows")?.array()?.iter().map(|row| {
                    Some((Predicate::read(row.get("predicate")?)?, Node::read(row.get("library")?)?))
                });
                Node::Rows(rows.collect::<Option<_>>()?)
            }
            "ProblemMap" => {
                if value.get("property")?.get("type")?.text()? != "OperationIdentifier" {
                    return Some(Node::Other("ProblemMap".into()));
                }
                let Value::Map(pairs) = value.get("map")? else { return None };
                let pairs = pairs.iter().map(|(key, node)| Some((key.text()?.to_owned(), Node::read(node)?)));
                Node::Map(pairs.collect::<Option<_>>()?)
            }
            "Placeholder" => Node::File(value.get("value")?.text()?.to_owned()),
            other => Node::Other(other.to_owned()),
        })
    }

    fn entries(&self, way: &Entry, into: &mut Vec<Entry>) {
        match self {
            Node::Rows(rows) => {
                for (predicate, node) in rows {
                    let mut way = way.clone();
                    for leaf in predicate.leaves() {
                        match leaf.name.as_str() {
                            "TypesEqual" => way.types = leaf.words().unwrap_or_default().to_vec(),
                            "HighPrecisionAccumulate" => way.high_precision = leaf.flag(),
                            _ => {}
                        }
                    }
                    node.entries(&way, into);
                }
            }
            Node::Map(pairs) => {
                for (operation, node) in pairs {
                    node.entries(&Entry { operation: operation.clone(), ..way.clone() }, into);
                }
            }
            Node::File(file) => into.push(Entry { file: file.clone(), ..way.clone() }),
            Node::Other(_) => {}
        }
    }

    fn reached(&self, asked: Asked, certain: bool, into: &mut Vec<Reached>) {
        match self {
            Node::Rows(rows) => {
                for (predicate, node) in rows {
                    match predicate.holds(asked) {
                        Some(false) => {}
                        holds => node.reached(asked, certain && holds.is_some(), into),
                    }
                }
            }
            Node::Map(pairs) => {
                let found = pairs.iter().find(|(operation, _)| *operation == asked.product.operation);
                if let Some((_, node)) = found {
                    node.reached(asked, certain, into);
                }
            }
            Node::File(file) => into.push(Reached { file: file.clone(), certain }),
            Node::Other(_) => {}
        }
    }

    fn unread(&self) -> Option<&str> {
        match self {
            Node::Rows(rows) => rows.iter().find_map(|(_, node)| node.unread()),
            Node::Map(pairs) => pairs.iter().find_map(|(_, node)| node.unread()),
            Node::File(_) => None,
            Node::Other(kind) => Some(kind),
        }
    }
}
