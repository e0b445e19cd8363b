#!/usr/bin/env python3
"""Sizes follow from the sizes of files, and outputs have the right shapes.

A run with files equals the run with the same files and all sizes as flags, whatever else is asked for, in every command
and in the window: files.py TILESCOPE [TILESCOPE-GUI]. Every output of every algorithm is written in its own shape."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from cases import Tally, run
from dense import Attention
from random_problems import AXES, BACKWARD, FORWARD, SOFTMAX

SIZES = {"batch": 2, "heads": 6, "kv_heads": 3, "seq_q": 20, "seq_k": 36, "dim": 12, "dim_v": 10}
SIZE_FLAGS = [f"--{name.replace('_', '-')}={size}" for name, size in SIZES.items()]
MASKS = ["--causal", "--window-left=5 --window-right=3", "--documents=10+26", "--block-mask=butterfly --mask-block=8"]
# Flags that shape a problem or how it is computed, each with an algorithm that supports it.
FEATURES = [("flash_v2", f) for f in ["", "--scale=0.3", *MASKS, "--alibi", "--alibi --causal", "--soft-cap=2", "--bias=hqk",
                                      "--bias=bk", "--bias=bk+ghqk --bias-group=2", "--dropout=0.3 --dropout-seed=5",
                                      "--dropout=0.3 --dropout-mask=stored", "--page-size=4 --page-order=permuted",
                                      "--pack=on", "--tiles=paper", "--tiles=best", "--br=8 --bc=16", "--dtype=f16",
                                      "--blocks-per-sm=1", "--alibi --pack=on"]]
FEATURES += [("split_kv", "--splits=3"), ("split_kv", "--pack=on --page-size=8"), ("standard", "--softmax=naive"),
             ("flash_v2_backward", "--alibi --soft-cap=3"), ("flash_v2_backward", "--dropout=0.2"),
             ("memory_efficient_backward", "--bias=hqk+bk"), ("chunked", "--alibi")]


def save(folder, arrays):
    for name, a in arrays.items():
        np.save(f"{folder}/{name}.npy", a.astype("f4"))
    return [w for n in arrays for w in (f"--{n}-file" if n.startswith("bias") else f"--{n}", f"{folder}/{n}.npy")]


def draw(rng, s):
    shapes = {"q": (s["heads"], s["seq_q"], s["dim"]), "k": (s["kv_heads"], s["seq_k"], s["dim"]),
              "v": (s["kv_heads"], s["seq_k"], s["dim_v"]), "do": (s["heads"], s["seq_q"], s["dim_v"])}
    return {n: rng.standard_normal((s["batch"], *shape)).astype("f4").astype("f8") for n, shape in shapes.items()}


def said(binary, tally, words):
    r = run(binary, words)
    tally.check(r.returncode == 0, f"{' '.join(words)}: exit {r.returncode}, {r.stderr.strip()}")
    return r.stdout


def check_same(binary, tally, folder, rng):
    """No default (8 heads, 1,024 rows, 64 columns) may remain where files give sizes."""
    files = save(folder, draw(rng, SIZES))
    out = f"{folder}/out.npy"
    for algorithm, feature in FEATURES:
        own = files if algorithm in BACKWARD else files[:6]
        asked = [algorithm, *own, *feature.split()]
        flags = SIZE_FLAGS + (["--dtype=f32"] if "--dtype" not in feature else [])
        label = " ".join([algorithm, feature])
        for command, more in [("run", ["--json", "--out", out]), ("compare", ["--json"]), ("step", ["--table"]),
                              ("trace", ["-o", f"{folder}/t.json"])]:
            told = []
            for sizes in ([], flags):
                text = said(binary, tally, [command, *asked, *sizes, *more])
                made = sorted(n for n in os.listdir(folder) if n.startswith(("out", "t.json")))
                told.append((text, [open(f"{folder}/{n}", "rb").read() for n in made]))
                for n in made:
                    os.remove(f"{folder}/{n}")
            tally.check(told[0] == told[1] and (told[0][0] or told[0][1]), f"{command} {label}: sizes as flags change it")
    for settings in ("alibi=true", "alibi=true,br=8", "bias=hqk", "causal=true"):
        texts = [said(binary, tally, ["compare", f"flash_v2:{settings}", *files[:6], *flags, "--json"]) for flags in
                 ([], SIZE_FLAGS)]
        tally.check(texts[0] == texts[1], f"compare flash_v2:{settings}: sizes as flags change it")


def check_window(window, tally, folder, rng):
    files = save(folder, draw(rng, SIZES))[:6]
    for feature in ("--alibi", "--bias=hqk --causal"):
        seen = []
        for flags in ([], SIZE_FLAGS):
            log = f"{folder}/log.txt"
            r = subprocess.run([window, "flash_v2", *files, *feature.split(), *flags, "--step", "12", "--no-tour",
                                "--screenshot", f"{folder}/p.png", "--log", log, "--size", "1400x900"], capture_output=True, text=True)
            tally.check(r.returncode == 0, f"window {feature}: {r.stderr}")
            texts = json.loads(open(log).read().splitlines()[-1])["texts"]
            # The controls of a given flag have an extra cross, which resets the flag.
            texts["controls"] = [t[0] for t in texts["controls"] if t[0] != "×"]
            seen.append(texts)
            os.remove(log)
        tally.check(seen[0] == seen[1], f"window {feature}: sizes as flags change it")


def check_parts(binary, tally, folder, rng):
    """Of many batch entries only a few are shown; these are the same as where there are no others."""
    s = dict(SIZES, batch=48, heads=2, kv_heads=2, seq_q=256, seq_k=256, dim=64, dim_v=64)
    arrays = {n: a for n, a in draw(rng, s).items() if n != "do"}

    def steps_of(entries, flags, bias):
        files = save(folder, {n: a[:entries] for n, a in arrays.items()} | bias)
        # A thread block of the second head of the second batch entry.
        text = said(binary, tally, ["step", "flash_v2", *files, *flags, "--br=128", "--bc=128", "--table", "--sm=7"])
        before, _, table = text.partition("op  line")
        return "Shown: heads 1-" in before, table

    for axes, shape in (("", ()), ("hqk", (1, 2, 256, 256)), ("qk", (1, 1, 256, 256)), ("bk", (48, 1, 1, 256)),
                        ("ghk", (24, 2, 1, 256))):
        flags = ["--bias", axes] + ["--bias-group=2"] * ("g" in axes) if axes else ["--alibi"]
        bias = rng.standard_normal(shape)
        parts = [steps_of(n, flags, {"bias": bias[:n // 2 if "g" in axes else n]} if axes else {}) for n in (48, 2)]
        tally.check(parts[0][0] and not parts[1][0], f"step {flags}: is not shown in part, or without need")
        tally.check(parts[0][1] == parts[1][1] and len(parts[0][1]) > 500, f"step {flags}: a part is another run")


def check_small_problem(binary, tally, folder, rng):
    """compare computes a smaller problem where the whole is too large; that problem takes its part of a bias file."""
    np.save(f"{folder}/bias.npy", rng.standard_normal((1, 64, 1, 4096)).astype("f4"))
    told = json.loads(said(binary, tally, ["compare", "flash_v2", "--bias=hk", f"--bias-file={folder}/bias.npy", "--json"]) or "{}")
    small = told.get("reports", [{}])[0].get("small_problem", {})
    tally.check((small.get("max_abs_error") or 1) < 1e-3, f"compare --bias-file: {small}")


def written(binary, tally, folder, words, names):
    """The outputs of a run, by name."""
    out = f"{folder}/out.npy"
    said(binary, tally, ["run", *words, "--out", out])
    all = {}
    for name in names:
        path = out if len(names) == 1 and name in ("O", "Y") else f"{folder}/out-{name}.npy"
        all[name] = np.load(path) if os.path.exists(path) else np.zeros(0)
        if os.path.exists(path):
            os.remove(path)
    return all


def check_output(tally, label, got, want):
    tally.check(got.shape == want.shape, f"{label}: shape {got.shape}, must be {want.shape}")
    if got.shape == want.shape:
        error = np.abs(got - want).max() / max(1, np.abs(want).max())
        tally.check(error < 1e-5, f"{label}: off by {error}")


def check_outputs(binary, tally, folder, rng):
    """Every output of every algorithm, in every rank and in both orders of dimensions."""
    for rank, layout in ((2, "bhsd"), (3, "bhsd"), (4, "bhsd"), (3, "bshd"), (4, "bshd")):
        s = dict(SIZES, batch=2 if rank == 4 else 1)
        if rank == 2:
            s.update(heads=1, kv_heads=1)

        def filed(a):
            a = a.reshape(a.shape[4 - rank:])
            return a.swapaxes(-2, -3) if layout == "bshd" else a

        arrays = draw(rng, s)
        files = save(folder, {n: filed(a) for n, a in arrays.items()})
        forward = Attention(s, {n: arrays[n] for n in "qkv"}).out
        for algorithms, given, want in ((FORWARD, files[:6], forward), (BACKWARD, files, Attention(s, arrays).out)):
            for a in algorithms:
                got = written(binary, tally, folder, [a, *given, "--layout", layout], want)
                for name in want:
                    check_output(tally, f"{a} of rank {rank}, {layout}: {name}", got[name], filed(want[name]))
        x = arrays["q"]
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        for a in SOFTMAX:
            words = [a, *save(folder, {"x": filed(x)}), "--layout", layout]
            check_output(tally, f"{a} of rank {rank}, {layout}", written(binary, tally, folder, words, ["Y"])["Y"],
                         filed(e / e.sum(axis=-1, keepdims=True)))


def check_broadcasts(binary, tally, folder, rng):
    """The gradient of a bias has the shape of the bias file, whatever shares the bias: batch entries, groups, heads,
    queries."""
    s = dict(SIZES, batch=4)
    arrays = draw(rng, s)
    for n, axes in enumerate(AXES):
        for pair in ([axes], [AXES[(n + 5) % len(AXES)], axes]):
            p = dict(s, biases=pair, bias_group=2 if any("g" in t for t in pair) else 1)
            given = dict(arrays)
            for k, t in enumerate(pair):
                entries = {"b": 4, "g": 2}.get(t[0], 1)
                given["bias" + "2" * k] = rng.standard_normal(
                    (entries, s["heads"] if "h" in t else 1, s["seq_q"] if "q" in t else 1, s["seq_k"])).astype("f4").astype("f8")
            for layout in ("bhsd", "bshd"):
                files = save(folder, {k: a if k.startswith("bias") or layout == "bhsd" else a.swapaxes(1, 2)
                                      for k, a in given.items()})
                more = ["--bias", "+".join(pair), "--layout", layout]
                more += [f"--bias-group={p['bias_group']}"] if p["bias_group"] > 1 else []
                want = Attention(p, given).out
                got = written(binary, tally, folder, ["memory_efficient_backward", *files, *more], want)
                for name, x in want.items():
                    turned = layout == "bshd" and not name.startswith("dbias")
                    check_output(tally, f"--bias {'+'.join(pair)}, {layout}: {name}", got[name],
                                 x.swapaxes(1, 2) if turned else x)


def main():
    binary, tally, rng = sys.argv[1], Tally(), np.random.default_rng(13)
    window = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        check_same(binary, tally, folder, rng)
        if window:
            check_window(window, tally, folder, rng)
        check_parts(binary, tally, folder, rng)
        check_small_problem(binary, tally, folder, rng)
        check_outputs(binary, tally, folder, rng)
        check_broadcasts(binary, tally, folder, rng)
    tally.close()


if __name__ == "__main__":
    main()
