#!/usr/bin/env python3
"""What the documents show below a command, or claim beside one, is what the command prints.

    commands.py TILESCOPE TILESCOPE_GUI|- SOURCE_DIR [--other-pages | --window-pages | PAGE...]

Reads every page, and the examples of every --help as one page; or only pages about the window; or only the others.
page.py says how. Without a window (-, or no xvfb-run) commands that show one are left out.
"""

import collections
import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from page import Reader

UNITS = {"ms": "ms", "gbs": "GB"}  # units of measured columns, by the end of the column's name
MEASURED = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measured" / "h200"

MINE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "own-algorithm" / "mine.cpp"

# How much is understood today. Less means that part of a page is no longer read; if there is more, write more here.
WITHOUT_WINDOW = {"command": 279, "text": 6, "row": 66, "figure": 285}
FEWEST = {"--other-pages": {"command": 344, "text": 11, "row": 107, "figure": 563, "window": 14},
          "--window-pages": {"command": 96, "text": 1, "row": 3, "figure": 126, "window": 77}}

WINDOW_PAGES = ["docs/gui.md", "docs/gui-reference.md"]
OTHERS = {
    "docs/add-an-algorithm.md": "scripts/guide-check carries it out",
    "docs/python.md": "tests/python/page.py carries it out",
    "docs/validation.md": "written from measurements; scripts/validation --check compares",
    "docs/performance.md": "times, measured where the page says",
    "CHANGELOG.md": "of the past",
}
LEFT_OUT = {
    r"scripts/|\.ci/run": "installs, builds or measures",
    r"(cmake|ctest)\b": "builds",
    r"python3 tests/texts/": "reads the sources; a test of its own",
    r"xvfb-run|tail -n 1 window.jsonl": "a window that is closed by hand",
    r".*--approve": "changes approved texts",
    r"(build/)?tilescope calibrate": "needs a GPU",
    r"(build/)?tilescope plot --all\b": "tests/cli/plot.py --all draws them",
    r"(build/)?tilescope measured$": "tests/cli/measured.py reads all of it",
    r"python3 -m http\.server": "serves until it is stopped",
}
# The form of a command, as in `tilescope trace ALGO -o FILE`.
FORM = re.compile(r"…|\.\.\.|(^|[ =|])[A-Z][A-Z_]*\b(?=[ .|\]]|$)")
PROGRAMS = ("tilescope", "build/tilescope", "tilescope-gui", "build/tilescope-gui", "python3")

# Files that the examples of --help read.
FILES = """echo '{"base": "H100-SXM", "name": "mine", "sms": 114}' >my-gpu.json
python3 -c "import numpy as np; [np.save(x + '.npy', np.random.randn(2, 64, 64)) for x in 'qkv']"
tilescope trace flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 -o trace.json
cp {mine} mine.cpp
"""

# Takes the place of the window: draws it without a display, and prints what it says.
WINDOW = """#!{python}
import json, subprocess, sys
arguments = sys.argv[1:]
if "--record" in arguments or "--export" in arguments:
    arguments += ["--size", "320x240", "--fps", "2"]
elif "--notes" not in arguments:
    for flag, value in (("--size", "1440x900"), ("--screenshot", "window.png"), ("--log", "window.jsonl")):
        arguments += [] if flag in arguments else [flag, value]
code = subprocess.run(["{window}", *arguments]).returncode
if code == 0 and "--log" in arguments:
    state = json.load(open(arguments[arguments.index("--log") + 1]))
    print(*(text for texts in state["texts"].values() for text, _, _ in texts), sep="\\n")
sys.exit(code)
"""


class Once:
    """Output and files of commands that read no file of a page: such commands run once for all pages."""

    def __init__(self):
        self.lock, self.locks, self.known = threading.Lock(), collections.defaultdict(threading.Lock), {}

    def run(self, page, command, fails):
        before = files_of(page.root)
        if any(path.name in command for path in before):
            return page.run_itself(command, fails)
        with self.lock:
            lock = self.locks[command]
        with lock:
            if command not in self.known:
                said = page.run_itself(command, fails)
                written = [path for path, time in files_of(page.root).items() if time != before.get(path)]
                self.known[command] = said, {path.relative_to(page.root): path.read_bytes() for path in written}
                return said
        said, written = self.known[command]
        for path, content in written.items():
            (page.root / path).parent.mkdir(parents=True, exist_ok=True)
            (page.root / path).write_bytes(content)
        page.done["command"] += 1
        return said


def files_of(root):
    """The page's own files, and when they were written."""
    programs = (root / "programs", root / "build", root / "cache" / "tilescope")
    return {path: path.stat().st_mtime_ns for path in root.rglob("*")
            if path.is_file() and path.parent not in programs}


class Page(Reader):
    """Reads a page and collects its faults."""

    def __init__(self, name, root, environment, window, once):
        super().__init__(name, root, environment, PROGRAMS)
        self.window, self.once, self.faults = window, once, []

    def fail(self, what):
        self.faults.append(f"{self.name}: {what}")

    def run(self, command, fails=False):
        needs_window = "tilescope-gui" in command
        if needs_window and not self.window or FORM.search(command) or any(re.match(c, command) for c in LEFT_OUT):
            return ""
        if needs_window:
            self.done["window"] += 1
        return self.once.run(self, re.sub("^build/", "", command), fails)

    def run_itself(self, command, fails):
        return super().run(command, fails)

    def known(self, passage):
        return measured(passage) if passage.startswith("Measured (") else ""

    def do_(self, part):
        if re.match(r"(build/)?tilescope|scripts/|cmake|python3", part.text):
            self.fail(f"commands, and not in sh:\n{part.text}")


def measured(text):
    """The shipped measurements of the algorithms and sizes that the text names."""
    said = ""
    for file in MEASURED.glob("s*.csv"):
        for row in csv.DictReader(line for line in file.open() if line[0] != "#"):
            name, size = row.get("algorithm", "flash_v2"), row.get("seq_q") or row.get("seq")
            if name in text and re.search(rf"\b{size}\b", text):
                said += "".join(f"{value} {value} {UNITS.get(column.split('_')[-1], '')}\n" for column, value in row.items())
    return said


def session(folder, tilescope, window):
    """Makes a folder in which the programs have the names used on the pages; returns an environment that finds them."""
    programs, build = folder / "programs", folder / "build"
    for place in (programs, build):
        place.mkdir()
        (place / "tilescope").symlink_to(tilescope)
        if window:
            wrapper = place / "tilescope-gui"
            wrapper.write_text(WINDOW.format(python=sys.executable, window=window))
            wrapper.chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    (folder / "examples").symlink_to(MINE.parents[1])
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "200",
            "XDG_CACHE_HOME": str(folder / "cache")}


def read(name, text, tilescope, window, once):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        page = Page(name, root, session(root, tilescope, window), window, once)
        page.read(text)
        return page


def helps(tilescope, window):
    """The examples of every --help, as pages."""
    top = subprocess.run([tilescope, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\w+) ", top.split("Subcommands:")[1].split("Examples:")[0], re.M)
    for program, name in [(window, ""), (tilescope, ""), *((tilescope, name) for name in [*names, "gpus show"])]:
        if program:
            shown = subprocess.run([program, *name.split(), "--help"], capture_output=True, text=True, check=True).stdout
            lines = [re.sub(" {3}.*", "", line[2:]) for line in shown.split("Examples:")[1].splitlines() if line.startswith("  tilescope")]
            yield f"{pathlib.Path(program).name} {name} --help", "```sh\n" + FILES.replace("{mine}", str(MINE)) + "\n".join(lines) + "\n```\n"


def notes(window):
    """What a scene says, beside the window that shows it, as a page. Answers are left out: they speak of other runs,
    too."""
    for name in subprocess.run([window, "--scenes"], capture_output=True, text=True, check=True).stdout.split():
        said = subprocess.run([window, "--scene", name, "--notes"], capture_output=True, text=True, check=True).stdout
        yield f"--scene {name}", f"```sh\ntilescope-gui --scene {name}\n```\n\n<!-- printed -->\n" + " ".join(said.split("  Question: ")[0].split())


def main():
    tilescope, window, source = os.path.abspath(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    window = os.path.abspath(window) if window != "-" and shutil.which("xvfb-run") else ""
    pages = {str(f.relative_to(source)): f.read_text() for pattern in ("*.md", "docs/*.md", "algorithms/**/*.md")
             for f in sorted(source.glob(pattern))}
    pages = {name: text for name, text in pages.items() if name not in OTHERS} | dict(helps(tilescope, window))
    if window:
        pages |= dict(notes(window))
    else:
        pages = {name: text for name, text in pages.items() if name not in WINDOW_PAGES}
    asked = sys.argv[4:] or list(FEWEST)
    of_window = [name for name in pages if name in WINDOW_PAGES or name.startswith("--scene ")]
    share_of = {"--window-pages": of_window, "--other-pages": [name for name in pages if name not in of_window]}
    wanted = [name for word in asked for name in share_of.get(word, [word])]
    once = Once()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as readers:
        read_pages = list(readers.map(lambda name: read(name, pages[name], tilescope, window, once), wanted))
    done = sum((page.done for page in read_pages), collections.Counter())
    faults = [fault for page in read_pages for fault in page.faults]
    fewest = sum((collections.Counter(FEWEST.get(word, {})) for word in asked), collections.Counter())
    if not window:
        fewest = WITHOUT_WINDOW if "--other-pages" in asked else {}
    faults += [f"{done[kind]} understood as {kind}, and not {n}" for kind, n in fewest.items() if done[kind] < n]
    print(*faults, sep="\n\n")
    print(f"{len(read_pages)} pages:", ", ".join(f"{done[kind]} as {kind}" for kind in FEWEST["--other-pages"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
