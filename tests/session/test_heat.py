"""A program of one's own over ranks: examples/heat compares its blocks with a plain loop, bit for bit, over forked processes and under
MPI's launchers, with unequal units too; one record, one line of what is wrong, and programs that do not run over ranks as ever.
Run: ctest -R open-heat. usage: test_heat.py HEAT UNEVEN [test ..]"""

import json
import os
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [HERE, os.path.join(HERE, "trace")]
import paraver
import programs

HEAT = UNEVEN = ""
BLOCKS, STEPS = 64, 101
SCHEDULES = ["static", "static:chunk=1", "dynamic", "dynamic:chunk=2,memorize=0", "guided:time", "weighted", "binpack", "interval"]


def run(words, **variables):
    return programs.run(words, EVENER_OVERSUBSCRIBE="1", **variables)


def launchers():
    """Those that are there, with their plug-ins: the first words of a line, and the plug-in."""
    for kind in "openmpi", "mpich":
        file = os.path.join(os.path.dirname(os.path.dirname(HEAT)), "lib", "evener", f"evener-wire-{kind}.so")
        if programs.mpirun(kind) and os.path.exists(file):
            yield programs.mpirun(kind), file


class Heat(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.temporary.name, "record.json")

    def tearDown(self):
        self.temporary.cleanup()

    def right(self, words, **env):
        status, out, err = run(words, **env)
        self.assertEqual((status, err), (0, ""), (words, env, out))
        self.assertRegex(out, r"\A[^\n]*: 0 blocks are wrong\n\Z")

    def record(self):
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    def refused(self, words, *says, **env):
        status, out, err = run(words, **env)
        self.assertEqual((status, out), (1, ""), (words, env, err))
        lines = [line for line in err.splitlines() if line.startswith(("heat: ", "uneven: "))]
        self.assertEqual(len(lines), 1, err)
        for part in says:
            self.assertIn(part, lines[0])

    def test_processes(self):
        for count in "1", "2", "3", "5":
            self.right([HEAT], EVENER_PROCESSES=count, EVENER_UNITS="1:CPU:1")
            self.right([HEAT], EVENER_PROCESSES=count, EVENER_UNITS="2:GPU:1,1:CPU:1", EVENER_DEVICES="emulated")

    def test_auto(self):
        """In large letters too, its units are those of a rank's share of the cores."""
        ranks = []
        for units in "auto", "AUTO":
            self.right([HEAT], EVENER_PROCESSES="2", EVENER_UNITS=units, EVENER_RECORD=self.file)
            ranks.append([u["rank"] for u in self.record()["units"]])
        self.assertEqual(ranks[0], ranks[1])

    def test_schedules(self):
        for schedule in SCHEDULES:
            self.right([HEAT], EVENER_PROCESSES="3", EVENER_UNITS="2:CPU:1", EVENER_SCHEDULE=schedule)

    def test_wire(self):
        self.right([HEAT], EVENER_PROCESSES="2,latency=50us", EVENER_UNITS="1:CPU:1")

    def test_record(self):
        self.right([HEAT], EVENER_PROCESSES="3", EVENER_UNITS="2:CPU:1", EVENER_SCHEDULE="static", EVENER_RECORD=self.file)
        record = self.record()
        self.assertEqual([u["id"] for u in record["units"]], list(range(6)))
        self.assertEqual([u["rank"] for u in record["units"]], [0, 0, 1, 1, 2, 2])
        self.assertEqual([r["units"] for r in record["ranks"]], [[0, 1], [2, 3], [4, 5]])
        self.assertEqual(sum(u["tasks"] for u in record["units"]), len(record["owner"]))
        self.assertEqual(sorted(set(record["owner"])), list(range(6)))
        self.assertTrue(all(u["compute_s"] > 0 for u in record["units"]), record["units"])
        # each inner border of a rank, both ways, once a step; the session has said so of all ranks together
        self.assertEqual(record["transfers"]["rank_messages"], 2 * 2 * record["steps"])
        self.assertEqual(record["bursts"], [])

    def test_trace(self):
        """One trace of all ranks: each block of each step once, and as many messages as the record counts; what Paraver gets is the same."""
        for count, units in ("3", "2:CPU:1"), ("2", "1:CPU:1,1:GPU:1"):
            said = {"EVENER_PROCESSES": count, "EVENER_UNITS": units, "EVENER_DEVICES": "emulated", "EVENER_SCHEDULE": "static"}
            file = os.path.join(self.temporary.name, "trace.json")
            self.right([HEAT], EVENER_TRACE=file, EVENER_RECORD=self.file, **said)
            with open(file, encoding="utf-8") as text:
                events = json.load(text)["traceEvents"]
            names = {e["pid"]: e["args"]["name"].split(" on ")[0] for e in events if e["name"] == "process_name"}
            self.assertEqual(names, {1 + r: f"rank {r}" for r in range(int(count))})
            slices = [e for e in events if e.get("cat") == "compute"]
            tasks = [re.fullmatch(r"(task \d+)|(\d+) tasks from \d+", e["name"]) for e in slices]
            self.assertEqual(sum(int(found[2] or 1) for found in tasks), BLOCKS * STEPS)
            self.assertEqual(({e["pid"] for e in slices}, {e["args"]["loop"] for e in slices}), (set(names), {"loop 0: static"}))
            sent, came = ({e["id"]: e for e in events if e.get("cat") == "message" and e["ph"] == phase} for phase in "sf")
            self.assertEqual(len(sent), self.record()["transfers"]["rank_messages"])
            self.assertEqual(set(sent), set(came))
            for number, e in sent.items():
                self.assertTrue(e["pid"] != came[number]["pid"] and e["ts"] <= came[number]["ts"], (e, came[number]))
            file = file.replace(".json", ".prv")
            self.right([HEAT], EVENER_TRACE=file, **said)
            trace = paraver.read(file)
            self.assertEqual((len(trace.threads), len(trace.messages)), (int(count), len(sent)))

    def test_trace_of_failure(self):
        """A run that fails on another rank than the one that writes leaves an earlier trace."""
        file = os.path.join(self.temporary.name, "trace.json")
        with open(file, "w", encoding="utf-8") as text:
            text.write("before")
        for start, _ in launchers():
            words = [*start, "-n", "1", "env", "EVENER_UNITS=1:CPU:1", HEAT, ":", "-n", "1", "env", "EVENER_UNITS=1:GPU:1", HEAT]
            self.refused(words, "rank 1 on ", EVENER_DEVICES="emulated:1,memory=1KiB", EVENER_TRACE=file)
            with open(file, encoding="utf-8") as text:
                self.assertEqual(text.read(), "before")

    def test_launchers(self):
        for start, _ in launchers():
            for ranks in ("2", "3") if "-q" in start else ("2",):
                self.right([*start, "-n", ranks, HEAT], EVENER_UNITS="1:CPU:1")
            words = [*start, "-n", "1", "env", "EVENER_UNITS=1:GPU:1,1:CPU:1", HEAT, ":", "-n", "1", "env", "EVENER_UNITS=3:CPU:1", HEAT]
            file = os.path.join(self.temporary.name, "trace.prv")
            self.right(words, EVENER_DEVICES="emulated", EVENER_RECORD=self.file, EVENER_TRACE=file)
            record = self.record()
            units = [row for row in paraver.read(file).levels["THREAD"] if "queue" not in row]
            self.assertEqual(units, ["unit 0 (GPU 1)", "unit 1 (CPU 1)", "unit 2 (CPU 1)", "unit 3 (CPU 1)", "unit 4 (CPU 1)"])
            self.assertEqual([(u["rank"], u["kind"]) for u in record["units"]], [(0, "gpu"), (0, "cpu")] + [(1, "cpu")] * 3)
            self.right([*start, "-n", "1", HEAT], EVENER_UNITS="1:CPU:1")

    def test_refused(self):
        for env, says in (({"EVENER_PROCESSES": "0"}, "EVENER_PROCESSES"), ({"EVENER_PROCESSES": "two"}, "EVENER_PROCESSES"),
                          ({"EVENER_PROCESSES": "2", "EVENER_UNITS": "1:CPUS"}, "EVENER_UNITS"),
                          ({"EVENER_PROCESSES": "2", "EVENER_SCHEDULE": "none"}, "EVENER_SCHEDULE"),
                          ({"EVENER_PROCESSES": "2", "EVENER_TRACE": "/nowhere/t"}, "EVENER_TRACE: /nowhere/t "),
                          ({"EVENER_PROCESSES": "2", "EVENER_RECORD": "/nowhere/r"}, "rank 0 on "),
                          ({"EVENER_PROCESSES": "2", "EVENER_UNITS": "1:GPU:1", "EVENER_DEVICES": "emulated:1,memory=1KiB"}, "place: ")):
            self.refused([HEAT], says, **env)

    def test_plan(self):
        """A loop begins with its user's owners, alone and over ranks, and refuses those of other tasks and units."""
        owner = [0, 1, 1] * (BLOCKS // 3) + [1] * (BLOCKS % 3)
        plan = os.path.join(self.temporary.name, "heat.part")

        def write(owner):
            with open(plan, "w", encoding="utf-8") as file:
                file.writelines(f"{o}\n" for o in owner)

        write(owner)
        for env in {"EVENER_UNITS": "2:CPU:1"}, {"EVENER_UNITS": "1:CPU:1", "EVENER_PROCESSES": "2"}:
            self.right([HEAT], EVENER_PLAN=plan, EVENER_SCHEDULE="static", EVENER_RECORD=self.file, **env)
            record = self.record()
            self.assertEqual(record["owner"], owner)
            # each step one of the two exchanges copies a row of 128 values to the next block, and one back
            self.assertEqual(record["links"], [[t, t + 1, 1024] for t in range(BLOCKS - 1)])
            rows = [4 + t * 29 % 57 for t in range(BLOCKS)]
            self.assertEqual(record["weight"], rows)
            self.assertEqual(record["task_bytes"], [2 * 1024 * (n + 2) for n in rows])
        self.right([HEAT], EVENER_PLAN="0:" + plan, EVENER_UNITS="2:CPU:1")
        self.right([HEAT], EVENER_PLAN="1:" + plan, EVENER_UNITS="1:CPU:1")
        self.refused([HEAT], f"EVENER_PLAN: {plan}: ", "line 2", '"1"', "unit from 0 to 0", EVENER_PLAN=plan, EVENER_UNITS="1:CPU:1")
        write(owner[:-1])
        self.refused([HEAT], "63 owners", "64 tasks", EVENER_PLAN=plan, EVENER_UNITS="2:CPU:1")
        self.refused([HEAT], "63 owners", "64 tasks", EVENER_PLAN="0:" + plan, EVENER_UNITS="1:CPU:1", EVENER_PROCESSES="2")
        self.refused([HEAT], "it is a record", "--assignment", EVENER_PLAN=self.file, EVENER_UNITS="2:CPU:1")
        self.refused([HEAT], "cannot be read", EVENER_PLAN=plan + ".none", EVENER_UNITS="2:CPU:1")
        write([])
        self.refused([HEAT], "it is empty", EVENER_PLAN=plan, EVENER_UNITS="2:CPU:1")

    def test_refused_by_one(self):
        for start, file in launchers():
            one, other = ["-n", "1", "env", "EVENER_UNITS=1:CPU:1", HEAT], ["-n", "1", "env", "EVENER_UNITS=1:CPUS", HEAT]
            self.refused([*start, *one, ":", *other], "rank 1 on ", "EVENER_UNITS: ")
            self.refused([*start, *other, ":", *one], "rank 0 on ", "EVENER_UNITS: ")
            self.refused([*start, "-n", "2", HEAT], "launcher", EVENER_PROCESSES="2")
            self.refused([*start, "-n", "2", HEAT], "no plug-in /nowhere", EVENER_WIRE="/nowhere")
            for _, foreign in launchers():
                if foreign != file:
                    self.refused([*start, "-n", "2", HEAT], "different MPIs", EVENER_WIRE=foreign)

    def test_not_over_ranks(self):
        self.refused([UNEVEN], "EVENER_PROCESSES", "EVN_OVER_RANKS", EVENER_PROCESSES="2")

    def test_not_over_ranks_of_launchers(self):
        alone = run([UNEVEN, "static"], EVENER_UNITS="1:CPU:1")
        self.assertEqual(alone[0], 0)
        for start, _ in launchers():
            both = run([*start, "-n", "2", UNEVEN, "static"], EVENER_UNITS="1:CPU:1")
            self.assertEqual((both[0], both[1].count("\n")), (0, 2 * alone[1].count("\n")))
            names = {v: os.path.join(self.temporary.name, v + "-%r.json") for v in ("EVENER_RECORD", "EVENER_TRACE")}
            self.assertEqual(run([*start, "-n", "2", UNEVEN, "static"], EVENER_UNITS="1:CPU:1", **names)[0], 0)
            for name in names.values():
                for rank in "0", "1":
                    with open(name.replace("%r", rank), encoding="utf-8") as text:
                        json.load(text)
            status, _, err = run([*start, "-n", "2", UNEVEN, "static"], EVENER_UNITS="1:CPU:1", EVENER_TRACE=self.file)
            self.assertNotEqual(status, 0)
            self.assertIn(f"EVENER_TRACE: {self.file}: each of the launcher's 2 processes is a run of its own and would write it; put %r", err)
            self.assertFalse(os.path.exists(self.file))


if __name__ == "__main__":
    HEAT, UNEVEN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
