#!/usr/bin/env python3
"""NPB-MZ over 1 to 8 ranks, all of it: each app, class, list of units and schedule, over the arena and both MPIs, with
emulated devices and zones that move; one hash for each app and class, and official runs verified.

Run: EVENER_RANKS=all ctest -R command-ranks-matrix, or tests/command/test_ranks_matrix.py build/evener [part ..], where a part is
one of those that PARTS lists. Half an hour, most of it teams of two cores on a core. With a build that contracts nothing
(EVENER_CONTRACT=OFF) units of cores and of devices must agree, too, and lists have both.
"""
import itertools
import json
import os
import sys
import time
import unittest

import test_ranks as ranks
from base import EVENER, ended, launcher

LIMIT = 60  # s a run, on a machine that has other things to do, too
STEPS = {"S": "4", "W": "3", "A": "2"}  # of runs that are compared with each other and nothing else
MIXED = [["1:CPU:2"], ["1:CPU:1"], ["2:CPU:1"], ["1:CPU:1,1:CPU:2"], ["1:CPU:1"], ["3:CPU:1"], ["1:CPU:2"], ["1:CPU:1"]]


class Wrong(Exception):
    pass


def record(words):
    """What a run says of itself; it must end well and say nothing else."""
    done = ended(["timeout", "-k", "5", LIMIT, *words])
    if (done.returncode, done.stderr) != (0, ""):
        raise Wrong(f"status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def line(wire, count, lists, words):
    """What starts so many ranks. In the arena all have one list, the first; a launcher's have their own, one after another."""
    what, more = [EVENER, "run", *words], ["--oversubscribe", "--quiet", "--json", "-"]
    if wire == "arena":
        return [*what, "--processes", str(count), "--units", *lists[0], *more]
    out = launcher(wire)
    for i in range(count):
        out += [":"] * (i > 0) + ["-n", "1", *what, "--units", *lists[i % len(lists)], *more]
    return out


class Matrix:
    """Runs and compares; counts by wire, class and what was varied; keeps what was wrong."""

    def __init__(self):
        self.hashes, self.counts, self.wrong = {}, {}, []
        flags = self.alone("bt-mz", "S", ["--steps", "1"])["build"]["flags"]
        self.contracts = "-ffp-contract=off" not in flags

    def alone(self, app, name, words, units="1:CPU:1"):
        devices = ["--devices", "emulated"] if "GPU" in units else []
        return record([EVENER, "run", app, "--class", name, *words, "--units", units, *devices, "--quiet", "--json", "-"])

    def bits(self, app, name, words, units):
        key = app, name, *words, units
        if key not in self.hashes:
            self.hashes[key] = self.alone(app, name, words, units)["hash"]
        return self.hashes[key]

    def run(self, part, wire, app, name, count, lists, more, official=False):
        """One run of so many ranks; its record, or None."""
        words = [] if official else ["--perturb", "--steps", STEPS[name]]
        reference = "1:CPU:1" if any("CPU" in units for units, *_ in lists) else "1:GPU:1"
        said = line(wire, count, lists, [app, "--class", name, *words, *more])

        def right(got):
            if official and got["verified"] is not True:
                raise Wrong("not verified")
            want = self.bits(app, name, words, reference)
            if got["hash"] != want:
                raise Wrong(f"hash {got['hash']}, alone {want}")

        return self.keep((wire, name, part), said, count, right)

    def keep(self, key, said, count, right):
        """Runs, looks whether what it says of itself is right, and counts."""
        try:
            got = record(said)
            right(got)
            if len(got.get("ranks", [0])) != count:
                raise Wrong(f"{len(got['ranks'])} ranks")
        except Wrong as why:
            self.wrong.append(f"{' '.join(said)}: {why}")
            print(self.wrong[-1], file=sys.stderr, flush=True)
            return None
        self.counts[key] = self.counts.get(key, 0) + 1
        return got

    def show(self):
        for (wire, name, part), count in sorted(self.counts.items()):
            print(f"{wire:8} class {name} {part:10} {count:5} runs")


# ---- parts: what is varied ----


def everything(m, name):
    """The arena: each number of ranks with each list and schedule."""
    lists = [[units] for units in ranks.LISTS]
    for app, count, units, schedule in itertools.product(ranks.APPS, range(1, 9), lists, ranks.SCHEDULES):
        m.run("all", "arena", app, name, count, [units], ["--schedule", schedule])


def arena_s(m):
    everything(m, "S")


def arena_w(m):
    everything(m, "W")


def large(m):
    """Class A: each schedule and number of ranks, the lists in turn."""
    lists = itertools.cycle(["1:CPU:1", "2:CPU:1", "1:CPU:1,1:CPU:2"])
    for app, (count, schedule) in itertools.product(ranks.APPS, zip(itertools.cycle((2, 3, 5, 8)), ranks.SCHEDULES)):
        m.run("large", "arena", app, "A", count, [[next(lists)]], ["--schedule", schedule])


def official(m):
    """All steps, verified, and with the hash of one unit."""
    schedules = itertools.cycle(ranks.SCHEDULES)
    for name, app, count in itertools.product("SW", ranks.APPS, (2, 3, 8)):
        m.run("official", "arena", app, name, count, [["1:CPU:1"]], ["--schedule", next(schedules)], official=True)
    for app in ranks.APPS:
        m.run("official", "arena", app, "A", 2, [["1:CPU:1"]], ["--schedule", next(schedules)], official=True)


def moving(m):
    """Zones that go to other ranks while others are computed, since a unit is slow from some step on."""
    moved = 0
    for app, name, count in itertools.product(ranks.APPS, "SW", range(2, 9)):
        for schedule, units in (("guided:time", "1:CPU:1"), ("dynamic:memorize=0", "2:CPU:1"), ("map", "1:CPU:1")):
            got = m.run("moving", "arena", app, name, count, [[units]], ["--schedule", schedule, "--slow", "1:30@1"])
            moved += got["transfers"]["moved_between_ranks"] if got else 0
    if not moved:
        m.wrong.append("moving: no zone went to another rank")


def launched(m, kind, counts):
    """Lists that differ between ranks, and the same on all."""
    launcher(kind)  # or it is left out
    lists = itertools.cycle([MIXED, [["1:CPU:1"]], [["2:CPU:1"]], MIXED])
    for app, name, count, schedule in itertools.product(ranks.APPS, "SW", counts, ranks.SCHEDULES):
        m.run("launched", kind, app, name, count, next(lists), ["--schedule", schedule])
    for app, count in itertools.product(ranks.APPS, counts):
        m.run("launched", kind, app, "A", count, [["1:CPU:1"]], ["--schedule", "guided:time"])
        m.run("official", kind, app, "S", count, [["1:CPU:1"]], ["--schedule", "map"], official=True)


def openmpi(m):
    launched(m, "openmpi", range(2, 9))


def mpich(m):
    launched(m, "mpich", (2,))


# Memory of a device that has room for each zone, but not for all that one of two ranks has; of BT's class S there is none such
SMALL = {("bt-mz", "W"): "1500KiB", ("sp-mz", "S"): "200KiB", ("sp-mz", "W"): "1MiB", ("lu-mz", "S"): "1MiB", ("lu-mz", "W"): "2MiB"}


def emulated(app, name):
    """Devices with room for all, and with room for some."""
    small = SMALL.get((app, name))
    return ["emulated:2"] + ([f"emulated:2,memory={small}"] if small else [])


def devices(m):
    """Devices on all ranks; with cores where those have the same bits."""
    schedules = ["static", "guided:time", "dynamic:chunk=1,memorize=0", "map"]
    both = [] if m.contracts else ["1:CPU:1,1:GPU:1", "1:GPU:1,2:CPU:1"]
    for app, name, units in itertools.product(ranks.APPS, "SW", ["1:GPU:1", "2:GPU:1", "1:GPU:2", *both]):
        for where, (count, schedule) in itertools.product(emulated(app, name), zip((2, 3, 4, 5), schedules)):
            got = m.run("devices", "arena", app, name, count, [[units, "--devices", where]], ["--schedule", schedule])
            if got and "memory" in where and (units, count) == ("1:GPU:1", 2) and not got["transfers"]["moved_regions"]:
                m.wrong.append(f"devices: {app} {name} has room on {where}")


def unequal(m):
    """Some ranks have devices, others none: a build that contracts nothing, and a launcher."""
    if m.contracts:
        print("unequal: left out, this build contracts products and sums")
        return
    for kind, counts in (("openmpi", (2, 3, 4)), ("mpich", (2,))):
        launcher(kind)
        for app, name, count, schedule in itertools.product(ranks.APPS, "SW", counts, ["static", "guided:time", "binpack"]):
            where = ["--devices", emulated(app, name)[-1]]
            lists = [["1:GPU:1", *where], ["1:CPU:1"], ["1:CPU:1,1:GPU:1", *where], ["2:CPU:1"]]
            m.run("unequal", kind, app, name, count, lists[:count], ["--schedule", schedule])


PARTS = {part.__name__: part for part in (arena_s, arena_w, large, official, moving, openmpi, mpich, devices, unequal)}


def main(names, m, parts):
    for name in names or parts:
        begin = time.monotonic()
        try:
            parts[name](m)
        except unittest.SkipTest as why:
            print(f"{name}: left out, {why}")
        print(f"{name}: {time.monotonic() - begin:.0f} s, {len(m.wrong)} wrong so far", file=sys.stderr, flush=True)
    m.show()
    return len(m.wrong) > 0


if __name__ == "__main__":
    if len(sys.argv) < 2 and os.environ.get("EVENER_RANKS") != "all":
        print("half an hour: EVENER_RANKS=all")
        sys.exit(77)
    sys.exit(main(sys.argv[1:], Matrix(), PARTS))
