"""The command line, as `python3 -m tilescope` and as `tilescope` in an environment."""

import os
import pathlib
import sys

from . import _core


def main() -> None:
    """Becomes the program that was installed with this package."""
    program = pathlib.Path(__file__).resolve().parent / "bin" / "tilescope"
    if not program.exists():
        sys.exit("tilescope: " + _core.message("call.no_command_line"))
    if sys.prefix != sys.base_prefix:
        os.environ.setdefault("VIRTUAL_ENV", sys.prefix)  # whose packages a Python program sees
    os.execv(program, ["tilescope", *sys.argv[1:]])


if __name__ == "__main__":
    main()
