#!/usr/bin/env python3
"""Bad requests: each ends with one clear line, the right exit code, and nothing half-written."""

import os
import pathlib
import sys
import tempfile

from cases import Tally, run

# Arguments, exit code, what the message must contain.
REQUESTS = [
    ("", 2, "subcommand"),
    ("run", 2, "ALGO"),
    ("run flash_v9", 2, "did you mean flash_v1"),
    ("compare flash_v2 softmax_safe", 2, "one computation at a time"),
    ("run flash_v2 --frobnicate", 2, "--frobnicate"),
    ("run flash_v2 --seq 0", 2, "--seq 0"),
    ("run flash_v2 --seq -4", 2, "--seq -4"),
    ("run flash_v2 --seq 1.5", 2, "whole number"),
    ("run flash_v2 --seq", 2, "--seq"),
    ("run flash_v2 --seq 1152921504606846976", 2, "2^40"),
    ("run flash_v2 --seq 99999999999999999999999", 2, "too large"),
    ("run flash_v2 --seq 1099511627776", 2, "2^56"),
    ("run flash_v2 --batch 0", 2, "--batch 0"),
    ("run flash_v2 --heads 6 --kv-heads 4", 2, "--kv-heads 4"),
    ("run flash_v2 --kv-heads 16", 2, "--kv-heads 16"),
    ("run flash_v2 --dim 0", 2, "--dim 0"),
    ("run flash_v2 --dtype f8", 2, "--dtype f8"),
    ("run flash_v2 --scale nan", 2, "--scale"),
    ("run flash_v2 --scale x", 2, "--scale x"),
    ("run flash_v2 --softmax odd", 2, "--softmax odd"),
    ("run flash_v2 --softmax naive", 2, "standard does"),
    ("compare flash_v2 standard --softmax naive", 2, "--softmax naive: flash_v2"),
    ("run flash_v2 --br 0", 2, "--br 0"),
    ("run flash_v2 --bc many", 2, "--bc many"),
    ("run flash_v2 --br 99999999999", 2, "--br"),
    ("run flash_v2 --br 256 --bc 1024", 1, "this fits: --br"),
    ("run flash_v2 --gpu toy --dim 4096", 1, "no tiling fits"),
    ("run flash_v2 --gpu nope", 2, "presets are"),
    ("run flash_v2 --gpu missing.json", 2, "missing.json"),
    ("run flash_v2 --sms 0", 2, "--sms 0"),
    ("run flash_v2 --sram 0", 2, "--sram 0"),
    ("run flash_v2 --sram 0.5", 2, "reserves"),
    ("run flash_v2 --hbm-bandwidth -1", 2, "--hbm-bandwidth -1"),
    ("run flash_v2 --mode fast", 2, "--mode fast"),
    ("run standard --mode numeric --seq 262144", 1, "--mode count"),
    ("run flash_v2 --mode count --out o.npy", 2, "--mode count"),
    ("run flash_v2 --distribution odd", 2, "--distribution odd"),
    ("run softmax_safe --causal", 2, "--causal"),
    ("run softmax_safe --scale 2", 2, "--scale"),
    ("run softmax_safe --q q.npy", 2, "--x"),
    ("run flash_v2 --x x.npy", 2, "--q --k --v"),
    ("run flash_v2 --q q.npy", 2, "--k"),
    ("sweep flash_v2", 2, "--vary"),
    ("sweep flash_v2 --vary seq", 2, "KEY=VALUES"),
    ("sweep flash_v2 --vary colour=1", 2, "colour"),
    ("sweep flash_v2 --vary seq=8:4:x2", 2, "ends before"),
    ("sweep flash_v2 --vary seq=4:8:x1", 2, "factor"),
    ("sweep flash_v2 --vary seq=4:8:2", 2, "FACTOR"),
    ("sweep flash_v2 --vary seq=4,,8", 2, "empty"),
    ("sweep flash_v2 --vary seq=1:90000:+1 --vary br=1:64:+1", 2, "1000000"),
    ("sweep flash_v2 --vary seq=64,0", 2, "--seq 0"),
    ("sweep flash_v2 --vary seq=64 -o /nowhere/x.csv", 1, "/nowhere/x.csv"),
    ("trace flash_v2", 2, "--output"),
    ("trace flash_v2 -o /nowhere/x.json", 1, "/nowhere/x.json"),
    ("trace flash_v2 --blocks -1 -o x.json", 2, "--blocks -1"),
    ("trace flash_v2 --blocks 128 -o x.json", 2, "0 to 127"),
    ("trace flash_v2 --seq 4096 --br 16 --bc 16 --max-events 10 -o x.json", 1, "10"),
    ("trace flash_v2 --br 1024 --bc 1024 -o x.json", 1, "does not fit"),
    ("replay", 2, "FILE"),
    ("replay /nowhere.json", 2, "/nowhere.json: cannot be read"),
    ("replay /dev/null", 2, "/dev/null: ends in the middle"),
    ("gpus show nope", 2, "nope"),
    ("explain nothing", 2, "did you mean"),
    ("validate flash_v9", 2, "did you mean flash_v1"),
    ("validate flash_v2 --dim 48", 2, "f32 d=64:"),
    ("validate flash_v2 --br 16", 2, "--br 16"),
    ("validate flash_v1 --dtype f16", 2, "flash_v1 has no such kernel"),
    ("validate --dtype f8", 2, "--dtype f8"),
    ("validate --seq 0", 2, "--seq 0"),
    ("validate softmax_safe --causal", 2, "--causal"),
    ("validate --survey huge", 2, "quick or full"),
    ("validate --survey quick --seq 64", 2, "--seq: --survey"),
    ("validate --survey quick --all-tiles", 2, "--all-tiles: --survey"),
    ("validate --part 3", 2, "K/N"),
    ("validate --part 3/2", 2, "--part 3/2"),
    ("validate --repeat 0", 2, "--repeat 0"),
    ("validate --distribution odd", 2, "--distribution odd"),
    ("validate --mode count", 2, "--mode"),
    ("validate --out o.npy", 2, "exactly one ALGO"),
    ("validate flash_v2 --all-tiles --out o.npy", 2, "--br and --bc"),
    ("validate flash_v2 --q q.npy", 2, "--k"),
    ("validate --gpu nope", 2, "presets are"),
]

GPU_FILES = {
    "empty": "",
    "truncated": '{"name": "x", "sms": 1',
    "not an object": "[1, 2]",
    "unknown key": '{"base": "A100-40GB", "smss": 4}',
    "wrong type": '{"base": "A100-40GB", "sms": "many"}',
    "negative": '{"base": "A100-40GB", "sms": -4}',
    "huge": '{"base": "A100-40GB", "sms": 1e300}',
    "deep": "[" * 200000,
    "incomplete": '{"name": "x", "sms": 4}',
    "binary": "\x00\x01\x02",
}


def one_line(text):
    return text.count("\n") == 1


def check_requests(binary, tally, folder):
    for args, code, part in REQUESTS:
        r = run(binary, args, cwd=folder)
        tally.check(r.returncode == code and part in r.stderr and r.stdout == "",
                    f"`{args}`: exit {r.returncode} (want {code}), stdout {r.stdout[:60]!r}, stderr {r.stderr!r}")
        # A tiling that does not fit explains itself at length; everything else is one line.
        tally.check(one_line(r.stderr) or "fit" in r.stderr, f"`{args}`: not one line: {r.stderr!r}")
        tally.check(os.listdir(folder) == [], f"`{args}`: left {os.listdir(folder)}")


def check_gpu_files(binary, tally, folder):
    path = folder / "gpu.json"
    for name, text in GPU_FILES.items():
        path.write_text(text)
        r = run(binary, ["run", "flash_v2", "--mode", "count", "--gpu", str(path)])
        tally.check(r.returncode == 2 and one_line(r.stderr) and "gpu.json" in r.stderr,
                    f"GPU file {name}: exit {r.returncode}, {r.stderr[:200]!r}")
    path.write_text('{"base": "A100-40GB", "name": "mine", "sms": 7}')
    r = run(binary, ["run", "flash_v2", "--mode", "count", "--gpu", str(path)])
    tally.check(r.returncode == 0 and " 7 SMs" in r.stdout, f"a good GPU file: {r.stderr}")


def check_full_disk(binary, tally):
    """/dev/full accepts no byte: the error must be told, not swallowed."""
    for args in ["trace flash_v2 --seq 64 -o /dev/full", "sweep flash_v2 --vary seq=64:128:x2 -o /dev/full"]:
        r = run(binary, args)
        tally.check(r.returncode == 1 and one_line(r.stderr), f"`{args}`: exit {r.returncode}, {r.stderr!r}")
    with open("/dev/full", "w") as full:
        import subprocess

        r = subprocess.run([binary, "compare", "--mode", "count"], stdout=full, stderr=subprocess.PIPE, text=True)
        tally.check(r.returncode == 1 and one_line(r.stderr), f"compare > /dev/full: {r.returncode}, {r.stderr!r}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory() as folder:
        check_requests(binary, tally, folder)
    with tempfile.TemporaryDirectory() as folder:
        check_gpu_files(binary, tally, pathlib.Path(folder))
    check_full_disk(binary, tally)
    tally.close()


main()
