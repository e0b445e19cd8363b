"""Code that mypy --strict has to accept, and lines that it has to refuse, which end in "# refused"."""

from typing import List

import numpy as np
import tilescope


def statistics(p: tilescope.Problem, tile: tilescope.Tiling) -> List[tilescope.TensorDecl]:
    return [tilescope.output("LSE", rows=p.seq_q)]


@tilescope.algorithm(computes="attention", tensors=statistics)
def typed(gpu: tilescope.Gpu, t: tilescope.Tensors, p: tilescope.Problem, tile: tilescope.Tiling) -> None:
    keys = tilescope.Tiles(p.seq_k, tile.bc, "j")

    def body(b: tilescope.Block, head: tilescope.Span) -> None:
        x: tilescope.Tile = b.alloc("x", p.seq_q, 1)

        @b.uniform(keys)
        def step(j: tilescope.Span) -> None:
            k = b.load(t["K"].of(head), j)
            b.exp(k)
            b.exp(j)  # refused

        b.exp_minus(x, x)
        b.exponential(x)  # refused

    gpu.launch("typed", [p.head_axis()], body)


report = tilescope.run(typed, seq=64, causal=True, gpu="a100", Q=np.zeros((1, 2)))
total: int = report.counters["hbm_read_bytes"]
time: float = report.time_us  # refused
machine: tilescope.Machine = tilescope.gpu({"base": "H100", "sms": 3}, sms=4)
rows = tilescope.study(["flash_v2", typed], {"seq": [1, 2]}).records()
print(rows[0]["seq_q"], tilescope.gpu(3))  # refused
