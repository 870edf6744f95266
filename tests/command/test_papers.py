#!/usr/bin/env python3
"""evener bench papers: verdicts, bands and messages on some items; and all of them beside docs/papers.md.

Run: ctest -R command-papers, or tests/command/test_papers.py build/evener [test ..]     EVENER_TEST_LONG=1: every case
"""
import json
import os
import re
import subprocess
import tempfile
from decimal import Decimal

import base
import report_page
from base import EVENER, SOURCE

PUBLISHED = os.path.join(SOURCE, "suite", "bench", "papers", "published.json")


def each(cases):
    """With EVENER_TEST_LONG; else every third."""
    return cases if os.environ.get("EVENER_TEST_LONG") else cases[::3]


class Base(base.Base):
    def papers(self, *words):
        return self.evener("bench", "papers", *words, status=None, timeout=600)

    def change(self, item, **keys):
        """The file of published numbers with other keys of one item; None: left out."""
        all_ = self.load(PUBLISHED)
        found = next(i for i in all_["items"] if f"{i['paper']}/{i['item']}" == item)
        for key, value in keys.items():
            if value is None:
                found.pop(key, None)
            else:
                found[key] = value
        return self.write("p.json", all_)


class Some(Base):
    def test_record(self):
        """Published numbers beside ours, in the record and on the page."""
        done = self.papers("--item", "000/table2.sp.comm,004/fig12,001/table1", "--json", self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 items: 1 same, 0 better, 0 contradict, 0 differ, 0 work, 0 given, 1 fitted, 0 predicted, 1 not compared, 0 missing", done.stdout)
        items = self.load("r.json")["items"]
        self.assertEqual([i["paper"] + "/" + i["item"] for i in items], ["000/table2.sp.comm", "001/table1", "004/fig12"])
        comm = items[0]
        self.assertEqual(comm["published"], [1.56, 2.4, 3.77, 6.5, 8.18, 10.96, 28.4, 35.4, 49.8])
        for ours, published in zip(comm["ours"], comm["published"]):
            self.assertAlmostEqual(ours / published, 1, delta=0.05)
        self.assertEqual([i["verdict"] for i in items], ["fitted", "same", "not compared"])

    def test_wrong_number(self):
        """A published number that ours is not near, and an order that does not hold, end with 1."""
        for keys in ({"value": [1.56, 2.4, 3.77, 6.5, 8.18, 10.96, 28.4, 35.4, 99.6]}, {"band": [1.5, 2]}, {"holds": "2 < 1"}):
            done = self.papers("--item", "000/table2.sp.comm", "--published", self.change("000/table2.sp.comm", **keys))
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("OUT OF ITS BAND", done.stdout)

    def test_contradiction(self):
        """A paper contradicts itself where a second published value lies apart from the first and ours meets it or lies between;
        where the second is made to agree with the first, or to be one that ours does not meet, ours differs."""
        item, value = "000/fig11.ms", "published{000/fig11.ms}[2]"
        seconds = (
            (["published{000/fig6}[1]"], "contradicts", "16 is 12 by other numbers of the paper, and ours lies between"),
            (["14.5"], "contradicts", "16 is 14.5 by other numbers of the paper, and ours agrees"), ([["14", "15"]], "contradicts", "14 to 15"),
            ([f"1.0 * {value}"], "differs", ""), ([f"0.96 * {value}"], "differs", ""), ([f"1.5 * {value}"], "differs", ""),
            ([["15", f"0.96 * {value}"]], "differs", ""), ([None], "differs", ""))
        for second, verdict, said in each(seconds):
            done = self.papers("--item", item, "--json", self.path("r.json"), "--page", self.path("p.md"), "--published",
                               self.change(item, second=[None, ["17", "24"], *second]))
            self.assertEqual(done.returncode, 0, done.stderr)
            found = self.load("r.json")["items"][0]
            self.assertEqual(found["verdict"], verdict, second)
            page = self.read("p.md")
            self.assertIn(f"1 items: 0 same, 0 better, {int(not not said)} contradict, {int(not said)} differ", page)
            self.assertIn("1 of 3 numbers fitted", page)
            for text in (done.stdout, page):
                self.assertIn(said, text)
                self.assertEqual("by other numbers of the paper" in text, bool(said))
        done = self.papers("--item", item, "--published", self.change(item, second=None))
        self.assertIn(" differs", done.stdout)

    def test_contradiction_holds_for_all(self):
        """One number that neither of the published values explains, and the item differs."""
        item = "000/fig11.ms"
        for value, verdict in (([35.2, 25.3, 16.0], " contradicts"), ([35.2, 22.0, 16.0], " differs")):
            done = self.papers("--item", item, "--published", self.change(item, value=value, band=[0.8, 1.2]))
            self.assertIn(verdict, done.stdout)

    def test_rules(self):
        """Evidence, ranges and digits: what is the same where it is independent is fitted where it is not, and nothing else."""
        item, far = "001/memory", [12.8 * 1.2]  # ours is 12.955
        for keys, told in each((({}, "same"), ({"value": far}, "differs"), ({"value": far, "wanted": "less"}, "better"),
                           ({"value": far, "wanted": "more"}, "differs"),
                           ({"value": [13]}, "same"), ({"value": [14]}, "differs"), ({"ours": ["6.4"], "value": [6]}, "same"),
                           ({"ours": ["6.6"], "value": [6]}, "differs"), ({"ours": ["6.4"], "value": [6.1]}, "same"),
                           ({"evidence": "given", "value": far}, "given"), ({"evidence": "predicted"}, "predicted"),
                           ({"evidence": "fitted"}, "fitted"), ({"evidence": "fitted", "value": far}, "differs"),
                           ({"evidence": ["fitted", None], "ours": ["1", "2"], "value": [9, 2]}, "same"),
                           ({"evidence": ["fitted", None], "ours": ["9", "1"], "value": [9, 2]}, "differs"),
                           ({"value": None, "range": [12, 13]}, "same"), ({"value": None, "range": [14, 15]}, "differs"),
                           ({"value": None, "range": [[1, 2], [3, 4]], "ours": ["1", "3"]}, "same"),
                           ({"value": None, "range": [[1, 2], [3, 4]], "ours": ["3", "1"]}, "differs"), ({"value": None}, "not compared"),
                           ({"value": None, "holds": "1 < 2"}, "same"), ({"ours": None, "holds": "1 < 2"}, "same"),
                           ({"ours": None, "works": "1 < 2"}, "works"), ({"value": None, "range": [12.96, 14]}, "differs"),
                           ({"ours": None, "kind": "T"}, "not compared"), ({"ours": None, "kind": "G"}, "missing"))):
            done = self.papers("--item", item, "--quiet", "--json", self.path("r.json"), "--published", self.change(item, band=[0, 99], **keys))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.load("r.json")["items"][0]["verdict"], told, keys)

    def test_real(self):
        """What is measured is so on request, and leaves no band."""
        for words, numbers in (((), []), (("--real",), [1, 3])):
            done = self.papers("--item", "000/overhead,001/table3.phases", "--json", self.path("r.json"), *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("measured with --real" in done.stdout, not words)
            self.assertEqual([len(i["ours"]) for i in self.load("r.json")["items"] if "ours" in i], numbers)
        # registers are what the compiler says; without it, or the build's program, the item stays without a figure
        kernels = subprocess.run([os.path.join(os.path.dirname(base.EVENER), "bench-kernels"), "sum_contiguous"], capture_output=True, text=True, check=False)
        self.assertEqual(self.papers("--item", "004/occupancy", "--json", self.path("r.json"), "--real").returncode, 0)
        ours = self.load("r.json")["items"][0].get("ours", [])
        self.assertEqual(ours, [] if kernels.returncode else [float(re.search(r"sum_contiguous +90 +\d+ +(\d+)", kernels.stdout)[1])])

    def test_arithmetic(self):
        """Why a paper's numbers rule out theirs is of published numbers alone, and is so."""
        item, by, ours = "001/table3.sp", "by its own arithmetic", [str(n) for n in range(1, 6)]
        for because, code, said in (("published{001/table3.sp}[4] > 32", 0, by), ("published{001/table3.sp}[4] > 64", 1, "OUT OF ITS BAND"),
                                    ("published{001/table3.sp}[4] > largest{bt-mz B}", 3, "of published numbers alone"),
                                    ("cores{bt-mz B 1 static}.tasks > 2", 3, "of published numbers alone")):
            done = self.papers("--item", item, "--published", self.change(item, because=because, ours=ours, band=[0, 99]))
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stdout + done.stderr)
            self.assertEqual(f"    {by}" in done.stdout, said == by)
        for because, said in ((["1 < 2", None, None, None, "1 < 2"], "    in part by"), ([None] * 5, ""), ([None, *["1 < 2"] * 4], f"    {by}")):
            done = self.papers("--item", item, "--published", self.change(item, because=because, ours=["2.03", *ours[:4]], band=[0, 99]))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stdout)
            self.assertEqual("its own arithmetic:" in done.stdout, bool(said))

    def test_broken_second(self):
        item = "000/fig11.share"
        for keys, said in each((({"second": ["1"]}, 'not as long as "value"'), ({"second": [None, None, 12]}, "no expression"),
                           ({"second": [None, None, ["1", "2", "3"]]}, "not of two"),
                           ({"second": [None, None, ["2", "1"]]}, "least is above its most"),
                           ({"second": [None, None, "0 - 1"]}, "not one number above 0"),
                           ({"second": [None, None, "list(1, 2)"]}, "not one number above 0"),
                           ({"second": [None, None, "published{000/none}"]}, "published{000/none} is no item with numbers"),
                           ({"second": [None, None, "published{000/fig3}"]}, "published{000/fig3} is no item with numbers"),
                           ({"second": [None, None, "published{000/fig6}[2]"]}, "[2] of a list of 2"),
                           ({"second": [None, None, "largest{bt-mz B}"]}, "of published numbers alone"),
                           ({"second": ["1"], "value": None}, "needs numbers"), ({"verdict": "same"}, 'no key "verdict"'),
                           ({"evidence": "shown"}, "none of given, fitted, predicted and not"), ({"evidence": [None]}, "none of given, fitted, predicted and not"),
                           ({"range": [2, 1]}, '"range" is not two numbers'), ({"range": [[1, 2]]}, "1 numbers ranges and 3 here"))):
            done = self.papers("--item", item, "--published", self.change(item, **keys))
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(item, done.stderr)
            self.assertIn(said, done.stderr)

    def test_broken_file(self):
        """Each mistake in the file of published numbers is named with its item and its place."""
        item = "001/memory"
        for keys, said in each((({"ours": ["sum(cores{bt-mz D 1 static}.weights)"]}, 'no key "weights"'),
                           ({"ours": ["sum(cores{bt-mz D 1 static}.weight"]}, "was never closed"),
                           ({"ours": ["1 / 0"]}, "not finite"), ({"ours": ["none{}.x"]}, "none of \"outputs\""),
                           ({"ours": ["cores{bt-mz}.weight"]}, "lacks a word"),
                           ({"ours": ["cores{bt-mz Z 1 static}.weight"]}, "evener plan bt-mz --class Z"),
                           ({"ours": ["1", "2"]}, "1 numbers published and 2 here"), ({"band": None}, "of which V and C need one"),
                           ({"where": None}, 'no "where"'), ({"kind": "Q"}, "none of V C R T G"), ({"extra": 1}, '"extra"'),
                           ({"value": [-1]}, "no number above 0"))):
            done = self.papers("--item", item, "--published", self.change(item, **keys))
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(item, done.stderr)
            self.assertIn(said, done.stderr)

    def test_report(self):
        """A figure of evener report for each picture of the paper, with values where the file has expressions."""
        done = self.papers("--item", "000/table1", "--report", self.path("o.html"), "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        entry, = report_page.records(self.read("o.html"))
        pictures = [p for p in self.load(PUBLISHED)["pictures"] if p["paper"] == "000"]
        section, = entry["record"]["sections"]
        self.assertEqual([(f["draw"], f["title"]) for f in section["figures"]], [(p["draw"], p["title"]) for p in pictures])
        self.assertEqual([row[0] for row in section["rows"]], ["table1"])
        for drawn in section["figures"]:
            for row in drawn.get("rows", []):
                self.assertTrue(all(isinstance(value, (int, float)) for value in row["parts"]) and "<" not in row["note"], row)
        page = report_page.drawn(self.path("o.html"))
        self.assertNotIn("cannot be drawn", report_page.words(page))
        self.assertEqual([report_page.words(h) for h in page.iter("h3")], [p["title"] for p in pictures if "plans" in p])

    def test_broken_lists(self):
        """A file whose lists are of another shape gives one line, whatever output is asked for."""
        whole = self.load(self.change("001/memory"))

        def without(kind, key):
            return lambda d: [e.pop(key, None) for e in d["pictures"] if e["draw"] == kind]

        for how in each((lambda d: d["papers"][0].pop("paper"), lambda d: d["papers"][0].update(title=1), lambda d: d.update(papers=3),
                    lambda d: d.update(pictures={}), lambda d: d["pictures"].insert(0, None), lambda d: d["pictures"][0].pop("paper"),
                    without("lines", "along"), lambda d: d["outputs"].update(more=[]), lambda d: d["items"].insert(0, 7),
                    lambda d: [p["series"][0].pop("label") for p in d["pictures"] if "series" in p],
                    lambda d: [p["rows"][0].update(parts=None) for p in d["pictures"] if "rows" in p],
                    lambda d: [p["parts"].append(1) for p in d["pictures"] if "parts" in p],
                    lambda d: [p["plans"][0].pop("plan") for p in d["pictures"] if "plans" in p])):
            broken = json.loads(json.dumps(whole))
            how(broken)
            with open(self.path("broken.json"), "w", encoding="utf-8") as f:
                json.dump(broken, f)
            done = self.papers("--item", "001/memory", "--published", self.path("broken.json"), "--report", self.path("o.html"), "--quiet")
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertEqual(done.stderr.count("evener: "), 1, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_used(self):
        """Each command and path is named by an expression or a picture, or by another path."""
        text = self.read(PUBLISHED)
        whole = json.loads(text)
        used = text[text.index('"paths"'):]
        self.assertEqual([name for name in [*whole["outputs"], *whole["paths"]] if not re.search(rf"(?<!\w){name}[{{.~]", used)], [])

    def test_usage(self):
        for words, said in ((["--item", "000/none"], "000/none"), (["--paper", "007"], "007"), (["--item", ""], "--item"),
                            (["--published", self.path("none")], "cannot be read"),
                            (["--item", "000/fig1", "--page", self.path("none/p.md")], "cannot be written")):
            done = self.papers(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)


def verdict(entry, done):
    """By the rules of docs/papers.md, from published numbers, ours, evidence and orders alone."""
    def near(x, least, most):
        return 0.95 * float(least) <= x <= 1.05 * float(most)

    def same(x, value):
        return near(x, value, value) or round(Decimal(x), max(0, -value.as_tuple().exponent)) == value

    evidence, ours = entry.get("evidence"), done.get("ours", [])
    value = entry.get("value", [])
    value = [] if isinstance(value, str) else [Decimal(x) for x in (value if isinstance(value, list) else [value])]
    if evidence in ("given", "predicted", "not compared"):
        return evidence
    if not ours and done["holds"] is None:
        return "not compared" if entry["kind"] == "T" or "ours" in entry else "missing"
    if done["holds"] is False:
        return "differs"
    told = "not compared" if done["holds"] is None else "works" if "works" in entry else "same"
    if value and ours:
        seconds = done.get("second", [None] * len(value))
        each = [one for one in zip(ours, value, seconds, evidence if isinstance(evidence, list) else [None] * len(value)) if not one[3]]
        apart = [one for one in each if not same(*one[:2])]
        better = {"more": lambda x, y: x > y, "less": lambda x, y: x < y}.get(entry.get("wanted"))
        if not apart:
            told = "same"
        elif better and all(better(x, y) for x, y, *_ in apart):
            told = "better"
        else:
            by_others = all(s and not near(float(y), *s) and (near(x, *s) or min(float(y), s[0]) <= x <= max(float(y), s[1])) for x, y, s, _ in apart)
            told = "contradicts" if by_others else "differs"
    elif ours and "range" in entry:
        ranges = entry["range"] if isinstance(entry["range"][0], list) else [entry["range"]] * len(ours)
        told = "same" if all(one[0] <= x <= one[1] for x, one in zip(ours, ranges)) else "differs"
    return "fitted" if evidence == "fitted" and told in ("same", "better") else told


class Whole(Base):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.done = subprocess.run([EVENER, "bench", "papers", "--quiet", "--page", f"{folder}/p.md", "--json", f"{folder}/p.json"],
                                      capture_output=True, text=True, timeout=600, env=dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache"))
            if cls.done.returncode == 0:
                with open(f"{folder}/p.md", encoding="utf-8") as f, open(f"{folder}/p.json", encoding="utf-8") as g:
                    cls.page, cls.record = f.read(), {f"{i['paper']}/{i['item']}": i for i in json.load(g)["items"]}
        with open(PUBLISHED, encoding="utf-8") as f:
            cls.entries = {f"{i['paper']}/{i['item']}": i for i in json.load(f, parse_float=Decimal)["items"]}

    def setUp(self):
        super().setUp()
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def test_docs(self):
        """All items are in their bands, and docs/papers.md is what the command writes."""
        written, kept = self.page, self.read(os.path.join(SOURCE, "docs", "papers.md"))
        number = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")  # compilers round the last digits differently
        anew = "write docs/papers.md anew: evener bench papers --page docs/papers.md"
        self.assertEqual(number.sub("#", written), number.sub("#", kept), anew)
        for a, b in zip(number.findall(written), number.findall(kept)):
            self.assertAlmostEqual(float(a), float(b), delta=0.02 * abs(float(b)), msg=anew)

    def wrong_verdicts(self, page):
        """Items whose word on the page is not what the rules give."""
        paper, wrong, rows = "", [], 0
        for line in page.split("\n"):
            paper = line[3:6] if line.startswith("## 00") else paper
            row = re.match(r"\| `(\S+)` [A-Z] \|.*\| \*\*([a-z ]+)\*\* \|", line)
            if row:
                name, rows = f"{paper}/{row[1]}", rows + 1
                wrong += [name] if row[2] != verdict(self.entries[name], self.record[name]) else []
        self.assertEqual(rows, len(self.entries))
        return wrong

    def test_verdicts(self):
        """Those of the page follow from its numbers by rules that are written once more here; five that are planted do not."""
        self.assertEqual(self.wrong_verdicts(self.page), [])
        for paper, item, true, planted in (("000", "fig6", "differs", "same"), ("000", "table2.sp.comm", "fitted", "same"),
                                           ("002", "table1", "given", "same"), ("004", "fig6", "works", "same"),
                                           ("003", "fig18.opt", "differs", "contradicts")):
            head, tail = self.page.split(f"\n## {paper}: ")
            row = next(line for line in tail.split("\n") if line.startswith(f"| `{item}` "))
            page = f"{head}\n## {paper}: " + tail.replace(row, row.replace(f"**{true}**", f"**{planted}**"))
            self.assertEqual(self.wrong_verdicts(page), [f"{paper}/{item}"])

    def plan(self, machine, app, class_, units, schedule, exchange="zones"):
        """The last iteration."""
        done = subprocess.run([EVENER, "plan", app, "--class", class_, "--units", units, "--schedule", schedule, "--exchange", exchange,
                               "--iterations", "12", "--machine", os.path.join(base.MACHINES, machine), "--json", "-", "--quiet"],
                              capture_output=True, text=True, check=True, timeout=300)
        return json.loads(done.stdout)["iterations"][-1]

    def test_sample(self):
        """Figures computed from records of the command, and seconds from published numbers, by hand."""
        def gpus(*words):
            return self.plan("power9-4v100.json", *words)

        def epyc(app, units, schedule):
            return self.plan("epyc-2mi50.json", app, "D", units, schedule, "sequential")

        static = {n: gpus("bt-mz", "B", f"{n}:GPU:1", "static") for n in (1, 2, 4)}
        hybrids = [f"{c}:CPU:1,{g}:GPU:1" for g, last in ((1, 63), (2, 62)) for c in (16, 32, 48, last)]
        bt, lu = epyc("bt-mz", "1:CPU:1", "static"), epyc("lu-mz", "1:CPU:1", "static")
        weighted = [bt["compute_s"] / epyc("bt-mz", units, "weighted")["compute_s"] for units in hybrids]
        lu_static = [lu["compute_s"] / epyc("lu-mz", f"1:CPU:{c},{g}:GPU:1", "static")["compute_s"]
                     for g, last in ((1, 63), (2, 62)) for c in (16, 32, 48, last)]
        sp = [gpus("sp-mz", c, f"{n}:GPU:1", "static") for c in "BCD" for n in (1, 2, 4)]
        model = subprocess.run([EVENER, "model", "td-bem", "--gpus", "0,1,2,3", "--json", "-"], capture_output=True, text=True, check=True)
        run_s = {(row["nodes"], row["gpus"]): row["run_s"] for row in json.loads(model.stdout)["with_gpus"]}
        dynamic, imbalances = gpus("bt-mz", "D", "4:GPU:1", "dynamic:chunk=1"), []
        for class_ in "BCD":
            seconds = gpus("bt-mz", class_, "4:GPU:1", "static")["unit_compute_s"]
            imbalances.append(max(seconds) / min(seconds))
        guided = [static[1]["step_s"] / gpus("bt-mz", "B", "4:GPU:1", f"guided:{by}")["step_s"] for by in ("size", "time")]
        shares = [[100 * 35.2 / (35.2 + 16 * 27 / 73 * 0.67)] * 2, None, [100 * 16 / (16 + 35.2 * 17 / 83 / 0.67)] * 2]
        for item, key, numbers in (("000/fig11.ms", "ours", [1e3 * static[n]["compute_s"] for n in (1, 2, 4)]),
                                   ("000/fig11.share", "ours", [100 * static[n]["compute_s"] / static[n]["step_s"] for n in (1, 2, 4)]),
                                   ("000/fig5.static", "ours", [min(imbalances), max(imbalances)]), ("000/fig12.B", "ours", guided),
                                   ("000/fig11.comm.D", "ours", [gpus("bt-mz", "D", "1:GPU:1", "static")["communication_s"] / dynamic["communication_s"]]),
                                   ("000/table2.sp.comm", "ours", [1e3 * i["communication_s"] for i in sp]),
                                   ("003/fig18.opt", "ours", [min(weighted), max(weighted)]),
                                   ("003/fig17.static", "ours", [f(lu_static[i:i + 4]) for i in (0, 4) for f in (min, max)]),
                                   ("003/fig18.comm", "ours", [1e3 * epyc("bt-mz", units, "dynamic:chunk=1")["communication_s"] for units in hybrids]),
                                   ("004/fig13", "ours", [run_s[2, 0] / run_s[2, g] for g in (1, 2, 3)]),
                                   ("000/fig11.ms", "second", [None, [17.6, 24], [12, 12]]),
                                   ("000/fig11.compute.static", "second", [[35.2 / 24, 2], [35.2 / 12] * 2]),
                                   ("000/fig11.share", "second", shares),
                                   ("000/fig11.compute.guided", "second", [[0.83 / (1 / 1.64 - 0.17 / 0.82)] * 2, [1 + 3 / 1.18, 3 + 1 / 1.18]])):
            found = self.record[item][key]
            if item == "000/fig11.comm.D":
                found = [found[1]]
            for a, b in zip(found[:len(numbers)], numbers, strict=True):
                for x, y in zip(a if isinstance(a, list) else [a], b if isinstance(b, list) else [b]):
                    self.assertTrue(x is y if y is None else abs(x - y) <= 1e-9 * abs(y), (item, key, a, b))
