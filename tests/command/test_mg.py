#!/usr/bin/env python3
"""NPB MG by the command: official norms, sizes of one's own, bad input. The same bits from every set of units are test_hash.py's.

Run: ctest -R command-mg, or tests/command/test_mg.py build/evener [test ..]; EVENER_MG=all adds class B, a minute.
"""
import json
import os

from base import Base

NORM = {"S": 0.5307707005734e-04, "W": 0.6467329375339e-05, "A": 0.2433365309069e-05, "B": 0.1800564401355e-05}


class Mg(Base):
    def record(self, *words, **options):
        return super().record("run", "mg", *words, "--oversubscribe", **options)

    def test_official(self):
        """Within 1e-8 counts as verified; what is rounded differently is far below."""
        for name in "SWAB" if os.environ.get("EVENER_MG") == "all" else "SWA":
            r = self.record("--class", name, "--units", "2:CPU:1")
            self.assertIs(r["verified"], True)
            self.assertLess(abs(r["norm"] / NORM[name] - 1), 1e-11)
            self.assertEqual((r["app"], r["class"], r["noun"]), ("mg", name, "slab"))
            self.assertEqual(len(r["owner"]), r["size"] // 4)
            points = r["size"] ** 3
            self.assertEqual(sum(u["weight"] for u in r["units"]), points)
            self.assertAlmostEqual(r["mops"] * r["seconds"] / (58e-6 * r["steps"] * points), 1, 9)
            self.assertEqual(set(r["phases"]), {"first", "finest", "edges", "middle", "coarse", "exchange"})

    def test_sizes(self):
        for words, verified in ((["--size", "16"], None), (["--size", "32"], None), (["--size", "64", "--steps", "1"], None),
                                (["--class", "S", "--steps", "3"], None), (["--class", "S", "--steps", "4"], True)):
            self.assertIs(self.record(*words, "--units", "2:CPU:1")["verified"], verified)
        a, b = (self.record("--size", "32", "--smoother", s) for s in "ab")
        self.assertNotEqual(a["norm"], b["norm"])
        self.assertEqual((a["norm"], a["hash"]), tuple(self.record("--class", "S")[k] for k in ("norm", "hash")))
        first = self.record("--size", "32", "--steps", "0")
        self.assertAlmostEqual(first["norm"], (20 / 32**3) ** 0.5, 15)

    def test_bad_input(self):
        run = ("run", "mg")
        self.refuses([*run, "--class", "X"], 'there is no class "X"')
        self.refuses([*run, "--class", "SS"], 'there is no class "SS"')
        self.refuses([*run, "--size", "48"], "power of two from 16 to 4096")
        self.refuses([*run, "--size", "8"], "--size 8: this is too small")
        self.refuses([*run, "--size", "x"], "--size")
        self.refuses([*run, "--size", "32", "--class", "S"], "--size and --class")
        self.refuses([*run, "--smoother", "b"], "--smoother also needs --size")
        for word in ("c", "ab"):
            self.refuses([*run, "--size", "32", "--smoother", word], "expected a or b")
        self.assertIn("choose a smaller class or size", self.evener(*run, "--class", "F", status=2).stderr)

    def test_plan(self):
        plan = json.loads(self.evener("plan", "mg", "--class", "A", "--units", "3:CPU:1", "--schedule", "interval", "--json", "-",
                                      "--quiet").stdout)
        owner = plan["iterations"][0]["owner"]
        self.assertEqual((len(owner), set(owner)), (64, {0, 1, 2}))
        self.assertGreater(plan["iterations"][0]["cut_bytes"], 0)

    def test_bench(self):
        """A line for each pass over each level that is the tasks', and one for those below."""
        out = self.evener("bench", "mg", "--class", "S").stdout
        lines = [line.split() for line in out.splitlines() if line.startswith("   ")][1:]
        self.assertEqual([(line[0], line[1]) for line in lines],
                         [("32", "up"), ("32", "norm"), ("16", "up"), ("16", "down"), ("8", "up"), ("8", "down"), ("4", "below")])
        for line in lines[:-1]:  # GB/s are bytes a point by points a second
            self.assertAlmostEqual(float(line[3]) * float(line[4]) * 1e-3, float(line[5]), delta=0.01 + 0.01 * float(line[5]))
        self.refuses(["bench", "mg", "--class", "X"], 'there is no class "X"')
        self.refuses(["bench", "mg", "--cores", "0"], "--cores 0")
        self.refuses(["bench", "mg", "--class", "F"], "choose a smaller one")

    def test_page_and_report(self):
        out = self.evener("run", "mg", "--verbose", "--units", "2:CPU:1", "--oversubscribe", "--json", "r.json").stdout
        for word in ("MG class S: 32 x 32 x 32 points, smoother a, 4 steps", "norm of the residual  5.30770700573", "finest", "slabs"):
            self.assertIn(word, out)
        self.evener("report", "r.json", "--output", "r.html")
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "r.html")) > 1000)
