#!/usr/bin/env python3
"""td-bem's fast method: beside the plain one, and the same bits whatever computes.

Run: ctest -R '^command-tdbem-fast$', or tests/command/test_tdbem_fast.py build/evener [test ..]
"""
import filecmp
import json

import base

BODY = ["--mesh", "box:5,3,0.6,0.3", "--accuracy", "1e-2"]


class Base(base.Base):
    def filter(self):
        return self.write("panel", "instant 0.1\npole -0.2 0 0.1 0\npole -0.3 1 0.15 0.02\n")

    def march(self, *words):
        self.evener("run", "td-bem", *BODY, "--quiet", "--json", "r.json", *words)
        return json.loads(self.read("r.json"))


class Far(Base):
    def test_as_plain(self):
        self.write("probes.txt", "6 0 0\n0 1 3\n")
        for more, most in ([], 1e-5), (["--admittance", self.filter(), "--planes", "x=-2.5,z=-0.3"], 1e-4):
            fields = []
            for method in ("plain", "fast"):
                r = self.march("--method", method, "--units", "1:CPU:1", "--steps", "150", "--probes", "probes.txt", "--probe-output", "p.csv", *more)
                self.assertEqual(r["method"], method)
                self.assertEqual("far" in r, method == "fast")
                fields.append([x for row in self.table("p.csv")[1] for x in row[1:]])
            self.assertGreater(r["far"]["values"], 10000)
            self.assertGreater(r["far"]["bytes"], 2 * r["far"]["values"])
            error = max(abs(a - b) for a, b in zip(*fields)) / max(map(abs, fields[0]))
            self.assertTrue(1e-9 < error < most, (more, error))

    def test_late(self):
        """A constant makes nothing in a filter's rows either: with what rounding to 16 bits leaves there 1e-5 would stay."""
        r = self.march("--method", "fast", "--admittance", self.filter(), "--units", "1:CPU:1", "--steps", "1000")
        self.assertLess(r["norms"]["latest"], 1e-8 * r["norms"]["most"])

    def test_units(self):
        fast = ["--method", "fast", "--steps", "50", "--admittance", self.filter(), "--planes", "z=-0.5"]
        alone = self.march(*fast, "--units", "1:CPU:1")
        for words in (["--units", "2:CPU:1", "--oversubscribe"], ["--units", "1:CPU:2", "--oversubscribe"], ["--processes", "3", "--units", "1:CPU:1", "--oversubscribe"],
                      ["--units", "1:CPU:1", "--memory", "31MB"]):
            r = self.march(*fast, *words)
            self.assertEqual(r["hash"], alone["hash"], words)
            if "--memory" in words:
                self.assertLess(r["matrix"]["resident_blocks"], r["matrix"]["blocks"])

    def test_restart(self):
        for group, first, more in (("16", "64", ["--planes", "x=-2.5", "--admittance", self.filter()]), ("12", "60", []), ("5", "65", [])):
            words = ["--method", "fast", "--units", "1:CPU:1", "--ng", group, *more]
            whole = self.march(*words, "--steps", "120")
            for wrote, goes_on in ("11", "31", "13") if group == "5" else ("11",):
                self.march(*words, "--steps", first, "--checkpoint", "c", "--every", first, "--processes", wrote, "--oversubscribe")
                r = self.march(*words, "--steps", "120", "--restart", "c", "--processes", goes_on, "--oversubscribe")
                self.assertEqual(r["hash"], whole["hash"], (group, wrote, goes_on))
        self.refuses(["run", "td-bem", *BODY, "--method", "plain", "--ng", "5", "--units", "1:CPU:1", "--steps", "120", "--restart", "c"], "another", page=True)

    def test_devices(self):
        """What cores have begun a device goes on with, and cores with what it has done; two incidences, and two ranks with a device each."""
        self.write("two.txt", "b plane 1 1 0\na plane 0 0 1\n")
        words = ["--method", "fast", "--waves", "two.txt", "--matrices", "m", "--ng", "8", "--checkpoint", "c"]
        core, device = ["--units", "1:CPU:1"], ["--units", "1:GPU:1", "--oversubscribe", "--devices"]
        whole = self.march(*words[:-2], *core, "--steps", "96")
        r = self.march(*words, *core, "--steps", "32")
        for steps, units, said in ((72, [*device, "emulated"], "^device: emulated"), (96, core, "^cores: the units have no device$")):
            r = self.march(*words, *units, "--steps", str(steps), "--restart", "c")
            self.assertRegex(r["far"]["reason"], said)
        for mine, other in zip(r["incidences"], whole["incidences"]):
            for name in ("most", "latest"):
                self.assertAlmostEqual(mine["norms"][name], other["norms"][name], delta=1e-11)
            self.assertAlmostEqual(mine["null_field"], other["null_field"], delta=1e-11)
        one, two = (self.march(*words[:-2], *device, "emulated", "--processes", many, "--steps", "40") for many in "12")
        self.assertEqual(one["hash"], two["hash"])
        r = self.march(*words[:-2], *device, "emulated:1,memory=1MB", "--steps", "1")
        self.assertRegex(r["far"]["reason"], r"^cores: emulated.* has 1.000 MB of memory, and \d+\.\d+ MB would do$")

    def test_matrices(self):
        """Near ones are kept and come back to the bit, from one process and from two."""
        words = ["--method", "fast", "--units", "1:CPU:1", "--steps", "50", "--planes", "z=-0.5", "--admittance", self.filter(), "--matrices"]
        alone = self.march(*words[:-1])
        for many, name in (("1", "one"), ("2", "two")):
            for _ in range(2):
                r = self.march(*words, name, "--processes", many, "--oversubscribe")
                self.assertEqual(r["hash"], alone["hash"])
        self.assertTrue(filecmp.cmp(self.path("one"), self.path("two"), shallow=False))
        for method, said in (("plain", "one is of the fast method, here it is plain"), ("fast", "one has delta")):
            self.refuses(["run", "td-bem", *BODY, "--method", method, "--steps", "1", *words[6:-1], "--matrices", "one", "--delta-ratio", "0.4"], said)

    def test_incidences(self):
        self.write("two.txt", "b plane 1 1 0\na plane 0 0 1\n")
        self.write("one.txt", "a plane 0 0 1\n")
        one = self.march("--method", "fast", "--units", "1:CPU:1", "--steps", "60", "--waves", "one.txt")
        two = self.march("--method", "fast", "--units", "1:CPU:1", "--steps", "60", "--waves", "two.txt")
        self.assertEqual(two["incidences"][1]["hash"], one["hash"])


class Choice(Base):
    def test_auto(self):
        self.assertEqual(self.march("--units", "1:CPU:1", "--steps", "1")["method"], "plain")
        said = self.evener("run", "td-bem", "--mesh", "sphere:5", "--dry").stdout
        self.assertIn("of far cells", said)
        said = self.evener("run", "td-bem", "--mesh", "sphere:5", "--dry", "--method", "plain").stdout
        self.assertNotIn("of far cells", said)

    def test_refused(self):
        for words, said in ((["--eta", "0"], "combined equation"), (["--accuracy", "0"], "accuracy"), (["--accuracy", "1"], "less than 1")):
            self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--method", "fast", *words], said)
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--method", "quick"], "expected auto, plain or fast")
