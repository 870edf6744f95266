"""A process, or two, that compute beside what is measured and end with the script."""
import os
import time

# seconds of computing and of none, by turns
TURNS = {"stays": (1, 0), "busy": (1, 0), "two-threads": (1, 0), "comes-and-goes": (0.1, 0.1), "flickers": (0.003, 0.003)}


def compete(core, on, off, parent):
    """Does not return; ends with its parent. core None: wherever the system puts it."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    while os.getppid() == parent:
        until = time.monotonic() + on
        while time.monotonic() < until:
            pass
        if off:
            time.sleep(off)


class Competitor:
    """Computes as long as the block lasts: on `core`; two threads, which are two processes here, wherever the system puts them. kind: one of
    TURNS, or quiet: there is none. turns: other seconds of computing and of none."""

    def __init__(self, core, kind, turns=None):
        self.core, self.kind, self.turns, self.pids = core, kind, turns, []

    def __enter__(self):
        count = {"quiet": 0, "two-threads": 2}.get(self.kind, 1)
        for _ in range(count):
            parent, (on, off) = os.getpid(), self.turns or TURNS[self.kind]
            pid = os.fork()
            if not pid:
                try:
                    compete(None if count > 1 else self.core, on, off, parent)
                finally:
                    os._exit(0)
            self.pids.append(pid)

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        self.pids = []
