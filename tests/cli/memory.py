#!/usr/bin/env python3
"""Memory. Numeric runs hold the tensors and a few tiles, and nothing N x N except in `standard`. Where a limit of the
process makes memory run out, every command ends with a message and exit code 1, and leaves no file.

usage: memory.py TILESCOPE [TILESCOPE-GUI] [--step KIB]

The limits begin where the program can just start. By default each is a fifth above the one before; --step 256 tests
every 256 KiB. The window is tested up to the point where it opens a display: from there on GLFW, Mesa and the X server
run, which end the process in their own ways."""

import argparse
import json
import os
import pwd
import resource
import subprocess
import sys
import tempfile

from cases import Tally

SPARE = 40e6  # the program itself, tiles and the reference's rows
PROBLEM = "--seq 4096 --heads 4 --dtype f32 --mode numeric --json".split()
MOST = 400 << 20  # the largest limit: more than any of the commands needs

COMMANDS = [
    "run softmax_safe --seq-q 64 --seq-k 60000 --heads 1 --mode numeric --threads 4",
    "run flash_v2 --seq 512 --heads 2 --mode numeric --threads 3 --out o.npy",
    "compare --seq 128 --heads 2 --mode numeric --json",
    "compare --causal",
    "sweep flash_v2 standard --vary seq=64:128:x2 --mode numeric -o sweep.csv",
    "trace flash_v2 --seq 256 --heads 2 --br 16 --bc 16 --mode count -o trace.json",
    "trace flash_v1 --seq 64 --heads 1 --br 16 --bc 16 --mode numeric -o trace.json",
    "trace flash_v2 --seq 4096 --heads 16 --perfetto -o run.pftrace",
    "step flash_v2 --seq 256 --heads 1 --br 64 --bc 64 --at 20",
    "explain flash_v1 --json",
    "timeline flash_v2 --seq 8192 --heads 16",
    "replay recording.json",
    "gpus show A100-40GB",
]
WINDOW = ["flash_v2 --seq 256 --screenshot a.png", "recording.json --screenshot a.png"]


def check_peaks(binary, tally):
    # Peaks of children only grow, so the leanest come first. N x N for all heads would be 268 MB.
    for name in ["flash_v2", "two_pass", "three_pass", "memory_efficient", "flash_v1", "chunked"]:
        r = subprocess.run([binary, "run", name, *PROBLEM], capture_output=True, text=True)
        footprint = json.loads(r.stdout)["hbm_footprint_bytes"]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        tally.check(peak < footprint + SPARE, f"{name}: peak {peak / 1e6:.0f} MB for {footprint / 1e6:.0f} MB of tensors")


def limited(binary, args, folder, limit, **more):
    set_limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run([binary, *args.split()], cwd=folder, preexec_fn=set_limit, capture_output=True, text=True,
                          timeout=120, **more)


def least(binary, folder):
    """The smallest limit, to 64 KiB, at which the program can print its version."""
    low, high = 0, MOST
    while high - low > 1 << 16:
        middle = (low + high) // 2
        low, high = (low, middle) if limited(binary, "--version", folder, middle).returncode == 0 else (middle, high)
    return high


def scan(binary, commands, step, tally, ends, **more):
    """Runs every command at growing limits, up to the first at which ends() says that the command did its work."""
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "recording.json")
        words = "trace flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 -o".split()
        subprocess.run([TILESCOPE, *words, recording], check=True, capture_output=True)
        first = least(binary, folder)
        for args in commands:
            limit, runs = first, 0
            while limit < MOST:
                r = limited(binary, args, folder, limit, **more)
                runs += 1
                at = f"`{args}` at {limit >> 10} KiB"
                tally.check(r.returncode in (0, 1), f"{at}: exit {r.returncode}, {r.stderr[-300:]!r}")
                left = set(os.listdir(folder)) - {"recording.json"}
                if ends(r):
                    break
                said = r.stderr.strip()
                tally.check("\n" not in said and said.startswith("tilescope") and
                            ("memory" in said or "reached its limit" in said), f"{at}: {said!r}")
                tally.check(not left, f"{at}: left {left}")
                limit += step or limit // 5
            else:
                tally.check(False, f"`{args}`: {MOST} bytes are not enough, {r.stderr!r}")
            for name in set(os.listdir(folder)) - {"recording.json"}:
                os.remove(os.path.join(folder, name))
            if step:
                print(f"{args}: {runs} limits, enough at {limit >> 10} KiB")


def check_threads(binary, tally):
    """More threads than the system allows: the threads that there are do the work. (root has no limit: run as
    nobody.)"""
    nobody = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None

    def few_processes():
        if nobody:
            os.setgid(nobody)
            os.setuid(nobody)
        resource.setrlimit(resource.RLIMIT_NPROC, (4, 4))

    try:
        can = subprocess.run([binary, "--version"], preexec_fn=few_processes, capture_output=True).returncode == 0
    except (OSError, subprocess.SubprocessError):
        can = False
    for args in ["run flash_v2", "compare flash_v1 flash_v2", "sweep flash_v1 --vary seq=128,256"] if can else []:
        words = f"{args} --seq 256 --heads 8 --mode numeric".split()
        few = subprocess.run([binary, *words, "--threads", "1000"], preexec_fn=few_processes, capture_output=True)
        one = subprocess.run([binary, *words, "--threads", "1"], capture_output=True)
        tally.check(few.returncode == 0 and few.stdout == one.stdout, f"`{args}` with 1000 threads: {few.stderr!r}")


parser = argparse.ArgumentParser()
parser.add_argument("binary", type=os.path.abspath)
parser.add_argument("window", nargs="?", type=os.path.abspath)
parser.add_argument("--step", type=int, default=0)
options = parser.parse_args()
TILESCOPE = options.binary
counted = Tally()
check_peaks(TILESCOPE, counted)
scan(TILESCOPE, COMMANDS, options.step << 10, counted, lambda r: r.returncode == 0)
if options.window:
    no_display = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    scan(options.window, WINDOW, options.step << 10, counted, lambda r: "display" in r.stderr,
         env={**no_display, "TILESCOPE_INSIDE_XVFB": "1"})
check_threads(TILESCOPE, counted)
counted.close()
