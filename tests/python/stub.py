#!/usr/bin/env python3
"""The stub agrees with the module: the same names, the same arguments.

    stub.py SOURCE_DIR       with the module on PYTHONPATH
"""

import ast
import pathlib
import re
import sys

from tilescope import _core

STUB = pathlib.Path(sys.argv[1]) / "python" / "tilescope" / "_core.pyi"
UNTYPED = {"__eq__", "__ne__", "__repr__", "__init__", "__new__", "__module__", "__doc__", "__setstate__", "__getstate__"}


def arguments_of(node):
    return [a.arg for a in node.args.args if a.arg != "self"]


def bound_arguments(function):
    """Names of arguments, from the first line of a docstring that pybind11 writes."""
    line = next((l for l in (function.__doc__ or "").splitlines() if "(" in l and "->" in l), "")
    inner = line[line.index("(") + 1:line.rindex(") ->")]
    return [name for name in re.findall(r"(?:^|, )(\w+): ", inner) if name != "self"]


def faults_of(where, node, module):
    members = {}
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            members.setdefault(each.name, each)  # of overloads the first has all arguments
    names = {n for n in vars(module) if n not in UNTYPED and (not n.startswith("__") or n in members or n in
             ("__len__", "__getitem__", "__call__"))}
    names -= {"__hash__"} if getattr(module, "__hash__", None) is None else set()
    names -= {n for n in names if n.startswith("_pybind11") or n in ("__file__", "__loader__", "__name__", "__package__", "__spec__")}
    for name in sorted(names ^ (set(members) - {"__init__"})):
        yield f"{where}{name} is only in {'the module' if name in names else 'the stub'}"
    for name, each in members.items():
        if name not in names:
            continue
        bound = vars(module)[name]
        if isinstance(each, ast.ClassDef):
            yield from faults_of(f"{where}{name}.", each, bound)
        elif isinstance(bound, property):
            if not any(getattr(d, "id", "") == "property" for d in each.decorator_list):
                yield f"{where}{name} is a property"
        elif name != "__hash__" and not name.startswith("__") and (a := arguments_of(each)) != (b := bound_arguments(bound)):
            yield f"{where}{name} takes {b}, and the stub says {a}"


def main():
    tree = ast.parse(STUB.read_text())
    faults = list(faults_of("", tree, _core))
    classes = sum(isinstance(n, ast.ClassDef) for n in tree.body)
    print("\n".join(faults) or f"{classes} classes as the module has them")
    return 1 if faults or classes < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
