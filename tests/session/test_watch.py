"""evener watch: counters of programs that run, beside the records that these write.
Run: ctest -R '^watch$'. usage: test_watch.py COMMAND FIRST     FIRST: a program with a directive, examples/first.c"""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "command"))
from base import EVENER, Base  # pylint: disable=wrong-import-position

FIRST = os.path.abspath(sys.argv.pop(1))
FOR_EVER = ["run", "bt-mz", "--class", "S", "--steps", "1000000000", "--units", "2:CPU:1", "--oversubscribe", "--quiet"]


class Watch(Base):
    def setUp(self):
        super().setUp()
        self.environment["EVENER_OVERSUBSCRIBE"] = "1"

    def end(self, program):
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()

    def begin(self, words, **variables):
        program = subprocess.Popen(words, cwd=self.folder, env=self.environment | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        self.addCleanup(self.end, program)
        return program

    def watch(self, *words):
        return self.evener("watch", *words, status=None)

    def until_steps(self, word, processes=1):
        """What is seen once each process has ended a step."""
        for _ in range(6000):
            done = self.watch(word, "--once", "--json", "-")
            if not done.returncode:
                seen = json.loads(done.stdout)["processes"]
                if len(seen) == processes and all(p["loops"] for p in seen):
                    return seen
            time.sleep(0.01)
        self.fail("no step is seen: " + done.stderr)

    def refused(self, word, *parts):
        self.refuses(["watch", word], *parts)

    def test_to_the_end(self):
        """The last line has what the record has, of a program that is stopped until it is watched."""
        program = self.begin([EVENER, "run", "bt-mz", "--class", "W", "--units", "2:CPU:1", "--oversubscribe", "--quiet", "--json", "r.json"])
        self.until_steps("r.json")
        os.kill(program.pid, signal.SIGSTOP)
        two = [self.until_steps(str(program.pid))[0] for _ in range(2)]
        self.assertEqual(two[0]["loops"], two[1]["loops"])
        watch = self.begin([EVENER, "watch", "r.json", "--interval", "50", "--json", "-"])
        lines = [watch.stdout.readline()]
        os.kill(program.pid, signal.SIGCONT)
        lines += watch.communicate(timeout=120)[0].splitlines()
        self.assertEqual((watch.returncode, program.wait(timeout=120)), (0, 0))
        seen = [json.loads(line)["processes"][0] for line in lines]
        record = self.load("r.json")
        self.assertEqual([p["ended"] for p in seen], [False] * (len(seen) - 1) + [True])
        steps = [p["loops"][-1]["steps"] for p in seen]
        self.assertEqual(steps, sorted(steps))
        loop, app = seen[-1]["loops"][-1], (seen[-1]["app"], seen[-1]["rank"], seen[-1]["ranks"])
        self.assertEqual((app, os.path.basename(seen[-1]["record"])), (("evener", 0, 1), "r.json"))
        self.assertEqual((loop["open"], loop["steps"], loop["tasks"]), (False, record["instances"], len(record["owner"])))
        for u in range(2):
            self.assertAlmostEqual(loop["units"][u]["compute_s"], record["units"][u]["compute_s"], 9)
        self.assertEqual(sum(u["tasks"] for u in loop["units"]), loop["tasks"] * loop["steps"])
        self.refused("r.json", "no running program of this user will write this record", "evener report")

    def test_page(self):
        program = self.begin([EVENER, *FOR_EVER], EVENER_WATCH="1")
        self.until_steps(str(program.pid))
        page = self.watch(str(program.pid), "--once")
        self.assertEqual((page.returncode, page.stderr), (0, ""))
        lines = page.stdout.splitlines()
        self.assertRegex(lines[0], rf"\Aevener, process {program.pid}: [0-9.]+ s, [0-9.]+ cores busy\Z")
        self.assertRegex(lines[1], r"\A  loop, auto: [0-9]+ steps, [0-9.]+ ms each, imbalance [0-9.]+, [0-9]+ migrations; 4 tasks\Z")
        self.assertEqual(lines[2].split(), ["unit", "cores", "compute", "exchange", "copy", "idle", "tasks/s"])
        self.assertEqual([line.split()[:3] for line in lines[3:]], [["0", "CPU", "1"], ["1", "CPU", "1"]])
        self.assertNotIn("\033", page.stdout)
        full = self.watch(str(program.pid), "--once", "--json", "/dev/full")
        self.assertEqual((full.returncode, full.stderr), (3, "evener: /dev/full could not be written: No space left on device\n"))
        os.kill(program.pid, signal.SIGSTOP)
        follow = self.begin([EVENER, "watch", str(program.pid), "--interval", "20"])
        while "no step has ended for" not in (line := follow.stdout.readline()):
            self.assertTrue(line)
        os.killpg(program.pid, signal.SIGKILL)  # its counters outlive it
        program.wait(timeout=60)
        rest = follow.communicate(timeout=60)[0]
        self.assertEqual(follow.returncode, 0)
        self.assertRegex(rest, rf"evener, process {program.pid}: has ended\n  loop, auto: [0-9]+ steps")
        self.refused(str(program.pid), "there is no such process")

    def test_directive(self):
        """A directive by its place, found by the record that the program will write."""
        program = self.begin([FIRST], EVENER_RECORD="first.json", EVENER_UNITS="2:CPU:1", EVENER_SCHEDULE="static")
        seen = self.until_steps("./first.json")[0]
        os.kill(program.pid, signal.SIGSTOP)
        self.assertEqual(seen["app"], "first")
        self.assertRegex(seen["loops"][0]["name"], r"first\.c:[0-9]+\Z")
        self.assertEqual((seen["loops"][0]["schedule"], seen["loops"][0]["tasks"]), ("static", 16))

    def test_ranks(self):
        """All ranks of a run, by the number of any of them; the imbalance is of all units."""
        self.begin([EVENER, *FOR_EVER[:6], "--processes", "2", "--units", "1:CPU:1", "--oversubscribe", "--quiet", "--schedule", "static", "--json", "r.json"])
        seen = self.until_steps("r.json", 2)
        self.assertEqual([(p["rank"], p["ranks"]) for p in seen], [(0, 2), (1, 2)])
        self.assertEqual([[u["id"] for u in p["loops"][0]["units"]] for p in seen], [[0], [1]])
        again = self.until_steps(str(seen[1]["pid"]), 2)
        self.assertEqual([p["pid"] for p in again], [p["pid"] for p in seen])
        self.assertEqual(again[0]["loops"][0]["imbalance"], again[1]["loops"][0]["imbalance"])
        self.assertGreater(again[0]["loops"][0]["imbalance"], 1)

    def test_nobody_watches(self):
        """Without the variables a program shares nothing."""
        for variables in {}, {"EVENER_WATCH": "0"}:
            program = self.begin([FIRST], EVENER_UNITS="2:CPU:1", **variables)
            while not any(t != str(program.pid) for t in os.listdir(f"/proc/{program.pid}/task")):
                self.assertIsNone(program.poll())  # until there is a second thread, units are not open
            time.sleep(0.05)
            self.refused(str(program.pid), "has no counters of loops for this user", "EVENER_WATCH=1")

    def test_wrong_words(self):
        self.refused("0", "this is no number of a process")
        self.refused("99999999999", "this is no number of a process")
        self.refused("nothing.json", "no running program")
        self.refused("--interval=1", "--interval")
        self.refuses(["watch", "1", "2"])
