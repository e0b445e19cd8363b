#!/usr/bin/env python3
"""Every message that a source says is in texts/en/, or in the en.txt of an algorithm's folder, once and in order, with as
many arguments; every message there is said.

    ids.py SOURCE_DIR
"""
import ast
import pathlib
import re
import sys

ID = re.compile(r'"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)"')
STARTS = re.compile(r"(?<![\w:])(?:(?:text::)?message|sentence)\(")


MARKS = ("launch", "block_")  # of a recording: no program says them
TWO_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")


def arguments_of(text, at):
    """The arguments of the call whose parenthesis opens before `at`, as text, and where it closes."""
    parts, depth, begin, quoted = [], 0, at, False
    for i in range(at, len(text)):
        c = text[i]
        if quoted:
            quoted = c != '"' or text[i - 1] == "\\"
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}" and depth:
            depth -= 1
        elif c == ")" or (c == "," and not depth):
            parts.append(text[begin:i])
            begin = i + 1
            if c == ")":
                return parts
    return parts


def said_in(text):
    """(id, number of arguments) of every message that a source says. A first argument may choose between ids. An id of a
    table, which stands outside of a call, comes with None arguments."""
    calls = set()
    for found in STARTS.finditer(text):
        first, *others = arguments_of(text, found.end())
        if '"' not in first:
            continue  # another function of that name
        ids = ID.findall(first)
        calls.update(range(found.end(), found.end() + len(first)))
        yield from ((i, len(others)) for i in ids)
        if not ids:
            yield None, first.strip()
    yield from ((found[1], None) for found in ID.finditer(text) if found.start() not in calls)


def said_of_code(name, text):
    """The ids of an algorithm's idea, and of the lines of its pseudo-code that have no words of their own."""
    lines = re.findall(r'^ +\{(\d+),(?:\s+"(?:[^"\\]|\\.)*")+(?:, \{\}, Feature::\w+)?\},$', text, re.M)
    yield from (f"{name}.{line}" for line in lines)
    yield f"{name}.idea"


def in_order(name):
    """Letters by the alphabet, numbers of lines by their size."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in name.split(".")]


def defined_in(text):
    """(id, highest argument) of every message of a file of texts."""
    for line in text.splitlines():
        if not line.startswith("#") and " = " in line:
            name, words = (part.strip() for part in line.split(" = ", 1))
            yield name, max([0, *(int(n) for n in re.findall(r"\{(\d)(?:\|[^{}|]*\|[^{}|]*)?\}", words))]), words


def faults_of(sources, texts):
    """`sources` and `texts`: contents of files by name."""
    defined = {}
    for file, text in texts.items():
        names = [name for name, _, _ in defined_in(text)]
        sections = [re.findall(r"^([a-z]\S*) = ", part, re.M) for part in text.split("\n#")]
        yield from (f"{file}: the messages of a section are not in order: {s}" for s in sections if s != sorted(s, key=in_order))
        yield from (f"{file}: {name} is defined twice" for name in names if names.count(name) > 1 or name in defined)
        for name, most, words in defined_in(text):
            defined[name] = most
            left = re.sub(r"\{\d(\|[^{}|]*\|[^{}|]*)?\}", "", words)
            if not words or re.search(r"[{}]", left):
                yield f"{file}: {name} has no words, or a brace that is no argument: {words}"
    used = set()
    for file, text in sources.items():
        if re.fullmatch(r"algorithms/\w+/\w+/algorithm.hpp", file):
            ids = set(said_of_code(file.split("/")[2], text))
            used |= ids
            yield from (f"{file}: {name} has no words in the en.txt beside it" for name in sorted(ids - set(defined)))
        for name in re.findall(r'\.name = "(\w+)"', text) if file.startswith("core/machine/operations/") else ():
            used |= {f"operation.{name}", f"operation.{name}.column"}
            if f"operation.{name}" not in defined and not name.startswith(MARKS):
                yield f"{file}: operation.{name} has no words"
        for name, count in said_in(text):
            if count is None and name not in defined:
                continue  # a name with points, of a file say
            used.add(name)
            if name is None:
                yield f"{file}: message({count}, ...) names no message"
            elif name not in defined:
                yield f"{file}: says {name}, which texts/en/ lacks"
            elif count is not None and defined[name] != count:
                yield f"{file}: says {name} with {count} arguments, its words have {defined[name]}"
    yield from (f"nothing says {name}" for name in defined if name not in used)


# Counts that are 1 nowhere: of what there is too much of, of which some are left out, or that has a message for one.
NEVER_1 = set("""
    conclusion.other_launches gantt.longest_of_launches gantt.one_drawn handle.body_of_axes levels.in_some_launches
    loop_order.first_head machine.compute modelled.longest_launch npy.long_header npy.too_many_axes parts.all_read
    parts.some_read presets.slice_of_size problem.too_large_to_count promise.uniform_over_some recorded.part
    recorded.part_without_numbers recorder.packs recorder.too_long run.packed score.some_heads score.some_kv_heads setup.heads
    split_kv.empty_parts step.more_after step.more_before timeline_figure.too_many_blocks trace.too_many_to_draw
    trace_limit.events trace_limit.values validated.one_output vary.too_many wall.no_such_keys wall.no_such_keys_briefly
    wall.no_such_rows wall.no_such_rows_briefly wall.no_such_rows_not_to_scale wall.trips_for_heads warps.cannot_split_k
    warps.cannot_split_q""".split())
OWNED = {"advise.released_lose", "published_tiles.tiles_of"}  # "FlashAttention-2's tiles"
NO_NOUN = ("moves", "runs", "counts", "visits")  # more often verbs, after a name


def plural_faults(texts):
    """Messages that say "1 bytes": {1} stands before a noun in the plural, and other messages have that noun in both forms."""
    forms = re.findall(r"\{\d\|([^{}|]*)\|([^{}|]*)\}", "".join(texts.values()))
    nouns = {both[1].split()[-1] for both in forms if both[1].endswith("s") and both[0].split()[-1:] != both[1].split()[-1:]}
    counted = re.compile(r"(?<![x×] )\{\d\} (?:(?!of|in|on|x|are|have|beside)\w+ )?(" + "|".join(sorted(nouns - set(NO_NOUN))) + r")\b")
    found = {name: words for text in texts.values() for name, _, words in defined_in(text) if counted.search(words)}
    yield from (f"{name} has a plural beside a number that may be 1: {words}" for name, words in found.items() if name not in NEVER_1 | OWNED)
    yield from (f"{name} has no such plural" for name in (NEVER_1 | OWNED) - set(found))


def literals_in(name, text):
    """Literals of a source, and what a page of HTML says; not Python's documentation."""
    if name.endswith(".py"):
        tree = ast.parse(text)
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        return [node.value for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation]
    if name.endswith(".html"):
        page = re.sub(r"<(style|link).*?>(.*?</style>)?", "", text, flags=re.S)
        return re.findall(r'"[^"]*"|>[^<]*<', page)
    code = re.sub(r"(?<!:)//[^\n]*|#include [^\n]*|'\\?\"'|static_assert\(.*?\);", "", text)
    return re.findall(r'"(?:[^"\\\n]|\\.)*"', code)


def prose_in(name, text):
    """Literals with two words."""
    return [found for found in literals_in(name, text) if TWO_WORDS.search(found)]


def check_itself():
    assert prose_in("a.cpp", 'f("two words");  // and "these two"') == ['"two words"']
    assert not prose_in("a.cpp", '#include "a b"\nf("a.b", "%d x");') and not prose_in("a.cu", 'static_assert(a < 2, "two words");')
    assert prose_in("a.py", '"""These two words."""\nf(f"two words {x}")') == ["two words "]
    assert prose_in("a.html", '<style>a "two words"</style><p title="two words">two words</p>') == ['"two words"', ">two words<"]
    assert list(prose_faults({"lab/a.cpp": 'throw Error("two words");'})) and list(prose_faults({"lab/figure/tiles.cpp": ""}))
    plain, wrong = "a.b = {1} {1|tile|tiles} of {2}\n", "a.c = all {1} thread tiles\na.d = 4 x {1} tiles\n"
    assert not [fault for fault in plural_faults({"t": plain}) if fault.startswith("a.")]
    assert [fault[:3] for fault in plural_faults({"t": plain + wrong}) if fault.startswith("a.")] == ["a.c"]
    good = {"a.cpp": 'return message(x ? "a.b" : "a.c", f(1, 2)); Row rows[] = {{"a.d", "no.id"}};'}, {"t": "a.b = {1}\na.c = {1|one|more}\na.d = {1} it\n"}
    assert not list(faults_of(*good)), list(faults_of(*good))
    code = "algorithms/f/a/algorithm.hpp", '    {1, "x = 0"},\n    {2, "end", ""},\n    {10, "y", {}, Feature::bias},\n'
    assert not list(faults_of(dict([code]), {"t": "a.1 = 1\na.10 = 10\na.idea = i\n"}))
    for sources, texts in ((dict([code]), {"t": "a.1 = 1\na.idea = i\n"}), (dict([code]), {"t": "a.1 = 1\na.2 = 2\na.10 = 10\na.idea = i\n"}),
                           ({"a.cpp": 'message("a.b", 1);'}, {"t": "a.b = no\n"}), ({"a.cpp": 'message("a.b");'}, {"t": ""}),
                           ({"a.cpp": 'sentence("a.b", listed(x, y), 1);'}, {"t": "a.b = {1}\n"}),
                           ({"a.cpp": ""}, {"t": "a.b = no\n"}), ({"a.cpp": 'message("a.b");'}, {"t": "a.b = {x}\n"}),
                           ({"a.cpp": 'message("no id");'}, {"t": ""}), ({"a.cpp": 'message("a.b"), message("a.c");'}, {"t": "a.c = 1\na.b = 2\n"}),
                           ({"a.cpp": 'message("a.b");'}, {"t": "a.b = 1\na.b = 2\n"})):
        assert list(faults_of(sources, texts)), (sources, texts)


# The literals with two words that are left, and no messages: values of JSON, CSV and recordings, axes of grids, commands
# and what other programs say, mistakes that no input leads to.
NO_MESSAGES = {
    "core/machine/operations/take_column.cpp": 1, "core/record/trace_reader.cpp": 1, "algorithms/attention/standard/predicted.cpp": 1,
    "algorithms/attention_backward/computation.cpp": 1, "algorithms/attention_backward/standard_backward/simulated.cpp": 1,
    "algorithms/contract/mask.cpp": 1, "algorithms/contract/kv_heads.hpp": 1, "algorithms/cuda/kernel.cpp": 1,
    "algorithms/cuda/device.cuh": 1, "algorithms/cuda/hopper.cuh": 1, "algorithms/cuda/wgmma.cuh": 2, "algorithms/attention/split_kv/kernel_combine.cu": 3, "device/microbenchmarks.cu": 1,
    "lab/figure/tiles.cpp": 1, "lab/flags/supported.cpp": 1, "lab/gpu/gpu_found.cpp": 1,
    "lab/gpu/gpu_sheet.cpp": 2, "lab/run/explained.cpp": 2, "lab/run/run_time.cpp": 2, "lab/workload/npy.cpp": 2,
    "device/causes.cpp": 5, "device/kernel_run.cpp": 1, "device/levels.cpp": 2, "device/time_causes.cpp": 2,
    "device/validation.cpp": 1, "device/microbenchmark_kernels_sm90a.cuh": 2, "device/microbenchmarks_sm90a.cu": 1, "cli/doctor.cpp": 6, "gui/draw/drawing.cpp": 3, "gui/shell/film_beside.cpp": 1,
    "gui/web/page.js": 1, "python/tilescope/_errors.py": 2}
# Files of words: pseudo-code and papers, words that people type, what gnuplot reads, Python's documentation.
OF_WORDS = r"algorithms/\w+/\w+/(algorithm|released)\.hpp|lab/gpu/asked\.cpp|lab/figure/gnuplot\.cpp|python/bindings/.*"


def prose_faults(sources):
    for file, text in sources.items():
        found, known = prose_in(file, text), NO_MESSAGES.get(file, 0)
        if len(found) != known and not re.fullmatch(OF_WORDS, file):
            yield f"{file}: {known} literals with two words are no messages, but there are {len(found)}: {', '.join(found)}"


def main():
    root = pathlib.Path(sys.argv[1])
    check_itself()
    rooms = ("core", "algorithms", "lab", "device", "show", "cli", "gui", "python/bindings")
    files = [f for room in rooms for f in sorted((root / room).rglob("*")) if f.suffix in (".hpp", ".cpp", ".cuh", ".cu", ".js", ".html")]
    files += sorted((root / "python/tilescope").glob("*.py"))
    sources = {f.relative_to(root).as_posix(): f.read_text() for f in files}
    texts = {f.relative_to(root).as_posix(): f.read_text()
             for f in sorted([*root.glob("texts/en/*.txt"), *root.glob("algorithms/*/*/en.txt")])}
    faults = list(faults_of(sources, texts))
    faults += prose_faults(sources)
    faults += plural_faults(texts)
    faults += [f"texts/en/page.txt: page.js knows no plurals: {words}" for _, _, words in defined_in(texts["texts/en/page.txt"]) if "|" in words]
    print("\n".join(faults) or f"{sum(len(list(defined_in(t))) for t in texts.values())} messages have words, and are said")
    return 1 if faults or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
