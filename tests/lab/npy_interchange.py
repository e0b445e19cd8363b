#!/usr/bin/env python3
"""NumPy as an outside reference for TileScope's .npy reader and writer.

usage: npy_interchange.py PATH_OF_NPY_ECHO

npy_echo reads arrays that NumPy wrote and writes them back. NumPy reads the result, which has to equal NumPy's own
conversion bit by bit.
"""
import itertools
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

SHAPES = [(0,), (1,), (13,), (3, 4), (4, 0), (1, 7), (40, 33), (2, 3, 4), (5, 1, 6), (2, 3, 4, 5), (1, 1, 1, 1),
          (3, 0, 2, 2)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 65504.0, 65520.0, 1e-8, 2.0**-24, -(2.0**-15),
           2.0**-126, 2.0**-149, -(2.0**-140), 3.4028234e38, 1e300, -1e300, 1e-300, 1.0 + 2.0**-24,
           1.0 + 2.0**-11, 5e-324]


def sample(shape, dtype, seed):
    """Special numbers first, then random ones, cast by NumPy."""
    size = int(np.prod(shape))
    random = np.random.default_rng(seed)
    numbers = random.normal(size=size) * 10.0 ** random.integers(-9, 6, size=size)
    special = random.permutation(SPECIAL)[:size]
    numbers[: len(special)] = special
    return numbers.astype(dtype).reshape(shape)


def to_bf16(a):
    """float32 rounded to bfloat16, ties to even, by integer arithmetic."""
    bits = a.view("u4").astype("u8")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype("u4")
    return np.where(np.isnan(a), a, rounded.view("f4"))


EXPECTED = {"f32": lambda a: a.astype("f4"), "f16": lambda a: a.astype("f4").astype("f2"),
            "bf16": lambda a: to_bf16(a.astype("f4"))}


class Echo:
    """npy_echo, one process for many arrays."""

    def __init__(self, program, target):
        self.process = subprocess.Popen([program, target], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, source, result):
        """The message on an array; "" where all is well."""
        self.process.stdin.write(f"{source}\t{result}\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        return said.strip() if said else f"it ended with exit code {self.process.wait()}"

    def end(self):
        """Ends the process; returns its exit code, which a sanitizer may set."""
        self.process.stdin.close()
        return self.process.wait()


def problem(echo, array, order, version, target, folder):
    """What went wrong with an array on its way through npy_echo, or None."""
    source, result = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
    with open(source, "wb") as file:
        np.lib.format.write_array(file, np.asarray(array, order=order), version=version)
    if os.path.exists(result):
        os.remove(result)
    if said := echo(source, result):
        return said
    got, expected = np.load(result), EXPECTED[target](array)
    if got.dtype != expected.dtype.newbyteorder("<") or got.shape != expected.shape:
        return f"{got.dtype}{got.shape} came back, not {expected.dtype}{expected.shape}"
    if got.tobytes() != np.ascontiguousarray(expected).tobytes():
        return f"{np.sum((got != expected) & ~(np.isnan(got) & np.isnan(expected)))} values differ"
    data = os.path.getsize(result) - got.nbytes
    return None if data % 64 == 0 else f"the data start at byte {data}, which is not a multiple of 64"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")  # overflows in casts, and versions that old readers lack, are wanted
    passed = failed = 0
    echoes = {target: Echo(sys.argv[1], target) for target in EXPECTED}
    with tempfile.TemporaryDirectory() as folder:
        cases = itertools.product("<>", ("f2", "f4", "f8"), "CF", SHAPES, ((1, 0), (2, 0), (3, 0)), EXPECTED)
        for seed, (byte_order, dtype, order, shape, version, target) in enumerate(cases):
            array = sample(shape, byte_order + dtype, seed)
            wrong = problem(echoes[target], array, order, version, target, folder)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {byte_order}{dtype} {order} {shape} version {version} to {target}: {wrong}")
    for target, echo in echoes.items():
        if code := echo.end():
            failed += 1
            print(f"FAILED: npy_echo {target} ends with exit code {code}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
