"""Completes the page beside tilescope.js: page.js with its words, index.html, and tilescope.html, the same in one file
that opens without a server: site.py SOURCE TEXTS SITE"""

import base64
import json
import pathlib
import sys


def with_words(script, texts):
    """page.js with the messages of a file of texts."""
    lines = [line.split(" = ", 1) for line in texts.splitlines() if " = " in line and not line.startswith("#")]
    empty = "const texts = {};"
    assert script.count(empty) == 1
    return script.replace(empty, f"const texts = {json.dumps(dict(lines), ensure_ascii=False)};")


def in_one_file(site):
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
    return page


def main():
    source, texts, site = map(pathlib.Path, sys.argv[1:])
    (site / "index.html").write_text((source / "index.html").read_text())
    (site / "page.js").write_text(with_words((source / "page.js").read_text(), texts.read_text()))
    (site / "tilescope.html").write_text(in_one_file(site))


if __name__ == "__main__":
    main()
