#!/usr/bin/env python3
"""Some of a script's cases: those that tests/halves.txt names for a test, or all the others.

Run by ctest as: tests/halves.py quick|rest NAME SCRIPT [argument ..]; for one case run the script itself.
"""
import os
import runpy
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def cases(name):
    """The cases in the quick set, by the table."""
    for line in open(f"{HERE}/halves.txt"):
        words = line.split()
        if words and words[0] == f"{name}:":
            return set(words[1:])
    sys.exit(f"tests/halves.txt has no line for {name}")


def main():
    half, name, script = sys.argv[1:4]
    quick, seen = cases(name), set()
    every = unittest.TestLoader.getTestCaseNames

    def some(loader, case):
        names = {f"{case.__name__}.{test}": test for test in every(loader, case)}
        seen.update(names)
        return [test for full, test in names.items() if (full in quick) == (half == "quick")]

    unittest.TestLoader.getTestCaseNames = some
    sys.argv = sys.argv[3:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    status = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        status = end.code
    if seen and quick - seen:
        print(f"tests/halves.txt names cases that {script} does not have:", *sorted(quick - seen))
        status = 1
    sys.exit(status)


main()
