#!/usr/bin/env python3
"""The study of one-sided puts: what it prints and records, and what is refused. Nothing is timed.

Run: ctest -R command-bench-put, or tests/command/test_bench_put.py build/evener [test ..]
"""
import json
import os
import re

from base import Base, launchers, plugin

ROW = r"^ +(\d+) \|((?: +(?:\d+\.\d+|-)){3}) \|(?: +(?:\d+\.\d+|-)){3,4}$"


class BenchPut(Base):
    def evener(self, *words, **options):
        return super().evener("bench", "put", "--repeat", "1", *words, **options)

    def test_tables(self):
        done = self.evener("--max", "1000", "--devices", "emulated:1", "--json", "/dev/stderr")
        self.assertEqual(done.stdout.count("processes, 2 ranks, medians of 1 samples"), 1)
        rows = re.findall(ROW, done.stdout, re.MULTILINE)
        self.assertEqual([r[0] for r in rows], ["8", "64", "512", "1000"] * 4)  # puts, to the device, from it, between two
        self.assertRegex(done.stdout, r"\nMPI by itself is not beside: the wire is none of MPI")
        self.assertNotIn("-", "".join(r[1] for r in rows))
        record = json.loads(done.stderr)
        self.assertEqual([s["bytes"] for s in record["sizes"]], [8, 64, 512, 1000])
        self.assertGreater(record["sizes"][0]["pointer_flood_s"], 0)
        self.assertNotIn("raw_created_s", record["sizes"][0])
        for way in ("copies", "copies_back"):
            self.assertEqual([s["bytes"] for s in record[way]], [8, 64, 512, 1000])
            self.assertGreater(record[way][3]["pageable_s"], 0)

    def test_virtual_clock(self):
        """What is computed is to the digit: 5 us and 1000 bytes by 1 GB/s, both ways, one by one and in a flood."""
        done = self.evener("--max", "1000", "--devices", "emulated:1,clock=virtual,link=1GB/s,latency=5us", "--json", "-")
        record = json.loads(done.stdout)
        for way in ("copies", "copies_back"):
            for host in ("pinned", "pageable", "shared"):
                for flood in ("", "_flood"):
                    self.assertAlmostEqual(record[way][3][f"{host}{flood}_s"], 6e-6, delta=1e-12, msg=(way, host, flood))

    def test_between_devices(self):
        """Out of a device, over the wire, into the other rank's: two copies by the virtual clock beside the put by the host's, with what pinned memory saves."""
        done = self.evener("--max", "1000", "--devices", "emulated:1,clock=virtual,link=1GB/s,shared=250MB/s,latency=5us", "--json", "-")
        record = json.loads(done.stdout)
        self.assertEqual([s["bytes"] for s in record["between"]], [8, 64, 512, 1000])
        for row in record["between"]:
            self.assertGreater(row["put_s"], 0)
            self.assertAlmostEqual(row["direct_s"] - row["put_s"], 2 * (5e-6 + row["bytes"] / 250e6), delta=1e-11)
            self.assertGreater(row["pinned_s"] - row["put_s"], 2 * (5e-6 + row["bytes"] / 1e9) - 1e-11)
        done = self.evener("--max", "512", "--wire", "processes:3", "--devices", "emulated:2", "--json", "-")
        self.assertGreater(json.loads(done.stdout)["between"][2]["pinned_s"], 0)

    def test_kinds_of_memory(self):
        """Section 3.3 of UPC + CUDA: copies of pinned memory are faster than those of pageable memory at all sizes; shared memory has a rate of its own."""
        done = self.evener("--max", "1000", "--devices", "emulated:1,clock=virtual,link=1GB/s,pageable=500MB/s,shared=250MB/s,latency=5us", "--json", "-")
        record = json.loads(done.stdout)
        for way in ("copies", "copies_back"):
            for host, seconds in (("pinned", 6e-6), ("pageable", 7e-6), ("shared", 9e-6)):
                self.assertAlmostEqual(record[way][3][f"{host}_s"], seconds, delta=1e-12, msg=(way, host))
        # shared is pageable, too, unless it has a rate; nothing is faster than the link
        done = self.evener("--max", "1000", "--devices", "emulated:1,clock=virtual,link=1GB/s,pageable=2GB/s,latency=5us", "--json", "-")
        for copies in json.loads(done.stdout)["copies"]:
            self.assertEqual(copies["pinned_s"], copies["pageable_s"])
        done = self.evener("--max", "1000", "--devices", "emulated:1,clock=virtual,link=1GB/s,pageable=500MB/s,latency=5us", "--json", "-")
        self.assertAlmostEqual(json.loads(done.stdout)["copies"][3]["shared_s"], 7e-6, delta=1e-12)
        for words, says in (("pageable=0", "pageable"), ("shared=fast", "shared")):
            self.refuses(["--max", "8", "--devices", f"emulated:{words}"], says, page=True)

    def test_links(self):
        """bench links has a column for each kind of memory."""
        done = super().evener("bench", "links", "--repeat", "1", "--devices",
                              "emulated:1,clock=virtual,link=8GB/s,pageable=4GB/s,shared=2GB/s,latency=0us")
        last = [line.split() for line in done.stdout.splitlines() if re.match(r" +64 MiB", line)][-1]
        self.assertEqual(last[3:], ["8.000", "4.000", "2.000"] * 2)

    def test_other_nodes(self):
        """An emulated wire: nobody sees another's memory, so there is no put by the processor."""
        done = self.evener("--wire", "processes:3,latency=10us", "--max", "8", "--devices", "none", said="")
        (row,) = re.findall(ROW, done.stdout, re.MULTILINE)
        self.assertRegex(row[1], r"^ +- +\d+\.\d+ +\d+\.\d+$")

    def test_mpi_by_itself(self):
        """Under each MPI that is here: its own puts and messages beside, and the ratios."""
        with_raw = [start for kind, start in launchers() if os.path.exists(plugin(kind).replace("-wire-", "-raw-"))]
        for start in with_raw:
            def run(*more, status=0):
                return self.evener("--max", "64", "--devices", "none", *more, status=status, launch=[*start, "-n", "2"])  # pylint: disable=cell-var-from-loop
            done = run("--json", "/dev/stderr")
            rows = re.findall(ROW, done.stdout, re.MULTILINE)
            self.assertEqual([r[0] for r in rows], ["8", "64"] * 3)  # the wire, MPI, ratios
            size = json.loads(done.stderr)["sizes"][1]
            raw = {"pointer": "allocated", "wire": "created", "message": "message"}
            ratios = [size[f"{ours}{f}_s"] / size[f"raw_{mpis}{f}_s"] for f in ("", "_flood") for ours, mpis in raw.items()]
            printed = done.stdout.splitlines()[-1].replace("|", " ").split()
            for says, is_ in zip(printed[1:], ratios, strict=True):
                self.assertAlmostEqual(float(says), is_, delta=6e-4)
            done = run("--raw", "none")
            self.assertEqual(len(re.findall(ROW, done.stdout, re.MULTILINE)), 2)
            self.assertNotIn("by itself", done.stdout)
            done = run("--raw", "/nowhere", status=2)
            self.assertEqual(done.stderr.count("evener: raw: there is no plug-in /nowhere"), 1)
        if not with_raw:
            self.skipTest("there is no MPI")

    def test_refused(self):
        for words, says in ((("--wire", "alone"), "one rank"),
                            (("--wire", "processes:1"), "one rank"),
                            (("--max", "7"), "--max"),
                            (("--repeat", "0"), "--repeat")):
            self.refuses(words, says)

    def test_no_mpi(self):
        done = self.evener("--max", "8", "--raw", "x.so", status=2)
        self.assertEqual(done.stderr, 'evener: bench put: --raw x.so: the wire is "processes", and MPI by itself needs one of MPI, '
                         'as under mpirun\n')

    def test_no_such_device(self):
        done = self.evener("--max", "8", "--devices", "emulated:0", status=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^evener: [^\n]*\n$")
