"""Attention in double precision, in NumPy alone, on whole matrices: an outside reference that shares nothing with the
programs. Tensors are [batch, heads, rows, columns]."""

import numpy as np

STEP = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}  # half the relative distance between neighbours
TINY = {"f32": 2.0**-150, "f16": 2.0**-25, "bf16": 2.0**-134}  # half the distance between neighbours near 0


def stored(x, dtype):
    """The nearest numbers of a type, ties to even, in double precision."""
    with np.errstate(over="ignore"):
        if dtype != "bf16":
            return x.astype("f2" if dtype == "f16" else "f4").astype("f8")
        bits = x.astype("f4").view("u4")
        rounded = ((bits.astype("u8") + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4")
        return np.where(np.isfinite(x), rounded.view("f4"), x.astype("f4")).astype("f8")


def slopes(heads):
    """ALiBi's slopes, arXiv 2108.12409: for n heads, a power of two, 2^(-8/n), 2^(-16/n), ...; for other numbers those
    of the power of two below, then every second slope of the power above."""
    power = 1 << (heads.bit_length() - 1)
    own = [2.0 ** (-8 * (h + 1) / power) for h in range(power)]
    between = [2.0 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)]
    return np.array(own + between).astype("f4").astype("f8")


def philox(key, counter):
    """Philox 4x32 with 7 rounds (Salmon et al., 2011), for arrays of counters."""
    c = [np.asarray(x, "u8") for x in counter]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(7):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
        c = [b >> high ^ c[1] ^ np.uint64(k0), b & low, a >> high ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c


def kept(p, seed, matrices, rows, cols):
    """Which weights dropout keeps, by FlashAttention-2's rule: 16 x 32 weights for the 32 lanes of a warp."""
    m, r, c = np.ogrid[:matrices, :rows, :cols]
    lane = r % 8 * 4 + c % 8 // 2
    byte = c % 32 // 8 * 4 + r % 16 // 8 * 2 + c % 2
    words = philox(seed, np.broadcast_arrays(32 * m + lane, 0, r // 16, c // 32))
    word = np.choose(byte // 4, words)
    return (word >> (8 * (byte % 4)).astype("u8") & np.uint64(0xFF)) <= np.floor(255 * (1 - p))


def visible(p):
    """[queries, keys]: who sees whom. The last query stands at the last key."""
    nq, nk = p["seq_q"], p["seq_k"]
    place, key = np.arange(nq)[:, None] + nk - nq, np.arange(nk)[None, :]
    seen = np.ones((nq, nk), bool)
    if p.get("causal"):
        seen &= key <= place
    if "window_left" in p:
        seen &= key >= place - p["window_left"]
    if "window_right" in p:
        seen &= key <= place + p["window_right"]
    if "documents" in p:
        of = np.repeat(np.arange(len(p["documents"])), p["documents"])
        seen &= (place >= 0) & (of[np.clip(place, 0, nk - 1)] == of[key])  # a query before all keys is in no document
    if "blocks" in p:
        blocks, (rows, cols) = p["blocks"], p["block"]
        seen &= blocks[np.arange(nq)[:, None] // rows, key // cols]
    return seen


def spread(bias, axes, group, p):
    """A bias with these axes as [batch, heads, queries, keys]."""
    if axes.startswith("g"):
        bias = np.repeat(bias, group, axis=0)
    return np.broadcast_to(bias, (p["batch"], p["heads"], p["seq_q"], p["seq_k"]))


def gathered(x, axes, group):
    """The gradient of a bias: sums of [batch, heads, queries, keys] over all that share an element of the bias."""
    if axes.startswith("g"):
        x = x.reshape(-1, group, *x.shape[1:]).sum(axis=1)
    elif not axes.startswith("b"):
        x = x.sum(axis=0, keepdims=True)
    if "h" not in axes:
        x = x.sum(axis=1, keepdims=True)
    return x if "q" in axes else x.sum(axis=2, keepdims=True)


class Attention:
    """O, and the gradients if there is a dO. `size` is the largest sum of absolute values of each: rounding is relative
    to it."""

    def __init__(self, p, inputs):
        q, k, v = (inputs[n] for n in ("q", "k", "v"))
        shared = q.shape[1] // k.shape[1]
        k, v = (np.repeat(x, shared, axis=1) for x in (k, v))
        scale = p.get("scale", 1 / np.sqrt(q.shape[-1]))
        product = scale * q @ k.swapaxes(-1, -2)
        cap = p.get("soft_cap")
        s = cap * np.tanh(product / cap) if cap else product
        self.biases = [("bias" + "2" * n, axes) for n, axes in enumerate(p.get("biases", []))]
        for name, axes in self.biases:
            s = s + spread(inputs[name], axes, p.get("bias_group", 1), p)
        if p.get("alibi"):
            distance = np.abs(np.arange(p["seq_q"])[:, None] + p["seq_k"] - p["seq_q"] - np.arange(p["seq_k"]))
            s = s - slopes(p["heads"])[:, None, None] * distance
        s = np.where(visible(p), s, -np.inf)
        finite = np.abs(s[np.isfinite(s)])
        self.largest_logit = max(finite.max(initial=0), np.abs(product).max())
        # Partial sums of a product may be larger than its result.
        self.largest_sum = abs(scale) * (np.abs(q) @ np.abs(k).swapaxes(-1, -2)).max()
        top = s.max(axis=-1, keepdims=True)
        e = np.exp(s - np.where(np.isfinite(top), top, 0))
        total = e.sum(axis=-1, keepdims=True)
        weights = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
        keep = 1.0
        if p.get("dropout"):
            keep = kept(p["dropout"], p["dropout_seed"], p["batch"] * p["heads"], p["seq_q"], p["seq_k"])
            keep = keep.reshape(weights.shape) / (1 - p["dropout"])
        self.out = {"O": (weights * keep) @ v}
        self.size = {"O": ((weights * keep) @ np.abs(v)).max()}
        if "do" in inputs:
            self.go_back(p, inputs, (q, k, v, scale, product, cap), weights, keep, shared)

    def go_back(self, p, inputs, forward, weights, keep, shared):
        q, k, v, scale, product, cap = forward
        do, group = inputs["do"], p.get("bias_group", 1)

        def turned(x):
            return x.swapaxes(-1, -2)

        def of_kv(x):
            return x.reshape(x.shape[0], -1, shared, *x.shape[2:]).sum(axis=2)

        dp = keep * (do @ turned(v))
        ds = weights * (dp - (weights * dp).sum(axis=-1, keepdims=True))
        all_dp = keep * (np.abs(do) @ turned(np.abs(v)))
        all_ds = weights * (all_dp + (np.abs(do) * (weights * keep @ np.abs(v))).sum(axis=-1, keepdims=True))
        for n, axes in self.biases:
            self.out["d" + n] = gathered(ds, axes, group)
            self.size["d" + n] = gathered(all_ds, axes, group).max()
        if cap:
            slope = 1 - np.tanh(product / cap) ** 2
            ds, all_ds = ds * slope, all_ds * slope
        self.out["dQ"], self.size["dQ"] = scale * ds @ k, abs(scale) * (all_ds @ np.abs(k)).max()
        self.out["dK"] = of_kv(scale * turned(ds) @ q)
        self.size["dK"] = abs(scale) * of_kv(turned(all_ds) @ np.abs(q)).max()
        self.out["dV"] = of_kv(turned(weights * keep) @ do)
        self.size["dV"] = of_kv(turned(weights * keep) @ np.abs(do)).max()
        del self.out["O"]
