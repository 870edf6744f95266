#!/usr/bin/env python3
"""NPB FT with GPU units: only what crosses between spaces moves; puts as counted by formulas; devices that are too small. Bits are
test_hash.py's, devices that fail test_device_faults.py's.

Run: ctest -R command-ft-devices, or tests/command/test_ft_devices.py build/evener [test ..].
"""
import json
import os

from base import Base

SIZE = 64, 64, 64  # of class S
POINTS = 64 ** 3


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
        nx, ny, nz = SIZE
        tables = 6 * 8 * (nx + ny + nz)
        d = self.record("--class", "S", "--units", "1:GPU:1")["devices"][0]
        self.assertEqual((d["copies_in"], d["copies_out"], d["copies_peer"]), (6, 6, 0))
        self.assertEqual((d["bytes_in"], d["bytes_out"]), (tables, 6 * 1024 * 16))
        for units, crossing in (("1:CPU:1,1:GPU:1", 1 / 4), ("2:GPU:1", 1 / 4)):
            r = self.record("--class", "S", "--units", units, "--variant", "packed")
            across = 7 * 16 * POINTS * crossing
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
            self.assertEqual((d["copies_peer"], d["bytes_peer"]), (7, 7 * 16 * POINTS // 4))
        # in pieces where it may overlap with the pass: as many bytes
        d = self.record("--class", "S", "--units", "1:CPU:1,1:GPU:1")["devices"][0]
        self.assertEqual(d["bytes_in"], tables + 7 * 16 * POINTS // 4)
        self.assertEqual((d["copies_in"], d["copies_out"]), (6 + 7 * 8, 6 + 7 * 8))
        for d in self.record("--class", "S", "--units", "2:GPU:1")["devices"]:
            self.assertEqual((d["copies_peer"], d["bytes_peer"]), (7 * 8, 7 * 16 * POINTS // 4))
        d = self.record("--class", "S", "--units", "2:CPU:1,1:GPU:1")["devices"][0]
        self.assertEqual(d["copies_in"], 6 + 7 * 16)

    # ---- ranks ----

    def test_puts(self):
        """As without devices: the formulas of docs/ft.md."""
        nx, ny, nz = SIZE
        for variant, count in (("packed", 7 * 2), ("slabs", 7 * nz), ("best", 7 * nz)):
            for units in "1:GPU:1", "1:CPU:1,1:GPU:1", "1:GPU:2":
                r = self.record("--class", "S", "--units", units, "--processes", "2", "--variant", variant)
                self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), (count, 7 * 16 * POINTS // 2))
        for variant, count in (("packed", 7 * 4), ("slabs", 7 * (nz + 2))):  # two transposes
            r = self.record("--class", "S", "--units", "1:GPU:1", "--processes", "2", "--variant", variant, "--transposes", "2")
            self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), (count, 2 * 7 * 16 * POINTS // 2))

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
        for ranks in (), ("--processes", "2"):
            self.assertIn("2048 at most", self.evener(*run, "--size", "4096x2x2", *ranks, status=2).stderr)

    def test_plan_and_calibrate(self):
        plan = json.loads(self.evener("plan", "ft", "--class", "S", "--units", "1:CPU:1,1:GPU:1", "--schedule", "interval", "--json", "-",
                                      "--quiet").stdout)
        self.assertEqual(set(plan["iterations"][0]["owner"]), {0, 1})
        self.evener("run", "ft", "--class", "S", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--oversubscribe", "--trace",
                    "t.json", "--quiet")
        self.assertIn("exchange", self.read(os.path.join(self.folder, "t.json")))
