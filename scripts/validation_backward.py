"""The part of docs/validation.md about the backward pass."""
import os
import sys

from measured_rows import LEFT_OVER, TO_EXPLAIN, ceil_div, read_csv, value
from page_text import bullets, listed, paragraph, percent, span, table, yes

KERNELS = ("standard_backward", "flash_v1_backward", "flash_v2_backward", "flash_v2_deterministic_backward",
           "two_pass_backward", "memory_efficient_backward")
TENSOR = "flash_v2_backward, tensor cores"
SURVEYS = ("backward/survey.csv", "backward/survey-memory_efficient.csv")
# name, simulated column, measured column, limit in percent
COUNTERS = [
    ("reads", "simulated_read_bytes", "measured_read_bytes", 0.5),
    ("writes", "simulated_write_bytes", "measured_write_bytes", 1),
    ("reductions", "simulated_reduce_bytes", "measured_reduce_bytes", 0),
    ("exponentials", "simulated_exps", "measured_xu_ops", 5),
    ("FMA FLOPs", "simulated_matmul_flops", "measured_ffma_flops", 2),
]
RAGGED, ROWS = "ragged tiles", "row products and reciprocals"


class Backward:
    """Measurements of the backward passes in a folder of docs/measured."""

    def __init__(self, root, folder):
        def read(name):
            self.about[name], rows = read_csv(os.path.join(root, folder, name))
            return [{key: value(cell) for key, cell in row.items()} for row in rows]

        self.about = {}
        self.rows = [row for name in SURVEYS for row in read(name)]
        self.speed, self.precision = read("backward.csv"), read("backward-precision.csv")
        self.folder = folder
        for row in self.rows:
            row["kernel"] = row["algorithm"] + ("" if row["dtype"] == "f32" else ", tensor cores")
            row["slices"] = row["batch"] * row["heads"]

    def kernels(self):
        return [k for k in (*KERNELS, TENSOR) if any(row["kernel"] == k for row in self.rows)]

    def of(self, kernel):
        return [row for row in self.rows if row["kernel"] == kernel and row["status"] == "ok"]


def compared(row, counter):
    """Whether a counter says something: tensor cores issue no FMAs, and a count of 0 on both sides is left out."""
    name, simulated, measured, _ = counter
    if row[measured] is None or (name == "FMA FLOPs" and row["kernel"] == TENSOR):
        return False
    return row[simulated] != 0 or row[measured] != 0


def difference(row, counter):
    """Measured minus simulated, in percent of simulated."""
    _, simulated, measured, _ = counter
    return 100 * (row[measured] - row[simulated]) / row[simulated] if row[simulated] else float("inf")


# ---- what the device should count, from the shape and the kernel's source ----


def visits(row):
    """(rows, keys) of every tile that a head visits."""
    nq, nk, br, bc = (row[key] for key in ("seq_q", "seq_k", "br", "bc"))
    hides = row["causal"] and row["kernel"] != "standard_backward"
    for i in range(0, nq, br):
        rows = min(br, nq - i)
        end = min(max(i + rows + nk - nq, 0), nk) if hides else nk
        for j in range(0, end, bc):
            yield rows, min(bc, nk - j)


def exponentials(row):
    """Instructions x 32 lanes of one head: (exponentials of tiles rounded up to what warps compute; reciprocals)."""
    if row["kernel"] == TENSOR:  # whole tiles, whatever they hold
        return sum(row["br"] * row["bc"] for _ in visits(row)), 0
    passes = 2 if row["kernel"] == "two_pass_backward" else 1
    tiles = sum(16 * ceil_div(rows, 16) * 16 * ceil_div(keys, 16) for rows, keys in visits(row))
    visited = sum(ceil_div(rows, 16) for rows, _ in visits(row))
    return passes * tiles, 32 * visited if row["kernel"] == "flash_v1_backward" else 0


def fmas(row):
    """FLOPs of one head: (products of tiles rounded up to what warps compute; other work on rows)."""
    kernel, d, dv, bc = row["kernel"], row["dim"], row["dim_v"], row["bc"]
    products = {"standard_backward": (0, 1), "two_pass_backward": (2, 2)}.get(kernel, (1, 1))  # of S and dP
    done = of_rows = 0
    for rows, keys in visits(row):
        owned = 16 * ceil_div(rows, 16)  # a warp has 16 rows
        done += 2 * owned * 16 * ceil_div(keys, 16) * (products[0] * d + products[1] * dv)
        done += 2 * owned * 4 * ceil_div(keys, 4) * d  # dQ
        done += 2 * rows * bc * (d + dv)               # dK and dV: all keys of a tile, whether they exist or not
        if kernel == "flash_v1_backward":              # D, and a reciprocal, at every visit
            of_rows += 2 * owned * dv + 128 * ceil_div(rows, 16)
    if kernel == "standard_backward":
        of_rows = whole_rows(row)
    elif kernel != "flash_v1_backward":
        parts = min(row["splits"], ceil_div(row["seq_k"], bc)) if kernel == "memory_efficient_backward" else 1
        of_rows = parts * 2 * row["seq_q"] * dv
    return done, of_rows


def whole_rows(row):
    """FLOPs of sum(P dP): T threads share a row. Columns beyond a multiple of 4 T take 4 more per thread."""
    threads = 16
    while row["seq_k"] > 64 * threads:
        threads *= 2
    at_once = 256 // threads
    missing = ceil_div(row["seq_q"], at_once) * at_once - row["seq_q"]
    return 2 * threads * (row["seq_q"] * (4 * (row["seq_k"] // (4 * threads)) + 4) + missing * 4)


def causes(row, counter):
    """Amounts by cause; {} for counters without causes."""
    if counter[0] == "exponentials":
        tiles, reciprocals = exponentials(row)
        return {RAGGED: row["slices"] * tiles - row["simulated_exps"], ROWS: row["slices"] * reciprocals}
    if counter[0] == "FMA FLOPs":
        products, of_rows = fmas(row)
        return {RAGGED: row["slices"] * products - row["simulated_matmul_flops"], ROWS: row["slices"] * of_rows}
    return {}


def left_over(row, counter):
    return difference(row, counter) - 100 * sum(causes(row, counter).values()) / row[counter[1]]


def above(rows, counter):
    return [row for row in rows if compared(row, counter) and abs(difference(row, counter)) > TO_EXPLAIN]


def name_of(row):
    return (f"{row['kernel']}, {row['batch']} x {row['heads']} heads, {row['seq_q']} x {row['seq_k']}, d = {row['dim']}, "
            f"{row['dim_v']}{', causal' if row['causal'] else ''}, tiles {row['br']} x {row['bc']}, S {row['splits']}")


def refuse_unexplained(backward):
    failed = [row for row in backward.rows if row["status"] != "ok"]
    if failed:
        sys.exit(f"{backward.folder}/backward: {name_of(failed[0])}: {failed[0]['status']}")
    for counter in COUNTERS:
        for row in above(backward.rows, counter):
            if abs(left_over(row, counter)) > LEFT_OVER:
                sys.exit(f"{backward.folder}/backward: {name_of(row)}: {counter[0]} differ by "
                         f"{difference(row, counter):+.3f}%, of which {left_over(row, counter):+.3f}% has no cause known "
                         "to scripts/validation_backward.py")


# ---- the section ----


def agreement(backward):
    def cell(kernel, counter):
        values = [difference(row, counter) for row in backward.of(kernel) if compared(row, counter)]
        if not values:
            return "-"
        worst = max(values, key=abs)
        return f"**{percent(worst)}**" if abs(worst) > counter[3] else percent(worst)

    rows = [("limit", "", *(f"{c[3]}%" if c[3] else "0" for c in COUNTERS))]
    rows += [(k, len(backward.of(k)), *(cell(k, c) for c in COUNTERS)) for k in backward.kernels()]
    return table(("kernel", "cases", *(c[0] for c in COUNTERS)), rows)


def causes_table(backward):
    rows = []
    for kernel in backward.kernels():
        for counter in COUNTERS[3:]:
            every = [row for row in backward.of(kernel) if compared(row, counter)]
            far = above(every, counter)
            if far:
                share = {cause: span([100 * causes(row, counter)[cause] / row[counter[1]] for row in far])
                         for cause in (RAGGED, ROWS)}
                rows.append((kernel, counter[0], f"{len(far)} of {len(every)}",
                             span([difference(row, counter) for row in far]), share[RAGGED], share[ROWS],
                             percent(max((left_over(row, counter) for row in every), key=abs))))
    return table(("kernel", "what", "cases above 1%", "they differ by", RAGGED, ROWS, "left, of all cases"), rows, left=2)


def errors_table(backward):
    rows = []
    for kernel in backward.kernels():
        def relative(row, whose):
            return row[f"{whose}_max_error"] / row["largest_reference"]

        of = backward.of(kernel)
        worst = max(of, key=lambda row: relative(row, "kernel"))
        rows.append((kernel, len(of), f"{relative(worst, 'kernel'):.2e}",
                     f"{max(relative(row, 'simulator') for row in of):.2e}", worst["output"],
                     f"{worst['seq_q']} x {worst['seq_k']}, d = {worst['dim']}{', causal' if worst['causal'] else ''}"))
    return table(("kernel", "cases", "measured", "simulated", "worst gradient", "at"), rows)


def shapes(rows):
    dims = sorted({(row["dim"], row["dim_v"]) for row in rows})
    return (f"N = {listed(n for r in rows for n in (r['seq_q'], r['seq_k']))}; batch x heads = "
            f"{listed(r['slices'] for r in rows)}; (d, dv) = {', '.join(f'({a}, {b})' for a, b in dims)}")


def speed_table(backward):
    def cell(row, peer):
        return f"{row[peer + '_ms']:.3f} ({row[peer + '_ratio']:.2f})" if row[peer + "_ms"] else "-"

    return table(("type", "N", "d", "heads", "causal", "ours, ms", "FLASH", "memory-efficient", "cuDNN"),
                 [(r["dtype"], f"{r['seq']:,}", r["dim"], r["heads"], yes(r["causal"]), f"{r['tilescope_ms']:.3f}",
                   *(cell(r, peer) for peer in ("flash", "efficient", "cudnn"))) for r in backward.speed])


def section(backward):
    about, speed = backward.about[SURVEYS[0]], backward.about["backward.csv"]
    rows = backward.rows
    ratios = [row["flash_ratio"] for row in backward.speed if row["flash_ratio"]]
    errors = [row[f"d{x}_ratio"] for row in backward.precision for x in "QKV"]
    return [
        "## 7. The backward pass",
        paragraph(f"""The same for gradients ({about['device']}). {len(rows)} cases,
            {sum(r['dtype'] == 'f32' for r in rows)} of them fp32, {sum(r['causal'] for r in rows)} causal: {shapes(rows)}.
            dQ, dK and dV are all compared with a reference in double precision. **Reductions** are what thread blocks
            send to the L2 for it to add: `lts__t_sectors_srcunit_tex_op_red.sum` x 32. They are neither reads nor
            writes, in the model and on the device. `memory_efficient_backward` takes turns at dQ: the words that
            thread blocks ask whose turn it is come back as reads."""),
        bullets(f"[{os.path.basename(name)}](measured/h200/{name}), {backward.about[name]['date']}: "
                f"`{backward.about[name]['command']}`" for name in SURVEYS),
        agreement(backward),
        paragraph(f"""A dash: none of that, or products on tensor cores. What differs by more than 1% has a cause, which
            `scripts/validation_backward.py` computes from the shape; it fails when more than {LEFT_OVER}% is left."""),
        bullets([
            f"**{RAGGED}**: rows go in steps of 16, keys in steps of 16 for S and dP and of 4 for dQ; dK and dV are "
            "computed for all keys of a tile. On tensor cores every tile takes the exponentials of a whole one.",
            f"**{ROWS}**: D = rowsum(dO * O) is a sum of products that the model counts among the other FLOPs; "
            "`flash_v1_backward` forms it at every visit, and divides by l there; `standard_backward` sums P * dP over "
            "whole rows.",
        ]),
        causes_table(backward),
        paragraph("""The worst error of a gradient, divided by the largest element of that gradient. Limit for fp32:
            1e-5."""),
        errors_table(backward),
        paragraph(f"""**Beside PyTorch** ({speed['device']}, PyTorch {speed['PyTorch']}, {speed['date']},
            `{speed['command']}`): `flash_v2_backward` on tensor cores, milliseconds, medians with warm caches; in
            brackets PyTorch's time over ours. FLASH takes {span(ratios, '{:.2f}'.format)} times as long (goal: at least
            0.8). RMS errors of dQ, dK and dV are {span(errors, '{:.3f}'.format)} times those of FLASH on the same inputs
            (goal: at most 1.1), in {len(backward.precision)} problems
            ([backward-precision.csv](measured/h200/backward-precision.csv))."""),
        speed_table(backward),
    ]
