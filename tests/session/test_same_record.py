#!/usr/bin/env python3
"""Records of a session and of `evener run` of the same loop are equal, key by key, as far as both have a key: the loop of the workload toy
(tests/toy) and the same loop as a program (same_loop.c).

Run: ctest -R same-record, or tests/session/test_same_record.py build/tests/evener_toy build/tests/same_loop build/evener build/heat [test ..]"""

import json
import os
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import Case, clean  # pylint: disable=wrong-import-position

TOY = PROGRAM = COMMAND = HEAT = ""

# what is measured, and so never the same twice; what a session does not know; and the words
MEASURED = {"seconds", "imbalance", "task_s", "compute_s", "communication_s", "step_s", "exchange_s", "idle_s", "beside_s", "wake_s", "wake_call_s", "taken",
            "stolen", "bursts"}
UNKNOWN = {"app", "verified", "command"}
BOTH = {"steps", "seconds", "units", "schedule", "imbalance", "periods", "median", "transfers", "owner", "task_s", "weight", "links", "machine"}


class Same(Case):
    def do(self, words, **variables):
        environment = clean(**variables, XDG_CACHE_HOME=os.path.join(self.folder, "cache"))
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
        key = where.rstrip("[]").rsplit(".", 1)[-1]
        if key == "imbalance":  # null: a unit has had no time, as where all of its tasks were stolen
            self.assertTrue(all(x is None or isinstance(x, (int, float)) for x in (a, b)), where)
        elif key in MEASURED:
            self.assertEqual(isinstance(a, (int, float)), isinstance(b, (int, float)), where)
        else:
            self.assertEqual(a, b, where)
        return 0

    def both(self, units, schedule, steps, processes=1):
        """Records of the run and of the program."""
        processes_word = ["--processes", str(processes)] if processes > 1 else []
        run = self.do([TOY, "run", "toy", "--units", units, "--schedule", schedule, "--steps", str(steps), "--oversubscribe", "--quiet",
                       "--json", "RECORD"] + processes_word, EVENER_BIND="none")
        program = self.do([PROGRAM, str(steps)], EVENER_UNITS=units, EVENER_SCHEDULE=schedule, EVENER_OVERSUBSCRIBE="1", EVENER_BIND="none",
                          EVENER_PROCESSES=str(processes), EVENER_RECORD="RECORD")
        return run, program

    def test_equal(self):
        for units in ("1:CPU:1", "3:CPU:1", "1:CPU:2,1:CPU:1"):
            for schedule in ("static", "binpack", "auto"):
                with self.subTest(units=units, schedule=schedule):
                    run, program = self.both(units, schedule, 10)
                    self.assertEqual({key: sum(loop["transfers"][key] for loop in program["loops"]) for key in program["transfers"]}, program["transfers"])
                    if schedule == "auto":
                        continue  # it goes by times, which differ
                    self.assertGreater(self.compare(run, program), 50)
                    for parts in (("machine",), ("units", 0), ("transfers",), ("periods",), ("median",)):  # one writer: the same keys
                        of_run, of_program = run, program
                        for part in parts:
                            of_run, of_program = of_run[part], of_program[part]
                        self.assertEqual(list(of_run), list(of_program), parts)
                    self.assertLessEqual(set(program) - {"loops", "devices"}, set(run))
                    self.assertLessEqual(BOTH, set(run) & set(program))

    def test_first_instance(self):
        """Before any time is known schedules that learn have the same owners and options, too, alone and over ranks, whose units have
        different memories."""
        for units, processes in (("1:CPU:2,2:CPU:1", 1), ("1:CPU:2,1:CPU:1", 2), ("1:CPU:1", 3)):
            for schedule in ("static", "weighted:size", "binpack", "guided:size", "guided:time", "interval", "map", "auto"):
                with self.subTest(units=units, processes=processes, schedule=schedule):
                    run, program = self.both(units, schedule, 1, processes)
                    self.assertGreater(self.compare(run, program), 50)
                    self.assertLessEqual(BOTH | ({"wire", "ranks"} if processes > 1 else {"bursts"}), set(run) & set(program))
                    self.assertEqual(len(program["units"]), processes * (1 + units.count(",") + units.startswith("1:CPU:2,2")))
                    self.assertEqual(len(set(program["owner"])), len(program["units"]))

    def test_environment(self):
        """`evener run` has options, and no variable of programs changes it, whatever it says; nor has it record or trace of theirs."""
        words = [TOY, "run", "toy", "--schedule", "static", "--steps", "2", "--units", "2:CPU:1", "--oversubscribe", "--quiet", "--json", "RECORD"]
        plain = self.do(words, EVENER_BIND="none")
        for name in ("UNITS", "DEVICES", "SCHEDULE", "OVERSUBSCRIBE", "RECORD", "TRACE", "PROCESSES"):
            with self.subTest(name=name):
                run = self.do(words, EVENER_BIND="none", **{"EVENER_" + name: "/nowhere/nonsense"})
                self.assertGreater(self.compare(plain, run), 50)
        run = self.do(words, EVENER_BIND="none", EVENER_UNITS="1:CPU:1", EVENER_SCHEDULE="map", EVENER_PROCESSES="2",
                      EVENER_TRACE=os.path.join(self.folder, "t.json"))
        self.assertGreater(self.compare(plain, run), 50)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "t.json")))

    def test_devices(self):
        """Units of devices are the same, and entries of devices have the same keys; over ranks those of units and transfers, too."""
        mine = {"tasks", "weight", "bytes_in", "bytes_out"} | MEASURED  # of the two problems
        for units, devices in (("1:CPU:1,1:GPU:1", "emulated:1"), ("1:GPU:2,1:CPU:1", "emulated:2")):
            run = self.do([COMMAND, "run", "bt-mz", "--steps", "2", "--units", units, "--devices", devices, "--oversubscribe",
                           "--quiet", "--json", "RECORD"], EVENER_BIND="none")
            program = self.do([HEAT], EVENER_UNITS=units, EVENER_DEVICES=devices, EVENER_OVERSUBSCRIBE="1", EVENER_BIND="none",
                              EVENER_RECORD="RECORD")
            self.assertEqual([list(d) for d in run["devices"]], [list(d) for d in program["devices"]])
            self.assertEqual([d["id"] for d in run["devices"]], [d["id"] for d in program["devices"]])
            self.assertEqual([list(u) for u in run["units"]], [list(u) for u in program["units"]])
            self.assertEqual([{k: v for k, v in u.items() if k not in mine} for u in run["units"]],
                             [{k: v for k, v in u.items() if k not in mine} for u in program["units"]])
        run = self.do([COMMAND, "run", "bt-mz", "--steps", "2", "--units", "1:CPU:1", "--processes", "2", "--oversubscribe", "--quiet",
                       "--json", "RECORD"])
        program = self.do([HEAT], EVENER_UNITS="1:CPU:1", EVENER_PROCESSES="2", EVENER_OVERSUBSCRIBE="1", EVENER_RECORD="RECORD")
        self.assertEqual(list(run["transfers"]), list(program["transfers"]))
        self.assertEqual([list(u) for u in run["units"]], [list(u) for u in program["units"]])
        self.assertLessEqual({"host", "units"}, set(run["ranks"][0]) & set(program["ranks"][0]))
        # medians are of the rank that has the tasks
        with open(os.path.join(self.folder, "plan"), "w", encoding="ascii") as plan:
            plan.write("1\n" * len(program["owner"]))
        program = self.do([HEAT], EVENER_UNITS="1:CPU:1", EVENER_PROCESSES="2", EVENER_OVERSUBSCRIBE="1", EVENER_SCHEDULE="static",
                          EVENER_PLAN=plan.name, EVENER_RECORD="RECORD")
        self.assertGreater(program["median"]["task_s"] * len(program["owner"]), 0.1 * sum(program["task_s"]))
        self.assertGreater(program["median"]["compute_s"], 0.1 * sum(program["task_s"]))


if __name__ == "__main__":
    TOY, PROGRAM, COMMAND, HEAT = (os.path.abspath(p) for p in sys.argv[1:5])
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
