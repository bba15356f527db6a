//! GPU targets: `gfx1100`, `gfx90a:sramecc+:xnack-`; their machine numbers, and which code a device
//! accepts.

/// How well code for target `code` fits a device of target `device`, by the loader's rules: higher
/// is better; `None` if it does not run there.
///
/// A feature (xnack, sramecc) that the code does not name may have any state on the device; one
/// that it names must be equal. Code for a generic target runs on its members (LLVM, AMDGPUUsage:
/// target ids, generic processors).
pub fn fits(code: &str, device: &str) -> Option<u32> {
    let (code_gpu, code_features) = parse(code);
    let (gpu, features) = parse(device);
    let own = code_gpu == gpu;
    let is_member = || GENERIC.iter().any(|(name, members)| *name == code_gpu && members.contains(&gpu));
    if !own && !is_member() {
        return None;
    }
    let features: Vec<&str> = features.collect();
    let mut fit = if own { 10 } else { 0 };
    for feature in code_features {
        if !features.contains(&feature) {
            return None;
        }
        fit += 1;
    }
    Some(fit)
}

/// `gfx90a:xnack-` → its processor and its features.
fn parse(target: &str) -> (&str, impl Iterator<Item = &str>) {
    let mut words = target.split(':');
    (words.next().unwrap_or_default(), words)
}

/// The target in the flags of an ELF of code object version `abi` (0 is version 2).
pub(super) fn of_flags(flags: u32, abi: u8) -> Option<String> {
    let (_, name) = MACHINES.iter().find(|(machine, _)| *machine == flags as u8)?;
    // From version 4 on, the flags also contain xnack and sramecc.
    let feature = |mask: u32, off: u32, on: u32, word: &str| match flags & mask {
        bits if abi >= 2 && bits == off => format!(":{word}-"),
        bits if abi >= 2 && bits == on => format!(":{word}+"),
        _ => String::new(),
    };
    Some(format!(
        "{name}{}{}",
        feature(0xc00, 0x800, 0xc00, "sramecc"),
        feature(0x300, 0x200, 0x300, "xnack")
    ))
}

/// EF_AMDGPU_MACH values of GPUs that ROCm runs on.
#[rustfmt::skip]
const MACHINES: &[(u8, &str)] = &[
    (0x20, "gfx600"), (0x21, "gfx601"), (0x3a, "gfx602"), (0x22, "gfx700"), (0x23, "gfx701"), (0x24, "gfx702"),
    (0x25, "gfx703"), (0x26, "gfx704"), (0x3b, "gfx705"), (0x28, "gfx801"), (0x29, "gfx802"), (0x2a, "gfx803"),
    (0x3c, "gfx805"), (0x2b, "gfx810"), (0x2c, "gfx900"), (0x2d, "gfx902"), (0x2e, "gfx904"), (0x2f, "gfx906"),
    (0x30, "gfx908"), (0x31, "gfx909"), (0x32, "gfx90c"), (0x3f, "gfx90a"), (0x40, "gfx940"), (0x4b, "gfx941"),
    (0x4c, "gfx942"), (0x4f, "gfx950"), (0x33, "gfx1010"), (0x34, "gfx1011"), (0x35, "gfx1012"), (0x42, "gfx1013"),
    (0x36, "gfx1030"), (0x37, "gfx1031"), (0x38, "gfx1032"), (0x39, "gfx1033"), (0x3e, "gfx1034"), (0x3d, "gfx1035"),
    (0x45, "gfx1036"), (0x41, "gfx1100"), (0x46, "gfx1101"), (0x47, "gfx1102"), (0x44, "gfx1103"), (0x43, "gfx1150"),
    (0x4a, "gfx1151"), (0x55, "gfx1152"), (0x58, "gfx1153"), (0x48, "gfx1200"), (0x4e, "gfx1201"), (0x49, "gfx1250"),
    (0x5a, "gfx1251"), (0x51, "gfx9-generic"), (0x52, "gfx10-1-generic"), (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"), (0x59, "gfx12-generic"), (0x5f, "gfx9-4-generic"),
];

/// Generic targets and the GPUs on which their code runs.
#[rustfmt::skip]
const GENERIC: &[(&str, &[&str])] = &[
    ("gfx9-generic",    &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]),
    ("gfx9-4-generic",  &["gfx940", "gfx941", "gfx942", "gfx950"]),
    ("gfx10-1-generic", &["gfx1010", "gfx1011", "gfx1012", "gfx1013"]),
    ("gfx10-3-generic", &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"]),
    ("gfx11-generic",   &["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"]),
    ("gfx12-generic",   &["gfx1200", "gfx1201"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_fits_a_device_whose_features_it_does_not_contradict() {
        let device = "gfx90a:sramecc+:xnack-";
        let fit = |code| fits(code, device);
        assert!(fit("gfx90a:sramecc+:xnack-") > fit("gfx90a:xnack-"), "the more is named, the better");
        assert!(fit("gfx90a:xnack-") > fit("gfx90a"));
        assert!(fit("gfx90a").is_some());
        for other in ["gfx90a:xnack+", "gfx90a:sramecc-:xnack-", "gfx908", "gfx90", "", "gfx9-generic"] {
            assert_eq!(fit(other), None, "{other}");
        }
        assert_eq!(fits("gfx1100:xnack+", "gfx1100"), None, "a device without the feature");
    }

    #[test]
    fn generic_code_runs_on_its_members_if_nothing_fits_better() {
        assert!(fits("gfx11-generic", "gfx1151").is_some());
        assert!(fits("gfx1151", "gfx1151") > fits("gfx11-generic", "gfx1151"));
        assert_eq!(fits("gfx11-generic", "gfx1200"), None);
        assert_eq!(fits("gfx9-generic", "gfx906:sramecc+:xnack-"), Some(0));
    }

    #[test]
    fn every_generic_target_and_every_member_has_a_machine_number() {
        let known = |name: &str| MACHINES.iter().any(|(_, machine)| *machine == name);
        for (name, members) in GENERIC {
            assert!(known(name) && members.iter().all(|member| known(member)), "{name}");
        }
    }
}
