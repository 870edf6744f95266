#!/usr/bin/env python3
"""Plans beside runs: a record on one core, a plan of it for other units, and a run there with the planned owners; predicted seconds
of a step over the median of those measured; of that the median, least and largest of rounds, then the least predicted over the least measured. Wants a
quiet machine: its figures are of the wall's clock.

Run: suite/bench/plans.py [--build build] [--units 2:CPU:1] [--rounds 9]"""
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
    if is_run:
        turns.output(command + ["--units", units, "--schedule", schedule, "--quiet", "--json", file] + (["--plan", plan] if plan else []))
    else:
        environment = {"EVENER_UNITS": units, "EVENER_RECORD": file, "EVENER_SCHEDULE": schedule, **({"EVENER_PLAN": plan} if plan else {})}
        turns.output(["env"] + [f"{k}={v}" for k, v in environment.items()] + command)
    with open(file, encoding="utf-8") as read:
        return json.load(read)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--units", default="2:CPU:1")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    print(f"predicted over measured step on {asked.units}, from runs on 1:CPU:1; median (least to largest of {asked.rounds}), least over least")
    with tempfile.TemporaryDirectory() as folder:
        one, two, plan = (os.path.join(folder, name) for name in ("one.json", "two.json", "plan"))
        for name, program in programs(asked.build).items():
            predicted, measured = {s: [] for s in SCHEDULES}, {s: [] for s in SCHEDULES}
            for _ in range(asked.rounds):
                record(program, "1:CPU:1", one)
                for schedule in SCHEDULES:
                    found = turns.record([os.path.join(asked.build, "evener"), "plan", one, "--units", asked.units, "--schedule", schedule,
                                          "--iterations", "1", "--assignment", plan])
                    predicted[schedule].append(found["iterations"][-1]["step_s"])
                    ran = record(program, asked.units, two, plan=plan)
                    measured[schedule].append(ran["median"]["step_s"])
            for schedule in SCHEDULES:
                print(f"{name:9s} {schedule:8s} %.3f (%.3f to %.3f)" % turns.ratios(predicted[schedule], measured[schedule]),
                      "%.3f" % (min(predicted[schedule]) / min(measured[schedule])))


if __name__ == "__main__":
    main()
