//! Runs `rocshim` in a terminal of a given size, sends keys and reads the screen: tmux, with a
//! separate server.

use crate::artifacts;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time limit of a wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal; its programs are killed on drop.
pub struct Terminal {
    scratch: tempfile::TempDir,
}

impl Terminal {
    /// Starts `rocshim` with these arguments in a terminal of `width` columns and `height` lines.
    /// After its end, the terminal shows `ended: CODE`, and whether echo and line mode are on, as
    /// in any shell.
    pub fn start(words: &[&str], variables: &[(&str, &str)], [width, height]: [u32; 2]) -> Terminal {
        let terminal = Terminal { scratch: tempfile::tempdir().expect("a scratch folder") };
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let set: String =
            variables.iter().map(|(name, value)| format!("{name}={} ", quoted(value))).collect();
        let command = quoted(artifacts::command().to_str().expect("a path in UTF-8"));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let run = format!(
            "trap : INT; env -u NO_COLOR {set} {command} {}; echo \"ended: $?\"; stty -a | grep -ow -e '-*echo' -e '-*icanon' | tr '\\n' ' '; sleep 600",
            words.join(" ")
        );
        let (width, height) = (width.to_string(), height.to_string());
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &width, "-y", &height, &run]);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        let socket = self.scratch.path().join("tmux");
        let output = Command::new("tmux").arg("-S").arg(socket).args(words).output();
        let output = output.expect("tmux is installed (the distribution's package tmux)");
        assert!(output.status.success(), "tmux {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Presses keys, by their tmux names: `q`, `Enter`, `C-c`.
    pub fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Changes the size.
    pub fn resize(&self, [width, height]: [u32; 2]) {
        self.tmux(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    /// Pid of the program in it: the shell's child.
    pub fn program(&self) -> u32 {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        let shell = shell.trim();
        let children =
            std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).expect("it runs");
        children.split_whitespace().next().and_then(|child| child.parse().ok()).expect("it has a child")
    }

    /// The screen's text.
    pub fn shown(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// The same with escape sequences for colours.
    pub fn painted(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    /// Waits until `is_so` holds for the screen's text; returns that text.
    #[track_caller]
    pub fn shows(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let shown = self.shown();
            if is_so(&shown) {
                return shown;
            }
            assert!(begin.elapsed() < PATIENCE, "not seen: {what}; the terminal shows\n{shown}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ =
            Command::new("tmux").arg("-S").arg(self.scratch.path().join("tmux")).arg("kill-server").output();
    }
}
