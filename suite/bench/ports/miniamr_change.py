#!/usr/bin/env python3
"""Mantevo miniAMR on Evener, its blocks tasks that come and go: evn_loop_change(), evn_exchange_add() and evn_loop_bear() where the program splits
and joins blocks. All checksums, in hexadecimal, under every schedule and units and over ranks, with those of the original; then times, in turn.

    suite/bench/ports/miniamr_change.py MINIAMR BUILD [--rounds K] [--steps N] [--short] [--keep FOLDER]

MINIAMR: a checkout of the program; its `ref` is the base, its `openmp` is timed beside it. Nothing of it is in this tree: the script changes copies
by the rules below, and adds miniamr_change.c. --short: one schedule, for a look. --keep: programs that the folder has already are not built again."""
import argparse
import glob
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEDULES = ["map", "auto", "guided:time", "interval", "binpack", "static", "dynamic"]
UNITS = ["1:CPU:1", "2:CPU:1", "1:CPU:2", "3:CPU:1"]
# two spheres that move through each other, as in the program's README, with fewer levels and on one rank
RUN = ("--num_refine 3 --max_blocks 3000 --nx 8 --ny 8 --nz 8 --num_vars 8 --num_objects 2 --object 2 0 -1.10 -1.10 -1.10 0.06 0.06 0.06 1.5 1.5 1.5 "
       "0 0 0 --object 2 0 0.5 0.5 1.76 0 0 -0.05 0.75 0.75 0.75 0 0 0 --refine_freq 1 --checksum_freq 2 --stages_per_ts 4 --num_tsteps ")
# rules: file, pattern, instead, number of places
CHECKSUM = r'printf("CHECKSUM %d %d %d %a\\n", ts, stage, var, sum);'
ORIGINAL = [("driver.c", r"sum = check_sum\(var\);", r"sum = check_sum(var); " + CHECKSUM, 1)]
MEND = [("stencil.c", r"(#pragma omp parallel for) shared\(.*\)$", r"\1 private(i, j, k)", 2)]  # its threads share i, j and k
PORT = [
    ("main.c", r"ierr = MPI_Init\(", "port_open();\n   ierr = MPI_Init(", 1),
    ("main.c", r"blocks\[n\]\.number = -1;", "blocks[n].number = -1;\n      if (n >= init_block_x*init_block_y*init_block_z) continue;", 1),
    ("main.c", r"n < max_num_blocks(?=; n\+\+\) \{\n +for \(m = 0)", "n < init_block_x*init_block_y*init_block_z", 1),
    ("main.c", r"^   driver\(\);$", "   driver();\n   port_close();", 1),
    ("driver.c", r"^   init\(\);$", "   init();\n   port_begin();", 1),
    ("driver.c", r"comm\(start, number, comm_stage\);", "port_comm();", 1),
    ("driver.c", r"stencil_driver\(var, calc_stage\);", "port_stencil(var);", 1),
    ("driver.c", r"sum = check_sum\(var\);", "sum = port_check_sum(var); " + CHECKSUM, 1),
    ("refine.c", r"^ +(split|consolidate)_blocks\(\);$", r"\g<0> port_change();", 2),
    ("block.c", r"i1 \*= x_block_half;[^/]*/8\.0;", "port_split(n, m);", 1),
    ("block.c", r"i1 = \(o%2\)\*x_block_half;[^;]*;[^;]*;\s*for \(v = 0;.*?k2\+1\];", "port_join(n, o, pp->child[o]);", 1),
]


def build(folder, way, source, tree):
    """A copy with its rules, and its program; the number of lines removed and added."""
    here = os.path.join(folder, way)
    shutil.copytree(os.path.join(source, "openmp" if way == "openmp" else "ref"), here)
    rules = {"original": ORIGINAL, "openmp": ORIGINAL + MEND, "port": PORT}[way]
    removed = added = 0
    for name, pattern, instead, places in rules:
        path = os.path.join(here, name)
        with open(path) as file:
            text = file.read()
        found = list(re.finditer(pattern, text, re.M | re.S if name == "block.c" else re.M))
        if len(found) != places:
            sys.exit(f"{name} has {len(found)} places of {pattern}, expected {places}: another version than 635fef2f, for which the rules are")
        for f in found:
            removed, added = removed + f[0].count("\n") + 1, added + f.expand(instead).count("\n") + 1
        with open(path, "w") as file:
            file.write(re.sub(pattern, instead, text, flags=re.M | re.S if name == "block.c" else re.M))
    words, extra = [], []
    if way == "port":
        words = subprocess.run([os.path.join(tree, "evener-cc"), "--link-flags"], capture_output=True, text=True, check=True).stdout.split()
        words = [w for w in words if not w.startswith("-Wl,--wrap")]
        for name in ("miniamr_change.c", "miniamr_change.h"):
            shutil.copy(os.path.join(HERE, name), here)
        extra = ["-I" + os.path.join(HERE, "..", "..", "..", "include"), "-include", "miniamr_change.h"]
    subprocess.run(["mpicc", "-O3", "-w", *(["-fopenmp"] if way == "openmp" else []), "-I" + here, *extra, *sorted(glob.glob(os.path.join(here, "*.c"))),
                    *words, "-lm", "-o", os.path.join(here, "program")], check=True)
    return removed, added


def run(folder, way, steps, **env):
    """Checksums, the time that the program prints, processor time of the process, and what the port says of its changes."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "EVENER_"))}
    clean |= {"EVENER_OVERSUBSCRIBE": "1", "OMP_NUM_THREADS": "1"} | env
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([os.path.join(folder, way, "program"), *RUN.split(), str(steps)], cwd=os.path.join(folder, way), env=clean,
                          capture_output=True, text=True)
    sums, time = re.findall(r"^CHECKSUM .*$", done.stdout, re.M), re.search(r"^Summary: .* time (\S+)", done.stdout, re.M)
    if done.returncode or not sums or not time:
        sys.exit(f"{way} {env}: status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    changes = re.search(r"^Changes: (.*)$", done.stdout, re.M)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return sums, float(time[1]), busy, changes[1] if changes else ""


def told(of, name):
    ratios = [t / b for t, b in zip(of[name], of["original"])]
    return f"{statistics.median(of[name]):.2f} s, of the original's {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or scratch
        for way in ("original", "openmp", "port"):
            if os.path.exists(os.path.join(folder, way, "program")):  # of an earlier call with --keep
                continue
            removed, added = build(folder, way, o.source, os.path.abspath(o.build))
            print(f"{way}: {removed} lines of the original replaced by {added}", flush=True)
        right, *_ = run(folder, "original", o.steps)
        print(f"original: {len(right)} checksums, the last {right[-1].split()[-1]}", flush=True)
        wrong = 0
        for schedule in SCHEDULES[:1] if o.short else SCHEDULES:
            for units, ranks in [(u, 1) for u in UNITS] + [("1:CPU:1", 2), ("1:CPU:1", 3)]:
                sums, time, _, changes = run(folder, "port", o.steps, EVENER_SCHEDULE=schedule, EVENER_UNITS=units, EVENER_PROCESSES=str(ranks))
                equal = sum(a == b for a, b in zip(sums, right))
                good = sums == right
                wrong += not good
                print(f"{schedule:12} {units} {ranks} rank{'s' * (ranks > 1):1} {'equal' if good else f'WRONG: {equal} of {len(right)} equal'}; "
                      f"{time:.2f} s; {changes}", flush=True)
        ways = {"original": ("original", {}), "original, OpenMP, 2 threads": ("openmp", {"OMP_NUM_THREADS": "2"}),
                "port, 1:CPU:1": ("port", {"EVENER_UNITS": "1:CPU:1"}), "port, 2:CPU:1": ("port", {"EVENER_UNITS": "2:CPU:1"})}
        took, busy = {name: [] for name in ways}, {name: [] for name in ways}
        for r in range(o.rounds):
            for name in list(ways)[r % 4:] + list(ways)[:r % 4]:
                way, env = ways[name]
                _, time, processor, _ = run(folder, way, o.steps, **env)
                took[name].append(time)
                busy[name].append(processor)
        for name in ways if o.rounds else []:
            print(f"{name}: {told(took, name)}; processor time {told(busy, name)}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
