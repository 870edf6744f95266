"""Steps of a loop come to their end, with the same bits, while threads are stopped and continued at random, signals come, processes are forked,
and cores are taken away; between steps no processor time is taken.
Run: ctest -R disturbed. usage: test_disturbed.py PROGRAM [test ..]

Nothing here depends on how busy the machine is: only what has not ended after minutes is taken for hung."""
import contextlib
import functools
import os
import random
import signal
import subprocess
import sys
import time
import unittest

PROGRAM = ""
STEPS = "10000"
PATIENCE = 300  # s
# how the program is written, and the units and ranks it runs on
FORMS = {"pull": ("pull", "2:CPU:1", "1"), "share": ("share", "1:CPU:2", "1"), "places": ("places", "2:CPU:1", "1"),
         "oversubscribed": ("pull", "5:CPU:1", "1"), "ranks": ("places", "1:CPU:1", "2")}


def start(form, how="quiet", **env):
    mode, units, ranks = FORMS[form]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EVENER_")}
    if ranks != "1":
        clean["EVENER_PROCESSES"] = ranks
    clean.update({"EVENER_UNITS": units, "EVENER_OVERSUBSCRIBE": "1", "EVENER_CLAIMS": "", **env})
    return subprocess.Popen([PROGRAM, mode, STEPS, how], env=clean, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def group(process):
    """All processes of the run: of the program's group."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.getpgid(int(pid)) == process.pid:
                found.append(int(pid))
    return found


def finish(process):
    """What it printed; killed, and an error, where it hangs."""
    try:
        out, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"has not ended after {PATIENCE} s: {' '.join(process.args)}") from None
    if process.returncode:
        raise AssertionError(f"exit status {process.returncode}: {said}")
    return out.split()


@functools.cache
def quiet():
    """The hash of a run that nobody disturbs: there is one."""
    return finish(start("pull"))


class Disturbed(unittest.TestCase):
    def by_itself(self, how, forms):
        """The program disturbs itself."""
        for form in forms:
            with self.subTest(form):
                self.assertEqual(finish(start(form, how)), quiet())

    def by_us(self, form, disturb, **env):
        """disturb() is called until the program has ended."""
        process = start(form, **env)
        while process.poll() is None:
            disturb(process)
        self.assertEqual(finish(process), quiet())

    def test_forms(self):
        self.by_itself("quiet", FORMS)

    def test_signals(self):
        self.by_itself("signals", FORMS)

    def test_forks(self):
        self.by_itself("forks", ("pull", "share", "places"))

    def test_cores(self):
        self.by_itself("cores", FORMS)
        self.assertEqual(finish(start("pull", "cores", EVENER_BIND="cores")), quiet())

    def test_stopped(self):
        """Whole processes; of ranks each for itself, so that the others wait for it."""
        dice = random.Random(7)

        def stop(process):
            for pid in dice.sample(found, 1) if (found := group(process)) else []:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(dice.choice((0.0005, 0.005, 0.03)))
                    os.kill(pid, signal.SIGCONT)
            time.sleep(dice.choice((0, 0.002, 0.02)))

        for form in FORMS:
            with self.subTest(form):
                self.by_us(form, stop)


class Idle(unittest.TestCase):
    def test_idle(self):
        """300 ms between two steps cost less than 1 ms of processor time: of units, helpers, ranks, devices."""
        forms = {form: start(form, "idle") for form in FORMS}
        forms["devices"] = start("places", "idle", EVENER_UNITS="1:CPU:1,2:GPU:1", EVENER_DEVICES="emulated")
        for form, process in forms.items():
            with self.subTest(form):
                used = finish(process)
                self.assertEqual(len(used), int(FORMS.get(form, ("", "", "1"))[2]))
                self.assertLess(max(map(float, used)), 0.001)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
