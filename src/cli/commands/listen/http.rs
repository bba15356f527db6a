//! The HTTP server of `top --listen`: one page over HTTP/1.1, a connection for each request.

use anyhow::{Context, Result};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// The most bytes of a request.
const LONGEST: usize = 8 << 10;
/// How long a request may take to arrive, and its response to be taken.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most connections at a time: what comes beyond is closed.
const MOST: usize = 16;

/// The page with the metrics.
pub(super) struct Page {
    address: SocketAddr,
    text: Arc<Mutex<Option<Arc<str>>>>,
}

impl Page {
    /// Listens at the address, and answers from then on.
    ///
    /// # Errors
    /// Where that address cannot be had.
    pub(super) fn serve(address: SocketAddr) -> Result<Page> {
        let listening = || format!("cannot listen at {address}: name another with --listen");
        let listener = TcpListener::bind(address).with_context(listening)?;
        let address = listener.local_addr().with_context(listening)?;
        let text: Arc<Mutex<Option<Arc<str>>>> = Arc::default();
        let (of_all, open) = (text.clone(), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else {
                    // Out of descriptors: connections have to end first.
                    thread::sleep(Duration::from_millis(100));
                    continue;
                };
                if open.fetch_add(1, Relaxed) >= MOST {
                    open.fetch_sub(1, Relaxed);
                    continue;
                }
                let (text, open) = (of_all.clone(), open.clone());
                thread::spawn(move || {
                    // One that is closed early needs no answer.
                    let _ = answer(stream, &text);
                    open.fetch_sub(1, Relaxed);
                });
            }
        });
        Ok(Page { address, text })
    }

    /// The address at which it listens, with the port that was chosen.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Shows this text from now on.
    pub(super) fn show(&self, text: String) {
        *self.text.lock().unwrap_or_else(|e| e.into_inner()) = Some(text.into());
    }
}

fn answer(mut stream: TcpStream, text: &Mutex<Option<Arc<str>>>) -> std::io::Result<()> {
    let begin = Instant::now();
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let got = stream.read(&mut piece)?;
        request.extend_from_slice(&piece[..got]);
        if got == 0 || request.len() > LONGEST || begin.elapsed() > PATIENCE {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let text = text.lock().unwrap_or_else(|e| e.into_inner()).clone();
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body): (_, _, &str) = match (method, path.split('?').next(), &text) {
        ("GET" | "HEAD", Some("/metrics"), Some(text)) => {
            ("200 OK", "text/plain; version=0.0.4; charset=utf-8", text)
        }
        ("GET" | "HEAD", Some("/metrics"), None) => {
            ("503 Service Unavailable", plain, "rocshim reads what was written before\n")
        }
        ("GET" | "HEAD", Some("/"), _) => ("200 OK", plain, "rocshim: the metrics are at /metrics\n"),
        ("GET" | "HEAD", ..) => ("404 Not Found", plain, "the metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", plain, "GET /metrics\n"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}
