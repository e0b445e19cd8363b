#!/usr/bin/env python3
"""Figures with odd ranges, GPUs, names and sizes look as they did when somebody approved them.

    odd_figures.py TILESCOPE             compares with tests/figures
    odd_figures.py TILESCOPE --approve   draws the approved figures anew: look at them before you commit them

Words must be equal, places equal to half a pixel. With another gnuplot than drew the approved figures, only words."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree

from cases import Tally, run

APPROVED = pathlib.Path(__file__).resolve().parent.parent / "figures"
FIGURES = {
    "io_vs_n_linear": "io-vs-n --vary seq=256:16k:+1000",
    "io_vs_n_one_point": "io-vs-n --vary seq=1024",
    "io_vs_n_named": "io-vs-n flash_v2:br=64,bc=64,label=small flash_v2:br=128,bc=128,label=large flash_v2@A100 --vary "
                     "seq=256:4k:x2 --legend beside",
    "io_vs_d_cut": "io-vs-d flash_v2 --br 10000 --vary dim=16,64,256",
    "io_vs_sram_column": "io-vs-sram --vary sram=16:128:x2 --dim 128 --seq 1024 --width column --theme print",
    "footprint_beyond": "footprint standard chunked --vary seq=1k:1024k:x4 --heads 64",
    "waves_two_gpus": "waves flash_v2@A100 flash_v2@H200 --vary heads=1,2,3,5,8,13,21,34,55",
    "roofline_softmax": "roofline softmax_naive softmax_online --seq 4096 --gpu V100",
    "roofline_path": "roofline --vary seq=512:16384:x2 --theme dark",
    "ladder_column": "ladder --seq 512 --width column --no-caption",
    "ladder_backward": "ladder standard_backward flash_v1_backward flash_v2_backward two_pass_backward "
                       "memory_efficient_backward --seq 512 --width page --theme print",
    "forward_backward_two_gpus": "forward-backward flash_v2_backward@A100 flash_v2_backward@H100 --heads 8 --seq 2048",
    "tiles_alike": "tiles flash_v2 --dim 128 --metric dram_bytes --vary br=16:128:+16 --vary bc=16:128:+16",
    "timeline_waves": "timeline --seq 32k --heads 16 --width page",
}


def words_of(svg):
    return ["".join(t.itertext()) for t in xml.etree.ElementTree.fromstring(svg).iter() if t.tag.endswith("}text")]


def version_of(svg):
    return re.search(r"GNUPLOT [\d.]+ patchlevel \d+", svg).group()


def differs(now, approved):
    """A line on how a figure differs from the approved one; empty where it does not."""
    if words_of(now) != words_of(approved):
        return f"words {sorted(set(words_of(now)) ^ set(words_of(approved)))[:6]}"
    if version_of(now) != version_of(approved):
        return ""
    number = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
    if number.sub("#", now) != number.sub("#", approved):
        return "other lines are drawn"
    far = [(a, b) for a, b in zip(number.findall(now), number.findall(approved)) if abs(float(a) - float(b)) > 0.5]
    return f"{len(far)} places, the first {far[0]}" if far else ""


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    if not shutil.which("gnuplot"):
        sys.exit(77)
    approve = "--approve" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for name, words in FIGURES.items():
            done = run(binary, f"plot {words} -o {name}.svg", cwd=folder)
            drawn = pathlib.Path(folder) / f"{name}.svg"
            tally.check(done.returncode == 0 and drawn.exists(), f"{name}: {done.stderr}")
            if not drawn.exists():
                continue
            now, path = drawn.read_text(), APPROVED / f"{name}.svg"
            if approve and (not path.exists() or differs(now, path.read_text())):
                path.write_text(now)
            wrong = differs(now, path.read_text()) if path.exists() else "nobody has looked at it"
            tally.check(not wrong, f"{name}: {wrong}; draw it with tilescope plot {words}")
    here = {path.stem for path in APPROVED.glob("*.svg")}
    tally.check(here == set(FIGURES), f"pictures of nothing: {here - set(FIGURES)}")
    tally.close()


main()
