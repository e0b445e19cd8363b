"""The page in a real browser (Chromium, driven by Selenium), with the interface that driver.py has for a window."""

import functools
import http.server
import io
import json
import shutil
import sys
import tempfile
import threading
import time
import urllib.parse

import driver

NAMES = {"space": " ", "period": ".", "Return": "\ue007", "Tab": "\ue004", "Escape": "\ue00c", "Page_Up": "\ue00e",
         "Page_Down": "\ue00f", "Prior": "\ue00e", "Next": "\ue00f", "End": "\ue010", "Home": "\ue011", "Left": "\ue012",
         "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "shift": "\ue008", "Shift": "\ue008", "ctrl": "\ue009",
         "BackSpace": "\ue003", "Delete": "\ue017"}
NEEDED = ("chromium", "chromedriver")
PATIENCE = 180  # seconds for anything: the page is drawn in software here, with other tests on the same cores
CHROMIUM = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--hide-scrollbars",
            "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update"]


def skip_unless_possible():
    missing = [tool for tool in NEEDED if not shutil.which(tool)]
    try:
        import selenium  # noqa: F401
    except ImportError:
        missing.append("python3-selenium")
    if missing:
        print("SKIPPED:", ", ".join(missing), "not found")
        sys.exit(driver.SKIPPED)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server:
    """A plain static host, which sends no headers of its own."""

    def __init__(self, folder):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Browser:
    """A browser with a new profile of its own, in place of a display."""

    def __init__(self, *flags, width=1200, height=750):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        self.folder = tempfile.mkdtemp()
        for flag in [*CHROMIUM, *flags]:
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": self.folder})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(PATIENCE)
        self.usual = width, height
        self.server = None
        self.as_new()

    def as_new(self):
        """Resets the browser: usual size, no media preferences, an empty page, no messages."""
        self.fit(*self.usual)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.driver.get("about:blank")
        self.complaints()

    def fit(self, width, height, ratio=1, touch=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": touch})

    def serve(self, site):
        self.server = self.server or Server(site)
        return self.server.url

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]

    def close(self):
        self.driver.quit()
        if self.server:
            self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Page(driver.Looker):
    """The page in this browser. Its log says where everything is."""

    def __init__(self, browser, site, *flags, tour=False, patience=PATIENCE, file="index.html"):
        from selenium.webdriver.common.actions.action_builder import ActionBuilder
        self.browser, self.driver, self.patience = browser, browser.driver, patience
        self.folder = browser.folder
        self.actions = lambda: ActionBuilder(self.driver, duration=0)
        flags = list(flags)
        if "--size" in flags:
            at = flags.index("--size")
            browser.fit(*map(int, flags[at + 1].split("x")))
            del flags[at:at + 2]
        if not tour:
            flags.append("--no-tour")
        self.driver.get("about:blank")
        self.driver.get(browser.serve(site) + file + "#" + "+".join(urllib.parse.quote(f, safe="") for f in flags))
        self.begun()

    def begun(self):
        """Waits for the program to begin, and makes it log."""
        end = time.time() + self.patience
        while not self.driver.execute_script("return window.Module && Module.ready || 0"):
            assert time.time() < end, ("the page did not begin", self.browser.complaints())
            time.sleep(0.03)
        self.driver.execute_script("Module._tilescope_watch(); wake();")
        self.wait(lambda s: s["places"] and s["settled"])

    def state(self):
        line = self.driver.execute_script("return Module.status")
        return json.loads(line) if line else {"places": {}}

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def problem(self):
        """The error message that the page shows; "" if there is none."""
        return self.script("return document.getElementById('problem').hidden ? '' : "
                           "document.querySelector('#problem span').textContent")

    def point(self, x, y):
        actions = self.actions()
        actions.pointer_action.move_to_location(x, y)
        actions.perform()

    def press(self):
        actions = self.actions()
        actions.pointer_action.pointer_down()
        actions.perform()

    def release(self):
        actions = self.actions()
        actions.pointer_action.pointer_up()
        actions.perform()

    def keys(self, *chords):
        actions = self.actions()
        for chord in chords:
            keys = [NAMES.get(key, key) for key in chord.split("+")]
            for key in keys:
                actions.key_action.key_down(key)
            for key in reversed(keys):
                actions.key_action.key_up(key)
        actions.perform()

    def x(self, what, *words):
        """Presses the keys that xdotool would press."""
        assert what == "key", what
        self.keys(*(words[2:] if words[0] == "--delay" else words))

    def letters(self, text):
        actions = self.actions()
        for letter in text:
            actions.key_action.key_down(letter)
            actions.key_action.key_up(letter)
        actions.perform()

    def pixels(self):
        import numpy
        import PIL.Image
        return numpy.array(PIL.Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB"))

    def resize(self, width, height):
        self.browser.fit(width, height)
        return self.wait(lambda s: s["size"] == [width, height], f"size {width} x {height}")

    def close(self):
        complaints = self.browser.complaints()
        assert not complaints, complaints
