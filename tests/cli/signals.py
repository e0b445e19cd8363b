#!/usr/bin/env python3
"""Ctrl-C ends long work soon, with exit code 130 and without leaving a file behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time

from cases import Tally

# Each runs for far longer than the test waits.
LONG = [
    "run flash_v2 --seq 65536 --mode numeric",
    "run flash_v1 --seq 32768 --heads 1 --mode numeric",
    "explain flash_v2 --seq 65536 --mode numeric",
    "sweep flash_v2 --vary seq=1000:90000:+1 --vary dim=32,40,48,64,80,96,112,128 --causal -o sweep.csv",
    "trace flash_v2 --seq 16384 --br 16 --bc 16 --max-events 2000000000 --mode numeric -o trace.json",
]


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    for args in LONG:
        with tempfile.TemporaryDirectory() as folder:
            p = subprocess.Popen([binary, *args.split()], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
            time.sleep(0.7)
            tally.check(p.poll() is None, f"`{args}` ended by itself: {p.poll()}")
            p.send_signal(signal.SIGINT)
            start = time.time()
            try:
                out, err = p.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                p.kill()
                out, err = p.communicate()
            tally.check(p.returncode == 130 and "interrupted" in err, f"`{args}`: exit {p.returncode}, {err!r}")
            tally.check(os.listdir(folder) == [], f"`{args}` left {os.listdir(folder)}")
    tally.close()


main()
