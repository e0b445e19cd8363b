#!/usr/bin/env python3
"""Measures how long a newcomer and a developer wait, for several commits in turn, on an otherwise idle machine.

    build_times.py COMMIT... [--rounds N] [--table | --tests]

Each round clones every commit into an empty folder and runs scripts/demo there without a compiler cache. Measured are
seconds and processor seconds until the table is printed, and until the window is built. --table stops after the table.
--tests also runs scripts/test twice and takes the time that ctest reports the second time, when nothing is left to
build. Prints every run, then medians and their ratios to the first commit's.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
AFTER_TABLE = "What to try next"
ENVIRONMENT = {**os.environ, "CCACHE_DISABLE": "1"}


def processor_seconds(pid):
    """Processor seconds of the process's children that have ended, and of their children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def demo(folder, table_alone):
    """Seconds until the table and until the end: by the clock, and of processors."""
    began, seen, said = time.monotonic(), {}, ""
    with subprocess.Popen(["scripts/demo"], cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as child:
        for line in child.stdout:
            said += line
            if AFTER_TABLE in line:
                seen["table"] = time.monotonic() - began
                seen["table, processor"] = processor_seconds(child.pid)
                if table_alone:
                    os.killpg(child.pid, signal.SIGTERM)
                    return seen
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        seen["window"] = time.monotonic() - began
        seen["window, processor"] = processor_seconds(child.pid)
    if child.returncode or "table" not in seen or not (folder / "build" / "tilescope-gui").exists():
        sys.exit(f"{said}\nbuild_times.py: scripts/demo ends with {child.returncode} in {folder}")
    return seen


def tests(folder):
    for _ in range(2):
        done = subprocess.run(["scripts/test"], cwd=folder, env=ENVIRONMENT, text=True, capture_output=True)
    seconds = re.findall(r"Total Test time \(real\) = +([\d.]+) sec", done.stdout)
    if done.returncode or not seconds:
        sys.exit(f"{done.stdout[-3000:]}\nbuild_times.py: scripts/test ends with {done.returncode} in {folder}")
    return {"tests": float(seconds[-1])}


def measured(commit, table_alone, with_tests):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="build-times-"))
    try:
        subprocess.run(["git", "clone", "--quiet", SOURCE, folder / "tilescope"], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder / "tilescope", check=True)
        seen = demo(folder / "tilescope", table_alone)
        return seen | tests(folder / "tilescope") if with_tests else seen
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="+", metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=3)
    until = parser.add_mutually_exclusive_group()
    until.add_argument("--table", action="store_true")
    until.add_argument("--tests", action="store_true")
    options = parser.parse_args()
    named = [subprocess.run(["git", "rev-parse", "--short", c], cwd=SOURCE, check=True, capture_output=True,
                            text=True).stdout.strip() for c in options.commits]
    runs = {commit: [] for commit in named}
    for n in range(options.rounds):
        for commit in named:
            runs[commit].append(measured(commit, options.table, options.tests))
            print(f"round {n + 1}, {commit}:",
                  ", ".join(f"{key} {value:.0f} s" for key, value in runs[commit][-1].items()), flush=True)
    print(f"\n| median of {options.rounds} |", " | ".join(named), "|")
    print("|---|" + "---|" * len(named))
    for key in runs[named[0]][0]:
        medians = [statistics.median(run[key] for run in runs[commit]) for commit in named]
        cells = [f"{m:.0f}" + (f" ({m / medians[0]:.2f} x)" if k else "") for k, m in enumerate(medians)]
        print(f"| {key}, s |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
