"""What the tests of evener-cc share: where things are, and programs run on emulated devices and more threads than cores."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
INCLUDE = os.path.join(SOURCE, "include")
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
COMMAND = "build/evener-cc"
# threads that wait do not take the cores of others: there are more of them than cores
PLAIN = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith(("EVENER_", "OMP_", "CMAKE_"))}
PLAIN.update(LC_ALL="C", OMP_WAIT_POLICY="passive", EVENER_OVERSUBSCRIBE="1", EVENER_DEVICES="emulated:3")


def run(words, **more):
    """Output, errors and status of a command."""
    env = dict(PLAIN)
    env.update(more.pop("env", {}))
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=300, env=env, **more)


def shortened(lines, expected):
    """The lines; one that begins as an expected message that ends in .. is that message."""
    return [expected if expected.endswith("..") and line.startswith(expected[:-2]) else line for line in lines]


class Case(unittest.TestCase):
    """A folder of its own, and the command with each compiler behind it."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def cc(self, compiler, *words, **more):
        env = {"EVENER_CC": compiler}
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
