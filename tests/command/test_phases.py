"""What phases take on devices: evener run --phases on the page, in the record, in its report; bench npbmz beside the floor; what is refused.

The virtual clock of emulated devices makes times exact: a launch takes 4 us, an item 1 ns.

    python3 tests/command/test_phases.py COMMAND
"""

import json
import os

import base
import report_page
from base import Base

BENCH = "bench npbmz --class S --steps 2 --repeat 1"
VIRTUAL = "emulated:{},clock=virtual,launch=4us,item=1ns"


def run(what, more="--phases"):
    done = base.evener(*f"run {what} --quiet --oversubscribe --json - {more}".split())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Words(Base):
    def evener(self, *words, **options):
        return super().evener(*" ".join(words).split(), **options)


class Record(Words):
    def check(self, what, expected, steps, devices=1):
        record = run(f"{what} --units {devices}:GPU:1 --devices {VIRTUAL.format(devices)}")
        self.assertEqual(len(record["devices"]), devices)
        for device in record["devices"]:
            phases = device["phases"]
            self.assertTrue(set(expected) <= set(phases), phases)
            self.assertEqual(sum(p["launches"] for p in phases.values()), device["launches"])
            for name in expected:
                self.assertEqual(phases[name]["launches"] % steps, 0, name)
            for phase in phases.values():
                self.assertGreater(phase["seconds"], 4e-6 * phase["launches"])
        return record

    def test_phases(self):
        """NPB-MZ by its own names, and the times as the clock has them: a step's are the same in each step."""
        for app in ("bt-mz", "sp-mz"):
            two = self.check(f"{app} --class S --steps 2", ("rhs", "xsolve", "ysolve", "zsolve", "exchange_copy8"), 2)
            six = self.check(f"{app} --class S --steps 6", ("rhs", "xsolve", "ysolve", "zsolve", "exchange_copy8"), 6)
            for name, phase in two["devices"][0]["phases"].items():
                self.assertAlmostEqual(3 * phase["seconds"], six["devices"][0]["phases"][name]["seconds"], places=11)
        self.check("lu-mz --class S --steps 3", ("lower", "upper", "rhs"), 3)
        self.check("sp-mz --class S --steps 2", ("rhs", "xsolve", "ysolve", "zsolve"), 2, devices=2)

    def test_others(self):
        """Other workloads by their kernels' names."""
        self.check("ft --class S", ("ft_lines", "ft_rows"), 1)
        self.check("mg --class S", ("mg_down", "mg_up"), 1)
        self.check("td-bem --mesh sphere:0", ("sum_rows",), 1)

    def test_bits(self):
        what = "lu-mz --class S --steps 3 --units 1:GPU:1 --devices emulated"
        self.assertEqual(run(what)["hash"], run(what, more="")["hash"])

    def test_off(self):
        record = run(f"sp-mz --class S --steps 2 --units 1:GPU:1 --devices {VIRTUAL.format(1)}", more="")
        self.assertEqual([list(d) for d in record["devices"] if "phases" in d], [])

    def test_page(self):
        done = self.evener("run sp-mz --class S --steps 2 --units 1:GPU:1 --phases --devices", VIRTUAL.format(1))
        at = done.stdout.index("\n  device 0")
        lines = [line.split()[0] for line in done.stdout[at:].strip().splitlines()]
        self.assertEqual(sorted(lines), ["device", "exchange_copy8", "rhs", "xsolve", "ysolve", "zsolve"])

    def test_lost(self):
        """Of a device that is lost nothing is known."""
        record = run("bt-mz --class S --schedule static --units 1:CPU:1,1:GPU:1 --devices emulated:fail=lost@300 --on-device-loss continue")
        self.assertEqual(record["devices"][0]["phases"], {})

    def test_ranks(self):
        record = run(f"mg --class S --units 1:GPU:1 --processes 2 --variant funneled --devices {VIRTUAL.format(1)}")
        self.assertIn("resid", record["devices"][0]["phases"])

    def test_refused(self):
        self.refuses(["run sp-mz --class S --units 1:CPU:1 --phases"],
                     "evener: --phases times devices, and no unit of --units 1:CPU:1 is a GPU; expected one, as 1:GPU:1")
        self.refuses(["run sp-mz --phases=1"], "--phases takes no value")

    def test_auto_took_none(self):
        done = self.evener("run sp-mz --class S --steps 2 --phases --quiet --json -")
        timed = any("phases" in device for device in json.loads(done.stdout).get("devices", []))
        said = "warning: --phases: --units auto took no device, so there is nothing to time" in done.stderr
        self.assertNotEqual(timed, said, done.stderr)


class Report(Words):
    @classmethod
    def setUpClass(cls):
        cls.record = run(f"sp-mz --class S --steps 2 --units 2:GPU:1 --devices {VIRTUAL.format(2)}")

    def page(self, record, status=0):
        return self.evener("report", self.write("record.json", record), "--output -", status=status)

    def drawn(self, record):
        page = self.page(record)
        with open(os.path.join(self.folder, "page.html"), "w", encoding="utf-8") as f:
            f.write(page.stdout)
        return report_page.drawn(f.name)

    def test_report(self):
        figure = report_page.figure(self.drawn(self.record), "Time of launches on devices by phase, whole run")
        rows = {(row[2], row[3]): row for row in report_page.rows(figure)}
        self.assertEqual(len(rows), sum(len(d["phases"]) for d in self.record["devices"]))
        for device in self.record["devices"]:
            for name, phase in device["phases"].items():
                row = rows[(str(device["id"]), name)]
                self.assertEqual(row[5], str(phase["launches"]))
                self.assertAlmostEqual(report_page.number(row[4]), phase["seconds"], delta=0.01 * phase["seconds"])

    def test_without(self):
        record = json.loads(json.dumps(self.record))
        for device in record["devices"]:
            del device["phases"]
        self.assertNotIn("launches on devices", report_page.words(self.drawn(record)))

    def test_bad(self):
        one = {"seconds": 1.0, "launches": 2}
        for devices, says in (
            ({}, '"devices" is no list'),
            ([3], '"devices" at entry 0 is no object'),
            ([{"phases": [one]}], '"devices[0].phases" is no object'),
            ([{}, {"phases": {"rhs": 1.0}}], '"devices[1].phases" at "rhs"'),
            ([{"phases": {"rhs": {"launches": 1}}}], 'no "devices[0].phases.rhs.seconds"'),
            ([{"phases": {"rhs": {"seconds": -1, "launches": 1}}}], '"devices[0].phases.rhs.seconds" is no number'),
            ([{"phases": {"n" * 48: one}}], "a name of up to 47 characters"),
            ([{"phases": {str(n): one for n in range(65)}}], "more than 64 entries"),
            ([{} for _ in range(1025)], "more than 1024 entries"),
        ):
            self.assertIn(says, self.page(dict(self.record, devices=devices), status=2).stderr)

    def test_many(self):
        """More names than colours, markup in a name, and no launches."""
        phases = {f"phase <b>{n}": {"seconds": 1.0, "launches": n} for n in range(40)}
        figure = report_page.figure(self.drawn(dict(self.record, devices=[{"phases": phases}, {}])), "Time of launches on devices")
        self.assertEqual([row[3] for row in report_page.rows(figure)], list(phases))
        (*each, others), = report_page.bars(figure)
        self.assertEqual((len(each), others), (23, 42.5))  # in per cent of 40 s


class Bench(Words):
    def rows(self, *words):
        done = self.evener(BENCH, *words)
        return {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.startswith("  ")}

    def test_floor(self):
        """Bytes and operations over the times of the virtual clock, of two devices, as the counts of the kernels say."""
        rows = self.rows("--apps sp-mz --units 2:GPU:1 --oversubscribe --bandwidth 100GB/s --peak 1Tflop/s --devices", VIRTUAL.format(2))
        for name, operations, size in (("rhs", 315, 136), ("xsolve", 83, 104), ("ysolve", 83, 104), ("zsolve", 83, 136)):
            _, _, _, launches, _, point, rate, peak, moved, band, floor = rows[name]
            self.assertEqual(launches, "4")
            self.assertAlmostEqual(float(point) * float(rate), operations, delta=0.02 * operations)
            self.assertAlmostEqual(float(point) * float(moved), size, delta=0.02 * size)
            self.assertAlmostEqual(float(band[:-1]), 100 * float(moved) / 200, delta=0.06)
            self.assertAlmostEqual(float(peak[:-1]), 100 * 2 * float(rate) / 2000, delta=0.06)
            self.assertAlmostEqual(float(floor[:-1]), max(float(band[:-1]), float(peak[:-1])), delta=0.01)
        self.assertIn("exchange_copy8", rows)

    def test_unknown(self):
        """A clock that is computed measures no bandwidth; one that is not does."""
        rows = self.rows("--apps bt-mz --units 1:GPU:1 --devices", VIRTUAL.format(1))
        self.assertEqual([w for w in rows["rhs"] if w == "unknown"], ["unknown"] * 3)
        self.assertEqual(rows["phases"][-1], "unknown")
        rows = self.rows("--apps lu-mz --units 1:GPU:1 --devices emulated")
        self.assertEqual([w for w in rows["lower"] if w == "unknown"], ["unknown"])
        self.assertRegex(rows["phases"][-1], "^[0-9.]+%$")

    def test_refused(self):
        for words, says in (
            ("--units 1:CPU:1,1:GPU:1 --oversubscribe --devices emulated", "cores and devices have phases of their own; expected units of one kind"),
            ("--units 1:CPU:1 --devices emulated", "--devices is about devices, and no unit of --units 1:CPU:1 is a GPU"),
            ("--units 1:CPU:1 --bandwidth 1GB/s", "--bandwidth is about devices"),
            ("--units 1:CPU:1 --peak 1Gflop/s", "--peak is about devices"),
            ("--units 1:GPU:1 --devices emulated --bandwidth 5", "--bandwidth 5: "),
            ("--units 1:GPU:1 --devices emulated --bandwidth 0GB/s", "--bandwidth 0GB/s: "),
            ("--units 1:GPU:1 --devices emulated --peak fast", "--peak fast: "),
            ("--units 1:GPU:1 --devices nothing", "nothing"),
        ):
            self.refuses([BENCH, words], says)
