#!/usr/bin/env python3
"""The page of evener report: self-contained, well-formed, true to its records; bad records and failed writes.

Run: ctest -R report, or tests/command/test_report.py build/evener [test ..]
"""
import copy
import html.parser
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

EVENER = "build/evener"
NASTY = "<script>alert(1)</script>\"'&]]>--><b>"
VOID = {"meta", "link", "br"}


def evener(*words, **options):
    return subprocess.run([EVENER, *words], capture_output=True, timeout=300, **options)


def unit(number, tasks, weight, compute, exchange=0.1, idle=0.0, kind="cpu", cores=1):
    return {"id": number, "kind": kind, "cores": list(range(number * cores, (number + 1) * cores)), "device": None,
            "tasks": tasks, "weight": weight, "compute_s": compute, "exchange_s": exchange, "idle_s": idle,
            "bytes_in": 0, "bytes_out": 0}


def burst(unit, kind, begin, end, task, step, count=1):
    return {"unit": unit, "kind": kind, "begin": begin, "end": end, "task": task, "count": count, "step": step}


def record(units=2, schedule="static", app="bt-mz", class_="S", seconds=2.0, steps=10, **more):
    """Four zones, 1 and 3 wide in x, 2 and 2 wide in y; a step of 1 s with one burst a zone."""
    owner = [z * units // 4 for z in range(4)] if units <= 4 else [z for z in range(4)]
    bursts = []
    for step in (8, 9):
        for z in range(4):
            place = owner[:z].count(owner[z])
            bursts.append(burst(owner[z], "compute", step + 0.25 * place, step + 0.25 * place + 0.25, z, step))
        bursts.append(burst(0, "exchange", step + 0.75, step + 1, 0, step, 4))
    made = {"evener": "0.1.0", "app": app, "class": class_, "steps": steps, "verified": True, "seconds": seconds,
            "mops": 1234.5, "norms": {}, "hash": "0123456789abcdef",
            "units": [unit(u, owner.count(u), 4.0 * owner.count(u), 1.0) for u in range(units)],
            "schedule": schedule, "imbalance": 1.25,
            "periods": {"compute_s": 0.75 * seconds, "communication_s": 0.25 * seconds},
            "phases": {"rhs": 0.5, "xsolve": 1.5},
            "transfers": {"migrations": 3, "messages": 20, "bytes": 5000 * steps}, "owner": owner,
            "zones": {"x": [1, 3], "y": [2, 2]}, "bursts": bursts,
            "machine": {"processor": "Abacus"}, "build": {}, "command": "evener run bt-mz"}
    made.update(more)
    return {key: value for key, value in made.items() if value is not KeyError}


def bem(**more):
    made = record(app="td-bem", class_=KeyError, zones=KeyError, phases=KeyError, mesh={"triangles": 20480},
                  stages={"generate_s": 1.0, "summation_s": 3.0, "idle_s": 0.0},
                  iterations=[{"tasks": [3, 1], "times": [0.3, 0.1]}, {"tasks": [2, 2], "times": [0.2, 0.2]}])
    made.update(more)
    return made


def site(name, steps, compute, moved=0, schedule="auto"):
    """A loop of a directive."""
    return {"first": 0, "tasks": 64, "steps": steps, "name": name, "seconds": 0.5, "schedule": schedule, "imbalance": 1.0,
            "periods": {"compute_s": 0.5, "communication_s": 0}, "transfers": {"migrations": 3, "messages": 0, "bytes": 0, "copies": 0,
                                                                               "moved_regions": 1, "moved_bytes": moved},
            "units": [{"id": u, "tasks": 32, "weight": 32, "compute_s": s, "exchange_s": 0, "idle_s": 0.1, "bytes_in": 0, "bytes_out": 0}
                      for u, s in enumerate(compute)]}


class Page(html.parser.HTMLParser):
    """Every element in order, as (name, attributes, words of its own); complains where tags do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, name, attributes):
        self.elements.append([name, dict(attributes), ""])
        assert len(dict(attributes)) == len(attributes), f"attributes given twice: {attributes}"
        if name not in VOID:
            self.open.append((name, len(self.elements) - 1))

    def handle_startendtag(self, name, attributes):
        self.elements.append([name, dict(attributes), ""])

    def handle_endtag(self, name):
        assert self.open and self.open[-1][0] == name, f"</{name}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.elements[self.open[-1][1]][2] += data

    def all(self, name, class_=None):
        return [(a, words) for n, a, words in self.elements
                if n == name and (class_ is None or class_ in a.get("class", "").split())]

    def words(self, *names):
        return [words.replace("\u00a0", " ").strip() for n, _, words in self.elements if n in names]

    def svg(self, title):
        """The elements of the picture of that title."""
        inside, found = [], None
        for k, (name, attributes, words) in enumerate(self.elements):
            if name == "svg":
                found = self.elements[k + 1][2] == title if k + 1 < len(self.elements) else False
            if name in ("figure", "details", "h4", "footer"):
                found = False
            if found:
                inside.append((name, attributes, words))
        assert inside, f"no picture {title!r}"
        return inside


def percent(attributes, key):
    assert attributes[key].endswith("%"), attributes
    return float(attributes[key][:-1])


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.made = 0

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, content, name=None):
        self.made += 1
        path = self.path(name or f"r{self.made}.json")
        if isinstance(content, dict):
            content = json.dumps(content)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def page(self, *records):
        done = evener("report", *[self.write(r) for r in records], "--output", "-")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return Page(done.stdout.decode("utf-8"))

    def refuses(self, content, says, words=()):
        """Status 2 and one line that names the file; an earlier page stays, and no other file is left."""
        path = self.write(content) if not isinstance(content, list) else content[0]
        page = self.path("page.html")
        with open(page, "w") as file:
            file.write("earlier")
        before = sorted(os.listdir(self.folder.name))
        done = evener("report", path, *words, "--output", page)
        message = done.stderr.decode()
        self.assertEqual(done.returncode, 2, message)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(message, r"\Aevener: [^\n]+\n\Z")
        for word in says if isinstance(says, (list, tuple)) else [says]:
            self.assertIn(word, message)
        self.assertIn(os.path.basename(path), message)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        with open(page) as file:
            self.assertEqual(file.read(), "earlier")


class Whole(Base):
    def test_self_contained(self):
        """Nothing from elsewhere, no script, and each picture has a name and a description."""
        page = self.page(record(), record(1), record(4, "guided:time"), record(app="lu-mz"), bem())
        names = {name for name, _, _ in page.elements}
        self.assertFalse(names & {"script", "iframe", "object", "embed", "img", "image", "base", "form"})
        ids = [a["id"] for _, a, _ in page.elements if "id" in a]
        self.assertEqual(len(ids), len(set(ids)))
        for name, attributes, _ in page.elements:
            for key, value in attributes.items():
                self.assertFalse(key.startswith("on"), attributes)
                if key in ("href", "src", "xlink:href"):
                    self.assertRegex(value, r"\A(#|data:,)")
                if value and key != "content":
                    self.assertNotIn("//", value)
        style = "".join(page.words("style"))
        self.assertNotRegex(style, r"@import|https?:|url\((?!#)")
        self.assertIn("prefers-color-scheme:dark", style)
        self.assertIn("@media print", style)
        pictures = page.all("svg")
        for attributes, _ in pictures[1:]:  # the first holds patterns
            self.assertEqual(attributes["role"], "img")
            for label in attributes["aria-labelledby"].split():
                self.assertIn(label, ids)
        self.assertGreater(len(pictures), 20)
        self.assertEqual(len(page.all("desc")), len(pictures) - 1)
        self.assertTrue(all(words for words in page.words("title", "desc")))
        self.assertTrue(any("default-src 'none'" in a.get("content", "") for a, _ in page.all("meta")))

    def test_same_again(self):
        files = [self.write(record()), self.write(record(1))]
        pages = {evener("report", *files, "--output", "-").stdout for _ in range(3)}
        self.assertEqual(len(pages), 1)

    def test_output(self):
        path = self.write(record())
        done = evener("report", path, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"report.html", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["r1.json", "report.html"])
        with open(self.path("report.html")) as file:
            Page(file.read())

    def test_escaping(self):
        """What a record says is text, never markup, and always UTF-8."""
        made = record(app=NASTY, class_=NASTY, schedule=NASTY, hash=NASTY, command=NASTY,
                      machine={"processor": NASTY}, phases={NASTY[:30]: 1.0})
        page = self.page(made, bem(schedule=NASTY))
        self.assertFalse(page.all("script"))
        self.assertFalse(page.all("b"))
        self.assertIn(NASTY, page.words("code"))
        self.assertIn(NASTY.upper()[:20], "".join(page.words("h2")))
        raw = json.dumps(record(schedule="S", command="C")).replace('"S"', '"a\\u0001\\u001b[31m\\u007f"').encode()
        for broken in (b"\xff\xfe", b"\xc0\xbc", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"):
            page = self.page(raw.replace(b'"C"', b'"' + broken + b'"'))
            text = "".join(page.words("code", "text"))
            self.assertIn("\ufffd", text)
            self.assertNotRegex(text, "[\x00-\x08\x0e-\x1f\x7f]")

    def test_summary(self):
        page = self.page(record(), record(verified=False, schedule="guided:time", imbalance=None),
                         record(verified=None, app="sp-mz", seconds=0.03))
        cells = page.words("td")
        for words in ("✓ yes", "✗ no", "–", "1,234", "1.25×", "2:CPU:1", "200 ms", "3.00 ms"):
            self.assertIn(words, cells)
        self.assertIn("0123456789abcdef", page.words("code"))
        self.assertEqual(page.words("h2"), ["BT-MZ, class S", "SP-MZ, class S"])

    def test_groups(self):
        """Only what may be compared stands together."""
        page = self.page(record(), record(1), record(class_="W"), record(app="lu-mz"), bem(),
                         bem(mesh={"triangles": 80}))
        self.assertEqual(page.words("h2"), ["BT-MZ, class S", "BT-MZ, class W", "LU-MZ, class S",
                                            "TD-BEM, 20,480 triangles", "TD-BEM, 80 triangles"])
        self.assertEqual(len(page.words("nav", "a")) - 1, 5)

    def test_labels(self):
        """A schedule's name is as short as is unambiguous."""
        page = self.page(record(schedule="dynamic:chunk=1,memorize=3"), record(schedule="guided:size"))
        self.assertIn("dynamic", page.words("text"))
        self.assertIn("guided:size", page.words("text"))
        page = self.page(record(schedule="dynamic:chunk=1,memorize=3"), record(schedule="dynamic:chunk=4,memorize=3"))
        self.assertLessEqual({"dynamic:chunk=1", "dynamic:chunk=4"}, set(page.words("text")))
        page = self.page(record(), record(seconds=3.0))
        self.assertLessEqual({"static (1)", "static (2)"}, set(page.words("text")))

    def test_bits(self):
        says = lambda *records: " ".join(self.page(*records).words("p"))
        self.assertIn("agree to the last bit", says(record(), record(1)))
        self.assertIn("differ in their bits", says(record(), record(1, hash="f" * 16)))


class Pictures(Base):
    def test_periods(self):
        """Bars in proportion: 2 s and 4 s of ten steps, three quarters of it computing."""
        page = self.page(record(), record(schedule="guided:time", seconds=4.0))
        bars = page.svg("Computing and communication by schedule and number of units")
        widths = [percent(a, "width") for name, a, _ in bars if name == "rect"]
        self.assertEqual(widths, [37.5, 12.5, 75.0, 25.0])
        text = [words.replace("\u00a0", " ") for name, _, words in bars if name == "text"]
        self.assertEqual(text, ["2 units, 2:CPU:1", "static", "200 ms · 1.00×", "guided:time", "400 ms · 2.00×"])

    def test_rest(self):
        page = self.page(record(periods={"compute_s": 1.0, "communication_s": 0.5}))
        bars = page.svg("Computing and communication by schedule and number of units")
        self.assertEqual([(a["class"], percent(a, "width")) for name, a, _ in bars if name == "rect"],
                         [("k0", 50.0), ("k1", 25.0), ("rest", 25.0)])

    def test_speedups(self):
        page = self.page(record(1, seconds=4.0), record(2, seconds=2.0), record(4, seconds=1.6),
                         record(4, "guided:time", seconds=1.0))
        dots = page.all("circle")
        self.assertEqual(len(dots), 4)
        tips = [words.replace("\u00a0", " ") for words in page.words("title")]
        for words in ("static on 2:CPU:1: 2.00×, 200 ms a step", "static on 4:CPU:1: 2.50×, 160 ms a step",
                      "guided:time on 4:CPU:1: 4.00×, 100 ms a step"):
            self.assertIn(words, tips)
        place = {percent(a, "cx"): [] for a, _ in dots}
        for a, _ in dots:
            place[percent(a, "cx")].append(float(a["cy"]))
        x = sorted(place)
        self.assertAlmostEqual((x[1] - x[0]) / (x[2] - x[0]), 1 / 3, delta=1e-3)
        ticks = {words: float(a["y"]) - 4 for a, words in page.all("text", "tick") if "end" in a["class"].split()}
        self.assertAlmostEqual(ticks["2"], place[x[1]][0], delta=0.11)
        self.assertAlmostEqual(ticks["4"], min(place[x[2]]), delta=0.11)
        high, low = sorted(place[x[2]])
        one = place[x[0]][0]
        self.assertAlmostEqual((one - low) / (one - high), 1.5 / 3, delta=1e-2)

    def test_transfers(self):
        page = self.page(record(), record(4, "map", transfers={"migrations": 0, "messages": 120, "bytes": 20000}))
        for title, widths, text in (("Bytes a step", [100.0, 40.0], ["5.00 kB", "2.00 kB"]),
                                    ("Messages a step", [16.667, 100.0], ["2", "12"]),
                                    ("Migrations in the whole run", [100.0], ["3", "0"])):
            bars = page.svg(title)
            self.assertEqual([percent(a, "width") for name, a, _ in bars if name == "rect"], widths)
            self.assertEqual([words.replace("\u00a0", " ") for name, a, words in bars
                              if name == "text" and "value" in a["class"]], text)

    def test_timeline(self):
        """The last step of 1 s: boxes where the bursts are, what is waiting left empty."""
        page = self.page(record())
        boxes = [(a["class"], percent(a, "x"), percent(a, "width"), float(a["y"]))
                 for name, a, _ in page.svg("One step of static on 2:CPU:1") if name == "rect"]
        lines = sorted({y for kind, _, _, y in boxes if kind == "wait"})[:2]
        left, wide = boxes[0][1], boxes[0][2]
        share = lambda kind, line: [(round((x - left) / wide, 3), round(w / wide, 3))
                                    for k, x, w, y in boxes if k == kind and y == lines[line]]
        self.assertEqual(share("k0", 0), [(0.0, 0.25), (0.25, 0.25)])
        self.assertEqual(share("k1", 0), [(0.75, 0.25)])
        self.assertEqual(share("k0", 1), [(0.0, 0.25), (0.25, 0.25)])
        self.assertEqual(share("k1", 1), [])
        self.assertIn("step 9: 1.00 s, units busy for 62 % of it", page.words("p"))
        tips = page.words("title")
        self.assertIn("zone 3: computing 250 ms", tips)
        self.assertIn("4 zones: exchange 250 ms", tips)

    def test_copies(self):
        """Copies run beside their unit, on a line of their own, and keep no unit busy."""
        made = record()
        made["bursts"].append(burst(1, "copy", 9.5, 9.75, 3, 9))
        page = self.page(made)
        self.assertIn("zone 3: copies 250 ms", page.words("title"))
        self.assertIn("step 9: 1.00 s, units busy for 62 % of it", page.words("p"))
        copies = [a for a, _ in page.all("rect") if a["class"] == "k2"]
        self.assertEqual(len(copies), 1)

    def test_many_short_bursts(self):
        """A thousand boxes that nobody could tell apart become few, and their time stays."""
        made = record()
        made["bursts"] = [burst(0, "compute", 0.001 * i, 0.001 * i + 0.001, 0, 1) for i in range(1000)]
        made["bursts"].append(burst(1, "compute", 0, 1, 1, 1))
        page = self.page(made)
        boxes = [(percent(a, "x"), percent(a, "width")) for name, a, _ in page.svg("One step of static on 2:CPU:1")
                 if name == "rect" and a["class"].startswith("k0")]
        self.assertLess(len(boxes), 10)
        self.assertAlmostEqual(sum(w for _, w in boxes), 2 * boxes[-1][1], delta=0.01)

    def test_map(self):
        """Zones of 1 and 3 by 2 and 2: where they lie and whose they are; north is up."""
        page = self.page(record(owner=[0, 1, 1, 1]))
        zones = [(a["class"].split()[1], *[float(a[k]) for k in ("x", "y", "width", "height")])
                 for a, _ in page.all("rect", "zone")]
        self.assertEqual(zones, [("c0", 0, 150, 75, 150), ("c1", 75, 150, 225, 150), ("c1", 0, 0, 300, 150)])
        self.assertEqual([words for a, words in page.all("text", "unit")], ["0", "1"])

    def test_units(self):
        made = record()
        made["units"] = [unit(0, 2, 8, 3.0, 1.0, 0.0), unit(1, 2, 8, 1.0, 1.0, 2.0, "gpu")]
        page = self.page(made)
        tips = page.words("title")
        self.assertIn("unit 0 (CPU): computing 3.00 s", tips)
        self.assertIn("unit 1 (GPU): waiting 2.00 s", tips)
        self.assertIn("1:CPU:1,1:GPU:1", " ".join(page.words("td")))

    def test_bem(self):
        page = self.page(bem())
        bars = [percent(a, "width") for name, a, _ in page.svg("Time by stage or phase") if name == "rect"]
        self.assertEqual(bars, [25.0, 75.0])
        self.assertIn("summation", page.words("text"))
        tips = page.words("title")
        self.assertIn("iteration 1, unit 0: 3 tasks", tips)
        self.assertIn("iteration 2, unit 1: 0.2", tips)
        self.assertIn("1.50×", page.words("td"))

    def test_plan(self):
        plan = {"evener": "0.1.0", "app": "bt-mz", "class": "S", "units": "2:CPU:1", "schedule": "static", "tasks": 4,
                "weight": [1, 2, 3, 4], "speed": [1, 1],
                "iterations": [{"owner": [0, 0, 1, 1], "load": [3, 7], "imbalance": 7 / 3, "cut_bytes": 10,
                                "migrations": 0}]}
        page = self.page(plan, record())
        self.assertEqual(page.words("h2"), ["BT-MZ, class S, planned", "BT-MZ, class S"])
        self.assertIn("iteration 1, unit 1: 7", page.words("title"))
        plan["iterations"][0].update(compute_s=0.3, communication_s=0.1, step_s=0.4, messages=2)
        page = self.page(plan)
        bars = page.svg("Computing and communication by schedule and number of units")
        self.assertEqual([percent(a, "width") for name, a, _ in bars if name == "rect"], [75.0, 25.0])

    def test_left_out(self):
        """What a record lacks leaves a picture out, with a sentence that says how to get it."""
        whole, bare = self.page(record()), self.page(record(bursts=KeyError, zones=KeyError))
        says = lambda page: " ".join(words for _, words in page.all("p", "left-out"))
        self.assertIn("No picture of speedups: all records have the same number of units", says(whole))
        self.assertNotIn("timeline", says(whole))
        self.assertIn("No timeline of 1 of 1 records", says(bare))
        self.assertIn("No map of zones of 1 of 1 records", says(bare))
        self.assertIn("evener run APP --json FILE", says(bare))
        self.assertIn("nothing crosses between units where there is one", says(self.page(record(1))))

    def test_many_units(self):
        """More units than can be drawn or told apart."""
        units = 300
        made = record(4)
        made["units"] = [unit(u, 1, 1, 1.0) for u in range(units)]
        made["owner"] = list(range(units))
        made["zones"] = {"x": [1] * 20, "y": [1] * 15}
        made["bursts"] = [burst(u, "compute", 0, 1 + u / units, u, 1) for u in range(units)]
        page = self.page(made)
        self.assertEqual(len([a for a, _ in page.all("rect", "zone")]), units)
        self.assertIn("The first 64 of 300 units.", page.words("p"))
        self.assertIn("Colours repeat after 24 units; numbers tell.", page.words("p"))

    def test_no_time(self):
        """Zero steps, zero seconds: no ratio is made up."""
        for made in (record(steps=0, seconds=0.0), record(seconds=0.0)):
            page = self.page(made, record(4, steps=0, seconds=0.0))
            self.assertFalse(re.search(r"\b(nan|inf)", " ".join(page.words("text", "td", "p", "title")), re.I))
            self.assertFalse(any("nan" in v or "inf" in v for n, a, _ in page.elements if n in ("rect", "line", "circle")
                                 for v in a.values()))


class Directives(Base):
    """Loops with names: a section each, of all loops that have the name; and no steps, which such programs do not have."""

    def test_sections(self):
        loops = [site("flow.c:12", 70, (0.4, 0.2), 1000), site("flow.c:30", 1, (0.1, 0.1)), site("flow.c:12", 2, (0.1, 0.3), 24, "dynamic"),
                 site(NASTY, 4, (0.2, 0.1))]
        page = self.page(record(app="flow", steps=70, mops=KeyError, zones=KeyError, phases=KeyError, loops=loops))
        self.assertEqual(page.words("h3"), ["flow.c:12", "flow.c:30", NASTY])
        notes = [n for n in page.words("p") if "instance" in n and "tasks" in n]
        self.assertEqual(len(notes), 3)
        self.assertIn("72 instances of 64 tasks", notes[0])
        self.assertIn("imbalance 1.00×, 6 migrations, 1.02 kB moved, in 2 loops", notes[0])
        self.assertIn("1 instance of 64 tasks", notes[1])
        self.assertIn("imbalance 2.00×", notes[2])
        page.svg("Units at flow.c:12")
        text = " ".join(page.words("p", "h1", "h4", "figcaption", "td", "th"))
        self.assertIn("77 instances of 3 directives", text)
        for words in ("70", "a step.", "Bytes a step", "time of a step"):
            self.assertNotIn(words, page.words("td") if words.isdigit() else text)

    def test_unnamed(self):
        loops = [{k: v for k, v in site("", 10, (1, 1)).items() if k != "name"}]
        page = self.page(record(loops=loops))
        self.assertEqual(page.words("h3"), [])
        self.assertIn("10", page.words("td"))

    def test_wrong(self):
        for change, says in (({"name": 3}, "no text"), ({"units": 4}, "no list"), ({"steps": "x"}, "no number"), ({"transfers": []}, "no object")):
            self.refuses(record(loops=[site("a.c:1", 1, (1, 1)) | change]), says)
        self.refuses(record(loops=[site(f"a.c:{i}", 1, (1, 1)) for i in range(1025)]), "more than 1024 names")


class BadInput(Base):
    def test_files(self):
        self.refuses([self.path("none.json")], "No such file")
        self.refuses([self.folder.name], "is a folder")
        self.refuses("", "is empty")
        self.refuses(" \n\n ", "is empty")
        self.refuses("bursts", "is no JSON: line 1, column 1")
        self.refuses('{\n "app": x}', "line 2, column 9")
        self.refuses(json.dumps(record()) + "x", "is no JSON")
        self.refuses(json.dumps(record())[:-1].encode() + b"\0}", "no JSON")
        self.refuses("[1, 2]", "no record")
        self.refuses("null", "no record")
        self.refuses("[" * 100000, "JSON")
        self.refuses(bytes(range(256)) * 10, "JSON")
        done = evener("report")
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"expected FILE.json", done.stderr)

    def test_second_file(self):
        """One bad record among good ones: no page."""
        good = self.write(record())
        bad = self.write("{}")
        page = self.path("page.html")
        done = evener("report", good, bad, "--output", page)
        self.assertEqual(done.returncode, 2)
        self.assertIn(os.path.basename(bad), done.stderr.decode())
        self.assertFalse(os.path.exists(page))

    def test_huge(self):
        path = self.path("huge.json")
        with open(path, "wb") as file:
            file.truncate(40 << 20)
        self.refuses([path], "larger than 32 MiB")

    def test_missing(self):
        """Each key that pictures are made of."""
        for key in ("evener", "app", "steps", "verified", "seconds", "units", "schedule", "periods", "transfers",
                    "owner"):
            made = record()
            del made[key]
            self.refuses(made, [f'no "{key}"', "expected a record"])
        for outer, key in (("periods", "compute_s"), ("periods", "communication_s"), ("transfers", "bytes")):
            made = record()
            del made[outer][key]
            self.refuses(made, f'no "{outer}.{key}"')
        for key in ("kind", "tasks", "weight", "compute_s", "exchange_s", "idle_s"):
            made = record()
            del made["units"][1][key]
            self.refuses(made, f'no "units[1].{key}"')
        for key in ("unit", "kind", "begin", "end", "task", "count", "step"):
            made = record()
            del made["bursts"][3][key]
            self.refuses(made, f'no "bursts[3].{key}"')
        made = record()
        del made["zones"]["y"]
        self.refuses(made, 'no "zones.y"')

    def test_not_finite(self):
        for text in ("NaN", "Infinity", "-Infinity", "1e999", "-1", '"2"', "[]", "true"):
            made = json.dumps(record(seconds=12345)).replace('"seconds": 12345', '"seconds": ' + text)
            self.refuses(made, "JSON" if text[-1] in "Ny" else '"seconds" is no number')

    def test_wrong(self):
        """Values that would make a wrong picture."""
        def change(*path, to):
            made = copy.deepcopy(record())
            place = made
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = to
            return made
        for made, says in (
                (change("app", to=3), '"app" is no text'),
                (change("app", to=""), '"app" is empty'),
                (change("schedule", to="x" * 1000), "longer than"),
                (change("steps", to=1.5), '"steps" is no whole number'),
                (change("verified", to="yes"), '"verified" is none of true, false and null'),
                (change("units", to=[]), '"units" has 0 entries'),
                (change("units", to={}), '"units" is no list'),
                (change("units", 0, to=7), 'no "units[0].kind"'),
                (change("units", 0, "kind", to="abacus"), 'unknown kind "abacus", expected cpu or gpu'),
                (change("units", 0, "tasks", to=-1), "units[0].tasks"),
                (change("owner", to=[0, 0, 1, 2]), '"owner" at entry 3'),
                (change("owner", to=[0, 0, 1, 0.5]), '"owner" at entry 3'),
                (change("owner", to=[0, 0, 1]), '"zones" are 2 x 2, but "owner" has 3 entries'),
                (change("zones", to={"x": [], "y": []}), '"zones" are 0 x 0'),
                (change("zones", "x", to=[0, 3]), "a width above 0"),
                (change("zones", "x", to=["a", 3]), "zones.x"),
                (change("bursts", to=7), '"bursts" is no list'),
                (change("bursts", 0, to=7), 'no "bursts[0].kind"'),
                (change("bursts", 0, "unit", to=2), "bursts[0].unit"),
                (change("bursts", 0, "kind", to="gallop"), 'unknown kind "gallop", expected one of compute, exchange'),
                (change("bursts", 0, "end", to=0), "bursts[0].end"),
                (change("bursts", 0, "step", to=1e300), "bursts[0].step"),
                (change("periods", to=[]), '"periods" is no object'),
                (change("phases", "rhs", to=None), "phases"),
                (change("imbalance", to="1"), '"imbalance" is no number'),
                (change("iterations", to=[{"tasks": [1]}]), "iterations[0]"),
                (change("iterations", to=[{"tasks": [1, "x"]}]), '"tasks" at entry 1'),
                (change("iterations", to=[{"owner": [0, 9]}]), '"owner" at entry 1'),
                (change("mesh", to=4), '"mesh" is no object')):
            self.refuses(made, says)

    def test_truncated(self):
        """Cut off anywhere: one line, never a page."""
        for whole in (json.dumps(record(), indent=1), json.dumps(bem())):
            for cut in range(0, len(whole) - 1, 97):
                done = evener("report", self.write(whole[:cut], "cut.json"), "--output", self.path("cut.html"))
                self.assertEqual(done.returncode, 2, (cut, done.stderr))
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                self.assertFalse(os.path.exists(self.path("cut.html")))

    def test_changed(self):
        """Any one value replaced by another: a page or a message, never a crash."""
        whole = json.dumps(bem())
        spots = [m.span() for m in re.finditer(r"(?<=: )(\d[\d.e]*|\"[^\"]*\"|true|null|\[\]|\{\})", whole)]
        for k, (begin, end) in enumerate(spots):
            value = ["null", "1e300", "{}", "[[[]]]", '""', "0", "-0.5", "18446744073709551617"][k % 8]
            done = evener("report", self.write(whole[:begin] + value + whole[end:], "x.json"), "--output", "-")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 2:
                self.assertEqual((done.stdout, done.stderr.count(b"\n")), (b"", 1))
            else:
                Page(done.stdout.decode())


class Writing(Base):
    def test_refused(self):
        path = self.write(record())
        for words, says in ((["--output", self.path("no/such/page.html")], "cannot be written"),
                            (["--output", self.folder.name], "cannot be written"),
                            (["--output", path], "would replace a record"),
                            (["--ouput", "x"], "did you mean --output?")):
            done = evener("report", path, *words)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
            self.assertIn(says, done.stderr.decode())
        with open(path) as file:
            self.assertEqual(json.load(file)["app"], "bt-mz")
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(path)])

    def test_failed(self):
        """A page that does not fit: status 3, and the earlier page is whole."""
        path, page = self.write(record()), self.path("page.html")
        with open(page, "w") as file:
            file.write("earlier")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        done = evener("report", path, "--output", page, preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"could not be written", done.stderr)
        with open(page) as file:
            self.assertEqual(file.read(), "earlier")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["page.html", os.path.basename(path)])

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        path = self.write(record())
        done = evener("report", path, "--output", "/dev/full")
        self.assertEqual(done.returncode, 3)
        with open("/dev/full", "w") as full:
            done = subprocess.run([EVENER, "report", path, "--output", "-"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 3)


class Real(Base):
    def test_run(self):
        """Records as evener run writes them."""
        files = []
        for app in ("bt-mz", "lu-mz"):
            for units in (1, 2):
                for schedule in ("static", "guided:time"):
                    files.append(self.path(f"{app}-{units}-{schedule}.json"))
                    done = evener("run", app, "--steps", "5", "--units", f"{units}:CPU:1", "--oversubscribe", "--quiet",
                                  "--schedule", schedule, "--json", files[-1])
                    self.assertEqual(done.returncode, 0, done.stderr)
        done = evener("report", *files, "--output", self.path("page.html"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page.html")) as file:
            page = Page(file.read())
        self.assertEqual(page.words("h2"), ["BT-MZ, class S", "LU-MZ, class S"])
        self.assertEqual(len(page.all("circle")), 8)
        with open(files[0]) as file:
            made = json.load(file)
        captions = page.words("figcaption")
        self.assertEqual("bursts" in made, "One step in time, a line a unit" in captions)
        self.assertEqual("zones" in made, "Zones by unit at the end of the run" in captions)

    def test_plan(self):
        path = self.path("plan.json")
        done = evener("plan", "bt-mz", "--class", "W", "--units", "4:CPU:1", "--json", path, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(evener("report", path, "--output", self.path("page.html")).returncode, 0)

    def test_help(self):
        done = evener("report", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"usage: evener report FILE.json", done.stdout)


if __name__ == "__main__":
    EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
