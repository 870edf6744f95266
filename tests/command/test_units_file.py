#!/usr/bin/env python3
"""Units by host: --units @FILE. Run: ctest -R command-units. usage: test_units_file.py EVENER"""
import socket
import subprocess

from base import Base

HOST = socket.gethostname()


class File(Base):
    def words(self, text, how="@"):
        if text is not None:
            self.write("nodes", text)
        return ["run", "bt-mz", "--steps", "1", "--units", how + self.path("nodes"), "--oversubscribe"]

    def units(self, text, how="@"):
        return len(self.record(*self.words(text, how))["units"])

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
            self.refuses(self.words(text), words)

    def test_endless(self):
        """A file without an end and without lines."""
        for words in (["run", "bt-mz", "--steps", "1", "--units", "@/dev/zero"], ["run", "td-bem", "--mesh", "sphere:0", "--entries", "/dev/zero"]):
            self.refuses([*words, "--quiet"], "/dev/zero: line 1 has a zero byte")


class Numbers(Base):
    """Hosts with numbers, as far as a name may be given to a process: in a name space of its own."""

    def test_ranges(self):
        tool = ["unshare", "--uts", "sh", "-c"]
        if subprocess.run([*tool, "hostname node03"], capture_output=True).returncode:
            self.skipTest("no name space of one's own")
        for host, lines, units in (("node03", "node[01-04] 2:CPU:1\n* 3:CPU:1\n", 2), ("node05", "node[01-04] 2:CPU:1\n* 3:CPU:1\n", 3),
                                   ("node3", "node[01-04] 2:CPU:1\n* 3:CPU:1\n", 3), ("node12", "node[1-20] 2:CPU:1\n* 3:CPU:1\n", 2),
                                   ("node07-ib", "node[01,05-09]-ib 2:CPU:1\n* 3:CPU:1\n", 2)):
            launch = [*tool, f'hostname {host} && exec "$0" "$@"']
            found = self.record("run", "bt-mz", "--steps", "1", "--units", "@" + self.write("nodes", lines), "--oversubscribe", launch=launch)
            self.assertEqual(len(found["units"]), units, host)
