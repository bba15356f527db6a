//! Rejects arguments that name the same trace twice.

use super::{TraceFile, copied::name_of};
use anyhow::{Result, bail};
use std::{collections::BTreeMap, path::Path};

/// Checks that no two files hold the same segment of the same process's trace, whose calls would
/// count twice.
///
/// # Errors
/// When two do; names both.
pub fn check_once(traces: &[TraceFile]) -> Result<()> {
    let mut known: BTreeMap<_, &Path> = BTreeMap::new();
    for TraceFile { path, .. } in traces {
        // Files that cannot be read are reported when they are read.
        let Ok(Some(header)) = rocshim_drain::header_of(path) else { continue };
        let part = header.part();
        if let Some(before) =
            known.insert((header.host, header.epoch, header.pid, header.start_ticks, part), path)
        {
            bail!(
                "{} and {} hold the same trace, of process {}: leave one out",
                name_of(before),
                name_of(path),
                header.pid
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":0,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;

    #[test]
    fn a_trace_that_is_there_twice_is_not_counted_twice() {
        let scratch = tempfile::tempdir().unwrap();
        let file = |name: &str, text: String| {
            let path = scratch.path().join(name);
            fs::write(&path, text + "\n").unwrap();
            TraceFile { path, named: true }
        };
        let first = file("a.ndjson", HEADER.into());
        let second = file("b.ndjson", HEADER.into());
        let sentence = check_once(&[first.clone(), second]).unwrap_err().to_string();
        let names = ["a", "b"].map(|name| scratch.path().join(name).display().to_string());
        assert_eq!(
            sentence,
            format!(
                "{}.ndjson and {}.ndjson hold the same trace, of process 0: leave one out",
                names[0], names[1]
            )
        );
        let part = file("c.ndjson", HEADER.replace("\"host\"", "\"part\":2,\"host\""));
        let later = file("d.ndjson", HEADER.replace("\"epoch\":\"0\"", "\"epoch\":\"5\""));
        check_once(&[first, part, later, file("e.ndjson", "alien".into())]).unwrap();
    }
}
