#!/usr/bin/env python3
"""Faults of runs over ranks, each at random moments: the run ends in time with one line, the right status, and nothing left; an
earlier record is whole, and from every checkpoint a run on other ranks goes on to the hash of one that never stopped.

    ranks.py --evener build/evener --cases 50                  of each fault; all of them take about an hour
    ranks.py --cases 2 --only child,interrupt

Open MPI's and MPICH's launchers where they and their plug-ins are there. With two ranks and a small address space each.
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "command"))
import box  # pylint: disable=wrong-import-position
import base as ranks  # pylint: disable=wrong-import-position

SOON = 3  # s
APPS = {"td-bem": ["--mesh", "sphere:2", "--steps", "600", "--every", "24"],
        "ft": ["--size", "32x16x16", "--steps", "1500", "--every", "30"],
        "mg": ["--size", "32", "--steps", "6000", "--every", "120"],
        **{app: ["--class", "S", "--perturb", "--steps", "2000", "--every", "40"] for app in ("bt-mz", "sp-mz", "lu-mz")}}
SHORT = {"td-bem": ["--mesh", "sphere:1", "--steps", "48", "--ng", "8", "--every", "16"],
         "ft": ["--size", "32x16x16", "--steps", "20", "--every", "5"],
         "mg": ["--size", "32", "--steps", "20", "--every", "5"],
         **{app: ["--class", "S", "--perturb", "--steps", "20", "--every", "5"] for app in ("bt-mz", "sp-mz", "lu-mz")}}
EARLIER = b'{"earlier": 1}'
# what launchers leave in the temporary folder, and what a kill between two calls of an output does (<evener/output.h>)
FOREIGN = re.compile(r"tmp/.*(ompi|pmix|hydra|vader|openmpi|mpich|ucx)|work/\.evener-\w+ is left")


def without_every(words):
    at = words.index("--every")
    return words[:at] + words[at + 2:]


class Ended:
    """A run's end: its status, its lines, what is wrong with what it left, seconds from the fault until nobody was there."""

    def __init__(self, status, lines, err, wrong, seconds):
        self.status, self.lines, self.err, self.wrong, self.seconds = status, lines, err, wrong, seconds

    def expect(self, statuses, least, most, pattern=""):
        if self.status not in statuses:
            self.wrong.append(f"status {self.status}, not {statuses}: {ascii(self.err[:300])}")
        elif not least <= len(self.lines) <= most:
            self.wrong.append(f"{len(self.lines)} lines: {ascii(self.err[:300])}")
        elif any(not re.search(pattern, line) for line in self.lines):
            self.wrong.append(f"not {pattern}: {self.lines[0]}")
        return self


class Case:
    """A run over ranks in a box."""

    def __init__(self, trial, words, before=(), count=2, record=True, checkpoint=True):
        self.trial, self.before = trial, list(before)
        self.folder = box.new_folder()
        self.words = ["run", *words, "--units", "1:CPU:1", "--oversubscribe", "--quiet"]
        if checkpoint:
            self.words += ["--checkpoint", "c"]
        if record:
            self.words += ["--json", "o.json"]
            with open(f"{self.folder}/work/o.json", "wb") as file:
                file.write(EARLIER)
        if not before and count:
            self.words += ["--processes", str(count)]
        self.shared = set(os.listdir("/dev/shm"))
        self.tree = box.tree(self.folder)

    def environment(self, **more):
        found = {**self.trial.evener.environment(self.folder), "OMP_NUM_THREADS": "1", **ranks.clean()}
        # what a killed launcher leaves goes with the box
        found.update(TMPDIR=f"{self.folder}/tmp", OMPI_MCA_btl_vader_backing_directory=f"{self.folder}/tmp", **more)
        return found

    def start(self, program=None, words=None, **more):
        self.out = open(f"{self.folder}/.said/out", "wb")
        self.err = open(f"{self.folder}/.said/err", "wb")
        return subprocess.Popen([*self.before, program or self.trial.evener.path, *(words or self.words)],
                                cwd=f"{self.folder}/work", env=self.environment(**more), stdin=subprocess.DEVNULL,
                                stdout=self.out, stderr=self.err, start_new_session=True)

    def end(self, going, known=(), since=None):
        """Waits for the end of all."""
        patience = 60 if since else 200
        since = since or time.monotonic()
        known = set(known) | {pid for pid in ranks.descendants(going.pid) if ranks.is_rank(pid)}
        limit, wrong = since + patience * self.trial.patience, []
        while going.poll() is None or any(map(ranks.is_there, known)):
            if time.monotonic() > limit:
                wrong.append("it hangs" if going.poll() is None else "a rank is left")
                os.killpg(going.pid, signal.SIGKILL)
                for pid in filter(ranks.is_there, known):
                    os.kill(pid, signal.SIGKILL)
                going.wait()
                break
            time.sleep(0.005)
        seconds = time.monotonic() - since
        self.out.close()
        self.err.close()
        with open(f"{self.folder}/.said/err", encoding="utf-8", errors="replace") as file:
            err = file.read()
        lines = [line for line in err.splitlines() if line.startswith("evener: ") and not line.startswith("evener: warning: ")]
        case = {"words": self.words, "inout": ["work/o.json", "work/c"]}
        wrong += [line for line in box.check_files(self.tree, box.tree(self.folder), case) if not FOREIGN.search(line)]
        wrong += [f"/dev/shm/{name} is left" for name in set(os.listdir("/dev/shm")) - self.shared if "evener" in name]
        return Ended(going.returncode, lines, err, wrong, seconds)

    def goes_on(self, ended, app):
        """From the checkpoint, if there is one, on other ranks to the same end."""
        words = ["run", app, *without_every(APPS[app]), "--oversubscribe", "--quiet", "--json", "again.json",
                 *self.trial.rng.choice((["--units", "1:CPU:1"], ["--units", "2:CPU:1"], ["--processes", "2", "--units", "1:CPU:1"],
                                         ["--processes", "3", "--units", "1:CPU:1"]))]
        if not os.path.exists(f"{self.folder}/work/c"):
            return ended
        done = subprocess.run([self.trial.evener.path, *words, "--restart", "c"], cwd=f"{self.folder}/work",
                              env=self.environment(), capture_output=True, text=True, timeout=300)
        if done.returncode or hash_of(f"{self.folder}/work/again.json") != self.trial.known(app)[1]:
            ended.wrong.append(f"a restart ended with {done.returncode} and {ascii(done.stderr[:200])}, or another hash")
        else:
            self.trial.restarts += 1
        return ended

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def hash_of(path):
    try:
        with open(path, encoding="ascii") as file:
            return json.load(file).get("hash")
    except OSError:
        return None


class Trial:
    """What the cases of a call have in common."""

    def __init__(self, evener, seed, limit):
        self.evener, self.seed, self.limit = evener, seed, limit
        self.patience, self.restarts, self.rng, self.lengths = evener.slack, 0, random.Random(seed), {}
        ranks.EVENER = evener.path

    def known(self, app, before=()):
        """(seconds, hash) of a run that is left alone, on two ranks."""
        key = (app, *before)
        if key not in self.lengths:
            case = Case(self, [app, *APPS[app]], before)
            begin = time.monotonic()
            case.end(case.start()).expect((0,), 0, 0)
            self.lengths[key] = time.monotonic() - begin, hash_of(f"{case.folder}/work/o.json")
            case.close()
            assert self.lengths[key][1], key
        return self.lengths[key]

    def launcher(self):
        """One of those there are: (its name, its words for two ranks)."""
        found = [kind for kind in ("openmpi", "mpich") if self.has(kind)]
        if not found:
            raise unittest.SkipTest("there is no launcher with a plug-in")
        kind = self.rng.choice(found)
        return kind, [*ranks.launcher(kind), "-n", "2"]

    @staticmethod
    def has(kind):
        try:
            return bool(ranks.launcher(kind))
        except unittest.SkipTest:
            return False

    def scarce(self):
        if not hasattr(self, "library"):
            self.library = os.path.join(self.evener.cache, "scarce.so")
            compiler = shutil.which("cc")
            if not compiler or self.evener.sanitized:
                raise unittest.SkipTest("needs a compiler, and a build without sanitizers")
            subprocess.run([compiler, "-O1", "-shared", "-fPIC", os.path.join(HERE, "scarce.c"), "-o", self.library, "-ldl"],
                           check=True)
        return self.library


# ---- somebody is killed ----

def strike(trial, victim, number=signal.SIGKILL, launched=False):
    """A signal to one process at a random moment: (app, case, its end, whether it was still at work, whom it met)."""
    app = trial.rng.choice(list(APPS))
    kind, before = trial.launcher() if launched else ("processes", ())
    length = trial.known(app, before)[0]
    case = Case(trial, [app, *APPS[app]], before, trial.rng.randrange(2, 5))
    going = case.start()
    time.sleep(trial.rng.random() * 0.95 * length)
    there = [pid for pid in ranks.descendants(going.pid) if ranks.is_rank(pid)]
    met = going.pid if victim == "first" else trial.rng.choice(there) if there else 0
    since, struck = time.monotonic(), False
    if met and going.poll() is None:
        try:
            os.kill(met, number)
            struck = True
        except ProcessLookupError:
            pass
    return app, kind, case, case.end(going, there, since), struck, met


def finish(app, case, ended, struck):
    case.goes_on(ended, app)
    case.close()
    return ended.wrong, ended.seconds if struck else None


def child(trial):
    app, _, case, ended, struck, met = strike(trial, "rank")
    # a rank that has closed the run may be killed in vain
    ended.expect((0, 3) if struck else (0,), 0, 1, rf"process \d of \d \(pid {met}\) was ended by signal 9")
    if struck and ended.status == 3 and not ended.lines:
        ended.wrong.append("status 3 and not a word")
    return finish(app, case, ended, struck)


def supervisor(trial):
    app, _, case, ended, struck, _ = strike(trial, "first")
    ended.expect((-9,) if struck else (0,), 0, 0)
    return finish(app, case, ended, struck)


def rank_of_mpi(trial):
    app, kind, case, ended, struck, _ = strike(trial, "rank", launched=True)
    # in its first moments, and its last ones, MPI itself fails in some other way
    ended.expect({"openmpi": (137, 0, 1), "mpich": (9, 137, 0, 15, 1, 6)}[kind] if struck else (0,), 0, 1, "interrupted")
    return finish(app, case, ended, struck)


def mpirun(trial):
    app, _, case, ended, struck, _ = strike(trial, "first", launched=True)
    ended.expect((-9,) if struck else (0,), 0, 1, "interrupted|ended from outside")
    return finish(app, case, ended, struck)


ASK = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def interrupt(trial):
    number = trial.rng.choice(ASK)
    app, _, case, ended, struck, _ = strike(trial, "first", number)
    # before main() a signal ends a process as it does every other
    ended.expect((0, 130, -number) if struck else (0,), 0, 1, "interrupted")
    if ended.status == 130 and not ended.lines:
        ended.wrong.append("status 130 and not a word")
    return finish(app, case, ended, struck)


def unheard(trial):
    """A rank that does not answer when the run is interrupted: what was kept then is a state, too."""
    app = trial.rng.choice(list(APPS))
    case = Case(trial, [app, *APPS[app]], count=2)
    going = case.start()
    time.sleep((0.1 + 0.8 * trial.rng.random()) * trial.known(app)[0])
    there = sorted(pid for pid in ranks.descendants(going.pid) if ranks.is_rank(pid))
    if len(there) == 2:
        os.kill(trial.rng.choice(there), signal.SIGSTOP)
        time.sleep(0.05)
    since = time.monotonic()
    going.send_signal(signal.SIGTERM)
    ended = case.end(going, there, since).expect((0, 130, -signal.SIGTERM), 0, 1, "interrupt")
    case.goes_on(ended, app)
    case.close()
    return ended.wrong, None


def interrupt_of_mpi(trial):
    number = trial.rng.choice(ASK[:2])
    app, kind, case, ended, struck, _ = strike(trial, "first", number, launched=True)
    ended.expect(((0, 130, 1, -number) if kind == "openmpi" else (0, 130, -number, 2, 15, 143)) if struck else (0,), 0, 1,
                 "interrupted")
    return finish(app, case, ended, struck)


def loss(trial):
    """Ranks are killed, and the run goes on from its last state."""
    app, again = trial.rng.choice(list(APPS)), trial.rng.choice(("restart", "restart:same"))
    length, bits = trial.known(app)
    case = Case(trial, [app, *APPS[app], "--on-rank-loss", again], count=3)
    going, met, since = case.start(), [], time.monotonic()
    for _ in range(trial.rng.randrange(1, 3)):
        time.sleep(trial.rng.random() * 0.6 * length)
        there = [pid for pid in ranks.descendants(going.pid) if ranks.is_rank(pid) and pid not in met]
        if there and going.poll() is None:
            met.append(trial.rng.choice(there))
            os.kill(met[-1], signal.SIGKILL)
    ended = case.end(going)
    ended.seconds = time.monotonic() - since
    # the kill of a rank that is done, or of one beside another, is not seen
    ended.expect((0,), 0, len(met), "goes on from its last state with [1-3] process")
    with open(f"{case.folder}/work/o.json", encoding="ascii") as file:
        record = json.load(file)
    if record.get("hash") != bits or record.get("restarts") != len(ended.lines):
        ended.wrong.append(f"hash {record.get('hash')} after {record.get('restarts')} restarts and {len(ended.lines)} lines")
    case.close()
    return ended.wrong, None


# ---- one rank has too little ----

def scarcity(trial, what):
    """One rank's allocations or writes fail: all end, and one line names it."""
    app, count = trial.rng.choice(list(SHORT)), trial.rng.randrange(2, 4)
    rank = trial.rng.randrange(count)
    with_others = trial.rng.random() < 0.3 and what == "memory"
    kind, before = trial.launcher() if with_others else ("", ())
    rank = rank % 2 if before else rank
    preload = {"LD_PRELOAD": trial.scarce(), "SCARCE": what, "SCARCE_RANK": str(rank)}
    case = Case(trial, [app, *SHORT[app]], before, count)
    note = f"{case.folder}/.said/count"
    ended = case.end(case.start(SCARCE_AT="0", SCARCE_COUNT=note, **preload)).expect((0,), 0, 0)
    total = int(open(note, encoding="ascii").read().split()[0]) if os.path.exists(note) else 0
    if ended.wrong or not total:
        case.close()
        return ended.wrong, None
    # most of what is asked for is the machine's description, which is not ours
    first = trial.rng.randrange(1, total + 1) if what == "disk" else trial.rng.randrange(total * 3 // 4, total + 1)
    since = time.monotonic()
    ended = case.end(case.start(SCARCE_AT=str(first), SCARCE_FOR=trial.rng.choice(("1", "100")), **preload), since=since)
    foreign = re.search("libgomp|hwloc|ended with status 1|signal 11|received signal|PMI|MPI|ucx|UCX", ended.err)
    if not foreign:  # what others do without memory is theirs, and MPI's is not ours to see
        ended.expect((0, 2, 3), 0, 1, "" if ended.status != 3 else r"ranks? \d|process")
        if ended.status and not ended.lines and not before:
            ended.wrong.append(f"status {ended.status} and not a word")
    if what == "disk" and ended.status == 3 and "No space left" not in ended.err:
        ended.wrong.append(f"no reason: {ascii(ended.err[:200])}")
    case.close()
    return ended.wrong, ended.seconds if ended.status else None


def memory(trial):
    return scarcity(trial, "memory")


def disk(trial):
    return scarcity(trial, "disk")


# ---- checkpoints ----

def kept(trial, app, count):
    """A checkpoint of so many ranks, in the middle of a run: its bytes, and the hash of the whole run."""
    key = "kept", app, count
    if key not in trial.lengths:
        case = Case(trial, [app, *SHORT[app]], count=count, record=False)
        steps = SHORT[app].index("--steps")
        case.words[case.words.index("--steps") + 1] = str(int(SHORT[app][steps + 1]) // 2)
        case.end(case.start()).expect((0,), 0, 0)
        with open(f"{case.folder}/work/c", "rb") as file:
            state = file.read()
        case.close()
        case = Case(trial, [app, *SHORT[app]], count=1, checkpoint=False)
        ended = case.end(case.start(words=without_every(case.words)))
        trial.lengths[key] = state, hash_of(f"{case.folder}/work/o.json")
        assert not ended.wrong and trial.lengths[key][1], (ended.wrong, ended.err)
        case.close()
    return trial.lengths[key]


def resume(trial, app, state, count, units):
    """Goes on from these bytes: (its end, hash)."""
    case = Case(trial, [app, *SHORT[app], "--restart", "r"], count=count, checkpoint=False)
    case.words[case.words.index("--units") + 1] = units
    with open(f"{case.folder}/work/r", "wb") as file:
        file.write(state)
    case.tree = box.tree(case.folder)
    ended = case.end(case.start(words=without_every(case.words)))
    bits = hash_of(f"{case.folder}/work/o.json")
    case.close()
    return ended, bits


def together(trial):
    """Two runs at once with one checkpoint and one record: each is of one of them."""
    app = trial.rng.choice(list(SHORT))
    case = Case(trial, [app, *SHORT[app]], count=2)
    first, out, err = case.start(), case.out, case.err
    second = case.start(words=[*case.words[:-1], "3"])
    status = first.wait(timeout=120)
    out.close()
    err.close()
    ended = case.end(second).expect((0,), 0, 0)
    if status:
        ended.wrong.append(f"the first ended with {status}")
    with open(f"{case.folder}/work/c", "rb") as file:
        state = file.read()
    if hash_of(f"{case.folder}/work/o.json") != kept(trial, app, 2)[1]:
        ended.wrong.append("another hash")
    case.close()
    again, bits = resume(trial, app, state, 2, "1:CPU:1")
    again.expect((0,), 0, 0)
    if bits != kept(trial, app, 2)[1]:
        again.wrong.append("another hash from the checkpoint of one of two")
    return ended.wrong + again.wrong, None


# ---- ranks that do not fit ----

def small_shm(trial):
    """/dev/shm of 64 kB: our line comes before MPI's, and forked ranks need none of it."""
    if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        raise unittest.SkipTest("needs a /dev/shm of its own")
    launched = trial.rng.random() < 0.6
    _, before = trial.launcher() if launched else ("", ())
    case = Case(trial, ["bt-mz", "--steps", "5"], before, checkpoint=False)
    case.before = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"', "sh", *case.before]
    environment = case.environment
    case.environment = lambda **more: {key: value for key, value in environment(**more).items()
                                       if key != "OMPI_MCA_btl_vader_backing_directory"}
    ended = case.end(case.start())
    if launched and not ended.err.startswith("evener: warning: /dev/shm has 0.0655 MB left"):
        ended.wrong.append(f"no word of ours first: {ascii(ended.err[:200])}")
    if not launched:
        ended.expect((0,), 0, 0)
    case.close()
    return ended.wrong, None


FAULTS = {f.__name__: f for f in (child, supervisor, rank_of_mpi, mpirun, interrupt, unheard, interrupt_of_mpi, loss, memory, disk, together,
                                  small_shm)}


def attack(evener, cases, seed, limit, only=FAULTS):
    """The number of mistakes."""
    trial, mistakes = Trial(evener, seed, limit), 0
    for name in only:
        wrong, times, done, skipped = [], [], 0, collections.Counter()
        for number in range(cases):
            trial.rng = random.Random(f"{name} {seed} {number}")
            try:
                lines, seconds = FAULTS[name](trial)
            except unittest.SkipTest as why:
                skipped[str(why)] += 1
                continue
            done += 1
            if seconds is not None:
                times.append(seconds)
                if seconds > limit * evener.slack:
                    lines.append("it ended late")
            wrong += [f"{line} (case {number})" for line in lines]
        late = sum(seconds > SOON for seconds in times)
        print(f"{name:16} {done:4d} cases, {len(times)} met a run at work, ended after at most "
              f"{max(times, default=0):.2f} s, {late} later than {SOON} s; {len(wrong)} mistakes"
              + "".join(f"; {count} skipped: {why}" for why, count in skipped.items()), flush=True)
        for line in wrong[:10]:
            print("      ", line[:400], flush=True)
        mistakes += len(wrong)
    print(f"{trial.restarts} checkpoints went on to the same hash; {mistakes} mistakes")
    return mistakes


def main():
    words = box.arguments(__doc__)
    words.add_argument("--limit", type=float, default=30.0, help="seconds from a fault to the end (3 on a quiet machine)")
    words.add_argument("--only", help=f"of {','.join(FAULTS)}")
    given = words.parse_args()
    with box.opened(given.evener) as evener:
        return 1 if attack(evener, given.cases, given.seed, given.limit, given.only.split(",") if given.only else FAULTS) else 0


if __name__ == "__main__":
    sys.exit(main())
