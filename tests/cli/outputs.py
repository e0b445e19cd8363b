#!/usr/bin/env python3
"""Every output of every command is right, or a message says why not: on a full disk, with a closed pipe, beside other
processes that write the same file, in a locale with decimal commas, and on any number of threads."""

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from cases import Tally, run

SMALL = "--seq 64 --heads 1 --dim 16 --dtype f32 --br 16 --bc 16"
# All commands that print.
PRINTING = ["--help", "--version", "list", "list --json", "gpus", "gpus show toy", "doctor", f"run flash_v2 {SMALL}",
            f"run flash_v2 {SMALL} --json", f"compare {SMALL}", f"explain flash_v2 {SMALL}", f"step flash_v2 {SMALL}",
            "sweep flash_v2 --vary seq=64:256:x2", "sweep flash_v2 --vary seq=64:256:x2 --json", "validate --json",
            f"trace flash_v2 {SMALL} -o /dev/stdout", f"trace flash_v2 {SMALL} --perfetto -o /dev/stdout",
            *(f"{c} --help" for c in ("list run compare explain sweep plot advise step trace replay gpus validate calibrate "
                                      "measured reconcile doctor").split())]
# All commands that write a file, with the file's name.
WRITING = {"run flash_v2 --seq 512 --heads 1 --dtype f32 --out FILE": "o.npy",
           f"trace flash_v2 {SMALL} -o FILE": "t.json", f"trace flash_v2 {SMALL} --perfetto -o FILE": "t.pftrace",
           "sweep flash_v2 --vary seq=1000:1500:+1 -o FILE": "s.csv"}
if shutil.which("gnuplot"):
    WRITING["plot io-vs-d -o FILE"] = "p.svg"
HOURS = "--seq 65536 --heads 64 --mode numeric"
CLOSED_PIPE = 141


def one_line(text):
    return text.count("\n") == 1


def limited(size):
    """Lets no file grow beyond this size: a full disk, for all processes and everywhere."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def start(binary, args, **more):
    """Starts a command. A clock ends it if it does not end by itself."""
    return subprocess.Popen([binary, *args.split()], stderr=subprocess.PIPE, text=True, **more,
                            preexec_fn=lambda: signal.alarm(60))


def check_standard_output(binary, tally):
    for args in PRINTING:
        with open("/dev/full", "w", encoding="utf-8") as full:
            r = subprocess.run([binary, *args.split()], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        tally.check(r.returncode == 1 and one_line(r.stderr) and "No space left" in r.stderr,
                    f"`{args}` > /dev/full: exit {r.returncode}, {r.stderr!r}")
        reader, writer = os.pipe()
        os.close(reader)
        r = subprocess.run([binary, *args.split()], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120)
        os.close(writer)
        tally.check(r.returncode == CLOSED_PIPE and "cannot" not in r.stderr,
                    f"`{args}` to a closed pipe: exit {r.returncode}, {r.stderr!r}")
        r = subprocess.run(["sh", "-c", f'"$0" {args} >&-', binary], capture_output=True, text=True, timeout=120)
        tally.check(r.returncode == 1 and one_line(r.stderr), f"`{args}` >&-: exit {r.returncode}, {r.stderr!r}")


def check_long_commands_end(binary, tally):
    """What nobody can read is not computed. The first row of this sweep is there at once; the second takes hours."""
    sweep = "sweep flash_v2 --vary seq=64,65536 --heads 64 --mode numeric"
    with open("/dev/full", "w", encoding="utf-8") as full:
        p = start(binary, sweep, stdout=full)
        _, err = p.communicate()
        tally.check(p.returncode == 1 and one_line(err), f"`{sweep}` > /dev/full: {p.returncode}, {err!r}")
    p = start(binary, sweep, stdout=subprocess.PIPE)
    rows = [p.stdout.readline() for _ in range(2)]
    tally.check(p.poll() is None and rows[1].startswith("flash_v2,"), f"`{sweep}`: {rows}")
    p.stdout.close()
    p.send_signal(signal.SIGINT)
    tally.check(p.wait() == 130, f"`{sweep}`: exit {p.returncode}")
    counting = "sweep flash_v2 --vary seq=1:20000:+1 --vary dim=32,40,48,64,80,96,112,128 --causal"  # takes a minute
    p = start(binary, counting, stdout=subprocess.PIPE)
    p.stdout.readline()
    p.stdout.close()
    try:
        _, err = p.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        p.kill()
        _, err = p.communicate()
    tally.check(p.returncode == CLOSED_PIPE and err == "", f"`{counting}` | head -1: exit {p.returncode}, {err!r}")


def check_full_disk(binary, tally):
    for args, name in WRITING.items():
        for old in (None, b"before"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                if old:
                    with open(path, "wb") as file:
                        file.write(old)
                r = run(binary, args.replace("FILE", path), preexec_fn=limited(20_000))
                tally.check(r.returncode == 1 and one_line(r.stderr) and name in r.stderr and r.stdout == "",
                            f"`{args}` on a full disk: exit {r.returncode}, {r.stdout[:80]!r}, {r.stderr!r}")
                left = {n: open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder)}
                tally.check(left == ({name: old} if old else {}), f"`{args}` on a full disk left {left.keys()}")
        r = run(binary, args.replace("FILE", "/dev/full"))
        tally.check(r.returncode == 1 and one_line(r.stderr), f"`{args}`: /dev/full: {r.returncode}, {r.stderr!r}")
        r = run(binary, args.replace("FILE", f"/no/such/folder/{name}"))
        tally.check(r.returncode == 1 and one_line(r.stderr), f"`{args}`: no folder: {r.returncode}, {r.stderr!r}")
    p = start(binary, f"run flash_v2 {HOURS} --out /no/such/folder/o.npy")  # said before the work begins
    tally.check(p.wait() == 1, f"run --out in no folder: exit {p.returncode}")


def check_closed_descriptors(binary, tally):
    """An output file never becomes a standard descriptor, to which other code writes."""
    with tempfile.TemporaryDirectory() as folder:
        command = f'"$0" run flash_v2 {SMALL} --json --out '
        for name, closing in (("right", ""), ("a", ">&-"), ("b", "2>&-"), ("c", "<&- >&- 2>&-")):
            subprocess.run(["sh", "-c", f"{command}{name}.npy {closing}", binary], cwd=folder, capture_output=True)
        files = {n: open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder)}
        tally.check(len(files) == 4 and len(set(files.values())) == 1, f"with closed descriptors: {files.keys()}")


def check_replacing(binary, tally):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("p.csv", "n" * 246 + ".csv"):
            path = os.path.join(folder, name)
            open(path, "w").close()
            os.chmod(path, 0o600)
            r = run(binary, ["sweep", "flash_v2", "--vary", "seq=64", "-o", path])
            mode = stat.S_IMODE(os.stat(path).st_mode)
            tally.check(r.returncode == 0 and mode == 0o600 and os.path.getsize(path) > 100,
                        f"replacing {name[:20]}: exit {r.returncode}, {r.stderr!r}, mode {mode:o}")
        tally.check(len(os.listdir(folder)) == 2, f"replacing left {os.listdir(folder)}")


def check_writers(binary, tally):
    """When several processes write one file, the last one wins and the file is whole."""
    with tempfile.TemporaryDirectory() as folder:
        def write(seed, name):
            return start(binary, f"trace flash_v2 {SMALL} --mode numeric --seed {seed} -o {folder}/{name}.json")
        for seed in range(6):
            write(seed, seed).communicate()
        single = {open(f"{folder}/{seed}.json", "rb").read() for seed in range(6)}
        for _ in range(3):
            writers = [write(seed, "all") for seed in range(6)]
            said = [w.communicate()[1] for w in writers]
            tally.check(all(w.returncode == 0 for w in writers), f"writers of one file: {said}")
            tally.check(open(f"{folder}/all.json", "rb").read() in single, "writers of one file: it is nobody's")
        tally.check(len(single) == 6 and len(os.listdir(folder)) == 7, f"writers of one file left {os.listdir(folder)}")


def check_threads(binary, tally):
    with tempfile.TemporaryDirectory() as folder:
        for args in ("run flash_v2 --seq 300 --heads 3 --kv-heads 1 --dim 40 --causal --mode numeric --json",
                     "run chunked --seq 500 --heads 2 --distribution outliers --mode numeric --json",
                     "run softmax_online --seq-q 33 --seq-k 700 --heads 2 --mode numeric --json"):
            results = set()
            for threads in range(1, 9):
                path = os.path.join(folder, f"{threads}.npy")
                r = run(binary, f"{args} --threads {threads} --out {path}")
                tally.check(r.returncode == 0, f"`{args}`: {r.stderr!r}")
                results.add((r.stdout, open(path, "rb").read()))
            tally.check(len(results) == 1, f"`{args}`: {len(results)} different results on 1 to 8 threads")


def check_comma_locale(binary, tally):
    with tempfile.TemporaryDirectory() as folder:
        made = shutil.which("localedef") and subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")], capture_output=True)
        commas = {**os.environ, "LC_ALL": "de_DE.UTF-8", "LOCPATH": folder}
        seen = subprocess.run(["locale", "decimal_point"], env=commas, capture_output=True, text=True) if made else None
        if not seen or seen.stdout.strip() != ",":
            print("SKIPPED: a locale with decimal commas cannot be made here (package locales)")
            return
        points = {**os.environ, "LC_ALL": "C"}
        gpu = os.path.join(folder, "gpu.json")
        with open(gpu, "w", encoding="utf-8") as file:
            file.write('{"base": "A100-40GB", "name": "mine", "hbm_gbs": 1555.5}')
        for args in (f"run flash_v2 {SMALL} --scale 0.25", f"run flash_v2 {SMALL} --json", "compare --mode count",
                     f"explain flash_v2 {SMALL}", "gpus", f"run flash_v2 {SMALL} --gpu {gpu} --sram 100.5",
                     "sweep flash_v2 --vary sram=16.5:64:x2 --hbm-bandwidth 1.5e3", f"step flash_v2 {SMALL} --table",
                     f"trace flash_v2 {SMALL} --mode numeric -o /dev/stdout"):
            one, other = (run(binary, args, env=e) for e in (points, commas))
            tally.check(one.returncode == 0 and (one.stdout, one.stderr) == (other.stdout, other.stderr),
                        f"`{args}` differs in a locale with commas: {one.stderr!r}, {other.stderr!r}")


def check_replay(binary, tally):
    """The JSON of a replay says what its line says, also where the recording differs from the run."""
    with tempfile.TemporaryDirectory() as folder:
        run(binary, f"trace flash_v2 {SMALL} -o r.json", cwd=folder)
        with open(os.path.join(folder, "r.json")) as file:
            recording = json.load(file)
        for changed in (False, True):
            if changed:
                numbers = next(e for e in recording["events"] if "values" in e)["values"]
                while isinstance(numbers[0], list):
                    numbers = numbers[0]
                numbers[0] += 1
            with open(os.path.join(folder, "r.json"), "w") as file:
                json.dump(recording, file)
            done = run(binary, "replay r.json --json", cwd=folder)
            said = json.loads(done.stdout)
            tally.check(said["as_recorded"] == (not changed) and (said["difference"] != "") == changed
                        and done.returncode == changed and said["difference"] in done.stderr, f"replay, {changed}: {done}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    for check in (check_standard_output, check_long_commands_end, check_full_disk, check_closed_descriptors,
                  check_replacing, check_writers, check_threads, check_comma_locale, check_replay):
        began = time.time()
        check(binary, tally)
        print(f"{check.__name__}: {time.time() - began:.1f} s", flush=True)
    tally.close()


main()
