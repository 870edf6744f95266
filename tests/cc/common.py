"""What the tests of evener-cc share: where things are, and running them with a stand-in for the run-time."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
STAND = os.path.join(HERE, "stand")
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
COMMAND = "build/evener-cc"


def run(words, **more):
    """Output, errors and status of a command."""
    env = dict(os.environ, EVENER_CC_INCLUDE=STAND, LC_ALL="C")
    env.update(more.pop("env", {}))
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=300, env=env, **more)


class Case(unittest.TestCase):
    """A folder of its own, and the stand-in compiled by each compiler."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.stand = {}
        for compiler in COMPILERS:
            cls.stand[compiler] = os.path.join(cls.folder, f"stand_{compiler}.o")
            subprocess.run([compiler, "-O1", "-fopenmp", "-c", os.path.join(STAND, "stand.c"), "-o", cls.stand[compiler]],
                           check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def cc(self, compiler, *words, **more):
        env = {"EVENER_CC": compiler, "EVENER_CC_LINK": self.stand[compiler.split()[-1]]}
        env.update(more.pop("env", {}))
        return run([COMMAND, *words], env=env, **more)

    def fine(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return result


def main():
    """Runs the tests of the calling module: COMMAND [test ..]"""
    global COMMAND
    COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__", verbosity=0)
