#!/usr/bin/env python3
"""evener mesh, and run td-bem --dry: what a mesh is like, what is written of it, what is refused, and whether a run needs what was said.
Run: ctest -R command-mesh, or tests/command/test_mesh.py build/evener [test ..]"""
import json
import unittest

from base import Base

CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
FACES = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"


class Mesh(Base):
    def described(self, *words):
        return json.loads(self.evener("mesh", *words, "--json", "-").stdout)

    def test_what_it_is_like(self):
        self.write("cube.obj", CUBE + FACES)
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

    def test_refusals(self):
        self.write("cube.obj", CUBE + FACES)
        self.write("open.obj", CUBE + "\n".join(FACES.splitlines()[1:]))
        self.refuses(["mesh", "open.obj"], "open.obj: the surface is open", "4 such edges", "close its holes")
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
        weight = self.record("plan", "td-bem", "--mesh", "box:3,1,0.2,0.035", "--units", "2:CPU:1")["weight"]
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
        done = self.evener("run", "td-bem", "--mesh", "sphere:4", "--dry", "--units", "1:CPU:1")
        self.assertRegex(done.stdout, r"(?s)vertices 2562, triangles 5120.*a run: \d+ steps.*memory: [01]\.\d+ GB.*time: about")
        on_disk = self.evener("run", "td-bem", "--mesh", "sphere:4", "--dry", "--memory", "200MB").stdout
        self.assertRegex(on_disk, r"of which there are 0\.2 GB here; with 0\.4\d* GB on disk")


if __name__ == "__main__":
    unittest.main()
