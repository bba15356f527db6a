//! Assigns dense ids to keys, in the order of their first occurrence.

use foldhash::{HashMap, HashMapExt};
use std::{hash::Hash, marker::PhantomData};

/// A dense id: the index of an entry in its table.
pub(crate) trait Id: Copy {
    /// Returns the id of the entry at this index.
    fn at(index: usize) -> Self;
    /// Returns the index of the entry with this id.
    fn index(self) -> usize;
}

impl Id for usize {
    fn at(index: usize) -> usize {
        index
    }

    fn index(self) -> usize {
        self
    }
}

/// Entries by key, numbered in the order of first occurrence.
#[derive(Clone)]
pub(crate) struct Interner<K, V, I = usize> {
    ids: HashMap<K, I>,
    values: Vec<V>,
}

impl<K: Hash + Eq, V, I: Id> Interner<K, V, I> {
    pub(crate) fn new() -> Self {
        Interner { ids: HashMap::new(), values: Vec::new() }
    }

    /// Returns the id of `key`; `make` makes its value if it is new.
    pub(crate) fn number(&mut self, key: K, make: impl FnOnce() -> V) -> I {
        *self.ids.entry(key).or_insert_with(|| {
            self.values.push(make());
            I::at(self.values.len() - 1)
        })
    }

    /// Returns the value of `key`; `make` makes it if the key is new.
    pub(crate) fn value(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let id = self.number(key, make);
        &mut self.values[id.index()]
    }

    /// Returns the id of `key`, if it was seen.
    pub(crate) fn find(&self, key: &K) -> Option<I> {
        self.ids.get(key).copied()
    }

    pub(crate) fn get(&self, id: I) -> &V {
        &self.values[id.index()]
    }

    pub(crate) fn get_mut(&mut self, id: I) -> &mut V {
        &mut self.values[id.index()]
    }

    /// Returns all values, by id.
    pub(crate) fn values(&self) -> &[V] {
        &self.values
    }

    /// Returns keys with their values, in no particular order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&K, &V)> {
        self.ids.iter().map(|(key, id)| (key, &self.values[id.index()]))
    }
}

impl<K: Hash + Eq, V, I: Id> Default for Interner<K, V, I> {
    fn default() -> Self {
        Interner::new()
    }
}

/// Values by id, created on first access.
#[derive(Clone, Debug)]
pub(crate) struct PerId<I, V> {
    values: Vec<V>,
    ids: PhantomData<I>,
}

impl<I, V> Default for PerId<I, V> {
    fn default() -> Self {
        PerId { values: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, V: Default> PerId<I, V> {
    /// Returns the value of `id`, created if it is new.
    #[inline]
    pub(crate) fn of(&mut self, id: I) -> &mut V {
        if id.index() >= self.values.len() {
            self.values.resize_with(id.index() + 1, V::default);
        }
        &mut self.values[id.index()]
    }

    /// Returns the value of `id`, if it or a later one was created.
    pub(crate) fn get(&self, id: I) -> Option<&V> {
        self.values.get(id.index())
    }

    /// Returns ids with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (I, &V)> {
        self.values.iter().enumerate().map(|(index, value)| (I::at(index), value))
    }
}
