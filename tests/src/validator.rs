//! The independent validator of the trace format: `tests/validator`, asked through its pipes.

use crate::artifacts;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// One schema, held against values.
#[derive(Debug)]
pub struct Validator(Mutex<Running>);

#[derive(Debug)]
struct Running {
    child: Child,
    /// `None` when it has been closed, which ends the program.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Validator {
    /// The validator of `schema`, a JSON Schema of draft 2020-12.
    pub fn new(schema: &Value) -> Self {
        let mut command = Command::new(artifacts::validator());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the validator runs");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut running = Running { questions: child.stdin.take(), child, answers };
        running.tell(schema);
        Self(Mutex::new(running))
    }

    /// Why `value` does not fulfil the schema.
    pub fn complaint(&self, value: &Value) -> Option<String> {
        let mut running = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        running.tell(value);
        let mut answer = String::new();
        let read = running.answers.read_line(&mut answer).expect("an answer");
        assert_ne!(read, 0, "the validator ended at {value}");
        let answer = answer.trim_end();
        (!answer.is_empty()).then(|| answer.to_owned())
    }

    /// True when `value` fulfils the schema.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.complaint(value).is_none()
    }
}

impl Running {
    fn tell(&mut self, value: &Value) {
        let questions = self.questions.as_mut().expect("open as long as it is used");
        questions.write_all(format!("{value}\n").as_bytes()).expect("the validator reads");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}
