"""Plug-ins that a user makes, with the script and the source as they are installed; and an MPI built in.
Run: ctest -R mpi-build, or test_build.py EVENER FOLDER SOURCE [test ..]: the command, lib/evener, and the project.
EVENER_BUILTIN=1: the command is built with each MPI in it, some minutes each."""

import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import programs  # pylint: disable=wrong-import-position

EVENER = FOLDER = SOURCE = ""
KINDS = {"openmpi": "Open MPI", "mpich": "MPICH"}


def run(words, patience=120, **env):
    return programs.run(words, timeout=patience, **env)


def start(kind):
    return [*programs.mpirun(kind), "-n", "2"]


def kinds():
    return [kind for kind in KINDS if shutil.which(f"mpicc.{kind}") and shutil.which(f"mpirun.{kind}")]


class Base(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        if not kinds():
            self.skipTest("there is no MPI with a compiler wrapper of its own name")

    def tearDown(self):
        self.temporary.cleanup()

    def ran(self, words, wire, **env):
        """A run with the hash of one process, over this wire."""
        job = ["run", "bt-mz", "--class", "S", "--units", "1:CPU:1", "--oversubscribe", "--quiet", "--json", "-"]
        status, out, err = run([*words, *job], **env)
        self.assertEqual((status, err), (0, ""), words)
        record = json.loads(out)
        self.assertEqual(record["hash"], json.loads(run([EVENER, *job])[1])["hash"])
        self.assertEqual(record.get("wire", "").rpartition(" ")[0], wire)

    def refused(self, words, says, **env):
        status, out, err = run([*words, "run", "bt-mz"], **env)
        self.assertEqual((status, out), (2, ""), err)
        self.assertEqual(err.count("evener: "), 1, err)
        self.assertIn(says, err)


class Script(Base):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.folder, "a folder")
        shutil.copytree(FOLDER, self.folder, ignore=shutil.ignore_patterns("*.so"))
        self.script = os.path.join(self.folder, "evener-wire-build")

    def test_beside(self):
        for kind in kinds():
            status, out, err = run([self.script, f"mpicc.{kind}"])
            self.assertEqual((status, out, err), (0, "", ""))
            self.assertTrue(os.path.exists(os.path.join(self.folder, f"evener-wire-{kind}.so")))
            self.ran([*start(kind), EVENER], KINDS[kind], EVENER_WIRE=self.folder)

    def test_file(self):
        for kind in kinds():
            file = os.path.join(self.temporary.name, f"{kind}.so")
            self.assertEqual(run([self.script, f"mpicc.{kind}", file]), (0, "", ""))
            self.ran([*start(kind), EVENER], KINDS[kind], EVENER_WIRE=file)
            self.assertEqual(run([self.script, "--name", f"mpicc.{kind}"]), (0, f"evener-wire-{kind}.so\n", ""))

    def test_refused(self):
        for wrapper, says in (("/nowhere/mpicc", "no /nowhere/mpicc"), ("false", "does not compile")):
            status, out, err = run([self.script, wrapper])
            self.assertEqual((status, out), (2, ""))
            self.assertIn(says, err)
        self.assertEqual([f for f in os.listdir(self.folder) if f.endswith(".so")], [])


@unittest.skipUnless(os.environ.get("EVENER_BUILTIN"), "EVENER_BUILTIN=1 asks for it")
class Builtin(Base):
    def test(self):
        for kind in kinds():
            tree = os.path.join(self.folder, kind)
            for words in ([SOURCE, "-B", tree, "-DEVENER_WIRE=builtin", f"-DEVENER_MPICC=mpicc.{kind}"],
                          ["--build", tree, "--parallel", "2", "--target", "evener_command"]):
                status, out, err = run(["cmake", *(["-S"] if words[0] == SOURCE else []), *words], patience=1800)
                self.assertEqual(status, 0, out + err)
            self.assertEqual([f for f in os.listdir(os.path.join(tree, "lib", "evener")) if f.endswith(".so")], [])
            self.check(kind, os.path.join(tree, "evener"))

    def check(self, kind, command):
        self.ran([command], "")
        self.ran([*start(kind), command], KINDS[kind])
        status, out, err = run([command, "run", "bt-mz", "--processes", "2", "--units", "1:CPU:1", "--quiet", "--oversubscribe"])
        self.assertEqual((status, out, err), (0, "", ""))
        self.refused([*start(kind), command], "built in", EVENER_WIRE=f"{FOLDER}/evener-wire-{kind}.so")
        for other in kinds():
            if other != kind:
                self.refused([*start(other), command], "different MPIs")


if __name__ == "__main__":
    EVENER, FOLDER, SOURCE = (os.path.abspath(word) for word in sys.argv[1:4])
    del sys.argv[1:4]
    unittest.main()
