#!/usr/bin/env python3
"""The programs of suite/bench/peers and the scripts that compare them, on tiny sizes: all give the same bits, tables have their rows, a run over its
limit is ended and said. No time is looked at.

Run: ctest -R command-peers, or tests/command/test_peers.py build/evener SOURCE
"""
import os
import re
import signal
import subprocess
import time

from base import EVENER, SOURCE, Base, ended

BUILD = os.path.dirname(EVENER)
PEERS = f"{BUILD}/peers"


def programs():
    return sorted(os.listdir(PEERS))


def ends(group):
    """Waits for processes that were killed; a process that was not is still there after half a minute."""
    until = time.monotonic() + 30
    while alive(group) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(group)


def alive(group):
    """Whether a process of the group runs; one that has ended may still have its number."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                state, _, of = f.read().rsplit(")", 1)[1].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if of == group and state != "Z":
            return True
    return False


class Peers(Base):
    def setUp(self):
        super().setUp()
        for name in ("home", "tmp"):
            os.mkdir(f"{self.folder}/{name}")
        # StarPU looks for the user's home there
        self.environment.update(HOME=self.path("home"), TMPDIR=self.path("tmp"))

    def run_(self, *words, **more):
        return ended(words, env=self.environment, **more)

    def bits(self, program, mode, *words, **more):
        done = self.run_(f"{PEERS}/{program}", mode, "6", *words, **more)
        self.assertEqual(done.returncode, 0, (program, mode, done.stderr))
        found = done.stdout.split()
        self.assertEqual(found[2], "6")
        self.assertGreater(float(found[0]), 0)
        return found[3]

    def test_same_bits(self):
        """Whatever runs the tasks, and on whatever units."""
        modes = {"openmp-gcc": ["dynamic", "guided", "static", "weight", "taskloop"], "tbb": ["auto", "affinity", "simple", "static"],
                 "starpu": ["lws", "eager"], "evener": ["pull", "share"], "directives": ["pull"], "serial": ["plain"]}
        modes["openmp-clang"] = modes["openmp-gcc"]
        for words in (["heat", "8"], ["heat-direct", "8"], ["uneven", "9", "64"], ["even", "3", "0"]):
            wanted = self.bits("serial", "plain", *words)
            for program in programs():
                for mode in modes[program] + ["places"] * (program == "evener" and words[0] == "heat"):
                    self.assertEqual(self.bits(program, mode, *words), wanted, (program, mode, words))
        for mode in "pull", "share", "places":
            for units in "1:CPU:1", "2:CPU:1":
                self.assertEqual(self.bits("evener", mode, "heat", "8", EVENER_UNITS=units, EVENER_OVERSUBSCRIBE="1"),
                                 self.bits("serial", "plain", "heat", "8"))
        self.assertEqual(os.listdir(f"{self.folder}/home"), [], "a peer writes into its user's home")
        self.assertEqual(os.listdir(f"{self.folder}/tmp"), [])

    def test_wrong_words(self):
        for words in ([], ["plain", "1", "heat"], ["plain", "0", "heat", "8"], ["plain", "x", "heat", "8"], ["plain", "1", "cold", "8"]):
            self.assertEqual(self.run_(f"{PEERS}/serial", *words).returncode, 2, words)
        for program, mode in ("openmp-gcc", "x"), ("evener", "x"), ("tbb", "x"):
            if program in programs():
                self.assertEqual(self.run_(f"{PEERS}/{program}", mode, "1", "even", "2", "0").returncode, 2, program)
        self.assertEqual(self.run_(f"{PEERS}/evener", "places", "1", "even", "2", "0").returncode, 2)

    def test_bench_tasks(self):
        done = self.run_(EVENER, "bench", "tasks", "--units", "1:CPU:1", "--tasks", "8,16", "--lengths", "0.1", "--repeat", "1", "--competitor")
        self.assertEqual(done.returncode, 0, done.stderr)
        for tasks in "8", "16":
            for scene in "quiet", "beside a competitor":
                self.assertIn(f"\n{tasks} tasks of 0.1 us, units 1:CPU:1, {scene}", done.stdout)
        for way in "evener auto", "evener static", "evener dynamic", "one thread", "taskloop, passive", "taskloop, active":
            rows = re.findall(rf"^ .*{re.escape(way)} .* \d+\.\d+ +\d+\.\d+$", done.stdout, re.M)
            self.assertIn(len(rows), (4, 8), way)  # of each case, and of one or two compilers
        if "tbb" in programs():
            self.assertIn("TBB auto_partitioner", done.stdout)
        self.assertEqual(os.listdir(f"{self.folder}/home"), [])

    def test_bench_tasks_refuses(self):
        for words, said in (["--tasks", "0"], "--tasks 0: "), (["--tasks", "1,x"], "--tasks x: "), (["--lengths", "-1"], "--lengths -1: "), \
                (["--units", "x"], "units"), (["--program", "x", "y"], "expected serial, openmp or evener"):
            self.refuses(["bench", "tasks", *words], said)

    def test_shared_node(self):
        done = self.run_(f"{SOURCE}/suite/bench/shared_node.py", BUILD, "--only", "heat-32,tiles", "--scenes", "alone,flickers,two-threads", "--rounds",
                         "2", "--seconds", "0.001", "--programs", "pull,places,serial,gcc-weight-passive,gcc-weight-p", "--json", self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.load("r.json")
        self.assertEqual(sorted(found["workloads"]), ["heat-32", "tiles"])
        for name, workload in found["workloads"].items():
            self.assertEqual(list(workload["scenes"]), ["alone", "flickers", "two-threads"])
            for scene in workload["scenes"].values():
                self.assertEqual("places" in scene, name == "heat-32")
                self.assertEqual(len(scene["serial"]["wall_s"]), 2)
        self.assertEqual(len(re.findall(r"^alone +\S+ +[\d.]+( +[\d.]+/[\d.]+)+$", done.stdout, re.M)), 2, done.stdout)

    def fake(self, script):
        """A build whose peer `evener` is a script."""
        os.makedirs(self.path("build/peers"))
        os.symlink(f"{PEERS}/serial", self.path("build/peers/serial"))
        os.chmod(self.write("build/peers/evener", "#!/bin/sh\n" + script), 0o755)
        return self.path("build")

    def test_over_the_limit(self):
        """Programs that do not end are killed, with their children, and the rest goes on."""
        fake = self.fake(f"echo $$ >> {self.folder}/pids\nsleep 1000 &\nwait\n")
        done = self.run_(f"{SOURCE}/suite/bench/shared_node.py", fake, "--only", "heat-32", "--scenes", "alone,two", "--rounds", "2", "--seconds", "0.001",
                         "--programs", "pull,serial", "--limit", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall(r" > limit +1\.00/1\.00$", done.stdout, re.M)), 2, done.stdout)
        pids = self.read("pids").split()
        self.assertEqual(len(pids), 3)  # one alone, two copies; not again in the second round
        self.assertEqual([group for group in pids if not ends(group)], [])

    def test_interrupted(self):
        """Nothing goes on after the script."""
        fake = self.fake(f"echo $$ > {self.folder}/pid.new\nmv {self.folder}/pid.new {self.folder}/pid\nsleep 1000\n")
        run = subprocess.Popen([f"{SOURCE}/suite/bench/shared_node.py", fake, "--only", "heat-32", "--scenes", "stays", "--seconds", "0.001",
                                "--programs", "pull,serial", "--limit", "100"], env=self.environment, stdout=subprocess.DEVNULL)
        while not os.path.exists(f"{self.folder}/pid"):
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(60), 143)
        self.assertTrue(ends(self.read("pid").strip()))

    def test_shared_node_refuses(self):
        for words in (["--only", "x"], ["--scenes", "x"], ["/none"], ["--rounds", "0"], ["--programs", "pull"]):
            build = [] if words[0][0] == "/" else [BUILD]
            self.assertNotEqual(self.run_(f"{SOURCE}/suite/bench/shared_node.py", *build, *words).returncode, 0, words)
