#!/usr/bin/env python3
"""NPB MG on devices: nothing crosses but planes beside ranges, to the byte; ranks that are not alike; too little memory, what is refused.
Bits are test_hash.py's, devices that fail test_device_faults.py's.

Run: ctest -R command-mg-devices, or tests/command/test_mg_devices.py build/evener [test ..].
"""

from base import EVENER, Base, launcher


def plane(n):
    """Bytes of a plane of n points a side, as grids have them."""
    row = n if n < 64 else n + 8
    return 8 * (row * n + (8 if n < 64 else 136))


def crossing(n, steps):
    """Bytes in and out of a device that has one half of the planes, the host the other, in the timed part: planes beside it of each level,
    of the fourth's r its own and of its u what the third needs; the squares of the first and the last residual."""
    p = [plane(n >> down) for down in range(4)]
    beside = 4 * p[0] + (2 + 3) * p[1] + (3 + 3) * p[2]
    fourth = len({(k // 2 - q) % (n // 8) for k in range(n // 8 - 2, n // 4 + 2) for q in ((0,) if k & 1 else (0, 1))})
    return steps * (beside + fourth * p[3]), steps * (beside + n // 16 * p[3]) + 2 * 8 * 8 * (n // 2)


class Devices(Base):
    cores = {}

    def record(self, *words, devices=("--devices", "emulated"), **options):
        return super().record("run", "mg", "--oversubscribe", *words, *devices, **options)

    def same(self, r, *problem):
        """As cores compute it."""
        if problem not in self.cores:
            self.cores[problem] = self.record(*problem, "--units", "1:CPU:1", devices=())
        self.assertEqual((r["hash"], r["norm"]), (self.cores[problem]["hash"], self.cores[problem]["norm"]))

    def test_ranks(self):
        for name, units in (("S", "1:GPU:1"), ("S", "1:GPU:2"), ("S", "1:CPU:1,1:GPU:1"), ("W", "1:CPU:1,1:GPU:1")):
            words = "--class", name, "--processes", "2"
            r = self.record(*words, "--units", units)
            self.assertIs(r["verified"], True, (name, units))
            self.same(r, "--class", name)
            # what ranks put does not depend on where in a rank a task is
            self.assertEqual(r["puts"], self.record(*words, "--units", "1:CPU:1", devices=())["puts"])

    def test_crossing(self):
        """Alone u never leaves; beside cores only planes beside the range do, and regions do not move."""
        for name, n in (("S", 32), ("W", 128)):
            r = self.record("--class", name, "--units", "1:GPU:1")["devices"][0]
            self.assertEqual((r["bytes_out"], r["bytes_peer"]), (2 * 64 * n, 0))
            self.assertLess(r["bytes_in"], 2048)
            r = self.record("--class", name, "--units", "1:CPU:1,1:GPU:1")
            self.assertEqual(r["transfers"]["moved_regions"], 0)
            bytes_in, bytes_out = crossing(n, 4)
            self.assertEqual(r["devices"][0]["bytes_out"], bytes_out)
            self.assertIn(r["devices"][0]["bytes_in"] - bytes_in, range(2048))  # and a few lists of ranges
            peers = self.record("--class", name, "--units", "2:GPU:1")
            beside = 4 * (4 * plane(n) + 5 * plane(n // 2) + 6 * plane(n // 4))
            self.assertEqual([d["bytes_peer"] for d in peers["devices"]], [beside, beside])

    def test_launches(self):
        """A step's do not depend on the number of tasks."""
        seen = set()
        for n in (32, 64):
            words = "--size", str(n), "--units", "1:CPU:1,1:GPU:1", "--steps"
            a, b = (self.record(*words, str(steps))["devices"][0]["launches"] for steps in (2, 7))
            seen.add((b - a) / 5)
        self.assertEqual(seen, {7})  # second to third, third to fourth, up to both, the pass, its P A within and beside

    def ranks_that_differ(self, *words, first, second, status=0):
        start = launcher("openmpi")
        ours = EVENER, "run", "mg", "--quiet", "--oversubscribe", *words
        return self.evener(*ours[1:], *first, ":", "-n", "1", *ours, *second, status=status,
                           launch=(*start, "-n", "1"))

    def test_ranks_that_differ(self):
        """Tasks go from a device to another rank's cores."""
        problem = "--class", "S", "--steps", "7"
        for first, second in ((["1:CPU:1"], ["1:GPU:1", "--devices", "emulated:speed=0.2"]),
                              (["1:GPU:2", "--devices", "emulated:2,speed=0.2"], ["2:CPU:1"])):
            at, moved = self.path("record.json"), 0
            for _ in range(10):  # on a busy machine one run may see nothing to move
                self.ranks_that_differ(*problem, "--schedule", "interval", "--json", at, first=["--units", *first], second=["--units", *second])
                r = self.load("record.json")
                self.same(r, *problem)
                moved += r["transfers"]["moved_between_ranks"]
                if moved:
                    break
            self.assertGreater(moved, 0)

    def test_refused(self):
        gpu = "--quiet", "--oversubscribe", "--units", "1:CPU:1,1:GPU:1", "--devices"
        self.refuses(["run", "mg", "--class", "W", *gpu, "emulated:memory=8MiB"], "needs 22.211 MB for its planes")
        self.refuses(["run", "mg", "--class", "W", *gpu, "emulated:memory=8MiB", "--processes", "2"], "and has 7.969 MB")
        self.refuses(["run", "mg", *gpu, "emulated", "--schedule", "dynamic"], "lets units draw their tasks")
        for variant in ("bulk", "overlap"):
            self.refuses(["run", "mg", *gpu, "emulated", "--variant", variant], "expected one unit a rank")

    def test_page(self):
        """A plan, a calibration and a trace with units that are devices."""
        units = "--units", "1:CPU:1,1:GPU:1"
        self.assertIn("8 slabs", self.evener("plan", "mg", "--class", "S", *units).stdout)
        self.assertIn("GPU:1", self.evener("calibrate", "mg", "--class", "S", *units, "--devices", "emulated", "--output",
                                           self.path("times")).stdout)
        r = self.record("--class", "S", *units, "--trace", self.path("trace"))
        self.assertEqual([u["kind"] for u in r["units"]], ["cpu", "gpu"])
        self.assertEqual(set(r["phases"]), {"first", "finest", "edges", "middle", "coarse", "exchange"})
        self.assertGreater(r["units"][1]["compute_s"], 0)
        events = self.load("trace")["traceEvents"]
        self.assertTrue(any(e.get("tid") == 1 and e.get("name") == "4 slabs from 4" for e in events))
