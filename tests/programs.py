"""Programs that scripts of tests run: an environment without what users and launchers have left in it, MPI's launchers, a program's end; cases with a
folder of their own."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# a script of cases that is run by itself goes on in the program that runs cases
if "cases" not in sys.modules and os.path.basename(sys.argv[0]).startswith("test_"):
    os.execv(sys.executable, [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.py"), *sys.argv])

CACHE = tempfile.TemporaryDirectory()  # calibrations of the user's must not get in the way, nor be written to


def clean(**variables):
    """The environment without what a user or another launcher has left; tests claim no cores."""
    left = "EVENER_", "HWLOC_", "MPI_", "OMP_", "OMPI_", "PMIX_", "PMI_", "SLURM_"
    env = {k: v for k, v in os.environ.items() if k in ("EVENER_CLAIMS", "EVENER_CACHE") or not k.startswith(left)}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", XDG_CACHE_HOME=CACHE.name)
    # a container's /dev/shm may be too small for it
    if os.path.isdir("/dev/shm") and os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize < 256 << 20:
        env.update(OMPI_MCA_btl_vader_backing_directory="/tmp", OMPI_MCA_osc_sm_backing_directory="/tmp")
    return env | variables


def mpirun(kind):
    """An MPI's launcher and the options that tests need: more ranks than cores, no boxes of text. None where it is not here."""
    found = shutil.which(f"mpirun.{kind}")
    return found and ([found, "-q", "--oversubscribe"] if kind == "openmpi" else [found])


def launcher_crashed(errors):
    """Open MPI's mpirun can crash in its own last steps, when all ranks have ended: then its status is not theirs. The frames are its own."""
    return re.search(r"Process received signal", errors) and re.search(r"(?m)PMIx_server_finalize|^\[\S+\] \[ *\d+\] \S*(mpirun|orterun|prterun)", errors)


def ended(words, timeout=300, env=None, **options):
    """A program that has ended; options in capitals are variables of its environment. One whose launcher crashed is begun again, a few times."""
    env = (env or clean()) | {name: options.pop(name) for name in list(options) if name.isupper()}
    for _ in range(4):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, env=env, **options)
        if not launcher_crashed(done.stderr):
            break
    return done


def run(words, **options):
    """Status, output and messages of a program."""
    done = ended(words, **options)
    return done.returncode, done.stdout, done.stderr


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def descendants(pid):
    own = children(pid)
    return own + [d for c in own for d in descendants(c)]


def is_there(pid):
    """Neither gone nor only waiting to be asked for its status."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Case(unittest.TestCase):
    """A case with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
