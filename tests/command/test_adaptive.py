#!/usr/bin/env python3
"""The adaptive mesh by the command: one hash from any ranks, the record, plans, bad input.

Run: ctest -R command-adaptive, or tests/command/test_adaptive.py build/evener [test ..]
"""
import json

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
        self.assertIn("Tasks that come and go", report_page.markup(self.path("r.html")))

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
