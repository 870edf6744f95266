#!/usr/bin/env python3
"""Cores that differ, and CPU quotas: what info draws and records of recorded topologies, what auto and plan make of them, figures of
each kind of cores kept apart, and real runs under a quota where a control group can be made.

Run: ctest -R command-topology, or tests/command/test_topology.py build/evener [test ..]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

EVENER = os.path.abspath("build/evener")
TOPOLOGIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "machine", "topology")
EPYC = "package:2 l3:8(size=33554432) core:8 pu:2"
HASH = {"bt-mz": "fd8ff1a7ecbd6c75"}


def evener(*words, begin=(), **variables):
    environment = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith(("OMP_", "EVENER_", "HWLOC_"))}
    return subprocess.run([*begin, EVENER, *words], capture_output=True, text=True, timeout=120, env=dict(environment, **variables))


def on(name):
    return {"HWLOC_SYNTHETIC": EPYC} if name == "epyc" else {"HWLOC_XMLFILE": os.path.join(TOPOLOGIES, name + ".xml")}


class Info(unittest.TestCase):
    def lines(self, **variables):
        done = evener("info", **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")

    def has(self, lines, *wanted):
        for line in wanted:
            self.assertIn(line, lines, "\n".join(lines))

    def test_laptop(self):
        self.has(self.lines(**on("laptop")),
                 "cores      14: 0 2 4 6 8 10 12-19  (packages 1, NUMA nodes 1)",
                 "kinds      A: IntelCore, 6 cores, up to 4.80 GHz, speed 1.00",
                 "           B: IntelAtom, 8 cores, up to 3.50 GHz, speed 0.73",
                 "parts      [AAAAAA] package 0, L3 24 MiB, cores 0 2 4 6 8 10, one of 2 threads each",
                 "           [BBBBBBBB] package 0, L3 24 MiB, cores 12-19",
                 "units      auto means 1:CPU:6,1:CPU:8 here; speeds 6, 5.83",
                 "binding    none: this is not the machine we run on")

    def test_board(self):
        self.has(self.lines(**on("board")),
                 "kinds      A: 4 cores, up to 2.00 GHz, speed 1.00",
                 "           B: 4 cores, up to 1.80 GHz, speed 0.47",
                 "parts      [AAAA] package 0, cores 4-7",
                 "           [BBBB] package 0, cores 0-3",
                 "units      auto means 2:CPU:4 here; speeds 4, 1.89")

    def test_epyc(self):
        lines = self.lines(**on("epyc"))
        parts = [line for line in lines if "[AAAAAAAA] package " in line]
        self.assertEqual([len([p for p in parts if f"] package {k}, L3 32 MiB, cores " in p]) for k in (0, 1)], [8, 8])
        self.assertEqual([line for line in lines if line.startswith("kinds")], [])
        self.has(lines, "units      auto means 16:CPU:8 here")

    def test_record(self):
        machine = json.loads(evener("info", "--json", "-", **on("laptop")).stdout)["machine"]
        self.assertEqual([machine[k] for k in ("cores", "node_cores", "allowed_cores", "quota")], [14, 14, 14, 0])
        self.assertEqual([(k["name"], k["cores"], k["frequency"]) for k in machine["kinds"]], [("IntelCore", 6, 4.8e9), ("IntelAtom", 8, 3.5e9)])
        self.assertAlmostEqual(machine["kinds"][1]["speed"], 3500 / 4800)
        self.assertEqual(machine["parts"], [
            {"cores": [0, 2, 4, 6, 8, 10], "kind": 0, "package": 0, "threads": 2, "l3": 24 << 20},
            {"cores": list(range(12, 20)), "kind": 1, "package": 0, "threads": 1, "l3": 24 << 20}])

    def test_mask(self):
        mine = sorted(os.sched_getaffinity(0))
        if len(mine) < 2:
            self.skipTest("one core only")
        done = evener("info", begin=("taskset", "-c", str(mine[-1])))
        self.assertRegex(done.stdout, r"\n {11}of \d+ on this node; masks, cpusets and places leave 1\n")
        self.assertEqual(re.findall(r"\[A+\]", done.stdout), ["[A]"])


class Plan(unittest.TestCase):
    def plan(self, *words, **variables):
        done = evener("plan", "bt-mz", "--class", "W", "--json", "-", "--quiet", *words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_speeds(self):
        found = self.plan("--units", "2:CPU:4", **on("board"))
        self.assertEqual((found["units"], found["basis"]), ("2:CPU:4", "speeds by cores and their kinds"))
        self.assertEqual(found["speed"], [4, 4 * 485 / 1024])
        found = self.plan("--units", "2:CPU:4", "--schedule", "binpack", **on("board"))
        load = found["iterations"][-1]["load"]
        self.assertGreater(load[0], 1.5 * load[1]) # 2.1 times as strong
        self.assertEqual(self.plan("--speeds", "1,1", **on("board"))["speed"], [1, 1])

    def test_even(self):
        found = self.plan("--units", "2:CPU:4", **on("epyc"))
        self.assertEqual((found["speed"], found["basis"]), ([4, 4], "speeds by cores"))

    def test_nothing_runs_elsewhere(self):
        done = evener("run", "bt-mz", **on("epyc"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("HWLOC_SYNTHETIC name another machine than this one", done.stderr)


@unittest.skipUnless({0, 1} <= os.sched_getaffinity(0), "cores 0 and 1 are not ours")
class Here(unittest.TestCase):
    """This machine, of whose cores 0 and 1 hwloc is told that the second one is twice as fast."""
    def setUp(self):
        self.is_pair = dict(on("pair"), HWLOC_THISSYSTEM="1")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.is_pair["XDG_CACHE_HOME"] = folder.name
        self.folder = os.path.join(folder.name, "evener", "calibration")

    def run_of(self, *words):
        done = evener("run", "bt-mz", "--json", "-", "--quiet", *words, **self.is_pair)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_run(self):
        found = self.run_of()
        self.assertEqual([(u["cores"], u["speed"]) for u in found["units"]], [([1], 1), ([0], 0.5)])
        self.assertEqual(found["hash"], HASH["bt-mz"])
        binding = evener("info", **self.is_pair).stdout
        self.assertIn("binding    works: each leader runs on its own core", binding)

    def test_ranks(self):
        found = self.run_of("--processes", "2")
        self.assertEqual([(u["rank"], u["cores"], u["speed"]) for u in found["units"]], [(0, [1], 1), (1, [0], 0.5)])
        self.assertEqual(found["hash"], HASH["bt-mz"])

    def test_calibrated(self):
        """Figures of kinds are measured on their own cores, kept apart and found again."""
        done = evener("calibrate", "bt-mz", "--class", "S", "--steps", "1", **self.is_pair)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"on CPU:1 of cores of kind (\d) \.\.", done.stderr), ["0", "1"])
        entries = []
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                whole = json.load(f)
            entry, = whole["entries"]
            entry["weight_per_s"] = 1000 * (1 + int(entry["cores"]))
            entries.append((entry["unit"], entry["cores"]))
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                json.dump(whole, f)
        self.assertEqual(sorted(entries), [("CPU:1", "0"), ("CPU:1", "1")])
        done = evener("plan", "bt-mz", "--schedule", "weighted", "--json", "-", "--quiet", **self.is_pair)
        found = json.loads(done.stdout)
        self.assertEqual((found["speed"], found["basis"]), ([1000, 2000], "speeds as calibrated"))
        self.assertEqual([u["speed"] for u in self.run_of("--processes", "2")["units"]], [1000, 2000])
        # what is measured of one rank's cores and not of the other's is not compared with anything
        os.remove(os.path.join(self.folder, sorted(os.listdir(self.folder))[0]))
        self.assertEqual([u["speed"] for u in self.run_of("--processes", "2")["units"]], [1, 0.5])


    def test_where_calibrated(self):
        """The first thread, which leads the unit that is measured, is bound to a core of each kind in turn."""
        run = subprocess.Popen([EVENER, "calibrate", "bt-mz", "--class", "W", "--steps", "200", "--quiet"],
                               env=dict(os.environ, **self.is_pair))
        seen = []
        while run.poll() is None:
            try:
                cores = os.sched_getaffinity(run.pid)
            except ProcessLookupError:
                continue
            if len(cores) == 1:
                seen += cores
            time.sleep(0.002)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(sorted(set(seen)), [0, 1])


class Group:
    """A control group of version 1 or 2 with a quota, and one within it for processes."""
    def __init__(self, quota):
        self.made = []
        for top, name in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"), ("/sys/fs/cgroup", "cpu.max")):
            folder = os.path.join(top, f"evener-test-{os.getpid()}")
            try:
                for path in (folder, os.path.join(folder, "in")):
                    os.mkdir(path)
                    self.made.insert(0, path)
                with open(os.path.join(folder, name), "w", encoding="ascii") as f:
                    f.write(f"{quota}")
                return
            except OSError as why:
                self.close()
                said = why
        raise unittest.SkipTest(f"no control group can be made: {said}")

    def close(self):
        for path in self.made:
            os.rmdir(path)
        self.made = []

    def begin(self):
        return ("sh", "-c", f'echo $$ > {self.made[0]}/cgroup.procs && exec "$@"', "sh")


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core only: a quota takes none away")
class Quota(unittest.TestCase):
    def group(self, quota):
        group = Group(quota)
        self.addCleanup(group.close)
        return group.begin()

    def test_less(self):
        """One processor and a half is one core, and which one is the system's choice."""
        begin, have = self.group(150000), len(os.sched_getaffinity(0))
        machine = json.loads(evener("info", "--json", "-", begin=begin).stdout)["machine"]
        self.assertEqual((machine["cores"], machine["quota"]), (1, 1.5))
        text = evener("info", begin=begin).stdout
        self.assertIn(f"a quota of 1.5 processors leaves 1 of {machine['allowed_cores']}: any of them", text)
        self.assertIn("binding    none: under a quota", text)
        self.assertLessEqual(machine["allowed_cores"], have)
        found = json.loads(evener("run", "bt-mz", "--json", "-", "--quiet", begin=begin).stdout)
        self.assertEqual([u["cores"] for u in found["units"]], [[]])
        self.assertEqual((found["hash"], found["machine"]["quota"]), (HASH["bt-mz"], 1.5))
        done = evener("run", "bt-mz", "--units", "2:CPU:1", begin=begin)
        self.assertEqual(done.returncode, 2)
        self.assertIn('"2:CPU:1" needs 2 cores and there is 1 within a quota of 1.5 processors', done.stderr)
        found = json.loads(evener("run", "bt-mz", "--units", "2:CPU:1", "--oversubscribe", "--json", "-", "--quiet", begin=begin).stdout)
        self.assertEqual(found["hash"], HASH["bt-mz"])
        found = json.loads(evener("run", "bt-mz", "--json", "-", "--quiet", begin=begin, EVENER_BIND="core").stdout)
        self.assertEqual(len(found["units"][0]["cores"]), 1)

    def test_enough(self):
        begin = self.group(100000 * (len(os.sched_getaffinity(0)) + 1))
        text = evener("info", begin=begin).stdout
        self.assertRegex(text, r"\n {11}a quota of \d+ processors, enough for all of them\n")
        self.assertIn("binding    works", text)


if __name__ == "__main__":
    EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
