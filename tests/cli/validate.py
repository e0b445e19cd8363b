#!/usr/bin/env python3
"""`tilescope validate` on a machine without a GPU: it says what is missing, claims nothing, and succeeds."""

import json
import os
import sys
import tempfile

from cases import Tally, run


def check_missing(binary, tally, folder):
    r = run(binary, "validate", cwd=folder)
    tally.check(r.returncode == 0 and r.stderr == "", f"validate: exit {r.returncode}, {r.stderr!r}")
    tally.check(r.stdout.startswith("Nothing was validated. "), f"validate: {r.stdout[:200]!r}")
    tally.check(any(fix in r.stdout for fix in ("CUDA_HOME", "--gpus all", "nvidia-smi", "driver")),
                f"validate names no fix: {r.stdout[:400]!r}")
    tally.check("ship" in r.stdout, f"validate says nothing of shipped measurements: {r.stdout!r}")
    named = run(binary, "validate flash_v2 --counters --survey full --csv out.csv", cwd=folder)
    tally.check(named.returncode == 0 and "Nothing was validated" in named.stdout, f"with flags: {named.stderr!r}")
    tally.check(os.listdir(folder) == [], f"validate left {os.listdir(folder)}")


def check_json(binary, tally):
    r = run(binary, "validate --json")
    result = json.loads(r.stdout)
    tally.check(result["device"] is None and result["missing"] and result["fix"], f"--json: {r.stdout[:300]}")
    tally.check(isinstance(result["shipped"], list), "--json: no list of shipped measurements")


def check_hidden_flag(binary, tally):
    r = run(binary, "validate --launch-only")
    tally.check(r.returncode == 1 and r.stderr.count("\n") == 1, f"--launch-only: {r.returncode}, {r.stderr!r}")
    tally.check("--launch-only" not in run(binary, "validate --help").stdout, "--launch-only is not hidden")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    if json.loads(run(binary, "validate --json --survey quick --part 1/100").stdout)["device"]:
        print("SKIPPED: this machine has a GPU; the tests with the label gpu use it")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        check_missing(binary, tally, folder)
    check_json(binary, tally)
    check_hidden_flag(binary, tally)
    tally.close()


main()
