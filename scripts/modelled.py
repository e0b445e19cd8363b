"""The shipped measurements of all machines, each case beside what `tilescope timeline` models for it."""
import csv
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from measured_rows import ROLES

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINES = {"H200": ("H200", "docs/measured/h200"), "H100": ("H100-SXM", "docs/measured/h100")}  # preset, folder
TENSOR, SPLIT_TENSOR, LANES = "flash_v2, tensor cores", "split_kv, tensor cores", "flash_v3, tensor cores"
SOFTMAX, LIBRARY = "softmax_*", "PyTorch's FlashAttention-2"
FAMILIES = (TENSOR, LANES, SPLIT_TENSOR, "flash_v1", "flash_v2", "memory_efficient", "chunked", "standard", "two_pass",
            "three_pass", "split_kv", SOFTMAX)
FLAGS = ("batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "dim_v", "dtype", "br", "bc")
NOT_OF_SOFTMAX = ("kv_heads", "dim", "dim_v")


def script(name):
    """A script of this folder as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


library = script("library")


@dataclass
class Case:
    machine: str
    file: str
    row: dict
    model: dict = field(default_factory=dict)

    def __getitem__(self, column):
        """A cell as a number where it is one, else as text; None where it is empty or the file has no such column."""
        text = self.row.get(column, "")
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return text or None

    @property
    def softmax(self):
        return self.row["algorithm"].startswith("softmax")

    @property
    def family(self):
        if self.softmax:
            return SOFTMAX
        return self.row["algorithm"] + ("" if self.row["dtype"] == "f32" else ", tensor cores")

    @property
    def us(self):
        return 1000 * self["warm_ms"]

    @property
    def modelled_us(self):
        return self.model["time_us"]

    @property
    def time_error(self):
        return self.modelled_us / self.us - 1

    @property
    def dram_error(self):
        """Relative error. None where less than 20 MB was read, or where nothing was counted or modelled."""
        measured, modelled = self["dram_read_bytes"], self.model["dram_read_bytes"]
        return modelled / measured - 1 if measured and measured > 20e6 and modelled is not None else None

    @property
    def launch(self):
        """The longest launch."""
        return max(self.model["launches"], key=lambda launch: launch["time_us"])

    def shape(self):
        return tuple(self.row[c] for c in (*FLAGS, "causal"))

    @property
    def grouped(self):
        return self["heads"] != self["kv_heads"]

    def command(self):
        """The words that follow `tilescope` on the command line."""
        flags = [f"--{f.replace('_', '-')}={self.row[f]}" for f in FLAGS
                 if not (self.softmax and f in NOT_OF_SOFTMAX)]
        flags += ["--causal"] if self["causal"] else []
        flags += [f"--splits={self['splits']}"] if self["splits"] else []
        flags += [f"--{role}={self.row[role]}" for role in ROLES if self.row.get(role)]
        flags += [f"--pack={'on' if self['packed'] > 1 else 'off'}"] if self["splits"] and self.grouped else []
        return ["timeline", self.row["algorithm"], "--json", f"--gpu={MACHINES[self.machine][0]}", *flags]


def read_csv(path):
    """The lines on top, without `# `, and the rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line[2:] for line in lines if line.startswith("# ")], \
        list(csv.DictReader(line for line in lines if not line.startswith("#")))


def files(machine):
    folder = ROOT / MACHINES[machine][1]
    return sorted(folder.glob("survey-*.csv")) + sorted(folder.glob("edges*.csv"))


def timed_rows():
    """Cases of the surveys and the edges, not yet modelled."""
    return [Case(machine, path.name, row) for machine in MACHINES for path in files(machine)
            for row in read_csv(path)[1] if row["status"] == "ok" and row["warm_ms"]]


def decode_rows():
    """Cases of decoding that scripts/peers measured: one query of 32 heads over 8, packed. Not yet modelled. Rows with
    one part are left out, because they were measured with a second launch that the kernel no longer has."""
    shape = dict(algorithm="split_kv", dtype="f16", heads="32", kv_heads="8", seq_q="1", dim="128", dim_v="128",
                 causal="0", packed="4")
    return [Case("H200", "decode.csv", {**shape, **row, "seq_k": row["keys"], "warm_ms": row["tilescope_warm_ms"]})
            for row in read_csv(ROOT / MACHINES["H200"][1] / "decode.csv")[1] if row["splits"] != "1"]


def ask(tilescope, words):
    done = subprocess.run([tilescope, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"tilescope {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Modelled:
    """`cases`: our kernels. `decode`: our kernels beside PyTorch's in decoding. `halves`: (machine, half of the
    library's shapes), as scripts/library compares them."""

    def __init__(self, tilescope):
        self.cases, self.decode = timed_rows(), decode_rows()
        folders = {machine: ROOT / folder for machine, (_, folder) in MACHINES.items()}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            models = pool.map(lambda case: ask(tilescope, case.command()), self.cases + self.decode)
            self.halves = [(machine, half) for machine, folder in folders.items()
                           for half in library.compare(tilescope, folder, pool.map)]
            for case, model in zip(self.cases + self.decode, models):
                case.model = model

    def of(self, family, machine=None):
        return [c for c in self.cases if c.family == family and machine in (None, c.machine)]


def mean(errors):
    return statistics.mean(map(abs, errors))


def worst(errors):
    return max(errors, key=abs)


def percentile_95(errors):
    """The smallest value that 95% of the absolute errors do not exceed."""
    return sorted(map(abs, errors))[math.ceil(0.95 * len(errors)) - 1]
