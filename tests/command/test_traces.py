#!/usr/bin/env python3
"""Traces and report pages of runs over several ranks: a process a rank, a track a unit, an arrow a message with both its ends;
a lane a rank; what ends a run whose trace cannot be written; and that none of it changes the result.

Run: ctest -R command-traces, or tests/command/test_traces.py build/evener [test ..]
"""
import collections
import copy
import json
import os
import re

import base
import report_page
from base import EVENER, launchers, run


def lines(text, key):
    """The end points of a page's lines of a class, in per cent and pixels."""
    found = re.findall(rf'<line class="{key}" x1="([\d.]+)%" y1="([\d.]+)" x2="([\d.]+)%" y2="([\d.]+)"', text)
    return [tuple(map(float, line)) for line in found]


class Base(base.Base):
    def traced(self, *words, launch=()):
        """Trace and record of a run."""
        done = self.evener("run", *words, "--quiet", "--oversubscribe", "--trace", "t.json", "--json", "r.json", launch=launch)
        self.assertEqual((done.stdout, done.stderr), ("", ""), words)
        self.assertEqual(sorted(os.listdir(self.folder)), ["r.json", "t.json"])
        return self.load("t.json")["traceEvents"], self.load("r.json")


class Traces(Base):
    def arrows(self, events, category="message"):
        begin = {e["id"]: e for e in events if e["ph"] == "s" and e["cat"] == category}
        end = {e["id"]: e for e in events if e["ph"] == "f" and e["cat"] == category}
        self.assertEqual(begin.keys(), end.keys())
        return [(begin[i], end[i]) for i in begin]

    def check(self, events, record, ranks, units):
        processes = [e for e in events if e["name"] == "process_name"]
        host = [rank["host"] for rank in record["ranks"]]
        self.assertEqual([(e["pid"], e["args"]["name"]) for e in processes],
                         [(r + 1, f"rank {r} on {host[r]}") for r in range(ranks)])
        tracks = [(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"].startswith("unit ")]
        self.assertEqual(tracks, [(u["rank"] + 1, u["id"]) for u in record["units"]])
        self.assertEqual(len(tracks), units)
        on = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                self.assertGreaterEqual(e["dur"], 0)
                on[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        for slices in on.values():  # a viewer nests or drops what overlaps; a nanosecond is rounding
            slices.sort()
            self.assertTrue(all(b[0] >= a[1] - 0.002 for a, b in zip(slices, slices[1:])))
        self.check_arrows(events, record, on)

    def check_arrows(self, events, record, on):
        """As many as the record says were sent, with the bytes it says; on one host none goes back."""
        arrows, transfers = self.arrows(events), record["transfers"]
        moved = [a for a in arrows if a[0]["name"] == "task"]
        self.assertEqual(len(moved), transfers["moved_between_ranks"])
        self.assertEqual(len(arrows), transfers["rank_messages"] + len(moved))
        self.assertEqual(sum(s["args"]["bytes"] for s, f in arrows if s["name"] != "task"), transfers["rank_bytes"])
        self.assertEqual(sum(s["args"]["bytes"] for s, f in moved), transfers["moved_bytes_between_ranks"])
        sent = collections.Counter(s["args"]["from"] for s, f in arrows if s["name"] != "task")
        if record["app"] != "td-bem":  # whose parcels are counted for the run, and not for a rank
            self.assertEqual([sent[r] for r in range(len(record["ranks"]))], [r["messages"] for r in record["ranks"]])
        for s, f in arrows:
            self.assertEqual((s["pid"], f["pid"]), (s["args"]["from"] + 1, s["args"]["to"] + 1))
            self.assertEqual(s["args"], f["args"])
            self.assertGreater(f["ts"], s["ts"])
            for e in (s, f):
                self.assertTrue(any(a - 0.002 <= e["ts"] <= b + 0.002 for a, b in on[e["pid"], e["tid"]]))
        self.assertEqual(record["clocks"]["uncertainty_s"], 0)

    def test_processes(self):
        for app in "bt-mz", "lu-mz":
            words = [app, "--class", "S", "--perturb", "--steps", "6"]
            events, record = self.traced(*words, "--processes", "3", "--units", "2:CPU:1", "--schedule", "static")
            self.check(events, record, 3, 6)
            self.assertEqual(self.record("run", *words, "--units", "1:CPU:1")["hash"], record["hash"])
            zones = collections.defaultdict(set)
            for e in events:
                if e["ph"] == "X" and e["cat"] == "compute":
                    zones[e["args"]["instance"]].add(e["name"])
            self.assertEqual([len(z) for z in zones.values()], 6 * [len(record["owner"])])
            # times of zones are what is drawn, also of those that waited for faces
            drawn = sum(e["dur"] for e in events if e["ph"] == "X" and e["cat"] == "compute") * 1e-6
            self.assertGreater(drawn, 0.5 * 6 * sum(record["task_s"]))

    def test_tasks_that_move(self):
        """Blocks of TD-BEM under a schedule that learns; a zone of a slow unit."""
        for _ in range(3):  # on a busy machine a schedule may see nothing in so few steps
            events, record = self.traced("sp-mz", "--class", "W", "--perturb", "--steps", "20", "--processes", "2", "--units",
                                         "1:CPU:1", "--schedule", "guided:time", "--slow", "0:20@3")
            self.check(events, record, 2, 2)
            tasks = [s["args"]["task"] for s, f in self.arrows(events) if s["name"] == "task"]
            if tasks:
                break
        self.assertTrue(tasks and max(tasks) < len(record["owner"]))

    def test_devices(self):
        events, record = self.traced("bt-mz", "--class", "S", "--processes", "2", "--units", "1:GPU:2", "--devices", "emulated",
                                     "--steps", "4", "--schedule", "static")
        self.check(events, record, 2, 2)

    def test_bem(self):
        events, record = self.traced("td-bem", "--mesh", "sphere:2", "--steps", "40", "--processes", "3", "--units", "1:CPU:1")
        self.check(events, record, 3, 3)
        self.assertTrue([s for s, f in self.arrows(events) if s["name"] == "parcel"])

    def test_launchers(self):
        for _, start in launchers():
            events, record = self.traced("sp-mz", "--class", "S", "--steps", "4", "--units", "2:CPU:1", "--schedule", "static",
                                         launch=(*start, "-n", "2"))
            self.check(events, record, 2, 4)

    def test_no_steps(self):
        events, record = self.traced("bt-mz", "--class", "S", "--steps", "0", "--processes", "2", "--units", "1:CPU:1")
        self.check(events, record, 2, 2)
        self.assertEqual([e for e in events if e["ph"] in "XsfC"], [])

    def test_standard_output(self):
        done = self.evener("run", "bt-mz", "--class", "S", "--steps", "2", "--processes", "2", "--units", "1:CPU:1",
                           "--schedule", "static", "--oversubscribe", "--trace", "-")
        self.assertIn("Verification", done.stderr)
        self.assertEqual(len(self.arrows(json.loads(done.stdout)["traceEvents"])), 2 * 2)

    def test_not_written(self):
        """Said before anything is computed, and once."""
        missing = self.path("no/such/trace.json")
        status, out, err = run([EVENER, "run", "bt-mz", "--class", "S", "--processes", "2", "--units", "1:CPU:1",
                                "--oversubscribe", "--trace", missing])
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, rf"\Aevener: rank 0 on \S+: {re.escape(missing)} cannot be written: .*\n\Z")

    def test_alone(self):
        """One process has no messages, and its record no clocks."""
        events, record = self.traced("bt-mz", "--class", "S", "--steps", "2", "--units", "2:CPU:1")
        self.assertEqual({e["pid"] for e in events}, {1})
        self.assertEqual([e["args"]["name"] for e in events if e["name"] == "process_name"], ["evener"])
        self.assertFalse([e for e in events if e.get("cat") == "message"])
        self.assertFalse({"messages", "clocks", "ranks"} & record.keys())
        self.assertTrue(record["bursts"])


class Pages(Base):
    def page(self, record):
        self.evener("report", self.write("record.json", record), "--output", "page.html")
        return report_page.markup(self.path("page.html"))

    def of_ranks(self, ranks=3):
        return self.record("run", "lu-mz", "--class", "S", "--steps", "4", "--processes", str(ranks), "--units", "2:CPU:1",
                           "--schedule", "static", "--oversubscribe")

    def test_real(self):
        """Of the last step: a head a rank, all units, an arrow a message; what each rank waited."""
        record = self.of_ranks()
        page, step = self.page(record), max(b["step"] for b in record["bursts"] if b["kind"] == "compute")
        heads = re.findall(r'<text class="lane"[^>]*>rank (\d) on ([^:<]*): waiting for \d+ % of it<', page)
        self.assertEqual(heads, [(str(r), record["ranks"][r]["host"]) for r in range(3)])
        end = max(b["end"] for b in record["bursts"] if b["step"] == step)
        begin = min(b["begin"] for b in record["bursts"] if b["step"] == step)
        there = [m for m in record["messages"] if begin <= m["received"] <= end]
        self.assertEqual(len(there), record["transfers"]["rank_messages"] / record["steps"])
        self.assertEqual(len(lines(page, "arrow")), len(there))
        self.assertEqual(page.count('marker-end="url(#arrow)"'), len(there))
        self.assertIn("Ranks: what the units of each did in the whole run", page)
        self.assertEqual(len(re.findall(r">rank \d on [^:<]*</span>", page)), 3)

    def simple(self):
        """Two ranks of two units, a step of 1 s: half of rank 0's time is waiting, three quarters of rank 1's."""
        record = self.of_ranks(2)
        record["bursts"] = [{"unit": u, "kind": "compute", "begin": 10, "end": 10 + t, "task": u, "count": 1, "step": 3}
                            for u, t in enumerate((1, 0, 0.25, 0.25))]
        record["messages"] = [
            {"kind": "faces", "from": 0, "to": 1, "bytes": 4096, "sent": 10.25, "awaited": 10.2, "received": 10.5},
            {"kind": "task", "task": 7, "from": 1, "to": 0, "bytes": 50, "sent": 9, "awaited": 9, "received": 11},
            {"kind": "faces", "from": 0, "to": 1, "bytes": 1, "sent": 8, "awaited": 9, "received": 9.5}]
        return record

    def test_clocks(self):
        record = self.simple()
        self.assertNotIn("Clocks of hosts", self.page(record))
        record["clocks"]["uncertainty_s"] = 2e-5
        self.assertIn("a time may be wrong by 20.0 µs", self.page(record))

    def test_many(self):
        record = self.simple()
        record["messages"] = [dict(record["messages"][0], received=10.5 + 1e-4 * i) for i in range(1000)]
        page = self.page(record)
        self.assertEqual(len(lines(page, "arrow")), 400)
        self.assertIn("Arrows of 400 of 1000 messages.", page)

    def test_wrong(self):
        """What does not fit together is refused with its place."""
        def changed(change):
            record = copy.deepcopy(self.right)
            change(record)
            return record
        self.right = self.simple()
        for change, says in (
                (lambda r: r["messages"][0].update({"from": 2}), '"messages[0].from"'),
                (lambda r: r["messages"][1].update(to=1), '"messages[1].to" is the rank that it is from'),
                (lambda r: r["messages"][0].pop("sent"), 'no "messages[0].sent"'),
                (lambda r: r.update(messages=3), '"messages" is no list'),
                (lambda r: r.pop("ranks"), '"messages" are there, but no "ranks"'),
                (lambda r: r["ranks"].pop(), '"units" are not of the 1 ranks'),
                (lambda r: r["units"][0].update(rank=1), '"units" are not of the 2 ranks'),
                (lambda r: r["units"][3].update(rank=-1), '"units" are not of the 2 ranks'),
                (lambda r: r["ranks"][1].pop("host"), 'no "ranks[1].host"'),
                (lambda r: r["ranks"][1].update(bytes="long"), '"ranks[1].bytes" is no number'),
                (lambda r: r["clocks"].update(uncertainty_s=-1), '"clocks.uncertainty_s" is no number')):
            self.refuses(["report", self.write("record.json", changed(change)), "--output", "page.html"], says)
