#!/usr/bin/env python3
"""Says everything in a made-up language, and finds English that comes through: sentences that are no messages.

    made_up.py SOURCE_DIR TILESCOPE                  the command line, in all cases of tests/cli/golden.py
    made_up.py SOURCE_DIR TILESCOPE TILESCOPE_GUI    the window, in all states of tests/gui/states.py

Every word of every message is reversed and said twice: "row" is "worwor". What remains is names, numbers and notation.
Two English words in a row are a leak.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path += [str(SOURCE / "tests" / room) for room in ("cli", "gui", "texts")]

from golden import CASES, FOR_PROGRAMS, GOLDEN  # noqa: E402
from ids import defined_in  # noqa: E402

WORD = r"(?<![\w./=%'-])[A-Za-z][a-z]+(?![\w/=-]|\.\w)"
KEPT = re.compile(r"`[^`]*`|\{\d\}|--[\w-]+( [\w.:/*-]+)?|tilescope [a-z]+( [\w./-]+)*|[\w.-]*[./_=][\w./_=-]*\w")
FORMS = re.compile(r"\{(\d)\|([^{}|]*)\|([^{}|]*)\}")
PAIR = re.compile(r"(?<![\w./:=%'-])(?=([a-z]{2,}) ([a-z]{2,})(?![\w/:=-]|\.\w))")


def twice(word):
    return word[::-1].lower() * 2


def made_up(words):
    """The words of a message in the made-up language. Places of arguments stay, and so does what is to be typed."""
    def outside(text):
        parts, at = [], 0
        for kept in KEPT.finditer(text):
            parts += [re.sub(WORD, lambda w: twice(w[0]), text[at:kept.start()]), kept[0]]
            at = kept.end()
        return "".join(parts) + re.sub(WORD, lambda w: twice(w[0]), text[at:])
    parts, at = [], 0
    for forms in FORMS.finditer(words):
        parts += [outside(words[at:forms.start()]), f"{{{forms[1]}|{outside(forms[2])}|{outside(forms[3])}}}"]
        at = forms.end()
    return "".join(parts) + outside(words[at:])


def is_made_up(word):
    return len(word) % 2 == 0 and word[:len(word) // 2] == word[len(word) // 2:]


def pairs_in(text):
    return {found.groups() for found in PAIR.finditer(text)}


def leaks_in(text, names):
    """Pairs of English words in a text, without names, and pairs, in `names`."""
    for line in text.splitlines():
        for kept in list(KEPT.finditer(line))[::-1]:
            line = line[:kept.start()] + "0" * len(kept[0]) + line[kept.end():]
        for found in PAIR.finditer(line):
            if found.groups() not in names and not any(is_made_up(word) or word in names for word in found.groups()):
                yield f'"{found[1]} {found[2]}" in: {line.strip()}'


def check_itself():
    assert made_up("Write {1} {1|row|rows} of S to run.csv; try --seq 64") == \
        "etirwetirw {1} {1|worwor|sworswor} fofo S otot run.csv; yrtyrt --seq 64", made_up("Write {1} {1|row|rows} of S to run.csv; try --seq 64")
    assert list(leaks_in("etirwetirw 3 sworswor, not made up", {"made"})) == []
    assert list(leaks_in("etirwetirw the tiles", set())) and not list(leaks_in("--mode count and `a command`", set()))


def texts_of(folder):
    """Writes all messages in the made-up language; returns how many."""
    count = 0
    for n, file in enumerate([*SOURCE.glob("texts/en/*.txt"), *SOURCE.glob("algorithms/*/*/en.txt")]):
        messages = [(name, words) for name, _, words in defined_in(file.read_text())]
        (folder / f"{n}.txt").write_text("".join(f"{name} = {made_up(words)}\n" for name, words in messages))
        count += len(messages)
    return count


def faults_of_command_line(binary, names):
    """Of all cases whose output is for people, and of those that end with an error."""
    for name, arguments in CASES.items():
        approved = (GOLDEN / f"{name}.txt").read_text()
        failed = re.search(r"^--- standard error, exit (\d+)$", approved, re.M)
        for_programs = FOR_PROGRAMS.search(arguments)
        if for_programs and not failed:
            continue
        now = subprocess.run([binary, *arguments.split()], capture_output=True, text=True, timeout=400, cwd=GOLDEN.parent,
                             env=os.environ | {"TILESCOPE_TEXTS": TEXTS})
        if now.returncode != int(failed[1] if failed else 0):
            yield f"{name}: ends with {now.returncode}, in English with {failed[1] if failed else 0}: {now.stderr}"
        for_people = now.stderr + ("" if for_programs else now.stdout)
        yield from (f"{name}: {leak}" for leak in leaks_in(for_people, names))


def faults_of_window(binary, names):
    from driver import Display, skip_unless_possible
    from states import TEXTS as STATES
    skip_unless_possible()
    with contextlib.closing(Display()) as display, tempfile.TemporaryDirectory() as folder:
        def faults(name):
            log, picture = (os.path.join(folder, name + ending) for ending in (".jsonl", ".png"))
            size = [] if "--size" in STATES[name] else ["--size", "1440x900"]
            subprocess.run([binary, *STATES[name], *size, "--screenshot", picture, "--log", log], check=True, timeout=120,
                           env=display.environment | {"TILESCOPE_TEXTS": TEXTS})
            os.remove(picture)
            said = (text for texts in json.loads(open(log).read())["texts"].values() for text, _, _ in texts)
            return [f"{name}: {leak}" for text in said for leak in leaks_in(text, names)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for found in pool.map(faults, STATES):
                yield from found


def main():
    global TEXTS
    check_itself()
    binary, *window = [os.path.abspath(program) for program in sys.argv[2:]]
    names = NAMES | {a["name"] for a in json.loads(subprocess.run([binary, "list", "--json"], capture_output=True, text=True).stdout)["algorithms"]}
    # Sources of numbers, scenes, which are files that anybody may write, and programs.
    for data in [*SOURCE.glob("gpus/*.json"), *SOURCE.glob("models/*.json"), *SOURCE.glob("scenes/*"),
                 *SOURCE.glob("algorithms/*/*/simulated.cpp")]:
        names |= pairs_in(" ".join(data.read_text().split()))
    for algorithm in SOURCE.glob("algorithms/*/*/algorithm.hpp"):  # pseudo-code, and papers
        names |= pairs_in(" ".join(" ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', algorithm.read_text())).split()))
    with tempfile.TemporaryDirectory() as folder:
        TEXTS = folder
        count = texts_of(pathlib.Path(folder))
        faults = list(faults_of_window(window[0], names) if window else faults_of_command_line(binary, names))
    different = {}
    for fault in faults:
        different.setdefault(fault.split(": ", 1)[1], fault)
    print("\n".join(different.values()))
    print(f"{count} messages in the made-up language, {len(different)} leaks")
    return 1 if faults or not count else 0


# Names with a space, and beside other words: an axis of a grid, types of C++.
NAMES = {("query", "head"), "void"}

if __name__ == "__main__":
    sys.exit(main())
