#!/usr/bin/env python3
"""One binary for all processors: every workload at each level of x86-64 that this machine has, EVENER_ISA, and what is in the objects of a level.
Run: ctest -R command-isa, or tests/command/test_isa.py build/evener [test ..]"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from base import EVENER, Base, ended, evener, launcher, run

WORKLOADS = [[app, "--class", "S"] for app in ("bt-mz", "sp-mz", "lu-mz", "ft", "mg")] + [["td-bem", "--mesh", "sphere:1"]]
NPB_MZ = ("bt-mz", "sp-mz", "lu-mz")
FUSED = ("v3", "v4")


def levels():
    """Those that there are, as the command lists them."""
    err = evener("--version", EVENER_ISA="none").stderr
    return re.findall(r"\bv\d\b", err.split("expected", 1)[1])


def here():
    return [level for level in levels() if evener("--version", EVENER_ISA=level).returncode == 0]


class Runs(Base):
    def test_verified(self):
        """Each level computes what is right, and says which it was; those with fused multiply-adds agree on NPB-MZ to the bit."""
        for words in WORKLOADS:
            hashes = {}
            for isa in here():
                r = self.record("run", *words, "--units", "1:CPU:1", EVENER_ISA=isa)
                self.assertEqual(r["build"]["isa"], isa)
                self.assertNotEqual(r["verified"], False)
                if words[0] != "td-bem":
                    self.assertIs(r["verified"], True, f"{words} {isa}")
                hashes[isa] = r["hash"]
            fused = {hashes[isa] for isa in FUSED if isa in hashes}
            if words[0] in NPB_MZ:
                self.assertLessEqual(len(fused), 1, hashes)
                # another hash shows that it is other code
                if fused and "-ffp-contract=off" not in r["build"]["flags"]:
                    self.assertNotIn(hashes["v2"], fused, hashes)

    def test_default(self):
        """Without a word it is the highest, with it that one; an empty one is none."""
        r = self.record("info")["build"]
        self.assertEqual(r["isa"], here()[-1])
        self.assertIn("highest", r["isa_why"])
        self.assertEqual(self.record("info", EVENER_ISA="")["build"]["isa"], here()[-1])
        out = self.evener("info", EVENER_ISA=here()[0]).stdout
        self.assertRegex(out, rf"(?m)^isa +{here()[0]}: EVENER_ISA says so")

    def test_on_devices(self):
        """Kernels of emulated devices are the level's too, and compute what is right."""
        for isa in here():
            for units in ("1:CPU:1", "1:GPU:1"):
                r = self.record("run", "bt-mz", "--class", "S", "--units", units, "--devices", "emulated", EVENER_ISA=isa, said=None)
                self.assertIs(r["verified"], True, f"{units} {isa}")

    def test_ranks(self):
        """Forked ranks take the same."""
        for isa in here():
            r = self.record("run", "ft", "--class", "S", "--processes", "2", "--units", "1:CPU:1", "--oversubscribe", EVENER_ISA=isa)
            self.assertIs(r["verified"], True)
            self.assertEqual(r["build"]["isa"], isa)

    def test_ranks_differ(self):
        """Ranks of two levels are told so, once."""
        if len(here()) < 2:
            self.skipTest("one level")
        low, high = here()[:2]
        words = ["run", "ft", "--class", "S", "--oversubscribe", "--units", "1:CPU:1"]
        done = ended([*launcher("openmpi"), "-n", "1", "-x", "EVENER_ISA=" + low, EVENER, *words,
                      ":", "-n", "1", "-x", "EVENER_ISA=" + high, EVENER, *words])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len([line for line in done.stderr.splitlines() if line.startswith("evener: ")]), 1, done.stderr)
        self.assertIn(f"code is for {high}, and rank 0's for {low}; set EVENER_ISA", done.stderr)


class Refused(Base):
    def refused(self, says, words=("run", "bt-mz", "--class", "S"), **how):
        status, out, err = run([EVENER, *words], **how)
        self.assertEqual((status, out), (2, ""), err)
        self.assertRegex(err, rf"\Aevener: [^\n]*{says}[^\n]*\n\Z")

    def test_unknown(self):
        for isa in ("v1", "v5", "3", "native", "V3", "v3 ", "avx2", "%s" * 8, "v" * 4000):
            self.refused("EVENER_ISA=.*: expected v2, v3 or v4", EVENER_ISA=isa)

    def test_above(self):
        for isa in levels()[len(here()):]:
            for words in (["info"], ["run", "mg"], ["--version"]):
                self.refused(f"EVENER_ISA={isa}: this machine lacks avx.*; expected {here()[-1]}", words=words, EVENER_ISA=isa)

    def test_ranks(self):
        """Said once."""
        self.refused("EVENER_ISA=v9", words=["run", "ft", "--processes", "2"], EVENER_ISA="v9")


@unittest.skipUnless(shutil.which("qemu-x86_64"), "no qemu-user")
class OtherProcessors(Base):
    def on(self, processor, *words, **how):
        return run(["qemu-x86_64", "-cpu", processor, EVENER, *words], **how)

    def test_v2(self):
        """A processor without AVX takes v2, by itself; no instruction of a higher level is run."""
        status, out, err = self.on("Nehalem-v1", "run", "mg", "--class", "S", "--units", "1:CPU:1", "--oversubscribe", "--quiet", "--json", "-")
        self.assertEqual(status, 0, err)
        r = json.loads(out)
        self.assertIs(r["verified"], True)
        self.assertEqual(r["build"]["isa"], "v2")
        self.assertIn("v3 needs avx", r["build"]["isa_why"])
        status, out, err = self.on("Nehalem-v1", "--version", EVENER_ISA="v3")
        self.assertEqual(status, 2)
        self.assertIn("lacks avx avx2 bmi1 bmi2 f16c fma", err)

    def test_below(self):
        """One that has not even v2 is told so."""
        status, out, err = self.on("core2duo-v1", "--version")
        self.assertEqual((status, out), (2, ""), err)
        self.assertRegex(err, r"evener: this machine lacks [^\n]*sse4_2[^\n]* of v2")


@unittest.skipUnless(shutil.which("objdump") and shutil.which("nm"), "no binutils")
class Objects(Base):
    BUILD = property(lambda self: os.path.dirname(os.path.abspath(EVENER)))

    def archive(self, app, isa):
        return os.path.join(self.BUILD, "suite", "apps", app, f"lib{app}-{isa}.a")

    def count(self, archive, pattern):
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", archive], capture_output=True, text=True, check=True, timeout=300).stdout
        return len(re.findall(pattern, text))

    def test_instructions(self):
        """Code for v2 and code for all has no wide register and no fused multiply-add, code for v3 none of AVX-512."""
        wide, fused = r"%[yz]mm|%k[1-7]\b|\tv[a-z0-9]+ ", r"\tvfn?m(?:add|sub)"
        for archive in [self.archive(app, "v2") for app in ("npbmz", "ft", "mg", "tdbem")] + [
                os.path.join(self.BUILD, *path) for path in (("libevener.a",), ("suite", "apps", "libcommon.a"), ("suite", "command", "libevener_tool.a"))]:
            self.assertEqual(self.count(archive, wide), 0, archive)
        for app in ("npbmz", "ft", "mg", "tdbem"):
            self.assertEqual(self.count(self.archive(app, "v3"), r"%zmm|%[xy]mm(?:1[6-9]|2\d|3[01])|%k[1-7]\b"), 0, app)
            self.assertGreater(self.count(self.archive(app, "v3"), fused), 0, app)
        self.assertGreater(self.count(self.archive("npbmz", "v4"), r"%zmm"), 0)

    def test_names(self):
        """No name of a level is seen but its list of workloads, and TD-BEM's of functions, so that nothing else can call what is in it."""
        for app in ("npbmz", "ft", "mg", "tdbem"):
            for isa in levels():
                text = subprocess.run(["nm", "-g", "--defined-only", self.archive(app, isa)], capture_output=True, text=True, check=True).stdout
                names = [line.split()[-1] for line in text.splitlines() if len(line.split()) == 3]
                lists = ["tdbem_functions", "tdbem_workloads"] if app == "tdbem" else [f"{app}_workloads"]
                self.assertEqual(names, [f"{name}_{isa}" for name in lists])


if __name__ == "__main__":
    if len(levels()) < 2:
        print("this build has one level")
        sys.exit(77)
    unittest.main(verbosity=2)
