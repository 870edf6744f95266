#!/usr/bin/env python3
"""TD-BEM on CPU and GPU units together: the same solution where blocks do not fit a device; in balance after a few
groups of steps. The solution whoever sums which block is test_hash.py's, devices that fail test_device_faults.py's.

Run: ctest -R tdbem-hybrid, or tests/command/test_tdbem_hybrid.py build/evener [test ..]
"""
import json
import os
import subprocess

import base
from base import EVENER

LAYOUTS = ["rows", "contiguous", "full:32x32"]


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", *words, **options)

    def run_it(self, mesh, steps, *words):
        """The record, and the solution of all steps at some vertices."""
        done = self.evener("--mesh", mesh, "--steps", str(steps), "--matrices", os.path.join(base.CACHE.name, mesh.replace(":", "-")),
                           "--vertices", ",".join(str(v) for v in range(0, 160, 3)), "--vertex-output", self.path("a.csv"), "--oversubscribe",
                           "--quiet", "--json", "-", *words)
        rows = [[float(x) for x in row.split(",")] for row in self.read("a.csv").splitlines()[1:]]
        self.assertEqual(len(rows), steps + 1)
        return json.loads(done.stdout), rows

    def same(self, got, want, tolerance=1e-12):
        largest = max(abs(x) for row in want for x in row[2:])
        self.assertGreater(largest, 0.5)
        for a, b in zip(got, want):
            for x, y in zip(a, b):
                self.assertLessEqual(abs(x - y), tolerance * largest)


class Same(Base):
    def test_checkpoint_from_elsewhere(self):
        """What a CPU has begun a GPU goes on with."""
        state = self.path("state")
        _, want = self.run_it("sphere:2", 96, "--units", "1:CPU:1")
        self.run_it("sphere:2", 48, "--units", "1:CPU:1", "--checkpoint", state)
        _, got = self.run_it("sphere:2", 96, "--units", "1:GPU:1", "--devices", "emulated", "--restart", state)
        self.same(got, want)


class Solver(Base):
    """M_0 on a device; what comes of it is test_tdbem_steps.py's."""

    def test_no_device(self):
        done = self.evener("--mesh", "sphere:2", "--units", "1:CPU:1", "--solver", "cg:device", "--quiet", status=2)
        self.assertRegex(done.stderr, r"^evener: solver: cg:device needs a device[^\n]*\n$")

    def test_study(self):
        done = subprocess.run([EVENER, "bench", "td-bem", "--solvers", "--mesh", "sphere:1", "--devices", "emulated"],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("  cg")]
        self.assertEqual(lines[0][:3], ["cg", "1", "core"])
        self.assertEqual(lines[-1][0], "cg:device")
        for words in lines:
            once, each, iterations, residual, entries, ratio = [float(w) for w in words[-6:]]
            self.assertLess(residual, 1e-12)
            self.assertIn(iterations, range(8, 33))
            self.assertGreater(min(once, each, entries, ratio), 0)


class Memory(Base):
    def test_all_fits(self):
        """Blocks come once; then a group is the past and two lists in, the sums and their sums, and one message home."""
        r, _ = self.run_it("sphere:2", 160, "--units", "2:GPU:1", "--devices", "emulated", "--schedule", "static", "--blocks",
                           "23")
        blocks = len(r["owner"])
        self.assertEqual(r["transfers"]["moved_regions"], blocks)
        self.assertEqual(len(r["iterations"]), 10)
        for unit, device in enumerate(r["devices"]):
            mine = [b for b, u in enumerate(r["owner"]) if u == unit]
            self.assertGreater(len(mine), 2)
            self.assertEqual(device["launches"], 10 * 2)
            self.assertEqual(device["copies_out"], 10)
            self.assertEqual(device["copies_in"], len(mine) + 3 * 10)

    def test_first_interval_does_not_fit(self):
        for layout in LAYOUTS:
            words = ["--layout", layout, "--blocks", "160", "--ng", "8"]
            whole, want = self.run_it("sphere:3", 160, "--units", "1:CPU:1", *words)
            for units in ["1:GPU:1", "1:CPU:1,2:GPU:1"]:
                devices = len([u for u in units if u == "G"]) if units == "1:GPU:1" else 2
                memory = int(0.25 * whole["matrix"]["bytes"] / devices) + 6000000
                with self.subTest(layout=layout, units=units, memory=memory):
                    r, got = self.run_it("sphere:3", 160, "--units", units, "--devices", f"emulated:2,memory={memory}B",
                                         "--schedule", "static", *words)
                    self.same(got, want)
                    # what fits stays: every group, the others come
                    groups, blocks = 20, len(r["owner"])
                    on_devices = blocks - (r["owner"].count(0) if "CPU" in units else 0)
                    self.assertGreater(r["transfers"]["moved_regions"], on_devices + groups)
                    self.assertLess(r["transfers"]["moved_regions"], 0.95 * groups * on_devices)

    def test_host_too_small(self):
        """Blocks that come from the host's disk, also where the device has no room for all of them: the same bits as from
        memory. Those that stay on a device are read once."""
        words = ["--schedule", "static", "--ng", "4"]
        for units, devices, again in [("1:CPU:1,2:GPU:1", "emulated", False), ("1:GPU:2", "emulated", False),
                                      ("1:GPU:1", "emulated:1,memory=14MB", True)]:
            with self.subTest(units=units, devices=devices):
                where = [*words, "--units", units, "--devices", devices]
                whole, _ = self.run_it("sphere:3", 40, *where)
                r, _ = self.run_it("sphere:3", 40, *where, "--memory", "14MB")
                self.assertEqual(r["hash"], whole["hash"])
                self.assertEqual(r["owner"], whole["owner"])
                self.assertLess(r["matrix"]["resident_blocks"], r["matrix"]["blocks"] / 3)
                self.assertLess(r["stream"]["most_bytes"], 14e6)
                if not again:
                    self.assertEqual(r["transfers"]["moved_regions"], whole["transfers"]["moved_regions"])
                if "CPU" not in units:
                    (self.assertGreater if again else self.assertLessEqual)(r["stream"]["bytes"], r["matrix"]["bytes"])

    def test_too_small(self):
        done = self.evener("--mesh", "sphere:2", "--steps", "10", "--units", "1:GPU:1", "--devices", "emulated:1,memory=100kB",
                      "--quiet", status=2)
        self.assertRegex(done.stderr, r"^evener: .*0\.100 MB of memory.*\n$")


class Balance(Base):
    """Uneven units, in virtual time: the paper's figure 15, with its schedule. 72 blocks, less than a mesh worth the while has by
    itself. An item of the summation's kernel does some thousand times what one of the merging kernel does, and costs 1 us here: blocks
    of 8 slices take 0.26 ms, which 0.3 MB take over a link of 1 GB/s."""

    def settles(self, units, *devices, layout="rows"):
        virtual = "clock=virtual,item=1us,item.sum_pairs=2ns"
        r, _ = self.run_it("sphere:3", 320, "--units", units, "--layout", layout, "--blocks", "80", "--schedule", "interval", "--devices",
                           "+".join(f"emulated:{d.split(',')[0]},{virtual}," + ",".join(d.split(",")[1:]) for d in devices))
        self.assertEqual(len(r["iterations"]), 20)
        first = r["iterations"][0]["unit_compute_s"]
        self.assertGreater(max(first), 1.2 * sum(first) / len(first))
        for i, iteration in enumerate(r["iterations"]):
            self.assertEqual(sum(iteration["tasks"]), len(r["owner"]))
            if i >= 10:
                longest = max(iteration["unit_compute_s"])
                self.assertLess(longest, 1.05 * self.shortest(iteration), f"iteration {i + 1}: {iteration}")
        return r

    @staticmethod
    def shortest(iteration):
        """The longest unit's time where whole blocks, as long as each unit's are in the mean, are dealt out as evenly as can be."""
        each = [time / tasks for time, tasks in zip(iteration["unit_compute_s"], iteration["tasks"])]
        blocks = sum(iteration["tasks"])
        limits = sorted(k * time for time in each for k in range(1, blocks + 1))
        return next(limit for limit in limits if sum(int(limit / time + 1e-9) for time in each) >= blocks)

    def test_speed(self):
        self.settles("2:GPU:1", "1,speed=1", "1,speed=0.25")
        self.settles("3:GPU:1", "1,speed=1", "1,speed=0.4", "1,speed=0.1")
        self.settles("4:GPU:1", "2,speed=1", "2,speed=0.25")
        self.settles("1:GPU:1,1:GPU:3", "4,speed=1")

    def test_speed_and_the_first_interval_does_not_fit(self):
        """Half of the matrices, 14 MB, is what both units begin with."""
        for devices in [("1,memory=14MB", "1,speed=0.25"), ("1,speed=1", "1,speed=0.5,memory=8MB"),
                        ("1,memory=20MB,link=1GB/s", "1,speed=0.25,link=1GB/s,memory=8MB")]:
            with self.subTest(devices=devices):
                r = self.settles("2:GPU:1", *devices)
                self.assertGreater(r["matrix"]["bytes"] / 2, 13.5e6)
                self.assertGreater(r["transfers"]["moved_regions"], 2 * len(r["owner"]))

    def test_layouts(self):
        for layout in ["contiguous", "full:32x32"]:
            with self.subTest(layout=layout):
                self.settles("2:GPU:1", "1,speed=1", "1,speed=0.25,memory=16MB", layout=layout)
