#!/usr/bin/env python3
"""NPB FT whose ranks share a device of each node (--variant funneled): official checksums and the bits of a CPU unit, whatever ranks a
node has; puts and copies of fields as counted by formulas; what is visible of puts beside the device's work; units and devices that are not
as they should be. Ranks that are lost are test_rank_loss.py's, a driver that is late test_cuda.py's.

Run: ctest -R command-ft-funneled, or tests/command/test_ft_funneled.py build/evener [test ..]
"""

from base import Base

PIECES = 8
SIZE = {"S": (64, 64, 64), "W": (128, 128, 32)}
STEPS = 6


def share(count, ranks):
    """Lines of each rank."""
    return [count * (r + 1) // ranks - count * r // ranks for r in range(ranks)]


class Funneled(Base):
    def words(self, *more, devices="emulated", ranks=2):
        return ("run", "ft", "--variant", "funneled", "--units", "1:GPU:1", "--devices", devices, "--processes", str(ranks),
                "--oversubscribe", *more)

    def evener(self, *words, **options):
        return super().evener(*words, OMP_NUM_THREADS="1", **options)

    def alone(self, *words):
        return self.record("run", "ft", "--units", "1:CPU:1", *words)

    def same(self, r, want):
        self.assertEqual((r["hash"], r["checksums"]), (want["hash"], want["checksums"]))

    def counts(self, r, name, ranks, per_node):
        """Section 4.3 of the paper's description: one transpose a transform, nothing resident, a copy a plane and 8 a rank's rows."""
        nx, ny, nz = SIZE[name]
        bytes_ = 16 * nx * ny * nz
        transforms = 1 + STEPS
        masters = -(-ranks // per_node)
        puts = r["puts"]
        self.assertEqual((puts["count"], puts["bytes"]), (transforms * nz * (ranks - 1), transforms * bytes_ * (ranks - 1) // ranks))
        node = [k // per_node for k in range(ranks)]
        near = sum(node[a] == node[b] and a != b for a in range(ranks) for b in range(ranks))
        self.assertEqual(puts["same_node"] * ranks * (ranks - 1), puts["count"] * near)
        self.assertEqual(puts["same_node"] + puts["remote"], puts["count"])
        c = r["counts"]
        copies = transforms * (nz + sum(min(PIECES, n) for n in share(ny, ranks)))
        self.assertEqual((c["contexts"], c["field_bytes_in"], c["field_bytes_out"]), (masters, 2 * transforms * bytes_, 2 * transforms * bytes_))
        self.assertEqual((c["field_copies_in"], c["field_copies_out"]), (copies, copies))
        tables = STEPS * masters  # the decay's three axes, a copy a step
        self.assertEqual((c["copies_in"], c["bytes_in"]), (copies + tables, c["field_bytes_in"] + tables * 8 * (nx + ny + nz)))
        self.assertEqual((c["copies_out"], c["bytes_out"]), (copies, c["field_bytes_out"]))
        for seconds in "compute_s", "copy_s", "put_s", "barrier_s":
            self.assertGreater(c[seconds], 0)

    # ---- what it computes and counts ----

    def test_verified(self):
        for name in "S", "W":
            want = self.alone("--class", name)
            for ranks, per_node in (2, 1), (2, 2), (4, 1), (4, 2), (4, 4):
                with self.subTest(name=name, ranks=ranks, per_node=per_node):
                    r = self.record(*self.words("--class", name, "--per-node", str(per_node), ranks=ranks))
                    self.assertIs(r["verified"], True)
                    self.same(r, want)
                    self.counts(r, name, ranks, per_node)

    def test_multiple(self):
        """A context a rank, without it."""
        r = self.record("run", "ft", "--class", "S", "--variant", "slabs", "--units", "1:GPU:1", "--devices", "emulated", "--processes", "4",
                        "--oversubscribe")
        self.assertEqual((r["counts"]["contexts"], r["counts"]["field_copies_in"]), (4, 0))

    def test_who_has_what(self):
        """Only masters have devices; ranks beyond the tasks, uneven ones, masters without a task."""
        r = self.record(*self.words("--class", "S", "--per-node", "2", ranks=3))
        self.assertEqual((r["counts"]["contexts"], [u["kind"] for u in r["units"]]), (2, ["gpu", "cpu", "gpu"]))
        for ranks, per_node, size in (4, 4, "8x2x2"), (3, 3, "64x4x16"), (3, 2, "32x16x8"):
            with self.subTest(ranks=ranks, size=size):
                self.same(self.record(*self.words("--size", size, "--per-node", str(per_node), ranks=ranks)), self.alone("--size", size))
        size = ("--size", "8x2x2")
        r = self.record(*self.words(*size, "--schedule", "weighted:speed=0.0001+1+1+0.0001", "--per-node", "2", ranks=4))
        self.same(r, self.alone(*size))
        self.assertEqual(r["puts"]["remote"], r["puts"]["count"])

    def test_overlap(self):
        """While a rank puts, the device has pieces of others: not every time, but in a pass."""
        spans = self.record(*self.words("--class", "W", ranks=4))["latest_z"]
        pieces = [s for s in spans if s["what"] == "device"]
        puts = [s for s in spans if s["what"] == "put"]
        self.assertEqual((len(pieces), len(puts)), (4 * PIECES, SIZE["W"][2]))
        self.assertTrue(any(a["rank"] != b["rank"] and a["begin_s"] < b["end_s"] and b["begin_s"] < a["end_s"] for a in pieces for b in puts))

    def test_verbose(self):
        done = self.evener(*self.words("--class", "S", "--verbose", "--per-node", "2", ranks=4))
        self.assertIn("2 contexts of devices for 4 ranks: the first rank of a node leads its device", done.stdout)

    def test_states(self):
        """A run that goes on, from whatever ranks."""
        words = ("--size", "16x16x16", "--steps", "9")
        want = self.record("run", "ft", "--units", "1:CPU:1", *words)
        self.evener(*self.words("--size", "16x16x16", "--steps", "5", "--checkpoint", "c", "--quiet"))
        r = self.record(*self.words(*words, "--restart", "c", ranks=4))
        self.same(r, want)

    # ---- what is wrong ----

    def test_refused(self):
        for units in "2:GPU:1", "1:GPU:2", "1:CPU:1", "1:GPU:1,1:CPU:1":
            done = self.evener("run", "ft", "--variant", "funneled", "--units", units, "--devices", "emulated:2", "--processes", "2",
                               "--oversubscribe", "--quiet", status=2)
            self.assertIn("expected --units 1:GPU:1, not " + units, done.stderr)
        for more, says in ((("--transposes", "2"), "has one transpose of each transform"), (("--size", "4096x2x2"), "2048 at most"),
                           (("--devices", "emulated:memory=1MiB"), "64 planes and 64 rows of 2 ranks need 8.")):
            self.refuses([*self.words(), *more, "--quiet"], says)
