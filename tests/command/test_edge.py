#!/usr/bin/env python3
"""Where the command meets the system: closed descriptors, small stacks, threads that are not to be had,
words from outside that are long, raw or no text.

Run: ctest -R command-edge, or tests/command/test_edge.py build/evener [test ..]
"""
import json
import os
import resource
import subprocess
import unittest

import base
from base import EVENER, clean

MARCH = ["run", "td-bem", "--mesh", "sphere:1", "--steps", "20"]
SMALL = ["run", "bt-mz", "--class", "S", "--steps", "2"]


def evener(*words, close=(), limits=(), user=None, **options):
    """Runs it with descriptors closed and limits of the process set."""
    def before():
        for limit, value in limits:
            resource.setrlimit(limit, (value, value))
        if user is not None:
            os.setgid(user)
            os.setuid(user)
        for number in close:
            os.close(number)
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    return subprocess.run([EVENER, *words], preexec_fn=before, timeout=300, **options)


class Base(base.Base):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def one_line(self, done, status, *says):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, text)
        self.assertTrue(text.startswith("evener: "), text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in says:
            self.assertIn(word, text)


class Descriptors(Base):
    def test_record_is_a_record(self):
        """The first file that is opened does not become standard output."""
        for close in ((1,), (2,), (1, 2), (0, 1, 2)):
            done = evener(*SMALL, "--quiet", "--json", self.path("r"), close=close)
            self.assertEqual(done.returncode, 0, (close, done.stderr))
            self.assertEqual(json.loads(self.read("r"))["steps"], 2)

    def test_lost_output_fails(self):
        """What was to be printed and cannot be is an error, as for cat; files are whole all the same."""
        done = evener(*SMALL, "--json", self.path("r"), close=(1,))
        self.one_line(done, 3, "standard output")
        self.assertEqual(json.loads(self.read("r"))["steps"], 2)
        self.one_line(evener("--version", close=(1,)), 3, "standard output")
        # a record that cannot be written is known before anything was begun
        self.one_line(evener(*SMALL, "--json", "-", "--quiet", close=(1,)), 2, "standard output")

    def test_scratch_is_not_printed_into(self):
        """With matrices on disk, messages do not come between their numbers: the file for them is the
        first one that is opened, and a warning that was printed then was its beginning."""
        for memory in ("2MB", "3MB", "4MB"):
            words = ["run", "td-bem", "--mesh", "sphere:2", "--steps", "40", "--ng", "8", "--memory", memory,
                     "--scratch", self.folder, "--pulse", "gaussian:sigma=0.1", "--vertices", "0,3",
                     "--vertex-output"]
            done = evener(*words, self.path("open"))
            if done.returncode == 0 and b"blocks stream" in done.stderr:
                break
        else:
            self.fail(f"nothing was on disk: {done.stderr}")
        self.assertIn(b"warning", done.stderr)
        for close in ((2,), (1, 2), (0, 1, 2)):
            done = evener(*words, self.path("closed"), close=close)
            self.assertEqual(done.returncode, 3 if 1 in close else 0)
            self.assertEqual(self.read("closed"), self.read("open"), close)


class Stacks(Base):
    def test_small(self):
        """The process's limit is no matter, on cores and on devices."""
        for kilobytes in (100, 256):
            limits = [(resource.RLIMIT_STACK, kilobytes << 10)]
            for words in (MARCH, SMALL, MARCH + ["--units", "1:GPU:1", "--devices", "emulated"],
                          SMALL + ["--units", "2:CPU:2", "--oversubscribe"], ["info"],
                          ["plan", "bt-mz", "--class", "A", "--units", "4:CPU:2"]):
                done = evener(*words, limits=limits)
                self.assertEqual(done.returncode, 0, (kilobytes, words, done.stderr))

    def test_of_openmp(self):
        """What the user has set for the runtime is not ours to change: it is said what is needed."""
        for size in ("64k", "100", " 16 K ", "65536B"):
            self.one_line(evener(*MARCH, "--units", "1:CPU:2", "--oversubscribe", env=clean(OMP_STACKSIZE=size)), 3, "OMP_STACKSIZE")
        for size in ("16k", "32k"):
            self.one_line(evener(*SMALL, "--units", "1:CPU:2", "--oversubscribe", env=clean(OMP_STACKSIZE=size)), 3, "OMP_STACKSIZE")
        for size in ("2M", "4096", "nonsense"):
            done = evener(*MARCH, "--units", "1:CPU:2", "--oversubscribe", env=clean(OMP_STACKSIZE=size))
            self.assertEqual(done.returncode, 0, (size, done.stderr))

    def test_too_large(self):
        self.one_line(evener(*SMALL, "--units", "1:CPU:2", "--oversubscribe", env=clean(OMP_STACKSIZE="200000G")), 3, "0 of 1", "OMP_STACKSIZE")


class Threads(Base):
    def test_absurd_number(self):
        for number in ("99999999", "2000000000", "99999999999999999"):
            for words in (MARCH, SMALL, ["plan", "td-bem", "--mesh", "sphere:1", "--units", "2:CPU:1"]):
                done = evener(*words, env=clean(OMP_NUM_THREADS=number))
                self.assertEqual(done.returncode, 0, (number, words, done.stderr))

    @unittest.skipUnless(os.geteuid() == 0, "another user's limit needs root")
    def test_none_to_be_had(self):
        """A limit of the user's processes: one line and 3, not the runtime's 1, which says unverified."""
        limits = [(resource.RLIMIT_NPROC, 1)]
        home = clean(HOME=self.folder)
        os.chmod(self.folder, 0o777)
        for words in (SMALL + ["--units", "1:CPU:2"], SMALL + ["--units", "2:CPU:1"],
                      MARCH + ["--units", "1:CPU:2"],
                      ["plan", "td-bem", "--mesh", "sphere:1", "--units", "2:CPU:1", "--quiet"]):
            if "run" in words:
                words = words + ["--oversubscribe"]
            done = evener(*words, limits=limits, user=54321, env=home)
            if "plan" in words and os.cpu_count() == 1:
                continue
            self.one_line(done, 3, "threads", "ulimit -u")

    @unittest.skipUnless(os.geteuid() == 0, "another user's limit needs root")
    def test_no_stack_and_no_thread(self):
        """The small stack costs no thread, so that ranks are forked; one for an empty stack costs memory."""
        limits = [(resource.RLIMIT_NPROC, 1), (resource.RLIMIT_STACK, 256 << 10)]
        done = evener(*SMALL, "--units", "1:CPU:1", limits=limits, user=54321)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.one_line(evener(*SMALL, "--units", "1:CPU:1", "--processes", "2", limits=limits, user=54321), 3, "ulimit -u 1")

    def test_small_stack_and_ranks(self):
        for size in 64, 256, 1000:
            for words in (["--processes", "2"], ["--wire", "processes:2"]):
                done = evener(*SMALL, "--units", "1:CPU:1", "--oversubscribe", *words, limits=[(resource.RLIMIT_STACK, size << 10)])
                self.assertEqual((done.returncode, done.stderr), (0, b""), (size, words))


class Variables(Base):
    def said(self, **more):
        done = evener("plan", "bt-mz", "--class", "S", "--units", "2:CPU:1", "--quiet", env=clean(**more))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def test_misspelt(self):
        """A name that looks like one of Evener's is told with the nearest, once; one for each of several; rank 0 speaks, under --quiet too."""
        for name, nearest in (("SHEDULE", "SCHEDULE"), ("UNIT", "UNITS"), ("TRACES", "TRACE"), ("OVERSUBSCIBE", "OVERSUBSCRIBE"), ("wire", "WIRE")):
            said = self.said(**{f"EVENER_{name}": "1"})
            self.assertRegex(said, f"^evener: warning: the variable EVENER_{name} .* the nearest is EVENER_{nearest}\n$")
        self.assertEqual(self.said(EVENER_THREADS="4", EVENER_DEVICE="x").count("warning"), 2)
        launcher = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}
        self.assertEqual(self.said(EVENER_SHEDULE="1", **launcher), "")

    def test_others(self):
        """Names that are read, of places and of tests; control characters and lengths of what is told."""
        self.assertEqual(self.said(EVENER_UNITS="x", EVENER_ROOT="/opt", EVENER_DIR="/", EVENER_TEST_THIS="1", EVENERGY="1"), "")
        said = self.said(**{"EVENER_\x1b[2J" + 900 * "A": "1"})
        self.assertNotIn("\x1b", said)
        self.assertLess(len(said), 400)


class Pipes(Base):
    INPUTS = ((["report", "F"], ["--output", "o.html"]), (["plan", "bt-mz", "--machine", "F"], []), (["plan", "bt-mz", "--times", "F"], []),
              (["plan", "bt-mz", "--plan", "F"], []), (["run", "td-bem", "--mesh", "F"], []), (["bench", "papers", "--published", "F"], []),
              (["run", "td-bem", "--mesh", "sphere:0", "--probes", "F"], ["--probe-output", "o.csv"]),
              (["run", "td-bem", "--mesh", "sphere:0", "--entries", "F"], []), (["run", "bt-mz", "--units", "@F"], []))

    def test_without_a_writer(self):
        """A named pipe to which nobody writes is waited for with one line that says so, and its text is read when there is a writer."""
        for i, (words, more) in enumerate(self.INPUTS):
            pipe = self.path(f"{i}.off")
            os.mkfifo(pipe)
            words = [word.replace("F", pipe) if word in ("F", "@F") else word for word in words]
            run = subprocess.Popen([EVENER, *words, *more], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(run.kill)
            said = run.stderr.readline().decode()
            self.assertRegex(said, f"^evener: warning: .*{i}.off is a named pipe to which nobody writes", words)
            with open(pipe, "w", encoding="utf-8") as file:
                file.write("nothing that is right\n")
            self.assertEqual(run.wait(120), 2, words)
            self.assertEqual(run.stderr.read().decode().count("evener: "), 1, words)
            run.stderr.close()

    def test_of_any_order(self):
        """Files that are read in any order are no pipes, and none is waited for."""
        os.mkfifo(self.path("p"))
        for words in (["run", "td-bem", "--mesh", "sphere:0", "--steps", "1", "--restart", self.path("p")],
                      ["run", "td-bem", "--mesh", "sphere:0", "--steps", "1", "--matrices", self.path("p")]):
            self.one_line(evener(*words, "--quiet"), 2, "regular file")


class Words(Base):
    def test_long(self):
        """Of a word that is too long, the beginning, the end and the length."""
        word = "first" + 120000 * "x" + "last"
        for words in ([word], ["run", word], ["run", "bt-mz", "--schedule", word],
                      ["run", "bt-mz", "--units", word], ["run", "bt-mz", "--class", word],
                      ["run", "td-bem", "--mesh", word], ["run", "bt-mz", "--" + word],
                      ["plan", "bt-mz", "--machine", word], ["report", word],
                      ["run", "bt-mz", "--json", word], ["bench", word], ["calibrate", word]):
            done = evener(*words)
            text = done.stderr.decode()
            self.assertEqual(done.returncode, 2, (words[:3], text))
            self.assertLess(len(text), 2100, words[:3])
            self.assertIn("xxx", text)
            self.assertTrue(text.startswith("evener: ") and text.count("\n") == 1, text)

    def test_raw(self):
        """A terminal is not told what to do; what is no text is shown as it is."""
        word = b"a\x1b[2Jb\nc\x07\xff\xc2\x9bd\xe2\x80\xae"
        for words in ([word], [b"run", word], [b"run", b"bt-mz", b"--schedule", word],
                      [b"run", b"bt-mz", b"--units", word], [b"run", b"td-bem", b"--mesh", word],
                      [b"run", b"bt-mz", b"--" + word], [b"plan", b"bt-mz", b"--machine", word],
                      [b"report", word], [b"run", b"bt-mz", b"--devices", word, b"--units", b"1:GPU:1"]):
            done = subprocess.run([os.fsencode(EVENER), *words], capture_output=True, timeout=100)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            for byte in done.stderr[:-1]:
                self.assertTrue(32 <= byte < 127, done.stderr)
            self.assertIn(b"\\x1b[2J", done.stderr)

    def test_raw_in_files(self):
        """Also where the words come from records and machine files."""
        nasty = "x\u001b[2J\u009b\n" + 5000 * "y"
        for name, content in (("record", {"evener": nasty, "app": nasty, "units": nasty, "command": nasty}),
                              ("machine", {"units": [{"kind": nasty}], "name": nasty, nasty: 1})):
            self.write(name, content)
        for words in (["report", self.path("record"), "--output", self.path("page")],
                      ["plan", "bt-mz", "--machine", self.path("machine")]):
            done = evener(*words)
            self.assertNotIn(b"\x1b", done.stderr + done.stdout)
            self.assertNotIn(b"\xc2\x9b", done.stderr + done.stdout)
            self.assertLess(len(done.stderr), 3000)

    def test_inputs(self):
        """A file that is a folder, has no end, no newline or a zero byte is refused with its name, and not read for ever."""
        limits = [(resource.RLIMIT_AS, 2 << 30), (resource.RLIMIT_CPU, 20)]
        long = self.write("long", "* 1:CPU:1" + " " * 100000 + "\n")
        binary = self.write("binary", "* 1:CPU:1\0\n")
        for path, words in ((self.folder, "it cannot be read: Is a directory"), ("/dev/zero", "zero byte"), (long, "line 1 is longer"),
                            (binary, "zero byte")):
            for option in (["run", "bt-mz", "--steps", "1", "--units", "@" + path],
                           ["run", "td-bem", "--mesh", "sphere:0", "--entries", path]):
                done = evener(*option, "--quiet", limits=limits, text=True)
                self.assertEqual(done.returncode, 2, (option, done.stderr))
                self.assertIn(words, done.stderr)
                self.assertIn(path, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_record(self):
        """A command line that is no UTF-8 still gives a record that is JSON; so do traces."""
        name = os.fsencode(self.path("m")) + b"\xff\xed\xa0\x80.off"
        os.symlink("/dev/null", os.fsencode(self.path("link")) + b"\xff")
        words = [b"run", b"td-bem", b"--mesh", name, b"--steps", b"2", b"--quiet", b"--json",
                 os.fsencode(self.path("r")), b"--trace", os.fsencode(self.path("t"))]
        with open(name, "w") as file:
            file.write("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n")
        done = subprocess.run([os.fsencode(EVENER), *words], capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(self.read("r").decode())
        self.assertIn("\ufffd", record["command"])
        self.assertIn("m\ufffd\ufffd\ufffd\ufffd.off", record["command"])
        json.loads(self.read("t").decode())
