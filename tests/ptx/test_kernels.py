#!/usr/bin/env python3
"""The CUDA back end and its kernels without a GPU: what a compiler makes of them, executed and checked (tests/ptx/executor). Class S of all
workloads is verified, and no defect is told but those of known.txt, each of which has its reason there.

    python3 tests/ptx/test_kernels.py quick|full BUILD DRIVER CLANG-NVRTC CACHE [CASE..]

The compiler is an NVRTC where one is found, else clang, which makes PTX by itself. In the full set clang's is executed as well."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from found import nvrtc

SET, BUILD, DRIVER, CLANG, CACHE = sys.argv[1:6]
HERE = os.path.dirname(os.path.abspath(__file__))
FOUND = nvrtc()


def known():
    lines = [line for line in open(HERE + "/known.txt") if line.strip() and not line.startswith("#")]
    return {tuple(part.strip() for part in line.split("|")[:2]) for line in lines}


KNOWN = known()


class Kernels(unittest.TestCase):
    compiler = FOUND or CLANG
    c_compiler = "cc -O1"

    def run_checked(self, line, **variables):
        """Output of a program on the executor; fails for a defect that is not known"""
        with tempfile.NamedTemporaryFile("r", suffix=".log") as log:
            environment = dict(os.environ, EVENER_LIBCUDA=DRIVER, EVENER_NVRTC=self.compiler, EVENER_CACHE="", EVENER_KERNELS="",
                               PTXRUN_CACHE=CACHE, PTXRUN_LOG=log.name, PTXRUN_PYTHON=sys.executable, PTXRUN_CCOMPILER=self.c_compiler,
                               OMP_WAIT_POLICY="passive", **variables)
            environment.pop("CUDA_VISIBLE_DEVICES", None)
            done = subprocess.run(line, capture_output=True, text=True, env=environment)
            told = log.read()
        self.assertEqual(done.returncode, 0, " ".join(line) + "\n" + done.stdout[-2000:] + done.stderr + told)
        self.assertNotIn("DEFECT module", told)
        self.assertIn("defects of", told, "the program has not used the executor: " + " ".join(line))
        for defect in re.findall(r"DEFECT (?!note)(.*)", told):
            kind, kernel = re.match(r"(.*?): (\w+)(?:@|: |$)", re.sub(r"\(ld\.global\.nc\)", "", defect)).groups()
            self.assertIn((kind, kernel), KNOWN, f"{' '.join(line)}\n{defect}\nmend it, or name it with its reason in tests/ptx/known.txt")
        return done.stdout

    def run_workload(self, what, **variables):
        out = self.run_checked([BUILD + "/evener", "run", *what.split(), "--devices", "cuda", "--quiet", "--json", "-"], **variables)
        return json.loads(out)

    def verified(self, what, **variables):
        self.assertIs(self.run_workload(what, **variables)["verified"], True, what)

    def example(self, *words):
        return self.run_checked([f"{BUILD}/examples/{words[0]}", *words[1:]], EVENER_UNITS="1:GPU:1", EVENER_DEVICES="cuda")


class Quick(Kernels):
    """Compiling is most of the time."""
    c_compiler = "cc -O0"

    def test_sums(self):
        self.example("sums", "cuda")

    def test_sp(self):
        """Two steps: NPB-MZ begins with one."""
        self.run_workload("sp-mz --class S --steps 1 --units 1:GPU:1")


class Full(Quick):
    """Checks take most of the time, and steps are alike: a few of them are checked, and a whole run is verified."""
    c_compiler = "cc -O1"

    def test_heat(self):
        self.assertIn("0 blocks are wrong", self.example("heat"))

    def test_sp(self):
        self.verified("sp-mz --class S --units 1:GPU:1")

    def test_step(self):
        """A step by count: three directions, a right-hand side, an exchange; and its time is the sum of its kernels'"""
        line = [sys.executable, HERE + "/../../suite/bench/kernels_counted.py", "step", BUILD, "S", "sp-mz"]
        done = subprocess.run(line, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = {words[0]: (float(words[1]), float(words[-1])) for words in map(str.split, done.stdout.splitlines()) if "|" in words and words[0] != "kernel"}
        self.assertEqual({name: launches for name, (launches, _) in kernels.items()}, {"exchange_copy8": 1, "sp_lines": 3, "sp_rhs": 1}, done.stdout)
        milliseconds, launches = re.search(r"S: (\S+) ms a step at least, in (\d+) launches", done.stdout).groups()
        self.assertEqual(launches, "5")
        self.assertAlmostEqual(1e3 * float(milliseconds), sum(us for _, us in kernels.values()), delta=0.02)
        self.assertGreater(kernels["sp_lines"][1], 0.05)

    def test_bt(self):
        self.run_workload("bt-mz --class S --steps 3 --units 1:GPU:1")
        self.verified("bt-mz --class S --units 1:GPU:1", PTXRUN_CHECK="0")

    def test_lu(self):
        self.run_workload("lu-mz --class S --steps 3 --units 1:GPU:1")
        self.verified("lu-mz --class S --units 1:GPU:1", PTXRUN_CHECK="0")

    def test_several_devices(self):
        """As the dice fall, two devices with and without access to each other have one hash."""
        found = {self.run_workload(f"bt-mz --class S --steps 2 --units {units}", PTXRUN_DEVICES="2", PTXRUN_SEED=seed, PTXRUN_PEER=peer)["hash"]
                 for units, seed, peer in (("1:GPU:1", "0", "1"), ("2:GPU:1", "2", "1"), ("1:GPU:2", "3", "0"))}
        self.assertEqual(len(found), 1)

    def test_mg(self):
        self.verified("mg --class S --units 1:GPU:1")

    def test_ft(self):
        self.verified("ft --class S --units 1:GPU:1")

    def test_boundary_elements(self):
        for what in ("", " --ng 1"):
            self.run_workload("td-bem --mesh sphere:1 --steps 8 --units 1:GPU:1" + what)
        self.suite("tdbem_far", "test_a_device*")

    def test_zones(self):
        self.assertRegex(self.example("zones"), r"^7979\.61565179")

    def suite(self, name, *tests, **variables):
        self.run_checked([f"{BUILD}/tests/test-{name}", *tests], EVENER_TEST_DEVICE="cuda", **variables)

    def test_device_suite(self):
        self.suite("device")

    def test_resident(self):
        self.suite("resident")

    def test_exchange(self):
        self.suite("exchange")

    def test_means_and_repeats(self):
        self.suite("exchange-resolution")

    def test_sweeps_of_one_launch(self):
        self.suite("gpu_lu_resident")


class FullByClang(Quick):
    compiler = CLANG


if __name__ == "__main__":
    cases = [Quick] if SET == "quick" else [Full, FullByClang] if FOUND else [Full]
    print("compiler:", FOUND or "clang")
    tests = [test for case in cases for test in unittest.defaultTestLoader.loadTestsFromTestCase(case)]
    suite = unittest.TestSuite(test for test in tests if not sys.argv[6:] or test.id().split(".", 1)[1] in sys.argv[6:])
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
