#!/usr/bin/env python3
"""--on-rank-loss: where a rank is killed the run goes on from its last state with the ranks left, or as many again, to the bits of
a run that never stopped; how often that is done, what is said, what is refused. Interrupts reach all ranks.

Run: ctest -R '^command-rank-loss$', or tests/command/test_rank_loss.py build/evener [test ..]
"""
import os
import re
import signal
import subprocess
import time

import base
from base import EVENER, children

LOST = r"evener: process \d of {} \(pid {}\) was ended by signal 9 \(Killed\); the run "
BODY = {"bt-mz": ["--class", "S", "--perturb", "--steps", "3000", "--every", "50"],
        "ft": ["--size", "32x16x16", "--steps", "2000", "--every", "20"],
        "mg": ["--size", "32", "--steps", "9000", "--every", "100"],
        "td-bem": ["--mesh", "sphere:2", "--steps", "960", "--every", "48"]}


class Base(base.Base):
    def setUp(self):
        super().setUp()
        self.environment["OMP_NUM_THREADS"] = "1"

    def start(self, *words):
        going = subprocess.Popen([EVENER, "run", words[0], "--units", "1:CPU:1", "--oversubscribe", "--quiet", *words[1:]], cwd=self.folder,
                                 env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.clear, going)
        return going

    @staticmethod
    def clear(going):
        going.kill()
        going.communicate()

    @staticmethod
    def ranks(going):
        return children(going.pid)

    def until(self, what):
        deadline = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), deadline, "it does not come to that")
            time.sleep(0.002)

    def lose(self, going, victim, earlier=()):
        """Kills one, once there is another state than the earlier ones, which were of other ranks; its number."""
        def is_kept():
            self.assertIsNone(going.poll(), "it is over")
            return os.path.exists(self.path("c")) and os.stat(self.path("c")).st_mtime_ns not in earlier
        self.until(is_kept)
        pid = self.ranks(going)[victim]
        os.kill(pid, signal.SIGKILL)
        return pid

    def whole(self, app):
        self.assertEqual(self.start(app, *without_every(BODY[app]), "--json", "whole.json").wait(timeout=120), 0)
        return self.load("whole.json")


def without_every(words):
    at = words.index("--every")
    return words[:at] + words[at + 2:]


class Loss(Base):
    def check(self, app, how, counts):
        """A kill for each of `counts` but the first, which is what the run begins with."""
        bits = self.whole(app)["hash"]
        going = self.start(app, *BODY[app], "--checkpoint", "c", "--json", "o.json", "--processes", str(counts[0]),
                           "--on-rank-loss", how)
        pids, seen = [], []
        for i, count in enumerate(counts[:-1]):
            self.until(lambda: len(set(self.ranks(going)) - set(pids)) == count)  # pylint: disable=cell-var-from-loop
            pids.append(self.lose(going, i % count, seen))
            seen.append(os.stat(self.path("c")).st_mtime_ns)
            self.until(lambda: pids[-1] not in self.ranks(going))
        errors = going.communicate(timeout=120)[1]
        self.assertEqual(going.returncode, 0, errors)
        lines = errors.splitlines()
        self.assertEqual(len(lines), len(pids), errors)
        for line, pid, before, after in zip(lines, pids, counts, counts[1:]):
            self.assertRegex(line, LOST.format(before, pid) + rf"goes on from its last state with {after} process(es)?$")
        record = self.load("o.json")
        self.assertEqual(record["hash"], bits)
        self.assertEqual(record["restarts"], len(pids))
        self.assertGreater(record["restarted_from"], 0)
        self.assertEqual(len(record["units"]), counts[-1])
        self.assertEqual(set(os.listdir(self.folder)), {"c", "o.json", "whole.json"})

    def test_fewer(self):
        self.check("bt-mz", "restart", [3, 2, 1])

    def test_same(self):
        self.check("bt-mz", "restart:same", [2, 2, 2])

    def test_tdbem(self):
        self.check("td-bem", "restart", [2, 1])

    def test_ft(self):
        self.check("ft", "restart", [3, 2, 1])

    def test_mg(self):
        self.check("mg", "restart:same", [2, 2])

    def test_bound(self):
        """Three times, and not more."""
        going = self.start("bt-mz", *BODY["bt-mz"][:-3], "100000000", "--every", "50", "--checkpoint", "c", "--processes", "2",
                           "--on-rank-loss", "restart:same")
        seen = []
        for _ in range(4):
            self.until(lambda: len(self.ranks(going)) == 2 and not set(self.ranks(going)) & set(seen))
            pids = self.ranks(going)
            os.kill(pids[1], signal.SIGKILL)
            seen += pids
        errors = going.communicate(timeout=60)[1]
        self.assertEqual(going.returncode, 3, errors)
        lines = errors.splitlines()
        self.assertEqual([("goes on" in line, "the run is over" in line) for line in lines], [(True, False)] * 3 + [(False, True)])

    def test_nothing_kept(self):
        """A state that was there before is another run's: it begins anew, here from what it was to begin with."""
        done = self.start("bt-mz", "--perturb", "--steps", "40", "--checkpoint", "first")
        self.assertEqual(done.wait(timeout=60), 0)
        done = self.start("lu-mz", "--steps", "5", "--checkpoint", "c")  # which would be refused
        self.assertEqual(done.wait(timeout=60), 0)
        bits = self.whole("bt-mz")["hash"]
        words = BODY["bt-mz"][:-1] + ["100000000"]
        going = self.start("bt-mz", *words, "--checkpoint", "c", "--restart", "first", "--json", "o.json", "--processes", "2",
                           "--on-rank-loss", "restart")
        self.until(lambda: len(self.ranks(going)) == 2)
        time.sleep(0.05)
        os.kill(self.ranks(going)[0], signal.SIGKILL)
        errors = going.communicate(timeout=120)[1]
        self.assertEqual(going.returncode, 0, errors)
        record = self.load("o.json")
        self.assertEqual((record["hash"], record["restarts"], record["restarted_from"]), (bits, 1, 40))

    def test_end(self):
        """By default the run ends; the record says nothing of restarts."""
        going = self.start("bt-mz", *BODY["bt-mz"], "--checkpoint", "c", "--processes", "2")
        self.lose(going, 0)
        errors = going.communicate(timeout=60)[1]
        self.assertEqual(going.returncode, 3)
        self.assertRegex(errors, r"the run is over; no memory left\?\n$")
        self.assertNotIn("restarts", self.whole("bt-mz"))

    def test_devices_of_nodes(self):
        """Of ranks that share a node's device one that leads it or not, of this node or of another: one line, and none is left."""
        for app, size, victim in ("ft", "32x16x16", 0), ("ft", "32x16x16", 1), ("ft", "32x16x16", 3), ("mg", "64", 0), ("mg", "64", 1), ("mg", "64", 2):
            with self.subTest(app=app, victim=victim):
                going = self.start(app, "--size", size, "--steps", "1000000", "--units", "1:GPU:1", "--devices", "emulated", "--processes", "4",
                                   "--per-node", "2", "--variant", "funneled")
                self.until(lambda: len(self.ranks(going)) == 4)  # pylint: disable=cell-var-from-loop
                pids = self.ranks(going)
                time.sleep(1.5)
                os.kill(pids[victim], signal.SIGKILL)
                errors = going.communicate(timeout=60)[1]
                self.assertEqual((going.returncode, errors.count("\n")), (3, 1), errors)
                self.assertRegex(errors, LOST.format(4, pids[victim]))
                self.assertFalse(any(os.path.exists(f"/proc/{pid}") for pid in pids))

    def test_interrupt(self):
        """An interrupt is no loss."""
        going = self.start("bt-mz", *BODY["bt-mz"][:-3], "100000000", "--every", "50", "--checkpoint", "c", "--processes", "2",
                           "--on-rank-loss", "restart")
        self.until(lambda: os.path.exists(self.path("c")))
        going.send_signal(signal.SIGTERM)
        errors = going.communicate(timeout=60)[1]
        self.assertEqual(going.returncode, 130, errors)
        self.assertRegex(errors, r"^evener: interrupted: .*go on with --restart c\n$")


class Refused(Base):
    def refuses(self, expected, *words, **more):
        self.environment.update(more)
        going = self.start("bt-mz", *words)
        errors = going.communicate(timeout=60)[1]
        self.assertEqual((going.returncode, errors.count("\n")), (2, 1), errors)
        self.assertRegex(errors, expected)

    def test_words(self):
        self.refuses("expected end, restart or restart:same", "--on-rank-loss", "again")
        for how in "restart", "restart:same":
            self.refuses(f"--on-rank-loss {how} also needs --checkpoint FILE", "--on-rank-loss", how, "--processes", "2")
            self.refuses("expected --processes N", "--on-rank-loss", how, "--checkpoint", "c")
        self.refuses("expected --processes N", "--on-rank-loss", "restart", "--checkpoint", "c", "--wire", "alone")
        self.refuses("expected restart=fewer or restart=same", "--wire", "processes:2,restart=more")

    def test_launcher(self):
        self.refuses("ends the run when a rank is lost", "--on-rank-loss", "restart", "--checkpoint", "c", "--processes", "2",
                     OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2")


class Hear(Base):
    def test_all(self):
        """Ranks that are at something long, one at the mesh and none at a step, all end at once."""
        going = self.start("td-bem", "--mesh", "sphere:6", "--processes", "3")
        self.until(lambda: len(self.ranks(going)) == 3)
        time.sleep(1)
        since = time.monotonic()
        going.send_signal(signal.SIGTERM)
        errors = going.communicate(timeout=60)[1]
        self.assertEqual(going.returncode, 130)
        self.assertTrue(re.fullmatch(r"evener: interrupted.*\n", errors), errors)
        self.assertLess(time.monotonic() - since, 9)  # ten seconds later they would have been killed
