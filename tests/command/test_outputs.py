#!/usr/bin/env python3
"""The files that a command line names: whole or not there, where they go, and which do not go together.

Run: ctest -R '^command-outputs$', or tests/command/test_outputs.py build/evener [test ..]
"""
import json
import os
import stat
import subprocess

import base
from base import EVENER

BODY = ["run", "td-bem", "--mesh", "sphere:0", "--steps", "20", "--quiet"]
CLASS = ["run", "bt-mz", "--class", "S", "--steps", "2", "--quiet"]
OFF = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"

# every output of a file: what goes before it
OUTPUTS = {
    "--json": [CLASS, [*BODY], ["plan", "bt-mz", "--quiet"], ["info"]],
    "--trace": [CLASS, BODY],
    "--vertex-output": [[*BODY, "--vertices", "0"]],
    "--probe-output": [[*BODY, "--probes", "points"]],
    "--transfer-function": [[*BODY, "--probes", "points"]],
    "--impulse-response": [[*BODY, "--steps", "40", "--probes", "points"]],
    "--spectrum": [[*BODY, "--frequencies", "0.5"]],
    "--far-field": [[*BODY, "--frequencies", "0.5"]],
    "--output": [["report", "record.json"]],
}
CASES = [(words, option) for option, several in OUTPUTS.items() for words in several]


class Base(base.Base):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.write("points", "0 0 2\n")

    def one_record(self):
        """What a report is made from."""
        if not os.path.exists("record.json"):
            self.evener(*CLASS, "--json", "record.json")

    def node(self, name, minor):
        """A device of our own: 3 takes everything, 7 is always full."""
        try:
            os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            with open(name, "wb"):
                pass
        except OSError:
            self.skipTest("no devices can be made here")

    def refuses(self, words, *says, status=2):
        """The exit status, one line with these words, and nothing is made, changed or lost."""
        def files():
            there = {name: os.lstat(name) for name in os.listdir(".")}
            return {name: (s.st_mode, s.st_ino, s.st_size, s.st_mtime_ns) for name, s in there.items()}
        before = files()
        super().refuses(words, *says, status=status)
        self.assertEqual(files(), before)

    def is_whole(self, option, text):
        self.assertTrue(text.endswith("\n"), text[-200:])
        if option == "--output":
            self.assertTrue(text.endswith("</html>\n"), text[-200:])
        if option in ("--json", "--trace"):
            json.loads(text)
        elif option == "--vertex-output":
            self.assertEqual(len(text.splitlines()), 22)


class Together(Base):
    """Which files of a command line cannot be the same."""

    def test_two_outputs(self):
        os.mkdir("there")
        self.write("a", "earlier")
        os.symlink("a", "soft")
        os.link("a", "hard")
        os.symlink("new", "dangling")
        for one, other in (("a", "a"), ("a", "there/../a"), ("a", "soft"), ("hard", "a"), ("new", "./new"),
                           ("dangling", "new")):
            with self.subTest(one=one, other=other):
                self.refuses([*BODY, "--json", one, "--trace", other], f"--json {one} and --trace {other}", "same file")
        self.refuses([*BODY, "--vertices", "0", "--vertex-output", "new", "--frequencies", "1", "--far-field", "new"],
                     "--vertex-output new", "--far-field new")
        self.refuses([*BODY, "--checkpoint", "c", "--matrices", "c"], "--checkpoint c and --matrices c")
        self.refuses([*BODY, "--checkpoint", "c", "--json", "c"], "--checkpoint c and --json c")
        self.evener(*CLASS, "--json", "a", "--json", "b", "--trace", "a", said="") # the latter counts

    def test_devices(self):
        """Two may go to the same device, here one of our own."""
        self.node("nothing", 3)
        os.symlink("nothing", "link")
        self.evener(*CLASS, "--json", "nothing", "--trace", "link", said="")
        self.assertTrue(os.path.islink("link"))
        self.assertTrue(stat.S_ISCHR(os.stat("nothing").st_mode))

    def test_inputs(self):
        self.one_record()
        self.write("body.off", OFF)
        self.write("machine.json", "{}")
        self.write("e", "0 0 0\n")
        os.symlink("body.off", "link")
        mesh = ["run", "td-bem", "--mesh", "body.off", "--steps", "2"]
        for option in ("--json", "--trace", "--checkpoint", "--matrices"):
            for name in ("body.off", "link"):
                self.refuses([*mesh, option, name], f"{option} {name} would replace body.off", "--mesh")
        self.refuses([*mesh, "--probes", "points", "--probe-output", "points"], "--probe-output points", "--probes")
        self.refuses([*mesh, "--restart", "e", "--json", "e"], "--json e", "--restart")
        self.refuses(["plan", "bt-mz", "--machine", "machine.json", "--json", "machine.json"], "--json", "--machine")
        self.refuses(["plan", "bt-mz", "--times", "record.json", "--json", "./record.json"], "--json", "--times")
        self.refuses(["report", "record.json", "--output", "record.json"], "would replace a record")
        self.assertEqual(self.read("body.off"), OFF)

    def test_checkpoint_goes_on(self):
        """A state is read before it is kept again."""
        words = [*BODY[:-3], "--quiet", "--checkpoint", "c", "--every", "8", "--ng", "4"]
        self.evener(*words, "--steps", "20")
        first = self.read_bytes("c")
        self.evener(*words, "--steps", "40", "--restart", "./c", said="")
        self.assertNotEqual(self.read_bytes("c"), first)

    def read_bytes(self, name):
        with open(name, "rb") as f:
            return f.read()

    def test_standard_output(self):
        """One of them; what is to be read again is none of them."""
        self.refuses([*CLASS, "--json", "-", "--trace", "-"], "--json -", "--trace -", "standard output")
        self.refuses([*CLASS, "--json", "/dev/stdout", "--trace", "-"], "standard output")
        self.refuses([*BODY, "--checkpoint", "-"], "--checkpoint -", "kept in a file")
        self.refuses([*BODY, "--matrices", "-"], "--matrices -", "kept in a file")
        self.refuses(["calibrate", "bt-mz", "--output", "-"], "--output -", "kept in a file")

    def test_options_are_no_files(self):
        self.refuses(["run", "bt-mz", "--steps", "1", "--json", "--quiet"], "--json needs a value", "--json=--quiet")
        self.refuses(["run", "td-bem", "--mesh", "--quiet"], "--mesh=--quiet")
        self.refuses(["run", "bt-mz", "--json"], "--json needs a value")
        self.evener("run", "bt-mz", "--steps", "1", "--json=--quiet")
        json.loads(self.read("--quiet"))
        self.refuses(["run", "bt-mz", "--steps", "-1"], "expected a whole number")


class Places(Base):
    """Every output, wherever it goes."""

    def test_standard_output(self):
        self.one_record()
        before = sorted(os.listdir("."))
        for words, option in CASES:
            with self.subTest(words=words, option=option):
                done = self.evener(*words, option, "-", said="")
                self.is_whole(option, done.stdout)
                self.assertEqual(sorted(os.listdir(".")), before)
        # the page goes to standard error then
        done = self.evener(*[w for w in BODY if w != "--quiet"], "--vertices", "0", "--vertex-output", "-")
        self.is_whole("--vertex-output", done.stdout)
        self.assertIn("TD-BEM, sound-hard", done.stderr)
        done = self.evener(*CLASS[:-1], "--trace", "-")
        json.loads(done.stdout)
        self.assertIn("BT-MZ Benchmark Completed", done.stderr)

    def test_devices(self):
        self.one_record()
        self.node("nothing", 3)
        self.node("full", 7)
        for words, option in CASES:
            with self.subTest(words=words, option=option):
                done = self.evener(*words, option, "nothing", said="")
                done = self.evener(*words, option, "full", status=3)
                self.assertEqual(done.stderr, "evener: full could not be written: No space left on device\n")
                with open("full", "w") as out:
                    done = subprocess.run([EVENER, *words, option, "-"], stdout=out, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3)
                self.assertEqual(done.stderr, "evener: standard output could not be written: No space left on device\n")
        for name in ("nothing", "full"):
            self.assertTrue(stat.S_ISCHR(os.lstat(name).st_mode))

    def test_nowhere(self):
        self.one_record()
        for words, option in CASES + [(BODY, "--checkpoint"), (BODY, "--matrices")]:
            with self.subTest(words=words, option=option):
                self.refuses([*words, option, "no/such/file"], "no/such/file cannot be written: No such file")
                self.refuses([*words, option, "."], ". ", "Is a directory" if option != "--matrices" else "matrices")


class Whole(Base):
    def test_failed_run(self):
        """Where a run fails, what was there before stays."""
        self.write("v", "earlier")
        self.write("r", "earlier")
        self.refuses([*BODY, "--vertices", "77", "--vertex-output", "v", "--json", "r"], "there is no vertex 77")
