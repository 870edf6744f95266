#!/usr/bin/env python3
"""The page of evener report: self-contained, the records whole in it, what its script draws true to them; bad records and failed writes.

Run: ctest -R report, or tests/command/test_report.py build/evener [test ..]
"""
import copy
import json
import math
import os
import re

import base
from report_page import Tree, bars, drawn, figure, number, records, rows, words

STYLE = os.path.join(os.path.dirname(__file__), "../../suite/command/report/page.css")
NASTY = "</script><script>alert(1)</script><!--\u2028\"'&]]>--><b>"


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


class Base(base.Base):
    made = 0

    def write(self, content, name=None):
        self.made += 1
        path = self.path(name or f"r{self.made}.json")
        if isinstance(content, dict):
            content = json.dumps(content)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def text(self, *records):
        """The page as it is written."""
        return self.evener("report", *[self.write(r) for r in records], "--output", "-", said="").stdout

    def page(self, *records):
        """What its script makes."""
        return drawn(self.write(self.text(*records), "drawn.html"))

    def all(self, page, name, class_=None):
        return [e for e in page.iter(name) if class_ is None or class_ in e.get("class", "").split()]

    def said(self, page, *names):
        return [words(e) for name in names for e in page.iter(name)]

    def tips(self, page):
        return self.said(page, "title") + [e.get("title").replace("\u00a0", " ") for e in page.iter("i") if e.get("title")]

    def picture(self, page, title):
        found = [s for s in page.iter("svg") if s.get("aria-label").startswith(title)]
        self.assertTrue(found, title)
        return found[0]

    def refuses(self, content, says, words=()):
        """Status 2 and one line that names the file; an earlier page stays, and no other file is left."""
        path = self.write(content) if not isinstance(content, list) else content[0]
        page = self.write("earlier", "page.html")
        super().refuses(["report", path, *words, "--output", page], says, os.path.basename(path))
        self.assertEqual(self.read(page), "earlier")


class Embedding(Base):
    def test_records(self):
        """Records are in the page as they were, and nothing in them is markup."""
        name = "a<b>&'\u2029.json"
        hostile = record(app=NASTY, class_=NASTY, schedule=NASTY, hash=NASTY, command=NASTY, machine={"processor": NASTY},
                         phases={NASTY[:30]: 1.0}, more=[0.1 + 0.2, 1e-300, 2 ** 53, -1.5, True, None, "\t\u007f"])
        path = self.write(hostile, name)
        page = self.evener("report", path, self.write(bem(), "bem.json"), "--output", "-").stdout
        self.assertEqual(records(page), [{"file": path, "record": hostile}, {"file": self.path("bem.json"), "record": bem()}])
        data = page[page.index('id="records">') + 13:page.index("</script>")]
        for mark in "<>&\u2028\u2029":
            self.assertNotIn(mark, data)
        self.assertEqual([e.tag for e in Tree(page).root.iter() if e.tag in ("script", "b", "title")], ["title", "script", "script"])

    def test_escaping(self):
        """What a record says is text of the page, never markup."""
        page = self.page(record(app=NASTY, schedule=NASTY, hash=NASTY, command=NASTY, phases={NASTY[:30]: 1.0}), bem(schedule=NASTY))
        self.assertFalse(self.all(page, "script") + self.all(page, "iframe"))
        self.assertIn(NASTY, self.said(page, "code"))
        self.assertIn(NASTY.upper()[:20], "".join(self.said(page, "h2")))

    def test_bytes(self):
        """The page is UTF-8 without control characters, whatever a record's bytes are."""
        raw = json.dumps(record(schedule="S", command="C")).replace('"S"', '"a\\u0001\\u001b[31m\\u007f"').encode()
        for broken in (b"\xff\xfe", b"\xc0\xbc", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"):
            with self.subTest(broken=broken):
                content = raw.replace(b'"C"', b'"' + broken + b'"')
                self.assertIn("\ufffd", records(self.text(content))[0]["record"]["command"])
                page = words(self.page(content))
                self.assertNotRegex(page, "[\x00-\x08\x0e-\x1f\x7f]")
                self.assertIn("a\ufffd\ufffd[31m\ufffd on 2:CPU:1", page)

    def test_self_contained(self):
        """Nothing from elsewhere; each picture has a name."""
        page = self.text(record(), record(1), record(4, "guided:time"), record(app="lu-mz"), bem())
        self.assertNotRegex(re.sub(r"http://www\.w3\.org/", "", page), r"https?:|@import|url\((?!#)|\bsrc=")
        self.assertIn("default-src 'none'", page)
        for address in re.findall(r'href="([^"]*)"', page):
            self.assertEqual(address, "data:,")
        made = self.page(record(), record(1), record(4, "guided:time"), record(app="lu-mz"), bem())
        pictures = [e for e in made.iter() if e.get("role") == "img"]
        self.assertGreater(len(pictures), 20)
        self.assertTrue(all(e.get("aria-label") for e in pictures + self.all(made, "svg")))
        ids = [e.get("id") for e in made.iter() if e.get("id") not in (None, "page")]
        self.assertEqual(["#" + i for i in ids], [e.get("href") for e in made.iter("a")])
        self.assertFalse([e for e in made.iter() for key in e.keys() if key.startswith("on")])

    def test_contrast(self):
        """Text can be read on what is behind it, in light and in dark (4.5, as WCAG has it)."""
        with open(STYLE, encoding="utf-8") as file:
            parts = file.read().split("prefers-color-scheme: dark")
        light, dark = [dict(re.findall(r"(--[\w-]+): (#\w+);", part.split("}")[0])) for part in ("".join(parts[0].split(":root {")[1:2]), parts[1])]

        def bright(colour):
            digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
            parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
            return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), parts))
        for colours in light, light | dark:
            for text, behind in [("ink", "page"), ("soft", "page"), ("bad", "page"), ("good", "page"), ("on", "k0"), ("on-dark", "k1"),
                                 ("on", "k2"), ("on", "k4"), *[("on-dark" if c in (0, 2, 5) else "on", f"c{c}") for c in range(8)]]:
                two = sorted((bright(colours["--" + text]), bright(colours["--" + behind])))
                self.assertGreater((two[1] + 0.05) / (two[0] + 0.05), 4.5 if behind == "page" else 4, (text, behind))

    def test_output(self):
        self.assertIn("report.html", self.evener("report", self.write(record())).stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), ["r1.json", "report.html"])


class Whole(Base):
    def test_summary(self):
        page = self.page(record(), record(verified=False, schedule="guided:time", imbalance=None),
                         record(verified=None, app="sp-mz", seconds=0.03))
        self.assertEqual(rows(figure(page, "All records")), [
            ["BT-MZ, class S"],
            ["static", "2:CPU:1", "✓ yes", "10", "2", "200 ms", "1,235", "1.25×", "0123456789abcdef"],
            ["guided:time", "2:CPU:1", "✗ no", "10", "2", "200 ms", "1,235", "–", "0123456789abcdef"],
            ["SP-MZ, class S"],
            ["static", "2:CPU:1", "–", "10", "0.03", "3.00 ms", "1,235", "1.25×", "0123456789abcdef"]])

    def test_groups(self):
        """Only what may be compared stands together."""
        page = self.page(record(), record(1), record(class_="W"), record(app="lu-mz"), bem(), bem(mesh={"triangles": 80}))
        titles = ["BT-MZ, class S", "BT-MZ, class W", "LU-MZ, class S", "TD-BEM, 20,480 triangles", "TD-BEM, 80 triangles"]
        self.assertEqual(self.said(page, "h2"), titles)
        self.assertEqual(self.said(page, "a"), titles)

    def test_labels(self):
        """A schedule's name is as short as is unambiguous."""
        labels = lambda *some: [words(e) for e in self.all(figure(self.page(*some), "Time of a step"), "span", "label")]
        self.assertEqual(labels(record(schedule="dynamic:chunk=1,memorize=3"), record(schedule="guided:size")), ["dynamic", "guided:size"])
        self.assertEqual(labels(record(schedule="dynamic:chunk=1,memorize=3"), record(schedule="dynamic:chunk=4,memorize=3")),
                         ["dynamic:chunk=1", "dynamic:chunk=4"])
        self.assertEqual(labels(record(), record(seconds=3.0)), ["static (1)", "static (2)"])

    def test_bits(self):
        says = lambda *some: " ".join(self.said(self.page(*some), "p"))
        self.assertIn("agree to the last bit", says(record(), record(1)))
        self.assertIn("differ in their bits", says(record(), record(1, hash="f" * 16)))


class Pictures(Base):
    def test_periods(self):
        """Bars in proportion: 2 s and 4 s of ten steps, three quarters of it computing."""
        made = figure(self.page(record(), record(schedule="guided:time", seconds=4.0)), "Time of a step")
        self.assertEqual(bars(made), [[37.5, 12.5], [75.0, 25.0]])
        self.assertEqual([words(e) for e in made.iter("b")], ["2 units, 2:CPU:1"])
        self.assertEqual([words(e) for e in self.all(made, "span", "value")], ["200 ms · 1.00×", "400 ms · 2.00×"])
        self.assertEqual(rows(made)[1], ["guided:time", "2:CPU:1", "300 ms", "100 ms", "0 s", "400 ms", "25 %"])

    def test_rest(self):
        made = figure(self.page(record(periods={"compute_s": 1.0, "communication_s": 0.5})), "Time of a step")
        self.assertEqual((bars(made), rows(made)[0][4]), ([[50.0, 25.0, 25.0]], "50.0 ms"))

    def test_speedups(self):
        page = self.page(record(1, seconds=4.0), record(2, seconds=2.0), record(4, seconds=1.6), record(4, "guided:time", seconds=1.0))
        made = figure(page, "Speedup over static on 1:CPU:1, 400 ms a step")
        self.assertEqual([row[3:] for row in rows(made)], [["1.00×", "100 %"], ["2.00×", "100 %"], ["4.00×", "100 %"], ["2.50×", "63 %"]])
        tips = {words(dot): [float(dot.get(key).rstrip("%")) for key in ("cx", "cy")] for dot in made.iter("circle")}
        one, two, four, fast = [tips[f"{name}: {x:.2f}×, {4000 / x / 10:.0f} ms a step"] for name, x in (
            ("static on 1:CPU:1", 1), ("static on 2:CPU:1", 2), ("static on 4:CPU:1", 2.5), ("guided:time on 4:CPU:1", 4))]
        self.assertEqual(len(tips), 4)
        self.assertAlmostEqual((two[0] - one[0]) / (four[0] - one[0]), 1 / 3, delta=1e-3)
        self.assertAlmostEqual((one[1] - four[1]) / (one[1] - fast[1]), 1.5 / 3, delta=1e-2)
        ticks = {words(e): float(e.get("y")) - 4 for e in self.all(made, "text", "end")}
        self.assertAlmostEqual(ticks["2"], two[1], delta=0.11)
        self.assertAlmostEqual(ticks["4"], fast[1], delta=0.11)

    def test_transfers(self):
        made = figure(self.page(record(), record(4, "map", transfers={"migrations": 0, "messages": 120, "bytes": 20000})), "Transfers")
        self.assertEqual(bars(made), [[100.0], [40.0], [16.667], [100.0], [100.0], []])
        self.assertEqual([row[2:] for row in rows(made)], [["5.00 kB", "2", "3"], ["2.00 kB", "12", "0"]])

    def test_timeline(self):
        """The last step of 1 s: boxes where the bursts are, what is waiting left empty."""
        page = self.page(record())
        boxes = [(r.get("class"), *[float(r.get(key).rstrip("%")) for key in ("x", "width", "y")])
                 for r in self.picture(page, "One step of static on 2:CPU:1").iter("rect")]
        (_, left, wide, first), (_, _, _, second) = [box for box in boxes if box[0] == "wait"]
        share = lambda kind, line: [(round((x - left) / wide, 3), round(w / wide, 3)) for k, x, w, y in boxes if k == kind and y == line]
        self.assertEqual(share("k0", first), [(0.0, 0.25), (0.25, 0.25)])
        self.assertEqual(share("k1", first), [(0.75, 0.25)])
        self.assertEqual(share("k0", second), [(0.0, 0.25), (0.25, 0.25)])
        self.assertEqual(share("k1", second), [])
        self.assertIn("step 9: 1.00 s, units busy for 63 % of it", self.said(page, "p"))
        self.assertLess({"zone 3: computing 250 ms", "4 zones: exchange 250 ms"}, set(self.tips(page)))

    def test_copies(self):
        """Copies run beside their unit, on a line of their own, and keep no unit busy."""
        made = record()
        made["bursts"].append(burst(1, "copy", 9.5, 9.75, 3, 9))
        page = self.page(made)
        self.assertIn("zone 3: copies 250 ms", self.tips(page))
        self.assertIn("step 9: 1.00 s, units busy for 63 % of it", self.said(page, "p"))
        self.assertEqual(len(self.all(page, "rect", "k2")), 1)

    def test_many_short_bursts(self):
        """A thousand boxes that nobody could tell apart become few, and their time stays."""
        made = record()
        made["bursts"] = [burst(0, "compute", 0.001 * i, 0.001 * i + 0.001, 0, 1) for i in range(1000)]
        made["bursts"].append(burst(1, "compute", 0, 1, 1, 1))
        boxes = [float(r.get("width")[:-1]) for r in self.all(self.picture(self.page(made), "One step of"), "rect", "k0")]
        self.assertLess(len(boxes), 400)
        self.assertAlmostEqual(sum(boxes), 2 * max(boxes), delta=0.01)

    def test_messages(self):
        """An arrow a message that came in the step, from the rank that sent it; a task that moves is said."""
        units = [unit(r, 1, 1, 1, idle=0.25 * (r + 1)) | {"rank": r} for r in range(2)]
        messages = [{"kind": "faces", "from": 1, "to": 0, "bytes": 2048, "sent": 9.5, "received": 9.75},
                    {"kind": "task", "from": 0, "to": 1, "task": 3, "bytes": 10, "sent": 9.1, "received": 9.2},
                    {"kind": "faces", "from": 0, "to": 1, "bytes": 1, "sent": 8, "received": 8.5}]
        page = self.page(record() | {"units": units, "messages": messages, "ranks": [{"host": "a"}, {"host": "b", "messages": 7}]})
        self.assertEqual([words(e) for e in self.all(page, "line", "arrow")],
                         ["rank 1 to rank 0: faces, 2.05 kB, there after 250 ms", "rank 0 to rank 1: zone 3, 10 B, there after 100 ms"])
        up, down = [[float(a.get(key).rstrip("%")) for key in ("x1", "x2", "y1", "y2")] for a in self.all(page, "line", "arrow")]
        self.assertTrue(up[0] < up[1] and up[2] > up[3] and down[2] < down[3])
        self.assertIn("rank 1 on b: waiting for 50 % of it", self.said(page, "text"))
        self.assertEqual([[row[k] for k in (1, 2, 4, 5)] for row in rows(figure(page, "Ranks"))], [["0", "a", "250 ms", "–"], ["1", "b", "500 ms", "7"]])

    def test_map(self):
        """Zones of 1 and 3 by 2 and 2: where they lie and whose they are; north is up."""
        page = self.page(record(owner=[0, 1, 1, 1]))
        zones = [(z.get("class").split()[1], *[float(z.get(k)) for k in ("x", "y", "width", "height")]) for z in self.all(page, "rect", "zone")]
        self.assertEqual(zones, [("c0", 0, 150, 75, 150), ("c1", 75, 150, 225, 150), ("c1", 0, 0, 300, 150)])
        self.assertEqual([words(e) for e in self.all(page, "text", "unit")], ["0", "1"])

    def test_units(self):
        made = record()
        made["units"] = [unit(0, 2, 8, 3.0, 1.0, 0.0), unit(1, 2, 8, 1.0, 1.0, 2.0, "gpu")]
        made = figure(self.page(made), "Balance")
        self.assertEqual(bars(made), [[75, 25], [25, 25, 50]])
        self.assertEqual([row[2:] for row in rows(made)], [["CPU", "2", "8", "3.00 s", "1.00 s", "0 s", "–"], ["GPU", "2", "8", "1.00 s", "1.00 s", "2.00 s", "–"]])
        self.assertEqual([e.get("class") for e in self.all(made, "i", "swatch")][3:], ["swatch c0 h0", "swatch c1 h0"])

    def test_bem(self):
        page = self.page(bem())
        self.assertEqual(bars(figure(page, "Time by stage")), [[25.0, 75.0]])
        self.assertIn("static: summation 3.00 s", self.tips(page))
        self.assertLess({"iteration 1, unit 0: 3 tasks", "iteration 2, unit 1: 200 ms"}, set(self.tips(page)))
        self.assertEqual(rows(figure(page, "Tasks and load"))[0], ["1", "0", "3", "300 ms", "1.50×"])

    def test_changes(self):
        """Tasks over instances in steps; after the loss of a device instances go on from those before."""
        change = dict(tasks=5, kept=3, born=2, gone=1, moved=1, moved_bytes=100, faces_added=4, faces_gone=2, seconds=0.5, imbalance=1.5)
        page = self.page(record(app="adaptive", instances=40, changes=[change | {"instance": 20}, change | {"instance": 10, "tasks": 7, "imbalance": None}]))
        made = figure(page, "Tasks that come and go")
        self.assertIn("2 changes: 4 zones born, 2 gone, 2 moved, in 1.00 s.", self.said(made, "p"))
        self.assertEqual([[row[k] for k in (0, 1, 10)] for row in rows(made)], [["20", "5", "1.50×"], ["30", "7", "–"]])
        self.assertEqual(sum("imbalance" in tip for tip in self.tips(made)), 1)
        x = [float(dot.get("cx")[:-1]) for dot in made.iter("circle")]
        self.assertAlmostEqual((x[0] - 12) / (96 - 12), 20 / 40, delta=1e-3)
        self.assertAlmostEqual((x[1] - 12) / (96 - 12), 30 / 40, delta=1e-3)
        for wrong, says in ({"tasks": "x"}, '"changes[].tasks" is no number'), ({"instance": -1}, '"changes[].instance"'), ({"imbalance": []}, '"changes[].imbalance"'):
            self.refuses(record(app="adaptive", changes=[change | {"instance": 20} | wrong]), says)

    def test_plan(self):
        plan = {"evener": "0.1.0", "app": "bt-mz", "class": "S", "units": "2:CPU:1", "schedule": "static", "tasks": 4, "weight": [1, 2, 3, 4],
                "speed": [1, 1], "zones": {"x": [1, 3], "y": [2, 2]},
                "iterations": [{"owner": [0, 0, 1, 1], "load": [3, 7], "imbalance": 7 / 3, "cut_bytes": 10, "migrations": 0}]}
        page = self.page(plan, record())
        self.assertEqual(self.said(page, "h2"), ["BT-MZ, class S, planned", "BT-MZ, class S"])
        self.assertIn("iteration 1, unit 1: 7", self.tips(page))
        self.assertEqual([row[2:] for row in rows(figure(page, "Zones by unit in the last"))], [["2", "3", "30 %"], ["2", "7", "70 %"]])
        plan["iterations"][0].update(compute_s=0.3, communication_s=0.1, step_s=0.4, messages=2)
        self.assertEqual(bars(figure(self.page(plan), "Time of a step")), [[75.0, 25.0]])

    def test_left_out(self):
        """What a record lacks leaves a picture out, with a sentence that says how to get it."""
        says = lambda made: " ".join(words(e) for e in self.all(self.page(made), "p", "left-out"))
        self.assertIn("No picture of speedups: all records have the same number of units", says(record()))
        self.assertNotIn("timeline", says(record()))
        bare = says(record(bursts=KeyError, zones=KeyError, noun="zone"))
        self.assertIn("No timeline of 1 of 1 records", bare)
        self.assertIn("No map of zones of 1 of 1 records", bare)
        self.assertIn("evener run APP --json FILE", bare)
        self.assertIn("nothing crosses between units where there is one", says(record(1)))

    def test_many_units(self):
        """More units than can be drawn or told apart."""
        made = record(4)
        made["units"] = [unit(u, 1, 1, 1.0) for u in range(300)]
        made["owner"] = list(range(300))
        made["zones"] = {"x": [1] * 20, "y": [1] * 15}
        made["bursts"] = [burst(u, "compute", 0, 1 + u / 300, u, 1) for u in range(300)]
        page = self.page(made)
        self.assertEqual(len(self.all(page, "rect", "zone")), 300)
        self.assertLess({"The first 64 of 300 units.", "Colours repeat after 24 units; numbers tell."}, set(self.said(page, "p")))

    def test_no_time(self):
        """Zero steps, zero seconds: no ratio is made up."""
        for made in (record(steps=0, seconds=0.0), record(seconds=0.0)):
            page = self.page(made, record(4, steps=0, seconds=0.0))
            self.assertNotRegex(" ".join([words(page), *[value for e in page.iter() for _, value in e.items()]]), r"(?i)\b(nan|infinity|undefined)\b")


class Sections(Base):
    """Figures that others have computed (bench papers), as they are."""

    def sections(self, *figures):
        return {"evener": "0.1.0", "app": "papers", "title": "The papers", "lead": "Ours.", "sections": [
            {"title": "One", "head": ["item", "ours"], "rows": [["a", "1.5"]], "figures": list(figures)}]}

    def test_figures(self):
        series = [{"label": "ours", "y": [1, 0, 4]}, {"label": "published", "dots": True, "x": [2], "y": [3]}]
        plan = {"file": "p", "record": record(4, "map")}
        page = self.page(self.sections({"draw": "lines", "title": "L", "along": "nodes", "series": series, "about": "Of lines."},
                                       {"draw": "bars", "title": "B", "parts": ["x", "y"], "rows": [{"label": "r", "parts": [1, 3], "note": "n"}]},
                                       {"draw": "maps", "title": "M", "plans": [plan]}, {"draw": "timelines", "title": "T", "plans": [plan]}))
        self.assertEqual((self.said(page, "h1"), self.said(page, "h2"), self.said(page, "h3")), (["The papers"], ["One"], ["M", "T"]))
        self.assertLess({"ours: 4 at 3 nodes", "published: 3 at 2 nodes"}, set(self.tips(page)))
        self.assertNotIn("ours: 0 at 2 nodes", self.tips(page))
        self.assertEqual(bars(figure(page, "B")), [[25, 75]])
        self.assertEqual(len(self.all(figure(page, "Zones by unit"), "rect", "zone")), 4)
        figure(page, "One step in time")
        self.assertIn(["a", "1.5"], rows(page))
        self.assertIn("Of lines.", self.said(page, "p"))

    def test_wrong(self):
        self.assertIn("These records cannot be drawn", words(self.page(self.sections({"draw": "gallop"}))))
        self.refuses(self.sections() | {"sections": 3}, '"sections" is no list')


class Tables(Base):
    """Tables of td-bem: lines and outlines that are where the numbers are."""

    def table(self, text, name="table.csv"):
        return drawn(self.write(self.evener("report", self.write(text, name), "--output", "-", said="").stdout, "drawn.html"))

    def test_signals(self):
        for head, title, labels in (("t,scattered_1,total_1,scattered_2,total_2", "Impulse responses", ["probe 1", "probe 2"]),
                                    ("t,p_scattered_1,p_total_1,p_scattered_2,p_total_2", "Total pressure", ["probe 1", "probe 2"])):
            page = self.table(f"# a comment\n{head}\n-1,9,0,9,1\n0,9,2,9,nan\n1,9,-1,9,1.5\n")
            self.assertLess({"probe 1: 2 at 0 time", "probe 1: -1 at 1 time", "probe 2: 1.5 at 1 time"}, set(self.tips(page)))
            self.assertNotIn("9 at", " ".join(self.tips(page)))
            picture = self.picture(page, title)
            self.assertEqual([words(e) for e in picture.iter("text") if e.get("class") == ""], sorted(labels, reverse=True))
            self.assertEqual(len([e for e in picture.iter("line") if e.get("class") in ("s0", "s1")]), 3)
        page = self.table("n,t,a0,a17\n0,0,1,2\n1,0.5,3,4\n")
        self.assertIn("vertex 17: 4 at 0.5 time", self.tips(page))

    def test_spectra(self):
        page = self.table("w,re_scattered_1,im_scattered_1,re_total_1,im_total_1\n0,7,7,1,0\n1,7,7,3,-4\n2,nan,nan,nan,nan\n")
        self.assertEqual({tip for tip in self.tips(page) if "probe" in tip},
                         {"probe 1: 1 at 0 angular frequency", "probe 1: 5 at 1 angular frequency"})
        self.assertEqual(rows(page), [["0", "1"], ["1", "5"], ["2", "–"]])

    def test_far_field(self):
        """Radii go as |F|, the wave's direction is to the right, plane 0 above."""
        rows_of = "".join(f"{w},{plane},{angle},0,0,0,0,0,{size}\n" for w, size in ((1, 1), (2, 0.5)) for plane in (0, 1) for angle in (0, 90, 180))
        page = self.table("w,plane,theta,x,y,z,re,im,abs\n" + rows_of + "9,0,0,0,0,0,nan,nan,nan\n")
        outlines = [e.get("d") for e in page.iter("path") if e.get("class").startswith("curve")]
        self.assertEqual(outlines[0], "M130.00 0.00L0.00 -130.00L-130.00 -0.00M130.00 0.00L0.00 130.00L-130.00 0.00")
        self.assertEqual(outlines[1], "M65.00 0.00L0.00 -65.00L-65.00 -0.00M65.00 0.00L0.00 65.00L-65.00 0.00")
        self.assertIn(["1", "0", "90", "1"], rows(page))

    def test_nothing(self):
        self.assertIn("there is no number in it", words(self.table("t,p_scattered_1,p_total_1\n0,1,nan\n")))
        self.assertIn("there is no number in it", words(self.table("w,plane,theta,x,y,z,re,im,abs\n1,0,0,0,0,0,nan,nan,nan\n")))

    def test_wrong(self):
        for text, says in (("", "no numbers"), ("# only\n", "no numbers"), ("x,y\n1,2\n", "expected one that td-bem wrote"),
                           ("t,p_scattered_1,p_total_1\n", "no numbers"), ("t,p_scattered_1,p_total_1\n1,2\n", "line 2"),
                           ("t,p_scattered_1,p_total_1\n1,2,x\n", "line 2"), ("t,p_scattered_1,p_total_1\n1,2,inf\n", "line 2"),
                           ("t,p_scattered_1,p_total_1\n" + "1,2,3\n" * 100001, "rows")):
            self.refuses([self.write(text, "bad.csv")], says)


class Directives(Base):
    """Loops with names: a section each, of all loops that have the name; and no steps, which such programs do not have."""

    def test_sections(self):
        loops = [site("flow.c:12", 70, (0.4, 0.2), 1000), site("flow.c:30", 1, (0.1, 0.1)), site("flow.c:12", 2, (0.1, 0.3), 24, "dynamic"),
                 site(NASTY, 4, (0.2, 0.1))]
        page = self.page(record(app="flow", steps=70, mops=KeyError, zones=KeyError, phases=KeyError, loops=loops))
        self.assertEqual(self.said(page, "h3"), ["flow.c:12", "flow.c:30", NASTY])
        notes = [n for n in self.said(page, "p") if "instance" in n and "tasks" in n]
        self.assertEqual(len(notes), 3)
        self.assertIn("72 instances of 64 tasks (dynamic), 1.00 s, imbalance 1.00×, 6 migrations, 1.02 kB moved, in 2 loops", notes[0])
        self.assertIn("1 instance of 64 tasks", notes[1])
        self.assertIn("imbalance 2.00×", notes[2])
        text = words(page)
        self.assertIn("77 instances of 3 directives", text)
        for absent in ("a step.", "Bytes a step", "Time of a step"):
            self.assertNotIn(absent, text)
        self.assertNotIn("70", self.said(page, "td"))

    def test_order(self):
        """The longest first, whichever was used first."""
        loops = [site(f"a.c:{line}", 5, (1, 1)) | {"seconds": s} for line, s in ((1, 0.1), (2, 0.3), (3, 0.1), (4, 0.2), (3, 0.15))]
        self.assertEqual(self.said(self.page(record(loops=loops)), "h3"), ["a.c:2", "a.c:3", "a.c:4", "a.c:1"])

    def test_speedup(self):
        """Times of all instances are compared, if there are equally many."""
        one = record(1, app="flow", seconds=2.0, loops=[dict(site("a.c:1", 5, (1,)), units=[unit(0, 1, 1, 1)])])
        two = record(2, app="flow", seconds=1.25, loops=[site("a.c:1", 5, (1, 1))])
        page = self.page(two, one)
        self.assertIn("Speedup over static on 1:CPU:1, 2.00 s in all", self.said(page, "figcaption"))
        self.assertIn("static on 2:CPU:1: 1.60×, 1.25 s in all", self.tips(page))
        self.assertIn("The solutions agree to the last bit", words(page))
        other = record(2, app="flow", seconds=1.25, loops=[site("a.c:1", 6, (1, 1))])
        self.assertIn("these records have other numbers of instances", words(self.page(other, one)))

    def test_unnamed(self):
        loops = [{k: v for k, v in site("", 10, (1, 1)).items() if k != "name"}, None]
        page = self.page(record(loops=loops))
        self.assertEqual(self.said(page, "h3"), [])
        self.assertIn("10", self.said(page, "td"))

    def test_wrong(self):
        for change, says in (({"name": 3}, "no text"), ({"units": 4}, "no list"), ({"steps": "x"}, "no number"), ({"transfers": []}, "no object")):
            self.refuses(record(loops=[site("a.c:1", 1, (1, 1)) | change]), says)
        self.refuses(record(loops=[site(f"a.c:{i}", 1, (1, 1)) for i in range(1025)]), "more than 1024 names")


class Units(Base):
    """Units as records of all kinds describe them."""

    def list_of(self, *units, **more):
        page = self.page(record(units=len(units), **more) | {"units": [unit(i, 1, 1, 1) | u for i, u in enumerate(units)]})
        return rows(figure(page, "All records"))[1][1], page

    def test_size(self):
        """A unit has the threads that the record says, bound or not; in early records its cores, which sessions tell by the speed, too."""
        kinds = {"machine": {"kinds": [{"name": "core"}]}}
        session = {"loops": []} | kinds
        for units, more, expected in (
                (({"threads": 2, "cores": [0, 1]}, {"threads": 2, "cores": []}), {}, "2:CPU:2"),
                (({"threads": 1, "binding": "let go"}, {"threads": 3, "binding": "taken", "cores": []}), {}, "1:CPU:1,1:CPU:3"),
                (({"cores": [0]}, {"cores": [], "binding": "taken", "speed": 1}), session, "2:CPU:1"),
                (({"cores": [], "speed": 2}, {"cores": [], "speed": 3}), session, "1:CPU:2,1:CPU:3"),
                (({"cores": [0]}, {"cores": [], "speed": 1}), kinds, "1:CPU:1,1:CPU:?"),
                (({"cores": [0]}, {"cores": []}), session, "1:CPU:1,1:CPU:?"),
                (({"kind": "gpu", "cores": []}, {"kind": "gpu", "cores": [], "threads": 1, "device": ["a", "b"]}), {}, "1:GPU:1,1:GPU:2")):
            with self.subTest(units=units):
                self.assertEqual(self.list_of(*units, **more)[0], expected)

    def test_taken(self):
        """Shares of cores that others had: in the table, and in a line from 5 % on."""
        for taken, line in ((0.5, "Taken by other threads: 50 % of the core time of unit 0."), (0.04, None), (None, None)):
            page = self.list_of({"taken": taken}, {"taken": 0.01})[1]
            self.assertEqual([p for p in self.said(page, "p") if "by other threads" in p], [line] if line else [])
            self.assertIn("1.0 %", self.said(page, "td"))


class BadInput(Base):
    def test_files(self):
        self.refuses([self.path("none.json")], "No such file")
        self.refuses([self.folder], "is a folder")
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
        base.Base.refuses(self, ["report"], "expected FILE.json")

    def test_second_file(self):
        """One bad record among good ones: no page."""
        good, bad = self.write(record()), self.write("{}")
        base.Base.refuses(self, ["report", good, bad, "--output", self.path("page.html")], os.path.basename(bad))

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


class Writing(Base):
    def test_refused(self):
        path = self.write(record())
        for words, says in ((["--output", self.path("no/such/page.html")], "cannot be written"),
                            (["--output", self.folder], "cannot be written"),
                            (["--output", path], "would replace a record"),
                            (["--ouput", "x"], "did you mean --output?")):
            base.Base.refuses(self, ["report", path, *words], says)
        self.assertEqual(self.load(path)["app"], "bt-mz")


class Real(Base):
    def near(self, text, expected, least=1e-12):
        """Three digits are the same."""
        self.assertAlmostEqual(number(text), expected, delta=max(0.006 * abs(expected), least), msg=text)

    def test_run(self):
        """Records as evener run writes them: numbers on the page beside those computed here from the records."""
        files, made = [], []
        for units in (1, 2):
            for schedule in ("static", "guided:time"):
                files.append(self.path(f"{units}-{schedule}.json"))
                self.evener("run", "bt-mz", "--steps", "5", "--units", f"{units}:CPU:1", "--oversubscribe", "--quiet", "--schedule", schedule, "--json", files[-1])
                made.append(self.load(files[-1]))
        self.evener("report", *files, "--output", self.path("page.html"))
        self.assertEqual([entry["record"] for entry in records(self.read("page.html"))], made)
        page = drawn(self.path("page.html"))
        self.assertEqual(len(list(figure(page, "Speedup").iter("circle"))), 4)
        base = min(r["seconds"] for r in made[:2])
        of = {(r["schedule"].split(",")[0], f"{len(r['units'])}:CPU:1"): r for r in made}
        for name, units, compute, *_, whole, share in rows(figure(page, "Time of a step")):
            r = of[name, units]
            self.near(compute, r["periods"]["compute_s"] / 5)
            self.near(whole, max(r["seconds"], sum(r["periods"].values())) / 5)
        for name, units, step, speedup, _ in rows(figure(page, "Speedup")):
            self.near(step, of[name, units]["seconds"] / 5)
            self.near(speedup, base / of[name, units]["seconds"], 0.006)
        for name, units, moved, *_ in rows(figure(page, "Transfers")):
            self.near(moved, of[name, units]["transfers"]["bytes"] / 5)
        for name, u, _, tasks, weight, *work, _ in rows(figure(page, "Balance")):
            mine = of[tuple(name.split(" on "))]["units"][int(u)]
            for text, key in zip([tasks, weight, *work], ("tasks", "weight", "compute_s", "exchange_s", "idle_s")):
                self.near(text, mine[key])
        for name, step, u, _, computing, *_ in rows(figure(page, "One step in time")):
            bursts = [b for b in of[tuple(name.split(" on "))]["bursts"] if (b["step"], b["unit"], b["kind"]) == (int(step), int(u), "compute")]
            self.near(computing, math.fsum(b["end"] - b["begin"] for b in bursts))
