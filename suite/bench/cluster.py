#!/usr/bin/env python3
"""Ranks on one node: all figures of their speed in one table, each a ratio of things measured in turn.

usage: suite/bench/cluster.py EVENER [--rounds 5] [--quick] [--only STUDY] [--npb FOLDER [--npb-build FOLDER]] [--wire-bench FILE]

 units    two ranks of a core each over two units of one process, forked and under Open MPI: units' time over ranks'
 npb      the same beside NPB's own MPI program (suite/bench/npb_mz_mpi.py), whose sources are in --npb
 layer    Open MPI through the layer over Open MPI alone (suite/bench/wire_mpi.c); messages on the arena over those on Open MPI
 overlap  what is hidden of an emulated wire whose messages take a third of a step
 sharing  two ranks under `mpirun --bind-to none`, which share the cores themselves: bound ranks' time over theirs
 model    the best Np x Nt predicted over the best measured, evener model --calibrate --measure

Rows are medians with the least and the largest of the rounds' own ratios, and what is asked of the median. Times are in ms a
step, in the rows of layer in microseconds a message. --quick: class W, few steps, two rounds, to see that all works. It needs
two cores that nobody else uses. Exit status: 0, 1 where bits differed between runs that are to have the same; ratios that are
not as asked are marked, no more.
"""
import argparse
import os
import statistics
import sys
import tempfile

import npb_mz_mpi
import turns

APPS = ("bt-mz", "sp-mz", "lu-mz")
OF_NPB = {"bt-mz": 9, "sp-mz": 6, "lu-mz": 9}  # times as fast, class A
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("evener", type=os.path.abspath)
parser.add_argument("--rounds", type=int)
parser.add_argument("--quick", action="store_true")
parser.add_argument("--only", default="", help="the studies with this word in their name")
parser.add_argument("--npb")
parser.add_argument("--npb-build")
parser.add_argument("--wire-bench", help="bench-wire-openmpi (default: beside the command)")
options = parser.parse_args()
rounds = options.rounds or (2 if options.quick else 5)
different = []


def row(name, first, second, ratio, asked, same=True):
    """`asked`: (">", 0.95), or None. `first`, `second`: medians; NaN: there is none."""
    middle, least, most = ratio
    word = "" if not asked else f"{asked[0]}= {asked[1]:g}"
    met = not asked or (middle >= asked[1] if asked[0] == ">" else middle <= asked[1])
    if not same:
        different.append(name)
    print(f"{name:44} {first:10.4g} {second:10.4g}   {middle:7.3f} {least:7.3f} {most:7.3f}   {word:8} "
          f"{'' if met else 'NO'}{'' if same else ' BITS DIFFER'}".rstrip(), flush=True)


def run(app, class_, *words):
    """Steps that take some seconds together; the times of a record begin when all is set up."""
    steps = {"W": 20, "A": 100, "B": 40, "C": 10}[class_]
    return [options.evener, "run", app, "--class", class_, "--steps", str(steps), *words]


def units():
    class_ = "W" if options.quick else "A"
    for app in APPS:
        commands = {"units": run(app, class_, "--units", "2:CPU:1"),
                    "processes": run(app, class_, "--units", "1:CPU:1", "--processes", "2")}
        if turns.mpirun():
            commands["Open MPI"] = turns.mpirun("--bind-to", "core") + run(app, class_, "--units", "1:CPU:1")
        samples, same = turns.in_turn(commands, rounds, turns.step)
        for kind in list(commands)[1:]:
            row(f"units: {app} {class_}, {kind}", *(1e3 * statistics.median(samples[k]) for k in ("units", kind)),
                turns.ratios(samples["units"], samples[kind]), (">", 0.95), same)


def npb():
    if not options.npb:
        return
    class_ = "S" if options.quick else "A"
    for app, kind, ours, theirs, ratio in npb_mz_mpi.rows(options.evener, options.npb, options.npb_build, APPS, class_, rounds):
        row(f"npb: {app} {class_}, {kind}", 1e3 * theirs, 1e3 * ours, ratio, None if options.quick else (">", OF_NPB[app]))


def layer():
    """The program's own least of its rounds; and what is copied in and out, on both wires in turn."""
    if not turns.mpirun():
        return
    folder = os.path.dirname(options.evener)
    program = options.wire_bench or os.path.join(folder, "bench-wire-openmpi")
    plugin = os.path.join(folder, "lib", "evener", "evener-wire-openmpi.so")
    if os.path.exists(program):
        text = turns.output(turns.mpirun("--bind-to", "core") + [program, plugin, str(rounds), "262144" if options.quick else "4194304"])
        for line in text.splitlines()[2:]:
            size, raw, ours = line.split()[:3]
            asked = {"8": ("<", 1.4), "65536": ("<", 1.15), "262144": ("<", 1.15)}.get(size)
            row(f"layer: over Open MPI alone, {size} B", float(ours), float(raw), (float(ours) / float(raw),) * 3, asked)
    else:
        print(f"layer: {program} is not there; cmake --build build --target bench-wire-openmpi makes it")
    words = [options.evener, "bench", "wire", "--repeat", "3", "--max", "65536" if options.quick else "4194304"]
    commands = {"arena": words + ["--wire", "processes:2"], "Open MPI": turns.mpirun("--bind-to", "core") + words}
    samples, _ = turns.in_turn(commands, rounds, lambda c: ({s["bytes"]: s["copied_s"] for s in turns.record(c)["sizes"]}, None))
    for size in samples["arena"][0]:
        arena, mpi = ([1e6 * s[size] for s in samples[k]] for k in ("arena", "Open MPI"))
        row(f"layer: arena over Open MPI, copied, {size:g} B", statistics.median(arena), statistics.median(mpi),
            turns.ratios(arena, mpi), ("<", 1))


def overlap():
    """A step alone, then the bandwidth at which a rank's message takes a third of it; the ratio is the share that is hidden."""
    for app, class_ in (("bt-mz", "W"), ("lu-mz", "W")) if options.quick else (("bt-mz", "B"), ("bt-mz", "C"), ("lu-mz", "A")):
        words = run(app, class_, "--units", "1:CPU:1", "--schedule", "map")
        first = turns.record(words + ["--wire", "processes:2"])
        wire = first["seconds"] / first["steps"] / 3
        bandwidth = max(r["bytes"] for r in first["ranks"]) / first["steps"] / wire
        commands = {"none": words + ["--wire", "processes:2"],
                    "wire": words + ["--wire", f"processes:2,bandwidth={bandwidth * 1e-6:.6f}MB/s"]}
        samples, same = turns.in_turn(commands, rounds, turns.step)
        hidden = [1 - (with_ - none) / wire for with_, none in zip(samples["wire"], samples["none"])]
        row(f"overlap: {app} {class_}, wire of {1e3 * wire:.3g} ms, hidden", *(1e3 * statistics.median(samples[k]) for k in ("wire", "none")),
            (statistics.median(hidden), min(hidden), max(hidden)), (">", 0.8), same)


def sharing():
    class_ = "W" if options.quick else "A"
    for app in APPS if turns.mpirun() else ():
        words = run(app, class_, "--units", "1:CPU:1")
        commands = {to: turns.mpirun("--bind-to", to) + words for to in ("core", "none")}
        samples, same = turns.in_turn(commands, rounds, turns.step)
        row(f"sharing: {app} {class_}, not bound by mpirun", *(1e3 * statistics.median(samples[k]) for k in ("core", "none")),
            turns.ratios(samples["core"], samples["none"]), (">", 0.95), same)


def model():
    class_, steps = ("W", 10) if options.quick else ("A", 40)
    folder = tempfile.TemporaryDirectory()
    turns.ENVIRONMENT["XDG_CACHE_HOME"] = folder.name  # what is kept of the user's stays
    for app in APPS:
        # its own three rounds are in turn; these rounds are whole studies
        each = [turns.record([options.evener, "model", app, "--class", class_, "--calibrate", "--measure", "--steps", str(steps)])
                for _ in range(rounds)]
        best = [(s["processes_s"] if "processes_s" in s else s["units_s"], s["binpack"]["step_s"])
                for found in each for s in found["model"] if s["best"]]
        choice = [found["choice"] for found in each]
        row(f"model: {app} {class_}, predicted over best", *(1e3 * statistics.median(b[k] for b in best) for k in (0, 1)),
            (statistics.median(choice), min(choice), max(choice)), ("<", 1.05))


print(f"{'medians of ' + str(rounds) + ' rounds in turn':44} {'first':>10} {'second':>10}   {'ratio':>7} {'least':>7} {'most':>7}   asked")
for study in (units, npb, layer, overlap, sharing, model):
    if options.only in study.__name__:
        study()
sys.exit(1 if different else 0)
