"""Traces for OTF2, of runs (--trace FILE.otf2) and of programs (EVENER_TRACE), read by OTF2's own otf2-print: bursts as regions, each task
of each instance once, units and ranks of the record, messages at both ends; earlier traces, and what is refused.
Run: ctest -R trace-otf2. usage: test_otf2.py EVENER PROGRAM"""
import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import Case, clean  # pylint: disable=wrong-import-position

EVENER = PROGRAM = ""
ENV = clean(LC_ALL="C", EVENER_OVERSUBSCRIBE="1")


def run(words, before=None, **env):
    return subprocess.run(words, env=ENV | env, capture_output=True, text=True, timeout=120, preexec_fn=before)


class Archive:
    """What otf2-print says of one."""

    def __init__(self, name):
        definitions, events = run(["otf2-print", "-G", name]), run(["otf2-print", name])
        for done in definitions, events:
            if done.returncode or done.stderr:
                raise AssertionError(done.stdout + done.stderr)
        find = re.compile(r'^(LOCATION|LOCATION_GROUP) +(\d+) +Name: "([^"]*)" <\d+>, Type: (\w+)(?:, # Events: (\d+), Group: "([^"]*)")?', re.M)
        self.groups, self.locations, self.announced = [], {}, {}
        for kind, number, name, type_, count, group in find.findall(definitions.stdout):
            if kind == "LOCATION":
                self.locations[int(number)] = (name, type_, group)
                self.announced[int(number)] = int(count)
            else:
                self.groups.append(name)
        self.bursts, self.sent, self.came = [], [], []
        seen, inside, last = collections.Counter(), {}, collections.defaultdict(int)
        for line in events.stdout.splitlines():
            found = re.match(r"(ENTER|LEAVE|MPI_SEND|MPI_RECV) +(\d+) +(\d+) +(.*)", line)
            values = re.findall(r'"([a-z ]+)" <\d>; UINT32; (\d+)', line)
            if values:
                self.bursts[-1][2].update({name: int(value) for name, value in values})
            if not found:
                continue
            kind, where, when, rest = found[1], int(found[2]), int(found[3]), found[4]
            assert when >= last[where], line
            last[where] = when
            seen[where] += 1
            if kind in ("ENTER", "LEAVE"):
                region = re.match(r'Region: "(.*)" <\d+>', rest)[1]
                assert inside.get(where) == (None if kind == "ENTER" else region), line
                inside[where] = region if kind == "ENTER" else None
                if kind == "ENTER":
                    self.bursts.append((where, region, {}))
            else:
                other, size = re.match(r'\w+: (\d+) .*Length: (\d+)', rest).groups()
                (self.sent if kind == "MPI_SEND" else self.came).append((where, int(other), when, int(size)))
        assert not any(inside.values()) and dict(seen) == {k: v for k, v in self.announced.items() if v}


class Otf2(Case):
    def traced(self, *words):
        name, record = os.path.join(self.folder, "a.otf2"), os.path.join(self.folder, "a.json")
        done = run([EVENER, "run", *words, "--quiet", "--oversubscribe", "--trace", name, "--json", record])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "a.def", "a.json", "a.otf2"])
        with open(record, encoding="utf-8") as file:
            return Archive(name), json.load(file)

    def check_tasks(self, archive, record, steps):
        seen = collections.Counter()
        for _, region, values in archive.bursts:
            if region == "computing":
                seen[values["instance"]] += values["tasks"]
        self.assertGreaterEqual(len(seen), steps)
        self.assertEqual(set(seen.values()), {len(record["owner"])})

    def test_ranks(self):
        archive, record = self.traced("bt-mz", "--steps", "4", "--units", "2:CPU:1", "--processes", "3", "--schedule", "static")
        self.assertEqual(archive.groups, ["rank 0", "rank 1", "rank 2"])
        units = [where for where in archive.locations.values() if where[0] != "messages"]
        self.assertEqual(units, [(f"unit {u} (CPU 1)", "CPU_THREAD", f"rank {u // 2}") for u in range(6)])
        self.check_tasks(archive, record, 4)
        mail = {number: int(group.split()[1]) for number, (name, _, group) in archive.locations.items() if name == "messages"}
        sent = [(mail[where], to, size) for where, to, _, size in archive.sent]
        came = [(sender, mail[where], size) for where, sender, _, size in archive.came]
        self.assertTrue(sent and all(a != b and size > 0 for a, b, size in sent))
        self.assertEqual(sorted(sent), sorted(came))

    def test_devices(self):
        """A device's copies are a location of their own; an earlier trace of more units is replaced."""
        self.traced("bt-mz", "--steps", "2", "--units", "1:CPU:1", "--processes", "3")
        archive, record = self.traced("bt-mz", "--steps", "4", "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--schedule", "dynamic:memorize=0")
        self.assertEqual(archive.groups, ["rank 0"])
        names = {name: type_ for name, type_, _ in archive.locations.values()}
        self.assertEqual(names.pop("unit 0 copy queue", "CPU_THREAD"), "CPU_THREAD") # what came from the device, where any did
        self.assertEqual(names, {"unit 0 (CPU 1)": "CPU_THREAD", "unit 1 (GPU 1)": "CPU_THREAD", "unit 1 copy queue": "ACCELERATOR_STREAM"})
        self.check_tasks(archive, record, 4)

    def test_program(self):
        """Loops of a program over ranks: regions have their names; each task of each instance once."""
        name, steps = os.path.join(self.folder, "p.otf2"), 5
        done = run([PROGRAM, str(steps)], EVENER_TRACE=name, EVENER_UNITS="2:CPU:1", EVENER_PROCESSES="2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        archive, seen = Archive(name), collections.Counter()
        for _, region, values in archive.bursts:
            seen[region, values["instance"]] += values["tasks"]
        tasks = {"loop 0: static": (5, steps), "loop 1: static": (40, steps), "loop 2: dynamic:chunk=1,memorize=0": (3, 2 * steps)}
        self.assertEqual(dict(seen), {(f"{loop}: computing", i): n for loop, (n, runs) in tasks.items() for i in range(runs)})
        self.assertEqual(archive.groups, ["rank 0", "rank 1"])

    def test_refused(self):
        """What cannot be written is said before the run, and nothing is left."""
        path = os.path.join(self.folder, "none", "a.otf2")
        done = run([EVENER, "run", "bt-mz", "--steps", "1", "--trace", path])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("No such file or directory", done.stderr)
        done = run([PROGRAM, "1"], EVENER_TRACE=path, EVENER_UNITS="1:CPU:1")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "EVENER_TRACE: .*No such file or directory")
        # the folder of events has the name of a file
        path = os.path.join(self.folder, "b")
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        done = run([PROGRAM, "1"], EVENER_TRACE=path + ".otf2", EVENER_UNITS="1:CPU:1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("b/", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["b"])

    def test_no_room(self):
        """Files that cannot be written to their end: one line, and nothing is left."""
        def little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        done = run([EVENER, "run", "bt-mz", "--steps", "20", "--quiet", "--trace", os.path.join(self.folder, "a.otf2")], before=little)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (3, "", 1), done.stderr)
        self.assertIn("trace: OTF2 could not write a.otf2: ", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    EVENER, PROGRAM = map(os.path.abspath, (sys.argv.pop(1), sys.argv.pop(1)))
    with tempfile.TemporaryDirectory() as tried:
        first = run([PROGRAM, "0"], EVENER_TRACE=os.path.join(tried, "t.otf2"), EVENER_UNITS="1:CPU:1")
    if not shutil.which("otf2-print") or "FILE.otf2 needs" in first.stderr:
        print("no OTF2 here: " + (first.stderr or "there is no otf2-print"))
        sys.exit(77)
    unittest.main(verbosity=0)
