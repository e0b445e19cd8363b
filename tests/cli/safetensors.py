#!/usr/bin/env python3
"""Safetensors files, written here by the format's description: tensors by name, every type, and files that are broken."""

import json
import os
import re
import struct
import sys
import tempfile

import numpy as np

from cases import Tally, run

N, D = 8, 4
SAFE = {"f8": "F64", "f4": "F32", "f2": "F16"}


def write(path, tensors, metadata=None):
    """`tensors`: name -> (type, shape, bytes)."""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def entry(array):
    return SAFE[array.dtype.str[1:]], list(array.shape), array.tobytes()


class Files:
    def __init__(self, binary, tally, folder):
        self.binary, self.tally, self.folder = binary, tally, folder
        rng = np.random.default_rng(0)
        self.arrays = {name: rng.standard_normal((N, D)).astype("f4") for name in "qkv"}
        for name, array in self.arrays.items():
            np.save(self.path(f"{name}.npy"), array)

    def path(self, name):
        return f"{self.folder}/{name}"

    def run(self, *more, code=0, q="a.safetensors", k="a.safetensors", v="a.safetensors"):
        words = ["run", "flash_v2", "--q", q, "--k", k, "--v", v, *more]
        r = run(self.binary, words, cwd=self.folder)
        self.tally.check(r.returncode == code, f"{words}: exit {r.returncode}: {r.stderr}")
        self.tally.check(code == 0 or r.stderr.count("\n") == 1, f"{words}: {r.stderr!r}")
        return r

    def output(self, *more, **files):
        self.run(*more, "--out", "o.npy", **files)
        return np.load(self.path("o.npy"))

    def write(self, tensors, **more):
        write(self.path("a.safetensors"), tensors, **more)


def as_npy(f, kind):
    names = {}
    for name, array in f.arrays.items():
        np.save(f.path(f"{name}w.npy"), array.astype(kind))
        names[name] = f"{name}w.npy"
    return names


def by_name(f):
    """Each of Q, K and V is the tensor of its name, the one that is named, or the only one."""
    expected = f.output(**as_npy(f, "f4"))
    tensors = {name: entry(array) for name, array in f.arrays.items()}
    f.write(tensors, metadata={"format": "pt"})
    f.tally.check(np.array_equal(f.output(), expected), "q, k and v: other outputs than from NumPy files")
    f.write({name.upper(): tensor for name, tensor in tensors.items()} | {"other": entry(f.arrays["q"])})
    f.tally.check(np.array_equal(f.output(), expected), "Q, K and V: other outputs")
    f.write({f"layers.0.{name}_proj: x": tensor for name, tensor in tensors.items()})
    named = {name: f"a.safetensors:layers.0.{name}_proj: x" for name in "qkv"}
    f.tally.check(np.array_equal(f.output(**named), expected), "long names: other outputs")
    for name in "qkv":
        write(f.path(f"{name}.safetensors"), {"anything": tensors[name]})
    alone = {name: f"{name}.safetensors" for name in "qkv"}
    f.tally.check(np.array_equal(f.output(**alone), expected), "one tensor a file: other outputs")
    said = f.run(code=2).stderr
    f.tally.check("--q cannot read a.safetensors: it has no tensor q, and several others: " in said, said)
    wanted = re.search(r"FILE\.safetensors:(.*)$", said.strip())
    f.tally.check(wanted and wanted[1].strip('"') in (n.split(":", 1)[1] for n in named.values()), said)
    said = f.run(q="a.safetensors:layers.0.q_prj: x", code=2).stderr
    f.tally.check("name one behind the file, as in FILE.safetensors:" in said and "layers.0.q_proj: x" in said.rsplit("FILE", 1)[1], said)
    f.write({f"t{i}": tensors["q"] for i in range(40)})
    f.tally.check("t5 and 34 more" in f.run(code=2).stderr, "40 tensors are not listed in a line")


def types(f):
    for kind in ("f8", "f4", "f2"):
        f.write({name: entry(array.astype(kind)) for name, array in f.arrays.items()})
        f.tally.check(np.array_equal(f.output(), f.output(**as_npy(f, kind))), f"{kind}: other outputs than from NumPy files")
    bits = {name: (array.view("u4") >> 16).astype("u2") for name, array in f.arrays.items()}
    f.write({name: ("BF16", [N, D], b.tobytes()) for name, b in bits.items()})
    for name, b in bits.items():
        np.save(f.path(f"{name}b.npy"), b.view("V2"))
    f.tally.check(np.array_equal(f.output(), f.output(q="qb.npy", k="kb.npy", v="vb.npy")), "BF16: other outputs")
    report = json.loads(f.run("--json").stdout)
    f.tally.check(report["problem"]["dtype"] == "bf16", f"BF16 runs in {report['problem']['dtype']}")
    seen = np.random.default_rng(1).random((N, N)) < 0.6
    tensors = {name: entry(array) for name, array in f.arrays.items()}
    f.write(tensors | {"mask": ("BOOL", [N, N], seen.tobytes()), "whole": ("I64", [N, N], seen.astype("<i8").tobytes())})
    np.save(f.path("mask.npy"), seen)
    expected = f.output("--bias", "qk", "--bias-file", "mask.npy")
    for name in ("mask", "whole"):
        got = f.output("--bias", "qk", "--bias-file", f"a.safetensors:{name}")
        f.tally.check(np.array_equal(got, expected), f"{name}: other outputs than of the mask in a NumPy file")
    said = f.run(q="a.safetensors:whole", code=2).stderr
    f.tally.check("its type is I64: TileScope reads" in said and "t.to(torch.float16)" in said, said)


def eight_bits(f):
    """F8 is stored as it is, and has no scale, unless flags say otherwise; scales round it again."""
    codes = np.random.default_rng(2).integers(0x18, 0x48, (3, N, D)).astype("u1")
    for kind, dtype in (("F8_E4M3", "e4m3"), ("F8_E5M2", "e5m2")):
        f.write({name: (kind, [N, D], codes[i].tobytes()) for i, name in enumerate("qkv")})
        for i, name in enumerate("qkv"):
            with open(f.path(f"{name}8.npy"), "wb") as file:
                np.lib.format.write_array_header_1_0(file, {"descr": "|V1", "fortran_order": False, "shape": (N, D)})
                file.write(codes[i].tobytes())
        raw = {name: f"{name}8.npy" for name in "qkv"}
        got = f.output("--dtype", dtype)
        f.tally.check(np.array_equal(got, f.output("--dtype", dtype, "--scales", "none", **raw)), f"{kind}: other outputs than of V1")
        for files in ({}, raw):
            report = json.loads(f.run("--dtype", dtype, "--json", **files).stdout)
            f.tally.check(report["problem"]["scales"] == "none", f"{kind}: scales {report['problem']['scales']}")
            f.tally.check(any("have no scale here; --scales gives them one" in n for n in report["notes"]), report["notes"])
        report = json.loads(f.run("--dtype", dtype, "--scales", "head", "--json").stdout)
        f.tally.check(report["problem"]["scales"] == "head" and not any("no scale here" in n for n in report["notes"]), "--scales head")
        report = json.loads(f.run("--json").stdout)
        f.tally.check(report["problem"]["dtype"] == "f16", "F8 without --dtype is f16, which holds it")
        got = f.output("--kv-dtype", dtype, "--dtype", "f16")
        f.tally.check(np.isfinite(got).all(), f"{kind}: K and V alone")


def large(f):
    """Only the tensor that is named is read: this file is larger than what may be read of it."""
    header = {name: {"dtype": "F32", "shape": [N, D], "data_offsets": [(1 << 40) + i * 128, (1 << 40) + (i + 1) * 128]}
              for i, name in enumerate("qkv")}
    text = json.dumps(header).encode()
    with open(f.path("a.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.seek(1 << 40, os.SEEK_CUR)
        for array in f.arrays.values():
            file.write(array.tobytes())
    f.tally.check(np.array_equal(f.output(), f.output(**as_npy(f, "f4"))), "a file of 1 TiB: other outputs")


def broken(f):
    array = entry(f.arrays["q"])
    kind, shape, content = array

    def said(raw):
        with open(f.path("a.safetensors"), "wb") as file:
            file.write(raw)
        return f.run(code=2).stderr

    def with_header(text, data=content):
        return struct.pack("<Q", len(text)) + text.encode() + data

    def with_entry(**changes):
        return with_header(json.dumps({"q": {"dtype": kind, "shape": shape, "data_offsets": [0, len(content)]} | changes}))

    for raw, why in (
            (b"", "not a safetensors file"), (b"abc", "not a safetensors file"),
            (struct.pack("<Q", 1 << 60) + b"{}", "not a safetensors file"), (struct.pack("<Q", 50) + b"{}", "not a safetensors file"),
            (with_header("[]"), "its header is not JSON"), (with_header("{ oh"), "its header is not JSON"),
            (with_header("{}"), "it has no tensors"), (with_header('{"__metadata__": {"a": "b"}}'), "it has no tensors"),
            (with_header('{"q": 1}'), "does not say type, shape and offsets of q"),
            (with_entry(dtype=1), "does not say type"), (with_entry(shape=[-1, D]), "does not say type"),
            (with_entry(shape=[0.5]), "does not say type"), (with_entry(data_offsets=[0]), "does not say type"),
            (with_entry(shape=[N, D + 1]), "128 bytes of data, which is not (8, 5) of F32"),
            (with_entry(shape=[1 << 40, 1 << 40]), "which is not"), (with_entry(data_offsets=[128, 0]), "does not say type"),
            (with_entry(data_offsets=[64, 192]), "the file ends 64 bytes before the data of q does"),
            (with_entry(dtype="F4"), "its type is F4"), (with_entry(shape=[1, 1, 1, N, D]), "has 5 dimensions"),
            (with_header(json.dumps({"q": {"dtype": kind, "shape": [0, D], "data_offsets": [0, 0]}})), "is empty")):
        text = said(raw)
        f.tally.check(why in text and text.startswith("tilescope: --q "), f"{raw[:80]}: {text!r}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for part in (by_name, types, eight_bits, large, broken):
            part(Files(binary, tally, folder))
    tally.close()


main()
