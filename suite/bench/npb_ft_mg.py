#!/usr/bin/env python3
"""FT and MG beside NPB 3.4's reference, on one core, in turn within one run: medians and ratios.

Run: suite/bench/npb_ft_mg.py FOLDER [--evener build/evener] [--apps ft,mg] [--classes AB] [--rounds 5]

FOLDER has the reference's programs, mg.A.x and so on (NPB3.4-OMP, `make mg CLASS=A`, gfortran -O3 -march=native -fopenmp). Timed: what
each program itself calls its time. User: processor time of all of a process, its start and warm-up with it, for machines that are busy.
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stdout[-500:]}{done.stderr}")
    return done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def reference(folder, app, name):
    text, user = run([os.path.join(folder, f"{app}.{name}.x")])
    if not re.search(r"Verification\s*=\s*SUCCESSFUL", text):
        sys.exit(f"{app}.{name}.x: not verified")
    return float(re.search(r"Time in seconds\s*=\s*([0-9.]+)", text).group(1)), user


def ours(evener, app, name):
    text, user = run([evener, "run", app, "--class", name, "--units", "1:CPU:1", "--quiet", "--json", "-"])
    record = json.loads(text)
    if record["verified"] is not True:
        sys.exit(f"evener run {app} --class {name}: not verified")
    return record["seconds"], user


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", help="of the reference's programs")
    parser.add_argument("--evener", default="build/evener")
    parser.add_argument("--apps", default="ft,mg", help="with commas")
    parser.add_argument("--classes", default="AB")
    parser.add_argument("--rounds", type=int, default=5)
    o = parser.parse_args()
    print("                 timed, s                    user, s\n app  class   reference    evener  ratio   reference    evener  ratio")
    for app in o.apps.split(","):
        for name in o.classes:
            rounds = [(reference(o.folder, app, name), ours(o.evener, app, name)) for _ in range(o.rounds)]
            line = f" {app:4} {name:5}"
            for what in range(2):
                theirs, mine = (statistics.median(r[who][what] for r in rounds) for who in range(2))
                line += f"   {theirs:9.3f} {mine:9.3f} {theirs / mine:6.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
