#!/usr/bin/env python3
"""Balance of TD-BEM on uneven units, in virtual time: figure 15 of Bramas, Coulaud and Sylvand (2015) in numbers.

Run: suite/bench/tdbem_balance.py [build/evener [options of `evener run td-bem` ..]]; a minute.

For each machine: the longest unit's time over the mean in the first iteration (equal counts of blocks), the iteration from
which on it stays within 5 %, and the worst from the 11th on; what a better schedule could still gain is bounded by the last.
Devices are emulated with a virtual clock: 1 us an item of the summation's kernel, 0.26 ms for a block of 8 slices of 642
vertices, 0.3 MB; there are 72 of them, less than a larger mesh has by itself. Of devices named with a memory the first
interval does not fit.
"""
import json
import os
import subprocess
import sys
import tempfile

VIRTUAL = "clock=virtual,item=1us,item.sum_pairs=2ns"
MACHINES = [
    ("2:GPU:1", ["1", "1,speed=0.5"]),
    ("2:GPU:1", ["1", "1,speed=0.25"]),
    ("3:GPU:1", ["1", "1,speed=0.4", "1,speed=0.1"]),
    ("4:GPU:1", ["2", "2,speed=0.25"]),
    ("4:GPU:1", ["1", "1,speed=0.75", "1,speed=0.5", "1,speed=0.25"]),
    ("1:GPU:1,1:GPU:2", ["3"]),
    ("1:GPU:1,1:GPU:3", ["4"]),
    ("2:GPU:1", ["1,memory=14MB", "1,speed=0.25"]),
    ("2:GPU:1", ["1", "1,speed=0.25,memory=8MB"]),
    ("2:GPU:1", ["1", "1,speed=0.5,memory=8MB"]),
    ("2:GPU:1", ["1,memory=8MB", "1,memory=20MB"]),
    ("2:GPU:1", ["1,memory=20MB,link=1GB/s", "1,speed=0.25,link=1GB/s,memory=8MB"]),
    ("2:GPU:1", ["1,memory=10MB,link=500MB/s", "1,speed=0.25"]),
    ("3:GPU:1", ["1,memory=10MB", "1,speed=0.4,memory=6MB", "1,speed=0.1,memory=4MB"]),
    ("1:GPU:1,1:GPU:3", ["4,memory=8MB"]),
    ("1:GPU:2,1:GPU:1", ["2,speed=0.5,memory=6MB", "1,memory=12MB"]),
]


def run(evener, matrices, units, devices, more):
    spec = "+".join(f"emulated:{d.split(',')[0]},{VIRTUAL}" + "".join("," + o for o in d.split(",")[1:]) for d in devices)
    done = subprocess.run([evener, "run", "td-bem", "--mesh", "sphere:3", "--matrices", matrices, "--blocks", "80", "--steps", "480", "--units",
                           units, "--devices", spec, "--oversubscribe", "--quiet", "--json", "-", *more],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    evener = sys.argv[1] if len(sys.argv) > 1 else "build/evener"
    reached = 0
    print("  units             devices                                             first  from  worst   blocks at the end")
    with tempfile.TemporaryDirectory() as folder:
        for units, devices in MACHINES:
            r = run(evener, os.path.join(folder, "matrices"), units, devices, sys.argv[2:])
            even = [max(t) / (sum(t) / len(t)) for t in (i["unit_compute_s"] for i in r["iterations"])]
            begin = max([0] + [i + 1 for i, e in enumerate(even) if e > 1.05]) + 1
            worst = max(even[10:])
            reached += worst <= 1.05
            blocks = " ".join(str(n) for n in r["iterations"][-1]["tasks"])
            print(f"  {units:17s} {' + '.join(devices):50s} {even[0]:6.2f}  {begin:4d} {worst:6.3f}   {blocks}", flush=True)
    print(f"\n  {reached} of {len(MACHINES)} within 5 % from the 11th iteration on")


main()
