"""Runs real programs on the null GPU under rocshim, and checks every certain statement against two
witnesses: the device's log (what was dispatched, and when) and a counter of library calls
(tests/matrix/counter.py). The checker does not use rocshim's rules; it knows the model
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
import counter
import gguf

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
ROCSHIM = os.path.join(os.environ.get("CARGO_TARGET_DIR", ROOT + "/target"), "release/rocshim")
REAL = ROOT + "/scripts/real-rocm"
# Library, its file's name, what its functions begin with, and what the names of its kernels begin
# with.
LIBRARIES = [
    ("librocblas.so", "librocblas.so.4", "rocblas_", ("Cijk_", "rocblas_")),
    ("libhipblas.so", "libhipblas.so.2", "hipblas", ()),
    ("libMIOpen.so", "libMIOpen.so.1", "miopen", ("MIOpen", "miopen")),
]
# Tokens that are asked for: below, on and above each boundary of a batch (512) and of a kernel (8
# columns), repeated.
SHORT = [(20, 3), (513, 3)]
LONG = [(5, 3), (8, 2), (9, 2), (20, 4), (511, 2), (512, 3), (513, 3), (600, 3), (1024, 2), (1025, 3), (1300, 2)]


def rows(short):
    """Name, environment, program: a server with its questions, or a command."""
    bench = lambda p, n: ["llama-bench", "-ngl", "99", "-p", str(p), "-n", str(n), "-r", "2", "-o", "json"]
    for kind in ["Q4_0", "F16"] if short else ["Q4_0", "Q5_0", "Q8_0", "F16", "BF16", "F32"]:
        for graphs in [True] if short else [True, False]:
            environment = {} if graphs else {"GGML_CUDA_DISABLE_GRAPHS": "1"}
            name = "%s, %s graphs" % (kind, "with" if graphs else "without")
            yield "llama-server " + name, kind, environment, (["-np", "1"], SHORT if short else LONG, 1)
            yield "llama-bench " + name, kind, environment, bench(600, 4)
            if not short:
                yield "llama-server -np 4 " + name, kind, environment, (["-np", "4"], [(40, 8), (600, 4)], 4)
                yield "llama-bench 1025 " + name, kind, environment, bench(1025, 2)


class Checks:
    """The number of statements checked, and the wrong ones."""

    def __init__(self):
        self.number, self.wrong = collections.Counter(), []

    def check(self, what, is_right, printed):
        self.number[what] += 1
        if not is_right:
            self.wrong.append("%s: %s" % (what, printed))


class Log:
    """The dispatches in the device's log."""

    def __init__(self, path):
        self.kernels = []
        for line in open(path):
            if line.startswith("kernel "):
                fields = dict(word.split("=", 1) for word in line.split()[1:])
                if not fields["name"].startswith(("#", "__amd_rocclr_")):
                    sizes = [int(size) for size in fields["grid"].split(",")]
                    self.kernels.append((int(fields["start"]), fields["name"], sizes))

    def within(self, begin, end):
        return [row for row in self.kernels if begin <= row[0] <= end]


def tokens(kernels):
    """Tokens that were evaluated: each writes its value to the cache in each layer (the key is written by rope)."""
    written = sum(size[0] * size[1] * size[2] for _, name, size in kernels if "k_set_rows" in name)
    return written / (gguf.WIDTH * gguf.LAYERS)


def has(kernels, *beginnings):
    return any(name.startswith(beginnings) for _, name, _ in kernels)


def run(environment, command, folder, preload=None):
    shim = [] if preload else [ROCSHIM, "run", "-o", folder + "/traces", "--"]
    variables = ["%s=%s" % pair for pair in environment.items()]
    variables += ["LD_PRELOAD=" + preload, "CALL_COUNTS=%s/counts" % folder] if preload else []
    log = [] if preload else ["--log", folder + "/device.log"]
    return [REAL, "exec", *log, "--", *shim, "env", *variables, *command]


def serve(line, port, questions, at_once):
    """Sends the questions to a server; returns each response, with its times by both clocks."""
    server = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    url = "http://127.0.0.1:%d" % port

    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=300).read())

    for _ in range(1200):
        try:
            ask("/health")
            break
        except OSError:
            time.sleep(0.1)
    answers, chance = [], random.Random(2)

    def one(count):
        prompt = [1] + [chance.randrange(260, 286) for _ in range(count - 1)]
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
    # The program inside ends normally: the process that listens on the port gets the signal.
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid, "rb").read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"llama-server") and str(port).encode() in words:
            os.kill(int(pid), signal.SIGINT)
    server.wait(120)
    return answers


def run_json(command, *files):
    line = [ROCSHIM, command, "--json", *files]
    out = subprocess.run(line, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit("%s: %s" % (" ".join(line), out.stderr))
    return json.loads(out.stdout)


def check_launches(checks, summary, log):
    ours = {row["name"]: row["launches"] - row["failed"] for row in summary["kernels"]}
    ours = collections.Counter({name: number for name, number in ours.items() if number})
    devices = collections.Counter(name for _, name, _ in log.kernels)
    for name in ours.keys() | devices.keys():
        checks.check("launches", ours[name] == devices[name], "%s: %d, device %d" % (name, ours[name], devices[name]))


def check_libraries(checks, summary, log, counts):
    for library, _, prefix, kernels in LIBRARIES:
        row = next(row for row in summary["libraries"] if row["library"] == library)
        calls = sum(number for name, number in counts.items() if name.startswith(prefix))
        launched = bool(kernels) and has(log.kernels, *kernels)
        said = "%s %s (%s); counted %d" % (library, row["evidence"], row["why"], calls)
        if row["evidence"] == "confirmed":
            checks.check("library called", calls > 0 or launched, said)
        if row["evidence"] == "confirmed_absent":
            checks.check("library absent", calls == 0 and not launched, said)
    for row in summary["functions"]:
        if row["function"] in counts and not row["function"].startswith("hip") and row["calls"]:
            number = counts[row["function"]]
            checks.check("calls", row["calls"] == number, "%s: %d, counted %d" % (row["function"], row["calls"], number))


def check_phases(checks, phases, log, counts_tokens):
    """By time: the trace's clock begins at Unix time, the log's is the machine's."""
    shift = time.time_ns() - time.monotonic_ns()
    epoch = int(phases["epoch"])
    known = [phase for phase in phases["phases"] if phase["tokens"] is not None]
    if counts_tokens and len(known) == len(phases["phases"]):
        evaluated = sum(phase["tokens"] for phase in known)
        checks.check("tokens of all phases", evaluated == tokens(log.kernels), "%d, device %s" % (evaluated, tokens(log.kernels)))
    for phase in phases["phases"]:
        begin, end = (epoch + phase[key] - shift for key in ("begin_ns", "end_ns"))
        # The device may begin a kernel some time after the call that asked for it.
        window = log.within(begin - 100_000, end + 50_000_000)
        for row in phase["libraries"]:
            kernels = next((kernels for name, _, _, kernels in LIBRARIES if name == row["library"]), ())
            if kernels and row["evidence"] == "confirmed_absent":
                inner = log.within(begin + 100_000, end - 100_000)
                checks.check("library absent of a phase", not has(inner, *kernels), "%s in %s" % (row["library"], phase["kind"]))
            if kernels and row["evidence"] == "confirmed":
                checks.check("library called in a phase", has(window, *kernels), "%s in %s" % (row["library"], phase["kind"]))


def check_proxy(checks, proxy, answers, log):
    for row, answer in zip(proxy["requests"], sorted(answers, key=lambda answer: int(answer["sent"]))):
        window = log.within(*answer["window"])
        timings = answer["response"]["timings"]
        said = timings["prompt_n"] + timings["predicted_n"] - 1
        name = "%s: %s" % (answer["label"], json.dumps(row["prompt"]))
        as_said = tokens(window) == said
        if row["prompt"]["verdict"] == "confirmed":
            checks.check("prompt confirmed", as_said, name)
        if row["generated"]["verdict"] == "confirmed":
            checks.check("generated confirmed", as_said, name)
        if "contradicted" in (row["prompt"]["verdict"], row["generated"]["verdict"]):
            checks.check("contradicted", not as_said, name)
        many = any("mul_mat_q" in kernel for _, kernel, _ in window)
        path = row["path"]
        if path["verdict"] == "confirmed":
            checks.check("path confirmed", many == (path["said"] == "mmq") and not has(window, "Cijk_"), json.dumps(path))
        if path["verdict"] == "contradicted":
            checks.check("path contradicted", many != (path["said"] == "mmq"), json.dumps(path))


def calls(folder):
    counts = collections.Counter()
    if os.path.exists(folder + "/counts"):
        for line in open(folder + "/counts"):
            _, name, number = line.split()
            counts[name] += int(number)
    return counts


def main():
    parser = argparse.ArgumentParser(prog="scripts/matrix", description=__doc__.split("\n")[0])
    parser.add_argument("--short", action="store_true", help="the short form, for CI")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name has it")
    arguments = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="rocshim-matrix-")
    tree = subprocess.run([REAL, "path"], capture_output=True, text=True, check=True).stdout.strip()
    found = lambda file: "%s/usr/lib/x86_64-linux-gnu/%s" % (tree, file)
    counted = [(found(file), file, prefix) for _, file, prefix, _ in LIBRARIES]
    counting = scratch + "/counter.so"
    counter.build(counting, counted)
    print("| program | statements | wrong |\n|---|--:|--:|")
    total, wrong = collections.Counter(), []
    for number, (name, kind, environment, program) in enumerate(rows(arguments.short)):
        if arguments.only not in name:
            continue
        model = "%s/%s.gguf" % (scratch, kind)
        if not os.path.exists(model):
            gguf.write(model, kind)
        folder = "%s/%d" % (scratch, number)
        os.makedirs(folder)
        checks, answers = Checks(), []
        for preload in (None, counting):
            if isinstance(program, list):
                line = run(environment, program + ["-m", model], folder, preload)
                subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                continue
            options, questions, at_once = program
            port = 20000 + os.getpid() % 20000 + number
            server = ["llama-server", "-m", model, "-ngl", "99", "--host", "127.0.0.1", "--port", str(port), *options]
            new = serve(run(environment, server, folder, preload), port, questions, at_once)
            answers = answers or new
        log, traces = Log(folder + "/device.log"), folder + "/traces"
        summary = run_json("summary", traces)
        check_launches(checks, summary, log)
        # Where several ask at once, batches differ from run to run, and so do calls; and the cache
        # lies otherwise.
        is_alone = isinstance(program, list) or program[2] == 1
        if is_alone:
            check_libraries(checks, summary, log, calls(folder))
        check_phases(checks, run_json("phases", traces), log, is_alone)
        if answers:
            with open(folder + "/responses.ndjson", "w") as file:
                for answer in answers:
                    file.write(json.dumps({key: answer[key] for key in answer if key != "window"}) + "\n")
            check_proxy(checks, run_json("proxy", traces, "--responses", folder + "/responses.ndjson"), answers, log)
        print("| %s | %d | %d |" % (name, sum(checks.number.values()), len(checks.wrong)), flush=True)
        total += checks.number
        wrong += ["%s: %s" % (name, what) for what in checks.wrong]
    print("\n%d statements, %d wrong" % (sum(total.values()), len(wrong)))
    for what, number in total.most_common():
        print("  %6d  %s" % (number, what))
    for what in wrong:
        print("WRONG " + what)
    print(scratch, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
