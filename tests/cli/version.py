#!/usr/bin/env python3
"""`--version` names commit, compiler and CUDA: for a checkout its state, for an archive what git wrote into it, and for
other copies no commit."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cases import Tally, run

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = [".gitattributes", "cmake/build_info.cmake", "cmake/commit.txt"]
NOBODY = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
          **{f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
LINE = r"{} \d+\.\d+\.\d+ \((unknown commit|commit [0-9a-f]{{4,40}}( with changes)?); \S+ \d\S*; (no CUDA|CUDA \d+\.\d+)\)\n"


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, env=NOBODY, check=True, capture_output=True).stdout


def written(root, output):
    """The values that the build writes for these sources: commit, compiler, CUDA."""
    subprocess.run(["cmake", "-D", f"OUTPUT={output}", "-D", f"ROOT={root}", "-D", "COMPILER=g++ 1.2.3", "-D", "CUDA=12.4",
                    "-P", root / "cmake" / "build_info.cmake"], check=True, capture_output=True)
    return re.findall(r'"([^"]*)"[,}]', output.read_text())


def check_commits(tally, folder):
    sources, output = folder / "sources", folder / "build_info_now.cpp"
    for part in PARTS:
        (sources / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / part, sources / part)
    tally.check(written(sources, output) == ["", "g++ 1.2.3", "12.4"], f"a plain copy: {output.read_text()}")

    git(folder, "init", "-q")  # somebody else's repository around the sources
    git(folder, "commit", "-q", "--allow-empty", "-m", "theirs")
    tally.check(written(sources, output)[0] == "", f"within another repository: {output.read_text()}")

    git(sources, "init", "-q")
    git(sources, "add", ".")
    git(sources, "commit", "-q", "-m", "ours")
    commit = git(sources, "rev-parse", "--short", "HEAD").decode().strip()
    tally.check(written(sources, output)[0] == commit, f"a checkout of {commit}: {output.read_text()}")
    os.utime(output, (1, 1))
    written(sources, output)
    tally.check(output.stat().st_mtime == 1, "it is written again where nothing changed, so that all is linked again")
    (sources / "notes.txt").write_text("of no commit\n")
    tally.check(written(sources, output)[0] == commit, f"with a file of one's own: {output.read_text()}")

    (folder / "unpacked").mkdir()
    subprocess.run(["tar", "x", "-C", folder / "unpacked"], input=git(sources, "archive", "HEAD"), check=True)
    tally.check(written(folder / "unpacked", output)[0] == commit, f"an archive of {commit}: {output.read_text()}")

    with open(sources / "cmake" / "build_info.cmake", "a") as script:
        script.write("# changed\n")
    tally.check(written(sources, output)[0] == f"{commit} with changes", f"with changes: {output.read_text()}")


def main():
    tally = Tally()
    for program in sys.argv[1:]:
        said = run(os.path.abspath(program), "--version")
        line = LINE.format(pathlib.Path(program).name)
        tally.check(said.returncode == 0 and re.fullmatch(line, said.stdout), f"{program} --version: {said.stdout!r}")
    if not shutil.which("git") or not shutil.which("cmake"):
        print("SKIPPED: this needs git and cmake")
        sys.exit(77 if not tally.failed else 1)
    with tempfile.TemporaryDirectory() as folder:
        check_commits(tally, pathlib.Path(folder))
    tally.close()


main()
