#!/usr/bin/env python3
"""NPB FT by the command: official checksums, puts as counted by formulas, sizes of one's own, bad input. The same bits from every set of
units, schedule, number of ranks and variant are test_hash.py's.

Run: ctest -R command-ft, or tests/command/test_ft.py build/evener [test ..]; EVENER_FT=all adds class B.
"""
import itertools
import json
import os

from base import EVENER, Base, launchers

ALL = os.environ.get("EVENER_FT") == "all"
FIRST = {"S": (554.6087004964, 484.5363331978), "W": (567.3612178944, 529.3246849175), "A": (504.6735008193, 511.4047905510),
         "B": (517.7643571579, 507.7803458597)}
SIZE = {"S": (64, 64, 64), "W": (128, 128, 32), "A": (256, 256, 128), "B": (512, 256, 256)}
VARIANTS = "packed", "slabs", "best"


def puts(size, steps, ranks, variant, transposes):
    """Messages and bytes of a run where ranks have equal parts, by the paper's formulas; the way back of one transpose goes in as many
    parts as there are planes, that of two in one (slabs)."""
    nx, ny, nz = size
    times = 1 + steps
    if variant == "packed":
        count = transposes * times * ranks * (ranks - 1)
    else:
        count = times * (nz * (ranks - 1) + (transposes - 1) * ranks * (ranks - 1))
    return count, transposes * times * 16 * nx * ny * nz * (ranks - 1) // ranks


class Ft(Base):
    def record(self, *words, **options):
        return super().record("run", "ft", *words, "--oversubscribe", **options)

    def near(self, sums, others):
        self.assertEqual(len(sums), len(others))
        for a, b in zip(sums, others):
            self.assertLess(abs(complex(*a) - complex(*b)), 1e-12 * abs(complex(*b)))

    # ---- one process ----

    def test_official(self):
        for name in "SWAB" if ALL else "SWA":
            r = self.record("--class", name, "--units", "2:CPU:1")
            self.assertIs(r["verified"], True)
            self.near(r["checksums"][:1], [FIRST[name]])
            self.assertEqual((r["app"], r["class"], r["noun"]), ("ft", name, "slab"))
            self.assertEqual((tuple(r["size"]), len(r["checksums"])), (SIZE[name], r["steps"]))
            self.assertEqual(len(r["owner"]), min(SIZE[name][1:]))
            self.assertEqual(sum(u["weight"] for u in r["units"]), SIZE[name][0] * SIZE[name][1] * SIZE[name][2])
            self.assertEqual(set(r["phases"]), {"start", "z", "xy", "copy", "put", "barrier", "sum"})
            self.assertLessEqual(sum(r["phases"].values()), 1.001 * r["seconds"])
            self.assertEqual(r["puts"], {"count": 0, "bytes": 0, "same_node": 0, "remote": 0})
            self.assertGreater(r["mops"], 0)

    def test_two_transposes(self):
        one, two = (self.record("--class", "W", "--transposes", q, "--units", "1:CPU:2") for q in "12")
        self.assertEqual((one["verified"], two["verified"]), (True, True))
        self.assertEqual((one["transposes"], two["transposes"]), (1, 2))
        self.near(one["checksums"], two["checksums"])

    def test_sizes(self):
        for words, steps in ((["--size", "8x2x2"], 6), (["--size", "8x2x64"], 6), (["--size", "64x128x2"], 6), (["--class", "S"], 6),
                             (["--size", "16x4x8", "--steps", "3"], 3), (["--class", "S", "--steps", "5"], 5)):
            r = self.record(*words, "--units", "3:CPU:1")
            self.assertEqual((r["steps"], len(r["checksums"])), (steps, steps))
            self.assertIs(r["verified"], True if words == ["--class", "S"] else None)
        whole, part = self.record("--class", "S"), self.record("--class", "S", "--steps", "2")
        self.assertEqual(whole["checksums"][:2], part["checksums"])
        self.assertEqual(self.record("--size", "64x64x64")["hash"], whole["hash"])
        self.assertEqual(self.record("--size", "8x8x8", "--steps", "0")["checksums"], [])

    def test_bad_input(self):
        run = ("run", "ft")
        self.refuses([*run, "--class", "X"], 'there is no class "X"')
        self.refuses([*run, "--class", "SS"], 'there is no class "SS"')
        for size in ("8", "8x8", "8x8x8x8", "x8x8", "8x8x", "8x8x-8", "8x8x99999", "8 x 8 x 8", "8x8x8.0"):
            self.refuses([*run, "--size", size], "expected points along x, y and z")
        self.refuses([*run, "--size", "4x8x8"], "4 points along x, expected a power of two from 8")
        self.refuses([*run, "--size", "8x1x8"], "1 points along y, expected a power of two from 2")
        self.refuses([*run, "--size", "8x8x12"], "12 points along z")
        self.refuses([*run, "--size", "8x8x8", "--class", "S"], "--size and --class")
        self.refuses([*run, "--variant", "x"], "expected packed, slabs, best or funneled")
        self.refuses([*run, "--variant", "funneled", "--processes", "2", "--units", "1:CPU:1", "--quiet"], "expected --units 1:GPU:1")
        for transposes in "03":
            self.refuses([*run, "--transposes", transposes], "from 1 to 2")
        for words in ((), ("--processes", "2"), ("--processes", "2", "--variant", "packed")):
            self.assertIn("choose a smaller class or size", self.evener(*run, "--class", "F", *words, status=2).stderr)
        for words in (("--variant", "slabs"), ("--per-node", "1")):
            done = self.evener(*run, "--quiet", *words)
            self.assertIn("changes nothing", done.stderr)

    def test_plan(self):
        plan = json.loads(self.evener("plan", "ft", "--class", "A", "--units", "3:CPU:1", "--schedule", "interval", "--json", "-",
                                      "--quiet").stdout)
        owner = plan["iterations"][0]["owner"]
        self.assertEqual((len(owner), set(owner)), (128, {0, 1, 2}))
        self.assertGreater(plan["iterations"][0]["cut_bytes"], 0)

    def test_page_and_report(self):
        out = self.evener("run", "ft", "--verbose", "--units", "2:CPU:1", "--oversubscribe", "--json", "r.json").stdout
        for word in ("FT class S: 64 x 64 x 64 points, 6 steps", "554.6087004", "xy", "slabs", "relative error"):
            self.assertIn(word, out)
        self.evener("report", "r.json", "--output", "r.html")
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "r.html")) > 1000)

    def test_bench(self):
        """Passes beside FFTW, whose values are compared where it is installed. Nothing is timed."""
        done = self.evener("bench", "ft", "--classes", "SW", "--repeat", "1", "--json", "-")
        classes = json.loads(done.stdout)["classes"]
        self.assertEqual([c["class"] for c in classes], ["S", "W"])
        for c in classes:
            self.assertGreater(min(c["z_s"], c["xy_s"]), 0)
            self.assertEqual(c["fftw_s"] is None, "there is no libfftw3" in done.stderr)
        self.assertIn("pass z", done.stderr)
        self.refuses(["bench", "ft", "--classes", "SX"], 'there is no class "X"')
        self.refuses(["bench", "ft", "--repeat", "0"], "--repeat")

    # ---- ranks ----

    def test_puts(self):
        """Exactly as many messages and bytes as the formulas say, on the same node or not."""
        self.puts_as_by_formulas("S")

    def test_puts_of_uneven_sizes(self):
        self.puts_as_by_formulas("W")

    def puts_as_by_formulas(self, name):
        for ranks, variant, transposes, far in itertools.product((2, 4), VARIANTS, (1, 2), (0, 1)):
            more = ("--per-node", "1") if far else ()
            r = self.record("--class", name, "--units", "1:CPU:1", "--processes", str(ranks), "--variant", variant, "--transposes",
                            str(transposes), *more)
            count, size = puts(SIZE[name], 6, ranks, variant, transposes) if variant != "best" or far else (0, 0)
            self.assertIs(r["verified"], True)
            self.assertEqual(r["puts"], {"count": count, "bytes": size, "same_node": 0 if far else count, "remote": count if far else 0},
                             f"{name} {ranks} {variant} {transposes} {far}")

    def test_two_nodes(self):
        """Of four ranks on two nodes each puts to two others; those on its node it writes to."""
        r = self.record("--class", "S", "--units", "1:CPU:1", "--processes", "4", "--per-node", "2")
        whole = puts(SIZE["S"], 6, 4, "slabs", 1)
        self.assertEqual(r["puts"], {"count": whole[0] * 2 // 3, "bytes": whole[1] * 2 // 3, "same_node": 0, "remote": whole[0] * 2 // 3})

    def test_unequal_ranks(self):
        """A rank with three cores has three times the planes of one with a single core."""
        alone, found = self.record("--class", "S")["hash"], 0
        for _, launcher in launchers():
            found += 1
            for more in (("--variant", "packed"), ("--per-node", "1"), ()):
                first = ["run", "ft", "--class", "S", "--schedule", "weighted", "--units", "1:CPU:3", "--oversubscribe", "--json", "-",
                         "--quiet", *more]
                second = ["1:CPU:1" if word == "1:CPU:3" else word for word in first]
                done = self.evener(*first, ":", "-n", "1", EVENER, *second, launch=[*launcher, "-n", "1"])
                r = json.loads(done.stdout)
                self.assertEqual((r["hash"], [u["tasks"] for u in r["units"]]), (alone, [48, 16]))
        if not found:
            self.skipTest("there is no MPI with a plug-in")
