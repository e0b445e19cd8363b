"""Files and links written by programs of former versions open, and say what they said then.

Usage: corpus.py TILESCOPE. Each folder of tests/corpus has files of one version (see make.py there): GPU files,
recordings, a sweep, and states and scenes as words. tests/show/corpus_test.cpp tests states, scenes and links in the
window.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys

from cases import Tally

CORPORA = pathlib.Path(__file__).parent.parent / "corpus"
sys.path.append(str(CORPORA))
from make import keys_of  # noqa: E402


def run(binary, words, folder):
    return subprocess.run([binary, *words], capture_output=True, text=True, cwd=folder)


def differences(then, now, path=""):
    """Keys that are no longer there, and numbers that have changed."""
    for key, value in then.items():
        if key not in now:
            yield f"{path}{key} is gone"
        elif isinstance(value, dict):
            yield from differences(value, now[key], f"{path}{key}.")
        elif value != now[key]:
            yield f"{path}{key} was {value}, is {now[key]}"


def opened(binary, tally, folder, of, then):
    if "refused" in then:
        return
    done = run(binary, ["run", *then["words"], "--mode", "count", "--json"], folder)
    tally.check(done.returncode == 0, f"{of}: {done.stderr}")
    if done.returncode:
        return
    for difference in differences({k: v for k, v in then.items() if k != "words"}, json.loads(done.stdout)):
        tally.check(False, f"{folder.name}/{of}: {difference}")


def swept(binary, tally, folder, words, counters):
    rows = [list(csv.DictReader(text.splitlines())) for text in
            ((folder / "sweep.csv").read_text(), run(binary, ["sweep", *words], folder).stdout)]
    tally.check(len(rows[0]) == len(rows[1]) > 0, f"{folder.name}/sweep.csv: {len(rows[1])} rows")
    for then, now in zip(*rows):
        counted = {k: v for k, v in then.items() if k in counters or k not in now}
        for difference in differences(counted, now):
            tally.check(False, f"{folder.name}/sweep.csv: {difference}")


def main(binary):
    binary = str(pathlib.Path(binary).resolve())
    tally = Tally()
    folders = sorted(f for f in CORPORA.iterdir() if (f / "expected.json").exists())
    tally.check(folders != [], "no corpus")
    for folder in folders:
        expected = json.loads((folder / "expected.json").read_text())
        for of, then in expected["opened"].items():
            opened(binary, tally, folder, of, then)
        recordings = sorted((folder / "recordings").glob("*.json"))
        tally.check(recordings != [], f"{folder}: no recording")
        for recording in recordings:
            done = run(binary, ["replay", str(recording), "--json"], folder)
            different = json.loads(done.stdout)["difference"] if done.stdout else done.stderr
            # The last bits of a tile's values may differ from processor to processor.
            tally.check(re.fullmatch(r"(operation [^:]*: \w+\[[\d, ]+\] is \S+, and was \S+)?", different),
                        f"{folder.name}: replay {recording.name}: {different}")
        swept(binary, tally, folder, expected["sweep"], expected["opened"]["states/plain.json"]["counters"])
        keys = set(keys_of(json.loads(run(binary, ["run", "flash_v2", "--seq", "256", "--json"], folder).stdout)))
        for key in expected["keys"]:
            tally.check(key in keys, f"{folder.name}: JSON of run lacks {key}")
    tally.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
