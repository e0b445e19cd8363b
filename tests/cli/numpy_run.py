#!/usr/bin/env python3
"""The user's own matrices: `run --q --k --v --out` compared with attention in NumPy, an outside reference."""

import json
import os
import sys
import tempfile

import numpy as np

from cases import Tally, run

ALGORITHMS = ["standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "memory_efficient", "chunked"]
TOLERANCE = {"f2": 2e-3, "f4": 1e-5, "f8": 1e-5}


def softmax(s):
    with np.errstate(invalid="ignore"):
        e = np.exp(s - np.maximum(s.max(axis=-1, keepdims=True), -1e300))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def attention(q, k, v, causal):
    """O of inputs [batch, heads, n, d], in double precision; groups of query heads share heads of K and V."""
    q, k, v = (x.astype("f8").reshape((1,) * (4 - x.ndim) + x.shape) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        nq, nk = s.shape[-2:]
        s = np.where(np.arange(nk) <= np.arange(nq)[:, None] + nk - nq, s, -np.inf)
    return softmax(s) @ v


def gradients(q, k, v, g):
    """dQ, dK, dV of one head without a mask, in double precision."""
    q, k, v, g = (x.astype("f8") for x in (q, k, v, g))
    scale = 1 / np.sqrt(q.shape[-1])
    p = softmax(scale * q @ k.swapaxes(-1, -2))
    dp = g @ v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True))
    return {"dQ": scale * ds @ k, "dK": scale * ds.swapaxes(-1, -2) @ q, "dV": p.swapaxes(-1, -2) @ g}


def check_gradients(binary, tally, folder, rng):
    q, k, v = arrays(rng, (3,), (3,), "f4", "C")
    g = rng.standard_normal((3, 37, 24)).astype("f4")
    for name, a in (("q", q), ("k", k), ("v", v), ("do", g)):
        np.save(f"{folder}/{name}.npy", a)
    files = [word for name in ("q", "k", "v", "do") for word in (f"--{name}", f"{folder}/{name}.npy")]
    for algorithm in ("standard_backward", "flash_v2_backward"):
        r = run(binary, ["run", algorithm, *files, "--out", f"{folder}/g.npy"])
        tally.check(r.returncode == 0, f"{algorithm}: {r.stderr}")
        for name, expected in gradients(q, k, v, g).items():
            own = np.load(f"{folder}/g-{name}.npy")
            tally.check(own.shape == expected.shape and np.abs(own - expected).max() < 1e-5, f"{algorithm}: {name}")
            os.remove(f"{folder}/g-{name}.npy")


def arrays(rng, lead_q, lead_k, dtype, order):
    shapes = [(*lead_q, 37, 16), (*lead_k, 53, 16), (*lead_k, 53, 24)]
    return [np.asarray(rng.standard_normal(s).astype(dtype), order=order) for s in shapes]


def check_lse(binary, tally, folder, rng):
    """--out-lse: log(sum(exp(logits))) of each row; -inf where a row sees no key."""
    q, k, v = arrays(rng, (2, 4), (2, 2), "f4", "C")
    for name, a in (("q", q), ("k", k), ("v", v)):
        np.save(f"{folder}/{name}.npy", a)
    keys = np.repeat(k.astype("f8"), 2, axis=1)
    s = q.astype("f8") @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.arange(53) <= np.arange(37)[:, None] - 5  # a window that hides all keys from the first queries
    with np.errstate(divide="ignore"):
        expected = np.log(np.where(seen, np.exp(s), 0).sum(axis=-1))
    files = [word for name in "qkv" for word in (f"--{name}", f"{folder}/{name}.npy")]
    mask = ["--block-mask", f"{folder}/seen.npy", "--mask-block", "1"]
    np.save(f"{folder}/seen.npy", seen)
    for algorithm in ("flash_v2", "split_kv", "flash_v3"):
        r = run(binary, ["run", algorithm, *files, *mask, "--out-lse", f"{folder}/lse.npy"])
        tally.check(r.returncode == 0, f"{algorithm} --out-lse: {r.stderr}")
        lse = np.load(f"{folder}/lse.npy")
        tally.check(lse.shape == (2, 4, 37) and lse.dtype == np.float32, f"{algorithm}: {lse.shape} {lse.dtype}")
        tally.check(np.array_equal(np.isinf(lse), np.isinf(expected)), f"{algorithm}: rows without a key")
        there = np.isfinite(expected)
        tally.check(np.abs(lse[there] - expected[there]).max() < 1e-5, f"{algorithm}: LSE")
    turned = [word for name, a in (("q", q), ("k", k), ("v", v))
              for word in (f"--{name}", save(f"{folder}/{name}t.npy", a.swapaxes(1, 2)))]
    r = run(binary, ["run", "flash_v2", *turned, *mask, "--layout", "bshd", "--out-lse", f"{folder}/lset.npy"])
    tally.check(r.returncode == 0, f"--layout bshd --out-lse: {r.stderr}")
    lse = np.load(f"{folder}/lset.npy")
    tally.check(lse.shape == (2, 37, 4) and np.allclose(lse.swapaxes(1, 2)[there], expected[there], atol=1e-5),
                f"bshd: {lse.shape}")
    r = run(binary, ["run", "standard", *files, "--out-lse", f"{folder}/none.npy"])
    tally.check(r.returncode == 2 and "standard writes no log-sum-exps" in r.stderr, f"no LSE: {r.stderr}")
    tally.check(not os.path.exists(f"{folder}/none.npy"), "no LSE: a file is there")


def save(path, array):
    np.save(path, array)
    return path


def check_attention(binary, tally, folder, rng):
    layouts = [((), ()), ((4,), (4,)), ((4,), (2,)), ((2, 4), (2, 1))]
    for n, (lead_q, lead_k) in enumerate(layouts):
        for dtype in ("f2", "f4", "f8", ">f4"):
            algorithm = ALGORITHMS[(n * 3 + ord(dtype[-1])) % len(ALGORITHMS)]
            causal = n % 2 == 1
            q, k, v = arrays(rng, lead_q, lead_k, dtype, "F" if dtype == "f8" else "C")
            for name, a in zip("qkv", (q, k, v)):
                np.save(f"{folder}/{name}.npy", a)
            args = ["run", algorithm, "--q", f"{folder}/q.npy", "--k", f"{folder}/k.npy", "--v", f"{folder}/v.npy"]
            args += ["--out", f"{folder}/o.npy", "--json"] + ["--causal"] * causal
            label = f"{algorithm} {dtype} {lead_q} {lead_k} causal={causal}"
            r = run(binary, args)
            tally.check(r.returncode == 0, f"{label}: {r.stderr}")
            if r.returncode:
                continue
            o = np.load(f"{folder}/o.npy")
            tally.check(o.dtype == np.dtype("f2" if dtype == "f2" else "f4"), f"{label}: dtype {o.dtype}")
            tally.check(o.shape == (*lead_q, 37, 24), f"{label}: shape {o.shape}")
            error = np.abs(o - attention(q, k, v, causal).reshape(o.shape)).max()
            tally.check(error < TOLERANCE[dtype[-2:]], f"{label}: error {error}")
            told = json.loads(r.stdout)["max_abs_error"]
            tally.check(abs(told - error) < 1e-6, f"{label}: says error {told}, NumPy says {error}")


def check_softmax(binary, tally, folder, rng):
    x = rng.standard_normal((30, 1000)).astype("f4")
    np.save(f"{folder}/x.npy", x)
    for name in ("softmax_naive", "softmax_safe", "softmax_online"):
        r = run(binary, ["run", name, "--x", f"{folder}/x.npy", "--out", f"{folder}/y.npy"])
        tally.check(r.returncode == 0, f"{name}: {r.stderr}")
        error = np.abs(np.load(f"{folder}/y.npy") - softmax(x.astype("f8"))).max()
        tally.check(error < 1e-6, f"{name}: error {error}")


def check_layout(binary, tally, folder, rng):
    """flash-attn's order, [batch, seq, heads, dim], gives the same as [batch, heads, seq, dim]."""
    for lead_q, lead_k in [((4,), (2,)), ((2, 4), (2, 1))]:
        q, k, v = arrays(rng, lead_q, lead_k, "f4", "C")
        for name, a in zip("qkv", (q, k, v)):
            np.save(f"{folder}/{name}.npy", a.swapaxes(-2, -3))
        files = [f"--{n}={folder}/{n}.npy" for n in "qkv"]
        r = run(binary, ["run", "flash_v2", *files, f"--out={folder}/o.npy", "--layout", "bshd", "--causal"])
        tally.check(r.returncode == 0 and r.stderr == "", f"--layout bshd: {r.stderr!r}")
        o = np.load(f"{folder}/o.npy").swapaxes(-2, -3)
        error = np.abs(o - attention(q, k, v, True).reshape(o.shape)).max()
        tally.check(error < TOLERANCE["f4"], f"--layout bshd: error {error}")
    # Without the flag, more heads than rows cause a remark. With the flag, or with more rows, there is none.
    for shape, layout, remarked in [((8, 512, 4), [], False), ((512, 8, 4), [], True),
                                    ((512, 8, 4), ["--layout", "bshd"], False), ((512, 8, 4), ["--layout", "bhsd"], False)]:
        for name in "qkv":
            np.save(f"{folder}/{name}.npy", rng.standard_normal(shape).astype("f4"))
        r = run(binary, ["run", "flash_v2", *(f"--{n}={folder}/{n}.npy" for n in "qkv"), *layout])
        tally.check(r.returncode == 0, f"{shape} {layout}: {r.stderr!r}")
        tally.check(("--layout bshd" in r.stderr) == remarked and r.stderr.count("\n") == remarked,
                    f"{shape} {layout}: says {r.stderr!r}")


def check_refusals(binary, tally, folder, rng):
    q, k, v = arrays(rng, (4,), (2,), "f4", "C")
    np.save(f"{folder}/q.npy", q)
    good = {"k": k, "v": v}
    bad = {
        "dim": {"k": k[:, :, :8]},
        "rows": {"v": v[:, :50]},
        "heads": {"v": v[:1]},
        "must divide": {"k": k[[0, 1, 1]], "v": v[[0, 1, 1]]},
        "reads f2, f4, f8": {"k": k.astype("i4")},
        "has 1 dimension;": {"k": k[0, 0]},
        "empty": {"k": k[:, :0]},
    }
    for part, change in bad.items():
        for name, a in {**good, **change}.items():
            np.save(f"{folder}/{name}.npy", a)
        args = ["run", "flash_v2", *(f"--{n}={folder}/{n}.npy" for n in "qkv"), f"--out={folder}/none.npy"]
        r = run(binary, args)
        tally.check(r.returncode == 2 and part in r.stderr and r.stderr.count("\n") == 1,
                    f"{part}: exit {r.returncode}, {r.stderr!r}")
        tally.check(not os.path.exists(f"{folder}/none.npy"), f"{part}: wrote an output")
    for name, a in good.items():
        np.save(f"{folder}/{name}.npy", a)
    data = open(f"{folder}/q.npy", "rb").read()
    for size in (0, 5, 60, len(data) - 1):
        open(f"{folder}/q.npy", "wb").write(data[:size])
        r = run(binary, ["run", "flash_v2", *(f"--{n}={folder}/{n}.npy" for n in "qkv")])
        tally.check(r.returncode == 2 and r.stderr.count("\n") == 1, f"cut to {size}: {r.returncode}, {r.stderr!r}")
    open(f"{folder}/q.npy", "wb").write(data)
    r = run(binary, ["run", "flash_v2", *(f"--{n}={folder}/{n}.npy" for n in "qkv"), "--seq-q", "99"])
    tally.check(r.returncode == 2 and "leave --seq-q out" in r.stderr, f"--seq-q beside files: {r.stderr!r}")


def main():
    binary, tally, rng = sys.argv[1], Tally(), np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        check_attention(binary, tally, folder, rng)
        check_lse(binary, tally, folder, rng)
        check_gradients(binary, tally, folder, rng)
        check_softmax(binary, tally, folder, rng)
        check_layout(binary, tally, folder, rng)
        check_refusals(binary, tally, folder, rng)
    tally.close()


if __name__ == "__main__":
    main()
