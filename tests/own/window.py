#!/usr/bin/env python3
"""The window plays, saves and opens an algorithm of a user's file. window.py TILESCOPE_GUI TILESCOPE SOURCE_DIR"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

GUI, CLI, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3])
SMALL = "--seq 128 --dim 32 --heads 1 --br 32 --bc 32".split()


def plays_python(shown, root, run):
    """A Python file is shown like one of C++: its source, its counts, its mistakes."""
    state, words = shown("./my_flash.py", *SMALL, "--race", "flash_v2", "--step", "20", "--tab", "program")
    assert state["algorithm"] == "my_flash" and state["command"][0] == "./my_flash.py", state["command"]
    assert "FlashAttention-2, in Python" in words and "b.exp_minus(c, m)" in words, words
    again, _ = shown(*state["command"])
    assert again["command"] == state["command"] and again["counters"] == state["counters"]
    usual, _ = shown("flash_v2", *SMALL, "--step", "20")
    assert again["counters"] == usual["counters"], (again["counters"], usual["counters"])
    text = (root / "my_flash.py").read_text()
    (root / "wrong.py").write_text(text.replace("import math", "import meth"))
    said = run(GUI, "./wrong.py", "--screenshot", "a.png", code=2)
    assert "wrong.py: line 3: ModuleNotFoundError" in said and said.count("\n") == 1, said


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(SOURCE / "examples" / "own-algorithm" / "mine.cpp", root)
        environment = {**os.environ, "XDG_CACHE_HOME": str(root / "cache")}

        def run(*words, code=0):
            done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
            assert done.returncode == code, f"{words}: {done}"
            return done.stderr

        def shown(*flags, remark=""):
            said = run(GUI, *flags, "--screenshot", "a.png", "--log", "a.log")
            assert remark in said and said.count("\n") == bool(remark), said
            state = json.loads((root / "a.log").read_text().splitlines()[-1])
            return state, "\n".join(text for texts in state["texts"].values() for text, *_ in texts)

        state, words = shown("./mine.cpp", *SMALL, "--race", "flash_v2", "--step", "20", "--tab", "program")
        assert state["algorithm"] == "eager_division" and state["command"][0] == "./mine.cpp", state["command"]
        assert "flash_v2 that divides after every tile" in words and "scale_rows(b, o, l);" in words, words
        again, _ = shown(*state["command"])
        assert again["command"] == state["command"] and again["counters"] == state["counters"]

        state, words = shown("flash_v2", *SMALL, "--race", "mine.cpp:eager_division", "--compare", "./mine.cpp")
        at = state["command"].index("--race")
        assert state["command"][at:at + 2] == ["--race", "mine.cpp"] and "eager_division" in words, state["command"]
        state, _ = shown("--load", "mine.cpp", "eager_division", *SMALL)
        assert state["command"][0] == "mine.cpp", state["command"]

        # A saved file may come from somebody else, so it loads no program by itself.
        (root / "s.json").write_text(json.dumps({"tilescope-gui": state["command"]}))
        said = run(GUI, "--open", "s.json", "--screenshot", "a.png", code=2)
        assert said.count("\n") == 1 and "add --load mine.cpp if you trust it" in said, said
        assert shown("--load", "mine.cpp", "--open", "s.json")[0]["command"] == state["command"]
        scene = {"title": "mine", "tilescope-gui": state["command"]}
        (root / "scene.json").write_text(json.dumps(scene))
        assert "--load mine.cpp" in run(GUI, "--scene", "scene.json", "--screenshot", "a.png", code=2)
        assert shown("--load", "mine.cpp", "--scene", "scene.json")[0]["algorithm"] == "eager_division"

        # A recording plays without its program, and knows where the program was.
        run(CLI, "trace", "./mine.cpp", *SMALL, "-o", "trace.json")
        assert shown("trace.json", remark="all that is known of it is the recording")[0]["algorithm"] == "eager_division"
        assert "--load ./mine.cpp" in run(CLI, "replay", "trace.json", code=2)
        if (pathlib.Path(GUI).parent / "tilescope-python.so").exists():
            shutil.copy(SOURCE / "python" / "examples" / "my_flash.py", root)
            plays_python(shown, root, run)
        print("the window plays, saves and opens an algorithm of one's own")


main()
