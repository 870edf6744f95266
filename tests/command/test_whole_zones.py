#!/usr/bin/env python3
"""NPB-MZ with the exchange of the multi-GPU paper (--exchange zones): the bits of the parallel exchange, whatever the units and schedules,
from states that tell zones apart; official runs are verified; as many copies of whole zones as owners ask for, and as a plan foretells.

Run: ctest -R command-whole-zones, or tests/command/test_whole_zones.py build/evener [test ..]
"""

from base import MACHINES
from test_hash import Compared

LISTS = ("1:CPU:1", "1:CPU:3", "1:CPU:2,2:CPU:1 --schedule dynamic", "1:GPU:1 --devices emulated",
         "2:GPU:1 --devices emulated:2 --schedule dynamic:memorize=0", "4:GPU:1 --devices emulated:4 --schedule static",
         "1:GPU:2 --devices emulated:2,peer=no --schedule guided:time", "1:CPU:1,2:GPU:1 --devices emulated:2 --schedule guided:size")
APPS = "bt-mz", "sp-mz", "lu-mz"


def cut(record):
    """Links between units: each zone with its eastern and northern neighbour, each two zones once."""
    nx, ny = (len(record["zones"][axis]) for axis in "xy")
    links = set()
    for z in range(nx * ny):
        east, north = z - z % nx + (z + 1) % nx, (z + nx) % (nx * ny)
        links |= {frozenset((z, east)), frozenset((z, north))}
    return sum(len({record["owner"][z] for z in link}) == 2 for link in links)


class WholeZones(Compared):
    def run_(self, words):
        return self.record(*f"run {words} --oversubscribe".split())

    def test_bits(self):
        self.compare([(f"{app} --class W --perturb --steps 4", [f"--exchange zones --loop {loop} --units {units}" for units in LISTS for loop in ("step", "phase")])
                      for app in APPS])
        self.compare([(f"{app} --class S", [f"--exchange zones --units {units}" for units in ("2:CPU:1", "1:CPU:1,1:GPU:1", "2:GPU:1")]) for app in APPS])

    def test_copies(self):
        """There and back for each link between two units, and all of a zone: solution, forcing, of LU the residual."""
        for app, steps, schedule in (("bt-mz", 3, "static"), ("sp-mz", 5, "guided:size"), ("lu-mz", 2, "static")):
            with self.subTest(app=app):
                got = self.run_(f"{app} --class W --steps {steps} --units 4:GPU:1 --devices emulated:4 --schedule {schedule} --exchange zones")
                self.assertGreater(cut(got), 0)
                self.assertEqual(got["exchange"], "zones")
                self.assertEqual(got["zone_copies"], steps * 2 * cut(got))
                plan = self.record(*f"plan {app} --class W --units 4:GPU:1 --schedule {schedule} --exchange zones --iterations 2".split(),
                                   "--machine", f"{MACHINES}/power9-4v100.json")
                self.assertEqual(plan["iterations"][-1]["owner"], got["owner"])
                self.assertEqual(plan["iterations"][-1]["messages"], 2 * cut(got))
                points = sum(got["weight"]) / len(got["weight"]) if app != "bt-mz" else None
                if points:  # all zones alike, with their padding
                    each = got["zone_copied_bytes"] / got["zone_copies"]
                    self.assertGreaterEqual(each, (15 if app == "lu-mz" else 10) * 8 * points)
                    self.assertEqual(each, int(each))
        one = self.run_("bt-mz --class W --steps 3 --units 2:CPU:1 --exchange zones")
        self.assertEqual((one["zone_copies"], one["zone_copied_bytes"]), (0, 0))
        self.assertNotIn("zone_copies", self.run_("bt-mz --class S --steps 1 --units 1:CPU:1"))

    def test_one_after_another(self):
        """A plan's exchange is the copies': longer than that of faces all at once."""
        plan = "plan bt-mz --class W --units 4:GPU:1 --schedule static --iterations 2".split()
        zones, faces = (self.record(*plan, "--exchange", how, "--machine", f"{MACHINES}/power9-4v100.json")["iterations"][-1]["communication_s"]
                        for how in ("zones", "parallel"))
        self.assertGreater(zones, faces)

    def test_refused(self):
        for words, said in (("--exchange faces", '--exchange: "faces" is none, expected parallel or zones'),
                            ("--exchange zones --processes 2 --units 1:CPU:1 --oversubscribe", "--exchange zones copies zones within one process")):
            self.refuses(f"run bt-mz --class S {words} --quiet".split(), said)

    def test_lost(self):
        """A device that fails ends the run, or is done without."""
        run = "run bt-mz --class S --units 2:GPU:1 --devices emulated+emulated:fail=lost@300 --oversubscribe --exchange zones".split()
        self.refuses([*run, "--quiet"], "on purpose", status=3)
        got = self.record(*run, "--on-device-loss", "continue", said=None)
        self.assertIs(got["verified"], True)
        self.assertEqual(len(got["units"]), 1)
