#!/usr/bin/env python3
"""A signal at any moment of a long command ends the command soon, with exit code 130 and one line. Its output file is
as it was before, and nothing else is left: no temporary file, no other process.

    signals.py TILESCOPE [TILESCOPE_GUI] [--moments N] [--seed S] [--sanitized]
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from cases import Tally

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
PATIENCE = 10  # seconds; on an idle machine far less than one is needed
FRAMES = "--size 320x240 --from 0 --to 2000 --speed 8"
SHAPES = "--gpu toy --seq 64 --dim 4 --heads 1 --br 4 --bc 4"

# Each runs far longer than the test waits, except pictures, which may be done by then. OUT is the output file.
LONG = {
    "run flash_v2 --seq 65536 --mode numeric --out OUT": "o.npy",
    "run softmax_safe --seq-q 100000 --seq-k 1000 --heads 1 --mode numeric --out OUT": "o.npy",
    "run flash_v2 --q big.npy --k big.npy --v big.npy --out OUT": "o.npy",
    "explain flash_v2 --seq 65536 --mode numeric": None,
    "compare flash_v1 flash_v2 --seq 32768 --mode numeric": None,
    "sweep flash_v2 --vary seq=1000:90000:+1 --vary dim=32,40,48,64,80,96,112,128 --causal -o OUT": "s.csv",
    "sweep flash_v2 --vary seq=65536 --mode numeric": None,
    "trace flash_v2 --seq 16384 --br 16 --bc 16 --max-events 2000000000 --mode numeric -o OUT": "t.json",
    "replay long.json": None,
}
PICTURES = {
    f"flash_v2 {SHAPES} --record OUT {FRAMES}": "film.gif",
    f"flash_v2 {SHAPES} {FRAMES} --record OUT": "film.mp4",
    # A GIF is written to its end only when its last picture is known.
    f"flash_v2 {SHAPES} --size 800x600 --from 0 --to 60 --speed 8 --record OUT": "film.gif",
    "flash_v2 --seq 4096 --size 3000x2000 --screenshot OUT": "picture.png",
}
END_OF_PNG = b"\x00\x00\x00\x00IEND"
WINDOW = f"flash_v2 {SHAPES} --no-tour --loop --speed 100"


class Command:
    """A program, its arguments, its environment, and the file that it writes."""

    def __init__(self, binary, args, out=None, environment=None):
        self.binary, self.args, self.out = binary, args, out
        self.environment = environment

    def start(self, folder):
        args = [os.path.join(folder, self.out) if a == "OUT" else a for a in self.args.split()]
        return subprocess.Popen([self.binary, *args], cwd=inputs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, start_new_session=True, env=self.environment)


def listens(pid):
    """Whether the program handles its signals already, or has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
        return int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1
    except (OSError, StopIteration):
        return True


def processes_of(session):
    """Processes that the program started and that still run, itself included."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(pid)
        except OSError:
            pass
    return found


def check_moment(tally, rng, command, times):
    kind, wait = rng.choice(SIGNALS), rng.choice((0.05, 0.4, 1.5)) * rng.random()
    everybody, twice, old = rng.random() < 0.5, rng.random() < 0.25, rng.random() < 0.5
    pause = rng.random() * 0.03
    with tempfile.TemporaryDirectory() as folder:
        if old and command.out:
            with open(os.path.join(folder, command.out), "wb") as file:
                file.write(b"before")
        p = command.start(folder)
        time.sleep(wait)
        while not listens(p.pid):
            time.sleep(0.001)
        send = os.killpg if everybody else os.kill  # a terminal sends it to all processes of the group
        begin = time.time()
        try:
            send(p.pid, kind)
            if twice:
                time.sleep(pause)
                send(p.pid, kind)
        except ProcessLookupError:
            pass
        try:
            _, err = p.communicate(timeout=6 * PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            _, err = p.communicate()
        times.append(time.time() - begin)
        what = f"`{command.args}`, {kind.name}{' twice' if twice else ''} after {wait:.3f} s"
        name = os.path.basename(command.binary)
        left = {n: open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder)}
        if command.args in PICTURES and p.returncode == 0:
            tally.check(err == "" and list(left) == [command.out] and left[command.out] != b"before" and
                        left[command.out][-12:-4] == END_OF_PNG, f"{what}: done, but {err!r}, {left.keys()}")
            return
        tally.check((p.returncode == 130 and err == f"{name}: interrupted\n") or (twice and p.returncode == -kind),
                    f"{what}: exit {p.returncode}, {err!r}")
        tally.check(times[-1] < PATIENCE, f"{what}: it took {times[-1]:.1f} s")
        tally.check(left == ({command.out: b"before"} if old and command.out else {}), f"{what}: left {left.keys()}")
        check_alone(tally, p, what)


def check_alone(tally, p, what):
    end = time.time() + PATIENCE
    while processes_of(p.pid) and time.time() < end:
        time.sleep(0.01)
    tally.check(not processes_of(p.pid), f"{what}: other processes still run")


def check_killed(tally, command, moments):
    """A program that is killed without notice takes the processes that it started with it: the display, and ffmpeg."""
    for k in range(moments):
        kill_after(tally, command, f"killed after {0.05 * k:.2f} s", lambda p, k=k: time.sleep(0.05 * k))
    kill_after(tally, command, "killed beside another process", lambda p: wait_for_others(tally, command, p))


def kill_after(tally, command, what, wait):
    with tempfile.TemporaryDirectory() as folder:
        p = command.start(folder)
        wait(p)
        p.kill()
        p.communicate()
        check_alone(tally, p, f"`{command.args}`, {what}")


def wait_for_others(tally, command, p):
    end = time.time() + PATIENCE
    while not (seen := len(processes_of(p.pid)) > 1) and p.poll() is None and time.time() < end:
        time.sleep(0.01)
    tally.check(seen, f"`{command.args}`: never seen with another process")


def check_ignored(tally, binary):
    """A signal that nohup told the program to ignore stays ignored."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.csv")
        p = subprocess.Popen(["nohup", binary, "sweep", "flash_v2", "--vary", "seq=1:800:+1", "-o", path],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.1)
        p.send_signal(signal.SIGHUP)
        _, err = p.communicate(timeout=60)
        tally.check(p.returncode == 0 and os.path.getsize(path) > 5e4, f"nohup: exit {p.returncode}, {err!r}")


def check_progress(tally, binary, sanitized):
    """On a terminal the work before the run is shown, and its line is cleared after Ctrl-C."""
    rows = 50000 if sanitized else 400000  # a sanitizer makes rows slow, and large in memory
    for args, words in ((f"run softmax_safe --seq-q {rows} --seq-k 1000 --heads 1 --mode numeric", "making inputs"),
                        (shorter("run flash_v2 --seq 65536 --mode numeric", sanitized), "running flash_v2")):
        screen, terminal = os.openpty()
        p = subprocess.Popen([binary, *args.split()], stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        seen, end = "", time.time() + 60
        while words not in seen and time.time() < end:
            seen += os.read(screen, 4096).decode()
        p.send_signal(signal.SIGINT)
        p.wait(PATIENCE)
        seen += os.read(screen, 4096).decode()
        os.close(screen)
        tally.check(words in seen and seen.endswith("\r\x1b[Ktilescope: interrupted\r\n") and p.returncode == 130,
                    f"`{args}` on a terminal: exit {p.returncode}, {seen[-200:]!r}")


def make_inputs(binary, folder, sanitized):
    """Files that take a while to read."""
    header = "{'descr': '<f4', 'fortran_order': True, 'shape': (262144, 64), }"
    header += " " * (117 - len(header)) + "\n"
    with open(os.path.join(folder, "big.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(10 + len(header) + 4 * 262144 * 64)
    seq = 512 if sanitized else 2048
    trace = f"trace flash_v2 --seq {seq} --heads 4 --br 16 --bc 16 --mode count -o long.json"
    subprocess.run([binary, *trace.split()], cwd=folder, check=True, stderr=subprocess.DEVNULL)


def shorter(args, sanitized):
    """Fewer keys under a sanitizer, which makes each slow: a run cannot end within a key tile, nor while inputs are
    made."""
    return re.sub("--seq (65536|32768)", "--seq 4096", args) if sanitized else args


def commands_of(options):
    commands = [Command(options.tilescope, shorter(args, options.sanitized), out) for args, out in LONG.items()]
    if not options.window:
        return commands, None
    plain = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    plain["ASAN_OPTIONS"] = "detect_leaks=0"  # drivers of displays leak
    if not shutil.which("Xvfb"):
        print("SKIPPED: the window, for there is no Xvfb")
        return commands, None
    for args, out in PICTURES.items():
        if "film" not in out or shutil.which("ffmpeg"):
            commands.append(Command(options.window, args, out, plain))
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
                              pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        display = ":" + pipe.readline().strip()
    commands.append(Command(options.window, WINDOW, None, {**plain, "DISPLAY": display}))
    return commands, server


def main():
    global inputs  # the folder that commands run in
    parser = argparse.ArgumentParser()
    parser.add_argument("tilescope", type=os.path.abspath)
    parser.add_argument("window", type=os.path.abspath, nargs="?")
    parser.add_argument("--moments", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitized", action="store_true")
    options = parser.parse_args()
    tally, rng, times = Tally(), random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as inputs:
        make_inputs(options.tilescope, inputs, options.sanitized)
        commands, server = commands_of(options)
        try:
            for k in range(options.moments):
                check_moment(tally, rng, commands[k % len(commands)], times)
            for command in commands:
                if "--record" in command.args:
                    check_killed(tally, command, 2 if options.sanitized else 10)
            check_ignored(tally, options.tilescope)
            check_progress(tally, options.tilescope, options.sanitized)
        finally:
            if server:
                server.terminate()
                server.wait()
    print(f"{options.moments} moments, seed {options.seed}: the slowest end took {max(times):.2f} s, "
          f"the median {sorted(times)[len(times) // 2]:.3f} s")
    tally.close()


main()
