#!/usr/bin/env python3
"""The bits of a solution depend on nothing but the problem: one hash for each workload and class, whatever the schedule, the units and their
teams; official runs are verified. On devices NPB-MZ and TD-BEM differ from cores by rounding, zone by zone: there norms are compared.

`Ways`: a table of problems and of ways to run each: units, schedules, ranks, devices, launchers. `Stolen`: while a core is taken away in mid-step. A taker keeps it busy for up to 1.5 ms at a time, every few milliseconds, with real-time priority
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

from base import Base, evener, launcher

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


# ---- a table of problems, and of ways to run each ----

MIXED = ["1:CPU:1,1:GPU:1", "1:CPU:1,1:GPU:2", "1:GPU:1,1:CPU:2", "1:CPU:1,2:GPU:1"]
ALIKE = ["1:GPU:1", "2:GPU:1", "1:GPU:2"]
CORES = ["1:CPU:1", "2:CPU:1", "1:CPU:2", "1:CPU:1,1:CPU:2"]
ALL = ["static", "static:chunk=1", "dynamic", "dynamic:chunk=2,memorize=0", "guided:size", "guided:time", "weighted", "weighted:size", "binpack",
       "interval", "map", "optimal:limit=1"]
VERTICES = "--vertices 0,8,40,100,161 --vertex-output v.csv"
MPI = ["mpi:openmpi:2", "mpi:openmpi:3", "mpi:mpich:2"]
TWO = "--transposes 2"
PERTURBED = [f"{app} --class S --perturb --steps 8" for app in ZONES]


def units(lists, *more):
    return [" ".join(("--units", u, *more)) for u in lists]


def schedules_of(names, *more):
    return [" ".join(("--schedule", name, *more)) for name in names]


def ranks(counts, *more):
    return [" ".join(("--processes", str(count), *more)) for count in counts]


def in_turn(counts, lists, names):
    """Each schedule with each number of ranks and, of the lists, another one each time; teams on few cores take their time."""
    pairs = zip(itertools.product(counts, names), itertools.cycle(lists))
    return [f"--processes {count} --units {'3:CPU:1' if count > 2 and ':CPU:2' in u else u} --schedule {name}" for (count, name), u in pairs]


# `~`: numbers alone; `>`: tasks migrate, in one of ten runs at least
QUICK = [
    *[(what, [*units(["2:GPU:1"], "--processes 3 --schedule guided:time"), *units(["1:GPU:2"], "--processes 2 --schedule dynamic:memorize=0"),
              "--units 1:CPU:1,2:GPU:1"]) for what in PERTURBED],
    ("bt-mz --class S --perturb --steps 30", ["> --processes 2 --schedule guided:time --slow 0:20@3"]),
    ("ft --class S", [*ranks([2, 3], "--variant packed"), "--processes 8", "--processes 2 --units 2:CPU:1,1:CPU:2", "--per-node 1 --processes 3",
                      "--processes 3 --variant slabs --units 1:CPU:1,1:GPU:1", "--units 1:CPU:1,1:GPU:2 --schedule dynamic:chunk=5"]),
    *[(f"ft --size {size} --steps 2", units([*ALIKE[:1], *MIXED[:1]])) for size in ("8x2x2", "8x4x64", "16x64x4", "32x2x16", "64x2x2", "128x32x8", "8x8x256",
                                                                                   "512x4x4", "1024x2x4", "2048x2x2", "64x2048x2", "8x2x1024")],
    ("mg --class S", [*ranks([2, 3, 5, 8]), "--processes 2 --units 2:CPU:1 --schedule dynamic:chunk=1", "--processes 3 --units 1:CPU:2,1:CPU:1",
                      "--processes 2 --units 1:CPU:1,1:GPU:1", *units(ALIKE), "--units 2:GPU:1 --devices emulated:2,peer=no"]),
    ("mg --size 16 --smoother b", [*ranks([2, 3, 6]), *units(["1:GPU:1", "1:CPU:1,1:GPU:1"])]),
    (f"td-bem --mesh sphere:2 --steps 50 {VERTICES}", [*ranks([2]), "--processes 3 --units 2:CPU:1 --schedule map", *units(["1:CPU:1,1:GPU:1"])]),
    ("adaptive --size 32 --levels 2 --steps 120 --every 3", [*units(["2:CPU:1", "2:CPU:2,1:CPU:1"]), "--units 2:CPU:1 --schedule dynamic:chunk=1"]),
]
REST = [
    *[(what, [*in_turn((1, 2, 3, 5), CORES, ALL), *units(["1:GPU:1", "1:CPU:1,1:GPU:1"], "--devices opencl")]) for what in PERTURBED],
    *[(f"{app} --class S", [*ranks([2], "--schedule dynamic"), *ranks([3], "--schedule map")]) for app in ZONES],
    ("lu-mz --class S", units(ALIKE, "--sweeps one --devices emulated:2,cores=3")),
    *[(f"{app} --class W --perturb --steps 30", ["> --processes 2 --schedule guided:time --slow 0:20@3"]) for app in ZONES],
    *[(f"{what} --transposes {q}", [*units(["2:CPU:1", "1:CPU:3", "2:CPU:1,1:CPU:2"]), "--processes 3 --variant best --per-node 1", "--processes 5",
                                    *schedules_of(["dynamic:chunk=1", "dynamic:chunk=5", "guided:time", "binpack", "interval"], "--units 2:CPU:1,1:CPU:2"),
                                    "--processes 5 --variant packed --per-node 2", "--processes 3 --variant slabs", "--processes 8"])
      for what in ("ft --class S", "ft --size 32x8x64", "ft --size 16x32x4") for q in (1, 2)],
    ("ft --class S", [f"--processes 2 --units {u} --schedule {name} {more}" for u, name in (("1:CPU:2", "weighted"), ("3:CPU:1", "dynamic:chunk=3"),
                      ("2:CPU:1", "static:chunk=1"), ("2:CPU:1", "interval")) for more in ("", "--variant packed", "--per-node 1")]),
    *[(f"ft --class S --steps 12 --transposes {q}", [f"> --processes 3 --schedule guided:time --slow 1:20@1 {more}"
                                                     for more in ("", "--variant packed", "--per-node 1")]) for q in (1, 2)],
    *[(f"{app} --class S", [f"{more} {mpi}" for mpi in MPI for more in ("", "--per-node 1")]) for app in ("ft", "mg")],
    ("ft --class S", [*units([*ALIKE, *MIXED]), *units(["1:GPU:1", *MIXED[:2]], "--processes 2 --variant packed"),
                      "--units 1:GPU:1 --devices opencl", "--units 1:CPU:1,1:GPU:1 --devices opencl"]),
    *[(f"ft --class S --steps 9 {q}", [f"--units {u} --schedule {name} --devices {where}" for name in ("static", "dynamic:chunk=1", "guided:time", "binpack", "interval")
                                       for u, where in (("1:CPU:1,1:GPU:2", "emulated"), ("2:GPU:1", "emulated:1+emulated:1,speed=0.3,peer=no"),
                                                        ("1:CPU:1,1:GPU:1 --processes 2", "emulated:1,speed=0.5"))]) for q in ("", TWO)],
    *[(f"ft --class W --steps 12 {q}", ["> --units 1:CPU:1,1:GPU:1 --schedule interval --slow 0:20@3"]) for q in ("", TWO)],
    (f"ft --class S {TWO}", [*units([*ALIKE, *MIXED]), *units(["1:GPU:1", "1:CPU:1,1:GPU:2"], "--processes 2 --variant packed"),
                             "--units 1:CPU:1,1:GPU:1 --processes 2 --variant slabs"]),
    *[(f"ft --size {size} --steps 2 {TWO}", [*units(MIXED[:1]), "--processes 5 --units 1:GPU:1"]) for size in ("8x2x2", "16x64x4", "32x2x16", "16x32x4", "1024x2x4")],
    (f"ft --class W {TWO}", units(MIXED[1:2])),
    ("ft --class A", units(MIXED[:1])),
    ("mg --class S", [*units(["1:CPU:3", "2:CPU:2,1:CPU:1"]), *in_turn((1, 2, 3), ["2:CPU:1", "1:CPU:2,1:CPU:1", "1:CPU:1"], ALL[:7]),
                      *units(["2:CPU:1,1:GPU:2,1:GPU:1", *ALIKE[:2]], "--processes 2"), "--units 1:GPU:1 --devices opencl"]),
    ("mg --class W", [*units(["1:CPU:3", "1:CPU:2,1:CPU:1", "1:GPU:1", "1:CPU:1,1:GPU:1"]), *ranks([3, 8]), "--processes 2 --units 1:CPU:1,1:GPU:1"]),
    ("mg --class W --steps 30", ["> --processes 3 --schedule guided:time --slow 1:40@2"]),
    ("mg --class S --steps 7", [*schedules_of(["weighted:speed=3+1", "binpack", "interval", "guided:time", "map", "optimal"], "--units 1:CPU:1,1:GPU:1"),
                                "> --schedule interval --units 1:CPU:1,1:GPU:1 --slow 0:200@0", "--processes 2 --schedule interval --units 1:CPU:1,1:GPU:1",
                                "> --schedule interval --units 2:GPU:1 --devices emulated:1,speed=0.1,peer=no+emulated:1",
                                "> --schedule interval --units 1:GPU:2,1:GPU:1 --devices emulated:2,speed=0.1+emulated:1"]),
    *[(f"{app} --class S", in_turn((1, 2, 3, 4, 5, 8), [*CORES, *MIXED], ["static", "guided:time", "weighted", "interval"])) for app in ("ft", "mg")],
    (f"td-bem --mesh sphere:2 --steps 66 --blocks 13 {VERTICES}", [*in_turn((2, 3), ["2:CPU:1"], ["interval", *ALL]), *ranks([5, 7, 8]), *units(ALIKE),
                                                                   "--processes 4 --units 1:CPU:2", "--processes 2 --units 1:GPU:1",
                                                                   "~ --units 1:GPU:1 --processes 2 --devices emulated:memory=600kB --schedule interval",
                                                                   "~ --units 1:GPU:1 --solver cg:device", "~ --units 1:GPU:1 --solver cg:device --processes 2"]),
    *[(f"td-bem --mesh sphere:2 --steps 65 --blocks 23 {VERTICES} {more}", [*units(["2:GPU:1", "1:CPU:1,1:GPU:1", "2:CPU:1,2:GPU:1"]), "--processes 3",
                                                                            "~ --units 1:GPU:1 --devices opencl"])
      for more in ("--layout rows", "--layout contiguous", "--layout full:32x32", "--ng 1", "--ng 3", "--ng 32", "--precision float", "--eta 0",
                   "--problem soft", "--problem soft --eta 0", "--source 0,0,-3")],
    (f"td-bem --mesh sphere:2 --steps 100 --blocks 23 {VERTICES}", schedules_of(["static", "dynamic", "guided:size", "binpack"], "--units 1:CPU:1,2:GPU:1")),
    (f"td-bem --mesh sphere:2 --steps 80 --ng 8 --blocks 7 --admittance panel {VERTICES}", [*ranks([3]), "--units 2:CPU:1", "--memory 12MB", *2 * ["--matrices m"],
                                                                                           "--units 1:GPU:1", "~ --units 1:GPU:1 --solver cg:device"]),
    *[(f"td-bem --mesh sphere:3 --steps 40 --precision {p}", [*units(["2:CPU:1", "1:CPU:2", "3:CPU:1"]), "--processes 3 --solver cg:ranks"]) for p in ("double", "float")],
    ("adaptive --size 32 --levels 2 --steps 120 --every 3", [f"--units {u} --schedule {name}" for u in ("2:CPU:1", "2:CPU:2,1:CPU:1")
                                                             for name in ("map", "auto", "static", "guided:time", "binpack")]),
]
FIGURES = "hash", "checksums", "norm", "error", "verified"


class Compared(Runs):
    """Each way of a row has the bits of one core, or of one device where all units are devices; of both kinds the numbers."""

    def setUp(self):
        super().setUp()
        self.write("panel", "instant 0.05\npole -0.2 1 0.15 0.02\npole -3 0 -0.1 0\n")  # of an admittance

    def of(self, what, way):
        """A run's record, and the table of vertices."""
        words = [*what.split(), *way.split()]
        launch = ()
        if words[-1].startswith("mpi:"):
            _, kind, count = words.pop().split(":")
            launch = [*launcher(kind), "-n", count]
        words += ["--units", "1:CPU:1"] * ("--units" not in words)
        words += ["--devices", "emulated"] * ("GPU" in " ".join(words) and "--devices" not in words)
        record = self.record("run", *words, "--oversubscribe", launch=launch)
        rows = self.read("v.csv").splitlines()[1:] if VERTICES in what else []
        return record, [[float(x) for x in row.split(",")] for row in rows]

    def moving(self, what, way):
        for _ in range(10):  # on a busy machine a run may see nothing to move
            got = self.of(what, way)
            if got[0]["transfers"]["migrations"]:
                return got
        return self.fail("nothing has moved")

    def near(self, got, want):
        (one, rows), (other, others) = got, want
        self.assertIs(one["verified"], other["verified"])
        coarse = "float" in one["command"]
        for key, within in ("norms", 2e-5 if coarse else 1e-9), ("zone_sums", 1e-9), ("norm", 1e-10), ("checksums", 1e-12):
            mine, ours = numbers(one.get(key)), numbers(other.get(key))
            self.assertEqual(len(mine), len(ours))
            self.assertTrue(all(math.isclose(x, y, rel_tol=within, abs_tol=1e-12) for x, y in zip(mine, ours)), (key, mine, ours))
        largest = max((abs(x) for row in others for x in row[2:]), default=0)
        self.assertEqual(len(rows), len(others))
        within = (2e-5 if coarse else 1e-12) * largest
        self.assertTrue(all(abs(x - y) <= within for a, b in zip(rows, others) for x, y in zip(a, b)))

    def compare(self, table):
        for what, ways in table:
            plain = {}
            for way in ways:
                with self.subTest(what=what, way=way):
                    mark, words = (way[0], way[2:]) if way[0] in "~>" else ("", way)
                    kinds = {kind for kind in ("CPU", "GPU") if kind in (words if "--units" in words else "1:CPU:1")}
                    alone = "--units 1:GPU:1" if kinds == {"GPU"} and mark != "~" and "opencl" not in words and not what.startswith(("mg", "ft")) else ""
                    if alone not in plain:
                        plain[alone] = self.of(what, alone)
                    if "opencl" in words and "opencl   0:" not in self.evener("info").stdout:
                        self.skipTest("no OpenCL device")
                    got, want = (self.moving if mark == ">" else self.of)(what, words), plain[alone]
                    off = "-ffp-contract=off" in got[0]["build"]["flags"]
                    exact = off or (mark != "~" and "opencl" not in words and (len(kinds) == 1 or what.startswith(("mg", "ft"))))
                    if exact:
                        self.assertEqual([got[0].get(key) for key in FIGURES], [want[0].get(key) for key in FIGURES])
                        self.assertEqual(got[1], want[1])
                    else:
                        self.near(got, want)


class Ways(Compared):
    def test_quick(self):
        self.compare(QUICK)

    def test_rest(self):
        self.compare(REST)


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
