#!/usr/bin/env python3
"""Compares all that the window says in its main states with approved texts in tests/golden/texts, and how most of these
states look with approved pictures in tests/golden/gui.

    approved.py TILESCOPE_GUI [STATE...]            fails where a word or a picture differs, and shows the difference
    approved.py TILESCOPE_GUI --approve [STATE...]  approves today's texts and pictures: look at the difference first

Texts are compared whole, exactly and in the order in which they are drawn. Pictures guard the layout.
"""

import concurrent.futures
import contextlib
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from driver import SKIPPED, Display, Window, skip_unless_possible
from pictures import FONTS, check_comparison, looks_as_approved
from pictures import GOLDEN as PICTURES_GOLDEN
from states import PICTURES, PROBLEM, TEXTS, TIPS

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "texts"


def said_in(texts):
    """One text per line, without what depends on the processor: rounding errors, which vary with its vector
    instructions, and the decades of their axis."""
    lines = [re.sub(r"\b(RMS(?: error)?) \S+$", r"\1 <error>", text).replace("\n", "\n    ") for text, _, _ in texts]
    return [line for line in lines if not re.fullmatch(r"1e-?\d+", line)]


def written(state):
    """The texts of a line of the log: one per line, below the name of their panel."""
    lines = ["$ tilescope-gui " + " ".join(state["command"])]
    for panel, texts in state["texts"].items():
        lines += ["", f"[{panel}]"]
        lines += said_in(texts)
    return "\n".join(lines) + "\n"


def pictured(binary, display, folder, approve, name):
    """What the window says in a state that a command line leads to, and what is wrong with its picture."""
    flags, log = TEXTS[name], os.path.join(folder, name + ".jsonl")
    size = [] if "--size" in flags else ["--size", "1440x900"]
    picture = os.path.join(folder, name + ".png")
    subprocess.run([binary, *flags, *size, "--screenshot", picture, "--log", log], check=True, timeout=120,
                   env=display.environment)
    wrong = looks_as_approved(name, picture, approve) if name in PICTURES else ""
    os.remove(picture)
    return written(json.loads(open(log).read())), wrong


def clicked(binary, display, flags, slider, share):
    """What the window says after a slider was set to a number that is refused."""
    with contextlib.closing(Window(display, binary, *flags, "--size", "1440x900")) as w:
        for _ in range(10):  # a click within one long frame is not noticed
            w.click(slider, share)
            with contextlib.suppress(AssertionError):
                w.wait(lambda s: s["problem"], patience=3)
                break
        w.x("mousemove", 1, 1)
        return written(w.wait(lambda s: s["problem"] and "tooltip" not in s["texts"], "a problem without a tooltip")), ""


def tips(binary, display, flags, places):
    """What the tooltips at these places say."""
    with contextlib.closing(Window(display, binary, *flags, "--size", "1440x900")) as w:
        lines = ["$ tilescope-gui " + " ".join(w.state()["command"])]
        w.x("mousemove", 1, 1)
        w.wait(lambda s: not s["texts"].get("tooltip"), "no tooltip, wherever the mouse was")
        for place, x, y in places:
            w.move(place, x, y)
            said = w.wait(lambda s: s["texts"].get("tooltip"), f"a tooltip at {place}")["texts"]["tooltip"]
            lines += ["", f"[{place}, {x}, {y}]", *said_in(said)]
            w.x("mousemove", 1, 1)
            w.wait(lambda s: not s["texts"].get("tooltip"), "no tooltip")
    return "\n".join(lines) + "\n", ""


def toured(binary, display):
    """What the cards of the tour say."""
    with contextlib.closing(Window(display, binary, "--size", "1440x900", tour=True)) as w:
        lines = ["$ tilescope-gui"]
        for card in range(5):
            said = w.wait(lambda s: s["tour"] == card and "tour" in s["texts"], f"card {card}")["texts"]["tour"]
            lines += ["", f"[card {card + 1}]", *said_in(said)]
            w.click("tour-next")
    return "\n".join(lines) + "\n", ""


def compare(name, now, wrong, approve):
    """True if the text is as approved, or is approved now."""
    if wrong:
        print(f"FAILED {name}: {wrong}")
    file = GOLDEN / f"{name}.txt"
    if approve:
        file.write_text(now)
    approved = file.read_text() if file.exists() else ""
    if approved == now:
        return not wrong
    difference = difflib.unified_diff(approved.splitlines(), now.splitlines(), "approved", "now", lineterm="", n=1)
    print(f"FAILED {name}: differs from {file}", *list(difference)[:30], sep="\n")
    return False


def all_states(binary, approve, wanted):
    """For each state, what it says and what is wrong with its picture. Windows that wait for the mouse are mostly idle,
    so they have displays and threads of their own."""
    def on_display(say, *state):
        with contextlib.closing(Display()) as display:
            return say(binary, display, *state)

    real = {name: (clicked, *state) for name, state in PROBLEM.items()}
    real |= {name: (tips, *state) for name, state in TIPS.items()} | {"tour": (toured,)}
    chosen = [name for name in (*TEXTS, *real) if not wanted or name in wanted]
    with contextlib.closing(Display()) as display, tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(len(real)) as windows, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pictures:
        said = {name: windows.submit(on_display, *real[name]) if name in real else
                pictures.submit(pictured, binary, display, folder, approve, name) for name in chosen}
        return {name: future.result() for name, future in said.items()}


def main():
    binary, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    approve, wanted = "--approve" in arguments, [a for a in arguments if not a.startswith("--")]
    if missing := [font for font in FONTS if not os.path.exists(font)]:
        print("SKIPPED: what was approved was laid out with", *missing)
        sys.exit(SKIPPED)
    skip_unless_possible()
    check_comparison()
    states = all_states(binary, approve, wanted)
    good = sum([compare(name, text, wrong, approve) for name, (text, wrong) in states.items()])
    known = TEXTS.keys() | PROBLEM.keys() | TIPS.keys() | {"tour"}
    stray = [f.name for f in GOLDEN.glob("*.txt") if f.stem not in known]
    stray += [f.name for f in PICTURES_GOLDEN.glob("*.png") if f.stem not in PICTURES]
    pictures = sum(name in PICTURES for name in states)
    print(f"{good} of {len(states)} states are as approved, {pictures} of them with a picture",
          *(f"{name} is of no state" for name in stray), sep="\n")
    sys.exit(1 if good < len(states) or stray or not states else 0)


if __name__ == "__main__":
    main()
