"""What can go wrong. Messages are the command line's."""

from __future__ import annotations

import os
import re
import traceback
from types import TracebackType

from . import _core

_WORDED = re.compile(r"--(?P<field>[\w-]+)(?: (?P<value>.+?))?: (?P<allowed>.+?)(?:; try (?:--[\w-]+ )?(?P<fix>.+))?$", re.S)


class Error(Exception):
    """Of everything here."""


class UsageError(Error, ValueError):
    """The request itself is wrong: `field` has a `value` that is not `allowed`; `fix` is one to try."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        found = _WORDED.match(message)
        self.field: str = found["field"].replace("-", "_") if found else ""
        self.value: str = (found["value"] or "") if found else ""
        self.allowed: str = found["allowed"] if found else ""
        self.fix: str = (found["fix"] or "") if found else ""


class RunError(Error, RuntimeError):
    """The request is fine, carrying it out failed."""


class ProgramError(RunError):
    """A tile program did what it may not. The message ends with its line and file."""


class _Placed(RunError):
    launch: int = -1
    """The launch, from 0; -1 where that is not known."""
    block: int = -1
    """The thread block's number in its grid."""
    line: int = 0
    """The pseudo-code line that was reached."""


class DoesNotFit(_Placed):
    """A tile does not fit on chip."""

    space: str = ""
    """"sram" or "registers"."""
    tile: str = ""
    needed: int = 0
    """Bytes, with what was there already."""
    capacity: int = 0


class BrokenPromise(_Placed):
    """Tiles or thread blocks that were promised to cost the same did not."""


class Race(_Placed):
    """Two thread blocks of a launch store to the same place."""


_CALL = re.compile(r"(?P<name>\w+)\(\): incompatible \w+ arguments\..*?\n +1\. \((?P<takes>.*?)\) -> .*?\n\nInvoked with: "
                   r"(?P<given>.*)$", re.S)


def wrong_call(error: BaseException, trace: TracebackType | None) -> str:
    """A verb that was called with something else than it takes, and where, in words; nothing for other errors."""
    found = _CALL.match(str(error)) if isinstance(error, TypeError) else None
    if not found:
        return ""
    takes = re.sub(r"^self: [\w.]+(, )?", "", found["takes"]).replace("tilescope._core.", "")
    _, _, given = re.sub(r"<tilescope\._core\.(\w+) object at \w+>", r"\1", found["given"]).partition(", ")
    frame = traceback.extract_tb(trace)[-1] if trace else None
    if not frame:
        return _core.message("call.takes", found["name"], takes, given)
    where = _core.message("mistake.source_line", str(frame.lineno), frame.filename)
    return _core.message("call.takes_at", found["name"], takes, given, where)


def in_a_line(error: BaseException, trace: TracebackType | None) -> str:
    """"my_kernel.py:12: ZeroDivisionError: division by zero": the innermost line that is not of this package."""
    if isinstance(error, Error):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    here = os.path.dirname(os.path.abspath(__file__))
    frames = [f for f in traceback.extract_tb(trace) if os.path.dirname(os.path.abspath(f.filename)) != here]
    where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    return where + "".join(traceback.format_exception_only(type(error), error)).strip().replace("\n", " ")
