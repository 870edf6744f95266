#!/usr/bin/env python3
"""TD-BEM on meshes drawn by chance: degenerate, doubled, open, non-manifold, touching, overlapping, turned, tiny and huge ones, random triangles and
coordinates that are no numbers are computed with numbers, or refused with a line that says why.
Run: ctest -R command-meshes. usage: test_meshes.py EVENER [MESHES]; more than the test's find more, best with a sanitized command"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

EVENER = ""
MESHES, STEPS = 40, 2
TETRAHEDRON = ([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
OCTAHEDRON = ([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]],
              [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


def body(chance):
    vertices, triangles = chance.choice((TETRAHEDRON, OCTAHEDRON))
    return [list(v) for v in vertices], [list(t) for t in triangles]


def coincide(chance, v, t):
    v[chance.randrange(len(v))] = list(chance.choice(v))


def collapse(chance, v, t):
    corner = chance.choice(t)
    corner[0] = corner[1]


def double(chance, v, t):
    t.append(list(chance.choice(t)))


def stray(chance, v, t):
    t.append([chance.randrange(len(v)) for _ in range(3)])


def hole(chance, v, t):
    if len(t) > 1:
        t.pop(chance.randrange(len(t)))


def turn(chance, v, t):
    for triangle in (t if chance.random() < 0.5 else [chance.choice(t)]):
        triangle.reverse()


def scale(chance, v, t):
    factor = [chance.choice((1, 1, 1e-6, 1e-30, 1e30, 1e-160, 1e160, 0)) for _ in range(3)]
    v[:] = [[a * b for a, b in zip(x, factor)] for x in v]


def second(chance, v, t):
    w, u = body(chance)
    by, first = chance.choice((0, 1e-9, 0.5, 2, 5)), len(v)
    v += [[x[0] + by, *x[1:]] for x in w]
    t += [[i + first for i in triangle] for triangle in u]


def pinch(chance, v, t):
    w, u = body(chance)
    shared, first = chance.randrange(len(v)), len(v) - 1
    v += [[x[0] + 3, *x[1:]] for x in w[1:]]
    t += [[shared if i == 0 else i + first for i in triangle] for triangle in u]


def unused(chance, v, t):
    v += [[chance.random() for _ in range(3)] for _ in range(3)]


def beyond(chance, v, t):
    chance.choice(t)[chance.randrange(3)] = chance.choice((-1, len(v), 10**10))


def strange(chance, v, t):
    chance.choice(v)[chance.randrange(3)] = chance.choice((math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0))


def soup(chance, v, t):
    v[:] = [[chance.uniform(-1, 1) for _ in range(3)] for _ in range(chance.randint(0, 30))]
    t[:] = [[chance.randrange(len(v) or 1) for _ in range(3)] for _ in range(chance.randint(0, 40))]


CHANGES = (strange, soup, coincide, collapse, double, stray, hole, turn, scale, second, pinch, unused, beyond)


class Meshes(unittest.TestCase):
    def run_on(self, v, t):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "body.off")
            with open(path, "w") as file:
                file.write(f"OFF\n{len(v)} {len(t)} 0\n")
                file.writelines("%.17g %.17g %.17g\n" % tuple(x) for x in v)
                file.writelines("3 %d %d %d\n" % tuple(x) for x in t)
            return subprocess.run([EVENER, "run", "td-bem", "--mesh", path, "--steps", str(STEPS), "--units", "1:CPU:1", "--quiet",
                                   "--json", "-"], capture_output=True, text=True, timeout=60)

    def test_by_chance(self):
        statuses = set()
        for seed in range(MESHES):
            chance = random.Random(seed)
            v, t = body(chance)
            changes = [chance.choice(CHANGES) for _ in range(chance.randint(0, 3))]
            for change in changes:
                if v and t:
                    change(chance, v, t)
            with self.subTest(seed=seed, changes=[c.__name__ for c in changes]):
                done = self.run_on(v, t)
                statuses.add(done.returncode)
                self.assertIn(done.returncode, (0, 2, 3), done.stderr)
                if done.returncode:
                    last = done.stderr.splitlines()[-1]
                    self.assertTrue(last.startswith("evener: ") and "body.off" in last or done.returncode == 3, done.stderr)
                else:
                    norms = json.loads(done.stdout)["norms"]
                    self.assertTrue(all(math.isfinite(x) for name, x in norms.items() if x is not None or name != "latest"), norms)
        self.assertEqual(statuses & {0, 2}, {0, 2})


if __name__ == "__main__":
    EVENER = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        MESHES = int(sys.argv.pop(1))
    unittest.main()
