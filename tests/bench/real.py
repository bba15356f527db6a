"""Section real: the real ROCm user space on the null GPU: llama.cpp's own bench and HIP's first call, with the shim and without.

Each round runs the program four times, in an order drawn again: without the shim, with it, with it and GPU times, and
without it again. The last against the first is the noise that the others against the first have to be seen in.

llama-bench runs on one CPU, together with the model of the device: on two they wait for each other for times that differ
by a factor of ten from run to run. So a token's time is mostly the scheduler's, the same with the shim and without.
"""
import json, os, random, statistics, subprocess, sys
import build
from figures import spread
from running import accounts, tell
from table import Column, Table, middle_half

LLAMA = ["llama-bench", "-ngl", "99", "-p", "64", "-n", "32", "-r", "5", "-t", "1", "-o", "json", "-m"]
# The device model's idle queues poll, and on one CPU every poll preempts the program: at 20 us they
# make a token a third slower, at 2 ms they do not show. The runtime would let its own threads run
# on every CPU.
DEVICE = {"NULL_GPU_POLL_US": "2000", "HSA_OVERRIDE_CPU_AFFINITY_DEBUG": "0"}
# What is compared: name, variables. With HIP graphs a step is one call; without them every launch
# is.
WAYS = [("direct launches", {"GGML_CUDA_DISABLE_GRAPHS": "1"}), ("HIP graphs", {})]
RUNS = ["off", "on", "gpu", "off again"]
ROUNDS = 8


def measure(bench):
    model = bench.work / "q4_0.gguf"
    subprocess.run(["cargo", "run", "--quiet", "--release", "-p", "rocshim-tests", "--example", "model", "--", model], cwd=build.ROOT, check=True)
    subprocess.run([build.ROOT / "scripts/real-rocm", "prepare"], check=True, stdout=subprocess.DEVNULL)
    first_call = build.compile_c(bench.work / "first_call", "first_call.c")
    results = {"llama-bench": {name: llama(bench, name, model, env) for name, env in WAYS}}
    results["first call"] = compare(bench, "HIP's first call", lambda variant: first(bench, first_call, variant))
    results["paired"] = results["llama-bench"][WAYS[0][0]]["tg"]["on"]
    tell("")
    return results


def llama(bench, name, model, env):
    """What a token costs, of prompts (pp) and of text (tg): the lower quartile of a run's repetitions, in ms."""
    one_cpu = {min(os.sched_getaffinity(0))}
    return compare(bench, f"llama-bench, {name}", lambda variant: tokens(execute(bench, [*LLAMA, model], variant, env, one_cpu)))


def tokens(output):
    return {"pp" if test["n_prompt"] else "tg": statistics.quantiles(test["samples_ns"], method="inclusive")[0] / 1e6 / (test["n_prompt"] + test["n_gen"]) for test in json.loads(output)}


def first(bench, program, variant):
    return {line.split()[0]: float(line.split()[1]) / 1e6 for line in execute(bench, [program], variant, {}).splitlines()}


def compare(bench, what, run):
    """By what `run` measures: the spread of it without the shim, in ms, and the ratios within each round."""
    rounds = []
    for number in range(bench.repeats(ROUNDS)):
        figures = {}
        for name in random.sample(RUNS, len(RUNS)):
            tell(f"real: {what}, round {number + 1}, {name}")
            figures[name] = run(name)
        rounds.append(figures)
    ratios = lambda kind, name: spread([figures[name][kind] / figures["off"][kind] for figures in rounds])
    return {kind: {"ms": spread([figures["off"][kind] for figures in rounds]), "on": ratios(kind, "on"), "gpu": ratios(kind, "gpu"), "noise": ratios(kind, "off again")} for kind in rounds[0]["off"]}


def execute(bench, command, name, env, cpus=None):
    """What it prints, run on some CPUs only. With the shim there must be a trace, in which nothing is lost."""
    shim = [f"LD_PRELOAD={bench.variants['on'].preload.absolute()}", f"ROCSHIM_OUT={bench.work / 'traces'}"] if name in ("on", "gpu") else []
    shim += ["ROCSHIM_GPU_TIME=on"] if name == "gpu" else []
    words = [build.ROOT / "scripts/real-rocm", "exec", "--", "env", *shim, *(f"{key}={value}" for key, value in env.items()), *command]
    done = subprocess.run([str(word) for word in words], env=os.environ | DEVICE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=cpus and (lambda: os.sched_setaffinity(0, cpus)))
    if done.returncode:
        sys.exit(f"bench: real: {' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    if shim:
        account = accounts(bench.work)
        if account.lost or not account.size:
            sys.exit(f"bench: real: {command[0]}: the trace has {account.size} bytes, and lost {account.lost} of {account.produced} events")
    return done.stdout


def tables(results):
    columns = [Column("ms without", 12), Column("with ÷ without", 16), Column("", 16), Column("GPU times too", 15), Column("", 16), Column("noise", 10), Column("", 16)]
    of = lambda what, row: [what, f"{row['ms']['median']:.3f}", f"{row['on']['median']:.3f}", middle_half(row["on"], 3), f"{row['gpu']['median']:.3f}", middle_half(row["gpu"], 3), f"{row['noise']['median']:.3f}", middle_half(row["noise"], 3)]
    words = {"pp": "a token of the prompt", "tg": "a token of the text"}
    rows = [of(f"{words[kind]}, {way}", row) for way, measured in results["llama-bench"].items() for kind, row in measured.items()]
    rows += [of(f"libamdhip64: {kind}", row) for kind, row in results["first call"].items()]
    count = len(results["paired"]["rounds"])
    yield Table(f"real llama-bench and HIP on the null GPU: {count} rounds of four; noise: without the shim ÷ without the shim", columns, rows)
