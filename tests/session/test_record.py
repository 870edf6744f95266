"""A program of one's own under EVENER_RECORD and EVENER_TRACE: its record is what `evener report` takes, alone and beside others.
Run: ctest -R open-record. usage: test_record.py COMMAND PROGRAM"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../command"))
import report_page

COMMAND = PROGRAM = ""
STEPS, TASKS = 8, 48


def run(words, folder, **variables):
    environment = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith("EVENER_")}
    environment.update(variables, EVENER_OVERSUBSCRIBE="1")
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=120)


class Record(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def program(self, *words, **variables):
        done = run([PROGRAM, *words], self.folder, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def record(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file)

    def page(self, *names):
        done = run([COMMAND, "report", *names, "--output", "page.html"], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return report_page.drawn(os.path.join(self.folder, "page.html"))

    def left_out(self, page):
        return [report_page.words(p) for p in page.iter("p") if p.get("class") == "left-out"]

    def test_report(self):
        self.program("static", EVENER_UNITS="2:CPU:1", EVENER_RECORD="static.json", EVENER_TRACE="trace.json")
        record = self.record("static.json")
        self.assertEqual((record["app"], record["steps"], record["schedule"]), ("uneven", STEPS, "static"))
        self.assertEqual(record["owner"], [0] * (TASKS // 2) + [1] * (TASKS // 2))
        self.assertEqual(record["command"], PROGRAM + " static")
        self.assertGreaterEqual(record["imbalance"], 1)
        slices = [e for e in self.record("trace.json")["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(len(slices), STEPS * TASKS)
        page = self.page("static.json")
        self.assertEqual([" ".join(words.split()[:4]) for words in self.left_out(page)], ["No picture of speedups:"])
        for words in ("UNEVEN", "One step in time", "step %d" % (STEPS - 1), "task 47: computing", "2:CPU:1"):
            self.assertIn(words, report_page.words(page))

    def test_compared(self):
        names = []
        for units in ("1:CPU:1", "2:CPU:1"):
            for schedule in ("static", "guided:time"):
                names.append("%s-%s.json" % (units[0], schedule[:6]))
                self.program(EVENER_UNITS=units, EVENER_SCHEDULE=schedule, EVENER_RECORD=names[-1])
                self.assertEqual(self.record(names[-1])["schedule"], schedule)
        page = self.page(*names)
        self.assertIn("4 records of 1 workload", report_page.words(page))
        self.assertEqual(self.left_out(page), [])

    def test_devices(self):
        self.program(EVENER_UNITS="1:CPU:1,1:GPU:1", EVENER_DEVICES="emulated", EVENER_RECORD="r.json", EVENER_SCHEDULE="static")
        self.assertEqual([u["kind"] for u in self.record("r.json")["units"]], ["cpu", "gpu"])
        self.assertIn("1:CPU:1,1:GPU:1", report_page.words(self.page("r.json")))

    def test_standard_output(self):
        lines = self.program("static", EVENER_UNITS="2:CPU:1", EVENER_RECORD="-").splitlines()
        self.assertTrue(all(line.startswith("step ") for line in lines[:STEPS]))
        self.assertEqual(json.loads("\n".join(lines[STEPS:]))["steps"], STEPS)

    def test_standard_output_to_a_file(self):
        """A record into the very file that standard output goes to stands behind what was printed."""
        path = os.path.join(self.folder, "both")
        with open(path, "w", encoding="utf-8") as file:
            environment = dict(os.environ, EVENER_UNITS="1:CPU:1", EVENER_RECORD=path)
            done = subprocess.run([PROGRAM], stdout=file, env=environment, check=False, timeout=120)
        self.assertEqual(done.returncode, 0)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(len([line for line in lines if line.startswith("step ")]), STEPS)
        self.assertEqual(json.loads("\n".join(lines[STEPS:]))["steps"], STEPS)

    def test_strange_words(self):
        """A command line that is no UTF-8 and has every control character."""
        done = run([PROGRAM.encode(), bytes(range(1, 32)) + b'\xff"\\'], self.folder, EVENER_RECORD="r.json")
        self.assertEqual(done.returncode, 1)  # no such schedule
        words = [PROGRAM.encode(), b"static", b"\x01\x1b[31m\xff\xc3\xa9\"\\"]
        done = run(words, self.folder, EVENER_RECORD="r.json", EVENER_UNITS="1:CPU:1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.record("r.json")["command"], PROGRAM + " static \x01\x1b[31m\ufffd\u00e9\"\\")
        self.page("r.json")


if __name__ == "__main__":
    COMMAND, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
