"""The command on CUDA devices, of a driver that is none and does its work as late as may be (tests/device/fake_cuda.c): what a wait that is
missing, or a host buffer used again too soon, would change. Its kernels are the host compiler's, so the hash is that of emulated devices.

    python3 tests/command/test_cuda.py COMMAND-WITH-NAMES FAKE-DRIVER [test ..]
"""

import json
import sys
import unittest

from base import EVENER, clean, ended

DRIVER = sys.argv.pop(1)
DICE = 3


def run(what, devices, dice=None):
    environment = clean(EVENER_LIBCUDA=DRIVER, EVENER_NVRTC=DRIVER, EVENER_CACHE="", EVENER_KERNELS="", OMP_WAIT_POLICY="passive")
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    if dice is not None:
        environment["FAKE_CUDA_LATER"] = str(dice)
    line = [EVENER, "run", *what.split(), "--devices", devices, "--quiet", "--json", "-"]
    done = ended(line, env=environment)
    return done, " ".join(line)


class Late(unittest.TestCase):
    def same(self, what):
        done, line = run(what, "emulated")
        self.assertEqual(done.returncode, 0, line + "\n" + done.stderr)
        expected = json.loads(done.stdout)
        for dice in range(1, DICE + 1):
            with self.subTest(dice=dice):
                done, line = run(what, "cuda", dice)
                self.assertEqual((done.returncode, done.stderr), (0, ""), f"FAKE_CUDA_LATER={dice} {line}")
                record = json.loads(done.stdout)
                for figure in ("hash", "norm", "checksums"):
                    self.assertEqual(record.get(figure), expected.get(figure), f"FAKE_CUDA_LATER={dice} {line}")

    def test_one_device(self):
        for workload in ("bt-mz", "sp-mz", "lu-mz"):
            self.same(f"{workload} --class S --units 1:GPU:1")

    def test_sweeps(self):
        """LU's sweeps as launches or as one, by a model: the same bits."""
        for how, said in (("auto", "1 launch of"), ("launches", "as asked for"), ("one", "one launch, as asked for")):
            what = f"lu-mz --class W --units 1:GPU:1 --sweeps {how}"
            done, line = run(what, "cuda", 1)
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            record = json.loads(done.stdout)
            self.assertIn(said, record["sweeps"])
            self.assertEqual(record["hash"], json.loads(run("lu-mz --class W --units 1:GPU:1", "emulated")[0].stdout)["hash"], line)
        # 64 bundles, and room for 660 groups
        done, line = run("lu-mz --class A --steps 1 --units 1:GPU:1", "cuda")
        self.assertRegex(json.loads(done.stdout)["sweeps"], r"^one launch, 41 us by the model, beside 57 us as 5 launches of 24 steps$")
        for what, said in (("bt-mz --class S --units 1:GPU:1 --sweeps one", "it is an option of lu-mz"),
                           ("lu-mz --class S --units 1:GPU:1 --sweeps two", "expected auto, launches or one")):
            done, line = run(what, "cuda")
            self.assertEqual(done.returncode, 2, line)
            self.assertIn(said, done.stderr)

    def test_solver(self):
        """TD-BEM's solver by a model: a small mesh on the cores, a larger one on the device, with the bits of either."""
        for mesh, solver, said in (("sphere:1", "cg", r"^cg, \d+ us a step by the model, beside \d+ us on the device$"),
                                   ("sphere:3", "cg:device", r"^cg:device, \d+ us a step by the model, beside \d+ us on the cores$")):
            what = f"td-bem --mesh {mesh} --steps 32 --units 1:GPU:1"
            got, asked = (json.loads(run(f"{what} {more}", "cuda", 1)[0].stdout) for more in ("", f"--solver {solver}"))
            self.assertEqual((got["solver"], asked["solver"], asked["solver_reason"]), (solver, solver, "as asked for"))
            self.assertRegex(got["solver_reason"], said)
            self.assertEqual(got["hash"], asked["hash"])
        emulated = json.loads(run("td-bem --mesh sphere:3 --steps 32 --units 1:GPU:1", "emulated")[0].stdout)
        self.assertEqual(emulated["solver"], "cg")
        self.assertRegex(emulated["solver_reason"], "^cg: emulated.* is not known to be a GPU$")

    def all(self, lines):
        for what in lines:
            with self.subTest(what=what):
                self.same(what)

    def test_some(self):
        self.all([f"bt-mz --class S --units {units}" for units in ("2:GPU:1", "1:GPU:2")] +
                 [f"{workload} --class S --units 1:CPU:1,2:GPU:1 --schedule static" for workload in ("bt-mz", "sp-mz", "lu-mz")])

    def test_others(self):
        """Zones and tasks that move; a device a rank, and one that ranks share: queues that wait for each other's."""
        self.all([f"sp-mz --class S --units 2:GPU:1 --schedule {schedule}" for schedule in ("dynamic", "guided:time")] +
                 ["td-bem --mesh sphere:1 --units 1:CPU:1,1:GPU:1 --schedule static", "ft --class S --units 1:CPU:1,1:GPU:1 --variant packed --processes 2 --oversubscribe",
                  "mg --class S --units 1:CPU:1,1:GPU:1 --oversubscribe --processes 2"] +
                 [f"ft --size 32x16x16 --variant funneled --per-node 2 --units 1:GPU:1 --oversubscribe --processes {ranks}" for ranks in (2, 4)] +
                 [f"mg --class S --units 1:GPU:1 --oversubscribe {more}" for more in ("--processes 2 --variant overlap", "--processes 8 --variant funneled",
                                                                                    "--processes 4 --variant funneled --per-node 2")] +
                 [f"{app} --class S --oversubscribe --units {units}" for app in ("ft", "mg")
                  for units in ("1:GPU:1", "2:GPU:1", "1:CPU:1,1:GPU:2", "2:CPU:1,2:GPU:1", "2:GPU:1 --schedule guided:time")])
