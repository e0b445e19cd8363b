"""Every file and heading that a document links to exists, and README.md is short enough for a first visit.

Usage: links.py SOURCE_DIR
"""
import functools
import pathlib
import re
import sys

README_WORDS = 900
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")


def documents(source):
    for path in sorted(source.rglob("*.md")):
        if not path.relative_to(source).parts[0].startswith(("build", "out", ".")):
            yield path


def prose_of(path):
    """The text without code, where brackets and # mean other things."""
    return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)


def links_of(path):
    return LINK.findall(re.sub(r"`[^`]*`", "", prose_of(path)))


@functools.cache
def anchors_of(path):
    """Headings as links name them: "Kernels, side by side" is #kernels-side-by-side."""
    headings = re.findall(r"^#+ (.*)$", prose_of(path), flags=re.M)
    return {"#" + re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def main():
    source, checked, dead = pathlib.Path(sys.argv[1]), 0, []
    for path in documents(source):
        for link, anchor in links_of(path):
            if "://" in link:
                continue
            checked += 1
            to = path.parent / link if link else path
            if not to.exists():
                dead.append(f"{path.relative_to(source)}: {link} is not there")
            elif anchor and to.suffix == ".md" and anchor not in anchors_of(to.resolve()):
                dead.append(f"{path.relative_to(source)}: {link}{anchor} has no such heading")
    if (words := len((source / "README.md").read_text().split())) > README_WORDS:
        dead.append(f"README.md has {words} words, at most {README_WORDS} are read; move what is not for everybody to docs/")
    print("\n".join(dead) or f"{checked} links lead somewhere")
    return 1 if dead or checked < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
