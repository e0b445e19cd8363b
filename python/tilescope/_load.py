"""What the command line and the window do with a file of Python: they run it."""

import linecache
import os
import sys
import types


def load(path: str, file: str) -> None:
    """Runs the file as `python3 FILE` would, but for its name, so that what is there for __main__ does not happen."""
    with open(path, encoding="utf-8") as source:
        text = source.read()
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)  # whatever the folder is later
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(1, folder)
    module = types.ModuleType("__tilescope__")
    module.__file__ = file
    sys.modules[module.__name__] = module
    exec(compile(text, file, "exec"), module.__dict__)
