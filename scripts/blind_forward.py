#!/usr/bin/env python3
"""Shapes that nobody chose, and what cuDNN's forward kernel takes for them: to judge a model that is finished.

    scripts/blind_forward.py --list          the shapes
    scripts/blind_forward.py GPU FOLDER      times them (needs a GPU and PyTorch): writes FOLDER/blind-forward.csv

The shapes come from a fixed seed: three for each head dimension, causal and not, 0.05 to 20 ms long, a third with
Nq != Nk, a third with grouped heads, few a power of two. A row's time is the median of 15 replays of a CUDA graph
after 3, divided by the calls in the graph (about a millisecond), with warm caches. `runs` names the kernel. A causal
mask with Nq != Nk is PyTorch's: query r sees keys 0 to r.
"""
import csv
import datetime
import itertools
import pathlib
import random
import statistics
import sys

SEED = 20261130
COLUMNS = ["kernel", "runs", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "causal", "calls", "us"]
DIMS = (64, 96, 128, 192, 256)
TFLOPS = {64: 430, 96: 400, 128: 580, 192: 500, 256: 620}  # roughly, only to aim at a duration
ROUNDS = 3
MOST_BYTES = 8 << 30
LENGTHS = (0.05e-3, 20e-3)  # seconds


def shapes():
    """(dtype, batch, heads, kv_heads, seq_q, seq_k, dim, causal)"""
    draw, found = random.Random(SEED), []
    for turn, (dim, causal) in itertools.product(range(ROUNDS), itertools.product(DIMS, (False, True))):
        while True:
            # the three turns share the logarithm of the duration: short, middle, long
            low, high = LENGTHS
            seconds = low * (high / low) ** ((turn + draw.random()) / ROUNDS)
            seq_q = length(draw)
            seq_k = length(draw) if draw.random() < 1 / 3 else seq_q
            groups = draw.choice((2, 4, 8)) if draw.random() < 1 / 3 else 1
            kv_heads = draw.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 16))
            heads = kv_heads * groups
            scores = sum(min(seq_k, r + 1) for r in range(seq_q)) if causal else seq_q * seq_k
            batch = round(seconds * TFLOPS[dim] * 1e12 / (4 * dim * heads * scores))
            size = 2 * dim * batch * (2 * heads * seq_q + 2 * kv_heads * seq_k)
            blocks = batch * heads * -(-seq_q // 128)
            if 1 <= batch <= 64 and heads <= 64 and size <= MOST_BYTES and blocks >= 100:
                break
        found.append((draw.choice(("f16", "bf16")), batch, heads, kv_heads, seq_q, seq_k, dim, causal))
    return found


def length(draw):
    """Keys or queries: 384 to 16k, every second one a multiple of 128, others of 8."""
    n = 384 * (16384 / 384) ** draw.random()
    unit = draw.choice((128, 8))
    return unit * max(1, round(n / unit))


def write(gpu, folder):
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def replays(run, calls, times):
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                run()
        samples = []
        for n in range(times + 3):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if n >= 3:
                samples.append(1000 * begin.elapsed_time(end))
        return statistics.median(samples)

    def longest(run):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            run()
            torch.cuda.synchronize()
        return max(profile.events(), key=lambda e: e.device_time_total).name.replace(",", ";")

    number = torch.backends.cudnn.version()
    path = pathlib.Path(folder) / "blind-forward.csv"
    with path.open("w", newline="") as file:
        file.write(f"# command: scripts/blind_forward.py {gpu} FOLDER\n# device: {torch.cuda.get_device_name()}\n"
                   f"# library: PyTorch {torch.__version__.partition('+')[0]}, "
                   f"cuDNN {number // 10000}.{number // 100 % 100}.{number % 100}\n# date: {datetime.date.today()}\n"
                   "# times: of a call in a CUDA graph of about a millisecond, medians of 15 replays\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["gpu", *COLUMNS])
        for shape in shapes():
            dtype, batch, heads, kv_heads, seq_q, seq_k, dim, causal = shape
            kind = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
            make = lambda h, n: torch.randn(batch, h, n, dim, device="cuda", dtype=kind)  # noqa: E731, B023
            q, k, v = make(heads, seq_q), make(kv_heads, seq_k), make(kv_heads, seq_k)

            def run():
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    return F.scaled_dot_product_attention(
                        q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)  # noqa: B023

            try:
                stream = torch.cuda.Stream()
                with torch.cuda.stream(stream):
                    run(), run()
                once = replays(run, 1, 3)
                calls = max(1, min(64, int(1000 / once)))
                us = replays(run, calls, 15) / calls
                name = longest(run)
            except RuntimeError as error:  # a shape that cuDNN does not take
                print(*shape, f"left out: {str(error).splitlines()[0][:90]}", flush=True)
                torch.cuda.empty_cache()
                continue
            writer.writerow([gpu, "cudnn", name, dtype, batch, heads, kv_heads, seq_q, seq_k, dim, int(causal), calls,
                             f"{us:.2f}"])
            file.flush()
            del q, k, v
            torch.cuda.empty_cache()


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        for shape in shapes():
            print(*shape)
    elif len(words) == 2 and not words[0].startswith("-"):
        write(*words)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
