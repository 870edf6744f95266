#!/usr/bin/env python3
"""NPB MG's blocks on devices, one a rank or one for the ranks of a node (--variant funneled): the norms and bits of blocks on cores, puts
and bytes as the decomposition has them without the faces that stay on a device, copies to and from devices. Ranks that are lost are
test_rank_loss.py's.

Run: ctest -R command-mg-funneled, or tests/command/test_mg_funneled.py build/evener [test ..]; EVENER_MG=all adds W on all counts.
"""
import os

from base import EVENER, Base, ended, evener, launcher, launchers

NORM = {"S": 0.5307707005734e-04, "W": 0.6467329375339e-05, "A": 0.2433365309069e-05}
ALL = os.environ.get("EVENER_MG") == "all"
KINDS = ("puts", "bytes", "within", "within_bytes", "in", "bytes_in", "out", "bytes_out", "local", "local_bytes")


def grid(ranks):
    """Ranks along x, y and z."""
    power = ranks.bit_length() - 1
    x = power // 3
    y = (power - x) // 2
    return 1 << x, 1 << y, 1 << (power - x - y)


def exchange(count, ranks, group, shape):
    """Adds one exchange of blocks of `shape` points to `count`; each `group` consecutive ranks share a device."""
    p = grid(ranks)
    x, y, z = shape
    points = y * z, (x + 2) * z, (x + 2) * (y + 2)
    for rank in range(ranks):
        at = [rank % p[0], rank // p[0] % p[1], rank // p[0] // p[1]]
        for axis in range(3):
            if p[axis] == 1:
                continue
            size, far = 8 * points[axis], 0
            for step in (-1, 1):
                to = list(at)
                to[axis] = (to[axis] + step) % p[axis]
                if (to[0] + p[0] * (to[1] + p[1] * to[2])) // group == rank // group:
                    count["within"] += 1
                    count["within_bytes"] += size
                else:
                    far += 1
            count["puts"] += far
            count["bytes"] += far * size
            # faces of x and y are packed, one copy for both; those of z are copied as they lie
            for way in ("in", "out"):
                count[way] += far if axis == 2 else far > 0
                count["bytes_" + way] += far * size
            # what comes is copied out of what a rank shares, and what goes into it where another rank puts it
            led = rank % group > 0
            count["local"] += far + (led and far > 0)
            count["local_bytes"] += far * size * (1 + led)


def gather(count, ranks, group, n):
    """All of a level of n points a side to all, each rank's block to every other rank."""
    part = 1
    for axis in range(3):
        part *= n // grid(ranks)[axis] + 2
    count["puts"] += ranks * (ranks - 1)
    count["bytes"] += 8 * (ranks - 1) * n**3
    for way, size in (("in", (n + 2)**3), ("out", part)):
        count[way] += ranks
        count["bytes_" + way] += 8 * ranks * size
    led = ranks - -(-ranks // group)
    count["local"] += 2 * led
    count["local_bytes"] += 8 * led * (part + (n + 2)**3)


def counts(ranks, group, n, steps):
    """Of the timed part: NIT (3 LT - 1) + 1 exchanges, fewer where a level is gathered."""
    count = dict.fromkeys(KINDS, 0)
    levels = n.bit_length() - 1
    whole = max(grid(ranks)).bit_length() - 1 if ranks > 8 else 0
    for _ in range(steps if whole else 0):
        gather(count, ranks, group, 1 << whole)
    for level in range(whole + 1, levels + 1):
        for _ in range((2 if level == 1 else 3) * steps + (level == levels)):
            exchange(count, ranks, group, [(1 << level) // p for p in grid(ranks)])
    # for the first norm and the last: sums of each row of a block, and nothing else
    p = grid(ranks)
    count["out"] += 2 * ranks
    count["bytes_out"] += 2 * ranks * 8 * (n // p[1]) * (n // p[2])
    return count


class Funneled(Base):
    cores = {}

    def evener(self, *words, **options):
        return super().evener("run", "mg", "--oversubscribe", *words, **options)

    def record(self, *words, devices="emulated", **options):
        return super().record(*words, *(("--devices", devices) if devices else ()), **options)

    def blocks(self, name, ranks, variant, *words, **how):
        return self.record("--class", name, "--processes", str(ranks), "--variant", variant, "--units", "1:GPU:1", *words, **how)

    def same(self, r, name, ranks):
        """As blocks on cores compute it."""
        if (name, ranks) not in self.cores:
            self.cores[name, ranks] = self.record("--class", name, "--processes", str(ranks), "--variant", "bulk", "--units", "1:CPU:1",
                                                  devices=None)
        cores = self.cores[name, ranks]
        self.assertIs(r["verified"], True, r["command"])
        self.assertLess(abs(r["norm"] / NORM[name] - 1), 1e-10)
        self.assertEqual((r["hash"], r["norm"]), (cores["hash"], cores["norm"]), r["command"])

    def counted(self, r, ranks, group):
        want = counts(ranks, group, r["size"], r["steps"])
        b = r["blocks"]
        self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), (want["puts"], want["bytes"]))
        self.assertEqual((b["within"], b["within_bytes"]), (want["within"], want["within_bytes"]))
        self.assertEqual((b["local_copies"], b["local_bytes"]), (want["local"], want["local_bytes"]))
        self.assertEqual((b["contexts"], b["on_devices"]), (-(-ranks // group), ranks))
        self.assertEqual([b[k] for k in ("copies_in", "bytes_in", "copies_out", "bytes_out")],
                         [want[k] for k in ("in", "bytes_in", "out", "bytes_out")])

    def test_own_device(self):
        """A device a rank: all faces are put."""
        for name, several in (("S", (1, 2, 4, 8, 16)), ("W", (1, 2, 4, 8) if ALL else (2, 8))):
            for ranks in several:
                for variant in ("bulk", "overlap") if name == "S" or ALL else ("overlap",):
                    r = self.blocks(name, ranks, variant)
                    self.same(r, name, ranks)
                    self.counted(r, ranks, 1)
                    self.assertEqual(r["puts"]["remote"], 0)
                    self.assertEqual([u["kind"] for u in r["units"]], ["gpu"] * ranks)

    def test_shared_device(self):
        for name, several in (("S", (1, 2, 4, 8, 16)), ("W", (1, 2, 4, 8) if ALL else (4, 8))):
            for ranks in several:
                for group in (1, 2, 4) if name == "S" or ALL else (2, 4):
                    r = self.blocks(name, ranks, "funneled", "--per-node", str(group))
                    self.same(r, name, ranks)
                    self.counted(r, ranks, min(group, ranks))
                    self.assertEqual([u["kind"] for u in r["units"]], ["cpu" if rank % group else "gpu" for rank in range(ranks)])
                    if ranks <= 8:
                        self.assertEqual(r["puts"]["same_node"], 0)

    def test_all_of_a_host(self):
        """No nodes but the one there is, and groups that are no box of the grid."""
        r = self.blocks("S", 8, "funneled")
        self.same(r, "S", 8)
        self.counted(r, 8, 8)
        self.assertEqual((r["puts"]["count"], r["blocks"]["contexts"]), (0, 1))
        r = self.blocks("S", 16, "funneled", "--per-node", "3")
        self.same(r, "S", 16)
        self.counted(r, 16, 3)

    def test_opencl(self):
        if "opencl   0:" not in evener("info").stdout:
            self.skipTest("no OpenCL device")
        for ranks, variant in ((1, "bulk"), (2, "overlap"), (4, "funneled")):
            r = self.blocks("S", ranks, variant, "--per-node", "2", devices="opencl")
            self.same(r, "S", ranks)
            self.counted(r, ranks, 2 if variant == "funneled" else 1)

    def test_mpi(self):
        for kind, start in launchers():
            ranks = 4 if kind == "openmpi" else 2
            for group in (1, 2):
                r = self.record("--class", "S", "--units", "1:GPU:1", "--variant", "funneled", "--per-node", str(group), launch=(*start, "-n", str(ranks)))
                self.same(r, "S", ranks)
                self.counted(r, ranks, group)

    def test_hybrid(self):
        """Some blocks on cores, others on devices."""
        ours = EVENER, "run", "mg", "--quiet", "--oversubscribe", "--variant", "overlap", "--json", self.path("record.json")
        done = ended([*launcher("openmpi"), "-n", "1", *ours, "--units", "1:CPU:1", ":", "-n", "1", *ours, "--units", "1:GPU:1", "--devices", "emulated"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.same(self.load("record.json"), "S", 2)

    def test_refused(self):
        several = "--quiet", "--processes", "4", "--variant", "funneled", "--units"
        self.refuses([*several, "1:CPU:1"], "expected units 1:GPU:1")
        self.refuses([*several, "1:GPU:2", "--devices", "emulated"], "expected one unit a rank")
        self.refuses([*several, "1:CPU:1,1:GPU:1", "--devices", "emulated"], "expected one unit a rank")
        self.refuses([*several, "1:GPU:1", "--devices", "emulated", "--checkpoint", "x"], "states are kept of slabs")
        self.refuses(["--class", "W", *several, "1:GPU:1", "--devices", "emulated:memory=16MiB"], "MB for 4 blocks, in one buffer")

    def test_page(self):
        done = self.evener("--verbose", "--processes", "4", "--per-node", "2", "--variant", "funneled", "--units", "1:GPU:1", "--devices",
                           "emulated")
        self.assertIn("4 blocks on 2 devices", done.stdout)
