"""Pieces of a generated Markdown page."""
import textwrap


def paragraph(text, indent=""):
    return "\n".join(textwrap.wrap(" ".join(text.split()), 118, initial_indent=indent[:2] and "- ",
                                   subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def bullets(items):
    return "\n".join(paragraph(item, "  ") for item in items)


def table(header, rows, left=1):
    """The first `left` columns hold words, the others numbers."""
    rule = "|" + "|".join("---" if k < left else "---:" for k in range(len(header))) + "|"
    header, *lines = ("| " + " | ".join(map(str, row)) + " |" for row in (header, *rows))
    return "\n".join([header, rule, *lines])


def percent(x, digits=3):
    smallest = 10.0 ** -digits
    if abs(x) < smallest / 2:
        return "0" if x == 0 else f"< {smallest:.{digits}f}%"
    return f"{x:+.{digits}f}%"


def span(values, show=lambda x: percent(x, 2)):
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low} to {high}"


def listed(values):
    return ", ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in sorted(set(values)))


def yes(flag):
    return "yes" if flag else "no"
