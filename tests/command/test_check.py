"""Emulated devices that check: no kernel of the workloads writes what it has as EVN_IN, or leaves a buffer, in class S, and results are the same
to the bit.

    python3 tests/command/test_check.py COMMAND
"""


from base import Base


class Check(Base):
    def same(self, what):
        plain, checked = (self.record("run", *what.split(), "--devices", devices) for devices in ("emulated", "emulated:check=yes"))
        self.assertTrue(any("checks" in (u["device"] or "") for u in checked["units"]), checked["units"])
        self.assertEqual([d["launches"] for d in checked["devices"]], [d["launches"] for d in plain["devices"]])
        self.assertTrue(all(d["launches"] for d in checked["devices"]))
        self.assertEqual(checked["hash"], plain["hash"])

    def test_zones(self):
        for workload in ("bt-mz", "sp-mz", "lu-mz"):
            for units in ("1:GPU:1", "1:CPU:1,2:GPU:1"):
                with self.subTest(workload=workload, units=units):
                    self.same(f"{workload} --class S --units {units} --schedule static --oversubscribe")

    def test_transform_and_multigrid(self):
        for workload in ("ft", "mg"):
            for units in ("1:GPU:1", "1:CPU:1,1:GPU:2"):
                with self.subTest(workload=workload, units=units):
                    self.same(f"{workload} --class S --units {units} --schedule static --oversubscribe")

    def test_boundary_elements(self):
        self.same("td-bem --mesh sphere:1 --units 1:GPU:1")
