"""TileScope in Python: attention algorithms on a modelled GPU, every byte and FLOP counted.

    import tilescope
    report = tilescope.run("flash_v2", seq=4096, causal=True, gpu="a100")
    report.counters["hbm_read_bytes"], report.time_us

Keyword arguments are the command line's flags, with _ for -; `tilescope run --help` lists them. docs/python.md explains
all of it, and how to write a tile program.
"""

from __future__ import annotations

import itertools
import json
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._algorithm import Algorithm, Program, algorithm, attention_features, output, score_features, scratch
from ._core import (Axis, Block, Gpu, Hbm, Machine, Problem, Recording, Seen, Span, TensorDecl, Tensors, Tile, Tiles, Tiling, each,
                    graded, ordered, parts, uniform)
from ._errors import BrokenPromise, DoesNotFit, Error, ProgramError, Race, RunError, UsageError
from ._flags import take_arrays, word, words

__all__ = [
    "Algorithm", "Axis", "Block", "BrokenPromise", "DoesNotFit", "Error", "Gpu", "Hbm", "Machine", "Problem",
    "Program", "ProgramError", "Race", "Recording", "Report", "RunError", "Seen", "Span", "Study", "TensorDecl", "Tensors", "Tile",
    "Tiles", "Tiling", "UsageError", "algorithm", "algorithms", "attention_features", "build_info", "count", "each", "explain",
    "gpu", "gpus", "graded", "metrics", "open_recording", "ordered", "output", "parts", "problem", "reconcile",
    "record", "run", "score_features", "scratch", "study", "uniform", "verify",
]

__version__ = _core.version()

Named = Union[str, Algorithm]


def _named(algorithm: object) -> str:
    if isinstance(algorithm, Algorithm):
        return algorithm.known()
    if isinstance(algorithm, str):
        return algorithm
    what = getattr(algorithm, "__name__", repr(algorithm))
    raise UsageError(_core.message("call.no_algorithm", what))


class Outputs(Dict[str, "np.ndarray[Any, Any]"]):
    """Arrays by name."""

    def __init__(self, arrays: Mapping[str, "np.ndarray[Any, Any]"], mode: str) -> None:
        super().__init__(arrays)
        self._mode = mode

    def __missing__(self, name: str) -> "np.ndarray[Any, Any]":
        if self:
            raise RunError(_core.message("call.no_such_output", repr(name), ", ".join(self)))
        raise RunError(_core.message("call.no_numbers", repr(name), self._mode))


class Report:
    """What a run moved, computed and took. report["key"] is a metric: see metrics()."""

    def __init__(self, native: _core.Report, mode: str, rank: int = 0, bshd: bool = False) -> None:
        self._native = native
        self._mode = mode
        self._rank, self._bshd = rank, bshd

    @property
    def algorithm(self) -> str:
        return self._native.algorithm

    @property
    def problem(self) -> Problem:
        return self._native.problem

    @property
    def tiling(self) -> Tiling:
        return self._native.tiling

    @property
    def gpu(self) -> Machine:
        return self._native.gpu

    @property
    def numeric(self) -> bool:
        """Whether it computed on real numbers; else it only counted."""
        return self._native.numeric

    @property
    def mode(self) -> str:
        """Why it computed, or only counted: "counts only: real numbers would take about 40 s, ..."."""
        return self._mode

    @property
    def counters(self) -> Dict[str, int]:
        """Bytes by level, FLOPs, launches and thread blocks: counted, exact."""
        return self._native.counters

    @property
    def traffic(self) -> Dict[str, Dict[str, int]]:
        """Bytes that each tensor moved between HBM and the SMs."""
        return dict(self.to_dict()["traffic"])

    @property
    def launches(self) -> List[Dict[str, Any]]:
        """Each launch, with its counts and, where there is one, its modelled time."""
        return list(self.to_dict()["launches"])

    @property
    def time_us(self) -> Optional[float]:
        """Modelled, in microseconds; None of what does not fit in the GPU's memory, and of what was only counted."""
        return self._native.time_us

    @property
    def notes(self) -> List[str]:
        return self._native.notes

    @property
    def errors(self) -> Dict[str, Dict[str, Any]]:
        """Of each output, how far it is from the double-precision reference; empty where nothing was compared."""
        return dict(self.to_dict().get("errors", {}))

    @property
    def outputs(self) -> Outputs:
        """The outputs of a numeric run, read-only and not copied, with as many dimensions as the inputs had (4 of
        random ones). bf16 comes as float32."""
        batch = self.problem.batch
        shaped = {}
        for name, a in self._native.outputs.items():
            b = a.reshape(batch, -1, *a.shape[1:])
            while b.ndim > (self._rank or 4) and b.shape[0] == 1:
                b = b[0]
            shaped[name] = np.swapaxes(b, -3, -2) if self._bshd and b.ndim > 2 else b
        return Outputs(shaped, self._mode)

    def __getitem__(self, key: str) -> Any:
        """The metric of that key, None where this run has none."""
        return self._native[key]

    def to_dict(self) -> Dict[str, Any]:
        """What `tilescope run --json` prints."""
        return self._native.to_dict()

    def __repr__(self) -> str:
        return f"{repr(self._native)[:-1]}; {self._mode}>"


class Study:
    """Many runs: a record for each, and a column for each of its keys."""

    def __init__(self, native: _core.Records) -> None:
        self._native = native

    @property
    def columns(self) -> List[str]:
        return self._native.columns

    def records(self) -> List[Dict[str, Any]]:
        """A dict for each run, as `tilescope sweep --json` prints its rows: pandas.DataFrame takes the list."""
        return self._native.records()

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, key: str) -> "np.ndarray[Any, Any]":
        """A column; where a run has no such number, it is NaN."""
        values = self._native.column(key)
        numbers = [v for v in values if v is not None]
        if len(numbers) < len(values) and all(type(v) in (int, float) for v in numbers):
            return np.array([np.nan if v is None else v for v in values], dtype=float)
        return np.array(values)

    def __repr__(self) -> str:
        return _core.message("call.study", len(self))


def build_info() -> Dict[str, str]:
    """What `tilescope --version` says besides the number: commit, compiler and cuda, empty where nobody knows, or there
    was none."""
    return _core.build_info()


def gpus() -> List[Machine]:
    """The modelled GPUs."""
    return [_core.load_gpu(name) for name in _core.gpu_names()]


def gpu(name: Union[str, Mapping[str, Any], Machine], **changes: Any) -> Machine:
    """A modelled GPU: of a preset's name, of a .json file, or of a dict such a file may hold, with these numbers changed,
    and what follows from them.

    gpu("h100"), gpu({"base": "A100-40GB", "sms": 64}), gpu("a100", sms=64)
    """
    machine = _core.load_gpu(word(name))
    return _core.changed_gpu(machine, json.dumps(changes)) if changes else machine


def problem(computes: str = "attention", **flags: Any) -> Problem:
    """The workload that flags ask for."""
    return _core.problem(computes, words(flags))


def algorithms() -> List[Dict[str, Any]]:
    """Every algorithm that is known: name, computes, idea, paper, code, and file where it was added."""
    return _core.algorithms()


def metrics() -> List[Dict[str, str]]:
    """What a run can be asked for: key, title, unit, meaning, and evidence: counted, computed or modelled."""
    return _core.metrics()


def run(algorithm: Named, *, reference: bool = True, with_forward: bool = False, **flags: Any) -> Report:
    """One run: counted and timed, and computed where mode is "numeric", or "auto" and that takes seconds.

    Q, K, V (and dO, or X for a softmax) may be NumPy arrays of float16, float32 or bfloat16, of [batch, heads, rows, columns],
    or with fewer dimensions in front; layout="bshd" as flash-attn has them. reference=False saves the comparison with
    double precision. with_forward adds a backward pass's forward pass. Outputs that are NaN or infinite where they should
    not be, or that a program of one's own has far from the reference, are a RuntimeWarning; so are numbers that have no
    room in the type that they are stored in.
    """
    arrays, rank, bshd = take_arrays(flags)
    native, mode, about_inputs = _core.run(_named(algorithm), words(flags), arrays, reference, with_forward)
    for text in [*native.wrong_outputs, *about_inputs]:
        warnings.warn(f"{native.algorithm}: {text}", RuntimeWarning, stacklevel=2)
    return Report(native, mode, rank, bshd)


def count(algorithm: Named, **flags: Any) -> Report:
    """Counts alone, without times."""
    return Report(_core.count(_named(algorithm), words(flags)), _core.message("mode.counts_as_asked"))


def verify(algorithm: Named, **flags: Any) -> Dict[str, int]:
    """Runs every thread block and every tile, without numbers, and holds the program to what it promises.

    The counters; BrokenPromise, Race or ProgramError where the program is wrong.
    """
    return _core.verify(_named(algorithm), words(flags))


def explain(algorithm: Named, **flags: Any) -> Dict[str, Any]:
    """What each line of the pseudo-code costs: what `tilescope explain --json` prints."""
    return _core.explain(_named(algorithm), words(flags))


def _points(vary: Union[Mapping[str, Iterable[Any]], Sequence[Mapping[str, Any]]]) -> "tuple[List[str], List[List[str]]]":
    if isinstance(vary, Mapping):
        axes = [[word(v) for v in values] for values in vary.values()]
        keys, rows = list(vary), [list(point) for point in itertools.product(*axes)]
    else:
        keys = list(vary[0]) if vary else []
        for point in vary:
            if list(point) != keys:
                raise UsageError(_core.message("call.other_flags", ", ".join(keys)))
        rows = [[word(v) for v in point.values()] for point in vary]
    return [key.replace("_", "-") for key in keys], rows


def study(algorithms: Union[Named, Sequence[Named]],
          vary: Union[Mapping[str, Iterable[Any]], Sequence[Mapping[str, Any]]] = {}, *, time: bool = True,
          threads: int = 0, **flags: Any) -> Study:
    """Many counted runs: every algorithm with every combination of the values of `vary`, the last key fastest.

    study(["flash_v1", "flash_v2"], {"seq": [1024, 4096], "br": [64, 128]}, causal=True)

    vary may also be a list of dicts, a point each. time=False only counts, which is hundreds of times as fast. Runs
    natively, on all cores, without Python's lock; Ctrl-C ends it. What does not fit is a record with fits False.
    """
    names = [algorithms] if isinstance(algorithms, (str, Algorithm)) or callable(algorithms) else list(algorithms)
    keys, rows = _points(vary)
    flags.setdefault("mode", "count")
    return Study(_core.study([_named(n) for n in names], words(flags), keys, rows, threads, time))


def record(algorithm: Named, *, blocks: Sequence[int] = (), values: bool = True, **flags: Any) -> Recording:
    """Records every operation of a run in memory: of these thread blocks, or of all; with numbers, or without."""
    arrays, _, _ = take_arrays(flags)
    return _core.record(_named(algorithm), words(flags), arrays, list(blocks), values)


def open_recording(path: str) -> Recording:
    """Opens what `tilescope trace` wrote."""
    return _core.read_recording(str(path))


def reconcile(algorithm: Named, path: str, *, only: str = "", runs: int = 1, **flags: Any) -> List[Dict[str, Any]]:
    """Hardware counters of any kernel, as Nsight Compute wrote them, beside the model, level by level.

    `tilescope reconcile` without a file prints the command that writes one. `only`: launches of kernels with this in
    their name. `runs`: that the file holds.
    """
    if not hasattr(_core, "reconcile"):
        raise RunError(_core.message("call.no_reconcile"))
    return _core.reconcile(_named(algorithm), str(path), words(flags), only, runs)
