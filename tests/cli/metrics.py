#!/usr/bin/env python3
"""Every metric of `list --metrics` is a column of the CSV and a key of the JSON, with the same value in both."""

import csv
import io
import json
import sys

from cases import Tally, run

# Runs that lack something: real numbers, a time, the L2, several launches.
CASES = ["standard flash_v2:br=16 --seq 64 --heads 2 --dim 16", "standard flash_v1 --seq 512 --causal --mode count",
         "flash_v2 standard --seq 1048576 --heads 16", "flash_v2 --seq 256 --l2 off --gpu toy --br 4 --bc 4 --mode count",
         "softmax_naive softmax_online --seq-q 100 --seq-k 3000"]


def cell(value):
    """The value as the CSV writes it."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def same(text, value):
    if isinstance(value, float):
        return text != "" and float(text) == value
    return text == cell(value)


def check(tally, binary, metrics, args):
    rows = list(csv.DictReader(io.StringIO(run(binary, f"compare {args} --format csv").stdout)))
    reports = json.loads(run(binary, f"compare {args} --json").stdout)["reports"]
    tally.check(len(rows) == len(reports) > 0, f"`{args}`: {len(rows)} rows and {len(reports)} reports")
    for row, report in zip(rows, reports):
        for key in metrics:
            places = [keys for keys in (report["counters"], report) if key in keys and not isinstance(keys[key], list)]
            tally.check(len(places) == 1, f"`{args}`: {key} is in {len(places)} places of the JSON")
            for keys in places:
                tally.check(key in row and same(row[key], keys[key]),
                            f"`{args}`, {report['variant']}: {key} is {row.get(key)!r} in CSV, {keys[key]!r} in JSON")


def main():
    binary = sys.argv[1]
    metrics = [m["key"] for m in json.loads(run(binary, "list --json").stdout)["metrics"]]
    tally = Tally()
    for args in CASES:
        check(tally, binary, metrics, args)
    tally.close()


main()
