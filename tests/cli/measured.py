#!/usr/bin/env python3
"""`tilescope measured` shows the measurements that were asked for beside what `tilescope timeline` models, and
`tilescope reconcile` adds up what Nsight Compute wrote."""

import csv
import io
import json
import os
import pathlib
import sys

from cases import Tally, run

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SHAPE = ("batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "dim_v", "dtype", "br", "bc")
ROLES = ("slots", "warpgroups", "turns", "overlap", "specialised", "cluster", "persistent")
FOLDERS = {"H200": "h200", "H100-SXM": "h100"}


def cases_of(binary, flags):
    return json.loads(run(binary, f"measured {flags} --json").stdout)["cases"]


def shipped(algorithm):
    """(gpu, row) of an algorithm's successful measurements in docs/measured."""
    for gpu, folder in FOLDERS.items():
        for path in sorted((SOURCE / "docs/measured" / folder).glob("*.csv")):
            rows = list(csv.DictReader(line for line in path.open() if not line.startswith("#")))
            yield from ((gpu, row) for row in rows if row.get("algorithm") == algorithm and row.get("status") == "ok")


def text(number):
    return "" if number is None else str(number)


def check_all_there(binary, tally):
    """Every measured row is shown, also where a shape was measured twice."""
    columns = (("measured_read_bytes", "measured_read_bytes"), ("simulated_read_bytes", "simulated_read_bytes"),
               ("simulated_write_bytes", "simulated_write_bytes"), ("measured_dram_read_bytes", "dram_read_bytes"))
    found = sorted((c["gpu"], *(str(c[k]) for k in SHAPE), str(int(c["causal"])), f"{c['measured_time_us']:.3f}",
                    *(text(c[here]) for here, _ in columns)) for c in cases_of(binary, "flash_v2 --kernel tilescope"))
    rows = sorted((gpu, *(row[k] for k in SHAPE), row["causal"], f"{1000 * float(row['warm_ms']):.3f}",
                   *(row[there] for _, there in columns)) for gpu, row in shipped("flash_v2"))
    tally.check(rows and found == rows, f"other cases than in docs/measured: {set(found) ^ set(rows)}")


def check_model(binary, tally):
    """The model's numbers are those that `timeline` prints."""
    for case in cases_of(binary, "flash_v1 flash_v2 flash_v3 --seq 4096 --dim 128 --causal"):
        flags = [f"--{k.replace('_', '-')}={case[k]}" for k in SHAPE]
        flags += [f"--{k}={case[k]}" for k in ROLES if case[k] is not None]
        said = json.loads(run(binary, ["timeline", case["algorithm"], "--json", f"--gpu={case['gpu']}", "--causal",
                                       *flags]).stdout)
        tally.check(said["time_us"] == case["modelled_time_us"] and
                    said["dram_read_bytes"] == case["modelled_dram_read_bytes"], f"timeline says otherwise of {case}")


def check_filters(binary, tally):
    everything = cases_of(binary, "flash_v2")
    for flags, wants in (("--seq 4096", {"seq_q": 4096, "seq_k": 4096}), ("--seq 1000 --seq-k 4097", {"seq_q": 1000, "seq_k": 4097}),
                         ("--dtype bf16 --no-causal", {"dtype": "bf16", "causal": False}), ("--gpu h100", {"gpu": "H100-SXM"}),
                         ("--kv-heads 4 --causal", {"kv_heads": 4, "causal": True}), ("--kernel pytorch", {"kernel": "pytorch"}),
                         ("--br 64 --bc 32 --heads 16", {"br": 64, "bc": 32, "heads": 16})):
        want = [c for c in everything if all(c[k] == v for k, v in wants.items())]
        if "--br" in flags:  # tiles that PyTorch chose are not known
            want = [c for c in want if c["kernel"] == "tilescope"]
        tally.check(want and cases_of(binary, f"flash_v2 {flags}") == want, f"{flags}: other cases than asked for")
    tally.check(cases_of(binary, "--algorithm flash_v2 --dim 32") == cases_of(binary, "flash_v2 --dim 32"), "--algorithm")
    lanes = cases_of(binary, "flash_v3")
    for flags, wants in (("--turns off", {"turns": "off"}), ("--turns on --warpgroups 2", {"turns": "on", "warpgroups": 2})):
        want = [c for c in lanes if all(c[k] == v for k, v in wants.items())]
        tally.check(want and cases_of(binary, f"flash_v3 {flags}") == want, f"{flags}: other cases than asked for")
    softmax = run(binary, "measured softmax_safe --dim 64")
    tally.check(softmax.returncode == 1 and softmax.stdout == "", f"a softmax has no --dim: {softmax.stdout}")
    rows = list(csv.DictReader(io.StringIO(run(binary, "measured flash_v2 --dim 32 --format csv").stdout)))
    cases = cases_of(binary, "flash_v2 --dim 32")
    tally.check([r["gpu"] + r["measured_read_bytes"] for r in rows] ==
                [c["gpu"] + str(c["measured_read_bytes"] or "") for c in cases], "CSV and JSON differ")


def check_sums(binary, tally):
    """Launches are added up; --runs divides the sums."""
    def levels(words):
        said = json.loads(run(binary, f"reconcile {words} --json", cwd=SOURCE / "tests/device/ncu").stdout)
        return {level["name"]: level["measured"] for level in said["levels"]}

    one = levels("standard standard_f32.csv --heads 4 --seq 500 --dtype f32")
    tally.check(one["SM traffic, read"] == 6144000 + 4032000 + 6080000, f"reads of three launches: {one}")
    tally.check(one["matrix FLOPs"] == 2 * (67108864 + 4000 + 65536000), f"FMAs of three launches: {one}")
    half = levels("standard standard_f32.csv --heads 4 --seq 500 --dtype f32 --runs 2")
    tally.check(all(2 * half[name] == one[name] for name in one), f"--runs 2: {half}")
    scores = levels("standard standard_f32.csv --heads 4 --seq 500 --dtype f32 --only scores")
    tally.check(scores["SM traffic, read"] == 6144000, f"--only: {scores}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    for check in (check_all_there, check_model, check_filters, check_sums):
        check(binary, tally)
    tally.close()


main()
