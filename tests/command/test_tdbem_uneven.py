#!/usr/bin/env python3
"""TD-BEM over ranks that are not alike: intervals by unequal speeds, blocks that change their rank by a schedule without clocks,
blocks on disk on one of the ranks alone; the bits of one process in all of it, and sums are sent as the formulas say.

Run: ctest -R tdbem-uneven, or tests/command/test_tdbem_uneven.py build/evener [test ..]
"""
import json
import unittest

from base import EVENER, ended, launcher

BODY = ["--mesh", "sphere:2", "--steps", "112", "--blocks", "40"]


def command(*words):
    return [EVENER, "run", "td-bem", *BODY, "--quiet", "--oversubscribe", "--json", "-", *words]


class Base(unittest.TestCase):
    want = None

    def run_it(self, *words):
        done = ended(words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return json.loads(done.stdout)

    def setUp(self):
        if not Base.want:
            Base.want = self.run_it(*command("--units", "1:CPU:1"))["hash"]

    def is_same(self, record):
        self.assertEqual(record["hash"], self.want)
        rows, ranks = record["matrix"]["rows"], len(record["ranks"])
        self.assertEqual(record["sent"]["rows_bytes"], 112 * 8 * rows * (ranks - 1))
        self.assertEqual(record["sent"]["rows_messages"], 112 * ranks * (ranks - 1))
        self.assertLessEqual(record["sent"]["sums_messages"], 7 * ranks * (ranks - 1))

    def have(self, record):
        """Blocks of each rank, group by group."""
        return [tuple(sum(group["tasks"][u] for u in rank["units"]) for rank in record["ranks"])
                for group in record["iterations"]]

    def moved(self, record):
        return sum(rank["moved_tasks"] for rank in record["ranks"])


class Processes(Base):
    def test_intervals(self):
        for ranks, speeds in [(2, "7+1"), (3, "1+5+2"), (4, "1+9+1+3"), (6, "5*1+20"), (8, "8+6*1+3")]:
            with self.subTest(speeds=speeds):
                r = self.run_it(*command("--units", "1:CPU:1", "--processes", str(ranks), "--schedule",
                                         f"weighted:speed={speeds}"))
                self.is_same(r)
                self.assertGreater(max(self.have(r)[0]), 2 * min(self.have(r)[0]))

    def test_moves(self):
        """By weights, one boundary a group: to and from ranks, of which some go to disk."""
        for ranks in (5, 6, 7, 8):
            for words in [[], ["--memory", "1.9MB"]]:
                with self.subTest(ranks=ranks, words=words):
                    r = self.run_it(*command("--units", "1:CPU:1", "--processes", str(ranks), "--schedule",
                                             "guided:size", *words))
                    self.is_same(r)
                    self.assertGreater(self.moved(r), 0)
                    self.assertGreater(len(set(self.have(r))), 1)


class Launched(Base):
    def setUp(self):
        super().setUp()
        self.mpi = launcher("openmpi")

    def test_unlike(self):
        """Three ranks with other units and memories each; the one in the middle has two units and little memory."""
        ranks = [["--units", "2:CPU:1", "--memory", "20MB"], ["--units", "1:CPU:1,1:CPU:3", "--memory", "{}"],
                 ["--units", "1:CPU:1", "--memory", "20MB"]]
        seen = set()
        for memory in ("2.4MB", "20MB"):
            for schedule in ("guided:size", "binpack", "interval"):
                words = [*self.mpi]
                for i, rank in enumerate(ranks):
                    own = [word.format(memory) for word in rank]
                    words += [*([":"] if i else []), "-n", "1", *command(*own, "--schedule", schedule)]
                with self.subTest(memory=memory, schedule=schedule):
                    r = self.run_it(*words)
                    self.is_same(r)
                    if schedule == "guided:size":
                        self.assertGreater(self.moved(r), 4)
                    seen.add(r["stream"]["bytes"] > 0)
        self.assertEqual(seen, {True, False})


if __name__ == "__main__":
    unittest.main()
