"""tilescope-gui in a real window on a display of its own (Xvfb), with a real mouse and keyboard (xdotool)."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

SKIPPED = 77
LONGEST_LINES = 1 << 19  # bytes at the end of a log: enough for a whole line and a part of the next one
NEEDED = ("Xvfb", "xdotool")


def skip_unless_possible():
    missing = [tool for tool in NEEDED if not shutil.which(tool)]
    if missing:
        print("SKIPPED:", ", ".join(missing), "not found")
        sys.exit(SKIPPED)


class Display:
    """An X server in memory, whose pixels can be read."""

    def __init__(self, width=2560, height=1440):
        self.folder = tempfile.mkdtemp()
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-fbdir", self.folder,
             "-nolisten", "tcp"], pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.name = ":" + pipe.readline().strip()
        self.environment = {**os.environ, "DISPLAY": self.name, "XDG_CONFIG_HOME": self.folder}
        self.environment.pop("WAYLAND_DISPLAY", None)

    def pixels(self):
        """The screen: height x width x 3. The file is an X window dump: header, colour map, pixels."""
        data = open(os.path.join(self.folder, "Xvfb_screen0"), "rb").read()
        head = numpy.frombuffer(data, ">u4", 25)
        width, height, line, colours = int(head[4]), int(head[5]), int(head[12]), int(head[19])
        rows = numpy.frombuffer(data, numpy.uint8, line * height, int(head[0]) + 12 * colours).reshape(height, line)
        return rows[:, :4 * width].reshape(height, width, 4)[:, :, 2::-1]

    def close(self):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Looker:
    """Watches the frames of a program by what it logs, and operates it by mouse and keys. A derived class has state(),
    point(x, y), press(), release(), keys(name...), letters(text) and pixels()."""

    def wait(self, wanted, what="", patience=None):
        """Returns the state as soon as wanted(state) is true."""
        end = time.time() + (patience or self.patience)
        while time.time() < end:
            now = self.state()
            if wanted(now):
                return now
            time.sleep(0.01)
        now = self.state()
        now.pop("places", None)
        raise AssertionError(f"{what or 'it'} did not happen; the state is {now}")

    def settled(self, **wanted):
        """Waits until nothing moves and the state has these values."""
        return self.wait(lambda s: s.get("settled") and all(s.get(k) == v for k, v in wanted.items()), str(wanted))

    def to_the_end(self):
        self.key("End")
        return self.wait(lambda s: s.get("settled") and 0 < s["of"] == s["step"], "the end")

    def lies(self, place, x, y):
        """A point of a control where the control is now; x and y go from 0 to 1 from its upper left corner."""
        left, top, width, height = self.wait(lambda s: place in s["places"], f"control {place}")["places"][place]
        return round(left + x * width), round(top + y * height)

    def where(self, place, x=0.5, y=0.5):
        """The same point, once the control has come to rest."""
        at = None
        while at != (now := self.lies(place, x, y)):
            at = now
            time.sleep(0.06)
        return at

    def move(self, place, x=0.5, y=0.5):
        """Moves the mouse to a control, and follows the control if it moves meanwhile."""
        at, there = None, self.lies(place, x, y)
        while at != there:
            at = there
            size = self.arrives(*at)["size"]
            there = self.where(place, x, y)
        assert 0 <= at[0] < size[0] and 0 <= at[1] < size[1], f"{place} is at {at}, outside of a window of {size}"

    def arrives(self, x, y):
        """The first state with the mouse at this point."""
        self.point(x, y)
        return self.wait(lambda s: s["mouse"] == [x, y], f"the mouse at {x}, {y}")

    def does(self, inputs, act, *words):
        """Calls act() and waits for `inputs` more inputs. The log counts an input once its effect is drawn."""
        before = self.state()["inputs"]
        act(*words)
        self.wait(lambda s: s["inputs"] >= before + inputs, act.__name__ + " " + " ".join(map(str, words)))

    def click(self, place, x=0.5, y=0.5):
        self.move(place, x, y)
        self.does(1, self.press)
        self.does(1, self.release)

    def drag(self, place, start, end):
        """Drags the mouse from one horizontal fraction of a control to another."""
        self.move(place, start)
        (x, y), (to, _) = self.lies(place, start, 0.5), self.lies(place, end, 0.5)
        self.does(1, self.press)
        for k in range(1, 5):
            self.arrives(x + round((to - x) * k / 4), y)
        self.does(1, self.release)

    def key(self, name):
        self.does(2 * len(name.split("+")), self.keys, name)

    def type(self, text):
        self.does(3 * len(text), self.letters, text)

    def picture(self, away=True):
        """The window's pixels, with the mouse in a corner so that nothing is hovered."""
        if away:
            self.arrives(1, 1)
        width, height = map(int, self.state()["size"])
        # A frame is logged when it is handed over; a busy display shows it later.
        before, end = None, time.time() + self.patience
        while time.time() < end:
            now = self.pixels()[:height, :width].copy()
            if before is not None and numpy.array_equal(before, now):
                return now
            before = now
            time.sleep(0.05)
        raise AssertionError("the window does not stand still")


class Window(Looker):
    """The program, in the upper left corner of a display. Its --log says where everything is."""

    def __init__(self, display, binary, *flags, tour=False, patience=120):
        self.display, self.patience = display, patience
        self.folder = tempfile.mkdtemp()
        self.log = os.path.join(self.folder, "log")
        self.program = subprocess.Popen(
            [binary, *flags, "--log", self.log, *([] if tour else ["--no-tour"])], env=display.environment,
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait(lambda s: s["places"] and s["settled"])
        self.x("search", "--sync", "--onlyvisible", "--name", "^TileScope$", "windowmove", "0", "0", "windowfocus", "--sync")

    def x(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.display.environment, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)

    def state(self):
        """The last complete line of the log."""
        if self.program.poll() is not None:
            raise AssertionError(f"the window ended: exit {self.program.returncode}: {self.program.stderr.read()}")
        try:
            with open(self.log, "rb") as log:
                log.seek(max(0, os.path.getsize(self.log) - LONGEST_LINES))
                lines = log.read().split(b"\n")
        except FileNotFoundError:
            return {"places": {}}
        return json.loads(lines[-2]) if len(lines) > 1 else {"places": {}}

    def point(self, x, y):
        self.x("mousemove", x, y)

    def press(self):
        self.x("mousedown", 1)

    def release(self):
        self.x("mouseup", 1)

    def keys(self, name):
        self.x("key", name)

    def letters(self, text):
        self.x("type", text)

    def pixels(self):
        return self.display.pixels()

    def resize(self, width, height):
        self.x("search", "--name", "^TileScope$", "windowsize", width, height)
        return self.wait(lambda s: s["size"] == [width, height], f"size {width} x {height}")

    def close(self):
        """Ends the program as a user would, and checks that it ends well."""
        self.program.terminate()
        code = self.program.wait(timeout=60)
        errors = self.program.stderr.read()
        shutil.rmtree(self.folder, ignore_errors=True)
        if code not in (0, 130) or "Sanitizer" in errors:
            raise AssertionError(f"exit {code}: {errors}")
