"""Programs in Fortran: heat and zones are right on cores, devices and ranks, with one hash; right and wrong calls say what they say in C;
built by CMake's evener_fortran() and by pkg-config from what is installed (tests/check/install). Run: ctest -R fortran-programs.
usage: test_fortran.py FOLDER CALLS_C CALLS_FORTRAN DISTRIBUTED [test ..]     FOLDER: of the examples"""

import os
import re
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import programs  # pylint: disable=wrong-import-position

FOLDER = CALLS = CALLS_FORTRAN = DISTRIBUTED = ""
UNITS = ["1:CPU:1", "2:CPU:1", "3:CPU:1", "1:CPU:2", "1:GPU:1", "1:GPU:2", "1:CPU:1,2:GPU:1"]


def run(*words, **env):
    return programs.run(words, **{"EVENER_OVERSUBSCRIBE": "1", "EVENER_DEVICES": "emulated", **env})


class Programs(unittest.TestCase):
    def heat(self, *words, **env):
        status, out, err = run(*words, f"{FOLDER}/heat-fortran", **env)
        self.assertEqual((status, out, err), (0, f"{env['EVENER_UNITS']}: 0 blocks are wrong\n", ""), env)

    def zones(self, *words, **env):
        """Its hash."""
        status, out, err = run(*words, f"{FOLDER}/zones-fortran", **env)
        self.assertEqual((status, err), (0, ""), (env, out))
        found = re.fullmatch(r"(.*): 24 zones, hash ([0-9A-F]{16}), 0 are wrong\n", out)
        self.assertIsNotNone(found, out)
        self.assertEqual(found[1], env["EVENER_UNITS"])
        return found[2]

    def test_heat(self):
        for units in UNITS:
            self.heat(EVENER_UNITS=units)
            self.assertEqual(run(f"{FOLDER}/heat", EVENER_UNITS=units), run(f"{FOLDER}/heat-fortran", EVENER_UNITS=units))

    def test_zones(self):
        hashes = {self.zones(EVENER_UNITS=units) for units in UNITS}
        hashes |= {self.zones(EVENER_UNITS="3:CPU:1", EVENER_SCHEDULE=s) for s in ("static", "dynamic", "binpack", "map", "guided:size")}
        self.assertEqual(len(hashes), 1)

    def test_ranks(self):
        hashes = {self.zones(EVENER_UNITS="1:CPU:1")}
        for count in "2", "3":
            self.heat(EVENER_PROCESSES=count, EVENER_UNITS="2:CPU:1")
            hashes.add(self.zones(EVENER_PROCESSES=count, EVENER_UNITS="2:CPU:1"))
            hashes.add(self.zones(EVENER_PROCESSES=count, EVENER_UNITS="1:CPU:1,1:GPU:1", EVENER_SCHEDULE="dynamic"))
        self.assertEqual(len(hashes), 1)

    def test_distributed(self):
        """Tasks that no rank knows all of, which are divided, and balanced between ranks."""
        for count in 1, 2, 3:
            status, out, err = run(DISTRIBUTED, f"processes:{count}")
            moved = "some have moved" if count > 1 else "none has moved "
            self.assertEqual((status, out, err), (0, f"{count} ranks, {34 * count} blocks: 0 cells are wrong, {moved}\n", ""))

    def test_launchers(self):
        for kind in "openmpi", "mpich":
            start = programs.mpirun(kind)
            if start and os.path.exists(f"{FOLDER}/../lib/evener/evener-wire-{kind}.so"):
                self.heat(*start, "-n", "2", EVENER_UNITS="1:CPU:1")
                self.assertEqual(self.zones(*start, "-n", "2", EVENER_UNITS="1:CPU:1"), self.zones(EVENER_UNITS="1:CPU:1"))

    def test_refused(self):
        """One line, by one process, with C's words."""
        for env in ({"EVENER_UNITS": "4:CPUS:4"}, {"EVENER_SCHEDULE": "none"}, {"EVENER_SCHEDULE": "none", "EVENER_PROCESSES": "2"},
                    {"EVENER_UNITS": "1:GPU:1", "EVENER_DEVICES": "emulated:1,memory=1KiB"}, {"EVENER_RECORD": "/nowhere/r"}):
            status, out, err = run(f"{FOLDER}/heat-fortran", **env)
            self.assertEqual((status, out), (1, ""), env)
            self.assertRegex(err, r"\Aheat: [^\n]+\n\Z")
            self.assertEqual(run(f"{FOLDER}/heat", **env), (status, out, err))

    def test_calls(self):
        said = [run(program, EVENER_DEVICES="best") for program in (CALLS, CALLS_FORTRAN)]
        self.assertEqual([(s[0], s[2]) for s in said], [(0, "")] * 2)
        c, fortran = [re.sub("0x[0-9a-f]{6,}", "ADDRESS", s[1]).splitlines() for s in said]
        self.assertEqual(c, fortran)
        self.assertGreater(len(c), 45)


if __name__ == "__main__":
    FOLDER, CALLS, CALLS_FORTRAN, DISTRIBUTED = (os.path.abspath(path) for path in sys.argv[1:5])
    del sys.argv[1:5]
    unittest.main()
