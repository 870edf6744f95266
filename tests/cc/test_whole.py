#!/usr/bin/env python3
"""The language as a whole: what programs compute is the same on any units, by any compiler, in either way of rewriting.

Run: ctest -R cc-whole, or tests/cc/test_whole.py build/evener-cc [test ..]     the folder of the command has the examples
EVENER_TEST_LONG=1: every schedule on every list by every compiler, and BT-MZ of class W.
"""
import itertools
import os
import re
import shutil
import sys
import unittest
import common
from common import Case, COMPILERS, HERE, INCLUDE, SOURCE, run

sys.path.insert(0, os.path.dirname(HERE))
import programs  # pylint: disable=wrong-import-position

LONG = os.environ.get("EVENER_TEST_LONG")
SCHEDULES = ("static", "static:chunk=3", "dynamic", "dynamic:chunk=4,memorize=0", "guided:size", "guided:time", "weighted",
             "weighted:size", "binpack", "interval", "map", "optimal")
LISTS = ("", "1:CPU:1", "1:CPU:4", "2:CPU:3", "3:CPU:2", "4:CPU:1", "5:CPU:1", "1:GPU:2", "2:CPU:1,1:GPU:1")


def built(name):
    return os.path.join(os.path.dirname(common.COMMAND), name)


class Bits(Case):
    def test_one_hash(self):
        """Reductions, inner regions, blocks: one number."""
        programs = {}
        for compiler in COMPILERS:
            for mode in ((), ("--preprocessed",)):
                out = os.path.join(self.folder, compiler + "".join(mode))
                self.fine(self.cc(compiler, *mode, "-O2", "-ffp-contract=off", os.path.join(HERE, "programs", "bits.c"), "-o", out))
                programs[compiler, *mode] = out
        answers = {}
        everything = list(itertools.product(SCHEDULES, LISTS))
        for number, (schedule, units) in enumerate(everything):
            kinds = list(programs) if LONG or not number % 9 else [list(programs)[number % len(programs)]]
            for kind in kinds:
                done = self.fine(run(["timeout", "60", programs[kind]], env={"EVENER_UNITS": units, "EVENER_SCHEDULE": schedule}))
                answers.setdefault(done.stdout, []).append((kind, schedule, units))
        self.assertEqual(len(answers), 1, {k: v[:9] for k, v in answers.items()})
        self.assertRegex(next(iter(answers)), r"\A[0-9a-f]{16}\n\Z")


    def test_affinity(self):
        """Over ranks iterations run where their elements are; in C++ too."""
        for compiler, command in [(COMPILERS[-1], "evener-cc"), ("g++", "evener-c++")]:
            out = os.path.join(self.folder, command)
            words = ["-x", "c++", "-fpermissive"] if command == "evener-c++" else []
            self.fine(run([built(command), *words, "-w", "-O2", os.path.join(HERE, "programs", "affinity.c"), "-o", out],
                          env={} if words else {"EVENER_CC": compiler}))
            for ranks, units in (1, "1:CPU:1"), (2, "2:CPU:1"), (3, "1:CPU:1,1:GPU:1"):
                self.fine(run([out], env={"RANKS": f"processes:{ranks}", "EVENER_UNITS": units}))
            done = run([out], env={"RANKS": "alone", "EVENER_UNITS": "1:CPU:1", "BEYOND": "1"})
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^\S*affinity\.c:\d+: affinity: evn_shared_owner\(\): element 99 of 99\n$")


class Paper(Case):
    """The paper's program, examples/zones.c."""

    def test_zones(self):
        """gcc, clang and a plain compiler; the paper's list of units and five others."""
        source = os.path.join(SOURCE, "examples", "zones.c")
        kernels = built("stencil_kernels.c")
        lines = 0
        for name in "zones.c", "stencil.h", "stencil.kernel.c":
            with open(os.path.join(SOURCE, "examples", name)) as file:
                lines += len(file.readlines())
        self.assertLessEqual(lines, 110)
        plain = os.path.join(self.folder, "plain")
        self.fine(run([COMPILERS[0], "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror", "-I", INCLUDE, source, "-o", plain]))
        expected = self.fine(run([plain])).stdout
        self.assertRegex(expected, r"\A\d+\.\d+\n\Z")
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp-simd", "-ffp-contract=off", "-DEVN_CONTRACT=0",
                              "-Wno-overlength-strings", "-Wno-unused", "-I", os.path.join(SOURCE, "examples"), source, kernels, "-o", plain))
            for units in "", "1:CPU:1", "3:CPU:2", "1:GPU:1", "2:GPU:1", "1:CPU:2,1:GPU:2":
                done = self.fine(run(["timeout", "60", plain], env={"EVENER_UNITS": units}))
                self.assertEqual(done.stdout, expected, (compiler, units))
                if units == "":
                    self.assertRegex(done.stderr, r"\A6 units, [1-9]\d* bytes exchanged")
            # a zone with little beside it, and the largest zone alone, whose two fields move to where both have room
            for devices in "emulated:3,memory=64KiB", "emulated:3,memory=29KiB":
                for units in "1:GPU:1", "1:CPU:2,1:GPU:2":
                    done = self.fine(run(["timeout", "60", plain], env={"EVENER_UNITS": units, "EVENER_DEVICES": devices}))
                    self.assertEqual(done.stdout, expected, (compiler, units, devices))


class First(Case):
    """The program of README's first lines, examples/first.c."""

    def test_first(self):
        """A plain compiler's number under each schedule and on other units, and the line that README shows."""
        source = os.path.join(SOURCE, "examples", "first.c")
        program = os.path.join(self.folder, "first")
        self.fine(run([COMPILERS[0], "-O2", "-Wno-unknown-pragmas", "-I", INCLUDE, source, "-o", program, "-lm"]))
        expected = self.fine(run([program])).stdout
        for compiler in COMPILERS:
            self.fine(self.cc(compiler, "-O2", source, "-o", program, "-lm"))
            for units, schedule in ("", ""), ("", "static"), ("3:CPU:1", "dynamic"):
                done = self.fine(run(["timeout", "60", program], env={"EVENER_UNITS": units, "EVENER_SCHEDULE": schedule, "EVENER_REPORT": "1"}))
                self.assertEqual(done.stdout, expected, (compiler, units, schedule))
                self.assertRegex(done.stderr, r"first\.c:\d+: 200 instances, [0-9.]+ s; units .*, imbalance [0-9.]+; \d+ migrations, 0 bytes moved")


class Idioms(Case):
    """docs/from-openmp.md: what it shows stands in its programs, and each prints on units what the original prints with OpenMP."""
    FOLDER = os.path.join(SOURCE, "examples", "idioms")

    def pair(self, name, original, command, variable):
        """The original's output, and the program on units."""
        source, before, after = os.path.join(self.FOLDER, name), os.path.join(self.folder, "before"), os.path.join(self.folder, "after")
        self.fine(run([*original, "-O2", "-fopenmp", "-DBEFORE", source, "-o", before]))
        self.fine(run([*command, "-O2", *original[1:], source, "-o", after], env=variable))
        return before, after

    def test_page(self):
        with open(os.path.join(SOURCE, "docs", "from-openmp.md")) as file:
            rows = re.findall(r"^\| [^|]+ \| (.+) \| (.+) \| \[.+\]\(../examples/idioms/(\S+)\) \|$", file.read(), re.M)
        self.assertEqual({row[2] for row in rows}, set(os.listdir(self.FOLDER)))
        for before, after, name in rows:
            with open(os.path.join(self.FOLDER, name)) as file:
                text = re.sub(r"\s", "", file.read())
            for shown in re.findall(r"`([^`]+)`", before) + re.findall(r"`([^`]+)`", after):
                self.assertIn(re.sub(r"\s", "", shown), text, name)

    def test_programs(self):
        """Each by the compiler whose turn it is; in the full set by all."""
        c = [([compiler], [common.COMMAND], {"EVENER_CC": compiler}) for compiler in COMPILERS]
        cxx = [([compiler], [built("evener-c++")], {"EVENER_CXX": compiler}) for compiler in ("g++", "clang++") if shutil.which(compiler)]
        fortran = [(["gfortran", "-cpp"], [built("evener-fc")], {})]
        for turn, name in enumerate(sorted(os.listdir(self.FOLDER))):
            ways = cxx if name.endswith(".cpp") else fortran if name.endswith(".f90") else c
            for way in ways if LONG else [ways[turn % len(ways)]]:
                if name == "mpi.c" or not shutil.which(way[0][0]):
                    continue
                with self.subTest(name=name, compiler=way[0][0]):
                    before, after = self.pair(name, *way)
                    expected = self.fine(run([before], env={"OMP_NUM_THREADS": "3"})).stdout
                    for units, ranks in ("", "auto"), ("3:CPU:1", "alone"), ("1:CPU:2,1:GPU:1", "processes:2"):
                        self.assertEqual(self.fine(run([after], env={"EVENER_UNITS": units, "RANKS": ranks})).stdout, expected, units)

    @unittest.skipUnless(LONG, "in cc-whole-long")
    def test_over_mpi(self):
        for kind in "openmpi", "mpich":
            if not programs.mpirun(kind) or not shutil.which(f"mpicc.{kind}"):
                continue
            for program in self.pair("mpi.c", [f"mpicc.{kind}", "-w"], [common.COMMAND], {"EVENER_CC": f"mpicc.{kind}"}):
                done = programs.ended([*programs.mpirun(kind), "-np", "2", program], EVENER_UNITS="2:CPU:1", EVENER_OVERSUBSCRIBE="1", OMP_NUM_THREADS="2")
                self.assertEqual((done.returncode, done.stdout), (0, "124640\n"), done.stderr)


class RealCode(Case):
    """BT-MZ with directives, suite/bench/cu_btmz.c."""

    def hash_of_command(self, class_, units):
        done = self.fine(run(["timeout", "120", built("evener"), "run", "bt-mz", "--class", class_, "--units", units or "auto",
                              "--schedule", "static", "--oversubscribe", "--quiet", "--json", "-"]))
        return re.search(r'"hash":\s*"(\w+)"', done.stdout).group(1)

    def test_bt_mz(self):
        """Verified, and the bits of `evener run bt-mz`, on devices too."""
        for units in "1:CPU:1", "3:CPU:2", "1:CPU:1,1:GPU:1", "1:GPU:2":
            # static as the command's, since devices round otherwise than cores: the same zones on each
            done = self.fine(run(["timeout", "120", built("bench-cu-btmz"), "S"],
                                 env={"EVENER_UNITS": units, "EVENER_SCHEDULE": "static"}))
            self.assertEqual(done.stdout, f"bt-mz class S on {units}: hash {self.hash_of_command('S', units)}, verified\n")

    @unittest.skipUnless(LONG, "long")
    def test_bt_mz_w(self):
        done = self.fine(run([built("bench-cu-btmz"), "W"], env={"EVENER_UNITS": "2:CPU:1"}))
        self.assertEqual(done.stdout, f"bt-mz class W on 2:CPU:1: hash {self.hash_of_command('W', '2:CPU:1')}, verified\n")
