"""Other tracers, from the distribution, on the same loop: how each is started, and how many calls it has recorded."""
import contextlib, os, re, shutil, signal, subprocess, sys, time
import build
from variants import Variant

PACKAGES = ["liblttng-ust-dev", "lttng-tools", "babeltrace2", "uftrace", "ltrace", "valgrind"]
NEEDED = ["lttng", "lttng-sessiond", "babeltrace2", "uftrace", "ltrace"]
PATIENCE = 10  # seconds for a command of a peer's, which takes less than one
LAUNCH = "hipModuleLaunchKernel"
# The launch's fields: function, grid, block, shared memory, stream; and its result.
UFTRACE_ARGUMENTS = ["-A", LAUNCH + "@arg1/x,arg2/u,arg3/u,arg4/u,arg5/u,arg6/u,arg7/u,arg8/u,arg9/x", "-R", LAUNCH + "@retval"]


def install():
    """From the distribution, when something is missing."""
    if all(shutil.which(name) for name in NEEDED) and os.path.exists("/usr/include/lttng/tracepoint.h"):
        return
    if os.geteuid() or not shutil.which("apt-get"):
        sys.exit("bench: --peers needs the packages " + " ".join(PACKAGES) + "; installing them takes root and apt-get: install them, or leave out --peers")
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"bench: --peers: {' '.join(command)} failed: {done.stdout.strip().splitlines()[-1:]}; without --peers nothing is installed")


@contextlib.contextmanager
def variants(work):
    """The peers' variants by name. LTTng's daemon runs as long as this lasts."""
    install()
    build.compile_c(work / "fprintf.so", "peers/fprintf.c", "-fPIC", "-shared")
    build.compile_c(work / "lttng.so", "peers/lttng.c", "-fPIC", "-shared", f"-I{build.HERE}/peers", "-llttng-ust")
    with Lttng(work) as lttng:
        rows = [
            Variant("lttng", "LTTng-UST, entry and exit", work / "lttng.so", peer=lttng, share=0.5),
            Variant("uftrace", "uftrace", peer=Uftrace([])),
            Variant("uftrace -A", "uftrace with arguments", peer=Uftrace(UFTRACE_ARGUMENTS), share=0.5),
            Variant("ltrace", "ltrace", peer=Ltrace(), share=0.01),
            Variant("fprintf", "fprintf and fflush", work / "fprintf.so", peer=Text()),
        ]
        yield {row.name: row for row in rows}


def said(command, **how):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE, **how)
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))}: exit {done.returncode}: {done.stdout.strip()[-400:]}")
    return done.stdout


class Text:
    """The hook of peers/fprintf.c."""

    @contextlib.contextmanager
    def around(self, work):
        yield [], {"PEER_FILE": str(work / "fprintf.txt")}

    def recorded(self, work):
        with open(work / "fprintf.txt") as text:
            return sum(LAUNCH in line for line in text)


class Ltrace:
    """Stops the program twice per call, by ptrace; so it gets few calls."""

    @contextlib.contextmanager
    def around(self, work):
        yield ["ltrace", "-f", "-e", LAUNCH, "-o", work / "ltrace.txt"], {}

    def recorded(self, work):
        with open(work / "ltrace.txt") as text:
            return sum(LAUNCH in line for line in text)


class Uftrace:
    """Patches the program's PLT: it sees every library call of the loop's, of which the launches are counted."""
    is_stuck = False

    def __init__(self, arguments):
        self.arguments = arguments

    def traces(self, work):
        return work / "uftrace"

    @contextlib.contextmanager
    def around(self, work):
        # The folder itself may be another disk.
        shutil.rmtree(self.traces(work) / "data", ignore_errors=True)
        self.traces(work).mkdir(exist_ok=True)
        yield ["uftrace", "record", "--force", "--no-event", *self.arguments, "-d", self.traces(work) / "data"], {}

    def recorded(self, work):
        """Number of launches; none if its own command cannot read its files."""
        done = subprocess.run(["uftrace", "report", "-d", self.traces(work) / "data"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        return sum(int(row.split()[-2]) for row in done.stdout.splitlines() if row.split()[-1:] == [LAUNCH])

    def lost(self, work):
        """Records that `replay` says are lost, two a call."""
        done = subprocess.run(["uftrace", "replay", "-d", self.traces(work) / "data"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
        return sum(map(int, re.findall(r"LOST (\d+) records", done.stdout))) // 2


class Lttng:
    """A session daemon of our own, in a folder of our own, without kernel tracing; a session for each run."""
    is_stuck = False  # the last session could not be ended

    def __init__(self, work):
        self.home, self.pid = work / "lttng", work / "lttng/pid"
        self.env = {"LTTNG_HOME": str(self.home), "PATH": os.environ["PATH"]}

    def __enter__(self):
        self.home.mkdir()
        self.start()
        return self

    def start(self):
        self.pid.unlink(missing_ok=True)
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--pidfile", self.pid], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(100):
            if self.pid.exists():
                return
            time.sleep(0.1)
        self.daemon.kill()
        sys.exit("bench: lttng-sessiond does not start (is another one running? stop it, or leave out --peers)")

    def __exit__(self, *_):
        self.daemon.terminate()
        try:
            self.daemon.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        """With its consumers, which are processes of their own."""
        os.killpg(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()

    def lttng(self, *words):
        return said(["lttng", "--no-sessiond", *words], env=self.env)

    def traces(self, work):
        return self.home / "traces"

    @contextlib.contextmanager
    def around(self, work):
        # The folder itself may be another disk.
        trace = self.traces(work) / "session"
        shutil.rmtree(trace, ignore_errors=True)
        self.lttng("create", "bench", f"--output={trace}")
        self.lttng("enable-channel", "--userspace", "--session=bench", "--subbuf-size=4M", "--num-subbuf=4", "bench")
        self.lttng("enable-event", "--userspace", "--session=bench", "--channel=bench", "hip:*")
        self.lttng("start", "bench")
        # The program waits for the daemon to register it, so that its first calls are recorded too.
        yield [], {"LTTNG_HOME": str(self.home), "LTTNG_UST_REGISTER_TIMEOUT": "-1"}
        # It may wait for what a killed thread has begun to write, or fail on a full disk. What it
        # has written can be read.
        try:
            ended = subprocess.run(["lttng", "--no-sessiond", "destroy", "bench"], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
            self.is_stuck = ended.returncode != 0
        except subprocess.TimeoutExpired:
            self.is_stuck = True
        if self.is_stuck:
            self.kill()
            self.start()

    def read(self, work):
        """The events as text, and what the reader says of those that are not there."""
        done = subprocess.run(["babeltrace2", self.traces(work) / "session"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        return done.stdout, done.stderr

    def recorded(self, work):
        """Launches that have both events."""
        text, _ = self.read(work)
        entries, exits = (len(re.findall(f"hip:launch_{side}:", text)) for side in ("entry", "exit"))
        return min(entries, exits)

    def lost(self, work):
        """Events that the trace says were discarded, two a call."""
        _, warnings = self.read(work)
        return sum(map(int, re.findall(r"discarded (\d+) events", warnings))) // 2
