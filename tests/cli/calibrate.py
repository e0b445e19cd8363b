#!/usr/bin/env python3
"""`tilescope calibrate` on a machine without a GPU: one line says what is missing and what to do, and no file is left."""

import os
import pathlib
import sys
import tempfile

from cases import Tally, run, skip_with_gpu


def check_missing(binary, tally, folder):
    kept = pathlib.Path(folder) / "kept.json"
    kept.write_text("before")
    for args in ("calibrate", "calibrate --json", "calibrate -o new.json", "calibrate -o kept.json --json"):
        r = run(binary, args, cwd=folder)
        tally.check(r.returncode == 1 and r.stdout == "" and r.stderr.count("\n") == 1,
                    f"`{args}`: exit {r.returncode}, {r.stdout!r}, {r.stderr!r}")
        tally.check(r.stderr.startswith("tilescope: calibrate: nothing was measured. "), f"`{args}`: {r.stderr!r}")
        tally.check(any(fix in r.stderr for fix in ("CUDA_HOME", "--gpus all", "nvidia-smi", "driver")),
                    f"`{args}` names no fix: {r.stderr!r}")
        tally.check(os.listdir(folder) == ["kept.json"] and kept.read_text() == "before",
                    f"`{args}` left {os.listdir(folder)}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    skip_with_gpu(binary)
    with tempfile.TemporaryDirectory() as folder:
        check_missing(binary, tally, folder)
    tally.close()


main()
