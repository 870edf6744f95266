#!/usr/bin/env python3
"""TD-BEM with locally reacting surfaces (`--admittance`): the sphere's spectra and directivity against the series, for admittances that are numbers and
for a resonant filter, by refinement; what is rigid has the bits of rigid; parts of meshes by their names. The same bits whichever way it is computed are test_hash.py's.

Run: ctest -R command-tdbem-admittance, or tests/command/test_tdbem_admittance.py build/evener [test ..]
"""
import math

from base import Base

FILTER = "# a resonant panel\ninstant 0.05\npole -0.2 1 0.15 0.02\npole -3 0 -0.1 0\n"


def filter_at(w):
    s, p = -1j * w, -0.2 + 1j
    return 0.05 + (0.15 + 0.02j) / (s - p) + (0.15 - 0.02j) / (s - p.conjugate()) - 0.1 / (s + 3)


def hankel(x, count):
    """h_n(x) = j_n + i y_n: y_n upward, j_n downward from far beyond the last one."""
    j = [0.0] * (count + 42)
    j[-2] = 1e-200
    for n in range(len(j) - 2, 0, -1):
        j[n - 1] = (2 * n + 1) / x * j[n] - j[n + 1]
        if abs(j[n - 1]) > 1e150:
            j = [v * 1e-150 for v in j]
    scale = math.sin(x) / x / j[0] if abs(math.sin(x)) > 0.1 else (math.sin(x) / x - math.cos(x)) / x / j[1]
    y = [-math.cos(x) / x, -(math.cos(x) / x + math.sin(x)) / x]
    while len(y) < count:
        y.append((2 * len(y) - 1) / x * y[-1] - y[-2])
    return [complex(scale * j[n], y[n]) for n in range(count)]


def sphere(x, beta, z):
    """Total pressure on the unit sphere and F of the scattered one, at k = x, where the wave's direction and the point's have the cosine z; dp/dr =
    -i x beta p there."""
    terms = int(x + 4.05 * x ** (1 / 3) + 12)
    h = hankel(x, terms + 1)
    surface = far = 0
    last, p = 0, 1
    for n in range(terms):
        slope = h[n - 1] - (n + 1) / x * h[n] if n else -h[1]
        whole = slope + 1j * beta * h[n]
        surface += (2 * n + 1) * 1j ** n * 1j / x ** 2 / whole * p
        far += (2 * n + 1) * 1j / x * (slope.real + 1j * beta * h[n].real) / whole * p
        last, p = p, ((2 * n + 1) * z * p - n * last) / (n + 1)
    return surface, far


def distance(pairs):
    return math.sqrt(sum(abs(a - b) ** 2 for a, b in pairs) / sum(abs(b) ** 2 for _, b in pairs))


class Case(Base):
    def march(self, *words, mesh="sphere:1", **options):
        return self.record("run", "td-bem", "--mesh", mesh, "--units", "1:CPU:1", *words, said=None, **options)

    def filter(self, text=FILTER):
        return self.write("panel.filter", text)


class Series(Case):
    W = (0.5, 1.0)

    def errors(self, mesh, admittance, value, *more):
        """Of the surface and of the directivity, at each frequency."""
        self.march("--admittance", admittance, "--pulse", "gaussian:sigma=0.8", "--frequencies", ",".join(map(str, self.W)), "--spectrum", "s.csv",
                   "--far-field", "f.csv", "--quad", "0", *more, mesh=mesh)
        rows = [[float(x) for x in row.split(",")] for row in self.read("s.csv").splitlines()[2:]]
        far = [[float(x) for x in row.split(",")] for row in self.read("f.csv").splitlines()[2:]]
        found = []
        for i, w in enumerate(self.W):
            pairs = [(complex(*row[4 + 2 * i:6 + 2 * i]), sphere(w, value(w), row[3] / math.hypot(*row[1:4]))[0]) for row in rows]
            found.append((distance(pairs), distance([(complex(row[6], row[7]), sphere(w, value(w), math.cos(math.radians(row[2])))[1])
                                                     for row in far if row[0] == w])))
        return found

    def check(self, admittance, value, *more):
        coarse, fine = (self.errors(mesh, admittance, value, *more) for mesh in ("sphere:1", "sphere:2"))
        for a, b in zip(coarse, fine):
            self.assertLess(b[0], 0.009, (coarse, fine))
            self.assertLess(b[1], 0.035, (coarse, fine))
            self.assertGreater(a[0] / b[0], 3.2, (coarse, fine))  # second order: 4
            self.assertGreater(a[1] / b[1], 3.2, (coarse, fine))
        return fine

    def test_numbers(self):
        self.check("0.2", lambda w: 0.2)
        self.check("1", lambda w: 1)

    def test_filter(self):
        self.check(self.filter(), filter_at, "--steps", "400")
        # the series would tell another filter
        wrong = self.errors("sphere:2", self.filter(FILTER.replace("-0.2 1", "-0.2 1.1")), filter_at, "--steps", "400")
        self.assertGreater(wrong[1][0], 0.02)


class Late(Case):
    def test_nothing_is_left(self):
        for admittance in ("0.2", "1", self.filter()):
            with self.subTest(admittance=admittance):
                r = self.march("--admittance", admittance, "--steps", "3000")
                self.assertLess(r["norms"]["latest"], 1e-10 * r["norms"]["most"])

    def test_null_field(self):
        r = self.march("--admittance", self.filter(), "--steps", "150", mesh="sphere:2")
        self.assertLess(r["null_field"], 0.06)


class Bits(Case):
    def test_restart(self):
        """What the filter has in it is the checkpoint's, and another surface is another run."""
        whole = self.march("--admittance", self.filter(), "--steps", "64")
        self.march("--admittance", self.filter(), "--steps", "32", "--checkpoint", "state")
        self.assertEqual(self.march("--admittance", self.filter(), "--steps", "64", "--restart", "state")["hash"], whole["hash"])
        self.assertNotEqual(whole["hash"], self.march("--steps", "64")["hash"])
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--steps", "64", "--quiet", "--restart", "state"], "another run")
        self.march("--admittance", self.filter(), "--steps", "8", "--matrices", "m")
        self.refuses(["run", "td-bem", "--mesh", "sphere:1", "--admittance", "0.3", "--quiet", "--matrices", "m"], "other admittances")

    def test_rigid(self):
        for words in ([], ["--precision", "float"], ["--eta", "0.7"], ["--layout", "contiguous"]):
            with self.subTest(words=words):
                self.assertEqual(self.march("--admittance", "0", *words, "--steps", "60")["hash"], self.march(*words, "--steps", "60")["hash"])


def icosahedron():
    g = (1 + math.sqrt(5)) / 2
    points = [(a, b * g, 0) for a in (-1, 1) for b in (-1, 1)] + [(0, a, b * g) for a in (-1, 1) for b in (-1, 1)] + \
        [(b * g, 0, a) for a in (-1, 1) for b in (-1, 1)]
    near = [[math.dist(p, q) < 2.1 and p != q for q in points] for p in points]
    return points, [(a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a][b] and near[b][c] and near[a][c]]


class Parts(Case):
    def meshes(self):
        """One body in four ways, its two halves named."""
        points, faces = icosahedron()
        part = ["upper" if sum(points[v][2] for v in face) > 0 else "lower" for face in faces]
        for word in ("g", "usemtl"):
            lines, now = ["v %.17g %.17g %.17g" % p for p in points], None
            for name, face in zip(part, faces):
                lines += ([f"{word} {name}"] if name != now else []) + ["f " + " ".join(str(v + 1) for v in face)]
                now = name
            self.write(f"{word}.obj", "\n".join(lines) + "\n")
        number = {"upper": 7, "lower": 3}
        names = '$PhysicalNames\n3\n1 7 "rim"\n2 7 "upper"\n2 3 "lower"\n$EndPhysicalNames\n'
        nodes = ["%d %.17g %.17g %.17g" % (i + 1, *p) for i, p in enumerate(points)]
        self.write("two.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + names + "$Nodes\n12\n" + "\n".join(nodes) + "\n$EndNodes\n$Elements\n20\n" + "\n".join(
            f"{i + 1} 2 2 {number[n]} {number[n]} " + " ".join(str(v + 1) for v in f) for i, (n, f) in enumerate(zip(part, faces))) + "\n$EndElements\n")
        blocks = ""
        for entity, name in ((1, "upper"), (2, "lower")):
            own = [f for n, f in zip(part, faces) if n == name]
            blocks += f"2 {entity} 2 {len(own)}\n" + "".join(f"{entity * 100 + i} " + " ".join(str(v + 1) for v in f) + "\n" for i, f in enumerate(own))
        self.write("four.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + names +
                   "$Entities\n1 1 2 0\n1 0 0 0 0\n1 0 0 0 1 1 1 1 7 1 1\n1 0 0 0 1 1 1 1 7 0\n2 0 0 0 1 1 1 2 3 7 1 1\n$EndEntities\n"
                   "$Nodes\n1 12 1 12\n2 1 0 12\n" + "".join(f"{i + 1}\n" for i in range(12)) + "\n".join(n.split(" ", 1)[1] for n in nodes) +
                   "\n$EndNodes\n$Elements\n2 20 1 300\n" + blocks + "$EndElements\n")
        return ["g.obj", "usemtl.obj", "two.msh", "four.msh"]

    def test_named(self):
        words = ["--steps", "40", "--delta", "0.5", "--pulse", "gaussian:sigma=1", "--order", "none", "--vertices", ",".join(map(str, range(12))), "--vertex-output", "v.csv"]

        def run(mesh, admittance):
            self.march(*words, "--admittance", admittance, mesh=mesh)
            return [float(x) for row in self.read("v.csv").splitlines()[1:] for x in row.split(",")]

        whole, half, other = run("g.obj" if self.meshes() else "", "1"), run("g.obj", "upper=1"), run("g.obj", "lower=1")
        self.assertGreater(max(abs(a - b) for a, b in zip(half, other)), 0.05)
        self.assertGreater(max(abs(a - b) for a, b in zip(half, whole)), 0.05)
        for mesh in self.meshes():
            for admittance, want in (("1", whole), ("upper=1", half), ("0,lower=1", other), ("1,upper=0", other), ("upper=1,lower=1", whole)):
                with self.subTest(mesh=mesh, admittance=admittance):
                    self.assertLess(max(abs(a - b) for a, b in zip(run(mesh, admittance), want)), 1e-12)

    def test_filter_on_a_part(self):
        """A filter without poles is the number; two parts with two filters are the whole with each in its place."""
        mesh = self.meshes()[0]
        instant, panel = self.write("i", "instant 0.3\n"), self.filter()
        run = lambda text: self.march("--steps", "60", "--delta", "0.3", "--pulse", "gaussian:sigma=1", "--admittance", text, mesh=mesh)["norms"]["most"]
        self.assertAlmostEqual(run(f"upper={instant}"), run("upper=0.3"), delta=1e-13)
        self.write("panel2", FILTER)
        self.assertAlmostEqual(run(f"upper={panel},lower=panel2"), run(panel), delta=1e-13)
        self.assertNotAlmostEqual(run(f"upper={panel},lower=0.05"), run(panel), delta=1e-3)


class Refused(Case):
    def no(self, admittance, *says, mesh="sphere:1", more=()):
        self.refuses(["run", "td-bem", "--mesh", mesh, "--quiet", "--admittance", admittance, *more], *says)

    def test_words(self):
        self.no("-1", "-1 would give energy")
        self.no("there-is-none", "there-is-none", "expected a number or a filter's file")
        self.no("wall=1", '"wall" is no part', "g or usemtl")
        self.no("=1", "PART=BETA")
        self.no("wall=", "PART=BETA")
        self.no("0.2,", "PART=BETA")
        self.no("nan", "expected a number")
        self.no("0.2", "soft body has none", more=["--problem", "soft"])
        self.no("0.2", "eta above 0", more=["--eta", "0"])
        mesh = self.write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng side\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        self.no("walls=1", 'no part "walls"', "as side", mesh=mesh)

    def test_filters(self):
        for text, *says in (("# nothing\n", "nothing in it"), ("instant -1\n", "line 1", "from 0 on"), ("instant 1\ninstant 1\n", "line 2", "second"),
                            ("pole 0.1 1 1 0\n", "line 1", "below 0"), ("pole -1 -1 1 0\n", "conjugate"), ("pole -1 0 1 1\n", "real residue"),
                            ("pole -1 0 1\n", "four numbers"), ("pole -1 0 1 0 5\n", "more on the line"), ("poles -1 0 1 0\n", '"poles"'),
                            ("pole -1 0 nan 0\n", "four numbers"), ("instant 0.1\npole -0.2 1 -0.15 0\n", "not passive", "w = "),
                            # narrow: between the samples of any even grid
                            ("instant 0.1\npole -1e-4 1 -1e-4 0\n", "not passive", "w = 1"),
                            ("pole -0.2 1 0 0.15\n", "not passive"),
                            ("instant 1\npole -40 0 1 0\n", "not resolved", "expected steps of at most 0.025")):
            with self.subTest(text=text):
                self.no(self.filter(text), *says)
        self.march("--steps", "5", "--admittance", self.filter("instant 0.1\npole -1e-4 1 -0.9e-5 0\n"))

    def test_entries(self):
        self.no("0.2", "--entries", more=["--entries", self.write("e", "0 0 0\n")])
