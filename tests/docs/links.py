"""Every file that a document links to is there.

Usage: links.py SOURCE_DIR
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def documents(source):
    for path in sorted(source.rglob("*.md")):
        if not path.relative_to(source).parts[0].startswith(("build", "out", ".")):
            yield path


def links_of(path):
    """Of the prose: in code, brackets mean other things."""
    return LINK.findall(re.sub(r"^```.*?^```|`[^`]*`", "", path.read_text(), flags=re.M | re.S))


def main():
    source, checked, dead = pathlib.Path(sys.argv[1]), 0, []
    for path in documents(source):
        for link in links_of(path):
            if "://" in link:
                continue
            checked += 1
            if not (path.parent / link).exists():
                dead.append(f"{path.relative_to(source)}: {link} is not there")
    print("\n".join(dead) or f"{checked} links lead somewhere")
    return 1 if dead or checked < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
