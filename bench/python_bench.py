#!/usr/bin/env python3
"""Measures the speed of the module: counted points of a study, and a tile program in Python beside the same in C++.

    PYTHONPATH=build/python python3 bench/python_bench.py

docs/performance.md says what the numbers should be and records what they were.
"""

import pathlib
import sys
import time

import tilescope

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python" / "examples"))
from my_flash import my_flash  # noqa: E402


def best(f, clock=time.perf_counter, times=5):
    """The shortest of several times, in seconds: in the others the machine was shared."""
    took = []
    for _ in range(times):
        began = clock()
        f()
        took.append(clock() - began)
    return min(took)


def main():
    for threads in (1, 0):
        points = 10_000
        vary = {"seq": range(1000, 1000 + points)}
        seconds = best(lambda: tilescope.study("flash_v2", vary, time=False, threads=threads, causal=True).records())
        print(f"counted points, {threads or 'all'} threads: {points / seconds:,.0f} a second, with their records")
    seconds = best(lambda: tilescope.study("flash_v2", {"seq": range(1000, 1200)}, causal=True))
    print(f"points with times: {200 / seconds:,.0f} a second")
    seconds = best(lambda: [tilescope.count("flash_v2", seq=1024 + k) for k in range(500)])
    print(f"count(), one call a point: {500 / seconds:,.0f} a second")
    shape = dict(heads=8, seq=2048, br=64, bc=64, threads=1)
    # Processor time, because a long run on a busy machine waits more often than a short one.
    native, own = (best(lambda: tilescope.verify(a, **shape), time.process_time) for a in ("flash_v2", my_flash))
    print(f"exact, 8 heads of 2048, processor time: C++ {native * 1e3:.1f} ms, Python {own * 1e3:.0f} ms, {own / native:.0f} times as long")


if __name__ == "__main__":
    main()
