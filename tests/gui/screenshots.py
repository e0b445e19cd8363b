#!/usr/bin/env python3
"""Compares pictures of the main states with approved ones, which lie in tests/golden/gui.

    screenshots.py TILESCOPE_GUI              fails where one differs, and keeps it beside a picture of the difference
    screenshots.py TILESCOPE_GUI --approve    makes today's pictures the approved ones: look at them first
"""

import os
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageFilter

from driver import SKIPPED
from states import PICTURES

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "gui")
FONTS = ["/usr/share/fonts/opentype/inter/Inter-Regular.otf", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
         "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf"]


def blurred(picture):
    """Small enough for the edges of letters not to matter."""
    small = picture.convert("RGB").resize((picture.width // 2, picture.height // 2), Image.BOX)
    return numpy.asarray(small.filter(ImageFilter.BoxBlur(1)), dtype=float)


def difference(a, b):
    """The share of places that look different; 1 for pictures of different sizes."""
    if a.size != b.size:
        return 1.0
    return float((numpy.abs(blurred(a) - blurred(b)).max(axis=2) > 40).mean())


def check_comparison():
    """A moved tile is seen, and softer letters are not."""
    plain = numpy.full((200, 300, 3), 30, numpy.uint8)
    tile, moved = plain.copy(), plain.copy()
    tile[50:80, 50:80], moved[50:80, 90:120] = 200, 200
    soft = Image.fromarray(tile).filter(ImageFilter.GaussianBlur(0.5))
    assert difference(Image.fromarray(tile), Image.fromarray(moved)) > 0.01
    assert difference(Image.fromarray(tile), soft) < 0.001


def main():
    binary, approve = os.path.abspath(sys.argv[1]), "--approve" in sys.argv[2:]
    missing = [font for font in FONTS if not os.path.exists(font)]
    if missing:
        print("SKIPPED: the approved pictures were made with", *missing)
        sys.exit(SKIPPED)
    check_comparison()
    kept = tempfile.mkdtemp() if not approve else GOLDEN
    os.makedirs(kept, exist_ok=True)
    failed = 0
    for name, flags in PICTURES.items():
        path, golden = os.path.join(kept, name + ".png"), os.path.join(GOLDEN, name + ".png")
        size = [] if "--size" in flags else ["--size", "1440x900"]
        subprocess.run([binary, *flags, *size, "--screenshot", path], check=True, timeout=300)
        if approve:
            Image.open(path).convert("RGB").quantize(255, dither=Image.Dither.NONE).save(path, optimize=True)
            continue
        if not os.path.exists(golden):
            print(f"FAILED {name}: there is no {golden}; look at {path}, then --approve")
            failed += 1
            continue
        share = difference(Image.open(golden), Image.open(path))
        if share > 0.004:
            failed += 1
            print(f"FAILED {name}: {100 * share:.2f}% looks different; compare {path} with {golden}")
        else:
            os.remove(path)
    print(f"{len(PICTURES) - failed} of {len(PICTURES)} pictures are as approved" if not approve else "approved")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
