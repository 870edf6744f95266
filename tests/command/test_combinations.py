#!/usr/bin/env python3
"""What may be combined: no option is passed over in silence. Pairs that exclude or need one another are refused before
anything is computed, and where one changes nothing that is said in a line. Lists of studies, numbers and sizes likewise.

Run: ctest -R command-combinations, or tests/command/test_combinations.py build/evener [test ..]
"""
import json
import os

import base
from base import MACHINES

BODY = ["td-bem", "--mesh", "sphere:0"]


class Base(base.Base):
    def setUp(self):
        super().setUp()
        self.machine = os.path.abspath(os.path.join(MACHINES, "epyc-2mi50.json"))
        self.write("points", "2 0 0\n")
        self.write("entries", "0 0 0\n")

    def warns(self, words, *says):
        """Done, and one line says what changes nothing."""
        with self.subTest(words=words):
            done = self.evener(*words)
            line, = [line for line in done.stderr.split("\n") if "nothing" in line]
            self.assertTrue(line.startswith("evener: warning: "), line)
            for word in says:
                self.assertIn(word, line)
            return done

    def silent(self, *words):
        with self.subTest(words=words):
            done = self.evener(*words, said="")
            return done


class Pairs(Base):
    def test_run(self):
        run = ["run", "bt-mz", "--units", "1:CPU:1"]
        self.refuses([*run, "--quiet", "--verbose"], "--quiet and --verbose")
        self.refuses([*run, "--slow", "0:2@100", "--steps", "100"], "no step 100 among 100")
        self.silent(*run, "--quiet", "--slow", "0:2@0", "--steps", "1")
        # of an option that is given twice the last counts, so that scripts can append
        done = self.silent(*run, "--quiet", "--steps", "3", "--json", "-", "--steps", "2")
        self.assertEqual(json.loads(done.stdout)["steps"], 2)

    def test_devices(self):
        run = ["run", "bt-mz", "--steps", "1", "--quiet", "--units"]
        for units in ("1:CPU:1", "auto", "1:CPU:1,1:GPU:1"):
            self.refuses([*run, units, "--devices", "garbage"], "garbage", "cuda, hip, opencl, emulated")
        self.warns([*run, "1:CPU:1", "--devices", "emulated"], "--devices", "1:CPU:1", "no unit of it is a GPU")
        self.warns([*run, "1:CPU:1", "--on-device-loss", "continue"], "--on-device-loss", "no unit of it is a GPU")
        self.silent(*run, "1:CPU:1,1:GPU:1", "--devices", "emulated", "--on-device-loss", "continue")
        self.silent(*run, "auto", "--devices", "emulated")
        self.refuses(["run", *BODY, "--quiet", "--units", "1:CPU:1", "--solver", "cg:device"], "cg:device")
        calibrate = ["calibrate", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--units", "1:CPU:1", "--devices"]
        self.refuses([*calibrate, "garbage"], "garbage")
        # --output is the command's own here, and of the workload under run
        self.silent("calibrate", "td-bem", "--mesh", "sphere:0", "--steps", "1", "--units", "1:CPU:1", "--quiet", "--output", "figures.json")
        self.warns([*calibrate, "emulated"], "--devices")

    def test_plan(self):
        plan = ["plan", "bt-mz", "--units", "2:CPU:1"]
        self.refuses([*plan, "--quiet", "--verbose"], "--quiet and --verbose")
        self.refuses([*plan, "--speeds", "1,1", "--machine", self.machine], "--speeds and --machine", "how fast")
        self.refuses([*plan, "--speeds", "1,1", "--times", "none"], "--speeds and --times")
        self.refuses([*plan, "--exchange", "sequential"], "--exchange also needs --machine FILE or --times FILE")
        self.refuses([*plan, "--slow", "0:2@4"], "no step 4 among 4")
        self.warns([*plan, "--perturb", "--quiet"], "--perturb", "computes nothing")
        self.silent(*plan, "--slow", "0:2@3", "--quiet")

    def test_bem(self):
        run = ["run", *BODY, "--quiet", "--steps", "2"]
        needs = (("--probe-output", "p", "--probes FILE"), ("--probes", "points", "--probe-output FILE or --transfer-function FILE or --impulse-response FILE or --output DIR"),
                 ("--transfer-function", "t", "--probes FILE"), ("--impulse-response", "i", "--probes FILE"),
                 ("--sample-rate", "9", "--impulse-response FILE"),
                 ("--vertex-output", "v", "--vertices LIST"), ("--vertices", "0", "--vertex-output FILE"),
                 ("--spectrum", "s", "--frequencies LIST"), ("--far-field", "f", "--frequencies LIST"),
                 ("--frequencies", "1", "--spectrum FILE or --far-field FILE or --transfer-function FILE"),
                 ("--every", "2", "--output DIR or --checkpoint FILE"))
        for option, value, other in needs:
            self.refuses([*run, option, value], f"{option} also needs {other}")
        self.refuses([*run, "--delta", "0.1", "--delta-ratio", "0.5"], "--delta and --delta-ratio")
        for problem in "soft", "rigid":
            self.silent(*run, "--problem", problem, "--eta", "0.5")
        self.silent(*run, "--every", "2", "--checkpoint", "cp")

    results = (["--probes", "points", "--probe-output", "p"], ["--vertices", "0", "--vertex-output", "v"],
               ["--probes", "points", "--impulse-response", "i"], ["--probes", "points", "--transfer-function", "i"],
               ["--frequencies", "0.5", "--spectrum", "s"], ["--frequencies", "0.5", "--far-field", "f"], ["--output", "o"],
               ["--checkpoint", "cp"], ["--restart", "cp"])

    def test_results_of_runs_only(self):
        """What only a run writes is not asked of a plan, nor of a calibration; and their help does not have it."""
        for command in ("plan", "calibrate"):
            for words in [*self.results, ["--entries", "entries"]]:
                if command == "calibrate" and words[0] == "--output":  # which is its own
                    continue
                self.refuses([command, *BODY, "--quiet", *words], f"evener {command} and {words[0]} do not go together")
            for name in ("probes", "vertex-output", "spectrum", "checkpoint", "restart", "entries"):
                self.assertNotIn("--" + name, self.evener(command, "td-bem", "--help").stdout)
                self.assertIn("--" + name, self.evener("run", "td-bem", "--help").stdout)
        done = self.warns(["plan", *BODY, "--quiet", "--units", "1:CPU:1", "--pulse", "gaussian:sigma=2", "--solver", "cg"],
                          "--pulse, --solver", "no task depends on it")
        self.assertEqual(done.stdout, "")

    def test_entries(self):
        """They are printed, and nothing else is done: what asks for more is refused, the rest is said."""
        entries = ["run", *BODY, "--entries", "entries"]
        for words in [*self.results, ["--matrices", "m"], ["--trace", "t"], ["--json", "r"]]:
            self.refuses([*entries, *words], f"--entries and {words[0]} do not go together", "stops")
        self.refuses(["run", *BODY, "--entries", "none", "--steps", "3"], "none")  # and no line about --steps
        self.refuses(["plan", "lu-mz", "--class", "S", "--sweeps", "some"], "some", "launches or one")
        plain = self.silent(*entries, "--quiet", "--eta", "0", "--delta", "0.4", "--quad", "1").stdout
        self.assertRegex(plain, r"\A0,0,0,\S+\n\Z")
        done = self.warns([*entries, "--eta", "0", "--delta", "0.4", "--quad", "1", "--steps", "3", "--units", "1:CPU:1",
                           "--layout", "rows"], "--steps, --units, --layout", "--entries")
        self.assertEqual(done.stdout, plain)

    def test_studies(self):
        machine = self.machine
        self.refuses(["bench", "schedules", "--map", "--planning"], "--map and --planning")
        self.refuses(["bench", "schedules", "--intervals", "--steps", "3"], "--intervals and --steps")
        self.refuses(["bench", "schedules", "--map", machine], "--map and FILE")
        self.refuses(["bench", "schedules", "--map", "--steps", "3"], "--map and --steps")
        self.refuses(["bench", "schedules", "--planning", "--classes", "B"], "--planning and --classes")
        self.refuses(["bench", "schedules", "--planning", machine], "--planning and FILE")
        self.refuses(["bench", "schedules", machine, "--tasks", "9"], "--tasks also needs --planning")
        self.refuses(["bench", "schedules", machine, "--unit-count", "9"], "--unit-count also needs --planning")
        self.refuses(["bench", "td-bem", "--devices", "emulated"], "--devices also needs --solvers")
        self.refuses(["bench", "td-bem", "--solvers", "--table"], "--solvers and --table")


class Words(Base):
    def test_lists(self):
        """Empty, doubled and unknown entries of the studies' lists, before anything is printed."""
        for study, files in (("npbmz", []), ("schedules", [self.machine])):
            for apps, says in ((",", "item 1 is empty"), ("bt-mz,", "item 2 is empty"), ("bt-mz,,sp-mz", "item 2 is empty"),
                               ("bt-mz,sp-mz,bt-mz", '"bt-mz" is there twice'), ("bt-mz,tf", '"tf"'),
                               (",".join(f"a{i}" for i in range(40)), "more than 32"), ("x" * 300, "longer than")):
                self.refuses(["bench", study, "--apps", apps, *files], "--apps", says)
        self.refuses(["bench", "schedules", self.machine, "--apps", "bt-mz,td-bem"], "td-bem has no classes")
        for mode in ([self.machine], ["--map"]):
            self.refuses(["bench", "schedules", *mode, "--classes", "BCB"], "B is there twice")
            self.refuses(["bench", "schedules", *mode, "--classes", "BX"], '"X"')
        self.refuses(["calibrate", "bt-mz", "sp-mz", "bt-mz"], "bt-mz is there twice")

    def test_numbers(self):
        """What is wrong with one, and what would be right."""
        run, plan = ["run", "bt-mz"], ["plan", "bt-mz", "--units", "2:CPU:1"]
        body = ["run", *BODY]
        cases = ((run, "--steps", "1e101", "too large; expected a whole number from 0 to 1000000000"),
                 (run, "--steps", "-1", "too small; expected a whole number from 0"),
                 (run, "--steps", "1.5", "not written as a whole number"), (run, "--steps", "x", "no number"),
                 (run, "--steps", "10x", '"x" behind the number'), (run, "--steps", "0x10", '"x10" behind'),
                 (run, "--steps", "nan", "not finite"), (run, "--slow", "0:1e101@1", "too large"),
                 (run, "--slow", "0:2", "UNIT:FACTOR@STEP"), (run, "--slow", "-1:2@1", "too small"),
                 (run, "--slow", "0:2@1x", '"x" behind'),
                 (plan, "--speeds", "1,x", "item 2 is no number; expected a number from 1e-100"),
                 (plan, "--slow", "0:1e308@1", "from 1e-100 to 1e+100"),
                 (plan, "--speeds", "1,0", "item 2 is too small"), (plan, "--speeds", "1,", "item 2 is empty"),
                 (plan, "--speeds", "1,1,1", "expected 2 numbers"), (plan, "--speeds", "1,1e999", "item 2 is too large"),
                 (body, "--delta", "0", "too small; expected a number above 0"), (body, "--delta", "1e999", "too large"),
                 (body, "--eta", "inf", "not finite"), (body, "--eta", "0,5", '",5" behind'),
                 (body, "--memory", "50Mb", '"Mb" behind the number; expected a size'),
                 (body, "--memory", "MB", "no number; expected a size above 0, as 500MB or 1.5GiB"),
                 (body, "--memory", "-5MB", "too small"), (body, "--memory", "0", "too small"), (body, "--direction", "1,2", "expected 3 numbers"),
                 (["bench", "td-bem"], "--delta-ratio", "1e101", "too large"))
        for words, option, value, says in cases:
            self.refuses([*words, option, value], f"{option} {value}: ", says)

    def test_sizes(self):
        """Devices and matrices read sizes by the same table."""
        for size in ("64MiB", "67108864", "67108864B", "67108.864kB", "0.0625GiB", "0.00006103515625TiB"):
            self.silent("run", "bt-mz", "--quiet", "--steps", "1", "--units", "1:GPU:1", "--devices", f"emulated:memory={size}")
            self.silent("run", *BODY, "--quiet", "--steps", "1", "--units", "1:CPU:1", "--memory", size)
        for size in ("64mib", "64 MiB", "64M", "1e999", "nan"):
            self.refuses(["run", "bt-mz", "--quiet", "--units", "1:GPU:1", "--devices", f"emulated:memory={size}"], f"memory={size}",
                         "as 500MB or 1.5GiB")
            self.refuses(["run", *BODY, "--memory", size], f"--memory {size}", "as 500MB or 1.5GiB")
