#!/usr/bin/env python3
"""Processes by threads: the published figures by the command, what it takes from calibrations and machine files, what is
measured beside, what is refused. Nothing is timed but the command's own short runs, of whose times nothing is asked.

Run: ctest -R command-model, or tests/command/test_model.py build/evener [test ..]
"""
import json
import os

import base
import report_page

CORES = len(os.sched_getaffinity(0))


class Base(base.Base):
    def setUp(self):
        super().setUp()
        self.cache = self.own_cache()

    def model(self, *words):
        return self.record("model", *words)

    def kept(self):
        name, = os.listdir(self.cache)
        path = os.path.join(self.cache, name)
        return path, self.load(path)


class Published(Base):
    """van der Wijngaart and Jin (2004): unit costs, alpha 0.030, no exchange; ratios over 8 CPUs."""

    def best(self, app):
        rows = self.model(app, "--class", "C", "--cores", "8,16,32,64,128,256", "--alpha", "0.030")["model"]
        best = {}
        for row in rows:
            if row["speedup_eq1"] > best.get(row["cores"], {"speedup_eq1": 0})["speedup_eq1"]:
                best[row["cores"]] = row
        first = best.pop(8)["speedup_eq1"]
        return [(f'{r["processes"]}x{r["threads"]}', f'{r["speedup_eq1"] / first:.2f}') for r in best.values()]

    def test_lu(self):
        self.assertEqual(self.best("lu-mz"), [("16x1", "2.00"), ("16x2", "3.88"), ("16x4", "7.34"), ("16x8", "13.22"),
                                              ("16x16", "22.07")])

    def test_sp(self):
        self.assertEqual(self.best("sp-mz"), [("16x1", "2.00"), ("32x1", "4.00"), ("64x1", "8.00"), ("128x1", "16.00"),
                                              ("256x1", "32.00")])

    def test_bt(self):
        self.assertEqual(self.best("bt-mz"), [("16x1", "2.00"), ("32x1", "3.94"), ("64x1", "7.68"), ("64x2", "14.90"),
                                              ("64x4", "28.17")])

    def test_figure_3(self):
        """256 x 4, a zone a process: threads stay, or move on one node. f(4) of 28 planes is 1."""
        for words, threads, speedup in ((["--node", "4"], (4, 4), "283.7"), ([], (1, 14), "886.2")):
            rows = self.model("bt-mz", "--class", "C", "--cores", "1024", "--alpha", "0", *words)["model"]
            row, = [r for r in rows if r["processes"] == 256]
            self.assertEqual((row["threads_least"], row["threads_most"]), threads)
            self.assertEqual(f'{row["speedup_eq1"]:.1f}', speedup)


class Described(Base):
    def machine(self):
        return {"machine": "cores", "units": [{"unit": "CPU:1", "count": 64, "speed": {"*": 1e6},
                                               "within": {"latency": 0, "bandwidth": 1e9}}],
                "links": [{"between": ["host", "host"], "latency": 1e-4, "bandwidth": 1e8}]}

    def test_by_hand(self):
        """SP class S: four zones of 12 x 12 x 6 points, each with two neighbours, two faces with each."""
        rows = self.model("sp-mz", "--class", "S", "--cores", "4", "--alpha", "0",
                          "--machine", self.write("m.json", self.machine()))["model"]
        row, = [r for r in rows if r["processes"] == 4]
        bytes_ = 4 * 10 * 4 * 5 * 8
        compute, exchange, tree = 12 * 12 * 6 / 1e6, bytes_ / 1e9 + 2 * 1e-4 + bytes_ / 1e8, 4e-4
        for g in ("binpack", "map"):
            self.assertAlmostEqual(row[g]["compute_s"], compute, 12)
            self.assertAlmostEqual(row[g]["exchange_s"], exchange, 12)
            self.assertAlmostEqual(row[g]["tree_s"], tree, 12)
            self.assertAlmostEqual(row[g]["step_s"], compute + exchange + tree, 12)

    def test_nodes(self):
        """Two nodes of two cores: what was near is far, and threads stay on their node."""
        machine = self.machine()
        machine.update(nodes=[{"count": 2, "name": "n", "units": ["2:CPU:1"], "network": "slow"}],
                       networks={"slow": {"latency": 1e-3, "bandwidth": 1e7}})
        found = self.model("sp-mz", "--class", "S", "--cores", "4", "--alpha", "0", "--machine", self.write("m.json", machine))
        self.assertEqual(found["node"], 2)
        rows = {r["processes"]: r for r in found["model"]}
        self.assertEqual(sorted(rows), [2, 4])  # one process of four threads has no node
        bytes_ = 4 * 10 * 4 * 5 * 8
        near, far = 1e-4 + bytes_ / 2 / 1e8, 1e-3 + bytes_ / 2 / 1e7
        # binpack deals equal zones out in turn: 0 1 2 3, of which 0 and 1, 2 and 3 are on a node
        self.assertAlmostEqual(rows[4]["binpack"]["exchange_s"], bytes_ / 1e9 + near + far, 12)
        self.assertAlmostEqual(rows[4]["binpack"]["tree_s"], 4e-3, 12)

    def test_refused(self):
        machine = self.write("m.json", self.machine())
        self.refuses(["model", "bt-mz", "--machine", machine, "--measure"], "--machine", "--measure")
        self.refuses(["model", "bt-mz", "--cores", "4,0"], "--cores 4,0", "whole number from 1")
        self.refuses(["model", "bt-mz", "--cores", "4,4"], "--cores", "twice")
        self.refuses(["model", "bt-mz", "--cores", "64", "--node", "4"], "--cores 64", "expected at most 16")
        self.refuses(["model", "bt-mz", "--alpha", "-1"], "--alpha -1", "from 0")
        self.refuses(["model", "bt-mz", "--steps", "3"], "--steps", "--calibrate")
        self.refuses(["model", "bt-mz", "--measure"], "add --calibrate")
        self.refuses(["model", "bt-mz", "--json", "nowhere/r.json"], "nowhere")


class Measured(Base):
    def test_calibrated(self):
        found = self.model("bt-mz", "--class", "S", "--calibrate", "--measure", "--steps", "3")
        path, kept = self.kept()
        entry, = kept["entries"]
        self.assertEqual((entry["unit"], entry["class"], found["alpha"]), ("team", "S", entry["alpha"]))
        self.assertAlmostEqual(found["alone_s"], entry["task_s"] * 4, 9)
        rows = {r["processes"]: r for r in found["model"]}
        for n, row in rows.items():
            self.assertGreater(row["units_s"], 0)
            if row["threads_least"] == row["threads_most"]:
                self.assertGreater(row["processes_s"], 0)
        self.assertEqual(sum(r["best"] for r in rows.values()), 1)
        self.assertEqual(sum(r["best_measured"] for r in rows.values()), 1)
        self.assertGreaterEqual(found["largest_error"], found["median_error"])
        self.assertGreaterEqual(found["choice"], 1)
        # kept: the next call has it, for other classes too; and alpha by hand is stronger
        self.assertEqual(self.model("bt-mz", "--class", "S")["alpha"], entry["alpha"])
        self.assertEqual(self.model("bt-mz", "--class", "A", "--alpha", "0.5")["alpha"], 0.5)
        # figures of the model are none of units
        done = self.evener("plan", "bt-mz", "--units", "1:CPU:1", "--schedule", "weighted", "--json", "-", "--quiet")
        self.assertEqual(json.loads(done.stdout)["basis"], "speeds by cores")
        # where it reaches beyond what was measured; once threads are slower than no threads it is doubted
        kept["entries"] = [dict(entry, alpha=2, residual=0.3, points=2)]
        self.write(path, kept)
        said = "\n".join(self.model("bt-mz", "--class", "A", "--cores", "256", "--node", "128")["doubts"])
        for words in ("alpha is 2:", "residual 0.3", f"up to {CORES} threads, and is taken for teams of up to 128",
                      "costs are of class S", "messages between nodes are taken"):
            self.assertIn(words, said)
        self.assertEqual(self.model("bt-mz", "--class", "S", "--cores", "1", "--alpha", "0.1")["doubts"], [])
        # what is damaged is said, and left out
        for key, value in (("sizes", []), ("sizes", [[2, 1], [1, 1]]), ("sizes", [[1]]), ("alpha", "x"), ("latency_s", -1)):
            kept["entries"] = [dict(entry, **{key: value})]
            self.write(path, kept)
            done = self.evener("model", "bt-mz", "--json", "-", "--quiet")
            self.assertIn("damaged", done.stderr)
            self.assertEqual(json.loads(done.stdout)["alpha"], 0.03)

    def test_report(self):
        found = self.model("bt-mz", "--class", "S", "--calibrate", "--measure", "--steps", "2")
        more = self.model("bt-mz", "--class", "C", "--cores", "16,64,256", "--alpha", "0.03")
        one, two = self.write("a.json", found), self.write("b.json", more)
        done = self.evener("run", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--json", "run.json")
        pages = []
        for records in ([one], [one, two], [two, os.path.join(self.folder, "run.json")]):
            done = self.evener("report", *records, "--output", "-", said="")
            pages.append((records, done.stdout))
        for key, value in (("model", []), ("model", 3), ("model", [{}]), ("alpha", "x"),
                           ("model", [dict(more["model"][0], cores=0)]), ("model", [dict(more["model"][0], binpack=1)])):
            done = self.evener("report", self.write("c.json", dict(more, **{key: value})), "--output", "-", status=2)
            self.assertEqual(done.stdout, "")
            self.assertEqual(done.stderr.count("evener: "), 1, done.stderr)
        for records, text in pages:
            with open(os.path.join(self.folder, "page.html"), "w", encoding="utf-8") as f:
                f.write(text)
            page = report_page.drawn(f.name)
            self.assertEqual(sum(report_page.words(h).endswith("processes x threads") for h in page.iter("h2")), sum("run" not in r for r in records))
            labels = {report_page.words(label) for label in page.iter("text")}
            self.assertEqual("measured" in labels, one in records)
            self.assertEqual("256 cores" in labels, two in records)

    def test_own_page(self):
        """What evener report draws from the record; refused before anything is measured."""
        page = os.path.join(self.folder, "p.html")
        self.model("lu-mz", "--class", "A", "--cores", "4,16", "--report", page)
        words = ["model", "lu-mz", "--class", "A", "--cores", "4,16", "--quiet"]
        done = self.evener(*words, "--report", "-", said="")
        with open(page, encoding="utf-8") as f:
            for text in (f.read(), done.stdout):
                entry, = report_page.records(text)
                self.assertEqual((entry["file"], len(entry["record"]["model"])), ("evener model", len(self.model(*words[1:-1])["model"])))
        self.refuses([*words, "--report", "nowhere/p.html"], "nowhere")
        self.refuses([*words, "--report", page, "--json", page], "--report", "--json")

    def test_help(self):
        for words in ([], ["bt-mz"]):
            done = self.evener("model", *words, "--help", said="")
            self.assertIn("--calibrate", done.stdout)

    def test_page(self):
        done = self.evener("model", "lu-mz", "--class", "A", "--cores", "16", said="")
        self.assertRegex(done.stdout, r"(?m)^ +16 +16 x 1 +1 +16\.00\* +16\.00\* ")
