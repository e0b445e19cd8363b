#!/usr/bin/env python3
"""Seeded random problems through `tilescope run` with files in and files out, against NumPy (dense.py).

    random_problems.py TILESCOPE [--count 300] [--seed 0]      so many problems, two at a time
    random_problems.py TILESCOPE --only 17 --keep FOLDER       one of them again; keeps its files

Every algorithm, forward and backward, with the features that it is documented to have: what it lacks has to be refused,
and nothing else may be. Each output has to have its shape, and be as precise as its type allows: see tolerance()."""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np

from dense import STEP, TINY, Attention, stored

# Features of each algorithm, besides masks, grouped heads, a scale and any head dimensions (docs/model-limits.md).
SCORES = {"bias", "alibi", "soft_cap"}
FORWARD = {
    "standard": SCORES | {"dropout", "naive"},
    "three_pass": SCORES,
    "two_pass": SCORES,
    "flash_v1": SCORES | {"dropout"},
    "flash_v2": SCORES | {"dropout", "pages", "pack"},
    "memory_efficient": SCORES | {"dropout"},
    "chunked": SCORES,
    "split_kv": SCORES | {"pages", "pack", "splits"},
    "flash_v3": SCORES | {"roles"},
}
ROLES = {"slots": [2, 3, 4, 7], "warpgroups": [1, 2, 3], "turns": ["on", "off"], "overlap": ["on", "off"],
         "specialised": ["on", "off"], "persistent": ["off", "static", "paired", "counter"],
         "like": ["fa3-2024", "fa3-2025", "cudnn-9.19", "triton-plain", "triton-ping-pong", "flex"]}
BACKWARD = {
    "standard_backward": set(),
    "flash_v1_backward": {"dropout"},
    "flash_v2_literal_backward": set(),
    "flash_v2_backward": {"alibi", "soft_cap", "dropout"},
    "flash_v2_deterministic_backward": {"alibi", "soft_cap", "dropout"},
    "two_pass_backward": set(),
    "memory_efficient_backward": {"bias", "dropout"},
}
SOFTMAX = ["softmax_naive", "softmax_safe", "softmax_online"]
AXES = [entries + head + query + "k" for entries in ("", "b", "g") for head in ("", "h") for query in ("", "q")]


class Problem:
    """A request: flags, and arrays for the files."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])
        self.flags, self.arrays, self.texts, self.refused = [], {}, {}, False
        self.dtype = self.rng.choice(["f32", "f16", "bf16"])
        draw = self.rng.random()
        self.algorithm = self.pick(SOFTMAX if draw < 0.05 else FORWARD if draw < 0.55 else BACKWARD)
        self.draw_softmax() if self.algorithm in SOFTMAX else self.draw_attention()
        if self.chance(0.4):
            self.flags += ["--br", str(self.pick([1, 3, 8, 16, 32])), "--bc", str(self.pick([1, 5, 8, 16, 64]))]

    def pick(self, of):
        return list(of)[self.rng.integers(len(list(of)))]

    def chance(self, share):
        return self.rng.random() < share

    def length(self, most):
        return 1 if self.chance(0.08) else int(self.rng.integers(1, most + 1))

    def array(self, *shape, of=1.0):
        """Normal numbers that the type holds exactly; or, with `loose`, numbers that the program has to round."""
        x = of * self.rng.standard_normal(shape)
        return x if self.loose else stored(x, self.dtype)

    def draw_files(self, rank):
        self.loose = self.chance(0.3)
        self.rank = 4 if rank == 4 or self.chance(0.3) else self.rng.integers(rank, 5)
        self.turned = self.rank > 2 and self.chance(0.15)
        if self.turned:
            self.flags += ["--layout", "bshd"]
        if self.loose or self.dtype == "bf16" or self.chance(0.3):
            self.flags += ["--dtype", self.dtype]

    def draw_softmax(self):
        batch, heads = int(self.rng.integers(1, 3)), int(self.rng.integers(1, 5))
        self.draw_files(4 if batch > 1 else 3 if heads > 1 else 2)
        self.arrays["x"] = self.array(batch, heads, self.length(70), self.length(70), of=self.pick([0.1, 1, 5]))

    def draw_attention(self):
        takes = {**FORWARD, **BACKWARD}[self.algorithm]
        kv, sharing = int(self.rng.integers(1, 4)), self.pick([1, 1, 2, 3, 4])
        p = self.p = {"batch": int(self.rng.integers(1, 5)) if self.chance(0.6) else 1, "heads": kv * sharing,
                      "seq_q": self.length(70), "seq_k": self.length(70)}
        if self.chance(0.3):
            p["seq_k"] = p["seq_q"]
        self.draw_files(4 if p["batch"] > 1 else 3 if p["heads"] > 1 else 2)
        dim, dim_v = self.length(40), self.length(40)
        large = self.pick([1, 1, 1, 4, 30]) if self.dtype == "f32" else self.pick([1, 1, 1, 3])
        self.arrays["q"] = self.array(p["batch"], p["heads"], p["seq_q"], dim, of=large)
        self.arrays["k"] = self.array(p["batch"], kv, p["seq_k"], dim)
        self.arrays["v"] = self.array(p["batch"], kv, p["seq_k"], dim_v)
        if self.algorithm in BACKWARD:
            self.arrays["do"] = self.array(p["batch"], p["heads"], p["seq_q"], dim_v)
        if self.chance(0.2):
            self.set("scale", float(self.pick([0.05, 0.3, 1.0, -0.2])))
        self.draw_mask()
        asked = {f for f in SCORES | {"dropout"} if self.chance(0.3 if f in takes else 0.01)}
        self.refused = not asked <= takes
        if "bias" in asked:
            self.draw_bias()
        if "alibi" in asked:
            self.set("alibi", True)
        if "soft_cap" in asked:
            self.set("soft_cap", float(self.pick([0.5, 5, 50])))
        if "dropout" in asked:
            self.set("dropout", float(self.pick([0.1, 0.5, 0.9])))
            self.set("dropout_seed", int(self.rng.integers(2**62)))
            if self.chance(0.3):
                self.flags += ["--dropout-mask", "stored"]
        if "naive" in takes and large == 1 and self.chance(0.2):
            self.flags += ["--softmax", "naive"]
        self.draw_what_changes_nothing(takes)

    def set(self, key, value):
        self.p[key] = value
        flag = "--" + key.replace("_", "-")
        self.flags += [flag] if value is True else [f"{flag}={value}"]

    def draw_mask(self):
        nk, nq = self.p["seq_k"], self.p["seq_q"]
        if self.chance(0.35):
            self.set("causal", True)
        if self.chance(0.2):
            self.set("window_left", int(self.rng.integers(0, nk + 1)))
        if not self.p.get("causal") and self.chance(0.2):
            self.set("window_right", int(self.rng.integers(0, nk + 1)))
        if self.chance(0.15):
            cuts = np.unique(np.concatenate([[0, nk], self.rng.integers(0, nk + 1, 3)]))
            self.p["documents"] = np.diff(cuts)
            self.flags += ["--documents", "+".join(map(str, self.p["documents"]))]
        if self.chance(0.15):
            rows, cols = (int(self.rng.integers(1, 2 * n + 1)) if self.chance(0.2) else self.pick([1, 7, 16]) for n in (nq, nk))
            blocks = self.rng.random((-(-nq // rows), -(-nk // cols))) < 0.6
            self.p.update(blocks=blocks, block=(rows, cols))
            self.texts["blocks.txt"] = "".join("".join("01"[x] for x in row) + "\n" for row in blocks.astype(int))
            self.flags += ["--block-mask", "blocks.txt", "--mask-block", f"{rows}x{cols}"]

    def draw_bias(self):
        p = self.p
        terms = p["biases"] = [self.pick(AXES) for _ in range(self.pick([1, 1, 2]))]
        self.flags += ["--bias", "+".join(terms)]
        if any(t.startswith("g") for t in terms):
            self.set("bias_group", self.pick([n for n in range(1, p["batch"] + 1) if p["batch"] % n == 0]))
        for n, axes in enumerate(terms):
            entries = {"b": p["batch"], "g": p["batch"] // p.get("bias_group", 1)}.get(axes[0], 1)
            bias = self.array(entries, p["heads"] if "h" in axes else 1, p["seq_q"] if "q" in axes else 1, p["seq_k"])
            if self.chance(0.3):  # -inf, as in masks that are added
                bias[self.rng.random(bias.shape) < 0.2] = -np.inf
            self.arrays["bias" + "2" * n] = bias

    def draw_what_changes_nothing(self, takes):
        p, kv = self.p, self.arrays["k"].shape[1]
        if "splits" in takes and self.chance(0.5):
            self.flags += ["--splits", str(self.pick([1, 2, 5, 100]))]
        for role, values in ROLES.items() if "roles" in takes else []:
            if self.chance(0.3):
                self.flags += ["--" + role, str(self.pick(values))]
        by_row = any("h" in t or "q" in t for t in p.get("biases", []))
        if "pack" in takes and self.chance(0.5):
            self.flags += ["--pack", "on" if p["heads"] > kv and not by_row else "off"]
        if "pages" not in takes or not self.chance(0.3):
            return
        size = self.pick([1, 4, 16, 100])
        self.flags += ["--page-size", str(size), "--page-order", self.pick(["identity", "permuted"])]
        if p["batch"] > 1 and p["seq_k"] >= size and self.chance(0.5):
            shared = int(self.rng.integers(size, p["seq_k"] + 1))
            self.flags += ["--shared-prefix", str(shared)]
            for name in "kv":
                self.arrays[name][:, :, :shared] = self.arrays[name][:1, :, :shared]

    def file_shape(self, name, x):
        """[batch, heads, rows, columns] as the files have it. A bias always has its heads before its rows."""
        if self.turned and not name.strip("d").startswith("bias"):
            x = x.swapaxes(1, 2)
        return x.reshape(x.shape[4 - self.rank:])

    def write(self, folder):
        """Writes the files; returns the words that follow `tilescope`."""
        words = ["run", self.algorithm, *self.flags, "--threads", "1", "--json", "--out", "out.npy"]
        wide = "f8" if self.chance(0.5) else "f4"
        for name, x in self.arrays.items():
            np.save(f"{folder}/{name}.npy", self.file_shape(name, x).astype(wide if self.loose or self.dtype != "f16" else "f2"))
            words += [f"--{name}-file" if name.startswith("bias") else f"--{name}", f"{name}.npy"]
        for name, text in self.texts.items():
            open(f"{folder}/{name}", "w").write(text)
        if self.loose:  # the program sees the numbers of the file, and rounds these
            self.arrays = {n: x.astype(wide).astype("f4") for n, x in self.arrays.items()}
        self.arrays = {n: stored(x, self.dtype) for n, x in self.arrays.items()}
        return words

    def expected(self):
        """Each output, what its rounding is relative to, and how large the logits are."""
        if self.algorithm in SOFTMAX:
            x = self.arrays["x"]
            e = np.exp(x - x.max(axis=-1, keepdims=True))
            y = e / e.sum(axis=-1, keepdims=True)
            return {"Y": y}, {"Y": y.max()}, (np.abs(x).max(), 0)
        a = Attention(self.p, self.arrays)
        return a.out, a.size, (a.largest_logit, a.largest_sum)

    def tolerance(self, size, logits, terms):
        """The allowed error. A logit is off by some roundings of f32: of itself, and of its partial sums. A weight is
        off by the same, relatively, and by its rounding to the type for the product. Outputs are sums of weights times
        numbers of the type, rounded to the type. `size` is the largest sum of their absolute values."""
        largest, summed = logits
        in_f32 = STEP["f32"] * (8 + 2 * largest + summed)
        own = 2 * STEP[self.dtype]
        if self.algorithm == "flash_v1":  # O is stored after every block of keys
            own *= 1 + 0.25 * terms
        if self.algorithm in ("standard", "standard_backward") and self.dtype != "f32":
            own += largest * STEP[self.dtype]  # S is stored
        return (in_f32 + own) * size + terms * TINY[self.dtype]


def check(problem, folder, result, words):
    """What is wrong with a run; None if nothing is."""
    if problem.refused:
        ok = result.returncode == 2 and f"{problem.algorithm} does not do" in result.stderr
        return None if ok else f"has to be refused: exit {result.returncode}, {result.stderr.strip()}"
    if result.returncode:
        return f"exit {result.returncode}: {result.stderr.strip()}"
    want, size, logits = problem.expected()
    told = json.loads(result.stdout)["max_abs_error"]
    terms = max(n for x in problem.arrays.values() for n in x.shape[2:])
    for name, x in want.items():
        path = f"{folder}/out.npy" if problem.algorithm not in BACKWARD else f"{folder}/out-{name}.npy"
        if not os.path.exists(path):
            return f"wrote no {os.path.basename(path)}"
        got, x = np.load(path), problem.file_shape(name, x)
        if got.shape != x.shape:
            return f"{name} has shape {got.shape}, must have {x.shape}"
        error = np.abs(got.astype("f8") - x).max()
        most = problem.tolerance(size[name], logits, terms)
        if not error <= most:
            return f"{name} is off by {error:.3g}, more than {most:.3g}; the largest is {np.abs(x).max():.3g}"
        if name in ("O", "Y") and abs(told - error) > 1e-9 * (1 + logits[0]) * (1 + size[name]):
            return f"says that {name} is off by {told}, which is {error}"
    return None


def carry_out(task):
    """None, or what is wrong, with the commands to reproduce it."""
    binary, seed, number, keep = task
    problem = Problem(seed, number)
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or temporary
        words = problem.write(folder)
        result = subprocess.run([binary, *words], cwd=folder, capture_output=True, text=True, timeout=120)
        with np.errstate(invalid="ignore", over="ignore"):
            wrong = check(problem, folder, result, words)
    if not wrong:
        return None
    again = f"{sys.argv[0]} {binary} --seed {seed} --only {number} --keep FOLDER"
    return f"{wrong}\n  its files: {again}\n  there: {binary} {' '.join(words)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", help="folder for the files of --only")
    asked = parser.parse_args()
    if asked.keep:
        os.makedirs(asked.keep, exist_ok=True)
    numbers = range(asked.count) if asked.only is None else [asked.only]
    tasks = [(os.path.abspath(asked.binary), asked.seed, n, asked.keep) for n in numbers]
    failed = 0
    with multiprocessing.Pool(2) as pool:
        for n, wrong in zip(numbers, pool.imap(carry_out, tasks, chunksize=4)):
            if wrong:
                failed += 1
                print(f"FAILED: problem {n} of seed {asked.seed}: {wrong}", flush=True)
        pool.close()
        pool.join()
    print(f"{len(tasks) - failed} passed, {failed} failed")
    sys.exit(failed > 0 or not tasks)


if __name__ == "__main__":
    main()
