#!/usr/bin/env python3
"""Every figure is drawn, in every format and theme; what is wrong is said in a line, and nothing is half written.

    plot.py TILESCOPE          formats, pages, numbers and refusals, of figures that are drawn at once
    plot.py TILESCOPE --all    every figure, and all measurements: two minutes of processor time
"""

import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from cases import Tally, run

KINDS = "io-vs-n io-vs-d io-vs-sram io-vs-block footprint waves roofline ladder forward-backward tiles timeline loop-order validation validation-time".split()
BEGINS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG", "tex": b"\\begin{tikzpicture}"}
QUICK = "io-vs-d --vary dim=32,64"


def words_of(path):
    return " ".join("".join(e.itertext()) for e in xml.etree.ElementTree.parse(path).iter() if e.tag.endswith("text"))


def check_all(tally, binary, folder):
    """Every figure as docs/figures.md draws it, and as wide as a column; and what two of them draw of the measurements."""
    r = run(binary, f"plot --all -o {folder}/page")
    tally.check(r.returncode == 0 and r.stderr == "", f"--all: {r.stderr}")
    tally.check(sorted(os.listdir(folder / "page")) == sorted(f"{kind}.svg" for kind in KINDS), "--all: other files")
    r = run(binary, f"plot --all --width column -o {folder}/all --data")
    tally.check(r.returncode == 0 and r.stderr == "", f"--all --width column: {r.stderr}")
    for kind in KINDS:
        path = folder / "all" / f"{kind}.svg"
        tally.check(path.exists(), f"--all: no {kind}.svg")
        if path.exists():
            words = words_of(path)
            tally.check(f"tilescope plot {kind} --width column -o {kind}.svg" in words, f"{kind}: the command is not in the picture")
            tally.check("ounted" in words or "odelled" in words, f"{kind}: no word of what is counted or modelled")
    files = sorted(f"{kind}.{ending}" for kind in KINDS for ending in ("svg", "csv", "gp"))
    tally.check(sorted(os.listdir(folder / "all")) == files, "--all --data: other files")
    check_times(tally, binary, rows_of(folder / "all" / "validation-time.csv"))
    check_bytes(tally, rows_of(folder / "all" / "validation.csv"))


def check_formats(tally, binary, folder):
    for ending, begin in BEGINS.items():
        for theme in ("light", "dark", "print"):
            path = folder / f"{theme}.{ending}"
            r = run(binary, f"plot {QUICK} --theme {theme} -o {path} --data")
            content = path.read_bytes() if path.exists() else b""
            tally.check(r.returncode == 0 and content.startswith(begin), f"{theme} {ending}: {r.stderr} {content[:20]}")
            # The script draws the same again.
            again = folder / "again"
            again.mkdir()
            shutil.copy(path.with_suffix(".gp"), again)
            subprocess.run(["gnuplot", f"{theme}.gp"], cwd=again, check=True)
            tally.check((again / f"{theme}.{ending}").exists(), f"{theme} {ending}: the script draws nothing")
            shutil.rmtree(again)
    rows = path.with_suffix(".csv").read_text()
    tally.check(rows == run(binary, f"plot {QUICK} --data").stdout, "--data with and without -o differ")


def check_pages(tally, binary, folder):
    r = run(binary, f"plot {QUICK} --width column -o {folder}/a.svg --no-caption")
    svg = xml.etree.ElementTree.parse(folder / "a.svg").getroot()
    tally.check(svg.get("width") == "321", f"8.5 cm are 321 pixels of SVG, not {svg.get('width')}")
    tally.check("tilescope plot" not in words_of(folder / "a.svg"), "--no-caption: there is one")
    tally.check("SM traffic is counted" in r.stdout and "--width column --no-caption" in r.stdout, f"no caption printed: {r.stdout}")
    sizes = {float(e.get("font-size")) for e in svg.iter() if e.get("font-size")}
    tally.check(min(sizes) > 9.5 and max(sizes) < 12, f"8 points are 10.7 pixels; there are {sizes}")
    run(binary, f"plot {QUICK} --width 100mm --font-size 9 -o {folder}/a.tex")
    tex = (folder / "a.tex").read_text()
    tally.check("fontsize{9}" in tex, "--font-size 9 is not TeX's")


def check_json(tally, binary, folder):
    r = run(binary, f"plot {QUICK} --json")
    figure = json.loads(r.stdout)
    rows = list(csv.DictReader(io.StringIO(run(binary, f"plot {QUICK} --data").stdout)))
    points = [(p["title"], s["title"], q["x"], q["y"]) for p in figure["panels"] for s in p["series"] for q in s["points"]]
    tally.check(points == [(row["panel"], row["series"], float(row["x"]), float(row["y"])) for row in rows],
                "--json and --data differ")
    path = folder / "a.svg"
    r = run(binary, f"plot {QUICK} --json -o {path}")
    tally.check(json.loads(r.stdout)["panels"] == figure["panels"] and path.exists(), "--json -o: not both")


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def check_times(tally, binary, rows):
    """What is drawn of the measurements is what `measured` prints of them."""
    lines = ("equal", "25% off", "")
    drawn = sorted(float(r["y"]) for r in rows if r["series"] not in lines and abs(float(r["y"])) > 1)
    cases = list(csv.DictReader(io.StringIO(run(binary, "measured --format csv").stdout)))
    ratios = [100 * (float(c["time_ratio"]) - 1) for c in cases if c["time_ratio"]]
    expected = sorted(x for x in ratios if abs(x) > 1)
    tally.check(len(drawn) == len(expected) > 400 and all(abs(a - b) < 0.01 for a, b in zip(drawn, expected)),
                f"{len(drawn)} errors are drawn, {len(expected)} are printed")


def check_bytes(tally, rows):
    """What is drawn of bytes is what ships: every f32 case of the H200."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "docs/measured/h200"
    shipped = [row for path in [*folder.glob("survey-*.csv"), *folder.glob("edges*.csv")]
               for row in csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#"))]
    for series, key in (("read", "read"), ("written", "write")):
        drawn = sorted((float(r["x"]), float(r["y"])) for r in rows if r["series"] == series)
        expected = sorted((float(c[f"simulated_{key}_bytes"]), float(c[f"measured_{key}_bytes"])) for c in shipped
                          if c["dtype"] == "f32" and c[f"measured_{key}_bytes"])
        tally.check(drawn == expected and len(drawn) > 300, f"{series}: {len(drawn)} drawn, {len(expected)} shipped")


def check_refusals(tally, binary, folder):
    for args, code, words in (
            ("plot", 2, "needs a figure"), ("plot io-vs-n", 2, "needs -o FILE"), ("plot io-vs-m -o a.svg", 2, "did you mean io-vs-n"),
            ("plot io-vs-n -o a.gif", 2, ".svg"), 
            ("plot io-vs-n --theme blue -o a.svg", 2, "--theme blue"), ("plot tiles --metric speed -o a.svg", 2, "--metric speed"),
            ("plot tiles flash_v1 flash_v2 -o a.svg", 2, "leave out flash_v2"), ("plot io-vs-n --vary dim=64 -o a.svg", 2, "varies seq alone"),
            ("plot io-vs-n --vary seq=2048:1024:x2 -o a.svg", 2, "ends before it begins"),
            ("plot io-vs-n flash_v2:br=4096,bc=4096 -o a.svg", 1, "nothing fits on chip"),
            (f"plot {QUICK} -o nowhere/a.svg", 1, "nowhere/a.svg"), ("plot --all", 2, "--all -o figures"),
            ("plot io-vs-n --all -o figures", 2, "leave out the kind"), ("plot --all -o x.png", 2, "folder of SVGs"),
            ("plot tiles --seq 64 --metric bound -o a.svg", 2, "is a word"),
            ("plot loop-order --seq 64k --br 16 --bc 16 -o a.svg", 2, "too many to be seen"),
            ("plot validation --seq 64 -o a.svg", 2, "every measured case"),
            ("plot validation-time flash_v2 -o a.svg", 2, "every measured case"),
            *((f"plot {kind} --vary seq=64 -o a.svg", 2, "varies nothing") for kind in ("loop-order", "ladder", "timeline")),
            *((f"plot {words} -o a.svg", 2, "this figure varies") for words in (
                "tiles --br 32", "tiles --tiles paper", "io-vs-n --seq 2048", "footprint --seq 2048", "waves --heads 4",
                "io-vs-d --dim 32", "io-vs-sram --sram 64", "io-vs-block --bc 32")),
            ("plot io-vs-n --metric hbm_bytes -o a.svg", 2, "has metrics of its own"),
            ("plot loop-order softmax_safe -o a.svg", 2, "has no score matrix"),
            ("plot ladder --width 8 -o a.svg", 2, "try --width 8.5cm"), ("plot ladder --width 1cm -o a.svg", 2, "4 to 100 cm"),
            ("plot ladder --font-size 2 -o a.svg", 2, "4 to 48 points"), ("plot ladder --font-size x -o a.svg", 2, "--font-size x"),
            ("plot --all --json -o figures", 2, "and --json")):
        r = run(binary, args, cwd=folder)
        tally.check(r.returncode == code and words in r.stderr and r.stderr.count("\n") == 1,
                    f"`{args}`: exit {r.returncode}, {r.stderr!r}")
    r = run(binary, f"plot {QUICK} -o a.svg", cwd=folder, env={**os.environ, "PATH": "/nowhere"})
    tally.check(r.returncode == 1 and "gnuplot-nox" in r.stderr and r.stderr.count("\n") == 1, f"without gnuplot: {r.stderr!r}")
    r = run(binary, f"plot {QUICK} --data", cwd=folder, env={**os.environ, "PATH": "/nowhere"})
    tally.check(r.returncode == 0 and r.stdout.startswith("panel,series"), f"numbers need no gnuplot: {r.stderr!r}")
    tally.check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    if not shutil.which("gnuplot"):
        print("SKIPPED: there is no gnuplot")
        return 77
    quick = (check_formats, check_pages, check_json, check_refusals)
    for check in (check_all,) if sys.argv[2:] == ["--all"] else quick:
        with tempfile.TemporaryDirectory() as folder:
            check(tally, binary, pathlib.Path(folder))
    tally.close()
    return 0


sys.exit(main())
