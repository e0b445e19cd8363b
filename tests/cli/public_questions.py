#!/usr/bin/env python3
"""Questions that practitioners asked in public, as commands on our own inputs of the same form. The answers come from
NumPy or from arithmetic. CASES lists the functions; each docstring says who asked what."""

import json
import os
import re
import sys
import tempfile

import numpy as np

from cases import Tally, run
from numpy_run import gradients, softmax

FORWARD = ["standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "memory_efficient", "chunked", "split_kv",
           "flash_v3"]


class Asked:
    """A folder of arrays, commands that use them, and checks of their results."""

    def __init__(self, binary, tally, folder):
        self.binary, self.tally, self.folder, self.name = binary, tally, folder, ""
        self.rng = np.random.default_rng(11)

    def path(self, name):
        return f"{self.folder}/{name}.npy"

    def save(self, **arrays):
        for name, array in arrays.items():
            np.save(self.path(name), array)

    def qkv(self, q, k=None, dv=None, dtype="f4"):
        """Saves normal numbers of these shapes, and returns them in double precision."""
        k = k or q
        made = {"q": q, "k": k, "v": (*k[:-1], dv or k[-1])}
        made = {name: self.rng.standard_normal(shape).astype(dtype) for name, shape in made.items()}
        self.save(**made)
        return [a.astype("f8") for a in made.values()]

    def say(self, ok, what):
        self.tally.check(ok, f"{self.name}: {what}")

    def run(self, *words, code=0):
        words = [w for part in words for w in part.split()]
        r = run(self.binary, words, cwd=self.folder)
        self.say(r.returncode == code, f"{' '.join(words)}: exit {r.returncode}: {r.stderr}")
        return r

    def report(self, *words):
        out = self.run(*words, "--json").stdout
        return json.loads(out) if out else {}

    def output(self, *words, files="--q=q.npy --k=k.npy --v=v.npy"):
        if os.path.exists(self.path("o")):
            os.remove(self.path("o"))
        said = self.run(*words, files, "--out=o.npy").stdout
        self.said = re.sub(r"\s+", " ", said)
        return np.load(self.path("o")).astype("f8") if os.path.exists(self.path("o")) else np.array(np.nan)

    def near(self, got, want, most, what=""):
        error = np.abs(got - want).max(initial=0) if np.shape(got) == np.shape(want) else np.inf
        self.say(error <= most, f"{what}: off by {error}")


def attention(q, k, v, seen=None, bias=0, scale=None):
    group = q.shape[-3] // k.shape[-3] if q.ndim > 2 else 1
    k, v = (np.repeat(x, group, axis=-3) if q.ndim > 2 else x for x in (k, v))
    s = q @ k.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5) + bias
    return softmax(s if seen is None else np.where(seen, s, -np.inf)) @ v


def lined_up(nq, nk, left=None, right=0):
    """Who sees whom, with the last query at the last key."""
    away = np.arange(nk) - (np.arange(nq)[:, None] + nk - nq)
    return (away <= (nk if right is None else right)) & (away >= (-nk - nq if left is None else -left))


def slopes(heads):
    """The paper's slopes: powers of 2 for a power of 2 of heads; the rest are every second slope of twice as many
    heads."""
    whole = 2 ** int(np.log2(heads))
    first = [2 ** (-8 * (h + 1) / whole) for h in range(whole)]
    return np.array(first + [2 ** (-4 * (2 * h + 1) / whole) for h in range(heads - whole)])


def heads_no_power_of_two(a):
    """FlashInfer, TensorRT-LLM: ALiBi of 12, 71 and 112 heads, packed or not, with fewer queries than keys."""
    for heads, kv, pack in ((12, 3, "on"), (12, 12, "off"), (71, 71, "off"), (112, 16, "on")):
        q, k, v = a.qkv((heads, 5, 8), (kv, 19, 8))
        away = np.abs(np.arange(5)[:, None] + 14 - np.arange(19))
        want = attention(q, k, v, lined_up(5, 19), -slopes(heads)[:, None, None] * away)
        got = a.output(f"run flash_v2 --alibi --causal --heads {heads} --pack {pack} --dtype f32")
        a.near(got, want, 3e-6, f"{heads} heads")


def overflows_shared_memory(a):
    """A tile of 128 x 64 at d = 256 on a 4090 needs 2 B x 256 x (128 + 64 + 64); a thread block may have 99 KiB."""
    need, have = 2 * 256 * (128 + 64 + 64), 99 * 1024
    r = a.run("run flash_v2 --gpu RTX-4090 --dim 256 --dtype bf16 --causal --br 128 --bc 64", code=1)
    said = r.stderr.replace(",", "")
    a.say(str(need) in said and str(have) in said and "this fits: --br" in said, said)
    fits = re.search(r"this fits: (--br \d+ --bc \d+)", said)[1]
    report = a.report(f"run flash_v2 --gpu RTX-4090 --dim 256 --dtype bf16 --causal --mode count {fits}")
    a.say(report["sram_peak_bytes"] <= have, report["sram_peak_bytes"])
    a.run("run flash_v2 --gpu RTX-4090 --dim 128 --br 128 --bc 64 --mode count")  # 64 KiB


def boolean_mask(a):
    """PyTorch's users: a mask of booleans with rows that are all False, as a bias and as a block mask with blocks of
    one."""
    q, k, v = a.qkv((2, 45, 16), (2, 45, 16))
    seen = a.rng.random((45, 45)) < 0.5
    seen[7] = seen[44] = False
    a.save(mask=seen)
    for words in ("--bias qk --bias-file mask.npy", "--block-mask mask.npy --mask-block 1"):
        for algorithm in ("standard", "flash_v2"):
            a.near(a.output(f"run {algorithm} --dtype f32 {words}"), attention(q, k, v, seen), 1e-5, words)


def whose_output_is_right(a):
    """A compiler's own files: f16, an additive mask, and many more rows of Q than keys."""
    q, k, v = a.qkv((512, 64), (64, 64), dtype="f2")
    bias = np.where(a.rng.random((512, 64)) < 0.3, -np.inf, a.rng.standard_normal((512, 64))).astype("f2")
    bias[:, 0] = 0
    a.save(bias=bias)
    for algorithm in ("standard", "flash_v1", "flash_v2", "memory_efficient"):
        got = a.output(f"run {algorithm} --bias qk --bias-file bias.npy --dtype f32")
        a.near(got, attention(q, k, v, bias=bias.astype("f8")), 3e-6, algorithm)


def saved_bf16(a):
    """JAX: numpy.save() writes bf16 as V2. PyTorch: bf16 saved as its bits, i2 or u2."""
    q, k, v = a.qkv((9, 16))
    bits = {n: (np.float32(x).view("u4") >> 16).astype("u2") for n, x in zip("qkv", (q, k, v))}
    exact = [(b.astype("u4") << 16).view("f4").astype("f8") for b in bits.values()]
    for descr, flag in (("V2", ""), ("u2", "--bits16 bf16"), ("i2", "--bits16 bf16")):
        a.save(**{n: b.view(descr) for n, b in bits.items()})
        got = a.output(f"run flash_v2 {flag}")
        a.near(got, attention(*exact), 0.02, descr)
        a.say("bf16" in a.said, f"{descr} runs in another type")


def lowest_number_as_mask(a):
    """PyTorch: keys masked with the lowest f32, and a row masked in full. In f32 the row gives the mean of V. Types
    where that number is -inf give 0, and a message says so."""
    v = np.array([[1.0], [3.0]], "f4").repeat(16, 1)
    low = np.finfo("f4").min
    a.save(q=np.zeros((2, 16), "f4"), k=np.zeros((2, 16), "f4"), v=v, m=np.array([[0, 0], [low, low]], "f4"))
    for dtype, last in (("f32", 2), ("f16", 0), ("bf16", 0)):
        got = a.output(f"run flash_v2 --bias qk --bias-file m.npy --dtype {dtype}")
        a.near(got, np.array([[2.0], [last]]).repeat(16, 1), 0, dtype)
        told = f"2 of 4 elements became infinite in {dtype}" in a.said
        a.say(told == (dtype != "f32"), f"{dtype}: {a.said}")


def hidden_nan(a):
    """A NaN in a key that the causal mask hides. In V it leaks where a tile holds the key, as in kernels; in K it does
    not. The message does not blame the program."""
    q, k, v = a.qkv((8, 16))
    for name, array in (("k", k), ("v", v)):
        bad = array.copy()
        bad[7, 0] = np.nan
        a.save(**{"k": k.astype("f4"), "v": v.astype("f4"), name: bad.astype("f4")})
        for tile in (8, 4):
            got = a.output(f"run flash_v2 --dtype f32 --causal --br {tile} --bc {tile}")
            right = 7 if name == "k" else 4 if tile == 4 else 0
            a.near(got[:right], attention(q, k, v, lined_up(8, 8))[:right], 3e-6, f"{name}, tiles of {tile}")
            a.say(name == "k" or not np.isfinite(got[right:, 0]).any(), f"{name}, tiles of {tile}: no NaN where the tile is")
            a.say("are finite where the reference is" not in a.said, a.said)
            leaks = "multiplies it by the weight 0 of rows that do not see it" in a.said
            a.say(leaks == (name == "v"), f"{name}, tiles of {tile}: {a.said[-600:]}")


def empty_rows(a):
    """More queries than keys under a causal mask, and windows: empty rows are zeros and are counted; their LSE is
    -inf."""
    for words, left, right, empty in (("--causal", None, 0, 65), ("--window-left 32 --window-right 64", 32, 64, 1)):
        q, k, v = a.qkv((129, 64), (64, 64), dtype="f2")
        seen = lined_up(129, 64, left, right)
        a.say((~seen.any(axis=1)).sum() == empty, "NumPy has other rows")
        for algorithm in FORWARD:
            got = a.output(f"run {algorithm} --dtype f16 {words}")
            a.near(got, attention(q, k, v, seen), 2e-3, f"{algorithm} {words}")
            a.say((got == 0).all(axis=1).sum() == empty, f"{algorithm} {words}: other rows of zeros")
            if "LSE" in a.said:
                are = "is" if empty == 1 else "are"
                a.say(f"{empty} of 129 outputs {are} -inf in both, as of every row that sees no key" in a.said, a.said[-800:])


def whose_error(a):
    """Q, K, V in [0, 1): the naive backward pass in f16 has a larger error than the fused one."""
    arrays = {n: a.rng.random((2, 128, 32)).astype("f2") for n in ("q", "k", "v", "do")}
    a.save(**arrays)
    of = {}
    for algorithm in ("standard_backward", "flash_v2_backward"):
        of[algorithm] = a.report(f"run {algorithm} --q=q.npy --k=k.npy --v=v.npy --do=do.npy")["errors"]["dQ"]["max_abs"]
    a.say(4 * of["flash_v2_backward"] < of["standard_backward"], of)


def backward_of_more_keys(a):
    """Causal with fewer queries than keys: O and the gradients of all backward passes."""
    q, k, v = a.qkv((1, 12, 16), (1, 20, 16))
    g = a.rng.standard_normal((1, 12, 16)).astype("f4")
    a.save(do=g)
    seen = lined_up(12, 20)
    s = np.where(seen, q[0] @ k[0].T / 4, -np.inf)
    p = softmax(s)
    dp = g[0].astype("f8") @ v[0].T
    ds = p * (dp - (p * dp).sum(axis=1, keepdims=True)) / 4
    wanted = {"dQ": ds @ k[0], "dK": ds.T @ q[0], "dV": p.T @ g[0]}
    listed = json.loads(run(a.binary, "list --json").stdout)["algorithms"]
    names = [x["name"] for x in listed if x["name"].endswith("_backward")]
    a.say(len(names) >= 7, names)
    for algorithm in names:
        a.run(f"run {algorithm} --dtype f32 --causal --q=q.npy --k=k.npy --v=v.npy --do=do.npy --out=g.npy")
        for name, want in wanted.items():
            a.near(np.load(a.path(f"g-{name}"))[0], want, 1e-5, f"{algorithm}: {name}")
    plain = gradients(q[0], k[0], v[0], g[0])
    a.say(not np.allclose(plain["dQ"], wanted["dQ"]), "the mask changes nothing")


def any_mask(a):
    """A prefix that all see, and a tree of drafts: a matrix of 0 and 1 for each query and key."""
    n = 24
    prefix = np.tri(n, dtype=bool) | (np.arange(n) < 7)
    parent = [None, 0, 0, 1, 1, 2, 2, 3]
    tree = np.zeros((8, 8), bool)
    for node in range(8):
        at = node
        while at is not None:
            tree[node, at], at = True, parent[at]
    for seen in (prefix, tree):
        q, k, v = a.qkv((len(seen), 16))
        with open(f"{a.folder}/m.txt", "w") as file:
            file.writelines("".join(map(str, row.astype(int))) + "\n" for row in seen)
        a.save(m=seen)
        for mask in ("m.txt", "m.npy"):
            for algorithm in ("flash_v2", "standard"):
                got = a.output(f"run {algorithm} --dtype f32 --block-mask {mask} --mask-block 1 --br 16 --bc 16")
                a.near(got, attention(q, k, v, seen), 3e-6, f"{mask} {algorithm}")


def dropout(a):
    """The share that dropout keeps, and that all tiles and programs drop the same. V is an identity and shows the
    weights."""
    n = 256
    a.save(q=np.zeros((n, 16), "f4"), k=np.zeros((n, 16), "f4"), v=np.eye(n, dtype="f4"))
    for p in (0.1, 0.5, 0.9):
        words = f"--dtype f32 --dropout {p} --dropout-seed 5"
        first = a.output(f"run flash_v2 {words}")
        share = (np.floor(255 * (1 - p)) + 1) / 256  # dropout draws 8 bits per weight
        deviation = np.sqrt(share * (1 - share)) / n
        a.say(abs((first > 0).mean() - share) < 4 * deviation, f"p = {p}: keeps {(first > 0).mean()}, not {share}")
        a.near(first[first > 0], np.full((first > 0).sum(), 1 / (n * (1 - p))), 1e-7, f"p = {p}: the factor")
        for other in ("flash_v2 --br 32 --bc 48", "standard", "memory_efficient", "flash_v1"):
            a.say(np.array_equal(a.output(f"run {other} {words}") > 0, first > 0), f"p = {p}: {other} drops others")
        a.say(not np.array_equal(a.output(f"run flash_v2 --dtype f32 --dropout {p} --dropout-seed 6") > 0, first > 0),
              "another seed drops the same")


def packed_sequences(a):
    """Documents as in FlexAttention: tiles may cross sequences. With whole tiles a document moves what it would
    alone."""
    whole = a.report("run flash_v2 --heads 8 --dim 64 --documents 4x256 --seq 1024 --br 128 --bc 128 --mode count")["counters"]
    alone = a.report("run flash_v2 --heads 8 --dim 64 --batch 4 --seq 256 --br 128 --bc 128 --mode count")["counters"]
    for key in ("hbm_read_bytes", "hbm_write_bytes", "matmul_flops"):
        a.say(whole[key] == alone[key], f"{key}: {whole[key]}, {alone[key]}")
    across = a.report("run flash_v2 --heads 8 --dim 64 --documents 4x100 --seq 400 --br 128 --bc 128 --mode count")["counters"]
    # Row blocks of 128, 128, 128, 16 rows cross documents of 100; these are the key blocks of 128 that they see.
    first = [(0, 200), (100, 300), (200, 400), (300, 400)]  # keys that each row block sees
    keys = [sum(min(128, 400 - 128 * j) for j in range(4) if 128 * j < end and 128 * j + 128 > begin) for begin, end in first]
    rows = [128, 128, 128, 16]
    a.say(across["matmul_flops"] == 8 * 4 * 64 * sum(r * n for r, n in zip(rows, keys)), across["matmul_flops"])


def sink(a):
    """A sink for each head: in front, a key and a value of zeros, with the sink as its bias."""
    heads, n, d = 3, 17, 8
    q, k, v = a.qkv((heads, n, d))
    sinks = np.array([0.5, -1, 2])
    s = np.where(lined_up(n, n), q @ k.swapaxes(1, 2) / np.sqrt(d), -np.inf)
    e = np.exp(s)
    want = e / (e.sum(axis=-1, keepdims=True) + np.exp(sinks)[:, None, None]) @ v
    front = np.zeros((heads, 1, d))
    bias = np.zeros((1, heads, n, n + 1), "f4")
    bias[..., 1:] = np.where(lined_up(n, n), 0, -np.inf)
    bias[..., 0] = sinks[:, None]
    a.save(k=np.concatenate([front, k], 1).astype("f4"), v=np.concatenate([front, v], 1).astype("f4"), bias=bias)
    a.near(a.output("run flash_v2 --dtype f32 --bias hqk --bias-file bias.npy"), want, 3e-6)


def upper_left_corner(a):
    """PyTorch's and ONNX's corner: with more queries than keys, --window-right can give it."""
    q, k, v = a.qkv((5, 8), (2, 8))
    seen = np.arange(2) <= np.arange(5)[:, None]
    a.near(a.output("run flash_v2 --dtype f32 --window-right 3"), attention(q, k, v, seen), 3e-6)


def odd_files(a):
    """Fortran order, big-endian numbers, archives, two arrays in a file, none at all: each is read, or refused in a
    line."""
    q, k, v = a.qkv((6, 8))
    want = attention(q, k, v)
    for change in (lambda x: np.asfortranarray(x.astype("f4")), lambda x: x.astype(">f4"), lambda x: x.astype(">f8")):
        a.save(q=change(q), k=change(k), v=change(v))
        a.near(a.output("run flash_v2 --dtype f32"), want, 3e-6)
    a.save(q=q.astype("f4"))
    one = open(a.path("q"), "rb").read()
    for data, said in ((one + one, "left over"), (b"", "not an npy file"), (b"PK\3\4", ".npz")):
        open(a.path("q"), "wb").write(data)
        r = a.run("run flash_v2 --q=q.npy --k=k.npy --v=v.npy", code=2)
        a.say(said in r.stderr and r.stderr.count("\n") == 1, r.stderr)


def heads_that_do_not_divide(a):
    """8 query heads with 3 of K and V; K and V with different numbers of heads."""
    a.say("--kv-heads 3" in a.run("run flash_v2 --heads 8 --kv-heads 3", code=2).stderr, "the flag is not named")
    a.qkv((8, 5, 8), (2, 5, 8))
    a.save(v=np.ones((1, 5, 8), "f4"))
    said = a.run("run flash_v2 --q=q.npy --k=k.npy --v=v.npy", code=2).stderr
    a.say("has heads 1, must be 2 as in --k" in said, said)


def bytes_of_decoding(a):
    """80 heads, 8 of K and V, 10,240 keys, batch 16, f16: K and V are read once, besides Q."""
    report = a.report("run flash_v2 --batch 16 --heads 80 --kv-heads 8 --seq-q 1 --seq-k 10240 --dim 128 --mode count")
    keys = 2 * 16 * 8 * 10240 * 128 * 2
    a.say(report["counters"]["hbm_read_bytes"] == keys + 16 * 80 * 128 * 2, report["counters"]["hbm_read_bytes"])


def table_of_pages(a):
    """Pages of 16 keys: 4 B for each page that a tile touches, once for K and V."""
    words = "run flash_v2 --heads 2 --seq-q 128 --seq-k 2048 --dim 64 --br 64 --bc 128 --mode count"
    paged, plain = (a.report(f"{words}{more}")["counters"] for more in (" --page-size 16", ""))
    a.say(paged["hbm_read_bytes"] - plain["hbm_read_bytes"] == 2 * 2 * 4 * 2048 // 16, paged["hbm_read_bytes"])


def scores_beyond_f16(a):
    """Logits of 90,000 fit into the registers of fused programs, but not into an S of 16 bits."""
    a.save(q=np.full((1, 1), 300, "f4"), k=np.array([[300], [0], [0]], "f4"), v=np.eye(3, dtype="f4"))
    a.near(a.output("run flash_v2 --scale 1 --dtype f16"), np.array([[1.0, 0, 0]]), 0)
    a.say(np.isnan(a.output("run standard --scale 1 --dtype f16")).all(), "standard keeps what f16 does not hold")


CASES = [heads_no_power_of_two, overflows_shared_memory, boolean_mask, whose_output_is_right, saved_bf16, lowest_number_as_mask,
         hidden_nan, empty_rows, whose_error, backward_of_more_keys, any_mask, dropout, packed_sequences, sink,
         upper_left_corner, odd_files, heads_that_do_not_divide, bytes_of_decoding, table_of_pages, scores_beyond_f16]


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    for case in CASES:
        if sys.argv[2:] and case.__name__ not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            asked = Asked(binary, tally, folder)
            asked.name = case.__name__
            case(asked)
    tally.close()


main()
