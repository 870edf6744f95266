#!/usr/bin/env python3
"""What TD-BEM's steps ask of the device that solves (`--solver cg:device`), as its own counters have it: of each group of steps the sums and the
last three solutions go there, solutions and the points' sums come home, and the host waits once. Nothing of a step is the host's in between, so the
solution is compared with the host's: options that change the right-hand side or the radiation stage, restarts, and bodies that need more iterations
than they were given.

Run: ctest -R command-tdbem-steps, or tests/command/test_tdbem_steps.py build/evener [test ..]
"""
import json
import os

from base import SOURCE, Base

AIRCRAFT = os.path.join(SOURCE, "examples", "meshes", "aircraft.off")
DEVICE = ["--units", "1:GPU:1", "--devices", "emulated"]


class Steps(Base):
    def march(self, *words, steps=48):
        """The record, and the solution of all steps at some vertices."""
        done = self.evener("run", "td-bem", "--steps", str(steps), "--schedule", "static", "--vertices", ",".join(map(str, range(0, 160, 7))),
                           "--vertex-output", self.path("a.csv"), "--oversubscribe", "--quiet", "--json", "-", *words)
        return json.loads(done.stdout), [[float(x) for x in row.split(",")] for row in self.read("a.csv").splitlines()[1:]]

    def same(self, words, steps=48, tolerance=1e-12, host=(), device=()):
        """The device's run, which has the host's bits where nothing is contracted."""
        h, want = self.march(*words, *DEVICE, *host, steps=steps)
        r, got = self.march(*words, *DEVICE, "--solver", "cg:device", *device, steps=steps)
        largest = max(abs(x) for row in want for x in row[1:])
        self.assertGreater(largest, 0)
        for a, b in zip(got, want):
            for x, y in zip(a, b):
                self.assertLessEqual(abs(x - y), tolerance * largest)
        if "-ffp-contract=off" in r["build"]["flags"]:
            self.assertEqual(r["hash"], h["hash"])
        return r, h

    def counted(self, words, steps, groups):
        """Times that a group's iterations were too few."""
        r, h = self.same(words, steps)
        more = {key: r["devices"][0][key] - h["devices"][0][key] for key in ("waits", "copies_in", "copies_out", "launches")}
        rounds = more["waits"] - groups
        self.assertIn(rounds, range(6))
        self.assertEqual(more["copies_in"], 2 * groups)
        points = r["null_field"] is not None
        self.assertEqual(more["copies_out"], (1 + points) * (groups + rounds))
        # a step: the wave (2), its equations (1), two launches to begin, two an iteration, the solution (1), the radiation (2)
        least = steps * 2 * r["solver_iterations"]
        self.assertGreater(more["launches"], least)
        self.assertLess(more["launches"], (least + steps * (8 + 2 * 8)) * (1 + rounds))
        return rounds

    def test_waits(self):
        for group, groups in [(16, 6), (5, 20), (32, 3), (1, 96)]:
            with self.subTest(group=group):
                self.counted(["--mesh", "sphere:2", "--ng", str(group)], 96, groups)

    def test_more_iterations(self):
        self.assertGreater(self.counted(["--mesh", AIRCRAFT, "--direction", "1,0,0"], 32, 2), 0)

    def test_options(self):
        for words in (["--problem", "soft"], ["--problem", "soft", "--eta", "0"], ["--eta", "0"], ["--pulse", "ricker:sigma=0.9,t0=4"], ["--layout", "contiguous"],
                      ["--delta-ratio", "0.7"], ["--ng", "7"]):
            with self.subTest(words=words):
                self.same(["--mesh", "sphere:2", *words])

    def test_float(self):
        for group in ("16", "3"):
            with self.subTest(group=group):
                self.same(["--mesh", "sphere:2", "--precision", "float", "--ng", group], tolerance=2e-5)

    def test_units(self):
        for units in (["--units", "1:CPU:1,2:GPU:1"], ["--units", "1:GPU:2"], ["--units", "1:CPU:2,1:GPU:2"]):
            with self.subTest(units=units):
                r, h = self.same(["--mesh", "sphere:2", *units], device=units, host=units)
                self.assertEqual((r["solver"], h["solver"]), ("cg:device", "cg"))
                self.assertLess(abs(r["solver_iterations"] - h["solver_iterations"]), 0.5)
                self.assertEqual([d["copies_in"] for d in r["devices"][1:]], [d["copies_in"] for d in h["devices"][1:]])

    def test_restart(self):
        """The wave of the step before, and the last solutions, are the checkpoint's."""
        state = self.path("state")
        whole, _ = self.march("--mesh", "sphere:2", *DEVICE, "--solver", "cg:device", steps=64)
        self.march("--mesh", "sphere:2", *DEVICE, "--solver", "cg:device", "--checkpoint", state, steps=32)
        again, _ = self.march("--mesh", "sphere:2", *DEVICE, "--solver", "cg:device", "--restart", state, steps=64)
        self.assertEqual(again["hash"], whole["hash"])

    def test_little_memory(self):
        """A device without room for the near part: the host makes the equations of each step."""
        words = ["--units", "1:GPU:1", "--devices", "emulated:memory=14MB"]
        r, h = self.same(["--mesh", "sphere:3"], host=words, device=words)
        self.assertGreaterEqual(r["devices"][0]["waits"] - h["devices"][0]["waits"], 48)
