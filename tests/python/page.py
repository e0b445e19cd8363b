#!/usr/bin/env python3
"""docs/python.md does what it says: its Python runs as one session and prints what the page shows, and its commands
run.

    page.py TILESCOPE SOURCE_DIR     with the module on PYTHONPATH
"""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LEFT_OUT = re.compile("python3 -m venv|environment/bin/pip")  # tests/python/wheel.py does this


def blocks_of(text):
    """(path of a file or "", language, content) of each block."""
    return [(m[1] or "", m[2], m[3]) for m in re.finditer(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", text, re.M | re.S)]


def main():
    program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    blocks = blocks_of((source / "docs" / "python.md").read_text())
    os.chdir(tempfile.mkdtemp())
    sys.path.insert(0, os.getcwd())
    session, said, compared, commands = {}, "", 0, 0
    for path, language, content in blocks:
        if path:
            pathlib.Path(path).write_text(content)
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(content, "docs/python.md", "exec"), session)
            said = out.getvalue()
        elif language == "text":
            compared += 1
            if said != content:
                sys.exit(f"docs/python.md says\n{content}and prints\n{said}")
        elif language == "sh":
            for line in content.splitlines():
                if LEFT_OUT.match(line):
                    continue
                commands += 1
                done = subprocess.run([program, *line.split()[1:]], capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"{line}\n{done.stdout}{done.stderr}")
    assert compared >= 6 and commands >= 2, (compared, commands)
    print(f"{compared} outputs as printed, {commands} commands run")


if __name__ == "__main__":
    main()
