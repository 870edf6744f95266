#!/usr/bin/env python3
"""What td-bem writes, read by readers of the formats that share nothing with the writers: every format of an output holds the same numbers.

Run: ctest -R '^command-tdbem-outputs$', or tests/command/test_tdbem_outputs.py build/evener [test ..]
"""
import ast
import csv
import struct
import unittest
import zipfile

import base

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


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", *words, **options)

    def table(self, name):
        """Rows of a CSV file behind its comments: of words, then of numbers."""
        rows = list(csv.reader(line for line in self.read(name).split("\n") if line and line[0] != "#"))
        return rows[0], [[float(x) for x in row] for row in rows[1:]]


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


if __name__ == "__main__":
    unittest.main()
