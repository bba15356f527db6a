//! Checks the GPU: the driver, the device nodes that HIP opens, the user's rights to open them, the
//! targets.

use rocshim_report::Finding;
use rustix::fs::{Access, access};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const SUBJECT: &str = "GPU";

/// Checks the GPUs of the system below `root` (`/`).
pub(super) fn gpu(root: &Path) -> Vec<Finding> {
    let (kfd, nodes) = (root.join("dev/kfd"), render_nodes(root));
    let absent = [(!kfd.exists()).then_some("/dev/kfd"), nodes.is_empty().then_some("/dev/dri/renderD*")];
    let absent: Vec<&str> = absent.into_iter().flatten().collect();
    if !absent.is_empty() {
        let what = format!("HIP finds no GPU here: there is no {}", absent.join(" and no "));
        let advice =
            "load the driver (`modprobe amdgpu`), or give the container --device /dev/kfd --device /dev/dri";
        return vec![Finding::warn(SUBJECT, what, advice)];
    }
    let closed = |path: &Path| access(path, Access::READ_OK | Access::WRITE_OK).is_err();
    let closed_kfd = closed(&kfd).then(|| "/dev/kfd".to_string());
    let closed_nodes = nodes.iter().all(|node| closed(node)).then(|| "any of /dev/dri/renderD*".to_string());
    let refused: Vec<String> = closed_kfd.into_iter().chain(closed_nodes).collect();
    if !refused.is_empty() {
        let what = format!("this user may not open {}", refused.join(" nor "));
        let advice = "`sudo usermod -aG render,video $USER`, then log in again; in a container, --group-add its numbers";
        return vec![Finding::warn(SUBJECT, what, advice)];
    }
    let targets = targets(root);
    if targets.is_empty() {
        let what = "the driver lists no GPU, only processors";
        return vec![Finding::warn(
            SUBJECT,
            what,
            "`dmesg | grep amdgpu` says why; check that the card is supported",
        )];
    }
    let driver = fs::read_to_string(root.join("sys/module/amdgpu/version"));
    let driver = driver
        .map_or_else(|_| "the kernel's own amdgpu".into(), |version| format!("amdgpu {}", version.trim()));
    let what = format!("{}; driver: {driver}; render nodes: {}", targets.join(", "), nodes.len());
    vec![Finding::ok(SUBJECT, what)]
}

fn render_nodes(root: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(root.join("dev/dri")).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_render =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("renderD"));
    entries.filter(is_render).collect()
}

/// Returns the targets of all GPUs, each once, such as `gfx1100`.
fn targets(root: &Path) -> Vec<String> {
    let nodes = fs::read_dir(root.join("sys/class/kfd/kfd/topology/nodes")).into_iter().flatten().flatten();
    let found: BTreeSet<String> =
        nodes.filter_map(|node| target(&fs::read_to_string(node.path().join("properties")).ok()?)).collect();
    found.into_iter().collect()
}

/// Returns the target in a node's properties, 0 for a processor. 110001 is gfx1101, 90010 is
/// gfx90a.
fn target(properties: &str) -> Option<String> {
    let version = properties.lines().find_map(|line| line.strip_prefix("gfx_target_version "))?;
    let version: u32 = version.trim().parse().ok().filter(|version| *version > 0)?;
    let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
    Some(format!("gfx{major}{minor:x}{step:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_report::Level;

    #[test]
    fn targets_are_named_as_compilers_name_them() {
        let target = |version: u32| target(&format!("cpu_cores_count 0\ngfx_target_version {version}\n"));
        assert_eq!(target(0), None);
        assert_eq!(target(90_000).as_deref(), Some("gfx900"));
        assert_eq!(target(90_010).as_deref(), Some("gfx90a"));
        assert_eq!(target(90_402).as_deref(), Some("gfx942"));
        assert_eq!(target(120_001).as_deref(), Some("gfx1201"));
    }

    #[test]
    fn each_state_of_a_machine_has_its_next_step() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let finding = || gpu(root.path()).remove(0);
        assert!(finding().what.ends_with("no /dev/kfd and no /dev/dri/renderD*"), "{:?}", finding());
        fs::create_dir_all(at("dev/dri")).unwrap();
        fs::write(at("dev/kfd"), "").unwrap();
        fs::write(at("dev/dri/renderD128"), "").unwrap();
        assert_eq!(finding().what, "the driver lists no GPU, only processors");
        fs::create_dir_all(at("sys/class/kfd/kfd/topology/nodes/1")).unwrap();
        fs::write(at("sys/class/kfd/kfd/topology/nodes/1/properties"), "gfx_target_version 110000\n")
            .unwrap();
        let found = finding();
        let what = "gfx1100; driver: the kernel's own amdgpu; render nodes: 1";
        assert_eq!((found.level, found.what.as_str()), (Level::Ok, what));
    }
}
