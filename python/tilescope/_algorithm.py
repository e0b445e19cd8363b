"""Tile programs in Python: what makes an algorithm of a function."""

from __future__ import annotations

import inspect
import io
import tokenize
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union, overload

from . import _core
from ._errors import UsageError

Program = Callable[[_core.Gpu, _core.Tensors, _core.Problem, _core.Tiling], None]
Lines = Sequence[Tuple[int, str, str]]

attention_features = ("head_dims", "grouped_heads", "scale", "mask", "block_mask", "documents")
"""What a program can do that takes its loops from the problem (row_axis, visible_keys) and applies its mask."""

score_features = attention_features + ("bias", "alibi", "soft_cap")
"""The same of one whose scores are finished by finish_scores. With drop_scores (and store_kept), add "dropout"."""


class Algorithm:
    """An algorithm in Python. It can be given wherever an algorithm's name can."""

    def __init__(self, name: str, computes: str, program: Program) -> None:
        self.name = name
        self.computes = computes
        self.program = program
        self.__doc__ = program.__doc__

    def __call__(self, gpu: _core.Gpu, t: _core.Tensors, p: _core.Problem, tile: _core.Tiling) -> None:
        """Runs the program on the modelled GPU of another one."""
        self.program(gpu, t, p, tile)

    def known(self) -> str:
        """Its name, as long as it is this one's."""
        if _latest.get(self.name, self) is not self:
            raise UsageError(_core.message("call.made_again", self.name))
        return self.name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<tilescope.Algorithm {self.name}>"


_latest: Dict[str, Algorithm] = {}


def output(name: str, *, rows: int, cols: int = 1, dtype: str = "f32", meaning: str = "statistic",
           sliced: str = "by_head") -> _core.TensorDecl:
    """A result in HBM besides those that the computation has: LSE, for instance."""
    return _core.TensorDecl(name, "output", meaning, sliced, dtype, rows, cols)


def scratch(name: str, *, rows: int, cols: int, dtype: str = "f32", meaning: str = "other",
            sliced: str = "by_head") -> _core.TensorDecl:
    """A tensor in HBM that a program needs for itself."""
    return _core.TensorDecl(name, "scratch", meaning, sliced, dtype, rows, cols)


def _comment(line: str) -> Tuple[str, str]:
    """A line of code, and the comment at its end."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline):
            if token.type == tokenize.COMMENT:
                at = len(line) - len(line.lstrip()) + token.start[1]
                return line[:at].rstrip(), line[at:].lstrip("# ").rstrip()
    except (tokenize.TokenError, IndentationError):
        pass  # a part of a longer statement
    return line, ""


def _own_code(program: Program) -> Tuple[int, int, List[Tuple[int, str, str]]]:
    """The function's own lines as pseudo-code: the first, the last, and each with its comment."""
    try:
        lines, first = inspect.getsourcelines(program)
    except OSError as error:
        raise UsageError(_core.message("call.no_source", program.__name__)) from error
    text = [line.rstrip("\n") for line in lines]
    margin = len(text[0]) - len(text[0].lstrip())
    skip = next((k for k, line in enumerate(text) if line.lstrip().startswith("def ")), 0)
    code = []
    for number, line in enumerate(text[skip:], first + skip):
        shown, why = _comment(line[margin:])
        if shown.strip():
            code.append((number, shown.replace("    ", "  "), why))
    return first, first + len(lines) - 1, code


@overload
def algorithm(program: Program, /) -> Algorithm: ...
@overload
def algorithm(*, computes: str = ..., name: Optional[str] = ..., code: Optional[Lines] = ...,
              features: Union[str, Iterable[str]] = ..., idea: str = ..., paper: str = ...,
              knobs: Sequence[str] = ...,
              tensors: Optional[Callable[[_core.Problem, _core.Tiling], Iterable[_core.TensorDecl]]] = ...,
              ) -> Callable[[Program], Algorithm]: ...
def algorithm(program: Optional[Program] = None, /, *, computes: str = "attention", name: Optional[str] = None,
              code: Optional[Lines] = None, features: Union[str, Iterable[str]] = (), idea: str = "",
              paper: str = "", knobs: Sequence[str] = ("br", "bc"),
              tensors: Optional[Callable[[_core.Problem, _core.Tiling], Iterable[_core.TensorDecl]]] = None,
              ) -> Union[Algorithm, Callable[[Program], Algorithm]]:
    """Makes an algorithm of a function `program(gpu, t, p, tile)`: from then on it is known by its name.

    computes: "attention", "attention_backward" or "softmax". features: what of a problem it can do, such as "mask" and
    "grouped_heads" (attention_features has the usual ones); anything else is refused. tensors(p, tile): what it has in
    HBM besides the computation's own, made with output() and scratch(). code: pseudo-code, as (number, line, why), whose
    lines the program names by b.at(number); without it, the function's own source is the pseudo-code, and every
    operation belongs to the line that asks for it. A comment at the end of a line says why.
    """

    def make(program: Program) -> Algorithm:
        first, last, lines = _own_code(program) if code is None else (0, 0, list(code))
        made = Algorithm(name or program.__name__, computes, program)
        doc = idea or (program.__doc__ or "").strip().split("\n")[0].rstrip(".")
        _core.add_algorithm(made.name, computes, program.__code__.co_filename, first, last, lines,
                            [features] if isinstance(features, str) else list(features), doc, paper, list(knobs),
                            program, tensors)
        _latest[made.name] = made
        return made

    return make(program) if program is not None else make
