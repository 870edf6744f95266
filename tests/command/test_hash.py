#!/usr/bin/env python3
"""The bits of a solution depend on nothing but the problem: one hash for each workload and class, whatever the schedule, the units and their
teams; official runs are verified. On devices NPB-MZ and TD-BEM differ from cores by rounding, zone by zone: there norms are compared.

`Stolen`: while a core is taken away in mid-step. A taker keeps it busy for up to 1.5 ms at a time, every few milliseconds, with real-time priority
where that is allowed: units come late to their tasks, so that others steal them (docs/loop.md), and stealing is counted, so that the test
cannot pass without it. `Official`: whole runs of NPB-MZ on every list; `some` of them take one schedule after another, so that each list meets
each application and each schedule each list, `every` takes all.

Run: ctest -R command-hash, or tests/command/test_hash.py build/evener [test ..]; EVENER_TEST_RUNS=20 repeats each case of Stolen.
"""
import contextlib
import functools
import itertools
import math
import os
import re
import signal
import time
import unittest

from base import Base, evener

RUNS = int(os.environ.get("EVENER_TEST_RUNS", "1"))
WORKLOADS = {
    "bt-mz": "--class S --steps 12", "sp-mz": "--class S --steps 20", "lu-mz": "--class S --steps 12", "mg": "--class S --steps 40",
    "ft": "--class S", "td-bem": "--mesh sphere:1 --steps 150", "adaptive": "--steps 24"}
ZONES = ["bt-mz", "sp-mz", "lu-mz"]
KEEPS_OWNERS = {"mg"}  # forbids stealing
NO_KERNELS = {"adaptive"}
LISTS = ["2:CPU:1", "3:CPU:1", "1:CPU:1,1:GPU:1"]
TEAMS = ["1:CPU:1", "2:CPU:1", "3:CPU:1", "4:CPU:1", "5:CPU:1", "1:CPU:2", "1:CPU:3", "1:CPU:5", "2:CPU:2", "1:CPU:2,1:CPU:1"]
DEVICES = ["1:GPU:1", "2:GPU:1", "1:CPU:1,1:GPU:1", "2:CPU:1,2:GPU:1", "1:CPU:1,1:GPU:2"]
OPTIONS = {"dynamic": "dynamic:chunk=2,memorize=0", "guided": "guided:size"}
MORE = ["guided:time", "binpack:time", "dynamic"]


@functools.cache
def schedules():
    """All of them, from the command's own list; learning variants too."""
    said = evener("plan", "bt-mz", "--class", "S", "--units", "1:CPU:1", "--schedule", "none").stderr
    names = re.findall("[a-z]+", re.search("expected one of: (.*)", said)[1])
    assert len(names) > 5, said
    return [OPTIONS.get(name, name) for name in names] + MORE


def take(core):
    """Keeps a core from other threads, with pauses; until the parent ends."""
    parent, seed = os.getppid(), 1
    os.sched_setaffinity(0, {core})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass  # it then competes as any program does
    while os.getppid() == parent:
        seed = (seed * 1664525 + 1013904223) % 2**32
        time.sleep(2e-4 + (seed >> 20) * 2e-6)
        until = time.monotonic() + (seed >> 12) % 1500 * 1e-6
        while time.monotonic() < until:
            pass


@contextlib.contextmanager
def taker():
    """One of the first core, while the block lasts."""
    child = os.fork()
    if not child:
        try:
            take(min(os.sched_getaffinity(0)))
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def numbers(of):
    """All numbers of a record's part, in order."""
    if isinstance(of, dict):
        return [x for key in sorted(of) for x in numbers(of[key])]
    if isinstance(of, list):
        return [x for part in of for x in numbers(part)]
    return [of] if isinstance(of, (int, float)) else []


class Runs(Base):
    def run_of(self, app, size, units, schedule):
        return self.record("run", app, *size.split(), "--units", units, "--schedule", schedule, "--oversubscribe",
                           *(("--devices", "emulated") if "GPU" in units else ()))

    def same(self, record, plain, units):
        if "GPU" not in units or record["app"] in ("mg", "ft"):
            self.assertEqual(record["hash"], plain["hash"])
            return
        mine, ours = numbers(record["norms"]), numbers(plain["norms"])
        self.assertEqual(len(mine), len(ours))
        self.assertTrue(all(math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) for x, y in zip(mine, ours)), (mine, ours))


class Stolen(Runs):
    def compare(self, cases):
        """cases: workload, list, schedule. Stealing, where it is allowed, must have been seen: a short run may be over before a core is taken, so it is
        repeated."""
        plain = {app: self.run_of(app, WORKLOADS[app], "1:CPU:1", "static") for app in {app for app, *_ in cases}}
        stolen = dict.fromkeys(plain, 0)
        repeated = [(app, LISTS[1], "auto") for app in plain if app not in KEEPS_OWNERS] * 50
        with taker():
            for number, (app, units, schedule) in enumerate(cases * RUNS + repeated):
                if number >= RUNS * len(cases) and stolen[app]:
                    continue
                with self.subTest(app=app, units=units, schedule=schedule):
                    record = self.run_of(app, WORKLOADS[app], units, schedule)
                    stolen[app] += record["transfers"]["stolen"]
                    self.assertIsNot(record["verified"], False)
                    self.same(record, plain[app], units)
        for app, count in stolen.items():
            with self.subTest(app=app, stolen=count):
                self.assertEqual(count > 0, app not in KEEPS_OWNERS)

    @staticmethod
    def can(app, units, schedule):
        """Planes of a device's memory do not travel to whoever draws them."""
        return "GPU" not in units or not (app in NO_KERNELS or (app == "mg" and schedule.startswith("dynamic")))

    def test_quick(self):
        """The default schedule, which steals, on each list; each other schedule once with each workload, on one list after another."""
        cases = []
        for a, app in enumerate(WORKLOADS):
            for s, schedule in enumerate(schedules()):
                cases += [(app, units, schedule) for units in (LISTS if schedule == "auto" else [LISTS[(a + s) % 3]])]
        self.compare([case for case in cases if self.can(*case)])

    def test_all(self):
        self.compare([case for case in itertools.product(WORKLOADS, LISTS, schedules()) if self.can(*case)])


class Official(Runs):
    def every(self, name, some=False):
        for a, app in enumerate(ZONES):
            plain = self.run_of(app, f"--class {name}", "1:CPU:1", "static")
            for u, units in enumerate(TEAMS + DEVICES):
                for schedule in [schedules()[(3 * u + 5 * a) % len(schedules())]] if some else schedules():
                    with self.subTest(app=app, units=units, schedule=schedule):
                        record = self.run_of(app, f"--class {name}", units, schedule)
                        self.assertIs(record["verified"], True)
                        self.assertEqual(any(device["launches"] for device in record.get("devices", [])), "GPU" in units)
                        self.same(record, plain, units)

    def test_some_s(self):
        self.every("S", some=True)

    def test_every_s(self):
        self.every("S")

    def test_every_w(self):
        self.every("W")

    def test_class_a(self):
        for app in ZONES:
            record = self.run_of(app, "--class A", "2:CPU:1", "guided:time")
            self.assertIs(record["verified"], True)
            self.same(self.run_of(app, "--class A", "1:CPU:1,1:GPU:1", "guided:time"), record, "GPU")


if __name__ == "__main__":
    unittest.main()
