#!/usr/bin/env python3
"""TD-BEM keeps what it promises: the memory that matrices may take, files that are looked at before work begins, numbers that
are numbers, and bodies that cannot be meant.

Run: ctest -R command-tdbem-promises, or tests/command/test_tdbem_promises.py build/evener [test ..]
"""
import os
import re
import subprocess

import base
from base import EVENER

BODY = ["--mesh", "sphere:0", "--steps", "20"]


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", *words, **options)

    def refused(self, *words, says):
        done = self.evener(*words, "--quiet", status=2)
        self.assertRegex(done.stderr, rf"\Aevener: [^\n]*{says}[^\n]*\n\Z")
        return done.stderr


class Memory(Base):
    def most(self, *words, status=0):
        """Bytes that the process had at a time, and what it said."""
        run = subprocess.Popen([EVENER, "run", "td-bem", *words, "--units", "1:CPU:1", "--quiet"], stderr=subprocess.PIPE,
                               text=True)
        said = run.stderr.read()
        run.stderr.close()
        _, code, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(code)
        self.assertEqual(run.returncode, status, said)
        return 1024 * usage.ru_maxrss, said

    def test_ranges_have_no_room(self):
        """Less than the ranges alone (3 n^2 bytes) is enough, is not exceeded, and gives the same bits."""
        def least(*words):
            said = self.refused(*words, "--memory", "1kB", says="too little")
            return 1e6 * float(re.search(r"at least ([0-9.]+) MB,", said).group(1))
        small = ["--ng", "1", "--blocks", "200", "--steps", "8", "--scratch", self.folder]
        for formulation in ([], ["--eta", "0"], ["--problem", "soft"]):
            words = ["--mesh", "sphere:2", *small, *formulation]
            memory = least(*words)
            self.assertLess(memory, 3 * 162 ** 2)
            got = self.record(*words, "--memory", f"{memory:.0f}")
            self.assertGreater(got["matrix"]["intervals"], 100)
            self.assertEqual(got["hash"], self.record(*words)["hash"])
        words = ["--mesh", "sphere:3", *small]
        memory = least(*words)
        self.assertLess(memory, 3 * 642 ** 2 / 2)
        base, _ = self.most("--mesh", "sphere:0", "--steps", "1")
        most, _ = self.most(*words, "--memory", f"{memory:.0f}")
        vectors = 200 * 642 * 8 + 1280 * 1000 + 1e6
        self.assertLess(most, base + memory + vectors)

    def test_figure_at_once(self):
        """A large body: the figure comes without the ranges, which are 315 MB, and before anything is made."""
        keep = self.path("m")
        most, said = self.most("--mesh", "sphere:5", "--memory", "50MB", "--matrices", keep, status=2)
        self.assertRegex(said, r"too little; expected at least [0-9.]+ MB or so")
        self.assertLess(most, 120e6)
        self.assertEqual(os.listdir(self.folder), [])


class First(Base):
    def test_damaged_checkpoint(self):
        """It is refused before the matrices are made."""
        check, keep = self.path("c"), self.path("m")
        self.record("--mesh", "sphere:0", "--steps", "32", "--checkpoint", check)
        with open(check, "r+b") as f:
            f.seek(-20, os.SEEK_END)
            f.write(b"damage")
        self.refused(*BODY, "--restart", check, "--matrices", keep, says="damaged")
        with open(check, "wb") as f:
            f.write(b"EVN")
        self.refused(*BODY, "--restart", check, "--matrices", keep, says="no checkpoint")
        self.assertFalse(os.path.exists(keep))


class Numbers(Base):
    def test_extremes(self):
        """Either all that is written is a number, or a line says what was wrong."""
        for value in ("1e-320", "1e-308", "1e-100", "1e100", "1e300", "1e308"):
            for words in (["--eta", value], ["--delta", value], ["--delta-ratio", value], ["--speed", value],
                          ["--direction", f"{value},0,0"], ["--pulse", f"gaussian:sigma={value}"],
                          ["--pulse", f"ricker:sigma=1,t0=-{value}"], ["--frequencies", value]):
                with self.subTest(words=words):
                    files = [self.path("s"), self.path("v"), self.path("r")]
                    where = ["--spectrum", files[0]] if words[0] == "--frequencies" else []
                    done = self.evener(*BODY, *words, *where, "--quiet", "--vertices", "0", "--vertex-output", files[1],
                                       "--json", files[2], status=None)
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    if done.returncode:
                        self.assertRegex(done.stderr, r"\Aevener: [^\n]+\n\Z")
                        self.assertNotIn("nan", done.stderr)
                        continue
                    text = ""
                    for f in files[:2]:
                        if os.path.exists(f):
                            text += self.read(f)
                    self.assertNotRegex(text, r"nan|inf")
                    r = self.load(files[2])
                    for key in ("dt", "t0", "sigma", "delta"):
                        self.assertIsInstance(r[key], (int, float), key)

    def test_what_was_wrong(self):
        spectrum = ["--spectrum", self.path("s")]
        self.refused(*BODY, "--frequencies", "1,1e308", *spectrum, says="frequencies: 1e\\+308 .* at most")
        self.refused(*BODY, "--frequencies", "6", *spectrum, says="frequencies: 6 .* at most")
        self.refused(*BODY, "--speed", "1e-308", says="steps of")
        self.refused(*BODY, "--delta", "1e100", says="delta: .* expected about")

    def test_padding(self):
        """A share of what is stored, of which M_0 is no part."""
        for mesh in ("sphere:0", "sphere:1", "box:1,1,1,1"):
            done = self.evener("--mesh", mesh, "--steps", "2")
            share = int(re.search(r"(-?\d+) % of it padding", done.stdout).group(1))
            self.assertTrue(0 <= share <= 100, share)


class Bodies(Base):
    CUBE = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]

    def cubes(self, *places):
        lines = [f"OFF\n{8 * len(places)} {12 * len(places)} 0"]
        lines += [f"{p[0] + (i & 1)} {p[1] + (i >> 1 & 1)} {p[2] + (i >> 2)}" for p in places for i in range(8)]
        for k in range(len(places)):
            for a, b, c, d in self.CUBE:
                lines += [f"3 {8 * k + a} {8 * k + b} {8 * k + c}", f"3 {8 * k + a} {8 * k + c} {8 * k + d}"]
        with open(self.path("b.off"), "w") as f:
            f.write("\n".join(lines) + "\n")
        return self.path("b.off")

    def warnings(self, mesh):
        return "; ".join(self.record("--mesh", mesh, "--steps", "2", said=None)["warnings"])

    def test_overlap(self):
        self.assertRegex(self.warnings(self.cubes((0, 0, 0), (0.3, 0.4, 0.6))), "cuts itself: triangle .* at ")
        self.assertRegex(self.warnings(self.cubes((0, 0, 0), (0.5, 0.5, 0.5))), "overlap: vertex")
        self.assertNotRegex(self.warnings(self.cubes((0, 0, 0), (3, 0, 0))), "cuts|overlap")

    def test_touching(self):
        """In a face, a part of a face, an edge, a corner."""
        for place in ((1, 0, 0), (1, 0.5, 0.25), (1, 1, 0), (1, 1, 1), (1, 1, 0.5)):
            done = self.evener("--mesh", self.cubes((0, 0, 0), place), "--steps", "2", "--quiet")
            self.assertNotRegex(done.stderr, "cuts|overlap", place)

    def test_thin(self):
        """Rigid faces nearer to each other than a 350th of their edges are refused before anything is computed; soft ones are not."""
        thin, there = self.cubes((0, 0, 0), (1.0035, 0, 0)), "a wall or gap of 0.0035 is too thin for rigid faces with edges of 1.41 there: expected 0.00404"
        self.refused("--mesh", thin, "--steps", "2", says=there)
        self.refused("--mesh", thin, "--dry", says=there)
        self.evener("--mesh", thin, "--problem", "soft", "--steps", "2", "--quiet")
        self.evener("--mesh", self.cubes((0, 0, 0), (1.0045, 0, 0)), "--steps", "2", "--quiet")

    def test_cavity(self):
        """A sealed hole of a rigid body is refused, unless something is in it that sound can come from or go to; a soft one keeps nothing."""
        mesh = self.cubes((0, 0, 0))
        lines = self.read(mesh).split("\n")
        inner = [" ".join(str(0.25 + 0.5 * float(x)) for x in line.split()) for line in lines[2:10]]
        turned = ["3 " + " ".join(str(8 + int(c)) for c in reversed(line.split()[1:])) for line in lines[10:22]]
        mesh = self.write("hole.off", "\n".join(["OFF", "16 24 0", *lines[2:10], *inner, *lines[10:22], *turned, ""]))
        self.refused("--mesh", mesh, "--steps", "2", says="sealed off")
        for words in ("--problem", "soft"), ("--admittance", "0.5"), ("--source", "0.5,0.5,0.52"):
            self.evener("--mesh", mesh, "--steps", "2", "--quiet", *words)

    def test_none(self):
        """A file of a mesh without anything in it."""
        with open(self.path("n.msh"), "w") as f:
            f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Elements\n0\n$EndElements\n")
        self.refused("--mesh", self.path("n.msh"), says="n.msh")
