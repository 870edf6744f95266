#!/usr/bin/env python3
"""NPB FT with GPU units: official checksums and the bits of a CPU unit on any mix of units, schedule, ranks and variant; only what
crosses between spaces moves; puts as counted by formulas; devices that are too small, or are lost.

Run: ctest -R command-ft-devices, or tests/command/test_ft_devices.py build/evener [test ..]; EVENER_FT=all has more of each.
"""
import json
import os
import subprocess
import unittest

from base import EVENER, Base

ALL = os.environ.get("EVENER_FT") == "all"
SIZE = {"S": (64, 64, 64), "W": (128, 128, 32), "A": (256, 256, 128)}
MIXED = "1:CPU:1,1:GPU:1", "1:CPU:1,1:GPU:2", "1:GPU:1,1:CPU:2", "1:CPU:1,2:GPU:1"


def points(name):
    nx, ny, nz = SIZE[name]
    return nx * ny * nz


class Devices(Base):
    def setUp(self):
        super().setUp()
        self.seen = {}

    def record(self, *words, devices="emulated", **options):
        return super().record("run", "ft", *words, "--oversubscribe", *(("--devices", devices) if devices else ()), **options)

    def alone(self, *words):
        """What one CPU unit has for it."""
        if words not in self.seen:
            self.seen[words] = self.record(*words, devices=None)
        return self.seen[words]

    def same(self, r, *words, exact=False):
        """Verified where that one is, with its bits where nothing is contracted."""
        want = self.alone(*words)
        self.assertIs(r["verified"], want["verified"])
        self.assertEqual(len(r["checksums"]), len(want["checksums"]))
        for a, b in zip(r["checksums"], want["checksums"]):
            self.assertLess(abs(complex(*a) - complex(*b)), 1e-12 * abs(complex(*b)))
        if exact or "-ffp-contract=off" in r["build"]["flags"]:
            self.assertEqual((r["hash"], r["checksums"]), (want["hash"], want["checksums"]))

    # ---- one process ----

    def test_units(self):
        for name, lists in (("S", ("1:GPU:1", "2:GPU:1", "1:GPU:2", *MIXED)), ("W", ("1:GPU:1", "1:CPU:1,1:GPU:2"))):
            for units in lists:
                with self.subTest(name=name, units=units):
                    r = self.record("--class", name, "--units", units)
                    self.assertIs(r["verified"], True)
                    self.same(r, "--class", name)
                    self.assertEqual(sum(d["launches"] > 0 for d in r["devices"]), len(r["devices"]))

    def test_pieces(self):
        """A pass of a rank's 16 planes: in one piece (packed), in 8 (best), plane by plane (slabs); the same bits and, in planes, as many puts."""
        words = ("--class", "S", "--processes", "4", "--units", "1:GPU:1")
        packed, best, slabs = (self.record(*words, "--variant", v) for v in ("packed", "best", "slabs"))
        one, eight, planes = (r["devices"][0]["launches"] for r in (packed, best, slabs))
        self.assertEqual((eight - one) * 15, (planes - one) * 7)
        self.assertGreater(eight, one)
        self.assertEqual({r["hash"] for r in (packed, best, slabs)}, {packed["hash"]})
        self.assertEqual(best["puts"], slabs["puts"])

    def test_class_a(self):
        for units in ("1:CPU:1,1:GPU:1",) + (("1:GPU:1", "2:GPU:1") if ALL else ()):
            r = self.record("--class", "A", "--units", units)
            self.assertIs(r["verified"], True)
            self.same(r, "--class", "A")

    def test_sizes(self):
        """Lines of all lengths, short rows; more rows than planes and the other way round."""
        for size in ("8x2x2", "8x4x64", "16x64x4", "32x2x16", "64x2x2", "128x32x8", "512x4x4", "1024x2x4", "2048x2x2", "64x2048x2",
                     "8x2x1024"):
            for units in ("1:GPU:1", "1:CPU:1,1:GPU:1") if ALL else ("1:CPU:1,1:GPU:1",):
                with self.subTest(size=size, units=units):
                    words = ("--size", size, "--steps", "2")
                    self.same(self.record(*words, "--units", units), *words)

    def test_schedules(self):
        """Tasks that move between the host and devices, and tasks that are drawn."""
        for schedule in ("static", "dynamic:chunk=1", "dynamic:chunk=5", "guided:time", "binpack", "interval"):
            for units, devices in (("1:CPU:1,1:GPU:2", "emulated"), ("2:GPU:1", "emulated:1+emulated:1,speed=0.3,peer=no")):
                with self.subTest(schedule=schedule, units=units):
                    words = ("--class", "S", "--steps", "9")
                    self.same(self.record(*words, "--units", units, "--schedule", schedule, devices=devices), *words)

    def test_slowed(self):
        """A unit that becomes slow gives tasks to the device in mid-run."""
        words = ("--class", "W", "--steps", "12")
        self.same(self.moved("migrations", *words, "--units", "1:CPU:1,1:GPU:1", "--schedule", "interval", "--slow", "0:20@3"), *words)

    def test_what_moves(self):
        """Of a step only what goes from one space to another, the decay's three axes and the checksum's points."""
        nx, ny, nz = SIZE["S"]
        tables = 6 * 8 * (nx + ny + nz)
        d = self.record("--class", "S", "--units", "1:GPU:1")["devices"][0]
        self.assertEqual((d["copies_in"], d["copies_out"], d["copies_peer"]), (6, 6, 0))
        self.assertEqual((d["bytes_in"], d["bytes_out"]), (tables, 6 * 1024 * 16))
        for units, crossing in (("1:CPU:1,1:GPU:1", 1 / 4), ("2:GPU:1", 1 / 4)):
            r = self.record("--class", "S", "--units", units, "--variant", "packed")
            across = 7 * 16 * points("S") * crossing
            for d in r["devices"]:
                if d["copies_peer"]:
                    self.assertEqual(len(r["devices"]), 2)
                    self.assertEqual((d["copies_in"], d["bytes_in"]), (6, tables))
                    self.assertEqual((d["copies_peer"], d["bytes_peer"]), (7, across))
                else:
                    self.assertEqual((d["copies_in"], d["bytes_in"]), (13, tables + across))
                    self.assertEqual(d["copies_out"], 13)
        # not directly
        for d in self.record("--class", "S", "--units", "2:GPU:1", devices="emulated:2,peer=no")["devices"]:
            self.assertEqual((d["copies_peer"], d["bytes_peer"]), (7, 7 * 16 * points("S") // 4))
        # in pieces where it may overlap with the pass: as many bytes
        d = self.record("--class", "S", "--units", "1:CPU:1,1:GPU:1")["devices"][0]
        self.assertEqual(d["bytes_in"], tables + 7 * 16 * points("S") // 4)
        self.assertEqual((d["copies_in"], d["copies_out"]), (6 + 7 * 8, 6 + 7 * 8))
        for d in self.record("--class", "S", "--units", "2:GPU:1")["devices"]:
            self.assertEqual((d["copies_peer"], d["bytes_peer"]), (7 * 8, 7 * 16 * points("S") // 4))
        d = self.record("--class", "S", "--units", "2:CPU:1,1:GPU:1")["devices"][0]
        self.assertEqual(d["copies_in"], 6 + 7 * 16)

    # ---- two transposes ----

    def two(self, *words, what=("--class", "S"), **options):
        self.same(self.record(*what, "--transposes", "2", *words, **options), *what, "--transposes", "2")

    def test_two_transposes(self):
        for name, lists in (("S", ("1:GPU:1", "2:GPU:1", "1:GPU:2", *MIXED)), ("W", ("1:CPU:1,1:GPU:2",))):
            for units in lists:
                with self.subTest(name=name, units=units):
                    r = self.record("--class", name, "--units", units, "--transposes", "2")
                    self.assertEqual((r["verified"], r["transposes"]), (True, 2))
                    self.same(r, "--class", name, "--transposes", "2")
        for size in "8x2x2", "16x64x4", "32x2x16", "8x4x64", "1024x2x4":
            with self.subTest(size=size):
                self.two("--units", "1:CPU:1,1:GPU:1", what=("--size", size, "--steps", "2"))

    def test_two_transposes_move(self):
        """V's planes between the host and devices, and tasks that are drawn."""
        for schedule in "dynamic:chunk=5", "guided:time", "interval":
            for units, devices in (("1:CPU:1,1:GPU:2", "emulated"), ("2:GPU:1", "emulated:1+emulated:1,speed=0.3,peer=no")):
                with self.subTest(schedule=schedule, units=units):
                    self.two("--units", units, "--schedule", schedule, devices=devices, what=("--class", "S", "--steps", "9"))
        words = ("--class", "W", "--steps", "12", "--transposes", "2")
        self.same(self.moved("migrations", *words, "--units", "1:CPU:1,1:GPU:1", "--schedule", "interval", "--slow", "0:20@3"), *words)

    def test_two_transposes_ranks(self):
        for ranks, variant, units in ((2, "best", "1:GPU:1"), (2, "slabs", "1:CPU:1,1:GPU:1"), (2, "packed", "1:CPU:1,1:GPU:2"),
                                      (3, "packed", "1:GPU:1")):
            with self.subTest(ranks=ranks, variant=variant, units=units):
                self.two("--units", units, "--processes", str(ranks), "--variant", variant)
        self.two("--units", "1:CPU:1,1:GPU:1", "--schedule", "interval", "--processes", "2", devices="emulated:1,speed=0.5",
                 what=("--class", "S", "--steps", "9"))
        self.two("--units", "1:GPU:1", "--processes", "5", what=("--size", "16x32x4"))  # a rank without tasks
        nz = SIZE["S"][2]
        for variant, count in (("packed", 7 * 4), ("slabs", 7 * (nz + 2))):
            r = self.record("--class", "S", "--units", "1:GPU:1", "--processes", "2", "--variant", variant, "--transposes", "2")
            self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), (count, 2 * 7 * 16 * points("S") // 2))

    # ---- ranks ----

    def test_ranks(self):
        cases = [(2, "best", "1:GPU:1"), (2, "slabs", "1:CPU:1,1:GPU:1"), (2, "packed", "1:CPU:1,1:GPU:2"), (3, "packed", "1:GPU:1")]
        if ALL:
            cases = [(r, v, u) for r in (2, 3, 5) for v in ("best", "slabs", "packed") for u in ("1:GPU:1", *MIXED)]
        for ranks, variant, units in cases:
            with self.subTest(ranks=ranks, variant=variant, units=units):
                self.same(self.record("--class", "S", "--units", units, "--processes", str(ranks), "--variant", variant), "--class", "S")
        r = self.record("--class", "W", "--units", "1:CPU:1,1:GPU:1", "--processes", "2")
        self.assertIs(r["verified"], True)
        self.same(r, "--class", "W")

    def test_puts(self):
        """As without devices: the formulas of docs/ft.md."""
        nx, ny, nz = SIZE["S"]
        for variant, count in (("packed", 7 * 2), ("slabs", 7 * nz), ("best", 7 * nz)):
            for units in "1:GPU:1", "1:CPU:1,1:GPU:1", "1:GPU:2":
                r = self.record("--class", "S", "--units", units, "--processes", "2", "--variant", variant)
                self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), (count, 7 * 16 * points("S") // 2))

    def test_rank_schedules(self):
        """Tasks move between ranks and between their spaces."""
        for schedule in "interval", "guided:time", "binpack":
            for units in "1:GPU:1", "1:CPU:1,1:GPU:1":
                words = ("--class", "S", "--steps", "9")
                self.same(self.record(*words, "--units", units, "--schedule", schedule, "--processes", "2",
                                      devices="emulated:1,speed=0.5"), *words)

    # ---- devices ----

    def test_opencl(self):
        probe = subprocess.run([EVENER, "run", "ft", "--size", "8x2x2", "--quiet", "--units", "1:GPU:1", "--devices", "opencl"],
                               capture_output=True, text=True, timeout=300)
        if probe.returncode:
            self.skipTest(probe.stderr)
        for units in "1:GPU:1", "1:CPU:1,1:GPU:1":
            r = self.record("--class", "S", "--units", units, devices="opencl")
            self.assertIs(r["verified"], True)
            self.same(r, "--class", "S")
        self.same(self.record("--size", "16x4x8", "--units", "1:GPU:1", devices="opencl"), "--size", "16x4x8")

    def test_too_small(self):
        run = ("run", "ft", "--class", "S", "--units", "1:GPU:1", "--quiet")
        done = self.evener(*run, "--devices", "emulated:memory=4MiB", status=2)
        self.assertIn("64 planes and 64 rows need 8.", done.stderr)
        self.assertIn("it has 4.2 MB", done.stderr)
        done = self.evener(*run, "--devices", "emulated:memory=4MiB", "--processes", "2", status=2)
        self.assertIn("need", done.stderr)
        self.evener(*run, "--devices", "emulated:memory=9MiB")

    def test_refused(self):
        run = ("run", "ft", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--oversubscribe")
        for more, says in ((("--size", "4096x2x2"), "2048 at most"),):
            for ranks in (), ("--processes", "2"):
                done = self.evener(*run, *more, *ranks, status=2)
                self.assertIn(says, done.stderr)

    def test_lost(self):
        for fail, more in (("lost@1", ()), ("lost@20", ("--processes", "2")), ("lost@80", ()), ("kernel@5", ("--processes", "2")),
                           ("copy@12", ()), ("alloc@4", ("--processes", "2"))):
            with self.subTest(fail=fail, more=more):
                words = ("run", "ft", "--units", "1:CPU:1,1:GPU:1", "--devices", f"emulated:fail={fail}", "--oversubscribe", "--quiet")
                done = subprocess.run([EVENER, *words, *more], capture_output=True, text=True, timeout=100)
                self.assertIn(done.returncode, (1, 2, 3), f"{fail} {more} {done.stderr}")
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
                self.assertIn("on purpose", done.stderr)

    def test_plan_and_calibrate(self):
        plan = json.loads(self.evener("plan", "ft", "--class", "S", "--units", "1:CPU:1,1:GPU:1", "--schedule", "interval", "--json", "-",
                                      "--quiet").stdout)
        self.assertEqual(set(plan["iterations"][0]["owner"]), {0, 1})
        self.evener("run", "ft", "--class", "S", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--oversubscribe", "--trace",
                    "t.json", "--quiet")
        with open(os.path.join(self.folder, "t.json")) as f:
            self.assertIn("exchange", f.read())


if __name__ == "__main__":
    unittest.main()
