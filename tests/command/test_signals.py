#!/usr/bin/env python3
"""Signals: status 130 soon, and nothing is left in the output's folder nor in the temporary one; a run that keeps its state keeps
the last whole one; children end too. Random moments of every command are tests/attack/signals.py's.

Run: ctest -R command-signals, or tests/command/test_signals.py build/evener [test ..]
"""
import os
import signal
import subprocess
import time

import base
from base import EVENER, is_there, wait_for_main

SOON = 20  # s; two of them are the promise, and other tests run
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# takes more than a second
LONG = ["run", "sp-mz", "--class", "A", "--units", "2:CPU:1", "--oversubscribe", "--json", "OUT/r", "--trace", "OUT/t"]


class Base(base.Base):
    def setUp(self):
        super().setUp()
        for name in ("out", "tmp", "home"):
            os.mkdir(self.path(name))

    def start(self, words, **options):
        words = [word.replace("OUT", self.path("out")) for word in words]
        environment = dict(os.environ, TMPDIR=self.path("tmp"), HOME=self.path("home"))
        environment.pop("EVENER_CALIBRATION", None)
        run = subprocess.Popen([EVENER, *words], env=environment, text=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, **options)
        wait_for_main(run)
        return run

    def left(self):
        return [os.path.join(place, name) for place in ("out", "tmp") for name in os.listdir(self.path(place))]

    def ends(self, run, number, statuses=(130,)):
        """Sends the signal; the messages."""
        run.send_signal(number)
        sent = time.monotonic()
        try:
            errors = run.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            self.fail(f"{run.args} goes on after {number!r}")
        took = time.monotonic() - sent
        self.assertIn(run.returncode, statuses, (run.args, number, errors))
        self.assertLess(took, SOON, (run.args, number))
        return errors


class Ways(Base):
    def test_earlier_files_stay(self):
        with open(self.path("out/r"), "w") as file:
            file.write("earlier")
        run = self.start(LONG)
        time.sleep(0.5)
        self.ends(run, signal.SIGTERM)
        self.assertEqual(self.read("out/r"), "earlier")
        self.assertEqual(self.left(), ["out/r"])

    def test_ignored_stays_ignored(self):
        """nohup: a signal that was ignored when the command began does not end it."""
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        run = self.start(LONG, preexec_fn=ignore)
        time.sleep(0.3)
        for number in (signal.SIGHUP, signal.SIGINT):
            run.send_signal(number)
            time.sleep(0.1)
        self.assertIsNone(run.poll())
        self.ends(run, signal.SIGTERM)

    def test_nobody_reads(self):
        """A filter whose reader has gone ends as filters do, and leaves nothing."""
        run = subprocess.Popen([EVENER, "plan", "bt-mz", "--class", "C", "--units", "8:CPU:1", "--iterations",
                                "1000000"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, restore_signals=True)
        run.stdout.close()
        run.send_signal(signal.SIGTERM)
        self.assertIn(run.wait(timeout=60), (130, -signal.SIGTERM, -signal.SIGPIPE))

    def test_messages_that_nobody_takes(self):
        """Standard error is a pipe that is full: the end does not wait for a reader, and its absence is no
        other status."""
        for gone in (False, True):
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            try:
                while True:
                    os.write(writer, 65536 * b"x")
            except BlockingIOError:
                pass
            os.set_blocking(writer, True)
            run = subprocess.Popen([EVENER, "bench", "npbmz", "--class", "A"], stdout=subprocess.DEVNULL, stderr=writer)
            wait_for_main(run)
            time.sleep(0.5)
            if gone:
                os.close(reader)
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(timeout=60), 130)
            os.close(writer)
            if not gone:
                os.close(reader)


class States(Base):
    """Runs that keep their state."""

    def march(self, mesh, group, steps, *more):
        return ["run", "td-bem", "--mesh", mesh, "--ng", str(group), "--steps", str(steps), "--quiet", *more]

    def test_within_a_group(self):
        """One group of steps that takes long is given up, and the state before it kept."""
        state = self.path("out/state")
        words = self.march("sphere:3", 32, 64000, "--units", "1:CPU:1", "--checkpoint", state, "--every", "32")
        run = self.start(words)
        while not os.path.exists(state) and run.poll() is None:
            time.sleep(0.02)
        time.sleep(0.2)
        errors = self.ends(run, signal.SIGTERM)
        self.assertRegex(errors, r"^evener: interrupted: stopped after step \d+ of 64000; go on with --restart")
        self.assertEqual(self.left(), ["out/state"])

    def test_nothing_kept(self):
        """Before a group is whole there is no state to be kept, and an earlier file is left alone."""
        state = self.write("out/state", "somebody's")
        run = self.start(self.march("sphere:4", 32, 3200, "--checkpoint", state))
        time.sleep(0.3)
        errors = self.ends(run, signal.SIGHUP)
        if "go on with" not in errors:
            self.assertEqual(self.read("out/state"), "somebody's")
        self.assertEqual(self.left(), ["out/state"])

    def test_second_signal(self):
        """Who asks twice does not wait."""
        state = self.path("out/state")
        run = self.start(self.march("sphere:3", 32, 64000, "--checkpoint", state, "--every", "32"))
        while not os.path.exists(state) and run.poll() is None:
            time.sleep(0.02)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.3)  # within 0.2 s it would be the same one
        self.ends(run, signal.SIGTERM)
        self.assertEqual(self.left(), ["out/state"])


PROGRAM = """#!/bin/sh
sleep 600 &
echo $$ $! > "{file}.part"
mv "{file}.part" "{file}"
wait
"""


class Children(Base):
    def other_program(self, text):
        os.chmod(self.write("out/bt-mz.S.x", text), 0o755)

    def test_end_with_us(self):
        """The other program and its children, whichever way the command ends."""
        file = self.path("tmp/there")
        self.other_program(PROGRAM.format(file=file))
        for number in SIGNALS + [signal.SIGKILL]:
            run = self.start(["bench", "npbmz", "--apps", "bt-mz", "--class", "S", "--repeat", "1", "--against", "OUT"])
            while not os.path.exists(file) and run.poll() is None:
                time.sleep(0.02)
            children = self.read("tmp/there").split()
            os.remove(file)
            self.assertTrue(all(is_there(child) for child in children))
            self.ends(run, number, (-9,) if number == signal.SIGKILL else (130,))
            until = time.monotonic() + SOON
            while any(is_there(child) for child in children) and time.monotonic() < until:
                time.sleep(0.02)
            gone = [not is_there(child) for child in children]
            for child in children:
                if is_there(child):
                    os.kill(int(child), signal.SIGKILL)
            self.assertEqual(gone, [True, True], number)

    def test_relative_folder(self):
        """The folder is one of the command's, and the program runs in another."""
        self.other_program("#!/bin/sh\npwd >&2\necho ' Verification    =   SUCCESSFUL'\necho ' Mop/s total     =  1000.0'\n")
        for folder, there in ((".", self.path("out")), ("out", self.folder), ("../out/.", self.path("tmp"))):
            done = self.evener("bench", "npbmz", "--apps", "bt-mz", "--class", "S", "--repeat", "1", "--against", folder, cwd=there)
            self.assertRegex(done.stdout, r"other +1000\.0")
            self.assertEqual(done.stderr, "/\n")
        self.refuses(["bench", "npbmz", "--apps", "bt-mz", "--class", "S", "--against", "nowhere"], "nowhere/bt-mz.S.x is not a program", page=True)
