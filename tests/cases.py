#!/usr/bin/env python3
"""Runs a script of tests: all of its cases, those that are named, or those that tests/halves.txt names for a test, or all others.

usage: tests/cases.py [quick|rest NAME] SCRIPT [argument ..]. A script of cases comes here by itself (tests/programs.py).
"""
import os
import runpy
import sys
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.modules["cases"] = sys.modules[__name__]  # by which scripts know that they are here


def named(name):
    """The cases in the quick set, by the table."""
    for line in open(f"{HERE}/halves.txt"):
        words = line.split()
        if words and words[0] == f"{name}:":
            return set(words[1:])
    sys.exit(f"tests/halves.txt has no line for {name}")


def main():
    half, name = (sys.argv.pop(1), sys.argv.pop(1)) if sys.argv[1] in ("quick", "rest") else ("", "")
    quick, seen = named(name) if half else set(), set()
    every = unittest.TestLoader.getTestCaseNames

    def some(loader, case):
        names = {f"{case.__name__}.{test}": test for test in every(loader, case)}
        seen.update(names)
        return [test for full, test in names.items() if (full in quick) == (half == "quick")]

    unittest.TestLoader.getTestCaseNames = some
    del sys.argv[0]
    script = sys.argv[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    status = 0
    try:
        module = types.ModuleType("cases")
        vars(module).update(runpy.run_path(script, run_name="__main__"))
        if unittest.TestLoader().loadTestsFromModule(module).countTestCases():  # else it has run all by itself
            unittest.main(module)
    except SystemExit as end:
        status = end.code
    if seen and quick - seen:
        print(f"tests/halves.txt names cases that {script} does not have:", *sorted(quick - seen))
        status = 1
    sys.exit(status)


main()
