"""Numbers in a text, with their units: whether a program printed them, to as many digits as the text has.

Rounding errors (numbers below 0.001) depend on the processor: they have to agree within a factor of two.
"""

import re

PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
UNITS = {prefix + "B": (scale, "B") for prefix, scale in PREFIXES.items()}
UNITS |= {"ns": (1e-9, "s"), "us": (1e-6, "s"), "µs": (1e-6, "s"), "ms": (1e-3, "s"), "s": (1, "s")}
UNITS["bytes"] = (1, "B")
UNITS |= {prefix: (PREFIXES[prefix], "") for prefix in ("", "k", "M", "G", "T")}
UNIT = r"(?:\s?(" + "|".join(sorted(filter(None, UNITS), key=len, reverse=True)) + r"))?(?![\w(])"
NUMBER = r"(?<![\w.^]){}(\.\d+)?(e[-+]?\d+)?" + UNIT
CLAIMED = re.compile(NUMBER.format(r"(\d{1,3}(?:,\d{3})+|\d+)"))
PRINTED = re.compile(NUMBER.format(r"(\d+)"))
ERROR = re.compile(r"(?<![\w.])(0\.000\d+|\d(?:\.\d+)?e-\d+)(?![\w.])")


class Figure:
    def __init__(self, found):
        whole, fraction, exponent, unit = found.groups()
        scale, self.kind = UNITS[unit or ""]
        scale *= float("1" + (exponent or ""))
        self.strong = bool(fraction or unit or len(whole.replace(",", "")) > 4)
        self.text = re.sub(r"\s+", " ", found[0])
        self.value = float(whole.replace(",", "") + (fraction or "")) * scale
        rounded = fraction or unit not in (None, "B", "bytes")
        self.within = scale * 10.0 ** -len((fraction or ".")[1:]) * 0.5001 if rounded else 0

    def is_printed_as(self, other):
        if self.kind != other.kind and self.kind and other.kind:
            return False
        if 0 < self.value < 0.001 and self.kind == "":
            return self.value / 2 <= other.value <= 2 * self.value
        return abs(self.value - other.value) <= self.within


def claims(text, printed, every):
    """How many numbers the text has outside `code`, and those of them that are not printed. `every`: all numbers; else
    only those with a unit, a fraction or five digits."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "`", text)
    claimed = [figure for figure in map(Figure, CLAIMED.finditer(prose)) if every or figure.strong]
    there = [Figure(found) for pattern in (CLAIMED, PRINTED) for found in pattern.finditer(printed)]
    return len(claimed), [c.text for c in claimed if not any(map(c.is_printed_as, there))]


def values(text):
    return [Figure(found).value for found in CLAIMED.finditer(text)]


def range_of(text):
    """The smallest and the largest number that "a", "a to b" or "above a" allow."""
    found = values(text)
    if text.startswith("above"):
        return found[0], float("inf")
    return found[0], found[1] if " to " in text else found[0]


def quotient(text):
    above, below = values(text)
    return above / below


def without_space(text):
    return re.sub(r"\s+", "", text)


def same_text(shown, printed):
    """Whether the page shows all that is printed, apart from white space; … stands for anything."""
    errors = [float(error) for error in ERROR.findall(shown)]
    pieces = [re.escape(without_space(piece)).replace("…", ".*") for piece in ERROR.split(shown)[::2]]
    found = re.fullmatch(r"(\d[\d.]*(?:e-\d+)?)".join(pieces), without_space(printed), re.S)
    return bool(found) and all(e / 2 <= float(f) <= 2 * e for e, f in zip(errors, found.groups()))
