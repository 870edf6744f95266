#!/usr/bin/env python3
"""kill -9 at random moments of runs that keep checkpoints: every restart gives the hash of a run that was left alone, and nothing
else is left.

    kills.py --evener build/evener --cases 200 --seed 3

A run is killed again and again and goes on each time from what it kept; then it is let go to its end.
"""
import json
import os
import random
import shutil
import signal
import sys
import time

import box
import options

BODY = {"td-bem": ["--mesh", "sphere:2", "--steps", "400", "--every", "7", "--vertices", "0,9", "--vertex-output", "v.csv"],
        "ft": ["--size", "32x16x16", "--steps", "500", "--every", "17", "--units", "1:CPU:1"],
        "mg": ["--size", "32", "--steps", "2000", "--every", "47", "--units", "1:CPU:1"],
        **{app: ["--class", "S", "--perturb", "--steps", "1500", "--every", "47"] for app in ("bt-mz", "sp-mz", "lu-mz")}}
KILLS = 5  # of one run before it is let go


def run_on(evener, folder, words, moment=None):
    """Starts or goes on; killed after `moment` seconds. None: killed, else the exit status."""
    restart = ["--restart", "c"] if os.path.exists(f"{folder}/work/c") else []
    with open(f"{folder}/.said/err", "wb") as err:
        process = box.launch(evener, [*words, *restart], folder, out=err, err=err)
        if moment is not None:
            time.sleep(moment)
            os.kill(process.pid, signal.SIGKILL)
        status = box.wait(process, evener)[0]
    return None if status == -signal.SIGKILL else status


def result(folder):
    with open(f"{folder}/work/o.json") as file:
        record = json.load(file)
    try:
        with open(f"{folder}/work/v.csv", "rb") as file:
            return record["hash"], file.read()
    except FileNotFoundError: # no workload but TD-BEM writes one
        return record["hash"], b""


def kills(evener, cases, seed):
    apps = [command[1] for command in options.commands(evener) if command[0] == "run" and len(command) > 1 and
            {"checkpoint", "restart"} <= {name for name, _, _ in options.options(evener, command)}]
    wrong, done, restarts = [], 0, 0
    for number, app in enumerate(apps):
        words = ["run", app, *BODY[app], "--quiet", "--checkpoint", "c", "--json", "o.json"]
        case = {"words": words}
        folder = box.new_folder()
        begin = time.monotonic()
        if run_on(evener, folder, words) != 0:
            return 1
        length, expected = time.monotonic() - begin, result(folder)
        shutil.rmtree(folder)
        rng = random.Random(f"kills {app} {seed}")
        while done < cases * (number + 1) // len(apps):
            folder = box.new_folder()
            for _ in range(min(KILLS, cases - done)):
                before = box.tree(folder)
                restarts += "work/c" in before
                if run_on(evener, folder, words, rng.random() * length) is not None:
                    break
                done += 1
                wrong += box.check_files(before, box.tree(folder), {**case, "inout": ["work/c"]})
            status = run_on(evener, folder, words)
            if status != 0:
                with open(f"{folder}/.said/err", "rb") as file:
                    wrong.append(f"a restart ended with {status}: {ascii(file.read()[:200])}")
            elif result(folder) != expected:
                wrong.append("a restart has another result")
            shutil.rmtree(folder)
    box.tell(wrong)
    print(f"{done} kills, {restarts} of them of runs that had gone on from a checkpoint; {len(wrong)} mistakes")
    return len(wrong)


def main():
    given = box.arguments(__doc__).parse_args()
    with box.opened(given.evener) as evener:
        return 1 if kills(evener, given.cases, given.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
