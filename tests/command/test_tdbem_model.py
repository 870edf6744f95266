#!/usr/bin/env python3
"""evener model td-bem: groups of steps on many ranks. The published case against arithmetic made here, what comes of a run's
record, messages and bytes against those of runs over ranks, records that make no sense.

Run: ctest -R tdbem-model, or tests/command/test_tdbem_model.py build/evener [test ..]
"""
import math
import re

import base


class Base(base.Base):
    def model(self, *words):
        return self.record("model", "td-bem", *words)

    def refuses(self, *words, says):
        super().refuses(["model", "td-bem", *words], says)


class Published(Base):
    def test_table(self):
        """Table of cluster.md: 0.98, 0.87 and 0.76 on 2, 8 and 16 nodes of 600 GFlop/s; the paper's own had 0.78 on 8."""
        rows = {r["ranks"]: r for r in self.model("--ranks", "1,2,8,16")["over_ranks"]}
        self.assertEqual([round(rows[p]["efficiency"], 2) for p in (1, 2, 8, 16)], [1, 0.98, 0.87, 0.76])
        alone = 0.291 + 0.0081 + 0.005
        for p, r in rows.items():
            self.assertEqual(r["messages"], p * (p - 1) * 17)
            sent = (p - 1) * 2e-6 + r["nodes"] * 23962 * 16 * 8 * (p - 1) / p / 12.5e9
            shared = 16 * ((p - 1) * 2e-6 + 8 * 23962 * (p - 1) / p / 12.5e9)
            group = (0.291 + 0.0081) / p + sent + shared + 0.005
            self.assertAlmostEqual(r["group_s"], group, delta=1e-12)
            self.assertAlmostEqual(r["efficiency"], alone / p / group, delta=1e-9)
            # 22 exchanges a step, of the sums of 375 chunks and of halos
            exchange = (p - 1) * 2e-6 + (16 * 375 * (p - 1) / p + 512 * 3 * math.sqrt(375) * (p > 1)) / 12.5e9
            self.assertAlmostEqual(r["overlaid_s"], group - 0.005 * (p - 1) / p, delta=1e-12)
            self.assertAlmostEqual(r["by_rows_s"], r["overlaid_s"] + 16 * 22 * exchange, delta=1e-12)
        self.assertEqual(rows[1]["nodes"], 0)
        self.assertTrue(3 < rows[8]["nodes"] < 4)

    def test_network(self):
        slow = self.model("--ranks", "8", "--latency", "20", "--bandwidth", "1")["over_ranks"][0]
        self.assertAlmostEqual(slow["sums_sent_s"], 7 * 20e-6 + slow["sums_bytes"] / 8 / 1e9, delta=1e-12)
        self.assertAlmostEqual(slow["rows_shared_s"], 16 * 7 * 20e-6 + slow["rows_bytes"] / 8 / 1e9, delta=1e-12)


class Gpus(Base):
    """Figure 13: the published run on nodes of 12 cores with 0 to 3 GPUs."""

    def rows(self, *words):
        return {(r["nodes"], r["gpus"]): r for r in self.model("--gpus", "0,1,2,3", *words)["with_gpus"]}

    def test_paper(self):
        rows = self.rows()
        self.assertEqual(len(rows), 16)
        # axes of the figure: 300 to 3000 s, speed-ups 1 to 4; 0.78 on 8 nodes without GPUs, over 2
        self.assertTrue(all(200 < r["run_s"] < 3000 and 1 <= r["speedup"] < 4.1 for r in rows.values()), rows)
        self.assertAlmostEqual(rows[8, 0]["speedup"] / 4, 0.78, delta=0.01)
        # more of either is never slower; solving dominates in the end, and one GPU on two nodes is too small
        for (nodes, gpus), r in rows.items():
            for other in ((nodes + 2, gpus), (nodes, gpus + 1)):
                self.assertTrue(other not in rows or rows[other]["run_s"] < r["run_s"], (nodes, gpus))
            self.assertAlmostEqual(r["run_s"], sum(r[k] for k in ("summation_s", "radiation_s", "messages_s", "solve_s")), delta=1e-9)
        self.assertGreater(rows[8, 3]["solve_s"], 0.7 * rows[8, 3]["run_s"])
        self.assertEqual([rows[n, 1]["outside"] > 0 for n in (2, 4, 6, 8)], [True, True, False, False])

    def test_arithmetic(self):
        """Without and with room for all: values over what cores and GPUs compute in a second. With room for nothing: what the bus brings."""
        groups, values = 10823 / 8, 5.46e9
        for memory in ("1000GB", "1"):
            for (nodes, gpus), r in self.rows("--gpu-memory", memory).items():
                gpu = 146e9 if memory == "1000GB" else 6e9 * 0.63 / 4 * 16
                seconds = groups * values / nodes * 16 / ((12 - gpus) * 2.7e9 + gpus * gpu)
                self.assertAlmostEqual(r["summation_s"], seconds, delta=1e-6 * seconds, msg=(nodes, gpus, memory))

    def test_refused(self):
        self.refuses("--gpus", "12", says="--gpus 12")
        self.refuses("--gpus", "1", "--ranks", "200", says="--ranks 200")
        self.refuses("--gpus", "1", "--gpu-memory", "none", says="--gpu-memory none")
        self.refuses("--gpu-memory", "1GB", says="--gpus")


class Table(Base):
    def test_blocks(self):
        """Table 4 of the paper: blocks and fill have the same values in each numbering, and E is operations over the kernel's speed."""
        done = self.evener("bench", "td-bem", "--table", "--mesh", "sphere:2")
        rows = [line.split() for line in done.stdout.splitlines() if re.match(r"  \d+x\d+ ", line)]
        self.assertEqual([r[0] for r in rows], ["16x16", "16x32", "32x32", "64x32", "128x32", "16x64", "32x64", "64x64", "128x64",
                                                "16x128", "32x128", "64x128", "128x128"])
        values = None
        for name, rate, *cells in rows:
            size = math.prod(map(int, name.split("x")))
            self.assertEqual(len(cells), 12)
            for blocks, fill, e in zip(cells[0::3], cells[1::3], cells[2::3]):
                all_values = int(blocks) * size
                values = values or all_values * float(fill) / 100
                self.assertAlmostEqual(all_values * float(fill) / 100, values, delta=1e-2 * values)
                self.assertAlmostEqual(float(e), 2e3 * all_values / (1e9 * float(rate)), delta=1e-2 * float(e) + 1e-3)
        mixed = next(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  mixed "))
        for i, e in enumerate(mixed):
            self.assertLessEqual(float(e), 1.1 * min(float(row[4 + 3 * i]) for row in rows))  # of some columns


class Runs(Base):
    BODY = ["run", "td-bem", "--mesh", "sphere:1", "--steps", "48", "--blocks", "16", "--units", "1:CPU:1"]

    def test_counts(self):
        """What is predicted of a group is what a run over ranks has sent, and one rank takes what it took."""
        one = self.record(*self.BODY)
        name = self.write("one", one)
        for ranks in (2, 3, 4):
            many = self.record(*self.BODY, "--processes", str(ranks), "--schedule", "static", "--oversubscribe")
            found = self.model("--record", name, "--measured", self.write("many", many), "--ranks", "1")
            rows = {r["ranks"]: r for r in found["over_ranks"]}
            self.assertEqual(sorted(rows), [1, ranks])
            self.assertAlmostEqual(rows[1]["group_s"], one["seconds"] / 3, delta=1e-9)
            self.assertAlmostEqual(rows[ranks]["measured_s"], many["seconds"] / 3, delta=1e-9)
            sent, r = many["sent"], rows[ranks]
            self.assertEqual(3 * r["messages"], sent["sums_messages"] + sent["rows_messages"])
            self.assertAlmostEqual(3 * r["sums_bytes"], sent["sums_bytes"], delta=1)
            self.assertEqual(3 * r["rows_bytes"], sent["rows_bytes"])

    def test_shares(self):
        stages = {"summation_s": 8, "reduction_s": 2, "radiation_s": 4, "right_hand_side_s": 1, "solve_s": 3}
        record = {"app": "td-bem", "problem": "x, float, rows, ng=5", "steps": 10, "seconds": 20, "stages": stages,
                  "matrix": {"rows": 100, "blocks": 4}}
        name = self.write("one", record)
        r = self.model("--record", name, "--ranks", "4", "--latency", "1e6", "--bandwidth", "1e-6")["over_ranks"][0]
        want = {"summation_s": 5 / 4, "radiation_s": 2 / 4, "right_hand_side_s": 0.5 / 4, "solve_s": 2.5,
                "sums_bytes": 3 * r["nodes"] * 100 * 8 * 4, "rows_bytes": 3 * 5 * 8 * 100, "messages": 12 * 6}
        for key, value in want.items():
            self.assertAlmostEqual(r[key], value, delta=1e-9)
        self.assertAlmostEqual(r["sums_sent_s"], 3 + r["sums_bytes"] / 4 / 1e3, delta=1e-9)
        self.refuses("--record", name, "--ranks", "5", says="expected at most 4")
        for key, value in [("steps", 0), ("seconds", 1), ("problem", "x, float"), ("problem", "x, ng=99"), ("app", "bt-mz"),
                           ("matrix", {}), ("stages", {}), ("ranks", [1, 2])]:
            self.refuses("--record", self.write("bad", {**record, key: value}), says="bad: ")
        many = {**record, "ranks": [1, 2], "sent": {"sums_bytes": 1}, "problem": "y, float, rows, ng=5"}
        self.refuses("--record", name, "--measured", self.write("bad", many), says="is of y")
        self.refuses("--record", name, "--measured", name, says="on several ranks")


class Refused(Base):
    def test_options(self):
        self.refuses("--ranks", "0", says="whole number from 1")
        self.refuses("--ranks", "2,2", says="twice")
        self.refuses("--latency", "-1", says="--latency -1")
        self.refuses("--bandwidth", "nan", says="--bandwidth nan")
        self.refuses("--measured", "x", says="--record")
        self.refuses("--record", "nowhere", says="nowhere")
        self.refuses("--record", self.write("bad", []), says="bad: ")
        self.refuses("--json", "nowhere/r", says="nowhere")
