#!/usr/bin/env python3
"""EVENER_LOG: a line on standard error for each decision of the topics that it names, and none without it. Run: ctest -R '^log$'.
usage: test_log.py UNEVEN HEAT EVENER"""
import os
import re
import subprocess
import sys
import unittest

UNEVEN, HEAT, EVENER = sys.argv[1:4]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("EVENER_")}


def run(*command, status=0, **variables):
    """Lines of standard error."""
    variables = {"EVENER_" + name: value for name, value in variables.items()}
    done = subprocess.run(command, capture_output=True, text=True, env={**CLEAN, "EVENER_OVERSUBSCRIBE": "1", **variables}, timeout=120)
    assert (done.returncode != 0) == status, done.stderr
    return done.stderr.splitlines()


class Log(unittest.TestCase):
    def matched(self, lines, pattern):
        """The groups of each line, all of which have the pattern."""
        found = [re.fullmatch("evener: log: " + pattern, line) for line in lines]
        self.assertTrue(found and all(found), lines)
        return [match.groups() for match in found]

    def test_off(self):
        for variables in {}, {"LOG": ""}:
            self.assertEqual(run(UNEVEN, UNITS="2:CPU:1", **variables), [])

    def test_loop(self):
        # tasks of growing weight: the first times show that halves by number are not alike
        lines = run(UNEVEN, "guided:time", UNITS="2:CPU:1", LOG="loop")
        moves = self.matched(lines, r"loop: guided:time: instance (\d): (\d+) of 48 tasks moved; before, unit ([01]) took (1\.\d{3}) of the units' mean time")
        self.assertEqual([move[0] for move in moves], sorted({move[0] for move in moves}))
        self.assertTrue(all(0 < int(move[1]) <= 48 for move in moves))
        self.assertEqual(run(UNEVEN, "static", UNITS="2:CPU:1", LOG="loop"), [])
        lines = run(UNEVEN, "dynamic:chunk=2,memorize=0", UNITS="2:CPU:1", LOG="loop")
        self.assertEqual(lines[0], "evener: log: loop: dynamic:chunk=2,memorize=0: instance 0: units draw 2 tasks at a time")

    def test_schedule(self):
        lines = run(UNEVEN, "auto", UNITS="2:CPU:1", LOG="schedule")
        first = self.matched(lines, r"schedule: auto: 48 tasks on 2 units, instance (\d): (begins|(?:no longer )?settled|another way); (.*)")[0]
        self.assertEqual(first[:2], ("0", "begins"))
        self.assertIn("tasks are assigned", first[2])

    def test_exchange(self):
        lines = run(HEAT, UNITS="1:CPU:1,1:GPU:1", DEVICES="emulated", SCHEDULE="static", LOG="exchange")
        kinds = self.matched(lines, r"exchange: 126 faces, (\d+) messages, (\d+) by staged; the plan is (new|mended)")
        self.assertEqual(kinds[0][2], "new")
        self.assertTrue(all(messages == staged == "2" for messages, staged, _ in kinds))

    def test_ranks(self):
        command = [EVENER, "run", "bt-mz", "--class", "S", "--units", "2:CPU:1", "--processes", "2", "--oversubscribe", "--schedule", "static"]
        lines = run(*command, LOG="schedule,exchange,loop")
        self.assertEqual({line.split(": ")[2] for line in lines}, {"rank 0", "rank 1"})
        exchanges = [line for line in lines if "exchange: " in line]
        self.assertEqual({rank for rank, in self.matched(exchanges, r"rank ([01]): exchange: 16 faces, .*to other ranks; .*")}, {"0", "1"})
        self.assertTrue(all("rank 0: " in line for line in lines if " schedule: " in line))

    def test_unknown(self):
        for text, word, column in (("exchanges", "exchanges", 1), ("loop,lop", "lop", 6), ("loop,,exchange", "", 6), ("1", "1", 1)):
            (line,) = run(UNEVEN, status=1, UNITS="2:CPU:1", LOG=text)
            self.assertIn(f'EVENER_LOG: "{word}" at column {column} of "{text}", expected loop, exchange or schedule', line)


unittest.main(argv=sys.argv[:1])
