#!/usr/bin/env python3
"""What a run gets that names no schedule, beside all other schedules, on real cores: quiet, with a competitor on one of them, and with
one that comes and goes.

Run: bench/default_schedule.py [build/evener [rounds [apps [class [steps]]]]]; apps as bt-mz,sp-mz; without steps, as many as take three seconds
on this machine when it is quiet, which is five times that the competitor comes and goes. The units are 2:CPU:1. The competitor is a
process that this script starts, bound to the core of the second unit (the last of the two first cores this process may use), and that
computes without end, or by turns 0.3 s and not. Schedules take turns, beginning with another one in each round; of each the median.

The least of nine medians is below what any of the nine takes, by luck alone. So the ratio has the best of one half of the rounds, timed by the
other half, and the other way round, the mean of both (two rounds at least); `scatter` is how much two halves of one schedule's rounds differ
by, in the middle of all schedules: a ratio closer to 1 than that says nothing.
"""
import os
import statistics
import sys
import time

from turns import record

SCHEDULES = ["static", "dynamic", "dynamic:memorize=0", "guided:size", "guided:time", "weighted", "binpack", "interval", "map"]
PERIOD = 0.3  # s
LONG = 10 * PERIOD


def compete(core, by_turns, parent):
    """Does not return; ends with its parent."""
    os.sched_setaffinity(0, {core})
    while os.getppid() == parent:
        until = time.monotonic() + PERIOD
        while time.monotonic() < until:
            pass
        if by_turns:
            time.sleep(PERIOD)


class Competitor:
    """On a core as long as the block lasts; kind: quiet (there is none), busy or flickers."""

    def __init__(self, core, kind):
        self.core, self.kind, self.pid = core, kind, 0

    def __enter__(self):
        if self.kind != "quiet":
            parent = os.getpid()
            self.pid = os.fork()
            if not self.pid:
                try:
                    compete(self.core, self.kind == "flickers", parent)
                finally:
                    os._exit(0)

    def __exit__(self, *_):
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)


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


def case(evener, app, class_, steps, core, kind, rounds):
    """One row; the default over the best."""
    problem = ["--mesh", "sphere:3"] if app == "td-bem" else ["--class", class_]
    steps = steps or steps_of(evener, app, problem)
    took, bits, name = {None: []}, set(), ""
    took.update((s, []) for s in SCHEDULES)
    order = list(took)
    with Competitor(core, kind):
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
          + " ".join(f"{step[s] / step[best]:.2f}" for s in SCHEDULES), flush=True)
    return ratio


def main():
    words = sys.argv[1:] + [None] * 5
    evener, rounds, apps, class_ = words[0] or "build/evener", int(words[1] or 4), words[2] or "bt-mz,sp-mz,lu-mz,td-bem", words[3] or "A"
    cores = sorted(os.sched_getaffinity(0))
    if rounds < 2:
        sys.exit("two rounds are the least: the best is chosen by one and timed by the other")
    if len(cores) < 2:
        sys.exit("two cores are needed, one for each unit")
    print(f"2:CPU:1, {rounds} rounds, ms a step; then each over the best: {' '.join(SCHEDULES)}")
    print("                  default         ms      best   ratio  scatter  which")
    worst = max(case(evener, app, class_, words[4], cores[1], kind, rounds)
                for app in apps.split(",") for kind in ("quiet", "busy", "flickers"))
    print(f"the worst: {100 * (worst - 1):.1f} % above the best")


if __name__ == "__main__":
    main()
