#!/usr/bin/env python3
"""A file of matrices (--matrices) over ranks: the same file to the byte, whoever makes it, and read by any ranks, each its own
columns; ranks of other hosts, which do not see it; what is damaged or cannot be written.

Run: ctest -R tdbem-matrices, or tests/command/test_tdbem_matrices.py build/evener [test ..]
"""
import json
import os
import resource

import base
from base import clean

BODY = ["--mesh", "sphere:1", "--steps", "40", "--blocks", "9"]


def text_of(path):
    with open(path, "rb") as f:
        return f.read()


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", *BODY, "--quiet", "--json", "-", "--units", "1:CPU:1", "--oversubscribe", *words, **options)

    def record(self, *words, **options):
        return json.loads(self.evener(*words, **options).stdout)

    def refused(self, code, *words, says, **options):
        done = self.evener(*words, status=code, **options)
        self.assertRegex(done.stderr, rf"\Aevener: [^\n]*{says}[^\n]*\n\Z")


class Same(Base):
    def test_made_and_read(self):
        want = self.record("--matrices", self.path("one"))["hash"]
        for words in [["--processes", "2"], ["--processes", "3", "--schedule", "static:chunk=1"], ["--processes", "4"],
                      ["--processes", "8"], ["--processes", "2", "--memory", "700kB", "--scratch", self.folder]]:
            with self.subTest(words=words):
                made = self.record(*words, "--matrices", self.path("many"))
                self.assertEqual(made["hash"], want)
                self.assertEqual(text_of(self.path("many")), text_of(self.path("one")))
                is_there = os.stat(self.path("many"))
                for again in [words, ["--processes", "3", "--schedule", "map"], []]:
                    self.assertEqual(self.record(*again, "--matrices", self.path("many"))["hash"], want)
                    self.assertEqual(os.stat(self.path("many")).st_ino, is_there.st_ino)  # it was read
                os.remove(self.path("many"))
        self.assertEqual(os.listdir(self.folder), ["one"])

    def test_formulations(self):
        for words in [["--eta", "0"], ["--problem", "soft"], ["--problem", "soft", "--eta", "0"], ["--precision", "float"]]:
            want = self.record(*words, "--matrices", self.path("one"))["hash"]
            for _ in range(2):
                self.assertEqual(self.record(*words, "--processes", "3", "--matrices", self.path("many"))["hash"], want)
            self.assertEqual(text_of(self.path("many")), text_of(self.path("one")))
            os.remove(self.path("one"))
            os.remove(self.path("many"))


class Bad(Base):
    def change(self, name, at):
        data = bytearray(text_of(self.path("m")))
        data[at] ^= 1
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def test_damaged(self):
        """A value of each rank's, a checksum of a column, and the last one."""
        self.record("--matrices", self.path("m"))
        size = os.path.getsize(self.path("m"))
        for at in [size // 3, size // 2, size - 9 - 42 * 8, size - 20, size - 1]:
            path = self.change("bad", at)
            self.refused(2, "--processes", "2", "--matrices", path, says="bad is damaged: remove it")
            self.refused(2, "--matrices", path, says="bad is damaged: remove it")

    def test_another(self):
        self.record("--matrices", self.path("m"), "--processes", "2")
        self.refused(2, "--matrices", self.path("m"), "--processes", "2", "--eta", "0.25", says="has eta 0.5, here it is 0.25")
        self.refused(2, "--matrices", "/nowhere/m", "--processes", "2", says="matrices: .*/nowhere")
        self.refused(2, "--matrices", self.folder, "--processes", "2", says="no regular file")
        os.mkfifo(self.path("pipe"))
        self.refused(2, "--matrices", self.path("pipe"), "--processes", "2", says="pipe is no regular file")
        self.refused(2, "--matrices", self.path("pipe"), says="pipe is no regular file")

    def test_no_room(self):
        """A limit on files that rank 0's ranges are within, and others' values are not."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        self.refused(3, "--processes", "2", "--matrices", self.path("m"), preexec_fn=limit,
                     says="m could not be written: File too large")
        self.assertEqual(os.listdir(self.folder), [])


class Elsewhere(Base):
    def test_come_and_go(self):
        """What ranks do not see goes by way of rank 0, to it and from it."""
        launch = self.elsewhere()
        want = self.record("--matrices", self.path("one"))["hash"]
        for words in [[], ["--schedule", "static:chunk=1"], ["--memory", "700kB"]]:
            m = self.path("blind/m")
            with self.subTest(words=words):
                for blind in [self.path("blind"), "", self.path("blind")]:
                    got = self.record("--matrices", m, *words, "--scratch", self.folder, launch=launch,
                                      env=clean(**{"BLIND": blind}))
                    self.assertEqual(got["hash"], want)
                    self.assertEqual(text_of(m), text_of(self.path("one")))
                os.remove(m)
        self.assertEqual(sorted(os.listdir(self.folder)), ["blind", "elsewhere", "one"])
