#!/usr/bin/env python3
"""A workload that is one folder (tests/toy) and one line (evener_workload(toy) in tests/CMakeLists.txt) has all that the others
have: run, plan, calibrate, record, report, bench, help.

Run: ctest -R toy, or tests/command/test_toy.py build/tests/evener_toy [test ..]
"""

from base import Base


class Toy(Base):
    def test_run(self):
        """The same bits everywhere, and the record's keys."""
        seen = set()
        for units in ("1:CPU:1", "3:CPU:1"):
            for schedule in ("static", "dynamic", "guided:time", "weighted"):
                r = self.record("run", "toy", "--units", units, "--schedule", schedule, "--oversubscribe")
                seen.add(r["hash"])
                self.assertIs(r["verified"], True)
                self.assertEqual((r["app"], r["class"], r["steps"], r["noun"]), ("toy", None, 10, "heap"))
                self.assertEqual(len(r["owner"]), 20)
                self.assertEqual(sum(u["tasks"] for u in r["units"]), 20)
                self.assertEqual(sum(u["weight"] for u in r["units"]), 1000 * sum(1 + t % 7 for t in range(20)))
                self.assertLessEqual({"evener", "seconds", "mops", "schedule", "imbalance", "periods", "transfers", "machine", "build", "command"}, set(r))
        self.assertEqual(len(seen), 1)
        self.assertNotEqual(self.record("run", "toy", "--steps", "3")["hash"], seen.pop())

    def test_page(self):
        out = self.evener("run", "toy", "--units", "2:CPU:1", "--oversubscribe").stdout
        self.assertIn("heaps", out)
        self.assertIn("additions", out)
        self.assertIn("imbalance", out)
        self.assertEqual(self.evener("run", "toy", "--quiet", "--trace", "t.json").stdout, "")
        self.assertIn("heap", self.read("t.json"))

    def test_plan(self):
        found = self.record("plan", "toy", "--tasks", "30", "--units", "2:CPU:1,1:GPU:1", "--schedule", "binpack")
        self.assertEqual(len(found["iterations"]), 4)
        self.assertEqual(len(found["iterations"][0]["owner"]), 30)
        out = self.evener("plan", "toy", "--units", "2:CPU:1").stdout
        self.assertIn("toy: 20 tasks of 1000: 20 heaps on 2:CPU:1 under guided:time", out)

    def test_times(self):
        """A plan from a run's times, of the same problem only."""
        self.evener("run", "toy", "--units", "1:CPU:1", "--quiet", "--json", "r.json")
        found = self.record("plan", "toy", "--units", "1:CPU:1", "--times", "r.json")
        self.assertEqual(found["basis"], "times as measured")
        done = self.evener("plan", "toy", "--tasks", "7", "--times", "r.json", status=2)
        self.assertIn("toy: 20 tasks of 1000, and this is a plan for toy: 7 tasks of 1000", done.stderr)

    def test_calibrate(self):
        self.own_cache()
        done = self.evener("calibrate", "toy", "--units", "1:CPU:1", "--steps", "2", "--tasks", "9")
        self.assertIn("9 tasks of 1000", done.stdout)
        found = self.record("plan", "toy", "--units", "1:CPU:1", "--schedule", "weighted")
        self.assertEqual(found["basis"], "speeds as calibrated")

    def test_report(self):
        self.evener("run", "toy", "--units", "2:CPU:1", "--oversubscribe", "--quiet", "--json", "r.json")
        self.evener("report", "r.json", "--output", "r.html")
        page = self.read("r.html")
        self.assertIn('"app":"toy"', page)
        self.assertIn("heap", page)

    def test_help(self):
        self.assertIn("td-bem adaptive toy", self.evener("--help").stdout)
        for command in ("run", "plan", "calibrate"):
            self.assertIn("additions in uneven tasks", self.evener(command, "--help").stdout)
            out = self.evener(command, "toy", "--help").stdout
            self.assertIn("Each task adds up", out)
            self.assertIn("--tasks N", out)
        self.assertIn("nothing, for a test", self.evener("bench", "--help").stdout)
        self.assertIn("nothing to be measured", self.evener("bench", "toys").stdout)

    def test_refused(self):
        for words, says in ((["run", "tow"], "bt-mz, sp-mz, lu-mz, ft, mg, td-bem, adaptive or toy"),
                            (["run", "toy", "--task", "3"], "did you mean --tasks?"),
                            (["run", "toy", "--class", "S"], "no option --class"),
                            (["run", "toy", "--tasks", "0"], "from 1 to 100000"),
                            (["run", "toy", "--units", "1:GPU:1", "--devices", "emulated"], "CPU units only"),
                            (["run", "toy", "--on-device-loss", "continue"], "expected stop")):
            self.refuses(words, says)
