//! The ids that streams and kernels have in the trace: small numbers in the order of their first
//! use.
//!
//! Whoever gives one out notes it in the log, so that a trace that is finished after its process
//! died goes on with the same.

use foldhash::{HashMap, HashMapExt};
use rocshim_ring::definition::Definition;

/// What was given out.
pub(crate) struct Ids {
    kernels: HashMap<u32, Kernel>,
    streams: HashMap<u64, Vec<Stream>>,
    /// When streams with this handle were destroyed, in order.
    gone: HashMap<u64, Vec<u64>>,
    last_kernel: u32,
    last_stream: u32,
    /// The stream that was asked for last, while none was destroyed.
    recent: Option<(u64, u32)>,
    /// What is to be noted in the log.
    news: Vec<Definition<'static>>,
}

/// A kernel's id, and the hook that its record tells.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kernel {
    pub(crate) id: u32,
    pub(crate) hook: Option<u16>,
    /// Its record is in the file that is written.
    told: bool,
}

#[derive(Clone, Copy)]
struct Stream {
    after: u32,
    id: u32,
    told: bool,
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
            news: Vec::new(),
        }
    }
}

impl Ids {
    /// The kernel of this definition, and whether its record is to be written now. `hook` is what
    /// launches it, if that is a launch.
    pub(crate) fn kernel(&mut self, number: u32, hook: Option<u16>) -> (Kernel, bool) {
        if let Some(kernel) = self.kernels.get_mut(&number) {
            let is_new = !std::mem::replace(&mut kernel.told, true);
            return (*kernel, is_new);
        }
        self.last_kernel = self.last_kernel.saturating_add(1); // damaged notes may say any number
        let kernel = Kernel { id: self.last_kernel, hook, told: true };
        self.kernels.insert(number, kernel);
        self.news.push(Definition::KernelId { kernel: number, id: kernel.id, hook });
        (kernel, true)
    }

    /// The id of the stream that had this handle at `stamp`, and whether its record is to be
    /// written now.
    pub(crate) fn stream(&mut self, handle: u64, stamp: u64) -> (u32, bool) {
        if let Some((_, id)) = self.recent.filter(|(recent, _)| *recent == handle) {
            return (id, false);
        }
        let gone = self.gone.get(&handle);
        let after = gone.map_or(0, |gone| gone.partition_point(|at| *at <= stamp)) as u32;
        let has_one_meaning = gone.is_none();
        let streams = self.streams.entry(handle).or_default();
        let (id, is_new) = match streams.iter_mut().find(|stream| stream.after == after) {
            Some(stream) => (stream.id, !std::mem::replace(&mut stream.told, true)),
            None => {
                self.last_stream = self.last_stream.saturating_add(1);
                let id = self.last_stream;
                streams.push(Stream { after, id, told: true });
                self.news.push(Definition::StreamId { stream: handle, after, id });
                (id, true)
            }
        };
        self.recent = has_one_meaning.then_some((handle, id));
        (id, is_new)
    }

    /// Since when the handle means the stream that it means now.
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

    /// The log tells of an id that was given to a kernel.
    pub(crate) fn note_kernel(&mut self, number: u32, id: u32, hook: Option<u16>) {
        self.last_kernel = self.last_kernel.max(id);
        self.kernels.entry(number).or_insert(Kernel { id, hook, told: false });
    }

    /// The log tells of an id that was given to a stream.
    pub(crate) fn note_stream(&mut self, handle: u64, after: u32, id: u32) {
        self.last_stream = self.last_stream.max(id);
        let streams = self.streams.entry(handle).or_default();
        if streams.iter().all(|stream| stream.after != after) {
            streams.push(Stream { after, id, told: false });
        }
    }

    /// Nothing is told of in the file that begins now.
    pub(crate) fn forget_told(&mut self) {
        self.recent = None;
        self.kernels.values_mut().for_each(|kernel| kernel.told = false);
        self.streams.values_mut().flatten().for_each(|stream| stream.told = false);
    }

    /// What was given out since this was asked last, to be noted in the log before what refers to
    /// it is in the trace.
    pub(crate) fn take_news(&mut self) -> Vec<Definition<'static>> {
        std::mem::take(&mut self.news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_notes_of_the_largest_id_leave_no_other() {
        let mut ids = Ids::default();
        ids.note_kernel(1, u32::MAX, None);
        ids.note_stream(0x5, 0, u32::MAX);
        assert_eq!((ids.kernel(2, None).0.id, ids.stream(0x6, 0)), (u32::MAX, (u32::MAX, true)));
    }

    #[test]
    fn a_stream_has_one_id_until_it_is_destroyed_and_its_handle_another_one_then() {
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
    fn whoever_reads_the_log_goes_on_with_the_same_ids_and_tells_of_them_anew() {
        let (mut ids, mut later) = (Ids::default(), Ids::default());
        ids.destroy(0xa, 5);
        later.destroy(0xa, 5);
        let given = [ids.stream(0xa, 10).0, ids.stream(0xb, 10).0, ids.stream(0xa, 1).0];
        let kernel = ids.kernel(700, Some(9)).0.id;
        for news in ids.take_news() {
            match news {
                Definition::StreamId { stream, after, id } => later.note_stream(stream, after, id),
                Definition::KernelId { kernel, id, hook } => later.note_kernel(kernel, id, hook),
                other => panic!("{other:?}"),
            }
        }
        assert!(ids.take_news().is_empty());
        assert_eq!(later.stream(0xc, 1), (4, true), "a new one");
        assert_eq!(
            [(0xa, 10), (0xb, 10), (0xa, 1)].map(|(handle, at)| later.stream(handle, at)),
            given.map(|id| (id, true))
        );
        let (again, is_new) = later.kernel(700, Some(3));
        assert_eq!((again.id, again.hook, is_new), (kernel, Some(9), true), "its record says what it said");
        assert_eq!(later.kernel(701, None).0.id, kernel + 1);
        assert_eq!(later.take_news().len(), 2);
    }
}
