#!/usr/bin/env python3
"""Compares what `tilescope` prints with approved files in tests/golden.

    golden.py BINARY              compare
    golden.py BINARY --approve    write what it prints now; look at the difference before committing it
"""

import difflib
import pathlib
import re
import sys

from cases import Tally, run

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"

# By name, so that an added algorithm changes no approved file; list.py has what shows all of them.
ATTENTION = "standard three_pass two_pass flash_v1 flash_v2 memory_efficient chunked"

TOY = "--gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 --br 4 --bc 4"

CASES = {
    "gpus": "gpus",
    "gpu_toy": "gpus show toy",
    "gpu_h100": "gpus show H100",
    "compare_count": f"compare {ATTENTION} --mode count",
    "compare_numeric": f"compare {ATTENTION} --seq 200 --heads 2 --kv-heads 1 --causal",
    "compare_softmax": "compare softmax_naive softmax_safe softmax_online --seq-q 100 --seq-k 25000 --mode count",
    "compare_toy": f"compare {ATTENTION} --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 --mode count",
    "run_flash_v1": "run flash_v1 --mode count",
    "run_flash_v2": "run flash_v2 --mode count --causal --seq-q 1000 --seq-k 1500",
    "run_flash_v2_json": "run flash_v2 --mode count --json",
    "run_numeric_json": "run chunked --seq 100 --heads 1 --json",
    "run_standard": "run standard --mode count",
    "run_standard_streams": "run standard --mode count --seq 100000 --heads 1",
    "run_naive": "run standard --softmax naive --scale 100 --seq 128 --heads 1 --dtype f32",
    "no_fit": "run flash_v2 --br 256 --bc 1024 --mode count",
    "explain_flash_v1": "explain flash_v1",
    "explain_flash_v2": "explain flash_v2",
    "explain_standard": "explain standard --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32",
    "explain_json": "explain memory_efficient --seq 256 --json",
    "sweep_csv": "sweep flash_v1 flash_v2 --vary seq=256:1024:x2 --vary bc=64,128 --br 64",
    "sweep_json": "sweep flash_v2 --vary sram=8,64 --br 64 --bc 64 --json",
    "step_blackboard": f"step flash_v2 {TOY} --table",
    "step_standard": f"step standard {TOY} --from 20 --to 34",
    "step_causal": f"step flash_v2 {TOY} --causal --block 1",
    "step_grouped": "step flash_v2 --gpu toy --seq 10 --dim 4 --heads 4 --kv-heads 2 --br 4 --bc 4 --sm 1 --line 9",
    "step_at": f"step flash_v2 {TOY} --at 24",
    "step_large": "step flash_v2 --seq 16384 --heads 64 --table --from 95 --to 110",
    "step_tiles": "step flash_v2 --seq 256 --heads 1 --br 64 --bc 64 --to 8",
    "step_json": "step flash_v2 --gpu toy --seq 4 --dim 2 --heads 1 --dtype f32 --br 2 --bc 2 --from 4 --to 6 --json",
    "step_no_fit": "step flash_v2 --br 256 --bc 1024 --launch 0 --block 0 --line 7",
    "trace_toy": "trace flash_v2 --gpu toy --seq 4 --dim 2 --heads 1 --dtype f32 --br 2 --bc 2 --mode count -o /dev/stdout",
}


def normalise(text):
    """Hides what depends on the machine: rounding errors, which vary with its vector instructions."""
    text = re.sub(r'("(?:max_abs|rms)(?:_error)?": )[0-9.e+-]+', r"\1<error>", text)
    text = re.sub(r"max [0-9.e+-]+, rms [0-9.e+-]+", "max <error>, rms <error>", text)
    # Contents of tiles, an element a line.
    text = re.sub(r"^( +)(-?\d+\.\d{7,}(e-\d+)?)(?=,?$)", lambda e: f"{e[1]}{float(e[2]):.5g}", text, flags=re.M)
    lines = []
    for line in text.splitlines():
        if re.match(r"\w+ +\d+ x \d+ ", line):
            line = re.sub(r" +[0-9.]+(e-\d+)?$", " <error>", line) if "<error>" not in line else line
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


def main():
    binary, approve = sys.argv[1], "--approve" in sys.argv[2:]
    tally = Tally()
    for name, args in CASES.items():
        result = run(binary, args)
        text = f"$ tilescope {args}\n" + normalise(result.stdout)
        if result.returncode or result.stderr:
            text += f"--- standard error, exit {result.returncode}\n" + normalise(result.stderr)
        file = GOLDEN / f"{name}.txt"
        if approve:
            file.write_text(text)
        approved = file.read_text() if file.exists() else ""
        difference = difflib.unified_diff(approved.splitlines(), text.splitlines(), "approved", "now", lineterm="", n=0)
        tally.check(approved == text, f"{name}: differs from {file}\n" + "\n".join(list(difference)[:20]))
    stray = {f.stem for f in GOLDEN.glob("*.txt")} - set(CASES)
    tally.check(not stray, f"golden files without a case: {sorted(stray)}")
    tally.close()


main()
