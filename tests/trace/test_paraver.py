"""Runs with --trace FILE.prv, read by tests/trace/paraver.py: they are whole, and have the tasks, instances, units and ranks of
the run's record. Run: ctest -R trace-paraver. usage: test_paraver.py EVENER"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest
import paraver

EVENER = ""
ENV = {k: v for k, v in os.environ.items() if not k.startswith("EVENER_") or k == "EVENER_CLAIMS"}
TASK, INSTANCE, TASKS = 90000001, 90000002, 90000003


class Paraver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_evener(self, *words):
        return subprocess.run([EVENER, "run", *words], env=ENV, capture_output=True, text=True, timeout=120)

    def traced(self, *words):
        name, record = os.path.join(self.folder, "a.prv"), os.path.join(self.folder, "a.json")
        done = self.run_evener(*words, "--quiet", "--oversubscribe", "--trace", name, "--json", record)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(record) as file:
            return paraver.read(name), json.load(file)

    def check(self, trace, record, steps):
        units = [row for row in trace.levels["THREAD"] if "queue" not in row]
        self.assertEqual(len(units), len(record["units"]))
        # states of a thread follow one another without gaps or overlaps
        at = collections.defaultdict(int)
        computed = collections.Counter()
        for where, begin, end, state in trace.states:
            self.assertEqual(begin, at[where])
            at[where] = end
            computed[where] += (end - begin) * (state == 1)
        self.assertEqual(max(at.values()), trace.end)
        # every task of every instance, once
        seen = collections.Counter()
        computing = {(where, begin) for where, begin, _, state in trace.states if state == 1}
        begins = ends = 0
        for where, time, values in trace.events:
            self.assertEqual(sorted(values), [TASK, INSTANCE, TASKS])
            ends += not any(values.values())
            if all(values.values()):
                begins += 1
                if (where, time) in computing:
                    seen[values[INSTANCE]] += values[TASKS]
        self.assertEqual(begins, ends)
        self.assertEqual(begins + ends, len(trace.events))
        tasks = len(record["owner"])
        self.assertEqual({k: v for k, v in seen.items() if v != tasks}, {})
        self.assertGreaterEqual(len(seen), steps)
        self.assertGreater(sum(computed.values()), 0)

    def test_units(self):
        """One rank: units are threads of one task."""
        trace, record = self.traced("bt-mz", "--steps", "6", "--units", "3:CPU:1", "--schedule", "dynamic:memorize=0")
        self.assertEqual((trace.threads, trace.messages), ([3], []))
        self.assertEqual(trace.levels["THREAD"], [f"unit {u} (CPU 1)" for u in range(3)])
        self.assertEqual(trace.state_names, {0: "Idle", 1: "Computing", 2: "Exchanging", 3: "Moving regions"})
        self.check(trace, record, 6)

    def test_ranks(self):
        """Ranks are tasks; as many communications as the record has messages, with their bytes."""
        trace, record = self.traced("sp-mz", "--steps", "5", "--units", "2:CPU:1", "--processes", "3", "--schedule", "static")
        self.assertEqual((trace.threads, len(trace.cpus)), ([2, 2, 2], 1))
        self.check(trace, record, 5)
        self.assertTrue(trace.messages)
        for (task, thread), (to, other), send, receive, size, kind in trace.messages:
            self.assertTrue(task != to and thread == other == 1 and send <= receive and size > 0 and kind in (0, 1, 2))

    def test_devices(self):
        """A device's unit, and its copies on a thread of their own."""
        trace, record = self.traced("bt-mz", "--steps", "4", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--schedule", "dynamic:memorize=0")
        self.assertEqual([row for row in trace.levels["THREAD"] if "queue" not in row], ["unit 0 (CPU 1)", "unit 1 (GPU 1)"])
        self.check(trace, record, 4)

    def test_refused(self):
        """A folder that is not there is said before the run, and nothing is left behind; a failed run leaves earlier files."""
        done = self.run_evener("bt-mz", "--steps", "1", "--trace", os.path.join(self.folder, "none", "a.prv"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("No such file or directory", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        for end in ("prv", "pcf", "row"):
            with open(os.path.join(self.folder, f"a.{end}"), "w") as file:
                file.write("before")
        done = self.run_evener("bt-mz", "--steps", "4", "--units", "1:GPU:1", "--devices", "emulated:fail=lost@20", "--quiet",
                               "--trace", os.path.join(self.folder, "a.prv"))
        self.assertNotEqual(done.returncode, 0)
        for end in ("prv", "pcf", "row"):
            with open(os.path.join(self.folder, f"a.{end}")) as file:
                self.assertEqual(file.read(), "before")


if __name__ == "__main__":
    EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=0)
