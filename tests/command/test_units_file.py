#!/usr/bin/env python3
"""Units by host: --units @FILE. Run: ctest -R command-units. usage: test_units_file.py EVENER"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

EVENER = ""
HOST = socket.gethostname()


class File(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "nodes")

    def tearDown(self):
        self.folder.cleanup()

    def run_with(self, text, how="@"):
        if text is not None:
            with open(self.path, "w") as file:
                file.write(text)
        return subprocess.run([EVENER, "run", "bt-mz", "--steps", "1", "--units", how + self.path, "--oversubscribe", "--quiet",
                               "--json", "-"], capture_output=True, text=True, timeout=60)

    def units(self, text, how="@"):
        done = self.run_with(text, how)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return len(json.loads(done.stdout)["units"])

    def test_first_line_counts(self):
        self.assertEqual(self.units(f"other 5:CPU:1\n\n# a comment\n{HOST} 2:CPU:1 # here\n* 3:CPU:1\n"), 2)
        self.assertEqual(self.units("other 5:CPU:1\n* 3:CPU:1\n"), 3)
        self.assertEqual(self.units("* 2:CPU:1\n", how=""), 2)

    def test_patterns(self):
        self.assertEqual(self.units(f"{HOST[0]}* 2:CPU:1\n* 3:CPU:1\n"), 2)
        self.assertEqual(self.units(f"{'?' * len(HOST)} 2:CPU:1\n* 3:CPU:1\n"), 2)
        self.assertEqual(self.units(f"{HOST}[1-9] 2:CPU:1\n* 3:CPU:1\n"), 3)
        self.assertEqual(self.units(f"*{HOST}x 2:CPU:1\n* 3:CPU:1\n"), 3)

    def test_mistakes(self):
        for text, words in ((None, "cannot be read"), ("", "no line is for host"), ("other 1:CPU:1\n", f"host {HOST}"),
                            ("alone\n", 'line 1 is "alone"'), ("\n* 1:CPU:1 2:CPU:1\n", "line 2"), ("* 1:CPUS:1\n", "CPUS")):
            done = self.run_with(text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_endless(self):
        """A file without an end and without lines."""
        for words in (["run", "bt-mz", "--steps", "1", "--units", "@/dev/zero"], ["run", "td-bem", "--mesh", "sphere:0", "--entries", "/dev/zero"]):
            done = subprocess.run([EVENER, *words, "--quiet"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn("/dev/zero: line 1 has a zero byte", done.stderr)


class Numbers(unittest.TestCase):
    """Hosts with numbers, as far as a name may be given to a process: in a name space of its own."""

    def test_ranges(self):
        tool = ["unshare", "--uts", "sh", "-c"]
        if subprocess.run([*tool, "hostname node03"], capture_output=True).returncode:
            self.skipTest("no name space of one's own")
        with tempfile.TemporaryDirectory() as folder:
            for host, lines, units in (("node03", "node[01-04] 2:CPU:1\n* 3:CPU:1\n", 2), ("node05", "node[01-04] 2:CPU:1\n* 3:CPU:1\n", 3),
                                       ("node3", "node[01-04] 2:CPU:1\n* 3:CPU:1\n", 3), ("node12", "node[1-20] 2:CPU:1\n* 3:CPU:1\n", 2),
                                       ("node07-ib", "node[01,05-09]-ib 2:CPU:1\n* 3:CPU:1\n", 2)):
                with open(f"{folder}/nodes", "w") as file:
                    file.write(lines)
                done = subprocess.run([*tool, f'hostname {host} && exec "$0" run bt-mz --steps 1 --units @{folder}/nodes '
                                       "--oversubscribe --quiet --json -", EVENER], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""), host)
                self.assertEqual(len(json.loads(done.stdout)["units"]), units, host)


if __name__ == "__main__":
    EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
