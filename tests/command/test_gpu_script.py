"""suite/bench/gpu.sh on a folder of stand-ins: what it runs, what its report says of runs that fail, are refused, hang or differ, and that it
keeps to its time. The records that it reads are the command's own.

    python3 tests/command/test_gpu_script.py COMMAND SOURCE
"""

import os
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND, SOURCE = sys.argv[1:3]

# Says what it was asked in a file, and answers with a record of the real command. Files in the folder change it.
EVENER = """#!/bin/bash
here=%(folder)s
echo "${0#$here/} $*" >> $here/asked
case "$*" in
"info") echo "devices    stand-in 0: GPU"; echo "units      auto" ;;
info*) cat $here/info ;;
"bench links"*) echo "8 B  1.0" ;;
"bench npbmz"*) echo "Processor"; echo "  ${4} rhs 0.25" ;;
*" ft "*--phases) echo "page"; echo "  device 0  seconds"; echo "  ft_lines 0.5" ;;
*" ft "* | *"run mg "*) [ ! -e $here/refuse ] || { echo "evener: ft: it has no kernels" >&2; exit 2; }; cat $here/record ;;
*"lu-mz --class S"*"CPU:1,1:GPU:1"*) if [ -e $here/differ ]; then sed 's/"hash":[^"]*"/&zz/' $here/record; else cat $here/record; fi ;;
*"bt-mz --class S --units 1:GPU:1"*) [ ! -e $here/fail ] || { echo "evener: the device is lost" >&2; exit 3; }
    [ ! -e $here/hang ] || sleep 60
    cat $here/record ;;
*) cat $here/record ;;
esac
"""

NCU = """#!/bin/bash
echo '==PROF== Connected'
echo '"ID","Process ID","Kernel Name","gpu__time_duration.sum","launch__registers_per_thread"'
echo '"","","","us","register/thread"'
echo '"0","1","sp_lines(double *, int)","1,000.5","100"'
echo '"1","1","sp_lines(double *, int)","1,001.5","100"'
"""

SANITIZER = """#!/bin/bash
echo "========= COMPUTE-SANITIZER"
echo "========= ERROR SUMMARY: 0 errors"
"""

SMI = """#!/bin/bash
echo "Stand-in GPU, 9.0, 580.1, 1980 MHz"
"""


class Script(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.record = subprocess.run([COMMAND, *"run sp-mz --class S --units 1:CPU:1 --quiet --json -".split()], check=True, text=True,
                                    capture_output=True).stdout
        cls.info = subprocess.run([COMMAND, "info", "--json", "-"], check=True, text=True, capture_output=True).stdout

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = self.place.name
        for name in ("off", "tests", "path", "suite/bench"):
            os.makedirs(f"{self.folder}/{name}")
        for name in ("evener", "off/evener"):
            self.program(name, EVENER % {"folder": self.folder})
        self.program("tests/test-device", "#!/bin/bash\necho $EVENER_TEST_DEVICE\n")
        self.program("suite/bench/bench-variants", f"#!/bin/bash\necho $* >> {self.folder}/variants\necho '  4 rows 1.25'\n")
        self.program("path/ncu", NCU)
        self.program("path/compute-sanitizer", SANITIZER)
        self.program("path/nvidia-smi", SMI)
        self.write("record", self.record)
        self.write("info", self.info)

    def tearDown(self):
        self.place.cleanup()

    def write(self, name, text=""):
        with open(f"{self.folder}/{name}", "w") as f:
            f.write(text)

    def program(self, name, text):
        self.write(name, text)
        os.chmod(f"{self.folder}/{name}", 0o755)

    def go(self, expected, *words):
        line = [f"{SOURCE}/suite/bench/gpu.sh", "--bundle", self.folder, "--classes", "S", "--check", "S", "--big", "S", "--repeat", "1",
                "--out", f"{self.folder}/out", *words]
        done = subprocess.run(line, env=dict(os.environ, PATH=f"{self.folder}/path:{os.environ['PATH']}"), text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        try:
            with open(f"{self.folder}/out/report.md") as f:
                self.report = f.read()
            with open(f"{self.folder}/asked") as f:
                self.asked = f.read().splitlines()
        except FileNotFoundError:
            pass
        return done

    def test_all(self):
        self.go(0)
        self.assertIn("Nothing failed.", self.report)
        for line in ("| bt-mz | S | GPU | ", "| ft | S | GPU | ", "| mg | S | GPU | ", "| lu-mz | S | GPU 20 steps | ", " | verified |",
                     "| device | cuda | passed | ", "| device | cuda:devices=0+0 | passed | ", "| gpu_steps | cuda | is not in the bundle |",
                     "  bt-mz rhs 0.25", "  lu-mz rhs 0.25", "ft class S\n  device 0  seconds\n  ft_lines 0.5", "  4 rows 1.25",
                     "| `sp_lines` | 2 | 1001 us | 100 |", "| bt-mz | ERROR SUMMARY: 0 errors |", " | same |", "Stand-in GPU, 9.0"):
            self.assertIn(line, self.report)
        self.assertNotIn("|  | 0.0000", self.report)
        self.assertLessEqual(len(os.listdir(f"{self.folder}/out")), 8)
        # the most important first, and nothing but the off command in the table of hashes
        self.assertTrue(self.asked[0].startswith("evener info"))
        first = [n for n, line in enumerate(self.asked) if line.startswith("off/")]
        self.assertEqual(len(first), 12)
        self.assertIn("off/evener run bt-mz --class S --units 2:GPU:1", "\n".join(self.asked))
        self.assertLess(next(n for n, line in enumerate(self.asked) if "lu-mz --class S --units 1:GPU:1" in line), first[0])

    def test_failure(self):
        """One run fails, and an earlier Evener has no kernels for FT and MG, which is no failure."""
        self.write("fail")
        self.write("refuse")
        self.go(1)
        self.assertIn("| bt-mz | S | GPU | | | | | evener: the device is lost |", self.report)
        self.assertIn("| ft | S | GPU | | | | | evener: ft: it has no kernels |", self.report)
        self.assertIn("| sp-mz | S | GPU | 0.", self.report)
        self.assertIn("Something FAILED", self.report)
        os.remove(f"{self.folder}/fail")
        self.go(0)

    def test_variants(self):
        """The last of all; what it says of bits is no failure."""
        for status, failed, says in ((1, 0, "Bits differ"), (3, 1, "evener: the device is lost")):
            self.program("suite/bench/bench-variants", f"#!/bin/bash\necho 'evener: the device is lost' >&2\nexit {status}\n")
            self.go(failed)
            self.assertIn(f"- {says}", self.report)
            self.assertLess(self.report.index("## TD-BEM"), self.report.index("## Variants"))

    def test_hash(self):
        self.write("differ")
        self.go(1)
        self.assertEqual(self.report.count("DIFFERENT"), 1)
        self.assertEqual(self.report.count("| same |"), 2)

    def test_wrong(self):
        self.write("record", self.record.replace('"verified":\ttrue', '"verified":\tfalse'))
        self.program("tests/test-device", "#!/bin/bash\necho '[  FAILED  ] test_axpy'\nexit 1\n")
        self.go(1)
        self.assertIn("NOT VERIFIED", self.report)
        self.assertIn("| device | cuda | FAILED (1): [  FAILED  ] test_axpy", self.report)

    @unittest.skipUnless(os.environ.get("EVENER_TEST_LONG"), "a minute: EVENER_TEST_LONG=1")
    def test_time(self):
        """One that hangs ends with the time there is, and the rest is named."""
        self.write("hang")
        begin = time.monotonic()
        self.go(1, "--minutes", "1")
        self.assertLess(time.monotonic() - begin, 75)
        self.assertIn("took too long", self.report)
        self.assertIn("no time left", self.report)

    def test_usage(self):
        for words in (["--classes", "Z"], ["--minutes", "0"], ["--what"], ["--bundle"], ["--bundle", "/nowhere"], ["--classes", ""]):
            done = self.go(2, *words)
            self.assertIn("usage: suite/bench/gpu.sh", done.stderr)
            self.assertIn("gpu.sh: ", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
