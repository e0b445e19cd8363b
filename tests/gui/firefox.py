#!/usr/bin/env python3
"""The page in Firefox, as far as Firefox can be driven without a separate driver: the page begins, draws, takes keys
and clicks, follows its address, and counts as the program does.

    firefox.py SITE TILESCOPE
"""

import base64
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import numpy
from browser import PATIENCE, Server
from driver import SKIPPED, Display
from PIL import Image

PREFERENCES = {"webgl.force-enabled": True, "app.update.enabled": False, "toolkit.telemetry.enabled": False,
               "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False}


class Firefox:
    """Marionette, which is part of Firefox: messages in JSON, each after its length."""

    def __init__(self, binary):
        self.folder = tempfile.mkdtemp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.folder, "user.js"), "w", encoding="utf-8") as file:
            for name, value in {**PREFERENCES, "marionette.port": port}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.display = Display(1440, 900)  # without a display there is no WebGL
        self.program = subprocess.Popen([binary, "--marionette", "--no-remote", "--profile", self.folder],
                                        env=self.display.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.time() + PATIENCE
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
                break
            except OSError:
                assert time.time() < end, "Firefox does not listen"
                time.sleep(0.1)
        self.stream, self.asked = self.socket.makefile("rb"), 0
        self.read()  # the greeting
        self.ask("WebDriver:NewSession")

    def read(self):
        length = b""
        while (digit := self.stream.read(1)) != b":":
            length += digit
        return json.loads(self.stream.read(int(length)))

    def ask(self, what, **parameters):
        self.asked += 1
        message = json.dumps([0, self.asked, what, parameters]).encode()
        self.socket.sendall(f"{len(message)}:".encode() + message)
        _, _, error, result = self.read()
        assert not error, (what, error)
        return result

    def script(self, text, *arguments):
        return self.ask("WebDriver:ExecuteScript", script=text, args=list(arguments), sandbox=None)["value"]

    def act(self, kind, *actions):
        self.ask("WebDriver:PerformActions", actions=[{"type": kind, "id": kind, "actions": list(actions)}])

    def key(self, key):
        self.act("key", {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})

    def click(self, x, y):
        self.act("pointer", {"type": "pointerMove", "x": x, "y": y}, {"type": "pause", "duration": 300},
                 {"type": "pointerDown", "button": 0}, {"type": "pause", "duration": 200}, {"type": "pointerUp", "button": 0})

    def state(self):
        line = self.script("return window.Module && Module.status || ''")
        return json.loads(line) if line else {}

    def wait(self, wanted, what):
        end = time.time() + PATIENCE
        while not wanted(now := self.state()):
            said = self.script("return document.body.innerText")
            assert time.time() < end, (what, said, {key: now.get(key) for key in ("step", "command", "size")})
            time.sleep(0.1)
        return now

    def close(self):
        self.program.terminate()
        self.program.wait(PATIENCE)
        self.display.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def uses_the_page(firefox, url, cli):
    flags = ["flash_v2", "--seq", "128", "--dim", "32", "--heads", "2", "--br", "32", "--bc", "32", "--step", "10"]
    firefox.ask("WebDriver:Navigate", url=url + "#" + "+".join([*flags, "--no-tour"]))
    end = time.time() + PATIENCE
    while not firefox.script("return window.Module && Module.ready || 0"):
        assert time.time() < end, firefox.script("return document.body.innerText")
        time.sleep(0.2)
    firefox.script("Module._tilescope_watch(); wake();")
    s = firefox.wait(lambda s: s and s["settled"] and s["step"] == 10, "the page")
    printed = json.loads(subprocess.run([cli, "run", *flags[:-2], "--mode", "count", "--json"], check=True,
                                        capture_output=True, text=True).stdout)
    counted = printed["counters"] if "counters" in printed else printed["runs"][0]["counters"]
    assert {key: counted[key] for key in s["counters"]} == s["counters"], (counted, s["counters"])
    picture = Image.open(io.BytesIO(base64.b64decode(firefox.ask("WebDriver:TakeScreenshot", full=False)["value"])))
    colours = len(numpy.unique(numpy.array(picture.convert("RGB")).reshape(-1, 3), axis=0))
    assert colours > 500, f"{colours} colours on the canvas"
    firefox.key("\ue014")
    firefox.wait(lambda s: s["settled"] and s["step"] == 11, "a step by a key")
    x, y, width, height = firefox.state()["places"]["step"]
    firefox.click(round(x + width / 2), round(y + height / 2))
    firefox.wait(lambda s: s["settled"] and s["step"] == 12, "a step by a click")
    end = time.time() + PATIENCE
    while "--step+12" not in firefox.script("return location.hash"):
        assert time.time() < end, "the address"
        time.sleep(0.1)
    firefox.script("location.hash = '#flash_v1+--seq+96+--heads+1'")
    firefox.wait(lambda s: s["settled"] and s["algorithm"] == "flash_v1", "another address")
    return firefox.script("return navigator.userAgent")


def main():
    binary = shutil.which("firefox-esr") or shutil.which("firefox")
    if not binary:
        print("SKIPPED: firefox-esr not found")
        sys.exit(SKIPPED)
    server, firefox = Server(os.path.abspath(sys.argv[1])), Firefox(binary)
    try:
        print("ok", uses_the_page(firefox, server.url + "index.html", os.path.abspath(sys.argv[2])))
    finally:
        firefox.close()
        server.close()


main()
