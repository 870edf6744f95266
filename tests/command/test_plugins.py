#!/usr/bin/env python3
"""What the command is linked with, and what it opens: neither an MPI nor MUMPS (whose sequential library has functions by the names of
MPI's) before somebody asks for them; and what it says where a plug-in is not what it should be.

Run: ctest -R '^command-plugins$'. usage: test_plugins.py EVENER [unittest's arguments]"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from base import EVENER, Base, evener, run

RUN = ["run", "td-bem", "--mesh", "sphere:0", "--steps", "5", "--quiet"]
OPENED = re.compile(r"/(lib[^/\s]*(?:scotch|Cbc|Clp|blas|lapack)[^/\s]*)")  # by schedules, and what comes with these
FOREIGN = re.compile(r"/(lib(?:mpi|mpich|dmumps|mumps|open-rte|pmix|pmi)[^/\s]*|evener-[^/\s]*\.so)")


def account(*words):
    """All that a run has loaded at any time, as the loader tells it: lines with the process in front."""
    with tempfile.TemporaryDirectory() as folder:
        status, _, err = run([EVENER, *words], LD_DEBUG="files", LD_DEBUG_OUTPUT=f"{folder}/loader")
        text = ""
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as f:
                text += f.read()
    if "calling init" not in text:
        raise unittest.SkipTest("this loader does not tell what it loads")
    return status, err, text


def opened(*words):
    """Foreign libraries of it."""
    status, err, text = account(*words)
    return status, err, set(FOREIGN.findall(text))


def has_mumps():
    return "without MUMPS" not in evener(*RUN, "--solver", "mumps").stderr


class Apart(unittest.TestCase):
    def test_symbols(self):
        """No function by a name of MPI's is in the command, neither its own nor one it wants."""
        for options in (["-D"], []):
            done = subprocess.run(["nm", *options, EVENER], capture_output=True, text=True)
            names = [line.split()[-1] for line in done.stdout.split("\n") if line]
            self.assertTrue(options or "main" in names, "nm tells nothing")
            self.assertEqual([n for n in names if re.match(r"P?MPI_|dmumps", n, re.IGNORECASE)], [])

    def test_libraries(self):
        done = subprocess.run(["ldd", EVENER], capture_output=True, text=True)
        self.assertIn("libc.so", done.stdout)
        self.assertEqual(FOREIGN.findall(done.stdout) + OPENED.findall(done.stdout), [])

    def test_ranks_first(self):
        """The process that forks ranks has opened nothing before that could start threads, whatever they will need."""
        march = RUN + ["--units", "1:CPU:1", "--oversubscribe"]
        zones = ["run", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--units", "1:CPU:1", "--oversubscribe"]
        for words in (zones + ["--schedule", "map"], zones + ["--schedule", "optimal:nodes=5,gap=0"], zones + ["--wire", "processes:2"],
                      *([march + ["--solver", "mumps"]] if has_mumps() else [])):
            if "--wire" not in words:
                words = words + ["--processes", "2"]
            status, err, text = account(*words)
            self.assertEqual((status, err), (0, ""), words)
            first = re.match(r" *(\d+):", text)[1]
            own = "".join(line for line in text.splitlines(True) if line.split(":")[0].strip() == first)
            self.assertEqual(FOREIGN.findall(own) + OPENED.findall(own), [], words)

    def test_runs(self):
        for words in (["info"], RUN, ["run", "bt-mz", "--class", "S", "--steps", "2", "--quiet"]):
            status, err, foreign = opened(*words)
            self.assertEqual(status, 0, err)
            self.assertEqual(foreign, set(), words)

    def test_mumps(self):
        if not has_mumps():
            self.skipTest("no MUMPS in this build")
        status, err, foreign = opened(*RUN, "--solver", "mumps")
        self.assertEqual(status, 0, err)
        self.assertIn("evener-mumps.so", foreign)


class Messages(Base):
    def setUp(self):
        super().setUp()
        if not has_mumps():
            self.skipTest("no MUMPS in this build")

    def check(self, says, program=EVENER, **env):
        status, out, err = run([program, *RUN, "--solver", "mumps"], **env)
        self.assertEqual(status, 2, out + err)
        self.assertTrue(err.startswith("evener: solver: "), err)
        for part in says:
            self.assertIn(part, err)

    def test_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/bin")
            alone = shutil.copy(EVENER, f"{folder}/bin/evener")
            place = f"{folder}/lib/evener/evener-mumps.so"
            if run([alone, *RUN, "--solver", "mumps"])[0]:  # else it is installed where it was configured to be
                self.check([f"no plug-in {folder}/bin/lib/evener/evener-mumps.so, {place} or "], program=alone)
            os.makedirs(os.path.dirname(place))
            shutil.copy(os.path.join(os.path.dirname(EVENER), "lib/evener/evener-mumps.so"), place)
            status, _, err = run([alone, *RUN, "--solver", "mumps"])
            self.assertEqual(status, 0, err)
            self.assertEqual(run([alone, *RUN])[0], 0)

    def test_said(self):
        folder = os.path.join(os.path.dirname(EVENER), "lib/evener")
        for where in (folder, f"{folder}/evener-mumps.so"):
            self.evener(*RUN, "--solver", "mumps", EVENER_MUMPS=where)
        self.check(["no plug-in /nowhere/x.so (which EVENER_MUMPS says)"], EVENER_MUMPS="/nowhere/x.so")
        with tempfile.TemporaryDirectory() as empty:
            self.check([f"no plug-in {empty}/evener-mumps.so"], EVENER_MUMPS=empty)

    def test_foreign(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, source, says in (("other", "int other;", "has no evener_mumps_v1"),
                                       ("old", "unsigned evener_mumps_v1[8] = {9};", "is of version 9 and version 1 is needed")):
                file = f"{folder}/{name}.so"
                subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", file], input=source, text=True, check=True)
                self.check([file, says], EVENER_MUMPS=file)
