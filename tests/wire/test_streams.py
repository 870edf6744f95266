#!/usr/bin/env python3
"""Output of a program before its ranks are forked is written once, whichever runtime has it in its buffers.
Run: ctest -R wire-streams. usage: test_streams.py PROGRAM.."""
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = []


class Streams(unittest.TestCase):
    def test_once(self):
        for program in PROGRAMS:
            with self.subTest(program=program), tempfile.TemporaryFile() as out:
                done = subprocess.run([program], stdout=out, stderr=subprocess.PIPE, timeout=60)
                out.seek(0)
                self.assertEqual((done.returncode, out.read().count(b"banner"), done.stderr.count(b"note") > 1), (0, 1, False), done.stderr)


if __name__ == "__main__":
    PROGRAMS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
