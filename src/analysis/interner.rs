//! Names to small numbers, the same for every process.

use foldhash::{HashMap, HashMapExt};
use std::hash::Hash;

/// Things in the order in which they were first seen; the place of one is its number.
#[derive(Clone)]
pub(crate) struct Interner<K, V> {
    numbers: HashMap<K, usize>,
    values: Vec<V>,
}

impl<K: Hash + Eq, V> Interner<K, V> {
    pub(crate) fn new() -> Self {
        Interner { numbers: HashMap::new(), values: Vec::new() }
    }

    /// The number of `key`, whose value is made if it is new.
    pub(crate) fn number(&mut self, key: K, make: impl FnOnce() -> V) -> usize {
        *self.numbers.entry(key).or_insert_with(|| {
            self.values.push(make());
            self.values.len() - 1
        })
    }

    /// The value of `key`, made if it is new.
    pub(crate) fn value(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let number = self.number(key, make);
        &mut self.values[number]
    }

    pub(crate) fn get(&self, number: usize) -> &V {
        &self.values[number]
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> &mut V {
        &mut self.values[number]
    }

    pub(crate) fn values(&self) -> &[V] {
        &self.values
    }

    /// Keys with their values, in no order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&K, &V)> {
        self.numbers.iter().map(|(key, number)| (key, &self.values[*number]))
    }
}
