#!/usr/bin/env python3
"""docs/start: what the lessons type, in their order in one folder, prints what they say, standard error last. In a line of EVENER_REPORT numbers
with a point and migrations may be others; a line `..` is any number of lines.

Run: ctest -R cc-start. usage: test_start.py EVENER SOURCE [test ..]"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

EVENER, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
MOST = 40  # lines of a program


def steps(page):
    """(command, lines that it prints) of a page."""
    found = []
    with open(page, encoding="utf-8") as file:
        for line in file:
            if line.startswith("    $ "):
                found.append((line[6:].rstrip("\n"), []))
            elif line.startswith("    ") and found:
                found[-1][1].append(line[4:].rstrip("\n"))
            elif not line.startswith("    ") and line.strip() and found:
                found.append((None, []))
    return [step for step in found if step[0]]


def pattern(lines):
    """As an expression."""
    text = ""
    for line in lines:
        if line == "..":
            text += r"(?:.*\n)*"
        elif " instances, " in line:
            text += re.sub(r"\d+\\\.\d+|\d+(?=\\ migrations)", r"[\\d.-]+", re.escape(line)) + r"\n(?:taken by .*\n)?"
        else:
            text += re.escape(line) + r"\n"
    return text


class Start(unittest.TestCase):
    def test_lessons(self):
        pages = sorted(glob.glob(os.path.join(SOURCE, "docs", "start", "[1-9]*.md")))
        self.assertEqual(len(pages), 5)
        programs = [os.path.join(SOURCE, "examples", "first.c")] + glob.glob(os.path.join(SOURCE, "examples", "start", "*.c"))
        build = os.path.dirname(EVENER)
        env = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith("EVENER_")}
        with tempfile.TemporaryDirectory() as folder:
            for program in programs:
                with open(program, encoding="utf-8") as file:
                    self.assertLessEqual(len(file.readlines()), MOST, program)
                shutil.copy(program, folder)
            env.update(PATH=build + ":" + env["PATH"], PKG_CONFIG_PATH=build, EVENER_OVERSUBSCRIBE="1", XDG_CACHE_HOME=folder)
            for page in pages:
                typed = steps(page)
                self.assertGreaterEqual(len(typed), 3, page)
                for command, lines in typed:
                    done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
                    said = done.stdout + done.stderr
                    self.assertEqual(done.returncode, 0, f"{page}: {command}: {said}")
                    self.assertRegex(said, r"\A" + pattern(lines) + r"\Z", f"{page}: {command}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
