#!/usr/bin/env python3
"""evener model ft, model mg: steps in virtual time. Messages, bytes and copies against the formulas of the benchmarks' structure,
made here; limits where the answer is known; what has to grow or shrink with a figure; bad input. The papers' results are command-papers'.

Run: ctest -R command-ft-mg-model, or tests/command/test_ft_mg_model.py build/evener [test ..]
"""
import json
import math
import subprocess

import base
import report_page
from base import EVENER

FREE = 1e30
NETWORK = {"put": 0, "put_bandwidth": FREE, "hop": 0, "flag": 0}
GPU = {"gpu_flops": FREE, "gpu_memory": FREE, "kernel": 0, "context": 0}
BUS = {"bus": 0, "bus_bandwidth": FREE}
STAGING = {"core_copy": FREE, "node_memory": FREE}
FT = {"S": (64, 64, 64), "W": (128, 128, 32), "A": (256, 256, 128), "B": (512, 256, 256)}
MG = {"S": 32, "A": 256, "B": 256, "C": 512}


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("model", *words, **options)

    def machine(self, **figures):
        return self.write("machine.json", {"machine": "a test's", "figures": figures})

    def rows(self, app, *words, **figures):
        """By (nodes, variant, on a GPU)."""
        if figures:
            words += ("--machine", self.machine(**figures))
        done = self.evener(app, *words, "--quiet", "--json", "-")
        self.record = json.loads(done.stdout)
        for r in self.record["in_time"]:
            # what a thread does and waits for is all of the step
            self.assertAlmostEqual(sum(r["groups_s"].values()), r["step_s"], delta=1e-9 * r["step_s"])
            self.assertAlmostEqual(r["speedup"] * r["step_s"], self.record["one_thread_s"], delta=1e-9)
        return {(r["nodes"], r["variant"], r["gpu"]): r for r in self.record["in_time"]}


class FtCounts(Base):
    """Sections 4.2 to 4.4 of the structure: R6, R8, R9, R12, R18."""

    def check(self, class_, nodes, per_node, q):
        nx, ny, nz = FT[class_]
        p, points = nodes * per_node, nx * ny * nz
        rows = self.rows("ft", "--class", class_, "--nodes", str(nodes), "--per-node", str(per_node), "--transposes", str(q))
        bulk, planes = p * (p - 1), min(ny, nz) * (p - 1)
        self.assertEqual(len(rows), 7)
        for (_, variant, gpu), row in rows.items():
            step = row["step"]
            messages = {"packed": q * bulk, "best": nz * (p - 1) + planes if q == 2 else planes}.get(
                variant, nz * (p - 1) + bulk if q == 2 else planes)
            self.assertEqual(step["messages"], messages, (variant, gpu))
            self.assertEqual(step["bytes"], q * 16 * points * (p - 1) / p, (variant, gpu))
            far = (p - per_node) / (p - 1) if p > 1 else 0
            self.assertAlmostEqual(step["far_bytes"], step["bytes"] * far, delta=1e-9 * step["bytes"] + 1)
            for way in ("to_device", "from_device"):
                self.assertEqual(step[way + "_bytes"], 2 * 16 * points if gpu else 0)
                chunks = {"packed": 16 * p, "best": nz + min(ny, nz)}.get(variant, nz + (8 * p if q == 2 else min(ny, nz)))
                self.assertEqual(step[way], chunks if gpu else 0, variant)
            self.assertEqual(step["device_faces"], 0)

    def test_class_b(self):
        """The structure's example: 8 threads, 42 transposes, 18.4 GiB."""
        self.check("B", 2, 4, 2)
        step = self.rows("ft", "--nodes", "2", "--variant", "slabs", "--hybrid", "off")[2, "slabs", False]["step"]
        self.assertAlmostEqual(21 * step["bytes"] / 2 ** 30, 18.375)
        self.assertEqual(step["messages"], 224 * 8 + 8 * 7)

    def test_others(self):
        for class_, nodes, per_node in (("B", 4, 1), ("A", 2, 2), ("W", 4, 4), ("S", 1, 8), ("S", 1, 1)):
            for q in (1, 2):
                with self.subTest(class_=class_, nodes=nodes, q=q):
                    self.check(class_, nodes, per_node, q)

    def test_kept_by_default(self):
        """The paper's variants have two transposes, ours one."""
        for (_, variant, _), row in self.rows("ft", "--class", "S", "--nodes", "1").items():
            self.assertEqual(row["transposes"], 1 if variant == "best" else 2)


class MgCounts(Base):
    """Section 4.5: R20 to R23, R25; the levels that all have whole as docs/mg.md says."""

    def check(self, class_, nodes, per_node):
        n = MG[class_]
        p = nodes * per_node
        power = p.bit_length() - 1
        px = 2 ** (power // 3)
        py = 2 ** ((power - power // 3) // 2)
        grid = (px, py, p // px // py)
        whole = int(math.log2(grid[2])) if grid[2] > 2 else 0
        levels = int(math.log2(n))
        messages = bytes_ = exchanges = 0
        for level in range(whole + 1, levels + 1):
            x, y, z = (2 ** level // g for g in grid)
            times = 2 if level == 1 else 3
            exchanges += times
            for d, face in enumerate((y * z, (x + 2) * z, (x + 2) * (y + 2))):
                if grid[d] > 1:
                    messages += times * 2 * p
                    bytes_ += times * 16 * p * face
        self.assertEqual(exchanges, 3 * (levels - whole) - (0 if whole else 1))
        if whole:
            messages += p * (p - 1)
            bytes_ += (p - 1) * 8 * 8 ** whole
        for (_, variant, gpu), row in self.rows("mg", "--class", class_, "--nodes", str(nodes), "--per-node", str(per_node)).items():
            step = row["step"]
            self.assertEqual(step["messages"] + step["device_faces"], messages, (variant, gpu))
            self.assertEqual(step["bytes"] + step["device_bytes"], bytes_, (variant, gpu))
            self.assertEqual(step["device_faces"] > 0, variant == "funneled" and per_node > 1)
            if gpu and not whole:
                # each message one copy down and one up, no other
                self.assertEqual(step["to_device"], step["messages"])
                self.assertEqual(step["from_device_bytes"], step["bytes"])

    def test_formulas(self):
        for class_, nodes, per_node in (("B", 2, 4), ("B", 1, 1), ("S", 2, 1), ("A", 4, 1), ("C", 16, 4), ("B", 4, 4), ("S", 1, 4)):
            with self.subTest(class_=class_, nodes=nodes, per_node=per_node):
                self.check(class_, nodes, per_node)

    def test_within_a_node(self):
        """Eight threads of one context share all faces."""
        step = self.rows("mg", "--nodes", "1", "--per-node", "8", "--variant", "funneled")[1, "funneled", True]["step"]
        self.assertEqual((step["messages"], step["to_device"], step["from_device"]), (0, 0, 0))


class Runs(Base):
    """What a run on two ranks has put is what the model says of its steps, and what is before the first one."""

    def check(self, app, variant, times, before, *words):
        done = subprocess.run([EVENER, "run", app, "--class", "S", "--processes", "2", "--units", "1:CPU:1", "--variant", variant,
                               "--per-node", "1", "--oversubscribe", "--quiet", "--json", "-", *words], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        puts = json.loads(done.stdout)["puts"]
        step = self.rows(app, "--class", "S", "--nodes", "2", "--per-node", "1", "--variant", variant, "--hybrid", "off",
                         *words)[2, variant, False]["step"]
        self.assertEqual((puts["count"], puts["bytes"], puts["remote"]), (times * step["messages"] + before[0],
                                                                          times * step["bytes"] + before[1],
                                                                          times * step["far_messages"] + before[0]))

    def test_ft(self):
        """Six steps, and the first transform is as one of them."""
        for transposes in "12":
            for variant in ("packed", "slabs"):
                self.check("ft", variant, 7, (0, 0), "--transposes", transposes)

    def test_mg(self):
        """Four steps, and the faces of the first residual: of 34 x 34 points, two of each block."""
        self.check("mg", "bulk", 4, (4, 4 * 8 * 34 * 34))


class Limits(Base):
    def test_one_thread(self):
        for app in ("ft", "mg"):
            rows = self.rows(app, "--nodes", "1", "--per-node", "1")
            for (_, variant, gpu), row in rows.items():
                self.assertEqual((row["step"]["messages"], row["step"]["bytes"]), (0, 0))
                if not gpu and variant != "best":
                    self.assertAlmostEqual(row["speedup"], 1)
            other = rows[1, "bulk" if app == "mg" else "slabs", True]
            self.assertAlmostEqual(rows[1, "funneled", True]["step_s"], other["step_s"], delta=1e-12)

    def test_no_network(self):
        """Without a network and copies to pack, there is nothing to overlap: packed is slabs, and cores scale."""
        rows = self.rows("ft", "--class", "B", "--nodes", "1,8", "--per-node", "1", "--hybrid", "off", **NETWORK, **STAGING)
        for nodes in (1, 8):
            a, b = rows[nodes, "packed", False], rows[nodes, "slabs", False]
            self.assertAlmostEqual(a["step_s"], b["step_s"], delta=1e-9 * a["step_s"])
        self.assertAlmostEqual(rows[8, "packed", False]["speedup"], 8)

    def test_no_cost_but_the_bus(self):
        """All points over the bus four times a step, two of them at a time at most."""
        for (_, variant, _), row in self.rows("ft", "--nodes", "1", "--per-node", "1", "--hybrid", "on", **GPU, **STAGING).items():
            one_way = 16 * 2 ** 25 / 6e9
            self.assertGreaterEqual(row["step_s"], 2 * one_way, variant)
            self.assertLessEqual(row["step_s"], 4.1 * one_way + 2 * 256 * 1e-5, variant)
            if variant == "packed":  # a batch has all before it gives any
                self.assertAlmostEqual(row["step_s"], 4 * (one_way + 8e-5), delta=1e-6)

    def test_no_cost_but_the_network(self):
        """What one node has to put to others, at the bandwidth there is: a transpose is 7/8 of its points, of which 4/8 leave it."""
        wire = 16 * 2 ** 25 / 2 * 0.5 / 3e9
        free = dict(GPU, **BUS, **STAGING, core_flops=FREE, core_memory=FREE, put=0, hop=0, flag=0)
        for (_, variant, gpu), row in self.rows("ft", "--nodes", "2", **free).items():
            times = 1 if variant == "best" else 2
            self.assertAlmostEqual(row["step_s"], times * wire, delta=0.01 * wire, msg=(variant, gpu))

    def test_infinite_gpu(self):
        for app in ("ft", "mg"):
            before = self.rows(app, "--nodes", "1,4", "--hybrid", "on")
            for key, row in self.rows(app, "--nodes", "1,4", "--hybrid", "on", **GPU).items():
                # with a master, copies of its core may be all there is
                self.assertLessEqual(row["step_s"], before[key]["step_s"], key)
                if app == "mg" or key[1] in ("packed", "slabs"):
                    self.assertLess(row["step_s"], before[key]["step_s"], key)


class Monotone(Base):
    def test_dearer(self):
        """What costs more takes no less."""
        for app in ("ft", "mg"):
            words = (app, "--class", "A", "--nodes", "1,4")
            before = self.rows(*words)
            for figure, value in (("put", 1e-5), ("put_bandwidth", 1e8), ("hop", 1e-4), ("bus_bandwidth", 1e9), ("kernel", 1e-4),
                                  ("core_flops", 1e9), ("gpu_memory", 1e10), ("core_copy", 1e9)):
                longer = 0
                for key, row in self.rows(*words, **{figure: value}).items():
                    self.assertGreaterEqual(row["step_s"], 0.98 * before[key]["step_s"], (app, figure, key))
                    longer += row["step_s"] > before[key]["step_s"]
                self.assertGreater(longer, 0, (app, figure))


class Words(Base):
    def test_page(self):
        done = self.evener("ft", "--class", "S", "--nodes", "1,2", "--variant", "slabs,best", "--hybrid", "on")
        self.assertIn("in virtual time, a model", done.stdout)
        self.assertEqual(sum(line.split()[3:4] == ["GPU"] for line in done.stdout.splitlines()), 4)

    def test_report(self):
        """The page at once, and the same from the record; a line for each variant, and numbers that a record must have."""
        page, record, again = self.path("p.html"), self.path("r.json"), self.path("q.html")
        done = self.evener("mg", "--class", "S", "--nodes", "1,2", "--quiet", "--report", page, "--json", record)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        done = subprocess.run([EVENER, "report", record, "--output", again], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(page) as one, open(again) as other:
            self.assertEqual(one.read().replace('{"file":"evener model",', '{"file":"%s",' % record), other.read())
        good = self.load(record)
        for key, value in (("in_time", []), ("in_time", 3), ("in_time", [{}]), ("in_time", [dict(good["in_time"][0], nodes=0)]),
                           ("in_time", [dict(good["in_time"][0], groups_s={})])):
            with open(record, "w") as f:
                json.dump(dict(good, **{key: value}), f)
            done = subprocess.run([EVENER, "report", record, "--output", again], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), (value, done.stderr))
        tips = {report_page.words(tip) for tip in report_page.drawn(page).iter("title")}
        for row in good["in_time"]:
            self.assertIn("%s, %s: %.4g at %d nodes" % (row["variant"], "GPU" if row["gpu"] else "cores", row["speedup"], row["nodes"]), tips)

    def test_bad_words(self):
        for app in ("ft", "mg"):
            self.refuses([app, "--class", "X"], "there is no such class")
            self.refuses([app, "--class", "BB"], "there is no such class")
            self.refuses([app, "--nodes", "0"], "whole number from 1")
            self.refuses([app, "--nodes", "2,2"], "twice")
            self.refuses([app, "--per-node", "9"], "8 cores")
            self.refuses([app, "--variant", "x"], "expected some of")
            self.refuses([app, "--variant", "funneled", "--hybrid", "off"], "share a GPU")
            self.refuses([app, "--hybrid", "x"], "on, off or both")
            self.refuses([app, "--nodes", "3"], app + " class B on 12 threads")
            self.refuses([app, "--json", "nowhere/r.json"], "nowhere")
        self.refuses(["ft", "--class", "S", "--nodes", "32"], "divides 64 rows")
        self.refuses(["mg", "--transposes", "1"], "for ft")

    def test_too_much(self):
        self.refuses(["ft", "--class", "F", "--nodes", "512", "--per-node", "8", "--hybrid", "off", "--variant", "slabs"], "fewer nodes", status=3)

    def test_memory_of_gpus(self):
        """Nodes whose GPU cannot hold its part are refused, with the bytes that it would need: section 4.1, at least four GTX 580 for MG."""
        rows = self.rows("mg", "--class", "C", "--nodes", "1,2,4", "--per-node", "1", "--hybrid", "on", gpu_bytes=1.5e9)
        self.assertEqual({nodes for nodes, _, _ in rows}, {4})
        refused = {(r["nodes"], r["variant"]): r["gpu_bytes"] for r in self.record["refused"]}
        self.assertEqual(len(refused), 4)
        for nodes in (1, 2):  # u and r on all levels, v on the finest, without ghosts
            at_least = 8 * 512 ** 3 / nodes * (1 + 2 * 8 / 7 * (1 - 1e-6))
            self.assertTrue(at_least < refused[nodes, "bulk"] < 1.05 * at_least, refused)
        self.assertIn("needs 3.", self.evener("mg", "--class", "C", "--nodes", "1,4", "--per-node", "1", "--machine", self.machine(gpu_bytes=1.5e9)).stdout)
        # a point of ft is 16 bytes, in and out; a master has one thread's at a time
        rows = self.rows("ft", "--class", "B", "--nodes", "2", "--per-node", "4", "--hybrid", "on")
        for (_, variant, _), r in rows.items():
            self.assertEqual(r["gpu_bytes"], 32 * 512 * 256 * 256 / 2 / (4 if variant in ("funneled", "best") else 1))
        self.assertEqual(self.record["refused"], [])
        # cores have no such limit; none at all is a mistake
        self.assertEqual(len(self.rows("mg", "--class", "C", "--nodes", "1", "--per-node", "1", "--hybrid", "off", gpu_bytes=1)), 1)
        self.refuses(["mg", "--class", "C", "--nodes", "1,2", "--hybrid", "on", "--machine", self.machine(gpu_bytes=1.5e9)], "which has 1.5")

    def test_bad_machines(self):
        def write(text):
            with open(self.path("m.json"), "w") as f:
                f.write(text)
            return self.path("m.json")
        for text, says in (("{", "m.json"), ("[]", "\"figures\" is not there"), ("{\"figures\": {}}", "\"machine\" is not there"),
                           ("{\"machine\": \"m\", \"figures\": {\"x\": 1}}", "\"x\" is no figure"),
                           ("{\"machine\": \"m\", \"figures\": {\"put\": -1}}", "from 0"),
                           ("{\"machine\": \"m\", \"figures\": {\"put\": \"1\"}}", "from 0"),
                           ("{\"machine\": \"m\", \"figures\": {\"put\": 1e999}}", "m.json"),
                           ("{\"machine\": \"m\", \"figures\": {\"core_flops\": 0.5}}", "from 1"),
                           ("{\"machine\": \"m\", \"figures\": {\"hop\": 1e7}}", "from 0 to 1e6")):
            self.refuses(["mg", "--machine", write(text)], says)
        self.refuses(["mg", "--machine", self.path("none.json")], "none.json")
