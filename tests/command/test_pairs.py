#!/usr/bin/env python3
"""Class W: each application on each of four kinds of lists, each list under each of three kinds of schedules: verified, and one hash on cores.

Run: ctest -R pairs, or tests/command/test_pairs.py build/evener. All three at a time, every schedule, list and team: bits-* and hybrid-*.
"""
import json
import os
import subprocess
import sys
import unittest

EVENER = "build/evener"
APPS = ["bt-mz", "sp-mz", "lu-mz"]
SCHEDULES = ["static", "dynamic:chunk=2,memorize=0", "guided:time"]  # fixed, drawn, learnt
UNITS = ["1:CPU:3", "2:CPU:1,1:CPU:2", "1:CPU:1,1:GPU:1", "2:GPU:1"]  # a team, unequal units, both kinds, devices alone


class Pairs(unittest.TestCase):
    def test_class_w(self):
        for a, app in enumerate(APPS):
            hashes = {}
            for u, units in enumerate(UNITS):
                # of three applications each takes another schedule on the same list, so that any two of the three meet
                schedule = SCHEDULES[(a + u) % len(SCHEDULES)]
                words = ["run", app, "--class", "W", "--units", units, "--schedule", schedule, "--devices", "emulated",
                         "--oversubscribe", "--quiet", "--json", "-"]
                with self.subTest(app=app, units=units, schedule=schedule):
                    done = subprocess.run([EVENER, *words], capture_output=True, text=True, timeout=900)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    record = json.loads(done.stdout)
                    self.assertIs(record["verified"], True)
                    if "GPU" not in units:
                        hashes.setdefault(record["hash"], " ".join(words))
            self.assertEqual(len(hashes), 1, hashes)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
