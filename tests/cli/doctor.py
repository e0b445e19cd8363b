#!/usr/bin/env python3
"""`tilescope doctor` on machines made up of a few programs: everything is there, or nothing, or things are too old or
too little. It always says so, exits with 0 and changes nothing."""

import json
import os
import pathlib
import re
import shutil
import stat
import sys
import tempfile

from cases import Tally, run

PURPOSES = ["window", "figures", "films", "page", "Python", "own programs", "kernels", "counters"]
KEYS = {"for", "what", "there", "found", "get"}
PYTHON = "echo python 3.99.1; echo NumPy 9.8.7; echo tilescope 0.1.0"
FAKES = {
    "gnuplot": "echo version 5.4; echo 'terminals  cairolatex pdfcairo png pngcairo svg tikz x11 '",
    "ffmpeg": "echo ffmpeg version 7.7.7-fake Copyright; echo built with care",
    "python3": PYTHON, "em++": "exit 1", "ncu": "exit 1", "Xvfb": "exit 1", "rsvg-convert": "exit 1", "my-c++": "exit 1",
}
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def rows_of(text):
    """The cells of the table's rows. A continuation line has nothing in its first columns."""
    lines = text.splitlines()
    rule = next(k for k, line in enumerate(lines) if set(line) == {"-"})
    starts = [lines[rule - 1].index(head) for head in ("for", "needs", "there", "how to get it")]
    rows = []
    for line in lines[rule + 1:lines.index("", rule)]:
        cells = [line[begin:end].strip() for begin, end in zip(starts, [*starts[1:], None])]
        if cells[1]:
            rows.append(cells)
        else:
            rows[-1] = [" ".join(part for part in pair if part) for pair in zip(rows[-1], cells)]
    return rows


class Machine:
    """A copy of the program in a folder of its own, with a PATH, a home and a working folder that are empty at
    first."""

    def __init__(self, binary, folder):
        self.root = pathlib.Path(folder)
        for name in ("bin", "path", "home", "here"):
            (self.root / name).mkdir()
        self.binary = str(shutil.copy(binary, self.root / "bin"))
        self.env = {"PATH": str(self.root / "path"), "HOME": str(self.root / "home"), "CXX": "my-c++",
                    "CUDA_VISIBLE_DEVICES": ""}

    def has(self, name, script="exit 0", folder="path"):
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def doctor(self, tally, **env):
        """What doctor reports, by the thing that is needed."""
        env = {**self.env, **env}
        before = sorted(self.root.rglob("*"))
        said, text = (run(self.binary, words, env=env, cwd=self.root / "here") for words in ("doctor --json", "doctor"))
        for r in (said, text):
            tally.check(r.returncode == 0 and r.stderr == "", f"doctor: exit {r.returncode}, {r.stderr!r}")
            tally.check(not CONTROL.search(r.stdout), f"doctor prints raw {r.stdout!r}")
        tally.check(sorted(self.root.rglob("*")) == before, "doctor leaves files behind")
        whole = json.loads(said.stdout)
        tally.check(whole["schema"] == "tilescope.doctor/1" and whole["version"] and whole["compiler"], f"{whole}")
        needs = whole["needs"]
        tally.check(list(dict.fromkeys(n["for"] for n in needs)) == PURPOSES, f"purposes: {[n['for'] for n in needs]}")
        for n in needs:
            tally.check(set(n) == KEYS, f"keys: {n}")
            tally.check(bool(n["get"]) != n["there"], f"is there, or how to get it: {n}")
            tally.check(bool(n["found"]) or not n["there"], f"there, and nothing is: {n}")
        rows = rows_of(text.stdout)
        tally.check([r[0] for r in rows if r[0]] == PURPOSES, f"the table is about {[r[0] for r in rows]}")
        tally.check([[what, get] for _, what, _, get in rows] == [[n["what"], n["get"]] for n in needs], f"the table says {rows}")
        for (_, what, there, _), n in zip(rows, needs):
            tally.check((there == "no" or there.startswith("no: ")) != n["there"], f"the table says {there!r} of {n}")
            begin, _, end = there.removeprefix("no").removeprefix(": ").partition("..." if len(n["found"]) > 60 else "\0")
            begin, end = begin.removeprefix("'" if end else ""), end.removesuffix("'" if end else "")
            tally.check(n["found"].startswith(begin) and n["found"].endswith(end), f"the table says {there!r} of {n}")
        missing = sum(not n["there"] for n in needs)
        tally.check((f"{missing} of {len(needs)} are missing" if missing else "Everything is there") in text.stdout,
                    f"the table ends {text.stdout[-200:]!r}")
        version = run(self.binary, "--version").stdout
        tally.check(text.stdout.startswith(version), f"begins {text.stdout[:100]!r}, and not {version!r}")
        return {n["what"]: n for n in needs}


def check_nothing(machine, tally):
    needs = machine.doctor(tally)
    # The headers are found among the sources. GPU and driver are this machine's own.
    others = {"TileScope's headers", "a build with CUDA", "a GPU", "a driver that shows them"}
    there = {what for what, n in needs.items() if n["there"]} - others
    tally.check(not there, f"of nothing there is {there}")
    tally.check(not machine.doctor(tally, PATH="")["gnuplot 5.4"]["there"], "found with an empty PATH")
    tally.check("apt-get install ffmpeg" in needs["ffmpeg"]["get"], f"{needs['ffmpeg']}")
    tally.check(needs["NumPy"]["get"] == "apt-get install python3-numpy", f"{needs['NumPy']}")


def check_everything(machine, tally):
    for name, script in FAKES.items():
        machine.has(name, script)
    for name in ("tilescope-gui", "tilescope-python.so", "python/tilescope/__init__.py"):
        machine.has(name, folder="bin")
    needs = machine.doctor(tally, WAYLAND_DISPLAY="wayland-7")
    missing = {n["what"] for n in needs.values() if not n["there"] and n["for"] not in ("kernels", "counters")}
    tally.check(not missing and needs["ncu (Nsight Compute)"]["there"], f"of everything there is no {missing}")
    for what, found in {"gnuplot 5.4": "5.4", "its SVG, PNG, PDF and TeX": "SVG, PNG, PDF, TeX", "ffmpeg": "7.7.7-fake",
                        "a display": "WAYLAND_DISPLAY=wayland-7", "python3": "3.99.1", "NumPy": "9.8.7",
                        "the module tilescope": f"PYTHONPATH={machine.root}/bin/python",
                        "tilescope-gui": f"{machine.root}/bin/tilescope-gui", "em++": f"{machine.root}/path/em++",
                        "a C++ compiler": f"{machine.root}/path/my-c++"}.items():
        tally.check(needs[what]["found"] == found, f"{what}: {needs[what]}, and not {found}")
    tally.check(machine.doctor(tally)["a display, or Xvfb"]["found"].endswith("/Xvfb"), "films without a display")


def check_too_little(machine, tally):
    def said(what, name, script):
        machine.has(name, script)
        found = machine.doctor(tally)[what]
        machine.has(name, FAKES[name])
        return found["there"], found["found"]

    terminals = "echo 'terminals  pngcairo svg tikz '"
    tally.check(said("its SVG, PNG, PDF and TeX", "gnuplot", f"echo version 5.4; {terminals}") == (False, "SVG, PNG, TeX"), "no pdfcairo")
    tally.check(said("gnuplot 5.4", "gnuplot", f"echo version 5.2; {terminals}") == (False, "5.2"), "an old gnuplot")
    tally.check(said("gnuplot 5.4", "gnuplot", "echo version 6.0")[0], "a new gnuplot")
    tally.check(said("gnuplot 5.4", "gnuplot", "exit 1") == (False, ""), "a broken gnuplot")
    tally.check(said("ffmpeg", "ffmpeg", "echo cannot load libav >&2; exit 1") == (False, ""), "a broken ffmpeg")
    no_numpy = "echo python 3.99.1; echo ModuleNotFoundError: numpy >&2; exit 1"
    tally.check(said("python3", "python3", no_numpy) == (True, "3.99.1"), "Python without NumPy")
    tally.check(said("NumPy", "python3", no_numpy) == (False, ""), "no NumPy")
    machine.has("python3", no_numpy)  # not the system's Python, so that packages of the system do not help
    for what in ("NumPy", "the module tilescope"):
        get = machine.doctor(tally)[what]["get"]
        tally.check(get.startswith(f"{machine.root}/path/python3 -m pip install numpy, or "), f"{what}: {get}")
    other = "echo python 3.99.1; echo NumPy 9; echo ImportError: made for another Python >&2; exit 1"
    tally.check(said("the module tilescope", "python3", other) == (False, "ImportError: made for another Python"),
                "the module of another Python")
    said("ffmpeg", "ffmpeg", r"printf 'ffmpeg version \033[31m\200red\n'")  # no raw control character is printed
    machine.doctor(tally, DISPLAY="\x1b[31m\u202e", CXX="/no\x1bwhere")


def check_this_machine(binary, tally):
    """The program where it was built, with the Python that runs this script."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "python3").symlink_to(sys.executable)
        (pathlib.Path(folder) / "numpy.py").write_text("__version__ = 'of the folder that one is in'\n")
        said = run(binary, "doctor --json", env={**os.environ, "PATH": folder}, cwd=folder)
        needs = {n["what"]: n for n in json.loads(said.stdout)["needs"]}
    tally.check(not needs["NumPy"]["found"].startswith("of"), f"the folder's own files are run: {needs['NumPy']}")
    beside = pathlib.Path(binary).parent
    tally.check(needs["python3"]["found"] == sys.version.split()[0], f"{needs['python3']}")
    built = any(beside.glob("python/tilescope/_core*.so"))
    tally.check(built == needs["the module tilescope"]["there"] or not needs["NumPy"]["there"], f"{needs['the module tilescope']}")
    for what, name in {"tilescope-gui": "tilescope-gui", "tilescope-python.so": "tilescope-python.so"}.items():
        tally.check(needs[what]["there"] == (beside / name).exists(), f"{needs[what]}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory(suffix="-a-folder-with-a-name-that-has-to-be-cut-in-the-table") as folder:
        machine = Machine(binary, os.path.realpath(folder))
        check_nothing(machine, tally)
        check_everything(machine, tally)
        check_too_little(machine, tally)
    check_this_machine(binary, tally)
    tally.close()


main()
