#!/usr/bin/env python3
"""Numeric runs hold the tensors and a few tiles: nothing N x N, except in `standard`."""

import json
import resource
import subprocess
import sys

from cases import Tally

SPARE = 40e6  # the program itself, tiles and the reference's rows
PROBLEM = "--seq 4096 --heads 4 --dtype f32 --mode numeric --json".split()


def main():
    binary, tally = sys.argv[1], Tally()
    # Peaks of children only grow, so the leanest come first; N x N for all heads would be 268 MB.
    for name in ["flash_v2", "two_pass", "three_pass", "memory_efficient", "flash_v1", "chunked"]:
        r = subprocess.run([binary, "run", name, *PROBLEM], capture_output=True, text=True)
        footprint = json.loads(r.stdout)["hbm_footprint_bytes"]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        tally.check(peak < footprint + SPARE, f"{name}: peak {peak / 1e6:.0f} MB for {footprint / 1e6:.0f} MB of tensors")
    tally.close()


main()
