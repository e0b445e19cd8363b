#!/usr/bin/env python3
"""One measurement in every format in which Nsight Compute, spreadsheets and scripts write it. `reconcile` reads the
same numbers from each, names what it cannot understand, and says what the counters mean for the time."""

import csv
import io
import itertools
import json
import os
import pathlib
import sys
import tempfile

from cases import Tally, run

MEASURED = pathlib.Path(__file__).resolve().parent.parent / "device/ncu/flash_v2_f16.csv"
WORDS = ["flash_v2", "--heads", "16"]
# Per unit of the file: larger units, and by which power of ten they are larger. Prefixes are SI prefixes.
SCALED = {"byte": [("Kbyte", 3), ("Mbyte", 6), ("Gbyte", 9), ("MB", 6)], "ns": [("us", 3), ("usecond", 3), ("msecond", 6)],
          "sector": [("Ksector", 3)], "inst": [("Kinst", 3), ("Minst", 6)], "block": [], "": []}
LEGENDS = {"launch__occupancy_limit_registers": "Block Limit Registers", "gpu__time_duration.sum": "Duration",
           "launch__occupancy_limit_shared_mem": "Block Limit Shared Mem",
           "launch__waves_per_multiprocessor": "Waves Per SM"}


def measured():
    """The kernel, what is known of its launch, and (metric, unit, digits) without thousands separators."""
    rows = list(csv.reader(line for line in MEASURED.read_text().splitlines() if line.startswith('"')))
    header, units, values = rows
    first = header.index("dram__bytes_read.sum")
    return (dict(zip(header[:first], values[:first])),
            [(m, u, v.replace(",", "")) for m, u, v in zip(header[first:], units[first:], values[first:])])


def scaled(digits, places):
    """A number in digits divided by a power of ten, exactly."""
    whole, _, part = digits.partition(".")
    whole = whole.rjust(places + 1, "0")
    return (whole[:-places] + "." + whole[-places:] + part).rstrip("0").rstrip(".")


def grouped(digits, point, group):
    whole, _, part = digits.partition(".")
    parts = []
    while len(whole) > 3:
        whole, end = whole[:-3], whole[-3:]
        parts.insert(0, end)
    return group.join([whole, *parts]) + (point + part if part else "")


def in_units(metrics, turn):
    """Each metric in another unit; `turn` chooses one of those that the metric can have."""
    for metric, unit, digits in metrics:
        choices = [(unit, 0), *SCALED[unit]]
        name, places = choices[turn % len(choices)]
        yield metric, name, scaled(digits, places) if places else digits


def raw_page(known, metrics, units="row"):
    names = [f"{m} [{u}]" if units == "names" and u else m for m, u, _ in metrics]
    rows = [[*known, *names]]
    if units == "row":
        rows.append([""] * len(known) + [u for _, u, _ in metrics])
    return rows + [[*known.values(), *(v for _, _, v in metrics)]]


def details_page(known, metrics, legends=False):
    rows = [[*known, "Section Name", "Metric Name", "Metric Unit", "Metric Value"]]
    for metric, unit, value in metrics:
        name = LEGENDS.get(metric, metric) if legends else metric
        rows.append([*known.values(), "Command line profiler metrics", name, unit, value])
    # A share and a rate of the same name, and a rule without a metric.
    rows.append([*known.values(), "GPU Speed Of Light Throughput", "Memory Throughput", "%", "43"])
    rows.append([*known.values(), "SpeedOfLight", "", "", ""])
    return rows


def with_index(rows):
    """With an index column, as pandas saves a table."""
    return [["" if k == 0 else str(k - 1), *row] for k, row in enumerate(rows)]


def text_of(rows, separator=",", quoting=csv.QUOTE_ALL, end="\n", noise=True):
    out = io.StringIO()
    if noise:
        out.write("==PROF== Connected to process 461" + end + "a program's own, \"quoted\" words; here" + end)
    csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=end).writerows(rows)
    return out.getvalue()


def with_numbers(metrics, point, group):
    return [(m, u, grouped(v, point, group)) for m, u, v in metrics]


def dialects():
    """(name, bytes) of each format."""
    known, metrics = measured()
    english, plain = with_numbers(metrics, ".", ","), metrics
    german, french = with_numbers(metrics, ",", "."), with_numbers(metrics, ",", "\u202f")
    swiss, comma = with_numbers(metrics, ".", "\u2019"), with_numbers(metrics, ",", "")
    numbers = {"English": english, "ungrouped": plain, "German": german, "French": french, "Swiss": swiss,
               "decimal comma, ungrouped": comma}
    for (how, m), page in itertools.product(numbers.items(), (raw_page, details_page)):
        yield f"{page.__name__}, {how}", text_of(page(known, m)).encode()
        if "," not in "".join(v for _, _, v in m):  # where numbers have commas, quotes are needed
            yield f"{page.__name__}, {how}, few quotes", text_of(page(known, m), quoting=csv.QUOTE_MINIMAL).encode()
    for how, separator in (("semicolons", ";"), ("tabs", "\t")):
        for name, m in (("German", german), ("decimal comma, ungrouped", comma), ("ungrouped", plain)):
            rows = text_of(raw_page(known, m), separator, csv.QUOTE_MINIMAL, "\r\n", noise=False)
            yield f"{how}, {name}", rows.encode()
    rows = text_of(raw_page(known, english), end="\r\n")
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le"):
        yield encoding, rows.encode(encoding)
    yield "utf-16-be", b"\xfe\xff" + rows.encode("utf-16-be")
    for turn in range(1, 5):
        m = list(in_units(metrics, turn))
        yield f"units {turn}, raw", text_of(raw_page(known, with_numbers(m, ".", ","))).encode()
        yield f"units {turn}, details", text_of(details_page(known, with_numbers(m, ",", "."))).encode()
    yield "units in names", text_of(raw_page(known, list(in_units(metrics, 1)), "names")).encode()
    yield "names for people", text_of(details_page(known, english, legends=True)).encode()
    yield "saved by pandas", text_of(with_index(raw_page(known, plain)), quoting=csv.QUOTE_MINIMAL, noise=False).encode()
    yield "saved by pandas, details", text_of(with_index(details_page(known, english)), quoting=csv.QUOTE_MINIMAL,
                                              noise=False).encode()
    without_id = {k: v for k, v in known.items() if k != "ID"}
    yield "without numbers of launches", text_of(details_page(without_id, english)).encode()
    yield "another name of a column", text_of(
        raw_page({("Function Name" if k == "Kernel Name" else k): v for k, v in known.items()}, english)).encode()


def check_dialects(binary, tally, folder):
    want = json.loads(run(binary, ["reconcile", *WORDS, str(MEASURED), "--json"]).stdout)
    n = 0
    for name, content in dialects():
        path = folder / "counters.csv"
        path.write_bytes(content)
        done = run(binary, ["reconcile", *WORDS, str(path), "--json"])
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        same = said.get("levels") == want["levels"] and said.get("launches") == want["launches"]
        tally.check(same and said.get("missing") == want["missing"], f"{name}: {done.stderr or said.get('levels')}")
        n += 1
    tally.check(n >= 40, f"{n} dialects")


def check_parts(binary, tally, folder):
    """Metrics that the file has are compared; missing ones are listed."""
    known, metrics = measured()

    def said(metrics, *more, page=raw_page):
        path = folder / "part.csv"
        path.write_text(text_of(page(known, metrics)))
        return run(binary, ["reconcile", *WORDS, str(path), *more])

    dram_and_time = [m for m in metrics if m[0].startswith(("dram__", "gpu__time"))]
    j = json.loads(said(dram_and_time, "--json").stdout)
    tally.check([level["name"] for level in j["levels"]] == ["DRAM, read", "DRAM, written", "time"],
                f"DRAM and time: {j['levels']}")
    tally.check([m["level"] for m in j["missing"]] == ["SM traffic, read", "SM traffic, written", "exponentials",
                                                       "matrix FLOPs"], f"missing: {j['missing']}")
    words = said(dram_and_time).stdout
    tally.check("SM traffic:" not in words and "A store of less" not in words and "Below a level" not in words and
                "DRAM written: without" in words and "Time: with caches cold" in words, f"of what is there alone: {words}")
    tally.check("Not in the file: SM traffic, read (l1tex__m_xbar2l1tex_read_bytes.sum)" in words, words)
    not_there = [(m, u, "n/a" if m.startswith("smsp__inst") else v) for m, u, v in metrics]
    j = json.loads(said(not_there, "--json").stdout)
    tally.check([m["level"] for m in j["missing"]] == ["exponentials"], f"n/a: {j['missing']}")
    both = [("dram__bytes.sum", "Mbyte", "6.4"), ("gpu__time_duration.sum", "us", "26.272")]
    j = json.loads(said(both, "--json").stdout)
    tally.check([(level["name"], round(level["measured"], 6)) for level in j["levels"]] ==
                [("DRAM, both ways", 6.4e6), ("time", 26.272)], f"both ways: {j['levels']}")
    words = " ".join(said(both).stdout.split())
    tally.check("DRAM, 6.40 MB measured, which take " in words and "None of these adds to the modelled time." in words and
                "Below the time" not in words, f"whose rate it is, and nothing below: {words}")
    rate = [("Memory Throughput", "Gbyte/second", "250"), ("Duration", "usecond", "20")]
    j = json.loads(said(rate, "--json", page=details_page).stdout)
    tally.check([(level["name"], level["measured"]) for level in j["levels"]] ==
                [("DRAM, both ways", 5e6), ("time", 20)], f"a rate and a time: {j['levels']}")
    tally.check(j["levels"][0]["metric"] == "dram__bytes.sum.per_second x gpu__time_duration.sum", f"by rate: {j['levels'][0]}")
    only_comma = [("gpu__time_duration.sum", "us", "237,216")]
    j = json.loads(said(only_comma, "--json").stdout)
    tally.check([level["measured"] for level in j["levels"]] == [237.216], f"a comma in microseconds: {j['levels']}")
    for wrong, needed in (
            ([("dram__bytes_read.sum", "byte", "abc")], "has abc for dram__bytes_read.sum, which is no number"),
            ([("dram__bytes_read.sum", "byte", "-7")], "it is negative"),
            ([("dram__bytes_read.sum", "Gbyte", "1e12")], "it is too large"),
            ([("gpu__time_duration.sum", "fortnight", "1")],
             "has gpu__time_duration.sum in fortnight, which is no unit of it; have it written with ncu --print-units base"),
            ([("dram__bytes_read.sum", "", "12")], "has dram__bytes_read.sum without a unit"),
            ([("gpu__time_duration.sum", "ns", "1,5"), ("dram__bytes_read.sum", "byte", "1.5")],
             "has numbers that do not agree about their decimal mark: 1.5 and 1,5"),
            ([("sm__warps_active.sum", "warp", "12")], "has none of the metrics that are compared")):
        done = said(wrong)
        tally.check(done.returncode == 2 and needed in done.stderr and done.stderr.count("\n") == 1,
                    f"{wrong}: {done.returncode} {done.stderr}")
    for page in (raw_page(known, metrics, "none"), [row[:-2] + row[-1:] for row in details_page(known, metrics)]):
        path = folder / "units.csv"
        path.write_text(text_of(page))
        done = run(binary, ["reconcile", *WORDS, str(path)])
        tally.check(done.returncode == 2 and "has no units, so that" in done.stderr, f"without units: {done.stderr}")
    path = folder / "unclear.csv"
    path.write_text(text_of(raw_page(known, [("dram__bytes_read.sum", "byte", "1,234")]), ";", csv.QUOTE_MINIMAL))
    done = run(binary, ["reconcile", *WORDS, str(path)])
    tally.check(done.returncode == 2 and "does not tell whether 1,234 has a decimal mark" in done.stderr, done.stderr)


def check_notes(binary, tally, folder):
    """Notes say what casts doubt on whether the file is of this run, and which launches lack a number."""
    known, metrics = measured()

    def said(rows, *words):
        path = folder / "notes.csv"
        path.write_text(text_of(rows))
        done = run(binary, ["reconcile", *(words or WORDS), str(path), "--json"])
        return json.loads(done.stdout) if done.returncode == 0 else {"notes": [done.stderr]}

    rows = raw_page(known, metrics)
    tally.check(said(rows)["notes"] == [], f"nothing to doubt: {said(rows)['notes']}")
    another = said(rows, *WORDS, "--gpu", "A100")["notes"]
    tally.check(len(another) == 1 and "compute capability 9.0, where A100-40GB has 8.0" in another[0], f"{another}")
    sms = said(raw_page(known, [*metrics, ("launch__sm_count", "", "114")]))["notes"]
    tally.check(len(sms) == 1 and "114 SMs, where H100-SXM has 132" in sms[0], f"{sms}")
    shape = said(rows, *WORDS, "--seq", "512")["notes"]
    tally.check(len(shape) == 1 and "4 times the model's matrix FLOPs" in shape[0], f"{shape}")
    smaller = [*WORDS, "--br", "64", "--bc", "64"]
    tiles = said(raw_page({**known, "Kernel Name": "a_kernel(float*)"}, metrics), *smaller)["notes"]
    tally.check(len(tiles) == 1 and "with its matrix FLOPs: with other tiles than 64 x 64 (--br, --bc)?" in tiles[0], f"{tiles}")
    library = {**known, "Kernel Name": "void flash_fwd_kernel<Flash_fwd_kernel_traits<(int)64, (int)128, (int)128, (int)4>>"}
    named = said(raw_page(library, metrics), *smaller)["notes"]
    tally.check(named == ["The kernel's name says tiles of 128 x 128, and the model's are 64 x 64: --br 128 --bc 128."],
                f"{named}")
    tally.check(said(raw_page(library, metrics), *WORDS, "--br", "128", "--bc", "128")["notes"] == [], "its own tiles")
    spilled = said(details_page(known, [*metrics, ("Local Memory Spilling Requests", "", "2,086,912")]))["notes"]
    tally.check(len(spilled) == 1 and "spills registers: 2,086,912 requests" in spilled[0], f"{spilled}")
    frequency = [("gpu__time_duration.sum", "us", "26.272"), ("SM Frequency", "Ghz", "1.2")]
    causes = said(details_page(known, frequency))["levels"][0]["time_causes"]
    tally.check([c["what"][:9] for c in causes] == ["1,200 MHz"], f"SM Frequency: {causes}")
    other = rows[2][:]
    other[list(known).index("Kernel Name")] = "a_copy(float*)"
    two = said([*rows, other])
    tally.check("The file has 2 kernels, where flash_v2 has 1" in two["notes"][0], f"{two['notes']}")
    wider = details_page({**known, "ID": "9", "Grid Size": "(7, 1, 1)"}, metrics)
    grids = said([*details_page(known, metrics), *wider[1:]], *WORDS)["notes"]
    tally.check(any("have grids of" in note and "(7, 1, 1)" in note for note in grids), f"{grids}")
    ours = "void unnamed>::flash_v2_tensor_core_kernel<__half, 128, 128, 64>(unnamed>::Args<T1>)"
    for kernel, whose in ((ours, "flash_v2"), ("flash_v2_backward", "flash_v2_backward"), ("standard_scores<128>(Args)", "standard"),
                          ("void flash_v9_kernel<128>(Args)", ""), ("pytorch_flash::fwd", "")):
        notes = said(raw_page({**known, "Kernel Name": kernel}, metrics), *WORDS)["notes"]
        wanted = f"is named as kernels of {whose} are: compare it with {whose}." if whose not in ("", "flash_v2") else ""
        tally.check(len(notes) == bool(wanted) and wanted in "".join(notes), f"{kernel}: {notes}")
    own = {**known, "Kernel Name": ours}
    notes = said(raw_page(own, metrics), *smaller)["notes"]
    tally.check(notes == ["The kernel's name says tiles of 128 x 128, and the model's are 64 x 64: --br 128 --bc 128."], f"{notes}")
    notes = said(raw_page({**own, "Kernel Name": "standard_scores<128>(Args)"}, metrics), *smaller)["notes"]
    tally.check(len(notes) == 1, f"tiles of another algorithm's kernel: {notes}")
    # Without FLOPs, the number of thread blocks shows another shape, unless another note has said so already.
    library = {**known, "Kernel Name": "void a_kernel(float*)"}
    no_flops = [m for m in metrics if "tensor" not in m[0]]
    for grid, chosen, wanted in (("(8, 16, 1)", no_flops, ""), ("(4, 16, 1)", metrics, ""), ("", no_flops, ""),
                                 ("(4, 16, 1)", no_flops, "has 64 thread blocks, and the model's launch 128: another shape"),
                                 ("(999999999999, 999999999999, 1)", no_flops, "")):
        notes = said(raw_page({**library, "Grid Size": grid}, chosen), *WORDS, "--br", "128", "--bc", "128")["notes"]
        tally.check(len(notes) == bool(wanted) and wanted in "".join(notes), f"{grid}: {notes}")
    lacking = other[:]
    lacking[rows[0].index("dram__bytes_read.sum")] = "n/a"
    missing = said([*rows, lacking])["missing"]
    tally.check([(m["metric"], m["why"]) for m in missing] == [("dram__bytes_read.sum", "of 1 of 2 launches alone")],
                f"{missing}")
    nameless = [[cell for k, cell in enumerate(row) if rows[0][k] != "Kernel Name"] for row in rows]
    tally.check("has no column Kernel Name" in said(nameless)["notes"][0], f"{said(nameless)}")
    unit = said(details_page(known, [("Duration", "fortnight", "1")]))["notes"][0]
    tally.check("has Duration in fortnight" in unit, unit)
    done = run(binary, ["reconcile", *WORDS, "profile.ncu-rep"])
    tally.check(done.returncode == 2 and "ncu --import profile.ncu-rep --csv" in done.stderr, done.stderr)


def check_time(binary, tally, folder):
    """Fewer thread blocks, more DRAM traffic, bank conflicts and a slow clock are each named as costing time."""
    known, metrics = measured()
    worse = {"launch__occupancy_limit_registers": "1", "dram__bytes_read.sum": "400000000", "gpu__time_duration.sum": "200000",
             "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "1355650"}

    def causes(metrics):
        path = folder / "time.csv"
        path.write_text(text_of(raw_page(known, metrics)))
        words = ["reconcile", "flash_v2", str(path), "--heads", "16", "--gpu", "H100"]
        levels = json.loads(run(binary, [*words, "--json"]).stdout)["levels"]
        return {c["name"]: c for c in levels[-1]["time_causes"]}, run(binary, words).stdout

    as_it_was, _ = causes(metrics)
    tally.check(list(as_it_was) == ["thread blocks on an SM", "DRAM", "bank conflicts"], f"causes: {as_it_was}")
    tally.check(all(abs(c["us"]) < 0.1 for c in as_it_was.values()), f"nothing costs: {as_it_was}")
    few, _ = causes([*metrics, ("launch__occupancy_limit_warps", "block", "1")])
    tally.check(few["thread blocks on an SM"]["what"] == "1 measured, 2 modelled", f"by warps: {few}")
    no_limit, _ = causes([(m, u, "n/a" if m.endswith("shared_mem") else v) for m, u, v in metrics])
    tally.check("thread blocks on an SM" not in no_limit, f"a limit is unknown: {no_limit}")
    slow, words = causes([(m, u, worse.get(m, v)) for m, u, v in metrics] + [("sm__cycles_elapsed.max", "cycle", "200000")])
    tally.check(slow["thread blocks on an SM"]["what"] == "1 measured, 2 modelled", f"blocks: {slow}")
    tally.check(slow["DRAM"]["us"] > 80, f"DRAM: {slow}")
    tally.check(slow["bank conflicts"]["us"] > 4, f"conflicts: {slow}")
    tally.check(slow["clock"]["what"].startswith("1,000 MHz measured") and slow["clock"]["us"] > 15, f"clock: {slow}")
    tally.check("Counted beside the time: thread blocks on an SM, 1 measured, 2 modelled; DRAM, 400 MB" in
                " ".join(words.split()), words)


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_dialects, check_parts, check_notes, check_time):
            check(binary, tally, pathlib.Path(folder))
    tally.close()


main()
