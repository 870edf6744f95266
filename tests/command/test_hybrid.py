#!/usr/bin/env python3
"""Runs of NPB-MZ on CPU and GPU units together: settled, exact in what they move, and carried on where a device fails.

Run: ctest -R hybrid, or tests/command/test_hybrid.py build/evener [test ..]
"""
import json

from base import Base

APPS = ["bt-mz", "sp-mz", "lu-mz"]
UNITS = ["1:GPU:1", "2:GPU:1", "1:CPU:1,1:GPU:1", "2:CPU:1,2:GPU:1"]
FIXED = ["static", "weighted", "binpack"]  # whose mapping is fixed from the beginning
SIZES = {"S": (24, 24, 6), "W": (64, 64, 8)}


def widths(points, parts, ratio):
    """The report's cut of a direction, written afresh (NAS-03-010, section 3)."""
    if abs(ratio - 1) < 1e-10:
        ends = [i * points // parts for i in range(parts + 1)]
    else:
        r = ratio ** (1 / (parts - 1))
        s = points * (r - 1) / (r**parts - 1)
        ends = [0] + [int(s * (r**i - 1) / (r - 1) + 0.45) for i in range(1, parts + 1)]
    return [b - a for a, b in zip(ends, ends[1:])]


def crossing(app, class_, owner):
    """Bytes that cross between units in a step, and the ordered pairs of units between which they do: from the mesh."""
    gx, gy, gz = SIZES[class_]
    xz, yz = (2, 2) if class_ == "S" and app != "lu-mz" else (4, 4)
    ratio = {"S": 3.0, "W": 4.5}[class_] if app == "bt-mz" else 1
    x, y = widths(gx, xz, ratio), widths(gy, yz, ratio)
    total, pairs = 0, set()
    for j in range(yz):
        for i in range(xz):
            to = owner[j * xz + i]
            sides = [((i - 1) % xz, j, y[j]), ((i + 1) % xz, j, y[j]), (i, (j - 1) % yz, x[i]), (i, (j + 1) % yz, x[i])]
            for a, b, width in sides:
                giver = owner[b * xz + a]
                if giver != to:
                    total += 8 * 5 * (width - 2) * (gz - 2)
                    pairs.add((giver, to))
    return total, len(pairs)


class Moves(Base):
    def test_settled_schedules_move_nothing(self):
        for app in APPS:
            for class_ in SIZES:
                for units in UNITS[1:]:
                    for schedule in FIXED:
                        with self.subTest(app=app, class_=class_, units=units, schedule=schedule):
                            r = self.record("run", app, "--class", class_, "--units", units, "--devices", "emulated",
                                            "--schedule", schedule, "--steps", "7", "--oversubscribe")
                            moved = r["transfers"]
                            self.assertEqual(moved["migrations"], 0)
                            self.assertEqual(moved["moved_regions"], 0)
                            total, pairs = crossing(app, class_, r["owner"])
                            self.assertEqual(moved["bytes"], 7 * total)
                            self.assertEqual(moved["messages"], 7 * pairs)
                            self.assertLessEqual(moved["copies"], 7 * pairs)
                            self.assertEqual(sum(u["bytes_in"] for u in r["units"]), 7 * total)
                            self.assertEqual(sum(u["bytes_out"] for u in r["units"]), 7 * total)

    def test_small_memory(self):
        """A device for some of its zones: they come and go, and nothing else changes."""
        r = self.record("run", "bt-mz", "--class", "W", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated:memory=3MiB",
                        "--schedule", "static")
        self.assertIs(r["verified"], True)
        self.assertEqual(r["transfers"]["migrations"], 0)
        self.assertGreater(r["transfers"]["moved_regions"], 0)

    def test_a_third_fits(self):
        """A device for a third of the zones beside two cores: schedules that keep to capacities give it what fits, ahead."""
        words = ("run", "bt-mz", "--class", "W", "--steps", "20", "--devices", "emulated:memory=2300KiB,clock=virtual", "--oversubscribe")
        for ranks in ((), ("--processes", "2")):
            units = ("--units", "1:CPU:1,1:GPU:1" if ranks else "2:CPU:1,1:GPU:1")
            for schedule in ("binpack", "optimal:limit=0"):
                with self.subTest(ranks=ranks, schedule=schedule):
                    moved = self.record(*words, *units, *ranks, "--schedule", schedule)["transfers"]
                    self.assertEqual((moved["migrations"], moved["moved_regions"], moved["moved_bytes"]), (0, 0, 0))
        words = (*words, "--units", "2:CPU:1,1:GPU:1", "--schedule")
        self.assertGreater(self.record(*words, "static")["transfers"]["moved_regions"], 20)
        # what is learnt from times may move zones; never so many that they are evicted in turns
        learnt = self.record(*words, "auto")["transfers"]
        self.assertLessEqual(learnt["moved_regions"], 12 * learnt["migrations"])  # at worst the device is emptied and filled for each

    def test_one_zone_alone_does_not_fit(self):
        words = ("run", "bt-mz", "--class", "W", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated:memory=1MiB", "--steps", "3")
        self.record(*words, "--schedule", "binpack")  # it gets others
        done = self.evener(*words, "--schedule", "static", status=3)
        self.assertEqual(done.stderr.count("\n"), 1)
        for word in ("emulated", "zone", "MB"):
            self.assertIn(word, done.stderr)


class Faults(Base):
    OPERATIONS = {"alloc": "allocation", "copy": "copy", "kernel": "launch", "lost": "lost"}
    WHEN = (1, 3, 10, 30, 100, 500)

    def test_continue(self):
        for app in APPS:
            for what in self.OPERATIONS:
                for when in self.WHEN:
                    with self.subTest(app=app, what=what, when=when):
                        done = self.evener("run", app, "--class", "S", "--units", "1:CPU:1,2:GPU:1", "--schedule", "static",
                                      "--devices", f"emulated:2,fail={what}@{when},bad=1", "--on-device-loss", "continue",
                                      "--json", "-", "--quiet")
                        r = json.loads(done.stdout)
                        self.assertIs(r["verified"], True)
                        if done.stderr:
                            self.assertRegex(done.stderr, "(goes on from step [0-9]+|begins anew) with units")
                            self.assertEqual(len(r["units"]), 2)
                            self.assertLess(max(r["owner"]), 2)

    def test_after_the_last_step(self):
        """The last launches of a run take the norms and the hash of a state that is then lost."""
        for app in APPS:
            seen, norms = "", []
            for when in range(20, 200):
                done = self.evener("run", app, "--class", "S", "--steps", "3", "--units", "1:CPU:1,2:GPU:1", "--schedule", "static",
                              "--devices", f"emulated:2,fail=kernel@{when},bad=1", "--on-device-loss", "continue",
                              "--json", "-", "--quiet")
                norms.append(json.loads(done.stdout)["norms"])
                if not done.stderr:
                    break  # there were not as many
                seen += done.stderr
            for kernel in ("norms_zone", "norms_hash"):
                self.assertIn(kernel, seen)
            for one in norms:
                for part in ("residual", "error"):
                    for a, b in zip(one[part], norms[0][part]):
                        self.assertAlmostEqual(a / b, 1, places=10, msg=app)

    def test_words(self):
        for words, says in [
            (["--devices", "gpu"], "unknown back end"),
            (["--devices", "emulated:1", "--units", "2:GPU:1"], "asks for 2 devices"),
            (["--devices", "emulated:speed=fast", "--units", "1:GPU:1"], "speed"),
            (["--on-device-loss", "retry"], "expected stop or continue"),
        ]:
            self.refuses(["run", "bt-mz", "--class", "S", *(["--units", "1:GPU:1"] if "--units" not in words else []), *words], says)


class Studies(Base):
    def test_links(self):
        done = self.evener("bench", "links", "--devices", "emulated:2,clock=virtual,link=8GB/s", "--repeat", "1")
        self.assertIn("device-device", done.stdout)

    def test_exchange(self):
        """More devices cost what their links cost, in the virtual clock; one zone after another costs many times that."""
        done = self.evener("bench", "exchange", "--class", "W")
        rows = [line.rsplit(None, 9) for line in done.stdout.splitlines() if "GB/s" in line]
        self.assertEqual(len(rows), 6)
        for row in rows:
            devices, messages, papers = int(row[1]), int(row[2]), float(row[9])
            self.assertLessEqual(messages, devices * (devices - 1))
            self.assertGreater(papers, 3)
