#!/usr/bin/env python3
"""Forked ranks and their supervisor: whoever is killed, at whatever moment, the run ends, with one
message and status 3 where there is somebody to say it, and nothing is left behind. Interrupts.

Run: ctest -R wire-death, or tests/wire/test_death.py build/tests/test-endless [test ..]
"""
import os
import pty
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import Case, children, is_there  # pylint: disable=wrong-import-position

ENDLESS = "build/tests/test-endless"
# s that a run may take to end, on a machine that has other things to do; who is at fault goes on for ever
LIMIT = 30


def shared_names():
    return {name for name in os.listdir("/dev/shm") if "evener" in name}


class Base(Case):
    def setUp(self):
        super().setUp()
        self.names = shared_names()

    def start(self, ranks, word, *more):
        run = subprocess.Popen([ENDLESS, str(ranks), word, *map(str, more)], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                               env=dict(os.environ, TMPDIR=self.folder), start_new_session=True)
        self.addCleanup(self.clear, run)
        return run

    @staticmethod
    def clear(run):
        if run.poll() is None:
            run.kill()
        run.communicate()

    def wait_for_ranks(self, run, ranks):
        """All have opened the cluster: each has printed its number."""
        seen = ""
        while len(seen) < ranks:
            seen += os.read(run.stdout.fileno(), 100).decode()
        self.assertEqual(sorted(seen), [str(i) for i in range(ranks)])

    def end(self, run, pids):
        """Status and standard error; and nothing is left."""
        begin = time.monotonic()
        try:
            _, said = run.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.fail(f"still there after {LIMIT} s")
        while any(is_there(pid) for pid in pids):
            self.assertLess(time.monotonic() - begin, LIMIT, "a process is left")
            time.sleep(0.01)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertLessEqual(shared_names(), self.names)
        return run.returncode, said


class Death(Base):
    def test_a_rank(self):
        for i in range(25):
            ranks = 2 + i % 4
            run = self.start(ranks, "work")
            if i % 2:
                self.wait_for_ranks(run, ranks)
            pids = []
            while not pids:
                time.sleep(random.random() * 0.02)
                pids = children(run.pid)
            victim = random.choice(pids)
            os.kill(victim, signal.SIGKILL)
            status, said = self.end(run, pids)
            self.assertEqual(status, 3, said)
            self.assertRegex(said, rf"^evener: process \d of {ranks} \(pid {victim}\) was ended by "
                                   r"signal 9 \(Killed\); the run is over; no memory left\?\n$")

    def test_the_supervisor(self):
        for i in range(15):
            run = self.start(3, "work")
            if i % 2:
                self.wait_for_ranks(run, 3)
            time.sleep(random.random() * 0.02)
            pids = children(run.pid)
            run.kill()
            # those that it has made since: they see that their parent is another one
            pids += [pid for pid in children(run.pid) if pid not in pids]
            self.assertEqual(self.end(run, pids), (-9, ""))

    def test_a_fault(self):
        """Whether the others wait for that rank or are busy with something else."""
        for word in "fault", "busy":
            run = self.start(3, word, 2)
            status, said = self.end(run, [])
            self.assertEqual(status, 3)
            self.assertRegex(said, r"^evener: process 2 of 3 \(pid \d+\) was ended by signal 11 "
                                   r"\(Segmentation fault\); the run is over\n$")

    def test_cannot_agree(self):
        run = self.start(4, "broken", 1)
        status, said = self.end(run, [])
        self.assertEqual(status, 3)
        self.assertRegex(said, r"^evener: rank 1 on \S+: channel: no room\n$")


class Status(Base):
    def test_returned(self):
        for ranks, chosen, status in (1, 0, 0), (3, 0, 0), (3, 0, 1), (3, 0, 130), (3, 2, 3):
            run = self.start(ranks, "return", chosen, status)
            self.assertEqual(self.end(run, []), (status, ""))

    def test_leaves_alone(self):
        """The others wait for it; it said itself why, or somebody must."""
        for status in 0, 2:
            run = self.start(3, "leave", 1, status)
            got, said = self.end(run, [])
            self.assertEqual(got, status or 3)
            self.assertRegex(said, rf"process 1 of 3 \(pid \d+\) ended with status {status} before "
                                   r"the run was over\n$")

    def test_all_leave(self):
        """As with a wrong option: each has seen it, and one has said it."""
        run = self.start(3, "every", -1, 2)
        got, said = self.end(run, [])
        self.assertEqual(got, 2)
        self.assertNotIn("before the run was over", said)


class Interrupt(Base):
    def test_orderly(self):
        """Whoever is told, all leave after the same agreement."""
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            run = self.start(3, "work")
            self.wait_for_ranks(run, 3)
            pids = children(run.pid)
            time.sleep(random.random() * 0.02)
            run.send_signal(number)
            self.assertEqual(self.end(run, pids), (130, ""))

    def test_a_rank_alone(self):
        run = self.start(3, "work")
        self.wait_for_ranks(run, 3)
        pids = children(run.pid)
        os.kill(pids[-1], signal.SIGTERM)
        self.assertEqual(self.end(run, pids), (130, ""))

    def test_group(self):
        """As a terminal does; and ranks that have no handlers."""
        for word in "work", "plain":
            run = self.start(3, word)
            self.wait_for_ranks(run, 3)
            pids = children(run.pid)
            os.killpg(run.pid, signal.SIGINT)
            self.assertEqual(self.end(run, pids), (130, ""))

    def test_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(ENDLESS, [ENDLESS, "2", "work"])
        seen = b""
        while sum(seen.count(c) for c in b"01") < 2:
            seen += os.read(terminal, 100)
        os.write(terminal, b"\x03")
        begin = time.monotonic()
        done = (0, 0)
        while done[0] == 0 and time.monotonic() < begin + LIMIT:
            done = os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)
        self.assertEqual(os.waitstatus_to_exitcode(done[1]), 130)
        os.close(terminal)

    def test_twice(self):
        """Who asks twice does not want to wait for the ten seconds."""
        run = self.start(2, "deaf")
        self.wait_for_ranks(run, 2)
        pids = children(run.pid)
        run.send_signal(signal.SIGTERM)
        time.sleep(0.3)  # within 0.2 s it would be the same one
        self.assertIsNone(run.poll())
        while run.poll() is None:  # it may have had no time to hear the first of them by itself
            run.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        status, said = self.end(run, pids)
        self.assertEqual(status, 130)
        self.assertRegex(said, "^evener: interrupted again; [^\\n]*\\n$")

    def test_hangs(self):
        run = self.start(2, "deaf")
        self.wait_for_ranks(run, 2)
        pids = children(run.pid)
        run.send_signal(signal.SIGTERM)
        status, said = self.end(run, pids)
        self.assertEqual(status, 130)
        self.assertRegex(said, r"2 of 2 processes did not end within \d\d s of the interrupt")

    def test_waits_for_nobody(self):
        """What a rank waits for does not come: it gives up after two seconds."""
        run = self.start(2, "hang", 1)
        self.wait_for_ranks(run, 2)
        pids = children(run.pid)
        time.sleep(0.2)
        os.killpg(run.pid, signal.SIGTERM)
        status, said = self.end(run, pids)
        self.assertEqual(status, 130)
        self.assertNotIn("did not end", said)

    def test_ignored(self):
        """nohup: what is ignored stays so."""
        run = subprocess.Popen(["nohup", ENDLESS, "2", "work"], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(self.clear, run)
        self.wait_for_ranks(run, 2)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(LIMIT), 130)


class Limits(Base):
    def test_small_limits(self):
        """Files and address space that are limited; a file beyond its limit would be a signal."""
        for limit in "ulimit -f 1000", "ulimit -v 300000":
            done = subprocess.run(["sh", "-c", f"{limit}; exec {os.path.abspath(ENDLESS)} 2 return"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), limit)
        done = subprocess.run(["sh", "-c", f"ulimit -f 1; exec {os.path.abspath(ENDLESS)} 2 return"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, "^evener: arena: no memory to share: .*ulimit -f\n$")

    def test_no_more_processes(self):
        """The limit does not hold for root."""
        if os.geteuid() == 0:
            self.skipTest("as root")
        done = subprocess.run(["sh", "-c", f"ulimit -u 1; exec {os.path.abspath(ENDLESS)} 2 return"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be made", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ENDLESS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
