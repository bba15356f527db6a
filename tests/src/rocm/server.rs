//! Starts, queries and stops llama-server.

use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for loading the model.
const START: Duration = Duration::from_secs(120);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A listening server. Dropping it kills it; [`Server::stop`] lets it end by itself.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts `command`, whose last argument so far is `llama-server` or an argument of it, with
    /// `model`; waits until it is ready.
    ///
    /// # Panics
    /// If it ends or is not ready in time.
    #[track_caller]
    pub fn start(mut command: Command, model: &Path) -> Server {
        let port = free_port();
        command.arg("-m").arg(model).args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        let child = command.args(["-ngl", "99"]).spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let mut server = Server { child, port };
        let deadline = Instant::now() + START;
        while !matches!(server.request("GET", "/health", ""), Ok((200, _))) {
            if let Ok(Some(status)) = server.child.try_wait() {
                panic!("the server ended before it was ready: {status}");
            }
            assert!(Instant::now() < deadline, "the server is not ready after {START:?}");
            thread::sleep(BETWEEN_LOOKS);
        }
        server
    }

    /// Pid of the started process: the server, or what it runs under.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Requests `tokens` tokens after `prompt`; returns the response, with its `timings`.
    ///
    /// # Panics
    /// As [`Server::ask`].
    #[track_caller]
    pub fn complete(&self, prompt: &str, tokens: u32) -> Value {
        self.ask(&json!({
            "prompt": prompt, "n_predict": tokens, "temperature": 0, "seed": 1, "cache_prompt": true, "ignore_eos": true,
        }))
    }

    /// Posts `question` to `/completion`; returns the response.
    ///
    /// # Panics
    /// If the server does not answer with 200 and JSON.
    #[track_caller]
    pub fn ask(&self, question: &Value) -> Value {
        let (status, body) =
            self.request("POST", "/completion", &question.to_string()).expect("the server answers");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}"))
    }

    /// Sends SIGTERM and waits until the server has ended.
    ///
    /// # Panics
    /// If the signal cannot be sent.
    #[track_caller]
    pub fn stop(mut self) -> ExitStatus {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)
            .expect("SIGTERM reaches the server");
        self.child.wait().expect("the server ends")
    }

    fn request(&self, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        parse(&response).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no HTTP response"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail if it has ended, which is the purpose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

/// Status and body of a response that ends with the connection.
fn parse(response: &str) -> Option<(u16, String)> {
    let (head, body) = response.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_a_status_and_a_body() {
        assert_eq!(parse("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}"), Some((503, "{}".into())));
        assert_eq!(parse("HTTP/1.1 200 OK\r\n"), None);
    }
}
