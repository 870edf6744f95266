#!/usr/bin/env python3
"""What NPB-MZ sends under MPI, seen from outside the library: a plug-in that stands between it and MPI's counts messages and bytes, which
must be those that the cut of the mesh gives; no receive is left posted when a step ends, and MPI has no more requests than the last
messages of each way. A message that it alters changes the hash or is refused.

Run: ctest -R command-ranks-wire, or tests/command/test_ranks_wire.py build/evener build/tests/libwatched.so [test ..]
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

import test_hybrid as mesh
import test_ranks as ranks
from base import clean, launcher, plugin

WATCHED = os.path.abspath(sys.argv.pop(1) if len(sys.argv) > 1 else "build/tests/libwatched.so")
STEPS = 5


class Base(unittest.TestCase):
    def run_watched(self, kind, count, *words, steps=STEPS, change=None):
        """Status, record or message, and what each rank's plug-in has counted."""
        with tempfile.TemporaryDirectory() as folder:
            says = os.path.join(folder, "says")
            env = {"EVENER_WIRE": WATCHED, "WATCHED": plugin(kind), "WATCHED_SAYS": says}
            if change:
                env["WATCHED_CHANGE"] = change
            line = [*launcher(kind), "-n", str(count), *ranks.command(*words), "--steps", str(steps), "--perturb",
                    "--oversubscribe", "--json", "-"]
            done = subprocess.run(["timeout", "-k", "5", "60", *line], env=clean() | env, capture_output=True, text=True)
            with open(says, encoding="ascii") as f:
                said = [[int(number) for number in line.split()] for line in f]
        self.assertEqual(sorted(line[0] for line in said), list(range(count)), done.stderr)
        record = json.loads(done.stdout) if done.returncode == 0 else None
        return done.returncode, record or done.stderr, [sum(column) for column in list(zip(*said))[1:]]


class Counts(Base):
    def check(self, kind, count):
        units = itertools.cycle(("1:CPU:1", "2:CPU:1"))
        control = []
        for app, name in (("bt-mz", "S"), ("sp-mz", "W"), ("bt-mz", "W"), ("lu-mz", "S")):
            words = [app, "--class", name, "--units", next(units), "--schedule", "static"]
            status, record, counts = self.run_watched(kind, count, *words)
            self.assertEqual(status, 0, record)
            of_rank = [record["units"][unit]["rank"] for unit in record["owner"]]
            amount, pairs = mesh.crossing(app, name, of_rank)
            controls, moves, faces, values, late, excess, most, _ = counts
            control.append(controls)
            # one exchange more: the warm-up's
            self.assertEqual((faces, values), ((STEPS + 1) * pairs, (STEPS + 1) * amount), words)
            # nothing moves; at the end each other rank's bursts are carried to rank 0, for the record
            self.assertEqual((moves, late, excess), (count - 1, 0, 0), words)
            self.assertGreater(most, 0)
        # two more records a rank and step, whatever else they tell each other
        again = self.run_watched(kind, count, *words, steps=STEPS + 3)[2]
        self.assertEqual(again[0] - control[-1], 3 * 2 * (count - 1), words)

    def test_openmpi(self):
        self.check("openmpi", 3)

    def test_mpich(self):
        self.check("mpich", 2)


class Altered(Base):
    def check(self, kind):
        bits = {}
        for app, change in zip(itertools.cycle(ranks.APPS), ("value", "face", "old", "before", "plan", "run", "bytes", "short")):
            words = [app, "--units", "1:CPU:1", "--schedule", "static"]
            if app not in bits:
                bits[app] = self.run_watched(kind, 2, *words)[1]["hash"]
            status, said, counts = self.run_watched(kind, 2, *words, change=f"{change},3,640")
            self.assertEqual(counts[-1], 1, said)
            if status:
                self.assertEqual(status, 3, said)
                self.assertRegex(said, r"evener: .*rank 0 sent \d+ bytes of faces of run \d+ under plan \d+, expected ", change)
            else:
                self.assertNotEqual(said["hash"], bits[app], change)
            self.assertEqual(status == 0, change in ("value", "face", "old"), change)

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


if __name__ == "__main__":
    unittest.main()
