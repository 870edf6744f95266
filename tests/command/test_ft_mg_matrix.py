#!/usr/bin/env python3
"""FT and MG on 1 to 8 ranks, all of it: each class, list of units, schedule and variant, on cores, emulated devices and both, over the
arena and both MPIs, and from states that other ranks have kept. Verified, FT's checksums within 1e-12 and MG's norm within 1e-10 of one
core's, one hash where the manual says so, puts as the formulas say.

Run: ctest -R command-ft-mg-matrix is a small part; EVENER_RANKS=all runs everything, an hour. Or
tests/command/test_ft_mg_matrix.py build/evener [part ..], where a part is one of those that PARTS lists.
With a build that contracts nothing (EVENER_CONTRACT=OFF) devices must have the bits of cores, too.
"""
import itertools
import os
import sys
import tempfile

import test_ranks as ranks
import test_ranks_matrix as npbmz
from base import launcher
from test_mg_devices import plane
from test_mg_ranks import faces
from test_ranks_matrix import Wrong

npbmz.LIMIT = 180  # s a run: many threads on few cores
COUNTS = 1, 2, 3, 4, 5, 8
GPUS = [["1:GPU:1"], ["2:GPU:1"], ["1:GPU:2", "peer=no"], ["1:CPU:1,1:GPU:1"], ["1:GPU:2,1:CPU:2", "speed=0.3"], ["2:CPU:1,1:GPU:1"]]
VARIANTS = {"ft": ["best", "slabs", "packed"], "mg": ["best"]}
STEPS = {"ft": {"S": 6, "W": 6, "A": 6}, "mg": {"S": 4, "W": 4, "A": 4}}


def emulated(units, *more):
    """A list of units and where its devices come from."""
    return [units, "--devices", ",".join(["emulated:2", *more])] if "GPU" in units else [units]


LISTS = [[units] for units in ranks.LISTS] + [emulated(*words) for words in GPUS]


def parts(got):
    """How many tasks each rank has."""
    of = {unit: rank for rank, r in enumerate(got.get("ranks", [])) for unit in r["units"]}
    tasks = [0] * max(1, len(got.get("ranks", [])))
    for unit in got["owner"]:
        tasks[of.get(unit, 0)] += 1
    return tasks


def puts_of_ft(got, variant, transposes):
    """Of ranks with any parts: rows of each from each other one, whole, or plane by plane."""
    nx, ny, nz = got["size"]
    tasks, all_tasks = [t for t in parts(got) if t], len(got["owner"])
    others, times = len(tasks) - 1, 1 + got["steps"]
    pairs = (others + 1) * others
    inside = sum(t * t for t in tasks) * ny * nz // all_tasks**2
    count = transposes * pairs if variant == "packed" else nz * others + (transposes - 1) * pairs
    return times * count, transposes * times * 16 * nx * (ny * nz - inside)


def puts_of_mg(got):
    """Planes beside each range, and all of the fourth level to all ranks; None for messages where a rank is a single task, or where what two
    ranks want of each other from both sides lies side by side, and for bytes where it is the same planes."""
    n, tasks, all_ranks = got["size"], [t for t in parts(got) if t], len(got["ranks"])
    beside = len(tasks) * (4 * plane(n) + 5 * plane(n // 2) + 6 * plane(n // 4)) if len(tasks) > 1 else 0
    count = (10 * len(tasks) if len(tasks) > 1 else 0) + len(tasks) * (all_ranks - 1)
    known = len(tasks) < 2 or min(tasks) > (1 if len(tasks) > 2 else 3)
    if len(got["owner"]) - max(tasks) in (1, 2):
        return None, None
    return count * got["steps"] if known else None, got["steps"] * (beside + (all_ranks - 1) * n // 8 * plane(n // 8))


class Matrix(npbmz.Matrix):
    """Runs of FT and MG against one core's."""

    def __init__(self):
        super().__init__()
        self.cores = {}

    def whole(self, app, name, *words):
        key = app, name, *words
        if key not in self.cores:
            self.cores[key] = self.alone(app, name, words)
            if len(words) == 0 and self.cores[key]["verified"] is not True:
                raise Wrong(f"{key}: not verified")
        return self.cores[key]

    def near(self, got, want, exact):
        """Figures near one core's, and the bits where they are to be the same."""
        if got["verified"] is not want["verified"]:
            raise Wrong(f"verified: {got['verified']}")
        if got["app"] == "mg" and abs(got["norm"] / want["norm"] - 1) > 1e-10:
            raise Wrong(f"norm {got['norm']}, alone {want['norm']}")
        sums, others = ([complex(*pair) for pair in r.get("checksums", [])] for r in (got, want))
        if len(sums) != len(others) or any(abs(a - b) > 1e-12 * abs(b) for a, b in zip(sums, others)):
            raise Wrong(f"checksums {sums}, alone {others}")
        figures = "hash", "checksums", "norm"
        if exact and any(got.get(figure) != want.get(figure) for figure in figures):
            raise Wrong(f"hash {got['hash']}, alone {want['hash']}")

    def counted(self, got, variant, transposes, lists, more):
        """Puts by the formulas, where tasks stay where they are and are neighbours'."""
        if got["schedule"] != "static" or got["transfers"]["migrations"]:
            return
        if got["app"] == "mg":
            want = puts_of_mg(got)
        elif variant != "best" or any("GPU" in units for units, *_ in lists) or "--per-node" in more:
            want = puts_of_ft(got, variant, transposes)
        else:
            want = 0, 0
        puts = got["puts"]
        if want[1] not in (None, puts["bytes"]) or want[0] not in (None, puts["count"]):
            raise Wrong(f"puts {puts}, expected {want}")
        if puts["remote" if "--per-node" not in more else "same_node"]:
            raise Wrong(f"puts {puts}")

    def run(self, part, wire, app, name, count, lists, schedule, variant="best", transposes=1, more=(), words=()):
        """One run; its record, or None. `words` say what is computed, `more` how."""
        words = [*words, *(["--transposes", str(transposes)] if transposes > 1 else [])]
        way = ["--schedule", schedule, "--variant", variant, *more]
        if count == 1 and "--processes" not in more:
            way = [w for w in way if w not in ("--variant", variant)]  # it would say that it changes nothing
        said = npbmz.line(wire, count, lists, [app, "--class", name, *words, *way])
        exact = not self.contracts or not any("GPU" in units for units, *_ in lists)

        def right(got):
            self.near(got, self.whole(app, name, *words), exact)
            if transposes > 1:
                self.near(got, self.whole(app, name, *words[:-2]), False)
            if count > 1 and "--restart" not in more:
                self.counted(got, variant, transposes, lists, more)

        return self.keep((wire, name, f"{app} {part}"), said, count, right)

    def blocks(self, wire, name, count, variant):
        said = npbmz.line(wire, count, [["1:CPU:1"]], ["mg", "--class", name, "--variant", variant])

        def right(got):
            self.near(got, self.whole("mg", name), False)
            want = faces(count, got["size"], got["steps"])
            if (got["puts"]["count"], got["puts"]["bytes"]) != want:
                raise Wrong(f"puts {got['puts']}, expected {want}")

        return self.keep((wire, name, "mg blocks"), said, count, right)


def can(app, units, schedule):
    """What the manual refuses: MG's devices of units that draw."""
    return "GPU" not in units or not (app == "mg" and schedule.startswith("dynamic"))


# ---- parts ----


def everything(m, app, name):
    """The arena: each number of ranks with each list and schedule, and of the variants another one each time."""
    ways = itertools.cycle(itertools.product(VARIANTS[app], (1, 2) if app == "ft" else (1,), ((), ("--per-node", "1"))))
    for count, units, schedule in itertools.product(COUNTS, LISTS, ranks.SCHEDULES):
        variant, transposes, node = next(ways)
        if can(app, units[0], schedule):
            m.run("all", "arena", app, name, count, [units], schedule, variant, transposes, node if count > 1 else ())


def ft_s(m):
    everything(m, "ft", "S")


def ft_w(m):
    everything(m, "ft", "W")


def mg_s(m):
    everything(m, "mg", "S")


def mg_w(m):
    everything(m, "mg", "W")


def variants(m):
    """Each with each number of ranks and list, counted."""
    for name, count, units, variant, transposes, node in itertools.product("SW", COUNTS[1:], LISTS, VARIANTS["ft"], (1, 2), ((), ("1",))):
        if can("ft", units[0], "static") and not (name == "W" and count > 3):
            m.run("variants", "arena", "ft", name, count, [units], "static", variant, transposes, ("--per-node", *node) if node else ())


def blocks(m):
    for name, count, variant in itertools.product("SWA", (1, 2, 4, 8), ("bulk", "overlap")):
        m.blocks("arena", name, count, variant)


def moving(m):
    """Tasks that go to other ranks and to other places in mid-run, since a unit is slow from some step on."""
    moved = dict.fromkeys(("ft", "mg"), 0)
    for app, count, units, schedule in itertools.product(moved, (2, 3, 5), LISTS, ("guided:time", "interval", "binpack", "map")):
        for variant in VARIANTS[app]:
            got = m.run("moving", "arena", app, "S", count, [units], schedule, variant, 1, ("--slow", "1:30@1"), ("--steps", "9"))
            moved[app] += got["transfers"]["moved_between_ranks"] if got else 0
    if not all(moved.values()):
        m.wrong.append(f"moving: {moved} tasks went to other ranks")


def kept(m, app, name, before, after, steps):
    """A state that some ranks keep, and others go on from."""
    (count, units), (others, last) = before, after
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "c")
        half = str(steps // 2)
        if not m.run("states", "arena", app, name, count, [units], "static", more=("--checkpoint", state), words=("--steps", half)):
            return
        got = m.run("states", "arena", app, name, others, [last], "static", more=("--restart", state))
        if got and got["restarted_from"] != int(half):
            m.wrong.append(f"{app} {name}: goes on from {got['restarted_from']}, kept {half}")


def states(m):
    """On other ranks, units and places than it was kept on."""
    ways = list(itertools.product((1, 2, 3, 5), LISTS))
    for app, name in itertools.product(("ft", "mg"), "SW"):
        for i, before in enumerate(ways):
            kept(m, app, name, before, ways[(7 * i + 3) % len(ways)], STEPS[app][name])


def large(m):
    lists = itertools.cycle([["1:CPU:1"], emulated("1:CPU:1,1:GPU:1"), ["2:CPU:1"], emulated("1:GPU:1")])
    for app, count in itertools.product(("ft", "mg"), COUNTS):
        for variant in VARIANTS[app]:
            m.run("large", "arena", app, "A", count, [next(lists)], "static", variant)


def launched(m, kind, counts):
    """Under a launcher: ranks that are the same, and ranks with other units than their neighbours."""
    launcher(kind)  # or it is left out
    mixed = [["2:CPU:1"], ["1:CPU:1"], emulated("1:GPU:1"), ["3:CPU:1"], emulated("1:CPU:1,1:GPU:1")]  # teams are too slow with ranks that spin
    lists = itertools.cycle([mixed, [["1:CPU:1"]], mixed[2:] + mixed[:2], [["2:CPU:1"]], [emulated("1:GPU:1")]])
    schedules = itertools.cycle(["static", "weighted", "guided:time", "interval", "binpack"])
    ways = itertools.product(("ft", "mg"), "SW", counts, range(5), ((), ("--per-node", "1")))
    for app, name, count, _, node in ways:
        mine = next(lists)[:count]
        for variant in VARIANTS[app]:
            m.run("launched", kind, app, name, count, mine, next(schedules), variant, more=node)
    for name, count, variant in itertools.product("SW", [c for c in counts if c in (2, 4)], ("bulk", "overlap")):
        m.blocks(kind, name, count, variant)


def openmpi(m):
    launched(m, "openmpi", (2, 3, 5))


def mpich(m):
    launched(m, "mpich", (2,))


def small(m):
    """Some of each, in well under a minute."""
    ways = zip(itertools.cycle(COUNTS), itertools.cycle(LISTS), itertools.cycle(["static", "guided:time", "weighted", "interval", "static"]),
               itertools.cycle(VARIANTS["ft"]), range(23))
    for count, units, schedule, variant, _ in ways:
        for app in ("ft", "mg"):
            m.run("small", "arena", app, "S", count, [units], schedule, variant if app == "ft" else "best")
    for i, transposes in ((2, 2), (5, 2)):
        m.run("small", "arena", "ft", "S", i, [LISTS[0]], "static", "slabs", transposes)
    for count, variant in itertools.product((1, 2, 4, 8), ("bulk", "overlap")):
        m.blocks("arena", "S", count, variant)
    for app in ("ft", "mg"):
        kept(m, app, "S", (2, LISTS[7]), (3, LISTS[0]), STEPS[app]["S"])
        kept(m, app, "S", (3, LISTS[4]), (1, LISTS[7]), STEPS[app]["S"])


PARTS = {part.__name__: part for part in (small, ft_s, mg_s, ft_w, mg_w, variants, blocks, moving, states, large, openmpi, mpich)}


if __name__ == "__main__":
    chosen = sys.argv[1:] or (list(PARTS) if os.environ.get("EVENER_RANKS") == "all" else ["small"])
    sys.exit(npbmz.main(chosen, Matrix(), PARTS))
