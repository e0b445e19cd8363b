#!/usr/bin/env python3
"""Text from files remains text in all formats that it is written in: gnuplot, TeX, shell, tables, JSON, Perfetto.

    foreign_text.py TILESCOPE

Names contain commands, in each of these languages, that would create the file "marked" here. None may be carried out,
and each name has to appear as it is.
"""

import csv
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from cases import Tally, run

# A GPU's name has at most 100 bytes.
NAME = "'G`touch marked`$(touch marked)'.system('touch marked').'\".system(\"touch marked\").\"%d\\n<b>&|"
TITLE = "T`touch marked`\\write18{touch marked}\\input{x}^~_*[a](b)drawtext=text='%{pts}'@x"
SMALL = "--heads 2 --seq 256 --dim 32"
# Kinds of figures that are drawn quickly, with flags that make them small.
KINDS = {"io-vs-d": "--vary dim=32,64", "waves": "--vary heads=1:2:x2", "roofline": SMALL, "ladder": SMALL,
         "forward-backward": "--seq 256 --heads 2", "timeline": SMALL, "loop-order": "--seq 64 --heads 1",
         "tiles": SMALL + " --vary br=16,32 --vary bc=16,32", "footprint": "--vary seq=256,512", "io-vs-block": "--seq 256"}


def packed(text):
    return re.sub(r"\s+", "", text)


def in_tex(text):
    """The text escaped for TeX."""
    special = {"\\": "\\textbackslash{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "~": "\\~{}",
               "^": "\\^{}"}
    return "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)


def words_of(svg):
    return "".join("".join(e.itertext()) for e in xml.etree.ElementTree.parse(svg).iter() if e.tag.endswith("text"))


class Exports:
    def __init__(self, tally, binary, folder):
        self.tally, self.binary, self.folder = tally, binary, folder
        self.names = {"name": NAME, "title": TITLE}
        self.gpu = folder / "gpu.json"
        self.gpu.write_text(json.dumps({"base": "A100-40GB", "name": NAME, "title": TITLE,
                                        "sms": {"value": 54, "source": TITLE}}))

    def run(self, *words, code=0):
        r = run(self.binary, list(words), cwd=self.folder)
        self.tally.check(r.returncode == code, f"{words}: exit {r.returncode}: {r.stderr}")
        self.unmarked(words)
        return r.stdout

    def unmarked(self, what):
        marked = self.folder / "marked"
        self.tally.check(not marked.exists(), f"{what}: a command in a name was carried out")
        marked.unlink(missing_ok=True)

    def has(self, what, text, content):
        self.tally.check(packed(text) in packed(content), f"{what}: not there as text: {text}\n{content[:600]}")

    # ---- gnuplot and TeX

    def draw(self, kind, flags, ending, name):
        out = f"{kind}.{ending}"
        self.run("plot", kind, *flags, "--gpu", str(self.gpu), "-o", out, "--data")
        again = self.folder / "again"
        again.mkdir()
        shutil.copy(self.folder / f"{kind}.gp", again)
        done = subprocess.run(["gnuplot", f"{kind}.gp"], cwd=again, capture_output=True, text=True)
        self.tally.check(done.returncode == 0, f"gnuplot {kind}.gp: {done.stderr}")
        self.tally.check(not (again / "marked").exists(), f"{kind}.gp: gnuplot has carried out a command")
        for path in (self.folder / out, again / out):
            if ending == "svg":
                self.has(path, name, words_of(path))
            if ending == "tex":
                self.has(path, in_tex(name), "".join(re.findall(r"^\\node.*? at \(.*?\) \{(.*)\};$", path.read_text(), re.M)))
        shutil.rmtree(again)
        self.unmarked(f"plot {kind} -o {out}")

    def figures(self):
        for kind, flags in KINDS.items():
            self.draw(kind, flags.split(), "svg", NAME)
        for ending in ("tex", "pdf", "png"):
            self.draw("roofline", SMALL.split(), ending, NAME)
        self.draw("io-vs-d", [*KINDS["io-vs-d"].split(), "--width", "column"], "svg", NAME)  # narrow: other line breaks
        # The name as the label of a tick, in a legend, and as a title.
        for kind in ("ladder", "roofline"):
            self.run("plot", kind, f"flash_v2:label={NAME}", *SMALL.split(), "--title", TITLE, "-o", f"labels-{kind}.svg")
        self.tally.check(packed("drawtext=text='%{pts}'@x") in packed(words_of(self.folder / "labels-ladder.svg")),
                         "a title with @ is not drawn whole")
        # The name of the output file inside a script that is passed on.
        self.run("plot", "io-vs-d", *KINDS["io-vs-d"].split(), "-o", "|touch marked #.svg", "--data")
        subprocess.run(["gnuplot", "|touch marked #.gp"], cwd=self.folder, check=True)
        self.unmarked("a script of gnuplot that writes to a file with | in front")

    # ---- tables, JSON, Perfetto, commands

    def tables(self):
        flags = [*SMALL.split(), "--gpu", str(self.gpu), "--mode", "count"]
        rows = list(csv.DictReader(io.StringIO(self.run("sweep", "flash_v2", *SMALL.split(), "--vary", f"gpu={self.gpu}"))))
        self.tally.check(rows[0]["gpu"] == NAME, f"sweep: {rows[0]['gpu']}")
        self.has("run", NAME, self.run("run", "flash_v2", *flags))
        self.tally.check(json.loads(self.run("run", "flash_v2", *flags, "--json"))["gpu"]["title"] == TITLE, "run --json")
        self.has("gpus show", TITLE, self.run("gpus", "show", str(self.gpu)))
        self.has("timeline", "flash_v2", self.run("timeline", "flash_v2", *flags[:-2]))
        for form in ("text", "markdown", "latex", "csv", "json"):
            self.run("compare", "flash_v2", "standard", *flags, "--format", form)

    def recordings(self):
        self.run("trace", "flash_v2", "--heads", "1", "--seq", "32", "--dim", "8", "--gpu", str(self.gpu), "-o", "r.json")
        self.has("trace", NAME, json.loads((self.folder / "r.json").read_text())["gpu"]["name"]
                 if "gpu" in json.loads((self.folder / "r.json").read_text()) else (self.folder / "r.json").read_text())
        self.run("replay", "r.json")
        self.run("trace", "flash_v2", *SMALL.split(), "--gpu", str(self.gpu), "--perfetto", "-o", "p.pftrace")
        self.tally.check(NAME.encode() in (self.folder / "p.pftrace").read_bytes(), "Perfetto: another name")

    def commands(self):
        """A command that a message prints can be typed back: the shell runs it as it was."""
        copy = self.folder / "q`touch marked`$(touch marked)'\"; touch marked #.json"
        shutil.copy(self.gpu, copy)
        said = run(self.binary, ["run", "standard", "--dim", "64", "--br", "4096", "--bc", "4096", "--gpu", copy.name], cwd=self.folder).stderr
        lines = [l for l in said.splitlines() if "see it: " in l]
        self.tally.check(len(lines) == 1, f"no command: {said}")
        if lines:
            command = lines[0].split("see it: ")[1]
            self.tally.check(copy.name in shlex.split(command), f"another command: {command}")
            subprocess.run(["sh", "-c", "set -- " + command], cwd=self.folder, check=True)
            self.unmarked(command)


def main():
    tally = Tally()
    if not shutil.which("gnuplot"):
        print("SKIPPED: there is no gnuplot")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        exports = Exports(tally, os.path.abspath(sys.argv[1]), pathlib.Path(folder))
        exports.tables()
        exports.recordings()
        exports.commands()
        exports.figures()
    tally.close()


main()
