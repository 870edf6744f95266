#!/usr/bin/env python3
"""One-sided memory of ranks under MPI's launchers and of forked ones: all cases, within the node and as if each rank had its own, and over
TCP; a rank that dies, an interrupt, memory that /dev/shm does not have. /dev/shm is one of the test's own where a folder may be mounted.

Run: ctest -R '^shared-'. usage: test_shared_ranks.py processes|openmpi|mpich SHARED_TRY PLUGINS [unittest's arguments]; ends with 77 and the reason
where that MPI is not here. MPICH has two ranks at most: with more ranks than cores each step of it takes 10 ms. EVENER_SHARED=all repeats: 5
times all cases, also with 4 ranks over TCP."""

import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import programs  # pylint: disable=wrong-import-position
from programs import clean  # pylint: disable=wrong-import-position

KIND, TRY, PLUGINS = sys.argv[1:4]
LAUNCHER = [] if KIND == "processes" else programs.mpirun(KIND)
LONG = os.environ.get("EVENER_SHARED") == "all"


def run(ranks, *words, options=(), shm=None):
    """`shm`: /dev/shm is a folder of so many MiB of its own, and what is left there is printed."""
    env = clean(EVENER_WIRE=PLUGINS)
    if shm:  # in which Open MPI's files are, too
        env = {name: value for name, value in env.items() if not name.endswith("_backing_directory")}
    how = f"processes:{ranks}" if KIND == "processes" else "auto"
    command = [*LAUNCHER, *options, *(() if KIND == "processes" else ("-n", str(ranks))), TRY, how, *words]
    if shm:
        command = [*own_mounts(), "sh", "-c", f'mount -t tmpfs -o size={shm}m tmpfs /dev/shm && {{ "$@"; s=$?; ls /dev/shm | sed "s/^/left: /"; exit $s; }}',
                   "sh", *command]
    return programs.run(command, env=env)


def own_mounts():
    """What gives a command mounts of its own; None: it may not have them."""
    for words in (["unshare", "-m"], ["unshare", "-rm"]):
        if shutil.which("unshare") and not subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True).returncode:
            return words
    return None


class Shared(unittest.TestCase):
    def check(self, ranks, *words, **how):
        status, out, err = run(ranks, *words, **how)
        self.assertEqual(status, 0, f"{words}, {ranks} ranks: {out}{err}")

    def test_all(self):
        if KIND == "processes":
            self.skipTest("test_shared.c has them")
        for _ in range(5 if LONG else 1):
            for ranks in (1, 2, 4) if KIND == "openmpi" else (1, 2):
                self.check(ranks, "all")

    def test_tcp(self):
        """No network that writes to memory by itself: what hangs over it is not taken."""
        if KIND != "openmpi":
            self.skipTest("there is one way within a node")
        for what in ("everybody", "ring", "reductions", "deaf", "threads"):
            self.check(2, what, "1", options=("--mca", "btl", "tcp,self"))
        for _ in range(5 if LONG else 0):
            self.check(4, "all", options=("--mca", "btl", "tcp,self"))

    def test_stopped(self):
        for per_node in "01":
            self.check(2, "stopped", per_node)
            self.check(2, "stopped-lock", per_node)

    def test_dying(self):
        """All end, at most the launcher says so, and nothing is left in /dev/shm."""
        for what, per_node in ("dying", "0"), ("dying", "1"), ("dying-lock", "0"), ("dying-lock", "1"):
            begin = time.monotonic()
            status, out, err = run(2, what, per_node, shm=256 if own_mounts() else None)
            self.assertLess(time.monotonic() - begin, 30)
            if KIND == "processes":
                self.assertEqual(status, 3, out + err)
                self.assertRegex(err, r"^evener: process 1 of 2 [^\n]*signal 9[^\n]*\n$")
                self.assertEqual(out, "")
                continue
            self.assertIn(status, (9, 137, 6, 134), out + err)  # 6: its transport aborts the other rank
            self.assertNotRegex(err, r"(?m)^evener")
            self.assertNotIn("shared_try.c", err)
            # of one-sided memory nothing is left; Open MPI leaves segments of its own messages
            self.assertEqual([line for line in out.splitlines() if line.startswith("left: ") and not line.startswith("left: vader_segment")], [])

    def test_no_room(self):
        """More than there is in /dev/shm: said by all ranks together, before it is written. Less is there, and forked ranks do without."""
        if not own_mounts():
            self.skipTest("nothing may be mounted")
        for mib in (20, 100):
            status, out, err = run(2, "large", str(mib), shm=64)
            if mib == 20 or KIND == "processes":
                self.assertEqual((status, out, err), (0, "", ""))
                continue
            self.assertEqual((status, out), (2, ""), err)
            self.assertRegex(err, r"2 ranks of this node share 201 MiB in /dev/shm, which has \d+ MiB left; make it larger")
            self.assertEqual(err.count("evener:"), 1)


if __name__ == "__main__":
    if KIND != "processes" and not (LAUNCHER and os.path.exists(os.path.join(PLUGINS, f"evener-wire-{KIND}.so"))):
        print(f"skipped: evener-wire-{KIND}.so was not made, or there is no mpirun.{KIND}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
