"""Orders the functions of a WebAssembly program by their names and leaves the names out: order.py PROGRAM. Functions made
from one template, or of one class, are alike. Where they lie side by side, gzip finds what they share."""

import pathlib
import re
import sys

# Sections of a program. Names are in a custom one.
CUSTOM, IMPORT, FUNCTION, EXPORT, START, ELEMENT, CODE = 0, 2, 3, 7, 8, 9, 10

# A call of a function with an index below this one takes a byte less. The functions that are called most have these
# indices, and keep them.
SHORT = 128

# Instructions by what follows them.
NOTHING = {0x00, 0x01, 0x05, 0x0B, 0x0F, 0x19, 0x1A, 0x1B, *range(0x45, 0xC5), 0xD1}
ONE_NUMBER = {0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0D, 0x18, *range(0x20, 0x27), 0x3F, 0x40, 0x41, 0x42, 0xD0}
TWO_NUMBERS = {0x11, *range(0x28, 0x3F)}
CALLS = {0x10, 0xD2}
BYTES = {0x43: 4, 0x44: 8}
BULK_NUMBERS = {8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}


def number(data, at):
    """An unsigned number at `at`, or the bits of a signed one; and where what follows begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def written(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def skipped(data, at, numbers):
    for _ in range(numbers):
        while data[at] > 127:
            at += 1
        at += 1
    return at


def past_vector_instruction(data, at):
    what, at = number(data, at)
    if what <= 11 or what in (92, 93):
        return skipped(data, at, 2)
    if what in (12, 13):
        return at + 16
    if 21 <= what <= 34:
        return at + 1
    if 84 <= what <= 91:
        return skipped(data, at, 2) + 1
    return at


def renumbered(body, new):
    """A function's code with the numbers that the functions it calls have now."""
    out, kept = bytearray(), 0
    groups, at = number(body, 0)
    at = skipped(body, at, 2 * groups)  # local variables: how many, of which type
    while at < len(body):
        what = body[at]
        at += 1
        if what in CALLS:
            out += body[kept:at]
            called, at = number(body, at)
            out += written(new[called])
            kept = at
        elif what in ONE_NUMBER:
            at = skipped(body, at, 1)
        elif what in TWO_NUMBERS:
            at = skipped(body, at, 2)
        elif what in BYTES:
            at += BYTES[what]
        elif what in (0x0E, 0x1C):  # br_table, select with types
            many, at = number(body, at)
            at = skipped(body, at, many + (what == 0x0E))
        elif what == 0xFC:
            which, at = number(body, at)
            at = skipped(body, at, BULK_NUMBERS.get(which, 0))  # conversions to integers have none
        elif what == 0xFD:
            at = past_vector_instruction(body, at)
        elif what not in NOTHING:
            sys.exit(f"order.py: instruction {what:#x} is unknown")
    return bytes(out + body[kept:])


def sections(data):
    at = 8
    while at < len(data):
        kind = data[at]
        size, at = number(data, at + 1)
        yield kind, data[at:at + size]
        at += size


def text(data, at):
    size, at = number(data, at)
    return data[at:at + size], at + size


def imported_functions(data):
    many, at = number(data, 0)
    functions = 0
    for _ in range(many):
        at = text(data, text(data, at)[1])[1]
        kind = data[at]
        at += 1
        functions += kind == 0
        if kind in (1, 2):  # a table, a memory: with limits
            at += kind == 1
            has_most = data[at] & 1
            at = skipped(data, at + 1, 1 + has_most)
        else:
            at = skipped(data, at, {0: 1, 3: 2, 4: 2}[kind])
    return functions


def names_of(data):
    names = {}
    at = text(data, 0)[1]
    while at < len(data):
        kind = data[at]
        size, at = number(data, at + 1)
        end = at + size
        if kind == 1:
            many, at = number(data, at)
            for _ in range(many):
                function, at = number(data, at)
                name, at = text(data, at)
                names[function] = name.decode()
        at = end
    return names


def renumbered_exports(data, new):
    many, at = number(data, 0)
    out = bytearray(data[:at])
    for _ in range(many):
        begin = at
        at = text(data, at)[1] + 1
        out += data[begin:at]
        index, end = number(data, at)
        out += written(new[index]) if data[at - 1] == 0 else data[at:end]
        at = end
    return bytes(out)


def renumbered_elements(data, new):
    many, at = number(data, 0)
    out = bytearray(data[:at])
    for _ in range(many):
        begin = at
        if data[at:at + 2] != b"\x00\x41":  # into the only table, from a constant place on
            sys.exit("order.py: a table is filled in an unknown way")
        at = skipped(data, at + 2, 1) + 1
        functions, at = number(data, at)
        out += data[begin:at]
        for _ in range(functions):
            function, at = number(data, at)
            out += written(new[function])
    return bytes(out)


def parts(data):
    many, at = number(data, 0)
    for _ in range(many):
        size, at = number(data, at)
        yield data[at:at + size]
        at += size


def own_name(name):
    """std::sort of "void std::sort<int*>(int*, int*)": a function's name without its types."""
    name = name.replace("(anonymous namespace)::", "").replace("operator<", "operator").replace("operator->", "operator")
    plain, depth = "", 0
    for letter in name:
        depth += letter == "<"
        if not depth:
            plain += letter
        depth -= letter == ">"
    return re.sub(r"\(.*", "", plain).split(" ")[-1]


def ordered(data):
    found = {kind: content for kind, content in sections(data) if kind != CUSTOM}
    names = next(names_of(content) for kind, content in sections(data) if kind == CUSTOM and text(content, 0)[0] == b"name")
    imported = imported_functions(found[IMPORT])
    bodies = list(parts(found[CODE]))
    count, at = number(found[FUNCTION], 0)
    types = []
    for _ in range(count):
        kind, at = number(found[FUNCTION], at)
        types.append(kind)

    first = SHORT - imported
    order = list(range(first)) + sorted(range(first, count), key=lambda f: (own_name(names[f + imported]), bodies[f]))
    new = list(range(imported + count))
    for place, function in enumerate(order):
        new[imported + function] = imported + place

    found[FUNCTION] = written(count) + b"".join(written(types[f]) for f in order)
    found[EXPORT] = renumbered_exports(found[EXPORT], new)
    found[ELEMENT] = renumbered_elements(found[ELEMENT], new)
    if START in found:
        found[START] = written(new[number(found[START], 0)[0]])
    codes = [renumbered(bodies[f], new) for f in order]
    found[CODE] = written(count) + b"".join(written(len(code)) + code for code in codes)
    return data[:8] + b"".join(
        bytes([kind]) + written(len(found[kind])) + found[kind] for kind, _ in sections(data) if kind != CUSTOM)


def main():
    path = pathlib.Path(sys.argv[1])
    path.write_bytes(ordered(path.read_bytes()))


if __name__ == "__main__":
    main()
