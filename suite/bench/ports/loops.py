#!/usr/bin/env python3
"""Programs of others whose OpenMP loops become loops over units: CoMD's forces over boxes, XSBench's lookups, miniAMR's stencil over blocks. Each
is one directive with other words, or a few; beside the original with OpenMP, in turn, quiet and beside a competitor on one core.

    suite/bench/ports/loops.py BUILD [--comd DIR] [--xsbench DIR] [--miniamr DIR] [--rounds K] [--threads 1,2] [--competitor] [--keep FOLDER]
                         (CoMD's src-openmp, XSBench's openmp-threading, miniAMR's openmp)

Nothing of them is in this tree: the script changes copies by the rules below, and says the number of lines. The result that a program prints is
compared with the original's; then the time that the program itself prints, the processor time of the whole process and the pages that it touches
first, as ratios within each round."""
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
sys.path.insert(0, os.path.join(HERE, ".."))
from competitor import Competitor  # noqa: E402

UNITS = "num_teams(2:CPU:1)"  # EVENER_UNITS has the last word

# rules: file, pattern, instead, number of places
PROGRAMS = {
    "comd": {
        "flags": ["-std=gnu99", "-DDOUBLE"], "compiler": "gcc", "run": "-x 16 -y 16 -z 16 -N 20 -n 20",
        "result": r"Final energy\s*:\s*(\S+)", "time": r"(?m)^loop\s+1\s+(\S+)",
        "rules": [("ljForce.c", r"#pragma omp parallel for reduction\(\+:ePot\)", f"#pragma omp teams distribute {UNITS} reduction(+:ePot) dist_schedule(auto)", 1)],
    },
    "xsbench": {
        "flags": ["-std=gnu99", "-DOPENMP"], "compiler": "gcc", "run": "-t {threads} -m event -s small -g 2000 -l 1000000",
        "result": r"checksum: (\d+)", "time": r"Runtime:\s*(\S+)",
        "rules": [("Simulation.c", r"#pragma omp parallel for schedule\(dynamic,100\) reduction\(\+:verification\)(?=\n\tfor\( i = 0)",
                   f"#pragma omp teams distribute {UNITS} reduction(+:verification) dist_schedule(dynamic, 100, memorize = 0)", 1)],
    },
    "miniamr": {
        "flags": [], "compiler": "mpicc", "run": "--init_x 4 --init_y 4 --init_z 4 --num_refine 1 --max_blocks 2000 --num_tsteps 12 --stages_per_ts 10 --checksum_freq 10 --report_diffusion --num_objects 1 "
        "--object 2 0 -0.01 -0.01 -0.01 0.0 0.0 0.0 0.0 0.0 0.0 0.25 0.25 0.25 --nx 10 --ny 10 --nz 10 --num_vars 8",
        "result": r"var \d+ sum (\S+)", "time": r"(?m)^Summary: .* calc (\S+)",
        # the original's threads share i, j and k, which are the function's: mended in both
        "mend": [("stencil.c", r"(#pragma omp parallel for) shared\(.*\)$", r"\1 private(i, j, k)", 2)],
        "rules": [("stencil.c", r"#pragma omp parallel for private\(i, j, k\)$",
                   f"#pragma omp teams distribute {UNITS} private(i, j, k) dist_schedule(auto)", 2)],
    },
}


def build(name, way, source, folder, tree):
    """A copy, changed where the way is Evener's, and its program; the number of lines changed."""
    of = PROGRAMS[name]
    here = os.path.join(folder, name, way)
    shutil.copytree(source, here)
    if name == "comd":  # its Makefile writes this header
        with open(os.path.join(here, "CoMD_info.h"), "w") as file:
            for word in "VARIANT HOSTNAME KERNEL_NAME KERNEL_RELEASE PROCESSOR COMPILER COMPILER_VERSION CFLAGS LDFLAGS".split():
                file.write(f'#define CoMD_{word} ""\n')
    lines = 0
    mends = of.get("mend", [])
    for at, pattern, instead, places in mends + (of["rules"] if way == "evener" else []):
        with open(os.path.join(here, at)) as file:
            text, count = re.subn(pattern, instead, file.read(), flags=re.M)
        if count != places:
            sys.exit(f"{name}: {at} has {count} places of {pattern}, expected {places}: another version than the rules are for")
        with open(os.path.join(here, at), "w") as file:
            file.write(text)
        lines += count * ((at, pattern, instead, places) not in mends)
    command = [of["compiler"]] if way == "original" else [os.path.join(tree, "evener-cc"), of["compiler"]]
    subprocess.run([*command, *of["flags"], "-O3", "-w", "-fopenmp", *sorted(glob.glob(os.path.join(here, "*.c"))), "-lm",
                    "-o", os.path.join(here, "program")], check=True)
    return lines


def run(name, way, folder, threads):
    of = PROGRAMS[name]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "EVENER_"))}
    env |= {"OMP_NUM_THREADS": str(threads), "EVENER_UNITS": f"{threads}:CPU:1", "EVENER_OVERSUBSCRIBE": "1"}
    here = os.path.join(folder, name, way)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([os.path.join(here, "program"), *of["run"].format(threads=threads).split()], cwd=here, env=env, capture_output=True, text=True)
    result, seconds = re.findall(of["result"], done.stdout), re.search(of["time"], done.stdout)
    if not result or not seconds:
        sys.exit(f"{name}, {way}: no result:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (result[-1], float(seconds[1]), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            after.ru_minflt - before.ru_minflt)


def told(ratios):
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def measure(name, folder, threads, kind, rounds):
    """Evener's times over the original's, both in turn, the first of each round by turns. False: another result."""
    ways = ["original", "evener"]
    took, busy, pages, results = {way: [] for way in ways}, {way: [] for way in ways}, {way: [] for way in ways}, {}
    with Competitor(max(os.sched_getaffinity(0)), kind):
        for r in range(rounds):
            for way in ways[r % 2:] + ways[:r % 2]:
                result, seconds, processor, touched = run(name, way, folder, threads)
                results.setdefault(result, set()).add(way)
                took[way].append(seconds)
                busy[way].append(processor)
                pages[way].append(touched)
    times = [told([e / o for o, e in zip(of["original"], of["evener"])]) for of in (took, busy, pages)]
    print(f"{name}, {threads} thread{'s' * (threads > 1)}, {'competitor' if kind != 'quiet' else 'quiet'}: "
          f"{statistics.median(took['original']):.3f} s; with Evener of its time {times[0]}, of its processor time {times[1]}, of its pages touched {times[2]}; result "
          + ", ".join(f"{r} ({' and '.join(sorted(w))})" for r, w in results.items()), flush=True)
    return len(results) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    for name in PROGRAMS:
        parser.add_argument("--" + name, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--competitor", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER")
    o = parser.parse_args()
    right = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or scratch
        for name in PROGRAMS:
            source = getattr(o, name)
            if not source:
                continue
            if not os.path.isdir(os.path.join(folder, name)):
                lines = [build(name, way, source, folder, os.path.abspath(o.build)) for way in ("original", "evener")]
                print(f"{name}: {lines[1]} line{'s' * (lines[1] > 1)} of the original changed", flush=True)
            for threads in map(int, o.threads.split(",")):
                for kind in ["quiet"] + ["stays"] * o.competitor:
                    right &= measure(name, folder, threads, kind, o.rounds)
    sys.exit(not right)


if __name__ == "__main__":
    main()
