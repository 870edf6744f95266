#!/usr/bin/env python3
"""Plans of other programs: the tasks of a record, with the times that they took, and graphs in the formats of METIS and Chaco; what numbers
are computed from them, by hand, and what is refused.

Run: ctest -R command-foreign, or tests/command/test_foreign.py build/evener [test ..]
"""
import copy
import importlib
import json
import os
import random
import sys

import base


def program():
    """Two loops of two and of four tasks; the second one took longer."""
    units = [{"id": u, "kind": "cpu", "cores": [u], "threads": 1, "exchange_s": 9, "compute_s": 9} for u in (0, 1)]
    loop = lambda first, tasks, seconds, steps, **more: {
        "first": first, "tasks": tasks, "steps": steps, "seconds": seconds, "periods": {"compute_s": 0.75 * seconds, "communication_s": 0.25 * seconds},
        "units": [{"id": u, "exchange_s": 0.25 * seconds} for u in (0, 1)], **more}
    return {"evener": "0.1.0", "app": "waves", "class": None, "steps": 5, "seconds": 8, "units": units,
            "owner": [0, 1, 0, 0, 1, 1], "task_s": [1, 3, 0.1, 0.2, 0.3, 0.5], "weight": [1, 1, 2, 2, 3, 5], "task_bytes": [8, 8, 100, 200, 300, 400],
            "links": [[0, 1, 64], [2, 3, 10], [5, 4, 40], [3, 4, 30]],
            "loops": [loop(0, 2, 3, 10, name="first"), loop(2, 4, 5, 5)]}


class Records(base.Base):
    def plan(self, *words, **changes):
        return self.record("plan", self.write("r.json", {**program(), **changes}), "--schedule", "static", *words)

    def test_numbers(self):
        """The longest loop's tasks on two units, and all on one; bytes of faces take what they took in the run."""
        two = self.plan("--units", "2:CPU:1")
        step = two["iterations"][-1]
        self.assertEqual((two["app"], two["tasks"], two["noun"], step["owner"]), ("waves", 4, "task", [0, 0, 1, 1]))
        self.assertAlmostEqual(step["compute_s"], 0.8, delta=1e-12)
        self.assertEqual(step["cut_bytes"], 60)
        self.assertAlmostEqual(two["measured_step_s"], 1)
        # exchange: of a step 0.25 s of each unit, over 160 bytes of faces, within a unit as between two
        per_byte = 2 * 0.25 / 160
        self.assertAlmostEqual(step["communication_s"], per_byte * (2 * 40 + 30), delta=1e-12)
        one = self.plan("--units", "1:CPU:1")["iterations"][-1]
        self.assertAlmostEqual(one["compute_s"], 1.1, delta=1e-12)
        self.assertEqual(one["cut_bytes"], 0)
        half = self.plan("--units", "1:CPU:2")["iterations"][-1]
        self.assertAlmostEqual(half["compute_s"], 0.55, delta=1e-12)

    def test_beside(self):
        """What a step takes beside tasks and faces, on any units; several are woken where they have slept, which one unit's record tells."""
        def step(ran, units, idle, beside=0.25, spin=1):
            record = program()
            record["machine"] = {"wake_s": 0.125, "wake_call_s": 0.0625, "spin_s": spin}
            record["loops"][1]["median"] = {"beside_s": beside, "idle_s": idle}
            if ran == 1:
                record["owner"] = [0] * 6
                record["units"].pop()
                for loop in record["loops"]:
                    loop["units"].pop()
            found = self.record("plan", self.write("r.json", record), "--schedule", "static", "--units", units)["iterations"][-1]
            self.assertAlmostEqual(found["step_s"], found["compute_s"] + found["communication_s"] + found["beside_s"], delta=1e-12)
            return found["beside_s"]

        self.assertEqual([step(1, units, idle) for units in ("1:CPU:1", "2:CPU:1", "1:CPU:2") for idle in (0.5, 2)],
                         [0.25, 0.25, 0.25, 0.375, 0.25, 0.25])
        self.assertEqual([step(2, units, idle) for units in ("1:CPU:1", "3:CPU:1") for idle in (0.5, 2)], [0.25, 0.125, 0.25, 0.25])
        self.assertEqual(step(2, "1:CPU:1", 2, 0.0625), 0)
        # the first unit is done 0.5 s before the other one, and sleeps
        self.assertAlmostEqual(step(1, "2:CPU:1", 0.125, spin=0.25), 0.375, delta=1e-12)
        self.assertEqual(step(2, "1:CPU:1", 0.125, spin=0.25), 0.125)

    def test_fit(self):
        """Tasks take in all what the median instance's took, in the proportions of their own times."""
        record = program()
        record["loops"][1]["median"] = {"task_s": 0.55}
        self.assertAlmostEqual(self.plan("--units", "2:CPU:1", loops=record["loops"])["iterations"][-1]["compute_s"], 2 * 0.8, delta=1e-12)

    def test_ranks(self):
        """Medians over ranks are those of the longest one, and of all its tasks: here the second takes a hundred times as long."""
        record = self.record("run", "bt-mz", "--class", "S", "--steps", "5", "--units", "1:CPU:1", "--processes", "2", "--oversubscribe",
                             "--schedule", "static", "--slow", "1:100@0")
        first = sum(s for s, owner in zip(record["task_s"], record["owner"]) if not owner)
        self.assertGreater(record["median"]["step_s"], 5 * first)
        self.assertGreater(record["median"]["task_s"] * len(record["task_s"]), 5 * first)

    def test_loop(self):
        for name in "first", "0":
            found = self.plan("--units", "2:CPU:1", "--loop-name", name)
            self.assertEqual((found["tasks"], found["iterations"][0]["compute_s"], found["iterations"][0]["cut_bytes"]), (2, 3, 128))
        self.refuses(["plan", self.write("r.json", program()), "--loop-name", "2"], 'no loop "2"', "0 to 1")

    def test_machine(self):
        """Devices that have not run take the machine's speed for these weights, and faces its links."""
        machine = self.write("m.json", {"machine": "m", "units": [{"unit": "CPU:1", "count": 2, "speed": {"*": 1}},
                                                                  {"unit": "GPU:1", "count": 1, "speed": {"waves": 10, "*": 1}}],
                                        "links": [{"between": ["host", "device"], "latency": 0.5, "bandwidth": 60}]})
        step = self.plan("--machine", machine, "--units", "1:CPU:1,1:GPU:1")["iterations"][-1]
        self.assertAlmostEqual(step["unit_compute_s"][0], 0.3, delta=1e-12)
        self.assertAlmostEqual(step["unit_compute_s"][1], 0.8, delta=1e-12)
        self.assertAlmostEqual(step["communication_s"], 0.5 + 30 / 60, delta=1e-12)
        self.refuses(["plan", self.write("r.json", program()), "--units", "1:GPU:1"], "no unit like GPU:1", "--machine")

    def test_as_the_workload(self):
        """The record of a workload gives the workload's own plan: its links are those that were exchanged."""
        self.evener("run", "bt-mz", "--class", "S", "--steps", "2", "--units", "1:CPU:1", "--quiet", "--json", "b.json")
        words = "--units", "3:CPU:1", "--schedule", "map", "--iterations", "2"
        ours, own = self.record("plan", "b.json", *words), self.record("plan", "bt-mz", "--class", "S", "--times", "b.json", *words)
        self.assertEqual([i["owner"] for i in ours["iterations"]], [i["owner"] for i in own["iterations"]])
        for key in "cut_bytes", "compute_s", "communication_s", "messages":
            self.assertAlmostEqual(ours["iterations"][-1][key] / own["iterations"][-1][key], 1, delta=1e-9)

    def test_pipe(self):
        """A record that can be read once, which is no regular file."""
        done = self.evener("plan", "/dev/stdin", "--units", "1:CPU:1", "--schedule", "static", "--quiet", "--json", "-", input=json.dumps(program()))
        self.assertAlmostEqual(json.loads(done.stdout)["iterations"][0]["compute_s"], 1.1, delta=1e-12)

    def test_assignment(self):
        """The owners as METIS writes them go back into a run."""
        self.evener("run", "bt-mz", "--class", "S", "--steps", "1", "--units", "1:CPU:1", "--quiet", "--json", "b.json")
        planned = self.record("plan", "b.json", "--units", "2:CPU:1", "--schedule", "map", "--assignment", "b.part")
        owner = planned["iterations"][-1]["owner"]
        self.assertEqual(self.read("b.part"), "".join(f"{o}\n" for o in owner))
        run = "run", "bt-mz", "--class", "S", "--steps", "1", "--oversubscribe", "--units"
        self.assertEqual(self.record(*run, "2:CPU:1", "--plan", "b.part")["owner"], owner)
        self.refuses([*run, "1:CPU:1", "--plan", "b.part"], "b.part", "unit from 0 to 0", page=True)
        self.write("c.part", self.read("b.part") + "0\n")
        self.refuses([*run, "2:CPU:1", "--plan", "c.part"], "5 owners", "4 tasks", page=True)
        self.write("c.part", "0\n0\n1x\n1\n")
        self.refuses([*run, "2:CPU:1", "--plan", "c.part"], 'line 3: "1x"', page=True)

    def test_study(self):
        done = self.evener("bench", "schedules", self.write("r.json", program()), "--units", "2:CPU:1", "--noise", "0")
        row = {line[:21].strip(): line[21:].split() for line in done.stdout.splitlines()}
        self.assertEqual([float(x) for x in row["static"][:3]], [800, 343.75, 1143.75])
        self.assertLessEqual(float(row["optimal"][2]), float(row["static"][2]))
        self.refuses(["bench", "schedules", base.MACHINES + "/epyc-2mi50.json", "--units", "2:CPU:1"], "record of a program")

    def test_bad_records(self):
        def refuses(change, *says, words=()):
            record = copy.deepcopy(program())
            change(record)
            self.refuses(["plan", self.write("bad.json", record), "--units", "2:CPU:1", *words], *says)

        def put(key, at, value):
            return lambda r: r[key].__setitem__(at, value)

        refuses(lambda r: r.pop("task_s"), '"task_s"')
        refuses(lambda r: r.update(task_s=[0] * 6), "make 0 in all")
        refuses(lambda r: r.update(weight=[1e308] * 6), "weights of tasks make inf in all")
        refuses(lambda r: r.update(task_bytes=[1e308] * 6), "make inf in all")
        refuses(put("task_s", 3, -1), '"task_s"')
        refuses(put("task_s", 3, None), '"task_s"')
        refuses(lambda r: r["owner"].pop(), '"owner"')
        refuses(put("owner", 2, 2), '"owner"')
        refuses(put("weight", 2, -2), '"weight"')
        refuses(lambda r: r["weight"].pop(), '"weight"')
        refuses(lambda r: r.update(task_bytes=3), '"task_bytes"')
        for link in ([2, 2, 1], [2, 3], [2, 6, 1], [2, 3, -1], [2.5, 3, 1], [1, 2, 1], "link", [2, 3, 1, 1]):
            refuses(put("links", 1, link), '"links"')
        refuses(put("links", 2, [3, 2, 9]), "same tasks")
        refuses(lambda r: r["loops"][1].update(tasks=5), "more tasks")
        refuses(lambda r: r["loops"][1].update(tasks=0), '"tasks"')
        refuses(lambda r: r["loops"][0].pop("seconds"), '"seconds"')
        refuses(lambda r: r.pop("units"), '"units"')
        refuses(lambda r: r["units"][0].pop("kind"), '"kind"')
        refuses(lambda r: r["loops"][1].update(steps=0), "no step")
        refuses(lambda r: None, "--times and a record", words=("--times", self.path("bad.json")))
        refuses(lambda r: None, "--speeds and a record", words=("--speeds", "1,1"))
        self.refuses(["plan", self.write("bad.json", json.dumps(program())[:300])], "bad.json is no JSON: line 1, column")
        self.refuses(["plan", "missing.json"], "missing.json cannot be read")
        self.refuses(["plan", self.write("bad.json", program()), "--graph", self.path("bad.json")], "--graph and a ")


class Notebook(base.Base):
    def test_load(self):
        """share/python/evener.py: tables of a record and of a plan, here without pandas."""
        sys.dont_write_bytecode = True
        sys.modules["pandas"] = None
        sys.path.append(os.path.join(base.SOURCE, "share", "python"))
        module = importlib.import_module("evener")
        found = module.load(self.write("r.json", program()))
        self.assertEqual([u["cores"] for u in found.units], [1, 1])
        self.assertEqual(found.tasks[2], {"owner": 0, "task_s": 0.1, "weight": 2, "task_bytes": 100, "loop": 2})
        self.assertEqual([t["loop"] for t in found.tasks[:2]], ["first"] * 2)
        self.assertEqual(found.links[0], {"task": 0, "other": 1, "bytes": 64})
        self.evener("plan", "r.json", "--units", "2:CPU:1", "--schedule", "static", "--quiet", "--json", "p.json")
        plan = module.load(self.path("p.json"))
        self.assertEqual([t["owner"] for t in plan.tasks], [0, 0, 1, 1])
        self.assertEqual((len(plan.iterations), plan.iterations[0]["cut_bytes"], len(plan.units)), (4, 60, 2))
        self.evener("run", "bt-mz", "--class", "S", "--steps", "1", "--units", "1:CPU:1", "--quiet", "--json", "b.json")
        ran = module.load(self.path("b.json"))
        self.assertEqual((len(ran.tasks), ran.bursts[0]["unit"], ran.iterations), (4, 0, []))
        for text in "[1]", "{}", '{"evener": ':
            with self.assertRaises(ValueError):
                module.load(self.write("bad.json", text))


METIS = """% a square with a diagonal
4 5 011
2  2 5  3 1
1  1 5  4 2  3 9
3  1 1  4 7  2 9
1  2 2  3 7
"""


class Graphs(base.Base):
    def test_numbers(self):
        found = self.record("plan", "--graph", self.write("g", METIS), "--units", "2:CPU:1", "--schedule", "static")
        step = found["iterations"][0]
        self.assertEqual((found["weight"], step["owner"], step["load"], step["cut_bytes"]), ([2, 1, 3, 1], [0, 0, 1, 1], [3, 4], 2 * (1 + 2 + 9)))

    def test_formats(self):
        """Without weights; with sizes, and the first of two weights; Chaco's numbers of vertices in their place."""
        path = lambda text: self.record("plan", "--graph", self.write("g", text), "--units", "1:CPU:1", "--schedule", "static")
        self.assertEqual(path("3 2\n2\n1 3\n2\n\n")["weight"], [1, 1, 1])
        self.assertEqual(path("3 1 0\n2\n1\n\n")["weight"], [1, 1, 1])
        done = self.evener("plan", "--graph", self.write("g", "3 2 110 2\n7 4 1  2\n7 5 1  1 3\n7 6 1  2\n"), "--units", "1:CPU:1", "--quiet", "--json", "-")
        self.assertEqual(json.loads(done.stdout)["weight"], [4, 5, 6])
        self.assertIn("the first one counts", done.stderr)
        self.assertEqual(path("3 2 111\n1 4 2 8\n2 5 1 8 3 9\n3 6 2 9\n")["weight"], [4, 5, 6])

    def test_bad_graphs(self):
        for text, *says in (("", "line 1", "empty"), ("x\n", "line 1", "vertices"), ("3\n", "line 1", "edges"), ("2 1 9\n", "line 1", "format"),
                            ("1 0 1 2\n\n", "line 1", "weights"), ("99999999 1\n", "line 1", "more than"), ("2 1\n2\n", "line 2", "1 of 2"),
                            ("2 1\n2\n1\n1\n", "line 4", "more lines"), ("2 1\n2 2\n1\n", "line 3", "more than the 1"),
                            ("2 2\n2 2\n1 1\n", "line 2", "twice"), ("2 2\n2\n1 1\n", "line 3", "twice"), ("2 1\n1\n2\n", "line 2", "its own"),
                            ("3 1\n2\n3\n\n", "line 2", "neighbour 2, which"), ("2 1\n3\n1\n", "line 2", "from 1 to 2"),
                            ("2 1 1\n2 5\n1 6\n", "line 2", "5, and 6 on line 3"), ("2 1 1\n2\n1 1\n", "line 2", "no weight"),
                            ("2 1 10\n-1 2\n1 1\n", "line 2", "too small"), ("2 5\n2\n1\n", "line 1", "5 edges, and there are 1"),
                            ("2 1 10\n0 2\n0 1\n", "weights of tasks make 0 in all"), ("2 1 1\n2 2e200\n1 2e200\n", "links make 2e+200"),
                            ("2 1 1\n2 nan\n1 1\n", "line 2", "nan")):
            self.refuses(["plan", "--graph", self.write("g", text)], "g: ", *says)
        self.refuses(["plan", "--graph", self.write("g", METIS), "--times", self.path("g")], "--graph and --times")
        self.refuses(["plan", "bt-mz", "--graph", self.path("g")], "--graph and a workload")


class Damaged(base.Base):
    def test_fuzz(self):
        """Files with a few bytes changed, left out or put in: a plan, or one line."""
        chance = random.Random(11)
        for text, words in ((json.dumps(program()), ()), (METIS, ("--graph",))):
            for _ in range(25):
                bad = list(text)
                for _ in range(chance.randint(1, 4)):
                    at = chance.randrange(len(bad))
                    bad[at:at + chance.randint(0, 2)] = chance.choice(["", "-", "9", "1e999", "}", "[", ",", " ", "\n", "0.5", '"', "null"])
                done = self.evener("plan", *words, self.write("f.x", "".join(bad)), "--units", "2:CPU:1", "--quiet", "--schedule", "static", status=None)
                self.assertIn(done.returncode, (0, 2), "".join(bad))
                self.assertLessEqual(len([l for l in done.stderr.splitlines() if "warning" not in l]), 1, done.stderr)
