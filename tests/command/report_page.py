"""A page of evener report: the records in it, and what its script makes of them, where node or Chromium is found."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ET

VOID = {"br", "meta", "link"}
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "%": 1e-2}


class Tree(html.parser.HTMLParser):
    """Elements as a tree; complains where tags do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.builder, self.open = ET.TreeBuilder(), []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"
        self.root = self.builder.close()

    def handle_starttag(self, name, attributes):
        self.builder.start(name, dict(attributes))
        if name in VOID:
            self.builder.end(name)
        else:
            self.open.append(name)

    def handle_endtag(self, name):
        if name not in VOID:
            assert self.open and self.open.pop() == name, f"</{name}> closes another element"
            self.builder.end(name)

    def handle_data(self, data):
        if self.open:
            self.builder.data(data)


def records(page):
    """The records in a page, [{"file": .., "record": ..}, ..]."""
    return json.loads(re.search(r'<script type="application/json" id="records">\n(.*)\n</script>\n<script>', page, re.DOTALL)[1])


def drawn(path):
    """The element main of the page in this file, with all that the script makes."""
    node = shutil.which("node") or shutil.which("nodejs")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not node and not browser:
        raise unittest.SkipTest("neither node nor Chromium is here to run the page's script")
    words = ([node, os.path.join(os.path.dirname(__file__), "report_dom.js"), path] if node else
             [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "file://" + os.path.abspath(path)])
    done = subprocess.run(words, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode()
    return Tree(text[text.index("<main"):text.index("</main>") + len("</main>")]).root


def markup(path):
    """drawn() as text."""
    return ET.tostring(drawn(path), encoding="unicode").replace("\u00a0", " ")


def words(element):
    return "".join(element.itertext()).replace("\u00a0", " ")


def figure(page, caption):
    """The figure whose caption begins so."""
    found = [f for f in page.iter("figure") if words(f.find("figcaption")).startswith(caption)]
    assert found, f"no figure {caption!r} among {[words(c) for c in page.iter('figcaption')]}"
    return found[0]


def rows(element):
    """Its tables' rows without heads."""
    return [[words(cell) for cell in row] for body in element.iter("tbody") for row in body]


def bars(element):
    """The widths of each bar's parts, in per cent."""
    tracks = [e for e in element.iter("span") if e.get("class") == "track"]
    return [[float(re.fullmatch(r"width:([\d.]+)%", part.get("style"))[1]) for part in track] for track in tracks]


def number(text):
    """What "1,234", "22.2 ms" or "1.05×" stand for."""
    value, _, unit = text.replace(",", "").rstrip("×").partition(" ")
    return float(value) * UNITS.get(unit, 1)
