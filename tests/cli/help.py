#!/usr/bin/env python3
"""--help works everywhere and names every flag. (Its layout comes from CLI11 and differs by version; docs/commands.py
runs its examples.)"""

import os
import sys

from cases import Tally, run

PROBLEM = ("--model --phase --batch --heads --kv-heads --seq --seq-q --seq-k --dim --dim-v --dtype --causal --scale --softmax --br --bc --splits "
           "--gpu --l2 --l2-bytes --sms --sram --hbm-bandwidth --mode --seed --json").split()
FILES = "--q --k --v --x".split()
FLAGS = {
    "list": ["--json"],
    "run": [*PROBLEM, *FILES, "--out"],
    "compare": [*PROBLEM, *FILES],
    "explain": [*PROBLEM, "--warps"],
    "sweep": [*PROBLEM, "--vary", "--output"],
    "step": [*(f for f in PROBLEM if f != "--mode"), *FILES, *"--from --to --at --sm --line --launch --block --table".split()],
    "trace": [*PROBLEM, *FILES, "--output", "--blocks", "--perfetto", "--detail"],
    "replay": ["--json"],
    "gpus": ["--json", "show"],
    "models": ["--json", "show"],
    "validate": [*(f for f in PROBLEM if f != "--mode"), *FILES,
                 *"--out --all-tiles --survey --part --repeat --counters --csv".split()],
    "measured": [*"--batch --heads --kv-heads --seq --seq-q --seq-k --dim --dim-v --dtype --br --bc --gpu --causal "
                 "--no-causal --kernel --algorithm --format --json".split()],
    "reconcile": [*(f for f in PROBLEM if f not in ("--mode", "--seed")), "--only", "--runs"],
    "calibrate": ["--output", "--json"],
    "doctor": ["--json"],
}


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    top = run(binary, "--help")
    for name, flags in FLAGS.items():
        tally.check(name in top.stdout, f"--help does not name {name}")
        r = run(binary, [name, "--help"])
        tally.check(r.returncode == 0 and r.stderr == "" and "Examples:" in r.stdout, f"{name} --help: {r.stderr}")
        for flag in [*flags, "--load"]:
            tally.check(flag in r.stdout.replace(",", " ").split(), f"{name} --help does not name {flag}")
    version = run(binary, "--version")
    tally.check(version.returncode == 0 and version.stdout.startswith("tilescope "), f"--version: {version.stdout}")
    tally.close()


main()
