#!/usr/bin/env python3
"""Where there is no display, no OpenGL or no Xvfb, the window says so in one line, with what helps.

    without_opengl.py TILESCOPE_GUI
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from cases import Tally
from driver import Display, skip_unless_possible

PICTURE = ["flash_v2", "--seq", "64", "--screenshot", "picture.png"]
WINDOW = ["flash_v2", "--seq", "64", "--no-tour"]


def main():
    skip_unless_possible()
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    display = Display(640, 480)
    nowhere = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    no_drivers = {"LIBGL_DRIVERS_PATH": "/nowhere", "MESA_LOADER_DRIVER_OVERRIDE": "none"}
    cases = [
        ("a window without a display", WINDOW, nowhere, "pictures and films need no display"),
        ("a window without OpenGL", WINDOW, {**display.environment, **no_drivers}, "no OpenGL ES 3 on this display"),
        ("a picture without OpenGL", PICTURE, {**nowhere, **no_drivers}, "apt-get install libgl1-mesa-dri"),
        ("a picture without Xvfb", PICTURE, {**nowhere, "PATH": "/nowhere"}, "apt-get install xvfb"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, args, environment, part in cases:
            r = subprocess.run([binary, *args], env=environment, cwd=folder, capture_output=True, text=True, timeout=60)
            ours = [line for line in r.stderr.splitlines() if not line.startswith("libGL")]  # libGL prints its own
            tally.check(r.returncode == 1 and len(ours) == 1 and part in ours[0],
                        f"{name}: exit {r.returncode}, {r.stderr!r}")
            tally.check(os.listdir(folder) == [], f"{name} left {os.listdir(folder)}")
    display.close()
    tally.close()


main()
