#!/usr/bin/env python3
"""NumPy files of every kind that people have: masks of booleans, bf16, e5m2, numbers that become infinite. Where a file is
refused, the message's advice is carried out, and the resulting file is accepted."""

import json
import os
import re
import sys
import tempfile

import numpy as np

from cases import Tally, run
from numpy_run import softmax

N, D = 8, 4


def bf16_bits(x):
    """The bits of bf16, rounded to nearest even."""
    bits = np.asarray(x, "f4").view("u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def widened(bits):
    return (bits.astype("u4") << 16).view("f4")


class Files:
    """Q, K and V in a folder, and runs on these files."""

    def __init__(self, binary, tally, folder):
        self.binary, self.tally, self.folder = binary, tally, folder
        rng = np.random.default_rng(0)
        self.q, self.k, self.v = (rng.standard_normal((N, D)).astype("f4") for _ in range(3))
        for name in "qkv":
            np.save(self.path(name), getattr(self, name))

    def path(self, name):
        return f"{self.folder}/{name}.npy"

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def words(self, *more, algorithm="flash_v2", command="run", **files):
        given = [f"--{name}={self.path(files.get(name, name))}" for name in "qkv"]
        return [command, algorithm, *given, *more]

    def run(self, *more, code=0, **how):
        r = run(self.binary, self.words(*more, **how), cwd=self.folder)
        self.tally.check(r.returncode == code, f"{more} {how}: exit {r.returncode}: {r.stderr}")
        return r

    def output(self, *more, **how):
        if os.path.exists(self.path("o")):
            os.remove(self.path("o"))
        self.run(*more, f"--out={self.path('o')}", **how)
        return np.load(self.path("o")).astype("f8") if os.path.exists(self.path("o")) else np.full((N, D), np.nan)

    def attention(self, seen):
        s = self.q.astype("f8") @ self.k.astype("f8").T / np.sqrt(D)
        return softmax(np.where(seen, s, -np.inf)) @ self.v.astype("f8")


def masks(f):
    """True is seen and False is hidden, for --bias-file and --block-mask alike; a row of False gives a row of zeros."""
    seen = np.random.default_rng(1).random((N, N)) < 0.6
    seen[2] = False
    f.save("mask", seen)
    for algorithm in ("standard", "flash_v2", "memory_efficient"):
        for dtype, most in (("f32", 1e-5), ("f16", 3e-3), ("bf16", 3e-2)):
            words = ["--bias", "qk", "--bias-file", f.path("mask"), "--dtype", dtype]
            error = np.abs(f.output(*words, algorithm=algorithm) - f.attention(seen)).max()
            f.tally.check(error < most, f"{algorithm} {dtype}: a mask as a bias is off by {error}")
        error = np.abs(f.output("--block-mask", f.path("mask"), "--mask-block", "1", algorithm=algorithm)
                       - f.attention(seen)).max()
        f.tally.check(error < 1e-5, f"{algorithm}: a mask of blocks is off by {error}")
    f.save("mask", np.asfortranarray(seen))
    error = np.abs(f.output("--bias", "qk", "--bias-file", f.path("mask")) - f.attention(seen)).max()
    f.tally.check(error < 1e-5, f"a mask in Fortran order is off by {error}")
    f.save("mask", seen)
    said = f.run(code=2, q="mask").stderr
    f.tally.check("a mask: --bias qk --bias-file reads it" in said and said.count("\n") == 1, said)


WHOLE = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">i2", ">i4", ">u8")


def whole_masks(f):
    """0 and 1 in whole numbers are a mask, too. Other numbers are refused as a mask, with what to save instead."""
    seen = np.random.default_rng(2).random((N, N)) < 0.6
    seen[3] = False
    for kind in WHOLE + ("f2", "f4", "f8"):
        f.save("mask", seen.astype(kind))
        ways = [["--block-mask", f.path("mask"), "--mask-block", "1"]]
        if kind in WHOLE:
            ways.append(["--bias", "qk", "--bias-file", f.path("mask"), "--dtype", "f32"])
        for words in ways:
            error = np.abs(f.output(*words) - f.attention(seen)).max()
            f.tally.check(error < 1e-5, f"{kind} {words}: a mask of 0 and 1 is off by {error}")
    f.save("mask", np.asfortranarray(seen.astype("u4")))
    error = np.abs(f.output("--block-mask", f.path("mask"), "--mask-block", "1", "--bits16", "bf16") - f.attention(seen)).max()
    f.tally.check(error < 1e-5, f"u4 in Fortran order is off by {error}")
    for kind, other in (("u1", 7), ("i1", -1), ("i4", 256), (">i4", 1 << 24), ("u8", 1 << 63), ("f4", 7), ("f4", -1), ("f4", np.nan),
                        ("f4", 0.5), ("f2", -np.inf), ("f8", 1e300)):
        mask = np.eye(N, dtype=kind)
        mask[4, 5] = other
        f.save("mask", mask)
        ways = [["--block-mask", f.path("mask"), "--mask-block", "1"]]
        if np.dtype(kind).kind != "f":
            ways.append(["--bias", "qk", "--bias-file", f.path("mask")])
        for words in ways:
            said = f.run(*words, code=2).stderr
            f.tally.check(words[-2] in said or words[0] in said, f"{words}: {said!r} names no flag")
            f.tally.check(said.count("\n") == 1 and "save a != 0" in said, f"{kind} {other} {words}: {said!r}")
            f.tally.check(np.dtype(kind).kind != "f" or "in row 4, column 5" in said, said)
        if other not in (np.nan, -np.inf, 1e300):
            f.save("mask", mask != 0)
            error = np.abs(f.output("--block-mask", f.path("mask"), "--mask-block", "1") - f.attention(mask != 0)).max()
            f.tally.check(error < 1e-5, f"{kind} {other}: what the message says is off by {error}")


def block_masks(f):
    """Masks without a block are empty, whatever their dimensions. Rows are counted from 0 in every file, as in
    NumPy."""
    text = f"{f.folder}/mask.txt"
    for shape in ((0, 0), (0, 5), (5, 0), (0,)):
        f.save("mask", np.zeros(shape, bool))
        said = f.run("--block-mask", f.path("mask"), code=2).stderr
        f.tally.check("mask.npy: is empty; a mask has a block of queries and one of keys at least" in said, f"{shape}: {said}")
    f.save("mask", np.zeros((1, 2, 2), bool))
    said = f.run("--block-mask", f.path("mask"), code=2).stderr
    f.tally.check("it has 3 dimensions" in said, said)
    for lines, why in (("", "is empty; "), ("\n \n", "is empty; "),
                       ("11\n1x\n", "row 1 (line 2 of the file) has other signs; "),
                       ("11\n\n00\n\n111\n", "row 2 (line 5 of the file) has 3 blocks, row 0 has 2; ")):
        with open(text, "w", encoding="utf-8") as file:
            file.write(lines)
        said = f.run("--block-mask", text, code=2).stderr
        f.tally.check(f"mask.txt: {why}" in said, f"{lines!r}: {said}")
    # A mask that hides everything is accepted like others.
    f.save("mask", np.zeros((N, N), bool))
    with open(text, "w", encoding="utf-8") as file:
        file.write(("0" * N + "\n") * N)
    for mask in (f.path("mask"), text, "random:0"):
        for algorithm in ("flash_v1", "flash_v2", "standard", "split_kv"):
            o = f.output("--block-mask", mask, "--mask-block", "1", algorithm=algorithm)
            f.tally.check(not o.any(), f"{algorithm} --block-mask {mask}: {o}")


def not_finite(f):
    """Outputs that are not finite are counted, also where the reference has none there either."""
    bad = f.v.copy()
    bad[0, 0] = np.nan  # every row sees it
    f.save("bad", bad)
    for algorithm in ("standard", "flash_v2"):
        report = json.loads(f.run("--json", "--dtype", "f32", algorithm=algorithm, v="bad").stdout)
        o = report["errors"]["O"]
        f.tally.check(report["not_finite_outputs"] == N, f"{algorithm}: {report['not_finite_outputs']} outputs are not finite")
        f.tally.check((o["not_finite"], o["not_finite_in_both"]) == (0, N), f"{algorithm}: {o}")
    report = json.loads(f.run("--json").stdout)
    f.tally.check(report["not_finite_outputs"] == 0 == report["errors"]["O"]["not_finite_in_both"], "all are finite")


def bf16(f):
    """V2 is bf16, as ml_dtypes saves it; u2 and i2 are bf16 where a flag says so. Each gives the type of the run."""
    bits = {name: bf16_bits(getattr(f, name)) for name in "qkv"}
    exact = {name: widened(b) for name, b in bits.items()}
    for name, array in exact.items():
        f.save(f"{name}w", array)
    expected = f.output("--dtype", "bf16", q="qw", k="kw", v="vw")
    for kind, more in (("V2", []), ("u2", ["--bits16", "bf16"]), ("i2", ["--bits16", "bf16"]), (">u2", ["--bits16", "bf16"])):
        for name in "qkv":
            f.save(f"{name}b", bits[name].view(kind) if kind[0] != ">" else bits[name].astype(kind))
        got = f.output(*more, q="qb", k="kb", v="vb")
        f.tally.check(np.array_equal(got, expected), f"{kind}: other outputs than of the same numbers in f4")
        report = json.loads(f.run("--json", *more, q="qb", k="kb", v="vb").stdout)
        f.tally.check(report["problem"]["dtype"] == "bf16", f"{kind}: runs in {report['problem']['dtype']}")
    seen = np.random.default_rng(3).random((N, N)) < 0.6
    for kind in ("i2", "u2", ">u2"):
        f.save("mask", seen.astype(kind))
        said = f.run("--bias", "qk", "--bias-file", f.path("mask"), "--bits16", "bf16", code=2).stderr
        f.tally.check("--bias-file" in said and "as bits of bf16" in said and "as a != 0" in said and said.count("\n") == 1, said)
        f.save("small", (np.arange(N * D).reshape(N, D) % 5).astype(kind))
        said = f.run("--bits16", "bf16", code=2, q="small").stderr
        f.tally.check("--q cannot read" in said and "a.astype('f4')" in said and said.count("\n") == 1, said)
        f.save("small", np.load(f.path("small")).astype("u2").view("V2"))
        f.run("--bits16", "bf16", q="small")
    f.save("mask", np.load(f.path("mask")) != 0)
    error = np.abs(f.output("--bias", "qk", "--bias-file", f.path("mask"), "--bits16", "bf16", "--dtype", "f32") - f.attention(seen)).max()
    f.tally.check(error < 1e-5, f"the mask that the message recommends is off by {error}")
    said = f.run("--bits16", "f16", code=2).stderr
    f.tally.check("--bits16 f16: must be bf16, or left out; try --bits16 bf16" in said, said)


def e5m2(f):
    """f1 is e5m2, as ml_dtypes saves it: the high bytes of f16. V1 may be another 8-bit type, unless --dtype says it."""
    for name in "qkv":
        high = getattr(f, name).astype("f2").view("u2") >> 8
        f.save(f"{name}w", (high << 8).astype("u2").view("f2"))
        for descr in ("<f1", "|V1"):
            with open(f.path(name + descr[1:]), "wb") as file:
                np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": (N, D)})
                file.write(high.astype("u1").tobytes())
    got, expected = f.output(q="qf1", k="kf1", v="vf1"), f.output(q="qw", k="kw", v="vw")
    f.tally.check(np.array_equal(got, expected), "f1: other outputs than of the same numbers in f2")
    said = f.run(code=2, q="qV1").stderr
    f.tally.check("say its type (--dtype e4m3, or --kv-dtype)" in said and said.count("\n") == 1, said)
    in_8_bits = ("--dtype=e5m2", "--scales=none")
    got, expected = f.output(*in_8_bits, q="qV1", k="kV1", v="vV1"), f.output(*in_8_bits, q="qw", k="kw", v="vw")
    f.tally.check(np.array_equal(got, expected), "V1 with --dtype e5m2: other outputs than of the same numbers in f2")


def infinite(f):
    """Finite numbers that become infinite in the storage type cause a line in every command: how many, of which
    file."""
    low = np.finfo("f4").min
    mask = np.where(np.tri(N, dtype=bool), np.float32(0), low)
    hidden = int((mask == low).sum())
    f.save("mask", mask)
    f.save("big", np.where(np.arange(N * D).reshape(N, D) < 3, np.float32(1e5), f.v))
    f.save("huge", f.v.astype("f8") + np.where(np.arange(N * D).reshape(N, D) < 2, 1e300, 0))
    f.save("own", np.where(np.eye(N, dtype=bool), -np.inf, 0).astype("f4"))
    cases = [
        (["--bias", "qk", "--bias-file", f.path("mask"), "--dtype", "f16"], {}, f"--bias-file {f.path('mask')}: {hidden} of 64 "
         "elements became infinite in f16, which ends at 65504; --dtype f32 keeps them"),
        (["--bias", "qk", "--bias-file", f.path("mask"), "--dtype", "bf16"], {}, f"--bias-file {f.path('mask')}: {hidden} of 64 "
         "elements became infinite in bf16, which ends at 3.39e38"),
        (["--dtype", "f16"], {"v": "big"}, f"--v {f.path('big')}: 3 of 32 elements became infinite in f16"),
        (["--dtype", "f32"], {"v": "huge"}, f"--v {f.path('huge')}: 2 of 32 elements became infinite in f32"),
    ]
    for words, files, note in cases:
        for command in ("run", "step", "compare"):
            text, more = f.run(*words, command=command, **files), f.run(*words, "--json", command=command, **files)
            flat = re.sub(r"\s+", " ", text.stdout)
            f.tally.check(flat.count(note) == 1 and note not in text.stderr, f"{command} {words}: {text.stdout[:2000]}")
            report = json.loads(more.stdout)
            notes = report["reports"][0]["notes"] if command == "compare" else report["notes"]
            f.tally.check(sum(n.startswith(note) for n in notes) == 1, f"{command} {words}: notes {notes}")
        said = f.run(*words, f"--output={f.folder}/t.json", command="trace", **files).stderr
        f.tally.check(note in said, f"trace {words}: {said}")
    for words in (["--bias", "qk", "--bias-file", f.path("mask"), "--dtype", "f32"], ["--dtype", "bf16"],
                  ["--bias", "qk", "--bias-file", f.path("own"), "--dtype", "f16"]):
        files = {"v": "big"} if words == ["--dtype", "bf16"] else {}
        f.tally.check("became infinite" not in f.run(*words, **files).stdout, f"{words}: nothing became infinite")


# Arrays that cannot be read. The advice in each refusal has to give the same numbers again.
REFUSED = {
    "whole numbers": lambda q: np.round(q * 4).astype("i4"),
    "small ones": lambda q: np.round(q * 4).astype("i1"),
    "u2": lambda q: np.abs(np.round(q * 4)).astype("u2"),
    "long double": lambda q: q.astype(np.longdouble),
    "complex": lambda q: q.astype("c8"),
    "texts": lambda q: q.astype("U20"),
    "times": lambda q: np.round(q * 4).astype("i8").view("m8[s]"),
    "objects": lambda q: q.astype("O"),
    "bytes": lambda q: q.view("V4"),
    "fields": lambda q: q.view([("name", "f4")]),
}


def advice(f):
    """In the advice, `a` is the array as numpy.load() returns it."""
    for what, made in REFUSED.items():
        array = made(f.q)
        np.save(f.path("odd"), array, allow_pickle=True)
        said = f.run(code=2, q="odd").stderr
        f.tally.check(said.count("\n") == 1, said)
        advised = re.search(r"((?:numpy\.load\('a\.npy', allow_pickle=True\)|\ba\b)(?:\['\w+'\])?\.[\w.]+(?:\([^()]*\))?"
                            r"(?:\.astype\('f4'\))?)$", said.strip())
        f.tally.check(advised, f"{what}: no expression to try in {said!r}")
        if not advised:
            continue
        if "allow_pickle" in said:
            array = np.load(f.path("odd"), allow_pickle=True)
            expression = advised[1].replace("'a.npy'", repr(f.path("odd")))
        else:
            array, expression = np.load(f.path("odd")), advised[1]
        f.save("better", eval(expression, {"a": array, "numpy": np}))
        report = json.loads(f.run("--json", q="better").stdout or "{}")
        f.tally.check(report.get("numeric", report.get("mode")) is not None, f"{what}: {expression} is refused, too")
        is_right = np.load(f.path("better")).astype("f8")
        wanted = array["name"] if array.dtype.names else array.view("f4") if array.dtype.kind == "V" else array
        wanted = wanted.astype("i8") if wanted.dtype.kind == "m" else wanted
        f.tally.check(np.abs(is_right - wanted.real.astype("f8") if wanted.dtype.kind == "c" else is_right - wanted.astype("f8"))
                      .max() < 1e-6, f"{what}: {expression} makes other numbers")
    f.save("odd", bf16_bits(f.q))
    said = f.run(code=2, q="odd").stderr
    f.tally.check("add --bits16 bf16 where these are the bits of bf16" in said, said)
    f.run("--bits16", "bf16", q="odd")
    np.savez(f"{f.folder}/a.npz", name=f.q)
    os.rename(f"{f.folder}/a.npz", f.path("odd"))
    said = f.run(code=2, q="odd").stderr
    f.tally.check("numpy.save('a.npy', numpy.load('a.npz')['name'])" in said, said)
    f.save("better", np.load(f.path("odd"))["name"])
    f.run(q="better")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for part in (masks, whole_masks, block_masks, not_finite, bf16, e5m2, infinite, advice):
            part(Files(binary, tally, folder))
    tally.close()


main()
