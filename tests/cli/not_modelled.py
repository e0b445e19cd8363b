#!/usr/bin/env python3
"""Output says so where it has no modelled number: copies of small pages, and DRAM traffic that is not played.

    tests/cli/not_modelled.py TILESCOPE
"""
import csv
import json
import re
import subprocess
import sys

PAGES = "Copies of small rows, page by page, are not modelled in time"
DECODING = ["--heads", "8", "--batch", "2", "--seq-q", "1", "--seq-k", "2048", "--mode", "count"]
PAGED = DECODING + ["--page-size", "16"]
TOO_LONG = ["--heads", "64", "--seq", "8192", "--br", "16", "--bc", "16", "--mode", "count", "--order", "longest", "--causal"]


WARM = ["--heads", "32", "--kv-heads", "8", "--seq-q", "1", "--seq-k", "4096", "--dim", "128"]
COLD = ["--heads", "32", "--kv-heads", "8", "--seq-q", "1", "--seq-k", "65536", "--dim", "128"]
STAYS = "stays in the L2. DRAM traffic is cold, with the L2 emptied before each launch"


def output(*arguments):
    return subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True, timeout=100).stdout


def words(text):
    return " ".join(text.split())


def failures():
    without_mode = [a for a in PAGED if a not in ("--mode", "count")]
    for command in (["run", "split_kv", *PAGED], ["compare", "split_kv", "split_kv:page-size=256", *PAGED],
                    ["timeline", "split_kv", *without_mode], ["advise", "split_kv", *without_mode]):
        if words(output(*command)).count(PAGES) != 1:
            yield f"{' '.join(command)} does not say once what pages leave out of its time"
        unpaged = [a for a in command if a not in ("--page-size", "16") and ":page-size" not in a]
        if PAGES in words(output(*unpaged)):
            yield f"{' '.join(unpaged)} speaks of pages"
    if not any(PAGES in note for note in json.loads(output("run", "split_kv", *PAGED, "--json")).get("notes", [])):
        yield "run --json does not say what pages leave out"
    if not any(PAGES in note for note in json.loads(output("timeline", "split_kv", *without_mode, "--json")).get("notes", [])):
        yield "timeline --json does not say what pages leave out"
    swept = output("sweep", "split_kv", *without_mode, "--vary", "batch=1,2")
    if not all(PAGES in row["remark"] for row in csv.DictReader(swept.splitlines())):
        yield "sweep does not say what pages leave out"
    for command in ("run", "compare", "timeline", "advise"):
        for shape, said in ((WARM, 1), (COLD, 0), ([*WARM, "--l2", "off"], 0)):
            times = len(re.findall(STAYS, words(output(command, "split_kv", *shape))))
            if times != said:
                yield f"{command} split_kv {' '.join(shape)} says {times} times that its time is warm"
    for shape, warm in ((WARM, True), (COLD, False)):
        for command in (["run", "split_kv", *shape, "--mode", "count"], ["timeline", "split_kv", *shape]):
            if json.loads(output(*command, "--json"))["warm"] is not warm:
                yield f"{' '.join(command)} --json: warm is not {warm}"
    said = words(output("compare", "split_kv", "split_kv:seq-k=65536", *WARM))
    if "what split_kv touches stays in the L2" not in said:
        yield f"compare does not say which of two is warm: {said}"
    for more, said in ([[], "These tiles: K does not fit: 256,000 B of SRAM"],
                       [["--vary", "dim=64,1000"], "Without a time: dim 1000, 64 x 64: K does not fit: 256,000 B of SRAM"]):
        if said not in words(output("advise", "flash_v2", "--seq", "256", "--heads", "1", *(more or ["--dim", "1000"]))):
            yield f"advise {' '.join(more)} does not say why there is a row of dashes"
    for command in ("run", "compare"):
        if "more than 4,194,304 visits of tiles, and" not in words(output(command, "flash_v2", *TOO_LONG)):
            yield f"{command} does not say why there is no DRAM traffic"


if __name__ == "__main__":
    found = list(failures())
    print("\n".join(found) or "all is said")
    sys.exit(bool(found))
