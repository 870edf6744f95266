#!/usr/bin/env python3
"""What td-bem writes, read by readers of the formats that share nothing with the writers: every format of an output holds the same numbers.

Run: ctest -R '^command-tdbem-outputs$', or tests/command/test_tdbem_outputs.py build/evener [test ..]
"""
import ast
import cmath
import ctypes
import math
import os
import re
import struct
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
import zipfile

import base
from test_tdbem_admittance import hankel

BODY = ["--mesh", "sphere:1", "--units", "1:CPU:1", "--quiet"]


def npz(path):
    """Arrays of an NPZ file by name: (shape, values, rows first)."""
    arrays = {}
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        for name in z.namelist():
            data = z.read(name)
            assert name.endswith(".npy") and data[:8] == b"\x93NUMPY\x01\x00", name
            begin = 10 + struct.unpack_from("<H", data, 8)[0]
            head = ast.literal_eval(data[10:begin].decode("ascii"))
            assert begin % 64 == 0 and head["fortran_order"] is False
            kind = {"<f8": "d", "<c16": "d", "<i4": "i"}[head["descr"]]
            count = 2 if head["descr"] == "<c16" else 1
            for size in head["shape"]:
                count *= size
            values = struct.unpack_from(f"<{count}{kind}", data, begin)
            assert len(data) == begin + struct.calcsize(f"<{count}{kind}")
            if head["descr"] == "<c16":
                values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
            arrays[name[:-4]] = (head["shape"], list(values))
    return arrays


def library(name):
    """The C library, or None."""
    for file in {"netcdf": ("libnetcdf.so.19", "libnetcdf.so.22", "libnetcdf.so"), "mysofa": ("libmysofa.so.1",)}[name]:
        try:
            return ctypes.CDLL(file)
        except OSError:
            pass
    return None


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", *words, **options)


class Formats(Base):
    def test_same_numbers(self):
        """CSV and NPZ of one run, in which no number is 0 that should not be."""
        words = [*BODY, "--steps", "60", "--probes", self.write("points", "0 0 2\n2 0 0\n"), "--vertices", "0,8,41",
                 "--frequencies", "0.5,1"]
        for end in "csv", "npz":
            self.evener(*words, "--probe-output", f"p.{end}", "--vertex-output", f"v.{end}", "--spectrum", f"s.{end}",
                        "--far-field", f"f.{end}")
        _, rows = self.table("p.csv")
        z = npz(self.path("p.npz"))
        self.assertEqual(z["t"], ((61,), [row[0] for row in rows]))
        self.assertEqual(z["scattered"], ((61, 2), [x for row in rows for x in row[1::2]]))
        self.assertEqual(z["total"], ((61, 2), [x for row in rows for x in row[2::2]]))
        self.assertEqual(z["point"], ((2, 3), [0, 0, 2, 2, 0, 0]))
        self.assertEqual(z["c"], ((), [1]))
        self.assertGreater(max(z["scattered"][1]), 0.005)
        _, rows = self.table("v.csv")
        z = npz(self.path("v.npz"))
        self.assertEqual(z["t"], ((61,), [row[1] for row in rows]))
        self.assertEqual(z["a"], ((61, 3), [x for row in rows for x in row[2:]]))
        self.assertEqual(z["vertex"], ((3,), [0, 8, 41]))
        _, rows = self.table("s.csv")
        z = npz(self.path("s.npz"))
        self.assertEqual((z["w"], z["vertex"]), (((2,), [0.5, 1]), ((42,), [row[0] for row in rows])))
        self.near(z["x"], (42, 3), [x for row in rows for x in row[1:4]])
        self.near(z["spectrum"], (2, 42), [complex(*row[4 + 2 * f:6 + 2 * f]) for f in range(2) for row in rows])
        _, rows = self.table("f.csv")
        z = npz(self.path("f.npz"))
        self.assertEqual(z["theta"], ((37,), list(range(0, 181, 5))))
        self.near(z["direction"], (2, 37, 3), [x for row in rows[:74] for x in row[3:6]])
        self.near(z["F"], (2, 2, 37), [complex(*row[6:8]) for row in rows])

    def near(self, array, shape, values):
        """Nine digits, as these tables have."""
        self.assertEqual((array[0], len(array[1])), (shape, len(values)))
        for a, b in zip(array[1], values):
            self.assertLess(abs(a - b), 1e-8 * abs(b) + 1e-15)

    def test_ends(self):
        """An end that means no format of this output is refused, with those that do; a name without one is CSV."""
        outputs = {"--probe-output": ["--probes", self.write("points", "0 0 2\n")], "--vertex-output": ["--vertices", "0"],
                   "--spectrum": ["--frequencies", "1"], "--far-field": ["--frequencies", "1"]}
        for option, words in outputs.items():
            for name in "p.wav", "p.csv.gz", "p.", ".x":
                self.refuses([*BODY, *words, option, name], name, "expected a name that ends with", ".csv", ".npz")
        self.evener(*BODY, "--steps", "2", *outputs["--probe-output"], "--probe-output", "p.d.NPZ")
        self.assertEqual(npz(self.path("p.d.NPZ"))["t"][0], (3,))
        for name in "plain", "./plain", "p.CSV":
            self.evener(*BODY, "--steps", "2", *outputs["--probe-output"], "--probe-output", name)
            self.assertEqual(len(self.table(name)[1]), 3)


def rigid_sphere(k, x):
    """Total pressure at x around a rigid sphere of radius 1, over that of a wave along z at the origin; exp(-i w t)."""
    r, count = math.dist(x, (0, 0, 0)), 20
    near, far = hankel(k, count), hankel(k * r, count)
    regular = [h.real for h in near]
    legendre = [1, x[2] / r]
    for n in range(1, count):
        legendre.append(((2 * n + 1) * legendre[1] * legendre[n] - n * legendre[n - 1]) / (n + 1))

    def slope(f, n):
        return f[n - 1] - (n + 1) / k * f[n] if n else -f[1]
    return sum((2 * n + 1) * 1j ** n * legendre[n] * (far[n].real - slope(regular, n) / slope(near, n) * far[n])
               for n in range(count - 2))


class Responses(Base):
    POINTS = (0, 0, 2), (1.5, 0, 0), (0, 0.5, -1.25)

    def wav(self, name):
        """Sample rate and samples, a list a channel."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        self.assertEqual((data[:4], data[8:16], data[38:42], data[50:54]), (b"RIFF", b"WAVEfmt ", b"fact", b"data"))
        self.assertEqual(struct.unpack_from("<I", data, 4)[0], len(data) - 8)
        size, tag, channels, rate, second, block, bits, extra = struct.unpack_from("<IHHIIHHH", data, 16)
        self.assertEqual((size, tag, second, block, bits, extra), (18, 3, rate * 4 * channels, 4 * channels, 32, 0))
        count, = struct.unpack_from("<I", data, 46)
        self.assertEqual(struct.unpack_from("<I", data, 54)[0], count * block)
        self.assertEqual(len(data), 58 + count * block)
        samples = struct.unpack_from(f"<{count * channels}f", data, 58)
        return rate, [samples[c::channels] for c in range(channels)]

    def test_sphere(self):
        """Transfer functions are the series', their differences the wave itself; filters have them as their transforms, at any rate."""
        words = ["--mesh", "sphere:2", "--units", "1:CPU:1", "--speed", "2", "--probes",
                 self.write("points", "".join("%g %g %g\n" % x for x in self.POINTS))]
        self.evener(*words, "--quiet", "--transfer-function", "h.npz", "--impulse-response", "i.npz")
        page = self.evener(*words, "--transfer-function", "h.csv", "--impulse-response", "i.wav", "--sample-rate", "40").stdout
        z, (_, rows) = npz(self.path("h.npz")), self.table("h.csv")
        w, shape = z["w"][1], (len(rows), 3)
        self.assertEqual((z["w"][0], z["scattered"][0], z["total"][0], z["point"]), (shape[:1], shape, shape, ((3, 3), [c for x in self.POINTS for c in x])))
        for f, row in enumerate(rows):
            self.assertEqual(row[0], w[f])
            for p, x in enumerate(self.POINTS):
                scattered, total = z["scattered"][1][3 * f + p], z["total"][1][3 * f + p]
                self.assertEqual(row[1 + 4 * p:5 + 4 * p], [scattered.real, scattered.imag, total.real, total.imag])
                self.assertLess(abs(total - scattered - cmath.exp(1j * w[f] * x[2] / 2)), 1e-5)
                if 0 < w[f] < 2.5:
                    self.assertLess(abs(total - rigid_sphere(w[f] / 2, x)), 0.01, (w[f], x))
        self.assertEqual(sum(0 < x < 2.5 for x in w), 4)
        self.assertAlmostEqual(w[-1], 5.058, delta=w[1])  # where the pulse is 40 dB down
        i = npz(self.path("i.npz"))
        first = int(page.split(" number ")[1].split()[0])
        for t, channels, rate in ((i["t"][1], [i["total"][1][p::3] for p in range(3)], i["rate"][1][0]),
                                  ([(n - first) / 40 for n in range(10 ** 5)], self.wav("i.wav")[1], self.wav("i.wav")[0])):
            count = len(channels[0])
            for p, x in enumerate(self.POINTS):
                for k in range(1, 4):
                    w = 2 * math.pi * k * rate / count
                    value = sum(sample * cmath.exp(1j * w * time) for time, sample in zip(t, channels[p]))
                    self.assertLess(abs(value - rigid_sphere(w / 2, x)), 0.01, (w, x))
        self.assertEqual(self.wav("i.wav")[0], 40)
        self.assertIn(0, i["t"][1])
        # a pulse that has nothing at frequency 0: nor has the filter, and no more
        done = self.evener(*words, "--impulse-response", "i.npz", "--pulse", "ricker:sigma=0.4")
        self.assertIn("without 1 that the pulse lacks", done.stdout)
        i = npz(self.path("i.npz"))
        for p, x in enumerate(self.POINTS):
            self.assertLess(abs(sum(i["total"][1][p::3])), 1e-12)
            w = 2 * math.pi * i["rate"][1][0] / len(i["t"][1])
            value = sum(sample * cmath.exp(1j * w * t) for t, sample in zip(i["t"][1], i["total"][1][p::3]))
            self.assertLess(abs(value - rigid_sphere(w / 2, x)), 0.01)

    def test_source(self):
        """Of a point source pressures are over f of f(t - r/c)/r, and times count from the source."""
        place = (0, 0, -3)
        self.evener(*BODY, "--speed", "2", "--source", "0,0,-3", "--probes", self.write("points", "0 0 -2\n1.5 0 0.5\n"),
                    "--transfer-function", "h.npz", "--impulse-response", "i.npz")
        z, i = npz(self.path("h.npz")), npz(self.path("i.npz"))
        for p, x in enumerate(((0, 0, -2), (1.5, 0, 0.5))):
            r = math.dist(place, x)
            for f, w in enumerate(z["w"][1]):
                wave = z["total"][1][2 * f + p] - z["scattered"][1][2 * f + p]
                self.assertLess(abs(wave - cmath.exp(1j * w * r / 2) / r), 1e-5, (w, x))
            wave = [a - b for a, b in zip(i["total"][1][p::2], i["scattered"][1][p::2])]
            self.assertLess(abs(i["t"][1][wave.index(max(wave))] - r / 2), 0.51 / i["rate"][1][0])

    def test_band(self):
        """Frequencies that are asked for, and nothing where the pulse has nothing."""
        words = [*BODY, "--probes", self.write("points", "0 0 2\n"), "--frequencies", "0.5,3"]
        done = self.evener(*words, "--transfer-function", "h.csv")
        self.assertRegex(done.stderr, "frequencies: the pulse .* at 1 of them")
        _, rows = self.table("h.csv")
        self.assertEqual([row[0] for row in rows], [0.5, 3])
        self.assertFalse(any(math.isnan(x) for x in rows[0]))
        self.assertTrue(all(math.isnan(x) for x in rows[1][1:]))

    def test_refused(self):
        words = [*BODY, "--probes", self.write("points", "0 0 2\n")]
        for more, *says in ((["--impulse-response", "i.mp3"], "i.mp3", ".csv", ".npz", ".wav"),
                            (["--transfer-function", "i.wav"], "i.wav", ".csv", ".npz"),
                            (["--impulse-response", "i.csv", "--sample-rate", "0.1"], "sample-rate: 0.1", "expected 0.4148 at least"),
                            (["--impulse-response", "i.wav", "--sample-rate", "10.5"], "sample-rate: 10.5", "whole number"),
                            (["--impulse-response", "i.csv", "--sample-rate", "1e300"], "sample-rate: 1e+300"),
                            (["--impulse-response", "i.csv", "--sample-rate", "0"], "--sample-rate 0", "above 0"),
                            (["--impulse-response", "i.csv", "--steps", "9"], "steps: 9", "expected 34 or more"),
                            (["--impulse-response", "i.npz", "--sample-rate", "1e7"], "i.npz", "too many")):
            self.refuses([*words, *more], *says)
        self.assertRegex(self.evener(*words, "--impulse-response", "i.wav").stderr, "warning: speed: it is 1")


def vtu(path):
    """Arrays of a VTU file by name: values."""
    with open(path, "rb") as file:
        data = file.read()
    mark = b'<AppendedData encoding="raw">\n_'
    begin = data.index(mark) + len(mark)
    head = ET.fromstring(data[:data.index(b"<AppendedData")] + b"</VTKFile>")
    assert (head.get("byte_order"), head.get("header_type")) == ("LittleEndian", "UInt64")
    arrays, end = {"points": int(head.find("./UnstructuredGrid/Piece").get("NumberOfPoints"))}, begin
    for array in head.iter("DataArray"):
        at = begin + int(array.get("offset"))
        size, = struct.unpack_from("<Q", data, at)
        kind = {"Float64": "d", "Int32": "i", "UInt8": "B"}[array.get("type")]
        arrays[array.get("Name")] = struct.unpack_from(f"<{size // struct.calcsize(kind)}{kind}", data, at + 8)
        end = max(end, at + 8 + size)
    assert data[end:] == b"\n</AppendedData>\n</VTKFile>\n"
    return arrays


class Surface(Base):
    def test_files(self):
        """Pictures that hold what they say, and one collection of them."""
        self.evener(*BODY, "--pulse", "gaussian:sigma=1.2", "--steps", "50", "--output", "out", "--every", "20", "--vertices", "0,8,41", "--vertex-output", "v.csv")
        names = ["surface_000020.vtu", "surface_000040.vtu"]
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["surface.pvd", *names])
        self.assertEqual([s.get("file") for s in ET.parse(self.path("out/surface.pvd")).getroot().findall("./Collection/DataSet")], names)
        film = vtu(self.path("out/surface_000040.vtu"))
        self.assertEqual((film["points"], sorted(film["number"]), set(film["connectivity"])), (42, list(range(42)), set(range(42))))
        self.assertEqual((set(film["types"]), film["offsets"]), ({5}, tuple(range(3, 241, 3))))
        for i in range(42):
            self.assertAlmostEqual(math.hypot(*film["Points"][3 * i:3 * i + 3]), 1, delta=1e-15)
        for number, value in zip((0, 8, 41), self.table("v.csv")[1][40][2:]):
            self.assertEqual(film["pressure"][film["number"].index(number)], value)


class Sofa(Base):
    """SOFA by libnetcdf, read by h5py, and by libmysofa, where they are."""

    def run_it(self, **options):
        words = [*BODY, "--speed", "343", "--source", "0,-3,0.5", "--probes", self.write("ears.txt", "0 0.5 1.1\n0 -1.2 0\n0.2 -1.3 0.1\n")]
        return self.evener(*words, "--impulse-response", "ears.sofa", **options), words

    def test_missing(self):
        if library("netcdf"):
            self.skipTest("libnetcdf is here")
        said = self.run_it(status=2)[0].stderr
        self.assertRegex(said, r"^evener: a \.sofa file is written by libnetcdf, .* expected it installed \(libnetcdf19\), or a name with \.wav or \.npz\n$")
        self.assertFalse(os.path.exists(self.path("ears.sofa")))

    def test_same_numbers(self):
        if not library("netcdf"):
            self.skipTest("there is no libnetcdf")
        try:
            import h5py  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("there is no h5py")
        _, words = self.run_it()
        self.evener(*words, "--impulse-response", "ears.npz", "--sample-rate", "48000")
        arrays = npz(self.path("ears.npz"))
        samples, receivers = arrays["total"][0]
        with h5py.File(self.path("ears.sofa"), "r") as sofa:
            said = {key: value.decode() if isinstance(value, bytes) else value for key, value in sofa.attrs.items()}
            self.assertEqual([said[key] for key in ("Conventions", "Version", "SOFAConventions", "SOFAConventionsVersion", "DataType", "RoomType")],
                             ["SOFA", "1.0", "GeneralFIR", "1.0", "FIR", "free field"])
            self.assertEqual(sofa["Data.IR"].shape, (1, receivers, samples))
            self.assertEqual([float(x) for x in sofa["Data.IR"][0].T.flatten()], arrays["total"][1])
            self.assertEqual([float(x) for x in sofa["ReceiverPosition"][:, :, 0].flatten()], arrays["point"][1])
            self.assertEqual([float(x) for x in sofa["SourcePosition"][0]], [0, -3, 0.5])
            self.assertEqual(float(sofa["Data.SamplingRate"][0]), 48000)
            self.assertEqual({round(float(x) / 48000 - arrays["t"][1][0], 12) for x in sofa["Data.Delay"][0]}, {0})
            self.assertEqual(len({dim[0].name for dim in sofa["Data.IR"].dims}), 3)  # dimensions have names
        if library("mysofa"):
            load = library("mysofa").mysofa_load
            load.restype = ctypes.c_void_p
            error = ctypes.c_int()
            self.assertTrue(load(self.path("ears.sofa").encode(), ctypes.byref(error)), error.value)


class Grids(Base):
    def test_plane(self):
        """A grid has the bits of probes at its points, in tables and in the series; in the body there is nothing."""
        self.evener(*BODY, "--steps", "60", "--probes", "plane:-1.5,0,-2:3,0,0:0,0.1,4:5x9", "--probe-output", "g.npz",
                    "--transfer-function", "h.npz", "--output", "film", "--every", "30")
        z = npz(self.path("g.npz"))
        self.assertEqual((z["grid"], z["point"][0]), (((2,), [5, 9]), (45, 3)))
        points = [tuple(z["point"][1][3 * p:3 * p + 3]) for p in range(45)]
        for p, x in enumerate(points):
            for a, b in zip(x, (-1.5 + 0.75 * (p // 9), 0.1 * (p % 9) / 8, -2 + 0.5 * (p % 9))):
                self.assertAlmostEqual(a, b, delta=1e-15)
        air = [p for p, x in enumerate(points) if math.dist(x, (0, 0, 0)) > 0.95]  # the body is a polyhedron in a sphere of 1
        self.write("points", "".join("%.17g %.17g %.17g\n" % points[p] for p in air))
        self.evener(*BODY, "--steps", "60", "--probes", "points", "--probe-output", "p.npz", "--transfer-function", "q.npz")
        list_of, count = npz(self.path("p.npz")), len(air)
        self.assertTrue(20 < count < 40)
        for field in "scattered", "total":
            for n in range(61):
                row = z[field][1][45 * n:45 * n + 45]
                self.assertEqual([row[p] for p in air], list_of[field][1][count * n:count * n + count])
                self.assertEqual([p for p in range(45) if not math.isnan(row[p])], air)
        h, q = npz(self.path("h.npz")), npz(self.path("q.npz"))
        self.assertEqual([h["total"][1][45 * f + p] for f in range(len(h["w"][1])) for p in air], q["total"][1])
        self.assertEqual(sorted(os.listdir(self.path("film"))), ["probes.pvd", "probes_000030.vtu", "probes_000060.vtu", "surface.pvd",
                                                                 "surface_000030.vtu", "surface_000060.vtu"])
        sets = ET.parse(self.path("film/probes.pvd")).getroot().findall("./Collection/DataSet")
        self.assertEqual([(float(s.get("timestep")), s.get("file")) for s in sets],
                         [(z["t"][1][n], f"probes_{n:06}.vtu") for n in (30, 60)])
        for n in 30, 60:
            film = vtu(self.path(f"film/probes_{n:06}.vtu"))
            self.assertEqual((film["points"], film["Points"]), (45, tuple(c for x in points for c in x)))
            for field in "scattered", "total":
                self.assertEqual([film[field][p] for p in air], [z[field][1][45 * n + p] for p in air])
                self.assertTrue(all(math.isnan(film[field][p]) for p in range(45) if p not in air))
            cells = [tuple(film["connectivity"][4 * c:4 * c + 4]) for c in range(len(film["types"]))]
            self.assertEqual(cells, [c for c in ((p, p + 1, p + 10, p + 9) for p in range(36) if p % 9 < 8) if set(c) <= set(air)])
            self.assertEqual((set(film["types"]), film["offsets"]), ({9}, tuple(range(4, 4 * len(cells) + 1, 4))))

    def test_sphere(self):
        """Around the body: closed. A list is points."""
        self.evener(*BODY, "--steps", "4", "--probes", "sphere:0,0,1:2.5:4x6", "--output", "film", "--every", "4")
        film = vtu(self.path("film/probes_000004.vtu"))
        for p in range(24):
            x = film["Points"][3 * p:3 * p + 3]
            self.assertAlmostEqual(math.dist(x, (0, 0, 1)), 2.5, delta=1e-14)
            self.assertAlmostEqual(x[2] - 1, 2.5 * math.cos(math.pi * (p // 6) / 3), delta=1e-14)
        self.assertEqual(len(film["types"]), 18)
        self.assertEqual(film["connectivity"][20:24], (5, 0, 6, 11))
        self.evener(*BODY, "--steps", "4", "--probes", self.write("points", "0 0 2\n2 0 0\n"), "--output", "film", "--every", "4")
        film = vtu(self.path("film/probes_000004.vtu"))
        self.assertEqual((film["types"], film["connectivity"], film["points"]), ((1, 1), (0, 1), 2))

    def test_refused(self):
        for probes, *says in (("plane:1,2:3", "plane:X,Y,Z:U,V,W:U,V,W:NxM"), ("sphere:0,0,0:-1:4x4", "radius is not above 0", "sphere:X,Y,Z:R:NxM"),
                              ("sphere:0,0:2:4x4", "sphere:X,Y,Z"), ("sphere:0,0,0:2:1x4", "2 or more"), ("sphere:0,0,0:2:4x4x", "2 or more"),
                              ("sphere:0,0,0:2:2000x2000", "a million"), ("plane:0,0,0:1,0,0:0,x,0:3x3", "item 2"), ("plane:", "plane:X,Y,Z"),
                              ("sphere:0,0,0:0.5:3x3", "all 9 of them are inside"), ("plane", "cannot be read")):
            self.refuses([*BODY, "--probes", probes, "--probe-output", "p.csv"], *says)


class Python(Base):
    def test_page(self):
        """The lines of the page docs/impulse-response.md read what such commands write."""
        if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode:
            self.skipTest("no numpy here")
        lines = re.search(r"^    import numpy as np\n(?:    .*\n)+", self.read(os.path.join(base.SOURCE, "docs/impulse-response.md")), re.M)[0]
        head = [*BODY, "--scale", "0.0875", "--speed", "343", "--direction", "0,-1,0"]
        self.evener(*head, "--probes", self.write("ears.txt", "0 0.0885 0\n0 -0.0885 0\n"), "--impulse-response", "ears.npz",
                    "--transfer-function", "h.npz")
        self.evener(*head, "--probes", "plane:-0.3,-0.3,0:0.6,0,0:0,0.6,0:7x5", "--probe-output", "film.npz", "--steps", "9")
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(lines)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = done.stdout.split("\n")
        left, right = map(float, re.findall(r"-?[\d.]+", said[0]))
        self.assertTrue(-0.4 < left < -0.1 < 0.2 < right < 0.6, said[0])
        self.assertEqual([float(x) for x in said[1].strip("[]").split()], [0, 0, 0])
        self.assertRegex(said[-2], r"^largest: \S+ of \(10, 7, 5\)$")
