#!/usr/bin/env python3
"""`pip install --no-build-isolation .` in an environment with the system's packages gives a module, its types and the
command line.

    wheel.py SOURCE_DIR BUILD_DIR      takes the compiled parts from BUILD_DIR, as TILESCOPE_BUILD says
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
INSIDE = """
import json, tilescope
print(json.dumps({"file": tilescope.__file__, "report": tilescope.run("flash_v2", seq=64).to_dict()}))
"""


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def main():
    source, build = map(pathlib.Path, sys.argv[1:])
    for module in ("pip", "venv", "setuptools", "wheel"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode:
            print(f"skipped: needs python3-{module}")
            return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        copy = folder / "source"  # files that pip leaves behind stay in the copy
        copy.mkdir()
        for name in ("CMakeLists.txt", "setup.py", "pyproject.toml"):
            shutil.copy(source / name, copy)
        shutil.copytree(source / "python", copy / "python", ignore=shutil.ignore_patterns("__pycache__"))
        environment = folder / "environment"
        run(sys.executable, "-m", "venv", "--system-site-packages", environment)
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        python = environment / "bin" / "python3"
        run(python, "-m", "pip", "install", "--no-build-isolation", "--no-index", ".", cwd=copy,
            env={**clean, "TILESCOPE_BUILD": str(build)})
        said = json.loads(run(python, "-c", INSIDE, cwd=folder, env=clean))
        assert said["file"].startswith(str(environment)), said["file"]
        program = environment / "bin" / "tilescope"
        printed = json.loads(run(program, "run", "flash_v2", "--seq", "64", "--json", cwd=folder, env=clean))
        assert printed == said["report"]
        assert run(python, "-m", "tilescope", "--version", cwd=folder, env=clean) == run(program, "--version", cwd=folder, env=clean)
        installed = next(environment.glob("lib/python3*/site-packages/tilescope"))
        for name in ("py.typed", "_core.pyi", "bin/tilescope-python.so"):
            assert (installed / name).exists(), name
        print("installed, with its command line and types")
    return 0


if __name__ == "__main__":
    sys.exit(main())
