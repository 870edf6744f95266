#!/usr/bin/env python3
"""This version beside another one: the same runs in turn, and the ratio of their speeds.

usage: bench/versions.py BEFORE/evener AFTER/evener [--rounds 5] [--class A] [--only WORD]

Each row is one run of each command, in turn, so many rounds; before and after change places from round to round. Printed are
the median seconds of both, and the median, the least and the largest of the rounds' own ratios, before over after: above 1 the
second is faster. What a run measures is in its record: seconds of the timed part; for `bench tasks`, ns of an empty task.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys


def seconds(command):
    done = subprocess.run(command + ["--quiet", "--json", "-"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    record = json.loads(done.stdout)
    return record["seconds"], record["hash"]


def empty_task(command):
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # the median of the schedule named in the row, ns
    rows = re.findall(r"^  evener (\S+)\s+[\d.]+\s+([\d.]+)", text, re.M)
    return {name: float(value) * 1e-9 for name, value in rows}


def row(name, before, after, same):
    ratios = [a / b for a, b in zip(before, after)]
    print(f"{name:44} {statistics.median(before):10.4g} {statistics.median(after):10.4g}   "
          f"{statistics.median(ratios):6.3f}  {min(ratios):6.3f} {max(ratios):6.3f}  {same}", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("before")
parser.add_argument("after")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--class", dest="class_", default="A")
parser.add_argument("--only", default="", help="rows with this word in their name")
options = parser.parse_args()

RUNS = {}
for app in ("bt-mz", "sp-mz", "lu-mz"):
    for units in ("1:CPU:1", "2:CPU:1"):
        RUNS[f"{app} {options.class_} {units}"] = ["run", app, "--class", options.class_, "--units", units]
for units in ("1:CPU:1", "2:CPU:1"):
    RUNS[f"td-bem sphere:3 {units}"] = ["run", "td-bem", "--mesh", "sphere:3", "--steps", "2000", "--units", units]

print(f"{'':44} {'before s':>10} {'after s':>10}   {'ratio':>6}  {'least':>6} {'most':>6}  bits")
for name, words in RUNS.items():
    if options.only not in name:
        continue
    samples = {options.before: [], options.after: []}
    hashes = set()
    for r in range(options.rounds):
        pair = [options.before, options.after]
        for command in pair if r % 2 == 0 else pair[::-1]:
            took, bits = seconds([command] + words)
            samples[command].append(took)
            hashes.add(bits)
    row(name, samples[options.before], samples[options.after], "same" if len(hashes) == 1 else "DIFFERENT")

tasks = {}
for r in range(options.rounds if options.only in "empty tasks" else 0):
    pair = [options.before, options.after]
    for command in pair if r % 2 == 0 else pair[::-1]:
        for name, value in empty_task([command, "bench", "tasks"]).items():
            tasks.setdefault(name, {}).setdefault(command, []).append(value)
for name, samples in tasks.items():
    row(f"empty task, {name}", samples[options.before], samples[options.after], "")
