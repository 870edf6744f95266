#!/usr/bin/env python3
"""One-sided memory under MPI's launchers: all cases, within the node and as if each rank had its own, and over TCP; a rank that dies,
an interrupt, memory that /dev/shm does not have.

Run: ctest -R '^shared-'. usage: test_shared_mpi.py openmpi|mpich SHARED_TRY PLUGINS [unittest's arguments]; ends with 77 and the reason where
that MPI is not here. MPICH has two ranks at most: with more ranks than cores each step of it takes 10 ms. EVENER_SHARED=all repeats: 5 times
all cases, also with 4 ranks over TCP."""

import os
import shutil
import subprocess
import sys
import time
import unittest

KIND, TRY, PLUGINS = sys.argv[1:4]
LONG = os.environ.get("EVENER_SHARED") == "all"


def launcher():
    found = shutil.which(f"mpirun.{KIND}")
    if not found:
        return None
    # more ranks than cores, and no boxes of text
    return [found, "-q", "--oversubscribe"] if KIND == "openmpi" else [found]


def run(ranks, *words, options=()):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_"))}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", EVENER_WIRE=PLUGINS)
    # a container's /dev/shm may be too small for it
    shm = os.statvfs("/dev/shm") if os.path.isdir("/dev/shm") else None
    if not shm or shm.f_blocks * shm.f_frsize < 256 << 20:
        env.update(OMPI_MCA_btl_vader_backing_directory="/tmp", OMPI_MCA_osc_sm_backing_directory="/tmp")
    done = subprocess.run([*launcher(), *options, "-n", str(ranks), TRY, *words],
                          env=env, capture_output=True, text=True, timeout=180)
    return done.returncode, done.stdout, done.stderr


class Shared(unittest.TestCase):
    def check(self, ranks, *words, **how):
        status, out, err = run(ranks, *words, **how)
        self.assertEqual(status, 0, f"{words}, {ranks} ranks: {out}{err}")

    def test_all(self):
        for _ in range(5 if LONG else 1):
            for ranks in (1, 2, 4) if KIND == "openmpi" else (1, 2):
                self.check(ranks, "all")

    def test_tcp(self):
        """No network that writes to memory by itself: what hangs over it is not taken."""
        if KIND != "openmpi":
            self.skipTest("MPICH has one way within a node")
        for what in ("everybody", "ring", "reductions", "deaf", "threads"):
            self.check(2, what, "1", options=("--mca", "btl", "tcp,self"))
        for _ in range(5 if LONG else 0):
            self.check(4, "all", options=("--mca", "btl", "tcp,self"))

    def test_stopped(self):
        self.check(2, "stopped")

    def test_dying(self):
        before = set(os.listdir("/dev/shm"))
        begin = time.monotonic()
        status, out, err = run(2, "dying")
        self.assertIn(status, (9, 137), out + err)
        self.assertLess(time.monotonic() - begin, 30)
        # of one-sided memory nothing is left; Open MPI leaves segments of its own messages
        left = [name for name in set(os.listdir("/dev/shm")) - before if "osc" in name or "win" in name]
        self.assertEqual(left, [])

    def test_no_room(self):
        """More than there is in /dev/shm: said by all ranks together, before it is written."""
        shm = os.statvfs("/dev/shm")
        mib = shm.f_bavail * shm.f_frsize >> 20
        if mib > 4 << 20:
            self.skipTest("/dev/shm is too large")
        status, out, err = run(2, "large", str(mib // 2 + 100))
        self.assertEqual((status, out), (2, ""), err)
        self.assertRegex(err, r"2 ranks of this node share \d+ MiB in \S+, which has \d+ MiB left; make it larger")
        self.assertEqual(err.count("evener:"), 1)


if __name__ == "__main__":
    if not launcher() or not os.path.exists(os.path.join(PLUGINS, f"evener-wire-{KIND}.so")):
        print(f"skipped: evener-wire-{KIND}.so was not made, or there is no mpirun.{KIND}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
