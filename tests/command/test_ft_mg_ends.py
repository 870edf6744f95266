#!/usr/bin/env python3
"""FT and MG with devices that are ended from outside, at any moment: interrupts, a rank that is killed, a disk that fills up under states,
too little memory. One line and the right status, nobody is left, and what was kept goes on to the bits of one core.

Run: ctest -R command-ft-mg-ends, or tests/command/test_ft_mg_ends.py build/evener [test ..]; EVENER_KILLS=50 ends so many runs each way
instead of two.
"""
import os
import random
import re
import resource
import signal
import subprocess
import time
import unittest

from base import EVENER, Base, children

ENDS = int(os.environ.get("EVENER_KILLS", "2"))
PATIENCE = 60  # s from a death to the end, on a machine that has other things to do
LONG = {"ft": ["--size", "32x16x16"], "mg": ["--size", "32"]}
HYBRID = ["--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--oversubscribe"]
ALONE = ["--units", "1:CPU:1"]


class Ends(Base):
    def setUp(self):
        super().setUp()
        self.state = self.path("c")
        self.dice = random.Random(time.time_ns())

    def start(self, app, *words):
        return subprocess.Popen([EVENER, "run", app, *LONG[app], *HYBRID, "--quiet", "--json", "-", *words], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def record(self, app, *words):
        return super().record("run", app, *LONG[app], *words)

    def ends(self, run, statuses, says):
        out, errors = run.communicate(timeout=PATIENCE)
        self.assertIn(run.returncode, statuses, errors)
        self.assertEqual((out, errors.count("\n")), ("", 1), errors)
        self.assertRegex(errors, says)
        return errors

    def goes_on(self, app, step):
        """From the state that is there, on a core, as a run that never stopped."""
        whole = self.record(app, *ALONE, "--steps", str(step + 2))
        r = self.record(app, *ALONE, "--steps", str(step + 2), "--restart", self.state)
        self.assertEqual(r["restarted_from"], step)
        if "-ffp-contract=off" in r["build"]["flags"]:
            self.assertEqual([r.get(k) for k in ("hash", "norm", "checksums")], [whole.get(k) for k in ("hash", "norm", "checksums")])
        if app == "mg":  # after many steps the residual is rounding
            self.assertLess(abs(r["norm"] - whole["norm"]), 1e-10)

    def until(self, there, run):
        end = time.monotonic() + PATIENCE
        while not there():
            self.assertLess(time.monotonic(), end, "it has not begun")
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        time.sleep(0.2 * self.dice.random())

    def test_interrupt(self):
        for app in LONG:
            for more in ((), ("--processes", "2"), ("--schedule", "interval", "--slow", "0:20@5")):
                for _ in range(ENDS):
                    with self.subTest(app=app, more=more):
                        run = self.start(app, "--steps", "1000000", "--checkpoint", self.state, "--every", "3", *more)
                        self.until(lambda: os.path.exists(self.state), run)
                        run.send_signal(self.dice.choice((signal.SIGINT, signal.SIGTERM)))
                        said = self.ends(run, (130,), "evener: interrupted: stopped after step [0-9]+ of 1000000; go on with --restart")
                        self.goes_on(app, int(re.search(r"step (\d+)", said).group(1)))
                        self.assertEqual(os.listdir(self.folder), ["c"])
                        os.unlink(self.state)

    def test_interrupted_at_once(self):
        """In the middle of the start, too: compiling, first copies."""
        for app in LONG:
            for wait in [0.3 * self.dice.random() for _ in range(2 * ENDS)]:
                run = self.start(app, "--steps", "1000000", "--processes", "2")
                time.sleep(0.05 + wait)
                run.send_signal(signal.SIGINT)
                out, errors = run.communicate(timeout=PATIENCE)
                self.assertIn(run.returncode, (130, -signal.SIGINT), (wait, errors))
                self.assertEqual(out, "")
                self.assertLessEqual(errors.count("\n"), 1, errors)

    def test_killed_rank(self):
        for app in LONG:
            for _ in range(ENDS):
                run = self.start(app, "--steps", "1000000", "--processes", "3", "--checkpoint", self.state, "--every", "3")
                self.until(lambda: os.path.exists(self.state), run)
                ranks = children(run.pid)
                os.kill(self.dice.choice(ranks), signal.SIGKILL)
                self.ends(run, (3,), "process [0-2] of 3 .* was ended by signal 9")
                for pid in ranks:
                    self.assertFalse(os.path.exists(f"/proc/{pid}"))
                with open(self.state, "rb") as f:
                    step = int.from_bytes(f.read()[56:64], "little")  # suite/apps/common/checkpoint/state_file.h
                self.assertEqual(step % 3, 0)
                self.goes_on(app, step)
                os.unlink(self.state)

    def test_full_disk(self):
        if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("needs a small file system of its own")
        for more in ((), ("--processes", "2")):
            words = " ".join([EVENER, "run", "mg", "--size", "32", *HYBRID, "--quiet", "--checkpoint", "small/c", "--every", "1", *more])
            done = subprocess.run(["unshare", "-m", "sh", "-c",
                                   f"mkdir small; mount -t tmpfs -o size=200k none small && {words} --steps 10; a=$?; ls -A small; umount small;"
                                   f"mount -t tmpfs -o size=700k none small && {words} --steps 3; b=$?; cp small/c .;"
                                   f"head -c 300k /dev/zero > small/full; {words} --steps 9 --restart small/c; c=$?;"
                                   f"cmp c small/c; rm small/c; ls -A small; umount small; rmdir small; echo $a $b $c"],
                                  capture_output=True, text=True, timeout=120, cwd=self.folder)
            self.assertEqual(done.stdout.split()[-3:-2] + done.stdout.split()[-2:-1], ["2", "0"], done.stdout + done.stderr)
            self.assertIn(done.stdout.split()[-1], ("2", "3"), done.stdout + done.stderr)
            self.assertEqual(done.stdout.split()[:-3], ["full"], done.stdout)
            self.assertEqual((done.stderr.count("\n"), done.stderr.count("No space left")), (2, 2), done.stderr)
            self.goes_on("mg", 3)
            os.unlink(self.state)

    def test_little_memory(self):
        """Of addresses: what a run needs is there, or it says what it has not got."""
        for app in LONG:
            for size in (40, 60, 80, 120, 200, 400, 800):
                for more in ((), ("--processes", "2")):
                    with self.subTest(app=app, size=size, more=more):
                        words = ["timeout", "60", EVENER, "run", app, "--class", "W", *HYBRID, "--quiet", *more]
                        done = subprocess.run(words, capture_output=True, text=True,
                                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20)))
                        self.assertIn(done.returncode, (0, 2, 3), done.stderr)
                        self.assertEqual((done.stdout, sum(map(bool, done.stderr.splitlines()))), ("", int(done.returncode > 0)), done.stderr)


if __name__ == "__main__":
    unittest.main()
