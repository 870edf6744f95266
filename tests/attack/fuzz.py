#!/usr/bin/env python3
"""Files and options that are not what evener expects: no crash, no hang, one message, nothing left behind, no numbers from nothing.

    fuzz.py --evener build/evener                          300 cases of each format, and of options
    fuzz.py --format msh --cases 3000 --seed 7             of one, others than last time
    fuzz.py --again FOLDER                                 a case that was kept

A case is named by format, seed and number and is always the same. Cases that failed are kept in folders, each with a script
line; those in tests/attack/kept have failed once and run first. What is wrong with a case is said in box.py.
"""
import argparse
import base64
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shlex
import sys
import tempfile
import threading

import box
import formats
import options
import seeds

HERE = os.path.dirname(os.path.abspath(__file__))
ALL = [*formats.FORMATS, "options", "extremes"]


def of_options(evener, make):
    maker = seeds.Maker(evener)
    try:
        record = maker.records()[0]
    finally:
        maker.close()
    files = {"work/r.json": record, "work/m.json": seeds.texts("machine")[-1], "work/folder/a": b"kept\n"}
    return make(evener, files)


def open_format(evener, name):
    if name in formats.FORMATS:
        return formats.FORMATS[name](evener)
    return of_options(evener, options.cases if name == "options" else options.extremes)


# ---- cases that are kept ----

def keep(case, wrong, folder, evener):
    """A folder with the case's files and case.json, from which --again and kept/ run it."""
    os.makedirs(folder, exist_ok=True)
    about = {key: value for key, value in case.items() if key != "files"}
    about["words"] = [base64.b64encode(os.fsencode(word)).decode() if "\udc80" <= max(word, default="") <= "\udcff" or len(word) > 500
                      else ["text", word] for word in case["words"]]
    about["wrong"] = wrong
    for name, content in case.get("files", {}).items():
        path = os.path.join(folder, "files", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(about, file)
        file.write("\n")
    with open(os.path.join(folder, "again.sh"), "w") as file:
        file.write(f"#!/bin/sh\n# {'; '.join(wrong)}\n"
                   f"exec python3 {shlex.quote(os.path.join(HERE, 'fuzz.py'))} --evener \"${{1:-{evener.path}}}\" --again \"$(dirname \"$0\")\"\n")


def fetch(folder):
    """A case as keep() has left it."""
    with open(os.path.join(folder, "case.json")) as file:
        case = json.load(file)
    case["words"] = [word[1] if isinstance(word, list) else os.fsdecode(base64.b64decode(word)) for word in case["words"]]
    case["files"], root = {}, os.path.join(folder, "files")
    for here, _, names in os.walk(root):
        for name in names:
            path = os.path.join(here, name)
            with open(path, "rb") as file:
                case["files"][os.path.relpath(path, root)] = file.read()
    return case


def kept_cases():
    return [os.path.dirname(path) for path in sorted(glob.glob(os.path.join(HERE, "kept", "*", "case.json")))]


# ---- running ----

class Tally:
    """What was found, by cause; from many threads."""

    def __init__(self, evener, folder):
        self.evener, self.folder = evener, folder
        self.lock = threading.Lock()
        self.causes, self.statuses = collections.defaultdict(list), collections.Counter()

    def add(self, name, case, wrong, ended):
        with self.lock:
            self.statuses[ended.status] += 1
            if not wrong:
                return
            where = os.path.join(self.folder, name)
            keep(case, wrong, where, self.evener)
            for line in wrong:
                cause = box.cause(line)
                if "sanitizer" in line:
                    cause += ": " + site(ended.err)
                self.causes[cause].append((name, where, ended, case.get("about", "")))
            with open(os.path.join(where, "stderr"), "wb") as file:
                file.write(ended.err[:100000])
            with open(os.path.join(where, "stdout"), "wb") as file:
                file.write(ended.out[:100000])

    def print(self, total):
        for cause, found in sorted(self.causes.items(), key=lambda one: -len(one[1])):
            print(f"{len(found):5d}  {cause}")
            for name, where, ended, about in found[:3]:
                said = ended.err.split(b"\n")[0][:160].decode(errors="replace")
                print(f"       {name}: sh {shlex.quote(where)}/again.sh  {about}".rstrip())
                print(f"         {ended.status}: {ascii(said)}")
        statuses = ", ".join(f"{count} with {status}" for status, count in sorted(self.statuses.items()))
        print(f"{total} cases, {len({one[0] for found in self.causes.values() for one in found})} of them wrong; they ended {statuses}")


def site(err):
    """Where a sanitizer saw it: the first place in our sources."""
    found = re.search(rb"([\w/]+\.c:\d+)", err)
    what = re.search(rb"(runtime error: .*|AddressSanitizer:? [\w-]+|LeakSanitizer)", err)
    return " ".join(part.group(1).decode(errors="replace").split("/")[-1] for part in (what, found) if part)


def play_one(evener, tally, name, case):
    wrong, ended = box.play(evener, case)
    tally.add(name, case, wrong, ended)


def fuzz(evener, names, cases, seed, jobs, folder, kept=True):
    """Runs all; the number of causes of failure."""
    tally = Tally(evener, folder)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = []
        for where in kept_cases() if kept else ():
            waiting.append(pool.submit(play_one, evener, tally, "kept-" + os.path.basename(where), fetch(where)))
        for name in names:
            make = open_format(evener, name)
            if not make:
                print(f"{name}: not here, skipped")
                continue
            for number in range(cases):
                case = make(random.Random(f"{name} {seed} {number}"), number)
                waiting.append(pool.submit(play_one, evener, tally, f"{name}-{seed}-{number}", case))
                if len(waiting) > 4 * jobs:
                    waiting.pop(0).result()
        for one in waiting:
            one.result()
    tally.print(sum(tally.statuses.values()))
    return len(tally.causes)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--evener", default="build/evener")
    words.add_argument("--format", action="append", choices=ALL, help="may be given again (default: all)")
    words.add_argument("--cases", type=int, default=300)
    words.add_argument("--seed", default="1")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--keep", help="folder for cases that fail (default: a new one)")
    words.add_argument("--again", help="run the case in this folder, and show what it says")
    given = words.parse_args()
    with box.opened(given.evener) as evener:
        if given.again:
            wrong, ended = box.play(evener, fetch(given.again))
            sys.stdout.buffer.write(ended.out + ended.err)
            print(f"status {ended.status}", *wrong, sep="\n")
            return 1 if wrong else 0
        folder = given.keep or os.path.join(tempfile.gettempdir(), f"evener-attack-{os.getpid()}")
        return 1 if fuzz(evener, given.format or ALL, given.cases, given.seed, given.jobs, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
