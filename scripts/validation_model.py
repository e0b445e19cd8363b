"""The part of docs/validation.md about the time model: times, DRAM reads and residency, modelled and measured."""
import re
import statistics
import sys

from measured_rows import ROLES, other_roles
from modelled import (FAMILIES, LANES, LIBRARY, MACHINES, ROOT, SOFTMAX, SPLIT_TENSOR, TENSOR, files, library, mean,
                      percentile_95, read_csv, worst)
from page_text import bullets, paragraph, table

LIMITS = {TENSOR: (0.05, 0.18), LANES: (0.05, 0.18), SPLIT_TENSOR: (0.05, 0.18), SOFTMAX: (0.12, 0.25)}  # of the mean error and of the worst
OTHER_LIMITS = (0.06, 0.25)
TO_EXPLAIN = 0.18      # of times: an error above this needs a cause below, whatever the limit
DRAM_TO_LIST = 0.10    # of DRAM reads: the page lists errors above this with a cause
DRAM_CLOSE = 0.05
L2_MB = 52.4           # of both machines


def share(x, digits=1):
    return f"{100 * x:.{digits}f}%"


def signed(x, digits=1):
    return f"{100 * x:+.{digits}f}%"


def code(family):
    algorithm, *rest = family.split(", ")
    return family if family == LIBRARY else ", ".join([f"`{algorithm}`", *rest])


def name(case):
    """What was run, in words."""
    dims = f"d = {case['dim']}" + (f", {case['dim_v']}" if case["dim"] != case["dim_v"] else "") + ", "
    grouped = f" ({case['kv_heads']} of K and V)" if case["kv_heads"] != case["heads"] else ""
    return (f"{case['algorithm']} {case['dtype']}, {case['batch']} x {case['heads']} heads{grouped}, {case['seq_q']} x "
            f"{case['seq_k']}, {'' if case.softmax else dims}{'causal, ' if case['causal'] else ''}"
            f"tiles {case['br']} x {case['bc']}{parts(case)}{other_roles(case)}")


def parts(case):
    """Words for the number of parts of the keys, and of heads whose rows share a tile."""
    return (f", S {case['splits']}" if case["splits"] else "") + \
        (f", packed {case['packed']}" if (case["packed"] or 1) > 1 else "")


# ---- causes ----

# Causes of a time that is far off. The first that fits is given.
TIME_CAUSES = [
    ("launch", lambda c: c.us < 15,
     "A few microseconds, of which the launch itself is a large part: the model has one number for it."),
    ("one warp", lambda c: c["splits"] and c["dtype"] == "f32" and c["br"] == 16,
     "Tiles of 16 rows in fp32 are one warp's, which waits for each of its instructions with nothing beside it to go on "
     "with; the model has it use the units of one sub-core as well as four warps use theirs, and is too fast."),
    ("few tiles a part", lambda c: c["splits"] and c["seq_k"] <= 8 * c["bc"] * c["splits"],
     "At most 8 key tiles a part: how thread blocks begin, merge what their warps have and end weighs as much as their "
     "steps; and the second launch, which the model begins after the first, comes up while that still runs."),
    ("few thread blocks", lambda c: c["splits"] and c["dtype"] != "f32" and c.launch["waves"] < 0.25,
     "A thread block on a part of the SMs, which waits for its own loads: how much of them is under way at a time decides."),
    ("ragged width", lambda c: c.softmax and c["seq_k"] % c["bc"],
     "Rows of a width that the tile does not divide: the last chunk's elements move one by one, where others move "
     "in pieces of 16 bytes. The model counts their bytes, and no time for the longer way."),
    ("a few ragged rows", lambda c: c["seq_q"] % c["br"] == 1 and c.launch["waves"] < 0.5,
     "All thread blocks run at once, one on an SM, and the last has a single row, whose elements move one by one along "
     "all columns: the launch ends when that block does."),
    ("small d and Bc", lambda c: c["dim"] == 32 and c["bc"] == 32,
     "d = 32 with Bc = 32: products so small that what a step costs beside them weighs most, and the constants for "
     "that were fitted to larger ones; modelled too slow."),
    ("few tiles a block", lambda c: c["dtype"] != "f32" and c["seq_k"] <= 8 * c["bc"],
     "At most 8 key tiles a thread block, and fewer under a mask: how a thread block begins and ends weighs as much as "
     "its steps, and is modelled by constants."),
    ("1.0 to 1.5 waves", lambda c: 1 < c.launch["waves"] <= 1.5,
     "One full round of thread blocks and a small second one: how fast blocks go on while their neighbours end "
     "decides, and is modelled too slow."),
]

MEAN_CAUSES = {
    SPLIT_TENSOR: "where a part has few key tiles, how thread blocks begin, merge what their warps have and end weighs as "
                  "much as their steps, and the second launch comes up during the first",
    "split_kv": "tiles of 16 rows are one warp's in fp32, for which the model is too fast; those of 64 rows are 8% "
                "off on average",
    "memory_efficient": "both products of this kernel take turns in one buffer and wait for their loads, for which the "
                        "model has too little",
    "three_pass": "it computes S three times, so what the model has in excess for a product with tiles of 128 x 64 or "
                  "with d = 32 counts thrice",
}

PARTIAL_RESULTS = ("Partial results, at d = 128 eight times Q's bytes with four parts, pass through beside K and V; how much "
                   "of them the second launch still finds is modelled too little.")

DRAM_CAUSES = {
    "flash_v1": "A head's thread block goes round in its Q and O, once for each key tile.",
    "chunked": "A head's thread block goes round in its K, V and summaries, once for each query chunk.",
    "standard": "Row blocks read K and V again while S, a gigabyte, passes through.",
    "split_kv": PARTIAL_RESULTS,
    SPLIT_TENSOR: PARTIAL_RESULTS,
    LANES: "K and V of all heads are more than the L2 holds beside Q and O. A part of them is read again, which the model "
           "has in the L2 still.",
}


def time_cause(case):
    return next((label for label, fits, _ in TIME_CAUSES if fits(case)), None)


def goes_round_in(case):
    """MB that the thread blocks of all heads read again and again: Q and O; or K, V and summaries; or K and V."""
    bytes_of_a_number = 4 if case["dtype"] == "f32" else 2
    heads, kv_heads = (case["batch"] * case[h] for h in ("heads", "kv_heads"))
    d, dv, nq, nk = (case[c] for c in ("dim", "dim_v", "seq_q", "seq_k"))
    k_and_v = kv_heads * nk * (d + dv)
    if case.family == "flash_v1":
        numbers = heads * nq * (d + dv + 2)
    elif case.family == "chunked":
        numbers = k_and_v + heads * -(-nk // case["bc"]) * case["br"] * (dv + 2)
    else:
        numbers = k_and_v
    return 1e-6 * bytes_of_a_number * numbers


def limits(family):
    return LIMITS.get(family, OTHER_LIMITS)


def beyond(cases):
    return [c for c in cases if abs(c.time_error) > limits(c.family)[1]]


def dram_cases(cases):
    return [c for c in cases if c.dram_error is not None]


def far_off_in_dram(model):
    return [c for c in dram_cases(model.cases) if abs(c.dram_error) > DRAM_TO_LIST]


def above_mean_limit(model):
    return [(family, machine, mean([c.time_error for c in cases])) for family, machine, cases in measured(model)
            if mean([c.time_error for c in cases]) > limits(family)[0]]


def measured(model):
    """Families of kernels, each with the machines that it was timed on and its cases there."""
    return [(family, machine, cases) for family in FAMILIES for machine in MACHINES
            if (cases := model.of(family, machine))]


def refuse_unexplained(model):
    for case in model.cases:
        if abs(case.time_error) > TO_EXPLAIN and not time_cause(case):
            sys.exit(f"{case.machine}: {name(case)}: the modelled time is off by {signed(case.time_error)}, for no "
                     "cause known to scripts/validation_model.py")
    for case in far_off_in_dram(model):
        if case.family not in DRAM_CAUSES:
            sys.exit(f"{case.machine}: {name(case)}: modelled DRAM reads are off by {signed(case.dram_error)}, for no "
                     "cause known to scripts/validation_model.py")
    for family, machine, error in above_mean_limit(model):
        if family not in MEAN_CAUSES:
            sys.exit(f"{machine}: {family}: modelled times are off by {share(error)} on average, for no cause known to "
                     "scripts/validation_model.py")


# ---- what was compared ----


def about(machine, path):
    keys = dict(line.split(": ", 1) for line in read_csv(path)[0] if ": " in line)
    return f"{path.name}, {keys['date'][:16]} UTC: `{keys['command']}`"


def about_library(machine):
    path = ROOT / MACHINES[machine][1] / "library.csv"
    command, what, runs = re.match(r"(.*?); (.*); (.*)", read_csv(path)[0][0]).groups()
    return f"[{path.name}](measured/{path.parent.name}/{path.name}): `{command}` ({what}; {runs})."


def surveys(machine):
    """A sentence on the surveys of a machine."""
    paths = [path for path in files(machine) if re.match(r"survey-\d", path.name)]
    tops = [dict(line.split(": ", 1) for line in read_csv(path)[0]) for path in paths]
    counters = "with counters" if any("--counters" in top["command"] for top in tops) else "without counters"
    folder = MACHINES[machine][1]
    return (f"[{folder}]({folder.removeprefix('docs/')}), {len(paths)} parts of the full survey, {counters}: "
            f"{tops[0]['device']}, driver {tops[0]['driver']}, {tops[0]['date'][:10]}, `{tops[0]['command']}` and so "
            "on.")


def chosen(path):
    return ("one query of 32 heads over 8, in parts that fill waves and that do not)" if "decoding" in path.name else
            "few heads, ragged rows, data about as large as the L2)")


def what_was_compared(model):
    edges = [f"{chosen(path)}: {MACHINES[m][1]}/{about(m, path)}" for m in MACHINES for path in files(m)
             if path.name.startswith("edges")]
    parts_of = [f"`{algorithm}`'s part of the survey: {MACHINES[m][1]}/{about(m, path)}" for m in MACHINES
                for algorithm, name in (("split_kv", "survey-split"), ("flash_v3", "survey-flash_v3"))
                for path in files(m) if path.name.startswith(name)]
    outside = sum(abs(c.time_error) > 0.25 for c in model.cases)
    return [
        "## 6. The time model",
        paragraph("""`tilescope timeline` models how long a run takes, what DRAM reads and how many thread blocks an SM
            holds ([how long, and why](time.md)). Here it is beside what was measured on two machines; the modelled
            numbers are those that the command prints for each case. **Off** is modelled over measured, minus 1: below 0
            the model is too fast. Measured times are medians with warm caches."""),
        bullets([*(f"**{m}**: {surveys(m)}" for m in MACHINES), *(f"{s}." for s in parts_of),
                 *(f"Chosen at the model's edges ({e}." for e in edges),
                 *(f"The library's kernel, {m}: {about_library(m)}" for m in MACHINES)]),
        paragraph("""The constants of the CUDA-core kernels were fitted to a part of the H200's survey. Nothing was
            fitted to the tensor-core kernel's times, to the H100 or to the library. The H100's cases have the edges
            among them."""),
        f"![Measured against modelled time: all but {outside} cases are within 25%.](figures/validation-time.svg)",
    ]


# ---- time ----


def time_row(family, machine, cases):
    errors = [c.time_error for c in cases]
    mean_limit, worst_limit = limits(family)
    bold = "**" if mean(errors) > mean_limit else ""
    return (family, machine, len(cases), f"{bold}{share(mean(errors))}{bold}", share(mean_limit, 0),
            share(percentile_95(errors)), signed(worst(errors)), share(worst_limit, 0), len(beyond(cases)))


def fp32_attention(model, machine):
    return [c for family in FAMILIES if family not in (TENSOR, LANES, SPLIT_TENSOR, SOFTMAX)
            for c in model.of(family, machine)]


def mean_limits_text(model):
    said = []
    for family, machine, error in above_mean_limit(model):
        cases = model.of(family, machine)
        fast = sum(c.time_error < 0 for c in cases)
        side = f"too fast in {fast}" if 2 * fast > len(cases) else f"too slow in {len(cases) - fast}"
        said.append(f"`{family}` on the {machine}, {share(error)}: {MEAN_CAUSES[family]}; {side} of {len(cases)} "
                    "cases.")
    return [paragraph("""The limits of the fp32 attention kernels are asked for of all of them together, the last two
        rows. Of single kernels, the mean is above (bold) of:"""), bullets(said)] if said else []


def pairs_in_order(model):
    """Pairs of flash_v1 and flash_v2 with one shape and tile: ranked as measured; all; and those that flash_v2 wins."""
    pairs = [(one, two) for one in model.of("flash_v1") for two in model.of("flash_v2")
             if one.machine == two.machine and one.shape() == two.shape()]
    right = sum((one.us > two.us) == (one.modelled_us > two.modelled_us) for one, two in pairs)
    return right, len(pairs), sum(one.us > two.us for one, two in pairs)


def times(model):
    right, pairs, slower = pairs_in_order(model)
    return [
        "### Time",
        table(("kernel", "on", "cases", "mean", "limit", "95% within", "worst", "limit", "beyond"),
              [*(time_row(*each) for each in measured(model)),
               *(time_row("fp32 attention, together", machine, fp32_attention(model, machine)) for machine in MACHINES)],
              left=2),
        *mean_limits_text(model),
        paragraph(f"""`flash_v1` against `flash_v2` on the same shape with the same tile: of {pairs} pairs on both
            machines {right} are ranked as measured ({slower} times `flash_v2` is the faster one)."""),
    ]


def library_row(machine, half):
    return (machine, half.name, len(half.cases), f"{half.extra:.1f}", share(half.mean),
            share(percentile_95(half.errors)), signed(half.worst), f"{half.right} of {half.pairs}")


def library_times(model):
    good = all(half.good() for _, half in model.halves)
    return [
        f"### {LIBRARY}",
        paragraph(f"""Shapes fixed before any was timed, in two halves (`scripts/library --list`); those of more than
            {library.LEAST_US} µs are compared with the modelled `flash_v2` with the library's tiles. What a call of
            PyTorch costs beside the kernel is taken off all of a machine's times: one number, the median of what is
            left over in half one below 100 µs. Limits: mean {share(library.MEAN, 0)}, worst
            {share(library.WORST, 0)}, and {share(library.IN_ORDER, 0)} of the pairs that differ by
            {share(library.DIFFERENT - 1, 0)} in order.
            {'All are kept.' if good else 'Not all are kept.'}"""),
        table(("on", "half", "shapes", "a call, µs", "mean", "95% within", "worst", "pairs in order"),
              [library_row(*half) for half in model.halves], left=2),
    ]


def decode_times(model):
    errors = [c.time_error for c in model.decode]
    rows = [(c["batch"], f"{c['seq_k']:,}", c["splits"], f"{c.us:.1f}", f"{c.modelled_us:.1f}", signed(c.time_error),
             *(f"{launch['time_us']:.1f}" for launch in c.model["launches"])) for c in model.decode]
    return [
        "### Decoding",
        paragraph(f"""The cases of [decode.csv](measured/h200/decode.csv) (H200, f16, d = 128, one query of 32 heads over
            8, packed), warm: the model is {share(mean(errors))} off on average, {signed(worst(errors))} at worst. The last
            two columns are the two launches of `split_kv`, as modelled."""),
        table(("batch", "keys", "S", "measured, µs", "modelled, µs", "off", "parts, µs", "combining, µs"), rows, left=0),
    ]


# ---- DRAM, residency ----


def dram_row(family, machine, cases):
    errors = [abs(c.dram_error) for c in cases]
    middle = share(statistics.median(errors))
    within = (share(sum(e <= most for e in errors) / len(errors), 0) for most in (DRAM_CLOSE, DRAM_TO_LIST))
    return family, machine, len(cases), share(mean(errors)), middle, signed(worst([c.dram_error for c in cases])), *within


def dram_reads(model):
    one_block_per_head = [abs(c.dram_error) for family in ("flash_v1", "chunked") for c in dram_cases(model.of(family))]
    groups = [(family, machine, dram_cases(model.of(family, machine))) for family in FAMILIES for machine in MACHINES]
    return [
        "### DRAM reads",
        paragraph(f"""Bytes that DRAM sent to the L2, where more than 20 MB were measured. The H100's counters are those
            of the edges. Kernels with one thread block per head (`flash_v1`, `chunked`) are the hard ones: their median
            is {share(statistics.median(one_block_per_head))}. What is further off than {share(DRAM_TO_LIST, 0)} is
            [listed below](#dram-reads-that-are-off)."""),
        table(("kernel", "on", "cases", "mean", "median", "worst", "within 5%", "within 10%"),
              [dram_row(*group) for group in groups if group[2]], left=2),
    ]


def instances(cases):
    """Cases with a counted residency, grouped by what is compiled: kernel, type, tile, dims and roles of warps."""
    found = {}
    for c in cases:
        if c["blocks_per_sm"] is not None:
            found.setdefault(tuple(c[k] for k in ("algorithm", "dtype", "br", "bc", "dim", "dim_v", *ROLES)), []).append(c)
    return list(found.values())


def agrees(case):
    """Whether a launch, with registers as compiled, has the counted residency."""
    return any(launch["registers_compiled"] and launch["blocks_per_sm"] == case["blocks_per_sm"]
               for launch in case.model["launches"])


def residency(model):
    everything = instances(model.cases)
    other = [cases for cases in everything
             if not all(c.launch["blocks_per_sm"] == c["blocks_per_sm"] for c in cases) and all(map(agrees, cases))]
    names = "; ".join(f"`{c['algorithm']}` {c['br']} x {c['bc']}, d = {c['dim']}" for c, *_ in other)
    rows = [(family, len(of), sum(all(map(agrees, cases)) for cases in of),
             *(sum(cases[0].launch["limited_by"] == by for cases in of) for by in limiting(everything)))
            for family in FAMILIES for of in [instances(model.of(family))] if of]
    total = sum(row[2] for row in rows)
    agreed = "all of them" if total == len(everything) else str(total)
    return [
        "### Thread blocks on an SM",
        paragraph(f"""An instance is a kernel with a type, a tile, d, dv and roles of its warps: {len(everything)} have a counted
            `blocks_per_sm`, and in {agreed} the modelled number is the counted one in all cases. Registers are those
            that the compiler gave; what the rule for tiles without a kernel would say is not compared here."""),
        table(("kernel", "instances", "agree", *(f"limit: {by}" for by in limiting(everything))), rows),
        *([paragraph(f"""The counters hold the launch that was measured to take longest. In {len(other)} of the
            instances ({names}) another launch is modelled to take longest, and the number is that of one of the
            others.""")] if other else []),
    ]


def limiting(everything):
    return sorted({cases[0].launch["limited_by"] for cases in everything})


# ---- what is beyond ----


def cause_bullet(model, label, sentence):
    cases = [c for c in model.cases if abs(c.time_error) > TO_EXPLAIN and time_cause(c) == label]
    if not cases:
        return []
    errors = sorted(c.time_error for c in cases)
    number = f"{len(cases)} cases, {signed(errors[0])} to {signed(errors[-1])}" if len(cases) > 1 else \
        f"1 case, {signed(errors[0])}"
    kernels = ", ".join(dict.fromkeys(code(c.family) for c in cases))
    return [f"**{label}** ({number}; {kernels}): {sentence}"]


def times_beyond(model):
    rows = [(c.machine, name(c), time_cause(c), f"{c.us:,.1f}", f"{c.modelled_us:,.1f}", signed(c.time_error))
            for c in sorted(beyond(model.cases), key=lambda c: -abs(c.time_error))]
    return [
        "### Times that are off",
        paragraph(f"""Cases beyond the limit of the worst, {len(rows)} of {len(model.cases)}:"""),
        table(("on", "case", "cause", "measured, µs", "modelled, µs", "off"), rows, left=3),
        paragraph(f"""The causes, with the number of cases of any kernel that are off by more than
            {share(TO_EXPLAIN, 0)}. They are found by shape and were not each measured apart; `scripts/validation` fails
            where a case has none of them."""),
        bullets([said for label, _, sentence in TIME_CAUSES for said in cause_bullet(model, label, sentence)]),
    ]


def dram_off_row(case):
    return (case.machine, name(case), f"{case['dram_read_bytes'] / 1e6:,.0f}",
            f"{case.model['dram_read_bytes'] / 1e6:,.0f}", signed(case.dram_error), f"{goes_round_in(case):,.0f}")


def dram_off(model):
    cases = sorted(far_off_in_dram(model), key=lambda c: (FAMILIES.index(c.family), -abs(c.dram_error)))
    causes = " ".join(f"`{family}`: {DRAM_CAUSES[family]}" for family in dict.fromkeys(c.family for c in cases))
    return [
        "### DRAM reads that are off",
        paragraph(f"""All {len(cases)} cases off by more than {share(DRAM_TO_LIST, 0)} have data about as large as the
            L2 ({L2_MB} MB, of which copies in the other partition take a part) that they read again and again: the last
            column. Whether a piece is still there when it comes round is decided by little, and the L2's rule is not
            published: in the model the oldest of 16 tiles drawn by lot leaves. {causes}"""),
        table(("on", "case", "measured, MB", "modelled, MB", "off", "goes round in, MB"),
              [dram_off_row(c) for c in cases], left=2),
    ]


def section(model):
    return [*what_was_compared(model), *times(model), *decode_times(model), *library_times(model), *dram_reads(model), *residency(model),
            *times_beyond(model), *dram_off(model)]


# ---- docs/time.md ----


def short_row(model, family):
    cells = []
    for machine in MACHINES:
        errors = [c.time_error for c in model.of(family, machine)]
        cells += [len(errors), share(mean(errors)), signed(worst(errors))] if errors else ["-"] * 3
    algorithm = family.removesuffix(", tensor cores")
    label = f"`{algorithm}`, f32" if family == algorithm else f"`{algorithm}` on tensor cores"
    return label, *cells


def short_library_row(model, half):
    of = [h for _, h in model.halves if h.name == half]
    return (f"{LIBRARY}, half {half}", *(cell for h in of for cell in (len(h.cases), share(h.mean), signed(h.worst))))


def short_table(model):
    columns = [f"{machine}: {what}" if what == "cases" else what for machine in MACHINES
               for what in ("cases", "mean", "worst")]
    return table(("kernels", *columns), [*(short_row(model, family) for family in FAMILIES if model.of(family)),
                                         *(short_library_row(model, half) for half in ("one", "two"))])
