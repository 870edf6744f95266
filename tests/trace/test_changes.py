"""Traces of loops whose tasks come and go, in Chrome's format, Paraver's and OTF2, of runs (--trace) and of a program of two loops
(EVENER_TRACE), alone and over ranks: an event for each change, with the numbers of the record; a counter of tasks; bursts whose tasks
are those of their generation, each once in each instance; arrows within one generation.
Run: ctest -R trace-changes. usage: test_changes.py EVENER PROGRAM"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import paraver

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import Case, clean  # pylint: disable=wrong-import-position

EVENER = PROGRAM = ""
ENV = clean(LC_ALL="C", EVENER_OVERSUBSCRIBE="1")
ADAPTIVE = ("run", "adaptive", "--size", "32", "--levels", "3", "--steps", "120", "--every", "2", "--oversubscribe", "--quiet")
KEYS = ("instance", "tasks", "kept", "born", "gone", "moved", "moved_bytes", "faces_added", "faces_gone", "seconds", "imbalance")
# of the program: tasks at first, and each change: runs before it, tasks, kept, born, gone
MESH = (6, [(3, 16, 6, 10, 0), (5, 9, 9, 0, 7), (5, 4, 2, 2, 7), (9, 5, 4, 1, 0)])
FIRST, INSTANCE, TASKS, LOOP, NOW = 90000001, 90000002, 90000003, 90000004, 90000005


def tasks_of(changes):
    """Tasks of each generation."""
    return [changes[0]["kept"] + changes[0]["gone"]] + [c["tasks"] for c in changes]


class Changes(Case):
    def done(self, words, **env):
        done = subprocess.run(words, env=ENV | env, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def adaptive(self, end, *words):
        """Trace and changes of a run of the command."""
        trace, record = (os.path.join(self.folder, f"a.{e}") for e in (end, "record"))
        self.done([EVENER, *ADAPTIVE, *words, "--trace", trace, "--json", record])
        with open(record, encoding="utf-8") as file:
            changes = json.load(file)["changes"]
        self.assertGreater(len(changes), 2)
        return trace, changes

    def program(self, end, **env):
        """Trace of the program, and the changes of its loop, which are as they should be."""
        trace, record = (os.path.join(self.folder, f"p.{e}") for e in (end, "record"))
        self.done([PROGRAM], EVENER_TRACE=trace, EVENER_RECORD=record, **env)
        with open(record, encoding="utf-8") as file:
            steady, mesh = json.load(file)["loops"]
        self.assertNotIn("changes", steady)
        self.assertEqual([tuple(c[k] for k in KEYS[:5]) for c in mesh["changes"]], MESH[1])
        self.assertEqual(mesh["tasks"], 5)
        return trace, mesh["changes"]

    def ways(self, end):
        """Trace, changes, the counter's name, the loop's name, by ranks."""
        yield *self.adaptive(end, "--units", "2:CPU:1", "--schedule", "guided:time"), "block", None, 1
        yield *self.adaptive(end, "--units", "1:CPU:1", "--processes", "3"), "block", None, 3
        yield *self.program(end, EVENER_UNITS="2:CPU:1"), "task", 'the "mesh": map', 1
        yield *self.program(end, EVENER_UNITS="1:CPU:1", EVENER_PROCESSES="2"), "task", 'the "mesh": map', 2

    def check_bursts(self, bursts, changes):
        """Bursts as (begin, first task, count, instance, computing), changes with their times: no task is beyond those of its
        generation, and each is once in each of its instances; instances are of the generation that the record says."""
        tasks, seen = tasks_of([c for c, _ in changes]), collections.defaultdict(list)
        for begin, first, count, instance, computing in bursts:
            generation = sum(when <= begin for _, when in changes)
            self.assertLess(first, tasks[generation])
            if computing:
                seen[instance].append((generation, first, count))
        self.assertEqual(sorted(seen), list(range(len(seen))))
        for instance, found in seen.items():
            generation = sum(c["instance"] <= instance for c, _ in changes)
            self.assertEqual({g for g, _, _ in found}, {generation})
            self.assertEqual(sum(count for _, _, count in found), tasks[generation])
            if all(count == 1 for _, _, count in found):
                self.assertEqual(sorted(first for _, first, _ in found), list(range(tasks[generation])))

    def test_chrome(self):
        for trace, changes, noun, loop, ranks in self.ways("json"):
            with self.subTest(loop=loop, ranks=ranks):
                with open(trace, encoding="utf-8") as file:
                    events = json.load(file)["traceEvents"]
                found = [e for e in events if e.get("cat") == "change"]
                self.assertEqual([e["name"] for e in found], [f"change to {c['tasks']} {noun}s" for c in changes])
                for e, c in zip(found, changes):
                    self.assertEqual([k for k in e["args"] if k != "loop"], list(KEYS))
                    self.assertEqual({k: e["args"][k] for k in KEYS if k != "seconds"}, {k: c[k] for k in KEYS if k != "seconds"})
                    self.assertEqual((e["ph"], e["s"], e["args"].get("loop")), ("i", "g" if ranks > 1 else "p", loop if ranks > 1 else None))
                counter = "tasks of " + loop if loop and ranks > 1 else "tasks"
                self.assertEqual([e["args"]["tasks"] for e in events if e["ph"] == "C" and e["name"] == counter], tasks_of(changes))
                pids = {e["pid"] for e in found}
                own = [e for e in events if e["ph"] == "X" and e["cat"] in ("compute", "exchange") and
                       (e["args"].get("loop") == loop if ranks > 1 else e["pid"] in pids)]
                bursts = []
                for e in own:
                    one = re.fullmatch(rf"{noun} (\d+)|(\d+) {noun}s from (\d+)", e["name"])
                    first, count = (int(one[1]), 1) if one[1] else (int(one[3]), int(one[2]))
                    bursts.append((e["ts"], first, count, e["args"]["instance"], e["cat"] == "compute"))
                self.check_bursts(bursts, [(c, e["ts"]) for c, e in zip(changes, found)])
                self.check_arrows(events, own, [e["ts"] for e in found])

    def check_arrows(self, events, own, when):
        """From one slice of a task to the next of the same task, within one generation."""
        ends = collections.defaultdict(dict)
        for e in events:
            if e.get("cat") == "migration":
                ends[e["id"]][e["ph"]] = e
        for pair in ends.values():
            ts = pair["s"]["ts"], pair["f"]["ts"]
            names = [{e["name"] for e in own if (e["pid"], e["tid"]) == (p["pid"], p["tid"]) and e["ts"] - 0.002 <= p["ts"] <= e["ts"] + e["dur"] + 0.002}
                     for p in (pair["s"], pair["f"])]
            if all(names):  # arrows of the other loop have none
                self.assertTrue(names[0] & names[1] or any("from" in n for n in names[0] | names[1]), names)
                self.assertEqual(len({sum(w <= t for w in when) for t in ts}), 1)

    def test_paraver(self):
        for trace, changes, noun, loop, ranks in self.ways("prv"):
            with self.subTest(loop=loop, ranks=ranks):
                t, more = paraver.read(trace), 10 * (loop is not None)  # the second loop
                found = [(time, values) for where, time, values in t.events if NOW + more in values and where == (1, 1)]
                self.assertEqual([v for _, v in found][1:],
                                 [{NOW + more: c["tasks"], NOW + 1 + more: c["born"], NOW + 2 + more: c["gone"], NOW + 3 + more: c["moved"]}
                                  for c in changes])
                self.assertEqual([v[NOW + more] for _, v in found], tasks_of(changes))
                self.assertEqual(t.event_names[NOW + more], f"Number of {noun}s{' of ' + loop if loop else ''} that there are")
                self.assertEqual(sum(k >= NOW for k in t.event_names), 4)
                computing = {(where, begin) for where, begin, _, state in t.states if state == 1}
                number = None if loop is None else next(n for n, name in t.values[LOOP].items() if name == loop)
                self.check_bursts([(time, v[FIRST] - 1, v[TASKS], v[INSTANCE] - 1, (where, time) in computing)
                                   for where, time, v in t.events if v.get(FIRST) and v.get(LOOP) == number],
                                  list(zip(changes, (time for time, _ in found[1:]))))

    def test_otf2(self):
        if not shutil.which("otf2-print"):
            self.skipTest("no otf2-print")
        probe = subprocess.run([EVENER, "run", "bt-mz", "--steps", "0", "--quiet", "--trace", os.path.join(self.folder, "probe.otf2")],
                               env=ENV, capture_output=True, text=True, timeout=120)
        if "OTF2 3" in probe.stderr:
            self.skipTest(probe.stderr)
        for trace, changes, noun, loop, ranks in self.ways("otf2"):
            with self.subTest(loop=loop, ranks=ranks):
                names = self.done(["otf2-print", "-G", trace])
                prefix = loop + ": " if loop else ""
                self.assertEqual(re.findall(r'^METRIC_MEMBER +\d+ +Name: "(.*?)" <\d+>, Descr\.: "(\w+)"', names, re.M),
                                 [(prefix + m, noun) for m in ("tasks", "born", "gone", "moved")])
                self.assertEqual(re.findall(r'^LOCATION +\d+ +Name: "(.*)" <\d+>, Type: METRIC, # Events: (\d+), Group: "rank 0"', names, re.M),
                                 [(prefix + "changes", str(1 + len(changes)))])
                found, bursts = [], []
                for line in self.done(["otf2-print", trace]).splitlines():
                    metric = re.match(r"METRIC +\d+ +(\d+) +Metric: \d+, 4 Values: (.*)", line)
                    enter = re.match(r'ENTER +\d+ +(\d+) +Region: "(.*)" <\d+>', line)
                    values = re.findall(r'"(first task|instance|tasks)" <\d>; UINT32; (\d+)', line)
                    if metric:
                        found.append((int(metric[1]), [int(v) for v in re.findall(r"UINT64; (\d+)", metric[2])]))
                    elif enter:
                        mine, begin, computing = enter[2].startswith(prefix), int(enter[1]), enter[2].endswith("computing")
                    elif len(values) == 3 and mine:
                        v = dict(values)
                        bursts.append((begin, int(v["first task"]), int(v["tasks"]), int(v["instance"]), computing))
                self.assertEqual([v for _, v in found], [[tasks_of(changes)[0], 0, 0, 0]] +
                                 [[c[k] for k in ("tasks", "born", "gone", "moved")] for c in changes])
                self.check_bursts(bursts, list(zip(changes, (time for time, _ in found[1:]))))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        PROGRAM = os.path.abspath(sys.argv.pop(2))
        EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
