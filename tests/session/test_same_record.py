#!/usr/bin/env python3
"""Records of a session and of `evener run` of the same loop are equal, key by key, as far as both have a key: the loop of the workload toy
(tests/toy) and the same loop as a program (same_loop.c).

Run: ctest -R same-record, or tests/session/test_same_record.py build/tests/evener_toy build/tests/same_loop build/evener build/heat [test ..]"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TOY = PROGRAM = COMMAND = HEAT = ""

# what is measured, and so never the same twice; what a session does not know; and the words
MEASURED = {"seconds", "imbalance", "task_s", "compute_s", "communication_s", "exchange_s", "idle_s", "bursts"}
UNKNOWN = {"app", "verified", "command"}


class Same(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def do(self, words, **variables):
        environment = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith("EVENER_")}
        environment.update(variables, XDG_CACHE_HOME=os.path.join(self.folder, "cache"))
        path = os.path.join(self.folder, "r.json")
        done = subprocess.run([w.replace("RECORD", path) for w in words], env={k: v.replace("RECORD", path) for k, v in environment.items()},
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def compare(self, a, b, where=""):
        """Common keys have equal values, measured ones values of one type; how many there were."""
        if isinstance(a, dict) and isinstance(b, dict):
            return sum(1 + self.compare(a[k], b[k], f"{where}.{k}") for k in a.keys() & b.keys() if k not in UNKNOWN)
        if isinstance(a, list) and isinstance(b, list) and where != ".bursts":
            self.assertEqual(len(a), len(b), where)
            return sum(self.compare(x, y, f"{where}[]") for x, y in zip(a, b))
        if where.rstrip("[]").rsplit(".", 1)[-1] in MEASURED:
            self.assertEqual(isinstance(a, (int, float)), isinstance(b, (int, float)), where)
        else:
            self.assertEqual(a, b, where)
        return 0

    def test_equal(self):
        for units in ("1:CPU:1", "3:CPU:1", "1:CPU:2,1:CPU:1"):
            for schedule in ("static", "binpack"):
                with self.subTest(units=units, schedule=schedule):
                    run = self.do([TOY, "run", "toy", "--units", units, "--schedule", schedule, "--oversubscribe", "--quiet",
                                   "--json", "RECORD"])
                    program = self.do([PROGRAM], EVENER_UNITS=units, EVENER_SCHEDULE=schedule, EVENER_OVERSUBSCRIBE="1",
                                      EVENER_RECORD="RECORD")
                    self.assertGreater(self.compare(run, program), 50)
                    for parts in (("machine",), ("units", 0), ("transfers",), ("periods",)):  # one writer: the same keys
                        of_run, of_program = run, program
                        for part in parts:
                            of_run, of_program = of_run[part], of_program[part]
                        self.assertEqual(list(of_run), list(of_program), parts)
                    self.assertLessEqual(set(program) - {"loops", "devices"}, set(run))

    def test_devices(self):
        """Entries of devices have the same keys, over ranks those of units and transfers, too."""
        run = self.do([COMMAND, "run", "bt-mz", "--steps", "2", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated:1", "--oversubscribe",
                       "--quiet", "--json", "RECORD"])
        program = self.do([HEAT], EVENER_UNITS="1:CPU:1,1:GPU:1", EVENER_DEVICES="emulated:1", EVENER_OVERSUBSCRIBE="1", EVENER_RECORD="RECORD")
        self.assertEqual(list(run["devices"][0]), list(program["devices"][0]))
        self.assertEqual([list(u) for u in run["units"]], [list(u) for u in program["units"]])
        run = self.do([COMMAND, "run", "bt-mz", "--steps", "2", "--units", "1:CPU:1", "--processes", "2", "--oversubscribe", "--quiet",
                       "--json", "RECORD"])
        program = self.do([HEAT], EVENER_UNITS="1:CPU:1", EVENER_PROCESSES="2", EVENER_OVERSUBSCRIBE="1", EVENER_RECORD="RECORD")
        self.assertEqual(list(run["transfers"]), list(program["transfers"]))
        self.assertEqual([list(u) for u in run["units"]], [list(u) for u in program["units"]])
        self.assertLessEqual({"host", "units"}, set(run["ranks"][0]) & set(program["ranks"][0]))


if __name__ == "__main__":
    TOY, PROGRAM, COMMAND, HEAT = (os.path.abspath(p) for p in sys.argv[1:5])
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
