#!/usr/bin/env python3
"""The notebook runs, its assertions hold, and it draws three figures; the stored outputs are those of today.

    notebook.py SOURCE_DIR              with the module on PYTHONPATH
    notebook.py SOURCE_DIR --store      stores today's outputs in it
"""

import base64
import pathlib
import re
import sys

SKIPPED = 77


def said(book):
    """What the cells print, without a rounding error, which depends on the processor."""
    texts = ["".join(o.get("text", "") for o in cell.outputs) for cell in book.cells if cell.cell_type == "code"]
    return [re.sub(r"(?<=precision: )\S+", "...", text) for text in texts]


def pictures(book):
    return [base64.b64decode(o.data["image/png"]) for cell in book.cells if cell.cell_type == "code"
            for o in cell.outputs if "image/png" in o.get("data", {})]


def main():
    try:
        import ipykernel  # noqa: F401
        import matplotlib  # noqa: F401
        import nbclient
        import nbformat
    except ImportError as error:
        print(f"skipped: needs python3-nbclient, python3-ipykernel and python3-matplotlib ({error})")
        return SKIPPED
    path = pathlib.Path(sys.argv[1]) / "python" / "notebooks" / "flash_attention.ipynb"
    stored = nbformat.read(path, as_version=4)
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", record_timing=False).execute()
    printed = "".join(said(book))
    assert printed.count("bytes read by both") == 5 and "largest difference from NumPy" in printed, printed
    assert len(pictures(book)) == 3
    if "--store" in sys.argv:
        book.metadata = stored.metadata  # independent of this machine's Python
        nbformat.write(book, path)
        return 0
    assert said(stored) == said(book), f"stored: {said(stored)}, now: {said(book)}; see --store"
    assert [p[:8] for p in pictures(stored)] == 3 * [b"\x89PNG\r\n\x1a\n"], "three figures are to be stored; see --store"
    print("the notebook runs and says what is stored in it; three figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
