"""Shared by the scripts in this folder: running `tilescope`, and ending with a count that a test runner understands."""

import json
import subprocess
import sys


def run(binary, args, **more):
    """Runs the binary; returns the finished process with its output as text."""
    args = args.split() if isinstance(args, str) else args
    return subprocess.run([binary, *args], capture_output=True, text=True, timeout=400, **more)


def skip_with_gpu(binary):
    """Ends a script about machines without a GPU when the machine has one."""
    if json.loads(run(binary, "validate --json --survey quick --part 1/100").stdout)["device"]:
        print("SKIPPED: this machine has a GPU; the tests with the label gpu use it")
        sys.exit(77)


class Tally:
    """Counts checks and prints the failed ones."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, ok, message):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print("FAILED:", message)

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0 or self.passed == 0)
