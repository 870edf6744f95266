#!/usr/bin/env python3
"""Cores that differ, and CPU quotas: what info draws and records of recorded topologies, what auto and plan make of them, figures of
each kind of cores kept apart, and real runs under a quota where a control group can be made.

Run: ctest -R command-topology, or tests/command/test_topology.py build/evener [test ..]
"""
import json
import os
import re
import subprocess
import tempfile
import time
import unittest

from base import EVENER, TOPOLOGIES, Base

EPYC = "package:2 l3:8(size=33554432) core:8 pu:2"
HASH = {"bt-mz": "fd8ff1a7ecbd6c75"}


def on(name):
    return {"HWLOC_SYNTHETIC": EPYC} if name == "epyc" else {"HWLOC_XMLFILE": os.path.join(TOPOLOGIES, name + ".xml")}


class Info(Base):
    def lines(self, **variables):
        done = self.evener("info", **variables, said="")
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
        machine = self.record("info", **on("laptop"))["machine"]
        self.assertEqual((machine["wake_s"], machine["wake_call_s"]), (None, None))  # nothing is measured for another machine
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
        done = self.evener("info", launch=("taskset", "-c", str(mine[-1])))
        self.assertRegex(done.stdout, r"\n {11}of \d+ on this node; masks, cpusets and places leave 1\n")
        self.assertEqual(re.findall(r"\[A+\]", done.stdout), ["[A]"])


class Plan(Base):
    def plan(self, *words, **variables):
        return self.record("plan", "bt-mz", "--class", "W", *words, **variables)

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
        self.refuses(["run", "bt-mz"], "HWLOC_SYNTHETIC names another machine than this one", **on("epyc"))


class Described(Base):
    """Descriptions of machines: those that cannot be read, and those of which nothing here is a part."""
    def refused(self, says, **variables):
        for words in (("info",), ("plan", "bt-mz", "--class", "S"), ("run", "bt-mz", "--class", "S", "--steps", "1")):
            done = self.evener(*words, OCL_ICD_VENDORS="/nonexistent", **variables, status=2)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"(Ignoring dumped cpuid directory\.\n)?^evener: [^\n]*\n$")
            for name in says:
                self.assertIn(name, done.stderr)

    def test_unreadable(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "bad.xml")
            with open(file, "w", encoding="ascii") as f:
                f.write("<bad")
            newer = os.path.join(folder, "v3.xml")
            with open(os.path.join(TOPOLOGIES, "laptop.xml"), encoding="utf-8") as f, open(newer, "w", encoding="utf-8") as to:
                to.write(re.sub(r'version="2[^"]*"', 'version="3.0"', f.read()))
            for name, values in (("HWLOC_XMLFILE", ("/nonexistent.xml", file, newer, folder, "/dev/null")),
                                 ("HWLOC_SYNTHETIC", ("foo:3", "package:2 core:8 pu", "core:0 pu:1")),
                                 ("HWLOC_FSROOT", ("/nonexistent", file, folder)), ("HWLOC_CPUID_PATH", ("/nonexistent", file, folder))):
                for value in values:
                    self.refused([f'{name}: "{value}": ', "; expected "], **{name: value})
            self.refused(["HWLOC_XMLFILE", "/nonexistent.xml"], HWLOC_XMLFILE="/nonexistent.xml", HWLOC_THISSYSTEM="1")
            self.refused(["HWLOC_XMLFILE", "HWLOC_COMPONENTS"], **on("laptop"), HWLOC_COMPONENTS="linux")

    def test_elsewhere(self):
        """The variable that counts is named, and others that are set are not."""
        for variables, name in ((on("laptop"), "HWLOC_XMLFILE"), (on("epyc"), "HWLOC_SYNTHETIC"), (dict(on("epyc"), **on("laptop")), "HWLOC_SYNTHETIC"),
                                ({"HWLOC_THISSYSTEM": "0"}, "HWLOC_THISSYSTEM")):
            done = self.evener("run", "bt-mz", **variables, status=2)
            self.assertEqual(done.stdout, "")
            self.assertEqual(set(re.findall(r"HWLOC_\w+", done.stderr)) - {"HWLOC_THISSYSTEM"}, {name} - {"HWLOC_THISSYSTEM"})
            self.assertIn("another machine", done.stderr)

    def test_devices(self):
        """This node's devices are not those of a machine that is described, and are not opened."""
        found = self.record("info", **on("laptop"))["devices"]
        self.assertEqual([(d["why"], d["devices"]) for d in found], [("this is not the machine we run on", [])] * len(found))


class Words(Base):
    """The reason for too few cores, and remedies in the user's own words."""
    def test_mask(self):
        mine = sorted(os.sched_getaffinity(0))
        if len(mine) < 2:
            self.skipTest("one core only")
        for variables, says in (({}, ""), ({"FLUX_TASK_RANK": "0"}, "flux gives a task one core"), ({"SLURM_STEP_ID": "0"}, "--cpus-per-task=N")):
            done = self.evener("run", "bt-mz", "--units", "2:CPU:1", launch=("taskset", "-c", str(mine[0])), **variables, status=2)
            self.assertEqual(done.stdout, "")
            for word in ("its affinity mask leaves it 1 of ", says, "EVENER_OVERSUBSCRIBE=1", "--oversubscribe"):
                self.assertIn(word, done.stderr)
        done = self.evener("run", "bt-mz", "--units", "2:CPU:1", OMP_PLACES=f"{{{mine[0]}}}", status=2)
        self.assertIn("OMP_PLACES, or its affinity mask, leaves it 1 of ", done.stderr)
        done = self.evener("run", "bt-mz", "--units", f"{len(mine) + 1}:CPU:1", FLUX_TASK_RANK="0", status=2)
        if len(mine) == os.cpu_count():
            self.assertNotIn("flux", done.stderr)


@unittest.skipUnless({0, 1} <= os.sched_getaffinity(0), "cores 0 and 1 are not ours")
class Here(Base):
    """This machine, of whose cores 0 and 1 hwloc is told that the second one is twice as fast."""
    def setUp(self):
        super().setUp()
        self.calibrations = self.own_cache()
        self.environment.update(on("pair"), HWLOC_THISSYSTEM="1")

    def run_of(self, *words):
        return self.record("run", "bt-mz", *words)

    def test_run(self):
        found = self.run_of()
        self.assertEqual([(u["cores"], u["speed"]) for u in found["units"]], [([1], 1), ([0], 0.5)])
        self.assertEqual(found["hash"], HASH["bt-mz"])
        binding = self.evener("info").stdout
        self.assertIn("binding    works: each leader runs on its own core", binding)

    def test_ranks(self):
        found = self.run_of("--processes", "2")
        self.assertEqual([(u["rank"], u["cores"], u["speed"]) for u in found["units"]], [(0, [1], 1), (1, [0], 0.5)])
        self.assertEqual(found["hash"], HASH["bt-mz"])

    def test_calibrated(self):
        """Figures of kinds are measured on their own cores, kept apart and found again."""
        done = self.evener("calibrate", "bt-mz", "--class", "S", "--steps", "1")
        self.assertEqual(re.findall(r"on CPU:1 of cores of kind (\d) \.\.", done.stderr), ["0", "1"])
        entries = []
        for name in os.listdir(self.calibrations):
            whole = self.load(os.path.join(self.calibrations, name))
            entry, = whole["entries"]
            entry["weight_per_s"] = 1000 * (1 + int(entry["cores"]))
            entries.append((entry["unit"], entry["cores"]))
            with open(os.path.join(self.calibrations, name), "w", encoding="utf-8") as f:
                json.dump(whole, f)
        self.assertEqual(sorted(entries), [("CPU:1", "0"), ("CPU:1", "1")])
        found = self.record("plan", "bt-mz", "--schedule", "weighted")
        self.assertEqual((found["speed"], found["basis"]), ([1000, 2000], "speeds as calibrated"))
        self.assertEqual([u["speed"] for u in self.run_of("--processes", "2")["units"]], [1000, 2000])
        # what is measured of one rank's cores and not of the other's is not compared with anything
        os.remove(os.path.join(self.calibrations, sorted(os.listdir(self.calibrations))[0]))
        self.assertEqual([u["speed"] for u in self.run_of("--processes", "2")["units"]], [1, 0.5])


    def test_where_calibrated(self):
        """The first thread, which leads the unit that is measured, is bound to a core of each kind in turn."""
        run = subprocess.Popen([EVENER, "calibrate", "bt-mz", "--class", "W", "--steps", "200", "--quiet"],
                               env=self.environment)
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
class Quota(Base):
    def group(self, quota):
        group = Group(quota)
        self.addCleanup(group.close)
        return group.begin()

    def test_less(self):
        """One processor and a half is one core, and which one is the system's choice."""
        begin, have = self.group(150000), len(os.sched_getaffinity(0))
        machine = self.record("info", launch=begin)["machine"]
        self.assertEqual((machine["cores"], machine["quota"]), (1, 1.5))
        text = self.evener("info", launch=begin).stdout
        self.assertIn(f"a quota of 1.5 processors leaves 1 of {machine['allowed_cores']}: any of them", text)
        self.assertIn("binding    none: under a quota", text)
        self.assertLessEqual(machine["allowed_cores"], have)
        found = self.record("run", "bt-mz", launch=begin)
        self.assertEqual([u["cores"] for u in found["units"]], [[]])
        self.assertEqual((found["hash"], found["machine"]["quota"]), (HASH["bt-mz"], 1.5))
        self.refuses(["run", "bt-mz", "--units", "2:CPU:1"],
                     '"2:CPU:1" needs 2 cores and there is 1 for this process: a quota of 1.5 processors leaves it 1 of ', launch=begin)
        found = self.record("run", "bt-mz", "--units", "2:CPU:1", "--oversubscribe", launch=begin)
        self.assertEqual(found["hash"], HASH["bt-mz"])
        found = self.record("run", "bt-mz", launch=begin, EVENER_BIND="core")
        self.assertEqual(len(found["units"][0]["cores"]), 1)

    def test_enough(self):
        begin = self.group(100000 * (len(os.sched_getaffinity(0)) + 1))
        text = self.evener("info", launch=begin).stdout
        self.assertRegex(text, r"\n {11}a quota of \d+ processors, enough for all of them\n")
        self.assertIn("binding    works", text)
