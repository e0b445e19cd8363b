#!/usr/bin/env python3
"""`list`, and `compare` without names, show every algorithm that has a folder, whichever these are today."""

import json
import os
import pathlib
import re
import sys

from cases import Tally, run

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    folders = {f.parent.name for f in (SOURCE / "algorithms").glob("*/*/simulated.cpp")}
    listed = json.loads(run(binary, "list --json").stdout)
    names = [a["name"] for a in listed["algorithms"]]
    tally.check(set(names) == folders and len(names) == len(folders), f"list --json: {names}, folders: {folders}")
    tally.check(set(listed["gpus"]) == {f.stem for f in (SOURCE / "gpus").glob("*.json")}, f"GPUs: {listed['gpus']}")

    models = {f.stem for f in (SOURCE / "models").glob("*.json")}
    tally.check(set(listed["models"]) == models, f"models: {listed['models']}")

    text = run(binary, "list")
    tally.check(text.returncode == 0 and text.stderr == "", f"list: {text.stderr!r}")
    rows = dict(re.findall(r"^(\w+) {2,}(.+)$", re.sub(r"^does .*\n(.+\n)*", "", text.stdout, flags=re.M), re.M))
    tally.check([n for n in rows if n in folders] == names, f"list has another order than --json: {list(rows)}")
    for a in listed["algorithms"]:
        tally.check(rows.get(a["name"]) == a["idea"], f"list says of {a['name']}: {rows.get(a['name'])!r}")
        tally.check(a["paper"] and a["family"] in ("softmax", "attention", "attention backward"), f"list --json: {a}")
    # The table's columns agree with --json.
    table = re.search(r"^does .*\n-+\n((?:.+\n)+)", text.stdout, re.M)
    done = {line.split()[0]: line.split()[1:].count("yes") for line in table[1].splitlines()} if table else {}
    for a in listed["algorithms"]:
        if a["family"] == "attention":
            tally.check(done.get(a["name"]) == len(set(a["features"]) - {"head dim"}), f"{a['name']}: {done}")
    tally.check("GPUs: " + ", ".join(listed["gpus"]) in text.stdout, "list does not name the GPUs")
    tally.check("Models: " + ", ".join(listed["models"]) in text.stdout, "list does not name the models")
    tally.check(text.stdout.splitlines()[-1].startswith("Next: "), "list does not say what next")

    attention = [a["name"] for a in listed["algorithms"] if a["family"] == "attention"]
    compared = re.findall(r"^(\w+) +\d+ x \d+ ", run(binary, "compare --mode count").stdout, re.M)
    tally.check(compared == attention, f"compare without names: {compared}")
    tally.close()


main()
