#!/usr/bin/env python3
"""The bits of a solution depend on nothing but the problem: every schedule, units from one to five, teams of one to five cores.

Run: ctest -R bits, or tests/command/check_bits.py build/evener bt-mz W [--units LIST ..] [--jobs N]
Each run must verify as well. With --table one line a run.
"""
import argparse
import json
import subprocess
import sys

SCHEDULES = ["static", "dynamic", "dynamic:chunk=4,memorize=0", "guided:size", "guided:time"]
UNITS = ["1:CPU:1", "2:CPU:1", "3:CPU:1", "4:CPU:1", "5:CPU:1", "1:CPU:2", "1:CPU:3", "1:CPU:5", "2:CPU:2",
         "1:CPU:2,1:CPU:1"]

parser = argparse.ArgumentParser()
parser.add_argument("evener")
parser.add_argument("app")
parser.add_argument("class_", metavar="class")
parser.add_argument("--units", nargs="*", default=UNITS)
parser.add_argument("--schedules", nargs="*", default=SCHEDULES)
parser.add_argument("--table", action="store_true")
options = parser.parse_args()

hashes, failed, runs = {}, 0, 0
for units in options.units:
    for schedule in options.schedules:
        command = [options.evener, "run", options.app, "--class", options.class_, "--units", units,
                   "--schedule", schedule, "--oversubscribe", "--quiet", "--json", "-"]
        done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        if done.returncode != 0:
            print("FAILED", " ".join(command), done.stderr)
            failed += 1
            continue
        record = json.loads(done.stdout)
        if record["verified"] is not True:
            print("NOT VERIFIED", " ".join(command))
            failed += 1
        hashes.setdefault(record["hash"], " ".join(command))
        if options.table:
            print(f"{options.app} {options.class_} {units:9} {record['schedule']:26} verified {record['hash']} "
                  f"{record['seconds']:8.2f} s {record['mops']:9.1f} Mop/s imbalance {record['imbalance']:.3f}",
                  flush=True)
if len(hashes) != 1:
    failed += 1
    for value, command in hashes.items():
        print("hash", value, "first from", command)
print(f"{options.app} class {options.class_}: {runs} runs, {len(hashes)} hash, {failed} failures")
sys.exit(failed != 0)
