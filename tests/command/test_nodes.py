#!/usr/bin/env python3
"""Plans on clusters: nodes and networks of machine files, units by nodes, messages a pair of nodes, the tree, overlap; the
table of BT-MZ on up to 1024 nodes that was made before there were nodes, with a unit for each. All in virtual time.

Run: ctest -R command-nodes, or tests/command/test_nodes.py build/evener [test ..]
"""
import json
import os

import base
from base import MACHINES


def cluster(**changes):
    machine = {
        "machine": "test",
        "units": [{"unit": "CPU:32", "count": 1, "speed": {"*": 4e8}}],
        "nodes": [{"count": 1024, "name": "cpu", "units": ["1:CPU:32"], "network": "edr"}],
        "networks": {"edr": {"latency": 2e-6, "bandwidth": 1.25e10}},
    }
    machine.update(changes)
    return machine


class Base(base.Base):
    def write(self, what):
        return super().write("m.json", what)

    def step(self, *words):
        return self.record("plan", *words, "--iterations", "1")["iterations"][0]

class Table(Base):
    # class, nodes: ms a step under static, binpack, map; MB and messages under binpack, map
    ROWS = [("D", 64, 7.22, 3.30, 2.99, 204, 68, 2438, 384), ("D", 256, 2.38, 1.04, 0.879, 219, 158, 3844, 1998),
            ("D", 1024, 0.668, 0.671, 0.668, 223, 223, 4096, 4096), ("E", 64, 103.9, 58.1, 55.1, 2360, 480, 3642, 390),
            ("E", 256, 42.2, 16.4, 14.5, 3280, 1050, 13616, 1536), ("E", 1024, 12.2, 4.64, 4.22, 3390, 2550, 15760, 8478),
            ("F", 256, 706, 295, 276, 44800, 7900, 36468, 1552), ("F", 1024, 230, 85.2, 73.1, 51200, 16600, 58264, 6914)]

    def test_table(self):
        machine = self.write(cluster())
        hops = {64: 6, 256: 8, 1024: 10}
        for class_, nodes, static, binpack, map_, mb, mb_map, messages, messages_map in self.ROWS:
            for schedule, ms, cut, count, off in (("static", static, None, None, 0.02), ("binpack", binpack, mb, messages, 0.02),
                                                  ("map", map_, mb_map, messages_map, 0.1)):
                with self.subTest(class_=class_, nodes=nodes, schedule=schedule):
                    step = self.step("bt-mz", "--class", class_, "--machine", machine, "--units", f"{nodes}*cpu",
                                     "--schedule", schedule)
                    self.assertAlmostEqual(step["tree_s"], 2 * hops[nodes] * 2e-6, 12)
                    # the table knows no tree
                    self.assertLess(abs(1e3 * (step["step_s"] - step["tree_s"]) / ms - 1), off)
                    if cut:
                        self.assertLess(abs(1e-6 * step["cut_bytes"] / cut - 1), 0.1)
                        # which neighbours share a node is chosen by bytes, not by messages
                        self.assertLess(abs(step["messages"] / count - 1), 0.2 if schedule == "map" else 0.1)


class Nodes(Base):
    def test_by_hand(self):
        """SP class S, four zones of 864 points in a ring, two faces of 1600 bytes with each neighbour: two nodes of two units."""
        machine = self.write(cluster(units=[{"unit": "CPU:1", "count": 2, "speed": {"*": 864e3}}],
                                     nodes=[{"count": 2, "name": "pair", "units": ["2:CPU:1"], "network": "slow"}],
                                     networks={"slow": {"latency": 1e-4, "bandwidth": 1e8}}))
        words = ["sp-mz", "--class", "S", "--machine", machine, "--schedule", "static"]
        step = self.step(*words)
        exchange = 1e-4 + 2 * 3200 / 1e8
        self.assertEqual(step["owner"], [0, 1, 2, 3])
        self.assertEqual(step["messages"], 2 + 4)  # two between the nodes, two on each of them
        self.assertAlmostEqual(step["communication_s"], exchange, 12)  # there and back at once
        self.assertAlmostEqual(step["step_s"], 1e-3 + exchange + 2e-4, 12)
        # every zone has a neighbour on the other node: nothing can be done before
        self.assertAlmostEqual(self.step(*words, "--overlap")["step_s"], step["step_s"], 12)
        # on one node nothing goes over the network
        step = self.step(*words, "--units", "1*pair")
        self.assertEqual((step["communication_s"], step["tree_s"]), (0, 0))

    def test_overlap(self):
        machine = self.write(cluster())
        words = ["bt-mz", "--class", "E", "--machine", machine, "--units", "64*cpu", "--schedule", "map"]
        plain, over = self.step(*words), self.step(*words, "--overlap")
        self.assertEqual(plain["owner"], over["owner"])
        self.assertLess(over["step_s"], plain["step_s"])
        self.assertGreaterEqual(over["step_s"], over["compute_s"])

    def test_lists(self):
        machine = self.write(cluster(
            units=[{"unit": "CPU:32", "count": 1, "speed": {"*": 4e8}}, {"unit": "GPU:1", "count": 2, "speed": {"*": 2e9}}],
            nodes=[{"count": 8, "name": "cpu", "units": ["1:CPU:32"], "network": "edr"},
                   {"count": 2, "name": "gpu", "units": ["2:GPU:1", "1:CPU:32"], "network": "hdr"}],
            links=[{"between": ["host", "device"], "latency": 1e-5, "bandwidth": 1e10}],
            networks={"edr": {"latency": 2e-6, "bandwidth": 1e10}, "hdr": {"latency": 1e-6, "bandwidth": 2e10}}))
        words = ["bt-mz", "--class", "B", "--machine", machine, "--iterations", "1", "--json", "-", "--quiet"]
        for units, lists in (([], "8:CPU:32,4:GPU:1,2:CPU:32"), (["--units", "2*gpu"], "4:GPU:1,2:CPU:32"),
                             (["--units", "3*1:CPU:32"], "3:CPU:32"), (["--units", "1*2:GPU:1,1:CPU:32+4*cpu"], "2:GPU:1,1:CPU:32,4:CPU:32")):
            done = self.evener("plan", *words, *units, said="")
            self.assertEqual(json.loads(done.stdout)["units"], lists)

    def test_without_machine(self):
        done = self.evener("plan", "bt-mz", "--class", "B", "--units", "8*2:CPU:4", "--schedule", "map", "--iterations", "1", said="")
        self.assertIn("on 16:CPU:4 under map, 8 nodes", done.stdout)

    def test_refused(self):
        machine = self.write(cluster())
        for units, says in (("0*cpu", "from 1 to 4096"), ("x*cpu", "from 1 to 4096"), ("2*gpu", "no node of that name"),
                            ("2*cpu+1:CPU:1", "no number of nodes"), ("5000*cpu", "4096"), ("2000*3:CPU:1", "more than 4096"),
                            ("2*x:CPU:1", "N:CPU:M"), ("1025*cpu", "32800 cores"), ("2*", "no node")):
            self.refuses(["plan", "bt-mz", "--machine", machine, "--units", units], says)
        self.refuses(["plan", "bt-mz", "--overlap"], "--overlap", "--machine")
        self.refuses(["plan", "bt-mz", "--machine", machine, "--overlap", "--exchange", "sequential"], "--overlap")
        for change, says in (({"nodes": [{"count": 2, "name": "a", "units": ["1:CPU:32"], "network": "x"}]}, "network"),
                             ({"nodes": [{"count": 0, "name": "a", "units": ["1:CPU:32"], "network": "edr"}]}, "count"),
                             ({"nodes": [{"count": 2, "name": "a*", "units": ["1:CPU:32"], "network": "edr"}]}, "name"),
                             ({"nodes": [{"count": 2, "name": "a", "units": [], "network": "edr"}]}, "units"),
                             ({"nodes": [{"count": 2, "name": "a", "units": ["1:CPU:32,1:GPU:1"], "network": "edr"}]}, "units"),
                             ({"networks": {"edr": {"latency": -1, "bandwidth": 1}}}, "latency"),
                             ({"networks": {"edr": {"latency": 1}}}, "bandwidth"), ({"nodes": [3]}, "object")):
            self.refuses(["plan", "bt-mz", "--machine", self.write(cluster(**change))], says)


class Bench(Base):
    def test_cluster(self):
        done = self.evener("bench", "cluster", os.path.join(MACHINES, "cluster-1024.json"), "--apps", "sp-mz", "--classes", "B",
                           "--nodes", "16,64", said="")
        self.assertRegex(done.stdout, r"(?m)^sp-mz +B +64 ")
        # 64 zones of one size; 16 of them
        self.assertIn("- sp-mz class B on 64 nodes: a zone a node: nothing can be balanced, the largest zone allows a speedup of 64\n",
                      done.stdout)
        self.assertIn("- sp-mz class B on 64 nodes: overlap hides nothing", done.stdout)
        self.assertNotIn("sp-mz class B on 16 nodes: a zone", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^static .* never +0 ")
        self.assertRegex(done.stdout, r"(?m)^guided:time .* after \d+ ")
        done = self.evener("bench", "cluster", os.path.join(MACHINES, "cluster-1024.json"), "--apps", "lu-mz", "--classes", "B",
                           "--nodes", "17", said="")
        self.assertIn("- lu-mz class B on 17 nodes: left out, there are only 16 zones\n", done.stdout)
        self.refuses(["bench", "cluster"], "cluster-1024.json")
        self.refuses(["bench", "cluster", os.path.join(MACHINES, "epyc-2mi50.json")], "no \"nodes\"")
