#!/usr/bin/env python3
"""The study of messages between ranks: what it prints, and what is refused. Nothing is timed.

Run: ctest -R command-bench-wire, or tests/command/test_bench_wire.py build/evener [test ..]
"""
import re

from base import Base


class BenchWire(Base):
    def evener(self, *words, **options):
        return super().evener("bench", "wire", "--repeat", "1", *words, **options)

    def test_tables(self):
        done = self.evener("--wire", "processes:3,latency=10us", "--max", "1000", said="")
        # once, by rank 0
        self.assertEqual(done.stdout.count("processes, 3 ranks, medians of 1 samples"), 1)
        rows = re.findall(r"^ +(\d+)(?: +\d+\.\d+)+$", done.stdout, re.MULTILINE)
        self.assertEqual(rows, ["8", "64", "512", "1000", "2", "3"])

    def test_default(self):
        done = self.evener("--max", "8", said="")
        self.assertIn("processes, 2 ranks", done.stdout)

    def test_refused(self):
        for words, says in ((("--wire", "alone"), "one rank"),
                            (("--wire", "processes:1"), "one rank"),
                            (("--wire", "tin:2"), "no such wire"),
                            (("--wire", "processes:2,latency=2"), "latency=2"),
                            (("--max", "7"), "--max")):
            self.refuses(words, says)
