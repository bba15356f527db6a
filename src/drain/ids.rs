//! Assigns the ids of streams and kernels in a trace: small numbers in order of first use.
//!
//! Each assignment is also written to the definition log, so that a trace completed after its
//! process died continues with the same ids.

use foldhash::{HashMap, HashMapExt};
use rocshim_ring::definition::Definition;

/// The assigned ids.
pub(crate) struct Ids {
    kernels: HashMap<u32, Kernel>,
    streams: HashMap<u64, Vec<Stream>>,
    /// Stamps at which streams with this handle were destroyed, in order.
    gone: HashMap<u64, Vec<u64>>,
    last_kernel: u32,
    last_stream: u32,
    /// Cache: the stream requested last, while none was destroyed.
    recent: Option<(u64, u32)>,
    /// Pending definitions for the log.
    pending: Vec<Definition<'static>>,
}

/// A kernel's id, and the hook in its record.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kernel {
    pub(crate) id: u32,
    pub(crate) hook: Option<u16>,
    /// Its record is in the current file.
    emitted: bool,
}

#[derive(Clone, Copy)]
struct Stream {
    after: u32,
    id: u32,
    emitted: bool,
}

impl Default for Ids {
    fn default() -> Ids {
        Ids {
            kernels: HashMap::new(),
            streams: HashMap::new(),
            gone: HashMap::new(),
            last_kernel: 0,
            last_stream: 0,
            recent: None,
            pending: Vec::new(),
        }
    }
}

impl Ids {
    /// The kernel of this definition, and whether its record must be emitted now. `hook` is that of
    /// the launch, if there is one.
    pub(crate) fn kernel(&mut self, number: u32, hook: Option<u16>) -> (Kernel, bool) {
        if let Some(kernel) = self.kernels.get_mut(&number) {
            let is_new = !std::mem::replace(&mut kernel.emitted, true);
            return (*kernel, is_new);
        }
        self.last_kernel = self.last_kernel.saturating_add(1); // a damaged log may hold any number
        let kernel = Kernel { id: self.last_kernel, hook, emitted: true };
        self.kernels.insert(number, kernel);
        self.pending.push(Definition::KernelId { kernel: number, id: kernel.id, hook });
        (kernel, true)
    }

    /// The id of the stream with this handle at `stamp`, and whether its record must be emitted
    /// now.
    pub(crate) fn stream(&mut self, handle: u64, stamp: u64) -> (u32, bool) {
        if let Some((_, id)) = self.recent.filter(|(recent, _)| *recent == handle) {
            return (id, false);
        }
        let gone = self.gone.get(&handle);
        let after = gone.map_or(0, |gone| gone.partition_point(|at| *at <= stamp)) as u32;
        let has_one_meaning = gone.is_none();
        let streams = self.streams.entry(handle).or_default();
        let (id, is_new) = match streams.iter_mut().find(|stream| stream.after == after) {
            Some(stream) => (stream.id, !std::mem::replace(&mut stream.emitted, true)),
            None => {
                self.last_stream = self.last_stream.saturating_add(1);
                let id = self.last_stream;
                streams.push(Stream { after, id, emitted: true });
                self.pending.push(Definition::StreamId { stream: handle, after, id });
                (id, true)
            }
        };
        self.recent = has_one_meaning.then_some((handle, id));
        (id, is_new)
    }

    /// The stamp since which the handle means its current stream.
    pub(crate) fn stream_since(&self, handle: u64) -> u64 {
        self.gone.get(&handle).and_then(|gone| gone.last()).copied().unwrap_or(0)
    }

    /// A stream with this handle was about to be destroyed at `stamp`.
    pub(crate) fn destroy(&mut self, handle: u64, stamp: u64) {
        self.recent = None;
        let gone = self.gone.entry(handle).or_default();
        let at = gone.partition_point(|before| *before <= stamp);
        gone.insert(at, stamp);
    }

    /// The log assigns an id to a kernel.
    pub(crate) fn note_kernel(&mut self, number: u32, id: u32, hook: Option<u16>) {
        self.last_kernel = self.last_kernel.max(id);
        self.kernels.entry(number).or_insert(Kernel { id, hook, emitted: false });
    }

    /// The log assigns an id to a stream.
    pub(crate) fn note_stream(&mut self, handle: u64, after: u32, id: u32) {
        self.last_stream = self.last_stream.max(id);
        let streams = self.streams.entry(handle).or_default();
        if streams.iter().all(|stream| stream.after != after) {
            streams.push(Stream { after, id, emitted: false });
        }
    }

    /// Starts a new file, in which nothing is emitted yet.
    pub(crate) fn clear_emitted(&mut self) {
        self.recent = None;
        self.kernels.values_mut().for_each(|kernel| kernel.emitted = false);
        self.streams.values_mut().flatten().for_each(|stream| stream.emitted = false);
    }

    /// Assignments since the last call, which must be in the log before a line that uses them is in
    /// the trace.
    pub(crate) fn take_pending(&mut self) -> Vec<Definition<'static>> {
        std::mem::take(&mut self.pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_log_with_the_largest_id_does_not_overflow() {
        let mut ids = Ids::default();
        ids.note_kernel(1, u32::MAX, None);
        ids.note_stream(0x5, 0, u32::MAX);
        assert_eq!((ids.kernel(2, None).0.id, ids.stream(0x6, 0)), (u32::MAX, (u32::MAX, true)));
    }

    #[test]
    fn a_reused_stream_handle_gets_another_id() {
        let mut ids = Ids::default();
        assert_eq!(ids.stream(0xa, 10), (1, true));
        assert_eq!(ids.stream(0xa, 20), (1, false));
        assert_eq!(ids.stream(0xb, 20), (2, true));
        ids.destroy(0xa, 30);
        assert_eq!(ids.stream(0xa, 31), (3, true));
        assert_eq!(ids.stream(0xa, 29), (1, false), "another thread's call from before, read later");
        assert_eq!(ids.stream(0xb, 40), (2, false));
        assert_eq!(ids.stream(0xa, 41), (3, false));
    }

    #[test]
    fn a_second_reader_of_the_log_continues_with_the_same_ids() {
        let (mut ids, mut later) = (Ids::default(), Ids::default());
        ids.destroy(0xa, 5);
        later.destroy(0xa, 5);
        let given = [ids.stream(0xa, 10).0, ids.stream(0xb, 10).0, ids.stream(0xa, 1).0];
        let kernel = ids.kernel(700, Some(9)).0.id;
        for definition in ids.take_pending() {
            match definition {
                Definition::StreamId { stream, after, id } => later.note_stream(stream, after, id),
                Definition::KernelId { kernel, id, hook } => later.note_kernel(kernel, id, hook),
                other => panic!("{other:?}"),
            }
        }
        assert!(ids.take_pending().is_empty());
        assert_eq!(later.stream(0xc, 1), (4, true), "a new one");
        assert_eq!(
            [(0xa, 10), (0xb, 10), (0xa, 1)].map(|(handle, at)| later.stream(handle, at)),
            given.map(|id| (id, true))
        );
        let (again, is_new) = later.kernel(700, Some(3));
        assert_eq!((again.id, again.hook, is_new), (kernel, Some(9), true), "its record is unchanged");
        assert_eq!(later.kernel(701, None).0.id, kernel + 1);
        assert_eq!(later.take_pending().len(), 2);
    }
}
