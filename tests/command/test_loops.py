#!/usr/bin/env python3
"""NPB-MZ with a loop for each phase (--loop phase): the bits of one loop a step, whatever the units, schedules and ranks, from states that
tell zones apart; official runs are verified; periods and launches; what is refused.

Run: ctest -R command-loops, or tests/command/test_loops.py build/evener [test ..]
"""

from base import MACHINES
from test_hash import Compared

CORES = ("1:CPU:1", "2:CPU:1", "1:CPU:3", "1:CPU:2,2:CPU:1 --schedule dynamic", "3:CPU:1 --schedule guided:time",
         "1:CPU:2,1:CPU:1 --processes 2 --schedule interval", "2:CPU:1 --processes 2 --schedule dynamic:memorize=0")
DEVICES = ("1:GPU:1 --devices emulated", "2:GPU:1 --devices emulated:2 --schedule dynamic:memorize=0",
           "2:GPU:1 --devices emulated:2 --schedule guided:time", "1:GPU:2 --devices emulated:2 --schedule static")
APPS = "bt-mz", "sp-mz", "lu-mz"


class Loops(Compared):
    def run_(self, words):
        return self.record(*f"run {words} --oversubscribe".split())

    def test_bits(self):
        self.compare([(f"{app} --class W --perturb --steps 4", [f"--loop phase --units {units}" for units in CORES + DEVICES]) for app in APPS])
        self.compare([(f"{app} --class S", ["--loop phase --units 2:CPU:1", "--loop phase --units 1:CPU:1,1:GPU:1"]) for app in APPS])

    def test_periods(self):
        """Phases count as computation, none as communication, of all and of each unit."""
        for units in ("1:CPU:1", "1:CPU:1 --processes 2"):
            got = self.run_(f"bt-mz --class W --steps 20 --loop phase --units {units}")
            phases, periods = sum(got["phases"].values()), got["periods"]
            self.assertEqual((got["loop"], sorted(got["phases"])), ("phase", ["rhs", "xsolve", "ysolve", "zsolve"]))
            for unit in got["units"]:
                self.assertGreaterEqual(unit["exchange_s"], 0)
            self.assertGreater(sum(u["compute_s"] for u in got["units"]), 0.95 * phases)
            self.assertGreater(periods["compute_s"], 0.95 * phases / len(got["units"]))

    def test_launches(self):
        """As many as one loop a step has, where all zones of a device are one batch."""
        run = "sp-mz --class W --steps 5 --units 1:GPU:1 --devices emulated"
        launches = [self.run_(f"{run} --loop {how}")["devices"][0]["launches"] for how in ("step", "phase")]
        self.assertEqual(*launches)

    def test_refused(self):
        for words, status, said in (
            ("bt-mz --class S --loop two", 2, '--loop: "two" is none, expected step or phase'),
            ("bt-mz --class S --loop phase --units 1:CPU:1,1:GPU:1 --processes 2 --devices emulated --oversubscribe", 2,
             "--loop phase over ranks is for CPU units"),
            ("bt-mz --class W --steps 1 --loop phase --units 1:GPU:1 --devices emulated:memory=5MB --oversubscribe", 3,
             "a loop for each phase needs 3.2 MB of work space for all zones"),
        ):
            self.refuses(f"run {words} --quiet".split(), said, status=status)

    def test_plan(self):
        """A loop for each phase in virtual time: as long where zones stay; where units forget, zones move in each loop with all their arrays."""
        def last(words):
            plan = self.record(*f"plan bt-mz --class W --units 4:GPU:1 --iterations 3 {words}".split(), "--machine", f"{MACHINES}/power9-4v100.json")
            return plan["iterations"][-1], min(plan["weight"]), max(plan["weight"])
        for schedule in "static", "binpack":
            (one, *_), (five, *_) = (last(f"--schedule {schedule} --loop {how}") for how in ("step", "phase"))
            self.assertAlmostEqual(one["step_s"], five["step_s"], delta=1e-12)
            self.assertEqual((five["migrations"], five["owner"]), (0, one["owner"]))
        forgets = "--schedule dynamic:chunk=1,memorize=0 --noise 50"
        (one, least, most), (five, *_) = (last(f"{forgets} --loop {how}") for how in ("step", "phase"))
        self.assertGreater(five["migrations"], 16)  # more than there are zones
        for step, doubles in ((one, 10), (five, 24)):  # a zone's weight is its points; 10 with what pads them
            self.assertGreater(step["migrated_bytes"], 8 * doubles * step["migrations"] * least)
            self.assertLess(step["migrated_bytes"], 2 * 8 * doubles * step["migrations"] * most)
        self.assertGreater(five["migration_s"], 9 * 16.9e-6 * five["migrations"] / 4)  # nine arrays, a message each
