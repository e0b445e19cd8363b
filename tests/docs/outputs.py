#!/usr/bin/env python3
"""docs/outputs.md names every column and key that `tilescope` prints and no other; docs/gpus.md names every field of a
GPU.

    outputs.py BINARY SOURCE_DIR
"""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MINE = "SOURCE/examples/own-algorithm/mine.cpp"
SMALL = "--seq 64 --heads 1"
# Flags that bring keys with them.
MASKS = "--window-left 40 --window-right 40 --documents 4+4 --block-mask butterfly --mask-block 2"
SCORES = "--bias qk --alibi --soft-cap 20 --dropout 0.1"
TYPED = "--seq-q 4 --causal --causal-corner top-left --scores f32 --weights f16"
PASSES = f"{SMALL} --passes typed"
EVERY = f"flash_v2 --seq 8 --heads 1 {MASKS} {SCORES}"
EIGHT_BITS = "--q-dtype f16 --kv-dtype e4m3 --rotate --p-scale 256 --stale-max 4"
SUMS = "--dtype e4m3 --accumulator f32 --seq-k 4 --causal --hidden-rows mean"
TOY = "--gpu toy --seq 8 --dim 4 --br 4 --bc 4"

CACHE = tempfile.TemporaryDirectory()  # for compiled algorithms

# Section of the page: commands that together print all its keys.
COMMANDS = {
    "Rows": [f"sweep flash_v2 {SMALL} --json"],
    "run": [f"run flash_v3 {SMALL} --like fa3-2025 --json", f"run standard {SMALL} {TYPED} --json", f"run standard {PASSES} --json", f"run flash_v2 {SMALL} {EIGHT_BITS} --json", f"run flash_v3 {SMALL} {SUMS} --json", f"run split_kv {SMALL} --json", "run flash_v2 --seq 1048576 --json",
            f"run {EVERY} --json", f"run flash_v2_backward {SMALL} --with forward --json",
            f"run {MINE} --seq 262144 --heads 4 --json"],
    "compare": [f"compare flash_v3 {SMALL} --like fa3-2025 --json", f"compare split_kv {SMALL} --json", f"compare standard {SMALL} {TYPED} --json", f"compare standard {PASSES} --json", f"compare flash_v2 {SMALL} {EIGHT_BITS} --json", f"compare flash_v3 {SMALL} {SUMS} --json", f"compare standard flash_v2:seq=4096,br=4096,bc=4096 {SMALL} --json",
                "compare flash_v2 --seq 262144 --heads 4 --json", "compare flash_v2 --seq 262144 --heads 4 --alibi --json",
                f"compare {EVERY} --json",
                "compare flash_v2 --mode count --json", f"compare flash_v2_backward {SMALL} --with forward --json"],
    "explain": [f"explain standard {SMALL} {TYPED} --json", f"explain standard {PASSES} --json", f"explain flash_v2 {SMALL} {EIGHT_BITS} --json", f"explain flash_v3 {SMALL} {SUMS} --json", f"explain split_kv {SMALL} --json", f"explain {EVERY} --json",
                f"explain flash_v2 {SMALL} --json", f"explain flash_v1_backward {SMALL} --json",
                f"explain flash_v3 {SMALL} --like fa3-2025 --json"],
    "timeline": [f"timeline flash_v3 {SMALL} --like fa3-2025 --json", f"timeline standard {SMALL} {TYPED} --json", f"timeline standard {PASSES} --json", f"timeline flash_v2 {SMALL} {EIGHT_BITS} --json", f"timeline flash_v3 {SMALL} {SUMS} --json", f"timeline split_kv {SMALL} --json", "timeline flash_v2 --seq 1048576 --json",
                 "timeline flash_v2 flash_v1 --json", f"timeline {EVERY} --json",
                 f"timeline split_kv {SMALL} --page-size 16 --json"],
    "step": [f"step flash_v3 {SMALL} --like fa3-2025 --to 3 --json", "step flash_v3 --seq 256 --heads 1 --br 128 --bc 128 --to 14 --json",
             f"step standard {SMALL} {TYPED} --to 3 --json", f"step standard {PASSES} --to 3 --json", f"step flash_v2 {SMALL} {EIGHT_BITS} --to 3 --json", f"step flash_v3 {SMALL} {SUMS} --to 3 --json", f"step split_kv {SMALL} --to 3 --json", f"step {EVERY} --to 3 --json"],
    "timeline --lanes": ["timeline flash_v3 --dim 128 --lanes --json", "timeline flash_v3:turns=off flash_v3 --lanes --json"],
    "advise": ["advise flash_v2 --seq 512 --heads 2 --json"],
    "plot": ["plot tiles --vary br=64,128 --vary bc=64,128 --heads 1 --seq 512 --json"],
    "trace": [f"trace flash_v3 {TOY} --like fa3-2025 -o /dev/stdout", f"trace flash_v1 {TOY} -o /dev/stdout", f"trace split_kv {TOY} -o /dev/stdout",
              f"trace standard {TOY} --dtype f16 --heads 2 --kv-heads 1 {TYPED} -o /dev/stdout",
              f"trace standard {TOY} --passes typed -o /dev/stdout", f"trace flash_v2 {TOY} {EIGHT_BITS} -o /dev/stdout", f"trace flash_v3 {TOY} {SUMS} -o /dev/stdout",
              f"trace {MINE} {TOY} -o /dev/stdout",
              f"trace flash_v2_backward {TOY} -o /dev/stdout", f"trace {EVERY} -o /dev/stdout"],
    "replay": ["replay SOURCE/tests/fuzz/corpus/recording/softmax --json"],
    "list": ["list --json", f"list {MINE} --json"],
    "list --libraries": ["list --libraries --json"],
    "gpus": ["gpus --json"],
    "models": ["models --json"],
    "validate": ["validate --json"],
    "doctor": ["doctor --json"],
    "measured": ["measured flash_v2 --dim 32 --json"],
    "reconcile": ["reconcile flash_v3 --like fa3-2025 --json", f"reconcile standard {TYPED} --json", f"reconcile standard {PASSES} --json", f"reconcile flash_v2 {SMALL} {EIGHT_BITS} --json", f"reconcile flash_v3 {SMALL} {SUMS} --json", "reconcile split_kv --json", f"reconcile {EVERY} --json",
                  "reconcile flash_v2 SOURCE/tests/device/ncu/flash_v2_f32.csv --heads 16 --seq 1000 --dtype f32 --json",
                  "reconcile flash_v2 SOURCE/tests/device/ncu/pytorch_details.csv --heads 16 --seq 4096 --json"],
}
CSV = {
    "Rows": [f"sweep flash_v2 {SMALL}", f"compare flash_v2 flash_v2:br=4 {SMALL} --mode count --format csv"],
    "Plot data": ["plot waves --data --vary heads=1,2"],
    "Measured beside modelled": ["measured flash_v2 --dim 32 --format csv"],
}


def sections(text):
    """{section: {key: the section with the key's own keys, "file" for those of a GPU file, or None}}"""
    found, keys = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            keys = found.setdefault(line[3:], {})
        row = re.match(r"\| (?:`(.+?)`|\((?:counters|experiment)\)) \| (.*) \|$", line)
        if row and keys is not None:
            link = re.match(r"see \[(.+?)\]", row[2])
            keys[row[1] or ""] = link[1] if link else "file" if "[GPU file]" in row[2] else None
    return found


def patterns(page, section, prefix=""):
    """The keys of a section, with those of the sections that it refers to."""
    names = set()
    for key, link in page[section].items():
        path = ".".join(part for part in (prefix, key) if part)
        if key and not path.endswith("[]"):
            names.add(path)
        if link == "file":
            names.add(path + ".**")
        elif link:
            names |= patterns(page, link, path)
    return names


def matches(path, pattern):
    return re.fullmatch(re.escape(pattern).replace(r"\.\*\*", r"\..+").replace(r"\*", r".+?"), path)


def keys_of(value, path=""):
    if isinstance(value, list):
        return set().union(*[keys_of(v, path + "[]") for v in value], set())
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, v in value.items():
        below = f"{path}.{key}" if path else key
        found |= {below} | keys_of(v, below)
    return found


def problems_of_keys(binary, page):
    for section, commands in COMMANDS.items():
        known, printed = patterns(page, section), set()
        for command in commands:
            value = json.loads(output(binary, command))
            if section == "Rows":
                if value["schema"] != "tilescope.sweep/1":
                    yield f"`{command}`: schema {value['schema']}"
                value = value["rows"]
            printed |= keys_of(value)
        printed = {key.removeprefix("[].") for key in printed}
        for key in sorted(printed):
            if not any(matches(key, p) for p in known):
                yield f"{section}: `{key}` is printed, and not in docs/outputs.md"
        for pattern in sorted(known):
            if not any(matches(key, pattern) for key in printed):
                yield f"{section}: `{pattern}` is in docs/outputs.md, and not printed"


def problems_of_columns(binary, page):
    for section, commands in CSV.items():
        for command in commands:
            columns = next(csv.reader(io.StringIO(output(binary, command))))
            if set(columns) != patterns(page, section):
                yield f"`{command}`: columns that differ from {section}: {set(columns) ^ patterns(page, section)}"


def problems_of_gpus(binary, text):
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", text, re.M))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "all.json"  # with a field that a GPU of one die leaves out
        path.write_text('{"base": "H200", "l2_chiplets": 1}')
        every = json.loads(output(binary, f"gpus show {path} --json"))
    numbers = {k: v["unit"] for k, v in every.items() if isinstance(v, dict)}
    if rows != numbers:
        yield f"docs/gpus.md: fields and units that differ: {set(rows.items()) ^ set(numbers.items())}"
    example = re.search(r"```json\n(.*?)```", text, re.S)[1]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "my-gpu.json"
        path.write_text(example)
        shown = json.loads(output(binary, f"gpus show {path} --json"))
        for key, value in json.loads(example).items():
            if key not in ("base", "name") and shown[key]["value"] != (value["value"] if isinstance(value, dict) else value):
                yield f"docs/gpus.md: {key} of the example is {shown[key]}"
        if "half an A100" not in output(binary, f"run flash_v2 --mode count --gpu {path}"):
            yield "docs/gpus.md: the example does not run"


def output(binary, command):
    command = command.replace("SOURCE", sys.argv[2])
    done = subprocess.run([binary, *command.split()], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "XDG_CACHE_HOME": CACHE.name})
    if done.returncode:
        sys.exit(f"`{command}`: exit {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    binary, docs = sys.argv[1], pathlib.Path(sys.argv[2]) / "docs"
    page = sections((docs / "outputs.md").read_text())
    found = [*problems_of_keys(binary, page), *problems_of_columns(binary, page),
             *problems_of_gpus(binary, (docs / "gpus.md").read_text())]
    print("\n".join(found) or f"{sum(map(len, page.values()))} columns and keys as printed")
    sys.exit(bool(found))


main()
