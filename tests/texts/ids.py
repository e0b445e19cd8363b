#!/usr/bin/env python3
"""Every message that a source says is in texts/en/, or in the en.txt of an algorithm's folder, once and in order, with as
many arguments; every message there is said.

    ids.py SOURCE_DIR
"""
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


def prose_in(text):
    """Literals with two words."""
    code = re.sub(r"(?<!:)//[^\n]*|#include [^\n]*|'\\?\"'", "", text)
    return [found for found in re.findall(r'"(?:[^"\\\n]|\\.)*"', code) if TWO_WORDS.search(found)]


def check_itself():
    assert prose_in('f("two words");  // and "these two"') == ['"two words"'] and not prose_in('#include "a b"\nf("a.b", "%d x");')
    assert list(prose_faults({"lab/a.cpp": 'throw Error("two words");'})) and list(prose_faults({"lab/figure/tiles.cpp": ""}))
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
    "lab/figure/tiles.cpp": 1, "lab/flags/supported.cpp": 1, "lab/gpu/gpu_found.cpp": 1,
    "lab/gpu/gpu_sheet.cpp": 2, "lab/run/explained.cpp": 2, "lab/run/run_time.cpp": 2, "lab/workload/npy.cpp": 2,
    "device/causes.cpp": 4, "device/kernel_run.cpp": 1, "device/levels.cpp": 2, "device/time_causes.cpp": 2,
    "device/validation.cpp": 1, "cli/doctor.cpp": 6, "gui/draw/drawing.cpp": 3, "gui/shell/film_beside.cpp": 1}
# Files of words: pseudo-code and papers, words that people type, what gnuplot reads, Python's documentation.
OF_WORDS = r"algorithms/\w+/\w+/(algorithm|released)\.hpp|lab/gpu/asked\.cpp|lab/figure/gnuplot\.cpp|python/.*"


def prose_faults(sources):
    for file, text in sources.items():
        found, known = prose_in(text), NO_MESSAGES.get(file, 0)
        if len(found) != known and not re.fullmatch(OF_WORDS, file):
            yield f"{file}: {known} literals with two words are no messages, but there are {len(found)}: {', '.join(found)}"


def main():
    root = pathlib.Path(sys.argv[1])
    check_itself()
    sources = {f.relative_to(root).as_posix(): f.read_text() for room in ("core", "algorithms", "lab", "device", "show", "cli", "gui", "python")
               for f in sorted((root / room).rglob("*.?pp"))}
    texts = {f.relative_to(root).as_posix(): f.read_text()
             for f in sorted([*root.glob("texts/en/*.txt"), *root.glob("algorithms/*/*/en.txt")])}
    faults = list(faults_of(sources, texts))
    faults += prose_faults(sources)
    print("\n".join(faults) or f"{sum(len(list(defined_in(t))) for t in texts.values())} messages have words, and are said")
    return 1 if faults or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
