"""Runs the queries of samples/sql on a Spark cluster of this machine and on DuckDB, and compares the rows.

Arguments: the dataset, the number of workers, `kill` or `keep`, the queries' files. Each worker is a process with one core; with
`kill` the first one and its executor are killed while the queries run, and started again. SPARK_HOME, PYTHONPATH and ROCSHIM_COMMAND
are set by scripts/cluster.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TABLES = ["launches", "gemms", "convolutions", "collectives", "phases", "ranks"]
HOST = "127.0.0.1"


def free_port():
    with socket.socket() as port:
        port.bind((HOST, 0))
        return port.getsockname()[1]


class Cluster:
    """A master and its workers, each a process group of its own."""

    def __init__(self, workers, scratch):
        self.scratch, self.port = scratch, free_port()
        self.url = f"spark://{HOST}:{self.port}"
        master = ["master.Master", "--host", HOST, "--port", str(self.port), "--webui-port", str(free_port())]
        self.master = self.start(master, "master")
        self.wait_for("master", "I have been elected leader")
        self.workers = [self.worker(number) for number in range(workers)]
        for number in range(workers):
            self.wait_for(f"worker-{number}", "Successfully registered")

    def worker(self, number):
        words = ["worker.Worker", "--host", HOST, "--cores", "1", "--memory", "1g", "--webui-port", str(free_port()),
                 "--work-dir", str(self.scratch / f"work-{number}"), self.url]
        return self.start(words, f"worker-{number}")

    def start(self, words, name):
        words = [f"{os.environ['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{words[0]}", *words[1:]]
        log = open(self.scratch / f"{name}.log", "w")
        return subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)

    def wait_for(self, name, text):
        for _ in range(600):
            if text in (self.scratch / f"{name}.log").read_text():
                return
            time.sleep(0.1)
        raise SystemExit(f"cluster: the {name} did not start:\n" + (self.scratch / f"{name}.log").read_text()[-2000:])

    def kill(self, number):
        """Kills a worker with its executors."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def stop(self):
        for process in [*self.workers, self.master]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def session(cluster, dataset):
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master(cluster.url).appName("rocshim")
             .config("spark.driver.host", HOST).config("spark.driver.bindAddress", HOST).config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "4")
             .config("spark.sql.session.timeZone", "UTC").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    for table in TABLES:
        # The columns run, host and rank are in the files: folders need not be looked at for them.
        spark.read.option("recursiveFileLookup", "true").parquet(str(dataset / table)).createOrReplaceTempView(table)
    return spark


def on_duckdb(dataset, query):
    done = subprocess.run([os.environ["ROCSHIM_COMMAND"], "sql", "--json", dataset, query], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"cluster: {done.stderr}")
    return json.loads(done.stdout)


def main():
    dataset, workers, is_killed, queries = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "kill", sys.argv[4:]
    different = 0
    with tempfile.TemporaryDirectory(prefix="rocshim-cluster-") as scratch:
        cluster = Cluster(workers, pathlib.Path(scratch))
        try:
            begun = time.perf_counter()
            spark = session(cluster, dataset)
            print(f"{workers} workers, session after {time.perf_counter() - begun:.1f} s", flush=True)
            for at, query in enumerate(queries):
                if is_killed and at == 0:
                    # In the middle of the first query: its tasks are started again elsewhere.
                    threading.Timer(1.0, lambda: cluster.kill(0)).start()
                begun = time.perf_counter()
                rows = [row.asDict() for row in spark.sql(pathlib.Path(query).read_text()).collect()]
                took = time.perf_counter() - begun
                if is_killed and at == 0:
                    cluster.workers[0].wait()
                    cluster.workers[0] = cluster.worker(0)
                # Decimals are integers of another width.
                rows = json.loads(json.dumps(rows, default=int))
                is_equal = rows == on_duckdb(dataset, query)
                different += not is_equal
                verdict = "equal" if is_equal else "DIFFERENT"
                print(f"{pathlib.Path(query).name}: {len(rows)} rows, {verdict} to DuckDB's, {took:.1f} s", flush=True)
            spark.stop()
        finally:
            cluster.stop()
    raise SystemExit(1 if different else 0)


main()
