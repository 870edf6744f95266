"""evener info over ranks: of each its host, cores, how that was decided, devices, and the wire; and options that are wrong, said once.
Run: ctest -R command-info-ranks, or tests/command/test_info_ranks.py build/evener [test ..]"""

import json
import re
import socket
import unittest

from base import EVENER, launchers, run

LINE = re.compile(r"^           (\d+) on (\S+): cores ([0-9 -]+) \((.*)\); devices: (.*)$", re.M)


class Info(unittest.TestCase):
    def lines(self, words, ranks, wire):
        status, out, err = run(words)
        self.assertEqual((status, err), (0, ""), out)
        self.assertRegex(out, rf"(?m)^ranks      {ranks}, wire: {wire}")
        self.assertEqual(len(re.findall("^processor ", out, re.M)), 1)
        self.assertIn("binding    works", out)
        lines = LINE.findall(out)
        self.assertEqual([line[0] for line in lines], [str(r) for r in range(ranks)])
        self.assertEqual({line[1] for line in lines}, {socket.gethostname()})
        return lines

    def test_alone(self):
        status, out, _ = run([EVENER, "info"])
        self.assertEqual(status, 0)
        self.assertNotIn("\nranks", out)
        self.assertNotIn("ranks", json.loads(run([EVENER, "info", "--json", "-"])[1]))

    def test_processes(self):
        have = json.loads(run([EVENER, "info", "--json", "-"])[1])["machine"]["cores"]
        lines = self.lines([EVENER, "info", "--processes", "2"], 2, "processes")
        for line in lines:
            self.assertRegex(line[3], r"^\d+ of \d+, shared by ranks 0 and 1")
            self.assertRegex(line[4], r"emulated 1$")
        if have >= 2:
            self.assertNotEqual(lines[0][2], lines[1][2])
        self.lines([EVENER, "info", "--processes", str(have + 1)], have + 1, "processes")

    def test_record(self):
        status, out, err = run([EVENER, "info", "--processes", "3", "--json", "-"])
        self.assertEqual((status, err), (0, ""))
        record = json.loads(out)
        self.assertEqual((record["wire"], len(record["ranks"])), ("processes", 3))
        for rank in record["ranks"]:
            self.assertGreater(len(rank["cores"]), 0)
            self.assertIn("shared by ranks 0 to 2", rank["how"])

    def test_launchers(self):
        for kind, start in launchers():
            self.lines([*start, "-n", "2", EVENER, "info"], 2, {"openmpi": "Open MPI", "mpich": "MPICH"}[kind])

    def test_refused(self):
        for words, says in ((["--processes", "0"], "--processes 0"), (["--json", "/nowhere/x"], "/nowhere/x"), (["--bogus"], "--bogus")):
            for start in [[]] + [[*start, "-n", "2"] for _, start in launchers()]:
                status, out, err = run([*start, EVENER, "info", *words])
                self.assertEqual((status, out), (2, ""), err)
                self.assertEqual(err.count("evener: "), 1, err)
                self.assertIn(says, err)
        for _, start in launchers():
            status, out, err = run([*start, "-n", "1", EVENER, "info", ":", "-n", "1", EVENER, "info", "--bogus"])
            self.assertEqual((status, out), (2, ""), err)
            self.assertRegex(err, r"^evener: rank 1 on \S+: info has no option --bogus")
            self.assertEqual(err.count("evener: "), 1, err)
