#!/usr/bin/env python3
"""evener run td-bem as its users meet it: results, files, a full disk, messages.

Run: ctest -R command-tdbem, or tests/command/test_tdbem.py build/evener [test ..]
"""
import math
import os
import re
import resource
import subprocess
import time
import xml.etree.ElementTree as ET

import base
from base import EVENER

BODY = ["--mesh", "sphere:2", "--pulse", "gaussian:sigma=1.2"]


class Base(base.Base):
    def evener(self, *words, **options):
        return super().evener("run", "td-bem", *words, **options)


class Run(Base):
    def test_record(self):
        """Every key of the contract, with a value that makes sense."""
        r = self.record(*BODY, "--steps", "40", "--units", "2:CPU:1", "--oversubscribe")
        self.assertEqual(r["app"], "td-bem")
        self.assertEqual(r["steps"], 40)
        self.assertIsNone(r["verified"])
        self.assertGreater(r["seconds"], 0)
        self.assertGreater(r["mops"], 0)
        self.assertEqual(r["mesh"]["vertices"], 162)
        self.assertEqual(r["mesh"]["triangles"], 320)
        self.assertEqual(r["mesh"]["components"], 1)
        self.assertAlmostEqual(r["mesh"]["volume"], 4.047, delta=1e-3)
        self.assertAlmostEqual(r["mesh"]["h_mean"], 0.2993, delta=1e-4)
        self.assertEqual(r["matrix"]["kmax"], 15)
        self.assertAlmostEqual(r["matrix"]["nnz"] / 162 / 162, r["matrix"]["d_average"])
        self.assertGreater(r["matrix"]["d_max"], r["matrix"]["d_average"])
        self.assertGreater(r["matrix"]["bytes"], 8 * 0.9 * r["matrix"]["nnz"])
        for key in ("generate_s", "summation_s", "radiation_s", "solve_s", "idle_s"):
            self.assertGreaterEqual(r["stages"][key], 0)
        self.assertGreaterEqual(r["gflops_nominal"], r["gflops_effective"])
        self.assertGreater(r["gflops_effective"], 0)
        self.assertGreater(r["null_field"], 0)
        self.assertLess(r["null_field"], 0.05)
        self.assertRegex(r["hash"], "^[0-9a-f]{16}$")
        self.assertEqual(len(r["units"]), 2)
        self.assertEqual(sum(u["tasks"] for u in r["units"]), len(r["owner"]))
        self.assertEqual(r["schedule"], "auto")
        self.assertIn("run td-bem", r["command"])

    def test_page(self):
        done = self.evener(*BODY, "--steps", "20")
        self.assertEqual(done.stderr, "", "a pipe sees no progress")
        for word in ("sound-hard", "summation", "radiation", "solve", "null field", "imbalance"):
            self.assertIn(word, done.stdout)
        self.assertIn("sound-soft", self.evener(*BODY, "--steps", "9", "--problem", "soft").stdout)

    def vertices(self, *words):
        self.evener(*BODY, "--quiet", "--vertices", "0,8,161", "--vertex-output", "v.csv", *words)
        head, rows = self.table("v.csv")
        self.assertEqual(head, ["n", "t", "a0", "a8", "a161"])
        return rows

    def test_mumps(self):
        done = self.evener(*BODY, "--steps", "20", "--solver", "mumps", "--json", "-", "--quiet", status=None)
        if done.returncode == 2:
            self.assertIn("without MUMPS", done.stderr)
            self.skipTest("no MUMPS in this build")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_probes(self):
        points = self.write("points", "# comment\n\n0 0 2\n2, 0, 0\n")
        out = self.path("p.csv")
        self.evener(*BODY, "--steps", "110", "--probes", points, "--probe-output", out)
        self.assertRegex(self.read(out), r"\A# .*dt=.*pulse=")
        head, values = self.table(out)
        self.assertEqual(",".join(head), "t,p_scattered_1,p_total_1,p_scattered_2,p_total_2")
        self.assertEqual(len(values), 111)
        self.assertGreater(max(abs(row[1]) for row in values), 0.01)
        self.assertGreater(max(row[2] for row in values), 0.7)

    def test_speed_of_waves(self):
        """c and the unit of time: the same solution, sooner."""
        slow = self.vertices("--steps", "40")
        fast = self.vertices("--steps", "40", "--speed", "4", "--pulse", "gaussian:sigma=0.3")
        for a, b in zip(slow, fast):
            self.assertAlmostEqual(a[1], 4 * b[1], places=12)
            for x, y in zip(a[2:], b[2:]):
                self.assertAlmostEqual(x, y, delta=1e-12)

    def test_spectra(self):
        self.evener(*BODY, "--frequencies", "0.5,1", "--spectrum", self.path("s.csv"), "--far-field",
                    self.path("f.csv"))
        head, rows = self.table("s.csv")
        self.assertEqual((",".join(head), len(rows)), ("vertex,x,y,z,re_w0.5,im_w0.5,re_w1,im_w1", 162))
        _, rows = self.table("f.csv")
        self.assertEqual(len(rows), 2 * 2 * 37)
        # a rigid sphere of ka = 1 throws most of it back; the polyhedron is a few per cent smaller
        back, ahead = ([r[8] for r in rows if (r[0], r[2]) == (1, angle)] for angle in (180, 0))
        self.assertGreater(min(back), 2 * max(ahead))
        self.assertAlmostEqual(back[0], back[1], delta=1e-3)

    def test_frequencies_beyond_the_pulse(self):
        """No number where the pulse has next to nothing, and a word about it; below, nothing is said."""
        files = ["--spectrum", self.path("s.csv"), "--far-field", self.path("f.csv")]
        done = self.evener(*BODY, "--frequencies", "1,8", *files, "--quiet")
        self.assertRegex(done.stderr, "frequencies: the pulse .* at 1 of them, .* up to 2.529")
        _, rows = self.table("s.csv")
        self.assertTrue(all(math.isnan(x) for row in rows for x in row[6:]))
        self.assertLess(max(abs(row[4]) for row in rows), 2)
        self.assertTrue(all(math.isnan(row[8]) for row in self.table("f.csv")[1] if row[0] == 8))
        self.assertRegex(self.evener(*BODY, "--frequencies", "3", *files, "--quiet").stderr, "frequencies: 3 is above 2.529")
        self.assertNotIn("frequencies", self.evener(*BODY, "--frequencies", "2.5", *files, "--quiet").stderr)
        self.assertAlmostEqual(self.record(*BODY, "--steps", "1")["highest_frequency"], 2.529, delta=1e-3)

    def tube(self, wall):
        """A tube of radius 1 and length 10, of 8 long faces: OFF."""
        ring = [(r * math.cos(math.pi * i / 4), r * math.sin(math.pi * i / 4), z) for z in (0, 10 / 3, 20 / 3, 10)
                for r in (1, 1 - wall) for i in range(8)]
        faces = []
        for i in range(8):
            j = (i + 1) % 8
            for z in range(0, 48, 16):
                faces += [(z + i, z + j, z + 16 + j, z + 16 + i), (z + 8 + j, z + 8 + i, z + 24 + i, z + 24 + j)]
            faces += [(8 + i, 8 + j, j, i), (48 + i, 48 + j, 56 + j, 56 + i)]
        triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
        return self.write("tube.off", f"OFF\n{len(ring)} {len(triangles)} 0\n" +
                          "".join("%.15g %.15g %.15g\n" % x for x in ring) + "".join("3 %d %d %d\n" % t for t in triangles))

    def test_thin_walls(self):
        """The step knows of walls; what is left decays at steps of several walls, too, and a march that grows fails."""
        body = ["--mesh", self.tube(0.15), "--units", "1:CPU:1"]
        self.assertRegex(self.evener(*body, "--steps", "1").stdout, r"c dt [\d.]+ \(0.2 edges; bounded by a wall of 0.1386\)")
        for words in ([], ["--delta-ratio", "0.5"], ["--delta-ratio", "1.5"], ["--problem", "soft"], ["--problem", "soft", "--delta-ratio", "1"]):
            r = self.record(*body, "--steps", "1500", *words, said=None)
            self.assertAlmostEqual(r["facing"], 0.15 * math.cos(math.pi / 8), delta=1e-9)
            self.assertLess(r["norms"]["latest"], 1e-2 * r["norms"]["most"], words)  # it rings as pipes do
            self.assertFalse([w for w in r["warnings"] if "late" in w])
            # so long for the wall that the skew-symmetric part of M_0 acts at once
            self.assertEqual(r["solver"], "gmres" if words[-1:] == ["1.5"] else "cg")
        want = self.record(*body, "--steps", "200", "--delta-ratio", "1.5", said=None)["hash"]
        for words in (["--processes", "2", "--oversubscribe"], ["--matrices", "m"], ["--matrices", "m"]):
            self.assertEqual(self.record(*body, "--steps", "200", "--delta-ratio", "1.5", *words, said=None)["hash"], want)
        self.evener(*body, "--delta-ratio", "1.5", "--solver", "mumps", status=2)
        done = self.evener(*body, "--steps", "1000", "--eta", "50", "--delta-ratio", "0.2", "--json", self.path("r"), status=3)
        self.assertRegex(done.stderr, "the solution grows: .* expected another step than --delta 0.3988")
        self.assertFalse(os.path.exists(self.path("r")))
        done = self.evener(*body, "--steps", "1000", "--eta", "50", "--delta-ratio", "0.2", status=None)
        self.assertRegex(done.stderr, "late field: it grows|the solution grows")
        done = self.evener(*BODY, "--eta", "0", "--problem", "soft", "--pulse", "gaussian:sigma=0.3")
        self.assertRegex(done.stderr, "late field: it (has not decayed|grows)")
        self.assertNotIn("late field", self.evener(*BODY).stderr)

    def test_times_of_the_solution(self):
        """Rigid: the pressure at t_n; soft: the derivative in the middle of the step."""
        for problem, late in (("rigid", 0), ("soft", 0.5)):
            r = self.record(*BODY, "--problem", problem, "--steps", "4", "--vertices", "0", "--vertex-output",
                            self.path("v.csv"), "--output", self.path("out"), "--every", "2")
            pictures = ET.parse(self.path("out/surface.pvd")).getroot().iter("DataSet")
            for n, t in [row[:2] for row in self.table("v.csv")[1]] + [
                    (n, float(p.get("timestep"))) for n, p in zip((2, 4), pictures, strict=True)]:
                self.assertAlmostEqual(t, (n - late) * r["dt"], delta=1e-12)

    def test_entries(self):
        """Entries of M_k: symmetric in the hypersingular part, none beyond the last k."""
        wanted = self.write("e", "0 3 5\n0 5 3\n4 0 11\n4 11 0\n900 1 2\n")
        done = self.evener("--mesh", "sphere:1", "--eta", "0", "--entries", wanted)
        rows = [line.split(",") for line in done.stdout.strip().split("\n")]
        self.assertEqual([row[:3] for row in rows],
                         [["0", "3", "5"], ["0", "5", "3"], ["4", "0", "11"], ["4", "11", "0"], ["900", "1", "2"]])
        for one, other in (rows[:2], rows[2:4]):
            self.assertLessEqual(abs(float(one[3]) - float(other[3])), 1e-14 * abs(float(one[3])))
        self.assertEqual(float(rows[4][3]), 0)
        for bad in ("0 0 42\n", "-1 0 0\n", "0 0\n", "0 0 0 0\n", "x y z\n", "0.5 0 0\n", ""):
            self.refuses(["--mesh", "sphere:1", "--entries", self.write("e", bad)], "--entries")

    def test_trace(self):
        self.evener(*BODY, "--steps", "16", "--units", "2:CPU:1", "--oversubscribe", "--trace", self.path("t.json"))
        trace = self.load("t.json")
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        names = [e["name"].split() for e in events]
        blocks = [int(n[1]) for n in names if n[0] == "block"]
        for n in names:
            if n[1:2] == ["blocks"]:
                blocks += range(int(n[3]), int(n[3]) + int(n[0]))
        self.assertGreater(len(blocks), 5)
        self.assertEqual(sorted(blocks), list(range(len(blocks))))


class Restart(Base):
    def run_words(self, *words):
        return [*BODY, "--steps", "4000", "--vertices", "0,8", "--vertex-output", self.path("v.csv"), "--quiet",
                "--units", "1:CPU:1", *words]

    def test_full_disk(self):
        """A disk that fills up: an error before the first step, or at worst the earlier checkpoint stays."""
        if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("needs a small file system of its own")
        small = self.path("small")
        os.mkdir(small)
        words = " ".join([EVENER, "run", "td-bem", *BODY, "--steps", "800", "--quiet", "--checkpoint",
                          small + "/check", "--every", "8"])
        script = (f"mount -t tmpfs -o size=16k none {small} && {words}; a=$?; ls -A {small} | wc -l; "
                  f"umount {small}; mount -t tmpfs -o size=100k none {small} && {words}; b=$?; "
                  f"head -c 60k /dev/zero > {small}/full; {words} --restart {small}/check --steps 1600; c=$?; "
                  f"rm {small}/full; {words} --restart {small}/check --steps 1608; d=$?; echo $a $b $c $d")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=600)
        if "mount" in done.stderr:
            self.skipTest("no file system could be mounted")
        self.assertEqual(done.stdout.split(), ["0", "2", "0", "2", "0"], done.stderr)
        self.assertIn("no room", done.stderr)


class Disk(Base):
    """A host whose memory is too small for the matrices."""
    MESH = ["--mesh", "sphere:3", "--ng", "4", "--oversubscribe"]

    def least(self, *words):
        """Bytes, as the message says them to whom gives too little."""
        done = self.evener(*words, "--memory", "1kB", status=2)
        return 1e6 * float(re.search(r"^evener: memory: .* at least ([0-9.]+) MB", done.stderr).group(1))

    def probes(self):
        return ["--probes", self.write("points", "0 0 2\n0 1.02 0\n"), "--probe-output", self.path("p.csv")]

    def small(self, *words, memory):
        r = self.record(*words, "--memory", f"{memory:.0f}", "--scratch", self.folder)
        self.assertLess(r["matrix"]["resident_blocks"], r["matrix"]["blocks"] / 2)
        self.assertGreater(r["matrix"]["intervals"], 2)
        self.assertGreater(r["stream"]["bytes"], 0.5 * r["matrix"]["bytes"])
        self.assertLess(r["stream"]["most_bytes"], memory)
        return r

    def test_same_bits(self):
        """Layouts, precisions, problems, units: nothing shows who came from disk."""
        cases = [(["--layout", "rows"], "1:CPU:1"), (["--layout", "contiguous", "--precision", "float"], "3:CPU:1"),
                 (["--layout", "full:32x32", "--eta", "0"], "1:CPU:3"),
                 (["--layout", "rows", "--problem", "soft", "--schedule", "dynamic:chunk=1,memorize=0"], "2:CPU:2")]
        for layout, units in cases:
            with self.subTest(layout=layout, units=units):
                words = [*self.MESH, "--steps", "26", *layout, *self.probes()]
                want = self.record(*words, "--units", "1:CPU:1")
                self.assertEqual(want["matrix"]["resident_blocks"], want["matrix"]["blocks"])
                self.assertEqual(want["stream"]["bytes"], 0)
                fields = self.read("p.csv")
                got = self.small(*words, "--units", units, memory=1.05 * self.least(*words))
                self.assertEqual(got["hash"], want["hash"])
                self.assertEqual(self.read("p.csv"), fields)
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.csv", "points"], "nothing stays in the scratch folder")

    def test_notice(self):
        words = [*BODY, "--steps", "4", "--scratch", self.folder]
        done = self.evener(*words, "--memory", f"{1.1 * self.least(*BODY):.0f}")
        self.assertRegex(done.stderr, r"^evener: \d+ of \d+ blocks stream from " + self.folder)
        self.assertRegex(done.stdout, r"generated in .*; \d+ of \d+ blocks stream from disk")
        self.assertRegex(done.stdout, r"GB came from disk")

    def test_disk_fails(self):
        """A file that is lost while it is read: one line, status 3."""
        check = self.path("check")
        words = [*self.MESH, "--steps", "1000000", "--memory", f"{1.05 * self.least(*self.MESH):.0f}", "--scratch",
                 self.folder, "--checkpoint", check, "--every", "4", "--units", "1:CPU:1", "--quiet"]
        run = subprocess.Popen([EVENER, "run", "td-bem", *words], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not os.path.exists(check) and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        lost = 0
        for fd in os.listdir(f"/proc/{run.pid}/fd"):
            path = f"/proc/{run.pid}/fd/{fd}"
            try:
                if re.search(r"/(\.evener-\w+|#\d+) \(deleted\)$", os.readlink(path)):
                    os.truncate(path, 0)
                    lost += 1
            except FileNotFoundError:
                pass # a checkpoint's, closed meanwhile
        _, errors = run.communicate(timeout=60)
        self.assertGreater(lost, 0)
        self.assertEqual(run.returncode, 3, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertIn("cannot be read back", errors)
        self.assertIn(self.folder, errors)

    def test_refused(self):
        self.refuses([*BODY, "--memory", "10kB"], "too little", "at least")
        self.refuses([*BODY, "--scratch", self.path("none")], "scratch", "none")
        self.refuses([*BODY, "--scratch", "/proc"], "scratch", "/proc")
        self.refuses([*BODY, "--scratch", self.write("file", "")], "scratch", "file")
        self.refuses([*BODY, "--matrices", self.path("no/folder/m")], "cannot be written")
        memory = f"{1.05 * self.least(*BODY):.0f}"
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
        done = subprocess.run([EVENER, "run", "td-bem", *BODY, "--memory", memory, "--scratch", self.folder],
                              capture_output=True, text=True, preexec_fn=limit, restore_signals=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^evener: scratch: [^\n]*no room for[^\n]*\n$")
        self.assertEqual(os.listdir(self.folder), ["file"])


class Waves(Base):
    """Sources and signals: against each other, and over units, ranks, devices, restarts."""

    def probed(self, *words):
        points = self.write("points", "0 0 2\n2 0 0.5\n")
        out = self.path("p.csv")
        self.evener("--mesh", "sphere:2", "--quiet", "--probes", points, "--probe-output", out, *words)
        lines = self.read(out).splitlines()
        return ([line for line in lines if line[0] == "#"],
                [[float(x) for x in line.split(",")] for line in lines if line[0] not in "#t"])

    def signal(self, gap=0.1, sigma=1.2, t0=8):
        return self.write("bell.csv", "t,p\n" + "".join(
            f"{gap * i:.17g},{math.exp(-((gap * i - t0) / sigma) ** 2 / 2):.17g}\n" for i in range(int(2 * t0 / gap))))

    def test_source(self):
        """What arrives is f(t - r/c)/r, and what is scattered is late by the way there and back."""
        head, rows = self.probed("--source", "0,0,-4", "--pulse", "gaussian:sigma=1.2,t0=8", "--steps", "180")
        self.assertIn("# source 0 0 -4 amplitude=1 delay=0", "\n".join(head))
        for t, scattered, total, beside, both in rows[1:]:
            for r, u in ((6, total - scattered), (math.hypot(2, 4.5), both - beside)):
                self.assertAlmostEqual(u, math.exp(-((t - 8 - r) / 1.2) ** 2 / 2) / r, places=12)
        late = [row[0] for row in rows if abs(row[1]) > 1e-6]
        self.assertTrue(8 + 3 - 6.5 * 1.2 < min(late) < 8 + 6, min(late))

    def test_far_source(self):
        """Far away it is a plane wave, but for its strength."""
        plane = self.probed("--pulse", "gaussian:sigma=1.2,t0=8.8", "--steps", "120")[1]
        far = self.probed("--source", "0,0,-2000", "--pulse", "gaussian:sigma=1.2,t0=-1991.2", "--steps", "120")[1]
        most = max(abs(row[1]) for row in plane)
        for one, other in zip(plane, far):
            self.assertLess(abs(one[1] - 2000 * other[1]), 2e-3 * most)
        done = self.evener(*BODY, "--steps", "3", "--source", "0,0,-2000")
        self.assertIn("pulse: the wave comes to the body after 1999, ", done.stderr)
        self.assertIn("a t0 less by that would spare them", done.stderr)

    def test_signal(self):
        """A pulse as samples is that pulse, of plane waves and of sources."""
        for problem in ("rigid", "soft"):
            words = ["--source", "0,0,-3", "--problem", problem, "--steps", "120"]
            exact = self.probed(*words, "--pulse", "gaussian:sigma=1.2,t0=8")[1]
            head, read = self.probed(*words, "--pulse", self.signal())
            self.assertRegex(head[0], "pulse=signal:[0-9a-f]{16},t0=0$")
            most = max(abs(row[1]) for row in exact)
            for one, other in zip(exact, read):
                self.assertLess(max(abs(a - b) for a, b in zip(one, other)), 1e-4 * most)
        r = self.record("--mesh", "sphere:2", "--pulse", self.signal())
        self.assertTrue(2.52 < r["highest_frequency"] < 2.6, "3.035 over sigma")
        self.assertAlmostEqual(r["t0"], 2.6, delta=0.01, msg="16 samples before the file begins")

    def test_signal_too_fast(self):
        for gap, says in ((0.02, "steps of"), (0.5, "not 40 dB below")):
            done = self.evener("--mesh", "sphere:2", "--delta", "0.25", "--pulse", self.signal(gap, 0.2), status=2)
            self.assertIn(says, done.stderr)
        self.assertIn("high for this mesh", self.evener("--mesh", "sphere:2", "--steps", "3", "--pulse",
                                                        self.signal(0.1, 0.6)).stderr)

    FILE = "# two sources at once\nfront plane 0 0 1\nboth source 0 -3 0\nleft source 0 -3 0 1 0.5\nboth,source,0,0,3,0.5,0.4\n"

    def columns(self, folder, text, *words):
        """All files of a run with these incidences, as {name: content}; the record."""
        os.makedirs(self.path(folder), exist_ok=True)
        at = lambda name: self.path(f"{folder}/{name}")
        r = self.record("--mesh", "sphere:2", "--steps", "150", "--waves", self.write("waves", text), "--probes",
                        self.write("points", "0 0 2\n2 0 0.5\n"), "--probe-output", at("p.csv"), "--vertices", "0,8",
                        "--vertex-output", at("v.csv"), "--frequencies", "1,2", "--spectrum", at("s.x.csv"), "--far-field",
                        at("f"), "--output", at("d"), "--every", "48", *words)
        found = {}
        for path, _, names in os.walk(self.path(folder)):
            for name in names:
                with open(f"{path}/{name}", "rb") as f:
                    found[os.path.relpath(f"{path}/{name}", self.path(folder))] = f.read()
        return found, r

    def test_incidences(self):
        """Each of several has the bits of a run of its own."""
        found, together = self.columns("all", self.FILE, "--units", "2:CPU:1", "--oversubscribe")
        self.assertEqual([c["name"] for c in together["incidences"]], ["front", "both", "left"])
        self.assertEqual(len(together["iterations"]), 3 * 10, "sums of each group")
        for c in together["incidences"]:
            lines = [line for line in self.FILE.split("\n") if line.startswith(c["name"])]
            alone, r = self.columns(c["name"], "\n".join(lines))
            self.assertNotIn("incidences", r)
            self.assertEqual(r["hash"], c["hash"])
            for key in ("t0", "null_field", "norms"):
                self.assertEqual(r[key], c[key])
            for name, content in alone.items():
                stem, dot, end = name.rpartition(".")
                other = f"d/{c['name']}/{name[2:]}" if name.startswith("d/") else \
                    f"{stem}-{c['name']}.{end}" if dot else f"{name}-{c['name']}"
                self.assertEqual(found[other], content, other)
        self.assertEqual(len(found), 3 * (4 + 8))
        self.assertEqual(together["norms"]["most"], max(c["norms"]["most"] for c in together["incidences"]))

    def test_incidences_everywhere(self):
        """Ranks, disk, devices, and a run that goes on."""
        hashes = lambda r: [c["hash"] for c in r["incidences"]]
        body = ["--mesh", "sphere:2", "--blocks", "30", "--waves", self.write("waves", self.FILE), "--steps", "100"]
        plain = self.record(*body)
        kept = self.path("c")
        for words in (["--processes", "3", "--units", "1:CPU:1", "--oversubscribe"], ["--memory", "3.3MB", "--scratch", self.folder],
                      ["--units", "1:CPU:2", "--oversubscribe"]):
            self.assertEqual(hashes(self.record(*body, *words)), hashes(plain), words)
        self.evener(*body[:-1], "48", "--checkpoint", kept, "--quiet")
        r = self.record(*body, "--restart", kept, "--processes", "2", "--units", "1:CPU:1", "--oversubscribe")
        self.assertEqual((r["restarted_from"], hashes(r), r["hash"]), (48, hashes(plain), plain["hash"]))
        other = self.write("waves", self.FILE.replace("1 0.5", "1 0.4"))
        self.assertIn("another run", self.evener(*body, "--restart", kept, "--waves", other, status=2).stderr)
        self.write("waves", self.FILE)
        for solver in ("cg", "cg:device"):
            device = self.record(*body, "--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--solver", solver,
                                 "--oversubscribe")
            for one, same in zip(plain["incidences"], device["incidences"]):
                self.assertAlmostEqual(one["norms"]["most"], same["norms"]["most"], delta=1e-12 * one["norms"]["most"])

    def test_bad_waves(self):
        for text, says in (("", "nothing in it"), ("a plane 0 0\n", "line 1: expected NAME"), ("#\na wave 0 0 1\n", "line 2"),
                           ("a plane 0 0 1 1 1 1\n", "line 1"), ("a/b plane 0 0 1\n", "line 1"), ("-a plane 0 0 1\n", "line 1"),
                           ("a plane 0 0 1 x\n", "line 1"), ("a plane 0 0 nan\n", "line 1"), ("a\n", "line 1"),
                           ("x" * 64 + " plane 0 0 1\n", "line 1"), ("a plane 0 0 0\n", "a: direction: 0,0,0"),
                           ("b plane 0 0 1\na source 0 2 0\na source 0 0.2 0\n", "a: source 2: (0, 0.2, 0) is inside")):
            with self.subTest(text=text):
                self.refuses([*BODY, "--waves", self.write("waves", text)], says)
        self.refuses([*BODY, "--waves", self.write("waves", "a plane 0 0 1\n"), "--direction", "0,0,1"], "in the file")


class Refused(Base):
    def test_options(self):
        bad = [
            ([], "which mesh"),
            (["--mesh", "nothing.msh"], "nothing.msh"),
            (["--mesh", "sphere:99"], "sphere:99"),
            ([*BODY, "--problem", "hard"], ["--problem hard", "rigid or soft"]),
            ([*BODY, "--eta", "-1"], "--eta -1"),
            ([*BODY, "--eta", "nan"], "--eta nan"),
            ([*BODY, "--delta", "-0.1"], "--delta"),
            ([*BODY, "--delta-ratio", "0"], ["--delta-ratio 0", "above 0"]),
            ([*BODY, "--speed", "0"], "--speed 0"),
            ([*BODY, "--direction", "0,0,0"], "direction"),
            ([*BODY, "--direction", "a,b,c"], "item 1 is no number"),
            ([*BODY, "--source", "0,0,0.5"], ["source 1: (0, 0, 0.5) is inside of the surface", "point in the air"]),
            ([*BODY, "--source", "0,0,1"], "source 1: (0, 0, 1) is on the surface"),
            ([*BODY, "--source", "0,3"], "expected 3 numbers"),
            ([*BODY, "--source", "0,0,3", "--direction", "0,0,1"], "plane one or a source's"),
            ([*BODY, "--pulse", "none.wav"], "none.wav"),
            ([*BODY, "--pulse", "square:sigma=1"], "square"),
            ([*BODY, "--pulse", "gaussian:sigma=0"], "sigma is not above 0"),
            ([*BODY, "--pulse", "gaussian:width=1"], "sigma and t0"),
            ([*BODY, "--ng", "0"], "from 1 to 32"),
            ([*BODY, "--ng", "33"], "from 1 to 32"),
            ([*BODY, "--precision", "half"], "double or float"),
            ([*BODY, "--layout", "rows:2"], ["rows:2", "full:BRxBC"]),
            ([*BODY, "--layout", "full:32x4"], "longest row-vector"),
            ([*BODY, "--order", "peano"], "peano"),
            ([*BODY, "--solver", "lu"], "auto, cg, cg:device, cg:ranks or mumps"),
            ([*BODY, "--quad", "7"], "from 0 to 6"),
            ([*BODY, "--vertices", "0,162", "--vertex-output", self.path("v")], ["162", "0 to 161"]),
            ([*BODY, "--vertices", "1.5", "--vertex-output", self.path("v")], "whole numbers"),
            ([*BODY, "--probes", self.path("none"), "--probe-output", self.path("p")], "cannot be read"),
            ([*BODY, "--frequencies", "1,-2", "--spectrum", self.path("s")], "frequencies: -2"),
            ([*BODY, "--units", "4096:CPU:1"], "4096 cores"),
            ([*BODY, "--schedule", "best"], "best"),
            ([*BODY, "--class", "S"], "no option --class"),
            ([*BODY, "--restart", self.path("none")], "none"),
            ([*BODY, "--checkpoint", self.path("no/folder/c")], "cannot be written"),
            ([*BODY, "--output", self.path("no/folder")], "cannot be made"),
            ([*BODY, "--json", self.path("no/folder/r")], "cannot be written"),
            ([*BODY, "--devices", "warp"], "warp"),
        ]
        for words, says in bad:
            with self.subTest(words=words):
                self.refuses(words, says, page=True)

    def test_probes(self):
        for text, says in (("0 0 0\n", "inside"), ("0 0\n", "line 1"), ("2 0 0\nx\n", "line 2"), ("", "nothing in it"),
                           ("2 0 inf\n", "line 1")):
            points = self.write("points", text)
            self.refuses([*BODY, "--probes", points, "--probe-output", self.path("p")], says)

    def test_warnings(self):
        """A pulse that the mesh cannot carry, a step out of range, a wave that is already there: with numbers."""
        for words, says in ((["--pulse", "gaussian:sigma=0.1"], ["sigma = 0.1", "mean edges", "8 need sigma = 1.15"]),
                            (["--delta-ratio", "2"], ["is 2 of the mean edge", "0.2 to 1.2"]),
                            (["--pulse", "gaussian:sigma=1.2,t0=0"], ["already on the body", "t0 = 8.8"]),
                            (["--eta", "0", "--precision", "float"], ["drifts"])):
            done = self.evener(*BODY, "--steps", "4", *words)
            lines = [line for line in done.stderr.split("\n") if line.startswith("evener: warning: ")]
            self.assertEqual(len(lines), 1, done.stderr)
            for word in says:
                self.assertIn(word, lines[0])
