#!/usr/bin/env python3
"""Bound and unbound threads: where EVENER_BIND lets them run, what the study of it prints and records, what is refused.
Nothing is timed.

Run: ctest -R command-pinning, or tests/command/test_pinning.py build/evener [test ..]
"""
import ctypes
import errno
import fcntl
import json
import os
import platform
import re
import struct
import subprocess
import tempfile
import time
import unittest

from base import EVENER, Base, clean

ALL = sorted(os.sched_getaffinity(0))


def group_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return int(f.read().rsplit(")", 1)[1].split()[2])


def masks(group):
    """Of all threads of a process group: process, cores they may run on."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if group_of(pid) == group:
                found += [(int(pid), frozenset(os.sched_getaffinity(int(t)))) for t in os.listdir(f"/proc/{pid}/task")]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


@unittest.skipIf(len(ALL) < 2, "one core: there is nothing to be bound to")
class Bound(Base):
    def settles(self, binding, words, wanted):
        """The run's threads come to be bound as `wanted` says."""
        run = subprocess.Popen([EVENER, "run", "bt-mz", "--class", "A", "--steps", "100000", "--quiet", *words],
                               env=clean(EVENER_BIND=binding), start_new_session=True)
        try:
            end = time.monotonic() + 120
            while time.monotonic() < end:
                last = [cores for pid, cores in masks(run.pid) if "--processes" not in words or pid != run.pid]
                if sorted(map(sorted, last)) == sorted(map(sorted, wanted)):
                    return
                time.sleep(0.05)
            self.fail(f"{binding} {words}: {last}, expected {wanted}")
        finally:
            os.killpg(run.pid, 9)
            run.wait()

    def test_where(self):
        done = self.evener("run", "bt-mz", "--units", "2:CPU:1", "--quiet", "--json", "-")
        one, two = ({u["cores"][0]} for u in json.loads(done.stdout)["units"])
        pair, both = one | two, set(ALL)
        # the second core has a thread of OpenMP's and one of the unit's own
        for binding, words, wanted in (("core", ["--units", "1:CPU:2"], [one, two, two]),
                                       ("unit", ["--units", "1:CPU:2"], [pair] * 3), ("unit", ["--units", "2:CPU:1"], [one, two]),
                                       ("none", ["--units", "2:CPU:1"], [both, both]),
                                       ("core", ["--processes", "2", "--units", "1:CPU:1"], [one, two]),
                                       ("none", ["--processes", "2", "--units", "1:CPU:1"], [both, both])):
            self.settles(binding, words, wanted)

    def test_beside(self):
        """Units take other cores than those that another program has claimed, or none; studies take what they ask for."""
        with tempfile.NamedTemporaryFile() as claims:
            def units(*words, binding="auto"):
                done = self.evener("run", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--json", "-", "--units", *words,
                              EVENER_CLAIMS=claims.name, EVENER_BIND=binding, said="")
                record = json.loads(done.stdout)
                self.assertEqual(record["hash"], bits or record["hash"])
                return [unit["cores"] for unit in record["units"]], {unit["binding"] for unit in record["units"]}, record["hash"]

            bits = None
            (one, two), _, bits = units("2:CPU:1")
            self.assertEqual(units("1:CPU:1")[0], [one])
            fcntl.lockf(claims, fcntl.LOCK_EX, 1, one[0])
            self.assertEqual(units("1:CPU:1")[0], [two])
            self.assertEqual(units("1:CPU:2", binding="cores")[:2], ([one + two], {"core"}))
            self.assertEqual(units("1:CPU:2", binding="unit")[:2], ([one + two], {"unit"}))
            self.assertEqual(units("1:CPU:1", binding="none")[1], {"none"})
            self.assertIn(f"claimed by other programs: {one[0]}\n", self.evener("info", EVENER_CLAIMS=claims.name).stdout)
            if len(ALL) == 2:
                self.assertEqual(units("1:CPU:2")[:2], ([[]], {"taken"}))
                self.assertEqual(units("1:CPU:1", "--processes", "2")[0], [two, []])
            fcntl.lockf(claims, fcntl.LOCK_UN)
            self.assertNotIn("claimed by", self.evener("info", EVENER_CLAIMS=claims.name).stdout)

    def test_bits(self):
        hashes = {json.loads(self.evener("run", "sp-mz", "--class", "S", "--units", "2:CPU:1", "--quiet", "--json", "-",
                                    EVENER_BIND=b).stdout)["hash"] for b in ("core", "unit", "none")}
        self.assertEqual(len(hashes), 1)


SET, GET = {"x86_64": (203, 204), "aarch64": (122, 123)}.get(platform.machine(), (None, None)) # the kernel's calls
KILL = 0x80000000


def filtered(number, answer, below=None):
    """Installs a filter of system calls, as sandboxes do: `answer` (an errno, or KILL) for call `number`, or for its masks of less than
    `below` bytes alone, as of a kernel for that many processors."""
    load = 0x20 # BPF_LD | BPF_W | BPF_ABS: at 0 the call's number, at 24 its second argument
    code = [(load, 0, 0, 0), (0x15, 0, 1 if below is None else 3, number)]
    if below is not None:
        code += [(load, 0, 0, 24), (0x35, 1, 0, below)]
    code += [(0x06, 0, 0, answer if answer == KILL else 0x00050000 | answer), (0x06, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        os._exit(77)


@unittest.skipUnless(SET, "the numbers of the system's calls are not known")
class Refused(Base):
    """Systems that refuse calls of affinity, or have masks of more processors than a cpu_set_t."""
    def do(self, words, refusal, core=None, **variables):
        def begin():
            if core is not None:
                os.sched_setaffinity(0, {core})
            filtered(*refusal)

        done = subprocess.run([EVENER, *words], capture_output=True, text=True, timeout=120, preexec_fn=begin,
                              env=dict(os.environ, EVENER_CLAIMS="", OCL_ICD_VENDORS="/nonexistent", **variables))
        if done.returncode == 77:
            self.skipTest("no filter of system calls can be installed")
        return done

    def run_of(self, *words, refusal, **more):
        return self.do(["run", "bt-mz", "--class", "S", "--steps", "1", "--quiet", "--json", "-", *words], refusal, **more)

    def runs(self, *words, bound, **more):
        done = self.run_of(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({unit["binding"] for unit in json.loads(done.stdout)["units"]}, {bound})
        return done.stderr

    def test_goes_on(self):
        """Binding is advice: without it there is one line, also of two ranks, and with EVENER_BIND=none none."""
        for words in (["--units", "1:CPU:1"], ["--units", f"1:CPU:{len(ALL)}"], ["--processes", "2", "--units", "1:CPU:1", "--oversubscribe"],
                      ["--units", f"{len(ALL) + 1}:CPU:1", "--oversubscribe"]):
            for error in (errno.EPERM, errno.ENOSYS)[:1 + (words[1] == "1:CPU:1")]:
                line = self.runs(*words, bound="none", refusal=(SET, error))
                if words[-1] == "--oversubscribe" and "--processes" not in words:
                    self.assertEqual(line, "")
                else:
                    self.assertRegex(line, r"^evener: units: threads are not bound to cores, [^\n]*\n$")
                    self.assertIn(os.strerror(error), line)
            self.assertEqual(self.runs(*words, bound="none", refusal=(SET, errno.EPERM), EVENER_BIND="none"), "")

    def test_demanded(self):
        for binding, words, says in (("cores", ["--units", "1:CPU:1"], "by EVENER_BIND"), ("unit", ["--units", "1:CPU:1"], "by EVENER_BIND"),
                                     ("cores", ["--processes", "2", "--units", "1:CPU:1", "--oversubscribe"], "share of the cores"),
                                     ("auto", ["--units", f"1:CPU:1@{ALL[0]}"], "names cores")):
            done = self.run_of(*words, refusal=(SET, errno.EPERM), EVENER_BIND=binding)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertRegex(done.stderr, r"^evener: units: [^\n]*\n$")
            self.assertIn(says, done.stderr)
            self.assertIn(os.strerror(errno.EPERM), done.stderr)

    def test_never(self):
        """EVENER_BIND=none: not a single call; hwloc's own are those of its component x86."""
        for words in (["--units", "1:CPU:1"], ["--processes", "2", "--units", "1:CPU:1", "--oversubscribe"]):
            self.assertEqual(self.runs(*words, bound="none", refusal=(SET, KILL), EVENER_BIND="none", HWLOC_COMPONENTS="-x86"), "")
        self.assertNotEqual(self.run_of("--units", "1:CPU:1", refusal=(SET, KILL), EVENER_BIND="cores", HWLOC_COMPONENTS="-x86").returncode, 0)

    def test_info(self):
        said = self.do(["info"], (SET, errno.EPERM)).stdout
        self.assertIn("binding    none: the system refuses it\n", said)
        self.assertIn("binding    none: EVENER_BIND says so\n", self.evener("info", EVENER_BIND="none").stdout)

    def test_mask(self):
        """A mask is respected whatever its size, and where the call is refused."""
        for refusal in ((GET, errno.EINVAL, 256), (GET, errno.EINVAL, 4096), (GET, errno.EPERM)):
            machine = json.loads(self.do(["info", "--json", "-"], refusal, core=ALL[-1]).stdout)["machine"]
            self.assertEqual(machine["cores"], 1, refusal)
            self.assertEqual(self.runs("--units", "1:CPU:1", bound="core", refusal=refusal), "")
            self.assertEqual(self.runs("--units", "1:CPU:1", bound="none", refusal=refusal, EVENER_BIND="none"), "")
            if len(ALL) > 1:
                self.assertEqual(self.runs("--processes", "2", "--units", "1:CPU:1", bound="core", refusal=refusal), "")


class Study(Base):
    def test_page(self):
        done = self.evener("bench", "pinning", "bt-mz", "--class", "S", "--steps", "2", "--rounds", "1")
        rows = re.findall(r"(?m)^ +(\d+) x (\d+)  (processes|units) +(?:\d\S* +){5}(?:\d+|-) +(?:\d+|-) +(?:\d+|-)$", done.stdout)
        cores = int(re.search(r" on (\d+) cores?, ", done.stdout)[1])
        ways = [(cores // t, t) for t in range(1, cores + 1) if cores % t == 0 and cores // t <= 4]
        self.assertEqual(rows, [(str(n), str(t), way) for n, t in ways for way in ("processes", "units") if n > 1 or way == "units"])

    def test_record(self):
        done = self.evener("bench", "pinning", "lu-mz", "--steps", "1", "--rounds", "2", "--quiet", "--json", "-", said="")
        record = json.loads(done.stdout)
        self.assertEqual((record["app"], record["class"], record["rounds"]), ("lu-mz", "S", 2))
        for row in record["pinning"]:
            self.assertEqual(row["core"]["over_core"], 1)
            for binding in ("core", "unit", "none"):
                self.assertGreater(row[binding]["step_s"], 0)

    def test_refused(self):
        for words, variables, says in ((["run", "bt-mz"], {"EVENER_BIND": "socket"}, 'EVENER_BIND: "socket", expected auto, cores, unit'),
                                       (["bench", "pinning"], {}, "which workload"),
                                       (["bench", "pinning", "bt-mz", "--rounds", "0"], {}, "--rounds"),
                                       (["bench", "pinning", "td-bem", "--mesh", "sphere:0"], {}, "expected an NPB-MZ"),
                                       (["bench", "pinning", "bt-mz", "--json", "nowhere/r.json"], {}, "nowhere")):
            self.refuses(words, says, **variables)
