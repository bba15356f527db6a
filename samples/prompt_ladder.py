#!/usr/bin/env python3
"""prompt_ladder: asks an LLM server for prompts of rising length, each cold and then with its prefix cached.

It writes what the server said of each request to a file, one JSON object a line, with the moments at which the
request was sent, the first byte came and the last, so that the server's own counts can be held against a trace of the
same server (`rocshim run -- ollama serve`). Needs Python 3.9 or newer and llm_server.py beside it, nothing else.

A cold prompt begins with a word that no prompt before it began with; for llama-server `cache_prompt` is false too. What
a chat template puts before the prompt is the same each time and stays cached: --raw leaves Ollama's out.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import signal
import sys
import threading
import time
from typing import Any, Iterator, NoReturn, Optional

from llm_server import DEFAULT_URLS, Client, Failure, Json, Rung, check_server, climb, tokens_of

# First words of cold prompts: common, and one token in most vocabularies.
FIRST = (
    "why how when where who what which whose can could should would may must will does did is are was were has have "
    "had please tell show give explain describe list name find count write read say think compare define suggest ask "
    "draw plan make take bring call check choose close come cut drive eat fall feel fill follow help hold keep know "
    "learn leave let like look lose love"
).split()
# What follows: no rhyme, no reason, nothing that a model would refuse.
REST = (
    "the small river runs past an old stone house and under a wooden bridge before it meets the wide grey sea near "
    "the town where people sell bread fish salt and warm wool coats in the market every single morning of the year"
).split()


class Prompts:
    """Prompts with distinct beginnings, so that none is in the cache."""

    def __init__(self, seed: int) -> None:
        self.used, self.words = 0, FIRST[:]
        random.Random(seed).shuffle(self.words)

    def next(self, length: int) -> str:
        """A prompt with this number of words."""
        turn, at = divmod(self.used, len(self.words))
        self.used += 1
        # When every word has been first once, the second differs as well.
        begin = [self.words[at]] + [self.words[turn % len(self.words)]] * (turn > 0)
        rest = (REST[i % len(REST)] for i in range(length))
        return " ".join([*begin, *rest][:length])


def together(client: Client, path: str, rungs: list[Rung]) -> Iterator[Rung]:
    """Sends requests concurrently, each in a daemon thread; yields each when it is done."""
    done: queue.Queue[Rung] = queue.Queue()

    def work(rung: Rung) -> None:
        climb(client, path, rung)
        done.put(rung)

    for rung in rungs:
        threading.Thread(target=work, args=(rung,), daemon=True).start()
    for _ in rungs:
        yield done.get()


def bodies(client: Client, options: argparse.Namespace, prompts: Prompts, length: int) -> tuple[Json, Json]:
    """A prompt of this length as two requests: cold, and again with its prefix cached."""
    if options.tokens:
        prompt: Any = tokens_of(client, prompts.next(length + 8), length)
    else:
        prompt = prompts.next(length)
    body: Json = {"stream": options.stream}
    body.update({"model": options.model} if options.model else {})
    body.update({"messages": [{"role": "user", "content": prompt}]} if options.chat else {"prompt": prompt})
    if options.server == "ollama":
        asked = {"num_batch": options.num_batch, "num_ctx": options.num_ctx, "num_predict": options.num_predict}
        known = {name: value for name, value in asked.items() if value is not None}
        body["options"] = {**known, "temperature": 0, "seed": 1}
        body.update({"raw": True} if options.raw else {})
        body.update({"keep_alive": options.keep_alive} if options.keep_alive is not None else {})
        return body, body
    body.update({"n_predict": options.num_predict, "temperature": 0, "seed": 1, "cache_prompt": True})
    return {**body, "cache_prompt": False}, body


def ladder(client: Client, options: argparse.Namespace) -> Iterator[list[Rung]]:
    """The requests, in groups that are sent concurrently."""
    prompts = Prompts(options.seed)
    unit = "token" if options.tokens else "word"
    for turn in range(1, options.repeat + 1):
        for length in options.tokens or options.words:
            pairs = [bodies(client, options, prompts, length) for _ in range(options.slots)]
            for state, which in (("cold", 0), ("warm", 1)):
                what = f"{length} {unit}{'s' * (length != 1)}, {state}"
                what += f", round {turn}" if options.repeat > 1 else ""
                of = lambda slot: f", slot {slot}" if options.slots > 1 else ""
                yield [Rung(what + of(slot), pair[which]) for slot, pair in enumerate(pairs, 1)]


class Log:
    """Writes the file: one line per request, in the order of sending."""

    def __init__(self, path: str, overwrite: bool) -> None:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if overwrite else os.O_EXCL)
        try:
            number = os.open(path, flags, 0o600)
            os.fchmod(number, 0o600)
        except FileExistsError:
            raise Failure(f"{path} exists already: --force overwrites it, --out names another") from None
        except OSError as error:
            raise Failure(f"cannot write {path}: {error.strerror}") from None
        self.path, self.count, self.file = path, 0, os.fdopen(number, "w", encoding="utf-8")

    def add(self, rung: Rung, options: argparse.Namespace, path: str, url: str) -> None:
        self.count += 1
        line: Json = {"id": self.count, "label": rung.label, "server": options.server, "endpoint": path, "url": url}
        moments = {"sent": rung.sent, "first": rung.first, "received": rung.received}
        line.update({name: None if moment is None else str(moment) for name, moment in moments.items()})
        if options.server == "llama-server":  # it was started with these; a request cannot ask for them
            line.update({"num_batch": options.num_batch, "num_ctx": options.num_ctx})
        line.update({"request": rung.body, "response": rung.answer, "error": rung.error})
        try:
            print(json.dumps({name: value for name, value in line.items() if value is not None}), file=self.file, flush=True)
        except OSError as error:
            raise Failure(f"cannot write {self.path}: {error.strerror}") from None


def run(client: Client, options: argparse.Namespace, log: Log, rows: list[list[str]]) -> None:
    """Runs the ladder. The first failure ends it; the file has the requests before it."""
    path = endpoint(options)
    for rungs in ladder(client, options):
        done: list[Rung] = []
        try:
            for rung in together(client, path, rungs):
                done.append(rung)
        finally:  # also when the user interrupts
            for rung in sorted(done, key=lambda rung: rung.sent):
                log.add(rung, options, path, client.url)
                rows.append(row(rung))
        for rung in done:
            if rung.error:
                raise Failure(f"{rung.label}: {rung.error}")


def endpoint(options: argparse.Namespace) -> str:
    """The servers to which prompts are sent."""
    if options.server == "ollama":
        return "/api/chat" if options.chat else "/api/generate"
    return "/v1/chat/completions" if options.chat else "/completion"


HEAD = ["request", "prompt", "cached", "time", "generated", "time", "first byte", "all"]


def row(rung: Rung) -> list[str]:
    """The counts and times that a server reports for a request, and the times measured here."""
    answer = rung.answer or {}
    timings = answer.get("timings") or {}
    in_ns = lambda name: None if timings.get(name) is None else timings[name] * 1e6
    cells = [
        count(timings.get("prompt_n", answer.get("prompt_eval_count"))),
        count(timings.get("cache_n")),
        ms(answer.get("prompt_eval_duration", in_ns("prompt_ms"))),
        count(timings.get("predicted_n", answer.get("eval_count"))),
        ms(answer.get("eval_duration", in_ns("predicted_ms"))),
        ms(None if rung.first is None else rung.first - rung.sent),
        ms(rung.received - rung.sent),
    ]
    return [rung.label] + (["failed"] if rung.error else cells)


def count(number: Any) -> str:
    return "-" if number is None else str(number)


def ms(ns: Any) -> str:
    return "-" if ns is None else f"{ns / 1e6:.1f} ms"


def show(rows: list[list[str]]) -> None:
    """Prints the table, numbers right-aligned."""
    table = [cells + [""] * (len(HEAD) - len(cells)) for cells in [HEAD, *rows]]
    widths = [max(len(cells[at]) for cells in table) for at in range(len(HEAD))]
    for cells in table:
        line = [cells[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        print("  ".join(line).rstrip())


def lengths(text: str) -> list[int]:
    """`6,7,9-12`."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            low, high = int(first), int(last or first)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{part}' is no length; 6,7,9-12 is right") from None
        if not 1 <= low <= high <= 1_000_000:
            raise argparse.ArgumentTypeError(f"'{part}' is no length from 1 to 1000000")
        found += range(low, high + 1)
    return found


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


class Parser(argparse.ArgumentParser):
    """A usage error is one sentence."""

    def error(self, message: str) -> NoReturn:
        fail(f"{message}; see --help", 2)


def parse() -> argparse.Namespace:
    """The command line, checked."""
    about = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="prompt_ladder.py", usage="%(prog)s [options]", description=__doc__, formatter_class=about)
    add = parser.add_argument
    add("--server", choices=list(DEFAULT_URLS), default="ollama", help="whose interface (%(default)s)")
    add("--url", help="the server's address (this machine's; Ollama's port is 11434, llama-server's 8080)")
    add("--model", metavar="NAME", help="the model; Ollama needs one")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--words", type=lengths, default="6-12", metavar="LIST", help="lengths in words (%(default)s)")
    steps.add_argument("--tokens", type=lengths, metavar="LIST", help="lengths in tokens, exactly; llama-server only")
    add("--chat", action="store_true", help="as a chat: /api/chat, or llama-server's /v1/chat/completions")
    add("--raw", action="store_true", help="without the model's template; Ollama's /api/generate only")
    add("--no-stream", dest="stream", action="store_false", help="the answer at once, not token by token")
    add("--num-batch", type=positive, metavar="N", help="tokens of a prompt that are evaluated at once; llama-server: what it was started with, for the file alone")
    add("--num-ctx", type=positive, metavar="N", help="length of the context; llama-server: as --num-batch")
    add("--num-predict", type=positive, default=8, metavar="N", help="tokens to generate (%(default)s)")
    add("--keep-alive", metavar="TIME", help="how long Ollama keeps the model after a request: 0s, 5m")
    add("--slots", type=positive, default=1, metavar="N", help="requests at once, each with a prompt of its own (%(default)s)")
    add("--repeat", type=positive, default=1, metavar="N", help="climb so many times (%(default)s)")
    add("--timeout", type=float, default=300.0, metavar="S", help="how long to wait for a server that is silent, in seconds (%(default)s)")
    add("--seed", type=int, metavar="N", help="order of the first words (another each time)")
    add("--out", default="ladder.ndjson", metavar="FILE", help="a line for each request (%(default)s)")
    add("--force", action="store_true", help="overwrite FILE")
    options = parser.parse_args()
    ollama = options.server == "ollama"
    if ollama and not options.model:
        parser.error("Ollama needs --model NAME, one of `ollama list`")
    if options.tokens and (ollama or options.chat):
        parser.error("--tokens goes with --server llama-server and without --chat: it asks for /tokenize and /completion")
    if options.raw and (options.chat or not ollama):
        parser.error("--raw goes with Ollama's /api/generate alone")
    if options.keep_alive and not ollama:
        parser.error("--keep-alive goes with Ollama alone")
    if not 0 < options.timeout < 1e6:
        parser.error("--timeout is a number of seconds")
    options.seed = time.time_ns() if options.seed is None else options.seed
    return options


def fail(sentence: str, code: int) -> NoReturn:
    print(f"prompt_ladder: {sentence}", file=sys.stderr, flush=True)
    # Threads that still wait for the server are not waited for.
    os._exit(code)


def main() -> None:
    options = parse()
    rows: list[list[str]] = []
    log: Optional[Log] = None
    kept = lambda: f"; {log.count} requests are in {log.path}" if log else ""
    try:
        client = Client(options.url or DEFAULT_URLS[options.server], options.server, options.timeout)
        check_server(client, options.model)
        log = Log(options.out, options.force)
        run(client, options, log, rows)
        show(rows)
        print(f"{log.count} requests: {log.path}", flush=True)
    except Failure as failure:
        fail(f"{failure}{kept()}", 1)
    except KeyboardInterrupt:
        fail(f"stopped{kept()}", 128 + signal.SIGINT)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
