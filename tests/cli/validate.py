#!/usr/bin/env python3
"""`tilescope validate` on a machine without a GPU: it says what is missing, claims nothing, and succeeds."""

import json
import os
import sys
import tempfile

from cases import Tally, run, skip_with_gpu


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


def check_filters(binary, tally):
    """Shipped measurements are filtered by the flags given."""
    everything = [c for f in json.loads(run(binary, "validate --json").stdout)["shipped"] for c in f["cases"]]
    columns = {"--seq 4096": ("seq_q", 4096), "--dim 128": ("dim", 128), "--dtype f16": ("dtype", "f16"),
               "--causal": ("causal", 1), "--heads 16": ("heads", 16)}
    for flags in ("--seq 4096", "--dim 128 --causal", "--dtype f16 --dim 128", "--heads 16 --seq 4096 --dim 128"):
        wanted = [pair for flag, pair in columns.items() if flag in flags]
        want = [c for c in everything if c["algorithm"] == "flash_v2" and all(c[k] == v for k, v in wanted)
                and ("--seq" not in flags or c["seq_k"] == 4096)]
        shown = json.loads(run(binary, f"validate flash_v2 {flags} --all-tiles --json").stdout)["shipped"]
        tally.check([c for f in shown for c in f["cases"]] == want and want, f"{flags}: other cases than asked for")
        first = json.loads(run(binary, f"validate flash_v2 {flags} --json").stdout)["shipped"]
        tally.check(0 < sum(len(f["cases"]) for f in first) <= len(want), f"{flags}: without --all-tiles")
    tiles = run(binary, "validate flash_v2 --br 128 --bc 64 --dtype f32").stdout
    tally.check("128 x 64" in tiles and "64 x 64" not in tiles, f"--br --bc: {tiles}")
    plain, counters = run(binary, "validate flash_v2").stdout, run(binary, "validate flash_v2 --counters").stdout
    tally.check("warm" in plain and "µs" in plain and "DRAM" not in plain, f"times: {plain}")
    tally.check("DRAM" in counters and "warm" not in counters, f"--counters: {counters}")
    nothing = run(binary, "validate flash_v2 --seq 1001 --causal")
    tally.check(nothing.returncode == 0 and "Nothing that ships was measured with --causal --seq 1001" in nothing.stdout,
                f"nothing matches: {nothing.stdout}")
    for text in (plain, counters, nothing.stdout, run(binary, "validate").stdout):
        tally.check(max(map(len, text.splitlines())) <= 120, f"more than 120 columns: {text}")


def check_hidden_flag(binary, tally):
    r = run(binary, "validate --launch-only")
    tally.check(r.returncode == 1 and r.stderr.count("\n") == 1, f"--launch-only: {r.returncode}, {r.stderr!r}")
    tally.check("--launch-only" not in run(binary, "validate --help").stdout, "--launch-only is not hidden")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    skip_with_gpu(binary)
    with tempfile.TemporaryDirectory() as folder:
        check_missing(binary, tally, folder)
    check_json(binary, tally)
    check_filters(binary, tally)
    check_hidden_flag(binary, tally)
    tally.close()


main()
