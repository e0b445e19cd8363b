#!/usr/bin/env python3
"""What the page has and a window has not, in a real browser: addresses, files, touch, the surrounding page.

page.py SITE TILESCOPE [NAME...]; SITE is what scripts/web makes. tests/gui/window.py tests the page as a window.
"""

import difflib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree

import approved
import numpy
import pictures
import states
from browser import PATIENCE, Browser, Page, skip_unless_possible
from PIL import Image
from pictures import difference

SITE, CLI = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
SMALL = ["flash_v2", "--seq", "128", "--dim", "32", "--heads", "2", "--br", "32", "--bc", "32"]


def address(page):
    """The words after # in the address."""
    fragment = page.script("return location.hash")[1:]
    return [urllib.parse.unquote(word) for word in fragment.split("+")]


def comes_to(page, words, what):
    """Waits until the address has these words."""
    page.wait(lambda _: address(page) == words, f"{what}: {words}, not {address(page)}")


def writes_its_address(browser):
    p = Page(browser, SITE, *SMALL, "--step", "7")
    before = p.script("return history.length")
    comes_to(p, p.settled(step=7)["command"], "the address")
    p.key("Right")
    comes_to(p, p.settled(step=8)["command"], "after a step")
    p.key("2")
    p.wait(lambda s: s["command"][-1] == "machine", "another view")
    comes_to(p, p.state()["command"], "another view")
    # The address is written rarely, and not while the run plays.
    p.script("window.writes = []; const real = history.replaceState.bind(history);"
             "history.replaceState = (...a) => { window.writes.push([performance.now(), a[2]]); real(...a); };")
    p.key("space")
    p.wait(lambda s: s["playing"] and s["step"] > 12, "playing")
    assert p.script("return window.writes") == []
    p.key("space")
    p.settled(playing=False)
    for _ in range(8):
        p.key("Right")
    p.settled(playing=False)
    comes_to(p, p.state()["command"], "at rest")
    times = [at for at, _ in p.script("return window.writes")]
    assert times and all(b - a >= 490 for a, b in zip(times, times[1:])), times
    assert p.script("return history.length") == before, "a step back in the browser is one out of the page"
    p.close()


def opens_addresses(browser):
    p = Page(browser, SITE, *SMALL)
    p.script("location.hash = '#flash_v1+--seq+96+--dim+16+--heads+1+--step+5+--light'")
    s = p.wait(lambda s: s["settled"] and s["algorithm"] == "flash_v1", "another address")
    assert s["step"] == 5 and "--light" in s["command"], s["command"]
    p.close()
    p = Page(browser, SITE, *s["command"])
    assert p.settled(step=5)["command"] == s["command"]
    # A requested address is opened even where the program writes its own address before it hears of the request.
    p.script("location.hash = '#flash_v2+--seq+80+--dim+16+--heads+1'; Module.told.address(arguments[0])",
             "+".join(s["command"]))
    later = p.wait(lambda s: s["settled"] and s["algorithm"] == "flash_v2", "an address asked for while another is written")
    comes_to(p, later["command"], "the address asked for")
    p.close()
    # The SM in focus is the one that the address names, whatever was shown before.
    later = ["flash_v2", "--heads", "8", "--kv-heads", "2", "--seq", "500", "--br", "64", "--bc", "64", "--step", "50"]
    for asked in (later, [*later, "--sm", "20"]):
        p = Page(browser, SITE, "flash_v2", "--heads", "1", "--seq", "512", "--br", "64", "--bc", "64", "--causal", "--step",
                 "45", "--sm", "5")
        p.script("location.hash = arguments[0]", "#" + "+".join(asked))
        s = p.wait(lambda s: s["settled"] and "--kv-heads" in s["command"], "another run")
        assert sorted(s["command"]) == sorted(asked), s["command"]
        p.close()
    p = Page(browser, SITE)  # an empty address opens what the window begins with
    assert p.state()["step"] == 46 and "--causal" in p.state()["command"], p.state()["command"]
    p.close()


def opens_scenes(browser):
    p = Page(browser, SITE, "--scene", "causal-tiles")
    title = [t for t, _, _ in p.state()["texts"]["scene"]][0]
    scenes = len(list((ROOT / "scenes").glob("*.json")))
    assert title.startswith(f"6 of {scenes} "), title
    comes_to(p, ["--scene", "causal-tiles"], "the scene alone")
    step = p.state()["step"]
    p.key("Right")
    p.settled(step=step + 1)
    comes_to(p, ["--scene", "causal-tiles", "--step", str(step + 1)], "a step in the scene")
    p.key("Return")
    comes_to(p, ["--scene", "causal-tiles", "--step", str(step + 1), "--answer"], "the answer")
    p.key("Page_Down")
    p.wait(lambda s: s["settled"] and s["texts"]["scene"][0][0].startswith(f"7 of {scenes} "), "the next scene")
    assert p.wait(lambda _: address(p)[:2] != ["--scene", "causal-tiles"] and address(p)[0] == "--scene", "its address")
    p.close()


def refuses_wrong_addresses(browser):
    p = Page(browser, SITE, *SMALL, "--step", "9")
    before = p.settled(step=9)["command"]
    for wrong, said in ((["--seq", "zero"], "--seq zero: must be a whole number; try --seq 64"),
                        (["flash_v9"], "flash_v9"), (["--scene", "nope"], "--scene"), (["--scene", "causal-tile"], "try --scene causal-tiles"),
                        (["flash_v2", "--splits", "3"], "--splits"), (["--q", "none.npy"], "--q --k --v"),
                        (["flash_v2", "--nonsense"], "--nonsense")):
        p.script("location.hash = arguments[0]", "#" + "+".join(wrong))
        p.wait(lambda _: said in p.problem(), f"'{said}', not '{p.problem()}'")
        assert "\n" not in p.problem()
        assert p.settled(step=9)["command"] == before, (wrong, p.state()["command"])
        comes_to(p, before, "the address is put right")
    # The message bar is above the window and does not cover it.
    bar, window = (p.script(f"return document.getElementById('{what}').getBoundingClientRect().toJSON()")
                   for what in ("problem", "canvas"))
    assert 0 < bar["bottom"] <= window["top"] + 0.5 and window["bottom"] <= p.script("return innerHeight") + 0.5, (bar, window)
    p.script("document.querySelector('#problem button').click()")
    assert p.problem() == ""
    # A setup that does not fit can be looked at, and stays like any other.
    p.script("location.hash = '#flash_v2+--br+4096+--bc+4096+--seq+8192'")
    large = p.wait(lambda s: s["settled"] and "4096" in s["command"] and s["overflows"], "what does not fit")["command"]
    p.script("location.hash = '#--scene+nope'")
    p.wait(lambda s: "nope" in p.problem() and s["command"] == large, "what does not fit, still")
    p.script("location.hash = '#--seq+zero'")
    p.wait(lambda _: p.problem(), "again")
    p.script("location.hash = '#flash_v1+--seq+64'")
    p.wait(lambda s: s["settled"] and s["algorithm"] == "flash_v1" and not p.problem(), "what is right, and no complaint")
    p.close()
    for wrong in (["--seq", "zero"], ["flash_v2", "--splits", "3"]):
        p = Page(browser, SITE, *wrong)  # as the first address
        p.wait(lambda s: wrong[-2] in p.problem() and s["settled"] and s["step"] == 46, "the complaint, and the first lesson")
        p.close()


def copies_links(browser):
    browser.driver.execute_cdp_cmd("Browser.grantPermissions",
                                   {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    copied = "const done = arguments[0]; navigator.clipboard.readText().then(done, e => done('' + e));"
    p = Page(browser, SITE, *SMALL, "--step", "3")
    p.click("copy-link")
    p.wait(lambda s: "Link copied" in json.dumps(s["texts"]), "a word about it")
    link = p.driver.execute_async_script(copied)
    assert link == p.script("return location.href.split('#')[0]") + "#" + "+".join(p.state()["command"]), link
    p.click("copy-command")
    p.wait(lambda s: "Command copied" in json.dumps(s["texts"]), "a word about it")
    command = p.driver.execute_async_script(copied)
    assert command.split() == ["tilescope-gui", *p.state()["command"]], command
    # And pasting works, too.
    p.script("navigator.clipboard.writeText('192')")
    p.click("seq-input")
    p.key("ctrl+a")
    p.key("ctrl+v")
    p.wait(lambda s: "192" in json.dumps(s["texts"]["controls"]), "what was pasted")
    p.key("Return")
    p.wait(lambda s: s["settled"] and s["command"][s["command"].index("--seq") + 1] == "192", "--seq 192")
    p.close()


def scrolls_and_points(browser):
    p = Page(browser, SITE, *SMALL, "--size", "1000x500")
    x, y = p.where("panel-controls")
    before = p.state()["places"]["seq"]
    p.point(x, y)
    p.script("canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: 100, clientX: arguments[0], clientY: arguments[1]}))", x, y)
    p.wait(lambda s: "seq" not in s["places"] or s["places"]["seq"][1] < before[1] - 10, "scrolled down")
    p.script("canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -9, deltaMode: 1}))")
    p.wait(lambda s: s["places"].get("seq") == before, "scrolled up again")
    p.move("seq-input")
    p.wait(lambda _: p.script("return canvas.style.cursor") == "text", "the shape for text")
    p.move("play")
    p.wait(lambda _: p.script("return canvas.style.cursor") == "default", "the usual shape")
    p.close()


def fits_every_screen(browser):
    p = Page(browser, SITE, *SMALL, "--step", "20")
    browser.fit(1000, 700, ratio=2)
    p.wait(lambda s: s["size"] == [2000, 1400], "twice as many pixels")
    assert p.script("return [canvas.width, canvas.height]") == [2000, 1400]
    at = p.state()["places"]["step"]  # in pixels of the canvas
    p.point(round((at[0] + at[2] / 2) / 2), round((at[1] + at[3] / 2) / 2))
    p.does(1, p.press)
    p.does(1, p.release)
    p.settled(step=21)
    browser.fit(1440, 900)
    p.wait(lambda s: s["size"] == [1440, 900], "as before")
    p.close()


def draws_nothing_at_rest(browser):
    p = Page(browser, SITE, *SMALL)
    p.settled()

    def drawn_in_two_seconds():
        before = p.script("return Module.frames")
        time.sleep(2)
        return p.script("return Module.frames") - before

    # At rest the page draws four frames twice a second. The reference is computed beside the first frames.
    p.wait(lambda _: drawn_in_two_seconds() <= 24, "rest")
    p.close()


def touched(page, kind, *fingers):
    page.driver.execute_cdp_cmd("Input.dispatchTouchEvent",
                                {"type": kind, "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(fingers)]})


def is_touched(browser):
    p = Page(browser, SITE, *SMALL, "--step", "10", "--size", "1000x500")
    touched(p, "touchStart", p.where("step"))
    touched(p, "touchEnd")
    p.settled(step=11)
    length = p.state()["of"]
    (left, y), (right, _) = p.where("scrub", 0.2), p.where("scrub", 0.8)
    touched(p, "touchStart", (left, y))
    for k in range(1, 9):
        touched(p, "touchMove", (left + (right - left) * k / 8, y))
    touched(p, "touchEnd")
    p.wait(lambda s: abs(s["step"] - 0.8 * length) < 0.04 * length + 1, "a finger along the bar")
    before = p.state()["places"]["seq"]
    x, y = p.where("panel-controls", 0.3, 0.6)
    touched(p, "touchStart", (x, y))
    for k in range(1, 9):
        touched(p, "touchMove", (x, y - 12 * k))
    touched(p, "touchEnd")
    p.wait(lambda s: "seq" not in s["places"] or s["places"]["seq"][1] < before[1] - 10, "a finger up")
    x, y = p.where("wall", 0.4, 0.4)
    for ends, wanted in (((10, 60), True), ((60, 10), False)):
        touched(p, "touchStart", (x - ends[0], y), (x + ends[0], y))
        touched(p, "touchMove", (x - ends[1], y), (x + ends[1], y))
        touched(p, "touchEnd")
        p.wait(lambda s: ("--zoom" in s["command"]) == wanted, f"zoom {wanted}")
    p.close()


def is_drawn_along(_):
    """A zoomed view follows one finger in every direction, and that is no click. (In a browser of its own: after two
    fingers, the driver's single pointer no longer moves, also in other pages.)"""
    browser = Browser()
    try:
        draws_along(Page(browser, SITE, "flash_v2", "--seq", "512", "--heads", "1", "--br", "32", "--bc", "32", "--step",
                         "10", "--zoom", "0.5,0.5", "--size", "1000x700"))
    finally:
        browser.close()


def draws_along(page):
    def zoom(state):
        words = state["command"]
        return [float(share) for share in words[words.index("--zoom") + 1].split(",")]

    x, y = page.where("wall", 0.5, 0.5)
    for axis, across, down, inputs in ((0, -70, 0, 2), (1, 0, -70, 0)):  # a drag presses and releases a button
        before = page.settled()
        touched(page, "touchStart", (x, y))
        for k in range(1, 9):
            touched(page, "touchMove", (x + across * k / 8, y + down * k / 8))
        touched(page, "touchEnd")
        now = page.wait(lambda s: zoom(s)[axis] > zoom(before)[axis] + 0.005 and s["inputs"] >= before["inputs"] + inputs,
                        f"a finger by {across}, {down}")
        assert zoom(now)[1 - axis] == zoom(before)[1 - axis] and now["step"] == before["step"], (zoom(before), zoom(now))
    page.close()


def fits_in_the_hand(_):
    """On a phone, upright or lying, nothing is cut off and all panels can be tapped. (In a browser of its own, as
    is_drawn_along.)"""
    browser = Browser()
    try:
        is_held(browser, Page(browser, SITE, *SMALL, "--step", "10"), pixels=2)
    finally:
        browser.close()


def is_held(browser, p, pixels):
    def held(width, height):
        browser.fit(width, height, ratio=pixels, touch=True)
        return p.wait(lambda s: s["size"] == [pixels * width, pixels * height] and s["settled"], f"{width} x {height}")

    def tap(place):
        x, y, w, h = p.state()["places"][place]
        touched(p, "touchStart", ((x + w / 2) / pixels, (y + h / 2) / pixels))
        touched(p, "touchEnd")

    def panels(state):
        found = {name: r for name, r in state["places"].items() if name.startswith("panel-")}
        for name, (x, y, w, h) in found.items():
            assert x >= 0 and y >= 0 and x + w <= state["size"][0] and y + h <= state["size"][1], (name, x, y, w, h)
            for other, (x2, y2, w2, h2) in found.items():
                apart = x + w <= x2 + 0.5 or x2 + w2 <= x + 0.5 or y + h <= y2 + 0.5 or y2 + h2 <= y + 0.5
                assert other == name or apart, (name, other)
        return found

    # Values are typed into a field of the page, for which a phone shows its keyboard.
    held(390, 844)
    tap("drawer-controls")
    p.wait(lambda s: "seq-input" in s["places"], "the controls")
    for typed, key, seq in (("96", "Enter", "96"), ("64", "Escape", "96")):
        tap("seq-input")
        p.wait(lambda _: p.script("return !document.getElementById('typing').hidden && "
                                  "document.activeElement == document.querySelector('#typing input')"), "a field")
        before = p.script("return document.activeElement.value")
        assert before == ("128" if typed == "96" else "96"), before
        p.driver.execute_cdp_cmd("Input.insertText", {"text": typed})
        p.keys("Return" if key == "Enter" else key)
        p.wait(lambda s: s["settled"] and s["command"][s["command"].index("--seq") + 1] == seq and
               p.script("return document.getElementById('typing').hidden"), f"{seq} after {typed} and {key}")
    p.wait(lambda s: s["mouse"][0] < 0, "nothing that is pointed at")
    tap("drawer-controls")
    p.wait(lambda s: "panel-controls" not in s["places"], "closed")

    for width, height in ((390, 844), (320, 568), (844, 390)):
        upright = height > width
        found = panels(held(width, height))
        assert set(found) == {"panel-memory", "panel-strip", "panel-transport"}, found
        assert found["panel-memory"][2] > (0.95 if upright else 0.55) * pixels * width and found["panel-memory"][3] > 0.45 * pixels * height, found
        for drawer, panel, inside in (("controls", "panel-controls", "algorithm"), ("code", "panel-code", None),
                                      ("detail", "panel-detail", "tab-counters")):
            tap("drawer-" + drawer)
            s = p.wait(lambda s: panel in s["places"] and s["settled"], drawer)
            x, y, w, h = panels(s)[panel]
            assert w > (0.95 if upright else 0.4) * pixels * width, (w, h)
            assert not inside or x <= s["places"][inside][0] and s["places"][inside][0] + s["places"][inside][2] <= x + w
        tap("drawer-detail")
        p.wait(lambda s: "panel-detail" not in s["places"], "closed")
        step = p.state()["step"]
        tap("step")
        p.settled(step=step + 1)
        tap("view-machine")
        p.wait(lambda s: "machine" in s["command"], "another view")
        tap("view-wall")
        p.wait(lambda s: "machine" not in s["command"], "the wall")
        for place, (x, y, w, h) in p.state()["places"].items():
            if place.startswith("view-") or place in ("play", "step", "end", "export"):
                assert x >= 0 and x + w <= pixels * width + 0.5 and y + h <= pixels * height + 0.5, (place, x, y, w, h)
    p.close()


def moves_less_where_asked(browser):
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                   {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    p = Page(browser, SITE, *SMALL, "--step", "10")
    p.script("window.lines = []; Module.told.log = l => { Module.status = l; window.lines.push(JSON.parse(l)); }")
    p.key("Right")
    p.settled(step=11)
    assert all(line["settled"] for line in p.script("return window.lines")), "a move is shown"
    p.close()


def saves_and_opens(browser):
    p = Page(browser, SITE, *SMALL, "--step", "12", "--light")
    before = p.settled(step=12)["command"]
    p.click("save")
    p.click("path-ok")
    saved = os.path.join(browser.folder, "tilescope.json")
    p.wait(lambda _: os.path.exists(saved), "a download")
    assert json.load(open(saved)) == {"tilescope-gui": before}
    p.key("Home")
    p.settled(step=0)
    p.driver.find_element("id", "file").send_keys(saved)
    p.wait(lambda s: s["settled"] and s["command"] == before, "what was saved")
    p.script("window.chosen = 0; document.getElementById('file').click = () => { window.chosen++; }")
    p.click("open")
    p.wait(lambda _: p.script("return window.chosen") == 1, "the browser's dialog")
    wrong = os.path.join(browser.folder, "wrong.json")
    open(wrong, "w").write("{}")
    p.driver.find_element("id", "file").send_keys(wrong)
    p.wait(lambda _: "wrong.json" in p.problem(), "what is wrong with it")
    assert p.settled()["command"] == before
    p.close()


def draws_any_script(browser):
    """The browser draws letters that the page's fonts lack: none is a box, different words look different, and a Latin
    letter beside them changes nothing."""
    scene = json.load(open(next((ROOT / "scenes").glob("*causal-tiles.json"))))
    path, seen = os.path.join(browser.folder, "scene.json"), {}
    p = Page(browser, SITE, *SMALL)
    for words in ("注意力机制", "制机力意注", "注意機構の", "□□□□□", "注意力机制 Q"):
        json.dump(scene | {"caption": words, "title": "一", "question": "", "answer": ""}, open(path, "w"))
        p.driver.find_element("id", "file").send_keys(path)
        s = p.wait(lambda s: s["settled"] and any(t == words for t, _, _ in s["texts"].get("scene", [])), words)
        x, y = next(at for t, *at in s["texts"]["scene"] if t == words)
        p.wait(lambda _: p.script("return Module.frames") == (time.sleep(0.2), p.script("return Module.frames"))[1], "rest")
        seen[words] = p.picture()[int(y):int(y) + 20, int(x):int(x) + 120].astype(int)
    whole = seen.pop("注意力机制 Q")
    first = slice(0, 50)  # pixels: the five letters are 55 wide
    assert numpy.array_equal(whole[:, first], seen["注意力机制"][:, first]), "the same letters are drawn again in the same way"
    for one, other in itertools.combinations(seen, 2):
        assert numpy.abs(seen[one] - seen[other]).mean() > 4, (one, other)
    p.close()


def downloaded(page, name):
    """The path of a downloaded file, once the browser has all of it."""
    path = os.path.join(page.browser.folder, name)
    page.wait(lambda _: os.path.exists(path) and os.path.getsize(path) > 0, f"the download {name}")
    return path


def ask_for(page, name):
    """Opens the dialog for an export, with this file name in it."""
    page.click("export")
    page.click("path")
    page.key("ctrl+a")
    page.type(name)
    page.wait(lambda s: name in json.dumps(s["texts"]), "the name")


def exports_pictures_and_numbers(browser):
    """The view alone as SVG and PNG; a view of explored tiles as the numbers that `tilescope plot` prints."""
    flags = ["--seq", "512", "--heads", "2", "--dim", "64"]
    p = Page(browser, SITE, "flash_v2", *flags, "--step", "20", "--size", "1000x700")
    before = p.settled(step=20)["command"]
    ask_for(p, "wall.svg")
    p.key("Return")
    root = xml.etree.ElementTree.parse(downloaded(p, "wall.svg")).getroot()
    words = [text.text for text in root.iter() if text.tag.endswith("}text")]
    assert root.tag.endswith("}svg") and any("TileScope" in word for word in words), words
    assert "seq" not in words, "controls in the picture"
    p.click("view-machine")
    p.settled(step=20)
    ask_for(p, "sm.png")
    p.click("export-caption")
    p.click("path-ok")
    with Image.open(downloaded(p, "sm.png")) as picture:
        assert picture.format == "PNG" and picture.size == (1000, 700), picture
        colours = len(numpy.unique(numpy.array(picture.convert("RGB")).reshape(-1, 3), axis=0))
    assert colours > 100, f"{colours} colours"
    p.click("view-wall")
    assert p.settled(step=20)["command"] == before
    p.click("view-roofline")
    p.wait(lambda s: s["settled"] and "roofline" in s["command"], "the roofline")
    ask_for(p, "a.svg")
    p.click("path-ok")
    p.wait(lambda s: "must end in .csv" in json.dumps(s["texts"]), "what a page cannot draw")
    p.click("path-cancel")
    ask_for(p, "a.csv")
    p.click("path-ok")
    rows = open(downloaded(p, "a.csv"), encoding="utf-8").read().splitlines()
    printed = subprocess.run([CLI, "plot", "roofline", "standard", "flash_v1", "flash_v2", *flags, "--data"],
                             capture_output=True, text=True, check=True).stdout.splitlines()
    assert any("this run" in row for row in rows) and not set(printed) - set(rows), set(printed) - set(rows)
    p.close()


def records_films(browser):
    """The browser records what plays, without the panels; afterwards everything is as before."""
    p = Page(browser, SITE, *SMALL, "--step", "10", "--speed", "2", "--break", "10", "--size", "800x600")
    before = p.settled(step=10)["command"]
    ask_for(p, "film.webm")
    said = json.dumps(p.state()["texts"])
    assert "A film of " in said and "Escape gives it up" in said, said
    p.click("film-to")
    p.key("ctrl+a")
    p.type("18")
    p.click("path-ok")
    p.wait(lambda s: "panel-controls" not in s["places"], "the stage alone")
    p.wait(lambda s: "film.webm written" in json.dumps(s["texts"]), "the end of the film")
    assert p.settled(step=10)["command"] == before
    film = downloaded(p, "film.webm")
    time.sleep(0.5)
    assert open(film, "rb").read(4) == b"\x1aE\xdf\xa3", "no WebM"
    frames = os.path.join(browser.folder, "frame-%03d.png")
    subprocess.run(["ffmpeg", "-v", "error", "-i", film, "-fps_mode", "passthrough", frames], check=True, timeout=PATIENCE)
    names = sorted(name for name in os.listdir(browser.folder) if name.startswith("frame-"))
    first, last = (Image.open(os.path.join(browser.folder, name)) for name in (names[0], names[-1]))
    assert first.size == (800, 600), first.size
    assert difference(first, last) > 0.001, f"nothing moves in {len(names)} pictures"  # few where a browser is slow
    ask_for(p, "not.webm")
    p.click("path-ok")
    p.wait(lambda s: "panel-controls" not in s["places"], "the stage alone")
    p.key("Escape")
    p.wait(lambda s: "not.webm is not written" in json.dumps(s["texts"]), "no film")
    ask_for(p, "film.mkv")
    p.click("path-ok")
    p.wait(lambda s: "film.mkv" in json.dumps(s["texts"]) and "try" in json.dumps(s["texts"]), "what it cannot be")
    p.click("path-cancel")
    assert p.settled(step=10)["command"] == before
    time.sleep(0.5)
    assert not os.path.exists(os.path.join(browser.folder, "not.webm"))
    p.close()


def takes_inputs(browser):
    rng = numpy.random.default_rng(1)
    paths = []
    for name in "qkv":
        paths.append(os.path.join(browser.folder, name + ".npy"))
        numpy.save(paths[-1], rng.standard_normal((2, 96, 16)).astype(numpy.float32))
    p = Page(browser, SITE, *SMALL)
    p.driver.find_element("id", "file").send_keys("\n".join(paths))
    s = p.wait(lambda s: s["settled"] and "--v" in s["command"], "the files as inputs")
    assert not s["problem"], s["problem"]
    p.wait(lambda _: address(p) == ["flash_v2", "--br", "32", "--bc", "32"] or "--q" not in address(p), "no files in a link")
    flags = ["--br", "32", "--bc", "32", "--q", paths[0], "--k", paths[1], "--v", paths[2]]
    printed = json.loads(subprocess.run([CLI, "run", "flash_v2", *flags, "--json"], check=True,
                                        capture_output=True, text=True).stdout)
    counted = printed["counters"] if "counters" in printed else printed["runs"][0]["counters"]
    assert {key: counted[key] for key in s["counters"]} == s["counters"]
    p.close()


EMBED = """<!DOCTYPE html><title>A lecture</title>
<iframe id="view" style="width: 900px; height: 500px" src="index.html#flash_v2+--seq+128+--dim+32+--heads+1+--alone"></iframe>
<script>
  window.heard = [];
  window.addEventListener("message", e => { if (e.data.tilescope == "state") window.heard.push(e.data); });
  window.ask = (what, value) => view.contentWindow.postMessage({ tilescope: what, value }, "*");
</script>"""


def is_embedded(browser):
    page = pathlib.Path(SITE) / "embedded-for-a-test.html"
    page.write_text(EMBED)
    try:
        driver = browser.driver
        driver.get(browser.serve(SITE) + page.name)

        def heard(wanted, what):
            end = time.time() + PATIENCE
            while time.time() < end:
                last = driver.execute_script("return window.heard[window.heard.length - 1]")
                if last and wanted(last):
                    return last
                time.sleep(0.03)
            raise AssertionError(f"{what}: {last}, {browser.complaints()}")

        heard(lambda m: m["settled"] and m["step"] == 0 and m["of"] > 10, "the beginning")
        ask = "window.ask(...arguments)"
        first = driver.execute_script("return window.heard[0]")
        assert first["of"] > 0 or not first["settled"], first
        driver.execute_script("window.heard.length = 0")
        driver.execute_script(ask, "step")
        heard(lambda m: m["step"] == 1 and "address" in m and m["address"].endswith("--alone"), "a step")
        driver.execute_script(ask, "step", -1)
        heard(lambda m: m["step"] == 0, "a step back")
        driver.execute_script("window.heard.length = 0")
        driver.execute_script(ask, "seek", 7)
        heard(lambda m: m["step"] == 7, "a place")
        early = driver.execute_script("return window.heard.filter(m => m.settled && m.step != 7)")
        assert not early, ("at rest before it is there", early)
        assert heard(lambda m: m["step"] == 7, "a place")["said"], "nothing said"
        driver.execute_script(ask, "play")
        heard(lambda m: m["playing"] and m["step"] > 7, "playing")
        driver.execute_script(ask, "pause")
        heard(lambda m: not m["playing"], "a pause")
        driver.execute_script(ask, "open", "#flash_v1+--seq+64+--dim+16+--heads+1+--step+3+--alone")
        heard(lambda m: m["step"] == 3 and "flash_v1" in m["address"], "another view")
        driver.execute_script(ask, "scene", "causal-tiles")
        heard(lambda m: m["settled"] and m["address"].endswith("#--scene+causal-tiles+--alone"), "a scene, alone as before")
        at = heard(lambda m: m["settled"] and m["of"] > 10 and not m["problem"], "nothing wrong")
        driver.execute_script(ask, "reveal")
        heard(lambda m: "--answer" in m["address"], "its answer")
        # An error is told, and what was shown stays, with all that belongs to it.
        for what, value, said in (("scene", "nope", "try --scene"), ("scene", None, "scene must be the name of a scene"),
                                  ("leap", 1, "leap cannot be asked for; try open, scene, state, step"),
                                  ("seek", "x", 'seek must be the number of a step, not "x"'),
                                  ("step", 5, "step must be 1 or -1, not 5"), ("open", "#flash_v9", "flash_v9"),
                                  ("open", "#flash_v2+--splits+3", "--splits")):
            driver.execute_script(ask, what, value)
            heard(lambda m: said in m["problem"], said)
            m = heard(lambda m: m["settled"] and m["problem"] and m["step"] == at["step"] and "--answer" in m["address"],
                      f"as it was before {what} {value}")
            assert "--scene+causal-tiles" in m["address"] and m["address"].count("--alone") == 1, m
            assert m["said"] == at["said"] != "Nothing has run yet.", m
        driver.execute_script(ask, "step")
        heard(lambda m: m["step"] > at["step"] and not m["problem"], "what can be done")
        driver.execute_script(ask, "open", "#--scene+causal-tiles+--alone+--caption")
        driver.switch_to.frame("view")
        driver.execute_script("Module._tilescope_watch(); wake();")
        said = "(Module.status || '').includes(arguments[0])"
        end = time.time() + PATIENCE
        while not driver.execute_script("return " + said, "6 of "):
            assert time.time() < end, driver.execute_script("return Module.status")
            time.sleep(0.05)
        driver.switch_to.default_content()
        assert not browser.complaints()
    finally:
        page.unlink()


def is_one_file(browser):
    p = Page.__new__(Page)
    p.browser, p.driver, p.patience, p.folder = browser, browser.driver, PATIENCE, browser.folder
    with tempfile.TemporaryDirectory() as folder:  # the file alone, without a server
        alone = pathlib.Path(folder) / "tilescope.html"
        alone.write_bytes((pathlib.Path(SITE) / "tilescope.html").read_bytes())
        browser.driver.get(f"file://{alone}#flash_v1+--seq+64+--dim+16+--heads+1+--step+3+--no-tour")
        p.begun()
        s = p.settled(step=3)
        assert s["algorithm"] == "flash_v1"
        comes_to(p, s["command"], "its address")
    p.close()


def says_what_is_missing(_):
    browser = Browser("--disable-3d-apis")
    try:
        browser.driver.get(browser.serve(SITE) + "index.html")
        end = time.time() + PATIENCE
        while "WebGL 2" not in (said := browser.driver.execute_script("return document.body.innerText")):
            assert time.time() < end, said
            time.sleep(0.05)
        script = browser.driver.execute_script
        assert said.startswith("TileScope cannot be shown here: ") and said.strip().endswith(". A current Chrome, Firefox or Safari can."), said
        assert script("return document.querySelector('#loading img').naturalWidth") > 0
        labels = script("return [...document.querySelectorAll('[data-label]')].map(e => e.getAttribute('aria-label'))")
        assert labels == ["TileScope: attention algorithms on a modelled GPU. Space plays, the arrows step.", "Close",
                          "What the field is to hold"], labels
        assert script("return document.querySelector('#typing button').textContent") == "OK"
    finally:
        browser.close()


def looks_like_the_window(browser):
    """Compares the page with docs/gui/window.png, a picture of the window from scripts/figure-window. A further row of
    buttons would be a difference."""
    flags = ["flash_v2", "--seq", "512", "--br", "64", "--bc", "64", "--heads", "1", "--causal", "--step", "45", "--sm", "5"]
    p = Page(browser, SITE, *flags, "--size", "1440x900")
    p.settled(step=45)
    golden = Image.open(DOCS / "gui" / "window.png")
    share = difference(Image.fromarray(p.picture()), golden)
    assert share <= 0.01, f"{100 * share:.2f}% looks different from docs/gui/window.png"
    p.close()


# A state of each view, panel and size, and one whose evicted bytes depend on the order of simultaneous events.
# says_and_shows_all_that_is_approved, which runs only if named, takes all states.
STATES = ["wall_flash_v2", "wall_heads", "wall_softmax", "wall_race", "wall_parts_zoom", "wall_backward", "wall_projector",
          "wall_small", "time", "time_race", "row", "row_softmaxes_overflow", "flash_v2_light", "flash_v1_counters", "toy",
          "toy_10", "program", "race", "overflow", "spill", "large", "projector", "default", "tiles", "roofline",
          "scene_recurrence", "scene_causal_tiles_hall", "scene_changed", "scene_waves_and_tails_small"]
FILE_BUTTONS = {"Copy command", "Copy link", "Save…", "Open…"}  # the page has one more, in another order


def as_approved(page, name):
    """What is wrong with what the page says and shows in a state of tests/gui/states.py; "" where it equals the
    window."""
    flags, size = list(states.TEXTS[name]), (1440, 900)
    if "--size" in flags:
        at = flags.index("--size")
        size = tuple(map(int, flags[at + 1].split("x")))
        del flags[at:at + 2]
    golden = (approved.GOLDEN / f"{name}.txt").read_text().splitlines()
    page.browser.fit(*size)
    page.script("location.hash = '#' + arguments[0]", "+".join(urllib.parse.quote(f, safe="") for f in flags))
    page.point(1, 1)
    try:
        s = page.wait(lambda s: s["settled"] and s["size"] == list(size) and s["mouse"] == [1, 1] and
                      approved.written(s).splitlines()[0] == golden[0], name)
    except AssertionError as e:
        return f"{name}: {str(e)[:300]}"
    time.sleep(0.1)  # for what is computed beside the frames
    now = [line for line in approved.written(page.settled()).splitlines() if line not in FILE_BUTTONS]
    golden = [line for line in golden if line not in FILE_BUTTONS]
    wrong = list(difflib.unified_diff(golden, now, "the window", "the page", lineterm="", n=1))
    if wrong:
        return f"{name}:\n" + "\n".join(wrong[:20])
    if name not in states.PICTURES:
        return ""
    share = difference(Image.fromarray(page.picture()), Image.open(pictures.GOLDEN / f"{name}.png"))
    return f"{name}: {100 * share:.2f}% looks different" if share > 0.012 else ""


def says_and_shows_what_is_approved(browser, names=None):
    p = Page(browser, SITE, *SMALL)
    wrong = [what for name in names or STATES if (what := as_approved(p, name))]
    assert not wrong, "\n".join(wrong)
    p.close()


def says_and_shows_all_that_is_approved(browser):
    fewer_numbers = {"wall_backward_flash_v2_deterministic"}  # a page keeps half as many numbers as a window
    says_and_shows_what_is_approved(browser, [name for name in states.TEXTS if name not in fewer_numbers])


def counts_as_the_command_line(browser):
    """Every algorithm, plain and with each of its features: page and program agree to the byte."""
    names = [json_of["name"] for json_of in
             json.loads(subprocess.run([CLI, "list", "--json"], check=True, capture_output=True, text=True).stdout)["algorithms"]]
    assert len(names) >= 11, names
    p = Page(browser, SITE)
    for name in names:
        for more in ([], ["--seq", "300"], ["--seq", "1000", "--br", "64", "--bc", "32"]):
            printed = subprocess.run([CLI, "run", name, *more, "--mode", "count", "--json"], capture_output=True, text=True)
            if printed.returncode:
                continue
            j = json.loads(printed.stdout)
            counted = j["counters"] if "counters" in j else j["runs"][0]["counters"]
            p.script("location.hash = '#' + arguments[0].join('+')", [name, *more])
            s = p.wait(lambda s: s["settled"] and s["command"] == [name, *more] or
                       (s["settled"] and s["algorithm"] == name and all(w in s["command"] for w in more)), f"{name} {more}")
            assert {key: counted[key] for key in s["counters"]} == s["counters"], (name, more)
    p.close()


TESTS = [writes_its_address, opens_addresses, opens_scenes, refuses_wrong_addresses, copies_links, scrolls_and_points,
         fits_every_screen, draws_nothing_at_rest, is_touched, fits_in_the_hand, is_drawn_along, moves_less_where_asked, saves_and_opens, draws_any_script,
         exports_pictures_and_numbers, records_films, takes_inputs,
         is_embedded, is_one_file, says_what_is_missing, looks_like_the_window, says_and_shows_what_is_approved,
         counts_as_the_command_line]
LONG = [says_and_shows_all_that_is_approved]  # run only if named


def main():
    skip_unless_possible()
    wanted = sys.argv[3:]
    failed = []
    browser = None
    for test in [*TESTS, *LONG]:
        if test.__name__ not in wanted if wanted else test in LONG:
            continue
        browser = browser or Browser()
        browser.as_new()
        began = time.time()
        try:
            test(browser)
            print(f"ok     {time.time() - began:5.1f} s  {test.__name__}", flush=True)
        except Exception as e:  # whatever happened, the other tests run
            failed.append(test.__name__)
            print("FAILED", test.__name__, type(e).__name__, str(e)[:2000], flush=True)
            browser = browser.close()
    if browser:
        browser.close()
    sys.exit(1 if failed else 0)


main()
