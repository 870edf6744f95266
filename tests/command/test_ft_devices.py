#!/usr/bin/env python3
"""NPB FT with GPU units: only what crosses between spaces moves; puts as counted by formulas; devices that are too small. Bits are
test_hash.py's, devices that fail test_device_faults.py's.

Run: ctest -R command-ft-devices, or tests/command/test_ft_devices.py build/evener [test ..].
"""
import json
import os
import unittest

from base import Base

MIXED = "1:CPU:1,1:GPU:1", "1:CPU:1,1:GPU:2", "1:GPU:1,1:CPU:2", "1:CPU:1,2:GPU:1"
SIZE = {"S": (64, 64, 64), "W": (128, 128, 32), "A": (256, 256, 128)}


def points(name):
    nx, ny, nz = SIZE[name]
    return nx * ny * nz


class Devices(Base):
    def record(self, *words, devices="emulated", **options):
        return super().record("run", "ft", *words, "--oversubscribe", *(("--devices", devices) if devices else ()), **options)

    # ---- one process ----

    def test_pieces(self):
        """A pass of a rank's 16 planes: in one piece (packed), in 8 (best), plane by plane (slabs); the same bits and, in planes, as many puts."""
        words = ("--class", "S", "--processes", "4", "--units", "1:GPU:1")
        packed, best, slabs = (self.record(*words, "--variant", v) for v in ("packed", "best", "slabs"))
        one, eight, planes = (r["devices"][0]["launches"] for r in (packed, best, slabs))
        self.assertEqual((eight - one) * 15, (planes - one) * 7)
        self.assertGreater(eight, one)
        self.assertEqual({r["hash"] for r in (packed, best, slabs)}, {packed["hash"]})
        self.assertEqual(best["puts"], slabs["puts"])

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

    def same(self, r, *words):
        """Verified where one CPU unit's run is, with its bits where nothing is contracted."""
        want = self.record(*words, devices=None)
        self.assertIs(r["verified"], want["verified"])
        self.assertEqual(len(r["checksums"]), len(want["checksums"]))
        for a, b in zip(r["checksums"], want["checksums"]):
            self.assertLess(abs(complex(*a) - complex(*b)), 1e-12 * abs(complex(*b)))
        if "-ffp-contract=off" in r["build"]["flags"]:
            self.assertEqual((r["hash"], r["checksums"]), (want["hash"], want["checksums"]))

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

    def test_puts(self):
        """As without devices: the formulas of docs/ft.md."""
        nx, ny, nz = SIZE["S"]
        for variant, count in (("packed", 7 * 2), ("slabs", 7 * nz), ("best", 7 * nz)):
            for units in "1:GPU:1", "1:CPU:1,1:GPU:1", "1:GPU:2":
                r = self.record("--class", "S", "--units", units, "--processes", "2", "--variant", variant)
                self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), (count, 7 * 16 * points("S") // 2))

    # ---- devices ----

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
