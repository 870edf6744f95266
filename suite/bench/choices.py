#!/usr/bin/env python3
"""What --units auto chooses in this version and in another one, for 240 workloads and machines, and the time that it takes.

usage: suite/bench/choices.py BEFORE/evener AFTER/evener [--only WORD]

Printed are the choices that differ; then of each machine the processor time of both, s, and their largest for one choice. Exit
status 1 where a choice differs.
"""
import argparse
import resource
import sys

import turns

MACHINES = ("1:1:1", "1:1:6", "1:2:8", "1:5:7", "1:3:12", "2:1:8", "1:1:64", "2:4:6", "2:8:8", "1:9:16", "4:6:8", "2:12:16", "2:16:24", "2:16:32", "4:16:16", "4:16:32")
CASES = [(app, class_) for app in ("bt-mz", "sp-mz", "lu-mz") for class_ in "SWBCD"]


def choice(command, app, class_):
    """The units chosen, and the processor time of that, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    units = turns.record([command, "plan", app, "--class", class_, "--iterations", "1"])["units"]
    return units, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("before")
parser.add_argument("after")
parser.add_argument("--only", default="", help="machines with this word, as 4:16:32 (packages, caches of each, cores of each)")
options = parser.parse_args()

differ = count = 0
for machine in MACHINES:
    if options.only not in machine:
        continue
    packages, caches, cores = machine.split(":")
    turns.ENVIRONMENT["HWLOC_SYNTHETIC"] = f"package:{packages} l3:{caches} core:{cores} pu:1"
    times = {options.before: [], options.after: []}
    for app, class_ in CASES:
        units = {}
        for command, taken in times.items():
            units[command], seconds = choice(command, app, class_)
            taken.append(seconds)
        count += 1
        if units[options.before] != units[options.after]:
            differ += 1
            print(f"{machine} {app} {class_}: {units[options.before]} before, {units[options.after]} after")
    print(f"{machine:8}", "   ".join(f"{sum(t):6.2f} {max(t):5.2f}" for t in times.values()), flush=True)
print(f"{count} choices, {differ} differ")
sys.exit(differ > 0)
