//! Where the traced programs ran: hosts, versions, clocks, GPUs, and the files of the ROCm libraries that they had.

use super::process::{Identity, identity};
use rocshim_trace::{Device, Header, Library, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// All of it, over all processes; each list has every different thing once.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Names of the machines.
    pub hosts: BTreeSet<String>,
    /// Versions of rocshim that wrote the traces.
    pub rocshim: BTreeSet<String>,
    /// What the times were read from: `tsc`, `monotonic`.
    pub clocks: BTreeSet<String>,
    /// Environment variables that traces keep, with the values that processes had.
    pub environment: BTreeMap<String, BTreeSet<String>>,
    pub devices: Vec<DeviceRow>,
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
    /// What HIP calls it; empty where that was not told.
    pub name: String,
    /// The HIP function that told of it.
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

/// A process's own account of its setting, gathered.
#[derive(Default)]
pub(crate) struct SettingBuilder {
    setting: Setting,
    /// The process that is read.
    process: Option<Identity>,
    /// What it has told already: the parts of a trace repeat it.
    told: BTreeSet<String>,
}

impl SettingBuilder {
    /// Looks at a record.
    pub(crate) fn look(&mut self, record: &Record) {
        match record {
            Record::Header(header) => self.header(header),
            Record::Device(device) => self.device(device),
            Record::Library(library) => self.library(library),
            _ => {}
        }
    }

    /// All that was told.
    pub(crate) fn finish(mut self) -> Setting {
        self.setting.devices.sort_by(|a, b| (a.ordinal, &a.gfx).cmp(&(b.ordinal, &b.gfx)));
        self.setting.libraries.sort_by(|a, b| a.path.cmp(&b.path));
        self.setting
    }

    fn header(&mut self, header: &Header) {
        let process = identity(header);
        if self.process.as_ref() == Some(&process) {
            return;
        }
        self.process = Some(process);
        self.told.clear();
        let setting = &mut self.setting;
        setting.hosts.insert(header.host.clone());
        setting.rocshim.insert(header.rocshim.clone());
        setting.clocks.insert(header.clock.clone());
        for (name, value) in &header.env {
            setting.environment.entry(name.clone()).or_default().insert(value.clone());
        }
        if let Ok(epoch) = header.epoch.parse::<u64>() {
            setting.first_epoch = Some(setting.first_epoch.map_or(epoch, |first| first.min(epoch)));
            setting.last_epoch = Some(setting.last_epoch.map_or(epoch, |last| last.max(epoch)));
        }
    }

    /// True when this process tells `what` for the first time.
    fn is_news(&mut self, what: String) -> bool {
        self.told.insert(what)
    }

    fn device(&mut self, device: &Device) {
        if !self.is_news(format!("device {} {}", device.ordinal, device.gfx)) {
            return;
        }
        let is_same = |row: &&mut DeviceRow| {
            (row.ordinal, &row.gfx, &row.name, &row.how)
                == (device.ordinal, &device.gfx, &device.name, &device.how)
        };
        if let Some(row) = self.setting.devices.iter_mut().find(is_same) {
            row.processes += 1;
            return;
        }
        let Device { ordinal, gfx, name, how } = device.clone();
        self.setting.devices.push(DeviceRow { ordinal, gfx, name, how, processes: 1 });
    }

    fn library(&mut self, library: &Library) {
        if !self.is_news(format!("library {}", library.path)) {
            return;
        }
        let is_same = |row: &&mut LibraryFileRow| {
            (&row.path, &row.soname, &row.build_id) == (&library.path, &library.soname, &library.build_id)
        };
        if let Some(row) = self.setting.libraries.iter_mut().find(is_same) {
            row.processes += 1;
            return;
        }
        let Library { path, soname, build_id, .. } = library.clone();
        self.setting.libraries.push(LibraryFileRow { path, soname, build_id, processes: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{"HIP_VISIBLE_DEVICES":"0"},"host":"h","clock":"tsc","tick_hz":1,"epoch":"100","rings":""}"#;
    const LIBRARY: &str = r#"{"type":"library","id":2,"path":"/opt/libamdhip64.so.6","soname":"libamdhip64.so.6","build_id":"5d"}"#;
    const DEVICE: &str = r#"{"type":"device","ordinal":0,"gfx":"gfx1100","how":"hipGetDeviceProperties"}"#;

    #[test]
    fn what_parts_repeat_and_processes_share_is_told_once() {
        let other =
            HEADER.replace("\"pid\":7", "\"pid\":8").replace("\"100\"", "\"90\"").replace("\"h\"", "\"i\"");
        let mut setting = SettingBuilder::default();
        // The first process in two parts, then another one.
        for line in [HEADER, LIBRARY, DEVICE, HEADER, LIBRARY, DEVICE, &other, LIBRARY] {
            setting.look(&rocshim_trace::parse_line(line.as_bytes()).expect(line));
        }
        let setting = setting.finish();
        assert_eq!(setting.hosts.into_iter().collect::<Vec<_>>(), ["h", "i"]);
        assert_eq!((setting.first_epoch, setting.last_epoch), (Some(90), Some(100)));
        assert_eq!(setting.libraries.iter().map(|row| row.processes).collect::<Vec<_>>(), [2]);
        assert_eq!(
            setting.devices.iter().map(|row| (row.ordinal, row.processes)).collect::<Vec<_>>(),
            [(0, 1)]
        );
        assert_eq!(setting.environment["HIP_VISIBLE_DEVICES"], ["0".to_string()].into());
    }
}
