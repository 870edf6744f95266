#!/usr/bin/env python3
"""The adaptive mesh by the command: verified, one hash from every set of units, every schedule and any ranks, the record, plans, bad input.

Run: ctest -R command-adaptive, or tests/command/test_adaptive.py build/evener [test ..]
"""
import json
import re
import unittest

import report_page
from base import Base

SMALL = ("--size", "32", "--levels", "2", "--steps", "120", "--every", "3")


class Adaptive(Base):
    def mesh(self, *words):
        return self.record("run", "adaptive", *words, "--oversubscribe")

    def changed(self, r):
        """The changes that the record lists are those of the mesh, and all their numbers fit."""
        mesh, changes, tasks = r["mesh"], r["changes"], None
        self.assertEqual(len(changes), mesh["changes"])
        for key in "born", "gone":
            self.assertEqual(sum(c[key] for c in changes), mesh[key])
        for c in changes:
            self.assertEqual(list(c), ["instance", "tasks", "kept", "born", "gone", "moved", "moved_bytes", "faces_added",
                                       "faces_gone", "seconds", "imbalance"])
            self.assertTrue(c["imbalance"] is None or c["imbalance"] >= 1)  # null: a unit had nothing to do
            self.assertEqual(c["tasks"], c["kept"] + c["born"])
            self.assertTrue(tasks in (None, c["kept"] + c["gone"]))
            self.assertEqual(c["instance"] % (2 * mesh["every"]), 0)
            self.assertGreater(c["faces_added"], 0)
            self.assertGreater(c["seconds"], 0)
            tasks = c["tasks"]
        self.assertEqual(tasks, mesh["blocks"])
        self.assertEqual([c["instance"] for c in changes], sorted({c["instance"] for c in changes}))

    def test_same_bits(self):
        hashes = set()
        for units in "1:CPU:1", "2:CPU:1", "2:CPU:2,1:CPU:1":
            for schedule in "map", "auto", "static", "dynamic:chunk=1", "guided:time", "binpack":
                r = self.mesh(*SMALL, "--units", units, "--schedule", schedule)
                self.assertIs(r["verified"], True, f"{units} {schedule}")
                hashes.add((r["hash"], r["error"], r["mesh"]["changes"], r["mesh"]["born"]))
        self.assertEqual(len(hashes), 1)

    def test_over_ranks(self):
        """Blocks are born, leave and travel on several ranks; the bits are those of one."""
        def told(r):
            return r["hash"], r["error"], r["mass_drift"], r["mesh"]["changes"], r["mesh"]["born"], r["mesh"]["gone"]
        size = "--size", "32", "--levels", "3", "--steps", "120", "--every", "2"
        alone, moved, bytes_moved = self.mesh(*size, "--units", "1:CPU:1"), 0, 0
        for ranks, units in ("processes:2", "1:CPU:1"), ("processes:3", "1:CPU:1"), ("processes:2,latency=20us", "2:CPU:1"):
            for schedule in "map", "auto", "dynamic:chunk=1", "guided:time":
                r = self.mesh(*size, "--wire", ranks, "--units", units, "--schedule", schedule)
                self.assertEqual((told(r), r["verified"]), (told(alone), True), f"{ranks} {units} {schedule}")
                self.assertEqual(len(r["owner"]), r["mesh"]["blocks"])
                self.changed(r)
                moved += r["transfers"]["moved_between_ranks"]
                bytes_moved += sum(c["moved_bytes"] for c in r["changes"])
        self.assertGreater(moved, 0)
        self.assertGreater(bytes_moved, 0)
        self.assertGreater(alone["mesh"]["changes"], 1)

    def test_record(self):
        r = self.mesh(*SMALL, "--units", "2:CPU:1")
        mesh = r["mesh"]
        self.assertEqual((r["app"], r["noun"], r["steps"]), ("adaptive", "block", 120))
        self.assertEqual((mesh["size"], mesh["levels"], mesh["every"]), (32, 2, 3))
        self.assertEqual(len(r["owner"]), mesh["blocks"])
        self.assertEqual(len(r["task_s"]), mesh["blocks"])
        self.assertGreaterEqual(mesh["changes"], 1)
        self.changed(r)
        self.assertGreater(mesh["born"], 0)
        self.assertLess(mesh["blocks_most"], 64)
        self.assertLess(mesh["cell_updates"], 120 * 64 * 256)
        self.assertAlmostEqual(r["mops"] * r["seconds"] / (490e-6 * mesh["cell_updates"]), 1, 9)
        self.assertLess(max(abs(r["mass_drift"]), abs(r["energy_drift"])), 1e-12)
        fine = self.mesh("--size", "64", "--levels", "2", "--steps", "240", "--every", "6", "--units", "2:CPU:1")
        self.assertAlmostEqual(fine["time"] / r["time"], 1, 12)
        self.assertGreater(r["error"] / fine["error"], 3.5)

    def test_plan_and_page(self):
        plan = json.loads(self.evener("plan", "adaptive", "--size", "32", "--levels", "2", "--units", "4:CPU:1", "--json", "-").stdout)
        self.assertEqual(set(plan["iterations"][0]["owner"]), {0, 1, 2, 3})
        out = self.evener("run", "adaptive", *SMALL, "--units", "1:CPU:1", "--oversubscribe").stdout
        for words in "verified", "blocks born", "error of the density":
            self.assertIn(words, out)
        self.evener("run", "adaptive", *SMALL, "--units", "2:CPU:1", "--oversubscribe", "--json", "r.json", "--quiet")
        self.evener("report", "r.json", "--output", "r.html")
        self.page("r.json", "r.html")

    def page(self, record, page):
        """The page shows each change of the record once in its picture and once in its table, and the tasks at any time."""
        r = self.load(record)
        figures = [f for f in re.findall(r"<figure>.*?</figure>", report_page.markup(self.path(page)), re.S) if "Tasks that come and go" in f]
        self.assertEqual(len(figures), 1)
        n = len(r["changes"])
        for c in r["changes"]:
            self.assertIn(f"after {c['instance']} instances: {c['tasks']} blocks, {c['born']} born, {c['gone']} gone, {c['moved']} moved",
                          figures[0])
        rows = re.findall(r'<tr><th scope="row">(\d+)</th><td>(\d+)</td><td>(\d+)</td><td>(\d+)</td><td>(\d+)</td><td>(\d+)</td>', figures[0])
        self.assertEqual([[int(x) for x in row] for row in rows],
                         [[c[k] for k in ("instance", "tasks", "kept", "born", "gone", "moved")] for c in r["changes"]])
        self.assertEqual(figures[0].count('class="c0 dot"'), n)
        self.assertEqual(figures[0].count('class="c5 dot"'), sum(c["imbalance"] is not None for c in r["changes"]))
        # the heights of the line of steps, against its axis: tasks of each generation
        lines = re.findall(r'<line class="s0" x1="([\d.]+)%" y1="([\d.]+)" x2="([\d.]+)%" y2="([\d.]+)"', figures[0])
        level = [float(y) for x, y, to, end in lines if y == end]
        tasks = [r["changes"][0]["kept"] + r["changes"][0]["gone"]] + [c["tasks"] for c in r["changes"]]
        most = max(1.05 * max(tasks), 1)
        self.assertEqual(len(level), n + 1)
        for y, number in zip(level, tasks):
            self.assertAlmostEqual(y, 166 - 140 * number / most, delta=0.06)
        # the same record without, and with a wrong one
        changes = r.pop("changes")
        self.assertNotIn("come and go", self.drawn(r))
        for wrong, says in ({"tasks": "x"}, '"changes[].tasks" is no number'), ({"instance": -1}, '"changes[].instance"'), \
                ({"imbalance": []}, '"changes[].imbalance"'):
            r["changes"] = [changes[0] | wrong]
            self.write("w.json", r)
            self.assertIn(says, self.evener("report", "w.json", "--output", "w.html", status=2).stderr)
        r["changes"] = [changes[0] | {"imbalance": None, "instance": 1000000000}, changes[0]]  # a device was lost in between
        self.assertEqual(self.drawn(r).count('class="c0 dot"'), 2)

    def drawn(self, record):
        self.write("w.json", record)
        self.evener("report", "w.json", "--output", "w.html")
        return report_page.markup(self.path("w.html"))

    def test_uniform(self):
        """No levels: nothing changes."""
        r = self.mesh("--size", "48", "--levels", "0", "--steps", "10", "--units", "2:CPU:1")
        self.assertEqual((r["mesh"]["blocks"], r["mesh"]["changes"], r["verified"]), (9, 0, True))
        self.assertNotIn("changes", r)
        self.assertIs(self.mesh("--steps", "0", "--units", "1:CPU:1")["verified"], True)

    def test_refused(self):
        self.refuses(["run", "adaptive", "--size", "40"], "--size 40: blocks have 16 cells a side; expected a multiple, as 48")
        self.refuses(["run", "adaptive", "--size", "16"], "--size 16")
        self.refuses(["run", "adaptive", "--levels", "11"], "--levels 11")
        self.refuses(["run", "adaptive", "--every", "0"], "--every 0")
        self.refuses(["run", "adaptive", "--units", "1:GPU:1", "--devices", "emulated"], "adaptive")


if __name__ == "__main__":
    unittest.main()
