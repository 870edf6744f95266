"""Environments that nobody has on purpose: every command ends as it should, or says in one line why not; numbers are the same."""
import concurrent.futures
import itertools
import json
import os
import random
import shutil

import box
import fuzz
import seeds

NAMED = ("missing/folder", "/proc/none", "relative", "", "/", "/etc/passwd", "x" * 5000, "\x1b[31m", "é", "-", "/dev/null/x")
VARIABLES = {
    "HOME": (None, *NAMED), "XDG_CACHE_HOME": NAMED, "EVENER_CACHE": NAMED, "TMPDIR": (None, *NAMED), "PATH": ("", None, "/none"),
    "LC_ALL": ("C.UTF-8", "de_DE.UTF-8", "fr_FR", "garbage", "x" * 5000), "LC_NUMERIC": ("de_DE.UTF-8",), "LANG": ("de_DE.UTF-8", ""),
    "OMP_NUM_THREADS": ("0", "-1", "1", "99999999", "a", "4,3,2", "", "1e3"),
    "OMP_STACKSIZE": ("1", "1k", "64k", "100T", "a", "-1"), "OMP_PROC_BIND": ("true", "spread", "master", "garbage"),
    "OMP_PLACES": ("cores", "{0}", "{0:1000}", "{99}", "garbage", "{-1}"), "OMP_THREAD_LIMIT": ("1", "0", "99999999999"),
    "OMP_MAX_ACTIVE_LEVELS": ("0", "99"), "OMP_DYNAMIC": ("true",), "OMP_NESTED": ("true",), "OMP_WAIT_POLICY": ("active", "passive"),
    "OMP_CANCELLATION": ("true",), "OMP_SCHEDULE": ("dynamic,1", "garbage"), "GOMP_CPU_AFFINITY": ("0", "99", "garbage", "0-1000"),
    "GOMP_SPINCOUNT": ("0", "infinity"), "EVENER_UNITS": ("garbage", "9:CPU:9"), "EVENER_DEVICES": ("garbage",),
    "EVENER_SCHEDULE": ("garbage",), "EVENER_RECORD": ("missing/r", "-"), "EVENER_TRACE": ("-",), "EVENER_OVERSUBSCRIBE": ("2",),
    "EVENER_BIND": ("garbage", "none"), "EVENER_SMT": ("garbage", "1"),
    "EVENER_LIBCUDA": ("/etc/passwd", "missing", ""), "EVENER_NVRTC": ("/etc/passwd", "missing", ""),
    "EVENER_KERNELS": ("/etc/passwd", "missing", "", "/"),
    "CUDA_VISIBLE_DEVICES": ("", "garbage", "-1"), "CUDA_HOME": ("/none",), "OCL_ICD_VENDORS": ("/none", "/etc/passwd"),
    "POCL_DEVICES": ("garbage", ""), "POCL_CACHE_DIR": ("/proc/none",), "HWLOC_SYNTHETIC": ("node:2 core:4 pu:2", "garbage"),
    "HWLOC_XMLFILE": ("/none", "/etc/passwd"), "HWLOC_COMPONENTS": ("garbage", "-linux"), "MALLOC_PERTURB_": ("165",),
    "MALLOC_ARENA_MAX": ("1",), "TERM": ("", "garbage"), "COLUMNS": ("-1", "99999999"), "TZ": ("garbage",), "POSIXLY_CORRECT": ("1",),
}
LIMITS = ["ulimit -n 3", "ulimit -n 4", "ulimit -n 8", "ulimit -n 16", "ulimit -f 1", "ulimit -f 2", "ulimit -l 0", "umask 777",
          "umask 0", "trap '' INT TERM HUP", "trap '' PIPE XFSZ CHLD", "mkdir gone; cd gone; rmdir ../gone", "exec 0</etc",
          "ulimit -s unlimited"]
# what a sanitizer itself has no room with
ROOMS = ["ulimit -s 64", "ulimit -s 256", "ulimit -s 1024", "ulimit -d 1000", "ulimit -d 30000", "ulimit -v 20000",
         "ulimit -v 100000", "ulimit -v 200000", "ulimit -v 400000"]
USER = "exec setpriv --reuid=54321 --regid=54321 --clear-groups"  # limits of processes do not bind root
OTHERS = ["", "prlimit --nproc=1", "prlimit --nproc=3"]

BODY = ["run", "td-bem", "--mesh", "sphere:1", "--steps", "20", "--json", "o.json", "--quiet"]
COMMANDS = [["info", "--json", "o.json"],
            ["run", "bt-mz", "--steps", "2", "--json", "o.json", "--trace", "t.json"],
            ["run", "lu-mz", "--steps", "2", "--json", "o.json", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--quiet"],
            [*BODY, "--vertices", "0", "--vertex-output", "v.csv", "--checkpoint", "c", "--every", "10", "--units", "1:CPU:1"],
            [*BODY, "--vertices", "0", "--vertex-output", "v.csv", "--units", "2:CPU:1", "--oversubscribe", "--memory", "300kB"],
            ["run", "sp-mz", "--steps", "2", "--json", "-"],
            ["plan", "bt-mz", "--json", "o.json", "--units", "2:CPU:1"],
            ["calibrate", "bt-mz", "--steps", "1", "--units", "1:CPU:1", "--output", "o.json", "--quiet"],
            ["calibrate", "sp-mz", "--steps", "1", "--units", "1:CPU:1", "--quiet"],
            ["report", "r.json", "--output", "o.html"]]


def closings():
    for closed in range(1, 8):
        yield "".join(f"exec {number}{'<' if not number else '>'}&-\n" for number in range(3) if closed >> number & 1)


def environments(evener):
    """(what it is, what a case gets) of each."""
    for name, values in VARIABLES.items():
        for value in values if name != "OMP_STACKSIZE" or not evener.sanitized else ():
            yield f"{name}={ascii(value)[:60]}", {"environment": {name: value}}
    limits = [*LIMITS, *closings(), *(() if evener.sanitized else ROOMS)]
    for line in limits:
        yield line, {"shell": [line]}
    if os.getuid() == 0 and shutil.which("setpriv"):
        for limit in OTHERS if not evener.sanitized else OTHERS[:1]:  # a sanitizer makes threads of its own
            yield f"another user {limit}", {"shell": [f'{USER} {limit} "$@"'], "open": True}


def matrix(evener):
    maker = seeds.Maker(evener)
    try:
        record = maker.records()[0]
    finally:
        maker.close()
    for (name, more), words in itertools.product(environments(evener), COMMANDS):
        yield {"about": name, "words": words, "files": {"work/r.json": record}, **more}


def numbers(folder):
    """What of a run's outputs must not depend on where it runs."""
    found = {}
    for name in ("o.json", "v.csv"):
        try:
            with open(os.path.join(folder, "work", name), "rb") as file:
                found[name] = file.read()
        except OSError:
            continue
        if name == "o.json":
            try:
                found[name] = json.loads(found[name]).get("hash")
            except (ValueError, AttributeError):
                pass  # check_files says so
    return found


def play(evener, case, expected):
    """(what is wrong, how it ended); without `expected`, the numbers as they should be."""
    folder = box.new_folder()
    try:
        box.fill(folder, case)
        if case.get("open"):
            for place in ("", "work", "home", "tmp"):
                os.chmod(os.path.join(folder, place), 0o777)
        before = box.tree(folder)
        ended = box.run(evener, case, folder)
        if expected is None:
            return numbers(folder), ended
        shell = "".join(case.get("shell", ()))
        wrong = box.check_end(ended, case, evener)
        silent = ">&-" in shell.replace("1>&-", "") or "2>&-" in shell
        strange = any(key.startswith(("OMP_", "GOMP_", "HWLOC_", "POCL_")) for key in case.get("environment", {}))
        if not wrong and not silent:
            wrong = [line for line in box.check_messages(ended, case) if not (strange and "does not begin" in line)]
        after = box.tree(folder)
        if any(word in ended.err for word in box.STRANGERS):
            return [], ended
        wrong += [ascii(line)[1:-1] for line in box.check_files(before, after, case)]
        if ended.status == box.DONE:
            wrong += [f"{name} has other numbers" for name, found in numbers(folder).items()
                      if name in expected and found != expected[name]]
            wrong += [f"{name} was not written" for name in expected if name not in numbers(folder)]
        return wrong, ended
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_matrix(evener, cases, seed, jobs, folder):
    """Some cases of the matrix, or all where there are no more; the number of causes of failure."""
    found = list(matrix(evener))
    expected = {}
    for words in COMMANDS:
        case = next(case for case in found if case["words"] is words)
        expected[str(words)] = play(evener, {"words": words, "files": case["files"]}, None)[0]
    if cases < len(found):
        found = random.Random(f"environments {seed}").sample(found, cases)
    tally = fuzz.Tally(evener, folder)

    def one(number, case):
        wrong, ended = play(evener, case, expected[str(case["words"])])
        tally.add(f"environment-{number}", {**case, "about": ascii(case["about"])}, wrong, ended)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(one, number, case) for number, case in enumerate(found)]:
            future.result()
    tally.print(len(found))
    return len(tally.causes)
