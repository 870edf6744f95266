"""Runs with --trace FILE.prv, read by tests/trace/paraver.py: they are whole, and have the tasks, instances, units and ranks of
the run's record. Programs with EVENER_TRACE=FILE.prv, likewise, with several loops on one axis of time; configurations for the viewer.
Run: ctest -R trace-paraver. usage: test_paraver.py EVENER PROGRAM SHARE"""
import collections
import itertools
import json
import os
import re
import subprocess
import sys
import unittest
import paraver

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import Case, clean  # pylint: disable=wrong-import-position

EVENER = PROGRAM = SHARE = ""
ENV = clean()
TASK, INSTANCE, TASKS, LOOP = 90000001, 90000002, 90000003, 90000004


class Paraver(Case):
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


    def program(self, steps, name="a.prv", code=0, **variables):
        env = {**ENV, "EVENER_UNITS": "2:CPU:1", "EVENER_OVERSUBSCRIBE": "1", "EVENER_TRACE": os.path.join(self.folder, name), **variables}
        done = subprocess.run([PROGRAM, str(steps)], env=env, capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual((done.returncode, bool(done.stderr)), (code, bool(code)), done.stderr)
        return paraver.read(os.path.join(self.folder, name)) if not code else done.stderr

    def test_program(self):
        """A session's loops: every task of every instance of each, in the order of time, also of loops that alternate."""
        steps = 7
        trace = self.program(steps)
        self.assertEqual((trace.threads, trace.messages, trace.levels["THREAD"]), ([2], [], ["unit 0 (CPU 1)", "unit 1 (CPU 1)"]))
        self.check_loops(trace, steps)

    def test_program_ranks(self):
        """The same over ranks: one file, a task a rank; a smaller number of units where a rank has a list of its own."""
        steps = 5
        trace = self.program(steps, EVENER_PROCESSES="3")
        self.assertEqual((trace.threads, trace.levels["TASK"]), ([2, 2, 2], ["rank 0", "rank 1", "rank 2"]))
        self.assertEqual(trace.levels["THREAD"], [f"unit {u} (CPU 1)" for u in range(6)])
        self.check_loops(trace, steps)
        self.assertEqual({where[0] for where, _, values in trace.events if values[LOOP]}, {1, 2, 3})
        self.assertEqual(self.program(0, EVENER_PROCESSES="2").threads, [2, 2])

    def check_loops(self, trace, steps):
        self.assertEqual(trace.values[LOOP], {0: "End", 1: "loop 0: static", 2: "loop 1: static", 3: "loop 2: dynamic:chunk=1,memorize=0"})
        at, seen, open_ = collections.defaultdict(int), collections.Counter(), {}
        for where, begin, end, _ in trace.states:
            self.assertEqual(begin, at[where])
            at[where] = end
        self.assertEqual(max(at.values()), trace.end)
        for where, _, values in trace.events:
            self.assertEqual(sorted(values), [TASK, INSTANCE, TASKS, LOOP])
            self.assertEqual(all(values.values()), any(values.values()))
            self.assertNotEqual(bool(open_.get(where)), all(values.values()))
            open_[where] = values[LOOP]
            seen[values[LOOP], values[INSTANCE]] += values[TASKS]
        del seen[0, 0]
        count = {1: 5, 2: 40, 3: 3}
        expected = {(loop, i + 1): tasks for loop, tasks in count.items() for i in range(steps * (2 if loop == 3 else 1))}
        self.assertEqual(dict(seen), expected)
        # the loop that was closed first is over before the others begin; these alternate
        loops = [values[LOOP] for _, _, values in trace.events if values[LOOP]]
        self.assertEqual([loop for loop, _ in itertools.groupby(loops)], [1] + [2, 3] * steps)

    def test_program_idle(self):
        """A program that runs nothing has units, and no bursts; another trace in Chrome's format is as before."""
        trace = self.program(0)
        self.assertEqual((trace.threads, trace.states, trace.events, trace.end), ([2], [], [], 0))

    def test_program_refused(self):
        """Wrong names are said at evn_open(), and earlier files stay."""
        for end in ("prv", "pcf", "row"):
            with open(os.path.join(self.folder, f"a.{end}"), "w") as file:
                file.write("before")
        self.assertIn("EVENER_TRACE: ", self.program(1, "none/a.prv", 1))
        self.assertIn("EVENER_TRACE: ", self.program(1, "none/a.prv", 1, EVENER_PROCESSES="2"))
        for end in ("prv", "pcf", "row"):
            record = os.path.join(self.folder, f"a.{end}")
            self.assertIn(f"a.{end} is EVENER_RECORD's", self.program(1, code=1, EVENER_RECORD=record))
            with open(record) as file:
                self.assertEqual(file.read(), "before")

    def test_configurations(self):
        """Each configuration has the windows that it announces; they show events that traces have, by the names that they have there."""
        trace = self.program(2)
        names = sorted(os.listdir(SHARE))
        self.assertEqual(names, ["tasks.cfg", "units.cfg"])
        for name in names:
            with open(os.path.join(SHARE, name)) as file:
                head, *windows = file.read().split("< NEW DISPLAYING WINDOW ")
            self.assertEqual(head.split("\n")[0], "#ParaverCFG")
            self.assertEqual(int(re.search(r"(?m)^ConfigFile.NumWindows: (\d+)$", head)[1]), len(windows))
            for number, window in enumerate(windows):
                said = dict(re.findall(r"(?m)^window_(\w+) (.*)$", window))
                self.assertEqual((window.split(" >")[0], int(said["id"])), (said["name"], number + 1))
                types = re.search(r"(?m)^window_filter_module evt_type \d+ (.*)$", window)
                labels = re.search(r"(?m)^window_filter_module evt_type_label \d+ (.*)$", window)
                shown = [int(n) for n in types[1].split()] if types else []
                self.assertEqual([trace.event_names[n] for n in shown], re.findall(r'"([^"]*)"', labels[1]) if labels else [])
                self.assertIn("{thread, %s}" % ("Last Evt Val" if shown else "State As Is"), said["selected_functions"])


if __name__ == "__main__":
    EVENER, PROGRAM, SHARE = map(os.path.abspath, (sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)))
    unittest.main(verbosity=0)
