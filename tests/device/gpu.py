#!/usr/bin/env python3
"""Every kernel on small nasty shapes on the GPU. Without one: says why, and exits with 77, which CTest shows as
skipped."""

import json
import subprocess
import sys

SKIPPED = 77


def main():
    binary, kind = sys.argv[1], sys.argv[2]
    r = subprocess.run([binary, "validate", *kind.split(), "--json"], capture_output=True, text=True)
    if r.returncode not in (0, 1) or not r.stdout:
        sys.exit(f"exit {r.returncode}: {r.stderr}")
    result = json.loads(r.stdout)
    if result["device"] is None:
        print("SKIPPED:", result["missing"], result["fix"])
        sys.exit(SKIPPED)
    bad = [case for case in result["cases"] if case["status"] != "ok"]
    for case in bad:
        print(f"{case['status'].upper()}: {case['note']}; {case['command']}")
    print(f"{result['device']['name']}: {len(result['cases']) - len(bad)} of {len(result['cases'])} cases are ok")
    if r.stderr:
        print(r.stderr)
    sys.exit(r.returncode != 0 or bool(bad) or not result["cases"])


main()
