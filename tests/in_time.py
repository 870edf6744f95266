#!/usr/bin/env python3
"""The full set as far as time allows: tests in groups, the long ones last, each group begun only before a limit; those left out are named.

Run by .ci/run as: tests/in_time.py BUILD UNTIL      UNTIL: seconds since 1970, after which no group begins
Each group's log is BUILD/tests-rest-N.log, for tests/total. Status 1 where a group failed.
"""
import json
import os
import subprocess
import sys
import time

GROUP = 6  # tests, two at a time: minutes on a slow machine
LONG = ["contract", "attack-ranks", "threads", "sanitizers", "cpp-header-full", "attack", "aarch64", "mpi-build"]  # each alone, in this order


def groups(names):
    short = [n for n in names if n not in LONG]
    yield from (short[i:i + GROUP] for i in range(0, len(short), GROUP))
    yield from ([n] for n in LONG if n in names)


def main():
    build, until = sys.argv[1], float(sys.argv[2])
    ctest = ["ctest", "--test-dir", build, "-L", "^full$"]
    shown = subprocess.run(ctest + ["--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    names = [t["name"] for t in json.loads(shown)["tests"]]
    status, left = 0, []
    for number, group in enumerate(groups(names)):
        if time.time() > until:
            left += group
            continue
        these = "^(" + "|".join(n.replace("+", "[+]") for n in group) + ")$"
        log = os.path.join(os.path.abspath(build), f"tests-rest-{number:02d}.log")
        status |= subprocess.run(ctest + ["-R", these, "--output-on-failure", "--no-label-summary", "--parallel", str(len(os.sched_getaffinity(0))),
                                          "--output-log", log], check=False).returncode != 0
    if left:
        print("left out for want of time:", *left, flush=True)
    sys.exit(status)


main()
