"""What the scripts here share: commands run in turn, so that what disturbs the machine disturbs all, and tables of ratios."""
import json
import os
import shutil
import statistics
import subprocess
import sys

# Open MPI refuses root otherwise
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def output(command, **how):
    """What the command prints; ends the script where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, **how)
    except OSError as e:
        sys.exit(f"{command[0]}: {e.strerror}; it is to be an executable, as build/evener after make build")
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def record(command):
    """The record of a run of evener."""
    return json.loads(output(command + ["--quiet", "--json", "-"]))


def step(command):
    """Seconds of a step and the hash of the solution; start and set-up are not in it."""
    found = record(command)
    return found["seconds"] / found["steps"], found["hash"]


def in_turn(commands, rounds, measure):
    """{name: command} so many rounds, each round beginning with the next; {name: samples}, and whether all bits were the same.
    measure(command) gives a sample and what is to be the same of all, None: nothing."""
    names = list(commands)
    samples = {name: [] for name in names}
    bits = set()
    for r in range(rounds):
        for name in names[r % len(names):] + names[:r % len(names)]:
            took, same = measure(commands[name])
            samples[name].append(took)
            bits.add(same)
    return samples, len(bits - {None}) < 2


def ratios(over, under):
    """Median, least and largest of the rounds' own ratios."""
    each = [a / b for a, b in zip(over, under)]
    return statistics.median(each), min(each), max(each)


def mpirun(*options):
    """Two ranks under Open MPI; [] where there is none."""
    program = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    return [program, "-q", "-n", "2", *options] if program else []
