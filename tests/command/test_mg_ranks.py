#!/usr/bin/env python3
"""NPB MG over ranks: blocks (bulk, overlap) with messages and bytes as the reference's decomposition has them, over forked processes and
MPI; nodes; what is refused. Slabs over MPI, and their bits, are test_hash.py's.

Run: ctest -R command-mg-ranks, or tests/command/test_mg_ranks.py build/evener [test ..]; EVENER_MG=all adds class A.
"""
import os

from base import Base, launchers
from test_mg_funneled import NORM, counts

CLASSES = "SWA" if os.environ.get("EVENER_MG") == "all" else "SW"


def faces(ranks, n, steps):
    """Messages and bytes of all ranks in the timed part, none of which share anything."""
    count = counts(ranks, 1, n, steps)
    return count["puts"], count["bytes"]


class Ranks(Base):
    def record(self, *words, **options):
        return super().record("run", "mg", "--oversubscribe", *words, **options)

    def same(self, r, alone):
        self.assertEqual((r["hash"], r["norm"], r["verified"]), (alone["hash"], alone["norm"], alone["verified"]), r["command"])

    def test_nodes(self):
        """As if ranks were on two nodes: what goes between them goes over the wire, and is the same."""
        alone = self.record("--class", "S", "--units", "1:CPU:1")
        one = self.record("--class", "S", "--units", "1:CPU:1", "--processes", "4")
        two = self.record("--class", "S", "--units", "1:CPU:1", "--processes", "4", "--per-node", "2")
        self.same(two, alone)
        self.assertEqual([two["puts"][k] for k in ("count", "bytes")], [one["puts"][k] for k in ("count", "bytes")])
        self.assertGreater(two["puts"]["remote"], 0)
        self.assertEqual(two["puts"]["remote"] + two["puts"]["same_node"], two["puts"]["count"])

    def test_blocks(self):
        """Official norms, close to the slabs', and as many messages and bytes as the decomposition says."""
        for name in CLASSES:
            best = self.record("--class", name, "--units", "1:CPU:1")
            for ranks in (1, 2, 4, 8, 16) if name == "S" else (1, 2, 4, 8):
                bits = set()
                for variant in ("bulk", "overlap"):
                    r = self.record("--class", name, "--units", "1:CPU:1", "--processes", str(ranks), "--variant", variant)
                    self.assertIs(r["verified"], True)
                    self.assertLess(abs(r["norm"] / best["norm"] - 1), 1e-10)
                    self.assertLess(abs(r["norm"] / NORM[name] - 1), 1e-10)
                    self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), faces(ranks, r["size"], r["steps"]))
                    bits.add(r["norm"])
                self.assertLess(max(bits) / min(bits) - 1, 1e-10)

    def test_blocks_on_nodes(self):
        for ranks, variant, per_node in ((8, "overlap", 2), (16, "bulk", 4), (4, "overlap", 1)):
            r = self.record("--class", "S", "--units", "1:CPU:1", "--processes", str(ranks), "--variant", variant, "--per-node",
                            str(per_node))
            self.assertIs(r["verified"], True)
            self.assertEqual((r["puts"]["count"], r["puts"]["bytes"]), faces(ranks, 32, 4))
            self.assertGreater(r["puts"]["remote"], 0)
            self.assertEqual(r["puts"]["remote"] + r["puts"]["same_node"], r["puts"]["count"])
        self.assertEqual(r["puts"]["same_node"], 0)

    def test_operators(self):
        """Seconds of each operator of blocks, which are those of the phases; launches of each on a device, of 5 levels and 4 cycles."""
        names = ["resid", "psinv", "rprj3", "interp"]
        for variant, ranks in (("bulk", "1"), ("overlap", "2")):
            r = self.record("--class", "W", "--units", "1:CPU:1", "--processes", ranks, "--variant", variant)
            operators, phases = r["operators"], r["phases"]
            self.assertEqual(list(operators), names)
            self.assertTrue(all(seconds > 0 for seconds in operators.values()))
            self.assertLess(sum(operators.values()), 1.001 * (phases["first"] + phases["finest"]) + 1e-6)
            self.assertGreater(sum(operators.values()), 0.9 * (phases["first"] + phases["finest"]))
        self.assertNotIn("operators", self.record("--class", "S", "--units", "1:CPU:1"))
        r = self.record("--class", "S", "--units", "1:GPU:1", "--devices", "emulated", "--variant", "bulk", "--phases")
        launches = {name: p["launches"] for name, p in r["devices"][0]["phases"].items()}
        self.assertEqual([launches[name] for name in names], [4 * 5 + 1, 4 * 5, 4 * 4, 4 * 4])
        self.assertNotIn("operators", r)

    def test_mpi(self):
        for kind, start in launchers():
            for variant in ("bulk", "overlap"):
                r = self.record("--class", "S", "--units", "1:CPU:1", "--variant", variant, launch=(*start, "-n", "2"))
                self.assertEqual((r["puts"]["count"], r["puts"]["bytes"], r["verified"]), (*faces(2, 32, 4), True))

    def test_refused(self):
        words = "run", "mg", "--quiet", "--units", "1:CPU:1", "--oversubscribe", "--processes"
        self.refuses([*words, "3", "--variant", "bulk"], "blocks for 3 ranks, expected a power of two")
        self.refuses([*words, "2", "--variant", "slabs"], 'there is no "slabs", expected bulk, overlap, funneled or best')
        self.refuses([*words, "2", "--variant", "bulk", "--units", "2:CPU:1"], "expected one unit a rank")
        self.refuses([*words, "2", "--variant", "bulk", "--schedule", "guided:time"], "expected the schedule static")
