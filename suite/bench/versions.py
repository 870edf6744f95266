#!/usr/bin/env python3
"""This version beside another one: the same runs in turn, and the ratio of their speeds.

usage: suite/bench/versions.py BEFORE/evener AFTER/evener [--rounds 5] [--class A] [--only WORD]

Each row is one run of each command, in turn, so many rounds; before and after change places from round to round. Printed are
the median seconds of both, and the median, the least and the largest of the rounds' own ratios, before over after: above 1 the
second is faster. What a run measures is in its record: seconds of the timed part; for `bench tasks`, ns of an empty task.
"""
import argparse
import re
import statistics

import turns


def seconds(command):
    found = turns.record(command)
    return found["seconds"], found["hash"]


def empty_task(command):
    text = turns.output(command)
    # the median of the schedule named in the row, ns
    rows = re.findall(r"^  evener (\S+)\s+[\d.]+\s+([\d.]+)", text, re.M)
    return {name: float(value) * 1e-9 for name, value in rows}, None


def row(name, before, after, same):
    middle, least, most = turns.ratios(before, after)
    print(f"{name:44} {statistics.median(before):10.4g} {statistics.median(after):10.4g}   "
          f"{middle:6.3f}  {least:6.3f} {most:6.3f}  {same}", flush=True)


def in_turn(words, measure):
    return turns.in_turn({"before": [options.before] + words, "after": [options.after] + words}, options.rounds, measure)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("before")
parser.add_argument("after")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--class", dest="class_", default="A")
parser.add_argument("--only", default="", help="rows with this word in their name")
options = parser.parse_args()

RUNS = {}
for app in ("bt-mz", "sp-mz", "lu-mz", "ft", "mg"):
    for units in ("1:CPU:1", "2:CPU:1"):
        RUNS[f"{app} {options.class_} {units}"] = ["run", app, "--class", options.class_, "--units", units]
for units in ("1:CPU:1", "2:CPU:1"):
    RUNS[f"td-bem sphere:3 {units}"] = ["run", "td-bem", "--mesh", "sphere:3", "--steps", "2000", "--units", units]

print(f"{'':44} {'before s':>10} {'after s':>10}   {'ratio':>6}  {'least':>6} {'most':>6}  bits")
for name, words in RUNS.items():
    if options.only not in name:
        continue
    samples, same = in_turn(words, seconds)
    row(name, samples["before"], samples["after"], "same" if same else "DIFFERENT")

if options.only in "empty tasks":
    samples, _ = in_turn(["bench", "tasks"], empty_task)
    for name in samples["before"][0]:
        row(f"empty task, {name}", *([s[name] for s in samples[kind]] for kind in ("before", "after")), "")
