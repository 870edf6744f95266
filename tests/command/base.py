"""What scripts of the command share: the command, which is a script's first argument; runs, their records and what is refused, each case in a
folder of its own."""
import csv
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from programs import CACHE, Case, children, clean, descendants, ended, is_there, mpirun, run  # pylint: disable=wrong-import-position,unused-import

EVENER = os.path.abspath(sys.argv.pop(1) if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) else "build/evener")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MACHINES = os.path.join(SOURCE, "suite", "bench", "machines")
TOPOLOGIES = os.path.join(SOURCE, "tests", "machine", "topology")


def plugin(kind):
    return os.path.join(os.path.dirname(EVENER), "lib", "evener", f"evener-wire-{kind}.so")


def launcher(kind):
    if not mpirun(kind):
        raise unittest.SkipTest(f"there is no mpirun.{kind}")
    if not os.path.exists(plugin(kind)):
        raise unittest.SkipTest(f"the plug-in for {kind} was not built")
    return mpirun(kind)


def launchers():
    """Of each MPI that is here its name and launcher()."""
    return [(kind, mpirun(kind)) for kind in ("openmpi", "mpich") if mpirun(kind) and os.path.exists(plugin(kind))]


def evener(*words, launch=(), **options):
    return ended([*launch, EVENER, *words], **options)


def is_rank(pid):
    """Not a helper of the launcher's."""
    try:
        return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(EVENER)
    except OSError:
        return False


ELSEWHERE = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
if [ "$rank" = 0 ]; then exec "$@"; fi
exec unshare -mu sh -c 'hostname another && if [ -n "$BLIND" ]; then mount -t tmpfs none "$BLIND"; fi && exec "$@"' sh "$@"
"""


def wait_for_main(run):
    """Before it the system's loader is at work, and signals do what they do by themselves."""
    while run.poll() is None:
        with open(f"/proc/{run.pid}/status") as file:
            caught = [int(line.split()[1], 16) for line in file if line.startswith("SigCgt")]
        if caught and caught[0] >> signal.SIGTERM - 1 & 1:
            return
        time.sleep(0.001)


class Base(Case):
    """A case whose runs are in its folder."""

    def setUp(self):
        super().setUp()
        self.environment = clean()

    def own_cache(self):
        """Calibrations of this case alone, where it keeps some; their folder."""
        self.environment["XDG_CACHE_HOME"] = self.path("cache")
        return self.path("cache/evener/calibration")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, what):
        """A text, or anything else as JSON; the path."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(what if isinstance(what, str) else json.dumps(what))
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def table(self, name):
        """Rows of a CSV file behind its comments: of words, then of numbers."""
        rows = list(csv.reader(line for line in self.read(name).split("\n") if line and line[0] != "#"))
        return rows[0], [[float(x) for x in row] for row in rows[1:]]

    def load(self, name):
        return json.loads(self.read(name))

    def evener(self, *words, status=0, said=None, **options):
        """The command's end, which has this status, and these messages; None: any."""
        done = evener(*words, **{"cwd": self.folder, "env": self.environment, **options})
        if status is not None:
            self.assertEqual(done.returncode, status, f"{words}: {done.stderr}")
        if said is not None:
            self.assertEqual(done.stderr, said, words)
        return done

    def record(self, *words, said="", **options):
        """What a run says of itself; it ends well, and has nothing else to say. said None: anything, as warnings."""
        quiet = () if words[0] == "info" else ("--quiet",)
        return json.loads(self.evener(*words, *quiet, "--json", "-", said=said, **options).stdout)

    def elsewhere(self):
        """Words that start three ranks, all but the first on another host, as far as they know, with a folder of their own in place of $BLIND."""
        found = launchers()
        if os.geteuid() or subprocess.run(["unshare", "-mu", "true"], capture_output=True, check=False).returncode or not found:
            self.skipTest("needs hosts' names and file systems of its own, and an MPI")
        os.chmod(self.write("elsewhere", ELSEWHERE), 0o700)
        os.mkdir(self.path("blind"))
        return [*found[0][1], "-n", "3", self.path("elsewhere")]

    def moved(self, count, *words, **options):
        """record() of a run in which this count of its transfers is not 0. Schedules go by times: on a busy machine a run may see nothing to move."""
        for _ in range(10):
            record = self.record(*words, **options)
            if record["transfers"][count]:
                return record
        self.fail(f"10 runs without {count}: {words}")

    def refuses(self, words, *says, status=2, page=False, **options):
        """The exit status, and one line that begins with `evener: ` and has the words that mend it; no file is made or lost. page: its head is there."""
        before = sorted(os.listdir(self.folder))
        done = self.evener(*words, status=status, **options)
        self.assertTrue(page or not done.stdout, done.stdout)
        self.assertRegex(done.stderr, r"\Aevener: (?!warning)[^\n]*\n\Z")
        for word in [word for some in says for word in ([some] if isinstance(some, str) else some)]:
            self.assertIn(word, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
