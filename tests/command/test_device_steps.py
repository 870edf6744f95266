#!/usr/bin/env python3
"""What a step of NPB-MZ on devices asks of them, as their own counters have it: launches, one copy from each neighbour, and one wait of the
host, its last; nothing crosses to the host or from it. On 1, 4 and 8 emulated devices, where zones stay: whoever is late changes nothing.

Run: ctest -R command-device-steps, or tests/command/test_device_steps.py build/evener [test ..]
"""

from base import Base

STEPS = 3
# launches of a step beside the exchange's; LU's sweeps are as many as the zones' extents ask for
LAUNCHES = {"bt-mz": 4, "sp-mz": 4}


def neighbours(owner):
    """Of each device those whose zones are beside its own, in 4 by 4 zones, periodic both ways; and whether two of its own are."""
    beside = {u: set() for u in owner}
    within = set()
    for zone, unit in enumerate(owner):
        x, y = zone % 4, zone // 4
        for other in ((x + 1) % 4 + 4 * y, (x + 3) % 4 + 4 * y, x + (y + 1) % 4 * 4, x + (y + 3) % 4 * 4):
            if owner[other] == unit:
                within.add(unit)
            else:
                beside[unit].add(owner[other])
    return beside, within


class Steps(Base):
    def one(self, benchmark):
        hashes, launches = set(), set()
        for devices in (1, 4, 8):
            r = self.record("run", benchmark, "--class", "W", "--steps", str(STEPS), "--schedule", "static", "--units", f"{devices}:GPU:1",
                            "--devices", "emulated")
            beside, within = neighbours(r["owner"])
            for u, d in enumerate(r["devices"][:devices]):
                with self.subTest(benchmark=benchmark, devices=devices, device=u):
                    exchange = (u in within) + 2 * bool(beside[u])
                    # LU's norms belong to the timed part: they come home once, with two waits
                    norms = benchmark == "lu-mz"
                    self.assertEqual(d["waits"], STEPS + 2 * norms)
                    self.assertEqual((d["copies_in"], d["copies_out"]), (0, int(norms)))
                    self.assertEqual(d["copies_peer"], STEPS * len(beside[u]))
                    launches.add(d["launches"] - STEPS * exchange)
            self.assertEqual(sum(d["bytes_peer"] for d in r["devices"]), r["transfers"]["bytes"])
            hashes.add(r["hash"])
        self.assertEqual(len(hashes), 1)
        if benchmark in LAUNCHES:
            self.assertEqual(launches, {STEPS * LAUNCHES[benchmark]})

    def test_bt(self):
        self.one("bt-mz")

    def test_sp(self):
        self.one("sp-mz")

    def test_lu(self):
        self.one("lu-mz")
