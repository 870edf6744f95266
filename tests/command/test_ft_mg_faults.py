#!/usr/bin/env python3
"""FT and MG with devices that fail: wherever it happens, the run ends soon with one line and status 2 or 3, or it is right; it never
hangs and never has a number that is wrong. Copies, kernels and allocations that fail and devices that are lost, each operation of a run
of class S in turn, alone, beside cores, beside other devices, over ranks, with tasks that move, and with a state that is kept.

Run: ctest -R command-ft-mg-faults, or tests/command/test_ft_mg_faults.py build/evener [test ..]; EVENER_FAULTS=all tries each operation
instead of a few.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import unittest

EVENER = "build/evener"
ALL = os.environ.get("EVENER_FAULTS") == "all"
LIMIT = 60  # s a run that takes a fifth of one, on a machine that has other things to do
SLOWED = "--schedule", "interval", "--slow", "0:50@1"
CASES = {
    "alone": ("1:GPU:1", "emulated", ()),
    "beside": ("1:CPU:1,1:GPU:1", "emulated", ()),
    "two": ("2:GPU:1", "emulated:2", ()),
    "team": ("1:CPU:1,1:GPU:2", "emulated:2,peer=no", ()),
    "ranks": ("1:GPU:1", "emulated", ("--processes", "2")),
    "hybrid": ("1:CPU:1,1:GPU:1", "emulated", ("--processes", "3")),
    "moving": ("1:CPU:1,1:GPU:1", "emulated", SLOWED),
    "moving-ranks": ("1:CPU:1,1:GPU:1", "emulated", ("--processes", "2", *SLOWED)),
    "kept": ("1:CPU:1,1:GPU:1", "emulated", ("--checkpoint", "{folder}/c", "--every", "1")),
    "kept-ranks": ("1:GPU:1", "emulated", ("--processes", "2", "--checkpoint", "{folder}/c", "--every", "1")),
}
KINDS = {"lost": 47, "alloc": 7, "copy": 41, "kernel": 29}  # and how far apart the operations that are tried are, but for the first


def command(app, units, devices, more):
    return ["run", app, "--class", "S", "--units", units, "--devices", devices, "--oversubscribe", "--quiet", "--json", "-", *more]


def run(words):
    """Status, whether it was verified, what it said."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("{folder}", folder) for word in words]
        try:
            done = subprocess.run(["timeout", "-k", "5", str(LIMIT), EVENER, *words], capture_output=True, text=True, timeout=2 * LIMIT)
        except subprocess.TimeoutExpired:
            return 124, False, "", ""
        return done.returncode, '"verified":\ttrue' in done.stdout, done.stderr, done.stdout


def wrong(kind, number, result):
    """Why this is no right end of such a run, or None."""
    status, verified, errors, out = result
    if status == 0:
        return None if verified and not errors else f"verified: {verified}, {errors}"
    if status not in (2, 3):
        return f"status {status}: {errors}"
    if (errors.count("\n"), out) != (1, ""):
        return f"status {status}: {errors}{out}"
    if not errors.startswith("evener: ") or f"(fail={kind}@{number})" not in errors:
        return errors
    return None


class Faults(unittest.TestCase):
    def sweep(self, app, name):
        """Each operation until there is no such one."""
        units, devices, more = CASES[name]
        ran, found = 0, []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for kind, step in KINDS.items():
                number, ended = 1, False
                while not ended:
                    numbers = [number + i * (1 if ALL else step) for i in range(8 if ALL else 2)]
                    number = numbers[-1] + (1 if ALL else step)
                    lines = [command(app, units, f"{devices}{',' if ':' in devices else ':'}fail={kind}@{n}", more) for n in numbers]
                    for n, line, result in zip(numbers, lines, pool.map(run, lines)):
                        ran += 1
                        why = wrong(kind, n, result)
                        if why:
                            found.append(f"{' '.join(line)}: {why}")
                        ended = ended or result[0] == 0
        print(f"{app} {name}: {ran} runs, {len(found)} wrong", file=sys.stderr)
        self.assertEqual(found, [])


    def test_task_that_cannot_leave(self):
        """Its device fails when its memory is fetched for another rank: that is said, and not what the other rank has got."""
        units, devices, more = CASES["moving-ranks"]
        for number in range(81, 86):
            line = command("ft", units, f"{devices}:fail=copy@{number}", more)
            self.assertIsNone(wrong("copy", number, run(line)), line)


def one(app, name):
    return lambda self: self.sweep(app, name)


for app in ("ft", "mg"):
    for name in CASES if ALL else ("beside", "team", "moving-ranks", "kept-ranks"):
        setattr(Faults, f"test_{app}_{name.replace('-', '_')}", one(app, name))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
