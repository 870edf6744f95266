#!/usr/bin/env python3
"""Instructions that a loop over tasks takes for each of them, above those of a serial loop over the same tasks: they do not depend on what else
the machine does.

Run: suite/bench/task_instructions.py [build] [--units 1:CPU:1] [--schedules auto,static,dynamic] [--counter perf|callgrind]

For each mode (suite/bench/peers/evener.c) and schedule: pull, a plain body without places, over 64 and 4096 empty tasks; places, the heat program with
64 blocks and rows of 8 points, whose exchanges count as well. A program runs for few steps and for many, and the difference is that of steps
alone, without start and end. Counted are instructions in user mode of all threads: by perf stat where the system permits it, else by
valgrind --tool=callgrind. With several units, instructions of waiting are among them.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

# mode, workload, tasks, and steps: few and many
CASES = {"pull, 64": ("pull", ["even", "64", "0"], 64, (100, 600)), "pull, 4096": ("pull", ["even", "4096", "0"], 4096, (10, 60)),
         "places, 64": ("places", ["heat", "8"], 64, (100, 600))}


def output(command, env):
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env))
    except OSError as e:
        sys.exit(f"{command[0]}: {e.strerror}")
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout + done.stderr


def by_perf(command, env):
    with tempfile.NamedTemporaryFile("r") as file:
        output(["perf", "stat", "-x,", "-o", file.name, "-e", "instructions:u", "--", *command], env)
        found = re.search(r"^(\d+),", file.read(), re.M)
    return int(found.group(1)) if found else None


def by_callgrind(command, env):
    with tempfile.TemporaryDirectory() as folder:
        text = output(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *command], env)
    return int(re.search(r"Collected : (\d+)", text).group(1))


def counter(wanted):
    """The one that is wanted, or the first that works here."""
    may = {"perf": by_perf, "callgrind": by_callgrind}
    if wanted:
        return wanted, may[wanted]
    if shutil.which("perf"):
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
        if done.returncode == 0 and re.search(r"^\d+,", done.stderr, re.M):
            return "perf", by_perf
    if shutil.which("valgrind"):
        return "callgrind", by_callgrind
    sys.exit("neither perf may count here nor is there valgrind")


def step(count, program, mode, arguments, steps, env):
    """Instructions of a step; the warm ones, of which there are a tenth more, are steps too."""
    few, many = (count([program, mode, str(n), *arguments], env) for n in steps)
    return (many - few) / ((steps[1] - steps[0]) * 1.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--units", default="1:CPU:1")
    parser.add_argument("--schedules", default="auto,static,dynamic")
    parser.add_argument("--counter", choices=["perf", "callgrind"])
    a = parser.parse_args()
    name, count = counter(a.counter)
    schedules = a.schedules.split(",")
    print(f"instructions a task above the serial loop, units {a.units}, by {name}\n{'':12s} {'serial':>8s}"
          + "".join(f"{s:>10s}" for s in schedules), flush=True)
    for case, (mode, arguments, tasks, steps) in CASES.items():
        serial = step(count, f"{a.build}/peers/serial", "plain", arguments, steps, {})
        ours = [step(count, f"{a.build}/peers/evener", mode, arguments, steps, {"EVENER_UNITS": a.units, "EVENER_SCHEDULE": s})
                for s in schedules]
        print(f"{case:12s} {serial / tasks:8.1f}" + "".join(f"{(o - serial) / tasks:10.1f}" for o in ours), flush=True)


if __name__ == "__main__":
    main()
