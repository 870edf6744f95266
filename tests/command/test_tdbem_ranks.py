#!/usr/bin/env python3
"""TD-BEM over ranks: outputs of one process, the bits where blocks change their rank or are on disk on one of them; what is sent is what
the formulas say. The bits whatever the ranks, their units and schedules are test_hash.py's.

Run: ctest -R tdbem-ranks, or tests/command/test_tdbem_ranks.py build/evener [test ..]
"""
import json
import os
import shutil
import subprocess
import time

import base
from base import EVENER


def text_of(path):
    with open(path, "rb") as f:
        return f.read()


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", "--oversubscribe", *words, **options)

    def run_it(self, *words):
        """The record."""
        return json.loads(self.evener("--quiet", "--json", "-", *words).stdout)


class Same(Base):
    def test_outputs(self):
        probes = self.write("probes", "0 0 2\n1.5 0 0\n0 1.01 0\n")
        names = ["p.csv", "v.csv", "s.csv", "f.csv"]
        outputs = []
        for ranks in [["--processes", "3"], []]:
            place = self.path(f"out{len(outputs)}")
            path = {name: os.path.join(place, name) for name in names}
            os.mkdir(place)
            r = self.run_it("--mesh", "sphere:1", "--steps", "60", "--units", "1:CPU:1", "--probes", probes,
                            "--probe-output", path["p.csv"], "--vertices", "0,3,7", "--vertex-output", path["v.csv"],
                            "--frequencies", "0.5,1", "--spectrum", path["s.csv"], "--far-field", path["f.csv"],
                            "--output", os.path.join(place, "vtu"), "--every", "20", *ranks)
            files = {name: text_of(path[name]) for name in names}
            for name in sorted(os.listdir(os.path.join(place, "vtu"))):
                files[name] = text_of(os.path.join(place, "vtu", name))
            outputs.append((r["hash"], r["null_field"], r["norms"], files))
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(len(outputs[0][3]), 4 + 8)


def nodes(tasks):
    """Of consecutive blocks: how many nodes of the tree each rank has, by the tree's own rule."""
    counts, first = [], 0
    for n in tasks:
        count, end = 0, first + n
        while first < end:
            size = 1
            while first % (2 * size) == 0 and first + 2 * size <= end:
                size *= 2
            first += size
            count += 1
        counts.append(count)
    return counts


class Counts(Base):
    def check(self, record, ranks, steps, wide, real):
        rows = record["matrix"]["rows"]
        share = [rows * (r + 1) // ranks - rows * r // ranks for r in range(ranks)]
        messages = size = 0
        for group in record["iterations"]:
            of = nodes(group["tasks"])
            messages += sum(ranks - 1 for n in of if n)
            size += sum(n * wide * real * (rows - share[r]) for r, n in enumerate(of))
        sent = record["sent"]
        self.assertEqual(sent["sums_messages"], messages)
        self.assertEqual(sent["sums_bytes"], size)
        self.assertEqual(sent["rows_messages"], steps * ranks * (ranks - 1))
        self.assertEqual(sent["rows_bytes"], steps * 8 * rows * (ranks - 1))

    def test_formulas(self):
        for ranks in range(2, 9):
            for words, wide, real in [([], 16, 8), (["--ng", "5", "--precision", "float"], 8, 4)]:
                if words and ranks % 3:
                    continue
                with self.subTest(ranks=ranks, words=words):
                    record = self.run_it("--mesh", "sphere:2", "--steps", "37", "--blocks", "19", "--units", "1:CPU:1",
                                         "--processes", str(ranks), *words)
                    self.assertEqual(record["matrix"]["rows"], 162 + 3)
                    self.check(record, ranks, 37, wide, real)

    def test_even(self):
        """Even intervals of a power of two of blocks: a node a rank."""
        record = self.run_it("--mesh", "sphere:2", "--steps", "16", "--blocks", "8", "--units", "1:CPU:1", "--processes",
                             "4", "--schedule", "static")
        self.assertEqual(record["matrix"]["blocks"], 8)
        self.assertEqual(record["sent"]["sums_messages"], 4 * 3)
        self.assertEqual(record["sent"]["sums_bytes"], 165 * 16 * 8 * 3)

    def test_long_steps(self):
        """Entries of k = 0 reach beyond neighbours, whose ranks make them for each other: with the bits of all in one process."""
        words = ["--mesh", "box:2,1,0.3,0.3", "--steps", "5", "--units", "1:CPU:1"]
        for method, problem, step in (("plain", "soft", "1.2"), ("plain", "rigid", "1"), ("fast", "soft", "1")):
            way = ["--method", method, "--problem", problem, "--delta-ratio", step]
            hashes = [self.run_it(*words, *way, "--processes", ranks)["hash"] for ranks in ("1", "2", "3")]
            self.assertEqual(hashes, hashes[:1] * 3, way)

    def test_shared_solution(self):
        """The bits of one process, near ones' rows alone, and a message a pair for the residual, each product and the solution."""
        words = ["--mesh", "box:8,1,1,0.25", "--steps", "2", "--units", "1:CPU:1", "--solver", "cg:ranks"]
        for method in ("plain", "fast"):
            want = self.run_it(*words, "--method", method)
            self.assertEqual(want["solver"], "cg")
            with self.subTest(method=method):
                ranks = 3 if method == "plain" else 2
                r = self.run_it(*words, "--method", method, "--processes", str(ranks))
                self.assertEqual((r["solver"], r["hash"], r["solver_iterations"]), ("cg:ranks", want["hash"], want["solver_iterations"]))
                rows, products = r["matrix"]["rows"], round(2 * (r["solver_iterations"] + 1))
                self.assertEqual(r["sent"]["solve_messages"], ranks * (ranks - 1) * (products + 2 * 2))
                halos = r["sent"]["solve_bytes"] - (ranks - 1) * (2 * 8 * rows + (products + 2) * 16 * -(-rows // 64))
                self.assertEqual(halos % (512 * (products + 2)), 0)
                self.assertLess(0, halos)
                self.assertLess(halos, (ranks - 1) * (products + 2) * 8 * rows * 0.9)
        few = self.run_it("--mesh", "sphere:2", "--steps", "2", "--units", "1:CPU:1", "--processes", "4", "--solver", "cg:ranks")
        self.assertEqual((few["solver"], few["solver_reason"]), ("cg", "cg: 162 rows are few for 4 ranks, 64 each at least"))


class Moves(Base):
    def test_between_ranks(self):
        words = ["--mesh", "sphere:2", "--steps", "400", "--blocks", "40"]
        want = self.run_it(*words, "--units", "1:CPU:1")["hash"]
        for case in [["--schedule", "interval"], ["--schedule", "guided:time"],
                     ["--schedule", "interval", "--memory", "6MB"], ["--schedule", "interval", "--memory", "3.1MB"]]:
            with self.subTest(case=case):
                for _ in range(5):  # times are what they are on a busy machine
                    r = self.run_it(*words, "--units", "1:CPU:1", "--processes", "2", "--slow", "0:30@48", *case)
                    self.assertEqual(r["hash"], want)
                    Counts.check(self, r, 2, 400, 16, 8)
                    have = {tuple(group["tasks"]) for group in r["iterations"]}
                    if len(have) > 1:
                        break
                self.assertGreater(len(have), 1, "no block has changed its rank")

    def test_disk_on_one(self):
        """Three blocks are too much for a rank's memory, two are not."""
        words = ["--mesh", "sphere:2", "--steps", "60", "--blocks", "5"]
        want = self.run_it(*words, "--units", "1:CPU:1")["hash"]
        seen = set()
        for memory in range(3000, 4600, 100):
            done = self.evener("--quiet", "--json", "-", *words, "--units", "1:CPU:1", "--processes", "2", "--schedule",
                          "static", "--memory", f"{memory}kB", status=None)
            if done.returncode == 2:
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            r = json.loads(done.stdout)
            self.assertEqual(r["hash"], want)
            on_disk = r["matrix"]["blocks"] - r["matrix"]["resident_blocks"]
            seen.add(on_disk)
            self.assertEqual(r["stream"]["bytes"] > 0, on_disk > 0)
            if on_disk == 0:
                break
        self.assertIn(0, seen)
        self.assertGreater(len(seen), 1)


class Long(Base):
    def test_full_disk(self):
        """Rank 0 alone cannot write, in mid-march: all of them end, with what it says."""
        place = self.path("gone")
        run = subprocess.Popen([EVENER, "run", "td-bem", "--mesh", "sphere:2", "--units", "1:CPU:1", "--steps", "200000",
                                "--processes", "3", "--oversubscribe", "--quiet", "--output", place, "--every", "50"],
                               stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if os.path.exists(place) and len(os.listdir(place)) > 2:
                break
            time.sleep(0.1)
        os.rename(place, place + "2")
        _, said = run.communicate(timeout=60)
        shutil.rmtree(place + "2")
        self.assertEqual(run.returncode, 3, said)
        self.assertIn(place, said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_refused(self):
        self.refuses(["--quiet", "--mesh", "sphere:0", "--steps", "1", "--units", "1:CPU:1", "--processes", "16"], "expected 12 ranks at most")
        self.refuses(["--quiet", "--mesh", "sphere:2", "--steps", "1", "--units", "1:CPU:1", "--processes", "2", "--memory", "1MB"], "is too little")
