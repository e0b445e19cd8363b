#!/usr/bin/env python3
"""--help works everywhere, names every flag, and its examples run. (Its layout is CLI11's and differs by version.)"""

import os
import sys
import tempfile

from cases import Tally, run

PROBLEM = ("--batch --heads --kv-heads --seq --seq-q --seq-k --dim --dim-v --dtype --causal --scale --softmax --br --bc "
           "--gpu --sms --sram --hbm-bandwidth --mode --seed --json").split()
FILES = "--q --k --v --x".split()
FLAGS = {
    "list": ["--json"],
    "run": [*PROBLEM, *FILES, "--out"],
    "compare": [*PROBLEM, *FILES],
    "explain": PROBLEM,
    "sweep": [*PROBLEM, "--vary", "--output"],
    "step": [*(f for f in PROBLEM if f != "--mode"), *FILES, *"--from --to --at --sm --line --launch --block --table".split()],
    "trace": [*PROBLEM, *FILES, "--output", "--blocks"],
    "replay": [],
    "gpus": ["--json", "show"],
    "validate": [*(f for f in PROBLEM if f != "--mode"), *FILES,
                 *"--out --all-tiles --survey --part --repeat --counters --csv".split()],
}


def examples(text):
    return [line.split()[1:] for line in text.splitlines() if line.startswith("  tilescope ")]


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory() as folder:
        top = run(binary, "--help")
        for name, flags in FLAGS.items():
            tally.check(name in top.stdout, f"--help does not name {name}")
            r = run(binary, [name, "--help"])
            tally.check(r.returncode == 0 and r.stderr == "" and "Examples:" in r.stdout, f"{name} --help: {r.stderr}")
            for flag in flags:
                tally.check(flag in r.stdout.replace(",", " ").split(), f"{name} --help does not name {flag}")
            for args in examples(r.stdout):
                if any(a.endswith(".npy") or a == "my-gpu.json" for a in args):
                    continue  # needs files of the user's
                if "--counters" in args:
                    continue  # takes minutes where there is a GPU
                if "--mode" in flags and "--mode" not in args:
                    args += ["--mode", "count"]  # numbers take seconds, and far more under a sanitizer
                example = run(binary, args, cwd=folder)
                tally.check(example.returncode == 0, f"`{' '.join(args)}`: {example.stderr}")
        version = run(binary, "--version")
        tally.check(version.returncode == 0 and version.stdout.startswith("tilescope "), f"--version: {version.stdout}")
    tally.close()


main()
