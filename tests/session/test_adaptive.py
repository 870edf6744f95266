"""An adaptive mesh over ranks: examples/adaptive draws the same blocks and has the same error on one process, on forked ones and under
MPI's launchers, with one unit a rank and several; by `static` blocks are on the same units, too, whichever ranks these are of. Lists with
devices are refused in one line. Run: ctest -R example-adaptive. usage: test_adaptive.py ADAPTIVE [test ..]"""

import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_heat

ADAPTIVE = ""
FINE = re.compile(r"(\d+ blocks at the end; error \d\.\de-\d\d)\n")
BLUE, ORANGE = ["#9ecae1", "#6baed6", "#3182bd", "#08519c"], ["#fdae6b", "#fd8d3c", "#e6550d", "#a63603"]


def draw(words=(), **env):
    """The picture, and the line about the error."""
    status, out, err = test_heat.run([*words, ADAPTIVE], **env)
    if status or not FINE.fullmatch(err):
        raise AssertionError((words, env, status, err))
    return out, err


def blocks(picture):
    """Places and levels of all blocks."""
    head, *lines, end = picture.splitlines(keepends=True)
    assert (head, end) == ("<svg xmlns='http://www.w3.org/2000/svg' width='800' height='360' stroke-width='5'>\n", "</svg>\n")
    paths = []
    for k, line in enumerate(lines):  # one for each change
        assert re.fullmatch(rf"(<path stroke='#\w+' d='(M[\d.]+ {6 * k + 2.5:g}h[\d.]+)+'/>)+\n", line), line
        paths += re.findall(r"stroke='(#\w+)' d='([^']+)'", line)
    level = {c: i for colours in (BLUE, ORANGE) for i, c in enumerate(colours)}
    return [(x, y, width, level[c]) for c, path in paths for x, y, width in re.findall(r"M(\S+) (\S+)h([\d.]+)", path)]


class Mesh(unittest.TestCase):
    def same(self, words=(), **env):
        picture, line = draw(words, **env)
        self.assertEqual(line, self.line, env)
        self.assertEqual(blocks(picture), self.blocks, env)

    @classmethod
    def setUpClass(cls):
        picture, cls.line = draw(EVENER_UNITS="1:CPU:1")
        cls.blocks = blocks(picture)
        rows = {}
        for x, y, width, level in cls.blocks:
            rows.setdefault(y, []).append((float(x), float(width) + 0.5, level))
        assert len(rows) == 60
        for row in rows.values():  # a line without holes, whose neighbours differ by one level
            assert row[0][0] == 0 and row[-1][0] + row[-1][1] == 800
            for (x, width, level), (at, _, other) in zip(row, row[1:]):
                assert x + width == at and abs(level - other) < 2
            assert all(width == 50 / 2 ** level for _, width, level in row)


class Processes(Mesh):
    def test_units(self):
        self.same(EVENER_UNITS="3:CPU:1", EVENER_SCHEDULE="guided:time")

    def test_processes(self):
        self.same(EVENER_PROCESSES="2", EVENER_UNITS="1:CPU:1")
        self.same(EVENER_PROCESSES="3", EVENER_UNITS="1:CPU:1")

    def test_five(self):
        self.same(EVENER_PROCESSES="5", EVENER_UNITS="1:CPU:1")

    def test_units_of_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "record.json")
            self.same(EVENER_PROCESSES="2", EVENER_UNITS="2:CPU:1", EVENER_RECORD=file)
            with open(file, encoding="utf-8") as of:
                record = json.load(of)
        self.assertEqual((len(record["ranks"]), len(record["units"])), (2, 4))
        self.assertEqual(record["steps"], 24000)
        self.assertGreater(sum(c["born"] for c in record["loops"][0]["changes"]), 20)

    def test_static(self):
        """The owners, too: units have the same numbers on any ranks."""
        pictures = {draw(EVENER_SCHEDULE="static", EVENER_PROCESSES=str(p), EVENER_UNITS=f"{4 // p}:CPU:1") for p in (1, 2, 4)}
        self.assertEqual(len(pictures), 1)
        for colours in BLUE, ORANGE:
            self.assertTrue(all(c in next(iter(pictures))[0] for c in colours))

    def test_devices(self):
        for processes in "1", "2":
            status, out, err = test_heat.run([ADAPTIVE], EVENER_PROCESSES=processes, EVENER_UNITS="1:CPU:1,1:GPU:1", EVENER_DEVICES="emulated")
            self.assertEqual((status, out), (1, ""))
            self.assertRegex(err, r'\Aadaptive: [^\n]*its bodies run on cores, not on "1:CPU:1,1:GPU:1"[^\n]*\n\Z')


class Launchers(Mesh):
    def test_launchers(self):
        for launcher, file in self.launchers:
            for ranks, units in (2, "1:CPU:1"), (3, "1:CPU:1"), (2, "2:CPU:1"):
                with self.subTest(launcher=launcher, ranks=ranks, units=units):
                    self.same([*launcher, "-n", str(ranks)], EVENER_WIRE=file, EVENER_UNITS=units)

    @classmethod
    def setUpClass(cls):
        cls.launchers = list(test_heat.launchers())
        if not cls.launchers:
            raise unittest.SkipTest("no MPI here")
        super().setUpClass()


if __name__ == "__main__":
    ADAPTIVE = test_heat.HEAT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
