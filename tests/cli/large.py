#!/usr/bin/env python3
"""Problems of any size are counted, explained and shown at once: nothing walks over the grid or the keys."""

import os
import resource
import subprocess
import sys
import tempfile

from cases import Tally

SECONDS = 10  # of processor time; a walk over 2^40 of anything takes hours
MEMORY = 400e6  # bytes; a list over the grid would be terabytes

SIZES = [
    "--seq-q 1099511627776 --seq-k 16 --heads 1 --dim 4",
    "--seq-q 16 --seq-k 1099511627776 --heads 1 --dim 4",
    "--seq 16777216 --heads 1 --dim 1 --br 1 --bc 1 --causal",
    "--heads 1099511627776 --seq 16 --dim 4",
    "--batch 1073741824 --heads 16 --seq 16 --dim 4",
]
# A machine with room for nearly all of these. What does not fit is counted, but neither timed nor played.
ROOMY = '{"base": "H100", "name": "roomy", "hbm_bytes": 1125899906842624}'
ATTENTION = "standard three_pass two_pass flash_v1 flash_v2 memory_efficient chunked split_kv".split()
SOFTMAX = "softmax_naive softmax_safe softmax_online".split()


def frugal():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "roomy.json"), "w") as file:
            file.write(ROOMY)

        def check(args):
            drawn = "--perfetto" in args
            if args.startswith("trace"):
                args += " -o run.pftrace" if drawn else " -o trace.json --max-events 10000"
            words = [*args.split(), "--gpu", "roomy.json"]
            r = subprocess.run([binary, *words], cwd=folder, capture_output=True, text=True, preexec_fn=frugal)
            limit = "are too many to draw" if drawn else "limit of 10000 events: record fewer thread blocks"
            full = args.startswith("trace") and r.returncode == 1 and limit in r.stderr
            no_room = " standard " in args and "it is counted, but cannot run" in r.stderr
            tally.check(r.returncode == 0 or full or no_room, f"`{args}`: exit {r.returncode}, {r.stderr[:200]!r}")

        for size in SIZES:
            check(f"compare {' '.join(ATTENTION)} {size} --mode count")
            check(f"sweep {' '.join(ATTENTION)} --vary dtype=f16 --threads 1 {size}")
            for name in ATTENTION:
                check(f"explain {name} {size}")
                check(f"timeline {name} {size}")
                check(f"step {name} --block 0 {size}")
                check(f"trace {name} --blocks 0 {size}")
                check(f"trace {name} --perfetto {size}")
        for name in SOFTMAX:
            check(f"run {name} --mode count --seq-q 1099511627776 --seq-k 16 --heads 1")
            check(f"timeline {name} --seq-q 1099511627776 --seq-k 16 --heads 1")
            check(f"step {name} --block 0 --seq-q 1099511627776 --seq-k 16 --heads 1")
            check(f"trace {name} --blocks 0 --seq-q 1099511627776 --seq-k 16 --heads 1")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    tally.check(peak < MEMORY, f"{peak / 1e6:.0f} MB at most")
    tally.close()


main()
