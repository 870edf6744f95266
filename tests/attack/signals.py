"""Signals at random moments of every command: it ends in time, with 130 where one asks it to end, and leaves nothing behind.

INT, TERM and HUP ask to end: 130 within the limit. PIPE and QUIT end a process as they do others, XFSZ does not end it; after
all of them there is nothing but what was named, and that is whole. A signal in the first moments, before main(), may end a
process as it does every other.
"""
import collections
import os
import random
import shutil
import signal
import time

import box
import options
import seeds

ASK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNALS = (*ASK, *ASK, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT)
STARTING = 0.15  # s, in which there may be no main() yet

# a few tenths of a second of work each, with outputs; a command that is not here has its base of options.py
WORK = {("info",): ["--json", "o.json"], ("run",): ["--steps", "400", "--json", "o.json", "--trace", "t.json"],
        ("run", "td-bem"): ["--mesh", "sphere:3", "--steps", "300", "--every", "50", "--json", "o.json", "--checkpoint", "c",
                            "--vertices", "0,1", "--vertex-output", "v.csv", "--output", "surface", "--matrices", "m"],
        ("plan",): ["--class", "B", "--iterations", "3000", "--json", "o.json", "--units", "4:CPU:2"],
        ("plan", "td-bem"): ["--mesh", "sphere:3", "--iterations", "3000", "--json", "o.json"],
        ("calibrate",): ["--units", "1:CPU:1", "--output", "o.json"],
        ("calibrate", "td-bem"): ["--mesh", "sphere:3", "--units", "1:CPU:1", "--output", "o.json"],
        ("model", "ft"): ["--class", "D", "--json", "o.json"], ("model", "mg"): ["--class", "D", "--nodes", "64", "--json", "o.json"],
        ("report",): ["r.json", "--output", "o.html"], ("bench", "tasks"): ["--tasks", "20000", "--repeat", "5"],
        ("bench", "td-bem"): ["--mesh", "sphere:1"], ("bench", "cluster"): ["cluster.json"]}
CLUSTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suite", "bench", "machines", "cluster-1024.json")


def works(evener):
    """Every command's words, and the files they read; twice with --memory, whose scratch file is beside."""
    maker = seeds.Maker(evener)
    try:
        record = maker.records()[0]
    finally:
        maker.close()
    with open(CLUSTER, "rb") as file:
        cluster = file.read()
    files = {"work/r.json": record, "work/m.json": seeds.texts("machine")[-1], "work/cluster.json": cluster}
    found = []
    for command in options.commands(evener):
        words = WORK.get(command, WORK.get(command[:1], options.BASE.get(command, [])))
        found.append({"words": [*command, *words], "files": files})
    scratch = ["run", "td-bem", "--mesh", "sphere:3", "--steps", "300", "--memory", "4MB", "--ng", "4", "--json", "o.json"]
    return [*found, {"words": scratch, "files": files}]


def has_begun(pid):
    """Whether it hears what asks it to end; before main() nobody does."""
    try:
        with open(f"/proc/{pid}/status") as file:
            caught = next((int(line.split()[1], 16) for line in file if line.startswith("SigCgt")), 0)
    except OSError:
        return False
    return all(caught >> number - 1 & 1 for number in ASK)


def strike(evener, case, number, moment, limit):
    """One signal: (what is wrong, whether it was still running)."""
    folder = box.new_folder()
    try:
        box.fill(folder, case)
        before = box.tree(folder)
        with open(f"{folder}/.said/out", "wb") as out, open(f"{folder}/.said/err", "wb") as err:
            process = box.launch(evener, case["words"], folder, out=out, err=err)
            time.sleep(moment)
            begun = has_begun(process.pid)
            running = process.poll() is None
            sent = time.monotonic()
            if running:
                os.kill(process.pid, number)
            if process.returncode is None:
                status, usage, asked, _ = box.wait(process, evener)
            else:
                status, usage, asked = process.returncode, None, None
        seconds = time.monotonic() - sent
        said = [open(f"{folder}/.said/{name}", "rb").read() for name in ("out", "err")]
        ended = box.Ended(status, *said, usage, asked, seconds)
        allowed = {0, 130} if number in ASK else {0, -number, 130} if number != signal.SIGXFSZ else {0}
        if moment < STARTING or not begun:
            allowed = allowed | {-number}
        wrong = []
        if asked:
            wrong.append("it hangs")
        elif any(word in said[1] for word in box.SANITIZER_WORDS):
            wrong.append("a sanitizer's report")
        elif running and status not in allowed:
            wrong.append(f"ended with {status} after {number.name}")
        elif running and number in ASK and status == 130 and seconds > limit * evener.slack:
            wrong.append("it ended late")
        if not wrong:
            wrong = box.check_messages(ended, case)
        return wrong + box.check_files(before, box.tree(folder), case), running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def length(evener, case):
    begin = time.monotonic()
    box.play(evener, {**case, "patience": 5})
    return time.monotonic() - begin


def signals(evener, cases, seed, limit):
    """The number of signals after which something was wrong."""
    found, struck, failures = works(evener), collections.Counter(), collections.defaultdict(list)
    seconds = {}
    for count in range(cases):
        rng = random.Random(f"signals {seed} {count}")
        number, case = rng.choice(SIGNALS), found[(count + rng.randrange(2)) % len(found)]
        key = " ".join(case["words"])
        if key not in seconds:
            seconds[key] = length(evener, case)
        moment = rng.random() * min(5 * evener.slack, seconds[key])
        wrong, running = strike(evener, case, number, moment, limit)
        struck[running] += 1
        for line in wrong:
            failures[(box.cause(line), key)].append((number.name, moment, line))
    for (line, key), some in sorted(failures.items(), key=lambda one: -len(one[1])):
        name, moment, what = some[0]
        print(f"{len(some):5d}  {what}\n       {name} after {moment:.3f} s: evener {key}")
    print(f"{cases} signals, {struck[True]} to commands that were at work; {len(failures)} kinds of mistakes")
    return len(failures)
