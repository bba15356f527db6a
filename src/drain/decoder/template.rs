//! Templates of launch lines: programs repeat their launches with other ids, times and arguments
//! only.
//!
//! A line is `{"type":"launch","tid":…,"id":…`, parent and times, then the template (hook, kernel),
//! the grid, the rest of the template (block, LDS, stream), then the arguments. A template is made
//! by the general encoder, [`write_launch`], so that a launch reads the same with and without one.

use crate::arguments::{ArgumentEncoder, Arguments, Words};
use rocshim_ring::event;
use rocshim_ring::slot::Event;
use rocshim_trace::{Call, Launch, Text, write_launch};

/// Number of cached templates: more than most programs have kernels with distinct blocks.
const KEPT: usize = 512;
/// Buffer size for a line with the most arguments, bytes.
const LINE: usize = 4096;
/// Of that, the maximum before the template's own text, bytes.
const BEGINNING: usize = 256;
/// Of that, the maximum for the grid, bytes.
const GRID: usize = 64;
/// What follows the grid.
const BLOCK: &[u8] = br#","block":["#;
/// The beginning of a launch line without ids and times.
const BARE: &[u8] = br#"{"type":"launch","tid":0,"id":0,"t":0,"dur":0"#;

/// What determines the line of a launch, without ids, times, grid and arguments.
#[derive(Clone, Copy, Default)]
pub(super) struct Shape {
    words: [u64; 5],
    hook: u16,
    argument_bytes: u16,
}

impl Shape {
    /// The shape of a launch, and its grid unless the shape determines that too. `None` for a
    /// launch that failed, or has the wide form.
    #[inline]
    pub(super) fn of(event: &Event) -> Option<(Shape, Option<[u32; 3]>)> {
        let (words, grid) = event::Launch::narrow_words(event)?;
        let (_, argument_bytes) = event::Launch::argument_words(event);
        let shape = Shape { words, hook: event.hook, argument_bytes: argument_bytes as u16 };
        (event.status == 0 && !event.unwound).then_some((shape, grid))
    }

    /// True if `other` is the same shape.
    #[inline(always)]
    fn is(&self, other: &Shape) -> bool {
        // Without a branch or call for each word.
        let different = self.words.iter().zip(other.words).fold(0, |bits, (one, other)| bits | (one ^ other));
        different == 0 && self.hook == other.hook && self.argument_bytes == other.argument_bytes
    }

    /// The cache index of its template.
    #[inline]
    fn place(&self) -> usize {
        let mix = |hash: u64, word: &u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (self.words.iter().fold(self.hook.into(), mix) >> 32) as usize % KEPT
    }
}

/// The line of launches of one shape.
#[derive(Default)]
struct Template {
    /// The cache's generation when it was made.
    generation: u64,
    shape: Shape,
    /// The stamp from which on it is valid.
    since: u64,
    /// Text up to the arguments, without a grid that the shape does not determine.
    text: Vec<u8>,
    /// Where in the text such a grid belongs.
    grid_at: usize,
    arguments: Vec<ArgumentEncoder>,
    /// Text after the arguments.
    end: Text<48>,
}

/// The template cache of a trace.
pub(super) struct Templates {
    kept: Box<[Template]>,
    /// Incremented when all templates become invalid; those of an earlier generation are.
    generation: u64,
    /// The thread for which `beginning` is valid.
    tid: u32,
    /// The beginning of its lines, up to the id.
    beginning: Text<48>,
    line: Text<LINE>,
}

impl Default for Templates {
    fn default() -> Templates {
        let mut templates = Templates {
            kept: std::iter::repeat_with(Template::default).take(KEPT).collect(),
            generation: 1,
            tid: 0,
            beginning: Text::default(),
            line: Text::default(),
        };
        templates.begin_lines_of(0);
        templates
    }
}

impl Templates {
    /// Invalidates all: a definition may have changed what shapes mean, or a new file needs the
    /// definitions again.
    pub(super) fn forget(&mut self) {
        self.generation += 1;
    }

    /// True if there is a template for a launch of this shape at `stamp`.
    #[inline]
    pub(super) fn holds(&self, shape: &Shape, stamp: u64) -> bool {
        let template = &self.kept[shape.place()];
        template.generation == self.generation && template.shape.is(shape) && template.since <= stamp
    }

    /// Makes the template of a launch, valid from stamp `since` on. False if its lines may not fit
    /// the buffer.
    pub(super) fn prepare(
        &mut self,
        shape: Shape,
        since: u64,
        launch: &Launch,
        arguments: Option<(Words, &Arguments)>,
    ) -> bool {
        let template = &mut self.kept[shape.place()];
        (template.generation, template.shape, template.since) = (0, shape, since);
        let Template { text, grid_at, arguments: encoders, end, .. } = template;
        encoders.clear();
        let cut = arguments.map_or(0, |(bytes, arguments)| arguments.encoders(bytes, encoders));
        let call = Call { hook: launch.call.hook, ..Call::default() };
        // A grid of one block is not written.
        let grid = if launch.items.is_some() { launch.grid } else { [1; 3] };
        text.clear();
        write_launch(text, &Launch { call, grid, ..launch.clone() });
        if text.drain(..BARE.len()).as_slice() != BARE {
            return false;
        }
        text.truncate(text.len() - b"}\n".len());
        let Some(block) = text.windows(BLOCK.len()).position(|key| key == BLOCK) else { return false };
        *grid_at = block;
        end.clear();
        if !encoders.is_empty() {
            text.extend_from_slice(br#","args":["#);
            end.put(b"]");
        }
        if cut != 0 {
            end.put(br#","args_cut":"#);
            end.put_decimal(cut);
        }
        end.put(b"}\n");
        let longest =
            BEGINNING + GRID + text.len() + encoders.iter().map(ArgumentEncoder::longest).sum::<usize>();
        if longest <= LINE {
            template.generation = self.generation;
        }
        longest <= LINE
    }

    /// Emits the line of `event`, whose shape has a template. `grid` is the grid that the shape
    /// does not determine.
    #[inline]
    pub(super) fn write(
        &mut self,
        (shape, grid): (&Shape, Option<[u32; 3]>),
        call: &Call,
        event: &Event,
        out: &mut Vec<u8>,
    ) {
        if self.tid != call.tid {
            self.begin_lines_of(call.tid);
        }
        let (template, line) = (&mut self.kept[shape.place()], &mut self.line);
        line.clear();
        line.put_text(&self.beginning);
        line.put_decimal(call.id);
        if let Some(parent) = call.parent {
            line.put(br#","parent":"#);
            line.put_decimal(parent);
        }
        line.put(br#","t":"#);
        line.put_decimal(call.t);
        line.put(br#","dur":"#);
        line.put_decimal(call.dur);
        let (before, after) = template.text.split_at(template.grid_at);
        line.put(before);
        if let Some(grid) = grid.filter(|grid| *grid != [1; 3]) {
            line.put(br#","grid":["#);
            line.put_dims(&grid);
            line.put(b"]");
        }
        line.put(after);
        if !template.arguments.is_empty() {
            let (words, count) = event::Launch::argument_words(event);
            for argument in &mut template.arguments {
                argument.write(Words(words, count), line);
            }
            line.pop(); // the last comma
        }
        line.put_text(&template.end);
        out.extend_from_slice(line.as_bytes());
    }

    fn begin_lines_of(&mut self, tid: u32) {
        self.tid = tid;
        self.beginning.clear();
        self.beginning.put(br#"{"type":"launch","tid":"#);
        self.beginning.put_decimal(tid.into());
        self.beginning.put(br#","id":"#);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Decoder;
    use rocshim_ring::definition::{Definition, StampedDefinition, Stream};
    use rocshim_ring::kernel::{Argument, KernelCode};
    use rocshim_ring::slot::Event;
    use rocshim_ring::{Log, LogReader};
    use rocshim_trace::write_record;

    /// A deterministic pseudo-random generator.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }

        fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
            values[self.below(values.len() as u64) as usize]
        }

        /// A number of any magnitude.
        fn word(&mut self) -> u64 {
            let word = self.below(1 << 31) << 33 ^ self.below(1 << 31) << 11 ^ self.below(1 << 11);
            word >> self.below(64)
        }
    }

    const TYPES: [(u32, &str); 12] = [
        (8, "float*"),
        (4, "int"),
        (4, "float"),
        (8, "long"),
        (8, "unsigned long"),
        (8, "double"),
        (2, "__half"),
        (2, "__hip_bfloat16"),
        (1, "bool"),
        (12, "uint3"),
        (3, "Three"),
        (4, "Mode"),
    ];

    fn kernel_code(numbers: &mut Numbers) -> KernelCode<'static> {
        let mut end = 0;
        let arguments = (0..numbers.below(9)).map(|_| {
            let (size, name) = numbers.one_of(&TYPES);
            let offset = if numbers.below(4) == 0 { end } else { u32::next_multiple_of(end, size.min(8)) };
            end = offset + size;
            let kind = if name.ends_with('*') { "global_buffer" } else { "by_value" };
            let (kind, type_name) = (kind.into(), Some(name.into()));
            Argument { offset, size, kind, type_name, ..Argument::default() }
        });
        KernelCode { args: Some(arguments.collect()), ..KernelCode::default() }
    }

    fn definition(numbers: &mut Numbers) -> Definition<'static> {
        let (function, stream) = (0xf00 + numbers.below(3), numbers.below(4));
        let on = Stream { handle: stream, tid: 0 };
        match numbers.below(8) {
            0 | 1 => Definition::Function { function, module: numbers.below(2), name: "_Z1kPfi".into() },
            2 | 3 => Definition::Code { function, code: kernel_code(numbers) },
            4 => Definition::StreamGone { stream },
            5 => Definition::Unload { module: numbers.below(2) },
            6 => Definition::Capture { stream: on, mode: 0, tid: 1 },
            _ => Definition::EndCapture { capture: numbers.below(200) as u32 },
        }
    }

    /// A launch as stored in a ring. Most repeat another one with different ids, times,
    /// grid and arguments.
    fn launch(numbers: &mut Numbers, stamp: u64, id: u64) -> Event {
        let mut shape = Numbers(numbers.below(30));
        let wide = numbers.below(20) == 0;
        let bytes = if wide { 0 } else { shape.one_of(&[0_u64, 1, 24, 40, 44, 300]) };
        let fails = numbers.below(20) == 0;
        let slots = match (11 + bytes / 8 + 1).div_ceil(8) {
            _ if wide => 2,
            2 if bytes == 0 => 1 + u64::from(fails),
            slots => slots,
        };
        let mut words: Vec<u64> = (0..8 * slots).map(|_| numbers.word()).collect();
        let (kind, ticks) = (if wide { 0x91 } else { 0x11 }, numbers.below(1 << 31) >> numbers.below(31));
        words[0] = kind | slots << 8 | shape.one_of(&[3, 9]) << 16 | ticks << 32;
        words[1] = stamp;
        words[2] = id << 24 | numbers.one_of(&[0, 0, 1, 5]);
        words[3] = 0xf00 + shape.below(4);
        words[4] = shape.below(4);
        let sizes = [1, 1, 4, 70_000];
        words[5] = numbers.one_of(&sizes) | numbers.one_of(&sizes) << 32;
        words[6] = numbers.one_of(&sizes) | shape.one_of(&[1, 256, 0]) << 32;
        words[7] =
            shape.one_of(&[1, 4]) | shape.one_of(&[0, 0x8000]) | 1 << 16 | shape.one_of(&[0, 4096]) << 32;
        if slots > 1 {
            let (status, unwound) = if fails { (98, numbers.below(2)) } else { (0, 0) };
            words[10] = status | unwound << 32 | bytes << 48;
        }
        Event::from_words(&words).expect("a launch")
    }

    #[test]
    fn a_line_from_a_template_is_the_line_that_serde_writes() {
        let mut numbers = Numbers(1);
        let (log, mut readers) = (Log::new(None), [LogReader::default(), LogReader::default()]);
        let [mut templates, mut serde] = [Decoder::new(false), Decoder::new(false)];
        let [mut written, mut expected] = [Vec::new(), Vec::new()];
        for step in 0..60_000_u64 {
            let stamp = 1000 * (step + 1000);
            if step == 0 || numbers.below(100) == 0 {
                let definition = match step {
                    0 => Definition::Clock { tick_hz: 2_100_000_000 },
                    _ => definition(&mut numbers),
                };
                log.define(&StampedDefinition { stamp, definition }).expect("memory for a definition");
                readers[0].read(&log, |number, bytes| templates.define(number, bytes, &mut written));
                readers[1].read(&log, |number, bytes| serde.define(number, bytes, &mut expected));
            }
            if numbers.below(5000) == 0 {
                templates.begin_segment(2, 1, None, &mut written);
                serde.begin_segment(2, 1, None, &mut expected);
            }
            // Some events are read after a later definition.
            let magnitude = numbers.below(20);
            let stamp = stamp - numbers.below(1 << magnitude);
            let (tid, event) = (7 + (step / 500 % 2) as u32, launch(&mut numbers, stamp, step + 6));
            templates.event(tid, &event, &mut written);
            let record = serde.record(tid, &event, &mut expected);
            serde_json::to_writer(&mut expected, &record).expect("memory can be written to");
            expected.push(b'\n');
            assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&expected), "{event:?}");
            written.clear();
            expected.clear();
        }
    }

    #[test]
    fn a_line_without_room_in_the_buffer_is_written_without_a_template() {
        let argument = |_| Argument { offset: 0, size: 300, kind: "by_value".into(), ..Argument::default() };
        let code = KernelCode { args: Some((0..20).map(argument).collect()), ..KernelCode::default() };
        let (log, mut decoder, mut out) = (Log::new(None), Decoder::new(false), Vec::new());
        let function = Definition::Function { function: 0xf00, module: 1, name: "k".into() };
        for definition in [function, Definition::Code { function: 0xf00, code }] {
            log.define(&StampedDefinition { stamp: 0, definition }).expect("memory for a definition");
        }
        LogReader::default().read(&log, |number, bytes| decoder.define(number, bytes, &mut out));
        let mut words = vec![0_u64; 8 * 7];
        (words[0], words[1], words[2], words[3], words[10]) = (0x11 | 7 << 8, 5, 1 << 24, 0xf00, 300 << 48);
        let event = Event::from_words(&words).expect("a launch");
        let mut expected = Vec::new();
        out.clear();
        let record = decoder.record(7, &event, &mut out);
        write_record(&mut expected, &record);
        out.clear();
        decoder.event(7, &event, &mut out);
        assert!(out.len() > 20 * 600);
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected));
    }
}
