#!/usr/bin/env python3
"""The notebook runs as it is stored, asserts what it says, and draws three figures. It is stored without outputs.

    notebook.py SOURCE_DIR [FOLDER]     with the module on PYTHONPATH; leaves the figures in FOLDER
"""

import pathlib
import sys
import tempfile

SKIPPED = 77


def main():
    try:
        import ipykernel  # noqa: F401
        import matplotlib  # noqa: F401
        import nbclient
        import nbformat
    except ImportError as error:
        print(f"skipped: needs python3-nbclient, python3-ipykernel and python3-matplotlib ({error})")
        return SKIPPED
    book = nbformat.read(pathlib.Path(sys.argv[1]) / "python" / "notebooks" / "flash_attention.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "stored with outputs: clear them"
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    save = f"for k, f in enumerate(figures): f.savefig(r'{folder}/figure-{{}}.png'.format(k + 1), bbox_inches='tight')\nprint(len(figures))"
    book.cells.append(nbformat.v4.new_code_cell(save))
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    assert book.cells[-1].outputs[0].text.strip() == "3"
    said = "".join(o.get("text", "") for cell in book.cells if cell.cell_type == "code" for o in cell.outputs)
    assert said.count("bytes read by both") == 5 and "largest difference from NumPy" in said, said
    print("the notebook runs; three figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
