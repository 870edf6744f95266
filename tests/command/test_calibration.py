#!/usr/bin/env python3
"""Calibrations: measured, kept, used; a file for each figure of each machine, so that several may calibrate at once and a home
may be shared; what is damaged, older or foreign is left out with a line and never stops a run. Nothing is timed but
calibrate's own runs.

Run: ctest -R command-calibration, or tests/command/test_calibration.py build/evener [test ..]
"""
import json
import os
import shutil
import subprocess

import base
from base import EVENER

FAST = ["--class", "S", "--steps", "1", "--quiet"]


class Base(base.Base):
    def setUp(self):
        super().setUp()
        self.cache = self.own_cache()

    def calibrate(self, *words):
        done = self.evener("calibrate", *FAST, *words)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def files(self, app=""):
        return sorted(os.path.join(self.cache, name) for name in os.listdir(self.cache) if name.startswith(app))

    def speeds(self, app="bt-mz", *words, units="1:CPU:1", warns=None):
        """The plan's speeds, or None where they are not calibrated; exactly one line where there is something to say."""
        done = self.evener("plan", app, "--units", units, "--schedule", "weighted", "--json", "-", "--quiet", *words)
        if warns is None:
            self.assertEqual(done.stderr, "")
        else:
            line, = done.stderr.strip().split("\n")
            self.assertTrue(line.startswith("evener: warning: "), line)
            self.assertIn(warns, line)
        found = json.loads(done.stdout)
        return found["speed"] if found["basis"] == "speeds as calibrated" else None


class Kept(Base):
    def test_use(self):
        self.assertIsNone(self.speeds())
        done = self.evener("calibrate", "bt-mz", "--class", "S", "--units", "1:CPU:1", "--steps", "2")
        self.assertRegex(done.stdout, r"(?m)^bt-mz +S +CPU:1 +4 +\d+\.\d+ +1\.00 ")
        self.assertIn(f"kept in {self.cache}", done.stdout)
        file, = self.files()
        kept = self.load(file)
        one, = kept["entries"]
        self.assertEqual((one["app"], one["class"], one["unit"], one["tasks"]), ("bt-mz", "S", "CPU:1", 4))
        self.assertEqual(self.speeds(), [one["weight_per_s"]])
        self.assertIsNone(self.speeds(units="1:CPU:1,1:CPU:2"))  # nothing is known of CPU:2
        kept["entries"].append(dict(one, unit="CPU:2", weight_per_s=3 * one["weight_per_s"]))
        self.write(file, kept)
        speed = self.speeds(units="1:CPU:1,1:CPU:2")
        self.assertAlmostEqual(speed[1] / speed[0], 3)
        # another class of the same workload; not another workload
        self.assertIsNotNone(self.speeds("bt-mz", "--class", "W"))
        self.assertIsNone(self.speeds("sp-mz"))

    def test_replaced(self):
        """A second calibration replaces its own figure, and the table has the others too."""
        self.calibrate("bt-mz", "--units", "1:CPU:1,1:CPU:2")
        first = {file: self.load(file) for file in self.files()}
        self.assertEqual([r["entries"][0]["unit"] for r in first.values()], ["CPU:1", "CPU:2"])
        done = self.evener("calibrate", "bt-mz", "--class", "S", "--units", "1:CPU:1", "--steps", "2")
        self.assertRegex(done.stdout, r"(?m)^bt-mz +S +CPU:1 .*\nbt-mz +S +CPU:2 ")
        self.assertEqual([self.load(file) == was for file, was in first.items()], [False, True])
        self.assertEqual(len(self.files()), 2)

    def test_nearest_class(self):
        for name in ("W", "S"):
            self.calibrate("bt-mz", "--units", "1:CPU:1", "--class", name)
        by_class = {self.load(file)["entries"][0]["class"]: self.load(file)["entries"][0]["weight_per_s"] for file in self.files()}
        self.assertEqual(self.speeds("bt-mz", "--class", "S"), [by_class["S"]])
        self.assertEqual(self.speeds("bt-mz", "--class", "A"), [by_class["W"]])

    def test_at_once(self):
        """Fifteen rounds of two; nothing is lost, nothing is left."""
        for _ in range(15):
            shutil.rmtree(self.cache, ignore_errors=True)
            two = [subprocess.Popen([EVENER, "calibrate", app, "--units", "1:CPU:1", *FAST], env=self.environment,
                                    stderr=subprocess.DEVNULL) for app in ("bt-mz", "sp-mz")]
            self.assertEqual([p.wait() for p in two], [0, 0])
            self.assertEqual([self.load(file)["entries"][0]["app"] for file in self.files()], ["bt-mz", "sp-mz"])


class Teams(Base):
    """What teams cost: measured without --units, used by --units auto, told by info."""

    def setUp(self):
        super().setUp()
        if len(json.loads(self.evener("info", "--json", "-").stdout)["machine"]["parts"][0]["cores"]) < 2:
            self.skipTest("the cores of a part make a team, and the first has one")
        self.calibrate("sp-mz")
        self.file, = (file for file in self.files("sp-mz") if "-together-" in file)

    def auto(self, warns=""):
        done = self.evener("run", "sp-mz", "--class", "S", "--steps", "1", "--quiet", "--json", "-")
        self.assertIn(warns, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1 if warns else 0, done.stderr)
        return json.loads(done.stdout)["auto"]

    def test_used(self):
        kept = self.load(self.file)
        one, = kept["entries"]
        self.assertGreaterEqual(one["largest"], 2)
        self.assertGreaterEqual(one["doubling"], 0)
        self.assertGreaterEqual(one["meeting_s"], 0)
        self.write(self.file, dict(kept, entries=[dict(one, doubling=0.375)]))
        auto = self.auto()
        self.assertEqual((auto["doubling"], auto["doubling_is"]), (0.375, "measured"))
        self.assertIn("a team's doubling costs 0.38, measured", auto["why"])
        told = self.evener("info").stdout
        self.assertRegex(told, r"(?m)^teams +a doubling costs sp-mz 0\.38; others 0\.2, assumed until")
        # meetings that take longer than all else are avoided
        self.write(self.file, dict(kept, entries=[dict(one, meeting_s=0.9)]))
        units = [unit["cores"] for unit in json.loads(self.evener(
            "run", "sp-mz", "--class", "S", "--steps", "1", "--quiet", "--json", "-").stdout)["units"]]
        self.assertTrue(all(len(cores) == 1 for cores in units), units)
        # and others' figures stay theirs
        self.assertEqual(self.speeds("sp-mz", "--class", "S"), self.speeds("sp-mz"))

    def test_left_out(self):
        kept = self.load(self.file)
        one, = kept["entries"]
        for wrong, says in (({"doubling": -1}, "is damaged"), ({"doubling": None}, "is damaged"), ({"meeting_s": "x"}, "is damaged"),
                            ({"largest": 1}, "is damaged"), ({"task_s": 0}, "is not a calibration")):
            with self.subTest(wrong=wrong):
                self.write(self.file, dict(kept, entries=[dict(one, **wrong)]))
                auto = self.auto(warns=says)
                self.assertEqual((auto["doubling"], auto["doubling_is"]), (0.2, "assumed"))
                self.assertIn("assumed until", self.evener("info").stdout)
        os.remove(self.file)
        self.assertEqual(self.auto()["doubling_is"], "assumed")


class LeftOut(Base):
    """Figures that do not fit: a line, and cores count instead."""

    def setUp(self):
        super().setUp()
        self.calibrate("bt-mz", "--units", "1:CPU:1")
        self.file, = self.files()
        self.kept = self.load(self.file)

    def spoilt(self):
        one = self.kept["entries"][0]
        return (("[1, 2", "is no JSON: line 1"), ("", "is no JSON"), ("[]", "is not a calibration"),
                (dict(self.kept, entries=[dict(one, weight_per_s=-1)]), "is not a calibration"),
                (dict(self.kept, entries=[dict(one, task_s=None)]), "is not a calibration"),
                (dict(self.kept, entries=5), "is not a calibration"), (dict(self.kept, evener="0.0.1"), "another version"),
                (dict(self.kept, calibration=1), "another version"),
                (dict(self.kept, machine=dict(self.kept["machine"], processor="abacus")), "another machine"),
                (dict(self.kept, machine=dict(self.kept["machine"], l2=1)), "another machine"))

    def test_plan_and_run(self):
        for what, says in self.spoilt():
            with self.subTest(says=says):
                self.write(self.file, what)
                self.assertIsNone(self.speeds(warns=says))
                done = self.evener("run", "bt-mz", "--units", "1:CPU:1", "--quiet", "--steps", "1")
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
        self.write(self.file, self.kept)
        self.assertIsNotNone(self.speeds())

    def test_others_count(self):
        """One damaged file is one figure less, and several are one line."""
        self.calibrate("bt-mz", "--units", "1:CPU:2", "--class", "W")
        self.write(self.file, "{")
        self.assertIsNotNone(self.speeds(units="1:CPU:2", warns="is no JSON"))
        self.write(self.files()[1], "{")
        self.assertIsNone(self.speeds(units="1:CPU:2", warns="(and 1 more)"))

    def test_unreadable(self):
        os.remove(self.file)
        os.mkdir(self.file)
        self.assertIsNone(self.speeds(warns="cannot be read"))

    def test_not_needed(self):
        """Who needs no speeds does not look."""
        self.write(self.file, "{")
        for schedule in ("static", "static:chunk=2", "dynamic", "dynamic:chunk=2"):
            self.evener("run", "bt-mz", "--units", "2:CPU:1", "--oversubscribe", "--quiet", "--steps", "1", "--schedule", schedule, said="")
        self.evener("run", "sp-mz", "--units", "1:CPU:1", "--quiet", "--steps", "1", said="")  # another workload's file

    def test_other_machines(self):
        """Figures of other machines in the same home are not looked at, and stay."""
        name = os.path.basename(self.file)
        mine = name.split("-")[2]
        other = os.path.join(self.cache, name.replace(mine, "0123456789abcdef"))
        self.write(other, "whatever")
        self.assertIsNotNone(self.speeds())
        self.calibrate("bt-mz", "--units", "1:CPU:1")
        self.assertEqual(self.read(other), "whatever")

    def test_earlier_version(self):
        """The one file that there was before: said where there is nothing newer."""
        self.write(self.cache + ".json", "whatever")
        self.assertIsNotNone(self.speeds())
        self.assertIsNone(self.speeds("sp-mz", warns="earlier version"))


class Places(Base):
    def test_no_home(self):
        """Nothing is known then, and there is nothing to be said of it; who calibrates has to name a file."""
        homeless = {k: v for k, v in self.environment.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        for words in (["run", "bt-mz", "--units", "1:CPU:1", "--quiet", "--steps", "1"],
                      ["plan", "bt-mz", "--units", "1:CPU:1", "--quiet", "--schedule", "weighted"]):
            done = self.evener(*words, env=homeless, said="")
        done = self.evener("calibrate", "bt-mz", *FAST, env=homeless, status=2)
        self.assertIn("--output FILE", done.stderr)
        done = self.evener("calibrate", "bt-mz", "--units", "1:CPU:1", *FAST, "--output", "c.json", env=homeless)

    def test_output(self):
        """The figures of one call, instead of keeping them; an earlier one is replaced."""
        for unit in ("CPU:1", "CPU:2"):
            done = self.evener("calibrate", "bt-mz", "--units", f"1:{unit}", *FAST, "--output", "c.json")
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            one, = self.load(self.path("c.json"))["entries"]
            self.assertEqual(one["unit"], unit)
        self.assertFalse(os.path.exists(self.cache))

    def refuses(self, words, *says):
        with self.subTest(words=words):
            done = self.evener("calibrate", "bt-mz", "--units", "1:CPU:1", "--class", "S", "--steps", "1", *words, status=2)
            self.assertEqual(done.stdout, "")
            line, = done.stderr.strip().split("\n")  # and nothing of what is being measured
            for word in says:
                self.assertIn(word, line)

    def test_refused(self):
        """What is no calibration stays whole, and is refused before anything is measured."""
        for what in ("notes\n", "[1]", json.dumps({"app": "bt-mz"}), json.dumps({"calibration": "x"})):
            file = self.write(self.path("notes.txt"), what)
            self.refuses(["--output", file], "notes.txt", "stays as it is")
            self.assertEqual(self.read(file), what)
        self.refuses(["--output", "-"], "--output -")
        self.refuses(["--output", "no/where.json"], "cannot be written")
        self.refuses(["--output", self.folder], "cannot be written")
        open(self.path("empty"), "w", encoding="utf-8").close()  # as mktemp makes it
        self.evener("calibrate", "bt-mz", "--units", "1:CPU:1", *FAST, "--output", "empty")

    def test_folder_is_none(self):
        self.write(self.path("cache"), "a file")
        self.refuses([], "cannot be written", "--output FILE")

    def test_words(self):
        for words, says in ((["ft-mz"], "ft-mz"), (["bt-mz", "--units", "1:CPUS:1"], "CPUS")):
            self.assertIn(says, self.evener("calibrate", *words, status=2).stderr)
