"""The machine that the figures come from."""
import os, pathlib, platform, subprocess


def machine(loop):
    words = subprocess.run([loop, "clock"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    source = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "tsc_mhz": float(words[1]), "tsc_read_ns": float(words[2]),
            "clocksource": source.read_text().strip() if source.exists() else "unknown", "load": os.getloadavg()[0]}


def words(about):
    return (f"{about['cpu']}, {about['cpus']} CPUs, Linux {about['kernel']}, clock source {about['clocksource']}; "
            f"TSC at {about['tsc_mhz']:.0f} MHz, one read {about['tsc_read_ns']:.1f} ns; load when it began: {about['load']:.1f}")
