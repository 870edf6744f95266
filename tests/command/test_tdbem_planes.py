#!/usr/bin/env python3
"""td-bem beside rigid planes: a body and the images that the planes make of it and of the waves, against all of these bodies and waves without planes.

Run: ctest -R '^command-tdbem-planes$', or tests/command/test_tdbem_planes.py build/evener [test ..]
"""
import csv
import json
import math

import base

UNITS = ["--units", "1:CPU:1", "--quiet"]


def ball(level):
    """A sphere of radius 1 from an octahedron, so that the coordinate planes cut it along edges."""
    points = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(4, 0, 2), (4, 2, 1), (4, 1, 3), (4, 3, 0), (5, 2, 0), (5, 1, 2), (5, 3, 1), (5, 0, 3)]
    for _ in range(level):
        middle, finer = {}, []

        def between(a, b):
            key = min(a, b), max(a, b)
            if key not in middle:
                sums = [p + q for p, q in zip(points[a], points[b])]
                middle[key] = len(points)
                points.append(tuple(x / math.hypot(*sums) for x in sums))
            return middle[key]

        for a, b, c in faces:
            d, e, f = between(a, b), between(b, c), between(c, a)
            finer += [(a, d, f), (d, b, e), (f, e, c), (d, e, f)]
        faces = finer
    return points, faces


def obj(points, faces):
    lines = ["v %.17g %.17g %.17g" % tuple(p) for p in points] + ["f %d %d %d" % tuple(c + 1 for c in f) for f in faces]
    return "\n".join(lines) + "\n"


def moved(points, by):
    return [[x + d for x, d in zip(p, by)] for p in points]


def part(points, faces, axes):
    """The faces of the body on the positive sides of these axes."""
    return [f for f in faces if all(points[c][a] >= -1e-12 for c in f for a in axes)]


class Base(base.Base):
    def march(self, name, mesh, waves, *words, steps=120):
        """Probes, vertices and far field of a run, and its record."""
        self.write("waves.txt", "".join(f"w {wave}\n" for wave in waves))
        self.write("probes.txt", "0 0.4 3.5\n2 0.1 0.3\n1.7 1 1\n")
        outputs = [f"{name}-{what}.csv" for what in ("probes", "vertices", "far")]
        self.evener("run", "td-bem", "--mesh", mesh, "--waves", "waves.txt", "--probes", "probes.txt", "--probe-output", outputs[0], "--vertices", "4,6",
                    "--vertex-output", outputs[1], "--frequencies", "0.8,1.7", "--far-field", outputs[2], "--steps", str(steps), "--json", f"{name}.json",
                    *UNITS, *words)
        values = []
        for path in outputs:
            rows = list(csv.reader(line for line in self.read(path).split("\n") if line and line[0] != "#"))[1:]
            values.append([float(x) for row in rows for x in row if x])
        return values, json.loads(self.read(f"{name}.json"))

    def same(self, one, other, most=1e-11):
        for what, a, b in zip(("probes", "vertices", "far field"), one, other):
            self.assertEqual(len(a), len(b))
            self.assertGreater(max(map(abs, a)), 0.1)
            self.assertLess(max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, a)), max(most, 1e-7) if what == "far field" else most, what)


class Images(Base):
    def test_above_ground(self):
        """A ball over a ground at z = -0.3 is one of two bodies in the waves of both directions, for half of the unknowns."""
        points, faces = ball(2)
        up = moved(points, (0.2, 0, 1.1))
        down = [(x, y, -0.6 - z) for x, y, z in up]
        self.write("one.obj", obj(up, faces))
        self.write("two.obj", obj(up + down, faces + [tuple(c + len(up) for c in (a, c, b)) for a, b, c in faces]))
        length = math.sqrt(1 + 0.25 + 0.81)
        delay = 2 * -0.3 * -0.9 / length
        for words in ([], ["--problem", "soft"], ["--eta", "0"], ["--admittance", "0.4"], ["--problem", "soft", "--eta", "0", "--ng", "5"]):
            one, record = self.march("one", "one.obj", ["plane 1 0.5 -0.9"], "--planes", "z=-0.3", *words)
            two, both = self.march("two", "two.obj", ["plane 1 0.5 -0.9", f"plane 1 0.5 0.9 1 {delay:.17g}"], *words)
            with self.subTest(words=words):
                # with eta = 0 one of two mirrored pairs of triangles is integrated for both
                self.same(one, two, 1e-4 if "--eta" in words else 1e-11)
            self.assertEqual(2 * record["mesh"]["vertices"], both["mesh"]["vertices"])
            self.assertAlmostEqual(2 * record["mesh"]["volume"], both["mesh"]["volume"], 9)
            self.assertEqual(record["mesh"]["components"], 1)

    def test_source(self):
        """A source has an image; one on the plane is its own, and there once."""
        points, faces = ball(2)
        self.write("half.obj", obj(points, part(points, faces, [2])))
        self.write("ball.obj", obj(points, faces))
        # far fields are about the way from the source to the middle of the body, which half of it has elsewhere
        self.same(self.march("one", "half.obj", ["source 1 2 1.5"], "--planes", "z=0")[0][:2],
                  self.march("two", "ball.obj", ["source 1 2 1.5", "source 1 2 -1.5"])[0][:2])
        self.same(self.march("one", "half.obj", ["source 1 2 0"], "--planes", "z=0")[0][:2], self.march("two", "ball.obj", ["source 1 2 0"])[0][:2])

    def test_ends_on_planes(self):
        """Half a ball, a quarter and an eighth, open where they end on planes, are the ball in all directions' waves; so is half of one with a lid."""
        points, faces = ball(2)
        self.write("ball.obj", obj(points, faces))
        rim = sorted((c for c, p in enumerate(points) if abs(p[2]) < 1e-12), key=lambda c: math.atan2(points[c][1], points[c][0]))
        lid = [(len(points), rim[(k + 1) % len(rim)], rim[k]) for k in range(len(rim))]
        for axes in (2,), (0, 2), (0, 1, 2):
            self.write("part.obj", obj(points, part(points, faces, axes)))
            waves = [(1, 0.6, -0.7)]
            for axis in axes:
                waves += [tuple(-x if a == axis else x for a, x in enumerate(w)) for w in waves]
            planes = ",".join(f"{'xyz'[a]}=0" for a in axes)
            whole = self.march("whole", "ball.obj", ["plane %g %g %g" % w for w in waves])[0]
            self.same(self.march("cut", "part.obj", ["plane 1 0.6 -0.7"], "--planes", planes)[0], whole)
            if axes == (2,):
                self.write("closed.obj", obj(points + [(0, 0, 0)], part(points, faces, axes) + lid))
                self.same(self.march("closed", "closed.obj", ["plane 1 0.6 -0.7"], "--planes", planes)[0], whole)
        # a wave along a plane is there once
        self.same(self.march("cut", "part.obj", ["plane 0 0 1"], "--planes", "x=0,y=0,z=0")[0], self.march("whole", "ball.obj", ["plane 0 0 1", "plane 0 0 -1"])[0])

    def test_null_field(self):
        points, faces = ball(3)
        self.write("half.obj", obj(points, part(points, faces, [2])))
        _, record = self.march("half", "half.obj", ["plane 1 0.6 -0.7"], "--planes", "z=0")
        self.assertLess(record["null_field"], 0.02)

    def test_restart_and_matrices(self):
        points, faces = ball(1)
        self.write("half.obj", obj(points, part(points, faces, [2])))
        words = ["--mesh", "half.obj", "--steps", "64", *UNITS]
        say = lambda *more: json.loads(self.evener("run", "td-bem", *words, *more, "--json", "-").stdout)["hash"]
        hash = say("--planes", "z=0", "--matrices", "m.bin")
        self.assertEqual(say("--planes", "z=0", "--matrices", "m.bin", "--checkpoint", "c.bin", "--every", "32"), hash)
        self.assertEqual(say("--planes", "z=0", "--memory", "3MB"), hash)
        self.write("up.obj", obj(moved(points, (0, 0, 2)), faces))
        words[1] = "up.obj"
        say("--planes", "z=0", "--matrices", "up.bin")
        for planes, said in (["--planes", "z=0.5"], "planes z=0, here it has planes z=0.5"), ([], "here it has no planes"):
            self.refuses(["run", "td-bem", *words, *planes, "--matrices", "up.bin"], said)
        self.write("off.obj", obj(moved(points, (0, 0, 2.5)), faces))
        self.refuses(["run", "td-bem", "--mesh", "off.obj", "--planes", "z=0", "--matrices", "up.bin"], "another mesh, whose 18 vertices")
        self.refuses(["run", "td-bem", *words, "--planes", "z=0", "--order", "none", "--matrices", "up.bin"], "another order")


class Refused(Base):
    def test_words(self):
        for planes, *says in (("w=0", "planes as z=0 or x=0,y=0"), ("z", "planes as z=0"), ("z=0,z=1", "two planes across z"), ("z=near", "near"),
                              ("x=0,", "planes as z=0")):
            self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--planes", planes], *says)

    def test_bodies(self):
        points, faces = ball(1)
        self.write("off.obj", obj(moved(points, (0, 0, 0.1)), part(points, faces, [2])))
        self.write("open.obj", obj(points, part(points, faces, [2])[1:]))
        self.write("flat.obj", obj([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]))
        for mesh, *says in (("sphere:1", "both sides of the plane z=0", "cut off there"), ("off.obj", "off.obj: the surface is open"),
                            ("open.obj", "open.obj with its images: the surface is open"),
                            ("flat.obj", "flat.obj")):
            self.refuses(["run", "td-bem", "--mesh", mesh, "--planes", "z=0", *UNITS], *says)

    def test_places(self):
        self.write("low.txt", "2 0 -1.5\n")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--planes", "z=-1.2", "--probes", "low.txt", "--probe-output", "p.csv", *UNITS],
                     "probe 1: (2, 0, -1.5) is behind a plane", "the body's side")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--planes", "z=-1.2", "--source", "0,0,-3", *UNITS], "source 1: (0, 0, -3) is behind a plane")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--planes", "z=-200", *UNITS], "at most 255 can be kept", "a plane too far")
