#!/usr/bin/env python3
"""Runs a share of a Catch2 program's tests in one process: share.py PROGRAM K OF SPEC runs the K-th of OF.

Under sanitizers, a program's start takes as long as many of its tests."""

import os
import re
import subprocess
import sys
import tempfile


def main():
    program, k, of, spec = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    # The exit code of the listing is the number of tests, so it is not checked.
    listed = subprocess.run([program, "--list-test-names-only", spec], capture_output=True, text=True).stdout
    names = [line for line in listed.splitlines() if line][k::of]
    if not names:
        sys.exit(f"{program}: lists no tests for share {k} of {of}: {listed}")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as chosen:
        chosen.write("".join(name.replace(",", "\\,") + "\n" for name in names))
        chosen.flush()
        run = subprocess.run([program, "--input-file", chosen.name], capture_output=True, text=True)
    print(run.stdout, run.stderr)
    done = re.search(r"test cases: +(\d+)|All tests passed \(.* in (\d+) test cases?\)", run.stdout)
    if run.returncode != 0:
        sys.exit(run.returncode)
    if not done or int(done[1] or done[2]) != len(names):
        sys.exit(f"{len(names)} tests were to run: " + "; ".join(names))


if __name__ == "__main__":
    main()
