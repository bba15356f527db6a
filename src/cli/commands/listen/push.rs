//! Sends metrics to an OpenTelemetry receiver, by OTLP over HTTP in JSON.

use anyhow::{Result, bail};
use rocshim_report as report;
use std::{
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
    sync::mpsc::{SyncSender, sync_channel},
    thread,
    time::Duration,
};

/// How long the receiver may take for each step.
const PATIENCE: Duration = Duration::from_secs(10);

/// A receiver: a thread that sends one message after the other.
pub(super) struct Receiver(SyncSender<String>);

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq)]
struct Target {
    /// With the port.
    host: String,
    path: String,
}

impl Receiver {
    /// Prepares to send to `http://HOST[:PORT][/PATH]`; without a port 4318, without a path
    /// `/v1/metrics`, which are OpenTelemetry's.
    ///
    /// # Errors
    /// Where the URL is no such one.
    pub(super) fn new(url: &str) -> Result<Receiver> {
        let target = target(url)?;
        // One waits while another is sent; what comes meanwhile is dropped, as counters may be.
        let (sender, messages) = sync_channel::<String>(1);
        thread::spawn(move || {
            let mut before = None;
            for message in messages {
                let problem = send(&target, &message).err();
                if problem.is_some() && problem != before {
                    let why = problem.as_deref().unwrap_or_default();
                    report::print_error(&format!(
                        "cannot push to http://{}{}: {why}",
                        target.host, target.path
                    ));
                }
                before = problem;
            }
        });
        Ok(Receiver(sender))
    }

    /// Sends the message unless one is waiting.
    pub(super) fn send(&self, message: String) {
        let _ = self.0.try_send(message);
    }
}

fn target(url: &str) -> Result<Target> {
    let Some(rest) = url.strip_prefix("http://") else {
        bail!("--push needs a URL http://HOST:PORT: TLS is the work of a collector on this machine");
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, "v1/metrics"));
    let path = if path.is_empty() { "v1/metrics" } else { path };
    let is_word = |text: &str| !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if host.is_empty() || !is_word(host) || !is_word(path) {
        bail!("--push cannot read `{url}`: give http://HOST:PORT");
    }
    let has_port = host.rsplit(']').next().unwrap_or(host).contains(':');
    let host = if has_port { host.to_owned() } else { format!("{host}:4318") };
    Ok(Target { host, path: format!("/{path}") })
}

/// Posts a message; says what is wrong where it was not taken.
fn send(target: &Target, message: &str) -> Result<(), String> {
    let in_words = |error: std::io::Error| error.to_string();
    let mut addresses = target.host.to_socket_addrs().map_err(in_words)?;
    let address = addresses.next().ok_or("the host has no address")?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(in_words)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(in_words)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(in_words)?;
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{message}",
        target.path,
        target.host,
        message.len()
    );
    stream.write_all(request.as_bytes()).map_err(in_words)?;
    let mut response = Vec::new();
    stream.take(64 << 10).read_to_end(&mut response).map_err(in_words)?;
    let status = String::from_utf8_lossy(&response);
    let status = status.lines().next().unwrap_or("no answer");
    match status.split(' ').nth(1) {
        Some(code) if code.starts_with('2') => Ok(()),
        _ => Err(format!("it answered `{status}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_the_defaults_of_opentelemetry() {
        let of =
            |url: &str| target(url).map(|of| format!("{} {}", of.host, of.path)).map_err(|e| e.to_string());
        assert_eq!(of("http://localhost").unwrap(), "localhost:4318 /v1/metrics");
        assert_eq!(of("http://[::1]:99/").unwrap(), "[::1]:99 /v1/metrics");
        assert_eq!(of("http://[::1]/a/b").unwrap(), "[::1]:4318 /a/b");
        assert!(of("https://x").unwrap_err().contains("TLS"));
        assert!(of("http://a b/").is_err());
    }
}
