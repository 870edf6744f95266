"""Variants of kernels side by side (suite/bench/variants.c): each has the bits of ours, in classes with short lines and longer ones; what a device
refuses is said of the variant alone.

    python3 tests/command/test_variants.py BENCH-VARIANTS
"""

import subprocess
import sys
import unittest

BENCH = sys.argv[1]


class Variants(unittest.TestCase):
    def bench(self, *words):
        return subprocess.run([BENCH, *" ".join(words).split()], capture_output=True, text=True, timeout=300)

    def check(self, *words):
        done = self.bench("--repeat 1 --devices emulated:clock=virtual", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [line for line in done.stdout.splitlines() if line.startswith("  ")]
        self.assertEqual(len(lines), 8)
        for line in lines:
            self.assertIn(" same bits ", line)
        for name in ("bt-mz", "lu-mz"):
            self.assertIn(f"{name} class {words[0][-1]}, ", done.stdout)
        return lines

    def test_bits(self):
        lines = self.check("--class S", "--steps 3")
        self.assertEqual([line.split()[-8::2] for line in lines[:3]], [["rhs", "xsolve", "ysolve", "zsolve"]] * 3)
        self.assertEqual([line.split()[-6::2] for line in lines[3:]], [["rhs", "lower", "upper"]] * 5)
        self.check("--class W", "--steps 1")

    def test_refused(self):
        for words, status, says in (
            ("--class Z", 2, 'evener: bt-mz: there is no class "Z"'),
            ("--class SS", 2, "class"),
            ("--steps 0", 2, "--steps 0: "),
            ("--what", 2, "--what"),
            ("--class S --devices nothing", 2, "nothing"),
            ("--class S --devices emulated:memory=64kB", 3, "memory"),
        ):
            done = self.bench(words)
            self.assertEqual((done.returncode, done.stdout), (status, ""), words + done.stderr)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
