"""What a page prints below a command is what the command prints.

Usage: blackboard.py TILESCOPE SOURCE_DIR. Reads every `tilescope step` that has a block of code to itself and its output in
the next one.
"""
import pathlib
import re
import subprocess
import sys

SHOWN = re.compile(r"^```\n(tilescope step [^\n]*)\n```\n\n```\n(.*?)^```", re.M | re.S)


def main():
    binary, source = sys.argv[1:]
    compared, faults = 0, []
    for page in sorted((source / pathlib.Path("docs")).glob("*.md")):
        for command, shown in SHOWN.findall(page.read_text()):
            compared += 1
            printed = subprocess.run([binary, *command.split()[1:]], capture_output=True, text=True, timeout=120).stdout
            if printed != shown:
                faults.append(f"{page.name}: `{command}` prints something else now:\n{printed}")
    print("\n".join(faults) or f"{compared} tables are as printed")
    return 1 if faults or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
