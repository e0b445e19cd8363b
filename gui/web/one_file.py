"""Writes tilescope.html, the page in one file that opens without a server: one_file.py SITE"""

import base64
import pathlib
import sys


def main():
    site = pathlib.Path(sys.argv[1])
    bytes_of = lambda name: f'Uint8Array.from(atob("{base64.b64encode((site / name).read_bytes()).decode()}"), c => c.charCodeAt(0))'
    embedded = f"""<script>
globalThis.embedded = {{ wasmBinary: {bytes_of("tilescope.wasm")}, data: {bytes_of("tilescope.data")},
                        getPreloadedPackage() {{ return this.data.buffer; }} }};
</script>
"""
    page = (site / "index.html").read_text()
    for name in ("page.js", "tilescope.js"):
        link = f'<script src="{name}"></script>'
        assert page.count(link) == 1, name
        before = embedded if name == "page.js" else ""
        script = (site / name).read_text().replace("</script", "<\\/script")
        page = page.replace(link, before + "<script>\n" + script + "</script>")
    (site / "tilescope.html").write_text(page)


if __name__ == "__main__":
    main()
