#!/usr/bin/env python3
"""The command as its users meet it: results, records, exit statuses, messages.

Run: ctest -R command, or tests/command/test_command.py build/evener [test ..]
"""
import json
import os
import re
import resource
import stat
import subprocess
import sys
import time

from base import Base

SCHEDULES = ["static", "dynamic", "dynamic:chunk=3,memorize=0", "guided:size", "guided:time"]
APPS = ["bt-mz", "sp-mz", "lu-mz"]


class Run(Base):
    def test_record(self):
        """Every key of the contract, with a value that makes sense."""
        record = self.record("run", "bt-mz", "--class", "S", "--units", "2:CPU:1", "--oversubscribe")
        self.assertEqual(record["evener"], "0.1.0")
        self.assertEqual(record["app"], "bt-mz")
        self.assertEqual(record["class"], "S")
        self.assertEqual(record["steps"], 60)
        self.assertIs(record["verified"], True)
        self.assertGreater(record["seconds"], 0)
        self.assertAlmostEqual(record["mops"] * record["seconds"], 381.8335, delta=0.01)
        self.assertEqual(len(record["norms"]["residual"]), 5)
        self.assertEqual(len(record["norms"]["error"]), 5)
        self.assertAlmostEqual(record["norms"]["residual"][0] / 1047.687395830, 1, delta=1e-11)
        self.assertNotIn("surface", record["norms"])
        self.assertRegex(record["hash"], "^[0-9a-f]{16}$")
        self.assertEqual(len(record["owner"]), 4)
        self.assertEqual(sum(u["tasks"] for u in record["units"]), 4)
        self.assertEqual(sum(u["weight"] for u in record["units"]), 24 * 24 * 6)
        for unit in record["units"]:
            self.assertEqual(unit["kind"], "cpu")
            self.assertIsNone(unit["device"])
            for key in ("compute_s", "exchange_s", "idle_s"):
                self.assertGreaterEqual(unit[key], 0)
        if all(unit["compute_s"] for unit in record["units"]):  # on a busy machine one unit may have stolen all
            self.assertGreaterEqual(record["imbalance"], 1)
        for key in ("compute_s", "communication_s"):
            self.assertGreater(record["periods"][key], 0)
        for key in ("migrations", "messages", "bytes"):
            self.assertGreaterEqual(record["transfers"][key], 0)
        self.assertEqual(record["schedule"], "auto")
        self.assertIn("cores", record["machine"])
        self.assertIn("compiler", record["build"])
        self.assertIn("run bt-mz", record["command"])

    def test_surface(self):
        record = self.record("run", "lu-mz")
        self.assertAlmostEqual(record["norms"]["surface"] / 49.64435445706, 1, delta=1e-11)

    def test_npb_labels(self):
        """What scripts for NPB's output look for."""
        for app in APPS:
            done = self.evener("run", app, "--class", "S")
            out = done.stdout
            self.assertIn(f"{app.upper()} Benchmark", out)
            self.assertIn(f" {app.upper()} Benchmark Completed.", out)
            self.assertRegex(out, r"Verification    = +SUCCESSFUL")
            self.assertRegex(out, r"Time in seconds = +\d+\.\d\d")
            self.assertRegex(out, r"Mop/s total     = +\d+\.\d\d")
            self.assertRegex(out, r"(?m)^ Class           = +S$")
            self.assertRegex(out, r"Comparison of RMS-norms of residual")
            self.assertEqual(done.stderr, "", "a pipe sees no progress")

    def test_steps(self):
        """Norms after 0, 1 and 2 steps: they move, and nothing is verified."""
        seen = set()
        for steps in (0, 1, 2):
            record = self.record("run", "sp-mz", "--steps", str(steps))
            self.assertIsNone(record["verified"])
            self.assertEqual(record["steps"], steps)
            seen.add(record["norms"]["error"][0])
        self.assertEqual(len(seen), 3)
        self.evener("run", "sp-mz", "--steps", "0")
        full = self.record("run", "sp-mz", "--steps", "100")
        self.assertIs(full["verified"], True, "the class's own number, said aloud")

    def test_json_file(self):
        """A record on disk is whole, has ordinary rights, and leaves nothing beside it."""
        path = self.path("record.json")
        umask = os.umask(0o022)
        self.addCleanup(os.umask, umask)
        self.evener("run", "bt-mz", "--json", path)
        self.assertIs(self.load("record.json")["verified"], True)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o644)
        self.assertEqual(os.listdir(self.folder), ["record.json"])

    def test_json_to_standard_output(self):
        done = self.evener("run", "bt-mz", "--json", "-")
        json.loads(done.stdout)
        self.assertIn("Verification", done.stderr)

    def test_trace(self):
        """Chrome's trace format: a track a unit, a slice a zone and pass, every arrow with both its ends."""
        path = self.path("trace.json")
        self.evener("run", "bt-mz", "--steps", "6", "--units", "2:CPU:1", "--oversubscribe", "--quiet",
                      "--schedule", "dynamic", "--trace", path)
        events = self.load("trace.json")["traceEvents"]
        tracks = [e for e in events if e["name"] == "thread_name"]
        self.assertEqual([t["args"]["name"] for t in tracks], ["unit 0 (CPU, 1 core)", "unit 1 (CPU, 1 core)"])
        slices = [e for e in events if e["ph"] == "X"]
        self.assertEqual(sum(e["cat"] == "compute" for e in slices), 6 * 4)
        # each unit, all its zones at once; one that has drawn none, as happens where others need its core, exchanges none
        self.assertIn(sum(e["cat"] == "exchange" for e in slices), range(6, 6 * 2 + 1))
        for unit in (0, 1):
            mine = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if e["tid"] == unit)
            for (_, end), (begin, _) in zip(mine, mine[1:]):
                self.assertLessEqual(end, begin + 0.002, "slices of a unit may not overlap")
        starts = sorted(e["id"] for e in events if e["ph"] == "s")
        self.assertEqual(starts, sorted(e["id"] for e in events if e["ph"] == "f"))
        counts = [e["args"]["units"] for e in events if e["ph"] == "C" and e["name"] == "units at work"]
        self.assertTrue(all(0 <= c <= 2 for c in counts) and counts[-1] == 0)
        self.assertEqual(os.listdir(self.folder), ["trace.json"])
        self.evener("run", "bt-mz", "--steps", "6", "--units", "2:CPU:1", "--oversubscribe", "--quiet", "--schedule", "static",
                      "--trace", path)
        events = self.load("trace.json")["traceEvents"]
        self.assertEqual(sum(e["ph"] == "X" and e["cat"] == "exchange" for e in events), 6 * 2)
        self.refuses(["run", "bt-mz", "--trace", self.path("no/such/trace.json")], "cannot be written")

    def test_quiet(self):
        done = self.evener("run", "bt-mz", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Taken(Base):
    """The share of time that other threads had a unit's cores: in the record, and in a line where it is 5 % or more."""

    def other(self, core):
        """A program that wants the core all the time."""
        spin = "import os\nos.sched_setaffinity(0, [%d])\nprint(flush=True)\nwhile True: pass" % core
        process = subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE)
        process.stdout.readline()
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def units(self):
        return self.load("r.json")["units"]

    def check(self, said, units):
        """The line names the units of which the record says so; how many."""
        taken = [(f"{100 * u['taken']:.0f}", str(u["id"])) for u in units if u["taken"] is not None and u["taken"] >= 0.05]
        lines = [text for text in said.splitlines() if "taken by other threads: " in text]
        self.assertEqual(len(lines), 1 if taken else 0, said)
        self.assertEqual(re.findall(r"(\d+) % of the core time of unit (\d+)", "".join(lines)), taken)
        for unit in units:
            self.assertTrue(unit["taken"] is None or 0 <= unit["taken"] <= 1, unit)
        return len(taken)

    def test_run(self):
        core = min(os.sched_getaffinity(0))
        run = "run", "sp-mz", "--class", "S", "--steps", "1500", "--json", self.path("r.json")
        self.other(core)
        self.other(core)
        for words, count in (("--units", f"1:CPU:1@{core}"), 1), (("--units", "1:CPU:2", "--oversubscribe"), 1), \
                            (("--units", "1:CPU:1", "--oversubscribe", "--processes", "2"), 2):
            with self.subTest(words=words):
                done = self.evener(*run, *words, launch=["taskset", "-c", core])
                units = self.units()
                self.assertEqual([unit["threads"] for unit in units], [2 if "1:CPU:2" in words else 1] * count)
                said = self.check(done.stdout, units)
                if units[0]["taken"] is not None:  # the kernel counts
                    self.assertGreater(said, 0)

    def test_little(self):
        """Less than that is in the record alone."""
        done = self.evener("run", "sp-mz", "--class", "S", "--units", "1:CPU:1", "--json", self.path("r.json"))
        self.check(done.stdout, self.units())


class BadInput(Base):
    def test_words(self):
        self.refuses(["gallop"], "gallop", "expected info, run, plan, model, bench, calibrate, report, watch, doctor or mesh")
        self.refuses(["run"], "expected bt-mz, sp-mz, lu-mz, ft, mg, td-bem or adaptive")
        self.refuses(["run", "mt-bz"], "mt-bz", "expected bt-mz, sp-mz, lu-mz, ft, mg, td-bem or adaptive")
        self.refuses(["run", "bt-mz", "sp-mz"], "one word too many")
        self.refuses(["run", "bt-mz", "--clas", "S"], "did you mean --class?")
        self.refuses(["run", "bt-mz", "--zzzzzzz"], "evener run --help")
        self.refuses(["run", "bt-mz", "--class"], "--class needs a value")
        self.refuses(["run", "bt-mz", "--class", ""], "--class needs a value")
        self.refuses(["run", "bt-mz", "--quiet=1"], "takes no value")
        self.refuses(["bench", "trot"], "expected tasks, links, wire, pinning, put, papers, schedules, units, cluster, npbmz, exchange, ft, mg or td-bem")
        self.refuses(["info", "here"], "one word too many")

    def test_class(self):
        for name in ("X", "s", "SS", "1"):
            self.refuses(["run", "bt-mz", "--class", name], f'"{name}"', "S W A B C D E F")

    def test_schedule(self):
        self.refuses(["run", "bt-mz", "--schedule", "magic"], '"magic"', "static, dynamic, guided")
        self.refuses(["run", "bt-mz", "--schedule", "dynamic:chunk=0"], "chunk")
        self.refuses(["run", "bt-mz", "--schedule", "guided"], "guided:size or guided:time")

    def test_units(self):
        self.refuses(["run", "bt-mz", "--units", "4:CPUS:4"], "column 3", 'unknown family "CPUS"', "expected CPU, GPU or FPGA")
        self.refuses(["run", "bt-mz", "--units", "0:CPU:1"], "zero units")
        self.refuses(["run", "bt-mz", "--units", "1:CPU:0"], "how many cores")
        self.refuses(["run", "bt-mz", "--units", "4096:CPU:1"], "4096 cores", "--oversubscribe")
        self.refuses(["run", "bt-mz", "--units", "2:GPU:1", "--devices", "emulated:1"], "2 devices", "gives 1")
        self.refuses(["run", "bt-mz", "--devices", "card"], "unknown back end", "emulated")

    def test_application(self):
        """The first word that is no option's value, wherever it stands."""
        path = self.path("td-bem")
        self.evener("run", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--json", path)
        self.assertEqual(self.load("td-bem")["app"], "bt-mz")
        for words in (["--json", "td-bem", "bt-mz"], ["--class", "S", "bt-mz", "--json", "td-bem"]):
            self.evener("run", "--steps", "1", "--quiet", *words)
        self.refuses(["run", "--json", "td-bem"], "which workload?")
        self.refuses(["plan", "mt-bz"], "mt-bz", "expected bt-mz, sp-mz, lu-mz, ft, mg, td-bem or adaptive")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--on-device-loss", "continue"], "expected stop")

    def test_memory(self):
        """Class F says how much it needs, at once, and class E on this node as well if it does not fit."""
        for app in APPS:
            start = time.monotonic()
            self.refuses(["run", app, "--class", "F"], "GB of memory", "are available", page=True)
            self.assertLess(time.monotonic() - start, 20, "nothing may be allocated before")

    def test_limited_memory(self):
        """The kernel says no while zones are made: a message, not a crash."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        done = self.evener("run", "sp-mz", "--class", "C", "--steps", "1", "--units", "1:CPU:1",
                      preexec_fn=limit, status=None)
        self.assertIn(done.returncode, (2, 3), done.stderr)
        self.assertIn("memory", done.stderr)
        self.assertTrue(done.stderr.startswith("evener: "), done.stderr)


class Plan(Base):
    def plan(self, *words):
        return self.record("plan", *words)["iterations"]

    def test_guided_by_size(self):
        """The imbalances of the multi-GPU paper's algorithm on 4 units."""
        for class_, expected in (("B", [3.708, 4.035, 3.087, 1.085]), ("C", [3.300, 3.534, 2.933, 1.019])):
            found = self.plan("bt-mz", "--class", class_, "--units", "4:CPU:1", "--schedule", "guided:size")
            self.assertEqual([round(i["imbalance"], 3) for i in found], expected)

    def test_iterations(self):
        for schedule in SCHEDULES:
            found = self.plan("bt-mz", "--class", "W", "--units", "2:CPU:2,1:GPU:1", "--schedule", schedule,
                              "--iterations", "7")
            self.assertEqual(len(found), 7)
            owner = None
            for step in found:
                self.assertEqual(len(step["owner"]), 16)
                self.assertEqual(len(step["load"]), 3)
                self.assertAlmostEqual(sum(step["load"]), 64 * 64 * 8)
                moved = sum(a != b for a, b in zip(owner, step["owner"])) if owner else 0
                self.assertEqual(step["migrations"], moved)
                owner = step["owner"]

    def test_table(self):
        done = self.evener("plan", "bt-mz", "--class", "B", "--units", "4:CPU:1", "--schedule", "guided:size")
        self.assertRegex(done.stdout, r"(?m)^ +4 +1\.085 ")
        self.assertIn("zones by unit", done.stdout)

    def test_no_seconds(self):
        """Where nothing is known in seconds no number is said to be some."""
        for app in "bt-mz", "sp-mz", "lu-mz", "ft", "mg", "td-bem", "adaptive":
            size = {"td-bem": ("--mesh", "sphere:1"), "adaptive": ("--size", "32")}.get(app, ("--class", "S"))
            for schedule in ("auto", "optimal", "guided:time", "binpack:time", "interval") if app == "bt-mz" else ("map",):
                done = self.evener("plan", app, *size, "--units", "2:CPU:1", "--schedule", schedule)
                self.assertNotRegex(done.stdout, r"[0-9] (ns|us|ms|s|seconds)\b|nan|inf\b", (app, schedule))


class Other(Base):
    def test_info(self):
        done = self.evener("info")
        for word in ("processor", "cores", "memory", "devices", "schedules", "binding    works"):
            self.assertIn(word, done.stdout)
        record = json.loads(self.evener("info", "--json", "-").stdout)
        self.assertGreaterEqual(record["machine"]["cores"], 1)

    def test_doctor(self):
        """A line a topic, with what to do; of a mask and a binding of OpenMP, and of few processors, it is said."""
        topics = "version", "cores", "load", "clock", "binding", "memory", "MPI", "devices", "LAPACK", "libraries", "calibration"
        found = {f["topic"]: f for f in json.loads(self.evener("doctor", "--json", "-").stdout)["findings"]}
        self.assertEqual(tuple(found), topics)
        done = self.evener("doctor", env={**self.environment, "OMP_PROC_BIND": "true", "EVENER_BIND": "none"})
        lines = done.stdout.splitlines()
        self.assertEqual(tuple(line.split()[0] for line in lines[:-1] if line[:1].strip()), topics)
        self.assertRegex(lines[-1], r"\A[1-9][0-9]* things? to do")
        self.assertEqual(int(lines[-1].split()[0]), sum(line.startswith(" " * 11 + "  -> ") for line in lines))
        for word in ("OMP_PROC_BIND=true", "threads are not bound, as EVENER_BIND says", "-> unset EVENER_BIND"):
            self.assertIn(word, done.stdout)
        self.refuses(["doctor", "bt-mz"], "bt-mz")

    def test_help(self):
        for words in ([], ["doctor"], ["watch"], ["run"], ["plan"], ["info"], ["model"], ["bench"], ["bench", "tasks"], ["bench", "npbmz"], ["bench", "td-bem"],
                      ["bench", "exchange"], ["bench", "schedules"], ["bench", "links"], ["bench", "wire"], ["run", "bt-mz"], ["run", "td-bem"],
                      ["plan", "td-bem"], ["calibrate"], ["calibrate", "td-bem"], ["report"], ["mesh"]):
            done = self.evener(*words, "--help")
            self.assertIn("usage: evener", done.stdout)
        done = self.evener(status=2)
        self.assertRegex(self.evener("--version").stdout, r"^evener \d+\.\d+\.\d+\n$")

    def test_bench_tasks(self):
        done = self.evener("bench", "tasks", "--units", "1:CPU:1", "--tasks", "1000", "--repeat", "3")
        self.assertIn("OpenMP schedule(dynamic,1)", done.stdout)

    def test_taskset(self):
        """Only the cores this process may use count."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core only")
        core = max(os.sched_getaffinity(0))
        bound = {"launch": ["taskset", "-c", core]}
        self.assertEqual(json.loads(self.evener("info", "--json", "-", **bound).stdout)["machine"]["cores"], 1)
        self.assertEqual(self.record("run", "bt-mz", **bound)["units"][0]["cores"], [core])
