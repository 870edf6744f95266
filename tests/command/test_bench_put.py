#!/usr/bin/env python3
"""The study of one-sided puts: what it prints and records, and what is refused. Nothing is timed.

Run: ctest -R command-bench-put, or tests/command/test_bench_put.py build/evener [test ..]
"""
import json
import re
import subprocess
import sys
import unittest

EVENER = "build/evener"
ROW = r"^ +(\d+) \|((?: +(?:\d+\.\d+|-)){3}) \|(?: +(?:\d+\.\d+|-)){3,4}$"


class BenchPut(unittest.TestCase):
    def put(self, *words):
        return subprocess.run([EVENER, "bench", "put", "--repeat", "1", *words],
                              capture_output=True, text=True, timeout=120)

    def test_tables(self):
        done = self.put("--max", "1000", "--devices", "emulated:1", "--json", "/dev/stderr")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("processes, rank 0 to rank 1 of 2, medians of 1 samples"), 1)
        rows = re.findall(ROW, done.stdout, re.MULTILINE)
        self.assertEqual([r[0] for r in rows], ["8", "64", "512", "1000"] * 2)
        self.assertNotIn("-", "".join(r[1] for r in rows))
        record = json.loads(done.stderr)
        self.assertEqual([s["bytes"] for s in record["sizes"]], [8, 64, 512, 1000])
        self.assertGreater(record["sizes"][0]["pointer_flood_s"], 0)
        self.assertGreater(record["copies"][3]["pageable_s"], 0)

    def test_other_nodes(self):
        """An emulated wire: nobody sees another's memory, so there is no put by the processor."""
        done = self.put("--wire", "processes:3,latency=10us", "--max", "8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (row,) = re.findall(ROW, done.stdout, re.MULTILINE)
        self.assertRegex(row[1], r"^ +- +\d+\.\d+ +\d+\.\d+$")

    def test_refused(self):
        for words, says in ((("--wire", "alone"), "one rank"),
                            (("--wire", "processes:1"), "one rank"),
                            (("--max", "7"), "--max"),
                            (("--repeat", "0"), "--repeat")):
            done = self.put(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"^evener: [^\n]*\n$")
            self.assertIn(says, done.stderr)

    def test_no_such_device(self):
        done = self.put("--max", "8", "--devices", "emulated:0")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^evener: [^\n]*\n$")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        EVENER = sys.argv.pop(1)
    unittest.main()
