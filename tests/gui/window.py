#!/usr/bin/env python3
"""Uses tilescope-gui as people do: by mouse and keys, in a real window.

    window.py TILESCOPE_GUI TILESCOPE [NAME...]
    window.py TILESCOPE_GUI TILESCOPE --share K OF    the K-th of OF shares, from 0, for tests side by side
    window.py TILESCOPE_GUI TILESCOPE --long          tests that take long, which are in no share

A folder in place of TILESCOPE_GUI is the page's (build-web/site): the page is used in a browser in the same way.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy
from states import SCENES

GUI, CLI = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
if os.path.isdir(GUI):
    from browser import Browser as Display, Page as Window, skip_unless_possible
else:
    from driver import Display, Window, skip_unless_possible
FLAGS = ["flash_v2", "--seq", "128", "--dim", "32", "--heads", "2", "--br", "32", "--bc", "32"]
SMALL = [*FLAGS, "--size", "800x600"]  # little to draw


def play_and_pause(display):
    w = Window(display, GUI, *SMALL)
    w.key("space")
    w.wait(lambda s: s["playing"] and s["step"] > 3, "playing")
    w.key("space")
    paused = w.settled(playing=False)["step"]
    assert w.settled()["step"] == paused
    w.click("play")
    w.wait(lambda s: s["playing"] and s["step"] > paused, "playing by the button")
    w.click("play")
    w.settled(playing=False)
    end = w.to_the_end()
    w.key("space")  # from the end it begins again
    w.wait(lambda s: s["playing"] and s["step"] < end["of"], "playing from the beginning")
    w.close()


def lanes_step_back_to_the_same_picture(display):
    lanes = ["flash_v3", "--heads", "1", "--seq", "1024", "--dim", "128", "--br", "128", "--bc", "128", "--view", "time"]
    w = Window(display, GUI, *lanes, "--lanes", "alone", "--cycle", "600", "--size", "1000x700")

    def at(cycle):
        w.wait(lambda s: f"--cycle {cycle} " in " ".join(s["command"]) + " ", f"cycle {cycle}")
        return w.picture()

    before = at(600)
    w.key("Right")
    w.wait(lambda s: "--cycle 600 " not in " ".join(s["command"]) + " ", "another cycle")
    assert (before != w.picture()).any(), "a step changes nothing that can be seen"
    w.key("Home")
    at(0)
    w.key("shift+Right")
    at(1)
    w.key("Home")
    start = at(0)
    w.key("End")
    w.wait(lambda s: "--cycle 0 " not in " ".join(s["command"]) + " ", "the last cycle")
    w.key("Home")
    assert (start == at(0)).all(), "a step back is another picture"
    w.click("lanes-four")
    w.wait(lambda s: "--lanes four" in " ".join(s["command"]), "four kernels")
    w.close()


def steps_back_to_the_same_picture(display):
    w = Window(display, GUI, *SMALL, "--step", "40")
    before = w.picture()
    w.key("Right")
    w.settled(step=41)
    after = w.picture()
    assert (before != after).any(), "a step changes nothing that can be seen"
    w.key("Left")
    w.settled(step=40)
    assert (before == w.picture()).all(), "a step back is another picture"
    for key, button in (("Right", "step"), ("Left", "step-back")):
        w.key(key)
        w.settled(step=41 if key == "Right" else 39)
        w.key("Left" if key == "Right" else "Right")
        w.settled(step=40)
        w.click(button)
        w.settled(step=41 if button == "step" else 39)
        w.click("step-back" if button == "step" else "step")
        w.settled(step=40)
    w.key("Home")
    w.settled(step=0)
    w.click("end")
    w.settled(step=w.state()["of"])
    w.click("start")
    w.settled(step=0)
    w.close()


def plays_a_stretch(display):
    """Plays from the start to the end of a stretch, and not beyond; the rest of the run can still be reached."""
    w = Window(display, GUI, *SMALL, "--from", "5", "--to", "12", "--speed", "40", "--play-through")
    w.key("Home")
    w.settled(step=0)
    w.key("End")
    w.settled(step=12)
    w.key("space")
    w.wait(lambda s: s["playing"] and 5 <= s["step"] <= 12, "playing from the stretch's start")
    w.wait(lambda s: not s["playing"] and s["step"] == 12, "its end")
    w.key("End")
    w.settled(step=w.state()["of"])
    w.key("Home")
    w.settled(step=5)
    assert flag(w.state(), "--to") == "12", w.state()["command"]
    w.click("seq-input")
    w.x("key", "--delay", "0", "ctrl+a", *"96", "Return")  # another run has no stretch
    w.wait(lambda s: s["settled"] and flag(s, "--seq") == "96" and "--to" not in s["command"], "all of another run")
    w.close()


def scrubs(display):
    w = Window(display, GUI, *SMALL)
    length = w.state()["of"]
    for at in (0.25, 0.75, 0.5):
        w.click("scrub", at)
        w.wait(lambda s: abs(s["step"] - at * length) < 0.03 * length + 1, f"a click at {at}")
    for start, end in ((0.1, 0.9), (0.9, 0.1)):
        w.drag("scrub", start, end)
        w.wait(lambda s: abs(s["step"] - end * length) < 0.03 * length + 1, f"a drag to {end}")
    w.close()


def loses_no_key_on_slow_frames(display):
    """Keys that go down and up within one frame count: at large sizes a frame of the software renderer takes long."""
    w = Window(display, GUI, *FLAGS, "--size", "1900x1100")
    w.click("seq-input")
    for n in ("160", "96", "224"):
        w.click("seq-input")
        w.x("key", "--delay", "0", "ctrl+a", *n, "Return")
        w.wait(lambda s: s["settled"] and flag(s, "--seq") == n, f"--seq {n}")
    before = w.state()["step"]
    w.x("key", "--delay", "4", "Right", "Right", "Right")  # GLFW drops the second press of a key within a millisecond
    w.wait(lambda s: s["step"] == before + 3, "three steps")
    w.close()


def looks_at_a_row(display):
    w = Window(display, GUI, *SMALL, "--step", "40")
    w.settled(step=40)
    w.key("4")
    w.wait(lambda s: flag(s, "--view") == "row", "the row")
    w.key("Down")
    w.key("Down")
    w.wait(lambda s: flag(s, "--row") == "2", "the third row")
    w.key("Up")
    w.wait(lambda s: flag(s, "--row") == "1", "the second row")
    w.click("softmaxes")
    w.wait(lambda s: "--softmaxes" in s["command"] and
           any(t == "softmax_online" for t, _, _ in s["texts"]["memory"]), "the row in every softmax")
    w.click("softmaxes")
    w.wait(lambda s: "--softmaxes" not in s["command"], "the row alone")
    w.click("forget-rescale")
    w.wait(lambda s: "--forget-rescale" in s["command"] and
           any("from the right answer" in t for t, _, _ in s["texts"]["memory"]), "what forgetting does")
    w.close()


def takes_back_and_shows_nothing(display):
    w = Window(display, GUI, *SMALL, "--step", "7")
    before = w.settled(step=7)
    shown = before["texts"]
    w.key("2")
    w.wait(lambda s: flag(s, "--view") == "machine", "another view")
    w.click("causal")
    w.wait(lambda s: s["settled"] and "--causal" in s["command"], "another problem")
    w.key("ctrl+z")
    w.wait(lambda s: s["settled"] and "--causal" not in s["command"] and flag(s, "--view") == "machine", "one taken back")
    w.key("ctrl+z")
    assert w.wait(lambda s: s["settled"] and not flag(s, "--view"), "both taken back")["texts"]["views"] == shown["views"]
    w.key("ctrl+shift+z")
    w.wait(lambda s: s["settled"] and flag(s, "--view") == "machine", "one done again")
    w.key("b")
    w.wait(lambda s: not s["texts"] and not s["places"], "nothing")
    w.key("Right")
    w.wait(lambda s: s["step"] == 8 and s["places"], "everything again, and a step")
    size = before["size"]
    w.key("f")
    w.wait(lambda s: s["size"][0] > size[0] and s["size"][1] > size[1], "the whole screen")
    w.key("f")
    w.wait(lambda s: s["size"] == size, "the part of it again")
    w.close()


def drags_through_time(display):
    w = Window(display, GUI, *SMALL, "--view", "time")
    end = w.state()["of"]
    w.drag("gantt", 0.4, 0.7)
    there = w.wait(lambda s: 0 < s["step"] < end, "a drag into the run")["step"]
    w.drag("gantt", 0.7, 0.9)
    w.wait(lambda s: there < s["step"] < end, "a drag on")
    w.click("gantt", 0.995)
    w.wait(lambda s: s["step"] >= end - 1, "a click on its end")
    w.click("gantt", 0.001)
    w.wait(lambda s: s["step"] <= 1, "a click on its start")
    w.close()


def steps_by_a_stride(display):
    """The arrow keys step by operation, line, tile, row or launch; with Shift always by operation. The window logs
    the step that a key leads to before the move is over."""
    w = Window(display, GUI, *SMALL, "--sms", "2", "--causal")
    ends = {}
    for stride in ("operation", "line", "tile", "row", "launch"):
        w.click("stride")
        w.click("stride-" + stride)
        w.wait(lambda s: s["settled"] and flag(s, "--stride") == (None if stride == "operation" else stride), stride)
        w.key("Home")
        w.settled(step=0)
        before = 0
        for _ in range(3):
            w.key("Right")
            now = w.wait(lambda s: s["step"] > before, stride)
            assert not now["playing"]
            before = now["step"]
            if before == now["of"]:
                break
        ends[stride] = before
        w.click("step-back")
        there = w.wait(lambda s: s["step"] < before, "back by " + stride)["step"]
        w.click("step")
        w.wait(lambda s: s["step"] == before, "on again by " + stride)
        if there == 0:
            continue
        w.key("Shift+Left")
        w.wait(lambda s: s["step"] == before - 1, "back by an operation")
        w.key("Shift+Right")
        w.wait(lambda s: s["step"] == before, "on by an operation")
    assert 3 == ends["operation"] < ends["tile"] < ends["row"] <= ends["launch"], ends
    w.close()


def pauses_at_firsts(display):
    flags = [*SMALL, "--sms", "2", "--causal", "--speed", "200"]
    w = Window(display, GUI, *flags)
    said, now = [], w.state()
    while now["step"] < now["of"]:
        before = now["step"]
        w.key("space")
        now = w.wait(lambda s: not s["playing"] and s["step"] > before, "a pause")
        if now["step"] == now["of"]:
            break
        said += [text for text, _, _ in now["texts"]["transport"] if text.startswith("First")]
    assert len(said) == 3 and len({text.split(":")[0] for text in said}) == 3, said
    w.key("Home")
    w.click("firsts")
    w.wait(lambda s: "--play-through" in s["command"], "no pauses")
    w.key("space")
    w.wait(lambda s: s["playing"], "playing")
    assert w.wait(lambda s: not s["playing"], "the end")["step"] == now["of"]
    w.close()


def plays_in_time(display):
    """At the pace of time, a launch that takes most of the time is played for most of the time."""
    w = Window(display, GUI, *FLAGS, "--size", "1000x900", "--pace", "time", "--speed", "2000", "--play-through")
    assert any(text.endswith("s/s") for text, _, _ in w.state()["texts"]["transport"]), "no speed in seconds"
    w.click("pace-step")
    w.wait(lambda s: s["settled"] and flag(s, "--pace") is None, "the pace of steps")
    w.click("pace-time")
    w.wait(lambda s: s["settled"] and flag(s, "--pace") == "time", "the pace of time")
    w.key("space")
    w.wait(lambda s: not s["playing"] and s["step"] == s["of"], "the end")
    w.close()


def paints_the_wall(display):
    def focus(state):
        words = state["command"]
        return int(words[words.index("--sm") + 1]) if "--sm" in words else 0

    flags = ["flash_v2", "--seq", "512", "--br", "64", "--bc", "64", "--size", "1440x900"]
    w = Window(display, GUI, *flags, "--heads", "1")
    w.click("wall", 3.1 / 8, 5.1 / 8)  # tile (6, 4), at a place without tags
    there = w.wait(lambda s: s["settled"] and s["step"] > 0, "the step that paints tile (6, 4)")
    assert focus(there) == 5, there["command"]
    said = [text for text, _, _ in there["texts"]["memory"]]
    assert said[said.index("row block i of SM 5") - 2:][:2] == ["6", "of 8"], said
    assert said[said.index("key block j of SM 5") - 2:][:2] == ["4", "of 8"], said
    w.click("wall", 3.5 / 8, 2.5 / 8)  # the tag of SM 2
    assert w.wait(lambda s: focus(s) == 2, "SM 2 in focus")["step"] == there["step"]
    w.click("view-machine")
    w.wait(lambda s: "sm-0" in s["places"] and "wall" not in s["places"], "memory")
    w.click("view-wall")
    w.wait(lambda s: "wall" in s["places"], "the wall again")
    w.close()
    w = Window(display, GUI, *flags, "--heads", "2", "--step", "20")
    w.click("head-2")
    w.wait(lambda s: focus(s) == 8, "an SM of head 2")
    w.close()


def cuts_keys_into_parts(display):
    """The controls for parts and packed heads, errors in them, and bands on the wall."""
    w = Window(display, GUI, "split_kv", "--seq-q", "1", "--seq-k", "1024", "--heads", "4", "--kv-heads", "2", "--dim",
               "64", "--bc", "64", "--splits", "4", "--size", "1440x900")

    def says(words, panel="memory"):
        return w.wait(lambda s: s["settled"] and any(words in text for text, _, _ in s["texts"].get(panel, [])), words)

    says("part 4 of 4")
    w.click("splits-input")
    w.x("key", "--delay", "0", "ctrl+a", "8", "Return")
    w.wait(lambda s: s["settled"] and flag(s, "--splits") == "8", "8 parts")
    says("part 8")
    w.key("ctrl+z")
    w.wait(lambda s: s["settled"] and flag(s, "--splits") == "4", "4 parts again")
    w.click("splits-reset")
    w.wait(lambda s: s["settled"] and flag(s, "--splits") is None, "the rule's parts")
    w.click("splits-rule")
    w.click("splits-rule-fa3")
    w.wait(lambda s: s["settled"] and flag(s, "--splits") == "fa3", "the other rule")
    w.click("splits-input")
    w.x("key", "--delay", "0", "ctrl+a", "2", "0", "0", "0", "Return")
    assert "--splits 2000" in w.wait(lambda s: s["problem"], "a mistake")["problem"]
    w.key("ctrl+z")
    w.wait(lambda s: s["settled"] and not s["problem"] and flag(s, "--splits") == "fa3", "the mistake taken back")
    says("KV head 1 of 2: query heads 1 to 2")
    w.click("pack")
    w.click("pack-off")
    w.wait(lambda s: s["settled"] and flag(s, "--pack") == "off", "heads apart")
    says("head 1 of 4")
    w.key("ctrl+z")
    w.wait(lambda s: s["settled"] and flag(s, "--pack") is None, "heads packed again")
    # Neither flag exists for standard attention.
    w.click("algorithm")
    w.click("algorithm-standard")
    w.wait(lambda s: s["settled"] and s["algorithm"] == "standard" and not s["problem"] and flag(s, "--splits") is None
           and "splits" not in s["places"] and "pack" not in s["places"], "standard attention")
    w.close()


def chooses_masks(display):
    """Chooses listed masks one after the other, goes back by one, and chooses no mask."""
    w = Window(display, GUI, "flash_v2", "--seq", "512", "--heads", "1", "--br", "64", "--bc", "64", "--causal", "--size",
               "1440x900")

    def chosen(name, **flags):
        w.click("mask")
        w.click("mask-" + name)
        return w.wait(lambda s: s["settled"] and not s["problem"] and "--causal" in s["command"]
                      and all(flag(s, "--" + key.replace("_", "-")) == value for key, value in flags.items()), name)

    chosen("window", window_left="128", window_right=None, block_mask=None)
    w.wait(lambda s: any("43 of 64" in text for text, _, _ in s["texts"]["memory"]), "what a window leaves")
    chosen("documents", window_left=None, documents="128+256+64+64")
    chosen("butterfly", documents=None, block_mask="butterfly", mask_block="64x64")
    w.key("ctrl+z")
    w.wait(lambda s: s["settled"] and flag(s, "--documents") == "128+256+64+64", "documents again")
    chosen("all", documents=None, window_left=None, block_mask=None)
    w.close()


def changes_scores(display):
    """Sets a bias, ALiBi and dropout by the controls. Another algorithm loses the settings that it lacks."""
    w = Window(display, GUI, "flash_v2", "--seq", "256", "--heads", "2", "--br", "64", "--bc", "64", "--size", "1000x1200")

    def chosen(name, **flags):
        w.click("scores")
        w.click("scores-" + name)
        return w.wait(lambda s: s["settled"] and not s["problem"]
                      and all(flag(s, "--" + key) == value for key, value in flags.items()), name)

    bare = w.state()["counters"]["hbm_read_bytes"]
    chosen("pair-bias", bias="hqk")
    w.wait(lambda s: s["counters"]["hbm_read_bytes"] > bare, "a matrix for each head is read")
    chosen("alibi", bias=None)
    w.wait(lambda s: "--alibi" in s["command"] and s["counters"]["hbm_read_bytes"] == bare, "no tensor is read")
    w.click("dropout-input")
    w.x("key", "--delay", "0", "ctrl+a", "0", "period", "2", "5", "Return")
    w.wait(lambda s: s["settled"] and flag(s, "--dropout") == "0.25" and not s["problem"], "dropout")
    w.click("algorithm")
    w.click("algorithm-three_pass")
    w.wait(lambda s: "dropout" in s["problem"], "three_pass has no dropout")
    w.click("dropout-reset")
    w.wait(lambda s: s["settled"] and not s["problem"] and "dropout" not in s["places"], "without dropout")
    chosen("plain")
    w.close()


def turns_scenes(display):
    names = SCENES
    if not os.path.isdir(GUI):
        assert subprocess.run([GUI, "--scenes"], capture_output=True, text=True, check=True).stdout.split() == names
    w = Window(display, GUI, "--light", "--size", "1440x900")

    def title(k):
        return w.wait(lambda s: any(text.startswith(f"{k} of {len(names)} ·") for text, _, _ in
                                    s["texts"].get("scene", [])) and s["settled"], f"scene {k}")

    w.key("Page_Down")
    assert "naive" in title(1)["command"] and "--light" in title(1)["command"]
    w.key("Page_Down")
    assert title(2)["algorithm"] == "softmax_safe"
    w.key("Page_Up")
    title(1)
    w.click("scene-next")
    title(2)
    w.key("Return")
    w.wait(lambda s: any("Three on the left" in text for text, _, _ in s["texts"]["scene"]), "the answer")
    w.click("scene-reveal", 0.2, 0.2)
    w.wait(lambda s: not any("Three on the left" in text for text, _, _ in s["texts"]["scene"]), "no answer")
    w.click("scenes")
    w.click("scene-causal-tiles")
    assert "--causal" in title(6)["command"]
    w.click("scene-close")
    w.wait(lambda s: "scene" not in s["texts"] or not s["texts"]["scene"], "no scene")
    w.key("Tab")
    w.wait(lambda s: "algorithm" not in s["places"] and "--no-controls" in s["command"], "no controls")
    w.key("Tab")
    w.wait(lambda s: "algorithm" in s["places"] and "--no-controls" not in s["command"], "controls")
    for digit, place in enumerate(["wall", "sm-0", "gantt", "forget-rescale", "plane"], 1):
        w.key(str(digit))
        w.wait(lambda s: any(p.startswith(place) for p in s["places"]), place)
    w.close()


def opens_drawers(display):
    """On a projector, drawers open by keys and by clicks, one at a time."""
    w = Window(display, GUI, "flash_v2", "--seq", "512", "--heads", "1", "--br", "64", "--bc", "64", "--step", "20",
               "--projector", "--size", "1920x1080")
    panels = {"controls": "panel-controls", "code": "panel-code", "detail": "panel-detail"}

    def only(drawer):
        return w.wait(lambda s: {name for name, place in panels.items() if place in s["places"]} == {drawer} - {None}
                      and s["settled"], f"the drawer {drawer}")

    only(None)
    for key, drawer in (("Tab", "controls"), ("c", "code"), ("v", "detail")):
        w.key(key)
        assert drawer in only(drawer)["command"]
    w.key("v")
    assert "none" in only(None)["command"]
    w.click("drawer-controls")
    only("controls")
    w.click("view-machine")
    w.wait(lambda s: "machine" in s["command"], "the machine")
    w.click("drawer-controls")
    only(None)
    w.close()


def zooms_in(display):
    """Zooms in on the place under the mouse; nothing else changes."""
    w = Window(display, GUI, "flash_v2", "--seq", "512", "--heads", "1", "--br", "64", "--bc", "64", "--step", "20",
               "--size", "1440x900")
    width = w.wait(lambda s: "wall" in s["places"] and s["settled"], "the wall")["places"]["wall"][2]

    def zoom(state):
        return state["command"][state["command"].index("--zoom") + 1] if "--zoom" in state["command"] else None

    w.move("wall", 0.7, 0.3)
    w.key("z")
    there = w.wait(zoom, "a part of the wall")
    x, y = (float(share) for share in zoom(there).split(","))
    assert abs(x - 0.7) < 0.03 and abs(y - 0.3) < 0.03, (x, y)
    assert there["step"] == 20 and there["places"]["wall"][2] != width
    assert any("Z: all" in text for text, _, _ in there["texts"]["memory"])
    # The spot is in the middle of the height, so the row of tiles that was pointed at is there.
    w.move("wall", 0.5, 0.5)
    w.wait(lambda s: any(text.startswith("tile i = 3,") for text, _, _ in s["texts"].get("tooltip", [])), "row 3")
    w.key("space")
    assert zoom(w.wait(lambda s: s["step"] > 21, "playing"))
    w.key("space")
    # A drag moves the view, and is no click.
    before = w.wait(lambda s: s["settled"] and not s["playing"], "a pause")
    w.drag("wall", 0.4, 0.7)
    there = w.wait(lambda s: zoom(s) and float(zoom(s).split(",")[0]) < 0.6, "what is left of it")
    assert abs(float(zoom(there).split(",")[1]) - y) < 0.03 and there["step"] == before["step"], (zoom(there), there["step"])
    w.key("Escape")
    w.wait(lambda s: not zoom(s) and s["places"]["wall"][2] == width, "all of it")
    w.key("ctrl+z")
    w.wait(zoom, "the part again")
    w.key("z")
    w.wait(lambda s: not zoom(s), "all of it again")
    w.key("2")
    w.wait(lambda s: "sm-0" in s["places"], "the machine")
    width = w.state()["places"]["large-sm"][2]
    w.move("panel-memory", 0.2, 0.4)
    w.key("z")
    w.wait(lambda s: zoom(s) and s["places"]["large-sm"][2] > 1.3 * width, "a larger SM")
    w.key("1")
    w.wait(lambda s: not zoom(s) and "wall" in s["places"], "all of the wall")
    w.close()


def stops_at_breakpoints(display):
    w = Window(display, GUI, *FLAGS, "--speed", "60", "--play-through")
    w.click("break-10")
    assert w.wait(lambda s: "--break" in s["command"], "a breakpoint")["command"][-2:] == ["--break", "10"]
    steps = []
    for _ in range(3):
        w.key("space")
        now = w.wait(lambda s: not s["playing"] and s["settled"] and s["step"] > (steps or [0])[-1], "a stop")
        assert now["line"] == 10 and now["step"] < now["of"], now["line"]
        steps.append(now["step"])
    w.click("break-10")
    w.wait(lambda s: "--break" not in s["command"], "no breakpoint")
    w.click("line-7")
    assert w.wait(lambda s: s["settled"] and s["step"] > steps[-1], "a jump")["line"] == 7
    w.close()


def shows_each_algorithm(display):
    w = Window(display, GUI, *SMALL)
    names = ["standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "memory_efficient"]
    pictures = []
    for name in names:
        w.click("algorithm")
        w.click("algorithm-" + name)
        w.settled(algorithm=name)
        assert not w.to_the_end()["problem"]
        pictures.append(w.picture())
    for k in range(5):
        assert (pictures[k] != pictures[k + 1]).any()
    w.close()


def explains_what_does_not_fit(display):
    w = Window(display, GUI, "flash_v2", "--br", "1024", "--bc", "1024", "--dim", "128")
    assert w.state()["overflows"]
    w.click("fix-tiling")
    w.wait(lambda s: not s["overflows"] and s["of"] > 0, "a tiling that fits")
    w.close()
    for way, done in (("fix-algorithm", "flash_v2"), ("fix-seq", "16384")):
        w = Window(display, GUI, "standard", "--seq", "65536", "--heads", "16", "--gpu", "A100-40GB")
        assert w.state()["of"] == 0 and "275 GB" in w.state()["problem"]
        w.click(way)
        w.wait(lambda s: not s["problem"] and s["of"] > 0 and done in s["command"], way)
        w.close()


def fits_every_size(display):
    w = Window(display, GUI, *SMALL, "--step", "40")
    for width, height in ((800, 600), (2560, 1440), (1440, 900)):
        w.resize(width, height)
        picture = w.picture()
        state = w.settled(step=40)
        assert state["size"] == [width, height]
        for place in ("play", "scrub", "algorithm", "panel-memory", "panel-code", "panel-detail"):
            x, y, wide, high = state["places"][place]
            assert x >= 0 and y >= 0 and x + wide <= width + 1 and y + high <= height + 1, (place, width, height)
            part = picture[int(y):int(y + high), int(x):int(x + wide)]
            assert len(numpy.unique(part.reshape(-1, 3), axis=0)) > 3, f"{place} is blank at {width} x {height}"
    w.close()


def counts_as_the_command_line(display):
    for flags in (["flash_v1"], ["flash_v2", "--seq", "1000", "--causal"], ["standard", "--heads", "3", "--dim", "32"],
                  ["flash_v2", "--heads", "8", "--kv-heads", "2", "--gpu", "H100", "--br", "64", "--bc", "64"],
                  ["chunked", "--seq-q", "100", "--seq-k", "700", "--dtype", "f32"], ["softmax_online", "--seq", "300"],
                  ["memory_efficient", "--seq", "16384", "--heads", "64"]):
        w = Window(display, GUI, *flags)
        shown = w.state()["counters"]
        w.close()
        printed = json.loads(subprocess.run([CLI, "run", *flags, "--mode", "count", "--json"], check=True,
                                            capture_output=True, text=True).stdout)
        counted = printed["counters"] if "counters" in printed else printed["runs"][0]["counters"]
        assert {key: counted[key] for key in shown} == shown, flags


def saves_opens_and_types_its_state(display):
    w = Window(display, GUI, *FLAGS, "--causal", "--step", "33", "--light", "--detail", "counters", "--break", "7", "9",
               "--race", "standard", "--pace", "bytes")
    before, picture = w.settled(step=33), w.picture()
    w.click("save")
    w.click("path")
    w.key("ctrl+a")
    w.type("mine.json")
    w.wait(lambda s: "mine.json" in json.dumps(s["texts"]), "its name")  # on slow frames a click overtakes letters
    w.click("path-ok")
    saved = os.path.join(w.folder, "mine.json")
    w.wait(lambda s: os.path.exists(saved), "a saved file")
    text = open(saved).read()
    w.click("save")  # replaces the file only when asked twice
    w.click("path-ok")
    w.wait(lambda s: "once more replaces it" in json.dumps(s["texts"]), "a question")
    os.truncate(saved, 0)
    w.click("path-ok")
    w.wait(lambda s: os.path.getsize(saved) == len(text), "a replaced file")
    w.close()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.json")
        open(path, "w").write(text)
        r = subprocess.run([GUI, "--open", path, "--seq", "5", "--screenshot", os.path.join(folder, "x.png")],
                           capture_output=True, text=True, timeout=60)
        assert r.returncode == 2 and "--seq" in r.stderr and r.stderr.count("\n") == 1, r
        for flags in (["--open", path], before["command"]):
            w = Window(display, GUI, *flags)
            now = w.settled(step=33)
            assert now["command"] == before["command"] and now["counters"] == before["counters"]
            assert (w.picture() == picture).mean() > 0.999, "the same state is another picture"
            w.close()


def says_that_nothing_was_saved(display):
    w = Window(display, GUI, *SMALL)
    w.click("save")
    w.click("path")
    w.key("ctrl+a")
    w.type("/dev/full")
    w.wait(lambda s: "/dev/full" in json.dumps(s["texts"]), "its name")
    w.click("path-ok")
    w.wait(lambda s: "No space left on device" in json.dumps(s["texts"]), "a message")
    w.close()


def plays_recordings(display):
    with tempfile.TemporaryDirectory() as folder:
        trace, changed = os.path.join(folder, "trace.json"), os.path.join(folder, "changed.json")
        flags = "flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --br 4 --bc 4 --dtype f32".split()
        subprocess.run([CLI, "trace", *flags, "-o", trace], check=True, capture_output=True, timeout=60)
        w = Window(display, GUI, trace, "--step", "8")
        assert w.state()["command"] == [trace, "--step", "8"], w.state()["command"]
        w.key("Right")
        w.settled(step=9)
        played = w.picture()
        w.click("algorithm"), w.click("algorithm-flash_v1")  # another algorithm ends the recording
        w.wait(lambda s: s["algorithm"] == "flash_v1" and trace not in s["command"], "another algorithm")
        w.close()
        w = Window(display, GUI, *flags, "--step", "9")
        w.settled(step=9)
        assert (played == w.picture()).all(), "a recording is another picture than its run"
        w.close()
        text = open(trace).read()
        event = text.index('"op":"product"')
        number = text.index('"values":[', event) + len('"values":[')
        with open(changed, "w") as f:
            f.write(text[:number] + "0.25" + text[text.index(",", number):])
        w = Window(display, GUI, "--open", changed)
        assert any(t[0] == "Not what today's program does." for t in w.state()["texts"]["memory"])
        w.to_the_end()
        w.close()


def shows_a_tour_once(display):
    w = Window(display, GUI, *SMALL, tour=True)
    for step in range(5):
        w.wait(lambda s: s["tour"] == step, f"step {step + 1} of the tour")
        w.click("tour-next")
    w.wait(lambda s: s["tour"] == -1, "the end of the tour")
    w.close()
    w = Window(display, GUI, *SMALL, tour=True)
    assert w.state()["tour"] == -1
    w.close()


def races(display):
    for pace in ("step", "bytes", "time"):
        w = Window(display, GUI, "flash_v1", *SMALL[1:], "--race", "flash_v2", "--pace", pace)
        assert w.to_the_end()["of"] > 50
        w.close()


def flag(state, name):
    """The value of a flag in the command that shows the current state; None where the command lacks the flag."""
    words = state["command"]
    return words[words.index(name) + 1] if name in words else None


def explores_tiles(display):
    """The plane by mouse: hovering tells a cell's numbers, a click runs the cell, a drag runs the cells that it
    passes."""
    w = Window(display, GUI, "flash_v2", "--seq", "512", "--heads", "2", "--dim", "64")
    w.click("view-tiles")
    w.wait(lambda s: s["settled"] and flag(s, "--view") == "tiles", "the plane")
    w.click("plane", 3.5 / 32, 1 - 1.5 / 32)  # cells of 16: the fourth from the left, the second from below
    state = w.wait(lambda s: s["settled"] and flag(s, "--bc") == "64", "the tiling that was clicked")
    assert flag(state, "--br") == "32", state["command"]
    said = [text for text, _, _ in state["texts"]["explore"]]
    assert "32 × 64" in said and "this run 32 × 64" in said, said
    counted = json.loads(subprocess.run([CLI, "run", "flash_v2", "--seq", "512", "--heads", "2", "--dim", "64",
                                         "--br", "32", "--bc", "64", "--mode", "count", "--json"],
                                        capture_output=True, check=True).stdout)
    assert f'{counted["time_us"]:.1f} µs' in said, (said, counted["time_us"])
    w.move("plane", 31.5 / 32, 0.5 / 32)
    said = w.wait(lambda s: any(t == "512 × 512" for t, _, _ in s["texts"]["explore"]), "the cell below the mouse")
    assert any("does not fit" in t for t, _, _ in said["texts"]["explore"]), said["texts"]["explore"]
    w.drag("plane", 0.5 / 32, 3.5 / 32)
    state = w.wait(lambda s: s["settled"] and flag(s, "--bc") == "64" and flag(s, "--br") != "32", "where the drag ended")
    # Another metric; and a slider, which leads to another plane.
    w.click("metric")
    w.click("metric-hbm_bytes")
    w.wait(lambda s: flag(s, "--metric") == "hbm_bytes" and
           any(t.endswith("counted, exact") for t, _, _ in s["texts"]["explore"]), "counted bytes")
    before = state["texts"]["explore"]
    w.click("dim", 0.95)
    w.wait(lambda s: s["settled"] and flag(s, "--dim") == "256" and s["texts"]["explore"] != before, "another plane")
    for view in ("roofline", "io", "machine"):
        w.click("view-" + view)
        w.wait(lambda s: s["settled"] and (flag(s, "--view") or "wall") == view, view)
    w.close()


def puts_a_mistake_right(display):
    w = Window(display, GUI, *SMALL, "--step", "20")
    w.settled(step=20)
    for text in ("0", "32"):
        w.click("dim-input")
        w.key("ctrl+a")
        w.type(text)
        w.key("Return")
        w.wait(lambda s: flag(s, "--dim") == text, "a typed number")
    w.settled(step=20)
    w.close()


def exports_views(display):
    """Exports explored figures by mouse and keys: the numbers are those of `tilescope plot`."""
    flags = ["--seq", "512", "--heads", "2", "--dim", "64"]
    w = Window(display, GUI, "flash_v2", *flags, "--view", "roofline")
    w.settled()
    for name, head in (("mine.csv", "panel,series,"), ("mine.svg", "<?xml")):
        w.click("export")
        w.click("path")
        w.key("ctrl+a")
        w.type(name)
        w.key("Return")
        path = os.path.join(w.folder, name)
        w.wait(lambda s: os.path.exists(path) and name + " written" in json.dumps(s["texts"]), "an exported view")
        text = open(path, encoding="utf-8").read()
        assert text.startswith(head) and "this run" in text, text[:200]
        if name.endswith(".csv"):
            plotted = subprocess.run([CLI, "plot", "roofline", "standard", "flash_v1", "flash_v2", *flags, "--data"],
                                     capture_output=True, text=True, check=True).stdout
            assert not set(plotted.splitlines()) - set(text.splitlines()), "other numbers than tilescope plot has"
    w.click("export")
    w.click("path")
    w.key("ctrl+a")
    w.type("mine.gif")
    w.wait(lambda s: "mine.gif" in json.dumps(s["texts"]), "its name")
    w.click("path-ok")
    w.wait(lambda s: "must end in .svg" in json.dumps(s["texts"]), "a message")
    w.click("path-cancel")
    w.close()


def exports_stages(display):
    """Exports the view alone by mouse and keys."""
    w = Window(display, GUI, "flash_v2", *SMALL[1:], "--view", "wall")
    w.settled()

    def export(name):
        w.click("export")
        w.click("path")
        w.key("ctrl+a")
        w.type(name)
        w.wait(lambda s: name in json.dumps(s["texts"]), "the name")
    for place, name, head in (("view-row", "row.svg", b"<?xml"), ("view-machine", "machine.png", b"\x89PNG"),
                              ("view-wall", "wall.svg", b"<?xml")):
        w.click(place)
        export(name)
        if name == "wall.svg":
            w.click("export-caption")
            w.click("export-transparent")
            w.click("path-ok")
        else:
            w.key("Return")
        path = os.path.join(w.folder, name)
        w.wait(lambda s: os.path.exists(path) and name + " written" in json.dumps(s["texts"]), "an exported view")
        data = open(path, "rb").read()
        assert data.startswith(head) and len(data) > 2000, (name, data[:100])
        if head == b"<?xml":
            words = [line for line in data.decode().splitlines() if line.startswith("<text")]
            captioned = any("TileScope" in line for line in words)
            assert captioned == (name == "row.svg"), words[-3:]
            assert not any("seq<" in line for line in words), "controls in the picture"
            assert ("<rect width" in data.decode()) == (name == "row.svg"), "transparent"
    old = open(os.path.join(w.folder, "wall.svg"), "rb").read()
    w.key("Right")
    w.settled()
    export("wall.svg")
    w.key("Return")
    w.wait(lambda s: "once more replaces it" in json.dumps(s["texts"]), "a question")
    assert open(os.path.join(w.folder, "wall.svg"), "rb").read() == old
    w.click("path-ok")
    w.wait(lambda s: open(os.path.join(w.folder, "wall.svg"), "rb").read() != old, "another picture")
    export("wall.txt")
    w.click("path-ok")
    w.wait(lambda s: "must end in .svg" in json.dumps(s["texts"]), "a message")
    w.click("path-cancel")
    w.close()


def film_dialog(w, name, **steps):
    """"Export…" with a film's name and, by place, its steps."""
    w.click("export")
    w.click("path")
    w.key("ctrl+a")
    w.type(name)
    w.wait(lambda s: name in json.dumps(s["texts"]), "the name")
    for place, step in steps.items():
        w.click("film-" + place.strip("_"))
        w.key("ctrl+a")
        w.type(str(step))
        w.wait(lambda s: str(step) in [text for text, _, _ in said_of(s)], f"the film {place} {step}")


def said_of(state):
    return [text for texts in state["texts"].values() for text in texts]


def says(w, words, **more):
    return w.wait(lambda s: any(words in text for text, _, _ in said_of(s)), words, **more)


def pictures_of(path):
    """(number of pictures, width, height) of a film."""
    printed = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
                              "stream=width,height,nb_read_frames", "-of", "csv=p=0", path],
                             capture_output=True, text=True, check=True).stdout
    width, height, frames = map(int, printed.strip().split(","))
    return frames, width, height


def writes_films(display):
    """Films from the window. The window can be used meanwhile, and is afterwards where it was."""
    w = Window(display, GUI, *FLAGS, "--step", "40", "--speed", "20", "--break", "10", "--size", "800x600")
    before = w.settled(step=40)
    film_dialog(w, "film.mp4")
    said = [text for text, _, _ in said_of(w.state())]
    assert "40" in said and str(before["of"]) in said, "from here to the end"
    assert any(text.startswith("A film of ") and "at 20 operations/s" in text for text in said), said
    w.click("path-cancel")
    film_dialog(w, "film.mp4", _from=10, to=30)
    says(w, "20 operations at 20 operations/s")
    w.click("path-ok")
    path = os.path.join(w.folder, "film.mp4")
    says(w, "film.mp4: ")
    w.key("Right")  # the window goes on
    w.settled(step=41)
    says(w, "film.mp4 written")
    # 20 moves, and the last picture for one more, of 1/20 s each; 30 pictures per second.
    frames, *size = pictures_of(path)
    assert abs(frames - 21 * 30 / 20) <= 1 and size == [800, 600], (frames, size)
    after = w.settled(step=41)
    assert after["command"] == [{"40": "41"}.get(word, word) for word in before["command"]], after["command"]
    old = open(path, "rb").read()
    film_dialog(w, "film.mp4", _from=0, to=2)
    w.click("path-ok")
    says(w, "once more replaces it")
    assert open(path, "rb").read() == old
    w.click("path-ok")
    w.wait(lambda s: open(path, "rb").read() != old, "another film")
    says(w, "film.mp4 written")
    assert abs(pictures_of(path)[0] - 3 * 30 / 20) <= 1, pictures_of(path)
    film_dialog(w, "film.gif", _from=5, to=5)
    w.click("path-ok")
    says(w, "from operation 5: must be below operation 5")
    w.click("path-cancel")
    assert sorted(os.listdir(w.folder)) == ["film.mp4", "log"], os.listdir(w.folder)
    w.close()


def cancels_films(display):
    """Cancels by the button and by Escape: nothing is left of the film, and an older file stays."""
    w = Window(display, GUI, *SMALL, "--speed", "0.5")  # a long film
    path = os.path.join(w.folder, "film.mp4")
    for way in ("button", "key", "close"):
        film_dialog(w, "film.mp4")
        w.click("path-ok")
        if way != "button":
            says(w, "once more replaces it")
            w.click("path-ok")
        says(w, "film.mp4: picture ")
        if way == "button":
            film_dialog(w, "other.mp4")
            w.click("path-ok")
            says(w, "film.mp4 is still being written")
            w.click("path-cancel")
            w.click("film-cancel")
        elif way == "key":
            w.key("Escape")
        else:
            break
        says(w, "Cancelled: film.mp4 is not written")
        w.wait(lambda s: "film-cancel" not in s["places"], "the end of its panel")
        assert sorted(os.listdir(w.folder)) == (["log"] if way == "button" else ["film.mp4", "log"]), way
        with open(path, "wb") as file:
            file.write(b"the old one")
    folder, w.folder = w.folder, tempfile.mkdtemp()
    w.close()
    assert sorted(os.listdir(folder)) == ["film.mp4", "log"], os.listdir(folder)
    kept = open(os.path.join(folder, "film.mp4"), "rb").read()
    assert kept == b"the old one", f"{len(kept)} bytes"
    shutil.rmtree(folder)


def says_why_there_is_no_film(display):
    """Without ffmpeg, and with an ffmpeg that fails."""
    with tempfile.TemporaryDirectory() as tools:
        os.symlink(shutil.which("xdotool"), os.path.join(tools, "xdotool"))
        display.environment["PATH"] = tools
        w = Window(display, GUI, *FLAGS, "--size", "800x600")
        film_dialog(w, "film.mp4", to=3)
        w.click("path-ok")
        says(w, "apt-get install ffmpeg")
        with open(os.path.join(tools, "ffmpeg"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho no such codec >&2\nexit 1\n")
        os.chmod(os.path.join(tools, "ffmpeg"), 0o755)
        w.click("path-ok")
        says(w, "ffmpeg says: no such codec")
        assert os.listdir(w.folder) == ["log"], os.listdir(w.folder)
        w.close()


def shows_models(display):
    w = Window(display, GUI, *SMALL)
    w.click("model")
    w.click("model-gpt-2-decode")
    state = w.wait(lambda s: s["settled"] and flag(s, "--model") == "gpt-2", "a model")
    assert state["command"] == ["flash_v2", "--model", "gpt-2", "--phase", "decode", "--br", "32", "--bc", "32"], state["command"]
    w.click("model")
    w.click("model-none")
    w.wait(lambda s: s["settled"] and flag(s, "--model") is None and flag(s, "--dim") == "128", "no model")
    w.close()


def needs_no_display(_):
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    def run(*flags):
        return subprocess.run([GUI, *flags], env=environment, capture_output=True, text=True, timeout=120)
    r = run()
    assert r.returncode == 1 and r.stderr.count("\n") == 1 and "--screenshot" in r.stderr, r
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in (("a.png", ["--screenshot"]), ("a.gif", ["--record"]), ("a.mp4", ["--record"])):
            path = os.path.join(folder, name)
            film = ["--from", "2", "--to", "5", "--fps", "10"] if flags == ["--record"] else []
            r = run(*FLAGS, "--size", "640x400", *flags, path, *film)
            assert r.returncode == 0 and not r.stderr, r
            assert os.path.getsize(path) > 1000, path
            assert os.listdir(folder) == [name], os.listdir(folder)
            os.remove(path)
        r = run(*SMALL, "--screenshot", os.path.join(folder, "no", "a.png"))
        assert r.returncode == 1 and r.stderr.count("\n") == 1, r


def understands_former_names(_):
    with tempfile.TemporaryDirectory() as folder:
        state, picture = os.path.join(folder, "old.json"), os.path.join(folder, "a.png")
        with open(state, "w", encoding="utf-8") as file:
            json.dump({"tilescope-gui": ["safe_softmax", *FLAGS[1:]]}, file)
        for flags in (["safe_softmax", *FLAGS[1:]], ["--open", state]):
            r = subprocess.run([GUI, *flags, "--screenshot", picture], capture_output=True, text=True, timeout=120)
            assert r.returncode == 0 and r.stderr == "tilescope-gui: safe_softmax is now called three_pass\n", r


def says_what_is_wrong_in_one_line(_):
    for flags, words in ((["flash_v9"], "flash_v1"), (["--seq", "0"], "--seq 0"), (["--fps", "0"], "--fps"),
                         (["--size", "10x10"], "--size"), (["--pace", "slow"], "--pace slow"),
                         (["--open", "/none.json"], "/none.json"), (["--record", "a.avi"], "a.avi"),
                         (["--speed", "0"], "--speed"), (["flash_v1", "--race", "softmax_safe"], "--race"),
                         (["--step", "-1"], "--step"), (["--break", "0"], "--break"), (["--what"], "--help")):
        r = subprocess.run([GUI, *flags], capture_output=True, text=True, timeout=60)
        assert r.returncode == 2 and r.stderr.count("\n") == 1 and words in r.stderr, (flags, r)


TESTS = [play_and_pause, steps_back_to_the_same_picture, lanes_step_back_to_the_same_picture, plays_a_stretch, scrubs, drags_through_time,
         takes_back_and_shows_nothing, looks_at_a_row, loses_no_key_on_slow_frames, steps_by_a_stride, pauses_at_firsts,
         plays_in_time, paints_the_wall, cuts_keys_into_parts, chooses_masks, changes_scores, turns_scenes, opens_drawers, zooms_in,
         stops_at_breakpoints,
         shows_each_algorithm, explains_what_does_not_fit, fits_every_size, counts_as_the_command_line,
         saves_opens_and_types_its_state, says_that_nothing_was_saved, plays_recordings, shows_a_tour_once, races,
         explores_tiles, exports_views, exports_stages, writes_films, cancels_films,
         says_why_there_is_no_film, shows_models, puts_a_mistake_right, needs_no_display, understands_former_names,
         says_what_is_wrong_in_one_line]
# Films, figures and pictures; tests of every algorithm, scene, size and mask in turn; and tests of a whole program.
LONG = [explores_tiles, exports_views, exports_stages, writes_films, cancels_films, turns_scenes, shows_each_algorithm,
        fits_every_size, changes_scores, chooses_masks, cuts_keys_into_parts, steps_by_a_stride]
# Tests that need a command line, files by name, signals, or ffmpeg. tests/gui/page.py has what a page has instead.
NOT_IN_A_PAGE = [counts_as_the_command_line, saves_opens_and_types_its_state, says_that_nothing_was_saved, plays_recordings,
                 shows_a_tour_once, exports_views, exports_stages, writes_films, cancels_films, says_why_there_is_no_film,
                 needs_no_display, understands_former_names, says_what_is_wrong_in_one_line]


def asked_for():
    """The tests that were asked for: by name, a share, or all."""
    wanted = sys.argv[3:]
    if wanted == ["--long"]:
        return LONG
    if wanted[:1] == ["--share"]:
        return [test for test in TESTS if test not in LONG][int(wanted[1])::int(wanted[2])]
    if unknown := set(wanted) - {test.__name__ for test in TESTS}:
        sys.exit(f"window.py: no test is called {', '.join(sorted(unknown))}")
    if wanted:
        return [test for test in TESTS if test.__name__ in wanted]
    return [test for test in TESTS if not (os.path.isdir(GUI) and test in NOT_IN_A_PAGE)]


def main():
    skip_unless_possible()
    failed = []
    for test in asked_for():
        display, began = Display(), time.time()
        try:
            test(display)
            print(f"ok     {time.time() - began:5.1f} s  {test.__name__}", flush=True)
        except (AssertionError, subprocess.SubprocessError) as e:
            failed.append(test.__name__)
            print("FAILED", test.__name__, str(e)[:2000], flush=True)
        finally:
            display.close()
    sys.exit(1 if failed else 0)


main()
