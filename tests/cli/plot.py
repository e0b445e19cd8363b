#!/usr/bin/env python3
"""Every figure is drawn, in every format and theme. An error is one line, and leaves no half-written file.

    plot.py TILESCOPE          formats, pages, numbers and refusals, with figures that are drawn quickly
    plot.py TILESCOPE --all    every figure, and all measurements: two minutes of processor time
"""

import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

from cases import Tally, run

KINDS = "io-vs-n io-vs-d io-vs-sram io-vs-block footprint waves roofline ladder forward-backward tiles timeline loop-order validation validation-time".split()
BEGINS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG", "tex": b"\\begin{tikzpicture}"}
QUICK = "io-vs-d --vary dim=32,64"


def words_of(path):
    return " ".join("".join(e.itertext()) for e in xml.etree.ElementTree.parse(path).iter() if e.tag.endswith("text"))


def check_all(tally, binary, folder):
    """Every figure as docs/figures.md draws it and in a column's width, and what two figures show of the
    measurements."""
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
            # The script draws the same figure again.
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


def sizes_of_words(pdf):
    """Font sizes in points in a PDF that cairo wrote: each text has a matrix."""
    sizes = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf.read_bytes(), re.S):
        try:
            page = zlib.decompress(stream)
        except zlib.error:
            continue
        for a, b in re.findall(rb"([-\d.]+) ([-\d.]+) [-\d.]+ [-\d.]+ [-\d.]+ [-\d.]+ Tm", page):
            sizes.append((float(a) ** 2 + float(b) ** 2) ** 0.5)
    return sizes


def check_words_in_print(tally, binary, folder):
    """Words in a PDF have the documented size, whatever the figure."""
    for words, least in ((f"{QUICK} --width column", 7.8), (f"{QUICK} --width page", 7.8), (QUICK, 10.5),
                         ("ladder --heads 2 --seq 512 --width column", 7.8),
                         ("roofline --heads 2 --seq 512 --width column", 7.8),
                         (f"{QUICK} --width column --font-size 10", 8.6)):
        r = run(binary, f"plot {words} -o {folder}/a.pdf")
        sizes = sizes_of_words(folder / "a.pdf")
        tally.check(r.returncode == 0 and len(sizes) > 10 and min(sizes) >= least and max(sizes) < 2.2 * least,
                    f"plot {words}: words of {min(sizes, default=0):.2f} to {max(sizes, default=0):.2f} points")


def lightness(colour):
    """CIE's L* of "#rrggbb"."""
    linear = [(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
              for c in (int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5))]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def check_grey(tally, binary, folder):
    """In a grey copy of the print theme, bars can be told apart."""
    run(binary, f"plot ladder --heads 2 --seq 512 --theme print -o {folder}/a.svg --data")
    script = (folder / "a.gp").read_text()
    fills = re.findall(r'keyentry with boxes .*?lc rgb "(#\w+)" title', script)
    light = [lightness(c.split('"')[-1]) for c in fills]
    tally.check(len(light) == 5 and all(abs(a - b) > 12 for k, a in enumerate(light) for b in light[:k]),
                f"lightness of {fills}: {light}")


def check_names(tally, binary, folder):
    """Series, bars and the figure have the names that were asked for, and one panel may stand alone."""
    r = run(binary, ["plot", "io-vs-d", "standard:label=Unfused attention", "flash_v2:bc=64,label=ours", "--vary", "dim=32,64",
                     "--title", "Bytes, by 'd'", "--panel", "1", "--json", "-o", f"{folder}/a.svg"])
    figure = json.loads(r.stdout)
    tally.check([s["title"] for s in figure["panels"][0]["series"]][:2] == ["Unfused attention", "ours"],
                f"labels: {figure['panels'][0]['series']}")
    tally.check(len(figure["panels"]) == 1 and figure["title"] == "Bytes, by 'd'", "--panel 1 --title")
    words = words_of(folder / "a.svg")
    tally.check("Bytes, by 'd'" in words and "from DRAM" not in words and "Unfused attention" in words, words)
    tally.check("--title" in figure["command"] and "--panel 1" in figure["command"], figure["command"])
    rows = list(csv.DictReader(io.StringIO(run(binary, "plot ladder standard flash_v2:label=ours --heads 2 --seq 512 --data").stdout)))
    tally.check({row["bar"] for row in rows if row["x_to"]} == {"standard attention", "ours"}, f"bars: {rows[:2]}")
    for ending in ("svg", "tex"):
        run(binary, f"plot io-vs-d flash_v2@A100 --vary dim=32,64 -o {folder}/b.{ending}")
        drawn = words_of(folder / "b.svg") if ending == "svg" else (folder / "b.tex").read_text()
        tally.check(("io-vs-d 'flash_v2@A100'" if ending == "svg" else "@A100") in drawn, f"the command in the .{ending} has no @A100")
    ladder = json.loads(run(binary, "plot ladder standard@A100 flash_v2@H100 --heads 2 --seq 512 --json").stdout)["caption"]
    tally.check("Standard attention on A100: 2 heads" in ladder and "on A100-40GB; FlashAttention-2 on H100: 2 heads" in ladder,
                ladder)


def check_captions(tally, binary, folder):
    """A caption describes what its own picture shows."""
    def caption(words):
        return json.loads(run(binary, f"plot {words} --json").stdout)["caption"]

    wide, narrow, one = (caption(f"io-vs-n --vary {v}") for v in ("seq=8k:32k:x2", "seq=256:1k:x2", "seq=1024"))
    tally.check("FlashAttention leaves the L2" in wide and "Dotted lines" in wide, wide)
    tally.check("leaves the L2" not in narrow and "jumps" not in narrow and "Dotted lines" in narrow, narrow)
    tally.check("Dotted" not in one and "bytes grow" not in one, one)
    tally.check("jumps" in caption("io-vs-n standard --vary seq=256:128k:x2 --gpu toy --dim 4 --heads 1")
                or "jumps" in caption("io-vs-n standard --vary seq=16k:128k:x2"), "standard jumps nowhere")
    first, second, both = (caption(f"io-vs-n --vary seq=8k:32k:x2{panel}") for panel in (" --panel 1", " --panel 2", ""))
    tally.check("SM traffic is counted" in first and "DRAM" not in first and "leaves the L2" not in first, first)
    tally.check("DRAM reads are modelled" in second and "Dotted" not in second and "SM traffic" not in second, second)
    tally.check(both == wide, both)
    cut = caption("io-vs-n flash_v2:br=128,bc=128 --vary seq=64,128")
    tally.check("tiles that stay" not in cut and "tiles that stay" not in caption("io-vs-n --tiles paper --vary seq=256:1k:x2"), cut)
    dropped = caption("io-vs-d flash_v2 --br 10000 --vary dim=16,64,256")
    tally.check("FlashAttention-2 has no room on chip at dim = 64, 256." in dropped and "bend" not in dropped, dropped)
    tally.check("Crosses" in caption("footprint standard --vary seq=64k:1024k:x2") and
                "Crosses" not in caption("footprint flash_v2 --vary seq=256,512"), "crosses")
    fewest = caption("tiles flash_v2 --seq 512 --metric dram_bytes --vary br=16,64,128 --vary bc=16,64,128")
    tally.check("within 1% of the fewest bytes" in fewest and "Curves" not in fewest, fewest)
    for kind in ("timeline", "loop-order", "ladder"):
        two = caption(f"{kind} flash_v2@A100 flash_v2@H100 --heads 1 --seq 512")
        tally.check("A100-40GB" in two and "H100-SXM" in two, f"{kind} of two GPUs: {two}")
    two = caption("forward-backward flash_v2_backward@A100 flash_v2_backward@H100 --heads 1 --seq 512")
    tally.check("A100-40GB" in two and "H100-SXM" in two, f"forward-backward of two GPUs: {two}")
    figure = json.loads(run(binary, "plot timeline flash_v2 --seq 64k --heads 64 --json").stdout)
    busy = max(b["x_to"] for b in figure["panels"][0]["boxes"])
    last = {}
    for b in figure["panels"][0]["boxes"]:
        last[int(b["y"])] = max(last.get(int(b["y"]), 0), b["x_to"])
    tally.check(min(last.values()) > 0.9 * busy, f"SMs that seem to be idle: {last}")
    ticks = re.findall(r"set xtics \((.*?)\) nomirror", (run(binary, f"plot waves --vary heads=1:64:+1 -o {folder}/a.svg --data"),
                                                         (folder / "a.gp").read_text())[1])
    tally.check(ticks and ticks[0].startswith("'1' 1, '8' 8, '16' 16"), f"ticks of heads: {ticks[:1]}")
    script = (folder / "a.gp").read_text()
    tally.check("time (modelled), µs" in script and "FLOP/s" in script, "units of the axes")
    run(binary, f"plot io-vs-n --vary seq=256:16k:+1000 -o {folder}/a.svg --data")
    ticks = re.findall(r"set xtics \((.*?)\) nomirror", (folder / "a.gp").read_text())[0]
    tally.check(ticks == "'256' 256, '512' 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192", f"ticks of N: {ticks}")


def check_remarks(tally, binary, folder):
    """Flaws of a picture are remarked on, and the picture is written all the same."""
    rare = "\U00010600"  # of Linear A
    no_font = shutil.which("fc-list") and not subprocess.run(["fc-list", ":charset=10600"], capture_output=True).stdout
    for ending, boxes in (("png", True), ("pdf", True), ("svg", False), ("tex", False)):
        out = folder / f"rare.{ending}"
        r = run(binary, ["plot", *QUICK.split(), "--title", f"x {rare}", "-o", str(out)])
        said = f"no font of this machine has {rare}," in r.stderr
        tally.check(r.returncode == 0 and out.exists() and said == bool(no_font and boxes), f"{ending}: {r.stderr!r}")
    for words, high in (("", True), ("--panel 1", False)):
        r = run(binary, f"plot loop-order --seq 512 --width column {words} -o {folder}/high.svg")
        tally.check(r.returncode == 0 and ("cm high, and a page has some 24" in r.stderr) == high, f"{words}: {r.stderr!r}")


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
    """The figure of times draws the cases that `measured` prints."""
    lines = ("equal", "25% off", "")
    drawn = sorted(float(r["y"]) for r in rows if r["series"] not in lines and abs(float(r["y"])) > 1)
    cases = list(csv.DictReader(io.StringIO(run(binary, "measured --format csv").stdout)))
    ratios = [100 * (float(c["time_ratio"]) - 1) for c in cases if c["time_ratio"]]
    expected = sorted(x for x in ratios if abs(x) > 1)
    tally.check(len(drawn) == len(expected) > 400 and all(abs(a - b) < 0.01 for a, b in zip(drawn, expected)),
                f"{len(drawn)} errors are drawn, {len(expected)} are printed")


def check_bytes(tally, rows):
    """The figure of bytes draws the shipped measurements: every f32 case of the H200."""
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
            ("plot roofline flash_v2@A100 flash_v2@H100 -o a.svg", 2, "draw a figure of each, with --gpu H100-SXM"),
            ("plot ladder --font-size 40 --width column -o a.svg", 2, "words have no room in 8.5 cm; try --font-size 11"),
            ("plot ladder --panel 2 -o a.svg", 2, "ladder has 1 panel here; try --panel 1"),
            ("plot ladder flash_v2:labl=x -o a.svg", 2, "and label"),
            ("plot --all --title x -o figures", 2, "leave out the kind"),
            (["plot", "ladder", "--title", " ", "-o", "a.svg"], 2, "has no words; try --no-caption"),
            ("plot ladder --legend left -o a.svg", 2, "must be above or beside"),
            ("plot ladder flash_v2 flash_v2 -o a.svg", 2, "is drawn twice; leave one out, or name them apart: flash_v2:label=another"),
            ("plot ladder flash_v2:label=x standard:label=x -o a.svg", 2, "x is drawn twice"),
            ("plot ladder flash_v2@H100:br=64 -o a.svg", 2, "settings come before the GPU; try flash_v2:br=64@H100"),
            ("plot timeline flash_v2:br=4,bc=4 --dim 4 --seq 64k --heads 4 --gpu toy -o a.svg", 2, "too many to be seen"),
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
    quick = (check_formats, check_pages, check_words_in_print, check_grey, check_names, check_captions, check_remarks, check_json,
             check_refusals)
    for check in (check_all,) if sys.argv[2:] == ["--all"] else quick:
        with tempfile.TemporaryDirectory() as folder:
            check(tally, binary, pathlib.Path(folder))
    tally.close()
    return 0


sys.exit(main())
