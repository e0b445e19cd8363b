#!/usr/bin/env python3
"""On a projector nothing is set smaller than 24 of 1080 pixels, in any view, drawer, theme and size.

    projector.py TILESCOPE_GUI
"""

import concurrent.futures
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

from driver import SKIPPED, Display, skip_unless_possible
from pictures import FONTS
from states import CAUSAL, FOUR_PARTS, HALF, ONE_HEAD, TOY, TOY_MATRIX

VIEWS = ["wall", "machine", "time", "row"]
PROBLEMS = [
    ["flash_v2", *CAUSAL, "--step", "45"],
    ["flash_v2", *TOY, "--step", "24"],
    ["standard", "--softmax", "naive", "--scale", "100", *ONE_HEAD, "--step", "12", "--light"],
    ["flash_v1", *HALF, "--kv-heads", "2", "--race", "flash_v2", "--pace", "time", "--step", "120"],
    ["softmax_online", *TOY_MATRIX, "--step", "20"],
    ["flash_v2", "--seq", "16384", "--heads", "64", "--step", "300"],
    ["split_kv", *FOUR_PARTS, "--kv-heads", "1", "--step", "66"],
]
STATES = [[*problem, "--view", view] for problem in PROBLEMS for view in VIEWS]
STATES += [[*PROBLEMS[0], "--drawer", drawer] for drawer in ("controls", "code", "detail")]
STATES += [[*PROBLEMS[0], "--drawer", "detail", "--detail", "counters"], [*PROBLEMS[0], "--drawer", "code", "--tab", "program"]]
STATES += [["--view", view] for view in ("tiles", "roofline", "io")]
STATES += [["flash_v2", "--br", "1024", "--bc", "1024"]]
STATES += [["--scene", name] for name in ("columns-and-rows", "grouped-heads", "ragged-shapes", "too-large-to-show",
                                              "one-token")]
STATES = [[*state, "--size", "1920x1080"] for state in STATES]
STATES += [[*PROBLEMS[0], "--size", size] for size in ("800x600", "1440x900", "2560x1440")]


def smallest(binary, display, folder, number, flags):
    """The size of the smallest letters, and a text that is set in them."""
    log, picture = (os.path.join(folder, f"{number}.{ending}") for ending in ("jsonl", "png"))
    subprocess.run([binary, *flags, "--screenshot", picture, "--log", log], check=True, timeout=120,
                   env=display.environment)
    return json.loads(open(log, encoding="utf-8").read())["smallest"]


def least(flags):
    """The smallest size allowed at this height; lines are a whole number of pixels high."""
    return 24 * int(flags[flags.index("--size") + 1].split("x")[1]) / 1080 - 0.01


def numbers_of_tiles(binary, display, folder):
    """Numbers in the blackboard's tiles can be read without a click: for example O of block 2."""
    flags = ["flash_v2", *TOY, "--step", "24", "--projector", "--size", "1920x1080"]
    log = os.path.join(folder, "blackboard.jsonl")
    subprocess.run([binary, *flags, "--screenshot", os.path.join(folder, "blackboard.png"), "--log", log], check=True,
                   timeout=120, env=display.environment)
    said = [text for text, _, _ in json.loads(open(log, encoding="utf-8").read())["texts"]["detail"]]
    return "O ← scale_rows(α)" in said and sum(bool(re.fullmatch(r"-?\d\.\d", text)) for text in said) >= 2 * 16


def main():
    binary = os.path.abspath(sys.argv[1])
    if missing := [font for font in FONTS if not os.path.exists(font)]:
        print("SKIPPED: sizes are those of", *missing)
        sys.exit(SKIPPED)
    skip_unless_possible()
    failed = 0
    with contextlib.closing(Display()) as display, tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        flags = [[*state, "--projector"] for state in STATES]
        for state, (size, text) in zip(flags, pool.map(
                lambda k: smallest(binary, display, folder, k, flags[k]), range(len(flags)))):
            if size < least(state):
                failed += 1
                print(f"FAILED {' '.join(state)}: {text!r} is set in {size:.1f} px, less than {least(state):.1f}")
        # At a desk letters are smaller, so the test above looks at what is really drawn.
        assert smallest(binary, display, folder, "desk", STATES[0])[0] < least(STATES[0])
        if not numbers_of_tiles(binary, display, folder):
            failed += 1
            print("FAILED blackboard: its numbers are not to be seen")
    print(f"{len(STATES) + 1 - failed} of {len(STATES) + 1} states can be read from the last row")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
