#!/usr/bin/env python3
"""Two ranks of a core each beside NPB's own MPI program of the same class, in turn.

usage: suite/bench/npb_mz_mpi.py EVENER SOURCES [--build FOLDER] [--class A] [--apps bt-mz,sp-mz,lu-mz] [--rounds 5] [--phases]

SOURCES is the folder NPB3.3-MZ-MPI (or NPB3.4-MZ-MPI) as NASA distributes it, with config, sys, BT-MZ, ..; nothing is fetched.
A copy of it is built in FOLDER (default: SOURCES with -build behind it) for two processes with `mpif90 -O3 -march=native`, and
used again if it is there; a compiler that refuses NPB's calls of MPI gets -fallow-argument-mismatch, too. Every run goes over
the class's official steps and must verify. Printed are medians of milliseconds a step, and median, least and largest of the
rounds' own ratios, NPB's over ours: above 1 ours is faster. With --phases it is NPB's own timers beside our phases: the share
of the right-hand sides in the time of all steps without messages, of both ranks, medians.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import turns

FLAGS = ["-O3", "-march=native"]


def wrapper(name):
    """Open MPI's, as its mpirun is what runs the program."""
    return shutil.which(name + ".openmpi") or shutil.which(name) or sys.exit(f"there is no {name}; install Open MPI and gfortran")


def flags(compiler):
    """With what newer compilers want before they take a call with other arguments than the one before."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.f"), "w", encoding="utf-8") as f:
            f.write("      end\n")
        more = [*FLAGS, "-fallow-argument-mismatch"]
        done = subprocess.run([compiler, *more, "-c", "a.f"], cwd=folder, capture_output=True)
        return FLAGS if done.returncode else more


def copy(sources, folder):
    if not all(os.path.isdir(os.path.join(sources, part)) for part in ("config", "sys", "common", "BT-MZ")):
        sys.exit(f"{sources}: there is no config, sys, common and BT-MZ in it; expected NPB3.3-MZ-MPI or NPB3.4-MZ-MPI")
    if not os.path.isdir(folder):
        left_over = shutil.ignore_patterns("*.o", "*.mod", "setparams", "npbparams.h", "bin")
        shutil.copytree(sources, folder, ignore=left_over)
    os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
    fortran, c = wrapper("mpif90"), wrapper("mpicc")
    words = " ".join(flags(fortran))
    # names of 3.3 and of 3.4
    said = {"F77": fortran, "FC": fortran, "FLINK": fortran, "FFLAGS": words, "FLINKFLAGS": words, "CC": c, "CLINK": c, "CFLAGS": "-O3",
            "CLINKFLAGS": "-O3", "UCC": "cc", "BINDIR": "../bin", "RAND": "randi8"}
    with open(os.path.join(folder, "config", "make.def"), "w", encoding="utf-8") as f:
        f.writelines(f"{name} = {value}\n" for name, value in said.items())


def program(folder, app, class_):
    """NPB3.3's says for how many processes it is, NPB3.4's does not."""
    names = [os.path.join(folder, "bin", f"{app}.{class_}.{end}") for end in ("2", "x")]
    return next(filter(os.path.exists, names), None)


def prepare(sources, folder, apps, class_):
    """The programs, built where they are not there."""
    folder = folder or os.path.abspath(sources) + "-build"
    if not all(program(folder, app, class_) for app in apps):
        copy(sources, folder)
    for app in apps:
        if not program(folder, app, class_):
            print(f"building {app} class {class_} in {folder} ..", file=sys.stderr, flush=True)
            turns.output(["make", app, f"CLASS={class_}", "NPROCS=2"], cwd=folder)
    return {app: program(folder, app, class_) for app in apps}


def step(command):
    """Seconds of a step, ours or NPB's, of a run that verified."""
    if "run" in command:
        found = turns.record(command)
        if not found["verified"]:
            sys.exit(f"{' '.join(command)}: not verified")
        return found["seconds"] / found["steps"], None
    text = turns.output(command, cwd="/")  # where no input file of NPB's lies about
    if not re.search(r"Verification\s+=\s+SUCCESSFUL", text):
        sys.exit(f"{' '.join(command)}: not verified:\n{text}")
    number = {word: float(re.search(word + r"\s*=\s*([\d.]+)", text)[1]) for word in ("Time in seconds", "Iterations")}
    return number["Time in seconds"] / number["Iterations"], None


def rows(evener, sources, folder, apps, class_, rounds):
    """app, kind of ranks, seconds of a step of ours and of NPB's, (median, least, largest) of the ratios."""
    programs = prepare(sources, folder, apps, class_)
    for app in apps:
        run = [evener, "run", app, "--class", class_, "--units", "1:CPU:1"]
        commands = {"NPB": turns.mpirun("--bind-to", "core") + [programs[app]], "processes": run + ["--processes", "2"],
                    "Open MPI": turns.mpirun("--bind-to", "core") + run}
        samples, _ = turns.in_turn(commands, rounds, step)
        for kind in ("processes", "Open MPI"):
            yield (app, kind, statistics.median(samples[kind]), statistics.median(samples["NPB"]),
                   turns.ratios(samples["NPB"], samples[kind]))


def share_of_npb(sources, app, command):
    """Percent of the right-hand sides by NPB's timers, whose switch is the last number of its input."""
    name = f"input{app}.data"
    with open(os.path.join(sources, app.upper(), name + ".sample"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    last = max(i for i, line in enumerate(lines) if re.match(r"\s*0\s", line))
    lines[last] = "1"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        text = turns.output(command, cwd=folder)
    took = {word: sum(map(float, re.findall(rf"^\s*{word}\s*:\s*([\d.]+)", text, re.M))) for word in ("rhs", "total", "qbc_comm")}
    if not took["total"] or not re.search(r"Verification\s+=\s+SUCCESSFUL", text):
        sys.exit(f"{' '.join(command)}: not verified, or without timers:\n{text}")
    return 100 * took["rhs"] / (took["total"] - took["qbc_comm"])


def share(command):
    found = turns.record(command)
    return 100 * found["phases"]["rhs"] / found["periods"]["compute_s"]


def phases(evener, sources, folder, apps, class_, rounds):
    programs = prepare(sources, folder, apps, class_)
    for app in apps:
        samples, _ = turns.in_turn({"NPB": turns.mpirun("--bind-to", "core") + [programs[app]], "ours": [
            evener, "run", app, "--class", class_, "--units", "1:CPU:1"]}, rounds, lambda command, app=app: (
                share(command) if "run" in command else share_of_npb(sources, app, command), None))
        yield app, statistics.median(samples["ours"]), statistics.median(samples["NPB"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evener")
    parser.add_argument("sources")
    parser.add_argument("--build")
    parser.add_argument("--class", dest="class_", default="A")
    parser.add_argument("--apps", default="bt-mz,sp-mz,lu-mz")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--phases", action="store_true")
    options = parser.parse_args()
    if options.phases:
        print(f"{'right-hand sides, class ' + options.class_:28} {'ours, %':>8} {'NPB, %':>8}")
        for app, ours, npb in phases(os.path.abspath(options.evener), options.sources, options.build, options.apps.split(","),
                                     options.class_, options.rounds):
            print(f"{app:28} {ours:8.1f} {npb:8.1f}", flush=True)
        return
    print(f"{'class ' + options.class_ + ', 2 ranks':24} {'ours, ms':>10} {'NPB, ms':>10}   {'ratio':>7} {'least':>7} {'most':>7}")
    for app, kind, ours, npb, (middle, least, most) in rows(os.path.abspath(options.evener), options.sources, options.build,
                                                           options.apps.split(","), options.class_, options.rounds):
        print(f"{app + ', ' + kind:24} {1e3 * ours:10.4g} {1e3 * npb:10.4g}   {middle:7.2f} {least:7.2f} {most:7.2f}", flush=True)


if __name__ == "__main__":
    main()
