#!/usr/bin/env python3
"""Random runs of the command: a workload with random options on random units, under a random schedule and over random numbers of processes has the
hash of the same workload on one core; last bits of devices may differ (docs/hybrid.md). Options that do not go together are refused in one line,
with status 2.

Run: tests/command/test_random.py build/evener [PROBLEMS [SEED]]; the same for the same numbers. ctest -R command-random
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import clean  # pylint: disable=wrong-import-position

SCHEDULES = ["auto", "map", "static", "binpack", "binpack:time", "guided:size", "guided:time", "dynamic", "dynamic:chunk=2", "weighted:size", "weighted",
             "interval"]
UNITS = ["1:CPU:1", "2:CPU:1", "3:CPU:1", "1:CPU:2", "1:CPU:3,1:CPU:1", "2:CPU:2", "4:CPU:1", "auto", "5:CPU:1", "1:CPU:1,2:CPU:3"]
SETTINGS = 4  # of each problem


def some(r, part, *words):
    return list(words) if r.random() < part else []


def problem(r):
    kind = r.choice(["mz", "mz", "ft", "mg", "td-bem", "td-bem", "adaptive"])
    if kind == "mz":
        return [r.choice(["bt-mz", "sp-mz", "lu-mz"]), "--class", "S", "--steps", str(r.randint(1, 3)), *some(r, 0.5, "--perturb")]
    if kind == "ft":
        size = r.choice(["32x32x32", "64x16x8", "8x64x16", "16x8x128"])
        return ["ft", "--size", size, "--steps", str(r.randint(1, 4)), "--transposes", r.choice("12")]
    if kind == "mg":
        return ["mg", "--size", r.choice(["16", "32"]), "--steps", str(r.randint(1, 4)), "--smoother", r.choice("ab")]
    if kind == "adaptive":
        return ["adaptive", "--size", "32", "--levels", str(r.randint(1, 3)), "--every", str(r.randint(1, 5)), "--steps", str(r.randint(1, 12))]
    return ["td-bem", "--mesh", r.choice(["sphere:1", "box:1,1,1,0.4", "box:2,1,0.3,0.3"]), "--steps", str(r.randint(5, 60)),
            "--method", r.choice(["plain", "fast"]), "--problem", r.choice(["rigid", "rigid", "soft"]), *some(r, 0.3, "--planes", "z=-3"),
            *some(r, 0.3, "--delta-ratio", r.choice(["0.25", "1"])), *some(r, 0.3, "--precision", "float"), *some(r, 0.3, "--ng", r.choice("14")),
            *some(r, 0.3, "--blocks", r.choice(["1", "7", "40"])), *some(r, 0.3, "--order", r.choice(["hilbert", "morton", "none"])),
            *some(r, 0.2, "--source", "0,0,4")]


def setting(r, app):
    words = ["--units", r.choice(UNITS), "--schedule", r.choice(SCHEDULES), *some(r, 0.4, "--processes", r.choice("234")),
             *some(r, 0.3, "--slow", f"0:{r.choice('25')}@{r.randint(0, 2)}")]
    if app.endswith("mz"):
        words += some(r, 0.4, "--loop", r.choice(["step", "phase"])) + some(r, 0.4, "--exchange", r.choice(["parallel", "zones"]))
    variants = {"ft": ["packed", "slabs", "funneled"], "mg": ["bulk", "overlap", "funneled"]}.get(app)
    return words + (some(r, 0.4, "--variant", r.choice(variants)) if variants else [])


def run(command, words):
    """Status, hash and errors."""
    done = subprocess.run([command, "run", *words, "--oversubscribe", "--quiet", "--json", "-"], env=clean(), capture_output=True, text=True, timeout=600,
                          check=False)
    return done.returncode, json.loads(done.stdout)["hash"] if done.returncode == 0 else None, done.stderr


def main(command, problems=6, seed=1):
    wrong = runs = refused = 0
    for number in range(seed, seed + problems):
        r = random.Random(number)
        words = problem(r)
        status, expected, said = run(command, [*words, "--units", "1:CPU:1", "--schedule", "static"])
        if status:
            sys.exit(f"problem {number}: {words}: status {status}: {said}")
        for _ in range(SETTINGS):
            more = setting(r, words[0])
            status, found, said = run(command, words + more)
            runs, refused = runs + 1, refused + (status == 2)
            if not (status == 0 and found == expected or status == 2 and said.startswith("evener: ") and said.count("\n") == 1):
                wrong += 1
                print(f"problem {number}: {' '.join(words + more)}: status {status}, hash {found} and not {expected}; {said}", flush=True)
    print(f"{runs} runs of {problems} problems, {refused} refused, {wrong} wrong")
    return wrong > 0 or refused == runs


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as there:
        PROGRAM = os.path.abspath(sys.argv[1])
        os.chdir(there)
        sys.exit(main(PROGRAM, *map(int, sys.argv[2:])))
