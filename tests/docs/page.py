"""Reads a page as somebody does who tries everything on it. A page is a session in one folder.
- A block in sh runs, line by line. Below `<!-- fails -->` its last command has to fail.
- A block in text is the output of the last command, apart from white space; each "…" stands for anything.
- A block below "`path`:" is that file, or in diff a change of it. `<!-- undo -->` takes the last change back.
- `commands` in a paragraph run (a program with a subcommand and more). Numbers beside them have to be printed if they
  have a unit, a fraction or five digits. In a list item that begins with a command, all numbers have to be.
- The same holds for a paragraph below `<!-- printed -->`, with the commands before it.
- A paragraph that ends with a colon announces a table: the commands before it print the table's rows, on a line that
  begins like the row, or number by number. In a table with columns paper, TileScope and difference, TileScope's numbers
  are printed. The difference is between the first numbers of both (or the quotient a / b), in percent; "within" says
  that there is none to a range "a to b" or "above a".
"""

import collections
import re
import subprocess

import figures

Part = collections.namedtuple("Part", "kind text path fails", defaults=("", False))


def parts_of(text):
    """The parts of a page, in order: code by its language, "file", "diff", "undo", "table", "passage"."""
    lines, path, fails = iter(text.splitlines(keepends=True) + ["\n"]), "", False
    line = next(lines)
    while True:
        part = line
        if line.startswith("```"):
            language, part = line[3:].strip(), ""
            while not (line := next(lines)).startswith("```"):
                part += line
            line = next(lines, "")
            kind = language if not path else "diff" if language == "diff" else "file"
            yield Part(kind, part, path, fails)
            path, fails = "", False
        elif line.startswith("<!--"):
            while "-->" not in part:
                part += next(lines)
            line = next(lines, "")
            fails = part.strip() == "<!-- fails -->"
            if mark := re.fullmatch(r"<!-- (undo|printed) -->\n", part):
                yield Part(mark[1], "")
        elif line.startswith("|"):
            while (line := next(lines, "")).startswith("|"):
                part += line
            yield Part("table", part)
        elif line.strip() and not line.startswith("#"):
            while (line := next(lines, "")).strip() and not line.startswith(("- ", "|", "```")):
                part += line
            if named := re.fullmatch(r"`([\w/.]+)`:\n", part):
                path = named[1]
            else:
                yield Part("passage", part)
                yield from [Part("undo", "")] * part.count("<!-- undo -->")
        else:
            line = next(lines, "")
        if not line:
            return


def commands_in(passage, programs):
    """Spans in `backquotes` that begin with one of the programs and have at least two more words."""
    spans = (re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", passage))
    return [span for span in spans if span.count(" ") > 1 and span.split()[0] in programs]


class Reader:
    """Carries out a page in the folder `root`."""

    def __init__(self, name, root, environment=None, programs=()):
        self.name, self.root, self.environment, self.programs = name, root, environment, programs
        self.output = ""     # output of the last commands
        self.announced = self.printed = False  # of the next table, or the next paragraph
        self.changed = None  # the changed file, and its text before
        self.done = collections.Counter()

    def fail(self, what):
        raise SystemExit(f"{self.name}: {what}")

    def read(self, text):
        for part in parts_of(text):
            if act := getattr(self, f"do_{part.kind}", None):
                self.done[part.kind] += 1
                act(part)
            self.announced = part.kind == "passage" and part.text.rstrip().endswith(":")

    def do_file(self, part):
        (self.root / part.path).write_text(part.text)

    def do_diff(self, part):
        lines = part.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] == "-")
        new = "".join(line[1:] for line in lines if line[0] == "+")
        file = self.root / part.path
        now = file.read_text()
        if now.count(old) != 1:
            self.fail(f"{part.path} does not have, once:\n{old}")
        self.changed = file, now
        file.write_text(now.replace(old, new))

    def do_undo(self, _):
        file, before = self.changed
        file.write_text(before)

    def run(self, command, fails=False):
        """Runs a command; returns its output, errors included."""
        r = subprocess.run(command, shell=True, cwd=self.root, env=self.environment, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        if (r.returncode != 0) != fails:
            self.fail(f"`{command}` ends with exit code {r.returncode}:\n{r.stdout[-4000:]}")
        self.done["command"] += 1
        return r.stdout

    def do_sh(self, part):
        commands = part.text.replace("\\\n", " ").splitlines()
        self.output = "".join([self.run(c, part.fails and c == commands[-1]) for c in commands])

    def do_text(self, part):
        if not figures.same_text(part.text, self.output):
            self.fail(f"this is not all that is printed:\n{part.text}\nbut:\n{self.output[-4000:]}")

    def do_table(self, part):
        rows = part.text.splitlines()[2:] if self.announced and self.output else []
        columns = [cell.strip() for cell in part.text.splitlines()[0].strip("|").split("|")]
        for row in rows:
            self.done["row"] += 1
            cells = [cell.strip(" `") for cell in row.strip("|").split("|")]
            if "TileScope" in columns:
                self.comparison(row, *(cells[columns.index(name)] for name in ("paper", "TileScope", "difference")))
                continue
            begins_like_it = re.compile(rf"\s*{re.escape(cells[0])}\s")
            lines = list(filter(begins_like_it.match, self.output.splitlines()))
            if re.match("[a-z]", cells[0]) and lines:
                in_order = r"\s(?:.*\s)?".join(map(re.escape, filter(None, cells))) + r"(\s|$)"
                if not any(re.search(in_order, line) for line in lines):
                    self.fail(f"this row is not printed: {row}\nbut:\n" + "\n".join(lines))
            else:
                self.figures(row, every=True)

    def comparison(self, row, paper, own, difference):
        """Checks a row: the paper's number, the printed one, and the difference between them."""
        self.figures(own, every=True)
        claimed = re.fullmatch(r"([-+]?\d+)%|within", difference)
        if not claimed:
            return
        low, high = figures.range_of(paper)
        x = figures.range_of(own)[0] if " / " not in own else figures.quotient(own)
        away = x / high - 1 if x > high else x / low - 1 if x < low else 0
        if abs(round(100 * away) - int(claimed[1] or 0)) > 1e-9:
            self.fail(f"the difference is {100 * away:+.1f}%: {row}")

    def do_printed(self, _):
        self.printed = True

    def do_passage(self, part):
        commands, known = commands_in(part.text, self.programs), self.known(part.text)
        if commands or known:
            self.output = "".join(map(self.run, commands)) + known
        if commands or known or self.printed:
            self.figures(part.text, every=part.text.startswith("- `"))
        self.printed = False

    def known(self, passage):
        """What is known without running a command."""
        return ""

    def figures(self, text, every):
        claimed, missing = figures.claims(text, self.output, every)
        self.done["figure"] += claimed
        if missing:
            self.fail(f"not printed: {', '.join(missing)}\nof: {text.strip()}")
