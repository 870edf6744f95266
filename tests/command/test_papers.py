#!/usr/bin/env python3
"""evener bench papers: verdicts, bands and messages on some items; and all of them beside docs/papers.md.

Run: ctest -R command-papers, or tests/command/test_papers.py build/evener [test ..]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

EVENER = os.path.abspath("build/evener")
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PUBLISHED = os.path.join(ROOT, "bench", "papers", "published.json")


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.folder, "cache"))

    def papers(self, *words):
        return subprocess.run([EVENER, "bench", "papers", *words], capture_output=True, text=True, timeout=600,
                              env=self.environment)

    def path(self, name):
        return os.path.join(self.folder, name)

    def change(self, item, **keys):
        """The file of published numbers with other keys of one item; None: left out."""
        with open(PUBLISHED, encoding="utf-8") as f:
            all_ = json.load(f)
        found = next(i for i in all_["items"] if f"{i['paper']}/{i['item']}" == item)
        for key, value in keys.items():
            if value is None:
                found.pop(key, None)
            else:
                found[key] = value
        with open(self.path("p.json"), "w", encoding="utf-8") as f:
            json.dump(all_, f)
        return self.path("p.json")


class Some(Base):
    def test_record(self):
        """Published numbers beside ours, in the record and on the page."""
        done = self.papers("--item", "000/table2.sp.comm,004/fig12,001/table1", "--json", self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 items: 2 same, 0 better, 0 contradict, 1 differ, 0 missing", done.stdout)
        with open(self.path("r.json"), encoding="utf-8") as f:
            items = json.load(f)["items"]
        self.assertEqual([i["paper"] + "/" + i["item"] for i in items], ["000/table2.sp.comm", "001/table1", "004/fig12"])
        comm = items[0]
        self.assertEqual(comm["published"], [1.56, 2.4, 3.77, 6.5, 8.18, 10.96, 28.4, 35.4, 49.8])
        for ours, published in zip(comm["ours"], comm["published"]):
            self.assertAlmostEqual(ours / published, 1, delta=0.05)
        self.assertEqual([i["verdict"] for i in items], ["same", "same", "differs"])

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
            (["15"], "contradicts", "16 is 15 by other numbers of the paper, and ours agrees"), ([["14", "15"]], "contradicts", "14 to 15"),
            ([f"1.0 * {value}"], "differs", ""), ([f"0.96 * {value}"], "differs", ""), ([f"1.5 * {value}"], "differs", ""),
            ([["15", f"0.96 * {value}"]], "differs", ""), ([None], "differs", ""))
        for second, verdict, said in seconds:
            done = self.papers("--item", item, "--json", self.path("r.json"), "--page", self.path("p.md"), "--published",
                               self.change(item, second=[None, None, *second]))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path("r.json"), encoding="utf-8") as f:
                found = json.load(f)["items"][0]
            self.assertEqual(found["verdict"], verdict, second)
            with open(self.path("p.md"), encoding="utf-8") as f:
                page = f.read()
            self.assertIn(f"1 items: 0 same, 0 better, {int(not not said)} contradict, {int(not said)} differ", page)
            for text in (done.stdout, page):
                self.assertIn(said, text)
                self.assertEqual("by other numbers of the paper" in text, bool(said))
        done = self.papers("--item", item, "--published", self.change(item, second=None))
        self.assertIn(" differs", done.stdout)

    def test_contradiction_holds_for_all(self):
        """One number that neither of the published values explains, and the item differs."""
        item = "000/fig11.ms"
        for value, verdict in (([35.2, 25.3, 16.0], " contradicts"), ([35.2, 27.5, 16.0], " differs")):
            done = self.papers("--item", item, "--published", self.change(item, value=value, band=[0.8, 1.2]))
            self.assertIn(verdict, done.stdout)

    def test_broken_second(self):
        item = "000/fig11.ms"
        for keys, said in (({"second": ["1"]}, 'not as long as "value"'), ({"second": [None, None, 12]}, "no expression"),
                           ({"second": [None, None, ["1", "2", "3"]]}, "not of two"),
                           ({"second": [None, None, ["2", "1"]]}, "least is above its most"),
                           ({"second": [None, None, "0 - 1"]}, "not one number above 0"),
                           ({"second": [None, None, "list(1, 2)"]}, "not one number above 0"),
                           ({"second": [None, None, "published{000/none}"]}, "published{000/none} is no item with numbers"),
                           ({"second": [None, None, "published{000/fig1}"]}, "published{000/fig1} is no item with numbers"),
                           ({"second": [None, None, "published{000/fig6}[2]"]}, "[2] of a list of 2"),
                           ({"second": ["1"], "value": None}, "needs numbers"),
                           ({"verdict": "contradicts"}, "none of same, better, differs and missing")):
            done = self.papers("--item", item, "--published", self.change(item, **keys))
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(item, done.stderr)
            self.assertIn(said, done.stderr)

    def test_broken_file(self):
        """Each mistake in the file of published numbers is named with its item and its place."""
        item = "001/memory"
        for keys, said in (({"ours": ["sum(cores{bt-mz D 1 static}.weights)"]}, 'no key "weights"'),
                           ({"ours": ["sum(cores{bt-mz D 1 static}.weight"]}, "expected )"),
                           ({"ours": ["1 / 0"]}, "not finite"), ({"ours": ["none{}.x"]}, "none of \"outputs\""),
                           ({"ours": ["cores{bt-mz}.weight"]}, "lacks a word"),
                           ({"ours": ["cores{bt-mz Z 1 static}.weight"]}, "evener plan bt-mz --class Z"),
                           ({"ours": ["1", "2"]}, "1 numbers published and 2 here"), ({"band": None}, "of which V and C need one"),
                           ({"where": None}, 'no "where"'), ({"kind": "Q"}, "none of V C R T G"), ({"extra": 1}, '"extra"'),
                           ({"value": [-1]}, "no number above 0")):
            done = self.papers("--item", item, "--published", self.change(item, **keys))
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(item, done.stderr)
            self.assertIn(said, done.stderr)

    def test_usage(self):
        for words, said in ((["--item", "000/none"], "000/none"), (["--paper", "007"], "007"), (["--item", ""], "--item"),
                            (["--published", self.path("none")], "cannot be read")):
            done = self.papers(*words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)


class Whole(Base):
    def test_docs(self):
        """All items are in their bands, and docs/papers.md is what the command writes."""
        done = self.papers("--quiet", "--page", self.path("papers.md"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path("papers.md"), encoding="utf-8") as f, open(os.path.join(ROOT, "docs", "papers.md"),
                                                                       encoding="utf-8") as g:
            written, kept = f.read(), g.read()
        number = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")  # compilers round the last digits differently
        anew = "write docs/papers.md anew: evener bench papers --page docs/papers.md"
        self.assertEqual(number.sub("#", written), number.sub("#", kept), anew)
        for a, b in zip(number.findall(written), number.findall(kept)):
            self.assertAlmostEqual(float(a), float(b), delta=0.02 * abs(float(b)), msg=anew)


if __name__ == "__main__":
    EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
