#!/usr/bin/env python3
"""Measures the page's size and speed: bench/page.py build-web/site. Needs Chromium and Selenium, as
scripts/test-web."""

import gzip
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "gui"))
from browser import Browser, Page  # noqa: E402

SITE = pathlib.Path(sys.argv[1]).resolve()
PROBLEM = ["--seq", "1024", "--heads", "8", "--dim", "64", "--br", "64", "--bc", "64"]

# Draws frames one after the other without waiting for the screen. Milliseconds of the page's own work, without drawing.
CHANGE = """
  const began = performance.now();
  call("open", arguments[0]);
  let work = performance.now() - began;
  do { call("frame"); work += Module.work; } while (!shown.settled);
  return work;
"""
STEP = """
  const work = [];
  for (let k = 0; k < 60; ++k) { call("do", "step", 1); for (let f = 0; f < 3; ++f) { call("frame"); work.push(Module.work); } }
  return work.sort((a, b) => a - b)[work.length >> 1];
"""


def sizes():
    for name in ("index.html", "page.js", "tilescope.js", "tilescope.wasm", "tilescope.data", "tilescope.html"):
        raw = (SITE / name).read_bytes()
        print(f"{name:15} {len(raw):10,} bytes, {len(gzip.compress(raw, 9)):10,} with gzip -9")


def page_thread(browser, page):
    """The file in which Linux counts the nanoseconds of the page's thread. Of this browser's renderers, the page's is the
    one that works most while the page is changed."""
    def parent(pid):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])

    def ours(pid):
        while pid > 1 and pid != browser.driver.service.process.pid:
            pid = parent(pid)
        return pid > 1
    renderers = [int(p.parent.name) for p in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                 if b"--type=renderer" in p.read_bytes() and ours(int(p.parent.name))]
    counters = [pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat") for pid in renderers]
    before = {counter: worked(counter) for counter in counters}
    page.script(CHANGE, "+".join(["standard", *PROBLEM]))
    return max(counters, key=lambda counter: worked(counter) - before[counter])


def worked(thread):
    """Milliseconds of processor time of the thread so far."""
    return int(thread.read_text().split()[0]) / 1e6


def rest(page):
    """Waits until the page draws as few frames as when nothing is left to do."""
    frames = -100
    while page.script("return Module.frames") - frames > 3:
        frames = page.script("return Module.frames")
        time.sleep(0.25)


def changes(page, thread, name):
    """Milliseconds that 21 changes of the setup take: of their frames, by the clock, and of the page's thread."""
    times, work = [], []
    for k in range(1, 22):
        rest(page)
        before = worked(thread)
        times.append(page.script(CHANGE, "+".join([name, *PROBLEM, "--seed", str(k)])))
        work.append(worked(thread) - before)
    return times, work


def main():
    sizes()
    browser = Browser(width=1440, height=900)
    megabytes = "return Math.round(Module.HEAPU8.length / 1e6)"
    starts = []
    for _ in range(5):
        page = Page(browser, str(SITE), "flash_v2", *PROBLEM)
        starts.append(page.script("return Module.ready"))
    print(f"first frame after {statistics.median(starts):.0f} ms (median of 5, without a network)")
    print("memory:", page.script(megabytes), "MB at the start")
    # The browser compiles code that runs often once more, for speed, while frames go on.
    rest(page)
    steps = [page.script(STEP) for _ in range(5)]
    print(f"a frame's own work, flash_v2: {steps[0]:.2f} ms (median of the first 180), {steps[-1]:.2f} ms (of 180 after 720)")
    thread = page_thread(browser, page)
    for name in ("flash_v2", "flash_v1", "standard"):
        times, work = changes(page, thread, name)
        print(f"a change of the setup, {name}: {min(times):.0f} ms (best of 21), {statistics.median(times):.0f} ms (median);",
              f"of processor time {min(work):.0f} and {statistics.median(work):.0f} ms")
    print("memory:", page.script(megabytes), "MB after these changes")
    page.script(CHANGE, "+".join(["flash_v1", *PROBLEM, "--race", "standard"]))
    print("memory:", page.script(megabytes), "MB after a race")
    browser.close()


main()
