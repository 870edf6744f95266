#!/usr/bin/env python3
"""NPB-MZ over ranks: one hash for any number of processes, lists and schedules; official runs verified; what records count;
under MPI's launchers, with unequal ranks too; a rank that is killed, interrupts, and ranks that were told different things.

Run: ctest -R command-ranks, or tests/command/test_ranks.py build/evener [test ..]
All lists with all schedules on 1 to 8 ranks are test_ranks_matrix.py's.
"""
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

import base
import test_hybrid as mesh
from base import EVENER, clean, descendants, is_rank, is_there, launcher, launchers, run

APPS = "bt-mz", "sp-mz", "lu-mz"
LISTS = ["1:CPU:1", "2:CPU:1", "1:CPU:2", "1:CPU:1,1:CPU:2"]
SCHEDULES = ["static", "static:chunk=1", "dynamic", "dynamic:chunk=2,memorize=0", "guided:size", "guided:time", "weighted",
             "weighted:size", "binpack", "interval", "map", "optimal:limit=1"]
PROCESSES = 1, 2, 3, 5
STEPS = "8"  # of perturbed runs, which are compared with each other and nothing else
SOON = 3  # s from a death to the end; tests allow for a machine that has other things to do
PATIENCE = 10


def command(*words):
    return [EVENER, "run", *words, "--quiet"]


class Base(base.Base):
    def record(self, words, said=""):
        status, out, err = run([*words, "--json", "-"])
        self.assertEqual((status, err), (0, said), words)
        return json.loads(out)

    def alone(self, app, *more):
        return self.record(command(app, "--units", "1:CPU:1", *more))


class Bits(Base):
    def test_one_hash(self):
        """Each schedule with each number of processes and, of the lists, another one each time."""
        begin, runs = time.monotonic(), 0
        for app in APPS:
            words = ["--perturb", "--steps", STEPS]
            bits = self.alone(app, *words)["hash"]
            lists = itertools.cycle(LISTS)
            for processes, schedule in itertools.product(PROCESSES, SCHEDULES):
                units = next(lists)
                # teams of several cores on fewer take their time
                if processes > 2 and ":CPU:2" in units:
                    units = "3:CPU:1"
                record = self.record(command(app, *words, "--processes", str(processes), "--units", units, "--schedule",
                                             schedule, "--oversubscribe"))
                self.assertEqual(record["hash"], bits, record["command"])
                runs += 1
        print(f"{runs} runs in {time.monotonic() - begin:.0f} s: one hash each", file=sys.stderr)

    def test_devices(self):
        """All zones on emulated devices of some ranks or other."""
        for app in APPS:
            words = ["--perturb", "--steps", STEPS, "--devices", "emulated"]
            bits = self.record(command(app, *words, "--units", "1:GPU:1"))["hash"]
            for processes, units, schedule in ((2, "1:GPU:1", "static"), (3, "2:GPU:1", "guided:time"),
                                               (2, "1:GPU:2", "dynamic:memorize=0")):
                record = self.record(command(app, *words, "--processes", str(processes), "--units", units, "--schedule",
                                             schedule, "--oversubscribe"))
                self.assertEqual(record["hash"], bits, record["command"])

    def test_moving(self):
        """A unit that is slow for some steps: zones go to other ranks and come back."""
        migrations = 0  # of all: on a busy machine one schedule may see nothing in so few steps
        for app, name in (("bt-mz", "S"), ("sp-mz", "W"), ("lu-mz", "W")):
            words = ["--class", name, "--perturb", "--steps", "30"]
            bits = self.alone(app, *words)["hash"]
            record = self.record(command(app, *words, "--processes", "2", "--units", "1:CPU:1", "--schedule", "guided:time",
                                         "--slow", "0:20@3", "--oversubscribe"))
            self.assertEqual(record["hash"], bits)
            migrations += record["transfers"]["migrations"]
        self.assertGreater(migrations, 0)

    def test_verified(self):
        """Official runs, their hash too."""
        for app in APPS:
            bits = self.alone(app)["hash"]
            for processes, schedule in ((2, "dynamic"), (3, "map")):
                record = self.record(command(app, "--processes", str(processes), "--units", "1:CPU:1", "--schedule", schedule,
                                             "--oversubscribe"))
                self.assertTrue(record["verified"])
                self.assertEqual(record["hash"], bits)


class Counts(Base):
    def expected(self, record, depth):
        """Messages and bytes of a step, from the sizes of zones and their owners."""
        x, y = record["zones"]["x"], record["zones"]["y"]
        owner, columns, rows = record["owner"], len(x), len(y)
        pairs, amount = set(), 0
        for j, i in itertools.product(range(rows), range(columns)):
            to = owner[j * columns + i]
            for other, length in ((j * columns + (i + 1) % columns, y[j]), (j * columns + (i - 1) % columns, y[j]),
                                  ((j + 1) % rows * columns + i, x[i]), ((j - 1) % rows * columns + i, x[i])):
                if owner[other] != to:
                    pairs.add((owner[other], to))
                    amount += 8 * 5 * (length - 2) * (depth - 2)
        return len(pairs), amount

    def test_records(self):
        for app, (name, depth) in itertools.product(("bt-mz", "sp-mz"), (("S", 6), ("W", 8))):
            for processes, units in ((1, "3:CPU:1"), (2, "1:CPU:1"), (3, "1:CPU:1"), (2, "3:CPU:1")):
                words = ["--class", name, "--steps", "7", "--processes", str(processes), "--units", units, "--schedule",
                         "static", "--oversubscribe"]
                record = self.record(command(app, *words))
                messages, amount = self.expected(record, depth)
                moved = record["transfers"]
                self.assertEqual(len(record["units"]), processes * int(units[0]))
                self.assertEqual(moved["bytes"], 7 * amount, record["command"])
                self.assertEqual(sum(u["bytes_in"] for u in record["units"]), 7 * amount)
                self.assertEqual(sum(u["bytes_out"] for u in record["units"]), 7 * amount)
                self.assertEqual((moved["migrations"], moved["moved_bytes"]), (0, 0))
                if units == "1:CPU:1":  # else a message of two ranks has what several units send
                    self.assertEqual(moved["messages"], 7 * messages, record["command"])
                if processes > 1:
                    self.check_ranks(record, app, name)

    def check_ranks(self, record, app, name):
        """The same between ranks, from the cut of the class's mesh."""
        of_rank = [record["units"][unit]["rank"] for unit in record["owner"]]
        amount, pairs = mesh.crossing(app, name, of_rank)
        moved, by_rank = record["transfers"], record["ranks"]
        self.assertEqual((moved["rank_messages"], moved["rank_bytes"]), (7 * pairs, 7 * amount), record["command"])
        self.assertEqual(sum(r["messages"] for r in by_rank), 7 * pairs)
        self.assertEqual(sum(r["bytes"] for r in by_rank), 7 * amount)
        self.assertEqual((moved["moved_between_ranks"], moved["moved_bytes_between_ranks"]), (0, 0))
        self.assertEqual(sum(r["moved_tasks"] for r in by_rank), 0)


    def test_times(self):
        """The IPDPS paper's table 3 by ranks: what each has computed is in rhs and solver, and together with exchange and waiting it is the run."""
        code, out, err = run(command("bt-mz", "--class", "S", "--steps", "20", "--processes", "2", "--units", "2:CPU:1", "--oversubscribe",
                                     "--json", "-"))
        self.assertIn(code, (0, 1), err)
        record = json.loads(out)
        self.assertEqual(len(record["rank_times"]), 2)
        for rank, t in enumerate(record["rank_times"]):
            units = [u for u in record["units"] if u["rank"] == rank]
            self.assertEqual(len(units), 2)
            compute = sum(u["compute_s"] for u in units) / 2
            self.assertAlmostEqual(t["rhs_s"] + t["solver_s"], compute, delta=1e-9 + 1e-6 * compute)
            self.assertAlmostEqual(t["exchange_s"], sum(u["exchange_s"] for u in units) / 2, delta=1e-9)
            self.assertEqual(t["total_s"], record["seconds"])
            self.assertGreater(min(t["rhs_s"], t["solver_s"]), 0)
            self.assertAlmostEqual(max(0, t["total_s"] - compute - t["exchange_s"]), t["wait_s"], delta=1e-9)
        words = ["bt-mz", "--class", "S", "--steps", "2", "--units", "1:CPU:1", "--verbose", "--processes"]
        table = subprocess.run([EVENER, "run", *words, "3", "--oversubscribe"], env=clean(), capture_output=True, text=True).stdout
        self.assertRegex(table, r"rank +total s +rhs s +solver s +exchange s +wait s\n( +[012]( +\d+\.\d{3}){5}\n){3} +most")


class Launchers(Base):
    def check(self, kind, counts):
        start = launcher(kind)
        for app in APPS:
            words = ["--perturb", "--steps", STEPS]
            bits = self.alone(app, *words)["hash"]
            for ranks, schedule in itertools.product(counts, ("static", "guided:time", "dynamic:memorize=0")):
                record = self.record([*start, "-n", str(ranks), *command(app, *words, "--units", "1:CPU:1", "--schedule",
                                                                         schedule, "--oversubscribe")])
                self.assertEqual(record["hash"], bits, f"{kind} {ranks} {schedule}")
                self.assertEqual(len(record["units"]), ranks)

    def test_openmpi(self):
        self.check("openmpi", (2, 4))

    def test_mpich(self):
        self.check("mpich", (2,))

    def test_unequal(self):
        for _, start in launchers():
            words = ["sp-mz", "--perturb", "--steps", STEPS]
            bits = self.alone(*words)["hash"]
            one = command(*words, "--oversubscribe", "--units", "2:CPU:1", "--json", "-")
            other = command(*words, "--oversubscribe", "--units", "1:CPU:2", "--json", "-")
            status, out, err = run([*start, "-n", "1", *one, ":", "-n", "1", *other])
            self.assertEqual((status, err), (0, ""))
            record = json.loads(out)
            self.assertEqual(record["hash"], bits)
            self.assertEqual([len(u["cores"]) for u in record["units"]], [1, 1, 2])


class Mistakes(Base):
    """One rank is not as the others: a line that names it, status 2."""

    def check(self, one, other, expected, **env):
        for _, start in launchers():
            words = [*start, "-n", "1", *command(*one), ":", "-n", "1", *command(*other)]
            status, out, err = run(words, **env)
            self.assertEqual((status, out), (2, ""), words)
            lines = [line for line in err.splitlines() if line.startswith("evener: ")]
            self.assertEqual(len(lines), 1, err)
            self.assertRegex(lines[0], expected)

    def test_options(self):
        one = ["bt-mz", "--units", "1:CPU:1", "--steps", "10"]
        self.check(one, [*one[:3], "--steps", "20"], r"rank 1 on .*: .*--steps 20.*rank 0 .*--steps 10")
        self.check(one, [*one, "--perturb"], r"rank 1 on .*: .*--perturb")

    def test_units(self):
        one = ["bt-mz", "--steps", "10", "--units"]
        self.check([*one, "1:CPU:1"], [*one, "1:CPUS:1"], r"rank 1 on .*: units: .*CPUS")
        self.check([*one, "0:CPU:1"], [*one, "1:CPU:1"], r"rank 0 on .*: units: ")
        self.check([*one, "1:CPU:1"], [*one, "1:GPU:1", "--devices", "cuda"], r"rank 1 on .*: units: .*cuda",
                   EVENER_LIBCUDA="/nowhere/libcuda.so")

    def test_plugin(self):
        one = ["bt-mz", "--steps", "10"]
        self.check(one, one, r"there is no plug-in /nowhere/wire\.so \(which EVENER_WIRE says\)",
                   EVENER_WIRE="/nowhere/wire.so")

    def test_processes(self):
        for words, expected in ((["--processes", "0"], "processes"), (["--processes", "2", "--units", "9:CPU:9"], "ranks 0 and 1"),
                                (["--processes", "x"], "processes"), (["--wire", "smoke"], "smoke"),
                                (["--processes", "2", "--units", "1:GPU:1", "--devices", "cuda"], "cuda")):
            status, out, err = run(command("bt-mz", *words), EVENER_LIBCUDA="/nowhere/libcuda.so")
            self.assertEqual((status, out), (2, ""), words)
            self.assertEqual(err.count("evener: "), 1, err)
            self.assertIn(expected, err)


class Faults(Base):
    """A run that would take minutes, killed or interrupted at some moment."""

    LONG = ["sp-mz", "--class", "W", "--steps", "1000000", "--units", "1:CPU:1", "--oversubscribe"]

    def setUp(self):
        super().setUp()
        self.shared = set(os.listdir("/dev/shm"))
        self.record_file = self.write("record", "earlier")
        self.temporary = self.path("tmp")
        os.mkdir(self.temporary)

    def start(self, *before, processes=None):
        more = ["--processes", str(processes)] if processes else []
        words = [*before, *command(*self.LONG, *more, "--json", self.record_file)]
        going = subprocess.Popen(words, env=clean() | {"TMPDIR": self.temporary}, text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.clear, going)
        return going

    @staticmethod
    def clear(going):
        if going.poll() is None:
            going.kill()
        going.communicate()

    def ranks(self, going, count):
        """All there are; they have begun to compute."""
        limit = time.monotonic() + 6 * PATIENCE
        found = []
        while len(found) < count:
            self.assertLess(time.monotonic(), limit, "ranks do not begin")
            self.assertIsNone(going.poll(), "it has ended")
            time.sleep(0.01)
            found = [pid for pid in descendants(going.pid) if is_rank(pid)]
        return sorted(found)

    def ends(self, going, pids, statuses):
        """Soon, with one of these statuses, and nothing is left; what it has said."""
        begin = time.monotonic()
        try:
            out, err = going.communicate(timeout=SOON + PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail("it goes on")
        while any(is_there(pid) for pid in pids):
            self.assertLess(time.monotonic() - begin, SOON + PATIENCE, "a rank is left")
            time.sleep(0.01)
        self.assertIn(going.returncode, statuses, err)
        self.assertNotIn("{", out)  # MPICH says there that a rank was killed
        self.assertEqual(self.read("record"), "earlier")
        self.assertEqual(sorted(os.listdir(self.folder)), ["record", "tmp"])
        self.assertEqual([name for name in os.listdir(self.temporary) if "evener" in name], [])
        self.assertEqual([name for name in set(os.listdir("/dev/shm")) - self.shared if "evener" in name], [])
        return [line for line in err.splitlines() if line.startswith("evener: ")]

    def test_child(self):
        for i in range(4):
            count = 2 + i % 3
            going = self.start(processes=count)
            pids = self.ranks(going, count)
            time.sleep(random.random() * 0.6)
            victim = random.choice(pids)
            os.kill(victim, signal.SIGKILL)
            lines = self.ends(going, pids, [3])
            self.assertEqual(len(lines), 1, lines)
            self.assertRegex(lines[0], rf"process \d of {count} \(pid {victim}\) was ended by signal 9")

    def test_supervisor(self):
        for _ in range(3):
            going = self.start(processes=3)
            pids = self.ranks(going, 3)
            time.sleep(random.random() * 0.5)
            going.kill()
            self.assertEqual(self.ends(going, pids, [-9]), [])

    def test_interrupt(self):
        for i, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)):
            going = self.start(processes=2 + i % 2)
            pids = self.ranks(going, 2 + i % 2)
            time.sleep(random.random() * 0.6)
            if i < 3:
                going.send_signal(number)
            else:  # all get it, as from batch systems; timeout(1) even sends it twice
                going.send_signal(number)
                os.killpg(going.pid, number)
            lines = self.ends(going, pids, [130])
            self.assertEqual(len(lines), 1, lines)
            self.assertRegex(lines[0], "interrupted")

    def check_launcher(self, kind, statuses):
        for _ in range(2):
            going = self.start(*launcher(kind), "-n", "2")
            pids = self.ranks(going, 2)
            time.sleep(0.5 + random.random())
            os.kill(random.choice(pids), signal.SIGKILL)
            lines = self.ends(going, pids, statuses)
            self.assertLessEqual(len(lines), 1, lines)
            for line in lines:
                self.assertNotRegex(line, "unit |exchange")

    def test_rank_of_openmpi(self):
        self.check_launcher("openmpi", [137])

    def test_rank_of_mpich(self):
        # 6: its transport aborts a rank that was just reading from the one that is gone
        self.check_launcher("mpich", [9, 137, 6, 134])

    def test_interrupt_of_launchers(self):
        for kind, start in launchers():
            statuses = [1 if kind == "openmpi" else 0, 130]
            going = self.start(*start, "-n", "2")
            pids = self.ranks(going, 2)
            time.sleep(0.5 + random.random())
            going.send_signal(signal.SIGINT)
            lines = self.ends(going, pids, statuses)
            self.assertLessEqual(len(lines), 1, lines)
            self.assertTrue(all(re.search("interrupted|ended from outside", line) for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
