#!/usr/bin/env python3
"""Random clicks, drags, keys and turns of the wheel, which must not end the window or trip a sanitizer.

    random_events.py TILESCOPE_GUI [EVENTS [SEED]]
"""

import os
import random
import subprocess
import sys

from driver import Display, Window, skip_unless_possible

KEYS = ["space", "Left", "Right", "Home", "End", "1", "2", "3", "4", "5", "6", "Tab", "Return", "Escape", "BackSpace",
        "Up", "Down", "a", "0", "9", "minus", "period", "shift+Tab", "ctrl+a", "Delete"]
SMALL = ["flash_v2", "--seq", "256", "--dim", "32", "--heads", "2", "--br", "64", "--bc", "64"]


def events(rng, count, width, height):
    """Lines for xdotool. A button may be down during anything else."""
    for _ in range(count):
        kind = rng.random()
        if kind < 0.45:
            yield f"mousemove {rng.randrange(width)} {rng.randrange(height)}"
        elif kind < 0.62:
            yield "mousedown 1"
        elif kind < 0.80:
            yield "mouseup 1"
        elif kind < 0.84:
            yield f"click {rng.choice((4, 5))}"
        elif kind < 0.86:
            yield f"click {rng.choice((2, 3))}"
        elif kind < 0.998:
            yield f"key {rng.choice(KEYS)}"
        else:
            yield f"search --name ^TileScope$ windowsize {rng.randrange(400, 1600)} {rng.randrange(300, 1000)}"


def main():
    skip_unless_possible()
    binary = os.path.abspath(sys.argv[1])
    count, seed = (int(a) for a in (*sys.argv[2:], *("10000", "1")[len(sys.argv) - 2:]))
    rng = random.Random(seed)
    # Memory that graphics drivers keep at the end is no leak of ours.
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")
    display = Display(1600, 1000)
    try:
        w = Window(display, binary, *SMALL, patience=120)
        lines = list(events(rng, count, 1440, 900))
        for first in range(0, count, 200):
            script = "".join(f"{line}\nsleep 0.004\n" for line in lines[first:first + 200])
            subprocess.run(["xdotool", "-"], input=script, env=display.environment, text=True, check=True,
                           stdout=subprocess.DEVNULL, timeout=300)
            try:
                w.state()
            except AssertionError:
                print(f"the window ended between events {first} and {first + 200} of seed {seed}")
                raise
        w.x("mouseup", 1)
        # The window still answers.
        w.x("mousemove", 5, 5)
        before = w.state()
        w.key("Escape")
        w.resize(1203, 801)
        w.close()
        print(f"{count} events of seed {seed}: the window lives; it ended at step {before['step']} of {before['of']}")
    finally:
        display.close()


main()
