//! Exports rows as a Perfetto trace (protobuf): a stream of packets. Each process is one packet
//! sequence, with interned strings of its own.
//!
//! A row becomes a slice: a packet for its begin and one for its end. Times are on the process's
//! own clock; a clock snapshot relates it to Unix time, so that all hosts share one time axis. The
//! interned strings of a sequence are dropped when rows of another process follow.

mod interned;
mod messages;

use super::Exporter;
use anyhow::{Context, Result};
use foldhash::HashMap;
use interned::InternedTexts;
use messages::*;
use prost::{Message, encoding};
use rocshim_analysis::{Cell, Track, TrackProcess, TrackRow};
use rocshim_report::slices;
use rocshim_trace::Arg;
use std::io::Write;

/// Writer of the format.
pub struct Perfetto {
    out: Box<dyn Write>,
    /// The process of the current rows, with the texts interned in its sequence.
    current: Option<(usize, InternedTexts)>,
    /// Numbers of tracks by process.
    tracks: HashMap<(usize, Option<Track>), u64>,
    buffer: Vec<u8>,
}

/// The field `packet` of `trace.proto`.
const PACKET: u32 = 1;

impl Perfetto {
    /// Begins a trace that is written to `out`.
    pub fn new(out: Box<dyn Write>) -> Perfetto {
        Perfetto { out, current: None, tracks: HashMap::default(), buffer: Vec::new() }
    }

    fn packet(&mut self, process: usize, packet: TracePacket) -> Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(process as u32 + 1), ..packet };
        self.buffer.clear();
        encoding::encode_key(PACKET, encoding::WireType::LengthDelimited, &mut self.buffer);
        packet.encode_length_delimited(&mut self.buffer).expect("a vector grows");
        self.out.write_all(&self.buffer).context("cannot write the export")
    }

    /// Begins the packets of a process: writes its clock snapshot, and clears the interned texts.
    fn begin(&mut self, number: usize, process: &TrackProcess) -> Result<()> {
        let clock = |id, t| Clock { clock_id: Some(id), timestamp: Some(t) };
        let epoch = process.epoch;
        self.current = Some((number, InternedTexts::default()));
        self.packet(
            number,
            TracePacket {
                clock_snapshot: Some(ClockSnapshot {
                    clocks: vec![clock(OWN_CLOCK, 0), clock(BOOTTIME, epoch), clock(REALTIME, epoch)],
                    primary_trace_clock: Some(BOOTTIME),
                }),
                sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED),
                trace_packet_defaults: Some(TracePacketDefaults { timestamp_clock_id: Some(OWN_CLOCK) }),
                ..TracePacket::default()
            },
        )
    }

    /// Returns the number of a track, or without one of the process; describes a new one.
    fn track(&mut self, number: usize, process: &TrackProcess, track: Option<Track>) -> Result<u64> {
        if let Some(uuid) = self.tracks.get(&(number, track)) {
            return Ok(*uuid);
        }
        let parent_uuid = match track {
            Some(_) => Some(self.track(number, process, None)?),
            None => None,
        };
        let uuid = self.tracks.len() as u64 + 1;
        self.tracks.insert((number, track), uuid);
        let described = TrackDescriptor { uuid: Some(uuid), parent_uuid, ..described(process, track) };
        self.packet(number, TracePacket { track_descriptor: Some(described), ..TracePacket::default() })?;
        Ok(uuid)
    }
}

fn described(process: &TrackProcess, track: Option<Track>) -> TrackDescriptor {
    let pid = Some(process.shown_pid as i32);
    match track {
        None => {
            let mut labels = vec![format!("host {}", process.host)];
            if process.shown_pid != process.pid {
                labels.push(format!("pid {}", process.pid));
            }
            TrackDescriptor {
                process: Some(ProcessDescriptor {
                    pid,
                    cmdline: process.argv.clone(),
                    process_name: Some(process.name().to_string()),
                    process_labels: labels,
                }),
                ..TrackDescriptor::default()
            }
        }
        Some(Track::Thread(tid)) => TrackDescriptor {
            thread: Some(ThreadDescriptor {
                pid,
                tid: Some(tid.into()),
                thread_name: (tid == process.pid).then(|| process.name().to_string()),
            }),
            ..TrackDescriptor::default()
        },
        Some(track @ Track::Other { .. }) => {
            TrackDescriptor { name: Some(slices::title(track)), ..TrackDescriptor::default() }
        }
    }
}

impl Exporter for Perfetto {
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()> {
        if self.current.as_ref().is_none_or(|(number, _)| *number != row.process) {
            self.begin(row.process, process)?;
        }
        let track_uuid = Some(self.track(row.process, process, Some(row.track))?);
        let Some((_, known)) = &mut self.current else { return Ok(()) };
        let name = slices::name(row);
        let name_iid = known.names.number(&name);
        let category = known.categories.number(row.table.name);
        // Flow numbers begin at 1.
        let flows = row.arrows.begin.iter().cloned().flatten().chain(row.arrows.through.map(|it| it.number));
        let event = TrackEvent {
            r#type: Some(TYPE_SLICE_BEGIN),
            track_uuid,
            category_iids: category.into_iter().collect(),
            name_iid,
            name: name_iid.is_none().then(|| name.into_owned()),
            debug_annotations: slices::details(row)
                .map(|(column, cell)| annotation(known, column.name, cell))
                .collect(),
            flow_ids: flows.map(|number| number + 1).collect(),
            terminating_flow_ids: row.arrows.end.iter().map(|number| number + 1).collect(),
        };
        let interned_data = known.take();
        let begin = row.begin.saturating_sub(process.epoch);
        let packet = TracePacket {
            timestamp: Some(begin),
            track_event: Some(event),
            interned_data,
            sequence_flags: Some(SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        };
        self.packet(row.process, packet)?;
        let Some(dur) = row.dur else { return Ok(()) };
        let end = TrackEvent { r#type: Some(TYPE_SLICE_END), track_uuid, ..TrackEvent::default() };
        let packet = TracePacket {
            timestamp: Some(begin.saturating_add(dur)),
            track_event: Some(end),
            sequence_flags: Some(SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        };
        self.packet(row.process, packet)
    }

    fn finish(&mut self) -> Result<()> {
        self.out.flush().context("cannot write the export")
    }
}

fn annotation(known: &mut InternedTexts, name: &str, cell: &Cell) -> DebugAnnotation {
    let mut annotation = keyed(known, name);
    match cell {
        Cell::Absent => {}
        Cell::Integer(value) => annotation.int_value = Some(*value),
        Cell::Flag(value) => annotation.bool_value = Some(*value),
        Cell::Address(value) => annotation.pointer_value = Some(*value),
        Cell::Word(word) => match known.values.number(word) {
            Some(number) => annotation.string_value_iid = Some(number),
            None => annotation.string_value = Some(word.to_string()),
        },
        Cell::Arguments(arguments) => {
            let values = arguments.values.iter().enumerate();
            let entry = |(at, value)| argument(known, &slices::argument(&arguments.names, at), value);
            annotation.dict_entries = values.map(entry).collect();
        }
    }
    annotation
}

fn argument(known: &mut InternedTexts, name: &str, value: &Arg) -> DebugAnnotation {
    let mut annotation = keyed(known, name);
    match value {
        Arg::Integer(value) => annotation.int_value = Some(*value),
        Arg::Float(value) => annotation.double_value = Some(*value),
        Arg::Hex(value) => annotation.pointer_value = Some(value.0),
        Arg::Bytes(bytes) => {
            annotation.string_value = Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    annotation
}

fn keyed(known: &mut InternedTexts, name: &str) -> DebugAnnotation {
    let name_iid = known.keys.number(name);
    DebugAnnotation { name_iid, name: name_iid.is_none().then(|| name.to_owned()), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Memory;
    use rocshim_analysis::testing::tracked::{EPOCH, rows};

    /// `trace.proto`
    #[derive(Clone, PartialEq, Message)]
    struct Trace {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<TracePacket>,
    }

    fn packets() -> Vec<TracePacket> {
        let out = Memory::default();
        let mut exporter = Perfetto::new(Box::new(out.clone()));
        let (rows, processes) = rows();
        for row in &rows {
            exporter.row(row, &processes[row.process]).unwrap();
        }
        exporter.finish().unwrap();
        Trace::decode(out.bytes().as_slice()).unwrap().packet
    }

    #[test]
    fn a_process_has_a_clock_a_track_and_threads() {
        let packets = packets();
        let snapshot = packets[0].clock_snapshot.as_ref().unwrap();
        let clocks = snapshot.clocks.iter().map(|clock| (clock.clock_id.unwrap(), clock.timestamp.unwrap()));
        assert_eq!(clocks.collect::<Vec<_>>(), [(64, 0), (6, EPOCH), (1, EPOCH)]);
        assert_eq!((packets[0].sequence_flags, packets[0].trusted_packet_sequence_id), (Some(1), Some(1)));
        let described = |at: usize| packets[at].track_descriptor.clone().unwrap();
        let process = described(1).process.unwrap();
        assert_eq!(
            (process.pid, process.cmdline, process.process_name),
            (Some(7), vec!["prog".into(), "-n".into()], Some("prog".into()))
        );
        assert_eq!(
            (described(2).uuid, described(2).parent_uuid, described(2).thread.unwrap().tid),
            (Some(2), Some(1), Some(7))
        );
        // The other process, of the same number.
        let pids =
            packets.iter().filter_map(|packet| packet.track_descriptor.as_ref()?.process.as_ref()?.pid);
        assert_eq!(pids.collect::<Vec<_>>(), [7, 7 + (1 << 22)]);
    }

    #[test]
    fn a_row_is_a_slice_whose_texts_are_written_once() {
        let packets = packets();
        let events: Vec<&TracePacket> =
            packets.iter().filter(|packet| packet.track_event.is_some()).collect();
        // The push of a range, then the launch, both with an end, then the product.
        let [push, pushed, launch, launched, product] = [0, 1, 2, 3, 4].map(|at| events[at]);
        let event = |packet: &TracePacket| packet.track_event.clone().unwrap();
        assert_eq!(
            (push.timestamp, pushed.timestamp, launch.timestamp, launched.timestamp),
            (Some(10), Some(12), Some(110), Some(115))
        );
        assert_eq!(
            (event(push).r#type, event(pushed).r#type, event(launch).track_uuid),
            (Some(1), Some(2), Some(2))
        );
        assert_eq!(
            (event(push).name_iid, event(launch).name_iid, event(launch).category_iids),
            (Some(1), Some(2), vec![2])
        );
        let interned = launch.interned_data.as_ref().unwrap();
        assert_eq!(interned.event_names[0].name.as_deref(), Some("mul_mat_vec_q<q4_0, 1>"));
        assert_eq!(interned.event_categories[0].name.as_deref(), Some("launches"));
        // `function` was the first key of both, `library` of neither a new one.
        assert_eq!(interned.debug_annotation_names[0].name.as_deref(), Some("kernel"));
        assert_eq!((event(launch).terminating_flow_ids, event(product).flow_ids), (vec![1], vec![1]));
        let arguments =
            event(launch).debug_annotations.into_iter().find(|it| !it.dict_entries.is_empty()).unwrap();
        let values: Vec<_> = arguments
            .dict_entries
            .iter()
            .map(|it| (it.pointer_value, it.int_value, it.double_value, it.string_value.as_deref()))
            .collect();
        assert_eq!(
            values,
            [
                (Some(0x7f00), None, None, None),
                (None, Some(-3), None, None),
                (None, None, Some(0.5), None),
                (None, None, None, Some("00ff"))
            ]
        );
        // Of the graph: instantiated, launched twice.
        let through: Vec<_> = events
            .iter()
            .filter(|packet| event(packet).flow_ids == [2])
            .map(|packet| packet.timestamp)
            .collect();
        assert_eq!(through, [Some(250), Some(300), Some(320)]);
        // What did not end has no end.
        let of_thread_8 = events.iter().filter(|packet| packet.timestamp == Some(700)).count();
        assert_eq!(of_thread_8, 1);
    }
}
