#!/usr/bin/env python3
"""evener mesh, and run td-bem --dry: what a mesh is like, what is written of it, what is refused, and whether a run needs what was said.
Run: ctest -R command-mesh, or tests/command/test_mesh.py build/evener [test ..]"""
import json
import math

from base import Base

CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
FACES = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"


class Mesh(Base):
    def described(self, *words):
        return json.loads(self.evener("mesh", *words, "--json", "-").stdout)

    def test_what_it_is_like(self):
        self.write("cube.obj", "\ufeff" + CUBE + FACES)  # UTF-8, as some editors mark it
        mesh = self.described("cube.obj")["mesh"]
        self.assertEqual([mesh[k] for k in ("vertices", "triangles", "components", "volume", "area", "wall", "gap", "note")],
                         [8, 12, 1, 1, 6, 1, None, ""])
        small = self.described("cube.obj", "--unit", "mm")["mesh"]
        self.assertAlmostEqual(small["area"], 6e-6, 15)
        self.assertAlmostEqual(self.described("cube.obj", "--scale", "2")["mesh"]["volume"], 8, 12)
        page = self.evener("mesh", "cube.obj").stdout
        self.assertIn("vertices 8, triangles 12, components 1\n", page)
        self.assertRegex(page, r"memory: .* GB\n")

    def test_what_is_written(self):
        """A mended mesh of each format is read as the same body, and needs no mending."""
        self.write("turned.obj", CUBE + "v 9 9 9\n" + FACES.replace("f 1 2 4 3", "f 3 4 2 1"))
        first = self.described("turned.obj")["mesh"]
        self.assertIn("1 vertices that no triangle uses", first["note"])
        self.assertIn("2 of 12 triangles were turned", first["note"])
        for name in "m.obj", "m.off", "m.ply", "m.STL":
            self.evener("mesh", "turned.obj", "--output", name)
            self.assertEqual(self.described(name)["mesh"], {**first, "note": ""}, name)

    def test_a_screen_becomes_a_body(self):
        """A sheet of two squares at a right angle: faces stay D apart, parts keep their names; a file that is turned in places gives the same body."""
        corners = "".join(f"v {x} {y} {z}\n" for y in (0, 1) for x, z in ((0, 0), (1, 0), (1, 1)))
        self.write("sheet.obj", corners + "g floor\nf 1 2 5 4\ng wall\nf 2 3 6 5\n")
        self.write("turned.obj", corners + "v 7 7 7\ng floor\nf 1 2 5 4\ng wall\nf 5 6 3 2\n")
        for file in ("sheet.obj", "turned.obj"):
            done = self.evener("mesh", file, "--thicken", "0.1", "--output", "body.obj", "--json", "body.json")
            self.assertEqual(done.stderr, "")
            mesh = self.load("body.json")["mesh"]
            self.assertEqual((mesh["vertices"], mesh["triangles"], mesh["components"]), (12, 20, 1))
            self.assertAlmostEqual(mesh["volume"], 0.2, 12)  # the crease is mitred
            self.assertAlmostEqual(mesh["wall"], 0.1, 12)
            lines = self.read("body.obj").splitlines()
            self.assertEqual([line for line in lines if line[0] == "g"], ["g floor", "g wall"])
        self.evener("mesh", "sheet.obj", "--unit", "cm", "--thicken", "0.001", "--output", "body.obj", "--json", "body.json")
        self.assertAlmostEqual(self.load("body.json")["mesh"]["volume"], 2e-7, 15)

    def test_a_disc(self):
        """Low frequencies: F of a rigid disc is 2 k^2 a^3/(3 pi) cos(theta), of a thin body less k^2 times its volume over 4 pi, in each direction."""
        points, faces, n = [(0, 0)], [], 5
        ring = lambda r: [0] if not r else [1 + 3 * r * (r - 1) + k for k in range(6 * r)]
        for r in range(1, n + 1):
            size = math.sin(math.pi / 2 * r / n)  # finer at the rim
            points += [(size * math.cos(math.pi * k / 3 / r), size * math.sin(math.pi * k / 3 / r)) for k in range(6 * r)]
            for k in range(6 * r):
                o, i = [ring(r)[(k + d) % (6 * r)] for d in (0, 1)], [ring(r - 1)[((k // r) * (r - 1) + k % r + d) % max(6 * (r - 1), 1)] for d in (0, 1)]
                faces += [(*o, i[0])] + ([(i[0], o[1], i[1])] if k % r < r - 1 else [])
        self.write("disc.obj", "".join("v %.17g %.17g 0\n" % p for p in points) + "".join("f %d %d %d\n" % tuple(v + 1 for v in f) for f in faces))
        self.evener("mesh", "disc.obj", "--thicken", "0.005", "--output", "body.obj")
        r = self.record("run", "td-bem", "--mesh", "body.obj", "--delta-ratio", "0.5", "--pulse", "gaussian:sigma=2", "--frequencies", "0.1", "--far-field",
                        "f.csv", "--units", "1:CPU:1", said=None)
        self.assertLess(r["norms"]["latest"], 1e-3 * r["norms"]["most"])
        far = {int(row[2]): float(row[6]) for row in (line.split(",") for line in self.read("f.csv").splitlines()[2:]) if row[1] == "0"}
        want = 2 * 0.1 ** 2 / 3 / math.pi
        self.assertAlmostEqual((far[0] - far[180]) / 2 / want, 1.01, delta=0.02)  # a little more for ka and for the thickness
        self.assertAlmostEqual((far[0] + far[180]) / 2 / want, -0.0059, delta=0.0006)
        self.assertAlmostEqual(far[60] / far[0], 0.494, delta=0.01)

    def test_no_screen(self):
        self.write("cube.obj", CUBE + FACES)
        into = ["--output", "body.obj"]
        self.refuses(["mesh", "cube.obj", "--thicken", "0.1", *into], "cube.obj: the surface has no open edge")
        self.write("three.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\nf 1 2 3\nf 1 2 4\nf 1 2 5\n")
        self.refuses(["mesh", "three.obj", "--thicken", "0.1", *into], "three.obj: edge 0-1 belongs to 3 triangles")
        strip = "".join("v %.9g %.9g %.9g\n" % (math.cos(a) * (1 + s * math.cos(a / 2)), math.sin(a) * (1 + s * math.cos(a / 2)), s * math.sin(a / 2))
                        for a in (2 * math.pi * k / 8 for k in range(8)) for s in (-0.3, 0.3))
        quads = [(2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2) for k in range(7)] + [(14, 15, 0, 1)]
        self.write("strip.obj", strip + "".join("f %d %d %d %d\n" % tuple(v + 1 for v in q) for q in quads))
        self.refuses(["mesh", "strip.obj", "--thicken", "0.1", *into], "strip.obj: the surface has one side only")
        self.refuses(["mesh", "cube.obj", "--thicken", "0", *into], "--thicken 0")
        self.refuses(["mesh", "cube.obj", "--thicken", "0.1"], "--thicken", "--output")
        self.refuses(["mesh", "none.obj", "--thicken", "0.1", *into], "none.obj: No such file")

    def test_refusals(self):
        self.write("cube.obj", CUBE + FACES)
        self.write("open.obj", CUBE + "\n".join(FACES.splitlines()[1:]))
        self.refuses(["mesh", "open.obj"], "open.obj: the surface is open", "4 such edges", "close its holes", "--thicken D")
        self.refuses(["mesh", "none.obj"], "none.obj: No such file")
        self.refuses(["mesh"], "which one?", ".msh")
        self.refuses(["mesh", "cube.obj", "--output", "cube.vtk"], "--output cube.vtk: expected a name that ends with .obj")
        self.refuses(["mesh", "cube.obj", "--unit", "mile"], "--unit mile: expected m, cm")
        self.refuses(["mesh", "cube.obj", "--unit", "mm", "--scale", "2"], "do not go together")
        self.refuses(["mesh", "cube.obj", "--scale", "0"], "--scale 0")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--scale", "-1"], "--scale -1")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--dry", "--json", "a"], "--dry")

    def test_plan(self):
        """A plan's tasks without matrices, of more than 4000 columns from a sample: beside the number of values that all ranges have."""
        weight = self.record("plan", "td-bem", "--mesh", "box:3,1,0.2,0.035", "--method", "plain", "--units", "2:CPU:1")["weight"]
        self.assertEqual(len(weight), 97)
        self.assertAlmostEqual(sum(weight) / 401670762, 1, delta=0.02)
        self.assertTrue(3.2e6 < min(weight) and max(weight) < 5e6)

    def test_a_run_needs_what_was_said(self):
        """Values, steps and bytes of the matrices, from a sample of the columns."""
        for mesh in "sphere:2", "box:1,1,0.3,0.12":
            said = self.described(mesh)["run"]
            run = self.record("run", "td-bem", "--mesh", mesh, "--units", "1:CPU:1", "--probes", self.write("p", "0 0 9\n"), "--probe-output", "o.csv", said=None)
            self.assertEqual((said["steps"], said["kmax"]), (run["steps"], run["matrix"]["kmax"]), mesh)
            self.assertAlmostEqual(said["nnz"] / run["matrix"]["nnz"], 1, delta=0.03)
            self.assertGreater(said["memory"], run["matrix"]["bytes"])
            self.assertEqual(said["disk"], 0)

    def test_dry(self):
        done = self.evener("run", "td-bem", "--mesh", "sphere:4", "--method", "plain", "--dry", "--units", "1:CPU:1")
        self.assertRegex(done.stdout, r"(?s)vertices 2562, triangles 5120.*a run: \d+ steps.*memory: [01]\.\d+ GB.*time: about")
        on_disk = self.evener("run", "td-bem", "--mesh", "sphere:4", "--method", "plain", "--dry", "--memory", "200MB").stdout
        self.assertRegex(on_disk, r"of which there are 0\.2 GB here; with 0\.4\d* GB on disk")
