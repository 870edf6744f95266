#!/usr/bin/env python3
"""What a run gets that names no schedule, beside all other schedules, on real cores: quiet, with a competitor on one of them, and with
one that comes and goes.

Run: suite/bench/default_schedule.py [build/evener [rounds [apps [class [steps]]]]] [--kinds quiet,busy,flickers] [--schedules LIST]; apps as bt-mz,sp-mz;
without steps, as many as take three seconds on this machine when it is quiet, which is five times that the competitor comes and goes; with few
schedules, many rounds take no longer. The units are 2:CPU:1. The competitor is a
process that this script starts, bound to the core of the second unit (the last of the two first cores this process may use), and that
computes without end, or by turns 0.3 s and not. Schedules take turns, beginning with another one in each round; of each the median.

The least of nine medians is below what any of the nine takes, by luck alone. So the ratio has the best of one half of the rounds, timed by the
other half, and the other way round, the mean of both (two rounds at least); `scatter` is how much two halves of one schedule's rounds differ
by, in the middle of all schedules: a ratio closer to 1 than that says nothing.
"""
import argparse
import os
import statistics
import sys

from competitor import Competitor
from words import some_of
from turns import record

SCHEDULES = ["static", "dynamic", "dynamic:memorize=0", "guided:size", "guided:time", "weighted", "binpack", "interval", "map"]
KINDS = ["quiet", "busy", "flickers"]
PERIOD = 0.3  # s
LONG = 10 * PERIOD


def against_best(took):
    """The default over the best of all others, and the scatter; took: {schedule: samples of rounds}, None: the default."""
    halves = [{s: statistics.median(t[h::2]) for s, t in took.items()} for h in (0, 1)]
    each = []
    for choice, timed in (halves, halves[::-1]):
        best = min(filter(None, choice), key=choice.get)
        each.append(timed[None] / timed[best])
    return statistics.mean(each), statistics.median(abs(halves[0][s] / halves[1][s] - 1) for s in took)


def steps_of(evener, app, problem):
    """As many steps as take LONG, quiet."""
    done = record([evener, "run", app, *problem, "--units", "2:CPU:1", "--steps", "40"])
    return max(40, round(LONG / (done["seconds"] / done["steps"])))


def case(evener, app, class_, steps, core, kind, schedules, rounds):
    """One row; the default over the best."""
    problem = ["--mesh", "sphere:3"] if app == "td-bem" else ["--class", class_]
    steps = steps or steps_of(evener, app, problem)
    took, bits, name = {None: []}, set(), ""
    took.update((s, []) for s in schedules)
    order = list(took)
    with Competitor(core, kind, (PERIOD, PERIOD if kind == "flickers" else 0)):
        for r in range(rounds):
            for s in order[r % len(order):] + order[:r % len(order)]:
                done = record([evener, "run", app, *problem, "--units", "2:CPU:1", "--steps", str(steps), *(["--schedule", s] if s else [])])
                took[s].append(done["seconds"] / done["steps"])
                bits.add(done["hash"])
                name = name if s else done["schedule"]
    if len(bits) > 1:
        sys.exit(f"{app}: schedules have other bits: {bits}")
    step = {s: statistics.median(t) for s, t in took.items()}
    best = min(step, key=step.get)
    ratio, scatter = against_best(took)
    print(f"{app:7s} {kind:9s} {name:8s} {1e3 * step[None]:9.3f} {1e3 * step[best]:9.3f}  {ratio:6.3f}  {scatter:6.3f}   {best or name:18s} "
          + " ".join(f"{step[s] / step[best]:.2f}" for s in schedules), flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evener", nargs="?", default="build/evener")
    parser.add_argument("rounds", nargs="?", type=int, default=4)
    parser.add_argument("apps", nargs="?", default="bt-mz,sp-mz,lu-mz,td-bem")
    parser.add_argument("class_", nargs="?", metavar="class", default="A")
    parser.add_argument("steps", nargs="?", type=int)
    parser.add_argument("--kinds", type=some_of(KINDS), default=KINDS)
    parser.add_argument("--schedules", type=some_of(SCHEDULES), default=SCHEDULES, help="beside the default")
    a = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if a.rounds < 2:
        sys.exit("two rounds are the least: the best is chosen by one and timed by the other")
    if len(cores) < 2:
        sys.exit("two cores are needed, one for each unit")
    print(f"2:CPU:1, {a.rounds} rounds, ms a step; then each over the best: {' '.join(a.schedules)}")
    print("                  default         ms      best   ratio  scatter  which")
    worst = max(case(a.evener, app, a.class_, a.steps, cores[1], kind, a.schedules, a.rounds) for app in a.apps.split(",") for kind in a.kinds)
    print(f"the default takes at most {worst:.3f} of what the best other takes")


if __name__ == "__main__":
    main()
