#!/usr/bin/env python3
"""What a user of a machine sees who is not alone on it: the same tasks on Evener and on other runtimes, all with their default settings, one to
three copies of a program at once, and beside a competitor.

Run: suite/bench/shared_node.py [build] [--only heat] [--scenes alone,two] [--programs pull,tbb] [--rounds 9] [--seconds 0.3] [--limit 20]
                          [--all-peers] [--json FILE]

`build` is the folder of the build, with the programs in its folder peers (suite/bench/peers). Workloads, with steps of a loop over tasks and a
barrier:

  heat-256, heat-32   64 blocks of 4 to 60 rows of so many points; a task copies its neighbours' rows, or an exchange does (places)
  direct-256          the same without copies: neighbours' rows are read in place; only where it is asked for
  uneven              64 tasks of 12 to 190 us
  tiles               64 tasks of 2 us
  bt-mz               class W by the command

Scenes: alone; two and three copies at once; a competitor that stays on the second core, comes and goes (0.1 s), flickers (3 ms), or has two
threads, which are bound nowhere.

Programs take turns, beginning with another one in each round; copies begin their timed steps together, and the last one's end counts. A run
that has not ended after the limit is ended, and its program is not run again in this scene. A cell is wall time and processor time, each the
median over that of the best peer, which is the peer and setting of the least median wall time: `1.05/0.98`. The least of several medians is
too low by luck, so ratios of equals are a little above 1.
"""
import argparse
import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import time

from competitor import Competitor
from words import some_of

SCENES = {"alone": (1, "quiet"), "two": (2, "quiet"), "three": (3, "quiet"), "stays": (1, "stays"), "comes-and-goes": (1, "comes-and-goes"),
          "flickers": (1, "flickers"), "two-threads": (1, "two-threads")}
WORKLOADS = {"heat-256": ["heat", "256"], "heat-32": ["heat", "32"], "direct-256": ["heat-direct", "256"], "uneven": ["uneven", "64", 100e-6],
             "tiles": ["even", "64", 2e-6], "bt-mz": None}
RARE = {"direct-256"}


class Program:
    """One setting of a runtime. words: its executable and mode."""

    def __init__(self, name, words, env=None, ours=False, copies=1):
        self.name, self.words, self.env, self.ours, self.copies = name, words, env or {}, ours, copies


def openmp(maker, mode, policy):
    return Program(f"{maker}-{mode}-{policy[0]}", [f"openmp-{maker}", mode], {"OMP_WAIT_POLICY": policy})


def programs(heat, all_peers):
    """Ours first. The last letter of OpenMP's: waits actively or passively; -1: one unit of one core, for several copies."""
    ours = [Program(mode, ["evener", mode], ours=True) for mode in ["pull", "share"] + ["places"] * heat]
    ours += [Program("directives", ["directives", "pull"], ours=True),
             Program("pull-1", ["evener", "pull"], {"EVENER_UNITS": "1:CPU:1"}, True, copies=2)]
    peers = [Program("serial", ["serial", "plain"]), Program("tbb", ["tbb", "auto"]), Program("tbb-affinity", ["tbb", "affinity"])]
    peers += [openmp("gcc", mode, policy) for mode in ("dynamic", "weight") for policy in ("passive", "active")]
    if all_peers:
        peers += [Program(f"tbb-{mode}", ["tbb", mode]) for mode in ("simple", "static")]
        peers += [openmp("gcc", mode, policy) for mode in ("guided", "static", "taskloop") for policy in ("passive", "active")]
        peers += [openmp("clang", mode, policy) for mode in ("dynamic", "guided", "weight", "static", "taskloop")
                  for policy in ("passive", "active")]
        peers += [Program(f"starpu-{mode}", ["starpu", mode]) for mode in ("lws", "eager", "ws")]
    return ours + peers


def zones():
    """Of the command, against itself: what one core takes, and what units and waiting take that a user would have to ask for."""
    passive = {"OMP_WAIT_POLICY": "passive"}
    return [Program("default", [], ours=True), Program("one-core", ["--units", "1:CPU:1"]),
            Program("units-static", ["--units", "2:CPU:1", "--schedule", "static"]), Program("team-passive", ["--units", "1:CPU:2"], passive)]


# ---- one run ----

class Copy:
    """A process, its output so far, and what it used."""

    def __init__(self, command, env, mask):
        self.text, self.rc = b"", None
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask))

    def read(self, until, enough):
        """Reads until enough(text), the end of the output or a point in time; whether it is enough."""
        fd = self.process.stdout.fileno()
        while not enough(self.text):
            left = until - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                return False
            more = os.read(fd, 65536)
            if not more:
                return enough(self.text)
            self.text += more
        return True

    def kill(self):
        """With its children, which are of its group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end(self, until):
        """Waits for the end and takes its status; False: it has not ended in time, and is killed."""
        in_time = self.read(until, lambda text: False) or time.monotonic() < until
        if not in_time:
            self.kill()
        _, status, self.used = os.wait4(self.process.pid, 0)
        self.rc = self.process.returncode = os.waitstatus_to_exitcode(status)
        said = self.process.stderr.read().decode(errors="replace").strip()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        if in_time and self.rc:
            sys.exit(f"{' '.join(self.process.args)}: exit status {self.rc}: {said}")
        return in_time


def run(command, env, copies, limit, waits):
    """Seconds and processor seconds of a step, and the bits; None where a copy has not ended in time. waits: it says when it is ready."""
    until = time.monotonic() + limit
    environment = dict(os.environ, **env, **({"PEERS_READY": "1"} if waits else {}))
    copies_ = []
    try:
        for _ in range(copies):
            # an interrupt waits until the copy is in the list of those that are killed then
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
            try:
                copies_.append(Copy(command, environment, before))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return finish(copies_, until, waits)
    finally:  # also where the script is interrupted
        for copy in copies_:
            if copy.rc is None:
                copy.kill()


def finish(copies, until, waits):
    """Lets all begin together, and takes what they say."""
    if waits:
        for copy in copies:
            copy.read(until, lambda text: b"ready\n" in text)
        for copy in copies:
            try:
                copy.process.stdin.write(b"\n")
                copy.process.stdin.flush()
            except BrokenPipeError:
                pass  # its end says why
    if not all([copy.end(until) for copy in copies]):
        return None
    found = [lines(copy) if waits else record(copy) for copy in copies]
    return max(f[0] for f in found), statistics.mean(f[1] for f in found), found[0][2]


def lines(copy):
    wall, processor, _, bits = copy.text.split()[-4:]
    return float(wall), float(processor), bits


def record(copy):
    found = json.loads(copy.text)
    return found["seconds"] / found["steps"], (copy.used.ru_utime + copy.used.ru_stime) / found["steps"], found["hash"]


# ---- a workload ----

class Study:
    """What is run for a workload, and how often."""

    def __init__(self, name, a):
        self.name, self.a, self.peers = name, a, f"{a.build}/peers"
        self.waits = name != "bt-mz"
        self.programs = [p for p in (programs(name.startswith(("heat", "direct")), a.all_peers) if self.waits else zones()) if self.here(p)]
        if name.startswith("direct"):
            self.programs = [p for p in self.programs if p.name != "places"]
        self.steps = 0
        if self.waits:
            self.arguments = [str(self.turns(x)) if isinstance(x, float) else x for x in WORKLOADS[name]]
            self.steps = 20
            self.steps = max(20, round(a.seconds * a.cores / self.serial()))

    def here(self, p):
        if self.a.programs and p.name not in self.a.programs:
            return False
        return not self.waits or os.access(f"{self.peers}/{p.words[0]}", os.X_OK)

    def command(self, p):
        if not self.waits:
            return [f"{self.a.build}/evener", "run", "bt-mz", "--class", "W", *p.words, "--quiet", "--json", "-"]
        return [f"{self.peers}/{p.words[0]}", p.words[1], str(self.steps), *self.arguments]

    def turns(self, seconds):
        """Of the generator, for a task of so many seconds."""
        done = subprocess.run([f"{self.peers}/serial", "calibrate", "200", "even", "1", "100000"], capture_output=True, text=True, check=True)
        return max(1, round(seconds / float(done.stdout) * 100000))

    def serial(self):
        """Seconds of a step on one core."""
        return min(run(self.command(Program("serial", ["serial", "plain"])), {}, 1, self.a.limit, True)[0] for _ in range(3))

    def scene(self, scene):
        """{program: [(wall, processor)..]}; what took longer than the limit is infinite. And the bits of all."""
        copies, kind = SCENES[scene]
        order = [p for p in self.programs if copies >= p.copies]
        took, bits = {p.name: [] for p in order}, set()
        for r in range(self.a.rounds):
            first = r % len(order)
            for p in order[first:] + order[:first]:
                if took[p.name] and took[p.name][-1][0] == math.inf:
                    continue
                with Competitor(self.a.second, kind):
                    found = run(self.command(p), p.env, copies, self.a.limit, self.waits)
                took[p.name].append(found[:2] if found else (math.inf, math.inf))
                bits.add(found[2] if found else None)
        return took, bits - {None}


def median(samples):
    """Wall and processor time; a run over the limit counts as infinite."""
    return (math.inf, math.inf) if samples[-1][0] == math.inf else tuple(statistics.median(column) for column in zip(*samples))


def cell(p, middle, best):
    if p.name not in middle:
        return "-"
    wall, processor = middle[p.name]
    return "> limit" if wall == math.inf else f"{wall / best[0]:.2f}/{processor / best[1]:.2f}"


def study(name, a):
    s = Study(name, a)
    peers = [p.name for p in s.programs if not p.ours]
    if not peers:
        sys.exit(f"{name}: none of its peers is there, or wanted; build the target peers")
    width = max(9, max(len(p.name) for p in s.programs)) + 2
    words = f", {s.steps} steps" if s.steps else ""
    print(f"\n{name}{words}; wall/processor time over the best peer's\n{'':15s} {'best peer':>16s} {'us a step':>10s}"
          + "".join(f"{p.name:>{width}s}" for p in s.programs), flush=True)
    result = {}
    for scene in a.scenes:
        took, bits = s.scene(scene)
        middle = {n: median(samples) for n, samples in took.items()}
        which = min(peers, key=lambda n: middle[n][0])
        best = middle[which]
        print(f"{scene:15s} {which:>16s} {1e6 * best[0]:10.1f}" + "".join(f"{cell(p, middle, best):>{width}s}" for p in s.programs), flush=True)
        if len(bits) > 1:
            sys.exit(f"{name}, {scene}: programs have other bits: {', '.join(sorted(bits))}")
        result[scene] = {n: {"wall_s": [w for w, _ in t if w < math.inf], "processor_s": [c for _, c in t if c < math.inf],
                             "over_limit": t[-1][0] == math.inf} for n, t in took.items()}
    return {"steps": s.steps, "scenes": result}


# ---- the command line ----

def idle():
    """The share of all cores that nothing uses, for a moment."""
    def ticks():
        with open("/proc/stat") as f:
            t = [int(word) for word in f.readline().split()[1:9]]
        return t[3] + t[4], sum(t)
    before = ticks()
    time.sleep(0.5)
    after = ticks()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def workloads(text):
    """Names, or what several names begin with."""
    found = [name for word in text.split(",") for name in WORKLOADS if name.startswith(word)]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}, expected some of {','.join(WORKLOADS)}, or how they begin")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--only", type=workloads, default=[n for n in WORKLOADS if n not in RARE], metavar="WORKLOADS")
    parser.add_argument("--scenes", type=some_of(SCENES), default=list(SCENES))
    parser.add_argument("--programs", type=lambda text: text.split(","), help="some columns only; one at least must be a peer's")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a run on all cores, alone, were it ideal; not of bt-mz")
    parser.add_argument("--limit", type=float, default=20, help="seconds of a run, its start included")
    parser.add_argument("--all-peers", action="store_true", help="more settings of the peers, clang's OpenMP, StarPU")
    parser.add_argument("--json", metavar="FILE", help="all samples")
    a = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    a.cores, a.second = len(cores), cores[min(1, len(cores) - 1)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if a.rounds < 1:
        sys.exit("--rounds: one is the least")
    if not os.access(f"{a.build}/peers/serial", os.X_OK):
        sys.exit(f"{a.build}/peers/serial is not there; cmake --build {a.build} --target peers makes it")
    print(f"{a.cores} cores, medians of {a.rounds} in turn, limit {a.limit:g} s; the machine was {100 * idle():.0f} % idle before")
    found = {name: study(name, a) for name in a.only}
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"cores": a.cores, "rounds": a.rounds, "limit_s": a.limit, "workloads": found}, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
