"""llm_server: asks Ollama or llama-server over HTTP, and says what came of it, with the moments at which it came.

Part of prompt_ladder.py, which lies beside it.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Iterator, Optional

Json = dict  # an object of JSON

DEFAULT_URLS = {"ollama": "http://127.0.0.1:11434", "llama-server": "http://127.0.0.1:8080"}
# A server that sends more than this for one request is none.
LARGEST = 256 << 20


class Failure(Exception):
    """An error, as one sentence."""


@dataclass
class Rung:
    """One request of the ladder and its result."""

    label: str
    body: Json
    sent: int = 0
    first: Optional[int] = None
    received: int = 0
    answer: Optional[Json] = None
    error: Optional[str] = None


class Client:
    """The server's HTTP interface."""

    def __init__(self, url: str, kind: str, timeout: float) -> None:
        try:
            parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
            self.port = parts.port
        except ValueError:
            parts = urllib.parse.urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Failure(f"--url {url} is no address of a server: http://HOST:PORT")
        self.kind, self.timeout = kind, timeout
        self.secure, self.host, self.path = parts.scheme == "https", parts.hostname, parts.path.rstrip("/")
        # Without the name and the password that may stand in it: it is written to the file.
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self.path}"

    def open(self, method: str, path: str, body: Optional[Json] = None) -> http.client.HTTPResponse:
        """Sends a request; the caller reads the response."""
        make = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        connection = make(self.host, self.port, timeout=self.timeout)
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, self.path + path, data, {"Content-Type": "application/json", "Connection": "close"})
        return connection.getresponse()

    def ask(self, method: str, path: str, body: Optional[Json] = None) -> tuple[int, Any]:
        """Status and JSON of a small response; None if it is not JSON."""
        with in_words(self):
            answer = self.open(method, path, body)
            text = answer.read(LARGEST)
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, None


class in_words:
    """Converts connection errors to a Failure of one sentence."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        url, start = self.client.url, "ollama serve" if self.client.kind == "ollama" else "llama-server -m MODEL"
        if isinstance(error, (socket.timeout, TimeoutError)):
            raise Failure(f"timed out after {self.client.timeout:g} s: {url} did not answer; --timeout S waits longer") from None
        if isinstance(error, ConnectionRefusedError):
            raise Failure(f"no server listens at {url}: start the server (`{start}`), or name it with --url") from None
        if isinstance(error, http.client.IncompleteRead):
            raise Failure(f"{url} closed the connection in the middle of its answer") from None
        if isinstance(error, (OSError, http.client.HTTPException)):
            words = str(error) or type(error).__name__
            raise Failure(f"cannot reach {url}: {words}") from None


def check_server(client: Client, model: Optional[str]) -> None:
    """Checks that the server responds, is of this kind, and has the model."""
    if client.kind == "llama-server":
        status, said = client.ask("GET", "/health")
        if status == 503:
            raise Failure(f"{client.url} is still loading its model: wait until GET /health says ok")
        if status != 200 or not isinstance(said, dict) or "status" not in said:
            raise Failure(f"{client.url} is no llama-server (GET /health: {status}); for Ollama: --server ollama")
        return
    status, said = client.ask("GET", "/api/version")
    if status != 200 or not isinstance(said, dict) or "version" not in said:
        raise Failure(f"{client.url} is no Ollama server (GET /api/version: {status}); for llama-server: --server llama-server")
    status, said = client.ask("POST", "/api/show", {"model": model})
    if status != 200:
        why = complaint_of(said) or f"status {status}"
        raise Failure(f"Ollama cannot use the model {model}: {why}; `ollama list` shows those there are, `ollama pull` fetches one")


def complaint_of(answer: Any) -> Optional[str]:
    """The error message in a response of Ollama or llama-server."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return str(error) if error else None


def documents(answer: http.client.HTTPResponse, begin: bytes) -> Iterator[Json]:
    """The JSON objects of a response: one, lines, or server-sent events."""
    kind = answer.getheader("Content-Type", "")
    if "event-stream" not in kind and "ndjson" not in kind:
        yield json.loads(begin + answer.read(LARGEST))
        return
    line = begin + answer.readline(LARGEST)
    while line:
        at = line.find(b"{")
        if line[:at].strip() in (b"", b"data:", b"error:") and at >= 0:
            yield json.loads(line[at:])
        line = answer.readline(LARGEST)


def is_end(document: Json) -> bool:
    """The final object: `done` of Ollama, the total timings of llama-server."""
    if "timings" not in document:
        return document.get("done") is True
    choices = document.get("choices")
    return document.get("stop") is not False if choices is None else all(c.get("finish_reason") for c in choices)


def climb(client: Client, path: str, rung: Rung) -> None:
    """Sends one request and stores the response, or the error message."""
    rung.sent = time.time_ns()
    try:
        with in_words(client):
            answer = client.open("POST", path, rung.body)
            begin = answer.read(1)
            rung.first = time.time_ns()
            last: Any = None
            for document in documents(answer, begin):
                last = document
                if rung.answer is None and is_end(document):
                    rung.answer = document
            rung.received = time.time_ns()
        rung.error = complaint_of(last)
        if rung.error is None and rung.answer is None:
            rung.error = f"the answer stopped before its end (status {answer.status})"
    except Failure as failure:
        rung.error = str(failure)
    except ValueError:
        rung.error = "the answer is no JSON"
    rung.received = rung.received or time.time_ns()


def tokens_of(client: Client, text: str, count: int) -> list[int]:
    """The first `count` tokens of a text in llama-server's vocabulary, begin-of-text included."""
    status, said = client.ask("POST", "/tokenize", {"content": text, "add_special": True})
    tokens = said.get("tokens") if isinstance(said, dict) else None
    if status != 200 or not isinstance(tokens, list) or len(tokens) < count:
        raise Failure(f"{client.url} does not say which {count} tokens a text has (POST /tokenize: {status}): use --words")
    return tokens[:count]
