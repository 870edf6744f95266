#!/usr/bin/env python3
"""The attack: files and options (which fuzz.py runs by format, too), environments, signals.

    run.py --evener build/evener --sanitized build/sanitized/evener --cases 30      as `make test` does: always the same
    run.py --cases 3000 --seed today                                                more, and others
    run.py --only signals --cases 500 --limit 2                                     where a machine has nothing else to do
"""
import argparse
import os
import sys
import tempfile
import time

import box
import environments
import fuzz
import signals


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--evener", default="build/evener")
    words.add_argument("--sanitized", help="a build with sanitizers, for files, options and environments (default: --evener)")
    words.add_argument("--cases", type=int, default=300, help="of each format; of the rest in proportion (default 300)")
    words.add_argument("--seed", default="1")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--limit", type=float, default=30.0, help="seconds from a signal to the end (2 on a quiet machine)")
    words.add_argument("--only", choices=("fuzz", "environments", "signals"))
    words.add_argument("--keep", help="folder for cases that fail (default: a new one)")
    given = words.parse_args()
    folder = given.keep or os.path.join(tempfile.gettempdir(), f"evener-attack-{os.getpid()}")
    cases, seed, jobs = given.cases, given.seed, given.jobs
    failed = []
    with box.opened(given.evener) as evener, box.opened(given.sanitized or given.evener) as strict:
        for name, part in {"fuzz": lambda: fuzz.fuzz(strict, fuzz.ALL, cases, seed, jobs, folder),
                           "environments": lambda: environments.run_matrix(strict, 2 * cases, seed, jobs, folder),
                           "signals": lambda: signals.signals(evener, max(60, cases // 2), seed, given.limit)}.items():
            if given.only not in (None, name):
                continue
            begin = time.monotonic()
            print(f"-- {name}", flush=True)
            if part():
                failed.append(name)
            print(f"-- {name}: {time.monotonic() - begin:.0f} s", flush=True)
    print(f"wrong: {', '.join(failed)}" if failed else "all is well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
