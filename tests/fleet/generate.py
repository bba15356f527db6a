#!/usr/bin/env python3
"""Writes the traces of a training job of many ranks whose faults are known, as `rocshim run` would leave them.

    tests/fleet/generate.py DIR --ranks 64 --slow 5:1.3 --kernels 7 --hang 9:12 --skew-us 500

Each rank is a process that runs the same steps: per part of the model a GEMM of rocBLAS, element-wise kernels, a
synchronisation, an RCCL collective over all ranks, and the synchronisation that waits for it. A collective ends on every
rank once the last one has entered it. DIR/truth.json says what was planted; the numbers follow from --seed alone.
"""
import argparse
import json
import math
import pathlib
import random

EPOCH = 1_795_258_557_000_000_000
# Parts of a step: the elements that its collective moves, and the time of its kernels on the GPU.
PARTS = [(1 << 20, 900_000), (1 << 18, 500_000), (1, 100_000)]
HOOKS = [("libamdhip64.so", ["hipLaunchKernel", "hipExtModuleLaunchKernel", "hipStreamSynchronize",
                             "hipRegisterTracerCallback"]),
         ("librocblas.so", ["rocblas_gemm_ex"]),
         ("librccl.so", ["ncclAllReduce", "ncclCommInitRank"])]
HOOK = {name: at for at, name in enumerate(name for _, names in HOOKS for name in names)}
TENSILE = "Cijk_Ailk_Bljk_HHS_BH_MT%dx64x32_MI16x16x16x1_SN_WG16_16_1"
LIBRARY = "/opt/rocm/lib/rocblas/library/TensileLibrary_Type_HH_HPA_Contraction_l_Ailk_Bljk_Cijk_Dijk%s_gfx942.%s"


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--launches", type=int, default=2, help="element-wise launches in each part of a step")
    parser.add_argument("--per-host", type=int, default=8, help="ranks of a host")
    parser.add_argument("--gpu-time", action="store_true", help="with the GPU's begin and end of each kernel")
    parser.add_argument("--group", type=int, help="ranks of a communicator; without: all")
    parser.add_argument("--noise", type=float, default=0.01, help="deviation of a part's time, as a share")
    parser.add_argument("--skew-us", type=float, default=0, help="hosts' clocks differ by up to this")
    parser.add_argument("--seed", type=int, default=1)
    fault = lambda name, form, what: parser.add_argument(name, action="append", default=[], metavar=form, help=what)
    fault("--slow", "RANK:FACTOR", "its kernels take longer by this factor")
    fault("--kernels", "RANK", "it launches another element-wise kernel")
    fault("--solution", "RANK", "its GEMMs run another kernel of Tensile")
    fault("--fallback", "RANK", "its GEMMs run a kernel of the fallback library")
    fault("--hang", "RANK:STEP", "it never enters the second collective of this step; the job was killed")
    fault("--unfinished", "RANK:STEP", "its trace ends after this step, without a footer")
    fault("--missing", "RANK", "it left no trace")
    return parser.parse_args()


class Rank:
    """A rank's trace: its lines, and its host's clock."""

    def __init__(self, number, job):
        self.number, self.job = number, job
        self.host = f"node{number // job.per_host:04}"
        self.pid = 10_000 + number
        self.skew = job.skews[number // job.per_host]
        self.lines, self.events, self.id = [], {}, 0
        self.in_flight = []
        self.uses_other = number in job.kernels
        self.gemm_kernel = 3 if number in job.fallback else 2 if number in job.solution else 1

    def record(self, kind, **fields):
        self.lines.append(json.dumps({"type": kind, **fields}, separators=(",", ":")))

    def call(self, tid, fields):
        self.events[tid] = self.events.get(tid, 0) + 1
        self.lines.append(fields)

    def next(self):
        self.id += 1
        return self.id

    def begin(self):
        job, number = self.job, self.number
        env = {"RANK": str(number), "WORLD_SIZE": str(job.ranks), "LOCAL_RANK": str(number % job.per_host)}
        argv = ["python3", "train.py"]
        self.record("header", format=1, rocshim="0.1.0", pid=self.pid, ppid=1, start_ticks=5_000 + number, exe="/usr/bin/python3.11",
                    argv=argv, env=env, host=self.host, clock="tsc", tick_hz=2_000_000_000, epoch=str(EPOCH + self.skew), rings="/dev/shm/rocshim-gone")
        libraries = [("libamdhip64.so", 6), ("librocblas.so", 4), ("librccl.so", 1)]
        for at, (name, version) in enumerate(libraries, 1):
            self.record("library", id=at, path=f"/opt/rocm/lib/{name}.{version}", soname=f"{name}.{version}")
        for point in ("dlsym", "get_proc_address"):
            self.record("interception", point=point, state="open")
        first = 0
        for library, (of, names) in enumerate(HOOKS, 1):
            self.record("hook_table", of=of, first=first, names=names)
            for at, name in enumerate(names, first):
                self.record("hook", id=at, name=name, of=of, point="preload", state="bound", library=library)
            first += len(names)
        self.record("device", ordinal=0, gfx="gfx942", name="AMD Instinct MI300X", how="hipGetDevicePropertiesR0600")
        self.record("code_object", id=1, source="fat_binary", path="/opt/app/libmodel.so", ordinal=0, offset=4096, format="bundle", bytes=65_536, targets=["gfx942"], kernels=3)
        is_fallback = self.gemm_kernel == 3
        file = LIBRARY % (("_fallback", "hsaco") if is_fallback else ("", "co"))
        self.record("code_object", id=2, source="memory", format="elf", bytes=8_192, xxh3=("f" if is_fallback else "a") * 32, targets=["gfx942"], file=file, fallback=is_fallback, kernels=4)
        self.record("code_object", id=3, source="fat_binary", path="/opt/rocm/lib/librccl.so.1", ordinal=0, offset=4096, format="bundle", bytes=65_536, targets=["gfx942"], kernels=1)
        gemm = {1: TENSILE % 128, 2: TENSILE % 64, 3: TENSILE.replace("MI16x16x16x1_", "") % 32}[self.gemm_kernel]
        self.record("kernel", id=1, name=gemm, hook=HOOK["hipExtModuleLaunchKernel"], code_object=2, target="gfx942")
        name, size = ("gelu_tanh", 9) if self.uses_other else ("gelu", 4)
        self.record("kernel", id=2, name=f"_Z{size}{name}PKfPfi", demangled=f"{name}(float const*, float*, int)", hook=HOOK["hipLaunchKernel"], code_object=1, target="gfx942")
        self.record("kernel", id=3, name="_Z21ncclDevKernel_Generic18ncclDevKernelArgs4K", hook=HOOK["hipLaunchKernel"], code_object=3, target="gfx942")
        self.record("stream", id=1, handle="0x5600000000a0")
        if job.gpu_time:
            self.record("gpu_time", t=100, state="on", library=1, apis=449, release="7.2")
            for at, kernel in enumerate([gemm, f"_Z{size}{name}PKfPfi", "_Z21ncclDevKernel_Generic18ncclDevKernelArgs4K"], 1):
                self.record("gpu_kernel", id=at, name=kernel)
        self.comm = f"0x{0x7f0000000000 + number * 4096:x}"
        group = job.group or job.ranks
        rank, ranks = number % group, min(group, job.ranks - number // group * group)
        self.call(self.pid, f'{{"type":"span","tid":{self.pid},"id":{self.next()},"t":1000,"dur":500,"hook":{HOOK["ncclCommInitRank"]},"comm":"{self.comm}","members":{ranks},"member":{rank},"group":"0x{0xabc0 + number // group:x}"}}')

    def launch(self, kernel, t, parent, gpu):
        call = self.next()
        within = f'"parent":{parent},' if parent else ""
        self.call(self.pid, f'{{"type":"launch","tid":{self.pid},"id":{call},{within}"t":{t},"dur":3000,"kernel":{kernel},"grid":[256],"block":[256],"stream":1}}')
        if self.job.gpu_time and gpu:
            tid = self.pid + 1_000_000
            self.reports = getattr(self, "reports", 0) + 1
            self.waiting = getattr(self, "waiting", []) + [(call, kernel, *gpu)]
        return call

    def report(self):
        """The runtime reports what was done on the GPU, from a thread of its own."""
        tid = self.pid + 1_000_000
        for call, kernel, begin, end in getattr(self, "waiting", []):
            number = self.events.get(tid, 0) + 1
            self.call(tid, f'{{"type":"gpu","tid":{tid},"id":{number},"t":{end + 2000},"dur":0,"hook":{HOOK["hipRegisterTracerCallback"]},"op":"dispatch","command":"kernel","begin":{begin},"busy":{end - begin},"raw":{begin + 90_000_000},"device":1,"queue":2,"kernel":{kernel},"of":[{self.pid},{call}]}}')
        self.waiting = []

    def sync(self, t, end):
        self.call(self.pid, f'{{"type":"sync","tid":{self.pid},"id":{self.next()},"t":{t},"dur":{end - t},"hook":{HOOK["hipStreamSynchronize"]},"action":"stream","stream":1}}')

    def compute(self, t, busy):
        """The kernels of a part, from host time `t`, which take `busy` ns on the GPU; returns when the host goes on."""
        count = self.job.launches + 1
        share, gpu = busy // count, t + 5000
        call = self.next()
        self.launch(1, t + 500, call, (gpu, gpu + share))
        self.call(self.pid, f'{{"type":"gemm","tid":{self.pid},"id":{call},"t":{t},"dur":4000,"hook":{HOOK["rocblas_gemm_ex"]},"form":"plain","handle":"0x5600000000b0","trans_a":"N","trans_b":"N","m":4096,"n":2048,"k":4096,"batch":1,"a":{{"ptr":"0x7e0000000000","type":"f16_r","ld":4096}},"b":{{"ptr":"0x7e1000000000","type":"f16_r","ld":4096}},"c":{{"ptr":"0x7e2000000000","type":"f16_r","ld":4096}},"d":{{"ptr":"0x7e2000000000","type":"f16_r","ld":4096}},"alpha":"0x7ffc00000010","beta":"0x7ffc00000018","compute":"f32_r","algo":"standard","solution":0,"stream":1}}')
        host, gpu = t + 4500, gpu + share
        for _ in range(self.job.launches):
            self.launch(2, host, 0, (gpu, gpu + share))
            host, gpu = host + 3500, gpu + share
        end = max(gpu, host + 2000) + 1000
        self.report()
        self.sync(host, end)
        return end

    def collective(self, count, t, end):
        """An all-reduce that was entered at `t` and is done on the GPU at `end`; `None`: never."""
        call = self.next()
        dur = 6000
        gpu = None if end is None else (t + 4000, end)
        self.launch(3, t + 1000, call, gpu)
        self.call(self.pid, f'{{"type":"span","tid":{self.pid},"id":{call},"t":{t},"dur":{dur},"hook":{HOOK["ncclAllReduce"]},"count":{count},"datatype":"bf16","op":"sum","comm":"{self.comm}","stream":1}}')
        if end is None:
            return self.hang_in_sync(t + dur + 500)
        self.report()
        self.sync(t + dur + 500, end + 1500)
        return end + 1500

    def hang_in_sync(self, t):
        self.in_flight.append((t, f'{{"type":"in_flight","event":{{"type":"sync","tid":{self.pid},"id":{self.next()},"t":{t},"dur":0,"hook":{HOOK["hipStreamSynchronize"]},"action":"stream","stream":1}}}}'))
        return t

    def write(self, t, ending):
        for at, line in self.in_flight:
            self.lines.append(line)
        if ending:
            for tid, events in self.events.items():
                self.record("thread", tid=tid, produced=events, written=events, lost=0)
            self.record("footer", t=t + 10_000, end=ending)
        path = self.job.folder / f"python3.11-{self.host}-{self.pid}.ndjson"
        path.write_text("\n".join(self.lines) + "\n")


def main():
    job = options()
    job.folder.mkdir(parents=True, exist_ok=True)
    random.seed(job.seed)
    pairs = lambda texts, kind: {int(rank): kind(value) for rank, value in (text.split(":") for text in texts)}
    slow, hang, unfinished = pairs(job.slow, float), pairs(job.hang, int), pairs(job.unfinished, int)
    job.kernels, job.solution, job.fallback, missing = ({int(rank) for rank in of} for of in (job.kernels, job.solution, job.fallback, job.missing))
    hosts = math.ceil(job.ranks / job.per_host)
    job.skews = [0] + [int(random.uniform(-1, 1) * job.skew_us * 1000) for _ in range(hosts - 1)]
    ranks = [Rank(number, job) for number in range(job.ranks)]
    for rank in ranks:
        rank.begin()
    # When each rank's host goes on, in true time: its epoch has its clock's error.
    now = [10_000 + random.randrange(2000) for _ in ranks]
    group, stopped, hung = job.group or job.ranks, set(), set()
    for step in range(job.steps):
        for part, (count, busy) in enumerate(PARTS):
            entered = {}
            for rank in ranks:
                if rank.number in stopped:
                    continue
                took = int(busy * slow.get(rank.number, 1) * (1 + random.gauss(0, job.noise)))
                if hang.get(rank.number) == step and part == 1:
                    now[rank.number] = rank.hang_in_sync(now[rank.number])
                    stopped.add(rank.number)
                    hung.add(rank.number // group)
                    continue
                now[rank.number] = rank.compute(now[rank.number], took)
                entered[rank.number] = now[rank.number]
            for first in range(0, job.ranks, group):
                members = [number for number in range(first, min(first + group, job.ranks)) if number in entered]
                if not members:
                    continue
                end = None if first // group in hung else max(entered[number] for number in members) + 20_000 + count // 20
                for number in members:
                    now[number] = ranks[number].collective(count, entered[number], end and end + random.randrange(3000))
                    if end is None:
                        stopped.add(number)
        for number, last in unfinished.items():
            if last == step:
                ranks[number].write(now[number], None)
                stopped.add(number)
                missing.add(number)
    for rank in ranks:
        if rank.number not in missing:
            # A job that hangs is killed after half a minute.
            killed = max(now) + 30_000_000_000
            rank.write(killed if rank.in_flight else now[rank.number], "recovered" if rank.in_flight else "exit")
    truth = {"ranks": job.ranks, "steps": job.steps, "slow": slow, "hang": hang, "unfinished": unfinished,
             "kernels": sorted(job.kernels), "solution": sorted(job.solution), "fallback": sorted(job.fallback),
             "missing": sorted(missing - set(unfinished)), "skew_ns": {f"node{at:04}": skew for at, skew in enumerate(job.skews)}}
    (job.folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


main()
