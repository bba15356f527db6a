//! The environment of the traced programs: hosts, versions, clocks, GPUs, and their ROCm libraries.

use super::session::{Analysis, Session};
use rocshim_trace::{Device, Library, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The environment of all processes; each list has every distinct entry once.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Environment {
    /// Names of the machines.
    pub hosts: BTreeSet<String>,
    /// Versions of rocshim that wrote the traces.
    pub rocshim: BTreeSet<String>,
    /// Clocks of the time stamps: `tsc`, `monotonic`.
    pub clocks: BTreeSet<String>,
    /// Recorded environment variables with their values in all processes.
    pub environment: BTreeMap<String, BTreeSet<String>>,
    /// The GPUs whose properties the programs queried.
    pub devices: Vec<DeviceRow>,
    /// The ROCm libraries that the processes had loaded.
    pub libraries: Vec<LibraryFileRow>,
    /// Earliest and latest epoch, Unix ns.
    pub first_epoch: Option<u64>,
    pub(crate) last_epoch: Option<u64>,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceRow {
    /// Its number in HIP.
    pub ordinal: i32,
    /// Its architecture, with features: `gfx90a:sramecc+:xnack-`.
    pub gfx: String,
    /// The name by HIP; empty when unknown.
    pub name: String,
    /// The HIP function that reported it.
    pub how: String,
    /// Processes that saw it.
    pub processes: u64,
}

/// A file of a ROCm library.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LibraryFileRow {
    pub path: String,
    pub soname: Option<String>,
    pub build_id: Option<String>,
    /// Processes that had it.
    pub processes: u64,
}

crate::table! {
    /// The files of ROCm libraries.
    LIBRARY_FILES: LibraryFileRow = "library_files", "Library files",
        "a file of a ROCm library that processes had loaded";
    |row|
    code("soname", "soname", "its soname") => row.soname.as_ref();
    code("build_id", "build id", "its build id") => row.build_id.as_ref();
    count("processes", "processes", "processes that had it").no_sum() => row.processes;
    path("path", "file", "its path").name() => &row.path;
}

/// Gathers what the processes say of their environment.
#[derive(Default)]
pub(crate) struct EnvironmentBuilder {
    environment: Environment,
    /// What the process being read has reported already: the segments of a trace repeat it.
    known: BTreeSet<String>,
}

impl Analysis for EnvironmentBuilder {
    fn begin_process(&mut self, session: &Session) {
        self.known.clear();
        let (all, header) = (&mut self.environment, &session.process().header);
        all.hosts.insert(header.host.clone());
        all.rocshim.insert(header.rocshim.clone());
        all.clocks.insert(header.clock.clone());
        for (name, value) in &header.env {
            all.environment.entry(name.clone()).or_default().insert(value.clone());
        }
        if let Ok(epoch) = header.epoch.parse::<u64>() {
            all.first_epoch = Some(all.first_epoch.map_or(epoch, |first| first.min(epoch)));
            all.last_epoch = Some(all.last_epoch.map_or(epoch, |last| last.max(epoch)));
        }
    }

    fn record(&mut self, _session: &Session, record: &Record) {
        match record {
            Record::Device(device) => self.device(device),
            Record::Library(library) => self.library(library),
            _ => {}
        }
    }
}

impl EnvironmentBuilder {
    /// Returns the environment of all processes.
    pub(crate) fn finish(mut self) -> Environment {
        self.environment.devices.sort_by(|a, b| (a.ordinal, &a.gfx).cmp(&(b.ordinal, &b.gfx)));
        self.environment.libraries.sort_by(|a, b| a.path.cmp(&b.path));
        self.environment
    }

    /// Returns true when this process reports `what` for the first time.
    fn is_first(&mut self, what: String) -> bool {
        self.known.insert(what)
    }

    fn device(&mut self, device: &Device) {
        if !self.is_first(format!("device {} {}", device.ordinal, device.gfx)) {
            return;
        }
        let is_same = |row: &&mut DeviceRow| {
            (row.ordinal, &row.gfx, &row.name, &row.how)
                == (device.ordinal, &device.gfx, &device.name, &device.how)
        };
        if let Some(row) = self.environment.devices.iter_mut().find(is_same) {
            row.processes += 1;
            return;
        }
        let Device { ordinal, gfx, name, how } = device.clone();
        self.environment.devices.push(DeviceRow { ordinal, gfx, name, how, processes: 1 });
    }

    fn library(&mut self, library: &Library) {
        if !self.is_first(format!("library {}", library.path)) {
            return;
        }
        let is_same = |row: &&mut LibraryFileRow| {
            (&row.path, &row.soname, &row.build_id) == (&library.path, &library.soname, &library.build_id)
        };
        if let Some(row) = self.environment.libraries.iter_mut().find(is_same) {
            row.processes += 1;
            return;
        }
        let Library { path, soname, build_id, .. } = library.clone();
        self.environment.libraries.push(LibraryFileRow { path, soname, build_id, processes: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{"HIP_VISIBLE_DEVICES":"0"},"host":"h","clock":"tsc","tick_hz":1,"epoch":"100","rings":""}"#;
    const LIBRARY: &str = r#"{"type":"library","id":2,"path":"/opt/libamdhip64.so.6","soname":"libamdhip64.so.6","build_id":"5d"}"#;
    const DEVICE: &str = r#"{"type":"device","ordinal":0,"gfx":"gfx1100","how":"hipGetDeviceProperties"}"#;

    #[test]
    fn what_segments_repeat_and_processes_share_counts_once() {
        let other =
            HEADER.replace("\"pid\":7", "\"pid\":8").replace("\"100\"", "\"90\"").replace("\"h\"", "\"i\"");
        let mut builder = EnvironmentBuilder::default();
        // The first process in two segments, then another one.
        let second = HEADER.replace("\"rings\"", "\"part\":2,\"rings\"");
        let lines = [HEADER, LIBRARY, DEVICE, &second, LIBRARY, DEVICE, &other, LIBRARY];
        crate::testing::read_lines(&mut builder, lines.into_iter());
        let all = builder.finish();
        assert_eq!(all.hosts.into_iter().collect::<Vec<_>>(), ["h", "i"]);
        assert_eq!((all.first_epoch, all.last_epoch), (Some(90), Some(100)));
        assert_eq!(all.libraries.iter().map(|row| row.processes).collect::<Vec<_>>(), [2]);
        assert_eq!(all.devices.iter().map(|row| (row.ordinal, row.processes)).collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(all.environment["HIP_VISIBLE_DEVICES"], ["0".to_string()].into());
    }
}
