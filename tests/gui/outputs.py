#!/usr/bin/env python3
"""Pictures, films and logs of the window are right, or a message says why not.

    outputs.py TILESCOPE_GUI
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from driver import SKIPPED, Display

GUI = os.path.abspath(sys.argv[1])
SMALL = "flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --br 4 --bc 4 --size 480x360".split()
FILM = "--from 0 --to 40 --speed 20 --fps 10".split()
CLOSED_PIPE = 141
SAME = 48  # largest difference of squares that look the same, of 255


def run(*flags, display=None, **more):
    """Runs the window's program without a display, as on a server, unless one is given."""
    nowhere = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run([GUI, *flags], env=display.environment if display else nowhere, stderr=subprocess.PIPE,
                          text=True, timeout=120, **more)


def refused(r, code, *words):
    return r.returncode == code and r.stderr.count("\n") == 1 and all(w in r.stderr for w in words)


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def checks_standard_output(_):
    for flag in ("--help", "--version", "--notes"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            r = run(flag, stdout=full)
        assert refused(r, 1, "No space left"), r
        reader, writer = os.pipe()
        os.close(reader)
        r = run(flag, stdout=writer)
        os.close(writer)
        assert r.returncode == CLOSED_PIPE and not r.stderr, r


def prints_notes(_):
    """--notes prints one scene, or all scenes in their order, and neither shows nor writes anything else."""
    one = run("--scene", "recurrence", "--notes", stdout=subprocess.PIPE).stdout
    every = run("--notes", stdout=subprocess.PIPE).stdout
    assert one.startswith("4 of 20 · ") and "  Question: " in one and "  Answer: " in one, one
    scenes = every.split("\n\n")
    assert len(scenes) == 20 and scenes[3] + "\n" == one, every
    assert all(len(line) <= 120 for line in every.splitlines()), every
    assert refused(run("--notes", "--screenshot", "a.png"), 2, "--notes", "leave out a.png")
    assert refused(run("flash_v1", "--notes"), 2, "flash_v1: --notes is of scenes; leave it out")
    assert refused(run("--scene", "recurence", "--notes"), 2, "try --scene recurrence")
    assert refused(run("--answer"), 2, "--answer: is of a scene; try --answer --scene softmax-overflows")


def keeps_the_old_one_on_a_full_disk(folder):
    display = Display(640, 480)  # outside of the limit, so that the display can write its own files
    for name, flags in (("a.png", ["--screenshot"]), ("a.gif", [*FILM, "--record"]), ("a.mp4", [*FILM, "--record"])):
        path = os.path.join(folder, name)
        for old in (None, b"the old one"):
            if old:
                with open(path, "wb") as file:
                    file.write(old)
            r = run(*SMALL, *flags, path, display=display, preexec_fn=limited(8192))
            assert refused(r, 1, "File too large"), r
            assert os.listdir(folder) == ([name] if old else []), os.listdir(folder)
            assert not old or open(path, "rb").read() == old
        os.remove(path)
        os.symlink("/dev/full", path)
        r = run(*SMALL, *flags, path, display=display)
        assert refused(r, 1, name, "No space left"), r
        os.remove(path)
    display.close()


def keeps_permissions(folder):
    for name, flags in (("a.png", ["--screenshot"]), ("a.gif", [*FILM, "--record"]), ("a.mp4", [*FILM, "--record"])):
        path = os.path.join(folder, name)
        open(path, "w").close()
        os.chmod(path, 0o600)
        r = run(*SMALL, *flags, path)
        assert r.returncode == 0 and not r.stderr, r
        assert os.stat(path).st_mode & 0o777 == 0o600 and os.path.getsize(path) > 1000, os.stat(path)
    whole = subprocess.run(["ffmpeg", "-v", "error", "-i", os.path.join(folder, "a.mp4"), "-f", "null", "-"],
                           capture_output=True, text=True)
    assert whole.returncode == 0 and not whole.stderr, whole
    assert sorted(os.listdir(folder)) == ["a.gif", "a.mp4", "a.png"], os.listdir(folder)


def writes_what_names_say(folder):
    for flag, name, fix in (("--screenshot", "x.pdf", "x.png"), ("--screenshot", "x.svg", "x.png"),
                            ("--screenshot", "x.jpg", "x.png"), ("--record", "x.avi", "x.mp4"),
                            ("--record", "x.png", "x.mp4"), ("--record", "x", "film.mp4")):
        path = os.path.join(folder, name)
        assert refused(run(*SMALL, flag, path), 2, flag, name, fix), (flag, name)
    r = run(*SMALL, "--screenshot", os.path.join(folder, "x.PNG"))
    assert r.returncode == 0 and os.listdir(folder) == ["x.PNG"], r
    assert refused(run(*SMALL, "--screenshot", "/no/such/folder/a.png"), 1, "/no/such/folder/a.png")


def exports_views(folder):
    """A vector picture has the words that the view says, and is the same every time."""
    for flags in (["--view", "wall", "--caption"], ["--view", "machine", "--race", "flash_v1"],
                  ["--view", "time"], ["--view", "row", "--step", "30"]):
        log, paths = os.path.join(folder, "log"), [os.path.join(folder, name) for name in ("a.svg", "b.SVG")]
        for path in paths:
            r = run(*SMALL[:-1], "1200x800", *flags, "--export", path, "--log", log)
            assert r.returncode == 0 and not r.stderr, r
        svg, again = (open(path, encoding="utf-8").read() for path in paths)
        assert svg == again, flags
        drawn = "".join("".join(e.itertext()) for e in xml.etree.ElementTree.fromstring(svg).iter(
            "{http://www.w3.org/2000/svg}text")).replace(" ", "")
        said = [text.replace(" ", "") for text, _, _ in json.loads(open(log, encoding="utf-8").read())["texts"]["memory"]]
        missing = [text for text in said if text not in drawn]
        assert len(said) > 10 and len(missing) < len(said) / 5, (flags, missing)  # some are cut to fit
        assert "<rect" in svg and ("TileScope" in drawn) == ("--caption" in flags), flags
    path = os.path.join(folder, "a.png")
    assert run(*SMALL, "--transparent", "--export", path).returncode == 0 and os.path.getsize(path) > 1000
    if shutil.which("rsvg-convert"):
        pdfs = [os.path.join(folder, name) for name in ("a.pdf", "b.pdf")]
        assert all(run(*SMALL, "--export", pdf).returncode == 0 for pdf in pdfs)
        first, second = (open(pdf, "rb").read() for pdf in pdfs)
        assert first == second and first.startswith(b"%PDF")
    else:
        print("SKIPPED: PDF, for rsvg-convert was not found", flush=True)
    for flags, words in ((["--export", "x.jpg"], ["--export", "x.svg"]), (["--transparent"], ["--export"]),
                         (["--transparent", "--export", "x.mp4"], ["--transparent"]),
                         (["--view", "tiles", "--export", "x.svg"], ["tilescope plot"])):
        assert refused(run(*SMALL, *flags), 2, *words), flags


def coarse(path, side=8):
    """A picture in squares of `side` pixels, 0 to 255, so that smoothing of edges does not matter."""
    with PIL.Image.open(path) as image:
        pixels = numpy.asarray(image.convert("RGB"), dtype=float)
    down, across = (n // side for n in pixels.shape[:2])
    return pixels[:down * side, :across * side].reshape(down, side, across, side, 3).mean((1, 3))


def apart(one, other):
    """The largest difference of any square."""
    return numpy.abs(one - other).max()


def draws_the_same_in_vectors(folder):
    """A vector picture, drawn by another program, equals the pixel picture; without one kind of shape it does not."""
    if not shutil.which("rsvg-convert"):
        print("SKIPPED: vectors against pixels, for rsvg-convert was not found", flush=True)
        return
    for name, flags, shapes in (("wall", ["--view", "wall", "--step", "30"], ("<rect", "<polygon", "<text")),
                                ("machine", ["--view", "machine", "--step", "30"], ("<rect", "<text")),
                                ("time", ["--view", "time", "--step", "30"], ("<rect", "<text")),
                                ("row", ["--view", "row", "--softmaxes", "--step", "30"], ("<rect", "<text"))):
        svg, png, drawn = (os.path.join(folder, name + end) for end in (".svg", ".png", "-drawn.png"))
        for path in (svg, png):
            r = run(*SMALL[:-1], "1200x800", *flags, "--export", path)
            assert r.returncode == 0 and not r.stderr, r
        pixels, lines = coarse(png), open(svg, encoding="utf-8").read().splitlines()

        def difference(lines):
            subprocess.run(["rsvg-convert", "--output", drawn], input="\n".join(lines), text=True, check=True)
            return apart(pixels, coarse(drawn))
        assert difference(lines) < SAME, (name, difference(lines))
        for shape in shapes:
            without = [line for line in lines if not line.startswith(shape)]
            assert difference(without) > SAME, (name, shape)


LARGE = [*SMALL[:-1], "3600x2250", "--light"]  # letters that are 33 pixels high
SCRIPTS = ("注意力机制，把矩阵分块", "注意機構のタイル", "память и кэш")
INTER = "/usr/share/fonts/opentype/inter/Inter-Regular.otf"  # the window's own font


def caption_in(svg):
    """What a vector picture says last, its place on the baseline and its size, and its colour."""
    last = list(xml.etree.ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text"))[-1]
    return "".join(last.itertext()), [float(last.get(name)) for name in ("x", "y", "font-size")], last.get("fill")


def font_for(text):
    """The file of the font that the text is set in, and its number there: Inter has Cyrillic, fontconfig finds others."""
    if "я" in text and os.path.exists(INTER):
        return INTER, 0
    codes = " ".join(f"{ord(c):x}" for c in text)
    language = "ja" if re.search("[\u3040-\u30ff]", text) else "zh-cn"
    found = subprocess.run(["fc-match", "-f", "%{file}\n%{index}", f":lang={language}:color=false:scalable=true:charset={codes}"],
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return found[0], int(found[1]) & 0xffff


def coverage(image, band, side):
    """How dark a band of a picture is, in squares of `side` pixels."""
    x0, y0, x1, y1 = band
    dark = 255 - numpy.asarray(image.convert("L").crop((x0, y0, x0 + (x1 - x0) // side * side, y0 + (y1 - y0) // side * side)),
                               dtype=float)
    return dark.reshape(dark.shape[0] // side, side, -1, side).mean((1, 3))


def apart_from(png, text, place, ink):
    """How far the caption of a picture is from a text that PIL draws there: 0 where they are equal."""
    x, baseline, size = place
    font, number = font_for(text)
    with PIL.Image.open(png) as image:
        drawn = PIL.Image.new("RGB", image.size, "white")
        PIL.ImageDraw.Draw(drawn).text((x, baseline), text, fill=ink, anchor="ls",
                                       font=PIL.ImageFont.truetype(font, round(size), index=number))
        band = [round(n) for n in (x, baseline - 1.2 * size, x + 13 * size, baseline + 0.4 * size)]
        ours, theirs = (coverage(i, band, round(size / 6)) for i in (image, drawn))
    return numpy.abs(ours - theirs).sum() / theirs.sum()


def draws_any_script(folder):
    """Captions in Chinese, Japanese, Russian and Greek are drawn as another program draws them, not as boxes."""
    if not shutil.which("fc-match"):
        print("SKIPPED: captions in any script, for fc-match was not found", flush=True)
        return
    svg, png = (os.path.join(folder, "a" + ending) for ending in (".svg", ".png"))
    for text in SCRIPTS:
        for path in (svg, png):
            r = run(*LARGE, "--export", path, "--caption", text)
            assert r.returncode == 0 and not r.stderr, r
        said, place, ink = caption_in(svg)
        assert said == text, said
        right, wrong = apart_from(png, text, place, ink), apart_from(png, text[3:] + text[:3], place, ink)
        assert right < 0.3 and wrong > 0.6, (text, right, wrong)


def names_letters_that_no_font_has(folder):
    """Pictures and films have boxes for letters that no font has, and one line names these. A vector picture has the
    letters as text."""
    fonts, nothing = os.path.join(folder, "fonts.conf"), os.path.join(folder, "empty")
    os.mkdir(nothing)
    with open(fonts, "w", encoding="utf-8") as file:
        file.write(f"<fontconfig><dir>{nothing}</dir><cachedir>{folder}</cachedir></fontconfig>")
    nowhere = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | {"FONTCONFIG_FILE": fonts}

    def export(ending, caption):
        path = os.path.join(folder, "a" + ending)
        r = subprocess.run([GUI, *SMALL, "--export", path, "--caption", caption, *(FILM if ending == ".gif" else [])],
                           env=nowhere, capture_output=True, text=True, timeout=120, check=True)
        return open(path, "rb").read(), r.stderr
    boxes, silence = export(".png", "□□ a")
    assert not silence, silence
    picture, said = export(".png", "中文 a")
    assert picture == boxes
    assert said == ("tilescope-gui: no installed font has 中 (U+4E2D) and 文 (U+6587), and boxes stand for them: install "
                    "one that has (fonts-noto-cjk)\n"), said
    film, said = export(".gif", "中 a")
    assert film[:3] == b"GIF" and said.count("\n") == 1 and "中 (U+4E2D), and boxes stand for it" in said, said
    vectors, silence = export(".svg", "中文 a")
    assert "中文 a".encode() in vectors and not silence, silence


def logs_pictures_and_films(folder):
    log = os.path.join(folder, "log")
    r = run(*SMALL, "--screenshot", os.path.join(folder, "a.png"), "--log", log)
    lines = open(log, encoding="utf-8").read().splitlines()
    assert r.returncode == 0 and len(lines) == 1 and json.loads(lines[0])["texts"], (r, len(lines))
    r = run(*SMALL, *FILM, "--record", os.path.join(folder, "a.mp4"), "--log", log)
    steps = [json.loads(line)["step"] for line in open(log, encoding="utf-8")]
    assert r.returncode == 0 and steps == sorted(steps) and len(set(steps)) > 15, (r, steps)
    for flags in (["--screenshot", "b.png"], [*FILM, "--record", "b.mp4"]):
        flags[-1] = os.path.join(folder, flags[-1])
        assert refused(run(*SMALL, *flags, "--log", "/dev/full"), 1, "/dev/full", "No space left"), flags
        assert not os.path.exists(flags[-1])


def remarks_on_steps_beyond_the_end(folder):
    picture = os.path.join(folder, "a.png")
    r = run(*SMALL, "--step", "1000000", "--screenshot", picture)
    said = re.fullmatch(r"tilescope-gui: --step 1000000: there are (\d+) operations to play; this is the end, as with "
                        r"--step \1\n", r.stderr)
    assert r.returncode == 0 and said, r
    assert not run(*SMALL, "--step", said[1], "--screenshot", picture).stderr
    race = run(*SMALL, "--race", "flash_v1", "--step", "1000000", "--screenshot", picture)
    assert re.search(r"there are \d+ moments to play", race.stderr), race


def says_that_the_log_is_lost(_):
    display = Display(640, 480)
    r = run(*SMALL, "--no-tour", "--log", "/dev/full", display=display)
    display.close()
    assert refused(r, 1, "/dev/full", "No space left"), r


TESTS = [checks_standard_output, prints_notes, keeps_the_old_one_on_a_full_disk, keeps_permissions, writes_what_names_say, exports_views,
         draws_the_same_in_vectors, draws_any_script, names_letters_that_no_font_has, logs_pictures_and_films, remarks_on_steps_beyond_the_end, says_that_the_log_is_lost]


def main():
    missing = [tool for tool in ("Xvfb", "ffmpeg") if not shutil.which(tool)]
    if missing:
        print("SKIPPED:", ", ".join(missing), "not found")
        sys.exit(SKIPPED)
    failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print("ok    ", test.__name__, flush=True)
            except (AssertionError, subprocess.SubprocessError) as e:
                failed += 1
                print("FAILED", test.__name__, str(e)[:2000], flush=True)
    sys.exit(failed > 0)


main()
