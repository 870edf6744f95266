"""Seeds: small whole files of every format. Text lies in seeds/FORMAT; what is binary, or what evener itself writes, is made here."""
import glob
import os
import shutil
import struct
import subprocess

import box

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]  # an octahedron
CHECKPOINT_OUTPUTS = ["--vertices", "0,3", "--vertex-output", "v.csv"]
CORNERS = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]


def texts(name):
    found = []
    for path in sorted(glob.glob(os.path.join(HERE, "seeds", name, "*"))):
        with open(path, "rb") as file:
            found.append(file.read())
    return found


def words(rows):
    return b"".join(b" ".join(str(x).encode() for x in row) + b"\n" for row in rows)


def off():
    head = words([("OFF",), (len(POINTS), len(CORNERS), 0)])
    return [head + words(POINTS) + words((3, *c) for c in CORNERS), *texts("off")]


def obj():
    faces = words(("f", *(i + 1 for i in c)) for c in CORNERS)
    return [words(("v", *p) for p in POINTS) + faces, *texts("obj")]


def stl():
    text = b"solid a\n"
    for c in CORNERS:
        text += b"facet normal 0 0 0\nouter loop\n" + b"".join(b"vertex " + words([POINTS[i]]) for i in c)
        text += b"endloop\nendfacet\n"
    return [text + b"endsolid a\n"]


def stl_binary():
    data = b"binary".ljust(80) + struct.pack("<I", len(CORNERS))
    for c in CORNERS:
        data += struct.pack("<12fH", 0, 0, 0, *(x for i in c for x in POINTS[i]), 0)
    return [data]


def msh(binary):
    """Versions 2.2, 4.0 and 4.1; with a point and a line, which are passed over."""
    mark = struct.pack("<i", 1) + b"\n" if binary else b""
    n, t = len(POINTS), len(CORNERS)

    def head(version):
        return b"$MeshFormat\n" + words([(version, int(binary), 8)]) + mark + b"$EndMeshFormat\n"

    def section(name, data):
        return b"$" + name + b"\n" + data + b"\n$End" + name + b"\n"

    def pack(kinds, *values):
        return struct.pack("<" + kinds, *values) if binary else words([values])

    def whole(*parts):
        return b"".join(parts)

    nodes2 = words([(n,)]) + whole(*(pack("i3d", i + 1, *map(float, p)) for i, p in enumerate(POINTS)))
    triangles = [tuple(i + 1 for i in c) for c in CORNERS]
    if binary:
        elements2 = words([(t + 1,)]) + pack("iii", 15, 1, 2) + pack("iiii", 1, 0, 1, 1) + pack("iii", 2, t, 2)
        elements2 += whole(*(pack("i2i3i", e + 2, 0, 1, *c) for e, c in enumerate(triangles)))
    else:
        elements2 = words([(t + 1,), (1, 15, 2, 0, 1, 1)]) + words((e + 2, 2, 2, 0, 1, *c) for e, c in enumerate(triangles))
    two = head(2.2) + section(b"Nodes", nodes2) + section(b"Elements", elements2)
    nodes40 = pack("qq", 1, n) + pack("iiiq", 1, 2, 0, n)
    nodes40 += whole(*(pack("i3d", i + 1, *map(float, p)) for i, p in enumerate(POINTS)))
    elements40 = pack("qq", 1, t) + pack("iiiq", 1, 2, 2, t) + whole(*(pack("i3i", e + 1, *c) for e, c in enumerate(triangles)))
    forty = head("4" if not binary else "4.0") + section(b"Nodes", nodes40) + section(b"Elements", elements40)
    nodes41 = pack("4q", 1, n, 1, n) + pack("3iq", 2, 1, 0, n)
    nodes41 += whole(*(pack("q", i + 1) for i in range(n))) + whole(*(pack("3d", *map(float, p)) for p in POINTS))
    elements41 = pack("4q", 2, t + 1, 1, t + 1) + pack("3iq", 0, 1, 15, 1) + pack("qq", 1, 1) + pack("3iq", 2, 1, 2, t)
    elements41 += whole(*(pack("4q", e + 2, *c) for e, c in enumerate(triangles)))
    return [two, forty, head(4.1) + section(b"Nodes", nodes41) + section(b"Elements", elements41)]


class Maker:
    """Files that evener writes: each command runs once, in one folder."""

    def __init__(self, evener):
        self.evener, self.folder = evener, box.new_folder()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self, *words, **environment):
        merged = {**self.evener.environment(self.folder), **environment}
        done = subprocess.run([self.evener.path, *words], cwd=f"{self.folder}/work", env=merged, capture_output=True,
                              timeout=600)
        if done.returncode:
            raise RuntimeError(f"a seed cannot be made: evener {' '.join(words)}: {done.stderr.decode(errors='replace')}")

    def read(self, place):
        with open(os.path.join(self.folder, place), "rb") as file:
            return file.read()

    def records(self, app="bt-mz"):
        """Records of runs: on cores, on a device too."""
        body = ["--mesh", "sphere:0"] if app == "td-bem" else []
        self.make("run", app, *body, "--steps", "3", "--json", "a.json", "--quiet")
        self.make("run", app, *body, "--steps", "2", "--json", "b.json", "--quiet", "--units", "1:CPU:1,1:GPU:1", "--devices",
                  "emulated")
        return [self.read("work/a.json"), self.read("work/b.json")]

    def plans(self):
        self.make("plan", "bt-mz", "--json", "p.json", "--quiet", "--units", "2:CPU:1")
        return [self.read("work/p.json")]

    def calibration(self):
        """(place, content) of the file that calibrate keeps, wherever that is."""
        self.make("calibrate", "bt-mz", "--units", "1:CPU:1", "--steps", "1", "--quiet", EVENER_CACHE=f"{self.folder}/tmp")
        found = [(p, c[1]) for p, c in box.tree(self.folder).items() if p.startswith("home/.cache/evener") and c[0] == "file"]
        return max(found, key=lambda one: len(one[1]))

    def checkpoints(self):
        for every in ("7", "10"):
            self.make("run", "td-bem", "--mesh", "sphere:0", "--steps", "20", "--every", every, "--quiet", "--checkpoint", every,
                      *CHECKPOINT_OUTPUTS)
        return [self.read("work/7"), self.read("work/10")]

    def states(self, app, *size):
        """Of a run that rank 0 alone has kept, and of two ranks."""
        words = ["run", app, *size, "--steps", "2", "--quiet", "--units", "1:CPU:1", "--checkpoint"]
        self.make(*words, "one")
        # without its options: what they watch memory with is a thread, beside which no ranks are forked
        self.make(*words, "two", "--processes", "2", "--oversubscribe", ASAN_OPTIONS="detect_leaks=1")
        return [self.read("work/one"), self.read("work/two")]

    def matrices(self):
        self.make("run", "td-bem", "--mesh", "sphere:0", "--steps", "2", "--quiet", "--matrices", "m")
        return [self.read("work/m")]

    def kernels(self):
        """Compiled kernels, by their place in the cache; none where there is no OpenCL, or a sanitizer: PoCL takes a minute then."""
        if self.evener.sanitized:
            return []
        try:
            self.make("run", "bt-mz", "--steps", "1", "--quiet", "--units", "1:GPU:1", "--devices", "opencl",
                      EVENER_CACHE=f"{self.folder}/kernels")
        except RuntimeError:
            return []
        return sorted((p, c[1]) for p, c in box.tree(self.folder).items() if p.endswith(".bin"))
