#!/usr/bin/env python3
"""Every subcommand understands former names of algorithms; they cause one remark and change nothing else."""

import os
import sys

from cases import Tally, run

RENAMED = {"safe_softmax": "three_pass", "online_softmax": "two_pass"}
SMALL = "--seq 64 --dim 8 --heads 1 --dtype f32"
COMMANDS = [f"run {{}} {SMALL}", f"compare flash_v2 {{}} {SMALL}", f"explain {{}} {SMALL}",
            f"sweep {{}} {SMALL} --vary bc=16,32", f"trace {{}} {SMALL} --mode count -o /dev/stdout", "validate {}"]


def remarks(stderr):
    return [line for line in stderr.splitlines() if "is now called" in line]


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    for former, name in RENAMED.items():
        for command in COMMANDS:
            if command.startswith("validate") and os.path.exists("/dev/nvidia0"):
                continue  # validate would run kernels; the tests with the label gpu do that
            now, before = run(binary, command.format(name)), run(binary, command.format(former))
            tally.check(now.returncode == 0 and not remarks(now.stderr), f"{command.format(name)}: {now.stderr!r}")
            tally.check(before.stdout == now.stdout, f"{command.format(former)} prints something else than {name}")
            tally.check(before.returncode == 0 and
                        remarks(before.stderr) == [f"tilescope: {former} is now called {name}"],
                        f"{command.format(former)}: exit {before.returncode}, {before.stderr!r}")
    tally.close()


main()
