#!/usr/bin/env python3
"""mypy --strict accepts the package, and finds exactly the mistakes that tests/python/typed.py marks.

    mypy_strict.py SOURCE_DIR PACKAGE_FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def mypy(*arguments, cache, path=None):
    environment = {**os.environ, **({"MYPYPATH": path} if path else {})}
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *arguments], capture_output=True,
                          text=True, env=environment).stdout


def main():
    source, package = pathlib.Path(sys.argv[1]), sys.argv[2]
    if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode:
        print("skipped: needs mypy")
        return SKIPPED
    with tempfile.TemporaryDirectory() as cache:
        example = source / "tests" / "python" / "typed.py"
        said = mypy("-p", "tilescope", "--no-error-summary", cache=cache, path=package)
        refused = mypy(str(example), cache=cache, path=package)
    wanted = {k for k, line in enumerate(example.read_text().splitlines(), 1) if line.endswith("# refused")}
    found = {int(k) for k in re.findall(r"typed\.py:(\d+): error", refused)}
    if said.strip() or wanted != found:
        print(said, refused, f"refused lines {sorted(found)}, wanted {sorted(wanted)}", sep="\n")
        return 1
    print(f"the package and an example pass; {len(found)} mistakes are found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
