#!/usr/bin/env python3
"""MPI's plug-ins under its launchers: what goes well (messages, misuse, the suite of wires) and what does not (a rank that is killed, one
that leaves, a message nobody receives; a missing, foreign, too old or wrong plug-in).

Run: ctest -R '^mpi-'. usage: test_mpi.py openmpi|mpich MPI_TRY PLUGINS [unittest's arguments]; PLUGINS: the folder of plug-ins. Ends with 77
and the reason where that MPI is not here. MPICH has two ranks at most: with more ranks than cores a barrier of it takes 9 ms."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import programs  # pylint: disable=wrong-import-position
from programs import clean, mpirun  # pylint: disable=wrong-import-position

KIND, TRY, PLUGINS = sys.argv[1:4]
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}[KIND]
NAME = {"openmpi": "Open MPI ", "mpich": "MPICH "}[KIND]
SIGN = {"openmpi": "OMPI_COMM_WORLD_RANK=", "mpich": "PMI_RANK="}[KIND]
RANKS = {"openmpi": (1, 2, 4), "mpich": (1, 2)}[KIND]
LONGEST = 3  # seconds from a death to the end, of a machine that has nothing else to do; a test allows for one that has


def plugin(kind):
    return os.path.join(PLUGINS, f"evener-wire-{kind}.so")


def run(ranks, *words, program=TRY, **env):
    return programs.run([*mpirun(KIND), "-n", ranks, program, *words], OMP_NUM_THREADS="1", **env)


class Good(unittest.TestCase):
    def check(self, what, ranks):
        crowded = ["--crowded"] if ranks > (os.cpu_count() or 1) else []
        status, out, err = run(ranks, *crowded, what)
        self.assertEqual(status, 0, f"{what}, {ranks} ranks: {out}{err}")
        return out

    def test_open(self):
        for ranks in RANKS:
            lines = sorted(self.check("open", ranks).split("\n"))
            lines = [line for line in lines if line]
            self.assertEqual(len(lines), ranks)
            for rank, line in enumerate(lines):
                self.assertTrue(line.startswith(f"rank {rank} of {ranks} on {NAME}"), line)
                self.assertRegex(line, r" \d+\.\d+[^ ]*$", "the version")

    @unittest.skipUnless(mpirun(OTHER), "one MPI alone is here")
    def test_within(self):
        """A launcher within the other MPI's, as of tools for workflows: the inner one counts, whatever the outer one has left."""
        inner = " ".join([*mpirun(KIND), "-n", "2", TRY, "open"])
        done = programs.ended([*mpirun(OTHER), "-n", "1", "sh", "-c", f"{inner}; exit $?"], stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = sorted(line for line in done.stdout.split("\n") if line)
        self.assertEqual([line[:18] for line in lines], [f"rank {r} of 2 on {NAME}"[:18] for r in (0, 1)], done.stdout)

    def test_random(self):
        for ranks in RANKS:
            self.check("random", ranks)

    def test_suite(self):
        for ranks in RANKS:
            self.check("suite", ranks)

    def test_misuse(self):
        self.check("misuse", 2)

    def test_truncated(self):
        out = self.check("truncated", 2)
        self.assertIn(NAME, out)
        self.assertIn("truncated", out)

    def test_third(self):
        self.check("third", 2)

    def test_mumps(self):
        out = self.check("mumps", 2)
        if "skipped" in out:
            self.skipTest(out)


class Death(unittest.TestCase):
    def check(self, what, expected):
        for ranks in RANKS[1:]:
            begin = time.monotonic()
            status, out, err = run(ranks, what)
            self.assertIn(status, expected, f"{what}, {ranks} ranks: {out}{err}")
            self.assertLess(time.monotonic() - begin, 10 * LONGEST, what)
            self.assertNotIn("mpi_try.c", err)

    def test_killed(self):
        # 6: MPICH's transport aborts a rank that was just reading from the one that is gone
        self.check("killed", [137] if KIND == "openmpi" else [9, 137, 6, 134])

    def test_left(self):
        """With status 0 and without a word: the run's status is 3 nevertheless."""
        self.check("left", [3])

    def test_left_with_status(self):
        self.check("refused", [2])

    def test_forked(self):
        """What a process of a rank does is its own business."""
        for ranks in RANKS[1:]:
            status, out, err = run(ranks, "forked")
            self.assertEqual(status, 0, out + err)

    def test_aborted(self):
        self.check("aborted", [5])

    def test_unreceived(self):
        self.check("unreceived", [3])


class Loading(unittest.TestCase):
    def check(self, says, *words, program=TRY, **env):
        status, out, err = run(2, *words, "open", program=program, **env)
        self.assertEqual(status, 2, out + err)
        self.assertEqual(out, "")
        for part in says:
            self.assertIn(part, err)
        return err

    def test_missing(self):
        """The message names all places, what has been detected, and what to do."""
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(f"{folder}/bin")
            alone = shutil.copy(TRY, f"{folder}/bin/try")
            name = f"evener-wire-{KIND}.so"
            self.check([f"{folder}/bin/lib/evener/{name}", f"{folder}/lib/evener/{name}", SIGN, "evener-wire-build",
                        "EVENER_WIRE", "--wire alone"], program=alone)
            self.check([f"no plug-in {folder}/{name}", SIGN], EVENER_WIRE=folder)
            self.check([f"no plug-in {folder}/none.so", "EVENER_WIRE says"], EVENER_WIRE=f"{folder}/none.so")
            self.check([f"no plug-in {folder}/none.so"], "--plugin", f"{folder}/none.so")
            self.check([f"no plug-in {folder}"], "--plugin", folder)
            os.makedirs(f"{folder}/lib/evener")
            shutil.copy(plugin(KIND), f"{folder}/lib/evener")
            status, out, err = run(1, "open", program=alone)
            self.assertEqual(status, 0, err)

    def test_said(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(plugin(KIND), f"{folder}/mine.so")
            for env, words in (({"EVENER_WIRE": copy}, []), ({"EVENER_WIRE": PLUGINS}, []), ({}, ["--plugin", copy])):
                status, out, err = run(2, *words, "open", **env)
                self.assertEqual(status, 0, err)
                self.assertEqual(out.count(f" of 2 on {NAME}"), 2)

    def test_foreign(self):
        with tempfile.TemporaryDirectory() as folder:
            text = f"{folder}/text.so"
            with open(text, "w") as f:
                f.write("no library\n")
            self.check([text, "cannot be opened"], "--plugin", text)
            pipe = f"{folder}/pipe.so"
            os.mkfifo(pipe)
            self.check([f"no plug-in {pipe}"], "--plugin", pipe)
            for source, says in (("int evener_other;", "has no evener_wire_v1"),
                                 ("unsigned evener_wire_v1[20] = {7};", "is of version 7 and version 5 is needed")):
                library = f"{folder}/foreign.so"
                subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
                self.check([library, says], "--plugin", library)
                self.check([library, says], EVENER_WIRE=library)
                os.remove(library)

    def test_wrong(self):
        """Another MPI's plug-in would make a group of one of each process."""
        if not os.path.exists(plugin(OTHER)):
            self.skipTest(f"no {plugin(OTHER)}")
        err = self.check(["different MPIs", "this is rank 0 of 1", "it is rank 1 of 2", "mpi:FILE"],
                         "--plugin", plugin(OTHER))
        self.assertIn({"openmpi": "MPICH ", "mpich": "Open MPI "}[KIND], err)

    def test_alone(self):
        """SLURM's variables, half of PMI's, or a PMI_FD that is closed or something else are no launcher."""
        for env in ({}, {"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}, {"PMI_RANK": "0"}, {"PMIX_RANK": ""},
                    {"OMPI_COMM_WORLD_RANK": "x"}, {"PMI_RANK": "0", "PMI_SIZE": "2", "PMI_FD": "199"},
                    {"PMI_RANK": "0", "PMI_SIZE": "2", "PMI_FD": "0"}, {"PMI_RANK": "0", "PMI_SIZE": "2", "PMI_FD": "x"}):
            done = subprocess.run([TRY, "open"], env=clean() | env, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no launcher has started this process", done.stderr)

    def test_child(self):
        """A program that a rank has started, without the launcher's descriptors, runs alone."""
        child = f"import subprocess, sys; sys.exit(subprocess.run([{TRY!r}, 'open']).returncode != 2)"
        if KIND != "mpich":
            self.skipTest("Open MPI's launcher hands on no descriptor")
        status, out, err = run(2, "-c", child, program=sys.executable)
        self.assertEqual(status, 0, out + err)
        self.assertEqual(err.count("no launcher has started this process"), 2, err)

    def test_any_pmix(self):
        """PMIx without Open MPI's variables: both plug-ins fit, the first one is named where there is none."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([TRY, "open"], env=clean() | {"PMIX_RANK": "3", "EVENER_WIRE": folder},
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("evener-wire-openmpi.so", done.stderr)
            self.assertIn("PMIX_RANK=3", done.stderr)


class Script(unittest.TestCase):
    """What a user of another MPI does: the folder of plug-ins has all that is needed to make one."""

    def build(self, folder, *words):
        return subprocess.run([f"{folder}/evener-wire-build", *words], capture_output=True, text=True, timeout=120)

    def test_made(self):
        mpicc = shutil.which(f"mpicc.{KIND}")
        if not mpicc:
            self.skipTest(f"no mpicc.{KIND}")
        with tempfile.TemporaryDirectory() as outer:
            folder = shutil.copytree(PLUGINS, f"{outer}/a folder", ignore=shutil.ignore_patterns("*.so"))
            name = f"evener-wire-{KIND}.so"
            self.assertEqual(self.build(folder, "--name", mpicc).stdout, f"{name}\n")
            for words in ([mpicc], [mpicc, f"{outer}/other.so"]):
                done = self.build(folder, *words)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            for file in (f"{folder}/{name}", f"{outer}/other.so"):
                status, out, err = run(2, "open", EVENER_WIRE=file)
                self.assertEqual(status, 0, err)
                self.assertIn(f"rank 1 of 2 on {NAME}", out)
            self.assertEqual(sorted(f for f in os.listdir(outer)), ["a folder", "other.so"])

    def test_refused(self):
        done = self.build(PLUGINS, "no-mpicc")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no no-mpicc", done.stderr)
        done = self.build(PLUGINS, "false")
        self.assertEqual(done.returncode, 2)
        self.assertIn("false does not compile", done.stderr)


if __name__ == "__main__":
    if not mpirun(KIND) or not os.path.exists(plugin(KIND)):
        print(f"skipped: {plugin(KIND)} was not made, or there is no mpirun.{KIND}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
