#!/usr/bin/env python3
"""Many runs at once with the same outputs: every file is whole and of one run, every run ends well.

    crowd.py --evener build/evener --cases 500 --seed 3

Records, traces, CSV files, checkpoints, matrices, figures of calibration, compiled kernels. Cases are runs, in rounds.
"""
import concurrent.futures
import json
import os
import random
import shutil
import sys
import tempfile

import box

AT_ONCE = 6
BODY = ["run", "td-bem", "--quiet", "--units", "1:CPU:1"]


def ending(evener, folder, words, environment=None):
    """(status, what it said)"""
    with tempfile.TemporaryFile() as said:
        process = box.launch(evener, words, folder, environment, out=said, err=said)
        status = box.wait(process, evener)[0]
        said.seek(0)
        return status, said.read()


def all_at_once(evener, folder, runs, environment=None):
    with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
        return list(pool.map(lambda words: ending(evener, folder, words, environment), runs))


def read(folder, name):
    """A file of the runs; empty where it is not there."""
    try:
        with open(os.path.join(folder, "work", name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def failures(ends, runs):
    return [f"{' '.join(words)}: ended with {status}: {ascii(said[:160])}"
            for (status, said), words in zip(ends, runs) if status != 0]




def outputs(evener, rng, known):
    """Runs of two lengths, all with the same record, trace, CSV files, checkpoint and matrices."""
    names = ["v.csv", "p.csv", "c", "m"]
    files = ["--json", "o.json", "--trace", "t.json", "--vertices", "0,5", "--vertex-output", "v.csv", "--probes", "p",
             "--probe-output", "p.csv", "--checkpoint", "c", "--every", "5", "--matrices", "m"]
    kinds = [[*BODY, "--mesh", "sphere:1", "--steps", steps, *files] for steps in ("20", "200")]
    point = b"0 0 3\n0 2.5 0\n"
    if not known:
        for words in kinds:
            folder = box.new_folder()
            with open(f"{folder}/work/p", "wb") as file:
                file.write(point)
            ending(evener, folder, words)
            known.append(([read(folder, name) for name in names], json.loads(read(folder, "o.json"))))
            shutil.rmtree(folder)
    folder = box.new_folder()
    with open(f"{folder}/work/p", "wb") as file:
        file.write(point)
    case = {"words": [*files, "p"], "files": {}}
    before = box.tree(folder)
    runs = [rng.choice(kinds) for _ in range(AT_ONCE)]
    wrong = failures(all_at_once(evener, folder, runs), runs)
    wrong += box.check_files(before, box.tree(folder), case)
    for at, name in enumerate(names):
        if not any(read(folder, name) == contents[at] for contents, _ in known):
            wrong.append(f"{name} is of no run alone")
    try:
        record = json.loads(read(folder, "o.json"))
        if not any((record["hash"], record["steps"]) == (r["hash"], r["steps"]) for _, r in known):
            wrong.append("the record is of no run alone")
    except ValueError:
        wrong.append("the record is no JSON")
    shutil.rmtree(folder)
    return wrong


def calibrations(evener, rng, known):
    """Each keeps the figures of its own workload; all of them are there in the end."""
    apps = ["bt-mz", "sp-mz", "lu-mz"]
    folder = box.new_folder()
    runs = [["calibrate", app, "--quiet", "--units", "1:CPU:1", "--steps", "1"] for app in rng.sample(apps, 3)]
    wrong = failures(all_at_once(evener, folder, runs), runs)
    text = b"".join(content for place, (kind, content) in box.tree(folder).items() if kind == "file" and "evener" in place)
    wrong += [f"the figures of {app} are lost" for app in apps if b'"%s"' % app.encode() not in text]
    wrong += box.check_files({}, {p: c for p, c in box.tree(folder).items() if p.startswith(("work/", "tmp/"))}, {"words": ["x"]})
    shutil.rmtree(folder)
    return wrong


def kernels(evener, rng, known):
    """One empty cache for all; nothing where there is no OpenCL."""
    folder = box.new_folder()
    words = ["run", "bt-mz", "--steps", "2", "--quiet", "--units", "1:GPU:1", "--devices", "opencl", "--json", "-"]
    if not known:
        known.append(ending(evener, folder, words)[0])
    wrong = []
    if known[0] == 0:
        runs = [words] * 3
        ends = all_at_once(evener, folder, runs, {"EVENER_CACHE": f"{folder}/tmp/kernels"})
        wrong = failures(ends, runs)
        if not wrong and len({json.loads(said)["hash"] for _, said in ends}) != 1:
            wrong.append("kernels made at once have other results")
        wrong += [f"{place} is left behind" for place in box.tree(folder) if place.startswith("tmp/kernels/") and
                  not place.endswith(".bin")]
    shutil.rmtree(folder)
    return wrong


def crowd(evener, cases, seed):
    wrong, runs, number = [], 0, 0
    known = {kind: [] for kind in (outputs, calibrations, kernels)}
    while runs < cases:
        kind = (outputs, calibrations, outputs, outputs if evener.sanitized else kernels)[number % 4]
        wrong += kind(evener, random.Random(f"crowd {seed} {number}"), known[kind])
        runs += AT_ONCE if kind is outputs else 3
        number += 1
    box.tell(wrong)
    print(f"{runs} runs in {number} rounds; {len(wrong)} mistakes")
    return len(wrong)


def main():
    given = box.arguments(__doc__).parse_args()
    with box.opened(given.evener) as evener:
        return 1 if crowd(evener, given.cases, given.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
