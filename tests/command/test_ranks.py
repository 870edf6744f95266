#!/usr/bin/env python3
"""NPB-MZ over ranks: what records count; ranks that are not alike, and ranks that were told different things. One hash for any number
of processes, lists and schedules is test_hash.py's; ranks that are killed and interrupts are tests/attack/ranks.py's.

Run: ctest -R command-ranks, or tests/command/test_ranks.py build/evener [test ..]
"""
import itertools
import json
import subprocess

import base
import test_hybrid as mesh
from base import EVENER, clean, launchers, run

STEPS = "8"  # of perturbed runs, which are compared with each other and nothing else


def command(*words):
    return [EVENER, "run", *words, "--quiet"]


class Base(base.Base):
    def record(self, words, said=""):
        status, out, err = run([*words, "--json", "-"])
        self.assertEqual((status, err), (0, said), words)
        return json.loads(out)

    def alone(self, app, *more):
        return self.record(command(app, "--units", "1:CPU:1", *more))


class Counts(Base):
    def test_records(self):
        """Messages and bytes of a step between units, and between ranks, from the cut of the class's mesh."""
        for app, name in itertools.product(("bt-mz", "sp-mz"), "SW"):
            for processes, units in ((1, "3:CPU:1"), (2, "1:CPU:1"), (3, "1:CPU:1"), (2, "3:CPU:1")):
                r = self.record(command(app, "--class", name, "--steps", "7", "--processes", str(processes), "--units", units, "--schedule",
                                        "static", "--oversubscribe"))
                (amount, pairs), moved = mesh.crossing(app, name, r["owner"]), r["transfers"]
                self.assertEqual(len(r["units"]), processes * int(units[0]))
                self.assertEqual([moved["bytes"], *(sum(u[way] for u in r["units"]) for way in ("bytes_in", "bytes_out"))], 3 * [7 * amount], r["command"])
                self.assertEqual((moved["migrations"], moved["moved_bytes"]), (0, 0))
                if units == "1:CPU:1":  # else a message of two ranks has what several units send
                    self.assertEqual(moved["messages"], 7 * pairs, r["command"])
                if processes == 1:
                    continue
                amount, pairs = mesh.crossing(app, name, [r["units"][unit]["rank"] for unit in r["owner"]])
                self.assertEqual((moved["rank_messages"], moved["rank_bytes"]), (7 * pairs, 7 * amount), r["command"])
                self.assertEqual([sum(rank[key] for rank in r["ranks"]) for key in ("messages", "bytes", "moved_tasks")], [7 * pairs, 7 * amount, 0])
                self.assertEqual((moved["moved_between_ranks"], moved["moved_bytes_between_ranks"]), (0, 0))

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

    def test_processes(self):
        for words, expected in ((["--processes", "0"], "processes"), (["--processes", "2", "--units", "9:CPU:9"], "ranks 0 and 1"),
                                (["--processes", "x"], "processes"), (["--wire", "smoke"], "smoke"),
                                (["--processes", "2", "--units", "1:GPU:1", "--devices", "cuda"], "cuda")):
            status, out, err = run(command("bt-mz", *words), EVENER_LIBCUDA="/nowhere/libcuda.so")
            self.assertEqual((status, out), (2, ""), words)
            self.assertEqual(err.count("evener: "), 1, err)
            self.assertIn(expected, err)
