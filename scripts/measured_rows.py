"""Reads measurements as rows, and has the limits of differences for both parts of docs/validation.md."""
import csv

TO_EXPLAIN = 1.0  # percent: a larger difference needs a cause
LEFT_OVER = 0.05  # percent: all causes together may leave this much of such a difference

# Columns of the roles of warps, and those of the kernel that runs where no flag asks for another.
ROLES = ("slots", "warpgroups", "turns", "overlap", "specialised", "cluster", "persistent")
USUAL_ROLES = {"slots": "4", "turns": "on", "overlap": "on", "specialised": "on", "cluster": "1", "persistent": "paired"}


def other_roles(row):
    """Roles that are not the usual ones, in words that follow others: ", turns off"; "" where there are none."""
    return "".join(f", {role} {row[role]}" for role, usual in USUAL_ROLES.items() if str(row[role] or usual) != usual)


def read_csv(path):
    """The `# key: value` lines on top, and the rows."""
    with open(path, newline="") as file:
        lines = file.read().splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return about, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def value(cell):
    """A cell as a number where it is one, else as text; None where nothing was measured."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell or None


def ceil_div(a, b):
    return -(-a // b)
