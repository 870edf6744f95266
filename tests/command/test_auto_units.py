#!/usr/bin/env python3
"""What --units auto chooses: within 3 % of the best list of N units of M cores, by the model, for the three benchmarks on 8 to 128 cores;
units that suit machines and workloads; what the page and the record say.

By the model auto is only as good as the model: how far off it would be where teams cost more or less than it assumes is no test,
evener bench units --doubling shows it. With EVENER_TEST_LONG=1 all classes from S to D on all machines, half a minute.

Run: ctest -R command-auto-units, or tests/command/test_auto_units.py build/evener [test ..]
"""
import json
import os
import unittest

from base import TOPOLOGIES, Base

APPS = "bt-mz", "sp-mz", "lu-mz"


class Model(Base):
    def within(self, *words, rows):
        done = self.evener("bench", "units", *words, said="")
        table = [line.split() for line in done.stdout.split("\n") if "-mz" in line]
        self.assertEqual(len(table), rows)
        for row in table:
            # the time of auto and of the best are none that cores could not have
            self.assertGreaterEqual(float(row[4]), 0.999, row)
            self.assertLessEqual(float(row[-1]), 1.03, row)

    def test_small_classes(self):
        self.within("--classes", "SWA", rows=3 * 3 * 4)

    def test_large_classes(self):
        self.within("--classes", "BCD", "--cores", "8,16", rows=3 * 3 * 2)

    def test_one_cache(self):
        self.within("--classes", "WA", "--cores", "72", "--part", "72", rows=6)

    def test_fixed_schedule(self):
        self.within("--classes", "AB", "--cores", "8,16", "--schedule", "guided:size", rows=3 * 2 * 2)

    @unittest.skipUnless(os.environ.get("EVENER_TEST_LONG"), "half a minute: EVENER_TEST_LONG=1")
    def test_all(self):
        self.within(rows=3 * 6 * 4)

    def test_says_what_is_over(self):
        # teams that cost nothing: then auto, which assumes a cost, is beaten somewhere
        done = self.evener("bench", "units", "--classes", "W", "--cores", "8,16,64", "--doubling", "0", "--within", "0", "--apps", "bt-mz", status=1)
        self.assertIn(" !\n", done.stdout)

    def test_refused(self):
        for words, says in ((("--measure", "--cores", "8"), "--measure"), (("--cores", "0"), "--cores 0"), (("--rounds", "3"), "--measure"),
                            (("--apps", "td-bem"), "td-bem has no classes"), (("--schedule", "none"), "none")):
            self.refuses(["bench", "units", *words], says, page=True)


class Choice(Base):
    def units(self, *words, **variables):
        return self.record("plan", *words, **variables)["units"]

    def test_whole_parts_where_tasks_suffice(self):
        for synthetic, units in (("package:1 l3:1 core:1 pu:1", "1:CPU:1"), ("package:1 l3:1 core:8 pu:1", "1:CPU:8"),
                                 ("package:2 l3:2 core:8 pu:1", "4:CPU:8"), ("package:1 l3:1 core:64 pu:1", "1:CPU:64")):
            self.assertEqual(self.units("sp-mz", "--class", "C", HWLOC_SYNTHETIC=synthetic), units)

    def test_no_more_units_than_tasks(self):
        # class S has 4 zones
        for app in ("bt-mz", "sp-mz"):
            units = self.units(app, "--class", "S", HWLOC_SYNTHETIC="package:2 l3:8 core:8 pu:1")
            self.assertLessEqual(sum(int(group.split(":")[0]) for group in units.split(",")), 4, units)

    def test_fewer_tasks_than_parts(self):
        """Of a workload without a model of its teams: parts are joined, so that fewer cores are without a task."""
        for blocks, units in (("1", "1:CPU:32"), ("2", "2:CPU:16"), ("3", "4:CPU:8"), ("4", "4:CPU:8")):
            self.assertEqual(self.record("plan", "td-bem", "--mesh", "sphere:1", "--blocks", blocks,
                                         HWLOC_SYNTHETIC="package:4 l3:1 core:8 pu:1")["units"], units)

    def test_sizes_that_leave_cores_out(self):
        # two zones a unit gain nothing by more than six cores each; units that many share have all cores but one or two. By vectors of eight lines, and of four
        many = "package:4 l3:16 core:32 pu:1"
        for class_, synthetic, *units in (("S", "l3:5 core:7 pu:1", "2:CPU:12", "1:CPU:28,1:CPU:7"), ("S", many, "4:CPU:16", "4:CPU:27"),
                                          ("B", many, "23:CPU:89", "22:CPU:93"), ("C", many, "64:CPU:32", "32:CPU:64"), ("D", many, "256:CPU:8", "93:CPU:22")):
            self.assertIn(self.units("bt-mz", "--class", class_, HWLOC_SYNTHETIC=synthetic), units)

    def test_kinds(self):
        laptop = {"HWLOC_XMLFILE": os.path.join(TOPOLOGIES, "laptop.xml")}
        for app in ("bt-mz", "lu-mz"):
            units = self.units(app, "--class", "C", **laptop)
            cores = [int(g.split(":")[2]) for g in units.split(",") for _ in range(int(g.split(":")[0]))]
            # no unit has cores of two kinds
            ends = [sum(cores[:i]) for i in range(len(cores) + 1)]
            self.assertIn(6, ends, units)
            self.assertEqual(ends[-1], 14)

    def test_a_unit_a_core_where_tasks_suffice(self):
        # 64, 8 and 2 tasks: four a core, a unit of each cache, two caches together
        for words, on_two, on_16 in ((("ft", "--class", "S"), "2:CPU:1", "16:CPU:1"), (("mg", "--class", "S"), "2:CPU:1", "4:CPU:4"),
                                     (("td-bem", "--mesh", "sphere:1"), "1:CPU:2", "2:CPU:8")):
            self.assertEqual(self.units(*words, HWLOC_SYNTHETIC="package:1 l3:1 core:2 pu:1"), on_two)
            self.assertEqual(self.units(*words, HWLOC_SYNTHETIC="package:1 l3:4 core:4 pu:1"), on_16)

    def test_words_stay(self):
        epyc = {"HWLOC_SYNTHETIC": "package:2 l3:8 core:8 pu:1"}
        self.assertEqual(self.units("bt-mz", "--units", "16:CPU:8", **epyc), "16:CPU:8")
        # speeds are of units that the user knows
        self.assertEqual(self.units("bt-mz", "--speeds", ",".join(["1"] * 16), **epyc), "16:CPU:8")


class Trial(Base):
    """Where the choice is close two lists are tried. Times are given, but for one test, which does not mind what comes of them."""

    def setUp(self):
        super().setUp()
        machine = self.record("info")["machine"]
        self.cores = machine["cores"]
        if len(machine["parts"]) > 1 or self.cores < 2 or 16 % self.cores:
            self.skipTest("LU's 16 zones are even on 2, 4, .. cores of one part")
        self.part, self.by_core = f"1:CPU:{self.cores}", f"{self.cores}:CPU:1"

    def run_lu(self, *words, says=None):
        # figures that somebody has calibrated here are others
        return self.record("run", "lu-mz", "--class", "S", *words, said=f"evener: warning: {says}\n" if says else "", XDG_CACHE_HOME=self.folder)

    def tried(self, part, by_core):
        record = self.run_lu("--try", f"{self.part}={part} {self.by_core}={by_core}")
        return record["auto"], len(record["units"]), record["hash"]

    def test_the_faster_is_taken(self):
        hashes = set()
        for part, by_core, taken in ((0.012, 0.011, self.cores), (0.011, 0.012, 1), (0.0110, 0.0109, 1), (1, 1e-6, self.cores)):
            auto, units, bits = self.tried(part, by_core)
            self.assertEqual(units, taken)
            self.assertEqual(auto["step_s"], {self.part: part, self.by_core: by_core})
            lists = (self.by_core, self.part) if taken > 1 else (self.part, self.by_core)
            self.assertTrue(auto["why"].startswith("%s, tried against %s: " % lists), auto["why"])
            hashes.add(bits)
        self.assertEqual(len(hashes), 1)

    def test_not_tried(self):
        times = "--try", f"{self.part}=2 {self.by_core}=1"
        lacks = f"--try says no seconds of %s, so {self.part} is not compared with {self.by_core}"
        kept = "with --%s --try changes nothing: states on disk are the run's own, so nothing is tried"
        state = os.path.join(self.folder, "state")
        for words, says in ((("--try", "off"), None), (("--try", "auto", "--steps", "1"), None), (("--steps", "1"), None),
                            (("--try", f"{self.part}=1"), lacks % self.by_core), (("--try", "9:CPU:9=1"), lacks % self.part),
                            ((*times, "--checkpoint", state), kept % "checkpoint"), ((*times, "--restart", state), kept % "restart"),
                            ((*times, "--slow", "0:1@1"), "with --slow --try changes nothing: units that become slow are the run's, "
                             "so nothing is tried")):
            with self.subTest(words=words):
                record = self.run_lu(*words, says=says)
                self.assertNotIn("step_s", record["auto"])
                self.assertNotIn("tried", record["auto"]["why"])
                self.assertEqual(len(record["units"]), 1)
        idle = f"with --units {self.by_core} --try changes nothing: it is about --units auto"
        self.assertNotIn("auto", self.run_lu("--units", self.by_core, *times, says=idle))
        self.run_lu("--devices", "emulated", *times, says="--try changes nothing: --units auto has no second list close behind here")

    def test_long_run(self):
        # long enough to be tried for the most part: the same bits, whatever came of it
        long = "--steps", "6000"
        self.assertEqual(self.run_lu(*long)["hash"], self.run_lu(*long, "--try", "off")["hash"])

    def test_refused(self):
        for how in ("on", "1:CPU:2", "1:CPU:2=fast", "1:CPU:2=-1", "=", " ", "1:CPU:2=0", "1:CPU:1=1 " * 17, "x" * 2000):
            self.refuses(["run", "lu-mz", "--class", "S", "--steps", "1", "--try", how], "expected auto, off, or seconds")


class Runs(Base):
    def test_page_and_record(self):
        for app in APPS:
            record = self.record("run", app, "--class", "S")
            self.assertEqual(record["hash"], self.record("run", app, "--class", "S", "--units", "1:CPU:1")["hash"])
            chosen = record["auto"]
            self.assertIn("of an even share", chosen["why"])
            self.assertTrue(all(one["over_even"] >= 0.999 and one["units"] for one in chosen["tried"]))

    def test_blocks_have_one_unit(self):
        # what refuses several units gets one
        self.assertIs(self.record("run", "mg", "--class", "S", "--variant", "bulk")["verified"], True)

    def test_page(self):
        done = self.evener("run", "bt-mz", "--class", "S", "--steps", "1")
        self.assertEqual(len([line for line in done.stdout.split("\n") if line.startswith(" auto: ")]), 1, done.stdout)
        done = self.evener("run", "bt-mz", "--class", "S", "--steps", "1", "--units", "1:CPU:1")
        self.assertNotIn(" auto: ", done.stdout)

    def test_measured(self):
        done = self.evener("bench", "units", "--measure", "--apps", "sp-mz", "--classes", "S", "--rounds", "1", "--steps", "1",
                      "--within", "1000", "--json", "-")
        self.assertIn("auto needs at most", done.stderr)
        record = json.loads(done.stdout)
        lists = record["choices"][0]["lists"]
        self.assertEqual(lists[0]["units"], "auto")
        self.assertIn(":CPU:", lists[0]["chosen"])
        self.assertTrue(all(one["step_s"] > 0 for one in lists))
