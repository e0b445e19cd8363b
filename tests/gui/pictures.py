"""Compares pictures of the window's main states with approved ones in tests/golden/gui."""

import pathlib
import shutil
import tempfile

import numpy
from PIL import Image, ImageFilter

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gui"
FONTS = ["/usr/share/fonts/opentype/inter/Inter-Regular.otf", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
         "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf"]


def blurred(picture):
    """Half the size and blurred, so that the edges of letters do not matter."""
    small = picture.convert("RGB").resize((picture.width // 2, picture.height // 2), Image.BOX)
    return numpy.asarray(small.filter(ImageFilter.BoxBlur(1)), dtype=float)


def difference(a, b):
    """The share of pixels that look different; 1 for pictures of different sizes."""
    if a.size != b.size:
        return 1.0
    return float((numpy.abs(blurred(a) - blurred(b)).max(axis=2) > 40).mean())


def check_comparison():
    """A moved tile is noticed, and softer letters are not."""
    plain = numpy.full((200, 300, 3), 30, numpy.uint8)
    tile, moved = plain.copy(), plain.copy()
    tile[50:80, 50:80], moved[50:80, 90:120] = 200, 200
    soft = Image.fromarray(tile).filter(ImageFilter.GaussianBlur(0.5))
    assert difference(Image.fromarray(tile), Image.fromarray(moved)) > 0.01
    assert difference(Image.fromarray(tile), soft) < 0.001


def looks_as_approved(name, path, approve):
    """What is wrong with the picture of a state that has an approved one; "" where they look alike. With `approve`, the
    picture replaces the approved one, unless it looks the same."""
    golden = GOLDEN / f"{name}.png"
    share = difference(Image.open(golden), Image.open(path)) if golden.exists() else 1.0
    if share <= 0.004:
        return ""
    if approve:
        Image.open(path).convert("RGB").quantize(255, dither=Image.Dither.NONE).save(golden, optimize=True)
        return ""
    kept = pathlib.Path(tempfile.mkdtemp()) / f"{name}.png"
    shutil.copy(path, kept)
    return f"{100 * share:.2f}% looks different; compare {kept} with {golden}"
