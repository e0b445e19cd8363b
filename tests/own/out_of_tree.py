#!/usr/bin/env python3
"""Installs TileScope into a folder, moves the folder, and carries out examples/own-algorithm/README.md with it. Then
runs an algorithm written in Python, by the program and by the module, if those were built.

    out_of_tree.py BUILD_DIR
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
from page import Reader


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", root / "first"], check=True, stdout=subprocess.DEVNULL)
        (root / "first").rename(root / "prefix")
        prefix = root / "prefix"
        examples = next(prefix.rglob("own-algorithm"))
        assert list(prefix.rglob("LICENSE")) and list(prefix.rglob("own-algorithm.md"))
        for file in prefix.rglob("*.cmake"):
            assert str(root) not in file.read_text(), f"{file} knows where it was installed"
        shutil.copytree(examples, root / "own")
        environment = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(prefix),
                       "XDG_CACHE_HOME": str(root / "cache"), "COLUMNS": "200"}
        reader = Reader("examples/own-algorithm/README.md", root / "own", environment)
        reader.read((root / "own" / "README.md").read_text())
        assert reader.done["command"] >= 5 and reader.done["text"] == 1, reader.done
        # Compilation behind the scenes uses the installed headers, not those of the sources.
        note = next((root / "cache" / "tilescope").glob("*.txt")).read_text()
        assert str(prefix / "include" / "tilescope" / "core") in note, note[:2000]
        module = prefix / "lib" / "tilescope" / "python"
        if module.exists():
            counts_in_python(prefix, module, root)
        print(f"{reader.done['command']} commands of the README, by what was installed")


def counts_in_python(prefix, module, root):
    mine = pathlib.Path(__file__).resolve().parents[2] / "python" / "examples" / "my_flash.py"
    flags = {"seq": 500, "br": 64, "bc": 64}
    words = [word for flag, value in flags.items() for word in (f"--{flag}", str(value))]
    said = subprocess.run([prefix / "bin" / "tilescope", "run", mine, *words, "--mode", "count", "--json"], cwd=root,
                          check=True, capture_output=True, text=True).stdout
    code = f"import json, tilescope; print(json.dumps(tilescope.count('flash_v2', **{flags}).counters))"
    counted = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(module)}).stdout
    assert json.loads(counted).items() <= json.loads(said)["counters"].items(), (said, counted)


main()
