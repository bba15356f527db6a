"""Runs real programs on the null GPU under rocshim, and checks every certain statement of every page
against two witnesses: the device's log (what was dispatched, and when) and a counter of library calls
(tests/matrix/counter.py). The checker does not use rocshim's rules; it knows the models
(tests/matrix/gguf.py) and the names of kernels."""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks as checking
import counter
import gguf
import programs
import witness

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
ROCSHIM = os.path.join(os.environ.get("CARGO_TARGET_DIR", ROOT + "/target"), "release/rocshim")
REAL = ROOT + "/scripts/real-rocm"
README = ROOT + "/tests/README.md"
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
HEAD = ["| program | launches | library calls | statements | wrong |", "|---|--:|--:|--:|--:|"]
# No program of the matrix takes as long.
SECONDS = 240


class Tree:
    """A user space, and the counter of calls for its libraries."""

    def __init__(self, name, scratch):
        self.name, self.hip = name, "hip7" if name.endswith("7") else "hip6"
        subprocess.run([REAL, "--tree", name, "prepare"], check=True, stdout=sys.stderr)
        path = subprocess.run([REAL, "--tree", name, "path"], capture_output=True, text=True, check=True)
        self.path, self.counter = path.stdout.strip(), "%s/counter-%s.so" % (scratch, name)
        files = [(row[1].get(self.hip), row[2]) for row in witness.LIBRARIES]
        found = lambda file: self.path + LIBRARIES + file
        counter.build(self.counter, [(found(file), file, prefix) for file, prefix in files
                                     if file and os.path.exists(found(file))])

    def line(self, folder, environment, command, is_traced):
        """The command that runs a program here, traced by rocshim or watched by the counter."""
        variables = ["%s=%s" % pair for pair in environment.items()]
        if is_traced:
            before = [ROCSHIM, "run", "-o", folder + "/traces", "--"]
        else:
            before, variables = [], [*variables, "LD_PRELOAD=" + self.counter, "CALL_COUNTS=%s/counts" % folder]
        log = ["--log", folder + "/device.log"] if is_traced else []
        return [REAL, "--tree", self.name, "exec", *log, "--", *before, "env", *variables, *command]


def serve(line, port, questions, at_once):
    """Sends the questions to a server; returns each response, with its times by both clocks. Of
    embeddings, which state no times, it returns none. The server has ended then, whatever happened."""
    server = subprocess.Popen(line, start_new_session=True, **QUIET)
    try:
        return ask_all("http://127.0.0.1:%d" % port, "--embeddings" in line, questions, at_once)
    finally:
        end(server, port)


def end(server, port):
    """Ends the program inside in order: the process that listens on the port gets the signal. What
    does not end is killed."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid, "rb").read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"llama-server") and str(port).encode() in words:
            os.kill(int(pid), signal.SIGINT)
    try:
        server.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        raise


def ask_all(url, is_embedding, questions, at_once):
    """Sends the questions to a server that listens at `url`, or begins to."""

    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=300).read())

    until = time.monotonic() + SECONDS
    while True:
        try:
            ask("/health")
            break
        except OSError as error:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("llama-server", SECONDS) from error
            time.sleep(0.1)
    answers, chance = [], random.Random(2)

    def one(count):
        prompt = [1] + [chance.randrange(260, 286) for _ in range(count - 1)]
        if is_embedding:
            ask("/embedding", {"content": prompt})
            return
        begin = (time.time_ns(), time.monotonic_ns())
        answer = ask("/completion", {
            "prompt": prompt, "n_predict": 5, "cache_prompt": False, "temperature": 0, "ignore_eos": True})
        end = (time.time_ns(), time.monotonic_ns())
        answers.append({
            "server": "llama-server", "endpoint": "/completion", "label": "%d tokens" % count, "sent": str(begin[0]),
            "first": str(end[0]), "received": str(end[0]), "request": {}, "response": answer,
            "window": (begin[1], end[1])})

    wanted = [count for count, times in questions for _ in range(times)]
    if at_once == 1:
        for count in wanted:
            one(count)
    else:
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(one, wanted))
    return answers


def page(command, *files, json_wanted=True):
    line = [ROCSHIM, command, *(["--json"] if json_wanted else []), *files]
    out = subprocess.run(line, capture_output=True, text=True)
    if out.returncode not in (0, 1) or out.stderr.startswith("error"):
        raise SystemExit("%s: %s" % (" ".join(line), out.stderr))
    return json.loads(out.stdout) if json_wanted else out.stdout


def records(folder):
    for name in sorted(os.listdir(folder)):
        for line in open("%s/%s" % (folder, name)) if name.endswith(".ndjson") else []:
            yield json.loads(line)


def package(row):
    """The folder of the Python package that the program needs."""
    if row.package is None:
        return ""
    subprocess.run([REAL, "--tree", row.package, "prepare"], check=True, stdout=sys.stderr)
    path = subprocess.run([REAL, "--tree", row.package, "path"], capture_output=True, text=True, check=True)
    return path.stdout.strip()


def run_program(row, tree, folder, model, number):
    """Runs it traced, then counted; returns the run, a server's answers, and the time between the clocks."""
    fill = lambda text: text.replace("MODEL", model or "").replace("SCRATCH", folder).replace("PACKAGE", package(row))
    environment = {name: fill(value) for name, value in row.environment.items()}
    answers, ends, shift = [], [], time.time_ns() - time.monotonic_ns()
    for is_traced in (True, False) if row.repeats else (True,):
        if isinstance(row.command, list):
            command = [fill(word) for word in row.command]
            line = tree.line(folder, environment, command, is_traced)
            ends.append(subprocess.run(line, timeout=SECONDS, **QUIET).returncode)
            continue
        options, questions, at_once = row.command
        port = 20000 + os.getpid() % 20000 + number
        server = ["llama-server", "-m", model, "-ngl", "99", "--host", "127.0.0.1", "--port", str(port), *options]
        new = serve(tree.line(folder, environment, server, is_traced), port, questions, at_once)
        answers = answers or new
    log, traces = witness.Log(folder + "/device.log"), folder + "/traces"
    # The counter writes when its program ends in order.
    calls = witness.Calls(folder + "/counts", tree.hip) if os.path.exists(folder + "/counts") else None
    return checking.Run(traces, log, calls, ends, "gfx1100", tree.path), answers, shift


def check_program(checks, row, run, answers, shift, before):
    """Checks every page of one program; `before` is the run before it, to compare with."""
    summary, phases = page("summary", run.traces), page("phases", run.traces)
    if len(run.ends) == 2:
        checks.check("the program ends as without rocshim", len(set(run.ends)) == 1, run.ends)
    checking.check_launches(checks, run, summary)
    checking.check_shapes(checks, run, records(run.traces))
    checking.check_functions(checks, run, summary)
    checking.check_page(checks, run, "summary", summary)
    checking.check_page(checks, run, "phases", phases)
    checking.check_phases(checks, run, phases, shift, counts_tokens=row.model and row.repeats)
    checking.check_page(checks, run, "why", page("why", run.traces))
    checking.check_verified(checks, run, page("verify", run.traces), summary)
    for name in ("summary", "phases", "hooks"):
        checking.check_text(checks, run, name, page(name, run.traces, json_wanted=False))
    if before:
        compared = page("compare", before.traces, run.traces, "--names", "A,B")
        checking.check_comparison(checks, {"A": before, "B": run}, compared)
    if answers:
        responses = run.traces + "/../responses.ndjson"
        with open(responses, "w") as file:
            for answer in answers:
                file.write(json.dumps({key: answer[key] for key in answer if key != "window"}) + "\n")
        checking.check_proxy(checks, run, page("proxy", run.traces, "--responses", responses), answers)


def write_table(lines):
    """Puts rows into the table of tests/README.md, between its two marks: for each program the latest."""
    begin, end = "<!-- matrix: begin -->\n", "<!-- matrix: end -->"
    before, after = open(README).read().split(begin)
    table, after = after.split(end)
    cells = lambda line: [cell.strip() for cell in line.strip("|").split("|")]
    rows = [cells(line) for line in [*table.splitlines(), *lines] if line.startswith("| ") and "| program" not in line]
    latest = {row[0]: row for row in rows}
    table = [*HEAD, *("| %s |" % " | ".join(row) for row in latest.values())]
    sums = [sum(int(row[column]) for row in latest.values()) for column in (3, 4)]
    with open(README, "w") as file:
        file.write(before + begin + "\n".join(table) + "\n\n%d statements, wrong: %d\n" % tuple(sums) + end + after)


def main():
    parser = argparse.ArgumentParser(prog="scripts/matrix", description=__doc__.split("\n")[0])
    parser.add_argument("--short", action="store_true", help="the short form, for CI")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name has it")
    parser.add_argument("--keep", action="store_true", help="leave traces and logs; print where they are")
    parser.add_argument("--write", action="store_true", help="write the table into tests/README.md")
    arguments = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="rocshim-matrix-")
    trees, total, unchecked, wrong = {}, collections.Counter(), collections.Counter(), []
    table = list(HEAD)
    print("\n".join(table), flush=True)
    before = None
    for number, row in enumerate(programs.all_programs(arguments.short)):
        if arguments.only not in row.name:
            continue
        if row.tree not in trees:
            trees[row.tree], before = Tree(row.tree, scratch), None
        tree, folder = trees[row.tree], "%s/%d" % (scratch, number)
        os.makedirs(folder)
        model = row.model and "%s/%s.gguf" % (scratch, row.model.replace(" ", "-"))
        if model and not os.path.exists(model):
            gguf.write(model, row.model)
        checks = checking.Checks()
        try:
            run, answers, shift = run_program(row, tree, folder, model, number)
        except subprocess.TimeoutExpired:
            wrong.append("%s: it took more than %d s" % (row.name, SECONDS))
            continue
        check_program(checks, row, run, answers, shift, before)
        launches, calls = len(run.log.kernels), sum(run.calls.by_name.values()) if run.calls else None
        counted = (launches, "-" if calls is None else calls, sum(checks.number.values()), len(checks.wrong))
        table.append("| %s | %s | %s | %s | %s |" % (row.name, *counted))
        print(table[-1], flush=True)
        total += checks.number
        unchecked += checks.unchecked
        wrong += ["%s: %s" % (row.name, what) for what in checks.wrong]
        if not launches and not calls:
            wrong.append("%s: it neither launched nor called anything" % row.name)
        before = run
    print("\n%d statements, wrong: %d" % (sum(total.values()), len(wrong)))
    for title, numbers in (("checked", total), ("read from arguments, which no witness knows", unchecked)):
        print(title + ":")
        for what, number in numbers.most_common():
            print("  %6d  %s" % (number, what))
    for what in wrong:
        print("WRONG " + what)
    if arguments.write:
        write_table(table)
    if arguments.keep:
        print(scratch, file=sys.stderr)
    else:
        subprocess.run(["rm", "-rf", scratch])
    sys.exit(1 if wrong else 0)


main()
