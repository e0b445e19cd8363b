#!/usr/bin/env python3
"""Hostile text in every flag of every subcommand and in every field of files: messages stay one short line that a
terminal can print.

    hostile.py TILESCOPE [TILESCOPE_GUI] [--share OF_ALL_COMMANDS] [--seed S]
"""

import argparse
import copy
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

from cases import Tally

TEXTS = [b"\x1b[31mred\x1b[0m", b"two\nlines\r\x07", b"x" * 100_000, b"\xff\xfe\xc0\x80\xe9", "\x9b31m\u202e\ufeff".encode()]
# Each subcommand with arguments of a small, valid request.
COMMANDS = {
    "list": "", "run": "flash_v2 --mode count --seq 64", "compare": "flash_v2 --mode count --seq 64",
    "explain": "flash_v2 --seq 64", "sweep": "flash_v2 --vary seq=64", "step": "flash_v2 --seq 64 --heads 1",
    "trace": "flash_v2 --seq 64 --mode count -o /dev/null", "replay": "/nowhere.json", "gpus": "",
    "gpus show": "toy", "validate": "--survey quick", "calibrate": "", "doctor": "",
    "measured": "flash_v2 --dim 32", "reconcile": "flash_v2 --seq 64",
}
OUTPUTS = ["-o", "--output", "--out", "--csv", "--log", "--screenshot", "--record"]  # these may have any name
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def run(command, **more):
    return subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL, **more)


def printable(output):
    try:
        return not CONTROL.search(output.decode())
    except UnicodeDecodeError:
        return False


def check(tally, command, codes, **more):
    """Runs the command. A failure prints one short printable line; a success prints printable lines. Only a share of
    all commands is run, drawn from the seed."""
    if drawn.random() >= share:
        return None
    r = run(command, **more)
    what = [c[:60] for c in command[1:]]
    tally.check(r.returncode in codes, f"{what}: exit {r.returncode}, {r.stderr[:300]!r}")
    tally.check(printable(r.stderr) and printable(r.stdout), f"{what}: prints raw {r.stderr[:300]!r}")
    tally.check(r.stderr.count(b"\n") <= 1 and len(r.stderr.decode(errors="replace")) < 1000,
                f"{what}: not one short line: {r.stderr[:300]!r}, {len(r.stderr)} bytes")
    tally.check((r.returncode == 0) or r.stderr.count(b"\n") == 1, f"{what}: says nothing")
    return r


def flags_of(program):
    """All flags of --help, each with whether it takes a value."""
    text = run([*program, "--help"]).stdout.decode()
    found = re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: (?!Excludes)(\S+))?", text, re.M)
    return [(flag, value != "") for flag, value in found if flag not in ("--help", "--version")]


def check_flags(tally, program, right):
    for text in TEXTS:
        check(tally, [*program, b"--" + text], [2])
        check(tally, [*program, text, *right], [2])
        check(tally, [*program, *right, text, text], [2])
    for flag, takes_value in flags_of(program):
        rest = right
        if flag in right:
            rest = right[:right.index(flag)] + right[right.index(flag) + 2:]
        elif flag == "--output" and "-o" in right:
            rest = right[:-2]
        for text in TEXTS:
            if flag in OUTPUTS:
                check(tally, [*program, *rest, flag, b"/nowhere/" + text], [0, 1, 2])
            elif takes_value:
                check(tally, [*program, *rest, flag, text], [2])
                check(tally, [*program, *rest, flag.encode() + b"=1" + text], [2])
            else:
                check(tally, [*program, *rest, flag.encode() + b"=" + text], [2])


def places(value, path=()):
    """The path of every member of a JSON value, and of the value itself."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else []
    for key, member in items:
        yield from places(member, (*path, key))


def changed(value, path, text, rename):
    """A copy of the value with the member at a path replaced by the text, or renamed to it."""
    value = copy.deepcopy(value)
    if not path:
        return text
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    if rename and isinstance(parent, dict):
        members = list(parent.items())
        parent.clear()
        parent.update((text if key == path[-1] else key, member) for key, member in members)
    else:
        parent[path[-1]] = text
    return value


def check_fields(tally, command, folder, value, codes):
    path = os.path.join(folder, "fields.json")
    for place in places(value):
        for text in ("\x1b[31mred\n", "\x9b\u202e", "y" * 100_000):
            for rename in (False, True):
                with open(path, "w") as file:
                    json.dump(changed(value, place, text, rename), file)
                check(tally, [*command, path], codes)


def check_files(tally, binary, window, folder):
    gpu = {"base": "toy", "name": "mine", "title": "T", "compute_capability": "1.0", "sms": 4,
           "hbm_gbs": {"value": 7, "source": "a guess"}, "schema": "tilescope.gpu/1"}
    check_fields(tally, [binary, "gpus", "show"], folder, gpu, [2])
    trace = os.path.join(folder, "t.json")
    run([binary, "trace", "flash_v2", "--gpu", "toy", "--seq", "2", "--dim", "1", "--heads", "1", "--br", "1", "--bc",
         "1", "--mode", "numeric", "-o", trace])
    with open(trace) as file:
        recording = json.load(file)
    check_fields(tally, [binary, "replay"], folder, recording, [1, 2])
    if window:
        state = {"tilescope-gui": ["flash_v2", "--seq", "64", "--tab", "code"]}
        check_fields(tally, [window, "--open"], folder, state, [2])
    for content in TEXTS + [b"\x93NUMPY\x01\x00\x20\x00{'descr': '" + t + b"'" for t in TEXTS]:
        for name in (b"plain", b"\x1b[31m\n\xe9"):
            path = os.path.join(folder.encode(), name)
            with open(path, "wb") as file:
                file.write(content)
            check(tally, [binary, "run", "flash_v2", "--q", path, "--k", path, "--v", path], [2])
            check(tally, [binary, "run", "softmax_safe", "--x", path], [2])
            check(tally, [binary, "replay", path], [2])
            check(tally, [binary, "gpus", "show", path], [2])
            if window:
                check(tally, [window, "--open", path], [2])


def check_strange_files(tally, window, folder):
    """What cannot be read as a file is refused at once."""
    pipe, empty = os.path.join(folder, "pipe.json"), os.path.join(folder, "empty.json")
    os.mkfifo(pipe)
    open(empty, "w").close()
    for path in (pipe, folder, "/dev/zero", empty, "/nowhere"):
        for command in ([window, "--open", path], [window, path]):
            if r := check(tally, command, [2]):
                tally.check(os.path.basename(path).encode() in r.stderr, f"{command}: {r.stderr!r} names no file")


def check_way_back(tally, binary, folder):
    """The command in a message is printable, and a shell that runs it gets the same message, whatever the file's
    name."""
    for name in (b"it's !~*$(exit 3).json", b"\x1b[31m two\nlines\xe9.json", b"-rf.json"):
        path = os.path.join(folder.encode(), name)
        with open(path, "w") as file:
            file.write('{"base": "toy"}')
        r = run([binary, "run", "flash_v2", "--br", "4096", "--bc", "4096", "--gpu", path])
        tally.check(r.returncode == 1 and printable(r.stderr), f"{name}: exit {r.returncode}, {r.stderr!r}")
        back = r.stderr.partition(b"see it: ")[2].rstrip(b"\n").replace(b"tilescope", binary.encode(), 1)
        again = run(["sh", "-c", back])
        tally.check(again.returncode == 1 and b"does not fit" in again.stderr, f"{back}: {again.stderr!r}")


def check_profiles(tally, binary, folder):
    """Hostile names of kernels, numbers and file names in output of Nsight Compute."""
    good = (pathlib.Path(__file__).parent.parent / "device/ncu/flash_v2_f16.csv").read_bytes()
    kernel, number = re.search(rb"void unnamed[^\"]*", good)[0], b'"35,651,584"'
    for text in (*TEXTS, b"1e999", b"-5", b"1e300", b"nan"):
        for changed_file in (good.replace(kernel, text), good.replace(number, b'"' + text + b'"'), good[:900] + text):
            path = os.path.join(folder.encode(), b"\x1b[31m.csv")
            with open(path, "wb") as file:
                file.write(changed_file)
            for more in ([], ["--only", "flash"], ["--json"]):
                check(tally, [binary, "reconcile", "flash_v2", path, "--heads", "16", *more], [0, 2])


def main():
    global share, drawn
    parser = argparse.ArgumentParser()
    parser.add_argument("tilescope", type=os.path.abspath)
    parser.add_argument("window", type=os.path.abspath, nargs="?")
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binary, window, share, drawn, tally = options.tilescope, options.window, options.share, random.Random(options.seed), Tally()
    for name, right in COMMANDS.items():
        check_flags(tally, [binary, *name.split()], right.split())
    if window:
        check_flags(tally, [window], ["flash_v2", "--step", "-1"])
    with tempfile.TemporaryDirectory() as folder:
        check_files(tally, binary, window, folder)
        check_way_back(tally, binary, folder)
        check_profiles(tally, binary, folder)
        if window:
            check_strange_files(tally, window, folder)
    tally.close()


main()
