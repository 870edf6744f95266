#!/usr/bin/env python3
"""A unit of two cores beside two units of one core and one core alone: on a quiet machine, and with a competitor on one of the two cores.

Run: suite/bench/company.py [build/evener [rounds [apps [classes]]]]; apps as bt-mz,sp-mz, classes as AB. The competitor is a process that this
script starts, bound to the second of the cores that this process may use, and that computes without end; one core alone is the first. Lists
take turns, beginning with another one in each round; of each the median. Given are the speed of `1:CPU:2` over that of `2:CPU:1`, quiet, and
over that of one core alone, with the competitor.
"""
import os
import statistics
import sys

from competitor import Competitor
from turns import record

LISTS = ["1:CPU:1", "2:CPU:1", "1:CPU:2"]
STEPS = {"S": 100, "W": 200, "A": 100, "B": 30}


def speeds(evener, app, class_, core, kind, rounds):
    """{list: Gop/s}"""
    took, bits = {units: [] for units in LISTS}, set()
    with Competitor(core, kind):
        for r in range(rounds):
            for units in LISTS[r % len(LISTS):] + LISTS[:r % len(LISTS)]:
                done = record([evener, "run", app, "--class", class_, "--units", units, "--steps", str(STEPS.get(class_, 20))])
                took[units].append(done["mops"] / 1e3)
                bits.add(done["hash"])
    if len(bits) > 1:
        sys.exit(f"{app} class {class_}: lists have other bits: {bits}")
    return {units: statistics.median(t) for units, t in took.items()}


def main():
    words = sys.argv[1:] + [None] * 4
    evener, rounds, apps, classes = words[0] or "build/evener", int(words[1] or 3), words[2] or "bt-mz,sp-mz,lu-mz", words[3] or "AB"
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed")
    print(f"Gop/s, medians of {rounds}      " + "  ".join(LISTS) + "   1:CPU:2 over")
    for app in apps.split(","):
        for class_ in classes:
            for kind, beside in ("quiet", "2:CPU:1"), ("busy", "1:CPU:1"):
                gops = speeds(evener, app, class_, cores[1], kind, rounds)
                print(f"{app:7s} {class_}  {kind:6s}          " + "  ".join(f"{gops[units]:7.1f}" for units in LISTS) +
                      f"   {beside}: {gops['1:CPU:2'] / gops[beside]:.2f}", flush=True)


if __name__ == "__main__":
    main()
