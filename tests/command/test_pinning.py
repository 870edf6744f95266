#!/usr/bin/env python3
"""Bound and unbound threads: where EVENER_BIND lets them run, what the study of it prints and records, what is refused.
Nothing is timed.

Run: ctest -R command-pinning, or tests/command/test_pinning.py build/evener [test ..]
"""
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

EVENER = os.path.abspath("build/evener")
ALL = sorted(os.sched_getaffinity(0))


def evener(*words, **variables):
    return subprocess.run([EVENER, *words], capture_output=True, text=True, timeout=120, env=dict(os.environ, **variables))


def group_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return int(f.read().rsplit(")", 1)[1].split()[2])


def masks(group):
    """Of all threads of a process group: process, cores they may run on."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if group_of(pid) == group:
                found += [(int(pid), frozenset(os.sched_getaffinity(int(t)))) for t in os.listdir(f"/proc/{pid}/task")]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


@unittest.skipIf(len(ALL) < 2, "one core: there is nothing to be bound to")
class Bound(unittest.TestCase):
    def settles(self, binding, words, wanted):
        """The run's threads come to be bound as `wanted` says."""
        run = subprocess.Popen([EVENER, "run", "bt-mz", "--class", "A", "--steps", "100000", "--quiet", *words],
                               env=dict(os.environ, EVENER_BIND=binding), start_new_session=True)
        try:
            end = time.monotonic() + 120
            while time.monotonic() < end:
                last = [cores for pid, cores in masks(run.pid) if "--processes" not in words or pid != run.pid]
                if sorted(map(sorted, last)) == sorted(map(sorted, wanted)):
                    return
                time.sleep(0.05)
            self.fail(f"{binding} {words}: {last}, expected {wanted}")
        finally:
            os.killpg(run.pid, 9)
            run.wait()

    def test_where(self):
        done = evener("run", "bt-mz", "--units", "2:CPU:1", "--quiet", "--json", "-")
        one, two = ({u["cores"][0]} for u in json.loads(done.stdout)["units"])
        pair, both = one | two, set(ALL)
        # the second core has a thread of OpenMP's and one of the unit's own
        for binding, words, wanted in (("core", ["--units", "1:CPU:2"], [one, two, two]),
                                       ("unit", ["--units", "1:CPU:2"], [pair] * 3), ("unit", ["--units", "2:CPU:1"], [one, two]),
                                       ("none", ["--units", "2:CPU:1"], [both, both]),
                                       ("core", ["--processes", "2", "--units", "1:CPU:1"], [one, two]),
                                       ("none", ["--processes", "2", "--units", "1:CPU:1"], [both, both])):
            self.settles(binding, words, wanted)

    def test_beside(self):
        """Units take other cores than those that another program has claimed, or none; studies take what they ask for."""
        with tempfile.NamedTemporaryFile() as claims:
            def units(*words, binding="auto"):
                done = evener("run", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--json", "-", "--units", *words,
                              EVENER_CLAIMS=claims.name, EVENER_BIND=binding)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                record = json.loads(done.stdout)
                self.assertEqual(record["hash"], bits or record["hash"])
                return [unit["cores"] for unit in record["units"]], {unit["binding"] for unit in record["units"]}, record["hash"]

            bits = None
            (one, two), _, bits = units("2:CPU:1")
            self.assertEqual(units("1:CPU:1")[0], [one])
            fcntl.lockf(claims, fcntl.LOCK_EX, 1, one[0])
            self.assertEqual(units("1:CPU:1")[0], [two])
            self.assertEqual(units("1:CPU:2", binding="cores")[:2], ([one + two], {"core"}))
            self.assertEqual(units("1:CPU:2", binding="unit")[:2], ([one + two], {"unit"}))
            self.assertEqual(units("1:CPU:1", binding="none")[1], {"none"})
            self.assertIn(f"claimed by other programs: {one[0]}\n", evener("info", EVENER_CLAIMS=claims.name).stdout)
            if len(ALL) == 2:
                self.assertEqual(units("1:CPU:2")[:2], ([[]], {"taken"}))
                self.assertEqual(units("1:CPU:1", "--processes", "2")[0], [two, []])
            fcntl.lockf(claims, fcntl.LOCK_UN)
            self.assertNotIn("claimed by", evener("info", EVENER_CLAIMS=claims.name).stdout)

    def test_bits(self):
        hashes = {json.loads(evener("run", "sp-mz", "--class", "S", "--units", "2:CPU:1", "--quiet", "--json", "-",
                                    EVENER_BIND=b).stdout)["hash"] for b in ("core", "unit", "none")}
        self.assertEqual(len(hashes), 1)


class Study(unittest.TestCase):
    def test_page(self):
        done = evener("bench", "pinning", "bt-mz", "--class", "S", "--steps", "2", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"(?m)^ +(\d+) x (\d+)  (processes|units) +(?:\d\S* +){5}(?:\d+|-) +(?:\d+|-) +(?:\d+|-)$", done.stdout)
        cores = int(re.search(r" on (\d+) cores?, ", done.stdout)[1])
        ways = [(cores // t, t) for t in range(1, cores + 1) if cores % t == 0 and cores // t <= 4]
        self.assertEqual(rows, [(str(n), str(t), way) for n, t in ways for way in ("processes", "units") if n > 1 or way == "units"])

    def test_record(self):
        done = evener("bench", "pinning", "lu-mz", "--steps", "1", "--rounds", "2", "--quiet", "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        record = json.loads(done.stdout)
        self.assertEqual((record["app"], record["class"], record["rounds"]), ("lu-mz", "S", 2))
        for row in record["pinning"]:
            self.assertEqual(row["core"]["over_core"], 1)
            for binding in ("core", "unit", "none"):
                self.assertGreater(row[binding]["step_s"], 0)

    def test_refused(self):
        for words, variables, says in ((["run", "bt-mz"], {"EVENER_BIND": "socket"}, 'EVENER_BIND: "socket", expected auto, cores, unit'),
                                       (["bench", "pinning"], {}, "which workload"),
                                       (["bench", "pinning", "bt-mz", "--rounds", "0"], {}, "--rounds"),
                                       (["bench", "pinning", "td-bem", "--mesh", "sphere:0"], {}, "expected an NPB-MZ"),
                                       (["bench", "pinning", "bt-mz", "--json", "nowhere/r.json"], {}, "nowhere")):
            done = evener(*words, **variables)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"^evener: [^\n]*\n$")
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        EVENER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
