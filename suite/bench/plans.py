#!/usr/bin/env python3
"""Plans beside runs: a record on one core, a plan of it for other units, and a run there with the planned owners; predicted seconds
of a step over the median of those measured; of that the median, least and largest of rounds, then the least predicted over the least measured. Wants a
quiet machine: its figures are of the wall's clock.

Run: suite/bench/plans.py [--build build] [--units 2:CPU:1, or 2*1:CPU:1, two processes] [--rounds 9]"""
import argparse
import json
import os
import tempfile

import turns

SCHEDULES = "map", "static", "binpack"


def programs(build):
    """{name: (command, whether it is evener run)}"""
    run = [os.path.join(build, "evener"), "run"]
    return {"heat": ([os.path.join(build, "examples", "heat")], False),
            "adaptive": (run + ["adaptive", "--steps", "100", "--every", "1000"], True),
            "bt-mz W": (run + ["bt-mz", "--class", "W", "--steps", "60"], True)}


def record(program, units, file, schedule="static", plan=None):
    """The record of a run, which is kept in the file."""
    command, is_run = program
    *processes, units = units.split("*")
    if is_run:
        turns.output(command + ["--units", units, "--schedule", schedule, "--quiet", "--json", file] + (["--plan", plan] if plan else [])
                     + [w for n in processes for w in ("--processes", n)])
    else:
        environment = {"EVENER_UNITS": units, "EVENER_RECORD": file, "EVENER_SCHEDULE": schedule, **{"EVENER_PROCESSES": n for n in processes},
                       **({"EVENER_PLAN": plan} if plan else {})}
        turns.output(["env"] + [f"{k}={v}" for k, v in environment.items()] + command)
    with open(file, encoding="utf-8") as read:
        return json.load(read)


PARTS = "tasks", "exchange", "beside", "step"


def planned(step):
    return dict(zip(PARTS, (step["compute_s"], step["communication_s"], step["beside_s"], step["step_s"])))


def measured(median):
    """The parts of a run, as a plan has them. A run's time beside tasks and faces is nearly all beside tasks."""
    return dict(zip(PARTS, (median["compute_s"] - median["beside_s"], median["communication_s"], median["beside_s"], median["step_s"])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--units", default="2:CPU:1")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    print(f"predicted over measured step on {asked.units}, from runs on 1:CPU:1; median (least to largest of {asked.rounds}), least over least")
    print("and parts of it, least predicted / least measured, microseconds")
    with tempfile.TemporaryDirectory() as folder:
        one, two, plan = (os.path.join(folder, name) for name in ("one.json", "two.json", "plan"))
        for name, program in programs(asked.build).items():
            found, ran = {s: [] for s in SCHEDULES}, {s: [] for s in SCHEDULES}
            for _ in range(asked.rounds):
                record(program, "1:CPU:1", one)
                for schedule in SCHEDULES:
                    made = turns.record([os.path.join(asked.build, "evener"), "plan", one, "--units", asked.units, "--schedule", schedule,
                                         "--assignment", plan])
                    found[schedule].append(planned(made["iterations"][-1]))
                    ran[schedule].append(measured(record(program, asked.units, two, plan=plan)["median"]))
            for schedule in SCHEDULES:
                least = {p: [min(each[p] for each in rounds[schedule]) for rounds in (found, ran)] for p in PARTS}
                print(f"{name:9s} {schedule:8s} %.3f (%.3f to %.3f)" % turns.ratios(*([each["step"] for each in rounds[schedule]] for rounds in (found, ran))),
                      "%.3f;" % (least["step"][0] / least["step"][1]),
                      ", ".join(f"{p} {1e6 * least[p][0]:.1f} / {1e6 * least[p][1]:.1f}" for p in PARTS))


if __name__ == "__main__":
    main()
