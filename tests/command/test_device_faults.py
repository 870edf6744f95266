#!/usr/bin/env python3
"""Workloads with devices that fail: wherever it happens, the run ends soon with one line and status 2 or 3, or it is right; it never
hangs and never has a number that is wrong. Copies, kernels and allocations that fail and devices that are lost, each operation of a run
in turn, alone, beside cores, beside other devices, over ranks, with tasks that move, and with a state that is kept.

Run: ctest -R command-device-faults, or tests/command/test_device_faults.py build/evener [test ..]; EVENER_FAULTS=all tries each operation
instead of a few.
"""
import concurrent.futures
import os
import tempfile
import unittest

from base import clean, evener

ALL = os.environ.get("EVENER_FAULTS") == "all"
LIMIT = 60  # s a run that takes a fifth of one, on a machine that has other things to do
SLOWED = "--schedule interval --slow 0:50@1"
BEM = "td-bem --mesh sphere:2 --steps 100"
BLOCKS = "mg --class S --processes 4 --per-node 2"
# in the quick set; a run's words, its units, its devices
QUICK = [
    ("sp-mz --class S --schedule static", "1:CPU:1,2:GPU:1", "emulated:2,bad=1"), ("ft --class S", "1:CPU:1,1:GPU:1", "emulated"),
    (f"ft --class S --processes 2 {SLOWED}", "1:CPU:1,1:GPU:1", "emulated"), ("mg --class S", "1:CPU:1,2:GPU:1", "emulated:2"),
    ("mg --class S --processes 2", "1:CPU:1,1:GPU:1", "emulated"), (f"{BLOCKS} --variant funneled", "1:GPU:1", "emulated"),
    ("ft --class S --processes 4 --per-node 2 --variant funneled", "1:GPU:1", "emulated"),
    (f"{BEM} --solver cg:device", "1:CPU:1,1:GPU:1", "emulated:1"), (f"{BEM} --schedule static", "1:CPU:1,2:GPU:1", "emulated:2,bad=1")]
REST = [(f"{app} --class S {more}", *where) for app in ("ft", "mg") for more, *where in (
    ("", "1:CPU:1,1:GPU:1", "emulated"), ("", "1:CPU:1,1:GPU:2", "emulated:2,peer=no"), ("--processes 3", "1:CPU:1,1:GPU:1", "emulated"),
    (f"--processes 2 {SLOWED}", "1:CPU:1,1:GPU:1", "emulated"), ("--processes 2 --checkpoint {folder}/c --every 1", "1:GPU:1", "emulated"),
    *((("", "1:GPU:1", "emulated"), ("", "2:GPU:1", "emulated:2"), (SLOWED, "1:CPU:1,1:GPU:1", "emulated"), ("--processes 2", "1:GPU:1", "emulated"),
       ("--checkpoint {folder}/c --every 1", "1:CPU:1,1:GPU:1", "emulated")) if ALL else ()))] + [
           (f"{BLOCKS} --variant bulk", "1:GPU:1", "emulated")]
KINDS = {"lost": 47, "alloc": 7, "copy": 41, "kernel": 29}  # and how far apart the operations that are tried are, but for the first


def run(words, kind, number):
    """Why this is no right end of such a run, or None; whether there was no such operation."""
    (what, units, devices), fail = words, f"fail={kind}@{number}"
    with tempfile.TemporaryDirectory() as folder:
        line = [*what.replace("{folder}", folder).split(), "--units", units, "--devices", f"{devices}{',' if ':' in devices else ':'}{fail}"]
        done = evener("run", *line, "--oversubscribe", "--quiet", "--json", "-", launch=["timeout", "-k", "5", LIMIT], env=clean(OMP_NUM_THREADS="1"))
    said = f"{' '.join(line)}: status {done.returncode}: {done.stderr}"
    if done.returncode == 0:
        return None if '"verified":\tfalse' not in done.stdout and not done.stderr else said, True
    if done.returncode not in (2, 3) or (done.stderr.count("\n"), done.stdout) != (1, ""):
        return said, False
    return None if done.stderr.startswith("evener: ") and f"({fail})" in done.stderr else said, False


class Faults(unittest.TestCase):
    def sweep(self, words, most=None):
        """Each operation until there is no such one, or so many."""
        found, failed = [], set()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for kind, step in KINDS.items():
                number, ended = 1, False
                while not ended and (not most or number < most * step):
                    numbers = [number + i * (1 if ALL else step) for i in range(8 if ALL else 2)]
                    number = numbers[-1] + (1 if ALL else step)
                    for why, none in pool.map(lambda n: run(words, kind, n), numbers):  # pylint: disable=cell-var-from-loop
                        found += [why] if why else []
                        ended = ended or none
                        failed |= set() if none else {kind}
        self.assertEqual(found, [])
        self.assertEqual(failed, set(KINDS))

    def test_quick(self):
        for words in QUICK:
            with self.subTest(words=words):
                self.sweep(words, most=2)

    def test_rest(self):
        for words in REST:
            with self.subTest(words=words):
                self.sweep(words)

    def test_task_that_cannot_leave(self):
        """Its device fails when its memory is fetched for another rank: that is said, and not what the other rank has got."""
        for number in range(81, 86):
            self.assertIsNone(run(QUICK[2], "copy", number)[0])
