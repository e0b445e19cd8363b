#!/usr/bin/env python3
"""The command line runs a Python file: its algorithms are like others, and each mistake in it is reported in a line.

    files.py TILESCOPE SOURCE_DIR
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TILESCOPE, SOURCE = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).resolve()
FLASH = SOURCE / "python" / "examples" / "my_flash.py"
SHAPE = "--heads 4 --kv-heads 2 --seq-q 300 --seq-k 500 --causal --br 64 --bc 48"

HEAD = """import tilescope


@tilescope.algorithm
def mine(gpu, t, p, tile):
    def body(b, head):
        x = b.alloc("x", p.seq_q, p.dim_v)
        %s
        b.store(x, t["O"].of(head), tilescope.Span(0, p.seq_q))

    gpu.launch("mine", [p.head_axis()], body)
"""


# The algorithm does not compute attention, which a run with numbers would report.
COUNTED = ("run", "./mine.py", "--heads", "2", "--seq", "32", "--mode", "count")


def tilescope(*words):
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}  # the program finds the package itself
    return subprocess.run([TILESCOPE, *words], capture_output=True, text=True, env=clean)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def says(self, code, text, status, *words):
        pathlib.Path("mine.py").write_text(code)
        done = tilescope(*(words or ("run", "./mine.py", "--heads", "2", "--seq", "32")))
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)
        return done

    def test_it_is_like_any_other(self):
        of = lambda name: json.loads(tilescope("run", name, *SHAPE.split(), "--json").stdout)  # noqa: E731
        mine, theirs = of(str(FLASH)), of("flash_v2")
        self.assertEqual(mine["counters"], theirs["counters"])
        self.assertEqual(mine["errors"], theirs["errors"])
        for command in (("explain", str(FLASH)), ("step", str(FLASH), "--to", "3"), ("compare", "flash_v2", str(FLASH)),
                        ("sweep", str(FLASH), "--vary", "seq=64:512:x2"), ("list", "--load", str(FLASH))):
            done = tilescope(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("my_flash", done.stdout)
        done = tilescope("explain", str(FLASH))
        self.assertIn("b.update_row_max(m, s)", done.stdout)

    def test_recorded_and_replayed(self):
        tilescope("trace", str(FLASH), "--seq", "32", "--heads", "1", "-o", "trace.json")
        done = tilescope("replay", "trace.json", "--load", str(FLASH))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_wrong_with_a_file(self):
        for code, text in [("def x(:\n", "mine.py: line 1: invalid syntax"), ("import tilescope\n1 / 0\n", "line 2: ZeroDivisionError"),
                           ("import nothing_of_the_kind\n", "line 1: ModuleNotFoundError"), ("x = 1\n", "adds no algorithm"),
                           ("import sys\nsys.exit(3)\n", "SystemExit")]:
            done = self.says(code, text, 2)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)

    def test_two_files_with_one_name(self):
        pathlib.Path("other.py").write_text(HEAD % "pass")
        done = self.says(HEAD % "pass", "other.py: algorithm mine: ./mine.py has one by that name; give one of them another",
                         2, "compare", "./mine.py", "./other.py")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_reconcile_is_not_there(self):
        self.says("import tilescope\ntilescope.reconcile('flash_v2', 'x.csv')\n", "use `tilescope reconcile`", 2)

    def test_what_is_wrong_with_a_program(self):
        for line, text in [("1 / 0", "mine.py:8: ZeroDivisionError"), ("b.load(t['Q'].of(head), tilescope.Span(9, 99))", "source line 8 of "),
                           ("b.exp(head)", "exp: takes (x: Tile), not (Span(0, 1)), at source line 8 of ./mine.py")]:
            done = self.says(HEAD % line, text, 1)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        done = self.says(HEAD % "b.alloc('huge', 4096, 4096)", "huge", 1)
        self.assertIn("does not fit", done.stderr)
        self.says(HEAD % "pass", "mine does not", 2, "run", "./mine.py", "--causal")

    def test_numpy_and_neighbours_can_be_imported(self):
        pathlib.Path("neighbour.py").write_text("fill = 2.0\n")
        code = "import numpy\nfrom neighbour import fill\n" + HEAD % "b.add(x, b.alloc('y', p.seq_q, p.dim_v, fill=fill))"
        self.says(code, "", 0, *COUNTED)

    def test_main_is_left_alone(self):
        self.says(HEAD % "pass" + "\nif __name__ == '__main__':\n    raise SystemExit(9)\n", "", 0, *COUNTED)


if __name__ == "__main__":
    unittest.main()
