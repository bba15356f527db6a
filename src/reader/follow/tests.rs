//! Files that grow in steps made by a test.

use super::*;
use rocshim_trace::Call;
use std::{fs, io::Write};

const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":0,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;

fn launch(id: u64) -> String {
    format!(r#"{{"type":"launch","tid":7,"id":{id},"t":{id},"dur":5,"hook":0,"block":[64]}}"#) + "\n"
}

fn footer(end: &str) -> String {
    format!(r#"{{"type":"footer","t":20,"end":"{end}","calls":[]}}"#) + "\n"
}

/// The received records, as words.
#[derive(Default)]
struct Received(Vec<String>);

impl Watcher for Received {
    fn begin(&mut self, trace: usize, path: &Path) {
        self.0.push(format!("{trace} begins: {}", path.file_name().unwrap().display()));
    }

    fn take(&mut self, trace: usize, record: Record) {
        let what = match record.call() {
            Some(Call { id, .. }) => format!("event {id}"),
            None => match record {
                Record::Header(_) => "header".into(),
                Record::Footer(footer) => footer.end.to_string(),
                other => panic!("{other:?}"),
            },
        };
        self.0.push(format!("{trace} {what}"));
    }

    fn end(&mut self, trace: usize, reading: Reading) {
        self.0.push(format!("{trace} ends: {:?} {:?}", reading.end, reading.notes));
    }

    fn silent(&mut self, trace: usize, is_silent: bool) {
        self.0.push(format!("{trace} silent: {is_silent}"));
    }
}

fn add(path: &Path, text: &str) {
    fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Returns what the next poll passes on.
#[track_caller]
fn next(follower: &mut Follower, expected: &[&str]) -> Poll {
    follower.found_at = None;
    let mut received = Received::default();
    let poll = follower.poll(&mut received).unwrap();
    assert_eq!(received.0, expected);
    poll
}

#[test]
fn a_file_is_read_as_it_grows_whole_lines_only() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("prog-1.ndjson");
    add(&path, "");
    let mut follower = Follower::new(std::slice::from_ref(&path)).unwrap();
    next(&mut follower, &[]);
    let line = launch(1);
    add(&path, &format!("{HEADER}\n{}", &line[..20]));
    next(&mut follower, &["0 begins: prog-1.ndjson", "0 header"]);
    add(&path, &line[20..]);
    next(&mut follower, &["0 event 1"]);
    add(&path, "nonsense\n");
    assert_eq!(next(&mut follower, &[]), Poll { more: false, open: 1 });
    // No process has this pid, so nothing more is expected; but something arrives.
    assert_eq!(next(&mut follower, &["0 silent: true"]), Poll::default());
    add(&path, &(launch(2) + &footer("exit")));
    let end = r#"0 ends: Footer ["1 line is no record and was passed over: line 3"]"#;
    assert_eq!(next(&mut follower, &["0 event 2", "0 exit", end]), Poll::default());
    next(&mut follower, &[]);
}

#[test]
fn processes_come_to_a_folder_and_parts_follow_one_another() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let mut follower = Follower::new(&[scratch.path().to_path_buf()]).unwrap();
    next(&mut follower, &[]);
    add(&at("b-2.part-0002.ndjson"), &format!("{HEADER}\n{}", launch(3)));
    add(&at("b-2.ndjson"), &format!("{HEADER}\n{}", launch(1)));
    next(&mut follower, &["0 begins: b-2.ndjson", "0 header", "0 event 1"]);
    // The next segment waits for the end of this one.
    add(&at("b-2.ndjson"), &(launch(2) + &footer("rotated")));
    let rest = ["0 event 2", "0 rotated", "0 ends: Rotated []", "0 header", "0 event 3"];
    next(&mut follower, &rest);
    add(&at("a-1.ndjson"), &format!("{HEADER}\n{}{}", launch(9), footer("exit")));
    add(&at("alien.ndjson"), "{\"ts\":1}\n");
    let mut new = vec!["1 begins: a-1.ndjson", "1 header", "1 event 9", "1 exit", "1 ends: Footer []"];
    // No process has the other one's pid.
    new.push("0 silent: true");
    next(&mut follower, &new);
    let note = follower.notes()[0].clone();
    assert!(note.contains("alien.ndjson is not a rocshim trace: its first line is not a header"), "{note}");
    next(&mut follower, &[]);
    assert_eq!(follower.notes().len(), 1);
}

#[test]
fn what_is_named_must_be_a_trace() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("x.ndjson");
    let error = Follower::new(std::slice::from_ref(&path)).err().unwrap().to_string();
    assert!(error.contains(&format!("there is no file or folder {}", path.display())), "{error}");
    add(&path, "{\"ts\":1}\n");
    let mut follower = Follower::new(std::slice::from_ref(&path)).unwrap();
    let error = follower.poll(&mut Received::default()).unwrap_err().to_string();
    assert!(error.contains("x.ndjson is not a rocshim trace: its first line is not a header"), "{error}");
}

#[test]
fn traces_of_processes_that_ended_long_ago_can_be_passed_over() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    add(&at("a-1.ndjson"), &format!("{HEADER}\n{}{}", launch(1), footer("exit")));
    add(&at("b-2.ndjson"), &format!("{HEADER}\n{}{}", launch(1), footer("rotated")));
    let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
    for old in ["a-1.ndjson", "b-2.ndjson"] {
        fs::File::options().append(true).open(at(old)).unwrap().set_modified(hour).unwrap();
    }
    // Its process is on a machine that cannot be seen: it still writes.
    add(&at("b-2.part-0002.ndjson"), &format!("{HEADER}\n{}", launch(3)));
    let folder = scratch.path().to_path_buf();
    let mut follower = Follower::new(&[folder]).unwrap().without_ended(Duration::from_secs(60));
    next(&mut follower, &["1 begins: b-2.part-0002.ndjson", "1 header", "1 event 3"]);
}
