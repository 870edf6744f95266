#!/usr/bin/env python3
"""Plans on described machines, with measured times, the study of schedules: what the numbers are
and what is refused. Nothing is timed but calibrate's own run.

Run: ctest -R command-plan, or tests/command/test_plan.py build/evener [test ..]
"""
import json
import os
import subprocess

import base
from base import EVENER, MACHINES


class Base(base.Base):
    def plan(self, *words):
        return self.record("plan", *words)

def machine():
    return {
        "machine": "test",
        "units": [
            {"unit": "GPU:1", "count": 2, "seconds": {"bt-mz": [[1000, 1e-3], [3000, 2e-3]]}},
            {"unit": "CPU:2", "count": 4, "speed": {"*": 1e6, "bt-mz": 2e6}},
        ],
        "links": [{"between": ["host", "device"], "latency": 1e-5, "bandwidth": 1e10}],
    }


class Machine(Base):
    def test_seconds(self):
        """Sums of tables and speeds, by hand; class W has 16 zones of 8 planes."""
        file = self.write("m.json", machine())
        table = lambda w: w * 1e-6 if w < 1000 else 1e-3 + (w - 1000) * 5e-7 if w < 3000 else w * 2e-3 / 3000
        cases = (("1:GPU:1", "bt-mz", table), ("1:CPU:2", "bt-mz", lambda w: w / 2e6),
                 ("1:CPU:3", "bt-mz", lambda w: w / 3e6), ("1:CPU:1", "bt-mz", lambda w: w / 1e6),
                 ("1:CPU:2", "lu-mz", lambda w: w / 1e6))
        for units, app, seconds in cases:
            found = self.plan(app, "--class", "W", "--machine", file, "--units", units, "--schedule", "static",
                              "--iterations", "1")
            step = found["iterations"][0]
            self.assertAlmostEqual(step["compute_s"] / sum(seconds(w) for w in found["weight"]), 1, delta=1e-12)
            self.assertEqual(step["communication_s"], 0)
            self.assertAlmostEqual(step["step_s"], step["compute_s"])

    def test_routes(self):
        """Two devices exchange through the host: two latencies, and bytes over both links."""
        file = self.write("m.json", machine())
        words = ("bt-mz", "--class", "W", "--machine", file, "--units", "2:GPU:1", "--schedule", "static")
        step = self.plan(*words)["iterations"][-1]
        self.assertEqual(step["messages"], 2)
        self.assertAlmostEqual(step["communication_s"], 2 * (1e-5 + step["cut_bytes"] / 2 / 1e10), delta=1e-15)
        step = self.plan(*words, "--exchange", "sequential")["iterations"][-1]
        faces = step["messages"]
        self.assertGreater(faces, 2)
        self.assertAlmostEqual(step["communication_s"], faces * 2e-5 + 2 * step["cut_bytes"] / 1e10, delta=1e-12)
        # whole zones, five doubles a point, there and back; each face is free within a device
        step = self.plan(*words, "--exchange", "zones")["iterations"][-1]
        self.assertEqual(step["messages"], faces)
        self.assertAlmostEqual(step["communication_s"], faces * 2e-5 + 2 * step["cut_bytes"] / 1e10, delta=1e-12)
        weight, owner = self.plan(*words)["weight"], step["owner"]
        width = 4
        pairs = [(z, n) for z in range(16) for n in (z - z % width + (z + 1) % width, (z + width) % 16)]
        self.assertEqual(step["cut_bytes"], sum(2 * 40 * weight[max(p)] for p in pairs if owner[p[0]] != owner[p[1]]))
        copies = dict(machine(), copies=[{"between": ["device", "device"], "units": 4, "latency": 1e-6, "bandwidth": 1e9}])
        step = self.plan("bt-mz", "--class", "W", "--machine", self.write("c.json", copies), "--units", "2:GPU:1", "--schedule",
                         "static", "--exchange", "zones")["iterations"][-1]
        self.assertAlmostEqual(step["communication_s"], faces * 1e-6 + step["cut_bytes"] / 1e9, delta=1e-12)
        direct = machine()
        direct["links"].append({"between": ["device", "device"], "bandwidth": 2e10})
        step = self.plan("bt-mz", "--class", "W", "--machine", self.write("d.json", direct), "--units", "2:GPU:1",
                         "--schedule", "static")["iterations"][-1]
        self.assertAlmostEqual(step["communication_s"], step["cut_bytes"] / 2 / 2e10, delta=1e-15)

    def test_default_units_and_table(self):
        file = self.write("m.json", machine())
        done = self.evener("plan", "bt-mz", "--class", "B", "--machine", file)
        for word in ("2:GPU:1,4:CPU:2", "times as described, exchange in parallel", "step ms", "zones by unit"):
            self.assertIn(word, done.stdout)

    def test_slow(self):
        file = self.write("m.json", machine())
        found = self.plan("bt-mz", "--class", "C", "--machine", file, "--units", "4:CPU:2", "--schedule",
                          "guided:time", "--iterations", "24", "--slow", "1:2@11")["iterations"]
        work = [sum(i["unit_compute_s"]) for i in found]
        self.assertLess(found[10]["imbalance"], 1.1)
        self.assertGreater(found[11]["imbalance"], 1.8)
        self.assertLess(found[23]["imbalance"], 1.1)
        self.assertGreater(work[23], 1.1 * work[10])
        self.refuses(["plan", "bt-mz", "--slow", "1:2"], "UNIT:FACTOR@STEP")
        self.refuses(["plan", "bt-mz", "--slow", "9:2@1", "--units", "2:CPU:1"], "units are 0 to 1")

    def test_bad_files(self):
        """Each with the place and what would be right."""
        def changed(change):
            m = machine()
            change(m)
            return self.write("bad.json", m)

        refuses = lambda change, *says: self.refuses(["plan", "bt-mz", "--machine", changed(change)], "bad.json", *says)
        refuses(lambda m: m.pop("machine"), "expected a name")
        refuses(lambda m: m.pop("units"), "kinds of units")
        refuses(lambda m: m.update(speeds=1), 'no "speeds"', "links")
        refuses(lambda m: m["units"][0].update(unit="GPUS:1"), "units[0]", "GPU:1")
        refuses(lambda m: m["units"][0].update(unit="GPU:4294967297"), "units[0]", "GPU:1")
        refuses(lambda m: m["units"][1].update(count=0), "units[1]", "whole number")
        refuses(lambda m: m["units"][1].update(speed={"bt-mz": 0}), "units[1]", "above 0")
        refuses(lambda m: m["units"][1].pop("speed"), "units[1]", '"seconds"')
        refuses(lambda m: m["units"][0].update(seconds={"bt-mz": [[2, 1], [1, 1]]}), "units[0]", "ascending")
        refuses(lambda m: m["units"][0].update(seconds={"bt-mz": [[0, 1]]}), "some points")
        refuses(lambda m: m["units"][0].update(seconds={"bt-mz": 3}), "[points, seconds]")
        refuses(lambda m: m["units"][0].update(within={"latency": -1, "bandwidth": 1}), "latency")
        refuses(lambda m: m["links"][0].update(bandwidth="fast"), "links[0]", "bandwidth")
        refuses(lambda m: m["links"][0].update(between=["host"]), "links[0]", "two names")
        refuses(lambda m: m.update(links=[]), "no link between")
        refuses(lambda m: m["units"][0].update(seconds={"sp-mz": [[1, 1]]}), "bt-mz", '"*"')
        self.refuses(["plan", "bt-mz", "--machine", self.write("bad.json", '{"machine":\n "x",,}')], "line 2")
        self.refuses(["plan", "bt-mz", "--machine", self.path("missing.json")], "missing.json cannot be read")
        self.refuses(["plan", "bt-mz", "--machine", self.folder], "cannot be read")
        good = self.write("m.json", machine())
        self.refuses(["plan", "bt-mz", "--machine", good, "--units", "3:GPU:1"], "3 devices", "2:GPU:1,4:CPU:2")
        self.refuses(["plan", "bt-mz", "--machine", good, "--speeds", "1,1"], "--speeds and --machine")
        self.refuses(["plan", "bt-mz", "--machine", good, "--exchange", "both"], "parallel, sequential or zones")
        crowd = machine()
        crowd["units"][1]["crowd"] = {"*": [[1, 1], [4, -3]]}
        self.refuses(["plan", "bt-mz", "--machine", self.write("w.json", crowd)], "units[1]", "[points, seconds]")
        for factor in ({"*": 0}, {"bt-mz": "2"}, 1.5):
            beside = machine()
            beside["units"][0]["beside"] = factor
            self.refuses(["plan", "bt-mz", "--machine", self.write("b.json", beside)], "units[0]", "a factor above 0")
        copies = dict(machine(), copies=[{"between": ["device", "device"], "bandwidth": 1e9}])
        self.refuses(["plan", "bt-mz", "--machine", self.write("k.json", copies)], "copies[0]", "units")

    def test_crowd(self):
        """Four units at work take three times as long a task as one; what one alone has left goes at its own speed."""
        crowd = machine()
        crowd["units"][1]["crowd"] = {"bt-mz": [[1, 1], [4, 3]]}
        crowd["units"][1]["within"] = {"bt-mz": {"bandwidth": 1e9}, "*": {"bandwidth": 1e3}}
        file, words = self.write("m.json", crowd), ("--class", "S", "--schedule", "static")
        one = self.plan("bt-mz", *words, "--machine", file, "--units", "1:CPU:2")["iterations"][-1]["compute_s"]
        four = self.plan("bt-mz", *words, "--machine", file, "--units", "4:CPU:2")
        work = sorted(w / 2e6 for w in four["weight"])  # a zone a unit
        self.assertAlmostEqual(one, sum(work), delta=1e-12)
        factor = [3, 1 + 2 / 3 * 2, 1 + 2 / 3, 1]
        time = sum((w - b) * f for w, b, f in zip(work, [0] + work, factor))
        self.assertAlmostEqual(four["iterations"][-1]["compute_s"], time, delta=1e-12)

    def test_beside(self):
        """A device and a core slow each other down, in one workload; by itself each is as fast as ever."""
        beside = machine()
        beside["units"][0]["seconds"]["*"] = [[1000, 1e-3], [3000, 2e-3]]
        plain = self.write("p.json", beside)
        for unit in beside["units"]:
            unit["beside"] = {"bt-mz": 2}
        file = self.write("m.json", beside)
        for units, app, factor in (("1:GPU:1,1:CPU:2", "bt-mz", 2), ("1:GPU:1,1:CPU:2", "sp-mz", 1), ("2:CPU:2", "bt-mz", 1)):
            words = (app, "--class", "S", "--schedule", "static", "--units", units, "--machine")
            one, two = (self.plan(*words, f)["iterations"][-1]["unit_compute_s"] for f in (plain, file))
            self.assertAlmostEqual(min(two), factor * min(one), delta=1e-12)
            self.assertAlmostEqual(max(two), max(one) + (factor - 1) * min(one), delta=1e-12)

    def test_the_papers_machines(self):
        """Their files are sound, and the published speedups of guided come out."""
        for name, units in (("power9-4v100.json", "4:GPU:1"), ("epyc-2mi50.json", "2:GPU:1,16:CPU:1")):
            file = os.path.join(MACHINES, name)
            for app in ("bt-mz", "sp-mz", "lu-mz"):
                step = self.plan(app, "--class", "D", "--machine", file, "--units", units)["iterations"][-1]
                self.assertGreater(step["compute_s"], 0)
        file = os.path.join(MACHINES, "power9-4v100.json")
        for app, class_, published in (("sp-mz", "B", (1.56, 3.77)), ("sp-mz", "D", (28.4, 49.8)),
                                       ("lu-mz", "C", (1.28, 9.65)), ("lu-mz", "D", (1.70, 121.76))):  # table 2, ms
            for units, time in zip(("1:GPU:1", "4:GPU:1"), published):
                step = self.plan(app, "--class", class_, "--machine", file, "--units", units, "--exchange", "zones", "--schedule",
                                 "static", "--iterations", "1")["iterations"][-1]
                self.assertAlmostEqual(1e3 * step["communication_s"] / time, 1, delta=0.05)


class Times(Base):
    def recorded(self, **changes):
        """A run of class S on two units: zones 0, 1 on unit 0, which took twice as long a point."""
        weight = self.plan("bt-mz", "--class", "S", "--units", "1:CPU:1")["weight"]
        self.weight = weight
        record = {
            "app": "bt-mz", "class": "S", "steps": 10, "seconds": 0.05,
            "periods": {"compute_s": 0.04, "communication_s": 0.01}, "owner": [0, 0, 1, 1],
            "units": [{"kind": "cpu", "cores": [0], "exchange_s": 0.02},
                      {"kind": "cpu", "cores": [1, 2], "exchange_s": 0.01}],
            "task_s": [2e-6 * weight[0], 2e-6 * weight[1], 1e-6 * weight[2], 1e-6 * weight[3]],
        }
        record.update(changes)
        return self.write("r.json", {k: v for k, v in record.items() if v is not None})

    def test_seconds(self):
        file = self.recorded()
        total = sum(self.weight)
        for units, seconds in (("1:CPU:1", 2e-6), ("1:CPU:2", 1e-6), ("1:CPU:4", 0.5e-6)):
            found = self.plan("bt-mz", "--class", "S", "--units", units, "--times", file, "--iterations", "1")
            self.assertAlmostEqual(found["iterations"][0]["compute_s"] / total / seconds, 1, delta=1e-12)
            self.assertAlmostEqual(found["measured_step_s"], 0.005)
        # the same units and owners: what a unit took to exchange is what it takes
        found = self.plan("bt-mz", "--class", "S", "--units", "1:CPU:1,1:CPU:2", "--times", file, "--schedule",
                          "static", "--iterations", "1")["iterations"][0]
        self.assertEqual(found["owner"], [0, 0, 1, 1])
        self.assertAlmostEqual(found["communication_s"], 0.002, delta=1e-12)
        self.assertAlmostEqual(found["unit_communication_s"][1], 0.001, delta=1e-12)
        self.assertAlmostEqual(found["load"][0], 2e-6 * sum(self.weight[:2]))

    def test_median(self):
        """Exchange is that of the median step, not of the mean one, in which first steps count."""
        words = ["bt-mz", "--class", "S", "--units", "1:CPU:1,1:CPU:2", "--schedule", "static", "--iterations", "1", "--times"]
        for median, seconds in (0.0005, 0.001), (0, 0), (-1, 0.002), (None, 0.002), ("much", 0.002):
            found = self.plan(*words, self.recorded(median={"compute_s": 0.003, "communication_s": median, "step_s": 0.0035}))
            self.assertAlmostEqual(found["iterations"][0]["communication_s"], seconds, delta=1e-12)
            self.assertEqual(found["measured_median_s"], 0.0035)
        page = self.evener("plan", *words, self.recorded(median={"communication_s": 0.0005, "step_s": 0.0035})).stdout
        self.assertIn("measured in the record: 5.0000 ms a step, 4.0000 compute and 1.0000 exchange; median 3.5000\n", page)

    def test_refusals(self):
        words = ["plan", "bt-mz", "--class", "S", "--units", "1:CPU:1", "--times"]
        self.refuses(words + [self.recorded(task_s=None)], "task_s", "evener run --json")
        self.refuses(words + [self.recorded(task_s=[1, 2, 3])], "one number a task")
        self.refuses(words + [self.recorded(task_s=[1, 2, 3, -1])], "seconds from 0")
        self.refuses(words + [self.recorded(owner=[0, 0, 1, 2])], "not in")
        self.refuses(words + [self.recorded(units=[])], "units")
        self.refuses(words + [self.recorded(steps=0)], "no step")
        self.refuses(words + [self.recorded(**{"class": "W"})], "bt-mz class W", "bt-mz class S")
        file = self.recorded()
        self.refuses(["plan", "bt-mz", "--class", "S", "--units", "1:GPU:1", "--times", file], "GPU:1", "--machine")

    def test_with_a_machine(self):
        """Kinds that were not run are as the machine's file has them, and its links hold."""
        file, described = self.recorded(), self.write("m.json", machine())
        found = self.plan("bt-mz", "--class", "S", "--units", "1:GPU:1,1:CPU:1", "--times", file, "--machine",
                          described, "--schedule", "static", "--iterations", "1")["iterations"][0]
        self.assertAlmostEqual(found["unit_compute_s"][0], 1e-6 * sum(self.weight[:2]), delta=1e-9)
        self.assertAlmostEqual(found["communication_s"], 1e-5 + found["cut_bytes"] / 2 / 1e10, delta=1e-12)


class Explained(Base):
    def test_explanations(self):
        for schedule, says in (("static", "largest load"), ("map", "bytes cut"), ("interval", "iteration")):
            done = self.evener("plan", "bt-mz", "--class", "W", "--units", "4:CPU:1", "--schedule", schedule)
            self.assertIn(says, done.stdout)
        self.assertIn("largest load", self.plan("bt-mz", "--units", "2:CPU:1")["explanation"])

    def test_cores_move(self):
        """The example of NPB-MZ: class S, 3 groups of 4 threads become 7, 3 and 2."""
        words = ("bt-mz", "--class", "S", "--units", "3:CPU:4", "--schedule")
        self.assertEqual(self.plan(*words, "binpack")["cores"], [7, 3, 2])
        self.assertEqual(self.plan(*words, "binpack:reassign")["cores"], [7, 3, 2])
        self.assertIn("predicted speedup 10.67, before 7.11", self.evener("plan", *words, "binpack").stdout)
        self.assertEqual(max(self.plan(*words, "binpack:reassign,cap=5")["cores"]), 5)
        self.refuses(["plan", "--quiet", *words, "binpack:reassign,cap=3"], "not all can be given")
        self.refuses(["plan", "--quiet", *words, "binpack:cap=5"], "binpack:reassign,cap=5")

    def test_cores_move_in_a_run(self):
        """The run opens units with the cores that the plan reassigns."""
        words = ("bt-mz", "--class", "S", "--units", "3:CPU:4", "--oversubscribe", "--steps", "1", "--schedule")
        for schedule, units in (("binpack", "3:CPU:4"), ("binpack:reassign", "1:CPU:7,1:CPU:3,1:CPU:2"),
                                ("binpack:reassign,cap=5", "1:CPU:5,1:CPU:4,1:CPU:3")):
            done = self.evener("run", *words, schedule)
            self.assertIn(f"Units {units}, schedule {schedule}\n", done.stdout)
        self.refuses(["run", "bt-mz", "--class", "S", "--units", "1:CPU:1,1:GPU:1", "--schedule", "binpack:reassign"],
                     "cores move between CPU units only")


class Tdbem(Base):
    """A workload whose tasks are known once its problem is open."""
    words = ("td-bem", "--mesh", "sphere:2", "--blocks", "12")

    def run_it(self, *words):
        done = self.evener("run", *self.words, "--quiet", "--json", "-", "--units", "1:CPU:1", *words)
        return json.loads(done.stdout)

    def test_plan(self):
        """The run's tasks, without links; each unit's load is what it owns."""
        record = self.run_it("--steps", "1")
        found = self.plan(*self.words, "--units", "2:CPU:1,1:GPU:1", "--schedule", "static")
        self.assertEqual((found["app"], found["class"], found["noun"]), ("td-bem", None, "block"))
        self.assertEqual(found["problem"], record["problem"])
        self.assertEqual(len(found["weight"]), len(record["owner"]))
        self.assertEqual(sum(found["weight"]), record["units"][0]["weight"])
        for step in found["iterations"]:
            self.assertEqual(step["cut_bytes"], 0)
            for unit in range(3):
                self.assertAlmostEqual(step["load"][unit],
                                       sum(w for w, o in zip(found["weight"], step["owner"]) if o == unit))
        done = self.evener("plan", *self.words, "--units", "2:CPU:1")
        self.assertRegex(done.stdout, r"(?m)^td-bem: sphere:2, double, rows, ng=16: \d+ blocks on 2:CPU:1 under auto")
        self.assertNotIn("zones", done.stdout)
        self.assertIn("its problem is open", done.stderr)

    def test_times(self):
        record = self.run_it("--steps", "40")
        self.assertEqual(record["instances"], 3)
        self.assertEqual(len(record["task_s"]), len(record["owner"]))
        self.assertTrue(record["bursts"])
        file = self.write("r.json", record)
        found = self.plan(*self.words, "--units", "1:CPU:1", "--times", file, "--iterations", "1")
        self.assertAlmostEqual(found["iterations"][0]["compute_s"], record["median"]["task_s"] * len(record["task_s"]), delta=1e-9)
        self.assertAlmostEqual(found["measured_step_s"], record["seconds"] / 3)
        self.refuses(["plan", *self.words, "--ng", "8", "--quiet", "--units", "1:CPU:1", "--times", file], "ng=16", "ng=8")

    def test_calibrate(self):
        folder = self.own_cache()
        self.evener("calibrate", *self.words, "--units", "1:CPU:1", "--steps", "2", "--quiet")
        name, = os.listdir(folder)
        entry, = self.load(os.path.join(folder, name))["entries"]
        self.assertEqual((entry["app"], entry["class"], entry["unit"]), ("td-bem", "sphere:2, double, rows, ng=16", "CPU:1"))
        self.assertEqual((entry["within_s_per_byte"], entry["between_s_per_byte"]), (0, 0))
        for mesh in ("sphere:2", "sphere:1"):  # another body will do where there is nothing better
            found = self.plan("td-bem", "--mesh", mesh, "--units", "1:CPU:1", "--schedule", "weighted")
            self.assertEqual(found["basis"], "speeds as calibrated")

    def test_refusals(self):
        self.refuses(["plan", "td-bem", "--quiet"], "which mesh")
        self.refuses(["plan", "td-bem", "--class", "S"], "no option --class")
        self.refuses(["calibrate", "td-bem", "--mesh", "none.msh", "--quiet"], "none.msh")
        self.refuses(["calibrate", "bt-mz", "--mesh", "sphere:1"], "no option --mesh")


class Memory(Base):
    """Iterations are printed and written as they come, and none of them is kept."""

    def peak(self, iterations, *words):
        """The largest resident size in kB, VmHWM, as the system has counted it."""
        child = subprocess.Popen([EVENER, "plan", "bt-mz", "--class", "W", "--units", "4:CPU:1", "--iterations",
                                  str(iterations), *words], stdout=subprocess.DEVNULL, env=self.environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss

    def test_many(self):
        few, many = 100, 30000
        file = self.path("r.json")
        for words in ([], ["--quiet"], ["--quiet", "--json", file], ["--json", "-"]):
            if "-" in words:
                words = [*words, "--quiet"]
            self.assertLess(self.peak(many, *words), self.peak(few, *words) + 4000, words)

    def test_whole(self):
        """What is written as it comes is one object, in a file and on standard output, and says the same."""
        words = ("plan", "bt-mz", "--class", "W", "--units", "2:CPU:2", "--schedule", "binpack:reassign", "--iterations", "300", "--quiet")
        file = self.path("r.json")
        done = self.evener(*words, "--json", "-", said="")
        self.assertEqual(self.evener(*words, "--json", file).returncode, 0)
        there = self.load(file)
        here = json.loads(done.stdout)
        self.assertEqual(len(here["iterations"]), 300)
        self.assertEqual(sum(here["cores"]), 4)
        self.assertIn("largest load", here["explanation"])
        self.assertEqual({k: v for k, v in here.items() if k != "command"}, {k: v for k, v in there.items() if k != "command"})

    def test_pictures(self):
        """A plan's record says how zones lie and has the bursts of its last iteration; report draws both."""
        machine_file, file = self.write("m.json", machine()), self.path("r.json")
        self.evener("plan", "bt-mz", "--class", "W", "--machine", machine_file, "--units", "2:GPU:1", "--exchange", "zones",
                           "--schedule", "static", "--json", file, "--quiet")
        found = self.load(file)
        last = found["iterations"][-1]
        self.assertEqual(len(found["zones"]["x"]) * len(found["zones"]["y"]), 16)
        for unit in range(2):
            computing = sum(b["end"] - b["begin"] for b in found["bursts"] if b["kind"] == "compute" and b["unit"] == unit)
            self.assertAlmostEqual(computing, last["unit_compute_s"][unit], delta=1e-12)
        self.assertEqual(sum(b["kind"] == "task_copy" for b in found["bursts"]), last["messages"])
        self.assertAlmostEqual(max(b["end"] for b in found["bursts"]), last["step_s"], delta=1e-12)
        page = self.path("p.html")
        self.assertEqual(self.evener("report", file, "--output", page).returncode, 0)
        text = self.read(page)
        self.assertIn("Zones by unit in the last iteration", text)
        self.assertIn("copying whole tasks", text)

    def test_plan_from_a_file(self):
        """Owners from a record and from an exported plan, for plan and for run; other tasks or units are refused."""
        file, words = self.path("r.json"), ("bt-mz", "--class", "W", "--units", "2:CPU:1")
        done = self.evener("plan", *words, "--schedule", "optimal", "--json", file, "--verbose")
        owner = self.load(file)["iterations"][-1]["owner"]
        self.assertNotEqual(owner, self.plan(*words, "--schedule", "static")["iterations"][0]["owner"])
        line = next(line for line in done.stdout.split("\n") if line.startswith("plan: "))
        later = line[6:].replace(" units:", " units generation 3:")
        self.assertIn("generation", later)
        for path in (file, self.write("plan.txt", line[6:] + "\n"), self.write("later.txt", later + "\n")):
            found = self.plan(*words, "--plan", path)
            self.assertEqual([i["owner"] for i in found["iterations"]], 4 * [owner])
            self.assertEqual(found["schedule"], "static")
        record = self.path("run.json")
        done = self.evener("run", "bt-mz", "--class", "W", "--steps", "2", "--units", "2:CPU:1", "--oversubscribe", "--plan", file,
                           "--json", record, "--quiet")
        self.assertEqual(self.load(record)["owner"], owner)
        self.refuses(["plan", "bt-mz", "--class", "S", "--units", "2:CPU:1", "--plan", file], "16 owners", "4 tasks")
        self.refuses(["plan", "bt-mz", "--class", "W", "--units", "1:CPU:1", "--plan", file], "no unit from 0 to 0")
        self.refuses(["plan", *words, "--plan", self.write("x.json", "{}")], "owner")
        self.refuses(["plan", *words, "--plan", self.write("x.txt", "static 3 tasks\n")], "16 tasks 2 units")
        self.refuses(["plan", *words, "--plan", self.path("none")], "cannot be read")

    def test_failure_leaves_the_earlier_one(self):
        file = self.write("r.json", "[]")
        self.evener("plan", "bt-mz", "--units", "2:CPU:1", "--schedule", "none", "--json", file, status=2)
        self.assertEqual(self.read("r.json"), "[]")


class Study(Base):
    def test_machines(self):
        """The papers' orders in their own exchange, and both tables side by side."""
        file = os.path.join(MACHINES, "power9-4v100.json")
        done = self.evener("bench", "schedules", file, "--classes", "C", "--steps", "40")
        for units in ("2:GPU:1", "4:GPU:1"):
            self.assertIn(f"bt-mz C on {units}, zones exchange: neither static nor any dynamic is shorter than guided",
                          done.stdout)
        self.assertEqual(done.stdout, self.evener("bench", "schedules", file, "--classes", "C", "--steps", "40").stdout)
        rows = {line[:21].strip(): line[21:].split() for line in done.stdout.split("\n")}
        forgetful, remembering = rows["dynamic 1, no memory"], rows["dynamic 1"]
        # tasks that migrate a step; with memory it is only the first three
        self.assertGreater(float(forgetful[5]), 5 * float(remembering[5]))
        self.assertGreater(float(forgetful[1]), float(remembering[1]))  # and the time it takes
        self.refuses(["bench", "schedules"], "suite/bench/machines")
        self.refuses(["bench", "schedules", file, "--exchange", "none"], "parallel, sequential or zones")
        self.refuses(["bench", "schedules", file, file, "--apps", "bt-mz,ft"], "ft")  # before the first table

    def test_other_kinds(self):
        """Of a list of files those without sets of units are left out, with a line each; one that is no machine's is an error."""
        machine, cluster = (os.path.join(MACHINES, name) for name in ("epyc-2mi50.json", "cluster-1024.json"))
        words = "--classes", "W", "--steps", "4"
        done = self.evener("bench", "schedules", cluster, machine, *words)
        self.assertEqual((done.returncode, done.stdout), (0, self.evener("bench", "schedules", machine, *words).stdout))
        self.assertRegex(done.stderr, r'\Aevener: warning: \S*cluster-1024.json is left out: there are no "sets"[^\n]*\n\Z')
        done = self.evener("bench", "schedules", cluster, cluster, *words, status=2)
        self.assertEqual(done.stdout, "")
        self.assertIn("none of the files", done.stderr.splitlines()[-1])
        self.refuses(["bench", "schedules", machine, os.devnull], "null")

    def test_map(self):
        if "Scotch      none" in self.evener("info").stdout:
            self.skipTest("what is asked of map needs Scotch")
        done = self.evener("bench", "schedules", "--map")
        self.assertEqual(done.stdout.count("  ok\n"), 9)

    def test_planning(self):
        done = self.evener("bench", "schedules", "--planning", "--tasks", "1000", "--unit-count", "10")
        self.assertRegex(done.stdout, r"(?m)^binpack +\d")
