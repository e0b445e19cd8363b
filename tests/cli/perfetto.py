#!/usr/bin/env python3
"""`trace --perfetto` draws what `timeline --json` says. Its files are decoded by protoc with the messages of
perfetto.proto; they have the same launches, thread blocks, places and busy units."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cases import Tally, run

MESSAGES = pathlib.Path(__file__).resolve().parent / "perfetto.proto"
RUNS = [
    "flash_v2 --gpu H200 --heads 16 --seq 2048 --dim 128",
    "flash_v2 --seq 1000 --causal",
    "flash_v2 --gpu H100 --seq-q 700 --seq-k 1333 --heads 3 --batch 5 --causal --dim 96 --detail 3",
    "flash_v2 --gpu toy --seq 64 --dim 4 --heads 2 --dtype f32 --br 4 --bc 4 --detail 9",
    "flash_v2 --sms 1 --heads 2 --seq 3000 --causal --br 64 --bc 64",
    "flash_v1 --gpu H200 --seq 2000 --heads 40 --dtype f32 --br 64 --bc 64",
    "flash_v1 --seq 500 --heads 3 --causal",
    "standard --gpu H200 --seq 1500 --heads 5 --dtype f32",
    "standard --seq 512 --causal --detail 108",
    "chunked --seq 777 --heads 7 --dtype f32",
    "memory_efficient --seq 1024 --heads 4 --dtype f32 --sms 7",
    "two_pass --seq 900 --dtype f32 --gpu H200 --sms 20",
    "three_pass --seq 640 --causal --sms 12",
    "softmax_online --seq-q 5000 --seq-k 3000 --heads 2",
    "softmax_safe --seq-q 300 --seq-k 100 --gpu H200",
]


class Wrong(Exception):
    """A file is wrong; the message says how."""


def require(ok, what):
    if not ok:
        raise Wrong(what)


# ---- Reading a file

TOKEN = re.compile(r'\s*(?:(\w+) \{|(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+))|(\}))')


def messages(text):
    """protoc's output as dictionaries of lists."""
    stack, at, text = [collections.defaultdict(list)], 0, text.rstrip()
    while at < len(text):
        token = TOKEN.match(text, at)
        require(token, f"protoc prints {text[at:at + 60]!r}")
        at = token.end()
        if token[1]:
            inner = collections.defaultdict(list)
            stack[-1][token[1]].append(inner)
            stack.append(inner)
        elif token[2]:
            require(not token[2].isdigit(), f"a field that perfetto.proto does not have: {token[0].strip()}")
            stack[-1][token[2]].append(token[3] if token[3] is not None else token[4])
        else:
            stack.pop()
    require(len(stack) == 1, "a message without an end")
    return stack[0]


def decoded(content):
    r = subprocess.run(["protoc", "--decode=Trace", f"-I{MESSAGES.parent}", MESSAGES], input=content,
                       capture_output=True)
    require(r.returncode == 0, f"protoc: {r.stderr.decode(errors='replace')[:200]}")
    return messages(r.stdout.decode())["packet"]


Slice = collections.namedtuple("Slice", "name notes begin end depth")


class Trace:
    """The tracks, with their slices in the order in which they begin, and the values of their counters."""

    def __init__(self, content):
        self.parent, self.name, self.counters = {}, {}, set()
        self.slices, self.values = collections.defaultdict(list), collections.defaultdict(list)
        open_slices, names, notes = collections.defaultdict(list), {}, {}
        packets = decoded(content)
        require(packets and packets[0]["sequence_flags"] == ["3"], "the sequence does not begin")
        for p in packets:
            require(p["trusted_packet_sequence_id"] == ["1"], "a packet of no sequence")
            for data in p["interned_data"]:
                names.update({n["iid"][0]: n["name"][0] for n in data["event_names"]})
                notes.update({n["iid"][0]: n["name"][0] for n in data["debug_annotation_names"]})
            for t in p["track_descriptor"]:
                self.declare(t)
            for e in p["track_event"]:
                self.event(e, int(p["timestamp"][0]), open_slices[e["track_uuid"][0]], names, notes)
        require(not any(open_slices.values()), "a slice without an end")
        for track in self.slices:
            self.slices[track].sort(key=lambda s: (s.begin, s.depth, s.end))

    def declare(self, t):
        uuid, parent = t["uuid"][0], t["parent_uuid"][0] if t["parent_uuid"] else None
        require(uuid not in self.name, f"track {uuid} is declared twice")
        require(parent is None or parent in self.name, f"track {uuid} is below a track that is not there")
        self.name[uuid], self.parent[uuid] = t["name"][0], parent
        if t["counter"]:
            self.counters.add(uuid)

    def event(self, e, time, within, names, notes):
        track, kind = e["track_uuid"][0], e["type"][0]
        require(track in self.name, f"an event on track {track}, which is not declared")
        require((kind == "TYPE_COUNTER") == (track in self.counters), f"{kind} on {self.name[track]}")
        if kind == "TYPE_COUNTER":
            require(not self.values[track] or self.values[track][-1][0] <= time, "a counter goes back in time")
            self.values[track].append((time, float(e["double_counter_value"][0])))
        elif kind == "TYPE_SLICE_BEGIN":
            name = e["name"][0] if e["name"] else names[e["name_iid"][0]]
            require(not within or time >= within[-1][3], f"{name} begins before what is around it, or what was before")
            within.append([name, {notes[n["name_iid"][0]]: n["string_value"][0] for n in e["debug_annotations"]}, time,
                           time])
        else:
            require(within, "an end without a begin")
            name, noted, begin, least = within.pop()
            require(time >= least, f"{name} ends before it begins, or before what is in it")
            self.slices[track].append(Slice(name, noted, begin, time, len(within)))
            if within:
                within[-1][3] = time

    def below(self, name, parent=None):
        return [t for t in self.name if self.name[t] == name and (parent is None or self.parent[t] == parent)]

    def path(self, track):
        return [] if track is None else [*self.path(self.parent[track]), self.name[track]]


# ---- Comparing it with the timeline


def near(a, b, relative, absolute=0.0):
    return abs(a - b) <= relative * max(abs(a), abs(b)) + absolute


def check_launches(trace, told):
    """Launches follow one another, last as long as told, and start with their overhead. Returns for each launch when it
    begins, when its thread blocks begin, and when it ends."""
    slices = trace.slices[trace.below("launches")[0]]
    launches = [s for s in slices if s.depth == 0]
    overheads = [s for s in slices if s.depth == 1]
    require([s.name for s in launches] == [l["kernel"] for l in told["launches"]], "other launches")
    require([s.name for s in overheads] == ["launch overhead"] * len(launches), "launches without overhead")
    begin = 0
    for s, o, l in zip(launches, overheads, told["launches"]):
        require(near(s.begin, 1e3 * begin, 0, 1) and near(s.end - s.begin, 1e3 * l["time_us"], 0, 1), f"{s} for {l}")
        require(s.begin == o.begin < o.end < s.end, f"overhead {o} of {s}")
        begin += l["time_us"]
    last = max(s.end for slices in trace.slices.values() for s in slices)
    require(near(last, 1e3 * told["time_us"], 0, 1), f"ends at {last} ns instead of {told['time_us']} µs")
    return [(s.begin, o.end, s.end) for s, o in zip(launches, overheads)]


def slot_tracks(trace):
    return {t: trace.path(t)[-2] for t in trace.name if re.fullmatch(r"slot \d+", trace.name[t])}


def check_blocks(trace, told, places):
    """There are as many thread blocks as told, each once, at most one at a time in a slot, no more on an SM than it
    holds."""
    slots = slot_tracks(trace)
    for (_, begin, end), l in zip(places, told["launches"]):
        names, on_sm, time = [], collections.defaultdict(set), 0
        for track, sm in slots.items():
            free = begin - 1
            for s in trace.slices[track]:
                if s.depth == 0 and begin <= s.begin < end:
                    require(s.begin >= free, f"{s} before {free} ns, where its slot is free")
                    require(s.end <= end + 1, f"{s} ends after its launch, at {end}")
                    free = s.end
                    names.append(s.name)
                    on_sm[sm].add(track)
                    time += s.end - s.begin
        require(len(names) == l["thread_blocks"], f"{len(names)} thread blocks instead of {l['thread_blocks']}")
        require(len(set(names)) == len(names), "a thread block is there twice")
        most = max(len(t) for t in on_sm.values())
        require(most <= l["blocks_per_sm"], f"{most} thread blocks on an SM that holds {l['blocks_per_sm']}")
        resident = time / (end - begin) / told["gpu"]["sms"]
        require(near(resident, l["resident_blocks"], 1e-3), f"{resident} are resident, not {l['resident_blocks']}")
    drawn = sum(s.depth == 0 for t in slots for s in trace.slices[t])
    require(drawn == sum(l["thread_blocks"] for l in told["launches"]), "thread blocks outside launches")


def check_parts(trace, told, places):
    """Start and loops of a thread block fill its time. On SM 0 they contain steps, one after the other."""
    for track in slot_tracks(trace):
        blocks = [s for s in trace.slices[track] if s.depth == 0]
        parts = [s for s in trace.slices[track] if s.depth == 1]
        require(parts, "thread blocks without parts")
        for b in blocks:
            sizes = [p.end - p.begin for p in parts if b.begin <= p.begin and p.end <= b.end]
            require(near(sum(sizes), b.end - b.begin, 1e-6, 3), f"{b} has parts of {sizes}")
            parts = parts[len(sizes):]
    first = [t for t, sm in slot_tracks(trace).items() if sm == "SM 0"]
    for (_, begin, end), l in zip(places, told["launches"]):
        require(any(s.name == "loop step" and begin <= s.begin < end for t in first for s in trace.slices[t]),
                f"SM 0 has no steps of {l['kernel']}")
    for track in first:
        for what in ("loop step", "move"):
            loops = [s for s in trace.slices[track] if re.fullmatch(rf"[\d,]+ {what}s?", s.name)]
            turns = sum(s.name == what for s in trace.slices[track])
            named = sum(int(s.name.split()[0].replace(",", "")) for s in loops)
            require(turns == named, f"{turns} {what}s in loops of {named}")
        moves = [s for s in trace.slices[track] if s.name == "move"]
        inside = [s.name for s in trace.slices[track] if any(s.depth == m.depth + 1 and m.begin <= s.begin < m.end
                                                             for m in moves)]
        require(all(re.fullmatch("waiting for (l2|dram)", name) for name in inside), f"a move computes: {set(inside)}")


def check_own_time(trace, told, places):
    """A step consists of its units' terms and its waiting. It takes the time told for as many thread blocks as share
    the SM."""
    track = [t for t, sm in slot_tracks(trace).items() if sm == "SM 0"][0]
    (_, begin, end), l = places[0], told["launches"][0]
    units = {n: 1e3 * c / l["clock_mhz"] for n, c in l["step"]["unit_cycles"].items() if n not in ("l2", "dram")}
    step = next(s for s in trace.slices[track] if s.name == "loop step")
    terms = [s for s in trace.slices[track]
             if s.depth == step.depth + 1 and step.begin <= s.begin and s.end <= step.end]
    own = sum(s.end - s.begin for s in terms if not s.name.startswith("waiting for"))
    require(near(own, 1e3 * l["step"]["alone_cycles"] / l["clock_mhz"], 0, 2), f"{own} ns of {l['step']}")
    spread = {s.name: (s.end - s.begin) / units[s.name] for s in terms if s.name in units}
    together = l["step"]["together_cycles"]
    length = 1e3 * together[min(len(together), max(1, l["thread_blocks"] // told["gpu"]["sms"])) - 1] / l["clock_mhz"]
    require(near(step.end - step.begin, length, 0, 2), f"{step} takes {step.end - step.begin} ns, not {length}")
    require(set(spread) == {n for n, c in units.items() if c > 1}, f"terms {spread}")


def integral(values):
    return sum(v * (after - at) for (at, v), (after, _) in zip(values, values[1:]))


def check_units(trace, told, places):
    """Over a launch, units are as busy, and as many thread blocks resident, as told."""
    root = trace.below("all SMs")[0]
    for (_, begin, end), l in zip(places, told["launches"]):
        for track in [t for t in trace.counters if trace.parent[t] == root]:
            values = [v for v in trace.values[track] if begin <= v[0] <= end]
            mean = integral(values) / (end - begin)
            name = trace.name[track]
            expected = 100 * l["busy"][name] if name in l["busy"] else l["resident_blocks"] * told["gpu"]["sms"]
            require(near(mean, expected, 2e-3, 1e-3), f"{name} at {mean}, not {expected}, in {l['kernel']}")
            require(values[-1][1] == 0, f"{name} does not end with its launch")


def check(content, told):
    """Raises Wrong where the file is wrong."""
    trace = Trace(content)
    places = check_launches(trace, told)
    for look in (check_blocks, check_parts, check_units):
        look(trace, told, places)
    return trace, places


def fault_of(content, told):
    try:
        check(content, told)
    except Wrong as wrong:
        return str(wrong)
    return None


# ---- The tests


def draw(binary, args, folder):
    path = os.path.join(folder, "run.pftrace")
    r = run(binary, f"trace {args} --perfetto -o {path}")
    return (open(path, "rb").read() if r.returncode == 0 else b""), r


def told_of(binary, args):
    return json.loads(run(binary, "timeline " + re.sub(r" --detail \d+", "", args) + " --json").stdout)


def check_runs(binary, tally, folder):
    for args in RUNS:
        content, r = draw(binary, args, folder)
        fault = fault_of(content, told_of(binary, args))
        tally.check(r.returncode == 0 and r.stdout == "" and fault is None, f"`{args}`: {fault}, {r.stderr!r}")
        detailed = int((re.findall(r"--detail (\d+)", args) or ["1"])[0])
        trace = Trace(content)
        drawn = {trace.path(t)[-2] for t in slot_tracks(trace) if any(s.name == "loop step" for s in trace.slices[t])}
        there = {sm for sm in slot_tracks(trace).values() if int(sm.split()[1]) < detailed}
        tally.check(drawn == there, f"`{args}`: steps on {sorted(drawn)[:5]}")


def check_terms(binary, tally, folder):
    for args in ("flash_v2 --gpu H200 --heads 4 --seq 1024", "flash_v2 --gpu H200 --heads 64 --seq 1024 --dim 128",
                 "flash_v2 --gpu H200 --heads 1 --dtype f32 --seq 1024", "flash_v1 --heads 3 --seq 512 --dtype f32"):
        content, _ = draw(binary, args, folder)
        told = told_of(binary, args)
        try:
            check_own_time(*(lambda trace, places: (trace, told, places))(*check(content, told)))
            tally.check(True, "")
        except Wrong as wrong:
            tally.check(False, f"`{args}`: {wrong}")


def check_mistakes(binary, tally, folder):
    """The checks find mistakes."""
    args = "flash_v2 --gpu H200 --sms 4 --seq 500 --heads 4"
    content, _ = draw(binary, args, folder)
    told = told_of(binary, args)
    tally.check(fault_of(content, told) is None, "a right file is refused")
    for cut in (1, 5, 16, 100, len(content) // 2, len(content) - 1, len(content)):
        tally.check(fault_of(content[:len(content) - cut], told), f"without its last {cut} bytes a file passes")
    for what, change in {
        "time": lambda t: t.update(time_us=t["time_us"] + 0.01),
        "thread blocks": lambda t: t["launches"][0].update(thread_blocks=15),
        "residency": lambda t: t["launches"][0].update(blocks_per_sm=1),
        "resident blocks": lambda t: t["launches"][0].update(resident_blocks=2.02),
        "busy units": lambda t: t["launches"][0]["busy"].update(exp=1.01 * t["launches"][0]["busy"]["exp"]),
        "kernel": lambda t: t["launches"][0].update(kernel="flash_v1"),
        "number of launches": lambda t: t["launches"].append(t["launches"][0]),
    }.items():
        other = json.loads(json.dumps(told))
        change(other)
        tally.check(fault_of(content, other), f"with another {what} a file passes")


def check_limits(binary, tally, folder):
    _, r = draw(binary, "flash_v2 --heads 64 --seq 1048576", folder)
    tally.check(r.returncode == 1 and r.stderr.count("\n") == 1 and "524,288 thread blocks are too many" in r.stderr
                and "try fewer --heads" in r.stderr, f"too many thread blocks: {r.stderr!r}")
    content, r = draw(binary, "flash_v2 --heads 1 --seq-q 1 --seq-k 10000000", folder)
    trace = Trace(content)
    steps = sum(s.name == "loop step" for t in trace.slices for s in trace.slices[t])
    tally.check(r.returncode == 0 and steps == 0 and "steps are left out" in r.stderr, f"many steps: {r.stderr!r}")
    for args, words in {"trace flash_v2 -o x.json --perfetto": "must end in .pftrace",
                        "trace flash_v2 --perfetto --blocks 0 -o x.pftrace": "leave --blocks or --perfetto out",
                        "trace flash_v2 --perfetto --mode numeric -o x.pftrace": "leave --mode or --perfetto out",
                        "trace flash_v2 --perfetto --q q.npy -o x.pftrace": "leave --q or --perfetto out",
                        "trace flash_v2 --perfetto --json -o x.pftrace": "leave --json or --perfetto out",
                        "trace flash_v2 --perfetto --detail 0 -o x.pftrace": "--detail 0",
                        "trace flash_v2 --detail 2 -o x.json": "add --perfetto"}.items():
        r = run(binary, args, cwd=folder)
        tally.check(r.returncode == 2 and r.stderr.count("\n") == 1 and words in r.stderr, f"`{args}`: {r.stderr!r}")
    tally.check(os.listdir(folder) == ["run.pftrace"], f"left: {os.listdir(folder)}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    if not shutil.which("protoc"):
        raise SystemExit("protoc is missing: apt-get install protobuf-compiler")
    with tempfile.TemporaryDirectory() as folder:
        for part in (check_runs, check_terms, check_mistakes, check_limits):
            part(binary, tally, folder)
    tally.close()


if __name__ == "__main__":
    main()
